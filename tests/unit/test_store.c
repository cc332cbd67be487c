/* test_store.c - tests recording. Events reported as saved must be on disk, in order. A session that can't be
 * recorded in must be refused in one line. */
#include "ref_session.h"

#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>

static void records_in_order(void **state)
{
    char path[4096], db[4096];
    uint64_t rng = 3, sum, intact;
    int n;
    struct stat st;
    struct pw_err err;
    struct pw_ev_session status;
    struct pw_store *s = session_open(session_path(state, path), true);
    assert_int_equal(pw_store_last(s), 0);
    sum = session_put(s, 1, 2000, &rng);
    assert_false(pw_store_has(s, 2000));
    session_wait(s, 2000);
    pw_store_status(s, &status);
    assert_int_equal(status.how, PW_REC_ON);
    assert_string_equal(status.why, "");
    assert_int_equal(status.saved, 2000);
    assert_string_equal(status.folder, path);
    assert_true(status.bytes > 10000);
    pw_store_close(s, "quit");

    snprintf(db, sizeof db, "%.4000s/session.db-wal", path);
    assert_int_equal(stat(db, &st), -1);            /* one plain file */
    assert_int_equal(scratch_count(path, NULL), 4); /* the lock file, and two folders */
    struct pw_record *r = session_read(path);
    struct pw_record_info info;
    assert_true(session_sum(r, 1, UINT64_MAX, &n) == sum);
    assert_int_equal(n, 2000);
    pw_record_info(r, &info);
    assert_int_equal(info.first, 1);
    assert_int_equal(info.last, 2000);
    assert_int_equal(info.segments, 1);
    assert_int_equal(info.kernel_abi, 1);
    assert_string_equal(info.bits, "portable");
    assert_string_equal(info.env, "pewter test, cpu: 2 threads, none");
    assert_true(info.ended);
    assert_int_equal(info.damaged, 0);
    assert_int_equal(info.unknown, 0);
    if (pw_record_check(r, &intact, &err) != PW_OK)
        fail_msg("%s", err.msg);
    assert_int_equal(intact, 2000);
    pw_record_close(r);
}

/* Three processes, one after the other. Reads begin at places within runs. */
static void goes_on_where_it_ended(void **state)
{
    char path[4096];
    uint64_t rng = 5, again = 5, bits[601];
    int n;
    session_path(state, path);
    for (int i = 0; i < 3; i++) {
        struct pw_store *s = session_open(path, i == 0);
        assert_int_equal(pw_store_last(s), 200 * i);
        session_put(s, (uint64_t)(200 * i + 1), (uint64_t)(200 * i + 200), &rng);
        pw_store_close(s, "quit");
    }
    for (uint64_t seq = 1; seq <= 600; seq++) {
        struct pw_event *e = session_event(seq, &again);
        bits[seq] = session_bits(e);
        pw_event_free(e);
    }
    struct pw_record *r = session_read(path);
    for (uint64_t from = 1; from <= 600; from += 37) {
        uint64_t sum = 0;
        for (uint64_t seq = from; seq <= 600 && seq <= from + 50; seq++)
            sum = sum * 31 + bits[seq];
        assert_true(session_sum(r, from, from + 50, &n) == sum);
    }
    pw_record_close(r);
}

struct counts {
    int of[PW_EV_KINDS];
};

static bool count_kind(void *arg, struct pw_event *e)
{
    ((struct counts *)arg)->of[e->kind]++;
    return true;
}

/* During training pictures are recorded every two seconds, and after a command at once. Events that concern
 * only this process are never recorded. */
static void records_what_is_worth_it(void **state)
{
    char path[4096];
    struct counts n = {0};
    struct pw_store *s = session_open(session_path(state, path), true);
    uint64_t seq = 1000;
    session_put_one(s, ++seq, PW_EV_STATE);
    for (int i = 0; i < 50; i++) { /* 0.6 s each, so 30 s: recorded every 2.4 s */
        session_put_one(s, ++seq, PW_EV_STEP);
        session_put_one(s, ++seq, PW_EV_PROMPT);
        session_put_one(s, ++seq, PW_EV_TOKEN);
        session_put_one(s, ++seq, PW_EV_SESSION);
        session_put_one(s, ++seq, PW_EV_JOB);
        session_put_one(s, ++seq, PW_EV_STATE);
    }
    session_put_one(s, ++seq, PW_EV_COMMAND);
    session_put_one(s, ++seq, PW_EV_PROMPT);
    session_put_one(s, ++seq, PW_EV_TOKEN);
    session_put_one(s, ++seq, PW_EV_TABLE);
    session_put_one(s, ++seq, PW_EV_TABLE);
    session_wait(s, seq);
    pw_store_close(s, "killed");
    s = session_open(path, false); /* the rest of the answer that was being decoded at the end */
    session_put_one(s, ++seq, PW_EV_TOKEN);
    session_wait(s, seq);
    pw_store_close(s, "quit");
    struct pw_record *r = session_read(path);
    assert_int_equal(pw_record_events(r, 1, UINT64_MAX, count_kind, &n, NULL), PW_OK);
    pw_record_close(r);
    assert_int_equal(n.of[PW_EV_STEP], 50);
    assert_int_equal(n.of[PW_EV_STATE], 1);
    assert_int_equal(n.of[PW_EV_SESSION], 0);
    assert_int_equal(n.of[PW_EV_JOB], 0);
    assert_in_range(n.of[PW_EV_PROMPT], 13, 16);
    assert_int_equal(n.of[PW_EV_TOKEN], n.of[PW_EV_PROMPT] + 1);
    assert_int_equal(n.of[PW_EV_TABLE], 2);
}

