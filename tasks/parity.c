/* parity.c - is the number of ones even? (Anil et al. 2022; Kazemnejad et al. 2023, appendix D.1 and the
 * released code)
 *
 *   text=paper   Is the number of 1's even in the sequence [ 1, 0, 1, 1 ] ? | The answer is No.
 *   text=appendix    Is the number of 1's even in [1 0 0 1 1] ? | The answer is No.
 *   text=short   parity 1 0 1 1 > | odd
 *
 * Bits are fair coins. Every bit matters equally, and one token is the answer: the hardest of the tasks at
 * other lengths. Guessing is right half of the time. An item is the list of bits. The first bit of
 * text=appendix follows its bracket without a blank, so it is a token of its own kind. */
#include "tasks/read.h"
#include "tasks/scratchpad.h"
#include <string.h>

#define MAX_LENGTH 256
#define EXAMPLE    "1 0 1 1"

static void words(const void *o, struct pw_vocab *v)
{
    static const char *const brief[] = {"parity", " 0", " 1", " >", " even", " odd", NULL};
    static const char *const sentence[] = {"Is",      " the", " number", " of", " 1's", " even",
                                           " in",     " [",   " 0",      " 1",  " ?",   " The",
                                           " answer", " is",  " Yes",    " No", ".",    NULL};
    static const char *const paper[] = {" sequence", ",", " ]", NULL};
    static const char *const seed[] = {"0", "1", "]", NULL};
    const struct pw_task_opts *opt = o;
    pw_list_words(opt->text == PW_TEXT_SHORT ? brief : sentence, v);
    if (opt->text != PW_TEXT_SHORT)
        pw_list_words(opt->text == PW_TEXT_PAPER ? paper : seed, v);
}

static void draw_item(const void *o, struct pw_rng *rng, int length, struct pw_item *item)
{
    (void)o;
    item->length = item->n = length;
    for (int i = 0; i < length; i++)
        item->v[i] = (int)pw_rng_below(rng, 2);
}

static void write_item(const void *o, const struct pw_item *item, struct pw_str *prompt,
                       struct pw_str *answer)
{
    static const struct {
        const char *first, *separator, *last, *even, *odd;
    } form[] = {
        {"parity", "", " >", " even", " odd"},
        {"Is the number of 1's even in the sequence [", ",", " ] ? ", "The answer is Yes.",
         "The answer is No."},
        {"Is the number of 1's even in [", "", "] ? ", "The answer is Yes.", "The answer is No."},
    };
    const struct pw_task_opts *opt = o;
    int style = opt->text, ones = 0;
    struct pw_str list = {0};
    for (int i = 0; i < item->n; i++)
        ones += item->v[i];
    pw_symbols_write(item->v, item->n, form[style].separator, &list);
    pw_str_add(prompt, "%s%s%s", form[style].first, list.s + (style == PW_TEXT_APPENDIX), form[style].last);
    pw_str_add(answer, "%s", ones % 2 == 0 ? form[style].even : form[style].odd);
    pw_str_fini(&list);
}

/* Reads bits, with or without blanks and commas between them. */
static enum pw_code payload(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    (void)o;
    item->n = 0;
    for (;;) {
        const char *at = text;
        struct pw_piece piece = pw_read_piece(&at);
        if (piece.n == 0 || (*piece.s != '0' && *piece.s != '1'))
            break;
        for (size_t i = 0; i < piece.n; i++) {
            if (piece.s[i] != '0' && piece.s[i] != '1')
                return pw_fail(err, PW_EUSER, "parity: '%s': allowed are the bits 0 and 1",
                               pw_piece_text(piece).s);
            if (item->n == MAX_LENGTH)
                return pw_fail(err, PW_EUSER, "parity: at most %d bits are allowed", MAX_LENGTH);
            item->v[item->n++] = piece.s[i] - '0';
        }
        text = at;
    }
    item->length = item->n;
    if (item->n == 0) {
        struct pw_piece piece = pw_read_piece(&text);
        if (piece.n == 0)
            return pw_fail(err, PW_EUSER, "parity: no bits; write: parity " EXAMPLE);
        return pw_fail(err, PW_EUSER, "parity: '%s' is not one of the bits 0 and 1; write: parity " EXAMPLE,
                       pw_piece_text(piece).s);
    }
    (void)pw_read_accept(&text, "]");
    (void)(pw_read_accept(&text, "?") || pw_read_accept(&text, ">"));
    return pw_read_end(&text, "parity", "parity " EXAMPLE, err);
}

