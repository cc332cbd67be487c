/* text.c - running text: predict the next byte, character or piece of any UTF-8 text.
 *
 * A sample is a window of the text, drawn uniformly over all windows of its length. The length is the number
 * of predicted tokens, so a window has one token more: the first is only read. That is the context length by
 * which language models are compared: a model that was trained at 64 and evaluated at 256 reads four times
 * the context that it has seen.
 *
 * The held-out part (documents.h) serves validation and every evaluation, also of the trained lengths. No
 * answer is right or wrong: an evaluation gives the loss, by length and by position.
 *
 * The printed options hold the text's SHA-256 and that of the tokenizer, so that a resumed session refuses a
 * text or a tokenizer that has changed.
 *
 * An item is a document and a place in it; a typed prompt has no item, but its tokens alone. Without path=
 * the text is the program's own (texts/). */
#include <math.h>
#include <string.h>

#include "base/places.h"
#include "tasks/documents.h"
#include "tasks/read.h"
#include "tasks/tokenizer.h"

#define MAX_LENGTH 16384
#define MAX_VOCAB  (1 << 20)
#define OWN_TEXT   "chronicle.txt"
#define EXAMPLE    24 /* bytes of a suggested prompt */
#define SHA        16 /* digits of a SHA-256 */

enum tokens { BYTES, CHARS };

struct text_opts {
    struct pw_task_opts common;
    char path[384];
    char tokens[384];
    char sha[SHA + 1];
    char tokenizer[PW_TOKENIZER_DIGITS + 1];
    int vocab;
    struct pw_tokens *pieces;  /* owned; NULL: bytes or characters */
    struct pw_documents *text; /* owned; open_text loads it */
};

static const char *const kinds[] = {"bytes", "chars", NULL};

static const struct pw_opt opts[] = {
    {"path", PW_OPT_TEXT, offsetof(struct text_opts, path), "", 0, 0, NULL,
     sizeof((struct text_opts *)0)->path,
     "a file, whose last tenth is held out, or a folder, of whose files one in ten is; none: a text of "
     "pewter's"},
    {"tokens", PW_OPT_TEXT, offsetof(struct text_opts, tokens), "bytes", 0, 0, kinds,
     sizeof((struct text_opts *)0)->tokens,
     "what a token is: a byte, a character (at most 4096 of them), or a piece of a tokenizer, whose file "
     "tokenizer.json is named here"},
    {"lengths", PW_OPT_RANGE, offsetof(struct text_opts, common.lengths), "64", 1, MAX_LENGTH, NULL, 0,
     "trained context lengths, in tokens"},
    {"test", PW_OPT_RANGE, offsetof(struct text_opts, common.test), "0", 0, MAX_LENGTH, NULL, 0,
     "longer contexts, only evaluated; 0: up to twice the longest trained"},
    {"sha", PW_OPT_TEXT, offsetof(struct text_opts, sha), "", 0, 0, NULL, SHA + 1,
     "first 16 digits of the text's SHA-256, so that no other text is taken for it; a session adds them"},
    {"tokenizer", PW_OPT_TEXT, offsetof(struct text_opts, tokenizer), "", 0, 0, NULL, PW_TOKENIZER_DIGITS + 1,
     "first 16 digits of the SHA-256 of the tokenizer's file; a session adds them, too"},
    {"vocab", PW_OPT_INT, offsetof(struct text_opts, vocab), "0", 0, MAX_VOCAB, NULL, PW_OPT_LATER,
     "tokens of a model that has more than the tokenizer, as 'model from=' sets it; 0: the tokenizer's"},
    {0},
};

/* Options of other tasks, and why they have no meaning here. */
static const struct pw_refusal refused[] = {
    {"data", "the trained part of the text is the training set; a shorter text makes a smaller one"},
    {"held", "a tenth of the text is always held out"},
    {"dist", "context lengths are drawn uniformly from lengths="},
    {"text", "path= names the text"},
    {"alphabet", "the text gives the alphabet"},
    {"scratchpad", "text has no answer, so no steps before it"},
    {NULL, NULL},
};

static const struct text_opts *opts_of(const void *o)
{
    return o;
}

static enum pw_pieces kind_of(const struct text_opts *opt)
{
    return strcmp(opt->tokens, kinds[BYTES]) == 0   ? PW_PIECES_BYTES
           : strcmp(opt->tokens, kinds[CHARS]) == 0 ? PW_PIECES_CHARS
                                                    : PW_PIECES_TOKENS;
}

/* A length is evaluated if windows of the held-out part have it. */
static bool has(const void *o, int length)
{
    const struct pw_documents *d = opts_of(o)->text;
    return d == NULL || (length >= 1 && length < pw_documents_longest(d, PW_PART_HELD));
}

