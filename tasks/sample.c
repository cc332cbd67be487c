/* sample.c - samples of a set of tasks, as text and as tokens.
 *
 * A sample is a function of (seed, split, index) and nothing is stored. Training and validation draw from the
 * trained lengths only and have streams of their own; a test sample's index holds its task and length, so
 * that the same samples are met again whatever range or number of samples an evaluation asks for. */
#include "tasks/task.h"
#include <assert.h>
#include <limits.h>
#include <string.h>

static int draw_length(struct pw_rng *rng, struct pw_range r, int dist)
{
    if (dist == PW_DIST_UNIFORM)
        return r.lo + (int)pw_rng_below(rng, (uint32_t)(r.hi - r.lo + 1));
    while (r.lo < r.hi && pw_rng_below(rng, 2) != 0)
        r.lo++;
    return r.lo;
}

static int draw(const struct pw_taskset *set, uint64_t seed, enum pw_split split, uint64_t index, int task,
                int length, struct pw_item *item)
{
    struct pw_rng rng;
    const struct pw_task_use *use;
    if (split == PW_SPLIT_TEST) {
        assert(task >= 0 && task < set->n && length > 0 && length < 1024 && index <= UINT32_MAX);
        index |= (uint64_t)(task * 1024 + length) << 32;
        pw_rng_init(&rng, seed, PW_STREAM_TEST, index);
    } else {
        struct pw_range r;
        pw_rng_init(&rng, seed, split == PW_SPLIT_TRAIN ? PW_STREAM_TRAIN : PW_STREAM_VALID, index);
        task = (int)pw_rng_below(&rng, (uint32_t)set->n);
        r = pw_task_train(&set->use[task]);
        if (set->use[task].task->pick == NULL)
            length = draw_length(&rng, r, set->use[task].o.common.dist);
    }
    use = &set->use[task];
    if (use->task->pick != NULL)
        use->task->pick(&use->o, &rng, split, length, item);
    else
        use->task->draw(&use->o, &rng, length, item);
    return task;
}

void pw_taskset_sample_text(const struct pw_taskset *set, uint64_t seed, enum pw_split split, uint64_t index,
                            int task, int length, struct pw_str *prompt, struct pw_str *answer)
{
    struct pw_item item;
    task = draw(set, seed, split, index, task, length, &item);
    set->use[task].task->write(&set->use[task].o, &item, prompt, answer);
}

void pw_taskset_sample(const struct pw_taskset *set, uint64_t seed, enum pw_split split, uint64_t index,
                       int task, int length, struct pw_sample *out)
{
    struct pw_item item;
    struct pw_str prompt = {0}, answer = {0};
    enum pw_code code;
    out->task = draw(set, seed, split, index, task, length, &item);
    out->length = item.length;
    set->use[out->task].task->write(&set->use[out->task].o, &item, &prompt, &answer);
    code = pw_taskset_tokens(set, prompt.s, answer.s, out->cap, out, NULL);
    assert(code == PW_OK); /* words() is complete and the buffer large enough */
    (void)code;
    pw_str_fini(&prompt);
    pw_str_fini(&answer);
}

enum pw_code pw_taskset_tokens(const struct pw_taskset *set, const char *prompt, const char *answer, int max,
                               struct pw_sample *out, struct pw_err *err)
{
    struct pw_str text = {0};
    size_t boundary = strlen(prompt), at = 0;
    int room = (max < out->cap ? max : out->cap) - 1; /* the end mark takes one */
    int n;
    pw_str_add(&text, "%s%s", prompt, answer);
    n = pw_vocab_cut(&set->vocab, pw_str_text(&text), out->tokens, room, err);
    if (n < 0) {
        int whole = pw_vocab_cut(&set->vocab, pw_str_text(&text), NULL, INT_MAX, NULL);
        pw_str_fini(&text);
        if (whole < 0)
            return PW_EUSER; /* an unknown token, as *err says */
        n = pw_vocab_cut(&set->vocab, prompt, NULL, INT_MAX, NULL);
        return pw_fail(err, PW_EUSER, "the prompt has %d tokens, %d with its answer; at most %d are allowed",
                       n, whole + 1, room + 1);
    }
    pw_str_fini(&text);
    out->n_prompt = n;
    for (int i = 0; i < n; i++) {
        at += strlen(set->vocab.words[out->tokens[i]]);
        if (at > boundary) {
            out->n_prompt = i;
            break;
        }
    }
    out->tokens[n] = PW_EOS;
    out->n = n + 1;
    return PW_OK;
}
