/* eval.c - exact match by length, from teacher-forced passes.
 *
 * Greedy decoding gives the right answer if and only if every teacher-forced argmax is right. So a length
 * curve needs no decoding; tests/lab/test_lab.c compares the two. Up to the first error both have read the
 * same tokens, so the kind and place of that error are those of greedy decoding. Later tokens are not
 * evaluated.
 *
 * If this equivalence does not hold (pw_lab_decodes), `eval` decodes the necessary answers after each pass,
 * and the decoded result counts. Live evaluations use only the passes and mark their results as
 * teacher-forced.
 *
 * Work is cut into slices, so that commands run in between. Sample k of a task and length is the same for all
 * arms at all times. So outcomes of arms can be paired, and a failing sample can be drawn again. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/core/lab_int.h"
#include "lab/jobs/evals.h"

#define SLICE_S      0.04
#define PASS_S       0.01 /* seconds of one pass within a slice, since the clock is read only between passes */
#define LARGEST      256  /* most sequences of a pass */
#define LIVE_SAMPLES 64   /* standard error at most 6 % */

static struct pw_eval_plan *plan_of(const struct pw_lab *lab)
{
    return pw_job_state(lab, PW_JOB_EVAL);
}

static void free_plan(void *state)
{
    struct pw_eval_plan *p = state;
    free(p->rows);
    free(p->pairs);
    free(p->outcomes);
    pw_losses_fini(&p->losses);
    pw_decoding_end(p->decoding);
    free(p);
}

static int64_t progress(const void *state, int64_t *total)
{
    const struct pw_eval_plan *p = state;
    *total = (int64_t)p->n * p->n_rows;
    return (int64_t)p->at * p->n_rows + p->row;
}

static void run_slice(struct pw_lab *lab);

static void begin_job(struct pw_lab *lab, struct pw_eval_plan *p)
{
    pw_job_begin(
        lab, PW_JOB_EVAL,
        &(struct pw_job){.name = "eval",
                         .cancelled = "eval",
                         .reads = PW_CHANGE_ARMS | PW_CHANGE_MODELS | PW_CHANGE_RESULTS | PW_CHANGE_TASK,
                         .live = p->live,
                         .state = p,
                         .free_state = free_plan,
                         .progress = progress,
                         .slice = run_slice});
}

static void add_arm(struct pw_lab *lab, struct pw_eval_plan *p, int id)
{
    struct pw_replica *a;
    for (int r = 1; p->n < PW_MAX_PLACES && (a = pw_lab_replica(lab, id, r)) != NULL; r++)
        p->place[p->n++] = (int)(a - lab->replicas);
}

/* Start an evaluation of arm id, or of all arms (0), in place of the present one. */
static enum pw_code start(struct pw_lab *lab, int id, struct pw_range lengths, int samples,
                          struct pw_err *err)
{
    struct pw_eval_plan *p = pw_alloc(1, sizeof *p);
    p->samples = samples;
    enum pw_code code = pw_eval_plan_rows(lab, p, lengths, err);
    if (code != PW_OK) {
        free_plan(p);
        return code;
    }
    for (int i = 1; i <= PW_MAX_ARMS; i++)
        if (id == 0 || i == id)
            add_arm(lab, p, i);
    begin_job(lab, p);
    return PW_OK;
}

enum pw_code pw_lab_eval(struct pw_lab *lab, struct pw_range lengths, int samples, struct pw_err *err)
{
    return start(lab, 0, lengths, samples, err);
}

void pw_lab_eval_live(struct pw_lab *lab, struct pw_replica *arm)
{
    struct pw_eval_plan *p = plan_of(lab);
    if (p != NULL && !p->live)
        return;
    if (p == NULL) {
        p = pw_alloc(1, sizeof *p);
        *p = (struct pw_eval_plan){.live = true, .samples = LIVE_SAMPLES};
        if (pw_eval_plan_rows(lab, p, (struct pw_range){0, 0}, NULL) != PW_OK) {
            free_plan(p);
            return;
        }
        begin_job(lab, p);
    }
    add_arm(lab, p, arm->id);
}

static struct pw_eval_pair *pair_of(const struct pw_lab *lab, const struct pw_eval_row *row,
                                    struct pw_pair pair)
{
    struct pw_eval_pair *pairs = row->n_pairs > 0 ? plan_of(lab)->pairs : NULL;
    for (int i = row->first_pair; i < row->first_pair + row->n_pairs; i++)
        if (pairs[i].a == pair.a && pairs[i].b == pair.b)
            return &pairs[i];
    return NULL;
}

