#include "lab/state.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/state_int.h"

#define FORMAT     "1"
#define MOST_FLOPS 4e18
#define MOST_GOAL  1e16

#define AT(member) offsetof(struct pw_lab, member)
#define OF(member) offsetof(struct pw_arm, member)

static const char *const shares[] = {"steps", "flops", NULL}; /* enum pw_share */
static const char *const untils[] = {"step", "acc", "loss", "flops",
                                     NULL}; /* enum pw_until, as arms have it */

static const struct pw_opt lab_fields[] = {
    {.name = "seed", .type = PW_OPT_SEED, .offset = AT(seed)},
    {.name = "current", .type = PW_OPT_INT, .offset = AT(current), .min = 1, .max = PW_MAX_ARMS},
    {.name = "paused", .type = PW_OPT_SWITCH, .offset = AT(paused)},
    {.name = "share", .type = PW_OPT_CHOICE, .offset = AT(share), .choices = shares},
    {.name = "allowed", .type = PW_OPT_COUNT, .offset = AT(allowed), .max = (double)PW_MOST_STEPS},
    {.name = "temperature", .type = PW_OPT_FLOAT, .offset = AT(temperature), .max = 100},
    {.name = "prompts", .type = PW_OPT_INT, .offset = AT(last_prompt_id), .max = 2e9},
    {.name = "steps", .type = PW_OPT_COUNT, .offset = AT(steps_done), .max = MOST_GOAL},
    {.name = "table_length", .type = PW_OPT_INT, .offset = AT(table.length), .max = 65536},
    {.name = "table_layer", .type = PW_OPT_INT, .offset = AT(table.layer), .max = PW_MAX_LAYERS},
    {.name = "table_told", .type = PW_OPT_INT, .offset = AT(table_told), .max = (2 << PW_MAX_ARMS) - 1},
    {.name = "table_next", .type = PW_OPT_INT, .offset = AT(table_next), .max = PW_MAX_ARMS},
    {.name = NULL}};

/* What the backend must be able to do. */
static const char *const precisions[] = {"fp32", "bf16", NULL};
static const struct pw_opt precision_field[] = {
    {.name = "precision", .type = PW_OPT_CHOICE, .choices = precisions}, {.name = NULL}};

/* Of a replicate; its model, encoding, optimiser and seed stand in its image. */
static const struct pw_opt arm_fields[] = {
    {.name = "arm", .type = PW_OPT_INT, .offset = OF(id), .min = 1, .max = PW_MAX_ARMS},
    {.name = "replicate", .type = PW_OPT_INT, .offset = OF(replicate), .min = 1, .max = PW_MAX_REPLICATES},
    {.name = "preset", .type = PW_OPT_TEXT, .offset = OF(preset), .size = sizeof((struct pw_arm *)0)->preset},
    {.name = "step", .type = PW_OPT_COUNT, .offset = OF(step), .max = (double)PW_MOST_STEPS},
    {.name = "flops", .type = PW_OPT_COUNT, .offset = OF(flops), .max = MOST_FLOPS},
    {.name = "flops_from", .type = PW_OPT_COUNT, .offset = OF(flops_from), .max = (double)PW_MOST_STEPS},
    {.name = "swaps", .type = PW_OPT_INT, .offset = OF(swaps), .max = 1e9},
    {.name = "parent", .type = PW_OPT_INT, .offset = OF(parent), .max = PW_MAX_ARMS},
    {.name = "parent_step", .type = PW_OPT_COUNT, .offset = OF(parent_step), .max = (double)PW_MOST_STEPS},
    {.name = "training", .type = PW_OPT_SWITCH, .offset = OF(training)},
    {.name = "goal", .type = PW_OPT_COUNT, .offset = OF(goal), .max = MOST_GOAL},
    {.name = "until", .type = PW_OPT_CHOICE, .offset = OF(until), .choices = untils},
    {.name = "until_value", .type = PW_OPT_DOUBLE, .offset = OF(until_value), .max = 1e300},
    {.name = "met", .type = PW_OPT_SWITCH, .offset = OF(met)},
    {.name = "budget", .type = PW_OPT_SWITCH, .offset = OF(budget)},
    {.name = "due", .type = PW_OPT_SWITCH, .offset = OF(due)},
    {.name = "checking", .type = PW_OPT_SWITCH, .offset = OF(checking)},
    {.name = "check_of", .type = PW_OPT_INT, .offset = OF(check_of), .max = PW_MAX_ITEM},
    {.name = "checked", .type = PW_OPT_INT, .offset = OF(check.samples), .max = PW_MAX_ITEM},
    {.name = "check_exact", .type = PW_OPT_INT, .offset = OF(check.exact), .max = PW_MAX_ITEM},
    {.name = NULL}};

