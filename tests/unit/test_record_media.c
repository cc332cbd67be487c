/* test_record_media.c - tests reading a session from a medium that can't be written, as a user without
 * rights. */
#include "ref_session.h"

#include <grp.h>
#include <signal.h>
#include <sys/wait.h>

/* Runs a function in a child as the user nobody, since root may write everywhere. Returns its exit status. */
static int as_nobody(int (*run)(const char *path), const char *path)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0))
            _exit(77);
        _exit(run(path));
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

static int reads_all(const char *path)
{
    struct pw_record *r;
    struct pw_err err;
    uint64_t intact = 0;
    if (pw_record_open(&r, path, &err) != PW_OK || pw_record_check(r, &intact, &err) != PW_OK) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    pw_record_close(r);
    return intact == 200 ? 0 : 2;
}

static int cannot_record(const char *path)
{
    struct pw_store_config cfg = {.folder = path, .env = {.pewter = "x"}};
    struct pw_store *s;
    struct pw_err err;
    if (pw_store_open(&s, &cfg, &err) == PW_OK)
        return 1;
    return strstr(err.msg, "'pewter replay' can read it") != NULL ? 0 : 2;
}

static void make_readonly(void **state, const char *path)
{
    char command[8300];
    assert_int_equal(chmod(*state, 0755), 0);
    snprintf(command, sizeof command, "chmod -R a+rX,a-w '%s'", path);
    assert_int_equal(system(command), 0);
}

/* So that it can be removed. */
static void make_writable(const char *path)
{
    char command[8300];
    snprintf(command, sizeof command, "chmod -R u+w '%s'", path);
    assert_int_equal(system(command), 0);
}

static void reads_where_it_cannot_write(void **state)
{
    char path[4096], left[4096];
    int fd[2];
    char byte;
    session_path(state, path);
    session_record(path, 200);
    make_readonly(state, path);
    assert_int_equal(as_nobody(reads_all, path), 0);
    assert_int_equal(as_nobody(cannot_record, path), 0);
    make_writable(path);

    /* The log was never checkpointed, and the user can't create the index that SQLite needs beside it. */
    scratch_path(state, "left.pewter", left);
    assert_int_equal(pipe(fd), 0);
    pid_t child = fork();
    if (child == 0) {
        uint64_t rng = 1;
        struct pw_store *s = session_open(left, true);
        session_put(s, 1, 200, &rng);
        session_wait(s, 200);
        if (write(fd[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(fd[0], &byte, 1), 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(fd[0]);
    close(fd[1]);
    make_readonly(state, left);
    assert_int_equal(as_nobody(reads_all, left), 0);
    char shm[4200];
    snprintf(shm, sizeof shm, "%s/session.db-shm", left);
    make_writable(left);
    assert_int_equal(unlink(shm), 0);
    make_readonly(state, left);
    assert_int_equal(as_nobody(reads_all, left), 0);
    make_writable(left);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_where_it_cannot_write, session_setup, session_teardown),
    };
    return cmocka_run_group_tests_name("record_media", tests, NULL, NULL);
}
