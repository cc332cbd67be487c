/* guard.c - crash handlers and the captured standard error.
 *
 * The handler makes only async-signal-safe calls. It does not call curses, because curses' state is possibly
 * the cause of the crash. */
#include "ui/guard.h"
#include "base/alloc.h"
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Resets every mode that pewter or curses possibly set; a terminal ignores sequences that it does not
 * support. */
static const char restore_text[] =
    "\033[?2026l\033[?2004l\033[?1006l\033[?1003l\033[?1002l\033[?1000l\033[0m\033[?25h\033[?1049l\r";

static const int fatal[] = {SIGSEGV, SIGABRT, SIGBUS,  SIGFPE,  SIGILL,    SIGQUIT, SIGSYS,
                            SIGTRAP, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU};
enum { N_FATAL = sizeof fatal / sizeof *fatal };

static struct {
    bool on;
    int out;
    struct termios saved;
    int held;       /* memfd in place of standard error; -1: not captured */
    int stderr_was; /* the real standard error */
    off_t seen;     /* bytes of held that pw_guard_stray has returned */
    struct sigaction before[N_FATAL];
    stack_t stack_before;
} guard = {.held = -1};

static char stack[65536]; /* the handler's own stack, because a stack overflow is a SIGSEGV too */

static void write_all(int fd, const char *s, size_t n)
{
    while (n > 0) {
        ssize_t put = write(fd, s, n);
        if (put <= 0)
            return;
        s += put;
        n -= (size_t)put;
    }
}

static void restore(void)
{
    write_all(guard.out, restore_text, sizeof restore_text - 1);
    tcsetattr(guard.out, TCSANOW, &guard.saved);
}

static void release_stderr(void)
{
    char text[1024];
    off_t at = 0;
    ssize_t n;
    if (guard.held < 0)
        return;
    dup2(guard.stderr_was, STDERR_FILENO);
    while ((n = pread(guard.held, text, sizeof text, at)) > 0) {
        write_all(STDERR_FILENO, text, (size_t)n);
        at += n;
    }
}

static void give_back(void)
{
    restore();
    release_stderr();
}

static void crash(int sig)
{
    give_back();
    signal(sig, SIG_DFL);
    raise(sig); /* delivered when the handler returns: exit status and core are those of the fault */
}

static void hold_stderr(void)
{
    guard.held = -1;
    guard.seen = 0;
    if (!isatty(STDERR_FILENO))
        return;
    guard.stderr_was = dup(STDERR_FILENO);
    guard.held = memfd_create("pewter-stderr", MFD_CLOEXEC);
    if (guard.held >= 0 && guard.stderr_was >= 0)
        dup2(guard.held, STDERR_FILENO);
}

void pw_guard_begin(int out, const struct termios *saved)
{
    guard.out = out;
    guard.saved = *saved;
    guard.on = true;
    hold_stderr();
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, &guard.stack_before);
    struct sigaction sa = {.sa_handler = crash, .sa_flags = SA_ONSTACK};
    sigemptyset(&sa.sa_mask);
    for (int i = 0; i < N_FATAL; i++)
        sigaction(fatal[i], &sa, &guard.before[i]);
    pw_on_exhausted(give_back);
}

void pw_guard_end(void)
{
    if (!guard.on)
        return;
    pw_on_exhausted(NULL);
    for (int i = 0; i < N_FATAL; i++)
        sigaction(fatal[i], &guard.before[i], NULL);
    sigaltstack(&guard.stack_before, NULL);
    release_stderr();
    if (guard.held >= 0) {
        close(guard.held);
        close(guard.stderr_was);
    }
    guard.held = -1;
    guard.on = false;
}

void pw_guard_stray(struct pw_str *out)
{
    char text[1024];
    ssize_t n;
    while (guard.held >= 0 && (n = pread(guard.held, text, sizeof text, guard.seen)) > 0) {
        pw_str_put(out, text, (size_t)n);
        guard.seen += n;
    }
}
