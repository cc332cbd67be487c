/* test_term.c - tests mapping of colours to the terminal's, and output of cells. The terminal is a
 * pseudo-terminal; the test reads the state of curses and the bytes sent. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
/* cmocka needs the headers above */
#include "plot/color.h"
#include "ui/term.h"
#include <curses.h>
#include <fcntl.h>
#include <cmocka.h>

/* ---- colours without a terminal */

static void test_256(void **state)
{
    (void)state;
    assert_int_equal(pw_color_256(0x000000), 16);
    assert_int_equal(pw_color_256(0xffffff), 231);
    assert_int_equal(pw_color_256(0xff0000), 196);
    assert_int_equal(pw_color_256(0x5f87af), 67); /* a colour of the cube maps to itself */
    assert_int_equal(pw_color_256(0x121212), 233);
    for (uint32_t r = 0; r < 256; r += 5)
        for (uint32_t g = 0; g < 256; g += 15)
            assert_in_range(pw_color_256(r << 16 | g << 8 | 100), 16, 255); /* never the user's scheme */
}

static void test_basic(void **state)
{
    (void)state;
    assert_int_equal(pw_color_basic(0x000000, 8), COLOR_BLACK);
    assert_int_equal(pw_color_basic(0xff0000, 8), COLOR_RED);
    assert_int_equal(pw_color_basic(0xff0000, 16), 9);
    assert_int_equal(pw_color_basic(0xffffff, 8), COLOR_WHITE);
    assert_int_equal(pw_color_basic(0x0000ee, 16), COLOR_BLUE);
}

/* ---- a terminal */

struct pty {
    int master, slave;
    struct pw_term *term;
    struct pw_canvas canvas;
    char sent[65536]; /* bytes that the terminal has received */
    size_t n;
};

static struct pty *open_pty(void)
{
    struct pty *p = calloc(1, sizeof *p);
    struct winsize size = {.ws_row = 5, .ws_col = 20};
    p->master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    assert_true(p->master >= 0);
    assert_int_equal(grantpt(p->master), 0);
    assert_int_equal(unlockpt(p->master), 0);
    p->slave = open(ptsname(p->master), O_RDWR | O_NOCTTY);
    assert_true(p->slave >= 0);
    assert_int_equal(ioctl(p->slave, TIOCSWINSZ, &size), 0);
    pw_canvas_init(&p->canvas);
    pw_canvas_resize(&p->canvas, 5, 20);
    return p;
}

static void collect(struct pty *p)
{
    ssize_t n;
    while ((n = read(p->master, p->sent + p->n, sizeof p->sent - 1 - p->n)) > 0)
        p->n += (size_t)n;
    p->sent[p->n] = '\0';
}

static struct pty *open_term(const char *name, const char *colorterm, int color, bool ascii)
{
    struct pty *p = open_pty();
    struct pw_err err = {0};
    struct pw_term_config cfg = {p->slave, p->slave, color, ascii, false, false, true};
    setenv("TERM", name, 1);
    setenv("COLORTERM", colorterm, 1);
    assert_int_equal(pw_term_open(&p->term, &cfg, &err), PW_OK);
    return p;
}

static void close_term(struct pty *p)
{
    collect(p);
    pw_term_close(p->term);
    collect(p);
    pw_canvas_fini(&p->canvas);
    close(p->master);
    close(p->slave);
    free(p);
}

static void put(struct pty *p, int x, uint32_t fg, uint32_t bg, unsigned attr, const char *text)
{
    struct pw_rect all = {0, 0, p->canvas.rows, p->canvas.cols};
    pw_draw_text(&p->canvas, all, 0, x, (struct pw_style){fg, bg, attr}, text);
}

static void present(struct pty *p)
{
    pw_term_present(p->term, &p->canvas);
    collect(p);
}

