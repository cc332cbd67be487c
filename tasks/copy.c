/* copy.c - copies a list of symbols, in the five variants of Kazemnejad et al. 2023 (appendix D.1 and the
 * released code).
 *
 *   variant  list                  text=paper                                text=short
 *   rsc      one symbol repeated   Copy: a a a [SEP] | a a a                 copy a a a > | a a a
 *   rsc2x    one symbol repeated   Copy: a a [SEP] | a a a a                 copy a a > | a a a a
 *   rdc      one symbol repeated   Replace 6 with x in 6 6 [SEP] | x x       replace 6 x : 6 6 > | x x
 *   cmc      independent symbols   Copy: a b c [SEP] | a b c                 copy a b c > | a b c
 *   cmc2x    independent symbols   Copy: a b [SEP] | a b [NEXT] a b          copy a b > | a b | a b
 *
 *   text=appendix, cmc: Copy the following words: <w1> <w2> <w3> . | <w1> <w2> <w3>
 *
 * (The bar before the answer is not part of the text; the bar between the two copies of cmc2x is.) The
 * appendix shows the sentence of text=appendix, the released data another one. The appendix does not show the
 * sentence for rdc's replacement or the separator of two copies, so these follow the data. rsc and rdc need
 * counting alone; rsc2x writes its two copies without a separator. An item is the list; for rdc the replaced
 * symbol and its replacement, which differ, come first. */
#include "tasks/read.h"
#include "tasks/task.h"
#include <string.h>

#define MAX_LENGTH 256 /* twice this is the longest context */

enum variant { RSC, RSC2X, RDC, CMC, CMC2X };

static const char *const variants[] = {"rsc", "rsc2x", "rdc", "cmc", "cmc2x", NULL};

struct copy_opts {
    struct pw_task_opts common;
    int variant;
};

static const struct pw_opt opts[] = {
    {"alphabet", PW_OPT_INT, offsetof(struct copy_opts, common.alphabet), "20", 1, PW_MAX_SYMBOLS, NULL, 0,
     "number of symbols, from 0-9 a-z A-Z"},
    {"variant", PW_OPT_CHOICE, offsetof(struct copy_opts, variant), "cmc", 0, 0, variants, 0,
     "rsc: one symbol repeated, rdc: repeated and replaced, cmc: any symbols, 2x: output twice"},
    {0},
};

static enum pw_code check(const void *o, struct pw_err *err)
{
    const struct copy_opts *opt = o;
    if (opt->variant == RDC && opt->common.alphabet < 2)
        return pw_fail(err, PW_EUSER,
                       "copy: variant=rdc replaces a symbol by another; use alphabet=2 or more");
    return PW_OK;
}

static void words(const void *o, struct pw_vocab *v)
{
    static const char *const table[3][2][9] = {
        /* [text][rdc] */
        {{"copy", " >"}, {"replace", " :", " >"}},
        {{"Copy", ":", " [SEP]"}, {"Replace", " with", " in", " [SEP]"}},
        {{"Copy", " the", " following", " words", ":", " ."},
         {"Replace", " with", " in", " the", " following", " words", ":", " ."}},
    };
    const struct copy_opts *opt = o;
    int style = opt->common.text;
    pw_list_words(table[style][opt->variant == RDC], v);
    if (opt->variant == CMC2X)
        pw_vocab_add(v, style == PW_TEXT_SHORT ? " |" : " [NEXT]");
    pw_styled_words(style, opt->common.alphabet, v);
}

/* Makes an item of one repeated symbol. For rdc, `other` is the index of the
 * replacement among the other symbols. */
static void repeat(const struct copy_opts *opt, int symbol, int other, int length, struct pw_item *item)
{
    int *list = item->v;
    item->length = item->n = length;
    if (opt->variant == RDC) {
        list[0] = symbol;
        list[1] = other + (other >= symbol);
        list += 2;
        item->n += 2;
    }
    for (int i = 0; i < length; i++)
        list[i] = symbol;
}

