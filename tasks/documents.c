/* documents.c - opens and checks a user's text (see documents.h).
 *
 * A session must be able to tell whether a text is still the same. A small file is read by pw_file_read_as,
 * so the session keeps a copy and a re-run reads the copy. For the rest the session keeps one line with the
 * SHA-256 of all of it, recorded under the text's name, and a re-run compares.
 *
 * A text is held in memory, so that a change of the file changes no sample. Files beyond IN_MEMORY are
 * mapped. If another program shortens such a file, a read beyond its end kills the process (SIGBUS). The
 * session can be continued once the file is as it was. */
#include "tasks/documents.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/sha256.h"

#define WITNESS       "pewter text " /* begins the line that a session keeps of a large text */
#define WITNESS_BYTES 256
#define SCANNED       ((size_t)16 << 20)  /* bytes, a multiple of a page */
#define IN_MEMORY     ((size_t)256 << 20) /* bytes of a text that are read; the rest is mapped */

static enum pw_code fail_errno(struct pw_err *err, const char *path, const char *doing)
{
    return pw_fail(err, errno == ENOMEM ? PW_ENOMEM : PW_EUSER, "text: %.240s: cannot %s: %s", path, doing,
                   strerror(errno));
}

/* Reads the whole file, whose size fstat said. */
static enum pw_code read_whole(struct pw_document *doc, int fd, const char *path, struct pw_err *err)
{
    struct pw_err cause;
    doc->text = malloc(doc->bytes);
    if (doc->text == NULL)
        return pw_fail(err, PW_ENOMEM, "text: %.240s: out of memory: %zu bytes needed", path, doc->bytes);
    if (pw_file_read_at(fd, path, doc->text, doc->bytes, 0, &cause) == PW_OK)
        return PW_OK;
    free(doc->text);
    doc->text = NULL;
    return pw_fail(err, PW_EUSER, "text: %s", cause.msg);
}

static enum pw_code map_whole(struct pw_document *doc, int fd, const char *path, struct pw_err *err)
{
    void *at = mmap(NULL, doc->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED)
        return fail_errno(err, path, "map");
    doc->text = at;
    doc->mapped = true;
    return PW_OK;
}

/* Opens a regular file that is not empty: reads it, or maps it if the text would have more than IN_MEMORY
 * bytes then. *held: how many it has so far. An empty file gives bytes == 0. */
static enum pw_code open_file(struct pw_document *doc, size_t *held, const char *path, struct pw_err *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &st) != 0) {
        enum pw_code code = fail_errno(err, path, "open");
        if (fd >= 0)
            close(fd);
        return code;
    }
    if (!S_ISREG(st.st_mode)) {
        close(fd);
        return pw_fail(err, PW_EUSER, "text: %.240s: is a device or a pipe, not a file or a folder", path);
    }
    enum pw_code code = PW_OK;
    doc->bytes = (size_t)st.st_size;
    bool read = doc->bytes <= IN_MEMORY - *held;
    *held += read ? doc->bytes : 0;
    if (doc->bytes > 0)
        code = read ? read_whole(doc, fd, path, err) : map_whole(doc, fd, path, err);
    close(fd);
    return code;
}

static void free_document(struct pw_document *doc)
{
    if (doc->mapped)
        munmap(doc->text, doc->bytes);
    else
        free(doc->text);
    free(doc->marks);
    free(doc->ids);
}

void pw_documents_close(struct pw_documents *d)
{
    if (d == NULL)
        return;
    for (int i = 0; i < d->n; i++)
        free_document(&d->list[i]);
    for (int p = 0; p < PW_PARTS; p++) {
        free(d->parts[p].list);
        free(d->parts[p].sums);
    }
    free(d->list);
    free(d->alphabet);
    free(d->ids);
    free(d);
}

/* ---- what a document may contain */

/* Returns the number of the line that holds byte `at`. */
static size_t line_of(const struct pw_document *doc, size_t at)
{
    size_t line = 1;
    for (size_t i = 0; i < at; i++)
        line += doc->text[i] == '\n';
    return line;
}

