/* test_slurm.c - tests the record of submissions, recorded lines of squeue, the states of cells that follow,
 * and the scripts of jobs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "study/child.h"
#include "study/slurm.h"

/* A folder with an empty slurm/. */
static char folder[] = "/tmp/pewter-slurm-XXXXXX";

static int make_folder(void **state)
{
    struct pw_str path = {0};
    (void)state;
    assert_non_null(mkdtemp(folder));
    pw_slurm_path(&path, folder, "");
    assert_int_equal(mkdir(path.s, 0700), 0);
    pw_str_fini(&path);
    return 0;
}

static void remove_file(const char *name)
{
    struct pw_str path = {0};
    pw_slurm_path(&path, folder, name);
    unlink(path.s);
    pw_str_fini(&path);
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"jobs", "1.cells", "2.cells", "3.cells", "4.cells", "lock"};
    struct pw_str path = {0};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        remove_file(names[i]);
    pw_slurm_path(&path, folder, "");
    rmdir(path.s);
    rmdir(folder);
    pw_str_fini(&path);
    return 0;
}

static void write_jobs(const char *text)
{
    struct pw_str path = {0};
    struct pw_err err;
    pw_slurm_path(&path, folder, "jobs");
    assert_int_equal(pw_file_replace(path.s, text, strlen(text), &err), PW_OK);
    pw_str_fini(&path);
}

/* Adds a submission whose tasks have one cell each. */
static void add_submission(struct pw_slurm *q, int n, long job)
{
    struct pw_err err;
    char cell[] = "0123456789abcdef", *cells[20];
    for (int i = 0; i < n; i++)
        cells[i] = cell;
    assert_int_equal(pw_slurm_add(q, folder, n, cells, &err), PW_OK);
    q->arrays[q->n - 1].job = job;
}

static void test_record(void **state)
{
    static const char *const damaged[] = {"token a-1\nsince",         "since 1\n",
                                          "token a-1\nsince 0\n",     "token a-1\narray 1\n",
                                          "token a-1\narray x 1\n",   "token a-1\nqueue 1 1\n",
                                          "token a-1\narray 1 -\nx\n"};
    struct pw_slurm q = {.since = 1}, back;
    struct pw_err err;
    (void)state;
    assert_int_equal(pw_slurm_read(&back, folder, &err), PW_OK); /* no file: no submissions */
    assert_true(back.n == 0 && back.since == 1 && back.token[0] == '\0');
    pw_text_copy(q.token, sizeof q.token, "order-3fa9c1d2");
    add_submission(&q, 3, 123);
    add_submission(&q, 2, 0);
    add_submission(&q, 1, 125);
    q.arrays[0].ended = true;
    q.since = 2;
    q.stopped = true;
    assert_int_equal(pw_slurm_write(&q, folder, &err), PW_OK);
    assert_int_equal(pw_slurm_read(&back, folder, &err), PW_OK);
    assert_string_equal(back.token, "order-3fa9c1d2");
    assert_true(back.n == 3 && back.since == 2 && back.stopped);
    assert_true(back.arrays[0].ended && back.arrays[0].job == 123 &&
                back.arrays[0].n == 0); /* no longer read */
    assert_true(!back.arrays[1].ended && back.arrays[1].job == 0 && back.arrays[1].n == 2);
    assert_string_equal(back.arrays[1].cells[1], "0123456789abcdef");
    assert_int_equal(back.arrays[2].number, 3);
    pw_slurm_fini(&back);
    pw_slurm_fini(&q);
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        write_jobs(damaged[i]);
        assert_int_not_equal(pw_slurm_read(&back, folder, &err), PW_OK);
        assert_null(back.arrays);
    }
    remove_file("jobs");
}

/* The states of an array's tasks, a character each. */
static const char *states_of(const struct pw_slurm_array *a)
{
    static char text[32];
    for (int i = 0; i < a->n; i++)
        text[i] = ".wr"[a->states[i]];
    text[a->n] = '\0';
    return text;
}

