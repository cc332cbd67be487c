/* pin.c - facts about the pinned prompt and its answer that need no computation. */
#include <stdio.h>

#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/looks/looks.h"

bool pw_pin_fits(const struct pw_pin *pin, const struct pw_replica *arm)
{
    return pin->sample.n_prompt < arm->cfg.context && pin->kept <= arm->cfg.context;
}

int pw_lab_answer_limit(const struct pw_lab *lab, const struct pw_sample *x)
{
    bool parsed = x->task >= 0 && pw_task_parsed(&lab->tasks.use[x->task]);
    if (pw_taskset_single(&lab->tasks, x->task))
        return x->n_prompt + 1;
    if (!pw_taskset_ends(&lab->tasks, x->task)) /* running text, or tokens of another program */
        return x->n > x->n_prompt ? x->n : x->n_prompt + PW_CONTINUED;
    return x->n + PW_BEYOND + (parsed ? (x->n - x->n_prompt) / 2 : 0);
}

struct pw_replica *pw_lab_answerer(struct pw_lab *lab)
{
    return pw_lab_replica(lab, lab->pin.arm, lab->pin.replica);
}

bool pw_lab_answering(const struct pw_lab *lab)
{
    return lab->pin.decoder != NULL;
}

bool pw_lab_answer_stands(struct pw_lab *lab)
{
    const struct pw_pin *pin = &lab->pin;
    const struct pw_replica *arm = pw_lab_answerer(lab);
    return arm != NULL && pin->generation == pw_model_generation(arm->model);
}

enum pw_code pw_lab_want_prompt(const struct pw_lab *lab, const char *message, struct pw_err *err)
{
    struct pw_str example = {0};
    pw_taskset_example(&lab->tasks, 0, &example);
    pw_fail(err, PW_EUSER, "%s, such as 'prompt %s'", message, example.s);
    pw_str_fini(&example);
    return PW_EUSER;
}

enum pw_code pw_lab_need_pin(const struct pw_lab *lab, const char *what, struct pw_err *err)
{
    char message[80];
    if (lab->pin.id != 0)
        return PW_OK;
    snprintf(message, sizeof message, "%s: no prompt is pinned; run 'prompt TEXT' first", what);
    return pw_lab_want_prompt(lab, message, err);
}

int pw_lab_cursor(const struct pw_pin *pin)
{
    return pin->at > 0 && pin->at < pin->n ? pin->at : pin->n - 1;
}

bool pw_lab_answered(const struct pw_lab *lab)
{
    const struct pw_pin *pin = &lab->pin;
    return pin->id != 0 && pin->decoder == NULL && pin->n > pin->sample.n_prompt &&
           pin->temperature == lab->temperature &&
           pin->generation ==
               pw_model_generation(lab->replicas[pw_lab_inspected_place(lab, lab->current)].model);
}
