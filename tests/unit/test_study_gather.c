/* test_study_gather.c - tests the SQLite file of a study: its rows, equal bytes, and a file that can't be
 * written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/file.h"
#include "study/gather.h"

static const char text[] = "race none,\"expr bias = -d; a = 'x'\"; task sort; seeds 6";

/* Gives both arms six results, the second one better beyond the trained lengths; the last seed has none. */
static void forge(struct pw_results *r)
{
    for (int i = 0; i < r->n; i++) {
        struct pw_result *x = &r->results[i];
        int64_t exact = r->cells[i].arm == 0 ? 2 + r->cells[i].seed : 50 + r->cells[i].seed;
        if (r->cells[i].seed == 5)
            continue;
        *x = (struct pw_result){.steps = 10, .seconds = 0.5, .n = 2, .rows = pw_alloc(2, sizeof *x->rows)};
        x->rows[0] = (struct pw_result_row){
            .length = 3, .trained = true, .samples = 64, .exact = 64, .loss = (double)NAN};
        x->rows[1] = (struct pw_result_row){
            .length = 9, .samples = 64, .exact = exact, .early = 64 - exact, .loss = (double)NAN};
        r->state[i] = PW_CELL_THERE;
    }
}

/* Returns the first column of a query's only row as text; the caller frees it. */
static char *ask(sqlite3 *db, const char *query)
{
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(db, query, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    const unsigned char *cell = sqlite3_column_text(s, 0);
    char *copy = pw_text_dup(cell != NULL ? (const char *)cell : "NULL");
    assert_int_equal(sqlite3_step(s), SQLITE_DONE);
    sqlite3_finalize(s);
    return copy;
}

static void test_rows(void **state)
{
    static const struct {
        const char *query, *answer;
    } cases[] = {
        {"SELECT text FROM study", text},
        {"SELECT count(*) FROM cells", "12"},
        {"SELECT count(*) FROM cells WHERE state = 'done'", "10"},
        {"SELECT digest FROM cells WHERE state = 'missing' AND arm = 'none'", "NULL"},
        {"SELECT sum(exact) FROM lengths JOIN cells ON cell = id WHERE arm = 'none' AND NOT trained", "20"},
        {"SELECT count(*) FROM lengths WHERE loss IS NULL", "20"},
        {"SELECT in_range FROM cells WHERE seed = 101 AND arm = 'none'", "1.0"},
        {"SELECT seeds FROM comparisons", "5"},
        {"SELECT judged FROM comparisons", "no difference at this budget"}, /* of 5 seeds */
        {"SELECT difference FROM comparisons WHERE a = 'none' AND low = high", "-0.75"},
        {"SELECT steps FROM cells GROUP BY steps HAVING steps > 0", "10"},
    };
    struct pw_study s;
    struct pw_results r;
    struct pw_err err;
    char path[] = "/tmp/pewter-gather-XXXXXX", *first, *second;
    size_t n, m;
    sqlite3 *db;
    (void)state;
    close(mkstemp(path));
    assert_int_equal(pw_study_read(&s, text, &err), PW_OK);
    pw_results_init(&r, &s);
    forge(&r);
    assert_int_equal(pw_study_gather(path, &r, text, &err), PW_OK);
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *answer = ask(db, cases[i].query);
        assert_string_equal(answer, cases[i].answer);
        free(answer);
    }
    sqlite3_close(db);
    assert_int_equal(pw_file_read(path, 1 << 20, &first, &n, &err), PW_OK);
    assert_int_equal(pw_study_gather(path, &r, text, &err), PW_OK);
    assert_int_equal(pw_file_read(path, 1 << 20, &second, &m, &err), PW_OK);
    assert_true(n == m && memcmp(first, second, n) == 0);
    assert_int_equal(pw_study_gather("/no/such/folder/x", &r, text, &err), PW_EIO);
    free(first);
    free(second);
    unlink(path);
    pw_results_fini(&r);
    pw_study_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
