/* findings.h - the kinds of blocks of the findings pane. For findings*.c alone. */
#ifndef PW_PANES_FINDINGS_H
#define PW_PANES_FINDINGS_H
#include "plot/finding.h"
#include "ui/plot.h"

/* A kind of block. The cursor (ui->findings.down, across) stands within it. */
struct pw_fnd_kind {
    void (*draw)(struct pw_ui *ui, const struct pw_block_of *k, struct pw_canvas *c, struct pw_rect r);
    /* What the cursor is on, in words. */
    void (*read)(const struct pw_ui *ui, const struct pw_block_of *k, struct pw_str *out);
    /* What is drawn at a cell of r; false: nothing. */
    bool (*at)(const struct pw_ui *ui, const struct pw_block_of *k, struct pw_rect r, int y, int x, int *down,
               int *across);
    /* As tab-separated values. */
    void (*copy)(const struct pw_block_of *k, struct pw_str *out);
};

extern const struct pw_fnd_kind pw_fnd_table, pw_fnd_plot, pw_fnd_map;
extern const struct pw_fnd_kind *const pw_fnd_kinds[]; /* by enum pw_block_kind */

/* ---- findings_table.c */
/* The name of a row or column, or its number from 0 where it has none. */
void pw_fnd_row(const struct pw_block_of *k, int row, char out[PW_FINDING_LABEL]);
void pw_fnd_col(const struct pw_block_of *k, int col, char out[PW_FINDING_LABEL]);
/* "layer 1, head 3", each after what rows and columns are called */
void pw_fnd_read_place(const struct pw_block_of *k, int row, int col, struct pw_str *out);
void pw_fnd_copy_cells(const struct pw_block_of *k, struct pw_str *out);

/* ---- findings_claims.c: what is claimed */
/* In at most `most` lines from r.y on: each claim with its verdict, or how many have which. Returns how many
 * it takes. */
int pw_fnd_claims(struct pw_canvas *c, struct pw_rect r, const struct pw_finding *f, int most);
/* All of it with what was found, and the remarks, from line `top` on; returns how many lines there are. */
int pw_fnd_claims_page(struct pw_canvas *c, struct pw_rect r, const struct pw_finding *f, int top);
void pw_fnd_copy_claims(const struct pw_finding *f, struct pw_str *out);

#endif
