/* finding.h - shared by the drawings of a finding: selection by name, ranges of axes and colours, signs of
 * verdicts. Pure functions; results point into the snapshot. */
#ifndef PW_PLOT_FINDING_H
#define PW_PLOT_FINDING_H
#include "base/err.h"
#include "plot/matrix.h"
#include "sessions/fold.h"

/* Returns a finding: "" the newest, "NAME" the newest of that name, "NAME TOPIC" exactly that one. NULL:
 * there is none. */
const struct pw_finding_view *pw_finding_named(const struct pw_snapshot *s, const char *text);

/* The same, with an error if there is none: one line that begins with `what` and lists the findings. */
enum pw_code pw_finding_need(const struct pw_snapshot *s, const char *text, const char *what,
                             const struct pw_finding_view **v, struct pw_err *err);

/* A verdict's sign, one column wide, and its role: PW_ROLE_OK, WARN or BAD
 * (palette.h). Indexed by verdict. */
struct pw_verdict_view {
    const char *sign;
    int role;
};
extern const struct pw_verdict_view pw_verdict_views[PW_CLAIM_VERDICTS];

/* A block with its finding. */
struct pw_block_of {
    const struct pw_finding *f;
    const struct pw_block *b;
};

/* Ranges of a plot's axes: its finite values; on a logarithmic axis those above 0. An axis without such
 * values is linear. */
struct pw_block_axes {
    double x0, x1, y0, y1; /* x0 < x1, y0 < y1 */
    bool log_x, log_y;
};
void pw_block_axes(const struct pw_block_of *k, struct pw_block_axes *a);
bool pw_block_is_reference(const struct pw_block *b, int curve); /* true: a curve of theory */
int pw_block_color(int curve);                                   /* the arm with the same colour and sign */

/* Returns a map's values, -inf for none, with the range of their colours. k must outlive the matrix. */
struct pw_matrix pw_block_matrix(const struct pw_block_of *k);

#endif