/* Returns pages of a mapped text that were scanned: they stay in the system's cache, but are no memory of
 * this process. */
static void release_pages(const struct pw_document *doc, size_t at, size_t n)
{
    if (doc->mapped)
        (void)madvise(doc->text + at, n, MADV_DONTNEED);
}

static enum pw_code fail_utf8(const struct pw_document *doc, size_t at, const char *name, struct pw_err *err)
{
    return pw_fail(err, PW_EUSER,
                   "text: %.240s: line %zu is not valid UTF-8; use tokens=bytes, or convert the file", name,
                   line_of(doc, at));
}

/* Counts the characters, indexes every PW_DOCUMENTS_MARK-th, and marks those that occur in seen. */
static enum pw_code scan_chars(struct pw_document *doc, const char *name, uint8_t *seen, struct pw_err *err)
{
    doc->marks = pw_alloc(doc->bytes / PW_DOCUMENTS_MARK + 1, sizeof *doc->marks);
    size_t n_marks = 0;
    for (size_t at = 0; at < doc->bytes; doc->tokens++) {
        uint32_t cp;
        size_t n = pw_utf8_next(doc->text + at, doc->bytes - at, &cp);
        if (cp == 0xfffd && n == 1)
            return fail_utf8(doc, at, name, err);
        if (doc->tokens % PW_DOCUMENTS_MARK == 0)
            doc->marks[n_marks++] = at;
        seen[cp] = 1;
        if ((at + n) / SCANNED > at / SCANNED)
            release_pages(doc, at / SCANNED * SCANNED, SCANNED);
        at += n;
    }
    return PW_OK;
}

/* Makes the ids of a document. */
static enum pw_code encode_document(struct pw_document *doc, const struct pw_tokens *tokenizer,
                                    const char *name, struct pw_err *err)
{
    struct pw_token_list list = {0};
    struct pw_err cause;
    for (size_t at = 0; at < doc->bytes;) {
        uint32_t cp;
        size_t n = pw_utf8_next(doc->text + at, doc->bytes - at, &cp);
        if (cp == 0xfffd && n == 1)
            return fail_utf8(doc, at, name, err);
        at += n;
    }
    enum pw_code code = pw_tokens_encode(tokenizer, doc->text, doc->bytes, &list, &cause);
    if (code == PW_OK && list.n == 0)
        code = pw_fail(&cause, PW_EUSER, "the tokenizer makes no token of it");
    doc->ids = list.ids;
    doc->tokens = (int64_t)list.n;
    return code == PW_OK ? PW_OK : pw_fail(err, code, "text: %.120s: %s", name, cause.msg);
}

static enum pw_code scan(struct pw_document *doc, const struct pw_documents *d, const char *name,
                         uint8_t *seen, struct pw_err *err)
{
    struct pw_sha256 sha;
    pw_sha256_begin(&sha);
    for (size_t at = 0; at < doc->bytes; at += SCANNED) {
        size_t n = doc->bytes - at < SCANNED ? doc->bytes - at : SCANNED;
        const char *nul = memchr(doc->text + at, '\0', n);
        if (nul != NULL)
            return pw_fail(err, PW_EUSER, "text: %.240s: line %zu has a NUL byte; text has none", name,
                           line_of(doc, (size_t)(nul - doc->text)));
        pw_sha256_add(&sha, doc->text + at, n);
        release_pages(doc, at, n);
    }
    pw_sha256_end(&sha, doc->sha);
    doc->tokens = seen == NULL ? (int64_t)doc->bytes : 0;
    enum pw_code code = seen == NULL ? PW_OK : scan_chars(doc, name, seen, err);
    if (d->tokenizer != NULL)
        code = encode_document(doc, d->tokenizer, name, err);
    if (doc->mapped) /* windows are far from each other */
        (void)madvise(doc->text, doc->bytes, MADV_RANDOM);
    return code;
}

enum { CODE_POINTS = 0x110000 };

