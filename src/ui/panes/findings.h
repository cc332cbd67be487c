/* findings.h - the kinds of blocks in the findings pane. Private to findings*.c. */
#ifndef PW_PANES_FINDINGS_H
#define PW_PANES_FINDINGS_H
#include "plot/finding.h"
#include "ui/plot.h"

/* A kind of block. The cursor is ui->findings.down and across. */
struct pw_fnd_kind {
    void (*draw)(const struct pw_ui *ui, const struct pw_block_of *k, struct pw_canvas *c, struct pw_rect r);
    /* Appends a description of the value under the cursor. */
    void (*read)(const struct pw_ui *ui, const struct pw_block_of *k, struct pw_str *out);
    /* Sets the cursor position that is drawn at a cell of r; returns false if there is none. */
    bool (*at)(const struct pw_ui *ui, const struct pw_block_of *k, struct pw_rect r, int y, int x, int *down,
               int *across);
    /* Appends the block as tab-separated values. */
    void (*copy)(const struct pw_block_of *k, struct pw_str *out);
};

extern const struct pw_fnd_kind pw_fnd_table, pw_fnd_plot, pw_fnd_map;
extern const struct pw_fnd_kind *const pw_fnd_kinds[]; /* by enum pw_block_kind */

#define PW_FND_LIST (PW_MAX_FINDINGS + 65) /* most findings; a study has one for each task, and the ranks */

/* ---- findings_list.c */
/* Lists the findings: of a watched study in the order of its tasks, then of the session, the newest first.
 * Returns their number. */
int pw_fnd_list(const struct pw_ui *ui, const struct pw_finding_view *list[PW_FND_LIST]);
/* Returns the selected finding, else the first of the list; NULL: there is none. */
const struct pw_finding_view *pw_fnd_shown(const struct pw_ui *ui);

/* ---- findings.c */
/* Returns the area of the block in the pane's inside r; h = 0: no block is drawn. */
struct pw_rect pw_fnd_body(const struct pw_ui *ui, struct pw_rect r);

/* ---- findings_table.c */
/* Writes the name of a row or column, or its number from 0 if it has no name. */
void pw_fnd_row(const struct pw_block_of *k, int row, char out[PW_FINDING_LABEL]);
void pw_fnd_col(const struct pw_block_of *k, int col, char out[PW_FINDING_LABEL]);
/* Appends "layer 1, head 3": the names of the axes, each with the row or column. */
void pw_fnd_read_place(const struct pw_block_of *k, int row, int col, struct pw_str *out);
/* Appends the cells of a table or map as tab-separated values, with their names. */
void pw_fnd_copy_cells(const struct pw_block_of *k, struct pw_str *out);

/* ---- findings_claims.c: the claims of a finding */
/* Draws at most `most` lines from r.y on: each claim with its verdict, or the number of claims per verdict.
 * Returns the lines taken. */
int pw_fnd_claims(struct pw_canvas *c, struct pw_rect r, const struct pw_finding *f, int most);
/* Draws the full claims with their evidence and the remarks, from line `top` on. Returns the total number of
 * lines. */
int pw_fnd_claims_page(struct pw_canvas *c, struct pw_rect r, const struct pw_finding *f, int top);
/* Appends the claims as tab-separated values. */
void pw_fnd_copy_claims(const struct pw_finding *f, struct pw_str *out);

#endif
