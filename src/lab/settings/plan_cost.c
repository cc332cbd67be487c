/* plan_cost.c - the work of a plan, counted from shapes and samples without building a model: a model of the
 * paper's size takes seconds to build, and a step of it half a minute on a processor. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/actions.h"
#include "lab/encodings.h"
#include "lab/settings/settings.h"

#define BATCHES 16 /* the lengths of samples vary, so a mean is taken */

/* Some encodings read the classes of tokens. */
static const unsigned char *classes_of(const struct pw_taskset *set)
{
    unsigned char *classes = pw_alloc((size_t)set->vocab.n + 1, 1);
    pw_taskset_classes(set, classes);
    const unsigned char *kept = pw_classes_keep(classes, set->vocab.n);
    free(classes);
    return kept;
}

static double mean_operations(const struct pw_lab *lab, const struct pw_taskset *set,
                              const struct pw_config *cfg, const struct pw_pe *pe, int batch)
{
    struct pw_samples s = {0};
    double sum = 0.0;
    for (int i = 0; i < BATCHES; i++) {
        pw_samples_fill(&s, set, lab->seed, PW_SPLIT_TRAIN, (uint64_t)i * (uint64_t)batch, batch, 0, 0);
        sum += (double)pw_model_flops(cfg, pe, &s.b);
    }
    pw_samples_fini(&s);
    return sum / BATCHES;
}

static enum pw_code count_parameters(const struct pw_config *cfg, const struct pw_pe_use_opts *use,
                                     double *sum, struct pw_err *err)
{
    struct pw_param *list;
    int n;
    enum pw_code code = pw_model_list(&list, &n, cfg, use, err);
    *sum = 0.0;
    for (int i = 0; code == PW_OK && i < n; i++)
        *sum += (double)list[i].cols * (list[i].rows > 0 ? list[i].rows : 1) *
                (list[i].layers > 0 ? list[i].layers : 1);
    free(list);
    return code;
}

enum pw_code pw_lab_plan_cost(const struct pw_lab *lab, const struct pw_plan *plan, struct pw_plan_cost *cost,
                              struct pw_err *err)
{
    struct pw_taskset set;
    struct pw_config cfg;
    struct pw_optim optim;
    struct pw_pe_use_opts use;
    char preset[16], race[sizeof plan->race], *pes[PW_MOST_ENCODINGS];
    enum pw_code code = pw_taskset_init(&set, plan->task, err);
    if (code != PW_OK)
        return code;
    memcpy(race, plan->race, sizeof race);
    pw_cut_encodings(race, pes);
    code = pw_lab_plan_model(plan, &set, preset, &cfg, &optim, err);
    cfg.vocab = set.vocab.n;
    if (code == PW_OK)
        code = pw_config_check(&cfg, err);
    if (code == PW_OK) {
        cfg.classes = classes_of(&set);
        code = pw_pe_parse(&use, pes[0], &cfg, err);
    }
    if (code == PW_OK)
        code = count_parameters(&cfg, &use, &cost->parameters, err);
    if (code == PW_OK) {
        cost->operations = mean_operations(lab, &set, &cfg, use.pe, optim.batch);
        cost->bytes = (double)pw_model_bytes(lab->ops, &cfg, &use, pw_trains_kind(optim.trains), 0,
                                             optim.batch, 1, set.max_tokens);
        cost->steps = optim.steps;
    }
    pw_taskset_fini(&set);
    return code;
}
