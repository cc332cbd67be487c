/* corpus.c - reads and checks a user's file of lines, and describes it to the user (see corpus.h). */
#include "tasks/corpus.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tasks/split.h"

#define MAX_BYTES (64 << 20)
#define MAX_VOCAB 4096
#define LISTED    12 /* held-out lines that a message names */

/* Moves the words of s to *to, with single blanks between them and a NUL at the end. Returns the number of
 * words, or -1. *to moves behind the NUL. Never writes beyond the bytes already read. */
static int take_words(struct pw_corpus *c, char *s, char **to, const char *path, int number,
                      struct pw_err *err)
{
    int n = 0;
    char *out = *to;
    for (;;) {
        size_t bytes;
        char *word = out + (n > 0);
        s += strspn(s, PW_CORPUS_BLANKS);
        bytes = strcspn(s, PW_CORPUS_BLANKS);
        if (bytes == 0)
            break;
        if (bytes > PW_CORPUS_WORD) {
            pw_fail(err, PW_EUSER, "file: %s: line %d has a word of %zu bytes; at most %d are allowed", path,
                    number, bytes, PW_CORPUS_WORD);
            return -1;
        }
        if (n > 0)
            *out = ' ';
        memmove(word, s, bytes);
        s += bytes;
        out = word + bytes;
        n++;

        char copy[PW_CORPUS_WORD + 1];
        memcpy(copy, word, bytes);
        copy[bytes] = '\0';
        pw_vocab_add(&c->words, copy);
        if (c->words.n > MAX_VOCAB) {
            pw_fail(err, PW_EUSER, "file: %s: line %d exceeds the limit of %d different words", path, number,
                    MAX_VOCAB);
            return -1;
        }
    }
    *out = '\0';
    *to = out + 1;
    return n;
}

static enum pw_code take_line(struct pw_corpus *c, char *s, size_t n, char **to, const char *path, int number,
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
        if (words[half] > PW_CORPUS_WORDS)
            return pw_fail(err, PW_EUSER, "file: %s: line %d has %d words in its %s; at most %d are allowed",
                           path, number, words[half], names[half], PW_CORPUS_WORDS);
    }
    if (words[0] <= c->skip)
        return pw_fail(err, PW_EUSER, "file: %s: line %d has %d words in its prompt; skip=%d leaves none",
                       path, number, words[0], c->skip);
    c->lines[c->n++] = (struct pw_corpus_line){(uint32_t)(start - c->text), (uint16_t)(words[0] - c->skip),
                                               (uint16_t)(words[0] + words[1] + 2)};
    return PW_OK;
}

const char *pw_corpus_prompt(const struct pw_corpus *c, int line)
{
    return c->text + c->lines[line].at;
}

bool pw_corpus_is_held(const struct pw_corpus *c, int line)
{
    const char *prompt = pw_corpus_prompt(c, line);
    return pw_held_bytes((const unsigned char *)prompt, strlen(prompt));
}

/* Sorts the lines into `order` by counting sort. */
static void arrange(struct pw_corpus *c)
{
    uint32_t count[2][PW_CORPUS_WORDS + 1] = {{0}}, sum = 0;
    for (int i = 0; i < c->n; i++)
        count[pw_corpus_is_held(c, i)][c->lines[i].length]++;
    for (int g = PW_CORPUS_TRAINED; g <= PW_CORPUS_HELD; g++) {
        for (int k = 0; k <= PW_CORPUS_WORDS; k++) {
            c->first[g][k] = sum;
            sum += count[g][k];
            count[g][k] = c->first[g][k]; /* from here on: index of the next line of this length */
        }
        c->first[g][PW_CORPUS_WORDS + 1] = sum;
    }
    for (int i = 0; i < c->n; i++)
        c->order[count[pw_corpus_is_held(c, i)][c->lines[i].length]++] = (uint32_t)i;
}

uint32_t pw_corpus_count(const struct pw_corpus *c, int group, int lo, int hi)
{
    return c->first[group][hi + 1] - c->first[group][lo];
}

