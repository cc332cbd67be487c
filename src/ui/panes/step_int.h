/* step_int.h - the sections of the step inspector's pane. step.c stacks the sections, starting with the
 * chosen page; step_NAME.c draws each. */
#ifndef PW_STEP_INT_H
#define PW_STEP_INT_H
#include "plot/attention.h"
#include "plot/step.h"
#include "ui/plot.h"

/* The token whose logit is decomposed: the model's output, the target, or the token under the cursor. */
enum pw_step_chosen { PW_STEP_SAID, PW_STEP_TARGET, PW_STEP_ROW, PW_STEP_CHOICES };

/* The sections of the pane, by the page that puts each on top. */
enum pw_step_page { PW_STEP_TOKENS, PW_STEP_PARTS, PW_STEP_LENS, PW_STEP_HEADS, PW_STEP_PAGES };

/* One section. Constant. */
struct pw_step_section {
    const char *name;
    int least; /* minimum rows if the room is too small for all rows */
    /* Returns the number of items, one per row, that the cursor moves through; 0: the section is empty. */
    int (*rows)(const struct pw_ui *ui, const struct pw_step_view *v);
    int extra; /* rows besides the items: title, sum */
    void (*draw)(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, const struct pw_step_view *v);
    /* Describes the row under the cursor. */
    void (*say)(const struct pw_ui *ui, const struct pw_step_view *v, struct pw_str *out);
    /* Appends the section as tab-separated values. */
    void (*copy)(const struct pw_ui *ui, const struct pw_step_view *v, struct pw_str *out);
    /* Append the heading of the values, and (optional, or NULL) the text below them. */
    void (*title)(const struct pw_ui *ui, const struct pw_step_view *v, struct pw_str *out);
    void (*foot)(const struct pw_ui *ui, const struct pw_step_view *v, struct pw_str *out);
};

extern const struct pw_step_section pw_step_tokens, pw_step_parts, pw_step_lens, pw_step_heads;
extern const struct pw_step_section *const pw_step_sections[PW_STEP_PAGES];

/* step_words.c: prints all sections, for `show`. */
void pw_step_words(FILE *out, const struct pw_ui *ui);

/* Draws the sequence with the cursor in at most `rows` rows; returns the rows taken. */
int pw_step_sequence(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                     const struct pw_step_view *v, int rows);

/* Returns the position under column x of that sequence; -1: none. */
int pw_step_hit(const struct pw_ui *ui, const struct pw_step_view *v, struct pw_rect r, int x);

/* Returns the index into look->token of the token whose logit is decomposed. */
int pw_step_chosen(const struct pw_ui *ui, const struct pw_ev_inspection *look);

/* pw_step_row returns the cursor's row of a page, clamped to n rows. pw_step_first returns the first row to
 * show in h rows. */
int pw_step_row(const struct pw_ui *ui, int page, int n);
int pw_step_first(int row, int n, int h);
/* Returns the style of a row; highlighted if the cursor is on it and the pane has the focus. */
struct pw_style pw_step_mark(const struct pw_ui *ui, struct pw_style s, bool here);

#endif
