/* lego.c - LEGO: follows a chain of signs to the value of one variable (Zhang et al. 2022, in the
 * decoder-only form of Kazemnejad et al. 2023, appendix D.1 and the released code).
 *
 *   text=paper   If q = -1, t = - q, c = + t. Then, what is the value of c? | The answer is +1.
 *   text=appendix    If a = -1; b = -a; c = +b; d = +c. Then what is c? | The answer is +1.
 *   text=short   lego q - 1 t - q c + t c > | +1
 *
 * A chain has n different letters with independent values, +1 and -1 equally likely. The first value is
 * given; every other clause is the sign that leads to it from the variable before. The variable asked for is
 * in the second half of the chain. The appendix says "All variables from the middle of the computation graph
 * to the end". With sampling=appendix these are all from n/2 (rounded down) on, counted from 0; the released
 * code omits the middle one of an odd number. The length is n; its pair is n and the index of the variable
 * asked for. Guessing in the right format is right half of the time.
 *
 * clauses=shuffled shows the clauses of the same chain in a random order per sample. Zhang et al. do so, and
 * the splits named _perm of the released code. A clause can then precede the one it depends on.
 *
 * A typed chain has more freedom: a clause can name any earlier variable (shuffled: any variable) or give a
 * value. So an item is v[0], the variable asked for, then for every clause: variable, sign (+1 or -1),
 * previous variable or ONE. The clauses are in their order on screen. lego_read.c reads it. */
#include "tasks/lego.h"
#include "tasks/read.h"
#include "tasks/scratchpad.h"
#include <string.h>

#define LETTERS PW_LEGO_LETTERS
#define ONE     PW_LEGO_ONE

static const char *const orders[] = {"chain", "shuffled", NULL};

static const struct pw_opt opts[] = {
    {"alphabet", PW_OPT_INT, offsetof(struct pw_lego_opts, common.alphabet), "26", 2, LETTERS, NULL, 0,
     "number of letters, from a on; at least the longest chain"},
    {"sampling", PW_OPT_CHOICE, offsetof(struct pw_lego_opts, sampling), "code", 0, 0, pw_samplings, 0,
     "questions ask for the second half of the chain; appendix: also for the middle of an odd number"},
    {"clauses", PW_OPT_CHOICE, offsetof(struct pw_lego_opts, clauses), "chain", 0, 0, orders, 0,
     "order of clauses: that of the chain, or a new random one per sample"},
    {0},
};

struct pw_lego_clause pw_lego_clause(const struct pw_item *item, int i)
{
    const int *v = item->v + 1 + 3 * i;
    return (struct pw_lego_clause){v[0], v[1], v[2]};
}

void pw_lego_add(struct pw_item *item, struct pw_lego_clause c)
{
    int *v = item->v + item->n;
    v[0] = c.var;
    v[1] = c.sign;
    v[2] = c.from;
    item->n += 3;
    item->length++;
}

const char *pw_lego_letter(int var)
{
    return pw_symbol(10 + var);
}

static enum pw_code check(const void *o, struct pw_err *err)
{
    const struct pw_task_opts *opt = o;
    int longest = opt->lengths.hi > opt->test.hi ? opt->lengths.hi : opt->test.hi;
    if (opt->alphabet < longest)
        return pw_fail(err, PW_EUSER, "lego: chains of %d variables need alphabet=%d or more, not %d",
                       longest, longest, opt->alphabet);
    return PW_OK;
}

static bool has(const void *o, int length)
{
    return length <= ((const struct pw_task_opts *)o)->alphabet;
}

static void words(const void *o, struct pw_vocab *v)
{
    static const char *const table[3][20] = {
        {"lego", " 1", " -", " +", " >", " -1", " +1"},
        {"If", " =", " -1", " +1", " -", " +", ",", ".", " Then", " what", " is", " the", " value", " of",
         "?", " The", " answer"},
        {"If", " =", " -1", " +1", " -", " +", ";", ".", " Then", " what", " is", "?", " The", " answer"},
    };
    const struct pw_task_opts *opt = o;
    pw_list_words(table[opt->text], v);
    for (int i = 0; i < opt->alphabet; i++) {
        char word[3] = {' ', *pw_lego_letter(i), '\0'};
        pw_vocab_add(v, word);
        if (opt->text == PW_TEXT_APPENDIX) /* "-a" is a sign and a letter without its blank */
            pw_vocab_add(v, word + 1);
    }
}

/* Returns the index of the first variable that can be asked for. */
static int first_asked(const struct pw_lego_opts *opt, int length)
{
    return opt->sampling == PW_SAMPLING_APPENDIX ? length / 2 : (length + 1) / 2;
}

static int pairs_at(const void *o, int length, struct pw_pair *out)
{
    int first = first_asked(o, length);
    for (int i = first; i < length && out != NULL; i++)
        out[i - first] = (struct pw_pair){length, i};
    return length - first;
}