/* Reads the lines of a text of size bytes. */
static enum pw_code take_lines(struct pw_corpus *c, size_t size, const char *path, struct pw_err *err)
{
    static const char mark[] = "\xef\xbb\xbf"; /* UTF-8 byte order mark, written by some editors */
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

void pw_corpus_destroy(struct pw_corpus *c)
{
    if (c == NULL)
        return;
    free(c->text);
    free(c->lines);
    free(c->order);
    pw_vocab_fini(&c->words);
    free(c);
}

enum pw_code pw_corpus_create(struct pw_corpus **out, const char *path, int skip, struct pw_err *err)
{
    size_t size;
    struct pw_corpus *c = *out = calloc(1, sizeof *c);
    if (c == NULL)
        return pw_fail(err, PW_ENOMEM, "file: out of memory");
    c->skip = skip;
    enum pw_code code = pw_file_read(path, MAX_BYTES, &c->text, &size, err);
    if (code == PW_OK)
        code = take_lines(c, size, path, err);
    if (code == PW_OK)
        arrange(c);
    return code;
}

/* ---- messages for the user */

/* Finds the first word beyond the skipped ones, if all prompts have the same one and continue after it.
 * Returns its bytes; 0: no such word. */
static size_t common_word(const struct pw_corpus *c, const char **word)
{
    size_t n = 0;
    for (int i = 0; i < c->n; i++) {
        const char *at = pw_corpus_prompt(c, i);
        for (int k = 0; k < c->skip; k++)
            at += strcspn(at, " ") + 1;
        size_t len = strcspn(at, " ");
        if (at[len] == '\0' || (i > 0 && (len != n || memcmp(at, *word, n) != 0)))
            return 0;
        *word = at;
        n = len;
    }
    return n;
}

/* Appends ": lines 3, 17, 29, ...", counted from 1 as in editors. */
static void list_held(const struct pw_corpus *c, struct pw_range r, struct pw_str *out)
{
    int n = 0;
    for (int i = 0; i < c->n && n <= LISTED; i++) {
        int length = c->lines[i].length;
        if (length < r.lo || length > r.hi || !pw_corpus_is_held(c, i))
            continue;
        if (n == LISTED)
            pw_str_add(out, ", ...");
        else
            pw_str_add(out, "%s%d", n == 0 ? ": lines " : ", ", i + 1);
        n++;
    }
}

void pw_corpus_describe(const struct pw_corpus *c, struct pw_range r, struct pw_str *out)
{
    uint32_t held = pw_corpus_count(c, PW_CORPUS_HELD, r.lo, r.hi);
    uint32_t trained = pw_corpus_count(c, PW_CORPUS_TRAINED, r.lo, r.hi), shorter = 0, longer = 0;
    const char *word = "";
    for (int g = PW_CORPUS_TRAINED; g <= PW_CORPUS_HELD; g++) {
        shorter += r.lo > 0 ? pw_corpus_count(c, g, 0, r.lo - 1) : 0;
        longer += r.hi < PW_CORPUS_WORDS ? pw_corpus_count(c, g, r.hi + 1, PW_CORPUS_WORDS) : 0;
    }
    pw_str_add(out, "file: %d lines: %u for training, %u longer (for testing), %u shorter (not used)\n", c->n,
               trained > 0 ? trained : held, longer, shorter);
    if (trained == 0 || held == 0) {
        pw_str_add(out, "file: too few lines to hold any out; evaluation uses the trained ones\n");
    } else {
        pw_str_add(out, "file: %u lines are held out for evaluation, one in ten by its prompt", held);
        list_held(c, r, out);
        pw_str_add(out, "%s\n",
                   held > LISTED ? "; 'export data F.jsonl split=all' writes all lines with their split"
                                 : "");
    }
    size_t n = common_word(c, &word);
    if (n > 0 && c->n > 1)
        pw_str_add(out,
                   "file: every prompt %s '%.*s', which counts towards its length; skip=%d excludes it\n",
                   c->skip > 0 ? "continues with" : "starts with", (int)n, word, c->skip + 1);
}
