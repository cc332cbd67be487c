/* state_pin.c - the pinned prompt in a lab's state.
 *
 * The data of each answer token is not saved. If the answer is valid for the present weights, they reproduce
 * it (pw_lab_answer_quietly). If it is not, it is decoded again before it is used. */
#include <assert.h>
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/looks/looks.h"
#include "lab/recording/state_int.h"

#define MOST_TOKENS PW_MAX_CONTEXT /* the largest context; a sample has no more tokens */

#define OF(member) offsetof(struct pw_pin, member)

static const struct pw_opt fields[] = {
    {.name = "id", .type = PW_OPT_INT, .offset = OF(id), .max = 2e9},
    {.name = "arm", .type = PW_OPT_INT, .offset = OF(arm), .max = PW_MAX_ARMS},
    {.name = "replica", .type = PW_OPT_INT, .offset = OF(replica), .def = "1", .max = PW_MAX_REPLICAS},
    {.name = "text", .type = PW_OPT_TEXT, .offset = OF(text), .size = sizeof((struct pw_pin *)0)->text},
    {.name = "index", .type = PW_OPT_COUNT, .offset = OF(index), .min = -1, .max = (double)PW_MOST_STEPS},
    {.name = "task", .type = PW_OPT_INT, .offset = OF(sample.task), .min = -1, .max = PW_MAX_TASKS - 1},
    {.name = "length", .type = PW_OPT_INT, .offset = OF(sample.length), .min = -1, .max = MOST_TOKENS},
    {.name = "a", .type = PW_OPT_INT, .offset = OF(sample.pair.a), .max = MOST_TOKENS},
    {.name = "b", .type = PW_OPT_INT, .offset = OF(sample.pair.b), .max = MOST_TOKENS},
    {.name = "n_prompt", .type = PW_OPT_INT, .offset = OF(sample.n_prompt), .max = MOST_TOKENS},
    {.name = "n_sample", .type = PW_OPT_INT, .offset = OF(sample.n), .max = MOST_TOKENS},
    {.name = "n", .type = PW_OPT_INT, .offset = OF(n), .max = MOST_TOKENS},
    {.name = "kept", .type = PW_OPT_INT, .offset = OF(kept), .max = MOST_TOKENS},
    {.name = "more", .type = PW_OPT_INT, .offset = OF(more), .max = MOST_TOKENS},
    {.name = "at", .type = PW_OPT_INT, .offset = OF(at), .max = MOST_TOKENS},
    {.name = "temperature", .type = PW_OPT_FLOAT, .offset = OF(temperature), .max = 100},
    {.name = "stop_at_wrong", .type = PW_OPT_SWITCH, .offset = OF(stop_at_wrong)},
    {.name = "layer", .type = PW_OPT_INT, .offset = OF(layer), .max = PW_MAX_LAYERS},
    {.name = "head", .type = PW_OPT_INT, .offset = OF(head), .max = 128},
    {.name = "view", .type = PW_OPT_CHOICE, .offset = OF(view), .choices = pw_view_names},
    {.name = NULL}};

/* Number of tokens in use: decoded and given ones. */
static int tokens_of(const struct pw_pin *pin)
{
    return pin->n > pin->kept ? pin->n : pin->kept;
}

cJSON *pw_state_save_pin(struct pw_lab *lab)
{
    const struct pw_pin *pin = &lab->pin;
    int n = tokens_of(pin);
    int *edited = pw_alloc((size_t)n, sizeof *edited);
    cJSON *object = cJSON_CreateObject();
    for (int i = 0; i < n; i++)
        edited[i] = pin->edited[i];
    bool ok = pw_state_put(object, fields, pin) &&
              pw_state_put_text(object, "fresh", pw_lab_answer_stands(lab) ? "on" : "off") &&
              pw_state_put_ints(object, "sample", pin->sample.tokens, pin->sample.n) &&
              pw_state_put_ints(object, "tokens", pin->tokens, n) &&
              pw_state_put_ints(object, "edited", edited, n);
    free(edited);
    if (ok)
        return object;
    cJSON_Delete(object);
    return NULL;
}

