/* step_int.h - the sections of the step inspector's pane: step.c lays them out, one below the other from the
 * page on top, and step_NAME.c draws each. */
#ifndef PW_STEP_INT_H
#define PW_STEP_INT_H
#include "plot/step.h"
#include "ui/plot.h"

/* Whose logit is taken apart. */
enum pw_step_chosen { PW_STEP_SAID, PW_STEP_TARGET, PW_STEP_ROW, PW_STEP_CHOICES };

enum pw_step_page { PW_STEP_TOKENS, PW_STEP_PARTS, PW_STEP_LENS, PW_STEP_HEADS, PW_STEP_PAGES };

struct pw_step_section {
    const char *name;
    int least; /* rows that it takes where there isn't room for all it has */
    /* Things that the cursor goes through, one a row; 0: there is nothing to show. */
    int (*rows)(const struct pw_ui *ui, const struct pw_step_view *v);
    int extra; /* rows beside those: title, sum */
    void (*draw)(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, const struct pw_step_view *v);
    void (*say)(const struct pw_ui *ui, const struct pw_step_view *v, struct pw_str *out);  /* of the row */
    void (*copy)(const struct pw_ui *ui, const struct pw_step_view *v, struct pw_str *out); /* as values */
    /* In words what the values are; and, optional, what stands below them. */
    void (*title)(const struct pw_ui *ui, const struct pw_step_view *v, struct pw_str *out);
    void (*foot)(const struct pw_ui *ui, const struct pw_step_view *v, struct pw_str *out);
};

extern const struct pw_step_section pw_step_tokens, pw_step_parts, pw_step_lens, pw_step_heads;
extern const struct pw_step_section *const pw_step_sections[PW_STEP_PAGES];

/* step_words.c: all sections, for `show`. */
void pw_step_words(FILE *out, const struct pw_ui *ui);

/* The sequence with the cursor; rows is what it may take, and it returns what it took. */
int pw_step_sequence(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                     const struct pw_step_view *v, int rows);

/* The position under column x of the same; -1: none. */
int pw_step_hit(const struct pw_ui *ui, const struct pw_step_view *v, struct pw_rect r, int x);

/* Index into look->token of the one whose logit is taken apart. */
int pw_step_chosen(const struct pw_ui *ui, const struct pw_ev_look *look);

/* The cursor's row of a page, clamped to n of them; and the first of them shown in h rows. */
int pw_step_row(const struct pw_ui *ui, int page, int n);
int pw_step_first(int row, int n, int h);
/* The style of a row that the cursor stands on, where the pane has the focus. */
struct pw_style pw_step_mark(const struct pw_ui *ui, struct pw_style s, bool here);

#endif
