/* repros.c - the table of studies, by paper, and the list of items that no study reproduces, with the
 * reasons. A study is one file and one line in the table; those of blog_studies.c share a file. */
#include "reproduce/repro.h"

#include <string.h>

#include "reproduce/blog.h"

extern const struct pw_repro pw_repro_theorem1;
extern const struct pw_repro pw_repro_theorem2;
extern const struct pw_repro pw_repro_layernorm;
extern const struct pw_repro pw_repro_relative;
extern const struct pw_repro pw_repro_buckets;
extern const struct pw_repro pw_repro_equations;
extern const struct pw_repro pw_repro_lengths;
extern const struct pw_repro pw_repro_ranks;
extern const struct pw_repro pw_repro_figure4;
extern const struct pw_repro pw_repro_scratchpads;
extern const struct pw_repro pw_repro_sensitivity;
extern const struct pw_repro pw_repro_figure2;
extern const struct pw_repro pw_repro_figure6;
extern const struct pw_repro pw_repro_awareness;
extern const struct pw_repro pw_repro_session;
extern const struct pw_repro pw_repro_linearity;
extern const struct pw_repro pw_repro_permutation;
extern const struct pw_repro pw_repro_variance;
extern const struct pw_repro pw_repro_scalar;
extern const struct pw_repro pw_repro_position;
extern const struct pw_repro pw_repro_resolution;
extern const struct pw_repro pw_repro_shift;
extern const struct pw_repro pw_repro_dispersion;
extern const struct pw_repro pw_repro_decay;
extern const struct pw_repro pw_repro_adjacent;
extern const struct pw_repro pw_repro_scores;

/* clang-format off */
const struct pw_repro *const pw_repros[] = {
    &pw_repro_theorem1,
    &pw_repro_theorem2,
    &pw_repro_layernorm,
    &pw_repro_relative,
    &pw_repro_buckets,
    &pw_repro_equations,
    &pw_repro_lengths,
    &pw_repro_ranks,
    &pw_repro_figure4,
    &pw_repro_scratchpads,
    &pw_repro_sensitivity,
    &pw_repro_figure2,
    &pw_repro_figure6,
    &pw_repro_awareness,
    &pw_repro_session,
    &pw_repro_linearity,
    &pw_repro_permutation,
    &pw_repro_variance,
    &pw_repro_scalar,
    &pw_repro_position,
    &pw_repro_resolution,
    &pw_repro_shift,
    &pw_repro_dispersion,
    &pw_repro_decay,
    &pw_repro_adjacent,
    &pw_repro_scores,
    NULL,
};
/* clang-format on */

const char *const pw_repros_left[] = {
    "Kazemnejad et al. 2023, Figure A.1: prompt lengths of FLAN and Super Natural Instructions: these data "
    "sets are not part of this program; 'probe histogram path=FILE' counts any file",
    "Kazemnejad et al. 2023, Eq. 4 to 11, 15 to 21 and 28 to 35: definitions, and intermediate steps of the "
    "proofs that 'layernorm', 'theorem1', 'theorem2' and 'equations' judge",
    "Kazemnejad et al. 2023, D.1, Table 2, D.3, D.4: settings of tasks and runs ('task', 'model paper'): the "
    "program uses copies of them, so there is nothing to measure",
    "Kazemnejad et al. 2023, all figures at the paper's size (12 layers of width 768, 40,000 steps, 870 "
    "runs): studies with protocol=paper train at this size, but no such run has been made",
    "Kazemnejad et al. 2023, Figures E.2 and E.4: accuracies on copy rsc2x, copy cmc2x, the three reverse "
    "tasks, SCAN and PCFG, and of ALiBi and rotary on copy cmc: the figures draw curves and print no "
    "numbers, so `lengths` measures these and claims no order",
    "Kazemnejad et al. 2023, appendix F: language models of 1.3 B parameters: too large for this program",
    "Qiu et al. 2021, the recommender (Eq. 1 to 12, the graph network, Yoochoose and Diginetica): outside "
    "the scope of this program; the definitions of section 3 are judged by 'awareness', and on the task "
    "'session'",
    "Qiu et al. 2021, Eq. 16, 17: definitions ('pe aspe'), from which 'linearity' starts",
    "Su 2024, 'via variance': the check of pre-trained models by Chi et al.: 'variance' uses small models",
    "Su 2024, 'Prior Knowledge': truncated distances, RNNs and CNNs: descriptions of other models; for T5's "
    "coarse distances see 'buckets'",
    "Su 2024, shortcoming 3: relative position suits natural language better, and is more efficient: this "
    "program has no natural language",
    "Su 2024, summary: large models reason better if position is given: too large for this program",
    NULL,
};

enum pw_code pw_repro_find(const struct pw_repro **study, const char *name, struct pw_err *err)
{
    const char *names[64] = {0}, *near;
    int n = 0;
    for (; pw_repros[n] != NULL && n < 63; n++) {
        names[n] = pw_repros[n]->name;
        if (strcmp(names[n], name) == 0) {
            *study = pw_repros[n];
            return PW_OK;
        }
    }
    near = pw_text_nearest(name, names);
    return near != NULL ? pw_fail(err, PW_EUSER, "no study '%s'; did you mean '%s'?", name, near)
                        : pw_fail(err, PW_EUSER, "no study '%s'; 'reproduce --list' lists all", name);
}

const struct pw_opt *pw_repro_opts(const char *name)
{
    const struct pw_repro *study;
    return name != NULL && pw_repro_find(&study, name, NULL) == PW_OK ? study->opts : NULL;
}

void pw_repro_script(const struct pw_repro *study, const void *opts, struct pw_str *out)
{
    if (study->blog != NULL)
        pw_blog_script(study->blog, opts, out);
    else if (study->lines != NULL)
        pw_str_add(out, "%s", study->lines);
    else
        study->script(opts, out);
}

bool pw_repro_plan(const struct pw_repro *study, const void *opts, struct pw_plan *plan)
{
    if (study->blog != NULL)
        return pw_blog_plan_model(study->blog, opts, plan);
    return study->plan != NULL && study->plan(opts, plan);
}

bool pw_repro_has_verdict(const struct pw_repro *study)
{
    return study->blog != NULL || study->judge != NULL;
}

enum pw_code pw_repro_judge(const struct pw_repro *study, const void *opts, const struct pw_snapshot *s,
                            struct pw_finding *f, struct pw_err *err)
{
    return study->blog != NULL ? pw_blog_judge(study->blog, opts, s, f, err) : study->judge(opts, s, f, err);
}