/* Lists the characters that occur. */
static enum pw_code take_alphabet(struct pw_documents *d, const uint8_t *seen, const char *name,
                                  struct pw_err *err)
{
    int n = 0, last = 0;
    for (int cp = 0; cp < CODE_POINTS; cp++)
        if (seen[cp] != 0)
            n++, last = cp;
    if (n > PW_DOCUMENTS_CHARS)
        return pw_fail(err, PW_EUSER,
                       "text: %.240s: has %d different characters; at most %d are allowed with tokens=chars: "
                       "use tokens=bytes",
                       name, n, PW_DOCUMENTS_CHARS);
    d->alphabet = pw_alloc((size_t)n, sizeof *d->alphabet);
    d->ids = pw_alloc((size_t)last + 1, sizeof *d->ids);
    for (int cp = 0; cp <= last; cp++)
        if (seen[cp] != 0) {
            d->ids[cp] = (uint16_t)d->n_alphabet;
            d->alphabet[d->n_alphabet++] = (uint32_t)cp;
        }
    return PW_OK;
}

/* ---- the files */

static bool is_text_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
}

/* Lists the regular files of a folder by name, without hidden and empty ones. *names are paths. */
static enum pw_code list_folder(const char *path, struct pw_folder *names, struct pw_err *err)
{
    struct pw_err cause;
    enum pw_code code = pw_folder_list(names, path, "", &cause);
    int n = 0;
    if (code != PW_OK)
        return pw_fail(err, code, "text: %s", cause.msg);
    for (int i = 0; i < names->n; i++) {
        struct pw_str file = {0};
        pw_str_add(&file, "%s/%s", path, names->names[i]);
        bool text = names->names[i][0] != '.' && is_text_file(file.s);
        free(names->names[i]);
        if (text)
            names->names[n++] = file.s;
        else
            pw_str_fini(&file);
    }
    names->n = n;
    if (n > PW_DOCUMENTS_MOST)
        return pw_fail(err, PW_EUSER, "text: %.240s: has more than %d files, the limit", path,
                       PW_DOCUMENTS_MOST);
    return n > 0 ? PW_OK
                 : pw_fail(err, PW_EUSER,
                           "text: %.240s: the folder has no text: no file that is not empty or hidden", path);
}

static enum pw_code map_folder(struct pw_documents *d, const char *path, uint8_t *seen, struct pw_err *err)
{
    struct pw_folder files;
    size_t held = 0;
    enum pw_code code = list_folder(path, &files, err);
    if (code == PW_OK)
        d->list = pw_alloc((size_t)files.n, sizeof *d->list);
    for (int i = 0; i < files.n && code == PW_OK; i++) {
        struct pw_document *doc = &d->list[d->n];
        code = open_file(doc, &held, files.names[i], err);
        d->n += code == PW_OK && doc->bytes > 0; /* it may have been emptied since it was listed */
        if (code == PW_OK && doc->bytes > 0)
            code = scan(doc, d, files.names[i], seen, err);
    }
    pw_folder_free(&files);
    return code;
}

size_t pw_documents_sha(const struct pw_documents *d, char digits[65])
{
    struct pw_sha256 all;
    uint8_t sha[32];
    size_t bytes = 0;
    pw_sha256_begin(&all);
    for (int i = 0; i < d->n; i++) {
        pw_sha256_add(&all, d->list[i].sha, sizeof d->list[i].sha);
        bytes += d->list[i].bytes;
    }
    pw_sha256_end(&all, sha);
    pw_sha256_text(digits, d->n == 1 ? d->list[0].sha : sha);
    return bytes;
}

/* Writes the line that stands for a large text in a session. */
static void write_witness(const struct pw_documents *d, char line[WITNESS_BYTES])
{
    char digits[65];
    size_t bytes = pw_documents_sha(d, digits);
    snprintf(line, WITNESS_BYTES, WITNESS "of %d files, %zu bytes, sha256 %s\n", d->n, bytes, digits);
}

