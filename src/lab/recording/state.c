/* state.c - save the lab as a text and images of its models, and restore it.
 *
 * Restoring uses the same tables as saving, and the same checks as commands: the task is read by the task's
 * parser, models are built as `model` builds them and loaded as `import` loads them. All this happens in a
 * second lab, which hands its members over when nothing can fail any more. */
#include "lab/recording/state.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/arms/arms.h"
#include "lab/looks/looks.h"
#include "lab/loop/loop.h"
#include "lab/recording/state_int.h"
#include "lab/train/train.h"

/* Change it when a member is added or removed: a state is read completely or not at all. */
#define FORMAT "1"

#define AT(member) offsetof(struct pw_lab, member)

static const char *const shares[] = {"steps", "flops", NULL}; /* enum pw_share */

#define OWN_BATCHES "own_batches"

static const struct pw_opt lab_fields[] = {
    {.name = "seed", .type = PW_OPT_SEED, .offset = AT(seed)},
    {.name = "current", .type = PW_OPT_INT, .offset = AT(current), .min = 1, .max = PW_MAX_ARMS},
    {.name = "replica",
     .type = PW_OPT_INT,
     .offset = AT(replica),
     .def = "1",
     .min = 1,
     .max = PW_MAX_REPLICAS},
    {.name = "paused", .type = PW_OPT_SWITCH, .offset = AT(paused)},
    {.name = "share", .type = PW_OPT_CHOICE, .offset = AT(share), .choices = shares},
    {.name = "allowed", .type = PW_OPT_COUNT, .offset = AT(allowed), .max = (double)PW_MOST_STEPS},
    {.name = "temperature", .type = PW_OPT_FLOAT, .offset = AT(temperature), .max = 100},
    {.name = "prompts", .type = PW_OPT_INT, .offset = AT(last_prompt_id), .max = 2e9},
    {.name = "steps", .type = PW_OPT_COUNT, .offset = AT(steps_done), .max = PW_STATE_GOAL},
    {.name = "table_length", .type = PW_OPT_INT, .offset = AT(table.length), .max = PW_MAX_CONTEXT},
    {.name = "table_layer", .type = PW_OPT_INT, .offset = AT(table.layer), .max = PW_MAX_LAYERS},
    {.name = "table_told", .type = PW_OPT_INT, .offset = AT(table_told), .max = (2 << PW_MAX_ARMS) - 1},
    {.name = "table_next", .type = PW_OPT_INT, .offset = AT(table_next), .max = PW_MAX_ARMS},
    {.name = OWN_BATCHES, .type = PW_OPT_SWITCH, .offset = AT(own_batches), .def = "off"},
    {.name = NULL}};

/* Names as in pw_lab_arithmetic. */
static const char *const arithmetics[] = {"fp32", "bf16", "cuda-fp32", "cuda-tf32", "cuda-bf16", NULL};
static const struct pw_opt arithmetic_field[] = {
    {.name = "precision", .type = PW_OPT_CHOICE, .choices = arithmetics}, {.name = NULL}};

void pw_lab_images_fini(struct pw_lab_images *images)
{
    for (int i = 0; i < images->n; i++)
        free(images->at[i].bytes);
    images->n = 0;
}

bool pw_lab_state_ready(const struct pw_lab *lab)
{
    return !pw_lab_busy(lab);
}

/* ---- saving */

static enum pw_code save(struct pw_lab *lab, cJSON *root, struct pw_lab_images *images, struct pw_err *err)
{
    struct pw_str task = {0};
    char arithmetic[16];
    pw_lab_arithmetic(arithmetic, lab->ops);
    pw_taskset_print(&lab->tasks, &task);
    cJSON *settings = cJSON_AddObjectToObject(root, "lab");
    bool ok = pw_state_put_text(root, "format", FORMAT) && pw_state_put_text(root, "task", task.s) &&
              pw_state_put_text(root, "precision", arithmetic) && pw_state_put(settings, lab_fields, lab) &&
              cJSON_AddItemToObject(root, "pin", pw_state_save_pin(lab)) && pw_state_save_watches(lab, root);
    if (!lab->own_batches) /* so that older versions can read the state */
        cJSON_DeleteItemFromObjectCaseSensitive(settings, OWN_BATCHES);
    enum pw_code code =
        ok ? pw_state_save_arms(lab, root, images, task.s, err) : pw_fail(err, PW_ENOMEM, "out of memory");
    pw_str_fini(&task);
    return code;
}

enum pw_code pw_lab_state_save(struct pw_lab *lab, struct pw_str *json, struct pw_lab_images *images,
                               struct pw_err *err)
{
    assert(pw_lab_state_ready(lab));
    cJSON *root = cJSON_CreateObject();
    images->n = 0;
    enum pw_code code = save(lab, root, images, err);
    char *text = code == PW_OK ? cJSON_PrintUnformatted(root) : NULL;
    if (code == PW_OK && text == NULL)
        code = pw_fail(err, PW_ENOMEM, "out of memory");
    if (code == PW_OK)
        pw_str_put(json, text, strlen(text));
    else
        pw_lab_images_fini(images);
    cJSON_free(text);
    cJSON_Delete(root);
    return code;
}

/* ---- restoring: into a second lab, until it is complete */