/* Recorded with Slurm 22.05.8: with --array a line for each task, without it one for those that wait. */
static void test_lines(void **state)
{
    struct pw_slurm q = {.token = "order-3fa9c1d2"};
    (void)state;
    add_submission(&q, 12, 123);
    add_submission(&q, 3, 0);
    q.arrays[0].ended = true;
    pw_slurm_line(&q, "123_[4-9%2]|order-3fa9c1d2-1|PENDING|Resources\n");
    assert_string_equal(states_of(&q.arrays[0]), "...wwwwww...");
    assert_string_equal(q.arrays[0].reason, "Resources");
    assert_false(q.arrays[0].ended);
    pw_slurm_line(&q, "123_7|order-3fa9c1d2-1|RUNNING|None\n");
    pw_slurm_line(&q, "123_8|order-3fa9c1d2-1|COMPLETING|None\n");
    pw_slurm_line(&q, "123_[1,10-12:2]|order-3fa9c1d2-1|CONFIGURING|None");
    assert_string_equal(states_of(&q.arrays[0]), "w..wwwrrww.w");
    assert_string_equal(q.arrays[0].reason, "Resources");
    pw_slurm_line(&q, "125_2|order-3fa9c1d2-2|REQUEUE_HOLD|launch failed requeued held\n");
    assert_string_equal(states_of(&q.arrays[1]), ".w.");
    assert_string_equal(q.arrays[1].reason, "launch failed requeued held");
    assert_int_equal(q.arrays[1].job, 125); /* its number was not recorded */
    static const char *const ignored[] = {"125_1|order-3fa9c1d2-2|COMPLETED|None",
                                          "125_1|order-3fa9c1d2-2|NODE_FAIL|None",
                                          "125_1|order-3fa9c1d2-2|TIMEOUT|None",
                                          "125_1|order-3fa9c1d2-9|RUNNING|None",
                                          "125_1|other-3fa9c1d2-2|RUNNING|None",
                                          "125_1|order-3fa9c1d22-2|RUNNING|None",
                                          "125_99|order-3fa9c1d2-2|RUNNING|None",
                                          "125_0|order-3fa9c1d2-2|RUNNING|None",
                                          "125_[|order-3fa9c1d2-2|RUNNING|None",
                                          "125_1-9999999999:0|order-3fa9c1d2-9|RUNNING|",
                                          "125|order-3fa9c1d2-2|RUNNING|None",
                                          "squeue: error: nothing",
                                          "",
                                          "|||",
                                          "125_1"};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        pw_slurm_line(&q, ignored[i]);
    assert_string_equal(states_of(&q.arrays[1]), ".w.");
    assert_int_equal(q.n_next, 0);
    pw_slurm_line(&q, "126|order-3fa9c1d2-next|RUNNING|None\n");
    assert_false(q.next_waits);
    pw_slurm_line(&q, "127|order-3fa9c1d2-next|PENDING|Dependency\n");
    assert_true(q.n_next == 2 && q.next[1] == 127 && q.next_waits);
    pw_slurm_fini(&q);
}

/* Of a task that runs, the first cell without an end runs and the next wait. */
static void test_cells(void **state)
{
    struct pw_study s;
    struct pw_results r;
    struct pw_slurm q = {.token = "x-1"};
    struct pw_err err;
    struct pw_str line[2] = {{0}};
    int wanted[12];
    (void)state;
    assert_int_equal(pw_study_read(&s, "race none,t5; task sort; seeds 6", &err), PW_OK);
    pw_results_init(&r, &s);
    for (int i = 0; i < 8; i++)
        pw_str_add(&line[i / 4], "%s%s%s", i % 4 > 0 ? " " : "", r.cells[i].id, i % 2 > 0 ? "@300" : "");
    char *cells[] = {line[0].s, line[1].s, (char[]){"feedfeedfeedfeed"}};
    assert_int_equal(pw_slurm_add(&q, folder, 3, cells, &err), PW_OK);
    r.state[0] = PW_CELL_THERE;
    r.state[1] = PW_CELL_BROKEN;
    r.state[5] = PW_CELL_RUNS; /* its lock is seen */
    r.running = 1;
    pw_slurm_line(&q, "5_1|x-1-1|RUNNING|None");
    pw_slurm_line(&q, "5_2|x-1-1|PENDING|Priority");
    pw_slurm_line(&q, "5_3|x-1-1|RUNNING|None"); /* a cell that is no longer in the study */
    pw_slurm_mark(&q, &r);
    static const enum pw_study_cell_state expected[] = {
        PW_CELL_THERE,  PW_CELL_BROKEN, PW_CELL_RUNS,    PW_CELL_QUEUED,  PW_CELL_QUEUED,  PW_CELL_RUNS,
        PW_CELL_QUEUED, PW_CELL_QUEUED, PW_CELL_MISSING, PW_CELL_MISSING, PW_CELL_MISSING, PW_CELL_MISSING};
    for (int i = 0; i < 12; i++)
        assert_int_equal(r.state[i], expected[i]);
    assert_true(r.running == 2 && r.queued == 4);
    assert_int_equal(pw_results_wanted(&r, false, wanted), 4);
    assert_int_equal(pw_results_wanted(&r, true, wanted), 5);
    for (int i = 0; i < 2; i++)
        pw_str_fini(&line[i]);
    pw_slurm_fini(&q);
    pw_results_fini(&r);
    pw_study_fini(&s);
}