/* Four lengths per octave: 64, 80, 96, 112, 128, 160, ... */
static bool looks_at(const void *o, int length)
{
    (void)o;
    while (length >= 8 && length % 2 == 0)
        length /= 2;
    return length < 8;
}

static double inputs(const void *o, struct pw_pair at)
{
    (void)o;
    (void)at;
    return (double)INFINITY;
}

static enum pw_code check(const void *o, struct pw_err *err)
{
    enum pw_pieces kind = kind_of(opts_of(o));
    const char *tokens = opts_of(o)->tokens;
    if (kind == PW_PIECES_TOKENS && !pw_text_ends(tokens, ".json") && !pw_text_ends(tokens, ".gguf"))
        return pw_fail(
            err, PW_EUSER,
            "text: tokens=%.240s: allowed are bytes, chars, and a file whose name ends in .json or .gguf",
            tokens);
    if (kind != PW_PIECES_TOKENS && opts_of(o)->vocab > 0)
        return pw_fail(err, PW_EUSER, "text: vocab=%d: tokens=%s has its own number of tokens",
                       opts_of(o)->vocab, tokens);
    if (kind != PW_PIECES_TOKENS && opts_of(o)->tokenizer[0] != '\0')
        return pw_fail(err, PW_EUSER, "text: tokenizer=%s: tokens=%s have no tokenizer",
                       opts_of(o)->tokenizer, tokens);
    return PW_OK;
}

/* ---- the text */

static const char *name_of(const struct text_opts *opt)
{
    return opt->path[0] != '\0' ? opt->path : OWN_TEXT;
}

static void close_text(void *o)
{
    struct text_opts *opt = o;
    pw_documents_close(opt->text);
    pw_tokens_close(opt->pieces);
    opt->text = NULL;
    opt->pieces = NULL;
}

static bool own_ids(const void *o)
{
    return kind_of(opts_of(o)) == PW_PIECES_TOKENS;
}

static const char *unit(const struct text_opts *opt)
{
    return opt->pieces != NULL ? "tokens" : opt->text->chars ? "characters" : "bytes";
}

/* The longest window of each part must exist. */
static enum pw_code check_windows(const struct text_opts *opt, struct pw_err *err)
{
    struct pw_range train = opt->common.lengths, test = opt->common.test;
    const struct pw_documents *d = opt->text;
    int longest = test.hi == 0 ? 2 * train.hi : test.hi > train.hi ? test.hi : train.hi;
    int64_t trained = pw_documents_longest(d, PW_PART_TRAINED), held = pw_documents_longest(d, PW_PART_HELD);
    longest = longest < MAX_LENGTH ? longest : MAX_LENGTH;
    if (train.hi < trained && longest < held)
        return PW_OK;
    if (train.hi >= trained)
        return pw_fail(
            err, PW_EUSER,
            "text: lengths=%d..%d: the longest trained run of %s has %lld %s, and a window one more "
            "than its length; use shorter lengths or more text",
            train.lo, train.hi, name_of(opt), (long long)trained, unit(opt));
    return pw_fail(err, PW_EUSER,
                   "text: lengths up to %d are evaluated: the longest held-out run of %s has %lld %s, and a "
                   "window one more than its length; use shorter lengths=, test= or more text",
                   longest, name_of(opt), (long long)held, unit(opt));
}

/* Compares the text with sha=, or fills in sha=. */
static enum pw_code check_sha(struct text_opts *opt, struct pw_err *err)
{
    char digits[65];
    (void)pw_documents_sha(opt->text, digits);
    digits[SHA] = '\0';
    if (opt->sha[0] == '\0')
        strcpy(opt->sha, digits);
    return strcmp(opt->sha, digits) == 0
               ? PW_OK
               : pw_fail(
                     err, PW_EUSER,
                     "text: %s is not the text that sha=%s names, its SHA-256 begins with %s; restore it, or "
                     "start with a new 'task text'",
                     name_of(opt), opt->sha, digits);
}

/* Opens the tokenizer, if tokens= names one, and compares it with tokenizer=, or fills that in. */
static enum pw_code open_tokenizer(struct text_opts *opt, struct pw_err *err)
{
    return kind_of(opt) == PW_PIECES_TOKENS
               ? pw_tokenizer_settle(&opt->pieces, "text", opt->tokens, opt->tokenizer, opt->vocab, err)
               : PW_OK;
}

