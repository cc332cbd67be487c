/* findings.h - the blocks of a finding in a figure. For findings*.c alone. */
#ifndef PW_FIGURE_FINDINGS_H
#define PW_FIGURE_FINDINGS_H
#include "figure/figure_int.h"
#include "plot/finding.h"

#define PW_FINDING_ROWS 60 /* of a table, at most */

/* What a block takes in a drawing of width w: what stays as it is, and what can be higher or lower. */
struct pw_block_height {
    double fixed, free;
};
struct pw_block_height pw_figure_block_height(const struct pw_block_of *k, double w);
/* Into b, whose height is fixed + free * stretch. */
void pw_figure_block(struct pw_figure *f, const struct pw_block_of *k, struct pw_box b, double stretch);

#endif
