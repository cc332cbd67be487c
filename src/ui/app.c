/* app.c - the main loop around ppoll.
 *
 * The loop draws the lab's changes at most fps times a second. Between two frames it does not listen to the
 * lab, so a thousand steps a second cause no more wake-ups than frames. A key is drawn immediately. If the
 * terminal is so slow that a frame blocks, frames become rarer instead of queueing. Frames that take long to
 * compute also become rarer, so that watching costs training almost nothing. */
#include "base/recall.h"
#include "base/slice.h"
#include "ui/guard.h"
#include "ui/loop.h"
#include "ui/opening.h"
#include "ui/plot.h"
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#define FRAME_LOAD      2.0  /* next frame after this multiple of a frame's duration, blocked time included */
#define FRAME_SHARE     0.03 /* largest share of one processor for frames that no key requested */
#define SLOWEST_FRAME_S 0.5  /* longest pause between frames despite that share */
#define BEGUN_KEY_MUL   4    /* a key with bytes after ESC waits this many times longer */

/* Returns the processor time of this thread. */
static double work_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void complain(struct pw_loop *l, const char *text)
{
    pw_text_copy(l->app.ui.message, sizeof l->app.ui.message, text);
    l->app.ui.message_is_error = true;
    l->news.refused = true;
}

void pw_loop_draw_at_once(struct pw_loop *l)
{
    l->dirty = true;
    l->next_frame = 0;
}

void pw_loop_submit(struct pw_loop *l, const char *text, enum pw_send how)
{
    struct pw_err err = {0};
    l->app.ui.message[0] = '\0';
    l->news.refused = false;
    if (pw_app_submit(&l->app, text, how, &err) != PW_OK)
        complain(l, err.msg);
}

/* ---- keys */

static void take_keys(struct pw_loop *l)
{
    struct pw_input in;
    while (!l->ended && pw_keys_next(&l->keys, &in))
        pw_loop_key(l, &in);
}

static void take_bytes(struct pw_loop *l, const char *bytes, size_t n)
{
    for (size_t at = 0; at < n && !l->ended;) {
        at += pw_keys_feed(&l->keys, bytes + at, n - at);
        take_keys(l);
    }
    l->waiting_since = pw_keys_waiting(&l->keys) ? pw_now() : 0;
}

static void end(struct pw_loop *l, const char *why)
{
    l->ended = true;
    pw_fail(&l->end, PW_ECANCEL, "%s", why);
}

static void end_by(struct pw_loop *l, int signal)
{
    l->ended_by = signal;
    end(l, pw_app_ended_by(signal));
}

/* Reads once, not until the input is empty, so that frames and signals keep their turn during a flood of
 * input. */
static void read_terminal(struct pw_loop *l)
{
    char bytes[4096];
    ssize_t n = pw_term_read(l->term, bytes, sizeof bytes);
    if (n < 0) {
        end(l, "the terminal was closed");
        return;
    }
    take_bytes(l, bytes, (size_t)n);
}

/* Returns the time at which incomplete input is interpreted as separate keys; 0: there is none. */
static double settle_at(const struct pw_loop *l)
{
    if (l->waiting_since == 0)
        return 0;
    int ms = l->app.settings.escape * (pw_keys_waiting(&l->keys) > 1 ? BEGUN_KEY_MUL : 1);
    return l->waiting_since + ms * 1e-3;
}

static void settle(struct pw_loop *l)
{
    struct pw_input in;
    if (l->waiting_since == 0 || pw_now() < settle_at(l))
        return;
    while (!l->ended && pw_keys_settle(&l->keys, &in)) {
        pw_loop_key(l, &in);
        take_keys(l);
    }
    l->waiting_since = 0;
}

/* ---- signals and the lab */

