/* summation.c - the sum of digits modulo 10 (Kazemnejad et al. 2023, appendix D.1 and the released code).
 *
 *   text=paper   Compute: 3 + 9 + 1 + 8 .[SEP] | The answer is 1 .
 *   text=appendix    Compute: (1+2+3+4+7)%10? | The answer is 7.
 *   text=short   summation 3 9 1 8 > | 1
 *
 * The appendix shows the modulus; the released data do not, so a model has to infer it. Both draw digits
 * uniformly from 1..9. Modulo 10 the answer is one digit, so only the list grows; guessing is right one time
 * in ten. An item is the list. */
#include "tasks/read.h"
#include "tasks/scratchpad.h"
#include <string.h>

#define MAX_LENGTH 200
#define EXAMPLE    "3 9 1 8"

static void words(const void *o, struct pw_vocab *v)
{
    static const char *const table[3][20] = {
        {"summation", " >"},
        {"Compute", ":", " +", " .", "[SEP]", " The", " answer", " is"},
        {"Compute", ":", " (", "1", "2",   "3", "4",    "5",       "6",   "7",
         "8",       "9", "+",  ")", "%10", "?", " The", " answer", " is", "."},
    };
    static const char *const answers[] = {" 0", " 1", " 2", " 3", " 4", " 5", " 6", " 7", " 8", " 9", NULL};
    const struct pw_task_opts *opt = o;
    for (int i = 0; i < 20 && table[opt->text][i] != NULL; i++)
        pw_vocab_add(v, table[opt->text][i]);
    pw_list_words(answers, v);
}

static void draw_item(const void *o, struct pw_rng *rng, int length, struct pw_item *item)
{
    (void)o;
    item->length = item->n = length;
    for (int i = 0; i < length; i++)
        item->v[i] = 1 + (int)pw_rng_below(rng, 9);
}

/* The longest text with a scratchpad: nines, because most sums then have two digits. */
static void longest(const void *o, int length, struct pw_item *item)
{
    (void)o;
    item->length = item->n = length;
    for (int i = 0; i < length; i++)
        item->v[i] = 9;
}

static void write_item(const void *o, const struct pw_item *item, struct pw_str *prompt,
                       struct pw_str *answer)
{
    static const struct {
        const char *first, *before, *between, *last, *lead, *full_stop;
    } form[] = {
        {"summation", " ", "", " >", "", ""},
        {"Compute:", " ", " +", " .[SEP] ", "The answer is", " ."},
        {"Compute: (", "", "+", ")%10? ", "The answer is", "."},
    };
    const struct pw_task_opts *opt = o;
    int style = opt->text, sum = 0;
    pw_str_add(prompt, "%s", form[style].first);
    for (int i = 0; i < item->n; i++) {
        pw_str_add(prompt, "%s%s%d", i > 0 ? form[style].between : "", form[style].before, item->v[i]);
        sum += item->v[i];
    }
    pw_str_add(prompt, "%s", form[style].last);
    pw_str_add(answer, "%s %d%s", form[style].lead, sum % 10, form[style].full_stop);
}

/* Reads "3 9 1 8", "3 + 9 + 1 + 8" or "(3+9+1+8)%10?". */
static enum pw_code payload(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    (void)o;
    item->n = 0;
    (void)pw_read_accept(&text, "(");
    for (;;) {
        const char *at = text;
        struct pw_piece piece = pw_read_piece(&at);
        if (piece.n == 0 || strchr(".?>)[", *piece.s) != NULL)
            break;
        if (piece.n != 1 || *piece.s < '1' || *piece.s > '9')
            return pw_fail(err, PW_EUSER,
                           "summation: '%s' is not one of the digits 1..9; write: summation %s",
                           pw_piece_text(piece).s, EXAMPLE);
        if (item->n == MAX_LENGTH)
            return pw_fail(err, PW_EUSER, "summation: at most %d digits are allowed", MAX_LENGTH);
        item->v[item->n++] = *piece.s - '0';
        text = at;
        (void)pw_read_accept(&text, "+");
    }
    if (item->n == 0)
        return pw_fail(err, PW_EUSER, "summation: no digits to add; write: summation " EXAMPLE);
    item->length = item->n;
    (void)pw_read_accept(&text, ")");
    (void)pw_read_accept(&text, "%10");
    (void)(pw_read_accept(&text, ".") || pw_read_accept(&text, "?") || pw_read_accept(&text, ">"));
    (void)pw_read_accept(&text, "[SEP]");
    return pw_read_end(&text, "summation", "summation " EXAMPLE, err);
}

