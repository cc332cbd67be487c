/* needle.c - a fact hidden in filler: "The number of the garden is 4821." stands somewhere among sentences
 * that say nothing about numbers, and a question at the end asks for it (Kamradt 2023, "needle in a
 * haystack"; Mohtashami and Jaggi 2023, passkey retrieval). The exact match by length is what a model
 * retrieves from a context of that length, and depth= fixes where the fact stands.
 *
 * A length counts the sentences before the question, the fact included, so it does not depend on what a token
 * is. Only the number is predicted. It is copied from the prompt, so an induction head suffices, if positions
 * let it reach that far.
 *
 * Tokens are characters, bytes, or the pieces of a tokenizer, which serve models of other programs: these
 * have no end mark, and the answer ends with its last digit.
 *
 * An item is the key word's index, the number, how many fillers precede the fact, and the indices of the
 * fillers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tasks/read.h"
#include "tasks/task.h"
#include "tasks/tokenizer.h"

enum { MAX_LENGTH = 400, MAX_VOCAB = 1 << 20, MAX_DIGITS = 6, MARGIN = 16, SHORT = 3 };
enum { KEY, NUMBER, PLACE, FIRST };

_Static_assert(FIRST + MAX_LENGTH <= PW_MAX_ITEM, "an item holds the longest sample");

struct needle_opts {
    struct pw_task_opts common;
    int digits;
    struct pw_range depth;
    char tokens[384];
    char tokenizer[PW_TOKENIZER_DIGITS + 1];
    int vocab;
    struct pw_tokens *pieces; /* owned; NULL: bytes or characters */
    /* of the tokenizer: most tokens of a filler, and of everything else */
    int filler, rest;
};

static const char *const kinds[] = {"chars", "bytes", NULL};
static const char *const texts[] = {"short", NULL};

static const struct pw_opt opts[] = {
    {"digits", PW_OPT_INT, offsetof(struct needle_opts, digits), "4", 1, MAX_DIGITS, NULL, 0,
     "digits of the number"},
    {"depth", PW_OPT_RANGE, offsetof(struct needle_opts, depth), "0..100", 0, 100, NULL, 0,
     "where the fact stands, in per cent of the filler before it: 0 first, 100 last"},
    {"tokens", PW_OPT_TEXT, offsetof(struct needle_opts, tokens), "chars", 0, 0, kinds,
     sizeof((struct needle_opts *)0)->tokens,
     "what a token is: a character, a byte, or a piece of a tokenizer, whose file tokenizer.json or GGUF is "
     "named here"},
    {"tokenizer", PW_OPT_TEXT, offsetof(struct needle_opts, tokenizer), "", 0, 0, NULL,
     PW_TOKENIZER_DIGITS + 1, "first 16 digits of the SHA-256 of the tokenizer's file; a session adds them"},
    {"vocab", PW_OPT_INT, offsetof(struct needle_opts, vocab), "0", 0, MAX_VOCAB, NULL, PW_OPT_LATER,
     "tokens of a model that has more than the tokenizer; 0: the tokenizer's"},
    {0},
};

static const char *const keys[] = {"garden", "harbor", "bridge", "castle", "market", "window",
                                   "forest", "island", "mirror", "temple", "tunnel", "bakery",
                                   "museum", "valley", "school", "palace"};

static const char *const fillers[] = {
    "The rain fell on the roof.",   "A boat came in at noon.",       "The dog slept by the door.",
    "Some birds sat on the wall.",  "The tea was warm and sweet.",   "A cart went up the hill.",
    "The wind blew from the west.", "Two men sold bread and milk.",  "The sun set behind the trees.",
    "A child ran down the street.", "The old clock was slow again.", "They talked about the snow.",
    "The road was long and dry.",   "A lamp burned in the hall.",    "The fish were small this year.",
    "She read a book by the fire.",
};

enum { KEYS = sizeof keys / sizeof *keys, FILLERS = sizeof fillers / sizeof *fillers };

static const struct needle_opts *opts_of(const void *o)
{
    return o;
}

static enum pw_pieces kind_of(const struct needle_opts *opt)
{
    return strcmp(opt->tokens, "chars") == 0   ? PW_PIECES_CHARS
           : strcmp(opt->tokens, "bytes") == 0 ? PW_PIECES_BYTES
                                               : PW_PIECES_TOKENS;
}