/* Return the number of sequences of the next pass, at most `left`: as many as arm's model evaluates in PASS_S
 * at its latest rate, and at first one per worker. Results don't depend on it. */
static int pass_size(const struct pw_lab *lab, const struct pw_replica *arm, const struct pw_eval_row *row,
                     int left)
{
    int rows = row->length > 0 ? pw_lab_rows_at(lab, row->task, row->length) : lab->tasks.max_tokens;
    int least = lab->ops->workers(lab->be);
    double n = arm->row_s > 0.0 ? PASS_S / (arm->row_s * rows) : least;
    n = n < least ? least : n > LARGEST ? LARGEST : n;
    return n < left ? (int)n : left;
}

int pw_eval_first_error(const int *choices, const int *right, int n, enum pw_error *kind)
{
    for (int k = 0; k < n; k++)
        if (choices[k] != right[k]) {
            *kind = choices[k] == PW_EOS ? PW_ERROR_EARLY
                    : right[k] == PW_EOS ? PW_ERROR_LATE
                                         : PW_ERROR_WRONG;
            return k;
        }
    return -1;
}

/* Count the next sample of a row: right, or wrong with its first error at answer token `place`. */
static void add_outcome(struct pw_eval_row *row, uint64_t *outcomes, bool right, int place,
                        enum pw_error kind)
{
    if (right) {
        row->exact++;
        if (outcomes != NULL)
            outcomes[row->samples / 64] |= UINT64_C(1) << row->samples % 64;
    } else {
        row->errors[kind]++;
        row->places[place < PW_PLACES ? place : PW_PLACES - 1]++;
    }
    row->samples++;
}

static void add_tokens(struct pw_eval_row *row, const int *choices, const int *right, int n)
{
    for (int k = 0; k < n; k++)
        row->tokens_right += choices[k] == right[k];
    row->tokens += n;
}

void pw_eval_count(struct pw_eval_row *row, uint64_t *outcomes, const int *choices, const int *right, int n)
{
    enum pw_error kind = PW_ERROR_WRONG;
    int place = pw_eval_first_error(choices, right, n, &kind);
    add_tokens(row, choices, right, n);
    add_outcome(row, outcomes, place < 0, place, kind);
}

/* Count a decoded answer. An answer that is not right differs from the right one in some token. */
static void count_decoded(struct pw_eval_row *row, uint64_t *outcomes, const struct pw_decoded *x)
{
    enum pw_error kind = PW_ERROR_WRONG;
    add_tokens(row, x->choices, x->right, x->n_right);
    row->taught += pw_eval_first_error(x->choices, x->right, x->n_right, &kind) < 0;
    add_outcome(row, outcomes, x->well,
                x->well ? -1 : pw_eval_first_error(x->said, x->right, x->n_right, &kind), kind);
}

/* Add to a pair what the last sample, which has this pair, added to the row. */
static void count_pair(const struct pw_lab *lab, const struct pw_eval_row *before,
                       const struct pw_eval_row *row, struct pw_pair at)
{
    struct pw_eval_pair *pair = pair_of(lab, row, at);
    if (pair == NULL)
        return;
    pair->exact += row->exact - before->exact;
    pair->taught += row->taught - before->taught;
    pair->tokens += row->tokens - before->tokens;
    pair->tokens_right += row->tokens_right - before->tokens_right;
    pair->samples++;
}

/* Load the next n samples of a row into the lab's scratch and run a teacher-forced pass. *best: its choices,
 * which the caller frees; and with loss, which may be NULL, their losses. */
static enum pw_code pass(struct pw_lab *lab, struct pw_replica *arm, enum pw_split split, int n,
                         const struct pw_eval_row *row, int **best, float **loss, struct pw_err *err)
{
    struct pw_samples *s = &lab->scratch;
    pw_samples_fill(s, &lab->tasks, lab->seed, split, (uint64_t)row->samples, n, row->task, row->length);
    double begin = pw_now();
    *best = malloc((size_t)s->b.n_scored * sizeof **best);
    float *nats = loss != NULL ? malloc((size_t)s->b.n_scored * sizeof *nats) : NULL;
    enum pw_code code = *best == NULL || (loss != NULL && nats == NULL)
                            ? pw_fail(err, PW_ENOMEM, "eval: out of memory")
                            : pw_model_eval(arm->model, &s->b, *best, nats, err);
    arm->row_s = (pw_now() - begin) / s->b.n_rows;
    if (code != PW_OK) {
        free(*best);
        free(nats);
    } else if (loss != NULL)
        *loss = nats;
    return code;
}

