/* terminfo.c - the capabilities of every true-colour terminal, in the compiled format of term(5).
 *
 * The entry only has the capabilities that ncurses needs to place and colour cells: cursor motion, erasing,
 * attributes, colours. It lacks background-colour erase, scrolling and line graphics. Leaving these out costs
 * a few bytes per frame, and makes one entry correct for xterm, tmux, screen, kitty, foot, VTE and others.
 * Colours use the semicolon form. */
#include "ui/terminfo.h"
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MAGIC_32BIT 01036 /* numbers of 32 bits, because 2^24 colours exceed the old format */

/* 0-7 are the user's scheme, all higher numbers are RGB: the meaning of ncurses' flag RGB. */
#define DIRECT(base, code)                                                                                   \
    "\033[%?%p1%{8}%<%t" base "%p1%d%e" code ";2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;%p1%{255}%&%d%;m"

static const char *const flags[] = {"am", "mir", "msgr", "xenl", NULL};

static const struct {
    const char *name;
    int32_t value;
} numbers[] = {{"cols", 80}, {"it", 8}, {"lines", 24}, {"colors", 1 << 24}, {"pairs", 1 << 16}, {NULL, 0}};

static const struct {
    const char *name, *value;
} strings[] = {
    {"bel", "\a"},
    {"bold", "\033[1m"},
    {"civis", "\033[?25l"},
    {"clear", "\033[H\033[2J"},
    {"cnorm", "\033[?25h"},
    {"cr", "\r"},
    {"cub", "\033[%p1%dD"},
    {"cub1", "\b"},
    {"cud", "\033[%p1%dB"},
    {"cud1", "\n"},
    {"cuf", "\033[%p1%dC"},
    {"cuf1", "\033[C"},
    {"cup", "\033[%i%p1%d;%p2%dH"},
    {"cuu", "\033[%p1%dA"},
    {"cuu1", "\033[A"},
    {"dim", "\033[2m"},
    {"ech", "\033[%p1%dX"},
    {"ed", "\033[J"},
    {"el", "\033[K"},
    {"el1", "\033[1K"},
    {"home", "\033[H"},
    {"hpa", "\033[%i%p1%dG"},
    {"op", "\033[39;49m"},
    {"rev", "\033[7m"},
    {"rmcup", "\033[?1049l"},
    {"rmso", "\033[27m"},
    {"rmul", "\033[24m"},
    {"setab", DIRECT("4", "48")},
    {"setaf", DIRECT("3", "38")},
    {"sgr0", "\033[0m"},
    {"smcup", "\033[?1049h"},
    {"smso", "\033[7m"},
    {"smul", "\033[4m"},
    {"vpa", "\033[%i%p1%dd"},
    {NULL, NULL},
};

/* Returns the index of a name. Every capability above is in curses' list, so the loop ends. */
static int index_of(const char *const *names, const char *name)
{
    int i = 0;
    while (strcmp(names[i], name)) {
        i++;
        assert(names[i] != NULL);
    }
    return i;
}

static void put_number(struct pw_str *b, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        char c = (char)(value >> 8 * i & 255);
        pw_str_put(b, &c, 1);
    }
}

static void put_even(struct pw_str *b)
{
    if (b->len % 2)
        pw_str_put(b, "", 1);
}

void pw_terminfo_direct(struct pw_str *out, const char *const *boolnames, const char *const *numnames,
                        const char *const *strnames)
{
    enum { FLAGS = 64, NUMBERS = 64, STRINGS = 512 }; /* larger than the format's counts */
    static const char name[] = PW_TERMINFO_NAME "|pewter: what every terminal with true colour understands";
    char flag[FLAGS] = {0};
    int32_t number[NUMBERS];
    uint16_t offset[STRINGS];
    int n_flags = 0;
    int n_numbers = 0;
    int n_strings = 0;
    struct pw_str table = {0};

    memset(number, -1, sizeof number); /* absent */
    memset(offset, -1, sizeof offset);
    for (int i = 0; flags[i] != NULL; i++) {
        int at = index_of(boolnames, flags[i]);
        assert(at < FLAGS);
        flag[at] = 1;
        n_flags = at >= n_flags ? at + 1 : n_flags;
    }
    for (int i = 0; numbers[i].name != NULL; i++) {
        int at = index_of(numnames, numbers[i].name);
        assert(at < NUMBERS);
        number[at] = numbers[i].value;
        n_numbers = at >= n_numbers ? at + 1 : n_numbers;
    }
    for (int i = 0; strings[i].name != NULL; i++) {
        int at = index_of(strnames, strings[i].name);
        assert(at < STRINGS);
        offset[at] = (uint16_t)table.len;
        pw_str_put(&table, strings[i].value, strlen(strings[i].value) + 1);
        n_strings = at >= n_strings ? at + 1 : n_strings;
    }

    struct pw_str b = {0};
    put_number(&b, MAGIC_32BIT, 2);
    put_number(&b, sizeof name, 2);
    put_number(&b, (uint32_t)n_flags, 2);
    put_number(&b, (uint32_t)n_numbers, 2);
    put_number(&b, (uint32_t)n_strings, 2);
    put_number(&b, (uint32_t)table.len, 2);
    pw_str_put(&b, name, sizeof name);
    pw_str_put(&b, flag, (size_t)n_flags);
    put_even(&b);
    for (int i = 0; i < n_numbers; i++)
        put_number(&b, (uint32_t)number[i], 4);
    for (int i = 0; i < n_strings; i++)
        put_number(&b, offset[i], 2);
    pw_str_put(&b, table.s, table.len);
    put_even(&b);

    /* The extended part with the single flag RGB: the counts of flags, numbers and strings, then the number
     * of strings in the table and its bytes. */
    put_number(&b, 1, 2);
    put_number(&b, 0, 2);
    put_number(&b, 0, 2);
    put_number(&b, 1, 2);
    put_number(&b, sizeof "RGB", 2);
    put_number(&b, 1, 1);
    put_even(&b);
    put_number(&b, 0, 2); /* offset of its name */
    pw_str_put(&b, "RGB", sizeof "RGB");

    pw_str_add(out, "hex:");
    for (size_t i = 0; i < b.len; i++)
        pw_str_add(out, "%02X", (unsigned char)b.s[i]);
    pw_str_fini(&table);
    pw_str_fini(&b);
}
