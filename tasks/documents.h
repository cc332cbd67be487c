/* documents.h - a user's text: a file or a folder of files, split into a trained and a held-out part. For the
 * task text (text.c).
 *
 * A token is a byte, a character or a piece of a tokenizer, which reads each document as one text when the
 * task is opened. A file is cut by position: its last tenth is held out. The files of a folder are documents:
 * one in ten, by the order of their SHA-256, is held out. A window is a run of consecutive tokens of one
 * document; it never crosses the cut.
 *
 * A session keeps a copy of a small file; of larger files and folders it records the SHA-256. Up to 256 MiB
 * of a text are read into memory, so a change of the file changes no sample. The rest is mapped: a mapped
 * file that another program truncates ends the process (SIGBUS), as with any mapped file.
 *
 * Read-only after pw_documents_open, so any thread can read it. */
#ifndef PW_DOCUMENTS_H
#define PW_DOCUMENTS_H
#include "tasks/task.h"

#define PW_DOCUMENTS_MOST  10000     /* files of a folder */
#define PW_DOCUMENTS_CHARS 4096      /* different characters */
#define PW_DOCUMENTS_COPY  (4 << 20) /* bytes of a file of which a session keeps a copy */
#define PW_DOCUMENTS_MARK  1024      /* characters between two entries of an index */

enum { PW_PART_TRAINED, PW_PART_HELD, PW_PARTS };

/* One file. */
struct pw_document {
    char *text;   /* [bytes], not NUL-terminated */
    size_t bytes; /* at least 1 */
    bool mapped;  /* munmap, not free */
    uint8_t sha[32];
    int64_t tokens;
    size_t *marks; /* characters: byte offset of every PW_DOCUMENTS_MARK-th; otherwise NULL */
    int *ids;      /* pieces: [tokens] ids; otherwise NULL */
};

/* A run of tokens of a document that belongs to one part. */
struct pw_stretch {
    int document;
    int64_t start, tokens;
};

/* A part of the text. The stretches are in descending order of tokens. */
struct pw_text_part {
    int n;
    struct pw_stretch *list;
    int64_t *sums; /* [n + 1] tokens of the stretches before each */
};

struct pw_documents {
    int n;
    struct pw_document *list;
    struct pw_text_part parts[PW_PARTS];
    bool chars;                        /* tokens are characters; otherwise bytes, or pieces */
    const struct pw_tokens *tokenizer; /* of pieces, borrowed; NULL: bytes or characters */
    uint32_t *alphabet;                /* characters: [n_alphabet] code points, ascending */
    int n_alphabet;
    uint16_t *ids; /* characters: [last code point + 1] index in alphabet */
};

/* Opens a file or the files of a folder. `name` is what messages and the session call it; path is where it is
 * (NULL: nowhere). `tokens` is BYTES, CHARS or TOKENS; a tokenizer, which is borrowed, goes with TOKENS.
 * Fails with one line: nothing there, no text, NUL bytes, invalid UTF-8 (not with bytes), too many
 * characters, a text that can't be encoded, or other content than the session recorded. On failure, too, the
 * caller passes *d to pw_documents_close. */
enum pw_code pw_documents_open(struct pw_documents **d, const char *name, const char *path,
                               enum pw_pieces tokens, const struct pw_tokens *tokenizer, struct pw_err *err);
void pw_documents_close(struct pw_documents *d); /* NULL is a no-op */

/* Writes the SHA-256 of a file, or that of all files' SHA-256 in the order of their names. Returns the bytes
 * of all files. */
size_t pw_documents_sha(const struct pw_documents *d, char digits[65]);

/* ---- documents_split.c */
enum pw_code pw_documents_split(struct pw_documents *d, struct pw_err *err);
/* Returns the number of windows of `tokens` tokens in a part. */
int64_t pw_documents_windows(const struct pw_documents *d, int part, int64_t tokens);
/* Finds window k of them: its document, and its first token there. */
void pw_documents_window(const struct pw_documents *d, int part, int64_t tokens, int64_t k, int *document,
                         int64_t *start);
/* Returns the tokens of the longest stretch of a part, and those of all. */
int64_t pw_documents_longest(const struct pw_documents *d, int part);
int64_t pw_documents_tokens(const struct pw_documents *d, int part);
/* Returns n bytes or characters from `start` of a document as text, and its number of bytes. */
const char *pw_documents_text(const struct pw_documents *d, int document, int64_t start, int n,
                              size_t *bytes);

#endif
