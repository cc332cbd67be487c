/* matrix.c - a matrix of values; matrix.h has the contract. */
#include "plot/matrix.h"
#include <math.h>

float pw_matrix_pooled(const struct pw_matrix *m, int row, int col, int by_row, int by_col)
{
    float best = -INFINITY;

    for (int i = row; i < row + by_row && i < m->rows; i++)
        for (int j = col; j < col + by_col && j < m->cols; j++) {
            float v = m->value(m->arg, i, j);
            if (isnan(v))
                return v;
            if (v == -INFINITY)
                continue;
            if (best == -INFINITY || (m->is_signed ? fabsf(v) > fabsf(best) : v > best))
                best = v;
        }
    return best;
}
