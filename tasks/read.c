/* read.c - pieces of typed text, and symbols (see read.h). */
#include "tasks/read.h"

#include "tasks/task.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const pw_samplings[] = {"code", "appendix", NULL};

#define BLANKS " \t\r\n,;"
#define MARKS  "=+-.:?>[]|()%"

struct pw_piece pw_read_piece(const char **text)
{
    const char *s = *text + strspn(*text, BLANKS);
    size_t n = strcspn(s, BLANKS MARKS);
    if (n == 0 && *s != '\0')
        n = 1; /* a mark */
    *text = s + n;
    return (struct pw_piece){s, n};
}

bool pw_piece_is(struct pw_piece piece, const char *s)
{
    return strlen(s) == piece.n && memcmp(piece.s, s, piece.n) == 0;
}

bool pw_read_accept(const char **text, const char *given)
{
    const char *at = *text;
    for (;;) {
        struct pw_piece want = pw_read_piece(&given), have;
        if (want.n == 0)
            break;
        have = pw_read_piece(&at);
        if (have.n != want.n || memcmp(have.s, want.s, want.n) != 0)
            return false;
    }
    *text = at;
    return true;
}

struct pw_piece_text pw_piece_text(struct pw_piece piece)
{
    struct pw_piece_text t;
    char whole[sizeof t.s + 4]; /* room for a code point that pw_text_copy omits as a whole */
    size_t n = piece.n < sizeof whole ? piece.n : sizeof whole - 1;
    memcpy(whole, piece.s, n);
    whole[n] = '\0';
    pw_text_copy(t.s, sizeof t.s, whole);
    return t;
}

/* Writes the symbols of an alphabet for a message: "0..9 a..z A..F". */
static void alphabet_text(char dst[32], int alphabet)
{
    static const int first[] = {0, 10, 36, PW_MAX_SYMBOLS};
    size_t len = 0;
    for (int i = 0; i < 3 && first[i] < alphabet; i++) {
        int last = (alphabet < first[i + 1] ? alphabet : first[i + 1]) - 1;
        if (i > 0)
            dst[len++] = ' ';
        dst[len++] = *pw_symbol(first[i]);
        if (last > first[i]) {
            memcpy(dst + len, "..", 2);
            dst[len + 2] = *pw_symbol(last);
            len += 3;
        }
    }
    dst[len] = '\0';
}

/* Reads a symbol in the spelling of text=appendix: "<w12" is the twelfth symbol; the '>' is a separate piece.
 */
static int numbered(struct pw_piece piece, const char **at)
{
    int n = 0;
    if (piece.n < 3 || piece.n > 4 || memcmp(piece.s, "<w", 2) != 0)
        return -1;
    for (size_t i = 2; i < piece.n; i++) {
        if (piece.s[i] < '0' || piece.s[i] > '9')
            return -1;
        n = 10 * n + piece.s[i] - '0';
    }
    return pw_read_accept(at, ">") ? n - 1 : -1;
}

enum pw_code pw_read_symbol(const char **text, const char *what, int alphabet, int *symbol,
                            struct pw_err *err)
{
    const char *at = *text;
    struct pw_piece piece = pw_read_piece(&at);
    char allowed[32];
    int found = pw_symbol_index(piece.s, piece.n);
    if (found < 0)
        found = numbered(piece, &at);
    if (found >= 0 && found < alphabet) {
        *symbol = found;
        *text = at;
        return PW_OK;
    }
    alphabet_text(allowed, alphabet);
    if (piece.n == 0)
        return pw_fail(err, PW_EUSER, "%s: the text ends where one of the %d symbols %s must follow", what,
                       alphabet, allowed);
    return pw_fail(err, PW_EUSER, "%s: '%s' is not one of the %d symbols %s%s", what, pw_piece_text(piece).s,
                   alphabet, allowed,
                   piece.n > 1 && pw_symbol_index(piece.s, 1) >= 0 ? ", separated by blanks" : "");
}

int pw_read_symbols(const char **text, const char *what, int alphabet, int *v, int max, struct pw_err *err)
{
    for (int n = 0;; n++) {
        const char *at = *text;
        struct pw_piece piece = pw_read_piece(&at);
        int symbol;
        if (piece.n == 0 || strchr(MARKS, *piece.s) != NULL) {
            if (n <= max)
                return n;
            pw_fail(err, PW_EUSER, "%s: %d symbols; at most %d are allowed", what, n, max);
            return -1;
        }
        if (pw_read_symbol(text, what, alphabet, &symbol, err) != PW_OK)
            return -1;
        if (n < max)
            v[n] = symbol;
    }
}

