/* fold.c - the fold: one function from (snapshot, event) to the next snapshot.
 *
 * Slots are exchanged with the event instead of copied. The event's arrays move into the snapshot, and the
 * slot's old arrays are freed with the event. So no map is copied. Events may come from a file, so an invalid
 * arm or task is ignored. */
#include "sessions/fold.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "sessions/fold_int.h"

#define SWAP(type, a, b)                                                                                     \
    do {                                                                                                     \
        type swap_ = (a);                                                                                    \
        (a) = (b);                                                                                           \
        (b) = swap_;                                                                                         \
    } while (0)

struct pw_snapshot *pw_snapshot_new(void)
{
    struct pw_snapshot *s = pw_alloc(1, sizeof *s);
    return s;
}

static void clear_measured(struct pw_arm_view *arm)
{
    for (int r = 0; r < PW_MAX_REPLICAS; r++) {
        struct pw_replica_view *rep = &arm->rep[r];
        pw_series_fini(&rep->series);
        pw_updates_fini(&rep->updates);
        pw_track_fini(&rep->track);
        struct pw_event latest = {.kind = PW_EV_EVAL, .u.eval = rep->eval};
        pw_event_clear(&latest);
        struct pw_event before = {.kind = PW_EV_EVAL, .u.eval = rep->eval_before};
        pw_event_clear(&before);
        free(rep->heads_off.mode);
        *rep = (struct pw_replica_view){0};
    }
    arm->n_marks = 0;
    pw_kept_clear(&arm->kept);
    pw_course_clear(&arm->course);
}

static struct pw_arm_view *arm_of(struct pw_snapshot *s, int id)
{
    return id >= 1 && id <= PW_MAX_ARMS ? &s->arms[id - 1] : NULL;
}

static void clear_table(struct pw_arm_view *arm)
{
    /* A slot has the layout of an event. */
    struct pw_event slot = {.kind = PW_EV_TABLE, .u.table = arm->table};
    pw_event_clear(&slot);
    arm->table = slot.u.table;
    arm->has_table = false;
    arm->table_seq = 0;
}

const struct pw_ev_table *pw_table_of(const struct pw_snapshot *s, int arm)
{
    return arm >= 1 && arm <= PW_MAX_ARMS && s->arms[arm - 1].has_table ? &s->arms[arm - 1].table : NULL;
}

const char *pw_table_order(const struct pw_ev_table *t)
{
    return t->order[0] != '\0' ? t->order : "the causal mask alone";
}

bool pw_table_empty(const struct pw_ev_table *t)
{
    return t->bias == NULL && t->frequencies == NULL && t->added == NULL && t->keys == NULL;
}

int pw_inspected(const struct pw_snapshot *s, const struct pw_arm_view *arm)
{
    return s->replica > 1 && s->replica <= arm->info.replicas ? s->replica : 1;
}

const struct pw_replica_view *pw_inspected_view(const struct pw_snapshot *s, const struct pw_arm_view *arm)
{
    return &arm->rep[pw_inspected(s, arm) - 1];
}

struct pw_replica_view *pw_fold_replica(struct pw_snapshot *s, const struct pw_event *e)
{
    struct pw_arm_view *arm = arm_of(s, e->arm);
    int r = pw_event_replica(e) - 1;
    return arm != NULL && arm->used && r < arm->info.replicas ? &arm->rep[r] : NULL;
}

/* ---- arms */

static void add_mark(struct pw_arm_view *arm, int64_t step)
{
    const int cap = (int)(sizeof arm->marks / sizeof *arm->marks);
    if (arm->n_marks == cap)
        memmove(arm->marks, arm->marks + 1, sizeof *arm->marks * (size_t)(--arm->n_marks));
    arm->marks[arm->n_marks++] = step;
}

