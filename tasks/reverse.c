/* reverse.c - a list reversed, in the three variants of Kazemnejad et al. 2023 (appendix D.1 and the released
 * code).
 *
 *   variant  text=paper                                   text=short
 *   mc       Reverse: a b c [SEP] | c b a                 reverse a b c > | c b a
 *   mc2x     Reverse: a b c [SEP] | c b a [NEXT] c b a    reverse a b c > | c b a | c b a
 *   mcrv     Reverse: a b c [SEP] | c b a [NEXT] a b c    reverse a b c > | c b a | a b c
 *   text=appendix, mc: Reverse the following words: <w1> <w2> <w3> . | <w3> <w2> <w1> .
 *
 * The appendix names two variants (mc and mcrv), the data have three. The appendix's answer ends with a full
 * stop here, but not in its copy task. Symbols are independent and uniform. An item is the list. */
#include "tasks/read.h"
#include "tasks/task.h"
#include <string.h>

#define MAX_LENGTH 256
#define EXAMPLE    "3 1 4"

enum variant { MC, MC2X, MCRV };

static const char *const variants[] = {"mc", "mc2x", "mcrv", NULL};

struct reverse_opts {
    struct pw_task_opts common;
    int variant;
};

static const struct pw_opt opts[] = {
    {"alphabet", PW_OPT_INT, offsetof(struct reverse_opts, common.alphabet), "20", 1, PW_MAX_SYMBOLS, NULL, 0,
     "number of symbols, from 0-9 a-z A-Z"},
    {"variant", PW_OPT_CHOICE, offsetof(struct reverse_opts, variant), "mc", 0, 0, variants, 0,
     "mc: backwards; mc2x: twice; mcrv: backwards, then forwards"},
    {0},
};

static const struct {
    const char *first, *last, *next, *full_stop;
} form[] = {
    {"reverse", " >", " |", ""},
    {"Reverse:", " [SEP] ", " [NEXT]", ""},
    {"Reverse the following words:", " . ", " [NEXT]", " ."},
};

static void words(const void *o, struct pw_vocab *v)
{
    static const char *const table[][7] = {
        {"reverse", " >"},
        {"Reverse", ":", " [SEP]"},
        {"Reverse", " the", " following", " words", ":", " ."},
    };
    const struct reverse_opts *opt = o;
    pw_list_words(table[opt->common.text], v);
    if (opt->variant != MC)
        pw_vocab_add(v, form[opt->common.text].next);
    pw_styled_words(opt->common.text, opt->common.alphabet, v);
}

static void draw_item(const void *o, struct pw_rng *rng, int length, struct pw_item *item)
{
    const struct reverse_opts *opt = o;
    item->length = item->n = length;
    for (int i = 0; i < length; i++)
        item->v[i] = (int)pw_rng_below(rng, (uint32_t)opt->common.alphabet);
}

static void write_item(const void *o, const struct pw_item *item, struct pw_str *prompt,
                       struct pw_str *answer)
{
    const struct reverse_opts *opt = o;
    int style = opt->common.text, n = item->n, back[PW_MAX_ITEM];
    struct pw_str whole = {0};
    for (int i = 0; i < n; i++)
        back[i] = item->v[n - 1 - i];
    pw_str_add(prompt, "%s", form[style].first);
    pw_styled_write(style, item->v, n, prompt);
    pw_str_add(prompt, "%s", form[style].last);

    pw_styled_write(style, back, n, &whole);
    if (opt->variant != MC) {
        pw_str_add(&whole, "%s", form[style].next);
        pw_styled_write(style, opt->variant == MC2X ? back : item->v, n, &whole);
    }
    pw_str_add(&whole, "%s", form[style].full_stop);
    /* The prompt of a sentence ends with the blank that the answer's first token begins with. */
    pw_str_add(answer, "%s", whole.s + (style != PW_TEXT_SHORT));
    pw_str_fini(&whole);
}

static enum pw_code payload(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    const struct reverse_opts *opt = o;
    int n = pw_read_symbols(&text, "reverse", opt->common.alphabet, item->v, MAX_LENGTH, err);
    if (n < 0)
        return PW_EUSER;
    if (n == 0)
        return pw_fail(err, PW_EUSER, "reverse: no symbols to reverse; write: reverse " EXAMPLE);
    item->length = item->n = n;
    (void)(pw_read_accept(&text, "[SEP]") || pw_read_accept(&text, ".") || pw_read_accept(&text, ">"));
    return pw_read_end(&text, "reverse", "reverse " EXAMPLE, err);
}

static enum pw_code read_text(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    const struct reverse_opts *opt = o;
    const char *opening = form[opt->common.text].first;
    if (!pw_read_accept(&text, opening))
        return pw_fail(err, PW_EUSER, "reverse: a prompt must start with '%s'", opening);
    return payload(o, text, item, err);
}

static void list_input(const void *o, struct pw_pair at, uint64_t k, struct pw_item *item)
{
    const struct reverse_opts *opt = o;
    item->length = item->n = at.a;
    pw_list_nth(opt->common.alphabet, 0, k, item->v, item->n);
}

static double inputs(const void *o, struct pw_pair at)
{
    const struct reverse_opts *opt = o;
    return pw_list_count(opt->common.alphabet, at.a);
}

static int pointers(const void *o, const struct pw_item *item, const struct pw_spelling *text, int k, int *at)
{
    const struct reverse_opts *opt = o;
    int n = item->n;
    int source[PW_MAX_ITEM], i = pw_spelling_symbols(text, text->n_prompt, text->n_prompt + k, NULL);
    if (!pw_spelling_symbol(text, text->n_prompt + k))
        return 0;
    (void)pw_spelling_symbols(text, 0, text->n_prompt, source);
    at[0] = source[opt->variant == MCRV && i >= n ? i - n : n - 1 - i % n];
    return 1;
}

const struct pw_task pw_task_reverse = {
    .name = "reverse",
    .summary = "a list of symbols backwards",
    .source = "Kazemnejad et al. 2023, D.1: reverse, and the variants of the released code",
    .opts = opts,
    .opts_size = sizeof(struct reverse_opts),
    .length_limits = {1, MAX_LENGTH},
    .lengths = "2..10",
    .unit = "symbols",
    .inputs = inputs,
    .list = list_input,
    .words = words,
    .draw = draw_item,
    .write = write_item,
    .payload = payload,
    .read = read_text,
    .example = EXAMPLE,
    .pointers = pointers,
};