static bool own_ids(const void *o)
{
    return kind_of(opts_of(o)) == PW_PIECES_TOKENS;
}

static uint32_t numbers(const struct needle_opts *opt)
{
    uint32_t n = 1;
    for (int i = 0; i < opt->digits; i++)
        n *= 10;
    return n;
}

static double inputs(const void *o, struct pw_pair at)
{
    double n = KEYS * (double)numbers(opts_of(o)) * at.a;
    for (int i = 1; i < at.a && i < SHORT; i++)
        n *= FILLERS;
    return at.a > SHORT ? (double)INFINITY : n;
}

static double chance(const void *o, int length)
{
    (void)length;
    return 1 / numbers(opts_of(o));
}

/* Four lengths per octave, as in running text. */
static bool looks_at(const void *o, int length)
{
    (void)o;
    while (length >= 8 && length % 2 == 0)
        length /= 2;
    return length < 8;
}

static enum pw_code check(const void *o, struct pw_err *err)
{
    const struct needle_opts *opt = opts_of(o);
    bool file = kind_of(opt) == PW_PIECES_TOKENS;
    if (file && !pw_text_ends(opt->tokens, ".json") && !pw_text_ends(opt->tokens, ".gguf"))
        return pw_fail(
            err, PW_EUSER,
            "needle: tokens=%.240s: allowed are chars, bytes, and a file whose name ends in .json or .gguf",
            opt->tokens);
    if (!file && (opt->vocab > 0 || opt->tokenizer[0] != '\0'))
        return pw_fail(err, PW_EUSER, "needle: %s beside tokens=%s: only a tokenizer's file has it",
                       opt->vocab > 0 ? "vocab=" : "tokenizer=", opt->tokens);
    return PW_OK;
}

/* ---- texts */

static void add_fact(const struct needle_opts *opt, int key, int number, struct pw_str *out)
{
    pw_str_add(out, "The number of the %s is %0*d.", keys[key], opt->digits, number);
}

static void add_question(int key, struct pw_str *out)
{
    pw_str_add(out, "What is the number of the %s? The number of the %s is", keys[key], keys[key]);
}

static void write_item(const void *o, const struct pw_item *item, struct pw_str *prompt,
                       struct pw_str *answer)
{
    const struct needle_opts *opt = opts_of(o);
    for (int i = 0; i < item->length; i++) {
        int filler = FIRST + i - (i > item->v[PLACE]);
        if (i == item->v[PLACE])
            add_fact(opt, item->v[KEY], item->v[NUMBER], prompt);
        else
            pw_str_add(prompt, "%s", fillers[item->v[filler]]);
        pw_str_add(prompt, " ");
    }
    add_question(item->v[KEY], prompt);
    pw_str_add(answer, " %0*d", opt->digits, item->v[NUMBER]);
}

static void draw_item(const void *o, struct pw_rng *rng, int length, struct pw_item *item)
{
    const struct needle_opts *opt = opts_of(o);
    uint32_t span = (uint32_t)(opt->depth.hi - opt->depth.lo + 1);
    item->length = length;
    item->n = FIRST + length - 1;
    item->v[KEY] = (int)pw_rng_below(rng, KEYS);
    item->v[NUMBER] = (int)pw_rng_below(rng, numbers(opt));
    int depth = opt->depth.lo + (int)pw_rng_below(rng, span);
    item->v[PLACE] = ((length - 1) * depth + 50) / 100;
    for (int i = FIRST; i < item->n; i++)
        item->v[i] = (int)pw_rng_below(rng, FILLERS);
}

/* ---- typed prompts */

/* Skips a text at the beginning of *s. */
static bool skip(const char **s, const char *text)
{
    size_t n = strlen(text);
    if (strncmp(*s, text, n) != 0)
        return false;
    *s += n;
    return true;
}

/* Skips one of several texts; returns its index, or -1. */
static int skip_one(const char **s, const char *const *list, int n)
{
    for (int i = 0; i < n; i++)
        if (skip(s, list[i]))
            return i;
    return -1;
}

