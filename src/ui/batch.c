#include "ui/batch.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "ui/app.h"

#define BAR     24
#define DRAW_NS 50000000 /* between two progress bars: 20 per second */

/* Draws "train 640/1000 [######......]  64%  412 steps/s  0:04 left" on one line that is overwritten. */
static void draw_bar(const struct pw_snapshot *s, const struct pw_progress_now *reads)
{
    int64_t done = 0, total = 0;
    char left[32] = "";
    const char *what = "train", *unit = "";
    if (reads->what != NULL) {
        what = reads->what;
        unit = " MB";
        done = (int64_t)(reads->done / 1000000);
        total = (int64_t)(reads->total / 1000000);
    } else if (s->job.name[0] != '\0' && s->job.state == PW_JOB_RUNNING) {
        what = s->job.name;
        done = s->job.done;
        total = s->job.total;
    } else if (s->state.run == PW_RUN_TRAINING) {
        total = s->state.until; /* progress of the current arm; if that arm is at the goal, of another one */
        done = s->current > 0 ? s->arms[s->current - 1].info.step : 0;
        for (int i = 0; i < PW_MAX_ARMS && done >= total; i++)
            if (s->arms[i].used && s->arms[i].info.step < total)
                done = s->arms[i].info.step;
        if (s->state.eta_s >= 0.0)
            pw_text_duration(left, sizeof left, s->state.eta_s);
    }
    if (total <= 0)
        return;
    int filled = (int)(BAR * done / total);
    fprintf(stderr, "\r\033[K%s %lld/%lld%s [", what, (long long)done, (long long)total, unit);
    for (int i = 0; i < BAR; i++)
        fputc(i < filled ? '#' : '.', stderr);
    fprintf(stderr, "] %3d%%", (int)(100 * done / total));
    if (left[0] != '\0')
        fprintf(stderr, "  %.0f steps/s  %s left", s->state.steps_per_s, left);
    fflush(stderr);
}

/* Runs the workbench's commands at their places in the script. Returns false if one failed. */
static bool go_on(struct pw_app *app)
{
    struct pw_err err = {0};
    enum pw_code code = pw_script_go_on(app, &err);
    if (code != PW_OK)
        fprintf(stderr, "pewter: %s\n", err.msg);
    return code == PW_OK;
}

/* Ends the workbench's part. well: everything succeeded. Returns false if that, or a film, is missing. */
static bool finish(struct pw_app *app, bool well)
{
    bool filming = app->filming != NULL;
    if (well && filming)
        fprintf(stderr, "pewter: film: the script has no 'film end', so no file was written\n");
    pw_script_end(app);
    pw_app_end(app);
    return well && !filming;
}

/* Starts the script without the user's file, so that a script means the same everywhere. Returns false if the
 * text is not a valid script. */
static bool begin_script(struct pw_app *app, const char *first, const char *file, const char *script)
{
    struct pw_err err = {0};
    pw_opt_defaults(pw_settings_opts, &app->settings);
    pw_ui_init(&app->ui);
    if (pw_script_add(app, NULL, first, &err) == PW_OK && pw_script_add(app, file, script, &err) == PW_OK)
        return true;
    fprintf(stderr, "pewter: %s\n", err.msg);
    return false;
}

int pw_batch_replay(struct pw_player *recording, const struct pw_commands *all, const char *script,
                    FILE *words)
{
    struct pw_app app = {.commands = all, .words = words, .alone = true};
    bool well = begin_script(&app, "", NULL, script);
    pw_time_open(&app.ui, recording);
    while (well && app.quit == PW_STAY && pw_script_busy(&app)) {
        int ms = pw_script_patience(&app);
        poll(NULL, 0, ms > 0 ? ms : 0);
        well = go_on(&app);
    }
    return finish(&app, well) ? 0 : 1;
}

/* Returns the signals that end the run, except those that the process was started to ignore: by nohup, or in
 * the background of a script. */
static sigset_t ends(void)
{
    static const int list[] = {SIGTERM, SIGHUP, SIGINT};
    struct sigaction was;
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (sigaction(list[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
            sigaddset(&set, list[i]);
    return set;
}

void pw_batch_block_signals(void)
{
    sigset_t set = ends();
    sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Returns the signal that arrived, or 0. A second signal then ends the process at once, without waiting for
 * the orderly end. */
static int take_signal(int fd)
{
    struct signalfd_siginfo s;
    sigset_t set = ends();
    if (read(fd, &s, sizeof s) != sizeof s)
        return 0;
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    return (int)s.ssi_signo;
}

int pw_batch_run(struct pw_lab *lab, const struct pw_commands *all, const char *first, const char *file,
                 const char *script, FILE *words, int *signal)
{
    struct pw_app app = {.lab = lab, .commands = all, .words = words, .alone = true};
    bool tty = isatty(STDERR_FILENO) == 1, drawn = false, well = begin_script(&app, first, file, script);
    sigset_t set = ends();
    int signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    *signal = 0;
    while (well) {
        struct pollfd p[] = {{.fd = pw_lab_fd(lab), .events = POLLIN}, {.fd = signals, .events = POLLIN}};
        poll(p, 2, pw_script_patience(&app));
        if (drawn)
            fputs("\r\033[K", stderr); /* results are possibly printed to the same terminal */
        const struct pw_snapshot *s = app.ui.snap = pw_lab_snapshot(lab);
        well = go_on(&app);
        fflush(stdout);
        *signal = take_signal(signals);
        if (*signal != 0 || app.quit != PW_STAY || (pw_lab_idle(lab) && !pw_script_busy(&app)))
            break;
        if (tty) {
            struct pw_progress_now reads = pw_lab_progress(lab);
            draw_bar(s, &reads);
            drawn = true;
            nanosleep(&(struct timespec){.tv_nsec = DRAW_NS}, NULL);
        }
    }
    close(signals);
    return finish(&app, well && pw_lab_failures(lab) == 0) || *signal != 0 ? 0 : 1;
}
