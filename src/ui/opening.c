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

#define FRAME_MS 100
#define CTRL_C   3 /* the terminal sends these as keys, not as signals */
#define CTRL_Z   26

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

/* A number with commas: "1,600". */
static void group_digits(char dst[32], size_t n)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%zu", n), at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            dst[at++] = ',';
        dst[at++] = digits[i];
    }
    dst[at] = '\0';
}

static void draw_middle(struct pw_canvas *c, int y, struct pw_style style, const char *text)
{
    struct pw_rect all = {0, 0, c->rows, c->cols};
    int width = (int)strlen(text);
    pw_draw_text(c, all, y, width < c->cols ? (c->cols - width) / 2 : 0, style, text);
}

/* name: the session; NULL or "": a new one. what: as in struct pw_progress. */
static void draw_lines(struct pw_canvas *canvas, const char *name, const char *what, size_t done,
                       size_t total)
{
    static const struct pw_style plain = {PW_DEFAULT, PW_DEFAULT, 0}, dim = {PW_DEFAULT, PW_DEFAULT, PW_DIM};
    struct pw_str text = {0};
    char part[32], all[32];
    group_digits(part, (done < total ? done : total) / 1000000);
    group_digits(all, total / 1000000);
    pw_str_add(&text, "opening %s", name != NULL && name[0] != '\0' ? name : "the lab");
    if (what != NULL)
        pw_str_add(&text, ": %s", what);
    if (what != NULL && total > 0)
        pw_str_add(&text, ", %s of %s MB", part, all);
    pw_canvas_clear(canvas);
    canvas->cursor_y = canvas->cursor_x = -1;
    draw_middle(canvas, (canvas->rows - 1) / 2, plain, text.s);
    draw_middle(canvas, (canvas->rows - 1) / 2 + 1, dim, "q or Ctrl-C leaves; the session stays as it is");
    pw_str_fini(&text);
}

static void draw_progress(const struct creation *c, struct pw_term *term, struct pw_canvas *canvas)
{
    int rows, cols;
    pw_term_size(term, &rows, &cols);
    pw_canvas_resize(canvas, rows, cols);
    if (atomic_load(&c->progress.cancel))
        draw_lines(canvas, c->cfg->session, "leaving", 0, 0);
    else
        draw_lines(canvas, c->cfg->session, atomic_load(&c->progress.what), atomic_load(&c->progress.done),
                   atomic_load(&c->progress.total));
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

enum pw_code pw_opening_run(struct pw_opening *o, const struct pw_lab_config *cfg, struct pw_term *term,
                            struct pw_canvas *canvas, int signals, struct pw_err *err)
{
    struct creation c = {.cfg = cfg, .done = eventfd(0, EFD_CLOEXEC)};
    pthread_t thread;
    *o = (struct pw_opening){0};
    int failed = c.done < 0 ? errno : pthread_create(&thread, NULL, create_lab, &c);
    if (failed != 0) {
        if (c.done >= 0)
            close(c.done);
        return pw_fail(err, PW_EIO, "cannot start a thread: %s", strerror(failed));
    }
    wait_for(o, &c, term, canvas, signals);
    pthread_join(thread, NULL);
    close(c.done);
    if (o->left || o->signal != 0) {
        pw_lab_destroy(c.lab, NULL);
        return pw_fail(err, PW_ECANCEL, "the session was not opened");
    }
    o->lab = c.lab;
    return c.code == PW_OK ? PW_OK : pw_fail(err, c.code, "%s", c.err.msg);
}
