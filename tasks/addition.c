/* addition.c - adds two numbers digit by digit (Nye et al. 2021; Kazemnejad et al. 2023, appendix D.1 and the
 * released code).
 *
 *   text=paper   Compute 7 2 6 + 5 9 ? | The answer is 7 8 5.
 *   text=appendix    the same (the appendix's example is not legible; its description fits)
 *   text=short   addition 7 2 6 + 5 9 > | 7 8 5
 *
 * The paper sorts samples by the pair of digit counts and plots by the larger count; so does this task. All
 * pairs whose larger count is the length are equally likely. A number of k digits is uniform in
 * 10^(k-1)..10^k-1 (0..9 for k = 1). Numbers are not padded, and the most significant digit comes first. With
 * order=reversed the answer begins with the least significant digit, so each carry is known before the digit
 * that needs it. With order=all both numbers begin so, too (McLeish et al. 2024), also in a typed prompt.
 *
 * An item is the two digit counts, then the digits of both numbers. */
#include "tasks/read.h"
#include "tasks/scratchpad.h"
#include <string.h>

#define MAX_LENGTH 128
#define EXAMPLE    "726 + 59"

enum order { NORMAL, REVERSED, ALL };

static const char *const orders[] = {"normal", "reversed", "all", NULL};

struct addition_opts {
    struct pw_task_opts common;
    int order;
};

static const struct pw_opt opts[] = {
    {"order", PW_OPT_CHOICE, offsetof(struct addition_opts, order), "normal", 0, 0, orders, 0,
     "order of digits: normal: most significant first; reversed: the answer least significant first; all: "
     "the "
     "two numbers, too"},
    {0},
};

static void words(const void *o, struct pw_vocab *v)
{
    static const char *const brief[] = {"addition", " +", " >", NULL};
    static const char *const sentence[] = {"Compute", " +", " ?", " The", " answer", " is", ".", NULL};
    const struct addition_opts *opt = o;
    pw_list_words(opt->common.text == PW_TEXT_SHORT ? brief : sentence, v);
    pw_symbols_words(10, v);
}

static void set_counts(struct pw_item *item, int n_a, int n_b)
{
    item->v[0] = n_a;
    item->v[1] = n_b;
    item->n = 2 + n_a + n_b;
    item->length = n_a > n_b ? n_a : n_b;
}

static void draw_number(struct pw_rng *rng, int *digits, int n)
{
    for (int i = 0; i < n; i++)
        digits[i] = i == 0 && n > 1 ? 1 + (int)pw_rng_below(rng, 9) : (int)pw_rng_below(rng, 10);
}

/* Returns pair k of a length: first (length, 1..length), then (1..length-1, length). */
static struct pw_pair pair_at(int length, int k)
{
    return k < length ? (struct pw_pair){length, k + 1} : (struct pw_pair){k - length + 1, length};
}

static int pairs_at(const void *o, int length, struct pw_pair *out)
{
    int n = 2 * length - 1;
    (void)o;
    for (int k = 0; k < n && out != NULL; k++)
        out[k] = pair_at(length, k);
    return n;
}

static void draw_pair(const void *o, struct pw_rng *rng, struct pw_pair pair, struct pw_item *item)
{
    (void)o;
    set_counts(item, pair.a, pair.b);
    draw_number(rng, item->v + 2, pair.a);
    draw_number(rng, item->v + 2 + pair.a, pair.b);
}

static void draw_item(const void *o, struct pw_rng *rng, int length, struct pw_item *item)
{
    draw_pair(o, rng, pair_at(length, (int)pw_rng_below(rng, (uint32_t)(2 * length - 1))), item);
}

static struct pw_pair pair_of(const struct pw_item *item)
{
    return (struct pw_pair){item->v[0], item->v[1]};
}

static const struct pw_task_pairs pairs = {
    .a = "digits of the first number",
    .b = "digits of the second number",
    .at = pairs_at,
    .draw = draw_pair,
    .of = pair_of,
};

/* Writes a number of n digits, 0..9 for n = 1, without a leading zero. Returns the quotient of k that is
 * left. */
static uint64_t list_number(uint64_t k, int *digits, int n)
{
    if (n == 1)
        return pw_list_nth(10, 0, k, digits, 1);
    return pw_list_nth(9, 1, pw_list_nth(10, 0, k, digits + 1, n - 1), digits, 1);
}

static void list_input(const void *o, struct pw_pair at, uint64_t k, struct pw_item *item)
{
    (void)o;
    set_counts(item, at.a, at.b);
    k = list_number(k, item->v + 2 + at.a, at.b);
    list_number(k, item->v + 2, at.a);
}

static double inputs(const void *o, struct pw_pair at)
{
    (void)o;
    return (at.a == 1 ? 10 : 9 * pw_list_count(10, at.a - 1)) *
           (at.b == 1 ? 10 : 9 * pw_list_count(10, at.b - 1));
}

