/* state_arms.c - the replicas in a lab's state.
 *
 * An image refers to files of another program if the model's weights are theirs (model/source.h). Arms with
 * the same files are restored one after the other from files that are opened once.
 *
 * A replica's settings (shape, encoding, optimiser, seed) and its progress (weights, moments, counts, ablated
 * heads) are only in its image. Its place in the lab and in the round of training are only in the text. */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foreign/foreign.h"
#include "lab/arms/arms.h"
#include "lab/recording/state_int.h"

#define MOST_FLOPS 4e18 /* half of the range of int64_t */

#define OF(member) offsetof(struct pw_replica, member)

/* enum pw_until, the values that arms have */
static const char *const untils[] = {"step", "acc", "loss", "flops", NULL};

static const char *const alterations[] = {"not",        "task", "optim", "heads", "tuned",
                                          "transplant", "file", "table", NULL};

#define ALTERED "altered"
#define SOURCE  "source"

static const struct pw_opt arm_fields[] = {
    {.name = "arm", .type = PW_OPT_INT, .offset = OF(id), .min = 1, .max = PW_MAX_ARMS},
    {.name = "replicate", .type = PW_OPT_INT, .offset = OF(replica), .min = 1, .max = PW_MAX_REPLICAS},
    {.name = "preset",
     .type = PW_OPT_TEXT,
     .offset = OF(preset),
     .size = sizeof((struct pw_replica *)0)->preset},
    {.name = "step", .type = PW_OPT_COUNT, .offset = OF(step), .max = (double)PW_MOST_STEPS},
    {.name = "flops", .type = PW_OPT_COUNT, .offset = OF(flops), .max = MOST_FLOPS},
    {.name = "flops_from", .type = PW_OPT_COUNT, .offset = OF(flops_from), .max = (double)PW_MOST_STEPS},
    {.name = "swaps", .type = PW_OPT_INT, .offset = OF(swaps), .max = 1e9},
    {.name = "parent", .type = PW_OPT_INT, .offset = OF(parent), .max = PW_MAX_ARMS},
    {.name = "parent_step", .type = PW_OPT_COUNT, .offset = OF(parent_step), .max = (double)PW_MOST_STEPS},
    {.name = "training", .type = PW_OPT_SWITCH, .offset = OF(training)},
    {.name = "goal", .type = PW_OPT_COUNT, .offset = OF(goal), .max = PW_STATE_GOAL},
    {.name = "until", .type = PW_OPT_CHOICE, .offset = OF(until), .choices = untils},
    {.name = "until_value", .type = PW_OPT_DOUBLE, .offset = OF(until_value), .max = 1e300},
    {.name = "met", .type = PW_OPT_SWITCH, .offset = OF(met)},
    {.name = "budget", .type = PW_OPT_SWITCH, .offset = OF(budget)},
    {.name = "due", .type = PW_OPT_SWITCH, .offset = OF(due)},
    {.name = "checking", .type = PW_OPT_SWITCH, .offset = OF(checking)},
    {.name = "check_of", .type = PW_OPT_INT, .offset = OF(check_of), .max = PW_MAX_ITEM},
    {.name = "checked", .type = PW_OPT_INT, .offset = OF(check.samples), .max = PW_MAX_ITEM},
    {.name = "check_exact", .type = PW_OPT_INT, .offset = OF(check.exact), .max = PW_MAX_ITEM},
    {.name = SOURCE,
     .type = PW_OPT_TEXT,
     .offset = OF(source),
     .def = "",
     .size = sizeof((struct pw_replica *)0)->source},
    {.name = ALTERED, .type = PW_OPT_CHOICE, .offset = OF(altered), .def = "not", .choices = alterations},
    {.name = NULL}};

/* ---- saving */

/* The value that an arm's `until` tests is NaN before its first test. */
static bool put_seen(cJSON *object, double seen)
{
    char text[32];
    snprintf(text, sizeof text, "%.17g", seen);
    return pw_state_put_text(object, "seen", isnan(seen) ? "none" : text);
}