/* Evaluate the next samples of a row by one pass. outcomes: the row's words, or NULL. */
static enum pw_code count_pass(struct pw_lab *lab, struct pw_replica *arm, enum pw_split split, int samples,
                               struct pw_eval_row *row, uint64_t *outcomes, struct pw_err *err)
{
    struct pw_samples *s = &lab->scratch;
    int *best, n = pass_size(lab, arm, row, samples - row->samples);
    enum pw_code code = pass(lab, arm, split, n, row, &best, NULL, err);
    if (code != PW_OK)
        return code;
    for (int i = 0; i < n; i++) {
        struct pw_eval_row before = *row;
        int at = s->seq_scored[i];
        pw_eval_count(row, outcomes, best + at, s->targets + at, s->seq_scored[i + 1] - at);
        count_pair(lab, &before, row, s->pairs[i]);
    }
    free(best);
    return PW_OK;
}

/* Evaluate the next samples of the plan's row at `at`, of running text. */
static enum pw_code count_losses(struct pw_lab *lab, struct pw_replica *arm, int samples, int at,
                                 struct pw_err *err)
{
    struct pw_eval_plan *p = plan_of(lab);
    struct pw_eval_row *row = &p->rows[at];
    int *best, n = pass_size(lab, arm, row, samples - row->samples);
    float *loss;
    enum pw_code code = pass(lab, arm, PW_SPLIT_TEST, n, row, &best, &loss, err);
    if (code != PW_OK)
        return code;
    pw_losses_add(&p->losses, p->rows, at, &lab->scratch, best, loss);
    free(best);
    free(loss);
    return PW_OK;
}

/* Evaluate the next samples of a row by a pass and decoding. The first call runs the pass; each later call
 * decodes one token of some answers. */
static enum pw_code count_decoding(struct pw_lab *lab, struct pw_replica *arm, int samples,
                                   struct pw_eval_row *row, uint64_t *outcomes, struct pw_err *err)
{
    struct pw_decoding **d = &plan_of(lab)->decoding;
    enum pw_code code;
    struct pw_decoded x;
    int *best;
    if (*d == NULL) {
        code = pass(lab, arm, PW_SPLIT_TEST, pass_size(lab, arm, row, samples - row->samples), row, &best,
                    NULL, err);
        return code == PW_OK ? pw_decoding_begin(d, lab, arm, &lab->scratch, row->task, best, err) : code;
    }
    if (!pw_decoding_over(*d))
        return pw_decoding_go_on(*d, err);
    for (int i = 0; pw_decoding_at(*d, i, &x); i++) {
        struct pw_eval_row before = *row;
        count_decoded(row, outcomes, &x);
        count_pair(lab, &before, row, x.pair);
    }
    pw_decoding_end(*d);
    *d = NULL;
    return PW_OK;
}

uint64_t pw_lab_draw(const struct pw_lab *lab)
{
    struct pw_str task = {0}, text = {0};
    uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a hash of the seed and the task's text */
    pw_taskset_print(&lab->tasks, &task);
    pw_str_add(&text, "%llu ", (unsigned long long)lab->seed);
    pw_opt_old_names(&text, task.s); /* so that evaluations of older sessions have the same samples */
    pw_str_fini(&task);
    for (const char *c = text.s; *c != '\0'; c++)
        h = (h ^ (unsigned char)*c) * UINT64_C(1099511628211);
    pw_str_fini(&text);
    return h;
}

/* The rows of a replica are complete: emit them and start the next replica. */
static void end_replica(struct pw_lab *lab, struct pw_replica *arm)
{
    struct pw_eval_plan *p = plan_of(lab);
    struct pw_event *e = pw_lab_event(PW_EV_EVAL, arm);
    e->u.eval.n = p->n_rows;
    e->u.eval.live = p->live;
    e->u.eval.n_pairs = p->n_pairs;
    e->u.eval.rows = pw_copy(p->rows, (size_t)p->n_rows, sizeof *p->rows);
    e->u.eval.pairs = pw_copy(p->pairs, (size_t)p->n_pairs, sizeof *p->pairs);
    e->u.eval.draw = pw_lab_draw(lab);
    e->u.eval.n_words = p->n_words;
    e->u.eval.outcomes = pw_copy(p->outcomes, (size_t)p->n_words, sizeof *p->outcomes);
    if (p->n_words > 0)
        memset(p->outcomes, 0, (size_t)p->n_words * sizeof *p->outcomes);
    if (p->losses.n_rows > 0)
        pw_losses_end(&p->losses, &e->u.eval);
    for (int i = 0; i < p->n_rows; i++) {
        struct pw_eval_row *r = &p->rows[i];
        r->samples = r->exact = r->taught = 0;
        r->tokens = r->tokens_right = 0;
        memset(r->errors, 0, sizeof r->errors);
        memset(r->places, 0, sizeof r->places);
    }
    for (int i = 0; i < p->n_pairs; i++)
        p->pairs[i] = (struct pw_eval_pair){.a = p->pairs[i].a, .b = p->pairs[i].b};
    pw_lab_emit(lab, e);
    p->row = 0;
    p->at++;
}