static void read_signals(struct pw_loop *l)
{
    struct signalfd_siginfo s;
    while (read(l->signals, &s, sizeof s) == sizeof s) {
        switch (s.ssi_signo) {
        case SIGTERM:
        case SIGHUP: end_by(l, (int)s.ssi_signo); return;
        case SIGINT: pw_loop_interrupt(l); break;
        case SIGTSTP: pw_loop_suspend(l); break;
        case SIGCONT: pw_term_redraw(l->term); break;
        default: break; /* SIGWINCH: every frame queries the size */
        }
        pw_loop_draw_at_once(l);
    }
}

/* Shows the last line that a library wrote to standard error. */
static void read_stray(struct pw_loop *l)
{
    struct pw_str text = {0};
    pw_guard_stray(&text);
    while (text.len > 0 && text.s[text.len - 1] == '\n')
        text.s[--text.len] = '\0';
    if (text.len > 0) {
        const char *last = strrchr(text.s, '\n');
        complain(l, last != NULL ? last + 1 : text.s);
        l->dirty = true;
    }
    pw_str_fini(&text);
}

static void read_written(struct pw_loop *l)
{
    struct pw_err err;
    if (pw_app_take_written(&l->app, &err) != PW_OK) {
        complain(l, err.msg);
        l->app.quit = PW_STAY; /* a failure drops the rest of a line or script */
    }
    pw_line_read(l->line);
    l->dirty = true;
}

/* ---- frames */

/* Sends bytes for the terminal that are not part of the screen. They go between two frames, when curses has
 * sent all its output. */
static void send_beside(struct pw_loop *l)
{
    struct pw_str *bytes = &l->app.to_terminal;
    for (size_t at = 0; at < bytes->len;) {
        ssize_t n = write(STDOUT_FILENO, bytes->s + at, bytes->len - at);
        if (n <= 0 && errno != EINTR)
            break; /* the terminal is closed: the next read reports it */
        at += n > 0 ? (size_t)n : 0;
    }
    pw_str_clear(bytes);
}

static void draw_screen(struct pw_loop *l)
{
    struct pw_ui *ui = &l->app.ui;
    struct pw_layout at;
    int rows;
    int cols;
    double start = pw_now(), work = work_seconds();
    pw_time_show(ui, l->app.lab != NULL ? pw_lab_snapshot(l->app.lab) : NULL, start);
    l->seen.by[PW_AT_LAB] = ui->snap;
    if (start < pw_time_due(ui)) { /* so that a disk that is fast causes one frame, not two */
        l->next_frame = pw_time_due(ui);
        return;
    }
    ui->reads = l->app.lab != NULL ? pw_lab_progress(l->app.lab) : (struct pw_progress_now){0};
    pw_app_dress(&l->app, pw_term_abilities(l->term), l->behind);
    if (l->app.lab != NULL)
        pw_news_read(&l->news, ui);
    struct pw_err err = {0};
    if (pw_script_go_on(&l->app, &err) != PW_OK)
        complain(l, err.msg);
    pw_term_size(l->term, &rows, &cols);
    pw_canvas_resize(&l->canvas, rows, cols);
    pw_ui_frame(ui, &l->canvas);
    pw_ui_layout(ui, rows, cols, &at);
    pw_line_draw(l->line, &l->canvas, at.prompt);
    pw_term_present(l->term, &l->canvas);
    send_beside(l);

    double end = pw_now();
    double pause = 1.0 / l->app.settings.fps;
    double load = fmin((work_seconds() - work) / FRAME_SHARE, SLOWEST_FRAME_S);
    load = ui->transport.playing ? 0 : load; /* the user watches each frame, and nothing is computed */
    l->next_frame = start + fmax(pause, fmax(load, FRAME_LOAD * (end - start)));
    l->dirty = false;
    if (l->app.quit == PW_QUIT_WHEN_IDLE && pw_app_idle(&l->app))
        l->app.quit = PW_QUIT_NOW;
}

static struct pw_term_config wanted(const struct pw_loop *l)
{
    struct pw_term_config c = l->shown;
    c.color = l->app.settings.color;
    c.mouse = l->app.settings.mouse;
    c.hover = l->app.settings.hover;
    c.sync = l->app.settings.sync;
    return c;
}

