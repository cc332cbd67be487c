/* term.c - converts canvas cells to curses cells, and sets the terminal's modes.
 *
 * Colour: ncurses' alloc_pair returns a number for any two colours and drops the least recently used ones, so
 * this file needs no table of pairs. Colours 0-7 are the user's scheme in every mode; RGB is mapped to the
 * nearest available colour. Input bypasses curses, because wgetch draws by itself and has only one timeout
 * for ESC. */
#include "ui/term.h"
#include "base/alloc.h"
#include "plot/color.h"
#include "ui/guard.h"
#include "ui/terminfo.h"
#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#define MODES_ON    "\033[?2004h"
#define MODES_OFF   "\033[?2004l"
#define MOUSE_ON    "\033[?1000h\033[?1002h\033[?1006h"
#define MOUSE_OFF   "\033[?1006l\033[?1003l\033[?1002l\033[?1000l"
#define HOVER_ON    "\033[?1003h" /* replaces 1002 */
#define SYNC_BEGIN  "\033[?2026h"
#define SYNC_END    "\033[?2026l"
#define BACKGROUND  "\033]11;?\033\\"
#define COLOR_CACHE 4096
/* With fewer pairs, alloc_pair possibly reuses a pair that an unchanged cell still has. */
#define ENOUGH_PAIRS 32768

struct pw_term {
    struct pw_term_config cfg;
    struct pw_abilities look;
    struct termios saved; /* the modes before pw_term_open */
    FILE *in, *out;       /* curses' own streams, on copies of the descriptors */
    SCREEN *screen;
    bool has_default; /* curses supports the terminal's default colour */
    struct {
        uint32_t rgb;
        int index; /* 0: empty; no RGB maps to 0 of 256, and a miss on black only costs a search */
    } cache[COLOR_CACHE];
    struct pw_canvas shown; /* the cells that curses received last */
    bool known;             /* curses still has all of these cells */
};