static enum pw_code save_arm(cJSON *list, const struct pw_replica *arm, struct pw_lab_images *images,
                             const struct pw_checkpoint_info *info, struct pw_err *err)
{
    cJSON *object = cJSON_CreateObject();
    int i = images->n;
    if (!cJSON_AddItemToArray(list, object) || !pw_state_put(object, arm_fields, arm) ||
        !put_seen(object, arm->seen))
        return pw_fail(err, PW_ENOMEM, "out of memory");
    if (arm->altered == PW_ALTERED_NOT) /* so that older versions can read the state */
        cJSON_DeleteItemFromObjectCaseSensitive(object, ALTERED);
    if (arm->source[0] == '\0')
        cJSON_DeleteItemFromObjectCaseSensitive(object, SOURCE);
    enum pw_code code = pw_checkpoint_image(arm->model, info, &images->at[i].bytes, &images->at[i].n, err);
    images->n += code == PW_OK;
    return code;
}

enum pw_code pw_state_save_arms(struct pw_lab *lab, cJSON *root, struct pw_lab_images *images, char *task,
                                struct pw_err *err)
{
    cJSON *list = cJSON_AddArrayToObject(root, "replicates");
    struct pw_replica arms[PW_MAX_PLACES];
    int n = pw_lab_collect(lab, 0, arms);
    enum pw_code code = PW_OK;
    for (int i = 0; i < n && code == PW_OK; i++) {
        struct pw_checkpoint_info info = pw_lab_describe(lab, &arms[i], task);
        code = save_arm(list, &arms[i], images, &info, err);
    }
    return code;
}

/* ---- restoring */

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

/* The settings in an image must agree with those of the lab that it is restored into. */
static enum pw_code check_image(const struct pw_lab *next, const struct pw_replica *a,
                                const struct pw_checkpoint_info *info, const char *what, struct pw_err *err)
{
    if (!info->has_config || info->config.vocab != next->tasks.vocab.n ||
        !pw_lab_same_words(&next->tasks.vocab, info))
        return pw_fail(err, PW_EUSER, "%s: its model has another vocabulary than the task", what);
    if (info->step != a->step)
        return pw_fail(err, PW_EUSER, "%s: is at step %lld, but its model at %lld", what, (long long)a->step,
                       (long long)info->step);
    return PW_OK;
}

/* The files of the latest model that referred to some. */
struct open_files {
    struct pw_source_files *source; /* NULL: none yet */
    struct pw_foreign *f;
};

static void close_files(struct open_files *x)
{
    pw_source_free(x->source);
    pw_foreign_close(x->f);
    *x = (struct open_files){0};
}

/* Opens the files of a model, unless they are open. */
static enum pw_code open_files(struct open_files *x, const struct pw_source_files *s, struct pw_err *err)
{
    if (x->source != NULL && strcmp(x->source->path, s->path) == 0 && pw_source_same(x->source, s))
        return PW_OK;
    close_files(x);
    enum pw_code code = pw_state_open_source(&x->f, s, err);
    if (code == PW_OK)
        x->source = pw_source_copy(s);
    return code;
}

static enum pw_code build(struct pw_lab *next, struct pw_replica *a, const struct pw_checkpoint *c,
                          struct open_files *files, const char *what, struct pw_err *err)
{
    const struct pw_checkpoint_info *info = pw_checkpoint_info(c);
    struct pw_replica fresh;
    enum pw_code code = check_image(next, a, info, what, err);
    if (code != PW_OK)
        return code;
    a->cfg = info->config;
    a->pe = info->pe;
    a->optim = info->optim;
    a->seed = info->seed;
    if (info->source != NULL)
        code = open_files(files, info->source, err);
    if (code == PW_OK && info->source != NULL && info->step > 0) { /* it has moments */
        struct pw_replica trained = *a;
        trained.altered = PW_ALTERED_NOT; /* after a step with trains=all the file has the weights, too */
        trained.optim.trains = a->cfg.adapter > 0 ? PW_TRAINS_ADAPTER : PW_TRAINS_NORMS;
        code = pw_lab_check_memory(next, next->ops, next->be, &trained, 1, err);
    }
    if (code == PW_OK && info->source != NULL)
        code = pw_lab_build_foreign(next, &fresh, a, files->f, info->source->pe, err);
    else if (code == PW_OK)
        code = pw_lab_build_blank(next, &fresh, a, err);
    if (code != PW_OK)
        return code;
    code = pw_checkpoint_load(c, fresh.model, err);
    if (code == PW_OK)
        code = pw_lab_check_heads(&fresh, what, err);
    a->cfg = fresh.cfg; /* with what the task says about tokens */
    a->weight_bytes = fresh.weight_bytes;
    if (code == PW_OK)
        a->model = fresh.model;
    else
        pw_model_destroy(fresh.model);
    return code;
}

