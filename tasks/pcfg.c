/* pcfg.c - PCFG SET: nested functions of strings (Hupkes et al. 2020; text as in the released code of
 * Kazemnejad et al. 2023, whose appendix does not show it).
 *
 *   text=paper   Solve: append reverse A1 A2 , A3 A4[SEP] | A2 A1 A3 A4
 *   text=short   pcfg append reverse A1 A2 , A3 A4 > | A2 A1 A3 A4
 *
 *   one argument    copy x   reverse x   shift (the first to the end)   swap_first_last   repeat (x x)
 *                   echo (the last once more)
 *   two arguments   append x , y   prepend x , y (y x)   remove_first x , y (y)   remove_second x , y (x)
 *
 * There are no brackets: the number of a function's arguments is known. Strings have 2 to 5 of up to 520
 * symbols A1..Z20. The length is the number of functions; 1 to 8 are trained and 9 to 35 tested, which is the
 * productivity split. Each number of functions is as frequent as in the release (dist=natural). The mean over
 * all is 5.2 functions and 18.2 tokens; trained sources have 15.9 tokens. pcfg_draw.c explains how this is
 * known. Strings can repeat, which the release avoids.
 *
 * Sources longer than the release's longest, tokens=71, do not occur. Without this limit 35 functions would
 * need 110 tokens in the mean, so sources with many functions have few with two arguments. Answers have at
 * most answer=48 tokens, so that a context of 128 suffices. For up to 8 functions this drops at most one
 * sample in a hundred, for 35 one in four (the release has answers of up to 736).
 *
 * An item is the source, one code per token. pcfg_draw.c draws it. */
#include "tasks/pcfg.h"
#include "tasks/read.h"
#include <string.h>

#define EXAMPLE "append reverse A1 A2 , A3 A4"
#define WRITE   "; write: pcfg " EXAMPLE
#define UNARY   "copy reverse shift swap_first_last repeat echo"
#define BINARY  "append prepend remove_first remove_second"

enum function {
    COPY,
    REVERSE,
    SHIFT,
    SWAP_FIRST_LAST,
    REPEAT,
    ECHO_LAST,
    APPEND,
    PREPEND,
    REMOVE_FIRST,
    REMOVE_SECOND
};

static const char *const functions[] = {"copy",         "reverse",       "shift",  "swap_first_last",
                                        "repeat",       "echo",          "append", "prepend",
                                        "remove_first", "remove_second", NULL};
static const char *const texts[] = {"short", "paper", NULL};

static const struct pw_opt opts[] = {
    {"alphabet", PW_OPT_INT, offsetof(struct pw_pcfg_opts, common.alphabet), "20", 2, PW_PCFG_SYMBOLS, NULL,
     0, "number of symbols, from A1..A20, B1.. to Z20"},
    {"tokens", PW_OPT_INT, offsetof(struct pw_pcfg_opts, tokens), "71", 3, PW_PCFG_TOKENS, NULL, 0,
     "maximum tokens of a prompt"},
    {"answer", PW_OPT_INT, offsetof(struct pw_pcfg_opts, answer), "48", 10, PW_PCFG_ANSWER, NULL, 0,
     "maximum tokens of an answer"},
    {0},
};

/* ---- evaluation of a source */

static void turn_round(int *v, int n)
{
    for (int i = 0; i < n / 2; i++) {
        int kept = v[i];
        v[i] = v[n - 1 - i];
        v[n - 1 - i] = kept;
    }
}

/* Turns x y into y x: reverses each of them, then the whole. */
static void rotate(int *v, int n_first, int n)
{
    turn_round(v, n_first);
    turn_round(v + n_first, n - n_first);
    turn_round(v, n);
}

/* Evaluates the argument that begins at *at: out gets the source position of each of its symbols.
 * Returns their number, or -1 if there are more than room. The arguments of a function are evaluated
 * in place of its own value. */
