/* lex.h - where commands and words begin and end: the one place that knows blanks, quotes, comments and
 * parentheses.
 *
 * It never fails, because completion looks at lines that are half typed: what is open or too much is said in
 * the result, and only the parser (parse.c) calls it an error. All positions are bytes of the text. */
#ifndef PW_LEX_H
#define PW_LEX_H
#include "base/err.h"
#include "base/text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PW_NOWHERE    SIZE_MAX
#define PW_LINE_LIMIT 65536 /* bytes of a line; nobody types more, and what is longer is no script */

struct pw_lex_command {
    size_t begin, end; /* trimmed, without comment; equal if there is nothing */
    size_t next;       /* where the next one may begin */
    bool comment;      /* a comment follows */
    size_t quote;      /* of a quote that is not closed, or PW_NOWHERE */
};

struct pw_lex_word {
    size_t begin, end;
    size_t equals; /* of the '=' that parts key and value, or PW_NOWHERE */
    size_t item;   /* where the last item begins of a list with commas (the word or the value) */
    size_t open;   /* of a '(' that is not closed, or PW_NOWHERE */
    size_t stray;  /* of a ')' without '(', or PW_NOWHERE */
};

/* The command at s[at] (s ends with NUL); false if nothing but blanks and separators follows. A ':' before it
 * is passed over: documents write the key that opens the line. */
bool pw_lex_command(const char *s, size_t at, struct pw_lex_command *c);
/* The word at s[at], with blanks before it skipped; false if there is none before end. */
bool pw_lex_word(const char *s, size_t at, size_t end, struct pw_lex_word *w);
/* Appends what s[begin..end) means: quotes outside parentheses removed, \" and \\ in them resolved. */
void pw_lex_unquote(const char *s, size_t begin, size_t end, struct pw_str *out);
/* Does one pair of quotes enclose all of s[begin..end)? */
bool pw_lex_enclosed(const char *s, size_t begin, size_t end);
/* Calls each with every file whose name begins with what is typed, by name; a folder's ends with '/'. Hidden
 * ones only where the dot is typed (files.c). */
void pw_complete_files(const char *typed, void (*each)(void *arg, const char *path), void *arg);
/* Is it text that can be shown: valid UTF-8, no control characters but tab and the ends of lines, no endless
 * line? */
enum pw_code pw_lex_check(const char *s, struct pw_err *err);
/* Fails with "byte N: what is wrong"; with the line's number before it where s has several. Returns PW_EUSER.
 */
enum pw_code pw_lex_fail(const char *s, size_t at, const char *what, struct pw_err *err);

#endif