static enum pw_code open_text(void *o, struct pw_err *err)
{
    struct text_opts *opt = o;
    struct pw_str own = {0};
    const char *path = opt->path;
    enum pw_code code = open_tokenizer(opt, err);
    if (code != PW_OK)
        return code;
    if (path[0] == '\0') {
        path = pw_place_own(&own, "texts") ? own.s : NULL;
        if (path != NULL)
            pw_str_add(&own, "/%s", OWN_TEXT);
        path = path != NULL ? own.s : NULL;
    }
    code = pw_documents_open(&opt->text, name_of(opt), path, kind_of(opt), opt->pieces,
                             err); /* close_text frees */
    pw_str_fini(&own);
    if (code != PW_OK && path == NULL) {
        struct pw_err why = *err;
        return pw_fail(err, code, "%s%s", why.msg, pw_place_own_hint());
    }
    if (code == PW_OK)
        code = check_windows(opt, err);
    return code == PW_OK ? check_sha(opt, err) : code;
}

static void describe_split(const void *o, struct pw_str *out)
{
    const struct text_opts *opt = opts_of(o);
    const struct pw_documents *d = opt->text;
    long long held = (long long)pw_documents_tokens(d, PW_PART_HELD),
              trained = (long long)pw_documents_tokens(d, PW_PART_TRAINED);
    size_t bytes = 0;
    for (int i = 0; i < d->n; i++)
        bytes += d->list[i].bytes;
    pw_str_add(out, "text: %s: %zu bytes, %d document%s", name_of(opt), bytes, d->n, d->n == 1 ? "" : "s");
    if (d->chars)
        pw_str_add(out, ", %lld tokens: %d different characters\n", trained + held, d->n_alphabet);
    else if (opt->pieces == NULL)
        pw_str_add(out, ", %lld tokens: bytes\n", trained + held);
    else
        pw_str_add(out, ", %lld tokens of %.2f bytes: %d pieces of %s\n", trained + held,
                   (double)bytes / (double)(trained + held), pw_tokens_count(opt->pieces), opt->tokens);
    if (d->n == 1)
        pw_str_add(out,
                   "text: the first %lld tokens are for training; the last %lld are held out for validation "
                   "and eval\n",
                   trained, held);
    else
        pw_str_add(out,
                   "text: %d documents (%lld tokens) are for training; %d, chosen by their SHA-256 (%lld "
                   "tokens), are held out for validation and eval\n",
                   d->parts[PW_PART_TRAINED].n, trained, d->parts[PW_PART_HELD].n, held);
}

/* ---- samples */

static void pick(const void *o, struct pw_rng *rng, enum pw_split split, int length, struct pw_item *item)
{
    const struct text_opts *opt = opts_of(o);
    struct pw_range r = opt->common.lengths;
    int part = split == PW_SPLIT_TRAIN ? PW_PART_TRAINED : PW_PART_HELD, document;
    int64_t start;
    if (split != PW_SPLIT_TEST)
        length = r.lo + (int)pw_rng_below(rng, (uint32_t)(r.hi - r.lo + 1));
    int64_t n = pw_documents_windows(opt->text, part, length + 1);
    int64_t k = (int64_t)(pw_rng_u64(rng) % (uint64_t)n); /* the bias is below n / 2^64 */
    pw_documents_window(opt->text, part, length + 1, k, &document, &start);
    item->length = length;
    item->n = 3;
    item->v[0] = document;
    item->v[1] = (int)(start >> 31);
    item->v[2] = (int)(start & 0x7fffffff);
}

static void draw_item(const void *o, struct pw_rng *rng, int length, struct pw_item *item)
{
    pick(o, rng, PW_SPLIT_TEST, length, item);
}

static int64_t start_of(const struct pw_item *item)
{
    return (int64_t)item->v[1] << 31 | item->v[2];
}

static int window(const void *o, const struct pw_item *item, int *tokens)
{
    const struct pw_documents *d = opts_of(o)->text;
    size_t bytes;
    if (opts_of(o)->pieces != NULL) {
        const int *ids = d->list[item->v[0]].ids + start_of(item);
        for (int i = 0; i <= item->length; i++)
            tokens[i] = ids[i];
        return item->length + 1;
    }
    const char *s = pw_documents_text(d, item->v[0], start_of(item), item->length + 1, &bytes),
               *end = s + bytes;
    int n = 0;
    while (s < end) {
        uint32_t cp = (unsigned char)*s;
        s += d->chars ? pw_utf8_next(s, (size_t)(end - s), &cp) : 1;
        tokens[n++] = PW_PIECE + (d->chars ? (int)d->ids[cp] : (int)cp);
    }
    return n;
}

static int most_tokens(const void *o, int length)
{
    (void)o;
    return length + 1;
}

static void words(const void *o, struct pw_vocab *v)
{
    const struct pw_documents *d = opts_of(o)->text;
    if (opts_of(o)->pieces != NULL)
        pw_vocab_add_tokens(v, opts_of(o)->pieces, opts_of(o)->vocab);
    else if (d->chars)
        pw_vocab_add_chars(v, d->alphabet, d->n_alphabet);
    else
        pw_vocab_add_bytes(v);
}