static int evaluate(const struct pw_item *item, int *at, int *out, int room)
{
    int function = item->v[*at] - PW_PCFG_FUNCTION, n = 0, second = 0;
    if (function < 0) {
        for (; *at < item->n && item->v[*at] < PW_PCFG_SYMBOLS; ++*at) {
            if (n == room)
                return -1;
            out[n++] = *at;
        }
        return n;
    }
    ++*at;
    n = evaluate(item, at, out, room);
    if (n >= 0 && function >= APPEND) {
        ++*at; /* the comma */
        second = evaluate(item, at, out + n, room - n);
    }
    int more = function == REPEAT ? n : function == ECHO_LAST;
    if (n < 0 || second < 0 || n + more > room)
        return -1;
    switch ((enum function)function) {
    case COPY: return n;
    case REVERSE: turn_round(out, n); return n;
    case SHIFT: rotate(out, 1, n); return n;
    case SWAP_FIRST_LAST:
        turn_round(out + 1, n - 2);
        turn_round(out, n);
        return n;
    case REPEAT: memcpy(out + n, out, (size_t)n * sizeof *out); return 2 * n;
    case ECHO_LAST: out[n] = out[n - 1]; return n + 1;
    case APPEND: return n + second;
    case PREPEND: rotate(out, n, n + second); return n + second;
    case REMOVE_FIRST: memmove(out, out + n, (size_t)second * sizeof *out); return second;
    case REMOVE_SECOND: return n;
    }
    return -1;
}

int pw_pcfg_solve(const struct pw_item *item, int *out, int room)
{
    int at = 0;
    return evaluate(item, &at, out, room);
}

/* ---- text */

static void write_symbol(int symbol, struct pw_str *out)
{
    pw_str_add(out, " %c%d", 'A' + symbol / 20, symbol % 20 + 1);
}

static void words(const void *o, struct pw_vocab *v)
{
    static const char *const around[][4] = {{"pcfg", " >"}, {"Solve", ":", "[SEP]"}};
    const struct pw_pcfg_opts *opt = o;
    struct pw_str token = {0};
    pw_list_words(around[opt->common.text], v);
    pw_vocab_add(v, " ,");
    for (int i = 0; functions[i] != NULL; i++) {
        pw_str_clear(&token);
        pw_str_add(&token, " %s", functions[i]);
        pw_vocab_add(v, token.s);
    }
    for (int i = 0; i < opt->common.alphabet; i++) {
        pw_str_clear(&token);
        write_symbol(i, &token);
        pw_vocab_add(v, token.s);
    }
    pw_str_fini(&token);
}

static void write_item(const void *o, const struct pw_item *item, struct pw_str *prompt,
                       struct pw_str *answer)
{
    const struct pw_pcfg_opts *opt = o;
    bool brief = opt->common.text == PW_TEXT_SHORT;
    int value[PW_PCFG_ANSWER], n = pw_pcfg_solve(item, value, PW_PCFG_ANSWER);
    struct pw_str whole = {0};
    pw_str_add(prompt, "%s", brief ? "pcfg" : "Solve:");
    for (int i = 0; i < item->n; i++) {
        if (item->v[i] < PW_PCFG_SYMBOLS)
            write_symbol(item->v[i], prompt);
        else
            pw_str_add(prompt, " %s",
                       item->v[i] == PW_PCFG_COMMA ? "," : functions[item->v[i] - PW_PCFG_FUNCTION]);
    }
    pw_str_add(prompt, "%s", brief ? " >" : "[SEP] ");
    for (int i = 0; i < n; i++)
        write_symbol(item->v[value[i]], &whole);
    pw_str_add(answer, "%s", whole.s + !brief); /* a sentence's prompt ends with the first blank */
    pw_str_fini(&whole);
}

/* Removes the next word from *text. A comma is a word here; the marks that end a prompt are not. */
static struct pw_piece next_word(const char **text)
{
    const char *s = *text + strspn(*text, " \t\r\n");
    size_t n = *s == ',' ? 1 : strcspn(s, " \t\r\n,[>");
    *text = s + n;
    return (struct pw_piece){s, n};
}