static bool read_number(const struct needle_opts *opt, const char **s, int *number)
{
    char digits[MAX_DIGITS + 1] = "";
    long value;
    if (strspn(*s, "0123456789") != (size_t)opt->digits)
        return false;
    memcpy(digits, *s, (size_t)opt->digits);
    *s += opt->digits;
    bool ok = pw_text_int(digits, 0, 999999, &value);
    *number = ok ? (int)value : 0;
    return ok;
}

static bool read_fact(const struct needle_opts *opt, const char **s, struct pw_item *item)
{
    const char *at = *s;
    int key, number;
    if (!skip(&at, "The number of the ") || (key = skip_one(&at, keys, KEYS)) < 0 || !skip(&at, " is ") ||
        !read_number(opt, &at, &number) || !skip(&at, "."))
        return false;
    item->v[KEY] = key;
    item->v[NUMBER] = number;
    *s = at;
    return true;
}

/* Reads the question to the end of the text. */
static bool read_question(const char *s, int key)
{
    struct pw_str text = {0};
    add_question(key, &text);
    bool same = skip(&s, text.s) && s[strspn(s, " ")] == '\0';
    pw_str_fini(&text);
    return same;
}

static enum pw_code read_text(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    const struct needle_opts *opt = opts_of(o);
    int n = 0;
    item->v[PLACE] = -1;
    for (const char *s = text + strspn(text, " ");; s += strspn(s, " ")) {
        int filler;
        if (item->v[PLACE] >= 0 && read_question(s, item->v[KEY]))
            break;
        if (item->v[PLACE] < 0 && read_fact(opt, &s, item))
            item->v[PLACE] = n;
        else if (n < MAX_LENGTH - 1 && (filler = skip_one(&s, fillers, FILLERS)) >= 0)
            item->v[FIRST + n++] = filler;
        else
            return pw_fail(
                err, PW_EUSER,
                "needle: '%.40s': write sentences of the task, one of them 'The number of the garden is "
                "%0*d.', and its question; or: needle garden %0*d",
                s, opt->digits, 1, opt->digits, 1);
    }
    item->n = FIRST + n;
    item->length = n + 1;
    return PW_OK;
}

/* Reads "garden 4821", or a whole text. */
static enum pw_code payload(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    const struct needle_opts *opt = opts_of(o);
    const char *s = text + strspn(text, " ");
    int key = skip_one(&s, keys, KEYS), number;
    if (key < 0)
        return read_text(o, text, item, err);
    s += strspn(s, " ");
    if (!read_number(opt, &s, &number) || s[strspn(s, " ")] != '\0')
        return pw_fail(err, PW_EUSER, "needle: '%.40s': behind the key word stands a number of %d digits", s,
                       opt->digits);
    *item = (struct pw_item){.length = SHORT + 1, .n = FIRST + SHORT};
    item->v[KEY] = key;
    item->v[NUMBER] = number;
    item->v[PLACE] = 1;
    for (int i = 0; i < SHORT; i++)
        item->v[FIRST + i] = i;
    return PW_OK;
}

/* The answer's tokens stand in the prompt, behind the fact's "is". */
static int pointers(const void *o, const struct pw_item *item, const struct pw_spelling *text, int k, int *at)
{
    const int *t = text->tokens, *answer = t + text->n_prompt;
    int n = text->n - text->n_prompt;
    (void)o;
    (void)item;
    n -= opts_of(o)->pieces == NULL; /* the end mark */
    for (int p = 0; p + n <= text->n_prompt; p++)
        if (memcmp(t + p, answer, (size_t)n * sizeof *t) == 0) {
            at[0] = p + k;
            return 1;
        }
    return 0;
}

/* ---- tokens */

static void words(const void *o, struct pw_vocab *v)
{
    const struct needle_opts *opt = opts_of(o);
    bool used[128] = {false};
    uint32_t chars[128];
    struct pw_str all = {0};
    int n = 0;
    if (opt->pieces != NULL || kind_of(opt) == PW_PIECES_BYTES) {
        if (opt->pieces != NULL)
            pw_vocab_add_tokens(v, opt->pieces, opt->vocab);
        else
            pw_vocab_add_bytes(v);
        return;
    }
    pw_str_add(&all, "0123456789");
    for (int i = 0; i < FILLERS; i++)
        pw_str_add(&all, "%s", fillers[i]);
    for (int i = 0; i < KEYS; i++)
        add_question(i, &all);
    for (const char *s = all.s; *s != '\0'; s++)
        used[*s & 127] = true;
    for (uint32_t c = 0; c < 128; c++)
        if (used[c])
            chars[n++] = c;
    pw_vocab_add_chars(v, chars, n);
    pw_str_fini(&all);
}

