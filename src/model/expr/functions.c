/* functions.c - the operators and functions of formulas by name, and their values and derivatives on the host
 * (kernels/expr_maths.h). bucket and slopes() need the tables of built-in encodings, so they are here. */
#include <math.h>
#include <string.h>

#include "base/both.h"
#include "kernels/expr_maths.h"
#include "model/expr/expr_int.h"
#include "model/pe.h"

#define ROW(id, name, args, smooth) {name, args, smooth},
const struct pw_function pw_functions[] = {PW_EXPR_FUNCTIONS(ROW){0}};

/* Rounds to a whole number of 0..most. */
static int whole_of(double x, double most)
{
    return (int)fmin(fmax(nearbyint(x), 0), most);
}

PW_WITH_FMA double pw_function_value(int f, const double *a)
{
    switch ((enum pw_expr_function)f) {
    case PW_F_BUCKET: return pw_t5_bucket(whole_of(a[0], 1e9), (int)a[1], (int)a[2]);
    case PW_F_SLOPE: return pw_alibi_slope(whole_of(a[0], a[1] - 1), (int)a[1]);
    default: return pw_f_value((enum pw_expr_function)f, a[0], a[1], a[2]);
    }
}

PW_WITH_FMA void pw_function_slopes(int f, const double *a, double y, double *out)
{
    pw_f_slopes((enum pw_expr_function)f, a[0], a[1], a[2], y, out);
}

int pw_function_find(const char *name, int length)
{
    for (int i = 0; pw_functions[i].name != NULL; i++)
        if ((int)strlen(pw_functions[i].name) == length &&
            memcmp(pw_functions[i].name, name, (size_t)length) == 0)
            return i;
    return -1;
}
