/* sort.c - sorts symbols, or numbers of several digits, repeats included (Saxton et al. 2019; Kazemnejad et
 * al. 2023, appendix D.1 and the released code).
 *
 *   variant=single  symbols, independent and uniform, sorted by their position in the alphabet
 *     text=paper    Sort the following list [ l, d, e, d ]. | The sorted list is [ d, d, e, l ].
 *     text=appendix     Sort the following numbers: 3 1 4 1 5 ? | The answer is 1 1 3 4 5.
 *     text=short    sort l d e d > | d d e l
 *   variant=multi   uniform numbers, one token per digit
 *     text=paper    Sort the following list [ 6 8, 8 8 1 ]. | The sorted list is [ 6 8, 8 8 1 ].
 *     text=appendix     Sort the following numbers: 3 1, 4 1, 5 9 ? | The answer is 3 1, 4 1, 5 9.
 *     text=short    sort 6 8, 8 8 1 > | 6 8, 8 8 1
 *
 * Numbers are drawn from 10..9999 as in the released code; with sampling=appendix from 0..10000 as in the
 * appendix. Any number of 0..9999 can be typed, with sampling=appendix also 10000. The default alphabet of 10
 * makes repeats common. With the paper's 50 a small model sorts different symbols and needs long to learn to
 * count equal ones. An item is the unsorted list. */
#include "tasks/read.h"
#include "tasks/scratchpad.h"
#include <stdlib.h>
#include <string.h>

#define MAX_LENGTH 256
#define MAX_DIGITS 5

enum variant { SINGLE, MULTI };

static const char *const variants[] = {"single", "multi", NULL};

struct sort_opts {
    struct pw_task_opts common;
    int variant;
    int sampling; /* enum pw_sampling */
};

static const struct pw_opt opts[] = {
    {"alphabet", PW_OPT_INT, offsetof(struct sort_opts, common.alphabet), "10", 1, PW_MAX_SYMBOLS, NULL, 0,
     "symbols in use, of 0-9 a-z A-Z"},
    {"variant", PW_OPT_CHOICE, offsetof(struct sort_opts, variant), "single", 0, 0, variants, 0,
     "single: symbols; multi: numbers of several digits"},
    {"sampling", PW_OPT_CHOICE, offsetof(struct sort_opts, sampling), "code", 0, 0, pw_samplings, 0,
     "variant=multi draws from 10..9999 (as the released code) or 0..10000 (as the appendix)"},
    {0},
};

static const struct {
    const char *first, *last, *lead, *full_stop;
} form[] = {
    {"sort", " >", "", ""},
    {"Sort the following list [", " ]. ", "The sorted list is [", " ]."},
    {"Sort the following numbers:", " ? ", "The answer is", "."},
};

static void words(const void *o, struct pw_vocab *v)
{
    static const char *const table[][12] = {
        {"sort", " >"},
        {"Sort", " the", " following", " list", " [", ",", " ]", ".", " The", " sorted", " is"},
        {"Sort", " the", " following", " numbers", ":", " ?", " The", " answer", " is", "."},
    };
    const struct sort_opts *opt = o;
    pw_list_words(table[opt->common.text], v);
    if (opt->variant == MULTI)
        pw_vocab_add(v, ",");
    pw_symbols_words(opt->variant == MULTI ? 10 : opt->common.alphabet, v);
}

/* The range of drawn numbers. */
static struct pw_range numbers_of(const struct sort_opts *opt)
{
    return opt->sampling == PW_SAMPLING_APPENDIX ? (struct pw_range){0, 10000} : (struct pw_range){10, 9999};
}

static void draw_item(const void *o, struct pw_rng *rng, int length, struct pw_item *item)
{
    const struct sort_opts *opt = o;
    struct pw_range r = numbers_of(opt);
    item->length = item->n = length;
    for (int i = 0; i < length; i++)
        item->v[i] = opt->variant == MULTI ? r.lo + (int)pw_rng_below(rng, (uint32_t)(r.hi - r.lo + 1))
                                           : (int)pw_rng_below(rng, (uint32_t)opt->common.alphabet);
}

static void longest(const void *o, int length, struct pw_item *item)
{
    const struct sort_opts *opt = o;
    item->length = item->n = length;
    for (int i = 0; i < length; i++)
        item->v[i] = opt->variant == MULTI ? numbers_of(opt).hi : 0;
}

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Writes the decimal digits of a number, most significant first; returns how many. */
static int split(int number, int digits[MAX_DIGITS])
{
    int n = 1;
    for (int rest = number; rest > 9; rest /= 10)
        n++;
    for (int i = n; i-- > 0; number /= 10)
        digits[i] = number % 10;
    return n;
}

