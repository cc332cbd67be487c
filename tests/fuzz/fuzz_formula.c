/* fuzz_formula.c - fuzz target of formulas and formula files: arbitrary bytes are parsed, printed, parsed
 * again to the same program, evaluated and differentiated. As a file they are also saved and read again.
 *
 * cmake -B build/fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DPEWTER_FUZZ=ON -DPEWTER_SANITIZE=address,undefined
 * && ninja -C build/fuzz fuzz_formula && build/fuzz/tests/fuzz/fuzz_formula */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/expr/expr.h"
#include "model/expr/library.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static double sorted_number(void *arg, int draw, double k, double n, double m)
{
    if (arg != NULL || draw < 0 || draw >= PW_EXPR_DRAWS)
        abort();
    return k + n + m;
}

/* At another position the plan gives the value of a whole evaluation, but for a sum of too many terms. */
static void follow(const struct pw_expr *x, enum pw_stage stage, const double *vars,
                   const double *const *params, double *regs)
{
    static double again[PW_EXPR_NODES];
    static int nodes[PW_EXPR_NODES];
    const uint64_t changed = UINT64_C(1) << PW_VAR_I | UINT64_C(1) << PW_VAR_DISTANCE;
    double moved[PW_VARS];
    memcpy(moved, vars, sizeof moved);
    moved[PW_VAR_I] = 9;
    moved[PW_VAR_DISTANCE] = 7;
    pw_expr_eval(x, stage, vars, params, regs);
    int n = pw_expr_plan(x, stage, regs, changed, nodes);
    double a = pw_expr_follow(x, stage, moved, params, regs, nodes, n),
           b = pw_expr_eval(x, stage, moved, params, again);
    if (a == a && b == b && memcmp(&a, &b, sizeof a) != 0)
        abort();
}

/* Evaluates every stage with its gradient; any value is allowed, also NaN. */
static void run(const struct pw_expr *x)
{
    static double value[PW_EXPR_TABLE], grad[PW_EXPR_TABLE], regs[PW_EXPR_NODES], adjoint[PW_EXPR_NODES];
    const double *params[PW_EXPR_PARAMS];
    double *grads[PW_EXPR_PARAMS],
        vars[PW_VARS] = {[PW_VAR_I] = 5, [PW_VAR_J] = 2, [PW_VAR_DISTANCE] = 3, [PW_VAR_HEADS] = 4};
    for (int k = 0; k < PW_EXPR_PARAMS; k++) {
        params[k] = value;
        grads[k] = grad;
    }
    for (int s = 0; s < PW_STAGES; s++)
        if (pw_expr_has(x, (enum pw_stage)s)) {
            pw_expr_eval(x, (enum pw_stage)s, vars, params, regs);
            pw_expr_gradient(x, (enum pw_stage)s, vars, params, regs, 1, grads, adjoint);
            follow(x, (enum pw_stage)s, vars, params, regs);
        }
    if (pw_expr_by_data(x))
        pw_expr_eval_position(x, vars, regs, sorted_number, NULL);
}

static void check_line(const char *text)
{
    if (text != NULL && (!pw_utf8_valid(text, strlen(text)) || strpbrk(text, "\n\r\x1b") != NULL))
        abort();
}

/* Values of options, some out of their range. */
static void set_options(const char *text, const uint8_t *data, size_t size)
{
    struct pw_expr *x;
    double values[PW_EXPR_OPTIONS];
    for (int k = 0; k < PW_EXPR_OPTIONS; k++)
        values[k] = size > 0 ? data[(size_t)k % size] : 0;
    if (pw_expr_parse_with(&x, text, values, PW_EXPR_OPTIONS, NULL, NULL) == PW_OK) {
        struct pw_str saved = {0};
        struct pw_expr *y;
        run(x);
        pw_expr_print_lines(x, &saved);
        if (saved.len <= PW_EXPR_TEXT && pw_expr_parse(&y, saved.s, NULL, NULL) != PW_OK)
            abort();
        if (saved.len <= PW_EXPR_TEXT)
            pw_expr_free(y);
        pw_str_fini(&saved);
        pw_expr_free(x);
    }
}

static void try_file(const uint8_t *data, size_t size)
{
    struct pw_library_file f = {.name = "fuzz"};
    struct pw_err err;
    if (pw_library_scan(&f, (const char *)data, size, &err) == PW_OK) {
        check_line(f.title);
        check_line(f.paper);
        check_line(f.look);
        set_options(f.formula, data, size);
    } else if (strchr(err.msg, '\n') != NULL)
        abort();
    pw_library_free(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_file(data, size);
    struct pw_str text = {0}, printed = {0}, again = {0};
    struct pw_expr *x, *y;
    struct pw_err err;
    int at;
    pw_str_put(&text, (const char *)data, size);
    if (pw_expr_parse(&x, pw_str_text(&text), &at, &err) == PW_OK) {
        pw_expr_print(x, &printed);
        if (pw_expr_parse(&y, pw_str_text(&printed), NULL, &err) != PW_OK || !pw_expr_same(x, y))
            abort();
        pw_expr_print(y, &again);
        if (strcmp(pw_str_text(&printed), pw_str_text(&again)) != 0)
            abort();
        run(x);
        pw_expr_free(y);
        pw_expr_free(x);
    } else if (at < 0 || (size_t)at > strlen(pw_str_text(&text)) || strchr(err.msg, '\n') != NULL)
        abort();
    pw_str_fini(&text);
    pw_str_fini(&printed);
    pw_str_fini(&again);
    return 0;
}
