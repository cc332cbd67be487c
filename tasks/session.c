/* session.c - predicts the next item of a session from its first item, its last, or both. It tests forward-
 * and backward-awareness as in session-based recommendation. An encoding that counts from the front cannot
 * identify the last item; one that counts from the end cannot identify the first.
 *
 *   by=first   3 1 4 1 5 > | 3        the item at position `at` from the front
 *   by=last    3 1 4 1 5 > | 5        the same from the end
 *   by=both    3 1 4 1 5 > | 2        the second minus the first, modulo the alphabet: 5 - 3
 *
 * It is designed for causal=off. The answer is one token with nothing after it, so the model reads the prompt
 * alone: the sequence length is the prompt's, and no row can see the answer. There is no constant first word,
 * because relative encodings could count from it.
 *
 * The items of a session are different. A guesser that is given the items but not their order is right one
 * time in as many as there are. by=both is a difference, so swapping the two items changes the answer. There
 * a guesser answers with the difference that most pairs have; its accuracy is estimated on sessions drawn for
 * this purpose. The defaults have few items and short lengths, because by=both also needs arithmetic, which a
 * small model learns more slowly with more items. An item of the task is the list. */
#include "tasks/read.h"
#include "tasks/task.h"
#include <math.h>
#include <string.h>

#define MAX_LENGTH PW_MAX_SYMBOLS
#define EXAMPLE    "3 1 4 0 5"
#define GUESSES    1000

enum by { FIRST, LAST, BOTH };

static const char *const rules[] = {"first", "last", "both", NULL};
static const char *const texts[] = {"short", NULL};

struct session_opts {
    struct pw_task_opts common;
    int by, at;
};

static const struct pw_opt opts[] = {
    {"alphabet", PW_OPT_INT, offsetof(struct session_opts, common.alphabet), "10", 2, PW_MAX_SYMBOLS, NULL, 0,
     "number of items, from 0-9 a-z A-Z; at least the longest session"},
    {"by", PW_OPT_CHOICE, offsetof(struct session_opts, by), "first", 0, 0, rules, 0,
     "which item decides the next one: counted from the front, from the back, or both together"},
    {"at", PW_OPT_INT, offsetof(struct session_opts, at), "1", 1, MAX_LENGTH / 2, NULL, 0,
     "position of the deciding item"},
    {0},
};

/* Returns the shortest session with both positions in it, the front position before the end position. */
static int shortest(const struct session_opts *opt)
{
    return opt->by == BOTH ? 2 * opt->at : opt->at;
}

static bool has(const void *o, int length)
{
    const struct session_opts *opt = o;
    return length >= shortest(opt) && length <= opt->common.alphabet;
}

static enum pw_code check(const void *o, struct pw_err *err)
{
    const struct session_opts *opt = o;
    struct pw_range a = opt->common.lengths, b = opt->common.test;
    int least = a.lo < b.lo ? a.lo : b.lo, most = a.hi > b.hi ? a.hi : b.hi;
    if (opt->common.alphabet < most)
        return pw_fail(err, PW_EUSER,
                       "session: items do not repeat, so sessions of %d need alphabet=%d or more, not %d",
                       most, most, opt->common.alphabet);
    if (least < shortest(opt))
        return pw_fail(err, PW_EUSER, "session: by=%s at=%d needs sessions of %d items or more, not %d",
                       rules[opt->by], opt->at, shortest(opt), least);
    return PW_OK;
}

static void words(const void *o, struct pw_vocab *v)
{
    const struct pw_task_opts *opt = o;
    pw_vocab_add(v, " >");
    pw_symbols_words(opt->alphabet, v);
}

static void draw_item(const void *o, struct pw_rng *rng, int length, struct pw_item *item)
{
    const struct session_opts *opt = o;
    int n = opt->common.alphabet, rest[PW_MAX_SYMBOLS];
    item->length = item->n = length;
    for (int i = 0; i < n; i++)
        rest[i] = i;
    for (int i = 0; i < length; i++)
        item->v[i] = pw_rng_deal(rng, rest, n, i);
}

