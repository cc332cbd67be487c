/* sample.c - samples of a set of tasks, as text and as tokens.
 *
 * A sample is a function of (seed, split, index); nothing is stored. Training and validation draw from the
 * trained lengths only and have separate random streams. The stream of a test sample depends on its task and
 * length, so any range and any number of samples of an evaluation give the same samples. */
#include "tasks/scratchpad.h"
#include "tasks/split.h"
#include <assert.h>
#include <limits.h>
#include <string.h>

/* Chooses the task of a training or validation sample in a mixture. Normally each sample's task is drawn.
 * With a fixed set in the mixture, each run of n samples has every task once; *index becomes the task's own
 * index, so that every set has whole epochs. */
static int draw_task(const struct pw_taskset *set, uint64_t seed, struct pw_rng *rng, uint64_t *index)
{
    uint32_t n = (uint32_t)set->n, drawn = pw_rng_below(rng, n);
    bool fixed = false;
    for (int i = 0; i < set->n; i++)
        fixed = fixed || set->use[i].pool != NULL;
    if (!fixed)
        return (int)drawn;
    uint64_t run = *index / n, place = *index % n;
    *index = run;
    return (int)pw_rng_shuffled(seed, PW_STREAM_SHARES, run, n, (uint32_t)place);
}

static void draw_test(const struct pw_taskset *set, uint64_t seed, uint64_t index, int task, int length,
                      struct pw_item *item)
{
    assert(task >= 0 && task < set->n && length > 0 && index <= UINT32_MAX);
    assert(length < 1024 || set->n == 1); /* else another task has the same stream */
    const struct pw_task_use *use = &set->use[task];
    struct pw_range train = pw_task_train(use);
    struct pw_pair pairs[PW_MAX_PAIRS];
    struct pw_rng rng;
    length = pw_task_near(use, length);
    if (use->pool != NULL && length >= train.lo && length <= train.hi && pw_pool_size_at(use, length) > 0) {
        pw_pool_draw_at(use, seed, length, index, task, item);
        return;
    }
    if (use->task->nth != NULL) {
        uint64_t place = (uint64_t)task << 32 | (uint64_t)length;
        uint32_t n = (uint32_t)pw_held_count(use, length);
        uint32_t k = pw_rng_shuffled(seed, PW_STREAM_NTH, place, n, (uint32_t)(index % n));
        pw_held_nth(use, length, (int)k, item);
        return;
    }
    int n = pw_task_pairs_at(use, length, pairs);
    pw_rng_init(&rng, seed, PW_STREAM_TEST, index | (uint64_t)(task * 1024 + length) << 32);
    if (use->task->pick != NULL)
        use->task->pick(&use->o, &rng, PW_SPLIT_TEST, length, item);
    else
        pw_held_draw(use, &rng, true, length, n > 0 ? &pairs[index % (uint64_t)n] : NULL, item);
}

static int draw_sample(const struct pw_taskset *set, uint64_t seed, enum pw_split split, uint64_t index,
                       int task, int length, struct pw_item *item)
{
    struct pw_rng rng;
    if (split == PW_SPLIT_TEST) {
        draw_test(set, seed, index, task, length, item);
        return task;
    }
    pw_rng_init(&rng, seed, split == PW_SPLIT_TRAIN ? PW_STREAM_TRAIN : PW_STREAM_VALID, index);
    task = draw_task(set, seed, &rng, &index);
    const struct pw_task_use *use = &set->use[task];
    if (use->pool != NULL)
        pw_data_pool_draw(use, seed, split, index, task, item);
    else if (use->task->pick != NULL)
        use->task->pick(&use->o, &rng, split, 0, item);
    else
        pw_held_draw(use, &rng, split != PW_SPLIT_TRAIN, pw_dist_draw(use, &rng), NULL, item);
    return task;
}

void pw_item_write(const struct pw_task_use *use, const struct pw_item *item, struct pw_str *prompt,
                   struct pw_str *answer)
{
    pw_scratch_write(use, item, answer);
    use->task->write(&use->o, item, prompt, answer);
}

void pw_taskset_sample_text(const struct pw_taskset *set, uint64_t seed, enum pw_split split, uint64_t index,
                            int task, int length, struct pw_str *prompt, struct pw_str *answer)
{
    struct pw_item item;
    task = draw_sample(set, seed, split, index, task, length, &item);
    pw_item_write(&set->use[task], &item, prompt, answer);
}

struct pw_pair pw_item_pair(const struct pw_task_use *use, const struct pw_item *item)
{
    return use->task->pairs != NULL ? use->task->pairs->of(item) : (struct pw_pair){item->length, 0};
}

