/* matrix.h - a matrix of values and the range of its colours: a pane draws it in cells (ui/heat.c), and a
 * figure as an image (figure/map.c). Pure functions, for any thread. */
#ifndef PW_PLOT_MATRIX_H
#define PW_PLOT_MATRIX_H
#include <stdbool.h>

/* A matrix as a function of row and column. */
struct pw_matrix {
    int rows, cols;
    /* -inf: hidden, drawn as background; NaN: drawn in red */
    float (*value)(const void *arg, int row, int col);
    const void *arg; /* must live as long as the matrix */
    float lo, hi;    /* the ramp's ends; -hi..hi if is_signed */
    bool is_signed;
};

/* Returns the value that represents rows row..row+by_row-1 and columns col..col+by_col-1: the largest, with
 * is_signed by absolute value. -inf is returned only if all values are hidden; any NaN is returned. */
float pw_matrix_pooled(const struct pw_matrix *m, int row, int col, int by_row, int by_col);

#endif