static enum pw_code read_text(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    const struct pw_task_opts *opt = o;
    const char *opening = opt->text == PW_TEXT_SHORT ? "summation" : "Compute:";
    if (!pw_read_accept(&text, opening))
        return pw_fail(err, PW_EUSER, "summation: a prompt must start with '%s'", opening);
    return payload(o, text, item, err);
}

static void list_input(const void *o, struct pw_pair at, uint64_t k, struct pw_item *item)
{
    (void)o;
    item->length = item->n = at.a;
    pw_list_nth(9, 1, k, item->v, item->n);
}

static double inputs(const void *o, struct pw_pair at)
{
    (void)o;
    return pw_list_count(9, at.a);
}

static double chance(const void *o, int length)
{
    (void)o;
    (void)length;
    return 0.1;
}

static int pointers(const void *o, const struct pw_item *item, const struct pw_spelling *text, int k, int *at)
{
    (void)o;
    (void)item;
    return pw_spelling_symbol(text, text->n_prompt + k) ? pw_spelling_symbols(text, 0, text->n_prompt, at)
                                                        : 0;
}

/* ---- scratchpad: a digit per step; the sum so far is kept modulo 10 */

static void step_words(const void *o, struct pw_vocab *v)
{
    static const char *const sentence[] = {" sum", " =", " [", " ]", NULL};
    const struct pw_task_opts *opt = o;
    if (opt->text == PW_TEXT_PAPER)
        pw_list_words(sentence, v);
}

static void steps(const void *o, const struct pw_item *item, struct pw_scratch *s)
{
    const struct pw_task_opts *opt = o;
    bool brief = opt->text == PW_TEXT_SHORT;
    int sum = 0;
    for (int i = 0; i < item->n; i++) {
        int digit = item->v[i], next = sum + digit;
        pw_str_add(&s->part[PW_PART_IN], " %d", digit);
        if (brief)
            pw_str_add(&s->part[PW_PART_COMP], " %d %d", digit, sum);
        else
            pw_str_add(&s->part[PW_PART_COMP], " %d + sum = %d + %d =", digit, digit, sum);
        pw_number_write(next, &s->part[PW_PART_OUT]);
        if (!brief) {
            pw_str_add(&s->part[PW_PART_VARS], " sum:");
            pw_number_write(next, &s->part[PW_PART_VARS]);
            pw_str_add(&s->part[PW_PART_VARS], " =");
        }
        sum = next % 10;
        pw_str_add(&s->part[PW_PART_VARS], " %d", sum);
        pw_symbols_write(item->v + i + 1, item->n - i - 1, brief ? "" : " +", &s->part[PW_PART_RE]);
        pw_scratch_step(s);
    }
}

static bool is_answer(const void *o, const struct pw_item *item, const char *answer)
{
    const struct pw_task_opts *opt = o;
    int sum = 0;
    for (int i = 0; i < item->n; i++)
        sum += item->v[i];
    return pw_is_digit_answer(answer, opt->text == PW_TEXT_SHORT ? "" : "The answer is", sum % 10);
}

static const struct pw_scratch_task scratch = {
    .vars = true, .words = step_words, .steps = steps, .says = is_answer};

const struct pw_task pw_task_summation = {
    .name = "summation",
    .summary = "add digits modulo 10",
    .source = "Saxton et al. 2019; text and sampling as in Kazemnejad et al. 2023, D.1",
    .opts_size = sizeof(struct pw_task_opts),
    .length_limits = {1, MAX_LENGTH},
    .lengths = "2..8",
    .unit = "digits",
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
