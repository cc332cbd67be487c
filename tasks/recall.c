/* recall.c - associative recall: the value that follows a key (Graves et al. 2014; Ba et al. 2016;
 * Arora et al. 2024 with several questions).
 *
 *   recall c 9 k 8 j 3 ? k | 8
 *
 * The keys are different letters, the values are digits. An induction head solves it: the attention of one
 * head finds the earlier place of the key, and copies the token behind it. Position matters only between
 * neighbours.
 *
 * An item is the list of keys and values, and the index of the pair that is asked for. */
#include <stddef.h>
#include <string.h>

#include "tasks/read.h"
#include "tasks/task.h"

#define FIRST_KEY  10 /* symbols 10..61: a-z, A-Z */
#define LETTERS    (PW_MAX_SYMBOLS - FIRST_KEY)
#define MAX_LENGTH LETTERS
#define EXAMPLE    "c 9 k 8 j 3 ? k"
#define GUESSES    1000

static const char *const texts[] = {"short", NULL};

struct recall_opts {
    struct pw_task_opts common; /* alphabet: keys */
    int values;
};

static const struct pw_opt opts[] = {
    {"alphabet", PW_OPT_INT, offsetof(struct recall_opts, common.alphabet), "26", 2, LETTERS, NULL, 0,
     "number of keys, from a-z A-Z; at least the most pairs"},
    {"values", PW_OPT_INT, offsetof(struct recall_opts, values), "10", 2, 10, NULL, 0,
     "number of values, from 0-9"},
    {0},
};

static bool has(const void *o, int length)
{
    const struct pw_task_opts *opt = o;
    return length <= opt->alphabet;
}

static enum pw_code check(const void *o, struct pw_err *err)
{
    const struct pw_task_opts *opt = o;
    int most = opt->lengths.hi > opt->test.hi ? opt->lengths.hi : opt->test.hi;
    if (opt->alphabet < most)
        return pw_fail(err, PW_EUSER,
                       "recall: keys do not repeat, so %d pairs need alphabet=%d or more, not %d", most, most,
                       opt->alphabet);
    return PW_OK;
}

static void words(const void *o, struct pw_vocab *v)
{
    const struct recall_opts *opt = o;
    pw_vocab_add(v, "recall");
    pw_vocab_add(v, " ?");
    pw_symbols_words(opt->values, v);
    for (int key = 0; key < opt->common.alphabet; key++) {
        char word[3] = {' ', *pw_symbol(FIRST_KEY + key), '\0'};
        pw_vocab_add(v, word);
    }
}

/* The index of the pair that is asked for. */
static int asked(const struct pw_item *item)
{
    return item->v[item->n - 1];
}

static void draw_item(const void *o, struct pw_rng *rng, int length, struct pw_item *item)
{
    const struct recall_opts *opt = o;
    int n = opt->common.alphabet, rest[LETTERS];

    item->length = length;
    item->n = 2 * length + 1;
    for (int i = 0; i < n; i++)
        rest[i] = FIRST_KEY + i;
    for (int i = 0; i < length; i++) {
        item->v[2 * i] = pw_rng_deal(rng, rest, n, i);
        item->v[2 * i + 1] = (int)pw_rng_below(rng, (uint32_t)opt->values);
    }
    item->v[2 * length] = (int)pw_rng_below(rng, (uint32_t)length);
}

static double inputs(const void *o, struct pw_pair at)
{
    const struct recall_opts *opt = o;
    double count = at.a * pw_list_count(opt->values, at.a);
    for (int i = 0; i < at.a; i++)
        count *= opt->common.alphabet - i;
    return count;
}

static void write_item(const void *o, const struct pw_item *item, struct pw_str *prompt,
                       struct pw_str *answer)
{
    int q = asked(item);
    (void)o;
    pw_str_add(prompt, "recall");
    pw_symbols_write(item->v, item->n - 1, "", prompt);
    pw_str_add(prompt, " ? %s", pw_symbol(item->v[2 * q]));
    pw_symbols_write(&item->v[2 * q + 1], 1, "", answer);
}