static void one_records_at_a_time(void **state)
{
    char path[4096], words[80];
    uint64_t rng = 1;
    session_path(state, path);
    struct pw_store *s = session_open(path, true);
    session_put(s, 1, 10, &rng);
    session_wait(s, 10);
    snprintf(words, sizeof words, "it is open in pewter %ld on ", (long)getpid());
    session_refused(path, false, words);
    session_refused(path, true, "it already exists");
    struct pw_record *r = session_read(path); /* a reader is allowed */
    pw_record_close(r);
    pw_store_close(s, "quit");
    struct pw_err err;
    assert_int_equal(session_try(path, false, &err), PW_OK);
}

static void refuses_what_is_no_session(void **state)
{
    char path[4096], inside[4200];
    session_path(state, path);
    session_refused(path, false, "there is no such session");
    mkdir(path, 0700);
    session_refused(path, false, "there is no session.db in it");
    snprintf(inside, sizeof inside, "%s/session.db", path);
    close(open(inside, O_CREAT | O_WRONLY, 0600));
    session_refused(path, false, "not a session: it is unfinished, or another kind of file");
    unlink(inside);
    assert_int_equal(symlink("/etc/passwd", inside), 0);
    session_refused(path, false, "session.db in it is not a file");
    unlink(inside);
    FILE *f = fopen(inside, "w");
    for (int i = 0; i < 1000; i++)
        fputs("This is a text. ", f);
    fclose(f);
    session_refused(path, false, "file is not a database");
}

static void edit(const char *path, const char *sql)
{
    char db[4200];
    sqlite3 *raw;
    snprintf(db, sizeof db, "%s/session.db", path);
    assert_int_equal(sqlite3_open(db, &raw), SQLITE_OK);
    char *msg = NULL;
    sqlite3_exec(raw, sql, NULL, NULL, &msg);
    if (msg != NULL)
        fail_msg("%s", msg);
    sqlite3_close(raw);
}

static void refuses_other_versions(void **state)
{
    char path[4096];
    struct pw_err err;
    session_path(state, path);
    assert_int_equal(session_try(path, true, &err), PW_OK);
    edit(path, "PRAGMA user_version=2000");
    session_refused(path, false, "a session of version 2.0; this pewter reads version 1");
    edit(path, "PRAGMA user_version=1007; ALTER TABLE segment ADD COLUMN moon TEXT; CREATE TABLE more(x)");
    assert_int_equal(session_try(path, false, &err), PW_OK);
    edit(path, "PRAGMA user_version=1000");
    session_refused(path, false, "it has a table 'segment' that a session doesn't have");
    edit(path, "PRAGMA user_version=1007; CREATE VIEW v AS SELECT 1");
    session_refused(path, false, "it has a view 'v'");
    edit(path, "DROP VIEW v; CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM meta; END");
    session_refused(path, false, "it has a trigger 't'");
    edit(path, "DROP TRIGGER t; PRAGMA application_id=7");
    session_refused(path, false, "not a session: it is another program's database");
}

/* ---- from several threads */

static void *ask(void *arg)
{
    struct pw_ev_session status;
    for (int i = 0; i < 2000; i++)
        pw_store_status(arg, &status);
    return NULL;
}

static void status_from_any_thread(void **state)
{
    char path[4096];
    uint64_t rng = 8;
    pthread_t thread;
    struct pw_store *s = session_open(session_path(state, path), true);
    assert_int_equal(pthread_create(&thread, NULL, ask, s), 0);
    for (uint64_t i = 0; i < 20; i++) {
        session_put(s, i * 50 + 1, i * 50 + 50, &rng);
        pw_store_hurry(s);
        usleep(500);
    }
    pthread_join(thread, NULL);
    pw_store_close(s, "quit");
}