/* Returns the code of a word; -1: it has none. */
static int code_of(const struct pw_pcfg_opts *opt, struct pw_piece word)
{
    int number = 0;
    if (pw_piece_is(word, ","))
        return PW_PCFG_COMMA;
    for (int i = 0; functions[i] != NULL; i++)
        if (pw_piece_is(word, functions[i]))
            return PW_PCFG_FUNCTION + i;
    if (word.n < 2 || word.n > 3 || *word.s < 'A' || *word.s > 'Z' || word.s[1] == '0')
        return -1;
    for (size_t i = 1; i < word.n; i++) {
        if (word.s[i] < '0' || word.s[i] > '9')
            return -1;
        number = 10 * number + word.s[i] - '0';
    }
    int symbol = 20 * (*word.s - 'A') + number - 1;
    return number <= 20 && symbol < opt->common.alphabet ? symbol : -1;
}

static enum pw_code no_word(const struct pw_pcfg_opts *opt, struct pw_piece word, struct pw_err *err)
{
    struct pw_piece_text shown = pw_piece_text(word);
    const char *nearest = pw_text_nearest(shown.s, functions);
    struct pw_str last = {0};
    write_symbol(opt->common.alphabet - 1, &last);
    if (nearest != NULL)
        pw_fail(err, PW_EUSER, "pcfg: no function '%s'; did you mean '%s'?", shown.s, nearest);
    else
        pw_fail(err, PW_EUSER,
                "pcfg: '%s': allowed are the functions " UNARY " " BINARY " and the symbols A1..%s", shown.s,
                last.s + 1);
    pw_str_fini(&last);
    return PW_EUSER;
}

static enum pw_code add_code(struct pw_item *item, int code, struct pw_err *err)
{
    if (item->n == PW_MAX_ITEM)
        return pw_fail(err, PW_EUSER, "pcfg: at most %d tokens are allowed before the answer", PW_MAX_ITEM);
    item->v[item->n++] = code;
    return PW_OK;
}

static enum pw_code read_string(const struct pw_pcfg_opts *opt, const char **text, struct pw_item *item,
                                struct pw_err *err)
{
    const char *at = *text;
    struct pw_piece first = next_word(&at);
    enum pw_code code = PW_OK;
    int n = 0;
    for (at = *text; code == PW_OK; n++) {
        int symbol = code_of(opt, next_word(&at));
        if (symbol < 0 || symbol >= PW_PCFG_SYMBOLS)
            break;
        code = add_code(item, symbol, err);
        *text = at;
    }
    if (code == PW_OK && n < 2)
        code = pw_fail(err, PW_EUSER, "pcfg: the string '%s' has one symbol; two or more are allowed",
                       pw_piece_text(first).s);
    return code;
}

/* Reads an argument of function `of` (-1: the whole source, which must be a function). */
static enum pw_code read_argument(const struct pw_pcfg_opts *opt, const char **text, int of,
                                  struct pw_item *item, struct pw_err *err)
{
    const char *at = *text;
    struct pw_piece word = next_word(&at);
    int found = code_of(opt, word), function = found - PW_PCFG_FUNCTION;
    if (word.n == 0 && of >= 0)
        return pw_fail(err, PW_EUSER, "pcfg: an argument of '%s' is missing at the end" WRITE, functions[of]);
    if (word.n == 0 || (of < 0 && found >= 0 && function < 0))
        return pw_fail(err, PW_EUSER, "pcfg: a function must come first" WRITE);
    if (found < 0)
        return no_word(opt, word, err);
    if (found == PW_PCFG_COMMA)
        return pw_fail(err, PW_EUSER, "pcfg: ',' instead of an argument of '%s'" WRITE, functions[of]);
    if (function < 0)
        return read_string(opt, text, item, err);
    *text = at;
    item->length++;
    enum pw_code code = add_code(item, found, err);
    if (code == PW_OK)
        code = read_argument(opt, text, function, item, err);
    if (code != PW_OK || function < APPEND)
        return code;
    at = *text;
    word = next_word(&at);
    found = code_of(opt, word);
    if (word.n > 0 && found < 0)
        return no_word(opt, word, err);
    if (found != PW_PCFG_COMMA)
        return pw_fail(err, PW_EUSER, "pcfg: '%s' takes two arguments; ',' is missing between them" WRITE,
                       functions[function]);
    *text = at;
    code = add_code(item, found, err);
    return code == PW_OK ? read_argument(opt, text, function, item, err) : code;
}