static void apply_settings(struct pw_loop *l)
{
    struct pw_err err = {0};
    struct pw_term_config c = wanted(l);
    if (c.color == l->shown.color && c.mouse == l->shown.mouse && c.hover == l->shown.hover &&
        c.sync == l->shown.sync)
        return;
    if (pw_term_configure(l->term, &c, &err) != PW_OK)
        complain(l, err.msg);
    l->shown = c;
    pw_loop_draw_at_once(l);
}

/* Returns when the next frame is due without an event, for a script, playback or a study; 0: never. */
static double wakes(const struct pw_loop *l)
{
    const double all[] = {pw_script_wakes(&l->app), pw_time_wakes(&l->app.ui, pw_now()),
                          pw_watching_wakes(&l->app)};
    double first = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] > 0 && (first == 0 || all[i] < first))
            first = all[i];
    return first;
}

/* Waits until an event or a deadline. */
static void wait_for_news(struct pw_loop *l)
{
    struct pollfd p[] = {
        {STDIN_FILENO, POLLIN, 0},
        {l->signals, POLLIN, 0},
        {pw_disk_fd(l->app.disk), POLLIN, 0},
        {pw_time_fd(&l->app.ui), POLLIN, 0},
        {l->app.lab != NULL ? pw_lab_fd(l->app.lab) : -1, POLLIN, 0},
    };
    double until = l->dirty ? l->next_frame : 0;
    double key_at = settle_at(l), frame_at = wakes(l);
    if (key_at > 0 && (until == 0 || key_at < until))
        until = key_at;
    if (frame_at > 0 && (until == 0 || frame_at < until))
        until = frame_at;
    double left = until - pw_now();
    left = left > 0 ? left : 0;
    struct timespec t = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
    bool forever = !l->dirty && key_at == 0 && frame_at == 0;
    int n = ppoll(p, l->dirty ? 4 : 5, forever ? NULL : &t, NULL);
    if (n < 0 && errno != EINTR)
        end(l, strerror(errno));
    if (n <= 0)
        return;
    if (p[1].revents)
        read_signals(l);
    if (p[0].revents && !l->ended)
        read_terminal(l);
    if (p[2].revents)
        read_written(l);
    if (p[3].revents)
        pw_loop_draw_at_once(l); /* the frame takes the player */
    if (p[4].revents)
        l->dirty = true; /* the frame takes the snapshot */
}

/* Leaving waits for the files of earlier commands. */
static bool leaves(const struct pw_loop *l)
{
    return l->ended || (l->app.quit == PW_QUIT_NOW && !pw_disk_busy(l->app.disk));
}

static void run(struct pw_loop *l)
{
    while (!leaves(l)) {
        read_stray(l);
        apply_settings(l);
        if (l->dirty && pw_now() >= l->next_frame) {
            draw_screen(l);
            continue;
        }
        wait_for_news(l);
        settle(l);
        pw_watching_look(&l->app);
        double at = wakes(l);
        l->dirty = l->dirty || (at > 0 && pw_now() >= at);
    }
}

/* ---- start and end */

/* Shows the first error of the user's file and the number of further errors. */
static void show_errors(struct pw_loop *l, struct pw_str *errors)
{
    int more = -1;
    for (size_t i = 0; i < errors->len; i++)
        more += errors->s[i] == '\n';
    if (errors->len > 0) {
        struct pw_str text = {0};
        pw_str_put(&text, errors->s, strcspn(errors->s, "\n"));
        if (more > 0)
            pw_str_add(&text, "  (%d more: `config load` shows them)", more);
        complain(l, text.s);
        pw_str_fini(&text);
    }
    pw_str_fini(errors);
}