static void fold_arm(struct pw_snapshot *s, const struct pw_ev_arm *info, int replica)
{
    struct pw_arm_view *arm = arm_of(s, info->id);
    if (arm == NULL)
        return;
    if (info->restarted || !arm->used)
        pw_ticks_drop(s, info->id);
    if (info->restarted) {
        clear_measured(arm);
    } else if (arm->used && info->swaps > arm->info.swaps) {
        add_mark(arm, info->step);
        pw_ticks_add(s, PW_TICK_SWAP, info->id, info->step, info->pe, false);
    }
    if (info->restarted || strcmp(arm->info.pe, info->pe) != 0 || info->swaps != arm->info.swaps) {
        clear_table(arm);
        if (info->swaps != arm->info.swaps) /* otherwise an option was tuned */
            pw_course_clear(&arm->course);
        arm->pe_seq = s->seq;
    }
    arm->used = true;
    arm->info = *info;
    if (info->replicas < 1)
        arm->info.replicas = 1;
    if (info->replicas > PW_MAX_REPLICAS)
        arm->info.replicas = PW_MAX_REPLICAS;
    if (info->current) {
        s->current = info->id;
        s->replica = replica;
    }
    for (int i = 0; i < PW_MAX_ARMS; i++) /* at most one arm is current; no event unsets the old one */
        s->arms[i].info.current = s->arms[i].used && i + 1 == s->current;
}

static void drop_arm(struct pw_snapshot *s, int id)
{
    struct pw_arm_view *arm = arm_of(s, id);
    if (arm == NULL)
        return;
    clear_measured(arm);
    clear_table(arm);
    pw_ticks_drop(s, id);
    memset(arm, 0, sizeof *arm);
    if (s->current == id)
        s->current = 0;
}

/* ---- evaluations */

/* Return the mean over the trained lengths, or all longer ones, of `of`, which is NaN for rows to omit. */
static float mean_of(const struct pw_ev_lab *lab, const struct pw_ev_eval *e, int task, bool beyond,
                     double (*of)(const struct pw_eval_row *row))
{
    double sum = 0;
    int n = 0;
    for (int i = 0; i < e->n; i++) {
        const struct pw_eval_row *r = &e->rows[i];
        if (r->task < 0 || r->task >= lab->n_tasks || r->samples <= 0 || (task >= 0 && r->task != task))
            continue;
        const struct pw_task_view *t = &lab->tasks[r->task];
        if (beyond ? r->length > t->train_hi : r->length >= t->train_lo && r->length <= t->train_hi) {
            double value = of(r);
            sum += isfinite(value) ? value : 0;
            n += isfinite(value);
        }
    }
    return n > 0 ? (float)(sum / n) : NAN;
}

static double exact_of(const struct pw_eval_row *row)
{
    return row->loss > 0 ? (double)NAN : (double)row->exact / row->samples;
}

static double loss_of(const struct pw_eval_row *row)
{
    return row->loss > 0 ? (double)row->loss : (double)NAN;
}

float pw_eval_mean(const struct pw_ev_lab *lab, const struct pw_ev_eval *e, int task, bool beyond)
{
    return mean_of(lab, e, task, beyond, exact_of);
}

float pw_eval_loss(const struct pw_ev_lab *lab, const struct pw_ev_eval *e, bool beyond)
{
    return mean_of(lab, e, -1, beyond, loss_of);
}

bool pw_eval_runs(const struct pw_ev_eval *e)
{
    return e->n > 0 && e->rows[0].loss > 0;
}

/* Does the evaluation give the result of decoding for all its tasks? An evaluation that does not is not a
 * point of the accuracy curve. */
static bool is_comparable(const struct pw_ev_eval *e)
{
    for (int i = 0; i < e->n; i++)
        if (e->rows[i].judge == PW_JUDGE_TAUGHT)
            return false;
    return true;
}

static int64_t samples_of(const struct pw_ev_eval *e)
{
    int64_t n = 0;
    for (int i = 0; i < e->n; i++)
        n += e->rows[i].samples;
    return n;
}