/* Returns a vocabulary that cuts and writes text, without words; nothing of it is owned. */
static struct pw_vocab vocab_of(const struct text_opts *opt)
{
    return (struct pw_vocab){.n = PW_PIECE + (opt->text->chars ? opt->text->n_alphabet : 0),
                             .pieces = kind_of(opt),
                             .tokenizer = opt->pieces,
                             .chars = opt->text->alphabet};
}

/* Appends tokens `from` to `to` of a document as text. */
static void put_text(const struct text_opts *opt, int document, int64_t from, int64_t to, struct pw_str *out)
{
    size_t n;
    if (opt->pieces == NULL) {
        const char *s = pw_documents_text(opt->text, document, from, (int)(to - from), &n);
        pw_str_put(out, s, n);
        return;
    }
    for (int64_t i = from; i < to; i++) {
        const char *s = pw_tokens_bytes(opt->pieces, opt->text->list[document].ids[i], &n);
        pw_str_put(out, s, n);
    }
}

static void write_item(const void *o, const struct pw_item *item, struct pw_str *prompt,
                       struct pw_str *answer)
{
    const struct text_opts *opt = opts_of(o);
    int64_t start = start_of(item);
    put_text(opt, item->v[0], start, start + 1, prompt);
    put_text(opt, item->v[0], start + 1, start + item->length + 1, answer);
}

/* ---- typed prompts */

static const char newline[] = "↵", tab[] = "⇥"; /* their labels */

/* Cuts a text, in which the labels of a newline and a tabulator stand for them: a line of commands can't
 * hold these. */
static int cut_prompt(const void *o, const char *text, int *tokens, int max, struct pw_err *err)
{
    struct pw_vocab pieces = vocab_of(opts_of(o));
    struct pw_str plain = {0};
    for (const char *s = text; *s != '\0';) {
        bool line = strncmp(s, newline, strlen(newline)) == 0;
        bool mark = line || strncmp(s, tab, strlen(tab)) == 0;
        pw_str_put(&plain, line ? "\n" : mark ? "\t" : s, 1);
        s += mark ? strlen(newline) : 1;
    }
    int n = pw_vocab_cut_pieces(&pieces, pw_str_text(&plain), plain.len, tokens, max, err);
    pw_str_fini(&plain);
    if (n == 0)
        pw_fail(err, PW_EUSER, "text: the prompt is empty; write some text to continue");
    return n > 0 ? n : -1;
}

/* Can a line of commands hold this character? */
static bool is_typed(uint32_t cp)
{
    return cp >= 0x20 && cp != 0x7f && cp != 0xfffd;
}

/* The beginning of a held-out line that has one; without any the label of a newline. */
static void suggest(const void *o, struct pw_str *out)
{
    const struct text_opts *opt = opts_of(o);
    const struct pw_stretch *held = &opt->text->parts[PW_PART_HELD].list[0];
    struct pw_str text = {0};
    size_t at = 0;
    put_text(opt, held->document, held->start, held->start + (held->tokens < 4096 ? held->tokens : 4096),
             &text);
    const char *s = pw_str_text(&text), *line = memchr(s, '\n', text.len);
    size_t bytes = text.len;
    if (line != NULL && (size_t)(line - s) + EXAMPLE < bytes)
        at = (size_t)(line - s) + 1;
    size_t before = out->len;
    while (at < bytes && out->len < before + EXAMPLE) {
        uint32_t cp;
        size_t k = pw_utf8_next(s + at, bytes - at, &cp);
        if (is_typed(cp) && (cp != ' ' || out->len > before))
            pw_str_put(out, s + at, k);
        else if (out->len > before)
            break;
        at += k;
    }
    if (out->len == before)
        pw_str_add(out, "%s", newline);
    pw_str_fini(&text);
}

const struct pw_task pw_task_text = {
    .name = "text",
    .summary = "running text: predict the next byte, character or piece of a tokenizer",
    .source = "the user's, or a chronicle that pewter's own grammar wrote",
    .opts = opts,
    .opts_size = sizeof(struct text_opts),
    .length_limits = {1, MAX_LENGTH},
    .has = has,
    .inputs = inputs,
    .check = check,
    .words = words,
    .draw = draw_item,
    .most_tokens = most_tokens,
    .write = write_item,
    .example = "TEXT",
    .window = window,
    .cut = cut_prompt,
    .own_ids = own_ids,
    .looks_at = looks_at,
    .suggest = suggest,
    .refused = refused,
    .open = open_text,
    .close = close_text,
    .tell = describe_split,
    .pick = pick,
};