/* Compares with curses' own copy of the screen. */
static void assert_cell(int y, int x, wchar_t glyph, int fg, int bg, attr_t attr)
{
    cchar_t cc;
    wchar_t text[CCHARW_MAX + 1];
    attr_t a;
    short unused;
    int pair;
    int f;
    int b;
    assert_int_equal(mvin_wch(y, x, &cc), OK);
    getcchar(&cc, text, &a, &unused, &pair);
    assert_int_equal(text[0], glyph);
    assert_int_equal(extended_pair_content(pair, &f, &b), OK);
    assert_int_equal(f, fg);
    assert_int_equal(b, bg);
    assert_int_equal(a & (A_BOLD | A_DIM | A_REVERSE | A_UNDERLINE), attr);
}

static void test_true(void **state)
{
    (void)state;
    struct pty *p = open_term("xterm-256color", "truecolor", PW_WANT_AUTO, false);
    assert_int_equal(pw_term_abilities(p->term).colors, PW_COLORS_TRUE);
    assert_true(pw_term_abilities(p->term).utf8);
    put(p, 0, PW_RGB(16, 32, 48), PW_RGB(200, 100, 1), PW_BOLD, "\u2580");
    put(p, 1, PW_ANSI(2), PW_DEFAULT, PW_UNDERLINE, "x");
    put(p, 2, PW_RGB(0, 0, 5), PW_DEFAULT, 0, "y");
    present(p);
    assert_cell(0, 0, 0x2580, 0x102030, 0xc86401, A_BOLD);
    assert_cell(0, 1, 'x', COLOR_GREEN, -1, A_UNDERLINE);
    assert_cell(0, 2, 'y', 8, -1, 0); /* 5 would be magenta */
    assert_non_null(strstr(p->sent, "38;2;16;32;48"));
    assert_non_null(strstr(p->sent, "48;2;200;100;1"));
    assert_non_null(strstr(p->sent, "\033[32m"));
    close_term(p);
}

static void test_256_terminal(void **state)
{
    (void)state;
    struct pty *p = open_term("xterm-256color", "", PW_WANT_AUTO, false);
    assert_int_equal(pw_term_abilities(p->term).colors, PW_COLORS_256);
    put(p, 0, PW_RGB(95, 135, 175), PW_RGB(255, 0, 0), 0, "a");
    put(p, 1, PW_DEFAULT, PW_DEFAULT, PW_DIM | PW_REVERSE, "b");
    present(p);
    assert_cell(0, 0, 'a', 67, 196, 0);
    assert_cell(0, 1, 'b', -1, -1, A_DIM | A_REVERSE);
    assert_non_null(strstr(p->sent, "38;5;67"));
    close_term(p);
}

static void test_fewer_colors(void **state)
{
    (void)state;
    struct pty *p = open_term("xterm", "", PW_WANT_AUTO, false);
    assert_int_equal(pw_term_abilities(p->term).colors, PW_COLORS_16);
    put(p, 0, PW_RGB(250, 5, 5), PW_ANSI(4), 0, "a");
    present(p);
    assert_cell(0, 0, 'a', COLOR_RED, COLOR_BLUE, 0);
    close_term(p);

    p = open_term("vt100", "", PW_WANT_AUTO, false);
    assert_int_equal(pw_term_abilities(p->term).colors, PW_COLORS_MONO);
    close_term(p);

    setenv("NO_COLOR", "1", 1);
    p = open_term("xterm-256color", "truecolor", PW_WANT_AUTO, false);
    assert_int_equal(pw_term_abilities(p->term).colors, PW_COLORS_MONO);
    put(p, 0, PW_RGB(250, 5, 5), PW_ANSI(4), PW_BOLD, "a");
    present(p);
    assert_null(strstr(p->sent, "38;"));
    assert_null(strstr(p->sent, "\033[44m"));
    close_term(p);
    p = open_term("xterm-256color", "", PW_WANT_TRUE, false); /* the user's setting has precedence */
    assert_int_equal(pw_term_abilities(p->term).colors, PW_COLORS_TRUE);
    close_term(p);
    unsetenv("NO_COLOR");
}