void pw_taskset_sample(const struct pw_taskset *set, uint64_t seed, enum pw_split split, uint64_t index,
                       int task, int length, struct pw_sample *out)
{
    struct pw_item item;
    struct pw_str prompt = {0}, answer = {0};
    enum pw_code code;
    out->task = draw_sample(set, seed, split, index, task, length, &item);
    out->length = item.length;
    out->pair = pw_item_pair(&set->use[out->task], &item);
    if (pw_taskset_runs(set)) {
        assert(out->cap > item.length);
        out->n = set->use[0].task->window(&set->use[0].o, &item, out->tokens);
        out->n_prompt = 1;
        return;
    }
    pw_item_write(&set->use[out->task], &item, &prompt, &answer);
    if (set->vocab.pieces == PW_PIECES_TOKENS)
        memset(out->tokens, 0, (size_t)out->cap * sizeof *out->tokens);
    code = pw_taskset_tokens(set, out->task, prompt.s, answer.s, out->cap, out, NULL);
    /* words() is complete and the buffer large enough. Only a tokenizer's file can have rules by which texts
     * have other tokens together than alone; its sample is cut. */
    assert(code == PW_OK || set->vocab.pieces == PW_PIECES_TOKENS);
    if (code != PW_OK) {
        out->n = out->cap;
        out->n_prompt = out->cap - 1;
    }
    pw_str_fini(&prompt);
    pw_str_fini(&answer);
}

bool pw_taskset_ends(const struct pw_taskset *set, int task)
{
    for (int i = 0; i < set->n && task < 0; i++)
        if (pw_taskset_ends(set, i))
            return true;
    return task >= 0 && !set->use[task].task->one_token && set->use[task].task->window == NULL &&
           !set->vocab.plain;
}

bool pw_taskset_single(const struct pw_taskset *set, int task)
{
    for (int i = 0; i < set->n; i++)
        if ((task < 0 || task == i) && !set->use[i].task->one_token)
            return false;
    return true;
}

bool pw_taskset_runs(const struct pw_taskset *set)
{
    return set->n == 1 && set->use[0].task->window != NULL;
}

enum pw_code pw_taskset_tokens(const struct pw_taskset *set, int task, const char *prompt, const char *answer,
                               int max, struct pw_sample *out, struct pw_err *err)
{
    struct pw_str text = {0};
    size_t boundary = strlen(prompt), at = 0, all = 0;
    int end = pw_taskset_ends(set, task), room = (max < out->cap ? max : out->cap) - end;
    int n;
    pw_str_add(&text, "%s%s", prompt, answer);
    n = pw_vocab_cut(&set->vocab, pw_str_text(&text), out->tokens, room, err);
    if (n < 0) {
        int whole = pw_vocab_cut(&set->vocab, pw_str_text(&text), NULL, INT_MAX, NULL);
        pw_str_fini(&text);
        if (whole < 0)
            return PW_EUSER; /* an unknown token; *err names it */
        n = pw_vocab_cut(&set->vocab, prompt, NULL, INT_MAX, NULL);
        return pw_fail(err, PW_EUSER, "the prompt has %d tokens, %d with its answer; at most %d are allowed",
                       n, whole + end, room + end);
    }
    for (int i = 0; i < n; i++)
        all += pw_vocab_bytes(&set->vocab, out->tokens[i]);
    if (all > text.len) /* a tokenizer puts a space, or a mark, before the text */
        boundary += all - text.len;
    pw_str_fini(&text);
    out->n_prompt = n;
    for (int i = 0; i < n; i++) {
        at += pw_vocab_bytes(&set->vocab, out->tokens[i]);
        if (at > boundary) {
            out->n_prompt = i;
            break;
        }
    }
    if (end != 0)
        out->tokens[n] = PW_EOS;
    out->n = n + end;
    return PW_OK;
}

bool pw_taskset_item(const struct pw_taskset *set, const struct pw_sample *s, struct pw_item *item)
{
    const struct pw_task_use *use = s->task >= 0 ? &set->use[s->task] : NULL;
    struct pw_str prompt = {0};
    if (pw_taskset_runs(set))
        return false;
    for (int i = 0; i < s->n_prompt; i++)
        pw_vocab_put(&set->vocab, s->tokens[i], &prompt);
    bool read = use != NULL && use->task->read(&use->o, pw_str_text(&prompt), item, NULL) == PW_OK;
    pw_str_fini(&prompt);
    return read;
}

bool pw_task_parsed(const struct pw_task_use *use)
{
    return use->o.common.parts != 0;
}

bool pw_taskset_right(const struct pw_taskset *set, const struct pw_sample *s, const int *said, int n)
{
    const struct pw_task_use *use = s->task >= 0 ? &set->use[s->task] : NULL;
    struct pw_str text = {0};
    struct pw_item item;
    if (n == 0 || (pw_taskset_ends(set, s->task) && said[n - 1] != PW_EOS))
        return false;
    if (use == NULL || !pw_task_parsed(use) || !pw_taskset_item(set, s, &item))
        return n == s->n - s->n_prompt &&
               memcmp(said, s->tokens + s->n_prompt, (size_t)n * sizeof *said) == 0;
    for (int i = pw_scratch_tokens(use, &set->vocab, said, n); i < n - 1; i++)
        pw_str_add(&text, "%s", set->vocab.words[said[i]]);
    bool right = use->task->scratch->says(&use->o, &item, pw_str_text(&text));
    pw_str_fini(&text);
    return right;
}
