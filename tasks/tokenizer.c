/* tokenizer.c - opens a task's tokenizer, or compares it with the recorded one (see tokenizer.h). */
#include "tasks/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sha256.h"
#include "tasks/documents.h"

#define WITNESS       "pewter tokenizer " /* begins the line that a session keeps of a large file */
#define WITNESS_BYTES 256

/* The content of a file, and its SHA-256. */
struct content {
    char *data; /* owned */
    size_t n;
    char digits[65];
};

static void write_digits(char digits[65], const char *data, size_t n)
{
    uint8_t sha[32];
    pw_sha256_of(sha, data, n);
    pw_sha256_text(digits, sha);
}

static void write_witness(const struct content *c, char line[WITNESS_BYTES])
{
    snprintf(line, WITNESS_BYTES, WITNESS "of %zu bytes, sha256 %s\n", c->n, c->digits);
}

/* A path that can't be read is the user's to correct. */
static enum pw_code fail_read(const struct pw_err *cause, struct pw_err *err)
{
    return pw_fail(err, cause->code == PW_ENOMEM ? PW_ENOMEM : PW_EUSER, "text: tokens=%s", cause->msg);
}

/* Reads a file without a copy of it in the session. */
static enum pw_code read_uncopied(struct content *c, const char *path, struct pw_err *err)
{
    struct pw_err cause;
    size_t size;
    enum pw_code code = pw_file_read_head(path, PW_TOKENS_FILE, &c->data, &c->n, &size, &cause);
    if (code != PW_OK)
        return fail_read(&cause, err);
    if (size > c->n)
        return pw_fail(err, PW_EUSER, "text: tokens=%.200s: has more than %d bytes", path, PW_TOKENS_FILE);
    write_digits(c->digits, c->data, c->n);
    return PW_OK;
}

static enum pw_code read_as_recorded(struct content *c, const char *path, const char *witness,
                                     struct pw_err *err)
{
    char now[WITNESS_BYTES];
    struct stat st;
    if (!pw_file_stat(path, &st))
        return pw_fail(err, PW_EUSER,
                       "text: tokens=%.200s: the tokenizer is missing, and the session has no copy of it",
                       path);
    enum pw_code code = read_uncopied(c, path, err);
    if (code != PW_OK)
        return code;
    write_witness(c, now);
    return strcmp(now, witness) == 0
               ? PW_OK
               : pw_fail(err, PW_EUSER,
                         "text: tokens=%.200s: the tokenizer has changed since the session read it: its "
                         "SHA-256 differs",
                         path);
}

static bool is_small(const char *path)
{
    struct stat st;
    return !pw_file_stat(path, &st) || st.st_size <= PW_DOCUMENTS_COPY; /* of no file, the reader says it */
}

static enum pw_code read_file(struct content *c, const char *path, struct pw_err *err)
{
    char line[WITNESS_BYTES];
    struct pw_err cause;
    if (pw_file_copies() || is_small(path)) {
        enum pw_code code = pw_file_read_as(path, path, PW_DOCUMENTS_COPY, &c->data, &c->n, &cause);
        if (code != PW_OK)
            return fail_read(&cause, err);
        if (strncmp(c->data, WITNESS, strlen(WITNESS)) != 0) {
            write_digits(c->digits, c->data, c->n);
            return PW_OK;
        }
        char *witness = c->data;
        c->data = NULL;
        code = read_as_recorded(c, path, witness, err);
        free(witness);
        return code;
    }
    enum pw_code code = read_uncopied(c, path, err);
    if (code != PW_OK)
        return code;
    write_witness(c, line);
    pw_file_note(path, line, strlen(line));
    return PW_OK;
}

/* A GGUF file holds a model and can have gigabytes, so it is read in parts. No copy or witness is kept
 * of it: tokenizer= has its digest. */
static enum pw_code open_gguf(struct pw_tokens **t, const char *path, char digits[65], struct pw_err *err)
{
    uint8_t sha[32];
    size_t size;
    int fd;
    struct pw_err cause;
    enum pw_code code = pw_file_open(&fd, path, &size, &cause);
    if (code != PW_OK)
        return fail_read(&cause, err);
    code = pw_file_sha(fd, path, size, sha, &cause);
    close(fd);
    if (code != PW_OK)
        return fail_read(&cause, err);
    pw_sha256_text(digits, sha);
    code = pw_tokens_open(t, path, &cause);
    return code == PW_OK ? PW_OK : pw_fail(err, code, "text: tokens=%s", cause.msg);
}

enum pw_code pw_tokenizer_open(struct pw_tokens **t, const char *path, char digits[65], struct pw_err *err)
{
    struct content c = {0};
    struct pw_err cause;
    *t = NULL;
    if (pw_text_ends(path, ".gguf"))
        return open_gguf(t, path, digits, err);
    enum pw_code code = read_file(&c, path, err);
    if (code == PW_OK) {
        code = pw_tokens_open_text(t, c.data, c.n, path, &cause);
        if (code != PW_OK)
            pw_fail(err, code, "text: tokens=%s", cause.msg);
    }
    memcpy(digits, c.digits, sizeof c.digits);
    free(c.data);
    return code;
}

enum pw_code pw_tokenizer_settle(struct pw_tokens **t, const char *task, const char *tokens,
                                 char digits[PW_TOKENIZER_DIGITS + 1], int vocab, struct pw_err *err)
{
    char now[65];
    enum pw_code code = pw_tokenizer_open(t, tokens, now, err);
    if (code != PW_OK)
        return code;
    now[PW_TOKENIZER_DIGITS] = '\0';
    if (digits[0] == '\0')
        strcpy(digits, now);
    if (strcmp(digits, now) != 0)
        return pw_fail(err, PW_EUSER,
                       "%s: %.200s is not the tokenizer that tokenizer=%s names, its SHA-256 begins with %s; "
                       "restore it, or start with a new 'task %s'",
                       task, tokens, digits, now, task);
    if (vocab > 0 && vocab < pw_tokens_count(*t))
        return pw_fail(err, PW_EUSER, "%s: vocab=%d: %.200s has %d tokens", task, vocab, tokens,
                       pw_tokens_count(*t));
    return PW_OK;
}
