/* polynomial.c - a polynomial's value modulo 10 (Nye et al. 2021; Kazemnejad et al. 2023, appendix D.1 and
 * the released code).
 *
 *   text=paper   Evaluate at x = - 2 in - 2 * x ** 2 + - 1 * x ** 0 + 3 * x ** 3 ? | The answer is 7.
 *   text=appendix    Evaluate x = 3 in (3 x ** 0 + 1 x ** 1 + 1 x ** 2) % 10 ? | The answer is 5.
 *   text=short   polynomial -2 : -2 x^2 -1 x^0 +3 x^3 > | 7
 *
 * x is uniform in -2..2, a coefficient in -3..3 (0 included), a degree in 0..3, with repeats and in any
 * order. 0^0 is 1, and the value modulo 10 is not negative. The appendix shows the modulus, which the
 * released data hide, and an x of 3, which is never drawn but can be typed. The length counts terms. Guessing
 * is right one time in ten.
 *
 * An item is x, then coefficient and degree of every term. */
#include "tasks/read.h"
#include "tasks/scratchpad.h"
#include <stdlib.h>
#include <string.h>

#define MAX_LENGTH 64
#define MOST       3 /* largest |x|, coefficient and degree with tokens */
#define EXAMPLE    "x=-2: -2x^2 - 1 + 3x^3"

static void words(const void *o, struct pw_vocab *v)
{
    static const char *const brief[] = {"polynomial", " :",  " >",   " -3",  " -2",  " -1",  " +0", " +1",
                                        " +2",        " +3", " x^0", " x^1", " x^2", " x^3", NULL};
    static const char *const sentence[] = {"Evaluate", " x",   " =",      " in", " **", " +", " -",
                                           " ?",       " The", " answer", " is", ".",   NULL};
    static const char *const paper[] = {" at", " *", NULL};
    static const char *const seed[] = {" (", "0", "1", "2", "3", "-", ")", " %", " 10", NULL};
    const struct pw_task_opts *opt = o;
    pw_list_words(opt->text == PW_TEXT_SHORT ? brief : sentence, v);
    if (opt->text != PW_TEXT_SHORT)
        pw_list_words(opt->text == PW_TEXT_PAPER ? paper : seed, v);
    pw_symbols_words(10, v);
}

static void draw_item(const void *o, struct pw_rng *rng, int length, struct pw_item *item)
{
    (void)o;
    item->length = length;
    item->n = 1 + 2 * length;
    item->v[0] = (int)pw_rng_below(rng, 5) - 2;
    for (int i = 0; i < length; i++) {
        item->v[1 + 2 * i] = (int)pw_rng_below(rng, 7) - 3;
        item->v[2 + 2 * i] = (int)pw_rng_below(rng, 4);
    }
}

/* The item with the most tokens. Every sign is a token, except the sign of a factor in short texts. At x =
 * -2, degree 3 makes the power negative; a negative factor then makes the product positive (24). Degree 2
 * makes the product negative (-12), and the product is in two parts of a step while the power is in one. */
static void longest(const void *o, int length, struct pw_item *item)
{
    const struct pw_task_opts *opt = o;
    bool brief = opt->text == PW_TEXT_SHORT;
    bool product = (opt->parts & (1 << PW_PART_OUT | 1 << PW_PART_VARS)) != 0;
    item->length = length;
    item->n = 1 + 2 * length;
    item->v[0] = -2;
    for (int i = 1; i < item->n; i += 2) {
        item->v[i] = brief ? MOST : -MOST;
        item->v[i + 1] = product && !brief ? 2 : 3;
    }
}

/* Returns x to the degree of term i. */
static int power(const struct pw_item *item, int i)
{
    int x = 1;
    for (int k = 0; k < item->v[2 + 2 * i]; k++)
        x *= item->v[0];
    return x;
}

static int modulo(int v)
{
    return (v % 10 + 10) % 10;
}

static int value(const struct pw_item *item)
{
    int sum = 0;
    for (int i = 0; i < item->length; i++)
        sum += item->v[1 + 2 * i] * power(item, i);
    return modulo(sum);
}

/* Writes the terms from..to-1. */
static void write_terms(const struct pw_task_opts *opt, const struct pw_item *item, int from, int to,
                        struct pw_str *out)
{
    for (int i = from; i < to; i++) {
        int factor = item->v[1 + 2 * i], degree = item->v[2 + 2 * i];
        if (opt->text == PW_TEXT_SHORT) {
            pw_str_add(out, " %+d x^%d", factor, degree);
            continue;
        }
        pw_str_add(out, i > from ? " +" : "");
        pw_number_write(factor, out);
        pw_str_add(out, opt->text == PW_TEXT_PAPER ? " * x ** %d" : " x ** %d", degree);
    }
}