static void test_configure(void **state)
{
    (void)state;
    struct pty *p = open_term("xterm-256color", "", PW_WANT_AUTO, false);
    struct pw_term_config cfg = {p->slave, p->slave, PW_WANT_MONO, false, true, true, false};
    struct pw_err err;
    put(p, 0, PW_RGB(1, 200, 3), PW_DEFAULT, 0, "green");
    present(p);
    assert_non_null(strstr(p->sent, "\033[?2026h"));
    assert_null(strstr(p->sent, "\033[?1000h"));
    assert_int_equal(pw_term_configure(p->term, &cfg, &err), PW_OK);
    assert_int_equal(pw_term_abilities(p->term).colors, PW_COLORS_MONO);
    collect(p);
    assert_non_null(strstr(p->sent, "\033[?1003h"));
    p->n = 0;
    cfg.hover = false;
    assert_int_equal(pw_term_configure(p->term, &cfg, &err), PW_OK);
    collect(p);
    assert_non_null(strstr(p->sent, "\033[?1003l"));
    assert_non_null(strstr(p->sent, "\033[?1002h"));
    assert_null(strstr(p->sent, "\033[?1003h"));
    p->n = 0;
    present(p);
    assert_non_null(strstr(p->sent, "green"));
    assert_null(strstr(p->sent, "2026"));
    assert_null(strstr(p->sent, "38;5"));
    cfg.color = PW_WANT_TRUE;
    assert_int_equal(pw_term_configure(p->term, &cfg, &err), PW_OK);
    p->n = 0;
    present(p);
    assert_non_null(strstr(p->sent, "38;2;1;200;3"));
    close_term(p);
}

static void test_glyphs(void **state)
{
    (void)state;
    struct pty *p = open_term("xterm-256color", "", PW_WANT_AUTO, false);
    put(p, 0, PW_DEFAULT, PW_DEFAULT, 0, "\u6f22|\u28ff|\u00e9|");
    p->canvas.cursor_y = 2;
    p->canvas.cursor_x = 7;
    present(p);
    assert_int_equal(getcury(stdscr), 2);
    assert_int_equal(getcurx(stdscr), 7);
    assert_cell(0, 0, 0x6f22, -1, -1, 0);
    assert_cell(0, 2, '|', -1, -1, 0); /* two columns later */
    assert_cell(0, 3, 0x28ff, -1, -1, 0);
    assert_cell(0, 5, 0xe9, -1, -1, 0);
    close_term(p);
    p = open_term("xterm-256color", "", PW_WANT_AUTO, true);
    assert_false(pw_term_abilities(p->term).utf8);
    put(p, 0, PW_DEFAULT, PW_DEFAULT, 0, "\u6f22|\u28ff|");
    present(p);
    assert_cell(0, 0, '?', -1, -1, 0);
    assert_cell(0, 1, ' ', -1, -1, 0);
    assert_cell(0, 2, '|', -1, -1, 0);
    assert_cell(0, 3, '?', -1, -1, 0);
    for (size_t i = 0; i < p->n; i++)
        assert_true((unsigned char)p->sent[i] < 128);
    close_term(p);
}

/* Only changed cells are sent, and a new size is found by a query. */
static void test_frames(void **state)
{
    (void)state;
    struct pty *p = open_term("xterm-256color", "", PW_WANT_AUTO, false);
    struct winsize size = {.ws_row = 3, .ws_col = 9};
    int rows;
    int cols;
    put(p, 0, PW_DEFAULT, PW_DEFAULT, 0, "hello world");
    present(p);
    p->n = 0;
    put(p, 0, PW_DEFAULT, PW_DEFAULT, 0, "jello world");
    present(p);
    assert_non_null(strchr(p->sent, 'j'));
    assert_null(strstr(p->sent, "world"));
    assert_true(p->n < 64);
    p->n = 0;
    pw_term_redraw(p->term);
    present(p);
    assert_non_null(strstr(p->sent, "jello world"));
    ioctl(p->slave, TIOCSWINSZ, &size);
    pw_term_size(p->term, &rows, &cols);
    assert_int_equal(rows, 3);
    assert_int_equal(cols, 9);
    present(p); /* the canvas is larger: cut, no crash */
    pw_canvas_resize(&p->canvas, 3, 9);
    present(p);
    close_term(p);
}

