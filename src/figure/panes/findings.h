/* findings.h - the blocks of a finding in a figure. Private to findings*.c. */
#ifndef PW_FIGURE_FINDINGS_H
#define PW_FIGURE_FINDINGS_H
#include "figure/figure_int.h"
#include "plot/finding.h"

#define PW_FINDING_ROWS 60 /* maximum number of rows of a table */

/* The height of a block in a drawing of width w, in points: a fixed part, and a part that can be stretched.
 */
struct pw_block_height {
    double fixed, free;
};
struct pw_block_height pw_figure_block_height(const struct pw_block_of *k, double w);
/* Draws a block into b, whose height is fixed + free * stretch. */
void pw_figure_block(struct pw_figure *f, const struct pw_block_of *k, struct pw_box b, double stretch);

#endif
