/* read.h - what the tasks share in reading typed text and naming symbols.
 *
 * Typed text is read piece by piece. Blanks, commas and semicolons separate; a piece is one of the marks
 * = + - . : ? > [ ] | ( ) % or a run of anything else. So `[ l, d ]`, `[l,d]` and `[ l d ]` are the same
 * list, and a sentence of the paper is recognised whatever its spacing. */
#ifndef PW_READ_H
#define PW_READ_H
#include "base/err.h"
#include "base/text.h"
#include <stdbool.h>
#include <stddef.h>

struct pw_vocab;
struct pw_spelling;

extern const char *const pw_samplings[]; /* names of enum pw_sampling, NULL-terminated */

struct pw_piece {
    const char *s; /* into the text that is read */
    size_t n;      /* bytes; 0: the text is at its end */
};

/* Takes the next piece off *text. */
struct pw_piece pw_read_piece(const char **text);
/* Takes what is given off *text if the text goes on with it, piece by piece; else leaves *text alone. */
bool pw_read_accept(const char **text, const char *given);
/* Is this piece the text s? */
bool pw_piece_is(struct pw_piece piece, const char *s);
/* A piece fit for a message: shortened, and valid UTF-8 if the text is. */
struct pw_piece_text {
    char s[32];
};
struct pw_piece_text pw_piece_text(struct pw_piece piece);

/* Reads one of the symbols 0..alphabet-1; what begins the message. */
enum pw_code pw_read_symbol(const char **text, const char *what, int alphabet, int *symbol,
                            struct pw_err *err);
/* Reads symbols into v up to the end or the first mark and returns how many, or -1 with a message.
 * More than max is an error. */
int pw_read_symbols(const char **text, const char *what, int alphabet, int *v, int max, struct pw_err *err);
/* Takes the digits of one number off *text, blanks between them allowed, and leaves zeros in front away;
 * returns how many, 0 if there is no number. Those beyond max are counted, not stored. */
int pw_read_digits(const char **text, int *digits, int max);
/* Nothing may be left. */
enum pw_code pw_read_end(const char **text, const char *what, const char *example, struct pw_err *err);

/* Adds the tokens of a NULL-terminated list. */
void pw_list_words(const char *const *words, struct pw_vocab *v);

/* Is this text the number `digit` behind lead, with or without a full stop? */
bool pw_says_digit(const char *text, const char *lead, int digit);

/* Lists of n items of which there are so many each: the power, infinite where a double can't hold it. */
double pw_list_count(int items, int n);
/* The list number k of them, the last item counting fastest: items first .. first + items - 1. Returns what
 * is left of k: 0 where it is below the count. */
uint64_t pw_list_nth(int items, int first, uint64_t k, int *v, int n);

/* Token i without its blank; is it a symbol, in either spelling? */
const char *pw_spelling_word(const struct pw_spelling *text, int i);
bool pw_spelling_symbol(const struct pw_spelling *text, int i);
/* The positions of the symbols among tokens from..to-1 (at may be NULL), and how many. */
int pw_spelling_symbols(const struct pw_spelling *text, int from, int to, int *at);

/* Appends a number digit by digit, " - 2 4", as the released code's number_to_string does. */
void pw_number_write(int v, struct pw_str *out);
/* Appends " 3" for every symbol, or adds the tokens " 0", " 1", ... of an alphabet. */
void pw_symbols_write(const int *v, int n, const char *separator, struct pw_str *out);
void pw_symbols_words(int alphabet, struct pw_vocab *v);
/* The same as a style of text (enum pw_text_style) has it: text=seed calls them " <w1> <w2>", where <w1> is
 * symbol 0. pw_read_symbol reads both spellings. */
void pw_styled_write(int style, const int *v, int n, struct pw_str *out);
void pw_styled_words(int style, int alphabet, struct pw_vocab *v);

#endif