static void send(const struct pw_term *t, const char *s)
{
    size_t n = strlen(s);
    while (n > 0) {
        ssize_t put = write(t->cfg.out, s, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return; /* the terminal is gone; the next read reports it */
        s += put;
        n -= (size_t)put;
    }
}

/* In some terminals the modes exclude each other, so first switches all off. */
static void switch_mouse(const struct pw_term *t)
{
    send(t, MOUSE_OFF);
    if (t->cfg.mouse)
        send(t, t->cfg.hover ? MOUSE_ON HOVER_ON : MOUSE_ON);
}

static void switch_modes_on(const struct pw_term *t)
{
    send(t, MODES_ON);
    if (t->cfg.mouse)
        switch_mouse(t);
}

/* ---- opening */

static bool environment_is(const char *name, const char *a, const char *b)
{
    const char *value = getenv(name);
    return value != NULL && (strcmp(value, a) == 0 || strcmp(value, b) == 0);
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && *value;
}

/* Returns the colours to try; the terminal's description possibly supports fewer. no-color.org: NO_COLOR is
 * set and not empty. */
static enum pw_colors wanted_colors(int want)
{
    switch (want) {
    case PW_WANT_MONO: return PW_COLORS_MONO;
    case PW_WANT_16: return PW_COLORS_16;
    case PW_WANT_256: return PW_COLORS_256;
    case PW_WANT_TRUE: return PW_COLORS_TRUE;
    default: break;
    }
    if (is_set("NO_COLOR"))
        return PW_COLORS_MONO;
    return environment_is("COLORTERM", "truecolor", "24bit") ? PW_COLORS_TRUE : PW_COLORS_256;
}

/* Calls newterm with pewter's own description, and restores the environment afterwards. */
static SCREEN *open_direct(FILE *out, FILE *in)
{
    struct pw_str entry = {0};
    const char *was = getenv("TERMINFO");
    char *before = was != NULL ? pw_text_dup(was) : NULL;
    pw_terminfo_direct(&entry, (const char *const *)boolnames, (const char *const *)numnames,
                       (const char *const *)strnames);
    setenv("TERMINFO", pw_str_text(&entry), 1);
    SCREEN *screen = newterm(PW_TERMINFO_NAME, out, in);
    if (before != NULL)
        setenv("TERMINFO", before, 1);
    else
        unsetenv("TERMINFO");
    free(before);
    pw_str_fini(&entry);
    return screen;
}

/* Checks TERM before newterm, because a newterm that fails leaks memory. */
static bool is_described(int out)
{
    int why;
    if (setupterm(NULL, out, &why) != OK)
        return false;
    del_curterm(cur_term);
    return true;
}

static enum pw_colors colors_there(enum pw_colors wanted)
{
    enum pw_colors most = PW_COLORS_MONO;
    if (has_colors() && COLORS >= 8)
        most = COLORS >= 1 << 24 ? PW_COLORS_TRUE : COLORS >= 256 ? PW_COLORS_256 : PW_COLORS_16;
    return wanted < most ? wanted : most;
}

/* Ctrl-C and Ctrl-Z arrive as keys; Ctrl-\ still ends a hanging program. */
static void keep_quit_key(const struct pw_term *t)
{
    struct termios tio;
    if (tcgetattr(t->cfg.out, &tio))
        return;
    tio.c_lflag |= ISIG;
    tio.c_cc[VINTR] = _POSIX_VDISABLE;
    tio.c_cc[VSUSP] = _POSIX_VDISABLE;
    tio.c_cc[VQUIT] = t->saved.c_cc[VQUIT];
    tcsetattr(t->cfg.out, TCSADRAIN, &tio);
    def_prog_mode(); /* so that curses restores these modes after a suspension */
}

static void close_screen(struct pw_term *t)
{
    if (t->screen != NULL) {
        endwin();
        delscreen(t->screen);
    }
    if (t->in != NULL)
        fclose(t->in);
    if (t->out != NULL)
        fclose(t->out);
    t->screen = NULL;
    t->in = t->out = NULL;
}

static enum pw_code open_screen(struct pw_term *t, struct pw_err *err)
{
    enum pw_colors wanted = wanted_colors(t->cfg.color);
    t->in = fdopen(fcntl(t->cfg.in, F_DUPFD_CLOEXEC, 3), "r");
    t->out = fdopen(fcntl(t->cfg.out, F_DUPFD_CLOEXEC, 3), "w");
    if (t->in == NULL || t->out == NULL)
        return pw_fail(err, PW_EIO, "terminal: %s", strerror(errno));
    if (wanted == PW_COLORS_TRUE)
        t->screen = open_direct(t->out, t->in);
    if (t->screen == NULL && is_described(t->cfg.out))
        t->screen = newterm(NULL, t->out, t->in);
    if (t->screen == NULL)
        return pw_fail(err, PW_EUSER,
                       "TERM=%s: this terminal is unknown here; set TERM=xterm-256color, or use --plain",
                       getenv("TERM"));
    typeahead(-1); /* always send whole frames, even if keys are waiting */
    noecho();
    nonl();
    raw();
    keep_quit_key(t);
    if (has_colors()) {
        start_color();
        t->has_default = use_default_colors() == OK;
    }
    t->look.colors = colors_there(wanted);
    leaveok(stdscr, FALSE);
    memset(t->cache, 0, sizeof t->cache);
    t->known = false;
    switch_modes_on(t);
    return PW_OK;
}

bool pw_term_is_console(void)
{
    const char *name = getenv("TERM");
    return name != NULL && strncmp(name, "linux", 5) == 0; /* and linux-16color, ... */
}

void pw_term_look(struct pw_term_survey *s, int out, int want)
{
    int why;
    enum pw_colors wanted = wanted_colors(want);
    *s = (struct pw_term_survey){.colors = PW_COLORS_MONO};
    if (setupterm(NULL, out, &why) == OK) {
        int n = tigetnum("colors");
        const char *mouse = tigetstr("kmous");
        enum pw_colors most = n >= 256 ? PW_COLORS_256 : n >= 8 ? PW_COLORS_16 : PW_COLORS_MONO;
        s->described = true;
        s->mouse = mouse != NULL && mouse != (const char *)-1;
        s->colors = wanted < most ? wanted : most;
        del_curterm(cur_term);
    }
    if (wanted == PW_COLORS_TRUE) { /* open_direct */
        s->described = true;
        s->colors = PW_COLORS_TRUE;
    }
}

enum pw_code pw_term_possible(int in, int out, struct pw_err *err)
{
    const char *name = getenv("TERM");
    if (!isatty(in) || !isatty(out))
        return pw_fail(err, PW_EUSER, "the workbench needs a terminal for input and output; use --plain");
    if (name == NULL || !*name || strcmp(name, "dumb") == 0)
        return pw_fail(err, PW_EUSER, "TERM=%s: this terminal cannot show a full screen; use --plain",
                       name != NULL ? name : "");
    return PW_OK;
}

enum pw_code pw_term_open(struct pw_term **term, const struct pw_term_config *cfg, struct pw_err *err)
{
    enum pw_code code = pw_term_possible(cfg->in, cfg->out, err);
    *term = NULL;
    if (code != PW_OK)
        return code;
    struct pw_term *t = calloc(1, sizeof *t);
    if (t == NULL)
        return pw_fail(err, PW_ENOMEM, "terminal: out of memory");
    t->cfg = *cfg;
    t->look.utf8 = !cfg->ascii && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    if (tcgetattr(cfg->out, &t->saved)) {
        code = pw_fail(err, PW_EIO, "terminal: %s", strerror(errno));
        free(t);
        return code;
    }
    unsetenv("LINES"); /* they would override the terminal's real size */
    unsetenv("COLUMNS");
    pw_guard_begin(cfg->out, &t->saved);
    code = open_screen(t, err);
    if (code != PW_OK) {
        pw_term_close(t);
        return code;
    }
    *term = t;
    return PW_OK;
}

void pw_term_close(struct pw_term *t)
{
    if (t == NULL)
        return;
    bool shown = t->screen != NULL;
    if (shown)
        send(t, MOUSE_OFF MODES_OFF);
    close_screen(t);
    if (shown)
        tcsetattr(t->cfg.out, TCSADRAIN, &t->saved);
    pw_guard_end();
    pw_canvas_fini(&t->shown);
    free(t);
}

enum pw_code pw_term_configure(struct pw_term *t, const struct pw_term_config *cfg, struct pw_err *err)
{
    bool reopen = cfg->color != t->cfg.color; /* curses then reads its small file on the terminal again */
    bool pointer = cfg->mouse != t->cfg.mouse || cfg->hover != t->cfg.hover;
    int before = t->cfg.color;
    t->cfg.mouse = cfg->mouse;
    t->cfg.hover = cfg->hover;
    t->cfg.sync = cfg->sync;
    if (pointer)
        switch_mouse(t);
    if (!reopen)
        return PW_OK;
    t->cfg.color = cfg->color;
    close_screen(t);
    enum pw_code code = open_screen(t, err);
    if (code != PW_OK) {
        close_screen(t);
        t->cfg.color = before;
        return open_screen(t, err); /* the earlier colours worked before */
    }
    return PW_OK;
}

/* ---- output */

struct pw_abilities pw_term_abilities(const struct pw_term *t)
{
    return t->look;
}

void pw_term_size(struct pw_term *t, int *rows, int *cols)
{
    struct winsize w = {0};
    if (ioctl(t->cfg.out, TIOCGWINSZ, &w) == 0 && w.ws_row > 0 && w.ws_col > 0 &&
        (w.ws_row != LINES || w.ws_col != COLS)) {
        resize_term(w.ws_row, w.ws_col);
        clearok(curscr, TRUE);
    }
    *rows = LINES > 0 ? LINES : 1;
    *cols = COLS > 0 ? COLS : 1;
}

static int rgb_index(struct pw_term *t, uint32_t rgb)
{
    if (t->look.colors == PW_COLORS_TRUE)
        return rgb < 8 ? 8 : (int)rgb; /* 0-7 would be the scheme's colours; 8 is almost black */
    uint32_t slot = (rgb * 2654435761u) >> 20;
    if (t->cache[slot].rgb != rgb || t->cache[slot].index == 0) {
        t->cache[slot].rgb = rgb;
        t->cache[slot].index =
            t->look.colors == PW_COLORS_256 ? pw_color_256(rgb) : pw_color_basic(rgb, COLORS);
    }
    return t->cache[slot].index;
}

static int color_index(struct pw_term *t, uint32_t color, int without_default)
{
    if (color == PW_DEFAULT)
        return t->has_default ? -1 : without_default;
    if (color >= PW_ANSI(0))
        return (int)(color & 7);
    return rgb_index(t, color & 0xffffff);
}

static attr_t curses_attr(unsigned attr)
{
    attr_t a = A_NORMAL;
    if (attr & PW_BOLD)
        a |= A_BOLD;
    if (attr & PW_DIM)
        a |= A_DIM;
    if (attr & PW_REVERSE)
        a |= A_REVERSE;
    if (attr & PW_UNDERLINE)
        a |= A_UNDERLINE;
    return a;
}

/* Returns the character for a cell. A character to which curses gives another width than the canvas would
 * shift the rest of the row, so it becomes '?'. */
static wchar_t glyph(const struct pw_term *t, uint32_t cp, bool wide)
{
    if (cp >= ' ' && cp < 127)
        return (wchar_t)cp;
    if (!t->look.utf8 || wcwidth((wchar_t)cp) != (wide ? 2 : 1))
        return '?';
    return (wchar_t)cp;
}

static bool has_wide(const struct pw_cell *row, int cols)
{
    int x = 0;
    while (x < cols && row[x].cp != 0)
        x++;
    return x < cols;
}

static void put_cell(struct pw_term *t, const struct pw_cell *cell, int y, int x, bool wide)
{
    int pair = 0;
    if (t->look.colors != PW_COLORS_MONO)
        pair = alloc_pair(color_index(t, cell->style.fg, COLOR_WHITE),
                          color_index(t, cell->style.bg, COLOR_BLACK));
    pair = pair < 0 ? 0 : pair;
    wchar_t text[3] = {glyph(t, cell->cp, wide)};
    if (wide && text[0] == '?') /* fill both columns */
        mvaddch(y, x + 1, ' ');
    cchar_t cc;
    setcchar(&cc, text, curses_attr(cell->style.attr), 0, &pair);
    mvadd_wch(y, x, &cc);
}

/* Passes the changed cells to curses. Most of a screen is unchanged, and this comparison costs a tenth of the
 * comparison in curses. A row with wide characters, now or before, is passed whole. Returns false if the
 * frame is equal to the shown one. */
static bool put_cells(struct pw_term *t, const struct pw_canvas *c)
{
    int rows = c->rows < LINES ? c->rows : LINES, cols = c->cols < COLS ? c->cols : COLS;
    size_t width = (size_t)c->cols * sizeof *c->cells;
    bool all = !t->known || t->shown.rows != c->rows || t->shown.cols != c->cols ||
               (t->look.colors != PW_COLORS_MONO && COLOR_PAIRS < ENOUGH_PAIRS);
    if (t->shown.rows != c->rows || t->shown.cols != c->cols)
        pw_canvas_resize(&t->shown, c->rows, c->cols);
    bool changed = all || t->shown.cursor_y != c->cursor_y || t->shown.cursor_x != c->cursor_x;
    for (int y = 0; y < rows; y++) {
        const struct pw_cell *row = c->cells + (size_t)y * (size_t)c->cols;
        struct pw_cell *was = t->shown.cells + (size_t)y * (size_t)c->cols;
        if (!all && memcmp(row, was, width) == 0)
            continue;
        changed = true;
        bool whole = all || has_wide(row, c->cols) || has_wide(was, c->cols);
        for (int x = 0; x < cols; x++) /* cp 0: the right half of the previous character */
            if (row[x].cp != 0 && (whole || memcmp(row + x, was + x, sizeof *row) != 0))
                put_cell(t, row + x, y, x, x + 1 < c->cols && row[x + 1].cp == 0);
        memcpy(was, row, width);
    }
    t->known = true;
    t->shown.cursor_y = c->cursor_y;
    t->shown.cursor_x = c->cursor_x;
    if (c->cursor_y >= 0 && c->cursor_y < rows && c->cursor_x >= 0 && c->cursor_x < cols) {
        move(c->cursor_y, c->cursor_x);
        curs_set(1);
    } else {
        curs_set(0);
    }
    return changed;
}

void pw_term_present(struct pw_term *t, const struct pw_canvas *c)
{
    if (!put_cells(t, c))
        return; /* send nothing, not even the marks around a frame */
    if (t->cfg.sync)
        send(t, SYNC_BEGIN);
    wnoutrefresh(stdscr);
    doupdate();
    if (t->cfg.sync)
        send(t, SYNC_END);
}

void pw_term_redraw(struct pw_term *t)
{
    reset_prog_mode();
    switch_modes_on(t);
    clearok(curscr, TRUE);
    t->known = false;
}

void pw_term_ask_background(struct pw_term *t)
{
    if (t->look.colors >= PW_COLORS_256)
        send(t, BACKGROUND);
}

/* ---- input */

ssize_t pw_term_read(struct pw_term *t, char *bytes, size_t n)
{
    struct pollfd p = {t->cfg.in, POLLIN, 0};
    if (poll(&p, 1, 0) <= 0)
        return 0;
    if (p.revents & (POLLERR | POLLNVAL))
        return -1;
    ssize_t got = read(t->cfg.in, bytes, n);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    return got > 0 ? got : -1; /* poll reported input but there are 0 bytes: hung up */
}

void pw_term_suspend(struct pw_term *t)
{
    send(t, MOUSE_OFF MODES_OFF);
    endwin();
    tcsetattr(t->cfg.out, TCSADRAIN, &t->saved);

    sigset_t stop;
    sigset_t before;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    signal(SIGTSTP, SIG_DFL); /* curses installs its own handler for it */
    raise(SIGTSTP);
    pthread_sigmask(SIG_UNBLOCK, &stop, &before); /* the process stops here */
    pthread_sigmask(SIG_SETMASK, &before, NULL);

    pw_term_redraw(t); /* do not draw yet, because the size possibly changed */
}
