/* test_folder.c - tests listing a folder: by ending, in the order of bytes in any locale, and paths that are
 * no folder. Tests also creating folders, and the messages of failures. */
#include "unit.h"

#include <locale.h>
#include <sys/stat.h>

#include "base/folder.h"

static void make(void **state, const char *name)
{
    char path[4096];

    assert_int_equal(mkdir(scratch_path(state, name, path), 0700), 0);
}

static void lists_by_ending_and_bytes(void **state)
{
    static const char *const want[] = {"B.pewter", "a.b.pewter", "a.pewter", "\xc3\xa4.pewter"};
    struct pw_folder f;
    struct pw_err err;
    char path[4096];

    setlocale(LC_ALL, "");
    make(state, "a.pewter");
    make(state, "\xc3\xa4.pewter");
    make(state, "B.pewter");
    make(state, "a.b.pewter");
    make(state, ".pewter");
    make(state, "pewter");
    make(state, "a.pewter.old");
    assert_int_equal(pw_folder_list(&f, scratch_path(state, "", path), ".pewter", &err), PW_OK);
    assert_int_equal(f.n, 4);
    for (int i = 0; i < f.n; i++)
        assert_string_equal(f.names[i], want[i]);
    pw_folder_free(&f);
    assert_int_equal(f.n, 0);
}

static void says_what_is_no_folder(void **state)
{
    struct pw_folder f;
    struct pw_err err;
    char path[4096];

    assert_int_equal(pw_folder_list(&f, scratch_path(state, "nothing", path), ".pewter", &err), PW_EUSER);
    assert_int_equal(f.n, 0);
    assert_non_null(strstr(err.msg, "nothing: cannot list this folder: No such file or directory"));
    pw_folder_free(&f);
}

static void is_made_with_its_parents(void **state)
{
    static const char *const made[] = {"a/b/c", "a/b", "a"};
    struct stat st;
    struct pw_err err;
    char path[4096];

    for (int i = 0; i < 2; i++) /* the second time all folders exist */
        assert_int_equal(pw_folder_make(scratch_path(state, i == 0 ? made[0] : "a/b/c/", path), &err), PW_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(stat(scratch_path(state, made[i], path), &st), 0);
        assert_true(S_ISDIR(st.st_mode) && (st.st_mode & 0777) == 0700);
        assert_int_equal(rmdir(path), 0);
    }
}

static void says_what_cannot_be_made(void **state)
{
    struct pw_err err;
    (void)state;
    assert_int_equal(pw_folder_make("/proc/nowhere/deeper", &err), PW_EIO);
    assert_string_equal(err.msg, "/proc/nowhere: cannot create this folder: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lists_by_ending_and_bytes, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(says_what_is_no_folder, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(is_made_with_its_parents, scratch_setup, scratch_teardown),
        cmocka_unit_test(says_what_cannot_be_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