int pw_read_digits(const char **text, int *digits, int max)
{
    const char *blanks = " \t\r\n", *s = *text;
    int n = 0;
    bool any = false;
    for (s += strspn(s, blanks); *s >= '0' && *s <= '9'; s += strspn(s, blanks)) {
        int digit = *s++ - '0';
        if (n == 1 && digits[0] == 0)
            n = 0; /* the only digit so far was a leading zero */
        if (n < max)
            digits[n] = digit;
        n++;
        any = true;
    }
    if (any)
        *text = s;
    return n;
}

bool pw_is_digit_answer(const char *text, const char *lead, int digit)
{
    int said = -1;
    bool one = pw_read_accept(&text, lead) && pw_read_digits(&text, &said, 1) == 1 && said == digit;
    (void)pw_read_accept(&text, ".");
    return one && pw_read_piece(&text).n == 0;
}

enum pw_code pw_read_end(const char **text, const char *what, const char *example, struct pw_err *err)
{
    struct pw_piece piece = pw_read_piece(text);
    if (piece.n == 0)
        return PW_OK;
    return pw_fail(err, PW_EUSER, "%s: unexpected '%s'; write: %s", what, pw_piece_text(piece).s, example);
}

const char *pw_symbol(int i)
{
    static const char symbols[PW_MAX_SYMBOLS][2] = {
        "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b", "c", "d", "e", "f",
        "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t", "u", "v",
        "w", "x", "y", "z", "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L",
        "M", "N", "O", "P", "Q", "R", "S", "T", "U", "V", "W", "X", "Y", "Z"};
    assert(i >= 0 && i < PW_MAX_SYMBOLS);
    return symbols[i];
}

int pw_symbol_index(const char *s, size_t n)
{
    if (n != 1)
        return -1;
    if (*s >= '0' && *s <= '9')
        return *s - '0';
    if (*s >= 'a' && *s <= 'z')
        return *s - 'a' + 10;
    if (*s >= 'A' && *s <= 'Z')
        return *s - 'A' + 36;
    return -1;
}

void pw_number_write(int v, struct pw_str *out)
{
    char digits[16];
    snprintf(digits, sizeof digits, "%d", abs(v));
    pw_str_add(out, v < 0 ? " -" : "");
    for (const char *d = digits; *d != '\0'; d++)
        pw_str_add(out, " %c", *d);
}

void pw_symbols_write(const int *v, int n, const char *separator, struct pw_str *out)
{
    for (int i = 0; i < n; i++) {
        if (i > 0)
            pw_str_put(out, separator, strlen(separator));
        pw_str_put(out, " ", 1);
        pw_str_put(out, pw_symbol(v[i]), 1);
    }
}

void pw_symbols_words(int alphabet, struct pw_vocab *v)
{
    for (int i = 0; i < alphabet; i++) {
        char word[3] = {' ', *pw_symbol(i), '\0'};
        pw_vocab_add(v, word);
    }
}

void pw_styled_write(int style, const int *v, int n, struct pw_str *out)
{
    if (style != PW_TEXT_APPENDIX) {
        pw_symbols_write(v, n, "", out);
        return;
    }
    for (int i = 0; i < n; i++)
        pw_str_add(out, " <w%d>", v[i] + 1);
}

void pw_styled_words(int style, int alphabet, struct pw_vocab *v)
{
    if (style != PW_TEXT_APPENDIX) {
        pw_symbols_words(alphabet, v);
        return;
    }
    for (int i = 0; i < alphabet; i++) {
        char word[16];
        snprintf(word, sizeof word, " <w%d>", i + 1);
        pw_vocab_add(v, word);
    }
}

void pw_list_words(const char *const *words, struct pw_vocab *v)
{
    for (; *words != NULL; words++)
        pw_vocab_add(v, *words);
}

double pw_list_count(int items, int n)
{
    double count = 1;
    while (n-- > 0)
        count *= items;
    return count;
}

uint64_t pw_list_nth(int items, int first, uint64_t k, int *v, int n)
{
    while (n-- > 0) {
        v[n] = first + (int)(k % (uint64_t)items);
        k /= (uint64_t)items;
    }
    return k;
}
