/* probe.c - the table of probes. Each probe is one file and one line here. */
#include "probe/probe.h"
#include <string.h>

extern const struct pw_probe pw_probe_ablation;
extern const struct pw_probe pw_probe_adjacent;
extern const struct pw_probe pw_probe_audit;
extern const struct pw_probe pw_probe_awareness;
extern const struct pw_probe pw_probe_buckets;
extern const struct pw_probe pw_probe_decay;
extern const struct pw_probe pw_probe_dispersion;
extern const struct pw_probe pw_probe_distance;
extern const struct pw_probe pw_probe_equations;
extern const struct pw_probe pw_probe_histogram;
extern const struct pw_probe pw_probe_layernorm;
extern const struct pw_probe pw_probe_linearity;
extern const struct pw_probe pw_probe_permutation;
extern const struct pw_probe pw_probe_position;
extern const struct pw_probe pw_probe_rank;
extern const struct pw_probe pw_probe_relative;
extern const struct pw_probe pw_probe_resolution;
extern const struct pw_probe pw_probe_rows;
extern const struct pw_probe pw_probe_scores;
extern const struct pw_probe pw_probe_shift;
extern const struct pw_probe pw_probe_theorem1;
extern const struct pw_probe pw_probe_theorem2;
extern const struct pw_probe pw_probe_variance;
extern const struct pw_probe pw_probe_transplant;
extern const struct pw_probe pw_probe_why;

/* clang-format off */
const struct pw_probe *const pw_probes[] = {
    &pw_probe_ablation,
    &pw_probe_adjacent,
    &pw_probe_audit,
    &pw_probe_awareness,
    &pw_probe_buckets,
    &pw_probe_decay,
    &pw_probe_dispersion,
    &pw_probe_distance,
    &pw_probe_equations,
    &pw_probe_histogram,
    &pw_probe_layernorm,
    &pw_probe_linearity,
    &pw_probe_permutation,
    &pw_probe_position,
    &pw_probe_rank,
    &pw_probe_relative,
    &pw_probe_resolution,
    &pw_probe_rows,
    &pw_probe_scores,
    &pw_probe_shift,
    &pw_probe_theorem1,
    &pw_probe_theorem2,
    &pw_probe_variance,
    &pw_probe_transplant,
    &pw_probe_why,
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

bool pw_probe_nope(const struct pw_probe_subject *s, bool trained)
{
    return pw_model_pe(s->model)->pe->uses == 0 && pw_model_config(s->model)->causal &&
           (!trained || pw_model_step_count(s->model) > 0);
}

void pw_probe_fini(struct pw_probing_at *p)
{
    if (p->state != NULL)
        p->probe->fini(p);
    p->state = NULL;
}

void pw_probe_remark_one(struct pw_finding *f, const char *study)
{
    pw_finding_remark(
        f, "the arm is one model, so this finding makes no claim about it: 'reproduce %s' trains several",
        study);
}