static void write_item(const void *o, const struct pw_item *item, struct pw_str *prompt,
                       struct pw_str *answer)
{
    const struct pw_task_opts *opt = o;
    struct pw_str terms = {0};
    write_terms(opt, item, 0, item->length, &terms);
    if (opt->text == PW_TEXT_SHORT) {
        pw_str_add(prompt, "polynomial %+d :%s >", item->v[0], terms.s);
    } else {
        pw_str_add(prompt, opt->text == PW_TEXT_PAPER ? "Evaluate at x =" : "Evaluate x =");
        pw_number_write(item->v[0], prompt);
        if (opt->text == PW_TEXT_PAPER)
            pw_str_add(prompt, " in%s ? ", terms.s);
        else
            pw_str_add(prompt, " in (%s) %% 10 ? ", terms.s + 1);
    }
    pw_str_add(answer, opt->text == PW_TEXT_SHORT ? " %d" : "The answer is %d.", value(item));
    pw_str_fini(&terms);
}

/* ---- reading by characters, because marks like ^ and * are no pieces of read.h */

static void skip(const char **s)
{
    *s += strspn(*s, " \t\r\n");
}

static bool take(const char **s, const char *what)
{
    size_t n = strlen(what);
    skip(s);
    if (strncmp(*s, what, n) != 0)
        return false;
    *s += n;
    return true;
}

static enum pw_code out_of_place(const char *s, struct pw_err *err)
{
    struct pw_piece piece = pw_read_piece(&s);
    if (piece.n == 0)
        return pw_fail(err, PW_EUSER, "polynomial: the text is incomplete; write: polynomial " EXAMPLE);
    return pw_fail(err, PW_EUSER, "polynomial: unexpected '%s'; write: polynomial " EXAMPLE,
                   pw_piece_text(piece).s);
}

/* Reads a number 0..MOST; what names it in messages. */
static enum pw_code read_size(const char **s, const char *what, int *v, struct pw_err *err)
{
    int digits[2], n = 0;
    skip(s);
    if (**s < '0' || **s > '9')
        return out_of_place(*s, err);
    for (; **s >= '0' && **s <= '9'; ++*s)
        if (n < 2)
            digits[n++] = **s - '0';
    if (n > 1 || digits[0] > MOST)
        return pw_fail(err, PW_EUSER, "polynomial: %s may be at most %d", what, MOST);
    *v = digits[0];
    return PW_OK;
}

static int read_sign(const char **s)
{
    int sign = 1;
    for (;;) {
        if (take(s, "-"))
            sign = -sign;
        else if (!take(s, "+"))
            return sign;
    }
}

/* Reads "-2x^2", "- 2 * x ** 2", "+3" or "x". */
static enum pw_code read_term(const char **s, struct pw_item *item, struct pw_err *err)
{
    int sign = read_sign(s), factor = 1, degree = 0;
    bool has_x = take(s, "x");
    if (!has_x) {
        enum pw_code code = read_size(s, "a coefficient", &factor, err);
        if (code != PW_OK)
            return code;
        bool times = take(s, "*");
        has_x = take(s, "x");
        if (times && !has_x)
            return out_of_place(*s, err);
    }
    if (has_x) {
        degree = 1;
        if (take(s, "^") || take(s, "**")) {
            enum pw_code code = read_size(s, "a degree", &degree, err);
            if (code != PW_OK)
                return code;
        }
    }
    if (item->length == MAX_LENGTH)
        return pw_fail(err, PW_EUSER, "polynomial: at most %d terms are allowed", MAX_LENGTH);
    item->v[item->n++] = sign * factor;
    item->v[item->n++] = degree;
    item->length++;
    return PW_OK;
}

static enum pw_code payload(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    (void)o;
    if (take(&text, "x") && !take(&text, "="))
        return pw_fail(err, PW_EUSER, "polynomial: the value of x comes first; write: polynomial " EXAMPLE);
    int sign = read_sign(&text);
    enum pw_code code = read_size(&text, "the value of x", &item->v[0], err);
    if (code != PW_OK)
        return code;
    item->v[0] *= sign;
    if (!take(&text, ":") && !take(&text, "in"))
        return pw_fail(err, PW_EUSER,
                       "polynomial: ':' is missing after the value of x; write: polynomial " EXAMPLE);
    item->length = 0;
    item->n = 1;
    (void)take(&text, "(");
    do {
        code = read_term(&text, item, err);
        if (code != PW_OK)
            return code;
        skip(&text);
    } while (*text != '\0' && strchr(")?>%", *text) == NULL);
    (void)take(&text, ")");
    if (take(&text, "%") && !take(&text, "10"))
        return out_of_place(text, err);
    (void)(take(&text, "?") || take(&text, ">"));
    skip(&text);
    return *text == '\0' ? PW_OK : out_of_place(text, err);
}