static void draw_item(const void *o, struct pw_rng *rng, int length, struct pw_item *item)
{
    const struct copy_opts *opt = o;
    uint32_t n = (uint32_t)opt->common.alphabet;
    item->length = item->n = length;
    if (opt->variant == CMC || opt->variant == CMC2X) {
        for (int i = 0; i < length; i++)
            item->v[i] = (int)pw_rng_below(rng, n);
        return;
    }
    int symbol = (int)pw_rng_below(rng, n), other = 0;
    if (opt->variant == RDC)
        other = (int)pw_rng_below(rng, n - 1); /* any but symbol: ordered pairs are equally likely */
    repeat(opt, symbol, other, length, item);
}

/* Writes the text before the list; for rdc with the pair at the beginning of the item. */
static void write_opening(const struct copy_opts *opt, const struct pw_item *item, struct pw_str *out)
{
    static const char *const plain[] = {"copy", "Copy:", "Copy the following words:"};
    static const char *const pair[][3] = {
        {"replace", "", " :"}, {"Replace", " with", " in"}, {"Replace", " with", " in the following words:"}};
    int style = opt->common.text;
    if (opt->variant != RDC) {
        pw_str_add(out, "%s", plain[style]);
        return;
    }
    for (int i = 0; i < 2; i++) {
        pw_str_add(out, "%s", pair[style][i]);
        pw_styled_write(style, &item->v[i], 1, out);
    }
    pw_str_add(out, "%s", pair[style][2]);
}

static void write_item(const void *o, const struct pw_item *item, struct pw_str *prompt,
                       struct pw_str *answer)
{
    static const char *const last[] = {" >", " [SEP] ", " . "};
    const struct copy_opts *opt = o;
    int style = opt->common.text, n = item->length;
    const int *list = opt->variant == RDC ? item->v + 2 : item->v;
    int out[PW_MAX_ITEM];
    struct pw_str copy = {0};
    const char *between = "";

    write_opening(opt, item, prompt);
    pw_styled_write(style, list, n, prompt);
    pw_str_add(prompt, "%s", last[style]);

    for (int i = 0; i < n; i++)
        out[i] = opt->variant == RDC && list[i] == item->v[0] ? item->v[1] : list[i];
    pw_styled_write(style, out, n, &copy);
    /* The prompt of a sentence ends with the blank that the answer's first token begins with. */
    pw_str_add(answer, "%s", copy.s + (style != PW_TEXT_SHORT));
    if (opt->variant == CMC2X)
        between = style == PW_TEXT_SHORT ? " |" : " [NEXT]";
    if (opt->variant == CMC2X || opt->variant == RSC2X)
        pw_str_add(answer, "%s%s", between, copy.s);
    pw_str_fini(&copy);
}

#define EXAMPLE "3 1 4"

static const char *example(const struct copy_opts *opt)
{
    return opt->variant == RDC ? "copy 6 6 6 -> 8" : "copy " EXAMPLE;
}

static enum pw_code read_list(const struct copy_opts *opt, const char **text, struct pw_item *item,
                              struct pw_err *err)
{
    int first = opt->variant == RDC ? 2 : 0;
    int n = pw_read_symbols(text, "copy", opt->common.alphabet, item->v + first, MAX_LENGTH, err);
    if (n < 0)
        return PW_EUSER;
    if (n == 0)
        return pw_fail(err, PW_EUSER, "copy: no symbols to copy; write: %s", example(opt));
    item->length = n;
    item->n = first + n;
    return PW_OK;
}

