/* store_queue.c - turn events into rows that wait: all the recording work of the lab's thread.
 *
 * Steps are added to a run, about 26 bytes each. Other events are encoded at once, because the event and its
 * arrays belong to the caller. Hashing, compressing and writing happen on the store's thread. The waiting
 * data are bounded: a disk that is full for a minute loses nothing. One that is full for a night loses the
 * events that did not fit, and their number is recorded instead. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sessions/store_int.h"

#define COMMIT_S  0.1 /* delay of a commit with events that the user sees */
#define METRICS_S 1.0 /* delay of a commit with metrics only */
#define RUN_BYTES ((size_t)64 << 10)
#define LARGE     ((size_t)4 << 20)

static size_t batch_size(const struct pw_row_batch *b)
{
    return b->bytes.len + (size_t)b->n * sizeof *b->rows;
}

/* Keep memory for reuse, but release it after a few large maps. */
void pw_row_batch_clear(struct pw_row_batch *b)
{
    if (b->bytes.cap > LARGE)
        pw_str_fini(&b->bytes);
    pw_str_clear(&b->bytes);
    b->n = 0;
    b->events = 0;
}

void pw_row_batch_fini(struct pw_row_batch *b)
{
    pw_str_fini(&b->bytes);
    free(b->rows);
}

static struct pw_waiting *add_row(struct pw_row_batch *b, const struct pw_row *row)
{
    if (b->n == b->cap) {
        b->cap = b->cap > 0 ? 2 * b->cap : 64;
        b->rows = pw_grow(b->rows, (size_t)b->cap, sizeof *b->rows);
    }
    struct pw_waiting *w = &b->rows[b->n++];
    *w = (struct pw_waiting){.row = *row, .at = b->bytes.len};
    return w;
}

static struct pw_row row_of(const struct pw_event *e)
{
    return (struct pw_row){.seq = (int64_t)e->seq,
                           .last = (int64_t)e->seq,
                           .t_ns = e->t_ns,
                           .kind = e->kind,
                           .arm = e->arm,
                           .replica = e->replica,
                           .step = e->step};
}

/* Append an event as text, for people who read the database with other tools. */
static void add_text(struct pw_str *out, const struct pw_event *e)
{
    switch (e->kind) {
    case PW_EV_COMMAND: pw_str_add(out, "%s", e->u.command.text); break;
    case PW_EV_LAB: pw_str_add(out, "task %s", e->u.lab.task); break;
    case PW_EV_ARM: pw_str_add(out, "arm %d: %s, %s", e->u.arm.id, e->u.arm.pe, e->u.arm.model); break;
    case PW_EV_STATE:
        pw_str_add(out, "%s",
                   e->u.state.run == PW_RUN_TRAINING ? "training"
                   : e->u.state.run == PW_RUN_PAUSED ? "paused"
                                                     : "idle");
        break;
    case PW_EV_PROMPT: pw_str_add(out, "%s", e->u.prompt.text); break;
    case PW_EV_TOKEN: pw_str_add(out, "%s", e->u.token.label); break;
    case PW_EV_JOB: pw_str_add(out, "%s", e->u.job.name); break;
    case PW_EV_PATCH: pw_str_add(out, "%s", e->u.patch.text); break;
    case PW_EV_FINDING: pw_str_add(out, "%s: %s", e->u.finding.name, e->u.finding.title); break;
    case PW_EV_CHECKPOINT: pw_str_add(out, "%s", e->u.checkpoint.text); break;
    case PW_EV_FILE: pw_str_add(out, "%s", e->u.file.name); break;
    case PW_EV_MARK:
    case PW_EV_NOTE:
    case PW_EV_ERROR:
    case PW_EV_ASKED: pw_str_add(out, "%s", e->u.text); break;
    default: break;
    }
}

/* Returns false if the payload is larger than readers accept. */
static bool add_event(struct pw_row_batch *b, const struct pw_event *e, bool beside)
{
    struct pw_row row = row_of(e);
    struct pw_waiting *w = add_row(b, &row);
    if (beside)
        pw_str_add(&b->bytes, "%s", PW_BESIDE);
    else
        add_text(&b->bytes, e);
    w->row.n_text = b->bytes.len - w->at;
    pw_event_encode(&b->bytes, e);
    w->row.n_data = b->bytes.len - w->at - w->row.n_text;
    if (w->row.n_data > PW_PAYLOAD_MAX) {
        b->bytes.len = w->at;
        b->n--;
        return false;
    }
    b->events++;
    return true;
}

void pw_queue_close_run(struct pw_store *s)
{
    if (s->run.n == 0)
        return;
    s->run_row.last = (int64_t)s->run.seq;
    s->run_row.n_data = s->run.bytes.len;
    add_row(&s->queue, &s->run_row);
    pw_str_put(&s->queue.bytes, s->run.bytes.s, s->run.bytes.len);
    pw_run_clear(&s->run);
}

void pw_queue_gap(struct pw_store *s)
{
    if (s->lost == 0)
        return;
    struct pw_event *gap = pw_event_new(PW_EV_GAP);
    gap->seq = s->lost_seq;
    gap->t_ns = s->lost_ns;
    gap->u.gap = s->lost;
    add_event(&s->queue, gap, false);
    pw_event_free(gap);
    s->lost = 0;
}

static void lose(struct pw_store *s, const struct pw_event *e)
{
    if (s->lost++ == 0) {
        s->lost_seq = e->seq;
        s->lost_ns = e->t_ns;
    }
}

static void take(struct pw_store *s, const struct pw_event *e)
{
    pw_queue_gap(s);
    if (!pw_run_takes(e)) {
        assert(e->kind != PW_EV_STEP); /* the row kind STEP denotes a run */
        pw_queue_close_run(s);
        if (!add_event(&s->queue, e, pw_worth_beside(&s->worth, e)))
            lose(s, e);
    } else {
        if (s->run.bytes.len > RUN_BYTES)
            pw_queue_close_run(s);
        if (s->run.n == 0) {
            s->run_row = row_of(e);
            s->run_row.kind = PW_EV_STEP;
        }
        s->run_row.step = e->step;
        pw_run_add(&s->run, e);
        s->queue.events++;
    }
}

void pw_store_put(struct pw_store *s, const struct pw_event *e)
{
    if (!pw_worth_recording(&s->worth, e))
        return;
    bool metric = pw_run_takes(e), signal = false;
    pthread_mutex_lock(&s->lock);
    assert(e->seq > s->queued);
    if (s->stopped || batch_size(&s->queue) + s->run.bytes.len > PW_WAITING_MAX) {
        pw_queue_close_run(s);
        lose(s, e);
    } else {
        take(s, e);
    }
    s->queued = e->seq;
    pw_store_kept_add(s, e);
    if (s->due == 0.0 || !metric) {
        double due = pw_now() + (metric ? METRICS_S : COMMIT_S);
        signal = s->due == 0.0 || due < s->due;
        s->due = signal ? due : s->due;
    }
    if (!s->hurry && !s->paused && batch_size(&s->queue) > LARGE)
        s->hurry = signal = true;
    pthread_mutex_unlock(&s->lock);
    if (signal)
        pthread_cond_signal(&s->work);
}