static void write_list(const struct sort_opts *opt, const int *v, int n, struct pw_str *out)
{
    if (opt->variant == SINGLE) {
        pw_symbols_write(v, n, opt->common.text == PW_TEXT_PAPER ? "," : "", out);
        return;
    }
    for (int i = 0; i < n; i++) {
        pw_str_add(out, i > 0 ? "," : "");
        pw_number_write(v[i], out);
    }
}

static void sorted_of(const struct pw_item *item, int sorted[PW_MAX_ITEM])
{
    memcpy(sorted, item->v, (size_t)item->n * sizeof *sorted);
    qsort(sorted, (size_t)item->n, sizeof *sorted, by_value);
}

static void write_item(const void *o, const struct pw_item *item, struct pw_str *prompt,
                       struct pw_str *answer)
{
    const struct sort_opts *opt = o;
    int style = opt->common.text, sorted[PW_MAX_ITEM];
    sorted_of(item, sorted);
    pw_str_add(prompt, "%s", form[style].first);
    write_list(opt, item->v, item->n, prompt);
    pw_str_add(prompt, "%s", form[style].last);
    pw_str_add(answer, "%s", form[style].lead);
    write_list(opt, sorted, item->n, answer);
    pw_str_add(answer, "%s", form[style].full_stop);
}

#define EXAMPLE       "3 1 4 1 5"
#define EXAMPLE_MULTI "31, 415, 9"

#define BLANKS " \t\r\n"

/* Removes a number 0..most from *text; the bytes of `blanks` can separate its digits. */
static bool take_number(const char **text, const char *blanks, int most, int *number)
{
    const char *s = *text + strspn(*text, BLANKS ",;");
    bool any = false;
    for (*number = 0; *s >= '0' && *s <= '9' && *number <= most; s += strspn(s, blanks)) {
        *number = 10 * *number + *s++ - '0';
        any = true;
    }
    *text = s;
    return any && *number <= most && strchr(BLANKS ",;>?]", *s) != NULL; /* strchr also finds the NUL */
}

/* Reads numbers between commas, digits with or without blanks. In a list without commas, if every digit is
 * separate it is one number ("3 1"); otherwise blanks separate numbers ("31 415"). */
static int read_numbers(const char **text, int most, int *v, struct pw_err *err)
{
    size_t end = strcspn(*text, ">?]"), run = 0, longest_run = 0;
    for (size_t i = 0; i < end; i++) {
        run = (*text)[i] >= '0' && (*text)[i] <= '9' ? run + 1 : 0;
        longest_run = run > longest_run ? run : longest_run;
    }
    const char *blanks = longest_run > 1 && memchr(*text, ',', end) == NULL ? "" : BLANKS;
    for (int n = 0;; n++) {
        const char *at = *text;
        struct pw_piece piece = pw_read_piece(&at);
        if (piece.n == 0 || strchr(">?]", *piece.s) != NULL)
            return n;
        if (n == MAX_LENGTH) {
            pw_fail(err, PW_EUSER, "sort: at most %d numbers are allowed", MAX_LENGTH);
            return -1;
        }
        if (!take_number(text, blanks, most, &v[n])) {
            pw_fail(err, PW_EUSER, "sort: '%s' is not a number of 0..%d; write: sort " EXAMPLE_MULTI,
                    pw_piece_text(piece).s, most);
            return -1;
        }
    }
}

static enum pw_code payload(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    const struct sort_opts *opt = o;
    bool multi = opt->variant == MULTI;
    const char *example = multi ? "sort " EXAMPLE_MULTI : "sort " EXAMPLE;
    int n = multi ? read_numbers(&text, numbers_of(opt).hi, item->v, err)
                  : pw_read_symbols(&text, "sort", opt->common.alphabet, item->v, MAX_LENGTH, err);
    if (n < 0)
        return PW_EUSER;
    if (n == 0)
        return pw_fail(err, PW_EUSER, "sort: no %s to sort; write: %s", multi ? "numbers" : "symbols",
                       example);
    item->length = item->n = n;
    (void)(pw_read_accept(&text, "].") || pw_read_accept(&text, "]") || pw_read_accept(&text, "?") ||
           pw_read_accept(&text, ">"));
    return pw_read_end(&text, "sort", example, err);
}

static enum pw_code read_text(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    const struct sort_opts *opt = o;
    const char *opening = form[opt->common.text].first;
    if (!pw_read_accept(&text, opening))
        return pw_fail(err, PW_EUSER, "sort: a prompt must start with '%s'", opening);
    return payload(o, text, item, err);
}