/* A cell of a submission, with the step at which it stands. */
static void test_next_cell(void **state)
{
    char id[PW_STUDY_ID];
    int64_t step;
    const char *at = "0123456789abcdef@300  fedcba9876543210 ";
    (void)state;
    at = pw_slurm_next_cell(at, id, &step);
    assert_non_null(at);
    assert_string_equal(id, "0123456789abcdef");
    assert_int_equal(step, 300);
    at = pw_slurm_next_cell(at, id, &step);
    assert_non_null(at);
    assert_string_equal(id, "fedcba9876543210");
    assert_int_equal(step, 0);
    assert_null(pw_slurm_next_cell(at, id, &step));
    assert_null(pw_slurm_next_cell("", id, &step));
    assert_null(pw_slurm_next_cell("0123456789abcdef0", id, &step)); /* longer than a name */
}

static void expect(const struct pw_str *script, const char *line)
{
    if (strstr(script->s, line) == NULL)
        fail_msg("no '%s' in:\n%s", line, script->s);
}

/* Names of folders are quoted, and the job that follows gets the options. */
static void test_scripts(void **state)
{
    struct pw_slurm_options o = {
        .partition = "gpu's", .time = "1:30:00", .gpus = 2, .threads = 4, .cells = 3};
    struct pw_str text = {0};
    (void)state;
    pw_slurm_cells_script(&text, "/bin/pewter", "/a b/it's $HOME", 7, &o);
    expect(&text, "\nfolder='/a b/it'\\''s $HOME'\n");
    expect(&text, "/slurm/7.cells\")");
    expect(&text, " \"${cell%%@*}\" threads=4 backend='cuda mode=ref' &\n");
    pw_str_clear(&text);
    pw_slurm_next_script(&text, "/bin/pewter", "/a", &o);
    expect(&text, "set -- \"$@\" partition='gpu'\\''s'\n");
    expect(&text, "time='1:30:00'\n");
    expect(&text, "gpus=2\n");
    expect(&text, "threads=4 cells=3\n");
    expect(&text, "on=slurm follow=on\n");
    pw_str_clear(&text);
    o = (struct pw_slurm_options){0};
    pw_slurm_next_script(&text, "/bin/pewter", "/a", &o);
    assert_null(strstr(text.s, "partition"));
    assert_null(strstr(text.s, "gpus"));
    pw_str_fini(&text);
}

static void keep_line(void *arg, const char *line)
{
    pw_str_add(arg, "%s", line);
}

/* Other programs: their output, their last message, one that is missing, and one that does not end. */
static void test_programs(void **state)
{
    static const char *const prints[] = {"sh", "-c", "echo a b; echo first >&2; echo second >&2; exit 3",
                                         NULL};
    static const char *const hangs[] = {"sleep", "100", NULL};
    static const char *const missing[] = {"pewter-no-such-program", NULL};
    char why[PW_CHILD_WHY];
    struct pw_str out = {0};
    struct pw_err err;
    int status;
    (void)state;
    assert_int_equal(pw_child_program(prints, 60, keep_line, &out, &status, why, &err), PW_OK);
    assert_string_equal(out.s, "a b\n");
    assert_string_equal(why, "second");
    assert_int_equal(status, 3 << 8);
    assert_int_equal(pw_child_program(hangs, 1, NULL, NULL, &status, why, &err), PW_OK);
    assert_int_not_equal(status, 0);
    assert_int_equal(pw_child_program(missing, 1, NULL, NULL, &status, why, &err), PW_EUSER);
    assert_string_equal(err.msg, "no program 'pewter-no-such-program' in PATH");
    assert_true(pw_child_has("sh") && !pw_child_has("pewter-no-such-program"));
    pw_str_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record),    cmocka_unit_test(test_lines),   cmocka_unit_test(test_cells),
        cmocka_unit_test(test_next_cell), cmocka_unit_test(test_scripts), cmocka_unit_test(test_programs),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