static void fold_eval(struct pw_snapshot *s, struct pw_replica_view *rep, int64_t step, double ms,
                      struct pw_ev_eval *eval)
{
    const struct pw_series *r = &rep->series;
    struct pw_track_point point = {NAN, NAN, NAN, NAN, samples_of(eval)};
    if (pw_eval_runs(eval)) {
        point.held = pw_eval_loss(&s->lab, eval, false);
        point.held_beyond = pw_eval_loss(&s->lab, eval, true);
    } else {
        point.in_range = pw_eval_mean(&s->lab, eval, -1, false);
        point.beyond = pw_eval_mean(&s->lab, eval, -1, true);
    }
    if (is_comparable(eval))
        pw_track_add(&rep->track, step, r->n > 0 ? (double)r->flops[r->n - 1] : 0.0, ms, &point);
    bool off = pw_heads_off(rep);
    if (rep->eval.n > 0 && rep->eval_off != off) {
        SWAP(struct pw_ev_eval, rep->eval_before, rep->eval);
        rep->eval_before_step = rep->eval_step;
        rep->eval_before_seq = rep->eval_seq;
    }
    rep->eval_off = off;
    rep->heads_changed = false;
    SWAP(struct pw_ev_eval, rep->eval, *eval);
    rep->eval_step = step;
    rep->eval_seq = s->seq;
}

/* The timeline shows the arm's first replica. */
static void tick_eval(struct pw_snapshot *s, const struct pw_event *e, const struct pw_replica_view *rep)
{
    float in = pw_eval_mean(&s->lab, &rep->eval, -1, false),
          beyond = pw_eval_mean(&s->lab, &rep->eval, -1, true);
    char text[48] = "";
    if (pw_eval_runs(&rep->eval))
        snprintf(text, sizeof text, "loss %.3f nats, beyond %.3f",
                 (double)pw_eval_loss(&s->lab, &rep->eval, false),
                 (double)pw_eval_loss(&s->lab, &rep->eval, true));
    if (isfinite(in))
        snprintf(text, sizeof text, "in range %.0f%%", 100.0 * (double)in);
    if (isfinite(beyond))
        snprintf(text + strlen(text), sizeof text - strlen(text), "%sbeyond %.0f%%", text[0] ? ", " : "",
                 100.0 * (double)beyond);
    if (text[0] != '\0' && !is_comparable(&rep->eval))
        snprintf(text + strlen(text), sizeof text - strlen(text), ", teacher-forced");
    pw_ticks_add(s, PW_TICK_EVAL, e->arm, e->step, text, rep->eval.live);
}

/* ---- ablated heads */

static void fold_heads(struct pw_replica_view *rep, struct pw_ev_heads *heads, uint64_t seq)
{
    SWAP(struct pw_ev_heads, rep->heads_off, *heads);
    rep->heads_off_seq = seq;
    rep->heads_changed = true;
}

/* ---- the pinned prompt */

static void fold_token(struct pw_snapshot *s, const struct pw_ev_token *t)
{
    if (!s->has_prompt || t->prompt != s->prompt.id)
        return;
    while (s->n_tokens > 0 && s->tokens[s->n_tokens - 1].pos >= t->pos) /* a step back: decoded again */
        s->n_tokens--;
    if (s->n_tokens == s->cap_tokens) {
        s->cap_tokens = s->cap_tokens > 0 ? 2 * s->cap_tokens : 64;
        s->tokens = pw_grow(s->tokens, (size_t)s->cap_tokens, sizeof *s->tokens);
    }
    s->tokens[s->n_tokens++] = *t;
    s->decoded = t->last;
}

/* ---- the log */

static void log_line(struct pw_snapshot *s, const struct pw_event *e)
{
    struct pw_log_line *line = &s->log[s->n_log++ % PW_LOG_LINES];
    line->kind = e->kind;
    line->seq = e->seq;
    line->after = s->last;
    line->t_ns = e->t_ns;
    if (e->kind == PW_EV_GAP)
        snprintf(line->text, sizeof line->text, "%lld steps were not shown: too many at once",
                 (long long)e->u.gap);
    else if (e->kind == PW_EV_COMMAND)
        pw_text_copy(line->text, sizeof line->text, e->u.command.text);
    else if (e->kind == PW_EV_MARK)
        snprintf(line->text, sizeof line->text, "mark: %.500s", e->u.text);
    else if (e->kind == PW_EV_FINDING)
        pw_findings_line(&e->u.finding, line->text, sizeof line->text);
    else if (e->kind == PW_EV_PATCH)
        snprintf(line->text, sizeof line->text, "%s", e->u.patch.text);
    else
        snprintf(line->text, sizeof line->text, "%s", e->u.text);
}