/* Creates the lab while the screen shows how far it is. *typed receives what was typed meanwhile. */
static enum pw_code open_lab(struct pw_loop *l, struct pw_lab **lab, const struct pw_lab_config *cfg,
                             struct pw_opening *typed, struct pw_err *err)
{
    enum pw_code code = pw_opening_run(typed, cfg, l->term, &l->canvas, l->signals, err);
    *lab = l->app.lab = typed->lab;
    l->ended = typed->left || typed->signal != 0;
    l->ended_by = typed->signal;
    return code;
}

/* Runs the workbench on an open terminal. */
static void work(struct pw_loop *l, const struct pw_app_config *cfg, const struct pw_opening *typed)
{
    struct pw_str errors = {0};
    struct pw_err why = {0};
    pw_term_ask_background(l->term);
    pw_app_begin(&l->app, &errors);
    if (cfg->greeting != NULL)
        pw_app_answer(&l->app, "%s", cfg->greeting);
    if (pw_history_open(&l->history, &why) != PW_OK)
        pw_app_answer(&l->app, "%s", why.msg);
    l->history.disk = l->app.disk;
    show_errors(l, &errors);
    l->seen = (struct pw_seen){{[PW_AT_LAB] = l->app.ui.snap, [PW_AT_UI] = &l->app.ui}};
    l->line = pw_line_new(l->app.commands, &l->seen, &l->history);
    pw_app_begin_recall(&l->app); /* from here on this thread does not wait for the disk */
    if (cfg->script != NULL)
        pw_loop_submit(l, cfg->script, PW_SEND_SCRIPT);
    take_bytes(l, typed->typed, typed->n_typed);
    pw_loop_draw_at_once(l);
    if (cfg->lab != NULL && cfg->lab->session != NULL && cfg->lab->session[0] == '\0' && cfg->script == NULL)
        pw_app_show_unended(&l->app);

    run(l);

    pw_recall_begin(NULL, NULL);
    pw_script_end(&l->app);
    pw_line_free(l->line);
    pw_app_end(&l->app); /* waits for the history's last line */
    pw_history_close(&l->history);
    pw_ui_fini(&l->app.ui);
}

enum pw_code pw_app_run(struct pw_lab **lab, const struct pw_commands *all, const struct pw_app_config *cfg,
                        int *signal, struct pw_err *err)
{
    struct pw_loop *l = calloc(1, sizeof *l);
    struct pw_opening typed = {0};
    *signal = 0;
    if (l == NULL)
        return pw_fail(err, PW_ENOMEM, "workbench: out of memory");
    l->app.recording = cfg->recording;
    l->app.commands = all;
    l->app.screen = true;
    l->app.disk = pw_disk_open();
    pw_app_settings(&l->app.settings, cfg->color);
    l->shown = (struct pw_term_config){.in = STDIN_FILENO, .out = STDOUT_FILENO, .ascii = cfg->ascii};
    l->shown = wanted(l);
    pw_app_block_signals();
    pw_slice_short();
    enum pw_code code = pw_term_open(&l->term, &l->shown, err);
    if (code != PW_OK) {
        pw_player_close(cfg->recording);
        pw_disk_close(l->app.disk);
        free(l);
        return code;
    }
    l->behind = pw_theme_guess(getenv("COLORFGBG"));
    pw_canvas_init(&l->canvas);
    pw_keys_init(&l->keys);
    l->signals = pw_app_signals();
    if (cfg->lab != NULL)
        code = open_lab(l, lab, cfg->lab, &typed, err);
    if (code == PW_OK) {
        work(l, cfg, &typed);
        code = l->ended ? pw_fail(err, PW_ECANCEL, "%s", l->end.msg) : PW_OK;
    } else {
        pw_disk_close(l->app.disk);
        code = typed.left ? PW_OK : code;
    }
    close(l->signals);
    pw_keys_fini(&l->keys);
    pw_canvas_fini(&l->canvas);
    pw_term_close(l->term);
    *signal = l->ended_by;
    free(l);
    return code;
}