static bool go_on(struct pw_lab *lab, double end)
{
    return pw_now() < end && !atomic_load(&lab->yield);
}

static void run_slice(struct pw_lab *lab)
{
    struct pw_eval_plan *p = plan_of(lab);
    double begin = pw_now(), end = begin + SLICE_S;
    while (p->at < p->n && go_on(lab, end)) {
        /* the arm exists: dropping an arm cancels the evaluation first */
        struct pw_replica *arm = &lab->replicas[p->place[p->at]];
        struct pw_eval_row *row = &p->rows[p->row];
        int all = pw_task_samples_at(&lab->tasks.use[row->task], row->length, p->samples);
        uint64_t *outcomes = p->outcomes + row->first_word;
        bool decodes = pw_lab_decodes(lab, arm, row->task);
        struct pw_err err;
        row->judge = !decodes ? PW_JUDGE_EXACT : p->live ? PW_JUDGE_TAUGHT : PW_JUDGE_DECODED;
        enum pw_code code = p->losses.n_rows > 0 ? count_losses(lab, arm, all, p->row, &err)
                            : row->judge == PW_JUDGE_DECODED
                                ? count_decoding(lab, arm, all, row, outcomes, &err)
                                : count_pass(lab, arm, PW_SPLIT_TEST, all, row, outcomes, &err);
        if (code != PW_OK) {
            pw_job_fail(lab, PW_JOB_EVAL, &err);
            return;
        }
        if (row->samples == all && ++p->row == p->n_rows)
            end_replica(lab, arm);
    }
    pw_job_tell(lab, PW_JOB_EVAL, p->at < p->n ? PW_JOB_RUNNING : PW_JOB_DONE);
    p->took += pw_now() - begin;
    if (p->at < p->n)
        return;
    if (p->live) {
        lab->eval_s = p->took;
        lab->t_eval = pw_now();
    }
    pw_job_end(lab, PW_JOB_EVAL);
}

int pw_lab_valid_samples(const struct pw_lab *lab, int n)
{
    int all = 0; /* samples of all fixed sets, each used once */
    for (int t = 0; t < lab->tasks.n; t++) {
        int has = pw_task_data(&lab->tasks.use[t], PW_SPLIT_VALID);
        all = has == 0 || all + has > n ? n : all + has;
    }
    return all;
}

enum pw_code pw_lab_valid_slice(struct pw_lab *lab, struct pw_replica *arm, int n, struct pw_eval_row *row,
                                bool whole, struct pw_err *err)
{
    double end = pw_now() + SLICE_S;
    enum pw_code code = PW_OK;
    while (code == PW_OK && row->samples < n && (whole || go_on(lab, end)))
        code = count_pass(lab, arm, PW_SPLIT_VALID, n, row, NULL, err);
    return code;
}

/* Answers that are being decoded hold their models. The evaluation decodes these samples again. */
static void hear_change(struct pw_lab *lab, const struct pw_notice *n)
{
    struct pw_eval_plan *p = plan_of(lab);
    if (p == NULL || (n->what & PW_CHANGE_BACKEND) == 0)
        return;
    pw_decoding_end(p->decoding);
    p->decoding = NULL;
}

/* Evaluate one arm at all lengths, with as many samples as in its last evaluation, if it has one. */
static void eval_again(struct pw_lab *lab, int id)
{
    const struct pw_ev_eval *before = &lab->record->arms[id - 1].rep[0].eval;
    if (before->n > 0 && before->rows[0].samples > 0)
        (void)start(lab, id, (struct pw_range){0, 0}, before->rows[0].samples, NULL);
}

/* If the encoding was tuned, repeat the last evaluation. If heads changed, or the tuned model has no such
 * evaluation, run a live evaluation. */
static void hear_changed(struct pw_lab *lab, const struct pw_notice *n)
{
    if (n->what == PW_CHANGE_TUNED)
        eval_again(lab, n->arm);
    bool live = n->what == PW_CHANGE_HEADS || (n->what == PW_CHANGE_TUNED && n->live && plan_of(lab) == NULL);
    if (live && lab->cfg.live)
        pw_lab_eval_live(lab, pw_lab_arm(lab, n->arm));
}

const struct pw_listener pw_eval_listener = {.changes = hear_change, .changed = hear_changed};