/* Get a backend with this arithmetic: the lab's own if it has it, or if any arithmetic is allowed. */
static enum pw_code restore_backend(struct pw_lab *next, const struct pw_lab *lab, const char *arithmetic,
                                    struct pw_err *err)
{
    int choice;
    char own[16];
    struct pw_err why;
    pw_lab_arithmetic(own, lab->ops);
    next->ops = lab->ops;
    next->be = lab->be;
    next->unit = lab->unit;
    enum pw_code code = pw_opt_set(arithmetic_field, &choice, "state", "precision", arithmetic, err);
    if (code != PW_OK || strcmp(arithmetic, own) == 0 ||
        pw_lab_open_arithmetic(lab, arithmetic, &next->ops, &next->be, &next->unit, &why) == PW_OK)
        return code;
    next->ops = lab->ops;
    next->be = lab->be;
    next->unit = lab->unit;
    return lab->cfg.any_bits
               ? PW_OK
               : pw_fail(err, PW_EDEVICE, "%.300s; '--backend cpu' continues with different bits", why.msg);
}

static enum pw_code restore(struct pw_lab *next, const struct pw_lab *lab, const cJSON *root,
                            enum pw_code (*get)(void *, int, void **, size_t *, struct pw_err *), void *arg,
                            struct pw_err *err)
{
    static const struct pw_opt none[] = {{.name = NULL}};
    const char *what = "state", *task = NULL, *precision = NULL, *format;
    format = pw_state_get_text(root, "format", what, err);
    if (format == NULL)
        return PW_EUSER;
    if (strcmp(format, FORMAT) != 0)
        return pw_fail(err, PW_EUSER, "state: unknown format '%.20s'; a newer pewter may read it", format);
    const cJSON *watches = cJSON_GetObjectItemCaseSensitive(root, "watches");
    enum pw_code code = pw_state_get(root, none, NULL, 6 + (watches != NULL), what, err);
    if (code == PW_OK)
        code = pw_state_get(cJSON_GetObjectItemCaseSensitive(root, "lab"), lab_fields, next, 0, "state: lab",
                            err);
    if (code != PW_OK)
        return code;
    task = pw_state_get_text(root, "task", what, err);
    precision = task != NULL ? pw_state_get_text(root, "precision", what, err) : NULL;
    if (precision == NULL)
        return PW_EUSER;
    code = restore_backend(next, lab, precision, err);
    if (code == PW_OK)
        code = pw_taskset_init(&next->tasks, task, err);
    struct pw_err why;
    const cJSON *arms = cJSON_GetObjectItemCaseSensitive(root, "replicates");
    /* The task's tokenizer can be in a file that a model refers to, whose absence is the better reason. */
    if (code == PW_EUSER && pw_state_check_sources(cJSON_GetArraySize(arms), get, arg, &why) == PW_EMISSING)
        code = pw_fail(err, PW_EMISSING, "%s", why.msg);
    if (code == PW_OK)
        code = pw_state_restore_arms(next, arms, get, arg, err);
    if (code == PW_OK)
        code = pw_state_restore_pin(next, cJSON_GetObjectItemCaseSensitive(root, "pin"), err);
    if (code == PW_OK)
        code = pw_state_restore_watches(next, lab->cfg.help, watches, err);
    return code;
}

/* Move the members that make up the state from one lab to another, which must have none. */
static void hand_over(struct pw_lab *to, const struct pw_lab *from)
{
    to->ops = from->ops;
    to->be = from->be;
    to->unit = from->unit;
    to->seed = from->seed;
    to->own_batches = from->own_batches;
    to->tasks = from->tasks;
    memcpy(to->replicas, from->replicas, sizeof to->replicas);
    to->current = from->current;
    to->replica = from->replica;
    to->paused = from->paused;
    to->share = from->share;
    to->allowed = from->allowed;
    to->temperature = from->temperature;
    to->pin = from->pin;
    to->last_prompt_id = from->last_prompt_id;
    to->table = from->table;
    to->table_told = from->table_told;
    to->table_next = from->table_next;
    to->steps_done = from->steps_done;
    memcpy(to->watches, from->watches, sizeof to->watches);
    to->n_watches = from->n_watches;
}

/* Free what hand_over moves, except a backend that another lab shares. */
static void release(struct pw_lab *x, const struct pw_backend *kept)
{
    pw_pin_fini(&x->pin);
    for (int i = 0; i < PW_MAX_PLACES; i++)
        pw_model_destroy(x->replicas[i].model);
    pw_taskset_fini(&x->tasks);
    if (x->be != kept && x->be != NULL)
        x->ops->close(x->be);
    free(x);
}

enum pw_code pw_lab_state_restore(struct pw_lab *lab, const char *json,
                                  enum pw_code (*get)(void *arg, int i, void **bytes, size_t *n,
                                                      struct pw_err *err),
                                  void *arg, struct pw_err *err)
{
    assert(!pw_lab_answering(lab));
    struct pw_lab *next = pw_alloc(1, sizeof *next), *old = pw_alloc(1, sizeof *old);
    cJSON *root = cJSON_Parse(json);
    for (int i = 0; i < PW_MAX_PLACES; i++)
        next->replicas[i] = (struct pw_replica){.id = i % PW_MAX_ARMS + 1, .replica = i / PW_MAX_ARMS + 1};
    enum pw_code code = cJSON_IsObject(root) ? restore(next, lab, root, get, arg, err)
                                             : pw_fail(err, PW_EUSER, "state: is not a JSON object");
    if (code == PW_OK) {
        pw_jobs_cancel(lab, PW_CHANGE_MODELS);
        hand_over(old, lab);
        hand_over(lab, next);
        *next = (struct pw_lab){0};
        pw_lab_forget_batches(lab);
        lab->rate_t = pw_now();
        lab->rate_steps = lab->steps_done;
    }
    release(next, lab->be);
    release(old, lab->be);
    cJSON_Delete(root);
    return code;
}