static enum pw_code read_text(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    static const char *const openings[] = {"polynomial", "Evaluate at x =", "Evaluate x ="};
    const struct pw_task_opts *opt = o;
    if (!pw_read_accept(&text, openings[opt->text]))
        return pw_fail(err, PW_EUSER, "polynomial: a prompt must start with '%s'", openings[opt->text]);
    return payload(o, text, item, err);
}

static void list_input(const void *o, struct pw_pair at, uint64_t k, struct pw_item *item)
{
    (void)o;
    item->length = at.a;
    item->n = 1 + 2 * at.a;
    for (int i = at.a; i-- > 0;)
        k = pw_list_nth(7, -3, pw_list_nth(4, 0, k, &item->v[2 + 2 * i], 1), &item->v[1 + 2 * i], 1);
    pw_list_nth(5, -2, k, &item->v[0], 1);
}

static double inputs(const void *o, struct pw_pair at)
{
    (void)o;
    return 5 * pw_list_count(7 * 4, at.a);
}

static double chance(const void *o, int length)
{
    (void)o;
    (void)length;
    return 0.1;
}

static int pointers(const void *o, const struct pw_item *item, const struct pw_spelling *text, int k, int *at)
{
    int n = 0;
    (void)o;
    (void)item;
    if (!pw_spelling_symbol(text, text->n_prompt + k))
        return 0;
    for (int i = 0; i < text->n_prompt; i++) {
        const char *word = pw_spelling_word(text, i);
        if (strcmp(word, "%") == 0)
            break; /* the modulus has no gold pointer */
        if (strcmp(word, "-") == 0 || strpbrk(word, "0123456789") != NULL)
            at[n++] = i;
    }
    return n;
}

/* ---- scratchpad: a term per step; the sum so far is kept modulo 10 */

static void step_words(const void *o, struct pw_vocab *v)
{
    static const char *const sentence[] = {" sum", ":", " [", " ]", NULL};
    static const char *const brief[] = {" -", NULL};
    const struct pw_task_opts *opt = o;
    pw_list_words(opt->text == PW_TEXT_SHORT ? brief : sentence, v);
}

/* Writes factor, x and degree of a term, "- 2 * - 2 ** 2", then factor and power, "- 2 * 4". */
static void write_computation(const struct pw_task_opts *opt, const struct pw_item *item, int i,
                              struct pw_str *out)
{
    int factor = item->v[1 + 2 * i];
    if (opt->text == PW_TEXT_SHORT) {
        pw_str_add(out, " %+d", factor);
    } else {
        pw_number_write(factor, out);
        pw_str_add(out, " *");
        pw_number_write(item->v[0], out);
        pw_str_add(out, " ** %d =", item->v[2 + 2 * i]);
        pw_number_write(factor, out);
        pw_str_add(out, " *");
    }
    pw_number_write(power(item, i), out);
}

static void steps(const void *o, const struct pw_item *item, struct pw_scratch *s)
{
    const struct pw_task_opts *opt = o;
    int sum = 0;
    for (int i = 0; i < item->length; i++) {
        int term = item->v[1 + 2 * i] * power(item, i), before = sum;
        write_terms(opt, item, i, i + 1, &s->part[PW_PART_IN]);
        write_computation(opt, item, i, &s->part[PW_PART_COMP]);
        pw_number_write(term, &s->part[PW_PART_OUT]);
        sum = modulo(sum + term);
        if (opt->text == PW_TEXT_PAPER) {
            pw_str_add(&s->part[PW_PART_VARS], " sum: %d +", before);
            pw_number_write(term, &s->part[PW_PART_VARS]);
            pw_str_add(&s->part[PW_PART_VARS], " =");
        }
        pw_str_add(&s->part[PW_PART_VARS], " %d", sum);
        write_terms(opt, item, i + 1, item->length, &s->part[PW_PART_RE]);
        pw_scratch_step(s);
    }
}

static bool is_answer(const void *o, const struct pw_item *item, const char *answer)
{
    const struct pw_task_opts *opt = o;
    return pw_is_digit_answer(answer, opt->text == PW_TEXT_SHORT ? "" : "The answer is", value(item));
}

static const struct pw_scratch_task scratch = {
    .vars = true, .words = step_words, .steps = steps, .says = is_answer};

const struct pw_task pw_task_polynomial = {
    .name = "polynomial",
    .summary = "a polynomial's value modulo 10",
    .source = "Nye et al. 2021; text and sampling as in Kazemnejad et al. 2023, D.1",
    .opts_size = sizeof(struct pw_task_opts),
    .length_limits = {1, MAX_LENGTH},
    .lengths = "1..8",
    .unit = "terms",
    .inputs = inputs,
    .list = list_input,
    .words = words,
    .draw = draw_item,
    .longest = longest,
    .write = write_item,
    .payload = payload,
    .read = read_text,
    .example = EXAMPLE,
    .scratch = &scratch,
    .chance = chance,
    .pointers = pointers,
};