/* Returns the tokens of a text: bytes, or pieces; -1: they can't be made. */
static int count(const struct needle_opts *opt, const char *text, struct pw_err *err)
{
    struct pw_token_list list = {0};
    if (opt->pieces == NULL)
        return (int)strlen(text);
    enum pw_code code = pw_tokens_encode(opt->pieces, text, strlen(text), &list, err);
    int n = code == PW_OK ? (int)list.n : -1;
    pw_token_list_fini(&list);
    return n;
}

/* Counts the most tokens of a filler behind another one, and of a fact, a question and an answer. */
static enum pw_code measure(struct needle_opts *opt, struct pw_err *err)
{
    opt->filler = opt->rest = 0;
    for (int i = 0; i < FILLERS; i++) {
        struct pw_str pair = {0};
        const char *before = fillers[(i + 1) % FILLERS];
        pw_str_add(&pair, "%s %s", before, fillers[i]);
        int both = count(opt, pair.s, err), one = count(opt, before, err);
        pw_str_fini(&pair);
        if (both < 0 || one < 0)
            return PW_EUSER;
        opt->filler = both - one > opt->filler ? both - one : opt->filler;
    }
    for (int key = 0; key < KEYS; key++) {
        struct pw_item item = {.length = 1, .n = FIRST, .v = {key}};
        struct pw_str text = {0}, answer = {0};
        write_item(opt, &item, &text, &answer);
        pw_str_add(&text, "%s", answer.s);
        int n = count(opt, text.s, err);
        pw_str_fini(&text);
        pw_str_fini(&answer);
        if (n < 0)
            return PW_EUSER;
        opt->rest = n > opt->rest ? n : opt->rest;
    }
    if (opt->pieces != NULL) /* numbers can have more pieces than 0000 */
        opt->rest += 2 * opt->digits + MARGIN;
    return PW_OK;
}

static int most_tokens(const void *o, int length)
{
    const struct needle_opts *opt = opts_of(o);
    return (length - 1) * opt->filler + opt->rest;
}

static enum pw_code open_tokenizer(void *o, struct pw_err *err)
{
    struct needle_opts *opt = o;
    enum pw_code code = PW_OK;
    if (kind_of(opt) == PW_PIECES_TOKENS)
        code = pw_tokenizer_settle(&opt->pieces, "needle", opt->tokens, opt->tokenizer, opt->vocab, err);
    return code == PW_OK ? measure(opt, err) : code;
}

static void close_tokenizer(void *o)
{
    struct needle_opts *opt = o;
    pw_tokens_close(opt->pieces);
    opt->pieces = NULL;
}

static void describe_lengths(const void *o, struct pw_str *out)
{
    const struct needle_opts *opt = opts_of(o);
    pw_str_add(out,
               "needle: a length counts sentences; one has at most %d tokens, fact, question and answer "
               "together %d\n",
               opt->filler, opt->rest);
}

const struct pw_task pw_task_needle = {
    .name = "needle",
    .summary = "a number hidden in filler text, and a question for it at the end",
    .source = "after Mohtashami and Jaggi 2023 (passkey retrieval)",
    .opts = opts,
    .opts_size = sizeof(struct needle_opts),
    .length_limits = {1, MAX_LENGTH},
    .lengths = "1..4",
    .unit = "sentences",
    .inputs = inputs,
    .check = check,
    .words = words,
    .draw = draw_item,
    .most_tokens = most_tokens,
    .write = write_item,
    .payload = payload,
    .read = read_text,
    .example = "garden 4821",
    .chance = chance,
    .looks_at = looks_at,
    .own_ids = own_ids,
    .texts = texts,
    .pointers = pointers,
    .open = open_tokenizer,
    .close = close_tokenizer,
    .tell = describe_lengths,
};
