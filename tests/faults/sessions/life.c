/* life.c - see life.h. */
#include "life.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT_S = 120 }; /* the limit for ending, on a busy machine */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Runs in the child: drops the caller's environment and signal state. The child must not outlive the
 * caller. */
static void settle(const char *home)
{
    char state[600];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 1; i < SIGRTMIN; i++)
        signal(i, SIG_DFL); /* nohup and background jobs ignore some signals */
    snprintf(state, sizeof state, "%s/state", home);
    clearenv();
    setenv("HOME", home, 1);
    setenv("XDG_STATE_HOME", state, 1);
    setenv("TERM", "xterm-256color", 1);
    setenv("LANG", "C.UTF-8", 1);
    setenv("PATH", "/usr/bin:/bin", 1);
    if (chdir(home) != 0)
        _exit(126);
}

/* The last output of the program. After an abort it has the message. */
struct drawn {
    char bytes[1 << 16];
    size_t n;
};

/* Reads the program's output for `us` microseconds. Returns false when the program has closed its
 * terminal. */
static bool watch(int fd, int us, struct drawn *drawn)
{
    double end = now() + us * 1e-6;
    for (;;) {
        double left = end - now();
        struct pollfd p = {.fd = fd, .events = POLLIN};
        struct timespec t = {.tv_nsec = left > 0.0 ? (long)(left * 1e9) % 1000000000 : 0,
                             .tv_sec = left > 0.0 ? (time_t)left : 0};
        int n = ppoll(&p, 1, &t, NULL);
        if (n > 0) {
            ssize_t got = read(fd, drawn->bytes, sizeof drawn->bytes);
            if (got <= 0)
                return false;
            drawn->n = (size_t)got;
        }
        if (left <= 0.0)
            return true;
    }
}

static void say_end(int status, const struct drawn *drawn, char *text, size_t size)
{
    size_t n = 0, tail = drawn->n < 300 ? drawn->n : 300;
    if (WIFSIGNALED(status))
        snprintf(text, size, "it was ended by signal %d: ", WTERMSIG(status));
    else
        snprintf(text, size, "it ended by itself with status %d: ", WEXITSTATUS(status));
    for (n = strlen(text); tail > 0 && n + 1 < size; tail--) {
        char c = drawn->bytes[drawn->n - tail];
        if (c >= ' ' && c < 127)
            text[n++] = c;
    }
    text[n] = '\0';
}

static bool types_interrupt(const struct life *l)
{
    bool types = false;
    for (int i = 0; i < l->n; i++)
        types = types || strchr(l->act[i].keys, '\003') != NULL;
    return types;
}

bool life_run(const struct life *l, const char *program, const char *home, const char *arg, char *text,
              size_t size)
{
    static struct drawn drawn;
    struct winsize wide = {.ws_row = 24, .ws_col = 80};
    char threads[16];
    int fd, status;
    snprintf(threads, sizeof threads, "%d", l->threads);
    drawn.n = 0;
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before); /* an ignored signal, before `settle`, would be lost */
    pid_t child = forkpty(&fd, NULL, NULL, &wide);
    if (child == 0)
        settle(home);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (child < 0) {
        snprintf(text, size, "there is no pseudo-terminal");
        return false;
    }
    if (child == 0) {
        execl(program, program, "--threads", threads, arg, (char *)NULL);
        _exit(127);
    }
    bool open = watch(fd, l->begin_us, &drawn);
    for (int i = 0; open && i < l->n; i++) {
        const char *keys = l->act[i].keys;
        open = watch(fd, l->act[i].wait_us, &drawn) && write(fd, keys, strlen(keys)) == (ssize_t)strlen(keys);
    }
    open = open && watch(fd, l->end_us, &drawn);
    while (!open && l->signal == SIGKILL && watch(fd, 0, &drawn)) /* reads the last output */
        ;
    kill(child, l->signal);
    for (int s = 0; l->signal != SIGKILL && open && s < LIMIT_S; s++)
        open = watch(fd, 1000000, &drawn);
    bool lives_on = l->signal != SIGKILL && open;
    if (lives_on)
        kill(child, SIGKILL);
    close(fd);
    waitpid(child, &status, 0);
    if (lives_on) {
        snprintf(text, size, "it lives on %d s after signal %d", LIMIT_S, l->signal);
        return false;
    }
    /* Ctrl-C kills a program that has not set up its terminal yet, and leaves one that opens its session. */
    bool ended = WIFSIGNALED(status) ? WTERMSIG(status) == l->signal || WTERMSIG(status) == SIGINT
                                     : WEXITSTATUS(status) == 128 + l->signal ||
                                           (WEXITSTATUS(status) == 0 && types_interrupt(l));
    if (!ended)
        say_end(status, &drawn, text, size);
    return ended;
}

/* Copies the last line that isn't blank. */
static void keep_line(char *text, size_t size, const char *out, size_t n)
{
    while (n > 0 && (out[n - 1] == '\n' || out[n - 1] == ' '))
        n--;
    size_t begin = n;
    while (begin > 0 && out[begin - 1] != '\n')
        begin--;
    snprintf(text, size, "%.*s", (int)(n - begin), out + begin);
}

int life_batch(const char *program, const char *const *args, const char *home, int limit_s, char *text,
               size_t size)
{
    int fd[2], status;
    char out[8192];
    size_t n = 0;
    if (pipe(fd) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        setsid(); /* its own scheduling group, where the kernel has one per session (autogroup) */
        dup2(fd[1], 1);
        dup2(fd[1], 2);
        close(fd[0]);
        close(fd[1]);
        settle(home);
        execv(program, (char *const *)args);
        _exit(127);
    }
    close(fd[1]);
    double end = now() + limit_s;
    for (bool open = true; open && now() < end;) {
        struct pollfd p = {.fd = fd[0], .events = POLLIN};
        if (poll(&p, 1, 200) <= 0)
            continue;
        if (n > sizeof out / 2) { /* only the end of the output is needed */
            memmove(out, out + n - sizeof out / 4, sizeof out / 4);
            n = sizeof out / 4;
        }
        ssize_t got = read(fd[0], out + n, sizeof out - n);
        open = got > 0;
        n += got > 0 ? (size_t)got : 0;
    }
    bool late = now() >= end;
    if (late)
        kill(child, SIGKILL);
    close(fd[0]);
    waitpid(child, &status, 0);
    keep_line(text, size, out, n);
    return late ? -1 : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
