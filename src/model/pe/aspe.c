/* aspe.c - SPE and RSPE added (Qiu et al. 2021, appendix E, Eq. 16 and 17):
 *
 *     even  sin(w pos) + cos(w (l - 1 - pos))        odd  cos(w pos) + sin(w (l - 1 - pos))
 *
 * Sine and cosine are exchanged in the part that counts from the end, on purpose. Without the exchange the
 * sum would be 2 sin(wL/2) cos(w pos - wL/2) with L = l - 1, equal at pos and at l - 1 - pos. With it, each
 * pair is R [sin(w pos + phi), cos(w pos + phi)] where R = 2 cos(pi/4 - wL/2) and phi = pi/4 - wL/2. This is
 * a wave with amplitude and phase that depend on the length, so no column is equal for two lengths. (Their
 * Eq. 18 has a wrong sign in its odd lines, and Eq. 20 and 23 inherit it. By the above, a step of k is the
 * usual rotation by wk at any length.) */
#include "model/pe.h"
#include "model/sines.h"

static enum pw_code check(const void *opts, const struct pw_config *cfg, struct pw_err *err)
{
    (void)opts;
    return pw_sines_check("aspe", 1, cfg, err);
}

static void build(const void *opts, const struct pw_config *cfg, struct pw_pe_tables *t)
{
    pw_sines_fill(opts, t, 0, cfg->width, t->from, false);
    pw_sines_fill(opts, t, 1, cfg->width, 0, true);
}

const struct pw_pe pw_pe_aspe = {
    .name = "aspe",
    .summary = "sines of the position from the front, plus those from the end with sine and cosine exchanged",
    .source = "Qiu et al. 2021, Eq. 17",
    .opts = pw_sines_opts,
    .opts_size = sizeof(struct pw_sines),
    .uses = PW_PE_ADDED,
    .by = {PW_PE_BY_POSITION, PW_PE_BY_REVERSE},
    .resolve = pw_sines_resolve,
    .check = check,
    .build = build,
};
