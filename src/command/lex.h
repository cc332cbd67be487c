/* lex.h - the lexer of the command language: where commands and words begin and end. Only this module
 * interprets blanks, quotes, comments and parentheses.
 *
 * The lexer never fails, because completion reads half-typed lines. The result reports open quotes and
 * unmatched parentheses, and the parser (parse.c) treats them as errors. All positions are byte offsets into
 * the text. Any thread may call these functions. */
#ifndef PW_LEX_H
#define PW_LEX_H
#include "base/err.h"
#include "base/text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PW_LEX_FORMULA                                                                                       \
    "expr" /* the word after which a single quote protects text, as a double quote does                      \
            */
#define PW_NOWHERE    SIZE_MAX
#define PW_LINE_LIMIT 65536 /* bytes of a line; a longer one is rejected as not being a script */

/* Bounds of one command. */
struct pw_lex_command {
    size_t begin, end; /* trimmed, without comment; equal if the command is empty */
    size_t next;       /* where the next command may begin */
    bool comment;      /* a comment follows */
    size_t quote;      /* position of an unclosed quote, or PW_NOWHERE */
};

/* Bounds of one word, and the positions inside it that the parser and completion need. */
struct pw_lex_word {
    size_t begin, end;
    size_t equals; /* position of the '=' between key and value, or PW_NOWHERE */
    size_t item;   /* start of the last item if the word or value is a comma-separated list */
    size_t open;   /* position of an unclosed '(', or PW_NOWHERE */
    size_t stray;  /* position of a ')' without '(', or PW_NOWHERE */
};

/* Find the command at s[at]; s ends with NUL. Returns false if only blanks and separators follow. Skips a ':'
 * before the command, because documents show the key that opens the command line. */
bool pw_lex_command(const char *s, size_t at, struct pw_lex_command *c);
/* Find the word at s[at] after blanks; false if there is none before end. */
bool pw_lex_word(const char *s, size_t at, size_t end, struct pw_lex_word *w);
/* Append the meaning of s[begin..end) to out: quotes outside parentheses removed, \" and \\ in them
 * resolved. */
void pw_lex_unquote(const char *s, size_t begin, size_t end, struct pw_str *out);
/* Does one pair of quotes enclose all of s[begin..end)? */
bool pw_lex_enclosed(const char *s, size_t begin, size_t end);
/* Return the end of the text that takes the rest of a command, s[at..end): behind the quote that closes its
 * first character if a blank or the end follows it; otherwise `end`. */
size_t pw_lex_tail(const char *s, size_t at, size_t end);
/* Call each() with every path that begins with the typed text, sorted by name (files.c). A folder ends with
 * '/'. Hidden files only if the dot is typed. */
void pw_complete_files(const char *typed, void (*each)(void *arg, const char *path), void *arg);
/* Check that s can be displayed: valid UTF-8, no control characters except tab and line ends, no line longer
 * than PW_LINE_LIMIT. Fails with PW_EUSER. */
enum pw_code pw_lex_check(const char *s, struct pw_err *err);
/* Fill err with "byte N: WHAT", after the line number if s has several lines. Returns PW_EUSER. */
enum pw_code pw_lex_fail(const char *s, size_t at, const char *what, struct pw_err *err);

#endif