static void list_input(const void *o, struct pw_pair at, uint64_t k, struct pw_item *item)
{
    const struct sort_opts *opt = o;
    struct pw_range r =
        opt->variant == MULTI ? numbers_of(opt) : (struct pw_range){0, opt->common.alphabet - 1};
    item->length = item->n = at.a;
    pw_list_nth(r.hi - r.lo + 1, r.lo, k, item->v, item->n);
}

static double inputs(const void *o, struct pw_pair at)
{
    const struct sort_opts *opt = o;
    struct pw_range r = numbers_of(opt);
    return pw_list_count(opt->variant == MULTI ? r.hi - r.lo + 1 : opt->common.alphabet, at.a);
}

static int pointers(const void *o, const struct pw_item *item, const struct pw_spelling *text, int k, int *at)
{
    const struct sort_opts *opt = o;
    int n = 0, answer = text->n_prompt + k;
    if (!pw_spelling_symbol(text, answer))
        return 0;
    if (opt->variant == SINGLE) {
        for (int i = 0; i < text->n_prompt; i++)
            if (text->tokens[i] == text->tokens[answer])
                at[n++] = i;
        return n;
    }
    int sorted[PW_MAX_ITEM], digits[MAX_DIGITS], number = 0, place = 0, of = 0;
    sorted_of(item, sorted);
    /* The gold pointers are for digit `place` of sorted[number]. */
    place = pw_spelling_symbols(text, text->n_prompt, answer, NULL);
    while (place >= split(sorted[number], digits))
        place -= split(sorted[number++], digits);
    for (int i = 0, within = 0; i < text->n_prompt; i++) {
        if (!pw_spelling_symbol(text, i))
            continue;
        if (item->v[of] == sorted[number] && within == place)
            at[n++] = i;
        if (++within == split(item->v[of], digits)) {
            within = 0;
            of++;
        }
    }
    return n;
}

/* ---- scratchpad: selection sort. A step exchanges the first unsorted element with the minimum of the
 * unsorted ones (the first of equal minima). */

static void step_words(const void *o, struct pw_vocab *v)
{
    static const char *const sentence[] = {" minimum", " of", " unsorted", " portion", NULL};
    const struct pw_task_opts *opt = o;
    if (opt->text == PW_TEXT_PAPER)
        pw_list_words(sentence, v);
}

static void steps(const void *o, const struct pw_item *item, struct pw_scratch *s)
{
    const struct sort_opts *opt = o;
    bool brief = opt->common.text == PW_TEXT_SHORT;
    int left[PW_MAX_ITEM];
    memcpy(left, item->v, (size_t)item->n * sizeof *left);
    for (int i = 0; i < item->n; i++) {
        int least = i, first = left[i];
        for (int k = i + 1; k < item->n; k++)
            least = left[k] < left[least] ? k : least;
        write_list(opt, &first, 1, &s->part[PW_PART_IN]);
        pw_str_add(&s->part[PW_PART_COMP], brief ? "" : " The minimum of the unsorted portion");
        write_list(opt, &left[least], 1, &s->part[PW_PART_OUT]);
        left[least] = first;
        pw_str_add(&s->part[PW_PART_RE], brief ? "" : " [");
        write_list(opt, left + i + 1, item->n - i - 1, &s->part[PW_PART_RE]);
        if (!brief)
            pw_str_add(&s->part[PW_PART_RE], "%s ]", i + 1 < item->n ? "" : pw_scratch_nothing(&opt->common));
        pw_scratch_step(s);
    }
}

static bool is_answer(const void *o, const struct pw_item *item, const char *answer)
{
    const struct sort_opts *opt = o;
    int said[PW_MAX_ITEM], sorted[PW_MAX_ITEM], n;
    sorted_of(item, sorted);
    if (!pw_read_accept(&answer, form[opt->common.text].lead))
        return false;
    n = opt->variant == MULTI ? read_numbers(&answer, numbers_of(opt).hi, said, NULL)
                              : pw_read_symbols(&answer, "", opt->common.alphabet, said, MAX_LENGTH, NULL);
    (void)pw_read_accept(&answer, "]");
    (void)pw_read_accept(&answer, ".");
    return n == item->n && memcmp(said, sorted, (size_t)n * sizeof *said) == 0 &&
           pw_read_piece(&answer).n == 0;
}

static const struct pw_scratch_task scratch = {.words = step_words, .steps = steps, .says = is_answer};

const struct pw_task pw_task_sort = {
    .name = "sort",
    .summary = "put symbols or numbers in order",
    .source = "Saxton et al. 2019; text and sampling as in Kazemnejad et al. 2023, D.1",
    .opts = opts,
    .opts_size = sizeof(struct sort_opts),
    .length_limits = {1, MAX_LENGTH},
    .lengths = "2..8",
    .unit = "symbols or numbers",
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