static void longest(const void *o, int length, struct pw_item *item)
{
    (void)o;
    set_counts(item, length, length);
    for (int i = 2; i < item->n; i++)
        item->v[i] = 9;
}

/* Returns the digit of 10^column. */
static int digit(const struct pw_item *item, int which, int column)
{
    int n = item->v[which];
    return column < n ? item->v[2 + (which == 1 ? item->v[0] : 0) + n - 1 - column] : 0;
}

/* Writes the digits of the sum in the order of the answer; returns how many. */
static int solve(const struct addition_opts *opt, const struct pw_item *item, int written[MAX_LENGTH + 1])
{
    int sum[MAX_LENGTH + 1], n, carry = 0; /* sum: least significant first */
    for (n = 0; n < item->length; n++) {
        int column = digit(item, 0, n) + digit(item, 1, n) + carry;
        sum[n] = column % 10;
        carry = column / 10;
    }
    if (carry > 0)
        sum[n++] = carry;
    for (int i = 0; i < n; i++)
        written[i] = opt->order != NORMAL ? sum[i] : sum[n - 1 - i];
    return n;
}

static void write_number(const struct addition_opts *opt, const struct pw_item *item, int which,
                         struct pw_str *out)
{
    int written[MAX_LENGTH], n = item->v[which];
    for (int i = 0; i < n; i++)
        written[i] = digit(item, which, opt->order == ALL ? i : n - 1 - i);
    pw_symbols_write(written, n, "", out);
}

static void write_item(const void *o, const struct pw_item *item, struct pw_str *prompt,
                       struct pw_str *answer)
{
    const struct addition_opts *opt = o;
    bool brief = opt->common.text == PW_TEXT_SHORT;
    int written[MAX_LENGTH + 1], n = solve(opt, item, written);

    pw_str_add(prompt, brief ? "addition" : "Compute");
    write_number(opt, item, 0, prompt);
    pw_str_add(prompt, " +");
    write_number(opt, item, 1, prompt);
    pw_str_add(prompt, brief ? " >" : " ? ");
    pw_str_add(answer, brief ? "" : "The answer is");
    pw_symbols_write(written, n, "", answer);
    pw_str_add(answer, brief ? "" : ".");
}

/* Reads a number that begins with its least significant digit, as pw_read_digits does one that ends with it.
 */
static int read_backwards(const char **text, int *digits, int max)
{
    static const char blanks[] = " \t\r\n";
    int found[MAX_LENGTH], n = 0;
    const char *s = *text + strspn(*text, blanks);
    for (; *s >= '0' && *s <= '9'; s += strspn(s, blanks)) {
        if (n < MAX_LENGTH)
            found[n] = *s - '0';
        n++;
        s++;
    }
    if (n == 0 || n > max)
        return n;
    *text = s;
    while (n > 1 && found[n - 1] == 0)
        n--;
    for (int i = 0; i < n; i++)
        digits[i] = found[n - 1 - i];
    return n;
}

static enum pw_code read_number(const struct addition_opts *opt, const char **text, int *digits, int *n,
                                struct pw_err *err)
{
    *n = opt->order == ALL ? read_backwards(text, digits, MAX_LENGTH)
                           : pw_read_digits(text, digits, MAX_LENGTH);
    if (*n > MAX_LENGTH)
        return pw_fail(err, PW_EUSER, "addition: the number has %d digits; at most %d are allowed", *n,
                       MAX_LENGTH);
    if (*n > 0)
        return PW_OK;
    struct pw_piece piece = pw_read_piece(text);
    if (piece.n == 0)
        return pw_fail(err, PW_EUSER, "addition: a number is missing; write: addition " EXAMPLE);
    return pw_fail(err, PW_EUSER, "addition: '%s' is not a number; write: addition " EXAMPLE,
                   pw_piece_text(piece).s);
}

/* Reads "726 + 59" or "7 2 6 + 5 9 ?". */
static enum pw_code payload(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    int n_a, n_b;
    enum pw_code code = read_number(o, &text, item->v + 2, &n_a, err);
    if (code != PW_OK)
        return code;
    if (!pw_read_accept(&text, "+"))
        return pw_fail(err, PW_EUSER,
                       "addition: '+' is missing after the first number; write: addition " EXAMPLE);
    code = read_number(o, &text, item->v + 2 + n_a, &n_b, err);
    if (code != PW_OK)
        return code;
    set_counts(item, n_a, n_b);
    (void)(pw_read_accept(&text, "?") || pw_read_accept(&text, ">"));
    return pw_read_end(&text, "addition", "addition " EXAMPLE, err);
}

static enum pw_code read_text(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    const struct addition_opts *opt = o;
    const char *opening = opt->common.text == PW_TEXT_SHORT ? "addition" : "Compute";
    if (!pw_read_accept(&text, opening))
        return pw_fail(err, PW_EUSER, "addition: a prompt must start with '%s'", opening);
    return payload(o, text, item, err);
}