static void test_read(void **state)
{
    (void)state;
    struct pty *p = open_term("xterm-256color", "", PW_WANT_AUTO, false);
    char bytes[16];
    assert_int_equal(pw_term_read(p->term, bytes, sizeof bytes), 0);
    assert_int_equal(write(p->master, "\x03q\x1a", 3), 3); /* no signals */
    assert_int_equal(pw_term_read(p->term, bytes, sizeof bytes), 3);
    assert_memory_equal(bytes, "\x03q\x1a", 3);
    collect(p);
    close(p->master);
    p->master = open("/dev/null", O_RDWR);
    assert_int_equal(pw_term_read(p->term, bytes, sizeof bytes), -1);
    close_term(p);
}

/* The terminal's modes are restored. */
static void test_restore(void **state)
{
    (void)state;
    struct pty *p = open_pty();
    struct pw_err err;
    struct termios before;
    struct termios during;
    struct termios after;
    struct pw_term_config cfg = {p->slave, p->slave, PW_WANT_AUTO, false, true, true, true};
    setenv("TERM", "xterm-256color", 1);
    tcgetattr(p->slave, &before);
    assert_int_equal(pw_term_open(&p->term, &cfg, &err), PW_OK);
    present(p);
    tcgetattr(p->slave, &during);
    assert_false(during.c_lflag & (ICANON | ECHO));
    p->n = 0;
    pw_term_close(p->term);
    collect(p);
    tcgetattr(p->slave, &after);
    assert_int_equal(before.c_lflag, after.c_lflag);
    assert_int_equal(before.c_iflag, after.c_iflag);
    assert_int_equal(before.c_oflag, after.c_oflag);
    assert_memory_equal(before.c_cc, after.c_cc, sizeof before.c_cc);
    static const char *const off[] = {"\033[?2004l", "\033[?1000l", "\033[?1006l", "\033[?1049l"};
    for (int i = 0; i < 4; i++)
        assert_non_null(strstr(p->sent, off[i]));
    p->term = NULL;
    close_term(p);
}

static void test_refusals(void **state)
{
    (void)state;
    struct pty *p = open_pty();
    struct pw_err err = {0};
    struct pw_term_config cfg = {p->slave, p->slave, PW_WANT_AUTO, false, false, false, false};
    setenv("COLORTERM", "", 1);
    setenv("TERM", "dumb", 1);
    assert_int_equal(pw_term_open(&p->term, &cfg, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "--plain"));
    setenv("TERM", "no-such-terminal", 1);
    assert_int_equal(pw_term_open(&p->term, &cfg, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "no-such-terminal"));
    unsetenv("TERM");
    assert_int_equal(pw_term_open(&p->term, &cfg, &err), PW_EUSER);
    setenv("TERM", "xterm", 1);
    cfg.in = open("/dev/null", O_RDONLY);
    assert_int_equal(pw_term_open(&p->term, &cfg, &err), PW_EUSER);
    close(cfg.in);
    close_term(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_256),          cmocka_unit_test(test_basic),
        cmocka_unit_test(test_true),         cmocka_unit_test(test_256_terminal),
        cmocka_unit_test(test_fewer_colors), cmocka_unit_test(test_configure),
        cmocka_unit_test(test_glyphs),       cmocka_unit_test(test_frames),
        cmocka_unit_test(test_read),         cmocka_unit_test(test_restore),
        cmocka_unit_test(test_refusals),
    };
    setlocale(LC_CTYPE, "C.UTF-8");
    unsetenv("NO_COLOR");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
