/* sort.c - sort single symbols, repeats included.
 *
 * The paper's single-token sort (Kazemnejad et al. 2023, D.1): symbols drawn independently and uniformly,
 * sorted by their place in the alphabet. An item is the unsorted list.
 *
 *   text=paper   Sort the following list [ l, d, e, d ]. | The sorted list is [ d, d, e, l ].
 *   text=short   sort l d e d > | d d e l
 *
 * The default alphabet of 10 makes repeats common; with the paper's 50 a small model sorts distinct symbols
 * and takes long to learn to count the equal ones. */
#include "tasks/read.h"
#include "tasks/task.h"
#include <stdlib.h>
#include <string.h>

#define MAX_LENGTH 256

static const struct pw_opt opts[] = {
    {"lengths", PW_OPT_RANGE, offsetof(struct pw_task_opts, lengths), "2..8", 1, MAX_LENGTH, NULL, 0,
     "trained lengths, in symbols"},
    {"test", PW_OPT_RANGE, offsetof(struct pw_task_opts, test), "0", 0, MAX_LENGTH, NULL, 0,
     "lengths evaluated beyond; 0: on to twice the longest trained"},
    {"alphabet", PW_OPT_INT, offsetof(struct pw_task_opts, alphabet), "10", 1, PW_MAX_SYMBOLS, NULL, 0,
     "symbols in use, of 0-9 a-z A-Z"},
    {"text", PW_OPT_CHOICE, offsetof(struct pw_task_opts, text), "short", 0, 0, pw_text_styles, 0,
     "one token a symbol, or the paper's sentences"},
    {0},
};

static void words(const void *o, struct pw_vocab *v)
{
    static const char *const paper[] = {"Sort", " the", " following", " list",   " [", ",",
                                        " ]",   ".",    " The",       " sorted", " is"};
    const struct pw_task_opts *opt = o;
    if (opt->text == PW_TEXT_PAPER) {
        for (size_t i = 0; i < sizeof paper / sizeof *paper; i++)
            pw_vocab_add(v, paper[i]);
    } else {
        pw_vocab_add(v, "sort");
        pw_vocab_add(v, " >");
    }
    pw_symbols_words(opt->alphabet, v);
}

static void draw(const void *o, struct pw_rng *rng, int length, struct pw_item *item)
{
    const struct pw_task_opts *opt = o;
    item->length = item->n = length;
    for (int i = 0; i < length; i++)
        item->v[i] = (int)pw_rng_below(rng, (uint32_t)opt->alphabet);
}

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void write_item(const void *o, const struct pw_item *item, struct pw_str *prompt,
                       struct pw_str *answer)
{
    const struct pw_task_opts *opt = o;
    int sorted[PW_MAX_ITEM];
    memcpy(sorted, item->v, (size_t)item->n * sizeof *sorted);
    qsort(sorted, (size_t)item->n, sizeof *sorted, by_value);
    if (opt->text == PW_TEXT_PAPER) {
        pw_str_add(prompt, "Sort the following list [");
        pw_symbols_write(item->v, item->n, ",", prompt);
        pw_str_add(prompt, " ]. ");
        pw_str_add(answer, "The sorted list is [");
        pw_symbols_write(sorted, item->n, ",", answer);
        pw_str_add(answer, " ].");
    } else {
        pw_str_add(prompt, "sort");
        pw_symbols_write(item->v, item->n, "", prompt);
        pw_str_add(prompt, " >");
        pw_symbols_write(sorted, item->n, "", answer);
    }
}

#define EXAMPLE "3 1 4 1 5"

static enum pw_code payload(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    const struct pw_task_opts *opt = o;
    int n = pw_read_symbols(&text, "sort", opt->alphabet, item->v, MAX_LENGTH, err);
    if (n < 0)
        return PW_EUSER;
    if (n == 0)
        return pw_fail(err, PW_EUSER, "sort: no symbols to sort; write: sort " EXAMPLE);
    item->length = item->n = n;
    (void)(pw_read_accept(&text, "].") || pw_read_accept(&text, "]") || pw_read_accept(&text, ">"));
    return pw_read_end(&text, "sort", "sort " EXAMPLE, err);
}

static enum pw_code read_text(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    const struct pw_task_opts *opt = o;
    const char *opening = opt->text == PW_TEXT_PAPER ? "Sort the following list [" : "sort";
    if (!pw_read_accept(&text, opening))
        return pw_fail(err, PW_EUSER, "sort: a prompt begins with '%s'", opening);
    return payload(o, text, item, err);
}

const struct pw_task pw_task_sort = {
    .name = "sort",
    .summary = "put a list of symbols in order",
    .source = "Kazemnejad et al. 2023, D.1: sorting, single token",
    .opts = opts,
    .opts_size = sizeof(struct pw_task_opts),
    .length_limits = {1, MAX_LENGTH},
    .words = words,
    .draw = draw,
    .write = write_item,
    .payload = payload,
    .read = read_text,
    .example = EXAMPLE,
};
