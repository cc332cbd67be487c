/* ablation.h - private to the probe ablation. ablation.c counts right answers; ablation_report.c builds the
 * finding. Lab thread. */
#ifndef PW_PROBE_ABLATION_H
#define PW_PROBE_ABLATION_H
#include "probe/probe.h"

/* The probe's options. */
struct pw_ablation_options {
    struct pw_range lengths;
    int samples;
};

/* Counts of one subject. */
struct pw_ablation_counts {
    int heads;     /* heads of the whole model, L H */
    int first;     /* index of the subject's first unit */
    int64_t *done; /* [1 + heads, lengths] samples answered right; row 0: no head ablated */
};

/* The probe's state. It owns its arrays and `copy`. */
struct pw_ablation_state {
    int n; /* number of lengths */
    /* [n] lengths, samples of each, and the index of the first part of each; a part is one unit's samples */
    int length[512], samples[512], first_part[513];
    struct pw_ablation_counts *of; /* [subjects] */
    struct pw_model *copy;
    int copied; /* index of the subject that `copy` was cloned from; -1: none */
    int off;    /* head that is ablated in `copy`; -1: none */
};

/* Builds the finding from all counts. The state of p is a struct pw_ablation_state. */
void pw_ablation_report(struct pw_probing_at *p, struct pw_finding *f);

#endif
