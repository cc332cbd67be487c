/* corpus.h - a user's file of lines in memory: prompt, TAB, answer. For the task file (file.c).
 *
 * The text is one block; blanks are single, and both halves of a line are NUL-terminated in place. Each
 * line costs twelve more bytes: struct pw_corpus_line, and its entry in `order`.
 *
 * One prompt in ten, by a hash of its text, is held out. A corpus is read-only after pw_corpus_create, so
 * any thread can read it. */
#ifndef PW_CORPUS_H
#define PW_CORPUS_H
#include "tasks/task.h"

#define PW_CORPUS_WORDS  500 /* in a prompt, and in an answer; an item also holds a typed prompt */
#define PW_CORPUS_WORD   256 /* bytes of a word */
#define PW_CORPUS_SKIP   8   /* most leading words that a length does not count */
#define PW_CORPUS_BLANKS " \t\r\n"

enum { PW_CORPUS_TRAINED, PW_CORPUS_HELD }; /* groups of lines */

/* One line of the file. */
struct pw_corpus_line {
    uint32_t at;     /* offset of the prompt in text; its answer follows the NUL */
    uint16_t length; /* words of the prompt, without the first `skip` */
    uint16_t tokens; /* of prompt and answer together */
};

/* The file. It owns its arrays. */
struct pw_corpus {
    char *text;
    struct pw_corpus_line *lines; /* [n] every line, in the order of the file */
    uint32_t *order;              /* [n] indices of lines: trained before held out, then by length */
    /* Start of each length in order, by group; the last entry is the end. */
    uint32_t first[2][PW_CORPUS_WORDS + 2];
    int n, skip;
    struct pw_vocab words;
};

/* Reads a file of at most 64 MiB. Messages name the line and the fault. On failure, too, the caller passes *c
 * to pw_corpus_destroy. */
enum pw_code pw_corpus_create(struct pw_corpus **c, const char *path, int skip, struct pw_err *err);
void pw_corpus_destroy(struct pw_corpus *c); /* NULL is a no-op */
/* Returns the text of a line's prompt; c owns it, and the answer follows its NUL. */
const char *pw_corpus_prompt(const struct pw_corpus *c, int line);
bool pw_corpus_is_held(const struct pw_corpus *c, int line); /* depends on the prompt alone */
/* Returns the number of lines of a group with lengths lo..hi. */
uint32_t pw_corpus_count(const struct pw_corpus *c, int group, int lo, int hi);
/* Appends lines of text for the user: how many lines are trained, held out (and which), tested, unused. */
void pw_corpus_describe(const struct pw_corpus *c, struct pw_range trained, struct pw_str *out);

#endif