/* The index of a key among the first n pairs; -1: it is not there. */
static int find_key(const struct pw_item *item, int n, int key)
{
    for (int i = 0; i < n; i++)
        if (item->v[2 * i] == key)
            return i;
    return -1;
}

static enum pw_code read_key(const char **text, const struct recall_opts *opt, int *key, struct pw_err *err)
{
    enum pw_code code = pw_read_symbol(text, "recall", FIRST_KEY + opt->common.alphabet, key, err);
    if (code == PW_OK && *key < FIRST_KEY)
        return pw_fail(err, PW_EUSER, "recall: '%s' is no key: keys are letters; write: recall " EXAMPLE,
                       pw_symbol(*key));
    return code;
}

/* Reads "key value" into pair i. */
static enum pw_code read_pair(const char **text, const struct recall_opts *opt, struct pw_item *item, int i,
                              struct pw_err *err)
{
    int key;
    enum pw_code code = read_key(text, opt, &key, err);
    if (code == PW_OK && i == opt->common.alphabet)
        code = pw_fail(err, PW_EUSER, "recall: at most %d pairs are allowed", i);
    if (code == PW_OK && find_key(item, i, key) >= 0)
        code = pw_fail(err, PW_EUSER, "recall: the key '%s' comes twice", pw_symbol(key));
    if (code == PW_OK) {
        item->v[2 * i] = key;
        code = pw_read_symbol(text, "recall", opt->values, &item->v[2 * i + 1], err);
    }
    return code;
}

static enum pw_code payload(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    enum pw_code code = PW_OK;
    int n = 0, key;

    while (code == PW_OK && (n == 0 || !pw_read_accept(&text, "?")))
        code = read_pair(&text, o, item, n++, err);
    if (code == PW_OK)
        code = read_key(&text, o, &key, err);
    if (code != PW_OK)
        return code;
    item->length = n;
    item->n = 2 * n + 1;
    item->v[2 * n] = find_key(item, n, key);
    if (asked(item) < 0)
        return pw_fail(err, PW_EUSER, "recall: the key '%s' has no value; write: recall " EXAMPLE,
                       pw_symbol(key));
    return pw_read_end(&text, "recall", "recall " EXAMPLE, err);
}

static enum pw_code read_text(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    if (!pw_read_accept(&text, "recall"))
        return pw_fail(err, PW_EUSER, "recall: a prompt must start with 'recall'");
    return payload(o, text, item, err);
}

/* Estimates the accuracy of guessing the most frequent value of the list. */
static double chance(const void *o, int length)
{
    const struct recall_opts *opt = o;
    double right = 0;
    for (uint64_t i = 0; i < GUESSES; i++) {
        struct pw_rng rng;
        struct pw_item item;
        int count[10] = {0}, most = 0;
        pw_rng_init(&rng, 0, PW_STREAM_TEST, i);
        draw_item(opt, &rng, length, &item);
        for (int k = 0; k < length; k++) {
            int *n = &count[item.v[2 * k + 1]];
            ++*n;
            most = *n > most ? *n : most;
        }
        right += (double)most / length;
    }
    return right / GUESSES;
}

static int pointers(const void *o, const struct pw_item *item, const struct pw_spelling *text, int k, int *at)
{
    (void)o;
    (void)text;
    (void)k;
    at[0] = 2 * asked(item) + 2; /* behind the first word */
    return 1;
}

const struct pw_task pw_task_recall = {
    .name = "recall",
    .summary = "the value that follows a key",
    .source = "associative recall, as in Graves et al. 2014 and Ba et al. 2016",
    .opts = opts,
    .opts_size = sizeof(struct recall_opts),
    .length_limits = {1, MAX_LENGTH},
    .lengths = "2..8",
    .unit = "pairs",
    .has = has,
    .check = check,
    .inputs = inputs,
    .words = words,
    .draw = draw_item,
    .write = write_item,
    .payload = payload,
    .read = read_text,
    .example = EXAMPLE,
    .chance = chance,
    .texts = texts,
    .pointers = pointers,
};
