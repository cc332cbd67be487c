/* event_json_rules.c - members that JSON has under other names, omits, or computes.
 *
 * Omitted are numbers of the codec, and large arrays, which `export` writes. Whole kinds
 * are written by a function if their JSON is a view of the members: shares by block, the map's marks by head,
 * what is switched off. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/maths.h"
#include "sessions/event_json_int.h"
#include "sessions/fold.h"

static void add_range(cJSON *o, const char *key, int lo, int hi)
{
    pw_json_ints(o, key, (int[]){lo, hi}, 2);
}

/* ---- the lab */

static void add_train(cJSON *o, const char *as, const void *base)
{
    const struct pw_task_view *t = base;
    add_range(o, as, t->train_lo, t->train_hi);
}

static void add_test(cJSON *o, const char *as, const void *base)
{
    const struct pw_task_view *t = base;
    add_range(o, as, t->test_lo, t->test_hi);
}

static void add_axes(cJSON *o, const char *as, const void *base)
{
    const struct pw_task_view *t = base;
    (void)as;
    if (t->axis[0][0] == '\0')
        return;
    pw_json_str(o, "length_a", t->axis[0]);
    pw_json_str(o, "length_b", t->axis[1]);
    add_range(o, "train_a", t->box_lo[0], t->box_hi[0]);
    add_range(o, "train_b", t->box_lo[1], t->box_hi[1]);
}

static void add_batches(cJSON *o, const char *as, const void *base)
{
    pw_json_str(o, as, ((const struct pw_ev_arm *)base)->own_batches ? "own" : "shared");
}

static void add_parent(cJSON *o, const char *as, const void *base)
{
    const struct pw_ev_arm *a = base;
    if (a->parent == 0)
        return;
    pw_json_num(o, as, a->parent);
    pw_json_num(o, "parent_step", (double)a->parent_step);
}

static void add_run(cJSON *o, const char *as, const void *base)
{
    static const char *const runs[] = {"idle", "training", "paused"};
    pw_json_str(o, as, runs[((const struct pw_ev_state *)base)->run]);
}

static void add_job_state(cJSON *o, const char *as, const void *base)
{
    static const char *const states[] = {"running", "done", "cancelled"};
    pw_json_str(o, as, states[((const struct pw_ev_job *)base)->state]);
}

static void add_recording(cJSON *o, const char *as, const void *base)
{
    static const char *const how[] = {"none", "on", "paused", "read"};
    pw_json_str(o, as, how[((const struct pw_ev_session *)base)->how]);
}

/* ---- training */

static void add_digest(cJSON *o, const char *as, const void *base)
{
    char text[33];
    pw_digest_text(text, ((const struct pw_event *)base)->u.digest);
    pw_json_str(o, as, text);
}

/* ---- evaluation */

static void add_judge(cJSON *o, const char *as, const void *base)
{
    const struct pw_eval_row *r = base;
    if (r->judge != PW_JUDGE_EXACT)
        pw_json_str(o, as, pw_judge_name(r->judge));
}

static void add_taught(cJSON *o, const char *as, const void *base)
{
    const struct pw_eval_row *r = base;
    if (r->judge == PW_JUDGE_DECODED)
        pw_json_num(o, as, r->taught);
}

static void add_errors(cJSON *o, const char *as, const void *base)
{
    const struct pw_eval_row *r = base;
    (void)as;
    pw_json_num(o, "early", r->errors[PW_ERROR_EARLY]);
    pw_json_num(o, "late", r->errors[PW_ERROR_LATE]);
    pw_json_num(o, "wrong", r->errors[PW_ERROR_WRONG]);
}

/* Up to the last token of an answer with errors. */
static void add_places(cJSON *o, const char *as, const void *base)
{
    const struct pw_eval_row *r = base;
    int n = PW_PLACES;
    while (n > 0 && r->places[n - 1] == 0)
        n--;
    pw_json_ints(o, as, r->places, n);
}

/* Writes one digit per sample, 1 if it is right: "1101". */
static void add_outcomes(cJSON *row, const struct pw_ev_eval *v, const struct pw_eval_row *r)
{
    char *text = pw_alloc((size_t)r->samples + 1, 1);
    for (int i = 0; i < r->samples; i++)
        text[i] = pw_eval_right(v, r, i) ? '1' : '0';
    pw_json_str(row, "outcomes", text);
    free(text);
}

/* The table of a member's structs. */
static const struct pw_message *entries_of(enum pw_event_kind kind, const char *name)
{
    const struct pw_field *f = pw_messages[kind].fields;
    while (strcmp(pw_field_name(f), name) != 0)
        f++;
    return f->of;
}

static void add_pairs(cJSON *row, const struct pw_ev_eval *v, const struct pw_eval_row *r)
{
    const struct pw_message *m = entries_of(PW_EV_EVAL, "pairs");
    cJSON *list = cJSON_AddArrayToObject(row, "pairs");
    for (int i = 0; i < r->n_pairs; i++) {
        const struct pw_eval_pair *pair = &v->pairs[r->first_pair + i];
        cJSON *one = pw_json_add(list);
        pw_json_members(one, "eval.pairs", m, (const char *)pair);
        if (r->judge == PW_JUDGE_DECODED)
            pw_json_num(one, "teacher_forced", pair->taught);
    }
}