static enum pw_code read_text(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    static const char *const openings[] = {"parity", "Is the number of 1's even in the sequence [",
                                           "Is the number of 1's even in ["};
    const struct pw_task_opts *opt = o;
    if (!pw_read_accept(&text, openings[opt->text]))
        return pw_fail(err, PW_EUSER, "parity: a prompt must start with '%s'", openings[opt->text]);
    return payload(o, text, item, err);
}

static void list_input(const void *o, struct pw_pair at, uint64_t k, struct pw_item *item)
{
    (void)o;
    item->length = item->n = at.a;
    pw_list_nth(2, 0, k, item->v, item->n);
}

static double inputs(const void *o, struct pw_pair at)
{
    (void)o;
    return pw_list_count(2, at.a);
}

static double chance(const void *o, int length)
{
    (void)o;
    (void)length;
    return 0.5;
}

static int pointers(const void *o, const struct pw_item *item, const struct pw_spelling *text, int k, int *at)
{
    static const char *const results[] = {"even", "odd", "Yes", "No"};
    const char *word = pw_spelling_word(text, text->n_prompt + k);
    (void)o;
    (void)item;
    for (int i = 0; i < 4; i++)
        if (strcmp(word, results[i]) == 0)
            return pw_spelling_symbols(text, 0, text->n_prompt, at);
    return 0;
}

/* ---- scratchpad: a bit per step; in the paper's texts ** is the exclusive or */

static void step_words(const void *o, struct pw_vocab *v)
{
    static const char *const sentence[] = {" par", " **", " =", ":", NULL};
    const struct pw_task_opts *opt = o;
    if (opt->text == PW_TEXT_PAPER)
        pw_list_words(sentence, v);
}

static void steps(const void *o, const struct pw_item *item, struct pw_scratch *s)
{
    const struct pw_task_opts *opt = o;
    bool brief = opt->text == PW_TEXT_SHORT;
    int parity = 0;
    for (int i = 0; i < item->n; i++) {
        int bit = item->v[i], rest = item->n - i - 1;
        pw_str_add(&s->part[PW_PART_IN], " %d", bit);
        if (brief)
            pw_str_add(&s->part[PW_PART_COMP], " %d %d", bit, parity);
        else
            pw_str_add(&s->part[PW_PART_COMP], " %d ** par = %d ** %d", bit, bit, parity);
        parity ^= bit;
        pw_str_add(&s->part[PW_PART_OUT], " %d", parity);
        pw_str_add(&s->part[PW_PART_VARS], brief ? " %d" : " par: %d", parity);
        pw_str_add(&s->part[PW_PART_RE], "%s%s", brief ? "" : " [", rest == 0 ? pw_scratch_nothing(opt) : "");
        pw_symbols_write(item->v + i + 1, rest, brief ? "" : ",", &s->part[PW_PART_RE]);
        pw_str_add(&s->part[PW_PART_RE], brief ? "" : " ]");
        pw_scratch_step(s);
    }
}

static bool is_answer(const void *o, const struct pw_item *item, const char *answer)
{
    static const char *const right[][2] = {{"even", "odd"}, {"The answer is Yes", "The answer is No"}};
    const struct pw_task_opts *opt = o;
    int ones = 0;
    for (int i = 0; i < item->n; i++)
        ones += item->v[i];
    bool yes = pw_read_accept(&answer, right[opt->text][ones % 2]);
    (void)pw_read_accept(&answer, ".");
    return yes && pw_read_piece(&answer).n == 0;
}

static const struct pw_scratch_task scratch = {
    .vars = true, .words = step_words, .steps = steps, .says = is_answer};

const struct pw_task pw_task_parity = {
    .name = "parity",
    .summary = "is the number of ones even?",
    .source = "Anil et al. 2022; text and sampling as in Kazemnejad et al. 2023, D.1",
    .opts_size = sizeof(struct pw_task_opts),
    .length_limits = {1, MAX_LENGTH},
    .lengths = "3..8",
    .unit = "bits",
    .inputs = inputs,
    .list = list_input,
    .words = words,
    .draw = draw_item,
    .write = write_item,
    .payload = payload,
    .read = read_text,
    .example = EXAMPLE,
    .scratch = &scratch,
    .chance = chance,
    .pointers = pointers,
};
