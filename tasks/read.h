/* read.h - reading typed text and naming symbols, shared by the tasks.
 *
 * Typed text is read in pieces. Blanks, commas and semicolons separate pieces. A piece is one of the marks =
 * + - . : ? > [ ] | ( ) % or a run of other bytes. So `[ l, d ]`, `[l,d]` and `[ l d ]` are the same list,
 * and a sentence of the paper is recognised with any spacing.
 *
 * Pure functions, for any thread. A function that fails writes a message into err; the message begins with
 * `what`, if there is such an argument. */
#ifndef PW_READ_H
#define PW_READ_H
#include "base/err.h"
#include "base/text.h"
#include <stdbool.h>
#include <stddef.h>

struct pw_vocab;
struct pw_spelling;

extern const char *const pw_samplings[]; /* names of enum pw_sampling, NULL-terminated */

/* A piece of the text that is read. */
struct pw_piece {
    const char *s; /* points into the text that is read */
    size_t n;      /* bytes; 0: end of the text */
};

/* Removes the next piece from *text and returns it. */
struct pw_piece pw_read_piece(const char **text);
/* If *text begins with the pieces of given, removes them and returns true;
 * otherwise leaves *text unchanged. */
bool pw_read_accept(const char **text, const char *given);
/* Returns true if the piece equals s. */
bool pw_piece_is(struct pw_piece piece, const char *s);
/* A piece for a message: shortened, and valid UTF-8 if the text is. */
struct pw_piece_text {
    char s[32];
};
struct pw_piece_text pw_piece_text(struct pw_piece piece);

/* Reads one of the symbols 0..alphabet-1. */
enum pw_code pw_read_symbol(const char **text, const char *what, int alphabet, int *symbol,
                            struct pw_err *err);
/* Reads symbols into v up to the end of the text or the first mark. Returns their number, or -1 with a
 * message; more than max is an error. */
int pw_read_symbols(const char **text, const char *what, int alphabet, int *v, int max, struct pw_err *err);
/* Removes the digits of one number from *text; blanks can separate them, and leading zeros are dropped.
 * Returns the number of digits, 0 if there is no number. Digits beyond max are counted, not stored. */
int pw_read_digits(const char **text, int *digits, int max);
/* Fails if *text has another piece; the message shows example. */
enum pw_code pw_read_end(const char **text, const char *what, const char *example, struct pw_err *err);

/* Adds the tokens of a NULL-terminated list. */
void pw_list_words(const char *const *words, struct pw_vocab *v);

/* Returns true if text is lead followed by the number `digit`, with or without a full stop. */
bool pw_is_digit_answer(const char *text, const char *lead, int digit);

/* Returns items^n, the number of lists of n elements with `items` values each; infinite
 * if a double cannot hold it. */
double pw_list_count(int items, int n);
/* Writes list number k of them to v [n], the last element fastest; elements are first .. first+items-1.
 * Returns the quotient of k that is left: 0 if k is below the count. */
uint64_t pw_list_nth(int items, int first, uint64_t k, int *v, int n);

/* pw_spelling_word returns token i without its leading blank. pw_spelling_symbol returns true if it is a
 * symbol, in either spelling. */
const char *pw_spelling_word(const struct pw_spelling *text, int i);
bool pw_spelling_symbol(const struct pw_spelling *text, int i);
/* Writes the positions of the symbols among tokens from..to-1 to at (NULL: not wanted)
 * and returns their number. */
int pw_spelling_symbols(const struct pw_spelling *text, int from, int to, int *at);

/* Appends a number digit by digit, " - 2 4", like number_to_string in the released code
 * of Kazemnejad et al. 2023. */
void pw_number_write(int v, struct pw_str *out);
/* pw_symbols_write appends " 3" for every symbol; pw_symbols_words adds the tokens " 0",
 * " 1", ... of an alphabet. */
void pw_symbols_write(const int *v, int n, const char *separator, struct pw_str *out);
void pw_symbols_words(int alphabet, struct pw_vocab *v);
/* The same in a style of text (enum pw_text_style): text=appendix writes " <w1> <w2>", where <w1> is symbol
 * 0. pw_read_symbol reads both spellings. */
void pw_styled_write(int style, const int *v, int n, struct pw_str *out);
void pw_styled_words(int style, int alphabet, struct pw_vocab *v);

#endif