/* Check that the numbers are consistent, so that every reader of the prompt can rely on them. */
static enum pw_code check(const struct pw_lab *lab, const struct pw_pin *pin, struct pw_err *err)
{
    const struct pw_sample *x = &pin->sample;
    bool nothing = x->n_prompt == 0 && x->n == 0 && pin->n == 0 && pin->kept == 0 && pin->at == 0;
    bool pinned = x->n_prompt > 0 && x->n >= x->n_prompt && pin->n >= x->n_prompt &&
                  pin->kept >= x->n_prompt && (pin->at == 0 || pin->at >= x->n_prompt);
    if ((pin->id == 0 ? nothing : pinned) && pin->id <= lab->last_prompt_id && x->task < lab->tasks.n)
        return PW_OK;
    return pw_fail(err, PW_EUSER, "state: pin: its numbers are inconsistent");
}

/* If a task gives its answer tokens a meaning, the answer must be as long as the task's own. */
static enum pw_code check_sample(const struct pw_lab *lab, const struct pw_sample *x, struct pw_err *err)
{
    const struct pw_task_use *use = x->task >= 0 ? &lab->tasks.use[x->task] : NULL;
    struct pw_str written = {0}, answer = {0};
    struct pw_sample own = {0};
    struct pw_item item;
    enum pw_code code = PW_OK;
    if (use == NULL || use->task->pointers == NULL || x->n == x->n_prompt)
        return PW_OK;
    if (pw_taskset_item(&lab->tasks, x, &item)) {
        own.cap = x->n;
        own.tokens = pw_alloc((size_t)own.cap, sizeof *own.tokens);
        pw_item_write(use, &item, &written, &answer);
        code = pw_taskset_tokens(&lab->tasks, x->task, pw_str_text(&written), pw_str_text(&answer), x->n,
                                 &own, NULL);
        if (code != PW_OK || own.n != x->n || own.n_prompt != x->n_prompt)
            code = pw_fail(err, PW_EUSER, "state: pin: its right answer is not one of %s", use->task->name);
        free(own.tokens);
    }
    pw_str_fini(&written);
    pw_str_fini(&answer);
    return code;
}

static enum pw_code get_tokens(struct pw_pin *pin, const cJSON *object, int vocab, struct pw_err *err)
{
    const char *what = "state: pin";
    int n = tokens_of(pin), *edited = pw_alloc((size_t)n, sizeof *edited);
    pin->cap = n;
    pin->tokens = pw_alloc((size_t)n, sizeof *pin->tokens);
    pin->edited = pw_alloc((size_t)n, sizeof *pin->edited);
    pin->said = pw_alloc((size_t)n, sizeof *pin->said);
    pin->sample.cap = pin->sample.n;
    pin->sample.tokens = pw_alloc((size_t)pin->sample.n, sizeof *pin->sample.tokens);
    enum pw_code code =
        pw_state_get_ints(object, "sample", pin->sample.tokens, pin->sample.n, vocab, what, err);
    if (code == PW_OK)
        code = pw_state_get_ints(object, "tokens", pin->tokens, n, vocab, what, err);
    if (code == PW_OK)
        code = pw_state_get_ints(object, "edited", edited, n, 2, what, err);
    for (int i = 0; i < n; i++)
        pin->edited[i] = edited[i] != 0;
    free(edited);
    size_t prompt = (size_t)pin->sample.n_prompt * sizeof *pin->tokens;
    if (code == PW_OK && memcmp(pin->tokens, pin->sample.tokens, prompt) != 0)
        code = pw_fail(err, PW_EUSER, "%s: 'tokens' do not start with the prompt", what);
    return code;
}

enum pw_code pw_state_restore_pin(struct pw_lab *lab, const cJSON *object, struct pw_err *err)
{
    static const struct pw_opt fresh_field[] = {{.name = "fresh", .type = PW_OPT_SWITCH}, {.name = NULL}};
    const char *what = "state: pin", *text;
    struct pw_pin *pin = &lab->pin;
    bool fresh = false;
    enum pw_code code = pw_state_get(object, fields, pin, 4, what, err);
    if (code != PW_OK)
        return code;
    text = pw_state_get_text(object, "fresh", what, err);
    code = text != NULL ? pw_opt_set(fresh_field, &fresh, what, "fresh", text, err) : PW_EUSER;
    if (code == PW_OK)
        code = check(lab, pin, err);
    if (code == PW_OK)
        code = get_tokens(pin, object, lab->tasks.vocab.n, err);
    if (code == PW_OK)
        code = check_sample(lab, &pin->sample, err);
    if (code == PW_OK && fresh)
        pw_lab_answer_quietly(lab);
    return code;
}
