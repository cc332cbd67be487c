/* plain.c - the loop of plain mode. */
#include "ui/plain.h"
#include "base/clock.h"
#include "ui/app.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define MAX_LINE (1u << 20) /* bytes */
#define TELL_S   5.0        /* seconds between two progress lines */

struct plain {
    struct pw_app app;
    struct pw_str input; /* bytes read that are not yet a whole line */
    bool typed;          /* the input is a terminal */
    bool prompted;       /* the cursor is after a prompt */
    bool input_ended;
    int signals;
    int interrupts; /* Ctrl-C count since the last line */
    bool failed, ended;
    int ended_by; /* a signal; 0: none */
    double told;  /* CLOCK_MONOTONIC time of the last progress line */
};

static void complain(struct plain *p, const char *text)
{
    fprintf(stderr, "pewter: %s\n", text);
    if (!p->typed) { /* later lines of a script possibly depend on the failed one */
        p->failed = true;
        p->input_ended = true;
    }
}

static void submit(struct plain *p, const char *text, enum pw_send how)
{
    struct pw_err err = {0};
    p->interrupts = 0;
    if (pw_app_submit(&p->app, text, how, &err) != PW_OK)
        complain(p, err.msg);
}

/* Handles a line while a script waits for a key: an empty line is the key, q leaves. In a pipe every line
 * acts as the key, because no user answers; a non-empty line still runs. Returns true if the line is
 * consumed. */
static bool answer(struct plain *p, const char *line)
{
    if (*line == '\0' || !p->typed)
        pw_script_key(&p->app);
    else if (strcmp(line, "q") == 0)
        pw_script_end(&p->app);
    else
        return false;
    return *line == '\0' || p->typed;
}

/* Runs a line of the input if a whole one is available. A line from a pipe waits until all earlier commands
 * were sent. Returns true if a line was handled. */
static bool submit_line(struct plain *p)
{
    struct pw_str *in = &p->input;
    bool waits = p->app.todo.waiting == PW_WAIT_KEY;
    char *end = in->len ? memchr(in->s, '\n', in->len) : NULL;
    if (p->app.quit != PW_STAY || p->failed || (!p->typed && pw_script_busy(&p->app) && !waits))
        return false;
    if (end == NULL) {
        if (waits && p->input_ended)
            pw_script_key(&p->app); /* no more input will come */
        return waits && p->input_ended;
    }
    size_t n = (size_t)(end - in->s) + 1;
    *end = '\0';
    if (!waits || !answer(p, in->s)) {
        if (waits && !p->typed) {
            *end = '\n';
            return true;
        }
        submit(p, in->s, p->typed ? PW_SEND_NOW : PW_SEND_SCRIPT);
    }
    in->len -= n;
    memmove(in->s, in->s + n, in->len + 1);
    return true;
}

/* Continues the script with the new snapshot, then the typed lines. Returns true if more can be done at once.
 */
static bool go_on(struct plain *p)
{
    struct pw_err err = {0};
    if (pw_script_go_on(&p->app, &err) != PW_OK)
        complain(p, err.msg);
    return submit_line(p);
}

static void read_input(struct plain *p)
{
    char bytes[4096];
    ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR)
        return;
    if (n > 0 && p->input.len + (size_t)n <= MAX_LINE) {
        pw_str_put(&p->input, bytes, (size_t)n);
        p->prompted = false; /* the terminal has echoed the line end */
    } else {
        if (n > 0)
            complain(p, "the line is longer than a megabyte");
        p->input_ended = true;
        if (p->input.len > 0 && p->input.s[p->input.len - 1] != '\n')
            pw_str_put(&p->input, "\n", 1); /* the last line can lack its line end */
    }
}

static void end(struct plain *p, const char *why)
{
    p->ended = true;
    p->failed = true;
    complain(p, why);
}

static void end_by(struct plain *p, int signal)
{
    p->ended_by = signal;
    end(p, pw_app_ended_by(signal));
}

/* At a terminal Ctrl-C interrupts the running work; a second one without a line between ends the program. */
static void read_signals(struct plain *p)
{
    struct signalfd_siginfo s;
    while (read(p->signals, &s, sizeof s) == sizeof s) {
        int number = (int)s.ssi_signo;
        if (number == SIGTERM || number == SIGHUP || (number == SIGINT && (!p->typed || p->interrupts++ > 0)))
            end_by(p, number);
        else if (s.ssi_signo == SIGINT)
            pw_lab_interrupt(p->app.lab);
        else if (s.ssi_signo == SIGTSTP)
            raise(SIGSTOP); /* there is no terminal state to restore */
        else if (s.ssi_signo == SIGCONT)
            p->prompted = false; /* the shell wrote to the terminal since */
    }
}