static void add_floats(cJSON *row, const char *name, const float *v, int n)
{
    cJSON *list = cJSON_AddArrayToObject(row, name);
    for (int i = 0; i < n; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber((double)v[i]));
}

/* Running text: means by position and by sample, in nats. */
static void add_losses(cJSON *row, const struct pw_ev_eval *v, const struct pw_eval_row *r)
{
    pw_json_num(row, "perplexity", pw_exp((double)r->loss));
    if (r->n_losses > 0)
        add_floats(row, "loss_by_position", v->losses + r->first_loss, r->n_losses);
    if (!v->live && v->n_sampled > 0)
        add_floats(row, "loss_by_sample", v->sampled + r->first_sampled, r->samples);
}

/* A row has its pairs and its samples' outcomes, which the event holds in arrays of their own. */
static void add_rows(cJSON *o, const char *as, const void *base)
{
    const struct pw_ev_eval *v = base;
    const struct pw_message *m = entries_of(PW_EV_EVAL, "rows");
    cJSON *rows = cJSON_AddArrayToObject(o, as);
    for (int i = 0; i < v->n; i++) {
        cJSON *row = pw_json_add(rows);
        pw_json_members(row, "eval.rows", m, (const char *)&v->rows[i]);
        if (v->rows[i].n_pairs > 0)
            add_pairs(row, v, &v->rows[i]);
        if (v->rows[i].loss > 0)
            add_losses(row, v, &v->rows[i]);
        else if (!v->live)
            add_outcomes(row, v, &v->rows[i]);
    }
}

/* The first error of a failing example; place -1: it is unknown. */
static void add_first_error(cJSON *o, const char *as, const void *base)
{
    const struct pw_failing *x = base;
    if (x->place < 0)
        return;
    pw_json_str(o, as, pw_error_name(x->kind));
    pw_json_num(o, "place", x->place);
    pw_json_str(o, "want", x->want);
    pw_json_str(o, "got", x->got);
}

/* ---- the pinned prompt */

static void add_sample(cJSON *o, const char *as, const void *base)
{
    const struct pw_ev_prompt *p = base;
    (void)as;
    if (p->drawn) {
        pw_json_num(o, "length", p->length);
        pw_json_num(o, "sample", (double)p->sample);
    }
}

static void add_exact(cJSON *o, const char *as, const void *base)
{
    const struct pw_ev_token *t = base;
    if (t->last)
        cJSON_AddBoolToObject(o, as, t->exact);
}

static void add_top(cJSON *o, const char *as, const void *base)
{
    const struct pw_ev_token *t = base;
    cJSON *top = cJSON_AddArrayToObject(o, as);
    for (int i = 0; i < t->n_top; i++) {
        cJSON *one = pw_json_add(top);
        pw_json_str(one, "token", t->top_label[i]);
        pw_json_num(one, "prob", t->top_prob[i]);
    }
}

/* ---- inspection */

static void add_by_length(cJSON *o, const char *as, const void *base)
{
    const struct pw_ev_table *t = base;
    if (t->added != NULL)
        cJSON_AddBoolToObject(o, as, t->by_length);
}

static void add_by_layer(cJSON *o, const char *as, const void *base)
{
    const struct pw_ev_table *t = base;
    if (t->by_layer)
        cJSON_AddBoolToObject(o, as, true);
}

static void add_key_from(cJSON *o, const char *as, const void *base)
{
    const struct pw_ev_table *t = base;
    if (t->keys != NULL)
        pw_json_num(o, as, t->key_from);
}

/* Adds values derived from several members: the bias of some queries, tensors, FIRE's numbers. */
static void add_table_views(cJSON *o, const char *as, const void *base)
{
    (void)as;
    pw_table_json(o, base);
}

static void add_finding(cJSON *o, const char *as, const void *base)
{
    (void)as;
    pw_finding_json(o, base);
}

/* ---- the rules */

#define AS(path, name)                                                                                       \
    {                                                                                                        \
        (path), (name), PW_JSON_ALWAYS, NULL                                                                 \
    }
#define UNLESS_ZERO(path, name)                                                                              \
    {                                                                                                        \
        (path), (name), PW_JSON_UNLESS_ZERO, NULL                                                            \
    }
#define NEVER(path)                                                                                          \
    {                                                                                                        \
        (path), NULL, PW_JSON_NEVER, NULL                                                                    \
    }
#define INSIDE(path)                                                                                         \
    {                                                                                                        \
        (path), NULL, PW_JSON_INSIDE, NULL                                                                   \
    }
#define BY(path, name, write)                                                                                \
    {                                                                                                        \
        (path), (name), PW_JSON_ALWAYS, (write)                                                              \
    }

