/* ids.c - numbers as tokens, typed as "17 4" or "#17 #4" and shown as the latter. For models from files
 * (src/foreign) whose tokenizer is not at hand: the vocabulary is the model's, id by id.
 *
 * A sample is a window of random numbers. No model can predict them, so training on it teaches nothing; it
 * serves to type prompts, and to look at attention and positions. An item is its ids. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tasks/read.h"
#include "tasks/task.h"

enum { MAX_VOCAB = 1 << 20, MAX_LENGTH = PW_MAX_ITEM - 2 };

struct ids_opts {
    struct pw_task_opts common;
    int vocab;
};

static const struct pw_opt opts[] = {
    {"vocab", PW_OPT_INT, offsetof(struct ids_opts, vocab), "256", 2, MAX_VOCAB, NULL, 0,
     "number of tokens; 'model from=' sets the model's"},
    {"lengths", PW_OPT_RANGE, offsetof(struct ids_opts, common.lengths), "8", 1, MAX_LENGTH, NULL, 0,
     "trained lengths, in tokens"},
    {"test", PW_OPT_RANGE, offsetof(struct ids_opts, common.test), "0", 0, MAX_LENGTH, NULL, 0,
     "longer lengths, only evaluated; 0: up to twice the longest trained"},
    {0},
};

static const struct pw_refusal refused[] = {
    {"data", "its samples are random numbers"},
    {"held", "its samples are random numbers"},
    {"dist", "lengths are drawn uniformly"},
    {"text", "its tokens are numbers"},
    {"alphabet", "vocab= is the number of tokens"},
    {"scratchpad", "it has no answer, so no steps before it"},
    {NULL, NULL},
};

static int vocab_of(const void *o)
{
    return ((const struct ids_opts *)o)->vocab;
}

static bool own_ids(const void *o)
{
    (void)o;
    return true;
}

static double inputs(const void *o, struct pw_pair at)
{
    (void)o;
    (void)at;
    return (double)INFINITY;
}

static void words(const void *o, struct pw_vocab *v)
{
    char word[16];
    for (int id = 0; id < vocab_of(o); id++) {
        snprintf(word, sizeof word, " #%d", id);
        pw_vocab_add(v, word);
    }
}

static void draw_item(const void *o, struct pw_rng *rng, int length, struct pw_item *item)
{
    item->length = length;
    item->n = length + 1;
    for (int i = 0; i < item->n; i++)
        item->v[i] = (int)pw_rng_below(rng, (uint32_t)vocab_of(o));
}

static int window(const void *o, const struct pw_item *item, int *tokens)
{
    (void)o;
    memcpy(tokens, item->v, (size_t)item->n * sizeof *tokens);
    return item->n;
}

static int most_tokens(const void *o, int length)
{
    (void)o;
    return length + 1;
}

static void write_item(const void *o, const struct pw_item *item, struct pw_str *prompt,
                       struct pw_str *answer)
{
    (void)o;
    for (int i = 0; i < item->n; i++)
        pw_str_add(i == 0 ? prompt : answer, " #%d", item->v[i]);
}

static int cut_prompt(const void *o, const char *text, int *tokens, int max, struct pw_err *err)
{
    struct pw_piece piece;
    int n = 0;
    for (; (piece = pw_read_piece(&text)).n > 0; n++) {
        struct pw_piece_text word = pw_piece_text(piece);
        long id;
        if (!pw_text_int(word.s + (word.s[0] == '#'), 0, vocab_of(o) - 1, &id)) {
            pw_fail(err, PW_EUSER, "ids: '%s': tokens are numbers 0..%d", word.s, vocab_of(o) - 1);
            return -1;
        }
        if (n < max)
            tokens[n] = (int)id;
    }
    if (n == 0)
        pw_fail(err, PW_EUSER, "ids: the prompt is empty; write: 1 0 1");
    return n > 0 ? n : -1;
}

static void suggest(const void *o, struct pw_str *out)
{
    int n = vocab_of(o);
    pw_str_add(out, "%d %d %d %d", 17 % n, 4 % n, 17 % n, 4 % n);
}

const struct pw_task pw_task_ids = {
    .name = "ids",
    .summary = "numbers as tokens, for models from files: 'model from=' sets it",
    .source = "random numbers",
    .opts = opts,
    .opts_size = sizeof(struct ids_opts),
    .length_limits = {1, MAX_LENGTH},
    .inputs = inputs,
    .words = words,
    .draw = draw_item,
    .most_tokens = most_tokens,
    .write = write_item,
    .example = "17 4 17 4",
    .window = window,
    .cut = cut_prompt,
    .own_ids = own_ids,
    .suggest = suggest,
    .refused = refused,
};
