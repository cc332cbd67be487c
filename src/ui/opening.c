/* opening.c - see opening.h.
 *
 * Nothing is drawn in the first tenth of a second, in which most sessions are open. The first key decides: q
 * leaves. All others are kept for the workbench, as a terminal keeps what is typed ahead. */
#include "ui/opening.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/progress.h"

#define FRAME_MS    100
#define LINE_FRAMES 50 /* between two lines that are not repainted: 5 s */
#define CTRL_C      3  /* the terminal sends these as keys, not as signals */
#define CTRL_Z      26

/* The thread that creates the lab. */
struct creation {
    const struct pw_lab_config *cfg;
    struct pw_progress progress;
    int done; /* an eventfd */
    struct pw_lab *lab;
    enum pw_code code;
    struct pw_err err;
};

static void *create_lab(void *arg)
{
    struct creation *c = arg;
    pw_progress_watch(&c->progress);
    c->code = pw_lab_create(&c->lab, c->cfg, &c->err);
    uint64_t one = 1;
    while (write(c->done, &one, sizeof one) < 0 && errno == EINTR)
        ;
    return NULL;
}

/* ---- drawing */

static void draw_middle(struct pw_canvas *c, int y, struct pw_style style, const char *text)
{
    struct pw_rect all = {0, 0, c->rows, c->cols};
    int width = (int)strlen(text);
    pw_draw_text(c, all, y, width < c->cols ? (c->cols - width) / 2 : 0, style, text);
}

/* Appends "opening NAME: reading a checkpoint, 0 of 1 MB". name: the session; NULL or "": a new one. */
static void describe(struct pw_str *out, const char *name, const struct pw_progress_now *p)
{
    pw_str_add(out, "opening %s", name != NULL && name[0] != '\0' ? name : "the lab");
    if (p->what != NULL) {
        pw_str_add(out, ": ");
        pw_progress_print(p, out);
    }
}

static void draw_lines(struct pw_canvas *canvas, const char *text)
{
    static const struct pw_style plain = {PW_DEFAULT, PW_DEFAULT, 0}, dim = {PW_DEFAULT, PW_DEFAULT, PW_DIM};
    pw_canvas_clear(canvas);
    canvas->cursor_y = canvas->cursor_x = -1;
    draw_middle(canvas, (canvas->rows - 1) / 2, plain, text);
    draw_middle(canvas, (canvas->rows - 1) / 2 + 1, dim, "q or Ctrl-C leaves; the session stays as it is");
}

static void draw_progress(const struct creation *c, struct pw_term *term, struct pw_canvas *canvas)
{
    int rows, cols;
    pw_term_size(term, &rows, &cols);
    pw_canvas_resize(canvas, rows, cols);
    struct pw_progress_now now = pw_progress_read(&c->progress);
    if (atomic_load(&c->progress.cancel))
        now = (struct pw_progress_now){.what = "leaving"};
    struct pw_str text = {0};
    describe(&text, c->cfg->session, &now);
    draw_lines(canvas, text.s);
    pw_str_fini(&text);
    pw_term_present(term, canvas);
}

/* ---- input */

static void read_typed(struct pw_opening *o, struct pw_term *term)
{
    char bytes[256];
    ssize_t n = pw_term_read(term, bytes, sizeof bytes);
    if (n < 0)
        o->signal = SIGHUP; /* the terminal is gone */
    for (ssize_t i = 0; i < n && !o->left; i++) {
        o->left = bytes[i] == CTRL_C || (o->n_typed == 0 && bytes[i] == 'q');
        if (bytes[i] == CTRL_Z)
            pw_term_suspend(term);
        else if (!o->left && o->n_typed < sizeof o->typed)
            o->typed[o->n_typed++] = bytes[i];
    }
}

static void read_signal(struct pw_opening *o, struct pw_term *term, int signals)
{
    struct signalfd_siginfo s;
    while (read(signals, &s, sizeof s) == sizeof s)
        switch (s.ssi_signo) {
        case SIGTERM:
        case SIGHUP: o->signal = (int)s.ssi_signo; break;
        case SIGINT: o->left = true; break;
        case SIGTSTP: pw_term_suspend(term); break;
        case SIGCONT: pw_term_redraw(term); break;
        default: break; /* SIGWINCH: every frame queries the size */
        }
}