const struct pw_json_rule pw_json_rules[] = {
    AS("command.text", NULL),
    NEVER("command.*"), /* where a re-run must execute it */

    UNLESS_ZERO("lab.epoch", NULL),
    BY("lab.tasks.train_lo", "train", add_train),
    NEVER("lab.tasks.train_hi"),
    BY("lab.tasks.test_lo", "test", add_test),
    NEVER("lab.tasks.test_hi"),
    UNLESS_ZERO("lab.tasks.data", NULL),
    BY("lab.tasks.axis", NULL, add_axes),
    NEVER("lab.tasks.box_lo"),
    NEVER("lab.tasks.box_hi"),
    UNLESS_ZERO("lab.tasks.share", NULL),
    UNLESS_ZERO("lab.tasks.runs", "running_text"),

    NEVER("arm.id"), /* of every event */
    NEVER("arm.step"),
    AS("arm.replicas", "replicates"),
    AS("arm.n_params", "parameters"),
    BY("arm.own_batches", "batches", add_batches),
    BY("arm.parent", NULL, add_parent),
    NEVER("arm.parent_step"),

    BY("state.run", NULL, add_run),
    UNLESS_ZERO("state.epoch", NULL),

    BY("updates", NULL, pw_json_updates),
    BY("digest.digest", NULL, add_digest),
    AS("gap.gap", "dropped"),

    BY("eval.rows", NULL, add_rows),
    UNLESS_ZERO("eval.rows.seen", NULL),
    NEVER("eval.rows.first_pair"),
    NEVER("eval.rows.n_pairs"),
    NEVER("eval.rows.first_word"),
    BY("eval.rows.errors", NULL, add_errors),
    BY("eval.rows.places", "first_errors", add_places),
    BY("eval.rows.judge", "judged", add_judge),
    BY("eval.rows.taught", "teacher_forced", add_taught),
    UNLESS_ZERO("eval.rows.loss", NULL),
    NEVER("eval.rows.first_loss"),
    NEVER("eval.rows.n_losses"),
    NEVER("eval.rows.first_sampled"),
    NEVER("eval.losses"), /* in the rows */
    NEVER("eval.sampled"),
    AS("eval.pairs.a", "length_a"),
    AS("eval.pairs.b", "length_b"),
    NEVER("eval.pairs.taught"),
    NEVER("eval.pairs"), /* in the rows */
    NEVER("eval.draw"),
    NEVER("eval.outcomes"), /* in the rows */

    AS("failing.list", "examples"),
    BY("failing.list.kind", "error", add_first_error),
    NEVER("failing.list.place"),
    NEVER("failing.list.want"),
    NEVER("failing.list.got"),

    AS("prompt.n_prompt", NULL),
    NEVER("prompt.tokens"), /* the vocabulary's numbers */
    AS("prompt.labels", "tokens"),
    BY("prompt.drawn", NULL, add_sample),
    NEVER("prompt.task"),
    NEVER("prompt.length"),
    NEVER("prompt.sample"),

    INSIDE("cursor.at"),
#define TOKEN(path)                                                                                          \
    NEVER(path ".token"), AS(path ".label", "token"), AS(path ".entropy", "entropy_bits"),                   \
        BY(path ".top_label", "top", add_top), NEVER(path ".top_prob"), NEVER(path ".last"),                 \
        BY(path ".exact", NULL, add_exact), UNLESS_ZERO(path ".edited", NULL),                               \
        UNLESS_ZERO(path ".target", NULL)
    TOKEN("token"),
    TOKEN("cursor.at"),

    BY("look", NULL, pw_json_look),           /* `export step` writes all */
    BY("attention", NULL, pw_json_attention), /* `export attention` writes the maps */
    BY("heads", NULL, pw_json_heads),
    BY("patch", NULL, pw_json_patch),
    BY("finding", NULL, add_finding),

    AS("table.length", NULL),
    BY("table.queries", NULL, add_table_views),
    NEVER("table.query_bias"),
    NEVER("table.tensors"),
    NEVER("table.fire_c"),
    NEVER("table.fire_factor"),
    NEVER("table.fire_threshold"),
    NEVER("table.fire_from"),
    NEVER("table.fire_step"),
    NEVER("table.params"),
    UNLESS_ZERO("table.params_left", NULL),
    NEVER("table.param_steps"),
    NEVER("table.learned"),
    NEVER("table.learned_grads"),
    NEVER("table.entries"),
    NEVER("table.entry_grads"),
    UNLESS_ZERO("table.later", "later_buckets"),
    BY("table.by_length", NULL, add_by_length),
    BY("table.by_layer", NULL, add_by_layer),
    BY("table.key_from", NULL, add_key_from),
    AS("table.n_kernel", "samples"),

    BY("job.state", NULL, add_job_state),
    AS("checkpoint.text", NULL),
    NEVER("checkpoint.*"), /* for resuming */
    NEVER("file.sha"),
    BY("session.how", "recording", add_recording),
    NEVER("session.folder"), /* a path of the machine */
    {0},
};