void pw_fold(struct pw_snapshot *s, struct pw_event *e)
{
    struct pw_arm_view *arm = arm_of(s, e->arm);
    struct pw_replica_view *rep = pw_fold_replica(s, e);
    if (s->seq == 0)
        s->began_ns = e->t_ns;
    s->seq = e->seq;
    double ms = ((double)e->t_ns - (double)s->began_ns) * 1e-6;
    switch (e->kind) {
    case PW_EV_COMMAND:
    case PW_EV_NOTE:
    case PW_EV_ERROR: log_line(s, e); break;
    case PW_EV_CHECKPOINT:
    case PW_EV_MARK:
        log_line(s, e);
        pw_ticks_add(s, e->kind == PW_EV_MARK ? PW_TICK_MARK : PW_TICK_CHECKPOINT, e->arm, e->step, e->u.text,
                     false);
        break;
    case PW_EV_GAP:
        log_line(s, e);
        s->dropped += e->u.gap;
        break;
    case PW_EV_LAB: s->lab = e->u.lab; break;
    case PW_EV_STATE: s->state = e->u.state; break;
    case PW_EV_JOB: s->job = e->u.job; break;
    case PW_EV_ARM: fold_arm(s, &e->u.arm, pw_event_replica(e)); break;
    case PW_EV_DROP: drop_arm(s, e->arm); break;
    case PW_EV_STEP:
        if (rep != NULL) {
            pw_series_add(&rep->series, e->step, ms, &e->u.step);
            arm->info.step = e->step;
        }
        break;
    case PW_EV_UPDATES:
        if (rep != NULL)
            pw_updates_add(&rep->updates, e->step, &e->u.updates);
        break;
    case PW_EV_DIGEST:
        if (rep != NULL) {
            rep->has_digest = true;
            memcpy(rep->digest, e->u.digest, sizeof rep->digest);
            rep->digest_step = e->step;
        }
        break;
    case PW_EV_EVAL:
        if (rep != NULL) {
            fold_eval(s, rep, e->step, ms, &e->u.eval);
            if (rep == arm->rep)
                tick_eval(s, e, rep);
        }
        break;
    case PW_EV_PROMPT: /* the same prompt decoded again keeps cursor and inspection */
        if (e->u.prompt.id != s->prompt.id)
            for (int i = 0; i < PW_MAX_ARMS; i++)
                pw_kept_clear(&s->arms[i].kept);
        s->has_cursor = s->has_cursor && e->u.prompt.id == s->prompt.id;
        s->has_look = s->has_look && e->u.prompt.id == s->prompt.id;
        SWAP(struct pw_ev_prompt, s->prompt, e->u.prompt);
        s->has_prompt = s->prompt.n > 0; /* without tokens: unpinned, and its attention is dropped */
        s->has_attention = s->has_attention && s->has_prompt;
        s->decoded = false;
        s->n_tokens = 0;
        s->prompt_arm = e->arm;
        s->prompt_replica = pw_event_replica(e);
        s->prompt_step = e->step;
        s->prompt_seq = e->seq;
        break;
    case PW_EV_TOKEN: fold_token(s, &e->u.token); break;
    case PW_EV_CURSOR:
        s->has_cursor = s->has_prompt && e->u.cursor.at.prompt == s->prompt.id;
        s->cursor = e->u.cursor;
        break;
    case PW_EV_LOOK:
        s->has_look = s->has_prompt && e->u.look.prompt == s->prompt.id;
        SWAP(struct pw_ev_inspection, s->look, e->u.look);
        s->look_seq = e->seq;
        break;
    case PW_EV_ATTENTION:
        if (e->u.attention.source[0] != '\0') {
            SWAP(struct pw_ev_attention, s->foreign, e->u.attention);
            s->has_foreign = s->foreign.T > 0 && s->foreign.layers > 0 && s->foreign.heads > 0 &&
                             s->foreign.labels != NULL && s->foreign.probs != NULL;
            s->foreign_seq = e->seq;
            break;
        }
        SWAP(struct pw_ev_attention, s->attention, e->u.attention);
        s->has_attention = true;
        s->attention_arm = e->arm;
        s->attention_replica = pw_event_replica(e);
        s->attention_step = e->step;
        s->attention_seq = e->seq;
        if (arm != NULL && arm->used && s->has_prompt && s->attention.prompt == s->prompt.id)
            pw_kept_add(s, arm, pw_event_replica(e), e->step, &s->attention);
        break;
    case PW_EV_TABLE:
        if (arm != NULL) {
            SWAP(struct pw_ev_table, arm->table, e->u.table);
            arm->has_table = true;
            arm->table_replica = pw_event_replica(e);
            arm->table_step = e->step;
            arm->table_seq = e->seq;
            pw_course_add(arm, e->seq);
        }
        break;
    case PW_EV_HEADS:
        if (rep != NULL)
            fold_heads(rep, &e->u.heads, e->seq);
        break;
    case PW_EV_PATCH:
        log_line(s, e);
        /* A result that is a single number is shown by the log only; the map stays. */
        if (e->u.patch.rows * e->u.patch.cols <= 1)
            break;
        SWAP(struct pw_ev_patch, s->patch, e->u.patch);
        s->has_patch = true;
        s->patch_arm = e->arm;
        s->patch_replica = pw_event_replica(e);
        s->patch_step = e->step;
        s->patch_seq = e->seq;
        break;
    case PW_EV_FAILING:
        SWAP(struct pw_ev_failing, s->failing, e->u.failing);
        s->failing_arm = e->arm;
        s->failing_replica = pw_event_replica(e);
        s->failing_step = e->step;
        s->failing_seq = e->seq;
        break;
    case PW_EV_FINDING:
        log_line(s, e);
        pw_findings_add(s, e);
        break;
    case PW_EV_SESSION: s->session = e->u.session; break;
    case PW_EV_ASKED:
    case PW_EV_FILE:
    case PW_EV_KINDS: break;
    }
    if (e->kind != PW_EV_FILE)
        s->last = e->seq;
}