void pw_lab_images_fini(struct pw_lab_images *images)
{
    for (int i = 0; i < images->n; i++)
        free(images->at[i].bytes);
    images->n = 0;
}

bool pw_lab_state_ready(const struct pw_lab *lab)
{
    return !pw_lab_answering(lab) && lab->eval.n == 0 && lab->dump == NULL && lab->probe == NULL &&
           lab->patching == NULL;
}

/* ---- saving */

/* What an arm's `until` has seen is not a number before it has looked. */
static bool put_seen(cJSON *object, double seen)
{
    char text[32];
    snprintf(text, sizeof text, "%.17g", seen);
    return pw_state_put_text(object, "seen", isnan(seen) ? "none" : text);
}

static enum pw_code save_arm(cJSON *list, const struct pw_arm *arm, struct pw_lab_images *images,
                             const struct pw_checkpoint_info *info, struct pw_err *err)
{
    cJSON *object = cJSON_CreateObject();
    int i = images->n;
    if (!cJSON_AddItemToArray(list, object) || !pw_state_put(object, arm_fields, arm) ||
        !put_seen(object, arm->seen))
        return pw_fail(err, PW_ENOMEM, "out of memory");
    enum pw_code code = pw_checkpoint_image(arm->model, info, &images->at[i].bytes, &images->at[i].n, err);
    images->n += code == PW_OK;
    return code;
}

static enum pw_code save_arms(struct pw_lab *lab, cJSON *root, struct pw_lab_images *images, char *task,
                              struct pw_err *err)
{
    cJSON *list = cJSON_AddArrayToObject(root, "replicates");
    struct pw_arm arms[PW_MAX_PLACES];
    int n = pw_lab_collect(lab, 0, arms);
    enum pw_code code = PW_OK;
    for (int i = 0; i < n && code == PW_OK; i++) {
        struct pw_checkpoint_info info = pw_lab_describe(lab, &arms[i], task);
        code = save_arm(list, &arms[i], images, &info, err);
    }
    return code;
}