static enum pw_code payload(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    const struct pw_pcfg_opts *opt = o;
    int value[PW_PCFG_ANSWER];
    item->length = item->n = 0;
    enum pw_code code = read_argument(opt, &text, -1, item, err);
    if (code != PW_OK)
        return code;
    const char *at = text;
    struct pw_piece word = next_word(&at);
    if (pw_piece_is(word, ","))
        return pw_fail(err, PW_EUSER,
                       "pcfg: too many arguments after ','; " BINARY " take two, " UNARY " one");
    if (word.n > 0 && code_of(opt, word) < 0)
        return no_word(opt, word, err);
    if (pw_pcfg_solve(item, value, PW_PCFG_ANSWER) < 0)
        return pw_fail(err, PW_EUSER, "pcfg: the answer, or a part of it, has more than %d symbols",
                       PW_PCFG_ANSWER);
    (void)(pw_read_accept(&text, "[SEP]") || pw_read_accept(&text, ">"));
    return pw_read_end(&text, "pcfg", "pcfg " EXAMPLE, err);
}

static enum pw_code read_text(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    const struct pw_task_opts *opt = o;
    const char *opening = opt->text == PW_TEXT_SHORT ? "pcfg" : "Solve:";
    if (!pw_read_accept(&text, opening))
        return pw_fail(err, PW_EUSER, "pcfg: a prompt must start with '%s'", opening);
    return payload(o, text, item, err);
}

/* A binary function adds a comma and a string; repeat doubles the longest value of two strings. */
static int most_tokens(const void *o, int length)
{
    const struct pw_pcfg_opts *opt = o;
    int source = 7 * length + 5, answer = 10, around = opt->common.text == PW_TEXT_SHORT ? 2 : 3;
    for (int i = 1; i < length && answer < opt->answer; i++)
        answer *= 2;
    return around + (source < opt->tokens ? source : opt->tokens) +
           (answer < opt->answer ? answer : opt->answer);
}

/* The copied symbol. */
static int pointers(const void *o, const struct pw_item *item, const struct pw_spelling *text, int k, int *at)
{
    const struct pw_task_opts *opt = o;
    int value[PW_PCFG_ANSWER];
    (void)text;
    if (k >= pw_pcfg_solve(item, value, PW_PCFG_ANSWER))
        return 0;
    at[0] = value[k] + (opt->text == PW_TEXT_SHORT ? 1 : 2);
    return 1;
}

const struct pw_task pw_task_pcfg = {
    .name = "pcfg",
    .summary = "evaluate nested functions of strings",
    .source = "PCFG SET, Hupkes et al. 2020; text as in Kazemnejad et al. 2023",
    .opts = opts,
    .opts_size = sizeof(struct pw_pcfg_opts),
    .length_limits = {1, PW_PCFG_FUNCTIONS},
    .lengths = "1..8",
    .unit = "functions",
    .has = pw_pcfg_has,
    .to_the_end = true,
    .weight = pw_pcfg_weight,
    .inputs = pw_pcfg_inputs,
    .words = words,
    .draw = pw_pcfg_draw,
    .most_tokens = most_tokens,
    .write = write_item,
    .payload = payload,
    .read = read_text,
    .example = EXAMPLE,
    .texts = texts,
    .pointers = pointers,
};