/* Waits for the end of the thread, and draws. */
static void wait_for(struct pw_opening *o, struct creation *c, struct pw_term *term, struct pw_canvas *canvas,
                     int signals)
{
    struct pollfd p[] = {{c->done, POLLIN, 0}, {signals, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    while (p[0].revents == 0) {
        bool leaves = o->left || o->signal != 0;
        int n = poll(p, leaves ? 2 : 3, FRAME_MS);
        if (n > 0 && p[1].revents != 0)
            read_signal(o, term, signals);
        if (n > 0 && !leaves && p[2].revents != 0)
            read_typed(o, term);
        if (o->left || o->signal != 0)
            atomic_store(&c->progress.cancel, true);
        if (n <= 0)
            draw_progress(c, term, canvas);
    }
}

/* ---- the thread */

static enum pw_code start(struct creation *c, pthread_t *thread, struct pw_err *err)
{
    c->done = eventfd(0, EFD_CLOEXEC);
    int failed = c->done < 0 ? errno : pthread_create(thread, NULL, create_lab, c);
    if (failed == 0)
        return PW_OK;
    if (c->done >= 0)
        close(c->done);
    return pw_fail(err, PW_EIO, "cannot start a thread: %s", strerror(failed));
}

/* Waits for the thread's end, and gives the lab to o, unless the user left. */
static enum pw_code take_lab(struct pw_opening *o, struct creation *c, pthread_t thread, struct pw_err *err)
{
    pthread_join(thread, NULL);
    close(c->done);
    if (o->left || o->signal != 0) {
        pw_lab_destroy(c->lab, NULL);
        return pw_fail(err, PW_ECANCEL, "the session was not opened");
    }
    o->lab = c->lab;
    return c->code == PW_OK ? PW_OK : pw_fail(err, c->code, "%s", c->err.msg);
}

enum pw_code pw_opening_run(struct pw_opening *o, const struct pw_lab_config *cfg, struct pw_term *term,
                            struct pw_canvas *canvas, int signals, struct pw_err *err)
{
    struct creation c = {.cfg = cfg};
    pthread_t thread;
    *o = (struct pw_opening){0};
    enum pw_code code = start(&c, &thread, err);
    if (code != PW_OK)
        return code;
    wait_for(o, &c, term, canvas, signals);
    return take_lab(o, &c, thread, err);
}

/* ---- without a screen */

/* Returns a signal that arrived and is blocked, and would end the program; 0: none. */
static int pending_end(void)
{
    static const int list[] = {SIGTERM, SIGHUP, SIGINT};
    sigset_t set;
    sigpending(&set);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (sigismember(&set, list[i]))
            return list[i];
    return 0;
}

/* repaint: each line replaces the one before. */
static void print_progress(const struct creation *c, bool repaint)
{
    struct pw_progress_now now = pw_progress_read(&c->progress);
    struct pw_str text = {0};
    describe(&text, c->cfg->session, &now);
    fprintf(stderr, repaint ? "\r\033[K%s" : "%s\n", text.s);
    fflush(stderr);
    pw_str_fini(&text);
}

enum pw_code pw_opening_lines(struct pw_opening *o, const struct pw_lab_config *cfg, bool repaint,
                              struct pw_err *err)
{
    struct creation c = {.cfg = cfg};
    pthread_t thread;
    *o = (struct pw_opening){0};
    if (isatty(STDERR_FILENO) != 1)
        return pw_lab_create(&o->lab, cfg, err);
    enum pw_code code = start(&c, &thread, err);
    if (code != PW_OK)
        return code;
    int frames = 0;
    for (struct pollfd p = {c.done, POLLIN, 0}; poll(&p, 1, FRAME_MS) <= 0;) {
        o->signal = pending_end();
        if (o->signal != 0)
            atomic_store(&c.progress.cancel, true);
        if (repaint || ++frames % LINE_FRAMES == 0)
            print_progress(&c, repaint);
    }
    fputs(repaint ? "\r\033[K" : "", stderr);
    return take_lab(o, &c, thread, err);
}