static int pointers(const void *o, const struct pw_item *item, const struct pw_spelling *text, int k, int *at)
{
    const struct addition_opts *opt = o;
    int source[PW_MAX_ITEM], i = pw_spelling_symbols(text, text->n_prompt, text->n_prompt + k, NULL);
    if (!pw_spelling_symbol(text, text->n_prompt + k))
        return 0;
    int n_a = item->v[0], n_b = item->v[1], n = 0;
    int column =
        opt->order != NORMAL ? i : pw_spelling_symbols(text, text->n_prompt, text->n - 1, NULL) - 1 - i;
    if (column == item->length) /* the carry */
        column--;
    (void)pw_spelling_symbols(text, 0, text->n_prompt, source);
    if (column < n_a)
        at[n++] = source[opt->order == ALL ? column : n_a - 1 - column];
    if (column < n_b)
        at[n++] = source[n_a + (opt->order == ALL ? column : n_b - 1 - column)];
    return n;
}

/* ---- scratchpad: a column per step, least significant first, and one more for a final carry */

static void step_words(const void *o, struct pw_vocab *v)
{
    static const char *const brief[] = {" =", NULL};
    static const char *const sentence[] = {",",   " carry", " =",  ":",   " [",  " ]",  " 10", " 11", " 12",
                                           " 13", " 14",    " 15", " 16", " 17", " 18", " 19", NULL};
    const struct pw_task_opts *opt = o;
    pw_list_words(opt->text == PW_TEXT_SHORT ? brief : sentence, v);
}

/* Writes the columns of a number that are left, padded to the longer number's
 * length, without leading zeros. */
static void write_rest(const struct addition_opts *opt, const struct pw_item *item, int which, int from,
                       struct pw_str *out)
{
    int top = item->length - 1;
    while (top > from && digit(item, which, top) == 0)
        top--;
    if (from >= item->length)
        pw_str_add(out, "%s", pw_scratch_nothing(&opt->common));
    for (int k = from; k <= top; k++)
        pw_str_add(out, " %d", digit(item, which, opt->order == ALL ? k : top + from - k));
}

static void steps(const void *o, const struct pw_item *item, struct pw_scratch *s)
{
    const struct addition_opts *opt = o;
    bool brief = opt->common.text == PW_TEXT_SHORT;
    int carry = 0;
    for (int column = 0; column < item->length || carry > 0; column++) {
        int a = digit(item, 0, column), b = digit(item, 1, column), sum = a + b + carry;
        pw_str_add(&s->part[PW_PART_IN], brief ? " %d %d" : " %d, %d", a, b);
        if (brief) {
            pw_str_add(&s->part[PW_PART_COMP], " %d %d %d =", a, b, carry);
            pw_number_write(sum, &s->part[PW_PART_COMP]);
        } else { /* here a sum is one token */
            pw_str_add(&s->part[PW_PART_COMP], " %d + %d + carry = %d + %d = %d", a, b, a + b, carry, sum);
        }
        pw_str_add(&s->part[PW_PART_OUT], " %d", sum % 10);
        carry = sum / 10;
        pw_str_add(&s->part[PW_PART_VARS], brief ? " %d" : " carry: %d", carry);
        write_rest(opt, item, 0, column + 1, &s->part[PW_PART_RE]);
        pw_str_add(&s->part[PW_PART_RE], " +");
        write_rest(opt, item, 1, column + 1, &s->part[PW_PART_RE]);
        pw_scratch_step(s);
    }
}

/* Accepts leading zeros, which do not change a number. */
static bool is_answer(const void *o, const struct pw_item *item, const char *answer)
{
    const struct addition_opts *opt = o;
    int right[MAX_LENGTH + 1], said[PW_MAX_ITEM], n_right = solve(opt, item, right);
    if (opt->common.text != PW_TEXT_SHORT && !pw_read_accept(&answer, "The answer is"))
        return false;
    int n = pw_read_symbols(&answer, "", 10, said, PW_MAX_ITEM, NULL), first = 0;
    while (opt->order == NORMAL && first < n - 1 && said[first] == 0)
        first++;
    while (opt->order != NORMAL && n > 1 && said[n - 1] == 0)
        n--;
    (void)pw_read_accept(&answer, ".");
    return n - first == n_right && memcmp(said + first, right, (size_t)n_right * sizeof *said) == 0 &&
           pw_read_piece(&answer).n == 0;
}

static const struct pw_scratch_task scratch = {
    .vars = true, .words = step_words, .steps = steps, .says = is_answer};

const struct pw_task pw_task_addition = {
    .name = "addition",
    .summary = "add two numbers, digit by digit",
    .source = "Nye et al. 2021; text and sampling as in Kazemnejad et al. 2023, D.1",
    .opts = opts,
    .opts_size = sizeof(struct addition_opts),
    .length_limits = {1, MAX_LENGTH},
    .lengths = "1..8",
    .unit = "digits of the longer number",
    .pairs = &pairs,
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
    .pointers = pointers,
};
