/* test_file.c - tests writing whole files: contents, refusals, and that a name never shows half of a file. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/file.h"

/* When set, open() fails as on a file system without O_TMPFILE (CMakeLists.txt: --wrap). */
static bool no_unnamed;

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

int __wrap_open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) {
        va_list args;
        va_start(args, flags);
        mode = va_arg(args, mode_t);
        va_end(args);
    }
    if (no_unnamed && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return __real_open(path, flags, mode);
}

/* Returns whether the tests' folder supports O_TMPFILE. */
static bool has_unnamed(const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_WRONLY, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static int named_setup(void **state)
{
    no_unnamed = true;
    return scratch_setup(state);
}

static int named_teardown(void **state)
{
    no_unnamed = false;
    return scratch_teardown(state);
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void assert_holds(const char *path, const char *text)
{
    char *data;
    size_t size;

    assert_int_equal(pw_file_read(path, 1 << 20, &data, &size, NULL), PW_OK);
    assert_int_equal(size, strlen(text));
    assert_string_equal(data, text);
    free(data);
}

static void appears_with_commit(void **state)
{
    char path[4096];
    struct pw_file *f;
    struct stat st;
    struct pw_err err;

    put(scratch_path(state, "f", path), "old");
    assert_int_equal(pw_file_create(&f, path, &err), PW_OK);
    assert_true(fprintf(pw_file_stream(f), "%s %d", "new", 1) > 0);
    assert_int_equal(fflush(pw_file_stream(f)), 0);
    assert_holds(path, "old");
    assert_int_equal(scratch_count(*state, NULL), has_unnamed(*state) ? 1 : 2);
    assert_int_equal(pw_file_commit(f, &err), PW_OK);
    assert_holds(path, "new 1");
    assert_int_equal(scratch_count(*state, NULL), 1);

    mode_t mask = umask(027); /* permissions are those of any new file */
    scratch_path(state, "g", path);
    assert_int_equal(pw_file_create(&f, path, &err), PW_OK);
    umask(mask);
    assert_int_equal(pw_file_commit(f, &err), PW_OK);
    assert_holds(path, "");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);

    scratch_path(state, "h", path);
    assert_int_equal(pw_file_create(&f, path, &err), PW_OK);
    pw_file_private(f);
    assert_int_equal(pw_file_commit(f, &err), PW_OK);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

/* Another process may have created the file meanwhile. */
static void a_fresh_file_replaces_nothing(void **state)
{
    char path[4096], expect[8192];
    struct pw_file *f;
    struct pw_err err;

    scratch_path(state, "f", path);
    assert_int_equal(pw_file_create(&f, path, &err), PW_OK);
    pw_file_fresh(f);
    fputs("ours", pw_file_stream(f));
    put(path, "another's");
    assert_int_equal(pw_file_commit(f, &err), PW_EUSER);
    snprintf(expect, sizeof expect, "%s already exists", path);
    assert_string_equal(err.msg, expect);
    assert_holds(path, "another's");
    assert_int_equal(scratch_count(*state, NULL), 1);

    assert_int_equal(unlink(path), 0);
    assert_int_equal(pw_file_create(&f, path, &err), PW_OK);
    pw_file_fresh(f);
    fputs("ours", pw_file_stream(f));
    assert_int_equal(pw_file_commit(f, &err), PW_OK);
    assert_holds(path, "ours");
    assert_int_equal(scratch_count(*state, NULL), 1);
}

static void positions_of_the_stream(void **state)
{
    char path[4096];
    struct pw_file *f;

    scratch_path(state, "f", path);
    assert_int_equal(pw_file_create(&f, path, NULL), PW_OK);
    FILE *s = pw_file_stream(f);
    assert_true(fputs("....body", s) >= 0);
    assert_int_equal(ftell(s), 8);
    assert_int_equal(fseek(s, 0, SEEK_SET), 0);
    assert_true(fputs("head", s) >= 0);
    assert_int_equal(pw_file_commit(f, NULL), PW_OK);
    assert_holds(path, "headbody");
}

static void abandon_leaves_nothing(void **state)
{
    char path[4096];
    struct pw_file *f;

    put(scratch_path(state, "f", path), "old");
    assert_int_equal(pw_file_create(&f, path, NULL), PW_OK);
    fputs("new", pw_file_stream(f));
    pw_file_abandon(f);
    assert_holds(path, "old");
    assert_int_equal(scratch_count(*state, NULL), 1);
    pw_file_abandon(NULL);
}

static void refuses_to_write(void **state)
{
    char path[4096], expect[8192];
    struct pw_file *f = (struct pw_file *)path;
    struct pw_err err;

    scratch_path(state, "missing/f", path);
    assert_int_equal(pw_file_create(&f, path, &err), PW_EIO);
    snprintf(expect, sizeof expect, "%s: cannot create: No such file or directory", path);
    assert_string_equal(err.msg, expect);
    assert_null(f);
    assert_int_equal(pw_file_create(&f, *state, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, ": is a directory, not a regular file"));
    assert_int_equal(pw_file_create(&f, "/dev/null", &err), PW_EUSER);
    assert_string_equal(err.msg, "/dev/null: is a device or a pipe, not a regular file");
    assert_int_equal(pw_file_create(&f, "", &err), PW_EUSER);
    assert_string_equal(err.msg, "the file's name is empty");
    assert_int_equal(scratch_count(*state, NULL), 0);
}

/* A limit on the size of files simulates a full disk: write() fails in the middle. */
static void a_failed_write_keeps_the_old_file(void **state)
{
    char path[4096], expect[8192];
    struct pw_file *f;
    struct pw_err err;
    struct rlimit before, small;

    put(scratch_path(state, "f", path), "old");
    assert_int_equal(pw_file_create(&f, path, &err), PW_OK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 10000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (int i = 0; i < 20000; i++)
        fputs("0123456789", pw_file_stream(f)); /* unchecked, as the header allows */
    enum pw_code code = pw_file_commit(f, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);

    assert_int_equal(code, PW_EIO);
    snprintf(expect, sizeof expect, "%s: cannot write: File too large", path);
    assert_string_equal(err.msg, expect);
    assert_holds(path, "old");
    assert_int_equal(scratch_count(*state, NULL), 1);
}

/* A folder takes the target's name between create and commit. */
static void a_failed_rename_is_reported(void **state)
{
    char path[4096];
    struct pw_file *f;
    struct pw_err err;

    scratch_path(state, "f", path);
    assert_int_equal(pw_file_create(&f, path, &err), PW_OK);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(pw_file_commit(f, &err), PW_EIO);
    assert_non_null(strstr(err.msg, ": cannot write: Is a directory"));
    assert_int_equal(scratch_count(*state, NULL), 1);
}

/* Forks a process that begins a file and never commits it. now: kills it at once; otherwise the caller
 * kills it later. Returns its id. */
static pid_t killed_while_writing(const char *path, bool now)
{
    int ready[2];
    char byte;

    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct pw_file *f;
        if (pw_file_create(&f, path, NULL) != PW_OK || fputs("half", pw_file_stream(f)) < 0 ||
            fflush(pw_file_stream(f)) != 0 || write(ready[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    if (now) {
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
    }
    return pid;
}

static void a_killed_writer_leaves_nothing(void **state)
{
    char path[4096];

    if (!has_unnamed(*state))
        skip();
    killed_while_writing(scratch_path(state, "f", path), true);
    assert_int_equal(scratch_count(*state, NULL), 0);
    put(path, "old");
    killed_while_writing(path, true);
    assert_holds(path, "old");
    assert_int_equal(scratch_count(*state, NULL), 1);
}

/* Without O_TMPFILE the next writer of the same file removes abandoned temporary files. It keeps those of a
 * running process, of another target, and files with other names. */
static void the_next_writer_removes_what_was_left(void **state)
{
    char path[4096], other[4096];
    struct pw_file *f;
    static const char *const others[] = {"g.tmp0123ab", "f.tmp0123a", "f.tmp0123abc", "f.tmp0123xy", "f.tmp"};

    scratch_path(state, "f", path);
    for (int i = 0; i < 5; i++)
        put(scratch_path(state, others[i], other), "a user's");
    killed_while_writing(path, true);
    assert_int_equal(scratch_count(*state, NULL), 6);
    pid_t alive = killed_while_writing(path, false);
    assert_int_equal(scratch_count(*state, NULL), 6); /* only the running writer's file is left */
    assert_int_equal(pw_file_create(&f, path, NULL), PW_OK);
    assert_int_equal(scratch_count(*state, NULL), 7);
    fputs("new", pw_file_stream(f));
    assert_int_equal(pw_file_commit(f, NULL), PW_OK);
    assert_holds(path, "new");
    assert_int_equal(scratch_count(*state, NULL), 7);
    assert_int_equal(kill(alive, SIGKILL), 0);
    assert_int_equal(waitpid(alive, NULL, 0), alive);
    assert_int_equal(pw_file_create(&f, path, NULL), PW_OK);
    pw_file_abandon(f);
    assert_int_equal(scratch_count(*state, NULL), 6);
    for (int i = 0; i < 5; i++)
        assert_holds(scratch_path(state, others[i], other), "a user's");
}

#define writing(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)
#define named(test)                                                                                          \
    {                                                                                                        \
#test " by name", test, named_setup, named_teardown, NULL                                            \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        writing(appears_with_commit),
        writing(a_fresh_file_replaces_nothing),
        writing(positions_of_the_stream),
        writing(abandon_leaves_nothing),
        writing(refuses_to_write),
        writing(a_failed_write_keeps_the_old_file),
        writing(a_failed_rename_is_reported),
        writing(a_killed_writer_leaves_nothing),
        named(the_next_writer_removes_what_was_left),
        named(appears_with_commit),
        named(a_fresh_file_replaces_nothing),
        named(positions_of_the_stream),
        named(abandon_leaves_nothing),
        named(refuses_to_write),
        named(a_failed_write_keeps_the_old_file),
        named(a_failed_rename_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
