/* test_recall.c - tests that a thread that must not wait gets folders and texts from memory, and that what it
 * lacks is handed over once. Tests also that all other threads read the disk. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/recall.h"
#include "base/text.h"

/* The paths that were handed over. */
struct asked {
    int n;
    char path[4096];
    size_t limit;
};

static void ask(void *arg, const char *path, size_t limit)
{
    struct asked *a = arg;
    a->n++;
    a->limit = limit;
    snprintf(a->path, sizeof a->path, "%s", path);
}

static void put(void **state, const char *name, const char *text)
{
    char path[4096];
    FILE *f = fopen(scratch_path(state, name, path), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void has(const char *folder, const char *ending, const char *want)
{
    struct pw_folder f;
    struct pw_str all = {0};
    pw_recall_list(&f, folder, ending);
    for (int i = 0; i < f.n; i++)
        pw_str_add(&all, "%s ", f.names[i]);
    assert_string_equal(pw_str_text(&all), want);
    pw_str_fini(&all);
    pw_folder_free(&f);
}

static void reads_the_disk_at_once(void **state)
{
    char folder[4096], path[4096], *data;
    struct pw_err err;
    size_t size;
    scratch_path(state, "", folder);
    put(state, "b.pe", "one");
    put(state, ".pe", "");
    assert_int_equal(mkdir(scratch_path(state, "a.pe", path), 0700), 0);
    has(folder, "", ".pe a.pe/ b.pe ");
    has(folder, ".pe", "a.pe b.pe ");
    assert_true(pw_recall_has(folder, "b.pe") && pw_recall_has(folder, "a.pe"));
    assert_false(pw_recall_has(folder, "c.pe"));
    scratch_path(state, "b.pe", path);
    put(state, "b.pe", "two");
    assert_int_equal(pw_recall_text(path, path, 100, &data, &size, &err), PW_OK);
    assert_string_equal(data, "two");
    assert_int_equal(size, 3);
    free(data);
}

static void answers_from_memory(void **state)
{
    char folder[4096];
    struct asked a = {0};
    scratch_path(state, "", folder);
    put(state, "a.pe", "");
    pw_recall_begin(ask, &a);
    has(folder, ".pe", "");
    has(folder, ".pe", ""); /* handed over once */
    assert_true(pw_recall_missed());
    assert_int_equal(a.n, 1);
    assert_string_equal(a.path, folder);
    assert_int_equal(a.limit, 0);
    pw_recall_read(a.path, a.limit);
    pw_recall_again();
    put(state, "b.pe", "");
    has(folder, ".pe", "a.pe ");
    assert_false(pw_recall_missed());
    assert_int_equal(a.n, 1);

    pw_recall_since(pw_now() + 1e-9); /* that is too old now */
    has(folder, ".pe", "a.pe ");
    assert_true(pw_recall_missed());
    assert_int_equal(a.n, 2);
    pw_recall_read(a.path, a.limit);
    pw_recall_again();
    has(folder, ".pe", "a.pe b.pe ");
    assert_true(pw_recall_has(folder, "b.pe"));
    assert_false(pw_recall_has(folder, "b") || pw_recall_has(folder, "b.pew"));
    assert_false(pw_recall_missed());
    assert_int_equal(a.n, 2);
    pw_recall_begin(NULL, NULL);
}

static void remembers_texts_and_failures(void **state)
{
    char path[4096], *data;
    struct asked a = {0};
    struct pw_err err;
    size_t size;
    scratch_path(state, "a.pe", path);
    pw_recall_begin(ask, &a);
    assert_int_equal(pw_recall_text("a.pe", path, 100, &data, &size, &err), PW_EUSER);
    assert_null(data);
    pw_recall_read(a.path, a.limit); /* there is no such file */
    pw_recall_again();
    assert_int_equal(pw_recall_text("a.pe", path, 100, &data, &size, &err), PW_EUSER);
    assert_false(pw_recall_missed());
    put(state, "a.pe", "one");
    pw_recall_read(path, 100);
    assert_int_equal(pw_recall_text("a.pe", path, 100, &data, &size, &err), PW_OK);
    assert_string_equal(data, "one");
    free(data);
    assert_int_equal(a.n, 1);
    pw_recall_begin(NULL, NULL);
}

static void keeps_the_newest(void **state)
{
    char path[4096];
    struct asked a = {0};
    (void)state;
    pw_recall_begin(ask, &a);
    for (int i = 0; i < 1000; i++) {
        snprintf(path, sizeof path, "/nowhere/%d", i);
        has(path, "", "");
        pw_recall_read(path, 0);
    }
    assert_int_equal(a.n, 1000);
    has("/nowhere/999", "", "");
    assert_int_equal(a.n, 1000);
    has("/nowhere/0", "", ""); /* made room, so it is read again */
    assert_int_equal(a.n, 1001);
    pw_recall_begin(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_the_disk_at_once, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(answers_from_memory, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(remembers_texts_and_failures, scratch_setup, scratch_teardown),
        cmocka_unit_test(keeps_the_newest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