static enum pw_code map_text(struct pw_documents *d, const char *path, uint8_t *seen, struct pw_err *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return fail_errno(err, path, "open");
    if (S_ISDIR(st.st_mode))
        return map_folder(d, path, seen, err);
    d->list = pw_alloc(1, sizeof *d->list);
    size_t held = 0;
    enum pw_code code = open_file(&d->list[0], &held, path, err);
    if (code != PW_OK)
        return code;
    d->n = d->list[0].bytes > 0;
    return d->n == 0 ? pw_fail(err, PW_EUSER, "text: %.240s: is empty", path)
                     : scan(&d->list[0], d, path, seen, err);
}

/* Maps a text whose witness a session has, and compares. */
static enum pw_code map_as_recorded(struct pw_documents *d, const char *name, const char *path,
                                    const char *witness, uint8_t *seen, struct pw_err *err)
{
    char now[WITNESS_BYTES];
    if (path == NULL || access(path, F_OK) != 0)
        return pw_fail(err, PW_EUSER, "text: %.240s: is missing, and the session has no copy of it", name);
    enum pw_code code = map_text(d, path, seen, err);
    if (code != PW_OK)
        return code;
    write_witness(d, now);
    return strcmp(now, witness) == 0
               ? PW_OK
               : pw_fail(err, PW_EUSER,
                         "text: %.240s: has changed since the session read it: its SHA-256 differs", name);
}

/* Takes the content of a small file. Takes ownership of text. */
static enum pw_code take_file(struct pw_documents *d, const char *name, char *text, size_t size,
                              uint8_t *seen, struct pw_err *err)
{
    d->list = pw_alloc(1, sizeof *d->list);
    d->list[0] = (struct pw_document){.text = text, .bytes = size};
    d->n = 1;
    return size == 0 ? pw_fail(err, PW_EUSER, "text: %.240s: is empty", name)
                     : scan(&d->list[0], d, name, seen, err);
}

/* Returns true if a file is to be read whole. */
static bool is_small(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= PW_DOCUMENTS_COPY;
}

static enum pw_code open_text(struct pw_documents *d, const char *name, const char *path, uint8_t *seen,
                              struct pw_err *err)
{
    char *text, line[WITNESS_BYTES];
    size_t size;
    struct pw_err cause;
    if (!pw_file_copies() && path == NULL)
        return pw_fail(err, PW_EUSER, "text: %.240s: there is no such file", name);
    if (pw_file_copies() || is_small(path)) {
        enum pw_code code = pw_file_read_as(name, path, PW_DOCUMENTS_COPY, &text, &size, &cause);
        if (code != PW_OK)
            return pw_fail(err, code, "text: %s", cause.msg);
        if (strncmp(text, WITNESS, strlen(WITNESS)) != 0)
            return take_file(d, name, text, size, seen, err);
        code = map_as_recorded(d, name, path, text, seen, err);
        free(text);
        return code;
    }
    enum pw_code code = map_text(d, path, seen, err);
    if (code != PW_OK)
        return code;
    write_witness(d, line);
    pw_file_note(name, line, strlen(line));
    return PW_OK;
}

enum pw_code pw_documents_open(struct pw_documents **out, const char *name, const char *path,
                               enum pw_pieces tokens, const struct pw_tokens *tokenizer, struct pw_err *err)
{
    struct pw_documents *d = *out = pw_alloc(1, sizeof *d);
    bool chars = tokens == PW_PIECES_CHARS;
    uint8_t *seen = chars ? pw_alloc(CODE_POINTS, 1) : NULL;
    struct pw_str place = {0};
    d->chars = chars;
    d->tokenizer = tokenizer;
    if (path != NULL)
        pw_file_place(path, &place);
    enum pw_code code = open_text(d, name, place.s, seen, err);
    pw_str_fini(&place);
    if (code == PW_OK && chars)
        code = take_alphabet(d, seen, name, err);
    free(seen);
    return code == PW_OK ? pw_documents_split(d, err) : code;
}