/* ---- names */

static void names_and_folders(void **state)
{
    char dst[1024], state_home[4096], expect[8300];
    struct pw_err err;
    setenv("XDG_STATE_HOME", scratch_path(state, "state", state_home), 1);
    snprintf(expect, sizeof expect, "%s/pewter/sessions/first.pewter", state_home);
    assert_int_equal(pw_session_folder(dst, sizeof dst, "first", &err), PW_OK);
    assert_string_equal(dst, expect);
    pw_session_name(dst, sizeof dst, expect);
    assert_string_equal(dst, "first");
    assert_int_equal(pw_session_folder(dst, sizeof dst, "here.pewter/", &err), PW_OK);
    assert_string_equal(dst, "here.pewter");
    pw_session_name(dst, sizeof dst, "here.pewter");
    assert_string_equal(dst, "here.pewter");
    static const char *const bad[] = {"", ".x", "-x", "a\nb", "\xff\xfe", NULL};
    for (int i = 0; bad[i] != NULL; i++)
        assert_int_equal(pw_session_folder(dst, sizeof dst, bad[i], &err), PW_EUSER);
    char lengthy[120] = "";
    memset(lengthy, 'a', 101);
    assert_int_equal(pw_session_folder(dst, sizeof dst, lengthy, &err), PW_EUSER);
    assert_string_equal(err.msg, "a session's name has at most 100 bytes");
    assert_int_equal(pw_session_unnamed(dst, sizeof dst, &err), PW_OK);
    struct pw_store *s = session_open(dst, true);
    struct pw_ev_session status;
    pw_store_status(s, &status);
    assert_null(strchr(status.name, '/'));
    assert_true(pw_session_is_unnamed(status.name));
    assert_true(pw_session_is_unnamed("2026-11-28-123456-7-2"));
    static const char *const named[] = {"first",
                                        "2026-11-28",
                                        "2026-11-28-123456-",
                                        "2026-11-28-123456-7-",
                                        "2026-11-28-123456-7-x",
                                        "2026-11-28-123456-7b",
                                        "x2026-11-28-123456-7",
                                        NULL};
    for (int i = 0; named[i] != NULL; i++)
        assert_false(pw_session_is_unnamed(named[i]));
    assert_int_equal(pw_session_unnamed(state_home, sizeof state_home, &err), PW_OK);
    assert_string_not_equal(state_home, dst);
    assert_int_equal(pw_session_folder(expect, sizeof expect, status.name, &err), PW_OK);
    assert_string_equal(expect, dst);
    pw_store_close(s, "quit");
    unsetenv("XDG_STATE_HOME");
    unsetenv("HOME");
    assert_int_equal(pw_session_folder(dst, sizeof dst, "x", &err), PW_EUSER);
}

/* Each process adds the folders that the session lacks, up to the limit. */
static void keeps_the_folders_of_relative_paths(void **state)
{
    static const char *const lists[][2] = {{"/one", "/two"}, {"/two", "/three é"}, {"/one", NULL}};
    static const char *const right[] = {"/one", "/two", "/three é"};
    char path[4096], many[20][16], *got[PW_SESSION_FOLDERS];
    const char *all[20];
    struct pw_store *s;
    uint64_t intact;
    session_path(state, path);
    for (int i = 0; i < 20; i++) {
        snprintf(many[i], sizeof many[i], "/many/%d", i);
        all[i] = many[i];
    }
    for (int i = 0; i < 4; i++) {
        struct pw_store_config cfg = {.folder = path,
                                      .create = i == 0,
                                      .folders = i < 3 ? lists[i] : all,
                                      .n_folders = i < 2   ? 2
                                                   : i < 3 ? 1
                                                           : 20};
        assert_int_equal(pw_store_open(&s, &cfg, NULL), PW_OK);
        pw_store_close(s, "quit");
        struct pw_record *r = session_read(path);
        int n = pw_record_folders(r, got);
        assert_int_equal(n, i == 0 ? 2 : i < 3 ? 3 : PW_SESSION_FOLDERS);
        for (int k = 0; k < n; k++) {
            assert_string_equal(got[k], k < 3 ? right[k] : many[k - 3]);
            free(got[k]);
        }
        assert_int_equal(pw_record_check(r, &intact, NULL), PW_OK);
        pw_record_close(r);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, session_setup, session_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(records_in_order),
        TEST(goes_on_where_it_ended),
        TEST(records_what_is_worth_it),
        TEST(one_records_at_a_time),
        TEST(refuses_what_is_no_session),
        TEST(refuses_other_versions),
        TEST(status_from_any_thread),
        TEST(names_and_folders),
        TEST(keeps_the_folders_of_relative_paths),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
