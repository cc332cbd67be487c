/* file.c - the user's own data: a line is a prompt, a TAB and its answer.
 *
 *   3 1 4 <TAB> 1 3 4        becomes        " 3 1 4 > | 1 3 4"
 *
 * A token is a word with the blank before it, whatever the blanks in the file; " >" stands for the TAB, since
 * a model must be told where to begin to answer. The length is the number of words in the prompt.
 *
 * One prompt in ten, by a hash of its text, is held out: validation and the evaluation of a trained length
 * draw from these, so that a prompt that is measured was never trained, however often it occurs. Where no
 * prompt of a length is held out (a short file), the trained ones serve. Lines are drawn uniformly, not
 * lengths. Lines longer than the trained ones are tested, lines shorter are not used.
 *
 * The text stays in memory as one block, blanks made single and both halves NUL-terminated in place, with
 * eight bytes a line beside it. An item is the number of a line; a typed prompt that is in no line has no
 * known answer, and is -1 and its words. */
#include "base/file.h"
#include "tasks/read.h"
#include "tasks/split.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES (64 << 20)
#define MAX_WORDS 500 /* of a prompt, and of an answer; an item holds a typed prompt */
#define MAX_VOCAB 4096
#define MAX_WORD  256 /* bytes */
#define BLANKS    " \t\r\n"
#define TRAINED   0
#define HELD      1

struct line {
    uint32_t at;            /* of the prompt in text; its answer follows its NUL */
    uint16_t words, tokens; /* of the prompt; of both */
};

struct corpus {
    char *text;
    struct line *lines;
    uint32_t *order;                  /* [n] lines: trained before held out, then by length */
    uint32_t first[2][MAX_WORDS + 2]; /* where in order a length begins, by group; [MAX_WORDS+1]: its end */
    int n;
    struct pw_vocab words;
};

struct file_opts {
    struct pw_task_opts common;
    char path[384];
    struct corpus *corpus; /* owned, loaded by open */
};

static const struct pw_opt opts[] = {
    {"path", PW_OPT_TEXT, offsetof(struct file_opts, path), "", 0, 0, NULL,
     sizeof((struct file_opts *)0)->path, "of the file: a line is a prompt, a TAB and its answer"},
    {"lengths", PW_OPT_RANGE, offsetof(struct file_opts, common.lengths), "0", 0, MAX_WORDS, NULL, 0,
     "trained lengths, in words of the prompt; 0: all"},
    {"test", PW_OPT_RANGE, offsetof(struct file_opts, common.test), "0", 0, MAX_WORDS, NULL, 0,
     "lengths evaluated beyond; 0: all that are longer"},
    {0},
};

/* ---- loading */

static bool held_out(const char *prompt)
{
    return pw_held_bytes((const unsigned char *)prompt, strlen(prompt));
}

/* Moves the words of s to `to`, single blanks between, and ends them with NUL; returns how many, or -1. *to
 * moves behind the NUL. Never writes further than it has read. */
static int take_words(struct corpus *c, char *s, char **to, const char *path, int number, struct pw_err *err)
{
    int n = 0;
    char *out = *to;
    for (;;) {
        size_t bytes;
        char *word = out + (n > 0);
        s += strspn(s, BLANKS);
        bytes = strcspn(s, BLANKS);
        if (bytes == 0)
            break;
        if (bytes > MAX_WORD) {
            pw_fail(err, PW_EUSER, "file: %s: line %d has a word of %zu bytes; at most %d are allowed", path,
                    number, bytes, MAX_WORD);
            return -1;
        }
        if (n > 0)
            *out = ' ';
        memmove(word, s, bytes);
        s += bytes;
        out = word + bytes;
        n++;

        char copy[MAX_WORD + 1];
        memcpy(copy, word, bytes);
        copy[bytes] = '\0';
        pw_vocab_add(&c->words, copy);
        if (c->words.n > MAX_VOCAB) {
            pw_fail(err, PW_EUSER, "file: %s: line %d brings more than %d different words", path, number,
                    MAX_VOCAB);
            return -1;
        }
    }
    *out = '\0';
    *to = out + 1;
    return n;
}

