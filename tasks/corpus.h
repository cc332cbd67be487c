/* corpus.h - a file of lines, a prompt, a TAB and its answer each, in memory: for the task file.
 *
 * The text stays in memory as one block, blanks made single and both halves NUL-terminated in place, with
 * eight bytes a line beside it.
 *
 * One prompt in ten, by a hash of its text, is held out. */
#ifndef PW_CORPUS_H
#define PW_CORPUS_H
#include "tasks/task.h"

#define PW_CORPUS_WORDS  500 /* of a prompt, and of an answer; an item holds a typed prompt */
#define PW_CORPUS_WORD   256 /* bytes of a word */
#define PW_CORPUS_SKIP   8   /* words at most that a length doesn't count */
#define PW_CORPUS_BLANKS " \t\r\n"

enum { PW_CORPUS_TRAINED, PW_CORPUS_HELD };

struct pw_corpus_line {
    uint32_t at;     /* of the prompt in text; its answer follows its NUL */
    uint16_t length; /* words of the prompt, without the first `skip` of them */
    uint16_t tokens; /* of both */
};

struct pw_corpus {
    char *text;
    struct pw_corpus_line *lines;           /* [n] in the order of the file, none left out */
    uint32_t *order;                        /* [n] lines: trained before held out, then by length */
    uint32_t first[2][PW_CORPUS_WORDS + 2]; /* where in order a length begins, by group; the last: its end */
    int n, skip;
    struct pw_vocab words;
};

/* Reads a file. On failure, too, pw_corpus_destroy takes what was made. */
enum pw_code pw_corpus_create(struct pw_corpus **c, const char *path, int skip, struct pw_err *err);
void pw_corpus_destroy(struct pw_corpus *c); /* NULL is a no-op */
const char *pw_corpus_prompt(const struct pw_corpus *c, int line);
bool pw_corpus_is_held(const struct pw_corpus *c, int line); /* by its prompt alone */
/* Lines of lengths lo..hi of a group. */
uint32_t pw_corpus_count(const struct pw_corpus *c, int group, int lo, int hi);
/* Appends lines for the user: how many lines are trained, held out and which, tested, unused. */
void pw_corpus_tell(const struct pw_corpus *c, struct pw_range trained, struct pw_str *out);

#endif