/* Restore replica i of the list to its place. */
static enum pw_code restore_arm(struct pw_lab *next, const cJSON *object, const void *bytes, size_t n, int i,
                                struct open_files *files, struct pw_err *err)
{
    char what[64];
    struct pw_replica a = {0}, *place;
    struct pw_checkpoint *c;
    snprintf(what, sizeof what, "state: replica %d", i + 1);
    enum pw_code code = pw_state_get(object, arm_fields, &a, 1, what, err);
    if (code == PW_OK)
        code = get_seen(object, &a.seen, what, err);
    if (code != PW_OK)
        return code;
    snprintf(what, sizeof what, "state: arm %d, replica %d", a.id, a.replica);
    place = &next->replicas[(a.replica - 1) * PW_MAX_ARMS + a.id - 1];
    if (place->model != NULL || (a.replica > 1 && pw_lab_replica(next, a.id, a.replica - 1) == NULL))
        return pw_fail(err, PW_EUSER, "%s: is a duplicate, or the one before it is missing", what);
    if (a.checking && (a.check_of < 1 || a.check.samples > a.check_of || a.check.exact > a.check.samples))
        return pw_fail(err, PW_EUSER, "%s: %d right of %d of %d samples", what, a.check.exact,
                       a.check.samples, a.check_of);
    code = pw_checkpoint_open_bytes(&c, bytes, n, what, err);
    if (code == PW_OK)
        code = build(next, &a, c, files, what, err);
    pw_checkpoint_close(c);
    if (code == PW_OK)
        *place = a;
    return code;
}

/* Replicas of an arm may differ only in seed, weights and progress. */
static enum pw_code check_alike(struct pw_lab *next, struct pw_err *err)
{
    struct pw_replica all[PW_MAX_PLACES];
    int n = pw_lab_collect(next, 0, all);
    struct pw_str text[2] = {{0}, {0}};
    bool alike = true;
    for (int i = 0; i < n; i++) {
        struct pw_str *s = &text[i % 2];
        pw_str_clear(s);
        pw_opt_print(pw_config_opts, &all[i].cfg, false, s);
        pw_pe_print(&all[i].pe, s);
        alike = alike && (all[i].replica == 1 || strcmp(text[0].s, text[1].s) == 0);
    }
    pw_str_fini(&text[0]);
    pw_str_fini(&text[1]);
    return alike ? PW_OK : pw_fail(err, PW_EUSER, "state: the replicas of an arm have different shapes");
}

enum pw_code pw_state_restore_arms(struct pw_lab *next, const cJSON *list,
                                   enum pw_code (*get)(void *, int, void **, size_t *, struct pw_err *),
                                   void *arg, struct pw_err *err)
{
    const cJSON *object;
    struct open_files files = {0};
    int n = cJSON_GetArraySize(list), i = 0;
    enum pw_code code = PW_OK;
    if (!cJSON_IsArray(list) || n < 1 || n > PW_MAX_PLACES)
        return pw_fail(err, PW_EUSER, "state: %d replicas: allowed are 1..%d", n, PW_MAX_PLACES);
    for (object = list->child; object != NULL && code == PW_OK; object = object->next, i++) {
        void *bytes = NULL;
        size_t size = 0;
        code = get(arg, i, &bytes, &size, err);
        if (code == PW_OK)
            code = restore_arm(next, object, bytes, size, i, &files, err);
        free(bytes);
    }
    close_files(&files);
    if (code == PW_OK)
        code = check_alike(next, err);
    if (code == PW_OK && pw_lab_arm(next, next->current) == NULL)
        code = pw_fail(err, PW_EUSER, "state: the current arm %d is missing", next->current);
    if (code == PW_OK && pw_lab_replica(next, next->current, next->replica) == NULL)
        code = pw_fail(err, PW_EUSER, "state: the inspected replica %d of arm %d is missing", next->replica,
                       next->current);
    return code;
}