/* Shuffles the clauses (Fisher and Yates). */
static void shuffle(struct pw_rng *rng, struct pw_item *item)
{
    for (int i = item->length - 1; i > 0; i--) {
        int *a = item->v + 1 + 3 * i, *b = item->v + 1 + 3 * (int)pw_rng_below(rng, (uint32_t)i + 1);
        for (int k = 0; k < 3; k++) {
            int kept = a[k];
            a[k] = b[k];
            b[k] = kept;
        }
    }
}

static void draw_chain(const struct pw_task_opts *opt, struct pw_rng *rng, int length, struct pw_item *item)
{
    int vars[LETTERS], value = 1;
    for (int i = 0; i < opt->alphabet; i++)
        vars[i] = i;
    item->length = 0;
    item->n = 1;
    for (int i = 0; i < length; i++) {
        int var = pw_rng_deal(rng, vars, opt->alphabet, i), next = pw_rng_below(rng, 2) != 0 ? 1 : -1;
        pw_lego_add(item, (struct pw_lego_clause){var, next * value, i == 0 ? ONE : vars[i - 1]});
        value = next;
    }
}

/* Asks for the variable of a clause of the chain; afterwards the order of the clauses does not matter. */
static void ask(const struct pw_lego_opts *opt, struct pw_rng *rng, int clause, struct pw_item *item)
{
    item->v[0] = pw_lego_clause(item, clause).var;
    if (opt->clauses == PW_LEGO_SHUFFLED)
        shuffle(rng, item);
}

static void draw_pair(const void *o, struct pw_rng *rng, struct pw_pair pair, struct pw_item *item)
{
    draw_chain(o, rng, pair.a, item);
    ask(o, rng, pair.b, item);
}

static void draw_item(const void *o, struct pw_rng *rng, int length, struct pw_item *item)
{
    int first = first_asked(o, length);
    draw_chain(o, rng, length, item);
    ask(o, rng, first + (int)pw_rng_below(rng, (uint32_t)(length - first)), item);
}

int pw_lego_clause_for(const struct pw_item *item, int var)
{
    int i = item->length - 1;
    while (i >= 0 && pw_lego_clause(item, i).var != var)
        i--;
    return i;
}

/* Lists the clauses that lead to the variable asked for, beginning with a given value; returns how many. */
static int path_of(const struct pw_item *item, int path[LETTERS])
{
    int n = 0, var;
    for (var = item->v[0]; var != ONE; var = pw_lego_clause(item, pw_lego_clause_for(item, var)).from)
        n++;
    var = item->v[0];
    for (int i = n; i-- > 0; var = pw_lego_clause(item, path[i]).from)
        path[i] = pw_lego_clause_for(item, var);
    return n;
}

static struct pw_pair pair_of(const struct pw_item *item)
{
    int path[LETTERS];
    return (struct pw_pair){item->length, path_of(item, path) - 1};
}

static const struct pw_task_pairs pairs = {
    .a = "variables",
    .b = "variable asked for, from 0",
    .at = pairs_at,
    .draw = draw_pair,
    .of = pair_of,
    .together = true,
};

static double inputs(const void *o, struct pw_pair at)
{
    const struct pw_lego_opts *opt = o;
    double count = pw_list_count(2, at.a);
    for (int i = 0; i < at.a; i++)
        count *= (opt->common.alphabet - i) * (opt->clauses == PW_LEGO_SHUFFLED ? i + 1 : 1);
    return count;
}

void pw_lego_solve(const struct pw_item *item, int value[LETTERS])
{
    memset(value, 0, LETTERS * sizeof *value);
    for (bool more = true; more;) { /* one pass; shuffled clauses can need more */
        more = false;
        for (int i = 0; i < item->length; i++) {
            struct pw_lego_clause c = pw_lego_clause(item, i);
            if (value[c.var] != 0 || (c.from != ONE && value[c.from] == 0))
                continue;
            value[c.var] = c.sign * (c.from == ONE ? 1 : value[c.from]);
            more = true;
        }
    }
}

/* How each style writes clauses. */
static const struct {
    const char *first, *separator, *equals, *before_var, *before_one;
} form[] = {
    {"lego", "", "", " ", " "},
    {"If", ",", " =", " ", ""},
    {"If", ";", " =", "", ""},
};

/* Writes the clauses that are not done. */
static void write_clauses(const struct pw_task_opts *opt, const struct pw_item *item,
                          const bool done[LETTERS], struct pw_str *out)
{
    int style = opt->text;
    const char *separator = "";
    for (int i = 0; i < item->length; i++) {
        struct pw_lego_clause c = pw_lego_clause(item, i);
        if (done[i])
            continue;
        pw_str_add(out, "%s %s%s %c%s%s", separator, pw_lego_letter(c.var), form[style].equals,
                   c.sign > 0 ? '+' : '-', c.from == ONE ? form[style].before_one : form[style].before_var,
                   c.from == ONE ? "1" : pw_lego_letter(c.from));
        separator = form[style].separator;
    }
}