static void list_input(const void *o, struct pw_pair at, uint64_t k, struct pw_item *item)
{
    const struct session_opts *opt = o;
    int n = opt->common.alphabet, rest[PW_MAX_SYMBOLS], place[PW_MAX_SYMBOLS];
    item->length = item->n = at.a;
    for (int i = at.a; i-- > 0;) /* position i among the symbols that are left */
        k = pw_list_nth(n - i, 0, k, &place[i], 1);
    for (int i = 0; i < n; i++)
        rest[i] = i;
    for (int i = 0; i < at.a; i++) {
        item->v[i] = rest[place[i]];
        memmove(&rest[place[i]], &rest[place[i] + 1], (size_t)(n - i - 1 - place[i]) * sizeof *rest);
    }
}

static double inputs(const void *o, struct pw_pair at)
{
    const struct pw_task_opts *opt = o;
    double count = 1;
    for (int i = 0; i < at.a; i++)
        count *= opt->alphabet - i;
    return count;
}

static int difference(const struct session_opts *opt, int first, int last)
{
    return (last - first + opt->common.alphabet) % opt->common.alphabet;
}

static int next_item(const struct session_opts *opt, const struct pw_item *item)
{
    int first = item->v[opt->at - 1], last = item->v[item->n - opt->at];
    return opt->by == FIRST ? first : opt->by == LAST ? last : difference(opt, first, last);
}

static void write_item(const void *o, const struct pw_item *item, struct pw_str *prompt,
                       struct pw_str *answer)
{
    int next = next_item(o, item);
    pw_symbols_write(item->v, item->n, "", prompt);
    pw_str_add(prompt, " >");
    pw_symbols_write(&next, 1, "", answer);
}

static enum pw_code read_text(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    const struct session_opts *opt = o;
    int n = pw_read_symbols(&text, "session", opt->common.alphabet, item->v, MAX_LENGTH, err);
    if (n < 0)
        return PW_EUSER;
    if (n < shortest(opt))
        return pw_fail(err, PW_EUSER, "session: by=%s at=%d needs %d items or more; write: session " EXAMPLE,
                       rules[opt->by], opt->at, shortest(opt));
    item->length = item->n = n;
    (void)pw_read_accept(&text, ">");
    return pw_read_end(&text, "session", "session " EXAMPLE, err);
}

/* Estimates the accuracy of guessing the most frequent difference of ordered pairs of a session's items. */
static double guess_difference(const struct session_opts *opt, int length)
{
    double right = 0;
    for (uint64_t i = 0; i < GUESSES; i++) {
        struct pw_rng rng;
        struct pw_item item;
        int count[PW_MAX_SYMBOLS] = {0}, most = 0;
        pw_rng_init(&rng, 0, PW_STREAM_TEST, i);
        draw_item(opt, &rng, length, &item);
        for (int a = 0; a < item.n; a++)
            for (int b = 0; b < item.n; b++) {
                int *n = &count[difference(opt, item.v[a], item.v[b])];
                *n += a != b;
                most = *n > most ? *n : most;
            }
        right += (double)most / (item.n * (item.n - 1));
    }
    return right / GUESSES;
}

static double chance(const void *o, int length)
{
    const struct session_opts *opt = o;
    return opt->by == BOTH ? guess_difference(opt, length) : 1.0 / length;
}

static int pointers(const void *o, const struct pw_item *item, const struct pw_spelling *text, int k, int *at)
{
    const struct session_opts *opt = o;
    int n = 0;
    (void)text;
    (void)k;
    if (opt->by != LAST)
        at[n++] = opt->at - 1;
    if (opt->by != FIRST)
        at[n++] = item->n - opt->at;
    return n;
}

const struct pw_task pw_task_session = {
    .name = "session",
    .summary = "a session's next item, decided by its first, its last, or both",
    .source = "after the awareness of session-based recommendation; meant for causal=off",
    .opts = opts,
    .opts_size = sizeof(struct session_opts),
    .length_limits = {1, MAX_LENGTH},
    .lengths = "3..5",
    .unit = "items",
    .has = has,
    .check = check,
    .inputs = inputs,
    .list = list_input,
    .words = words,
    .draw = draw_item,
    .write = write_item,
    .payload = read_text,
    .read = read_text,
    .example = EXAMPLE,
    .chance = chance,
    .one_token = true,
    .texts = texts,
    .pointers = pointers,
};
