/* probe.c - the table of probes: one file and one line each. */
#include "probe/probe.h"
#include <string.h>

extern const struct pw_probe pw_probe_buckets, pw_probe_decay, pw_probe_dispersion, pw_probe_permutation,
    pw_probe_position, pw_probe_resolution, pw_probe_scores, pw_probe_variance;

/* clang-format off */
const struct pw_probe *const pw_probes[] = {
    &pw_probe_buckets,
    &pw_probe_decay,
    &pw_probe_dispersion,
    &pw_probe_permutation,
    &pw_probe_position,
    &pw_probe_resolution,
    &pw_probe_scores,
    &pw_probe_variance,
    NULL,
};
/* clang-format on */

const struct pw_probe *pw_probe_find(const char *name)
{
    for (const struct pw_probe *const *p = pw_probes; *p != NULL; p++)
        if (strcmp((*p)->name, name) == 0)
            return *p;
    return NULL;
}