static enum pw_code save(struct pw_lab *lab, cJSON *root, struct pw_lab_images *images, struct pw_err *err)
{
    struct pw_str task = {0};
    pw_taskset_print(&lab->tasks, &task);
    cJSON *settings = cJSON_AddObjectToObject(root, "lab");
    bool ok = pw_state_put_text(root, "format", FORMAT) && pw_state_put_text(root, "task", task.s) &&
              pw_state_put_text(root, "precision", lab->ops->precision) &&
              pw_state_put(settings, lab_fields, lab) &&
              cJSON_AddItemToObject(root, "pin", pw_state_save_pin(lab));
    enum pw_code code =
        ok ? save_arms(lab, root, images, task.s, err) : pw_fail(err, PW_ENOMEM, "out of memory");
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

/* ---- restoring: a laboratory beside the one that there is, until all of it is there */

static enum pw_code get_seen(const cJSON *object, double *seen, const char *what, struct pw_err *err)
{
    const char *text = pw_state_get_text(object, "seen", what, err);
    if (text == NULL)
        return PW_EUSER;
    *seen = NAN;
    if (strcmp(text, "none") == 0 || pw_text_double(text, seen))
        return PW_OK;
    return pw_fail(err, PW_EUSER, "%s: seen must be a number or 'none'", what);
}

/* The settings that an image brings must be those of the lab that it is restored into. */
static enum pw_code check_image(const struct pw_lab *next, const struct pw_arm *a,
                                const struct pw_checkpoint_info *info, const char *what, struct pw_err *err)
{
    if (!info->has_config || info->config.vocab != next->tasks.vocab.n ||
        !pw_lab_same_words(&next->tasks.vocab, info))
        return pw_fail(err, PW_EUSER, "%s: its model doesn't speak the task's tokens", what);
    if (info->step != a->step)
        return pw_fail(err, PW_EUSER, "%s: at step %lld, and its model at %lld", what, (long long)a->step,
                       (long long)info->step);
    return PW_OK;
}

static enum pw_code build(struct pw_lab *next, struct pw_arm *a, const struct pw_checkpoint *c,
                          const char *what, struct pw_err *err)
{
    const struct pw_checkpoint_info *info = pw_checkpoint_info(c);
    struct pw_arm fresh;
    enum pw_code code = check_image(next, a, info, what, err);
    if (code != PW_OK)
        return code;
    a->cfg = info->config;
    a->pe = info->pe;
    a->optim = info->optim;
    a->seed = info->seed;
    code = pw_lab_build_arm(next, &fresh, a, err);
    if (code != PW_OK)
        return code;
    code = pw_checkpoint_load(c, fresh.model, err);
    if (code == PW_OK)
        code = pw_lab_check_heads(&fresh, what, err);
    if (code == PW_OK)
        a->model = fresh.model;
    else
        pw_model_destroy(fresh.model);
    return code;
}

/* Replicate i of the list, to its place. */
static enum pw_code restore_arm(struct pw_lab *next, const cJSON *object, const void *bytes, size_t n, int i,
                                struct pw_err *err)
{
    char what[64];
    struct pw_arm a = {0}, *place;
    struct pw_checkpoint *c;
    snprintf(what, sizeof what, "state: replicate %d", i + 1);
    enum pw_code code = pw_state_get(object, arm_fields, &a, 1, what, err);
    if (code == PW_OK)
        code = get_seen(object, &a.seen, what, err);
    if (code != PW_OK)
        return code;
    snprintf(what, sizeof what, "state: arm %d, replicate %d", a.id, a.replicate);
    place = &next->arms[(a.replicate - 1) * PW_MAX_ARMS + a.id - 1];
    if (place->model != NULL || (a.replicate > 1 && pw_lab_replicate(next, a.id, a.replicate - 1) == NULL))
        return pw_fail(err, PW_EUSER, "%s: twice there, or the one before it is missing", what);
    if (a.checking && (a.check_of < 1 || a.check.samples > a.check_of || a.check.exact > a.check.samples))
        return pw_fail(err, PW_EUSER, "%s: %d right of %d of %d samples", what, a.check.exact,
                       a.check.samples, a.check_of);
    code = pw_checkpoint_open_bytes(&c, bytes, n, what, err);
    if (code == PW_OK)
        code = build(next, &a, c, what, err);
    pw_checkpoint_close(c);
    if (code == PW_OK)
        *place = a;
    return code;
}

/* An arm's replicates differ in seed, weights and progress alone. */
static enum pw_code check_alike(struct pw_lab *next, struct pw_err *err)
{
    struct pw_arm all[PW_MAX_PLACES];
    int n = pw_lab_collect(next, 0, all);
    struct pw_str text[2] = {{0}, {0}};
    bool alike = true;
    for (int i = 0; i < n; i++) {
        struct pw_str *s = &text[i % 2];
        pw_str_clear(s);
        pw_opt_print(pw_config_opts, &all[i].cfg, false, s);
        pw_pe_print(&all[i].pe, s);
        alike = alike && (all[i].replicate == 1 || strcmp(text[0].s, text[1].s) == 0);
    }
    pw_str_fini(&text[0]);
    pw_str_fini(&text[1]);
    return alike ? PW_OK : pw_fail(err, PW_EUSER, "state: the replicates of an arm are of different shapes");
}

static enum pw_code restore_arms(struct pw_lab *next, const cJSON *list,
                                 enum pw_code (*get)(void *, int, void **, size_t *, struct pw_err *),
                                 void *arg, struct pw_err *err)
{
    const cJSON *object;
    int n = cJSON_GetArraySize(list), i = 0;
    enum pw_code code = PW_OK;
    if (!cJSON_IsArray(list) || n < 1 || n > PW_MAX_PLACES)
        return pw_fail(err, PW_EUSER, "state: %d replicates; there are 1..%d", n, PW_MAX_PLACES);
    for (object = list->child; object != NULL && code == PW_OK; object = object->next, i++) {
        void *bytes = NULL;
        size_t size = 0;
        code = get(arg, i, &bytes, &size, err);
        if (code == PW_OK)
            code = restore_arm(next, object, bytes, size, i, err);
        free(bytes);
    }
    if (code == PW_OK)
        code = check_alike(next, err);
    if (code == PW_OK && pw_lab_arm(next, next->current) == NULL)
        code = pw_fail(err, PW_EUSER, "state: arm %d is the current one, and is not there", next->current);
    return code;
}

/* A backend of that precision: the lab's own where it is that already. */
static enum pw_code restore_precision(struct pw_lab *next, const struct pw_lab *lab, const char *precision,
                                      struct pw_err *err)
{
    int choice;
    struct pw_backend *be;
    next->ops = lab->ops;
    next->be = lab->be;
    enum pw_code code = pw_opt_set(precision_field, &choice, "state", "precision", precision, err);
    if (code != PW_OK || strcmp(precision, lab->ops->precision) == 0)
        return code;
    const struct pw_backend_ops *ops = pw_backend_cpu_precision(lab->ops->isa, precision, err);
    if (ops == NULL)
        return PW_EUSER;
    code = ops->open(&be, lab->ops->workers(lab->be), err);
    if (code == PW_OK) {
        next->ops = ops;
        next->be = be;
    }
    return code;
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
        return pw_fail(err, PW_EUSER, "state: of format '%.20s', which this pewter doesn't know", format);
    enum pw_code code = pw_state_get(root, none, NULL, 6, what, err);
    if (code == PW_OK)
        code = pw_state_get(cJSON_GetObjectItemCaseSensitive(root, "lab"), lab_fields, next, 0, "state: lab",
                            err);
    if (code != PW_OK)
        return code;
    task = pw_state_get_text(root, "task", what, err);
    precision = task != NULL ? pw_state_get_text(root, "precision", what, err) : NULL;
    if (precision == NULL)
        return PW_EUSER;
    code = restore_precision(next, lab, precision, err);
    if (code == PW_OK)
        code = pw_taskset_init(&next->tasks, task, err);
    if (code == PW_OK)
        code = restore_arms(next, cJSON_GetObjectItemCaseSensitive(root, "replicates"), get, arg, err);
    if (code == PW_OK)
        code = pw_state_restore_pin(next, cJSON_GetObjectItemCaseSensitive(root, "pin"), err);
    return code;
}

/* What the state consists of, from one laboratory to another, which must have none. */
static void hand_over(struct pw_lab *to, const struct pw_lab *from)
{
    to->ops = from->ops;
    to->be = from->be;
    to->seed = from->seed;
    to->tasks = from->tasks;
    memcpy(to->arms, from->arms, sizeof to->arms);
    to->current = from->current;
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
}

/* Frees what hand_over hands over, but for a backend that somebody else has, too. */
static void release(struct pw_lab *x, const struct pw_backend *kept)
{
    pw_pin_fini(&x->pin);
    for (int i = 0; i < PW_MAX_PLACES; i++)
        pw_model_destroy(x->arms[i].model);
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
    assert(pw_lab_state_ready(lab));
    struct pw_lab *next = pw_alloc(1, sizeof *next), *old = pw_alloc(1, sizeof *old);
    cJSON *root = cJSON_Parse(json);
    for (int i = 0; i < PW_MAX_PLACES; i++)
        next->arms[i] = (struct pw_arm){.id = i % PW_MAX_ARMS + 1, .replicate = i / PW_MAX_ARMS + 1};
    enum pw_code code = cJSON_IsObject(root) ? restore(next, lab, root, get, arg, err)
                                             : pw_fail(err, PW_EUSER, "state: is no JSON object");
    if (code == PW_OK) {
        hand_over(old, lab);
        hand_over(lab, next);
        *next = (struct pw_lab){0};
        lab->batch_index = -1;
        lab->rate_t = pw_lab_now();
        lab->rate_steps = lab->steps_done;
    }
    release(next, lab->be);
    release(old, lab->be);
    cJSON_Delete(root);
    return code;
}