static enum pw_code take_line(struct corpus *c, char *s, size_t n, char **to, const char *path, int number,
                              struct pw_err *err)
{
    char *tab = memchr(s, '\t', n), *start = *to;
    int words[2];
    if (!pw_utf8_valid(s, n))
        return pw_fail(err, PW_EUSER, "file: %s: line %d is not valid UTF-8", path, number);
    for (size_t i = 0; i < n; i++)
        if (((unsigned char)s[i] < 0x20 && s[i] != '\t' && s[i] != '\r') || s[i] == 0x7f)
            return pw_fail(err, PW_EUSER, "file: %s: line %d has a control character, its byte %zu", path,
                           number, i + 1);
    if (tab == NULL)
        return pw_fail(err, PW_EUSER, "file: %s: line %d has no TAB between prompt and answer", path, number);
    if (memchr(tab + 1, '\t', n - (size_t)(tab + 1 - s)) != NULL)
        return pw_fail(err, PW_EUSER, "file: %s: line %d has more than one TAB", path, number);
    *tab = '\0';
    for (int half = 0; half < 2; half++) {
        static const char *const names[] = {"prompt", "answer"};
        words[half] = take_words(c, half == 0 ? s : tab + 1, to, path, number, err);
        if (words[half] < 0)
            return PW_EUSER;
        if (words[half] == 0)
            return pw_fail(err, PW_EUSER, "file: %s: line %d has no %s", path, number, names[half]);
        if (words[half] > MAX_WORDS)
            return pw_fail(err, PW_EUSER, "file: %s: line %d has %d words in its %s; at most %d are allowed",
                           path, number, words[half], names[half], MAX_WORDS);
    }
    c->lines[c->n++] =
        (struct line){(uint32_t)(start - c->text), (uint16_t)words[0], (uint16_t)(words[0] + words[1] + 2)};
    return PW_OK;
}

static const char *prompt_of(const struct corpus *c, int line)
{
    return c->text + c->lines[line].at;
}

/* Sorts the lines into order by counting. */
static void arrange(struct corpus *c)
{
    uint32_t count[2][MAX_WORDS + 1] = {{0}}, sum = 0;
    for (int i = 0; i < c->n; i++)
        count[held_out(prompt_of(c, i))][c->lines[i].words]++;
    for (int g = TRAINED; g <= HELD; g++) {
        for (int k = 0; k <= MAX_WORDS; k++) {
            c->first[g][k] = sum;
            sum += count[g][k];
            count[g][k] = c->first[g][k]; /* from here on: where the next one goes */
        }
        c->first[g][MAX_WORDS + 1] = sum;
    }
    for (int i = 0; i < c->n; i++)
        c->order[count[held_out(prompt_of(c, i))][c->lines[i].words]++] = (uint32_t)i;
}

/* Lines lo..hi words long of a group. */
static uint32_t count_of(const struct corpus *c, int group, int lo, int hi)
{
    return c->first[group][hi + 1] - c->first[group][lo];
}

static bool has(const void *o, int length)
{
    const struct corpus *c = ((const struct file_opts *)o)->corpus;
    return c == NULL || (length >= 1 && length <= MAX_WORDS &&
                         count_of(c, TRAINED, length, length) + count_of(c, HELD, length, length) > 0);
}

/* Trained lengths that are all held out are trained on for want of others: pick. */
static double share(const void *o, int length)
{
    const struct file_opts *opt = o;
    struct pw_range r = opt->common.lengths;
    int group = count_of(opt->corpus, TRAINED, r.lo, r.hi) > 0 ? TRAINED : HELD;
    return (double)count_of(opt->corpus, group, length, length) / count_of(opt->corpus, group, r.lo, r.hi);
}

/* Where no line of a length is held out, the trained ones serve. */
static double inputs(const void *o, struct pw_pair at)
{
    const struct corpus *c = ((const struct file_opts *)o)->corpus;
    return count_of(c, HELD, at.a, at.a) > 0 ? (double)INFINITY : (double)count_of(c, TRAINED, at.a, at.a);
}