/* Flushes both streams, on a new line if the cursor is after a prompt. This is the only flush: most events
 * print nothing, and those must not cause a new prompt. */
static void flush(struct plain *p)
{
    if (p->prompted && (__fpending(stdout) > 0 || __fpending(stderr) > 0)) {
        p->prompted = false;
        if (write(STDOUT_FILENO, "\n", 1) < 0)
            end(p, "standard output could not be written");
    }
    fflush(stdout);
    fflush(stderr);
}

static void show_prompt(struct plain *p)
{
    if (!p->typed || p->prompted)
        return;
    fputs("> ", stdout);
    fflush(stdout);
    p->prompted = true;
}

/* At a terminal, prints a line about training or reading every TELL_S. Returns the milliseconds until the
 * next one, -1: none. */
static int tell_progress(struct plain *p)
{
    const struct pw_snapshot *s = p->app.ui.snap;
    const struct pw_arm_view *a = s->current > 0 ? &s->arms[s->current - 1] : NULL;
    struct pw_progress_now reads = pw_lab_progress(p->app.lab);
    double now = pw_now();
    bool trains = s->state.run == PW_RUN_TRAINING && a != NULL;
    if (!p->typed || (!trains && reads.what == NULL)) {
        p->told = now;
        return -1;
    }
    if (now - p->told >= TELL_S && reads.what != NULL) {
        struct pw_str text = {0};
        pw_progress_print(&reads, &text);
        puts(text.s);
        pw_str_fini(&text);
        p->told = now;
    } else if (now - p->told >= TELL_S) {
        char left[32];
        pw_text_duration(left, sizeof left, s->state.eta_s);
        printf("training: step %lld", (long long)a->info.step);
        if (s->state.until > 0)
            printf(" of %lld", (long long)s->state.until);
        if (s->state.eta_s >= 0)
            printf(", %s left", left);
        putchar('\n');
        p->told = now;
    }
    return (int)((p->told + TELL_S - now) * 1e3) + 1;
}

static void wait_for_news(struct plain *p, bool listen, int most_ms)
{
    struct pollfd in[] = {
        {p->signals, POLLIN, 0},
        {pw_lab_fd(p->app.lab), POLLIN, 0},
        {STDIN_FILENO, POLLIN, 0},
    };
    int ms = pw_script_patience(&p->app);
    if (poll(in, listen ? 3 : 2, ms < 0 || (most_ms >= 0 && most_ms < ms) ? most_ms : ms) < 0) {
        if (errno != EINTR)
            end(p, strerror(errno));
        return;
    }
    if (in[0].revents)
        read_signals(p);
    if (listen && in[2].revents)
        read_input(p);
}

static void loop(struct plain *p)
{
    while (!p->ended && p->app.quit != PW_QUIT_NOW) {
        p->app.ui.snap = pw_lab_snapshot(p->app.lab); /* on_event prints here */
        bool more = go_on(p);
        int tell_ms = tell_progress(p);
        flush(p);
        if (more)
            continue;
        bool last = p->app.quit == PW_QUIT_WHEN_IDLE || p->input_ended;
        if (last && p->app.held.n == 0 && (p->typed || (pw_lab_idle(p->app.lab) && !pw_script_busy(&p->app))))
            break;
        show_prompt(p);
        wait_for_news(p, !last, tell_ms);
    }
    if (p->prompted)
        putchar('\n');
}

int pw_plain_run(struct pw_lab *lab, const struct pw_commands *all, const char *script, FILE *words,
                 int *signal)
{
    struct plain p = {.app = {.lab = lab, .commands = all, .words = words}};
    pw_opt_defaults(pw_settings_opts, &p.app.settings);
    p.typed = isatty(STDIN_FILENO);
    p.signals = pw_app_signals();
    setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
    setvbuf(stderr, NULL, _IOFBF, BUFSIZ);
    struct pw_str errors = {0};
    pw_app_begin(&p.app, &errors);
    fputs(pw_str_text(&errors), stderr);
    pw_str_fini(&errors);
    if (script != NULL)
        submit(&p, script, PW_SEND_SCRIPT);
    loop(&p);
    flush(&p);
    setvbuf(stderr, NULL, _IONBF, 0);
    close(p.signals);
    pw_script_end(&p.app);
    pw_str_fini(&p.input);
    pw_app_end(&p.app);
    *signal = p.ended_by;
    return p.failed || (!p.typed && pw_lab_failures(lab) > 0) ? 1 : 0;
}