static void write_item(const void *o, const struct pw_item *item, struct pw_str *prompt,
                       struct pw_str *answer)
{
    const struct pw_task_opts *opt = o;
    int value[LETTERS];
    pw_str_add(prompt, "%s", form[opt->text].first);
    write_clauses(opt, item, (const bool[LETTERS]){false}, prompt);
    pw_lego_solve(item, value);
    const char *asked = pw_lego_letter(item->v[0]), *result = value[item->v[0]] > 0 ? "+1" : "-1";
    switch (opt->text) {
    case PW_TEXT_SHORT: pw_str_add(prompt, " %s >", asked); break;
    case PW_TEXT_PAPER: pw_str_add(prompt, ". Then, what is the value of %s? ", asked); break;
    case PW_TEXT_APPENDIX: pw_str_add(prompt, ". Then what is %s? ", asked); break;
    }
    pw_str_add(answer, opt->text == PW_TEXT_SHORT ? " %s" : "The answer is %s.", result);
}

static double chance(const void *o, int length)
{
    (void)o;
    (void)length;
    return 0.5;
}

static int pointers(const void *o, const struct pw_item *item, const struct pw_spelling *text, int k, int *at)
{
    int n = 0, at_token = 1, path[LETTERS];
    bool on_chain[LETTERS] = {false}; /* by clause */
    const char *result = pw_spelling_word(text, text->n_prompt + k);
    (void)o;
    if (strcmp(result, "+1") != 0 && strcmp(result, "-1") != 0)
        return 0;
    for (int i = path_of(item, path); i-- > 0;)
        on_chain[path[i]] = true;
    for (int i = 0; i < item->length; i++) {
        int parts[3], n_parts = 0; /* variable, sign, source; or variable and -1 in one token */
        for (; n_parts < 3; at_token++) {
            const char *word = pw_spelling_word(text, at_token);
            bool sign = *word == '+' || *word == '-';
            if (!sign && !pw_spelling_symbol(text, at_token))
                continue;
            parts[n_parts++] = at_token;
            if (sign && word[1] == '1') {
                at_token++;
                break;
            }
        }
        for (int j = 0; on_chain[i] && j < n_parts; j++)
            at[n++] = parts[j];
    }
    return n;
}

/* ---- scratchpad: a clause per step, up to the variable that is asked for */

static void steps(const void *o, const struct pw_item *item, struct pw_scratch *s)
{
    const struct pw_task_opts *opt = o;
    int value[LETTERS], path[LETTERS], n = path_of(item, path);
    bool done[LETTERS] = {false};
    pw_lego_solve(item, value);
    for (int i = 0; i < n; i++) {
        struct pw_lego_clause c = pw_lego_clause(item, path[i]);
        char sign = c.sign > 0 ? '+' : '-';
        pw_str_add(&s->part[PW_PART_IN], " %s", pw_lego_letter(c.var));
        if (c.from != ONE && opt->text == PW_TEXT_SHORT)
            pw_str_add(&s->part[PW_PART_COMP], " %c %s %+d", sign, pw_lego_letter(c.from), value[c.from]);
        else if (c.from != ONE)
            pw_str_add(&s->part[PW_PART_COMP], " %c %s = %c %+d", sign, pw_lego_letter(c.from), sign,
                       value[c.from]);
        pw_str_add(&s->part[PW_PART_OUT], " %+d", value[c.var]);
        done[path[i]] = true;
        write_clauses(opt, item, done, &s->part[PW_PART_RE]);
        pw_scratch_step(s);
    }
}

static bool is_answer(const void *o, const struct pw_item *item, const char *answer)
{
    const struct pw_task_opts *opt = o;
    int value[LETTERS];
    pw_lego_solve(item, value);
    bool right = (opt->text == PW_TEXT_SHORT || pw_read_accept(&answer, "The answer is")) &&
                 pw_read_accept(&answer, value[item->v[0]] > 0 ? "+1" : "-1");
    (void)pw_read_accept(&answer, ".");
    return right && pw_read_piece(&answer).n == 0;
}

static const struct pw_scratch_task scratch = {.steps = steps, .says = is_answer};

/* The longest text with a scratchpad asks for the last variable. */
static void longest(const void *o, int length, struct pw_item *item)
{
    struct pw_rng rng;
    pw_rng_init(&rng, 0, PW_STREAM_TEST, 0);
    draw_pair(o, &rng, (struct pw_pair){length, length - 1}, item);
}

const struct pw_task pw_task_lego = {
    .name = "lego",
    .summary = "follow a chain of signs to a variable's value",
    .source = "Zhang et al. 2022; chains and text as in Kazemnejad et al. 2023, D.1",
    .opts = opts,
    .opts_size = sizeof(struct pw_lego_opts),
    .length_limits = {2, LETTERS},
    .lengths = "4..8",
    .unit = "clauses",
    .has = has,
    .check = check,
    .pairs = &pairs,
    .inputs = inputs,
    .words = words,
    .draw = draw_item,
    .longest = longest,
    .write = write_item,
    .payload = pw_lego_payload,
    .read = pw_lego_read,
    .example = PW_LEGO_EXAMPLE,
    .scratch = &scratch,
    .chance = chance,
    .pointers = pointers,
};
