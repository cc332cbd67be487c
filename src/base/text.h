/* text.h - growing strings, UTF-8 and the small text chores that everybody needs. */
#ifndef PW_TEXT_H
#define PW_TEXT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing string, always NUL-terminated after the first append; {0} is empty and valid. What is appended
 * must not point into it. Without memory for it the program stops with a message. */
struct pw_str {
    char *s;
    size_t len, cap;
};

void pw_str_add(struct pw_str *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void pw_str_put(struct pw_str *b, const char *s, size_t n); /* n bytes as they are */
void pw_str_clear(struct pw_str *b);                        /* empty, memory kept */
void pw_str_fini(struct pw_str *b);
const char *pw_str_text(const struct pw_str *b); /* "" when empty, never NULL */

/* Decodes one code point at s (n bytes left, n > 0) into *cp and returns its bytes; an invalid byte
 * gives U+FFFD and 1. */
size_t pw_utf8_next(const char *s, size_t n, uint32_t *cp);
size_t pw_utf8_put(char out[4], uint32_t cp); /* returns bytes written */
bool pw_utf8_valid(const char *s, size_t n);
int pw_utf8_cells(uint32_t cp);   /* columns on a terminal: 0, 1 or 2; control characters 1 */
int pw_text_cells(const char *s); /* columns of a whole string */

/* A character of an XML text: what would be markup as an entity. */
void pw_str_xml(struct pw_str *b, uint32_t cp);

bool pw_text_ends(const char *text, const char *ending);
/* Are they equal but for the case of ASCII letters, in any locale? */
bool pw_text_same(const char *a, const char *b);

/* Copies src to dst (size bytes with the NUL), cut at a code point; control characters and
 * invalid bytes become '?'. src may not overlap dst. */
void pw_text_copy(char *dst, size_t size, const char *src);

/* The name nearest to word by edit distance (insert, delete, replace, swap of neighbours; not case), or
 * NULL if none is near enough to be worth a suggestion; a name that begins with word is near. names ends
 * with NULL. */
const char *pw_text_nearest(const char *word, const char *const *names);

/* Strict number parsing: the whole of s, decimal, no spaces, no leading '+', no overflow, finite. Like
 * printf, it needs LC_NUMERIC to be "C": main sets LC_CTYPE only. */
bool pw_text_int(const char *s, long min, long max, long *out);
bool pw_text_double(const char *s, double *out);

/* "0:07", "1:02:33": seconds as people read them. */
void pw_text_duration(char *dst, size_t size, double seconds);

#endif