void pw_snapshot_free(struct pw_snapshot *s)
{
    if (s == NULL)
        return;
    for (int id = 1; id <= PW_MAX_ARMS; id++)
        drop_arm(s, id);
    free(s->tokens);
    /* The slots have the layout of events. */
    struct pw_event slot = {.kind = PW_EV_PROMPT, .u.prompt = s->prompt};
    pw_event_clear(&slot);
    slot = (struct pw_event){.kind = PW_EV_LOOK, .u.look = s->look};
    pw_event_clear(&slot);
    slot = (struct pw_event){.kind = PW_EV_ATTENTION, .u.attention = s->attention};
    pw_event_clear(&slot);
    slot = (struct pw_event){.kind = PW_EV_ATTENTION, .u.attention = s->foreign};
    pw_event_clear(&slot);
    slot = (struct pw_event){.kind = PW_EV_PATCH, .u.patch = s->patch};
    pw_event_clear(&slot);
    slot = (struct pw_event){.kind = PW_EV_FAILING, .u.failing = s->failing};
    pw_event_clear(&slot);
    for (int i = 0; i < PW_MAX_FINDINGS; i++)
        pw_finding_fini(&s->findings[i].f);
    free(s);
}

void pw_eval_wilson(int k, int n, double *low, double *high)
{
    double z = 1.959963984540054, p = (double)k / n, d = 1.0 + z * z / n;
    double mid = (p + z * z / (2.0 * n)) / d, half = z * sqrt(p * (1.0 - p) / n + z * z / (4.0 * n * n)) / d;
    *low = mid - half > 0.0 ? mid - half : 0.0;
    *high = mid + half < 1.0 ? mid + half : 1.0;
}