/* Reads "a b c", or for rdc "6 6 6 -> x". */
static enum pw_code payload(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    const struct copy_opts *opt = o;
    enum pw_code code = read_list(opt, &text, item, err);
    if (code != PW_OK)
        return code;
    if (opt->variant == RDC) {
        for (int i = 3; i < item->n; i++)
            if (item->v[i] != item->v[2])
                return pw_fail(err, PW_EUSER, "copy: variant=rdc expects one repeated symbol, not %s and %s",
                               pw_symbol(item->v[2]), pw_symbol(item->v[i]));
        if (!pw_read_accept(&text, "->"))
            return pw_fail(err, PW_EUSER, "copy: variant=rdc needs a replacement; write: %s", example(opt));
        item->v[0] = item->v[2];
        code = pw_read_symbol(&text, "copy", opt->common.alphabet, &item->v[1], err);
        if (code != PW_OK)
            return code;
    }
    return pw_read_end(&text, "copy", example(opt), err);
}

static enum pw_code read_text(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    static const char *const openings[][2] = {/* [text][rdc] */
                                              {"copy", "replace"},
                                              {"Copy:", "Replace"},
                                              {"Copy the following words:", "Replace"}};
    static const char *const after[][2] = {
        {"", ":"}, {"with", "in"}, {"with", "in the following words:"}}; /* after each symbol of rdc's pair */
    const struct copy_opts *opt = o;
    bool rdc = opt->variant == RDC;
    int style = opt->common.text;
    enum pw_code code = PW_OK;
    if (!pw_read_accept(&text, openings[style][rdc]))
        return pw_fail(err, PW_EUSER, "copy: a prompt must start with '%s'", openings[style][rdc]);
    for (int i = 0; rdc && i < 2 && code == PW_OK; i++) {
        const char *next = after[style][i];
        code = pw_read_symbol(&text, "copy", opt->common.alphabet, &item->v[i], err);
        if (code == PW_OK && !pw_read_accept(&text, next))
            code = pw_fail(err, PW_EUSER, "copy: '%s' is missing after '%s'", next, pw_symbol(item->v[i]));
    }
    if (code == PW_OK)
        code = read_list(opt, &text, item, err);
    if (code != PW_OK)
        return code;
    (void)(pw_read_accept(&text, "[SEP]") || pw_read_accept(&text, ".") || pw_read_accept(&text, ">"));
    return pw_read_end(&text, "copy", example(opt), err);
}

static void list_input(const void *o, struct pw_pair at, uint64_t k, struct pw_item *item)
{
    const struct copy_opts *opt = o;
    int n = opt->common.alphabet, length = at.a;
    if (opt->variant == CMC || opt->variant == CMC2X) {
        item->length = item->n = length;
        pw_list_nth(n, 0, k, item->v, length);
    } else if (opt->variant == RDC) {
        repeat(opt, (int)k / (n - 1), (int)k % (n - 1), length, item);
    } else {
        repeat(opt, (int)k, 0, length, item);
    }
}

static double inputs(const void *o, struct pw_pair at)
{
    const struct copy_opts *opt = o;
    int n = opt->common.alphabet;
    switch (opt->variant) {
    case RDC: return (double)n * (n - 1);
    case RSC:
    case RSC2X: return n;
    default: return pw_list_count(n, at.a);
    }
}

static int pointers(const void *o, const struct pw_item *item, const struct pw_spelling *text, int k, int *at)
{
    const struct copy_opts *opt = o;
    int source[PW_MAX_ITEM], i = pw_spelling_symbols(text, text->n_prompt, text->n_prompt + k, NULL);
    if (!pw_spelling_symbol(text, text->n_prompt + k))
        return 0;
    (void)pw_spelling_symbols(text, 0, text->n_prompt, source);
    if (opt->variant != RDC) {
        at[0] = source[i % item->length];
        return 1;
    }
    at[0] = source[1];
    at[1] = source[2 + i];
    return 2;
}

const struct pw_task pw_task_copy = {
    .name = "copy",
    .summary = "repeat a list of symbols",
    .source = "Kazemnejad et al. 2023, D.1: copy, and the variants of the released code",
    .opts = opts,
    .opts_size = sizeof(struct copy_opts),
    .length_limits = {1, MAX_LENGTH},
    .lengths = "2..10",
    .unit = "symbols",
    .check = check,
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
