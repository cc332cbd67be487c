/* data.c - turn samples into ragged batches: one row per input token, with the answer's positions scored.
 *
 * A sample of n tokens gives n-1 rows. Its last token (the end mark, or the last token of an answer without
 * one) is only a target. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/core/lab_int.h"

static int *grown(int *p, int n)
{
    return pw_grow(p, (size_t)n, sizeof *p);
}

static void reserve(struct pw_samples *s, int seqs, int rows)
{
    if (seqs > s->cap_seqs) {
        s->start = grown(s->start, seqs + 1);
        s->seq_scored = grown(s->seq_scored, seqs + 1);
        s->pairs = pw_grow(s->pairs, (size_t)seqs, sizeof *s->pairs);
        s->chance = pw_grow(s->chance, (size_t)seqs, sizeof *s->chance);
        s->cap_seqs = seqs;
    }
    if (rows > s->cap_rows) {
        s->tokens = grown(s->tokens, rows);
        s->pos = grown(s->pos, rows);
        s->rows = grown(s->rows, rows);
        s->targets = grown(s->targets, rows);
        s->cap_rows = rows;
    }
}

void pw_samples_fini(struct pw_samples *s)
{
    free(s->start);
    free(s->seq_scored);
    free(s->tokens);
    free(s->pos);
    free(s->rows);
    free(s->targets);
    free(s->buffer);
    free(s->pairs);
    free(s->chance);
    *s = (struct pw_samples){0};
}

static void draw_sample(struct pw_samples *s, const struct pw_taskset *set, uint64_t seed,
                        enum pw_split split, uint64_t index, int task, int length, struct pw_sample *x)
{
    *x = (struct pw_sample){.tokens = s->buffer, .cap = s->cap_buffer};
    pw_taskset_sample(set, seed, split, index, task, length, x);
    assert(x->n > x->n_prompt && x->n_prompt > 0);
}

static uint64_t chance_of(uint64_t seed, uint64_t index)
{
    struct pw_rng rng;
    pw_rng_init(&rng, seed, PW_STREAM_CHANCE, index);
    return pw_rng_u64(&rng);
}

void pw_samples_fill(struct pw_samples *s, const struct pw_taskset *set, uint64_t seed, enum pw_split split,
                     uint64_t first, int n, int task, int length)
{
    int cap = set->max_tokens, asked = split == PW_SPLIT_TEST ? pw_taskset_tokens_at(set, task, length) : 0;
    cap = asked > cap ? asked : cap;
    if (s->cap_buffer < cap) {
        s->buffer = grown(s->buffer, cap);
        s->cap_buffer = cap;
    }
    int rows = 0, scored = 0;
    reserve(s, n, 1);
    for (int i = 0; i < n; i++) {
        struct pw_sample x;
        draw_sample(s, set, seed, split, first + (uint64_t)i, task, length, &x);
        reserve(s, n, rows + x.n - 1 > s->cap_rows ? 2 * (rows + x.n) : 0);
        s->start[i] = rows;
        s->seq_scored[i] = scored;
        s->pairs[i] = x.pair;
        s->chance[i] = chance_of(seed, first + (uint64_t)i);
        for (int t = 0; t + 1 < x.n; t++) {
            s->tokens[rows] = x.tokens[t];
            s->pos[rows] = t;
            if (t + 1 >= x.n_prompt) {
                s->rows[scored] = rows;
                s->targets[scored++] = x.tokens[t + 1];
            }
            rows++;
        }
    }
    s->start[n] = rows;
    s->seq_scored[n] = scored;
    s->b = (struct pw_batch){.n_seqs = n,
                             .n_rows = rows,
                             .n_scored = scored,
                             .start = s->start,
                             .tokens = s->tokens,
                             .pos = s->pos,
                             .rows = s->rows,
                             .targets = s->targets,
                             .chance = split == PW_SPLIT_TRAIN ? s->chance : NULL};
}

const unsigned char *pw_lab_classes(const struct pw_lab *lab)
{
    _Static_assert(
        (int)PW_TOKEN_DIGIT == (int)PW_CLASS_DIGIT && (int)PW_TOKEN_SEPARATOR == (int)PW_CLASS_SEPARATOR &&
            (int)PW_TOKEN_SYMBOL == (int)PW_CLASS_SYMBOL && (int)PW_TOKEN_LAST == (int)PW_CLASS_LAST,
        "classes of tasks and of the model");
    unsigned char *classes = pw_alloc((size_t)lab->tasks.vocab.n + 1, 1);
    pw_taskset_classes(&lab->tasks, classes);
    const unsigned char *kept = pw_classes_keep(classes, lab->tasks.vocab.n);
    free(classes);
    return kept;
}

int pw_lab_rows_at(const struct pw_lab *lab, int t, int length)
{
    return pw_taskset_tokens_at(&lab->tasks, t, length) - 1;
}

int pw_lab_trained_distance(const struct pw_lab *lab)
{
    int most = 0;
    for (int t = 0; t < lab->tasks.n; t++) {
        int d = pw_lab_rows_at(lab, t, pw_task_train(&lab->tasks.use[t]).hi) - 1;
        most = d > most ? d : most;
    }
    return most;
}

static int first_of(const struct pw_lab *lab, int t, int length, int index)
{
    int most = pw_taskset_tokens_at(&lab->tasks, t, length);
    struct pw_sample x = {.tokens = pw_alloc((size_t)most, sizeof(int)), .cap = most};
    pw_taskset_sample(&lab->tasks, lab->seed, PW_SPLIT_TEST, (uint64_t)index, t, length, &x);
    int first = x.tokens[0];
    free(x.tokens);
    return first;
}

int pw_lab_first_word(const struct pw_lab *lab, int t)
{
    return first_of(lab, t, pw_task_train(&lab->tasks.use[t]).lo, 0);
}

bool pw_lab_first_word_same(const struct pw_lab *lab, int t)
{
    struct pw_range r = pw_task_train(&lab->tasks.use[t]);
    int first = pw_lab_first_word(lab, t);
    for (int length = r.lo; length <= r.hi && length < r.lo + 16; length++)
        for (int i = 0; i < 4; i++)
            if (pw_task_has(&lab->tasks.use[t], length) && first_of(lab, t, length, i) != first)
                return false;
    return true;
}

enum pw_code pw_lab_find_task(const struct pw_lab *lab, const char *what, const char *name, int *task,
                              struct pw_err *err)
{
    struct pw_str all = {0};
    for (*task = 0; *task < lab->tasks.n; ++*task) {
        const char *other = lab->tasks.use[*task].task->name;
        if (name[0] == '\0' || strcmp(other, name) == 0) {
            pw_str_fini(&all);
            return PW_OK;
        }
        pw_str_add(&all, "%s%s", all.len > 0 ? ", " : "", other);
    }
    pw_fail(err, PW_EUSER, "%s: the lab has no task '%s': %s", what, name, pw_str_text(&all));
    pw_str_fini(&all);
    return PW_EUSER;
}
