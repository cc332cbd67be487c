/* finding.h - what of a finding follows from it wherever it is drawn: which one is meant, what its axes and
 * colours span, and what a verdict looks like. */
#ifndef PW_PLOT_FINDING_H
#define PW_PLOT_FINDING_H
#include "base/err.h"
#include "sessions/fold.h"

/* "" the newest, "NAME" the newest of that name, "NAME TOPIC" that one. NULL: there is none. */
const struct pw_finding_view *pw_finding_named(const struct pw_snapshot *s, const char *text);

/* The same; else what there is, in one line that begins with `what`. */
enum pw_code pw_finding_need(const struct pw_snapshot *s, const char *text, const char *what,
                             const struct pw_finding_view **v, struct pw_err *err);

/* A verdict's sign, one column wide, and its role: PW_ROLE_OK, WARN or BAD (palette.h). By verdict. */
struct pw_verdict_view {
    const char *sign;
    int role;
};
extern const struct pw_verdict_view pw_verdict_views[PW_CLAIM_VERDICTS];

/* A block and whose it is. */
struct pw_block_of {
    const struct pw_finding *f;
    const struct pw_block *b;
};

/* What the axes of a plot span: its finite values, on a logarithmic axis those above 0. Where there are none
 * of these the axis is linear. */
struct pw_block_axes {
    double x0, x1, y0, y1; /* x0 < x1, y0 < y1 */
    bool log_x, log_y;
};
void pw_block_axes(const struct pw_block_of *k, struct pw_block_axes *a);
bool pw_block_is_reference(const struct pw_block *b, int curve); /* what theory says */
int pw_block_color(int curve); /* the arm whose colour and sign a curve has */

/* The ends of a map's colours; with is_signed they go from -hi to hi. arg of the value: struct pw_block_of;
 * -inf: nothing to say. */
void pw_block_span(const struct pw_block_of *k, float *lo, float *hi, bool *is_signed);
float pw_block_value(const void *arg, int row, int col);

#endif
