/* test_guard.c - tests that a crashing program restores the terminal, prints its last message, and dies of
 * the original signal.
 *
 * A child crashes on a pseudo-terminal that the test reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
/* cmocka needs the headers above */
#include "ui/guard.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <cmocka.h>

static char seen[65536]; /* the output of the child's terminal */

static void read_terminal(int master)
{
    size_t n = 0;
    ssize_t got;
    while (n < sizeof seen - 1 && (got = read(master, seen + n, sizeof seen - 1 - n)) > 0)
        n += (size_t)got;
    seen[n] = '\0';
}

/* Runs body in a child whose standard error is a terminal in raw mode. Returns its wait status. */
static int in_child(void (*body)(int tty), bool *modes_back)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    struct termios before;
    struct termios raw;
    struct termios after;
    int status;
    assert_int_equal(grantpt(master), 0);
    assert_int_equal(unlockpt(master), 0);
    int tty = open(ptsname(master), O_RDWR | O_NOCTTY);
    tcgetattr(tty, &before);
    pid_t child = fork();
    if (child == 0) {
        dup2(tty, STDERR_FILENO);
        pw_guard_begin(tty, &before);
        raw = before;
        cfmakeraw(&raw);
        tcsetattr(tty, TCSANOW, &raw);
        body(tty);
        pw_guard_end();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    tcgetattr(tty, &after);
    *modes_back = before.c_lflag == after.c_lflag && before.c_iflag == after.c_iflag;
    close(tty); /* the last descriptor: reads end after the remaining output */
    read_terminal(master);
    close(master);
    return status;
}

static void say(const char *text)
{
    ssize_t put = write(STDERR_FILENO, text, strlen(text));
    (void)put;
}

static void abort_with_words(int tty)
{
    (void)tty;
    say("last words\n");
    abort();
}

static void kill_by_fault(int tty)
{
    (void)tty;
    raise(SIGSEGV);
}

static int deep(volatile char *below, unsigned levels)
{
    volatile char frame[4096];
    frame[0] = (char)(below != NULL ? below[0] + 1 : 0);
    return levels ? deep(frame, levels - 1) + frame[0] : 0;
}

static void overflow_the_stack(int tty)
{
    (void)tty;
    deep(NULL, 1u << 30);
}

static void end_well(int tty)
{
    struct pw_str stray = {0};
    say("one\n");
    pw_guard_stray(&stray);
    say("two\n");
    pw_guard_stray(&stray);
    pw_guard_stray(&stray);
    if (strcmp(pw_str_text(&stray), "one\ntwo\n") == 0)
        say("complete\n");
    ssize_t put = write(tty, "<picture>", 9); /* no other output is mixed into it */
    (void)put;
    pw_str_fini(&stray);
}

static void assert_restored(void)
{
    static const char *const off[] = {"\033[?2004l", "\033[?1000l", "\033[?25h", "\033[?1049l"};
    for (int i = 0; i < 4; i++)
        assert_non_null(strstr(seen, off[i]));
}

static void test_abort(void **state)
{
    (void)state;
    bool modes_back;
    int status = in_child(abort_with_words, &modes_back);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_true(modes_back);
    assert_restored();
    const char *words = strstr(seen, "last words");
    assert_non_null(words);
    assert_true(words > strstr(seen, "\033[?1049l")); /* on the main screen, where it stays */
}

static void test_fault(void **state)
{
    (void)state;
    bool modes_back;
    int status = in_child(kill_by_fault, &modes_back);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
    assert_true(modes_back);
    assert_restored();
}

static void test_overflow(void **state)
{
    (void)state;
    bool modes_back;
    int status = in_child(overflow_the_stack, &modes_back);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
    assert_true(modes_back);
    assert_restored();
}

static void test_end(void **state)
{
    (void)state;
    bool modes_back;
    int status = in_child(end_well, &modes_back);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_non_null(strstr(seen, "<picture>one\n"));
    assert_non_null(strstr(seen, "two\n"));
    assert_non_null(strstr(seen, "complete\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_abort),
        cmocka_unit_test(test_fault),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_end),
    };
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* the children crash on purpose */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