/* Reads the lines of size bytes of text. */
static enum pw_code take_lines(struct corpus *c, size_t size, const char *path, struct pw_err *err)
{
    static const char mark[] = "\xef\xbb\xbf"; /* that some editors begin a file with */
    char *s = c->text + (size >= 3 && memcmp(c->text, mark, 3) == 0 ? 3 : 0), *end = c->text + size;
    char *to = c->text;
    size_t n_lines = 1;
    for (const char *at = s; (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
        n_lines++;
    c->lines = malloc(n_lines * sizeof *c->lines);
    c->order = malloc(n_lines * sizeof *c->order);
    if (c->lines == NULL || c->order == NULL)
        return pw_fail(err, PW_ENOMEM, "file: out of memory for the lines of %s", path);
    for (int number = 1; s < end; number++) {
        char *newline = memchr(s, '\n', (size_t)(end - s)), *stop = newline != NULL ? newline : end;
        *stop = '\0';
        enum pw_code code = take_line(c, s, (size_t)(stop - s), &to, path, number, err);
        if (code != PW_OK)
            return code;
        s = stop + 1;
    }
    return c->n > 0 ? PW_OK : pw_fail(err, PW_EUSER, "file: %s is empty", path);
}

static void close_file(void *o)
{
    struct file_opts *opt = o;
    if (opt->corpus == NULL)
        return;
    free(opt->corpus->text);
    free(opt->corpus->lines);
    free(opt->corpus->order);
    pw_vocab_fini(&opt->corpus->words);
    free(opt->corpus);
    opt->corpus = NULL;
}

static enum pw_code open_file(void *o, struct pw_err *err)
{
    struct file_opts *opt = o;
    struct pw_range *r = &opt->common.lengths;
    int shortest = 1, longest = MAX_WORDS;
    size_t size;
    if (opt->path[0] == '\0')
        return pw_fail(err, PW_EUSER,
                       "file: path=F is missing; a line of F is a prompt, a TAB and its answer");
    struct corpus *c = opt->corpus = calloc(1, sizeof *c); /* close_file frees it, after a failure too */
    if (c == NULL)
        return pw_fail(err, PW_ENOMEM, "file: out of memory");
    enum pw_code code = pw_file_read(opt->path, MAX_BYTES, &c->text, &size, err);
    if (code == PW_OK)
        code = take_lines(c, size, opt->path, err);
    if (code != PW_OK)
        return code;
    arrange(c);
    while (!has(opt, shortest))
        shortest++;
    while (!has(opt, longest))
        longest--;
    if (r->hi == 0)
        *r = (struct pw_range){shortest, longest};
    if (r->lo > longest || r->hi < shortest)
        return pw_fail(err, PW_EUSER, "file: lengths=%d..%d: the lines of %s have %d..%d words", r->lo, r->hi,
                       opt->path, shortest, longest);
    r->lo = r->lo > shortest ? r->lo : shortest;
    r->hi = r->hi < longest ? r->hi : longest;
    if (count_of(c, TRAINED, r->lo, r->hi) + count_of(c, HELD, r->lo, r->hi) == 0)
        return pw_fail(err, PW_EUSER, "file: lengths=%d..%d: %s has no lines of so many words", r->lo, r->hi,
                       opt->path);
    return PW_OK;
}

/* ---- samples */

static void take_item(const struct corpus *c, uint32_t line, struct pw_item *item)
{
    item->length = c->lines[line].words;
    item->n = 1;
    item->v[0] = (int)line;
}

static void pick(const void *o, struct pw_rng *rng, enum pw_split split, int length, struct pw_item *item)
{
    const struct file_opts *opt = o;
    const struct corpus *c = opt->corpus;
    struct pw_range train = opt->common.lengths, r = train;
    if (split == PW_SPLIT_TEST) {
        r.lo = r.hi = length;
    }
    uint32_t trained = count_of(c, TRAINED, r.lo, r.hi), held = count_of(c, HELD, r.lo, r.hi);
    if (split == PW_SPLIT_TRAIN && trained > 0)
        held = 0;
    else if (split != PW_SPLIT_TRAIN && held > 0 && r.lo >= train.lo && r.hi <= train.hi)
        trained = 0;
    uint32_t k = pw_rng_below(rng, trained + held);
    take_item(
        c, k < trained ? c->order[c->first[TRAINED][r.lo] + k] : c->order[c->first[HELD][r.lo] + k - trained],
        item);
}

static void draw(const void *o, struct pw_rng *rng, int length, struct pw_item *item)
{
    pick(o, rng, PW_SPLIT_TEST, length, item);
}

/* In the order of the file. */
static bool every(const void *o, uint64_t k, struct pw_item *item)
{
    const struct corpus *c = ((const struct file_opts *)o)->corpus;
    if (k < (uint64_t)c->n)
        take_item(c, (uint32_t)k, item);
    return k < (uint64_t)c->n;
}

static void longest_line(const void *o, int length, struct pw_item *item)
{
    const struct corpus *c = ((const struct file_opts *)o)->corpus;
    int best = -1;
    for (int i = 0; i < c->n; i++)
        if (c->lines[i].words <= length && (best < 0 || c->lines[i].tokens > c->lines[best].tokens))
            best = i;
    take_item(c, (uint32_t)(best < 0 ? 0 : best), item);
}

static void words(const void *o, struct pw_vocab *v)
{
    const struct corpus *c = ((const struct file_opts *)o)->corpus;
    char token[MAX_WORD + 2] = " ";
    pw_vocab_add(v, " >");
    for (int i = 0; i < c->words.n; i++) {
        strcpy(token + 1, c->words.words[i]);
        pw_vocab_add(v, token);
    }
}

static void write_item(const void *o, const struct pw_item *item, struct pw_str *prompt,
                       struct pw_str *answer)
{
    const struct corpus *c = ((const struct file_opts *)o)->corpus;
    if (item->v[0] >= 0) {
        const char *text = prompt_of(c, item->v[0]);
        pw_str_add(prompt, " %s", text);
        pw_str_add(answer, " %s", text + strlen(text) + 1);
    }
    for (int i = 1; i < item->n; i++)
        pw_str_add(prompt, " %s", c->words.words[item->v[i]]);
    pw_str_add(prompt, " >");
}

/* ---- typed prompts */

static int find(const struct corpus *c, const char *prompt)
{
    for (int i = 0; i < c->n; i++)
        if (strcmp(prompt_of(c, i), prompt) == 0)
            return i;
    return -1;
}

static enum pw_code read_text(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    const struct file_opts *opt = o;
    const struct corpus *c = opt->corpus;
    struct pw_str whole = {0};
    enum pw_code code = PW_OK;
    size_t bytes, last = 0;
    item->length = 0;
    for (text += strspn(text, BLANKS); (bytes = strcspn(text, BLANKS)) > 0; text += strspn(text, BLANKS)) {
        int id = pw_vocab_find(&c->words, text, bytes);
        bool separator = bytes == 1 && *text == '>' && text[1 + strspn(text + 1, BLANKS)] == '\0';
        if (id < 0 && !separator && code == PW_OK)
            code = pw_fail(err, PW_EUSER, "file: '%s' is no word of %s",
                           pw_piece_text((struct pw_piece){text, bytes}).s, opt->path);
        last = whole.len;
        pw_str_add(&whole, whole.len > 0 ? " %.*s" : "%.*s", (int)bytes, text);
        if (item->length < MAX_WORDS)
            item->v[1 + item->length] = id;
        item->length++;
        text += bytes;
    }
    item->v[0] = find(c, pw_str_text(&whole));
    if (item->v[0] < 0 && last > 0 && strcmp(whole.s + last, " >") == 0) { /* as prompts are shown */
        whole.s[last] = '\0';
        item->length--;
        item->v[0] = find(c, whole.s);
    }
    pw_str_fini(&whole);
    item->n = item->v[0] >= 0 ? 1 : 1 + item->length;
    if (code == PW_OK && item->length > MAX_WORDS)
        code = pw_fail(err, PW_EUSER, "file: %d words; at most %d are allowed", item->length, MAX_WORDS);
    if (code == PW_OK && (item->length == 0 || (item->v[0] < 0 && item->v[1] < 0)))
        code = pw_fail(err, PW_EUSER, "file: no words; write: file %s", prompt_of(c, 0));
    return code;
}

const struct pw_task pw_task_file = {
    .name = "file",
    .summary = "your own lines: prompt, TAB, answer",
    .source = "the user's",
    .opts = opts,
    .opts_size = sizeof(struct file_opts),
    .length_limits = {1, MAX_WORDS},
    .inputs = inputs,
    .words = words,
    .draw = draw,
    .longest = longest_line,
    .write = write_item,
    .payload = read_text,
    .read = read_text,
    .example = "WORDS",
    .open = open_file,
    .close = close_file,
    .pick = pick,
    .every = every,
    .has = has,
    .to_the_end = true,
    .share = share,
};
