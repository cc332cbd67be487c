/* ablation.h - the probe ablation from inside: what ablation.c counts, and ablation_tell.c says. */
#ifndef PW_PROBE_ABLATION_H
#define PW_PROBE_ABLATION_H
#include "probe/probe.h"

struct pw_ablation_options {
    struct pw_range lengths;
    int samples;
};

/* What was counted of a subject. */
struct pw_ablation_counts {
    int heads;     /* of the whole model, L H */
    int first;     /* its first unit */
    int64_t *done; /* [1 + heads, lengths] samples right, row 0: every head works */
};

struct pw_ablation_state {
    int n; /* lengths */
    int length[512], samples[512], first_part[513];
    struct pw_ablation_counts *of; /* [subjects] */
    struct pw_model *copy;
    int copied; /* the subject that copy is of; -1: none */
    int off;    /* the head that is off in it; -1: none */
};

void pw_ablation_tell(struct pw_probing_at *p, struct pw_finding *f);

#endif
