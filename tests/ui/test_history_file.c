/* test_history_file.c - tests the file of the command line's history: its order, its length, its permissions, and what
 * happens where it can't be made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* cmocka needs the headers above */
#include "ui/history.h"
#include <cmocka.h>

static int setup(void **state)
{
    static char folder[64];
    strcpy(folder, "/tmp/pewter-history-XXXXXX");
    *state = mkdtemp(folder);
    return setenv("XDG_STATE_HOME", folder, 1);
}

static int teardown(void **state)
{
    static const char *const made[] = {"/pewter/history", "/pewter", ""};
    for (int i = 0; i < 3; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s%s", (const char *)*state, made[i]);
        remove(path);
    }
    return 0;
}

static void test_history_file(void **state)
{
    const char *folder = *state;
    char path[128];
    struct stat st;
    struct pw_history again;
    struct pw_err err;
    snprintf(path, sizeof path, "%s/pewter/history", folder);
    assert_int_equal(pw_history_open(&again, &err), PW_OK);
    pw_history_add(&again, "train 1");
    pw_history_add(&again, "task sort");
    pw_history_add(&again, "train 1");
    pw_history_close(&again);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(pw_history_open(&again, &err), PW_OK);
    assert_int_equal(again.n, 2);
    assert_string_equal(again.lines[0], "task sort");
    assert_string_equal(again.lines[1], "train 1");
    for (int i = 0; i < 3 * PW_HISTORY_MAX; i++) {
        char text[32];
        snprintf(text, sizeof text, "train %d", i);
        assert_true(pw_history_add(&again, text));
    }
    assert_int_equal(again.n, PW_HISTORY_MAX);
    pw_history_close(&again);
    assert_int_equal(pw_history_open(&again, &err), PW_OK); /* and the file was truncated */
    assert_int_equal(again.n, PW_HISTORY_MAX);
    assert_string_equal(again.lines[PW_HISTORY_MAX - 1], "train 2999");
    assert_true(pw_history_add(&again, "after"));
    pw_history_close(&again);
    FILE *f = fopen(path, "r");
    int lines = 0;
    for (int c; (c = fgetc(f)) != EOF;)
        lines += c == '\n';
    fclose(f);
    assert_int_equal(lines, PW_HISTORY_MAX + 1);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

/* If the file can't be created there is a message, and the session still has a history. */
static void test_history_nowhere(void **state)
{
    (void)state;
    struct pw_history h;
    struct pw_err err = {0};
    setenv("XDG_STATE_HOME", "/proc/nowhere", 1);
    assert_int_equal(pw_history_open(&h, &err), PW_EIO);
    assert_string_equal(
        err.msg, /* the error of the folder, not of the missing file */
        "history: not kept: /proc/nowhere: cannot create this folder: No such file or directory");
    assert_true(pw_history_add(&h, "train"));
    assert_int_equal(h.n, 1);
    pw_history_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_history_file, setup, teardown),
        cmocka_unit_test_setup_teardown(test_history_nowhere, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
