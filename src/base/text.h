/* text.h - growing strings, UTF-8, and small functions for text.
 *
 * Any thread may call these functions; one struct pw_str belongs to one thread at a time. */
#ifndef PW_TEXT_H
#define PW_TEXT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing string. {0} is empty and valid; after the first append it is NUL-terminated. The appended text
 * must not point into the string itself. The program ends if there is no memory (base/alloc.h). */
struct pw_str {
    char *s;
    size_t len, cap;
};

/* Append formatted text. */
void pw_str_add(struct pw_str *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void pw_str_put(struct pw_str *b, const char *s, size_t n); /* appends n bytes unchanged */
void pw_str_clear(struct pw_str *b);                        /* empties it, keeps the memory */
void pw_str_fini(struct pw_str *b);
const char *pw_str_text(const struct pw_str *b); /* "" when empty, never NULL */

/* Decode one code point at s (n > 0 bytes left) into *cp, and return its number of bytes. An invalid byte
 * gives U+FFFD and 1. */
size_t pw_utf8_next(const char *s, size_t n, uint32_t *cp);
size_t pw_utf8_put(char out[4], uint32_t cp); /* returns the number of bytes written */
bool pw_utf8_valid(const char *s, size_t n);
int pw_utf8_cells(uint32_t cp);   /* terminal columns: 0, 1 or 2; 1 for control characters */
int pw_text_cells(const char *s); /* terminal columns of a string */

/* Append text in quotes as the command language reads it back: \" and \\ inside. */
void pw_str_quote(struct pw_str *b, const char *text);
/* Append text as a word of the command language: in quotes only if it would be split or misread without. */
void pw_str_word(struct pw_str *b, const char *text);
/* Append a code point as XML text; markup characters become entities. */
void pw_str_xml(struct pw_str *b, uint32_t cp);

/* Does text end in `ending`? */
bool pw_text_ends(const char *text, const char *ending);
/* Compare two strings, ignoring the case of ASCII letters in every locale. */
bool pw_text_same(const char *a, const char *b);

/* Copy src to dst (size bytes with the NUL), cut at a code point. Control characters and invalid bytes become
 * '?'. src must not overlap dst. */
void pw_text_copy(char *dst, size_t size, const char *src);

/* Return the name nearest to `word`, for a "did you mean"; NULL if none is near enough. The distance counts
 * insertions, deletions, replacements and swaps of neighbours, and ignores case. A name that begins with
 * `word` is near. `names` ends with NULL. */
const char *pw_text_nearest(const char *word, const char *const *names);

/* Parse a number strictly: all of s, decimal, no spaces, no leading '+', no overflow, finite. Returns false
 * and leaves *out unchanged otherwise. Like printf it needs LC_NUMERIC to be "C"; main sets LC_CTYPE only. */
bool pw_text_int(const char *s, long min, long max, long *out);
bool pw_text_double(const char *s, double *out);

/* Format seconds as "0:07" or "1:02:33". */
void pw_text_duration(char *dst, size_t size, double seconds);

#endif
