/* test_store_lost.c - tests what other processes read of a session: after kill -9, during recording, and when
 * its log is removed. */
#include "ref_session.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>

/* ---- the end of the process */

/* Records until it is killed, and reports through a pipe which events are on disk. */
static void record_until_killed(const char *path, int pipe_fd)
{
    uint64_t rng = 77;
    struct pw_store *s = session_open(path, access(path, F_OK) != 0);
    uint64_t seq = pw_store_last(s), told = seq;
    for (;;) {
        seq++;
        struct pw_event *e = session_event(seq, &rng);
        pw_store_put(s, e);
        pw_event_free(e);
        if (seq % 5 == 0)
            pw_store_hurry(s);
        struct pw_ev_session status;
        pw_store_status(s, &status);
        if (status.saved > told) {
            told = status.saved;
            if (write(pipe_fd, &told, sizeof told) != sizeof told)
                _exit(1);
        }
        if (seq % 16 == 0)
            usleep(100);
    }
}

/* PEWTER_FAULTS=1000 kills that often. */
static void nothing_is_lost_by_kill(void **state)
{
    const char *wanted = getenv("PEWTER_FAULTS");
    int kills = wanted != NULL ? atoi(wanted) : 8;
    char path[4096], name[40];
    uint64_t told = 0, last = 0, intact;
    for (int i = 0; i < kills; i++) {
        int fd[2], status;
        snprintf(name, sizeof name, "s%d.pewter", i / 20);
        scratch_path(state, name, path);
        last = i % 20 == 0 ? 0 : last;
        assert_int_equal(pipe(fd), 0);
        pid_t child = fork();
        if (child == 0) {
            close(fd[0]);
            record_until_killed(path, fd[1]);
        }
        close(fd[1]);
        ssize_t got = read(fd[0], &told, sizeof told);
        usleep((useconds_t)(i * 3700 % 25000));
        kill(child, SIGKILL);
        while (got == sizeof told) {
            last = told;
            got = read(fd[0], &told, sizeof told);
        }
        close(fd[0]);
        waitpid(child, &status, 0);
        assert_true(WIFSIGNALED(status));

        struct pw_record *r = session_read(path);
        struct pw_record_info info;
        struct pw_err err;
        pw_record_info(r, &info);
        assert_true(info.last >= last);
        assert_false(info.ended);
        if (pw_record_check(r, &intact, &err) != PW_OK)
            fail_msg("%s", err.msg);
        assert_int_equal(intact, info.last);
        pw_record_close(r);
    }
    assert_true(last > 0);
    struct pw_store *s = session_open(path, false);
    assert_true(pw_store_last(s) >= last);
    pw_store_close(s, "quit");
}

/* Another process removes the log: later commits would be lost, and the store must notice. */
static void notices_that_its_log_is_gone(void **state)
{
    char path[4096], log[4200];
    uint64_t rng = 2;
    struct pw_ev_session status;
    struct pw_store *s = session_open(session_path(state, path), true);
    session_put(s, 1, 100, &rng);
    session_wait(s, 100);
    snprintf(log, sizeof log, "%s/session.db-wal", path);
    assert_int_equal(unlink(log), 0);
    session_put(s, 101, 200, &rng);
    session_wait(s, 200); /* it will never be */
    pw_store_status(s, &status);
    assert_int_equal(status.how, PW_REC_PAUSED);
    assert_int_equal(status.saved, 100);
    assert_non_null(strstr(status.why, "session.db-wal was removed: recording here has ended"));
    pw_store_close(s, "quit");
}

/* A connection of another process, as any program may open one. */
static sqlite3 *connect_to(const char *path)
{
    char db[4200];
    sqlite3 *other;
    snprintf(db, sizeof db, "%s/session.db", path);
    assert_int_equal(sqlite3_open_v2(db, &other, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    sqlite3_busy_timeout(other, 60000);
    assert_int_equal(sqlite3_exec(other, "SELECT * FROM meta", NULL, NULL, NULL),
                     SQLITE_OK); /* opens the log */
    return other;
}

/* The end of the log is damaged, and SQLite reports no error. Meanwhile a reader keeps its transaction open.
 * So the store can't empty the log, as it does after two idle seconds. */
static void notices_that_its_log_was_damaged(void **state)
{
    char path[4096], copy[4200], log[4300], saved[4300];
    uint64_t rng = 9, intact;
    struct pw_record_info info;
    struct pw_err err;
    struct stat st;
    int n;
    struct pw_store *s = session_open(session_path(state, path), true);
    session_put(s, 1, 100, &rng);
    session_wait(s, 100);
    sqlite3 *reader = connect_to(path);
    assert_int_equal(sqlite3_exec(reader, "BEGIN; SELECT * FROM meta", NULL, NULL, NULL), SQLITE_OK);
    for (uint64_t seq = 101; seq <= 400; seq += 100) {
        session_put(s, seq, seq + 99, &rng);
        session_wait(s, seq + 99);
    }
    scratch_path(state, "copy.pewter", copy);
    session_copy(path, copy);
    sqlite3_close(reader);
    pw_store_close(s, "quit");
    snprintf(saved, sizeof saved, "%s/saved", path);
    assert_int_equal(access(saved, F_OK), -1); /* the store was closed, and reported it itself */

    snprintf(log, sizeof log, "%s/session.db-wal", copy);
    snprintf(saved, sizeof saved, "%s/saved", copy);
    assert_int_equal(stat(log, &st), 0);
    assert_int_equal(truncate(log, st.st_size - 1), 0);
    struct pw_record *r = session_read(copy);
    session_sum(r, 1, 400, &n);
    pw_record_info(r, &info);
    assert_true(info.last < 400);
    assert_int_equal(n, info.last);
    assert_int_equal(info.damaged, 1);
    assert_non_null(strstr(info.damage, "it was on disk and is lost, with all later events"));
    assert_int_equal(pw_record_check(r, &intact, &err), PW_EUSER);
    assert_int_equal(intact, info.last);
    assert_non_null(strstr(err.msg, "to 400 were on disk and are lost: its log is damaged"));
    pw_record_close(r);

    s = session_open(copy, false); /* the session continues, and so do its numbers */
    assert_int_equal(pw_store_last(s), info.last);
    assert_int_equal(pw_store_gone(s), 400 - info.last);
    session_put(s, info.last + 1, info.last + 10, &rng);
    session_wait(s, info.last + 10);
    r = session_read(copy);
    if (pw_record_check(r, &intact, &err) != PW_OK)
        fail_msg("%s", err.msg);
    pw_record_close(r);
    assert_int_equal(stat(saved, &st), 0);
    assert_int_equal(truncate(saved, st.st_size - 1), 0); /* a damaged 'saved' file is ignored */
    r = session_read(copy);
    session_sum(r, 1, 400, &n);
    pw_record_info(r, &info);
    assert_int_equal(info.damaged, 0);
    pw_record_close(r);
    pw_store_close(s, "quit");
}

/* ---- readers during recording */

/* A checkpoint of the log changes the database's version, but adds no events. */
static void folding_the_log_is_no_news(void **state)
{
    char path[4096];
    uint64_t rng = 5;
    int in_log = -1, folded = -1;
    struct pw_store *s = session_open(session_path(state, path), true);
    session_put(s, 1, 10, &rng);
    session_wait(s, 10);
    struct pw_record *r = session_read(path);
    sqlite3 *other = connect_to(path);
    assert_int_equal(sqlite3_wal_checkpoint_v2(other, NULL, SQLITE_CHECKPOINT_TRUNCATE, &in_log, &folded),
                     SQLITE_OK);
    sqlite3_close(other);
    assert_int_equal(in_log, 0);
    assert_false(pw_record_poll(r));
    session_put(s, 11, 20, &rng);
    session_wait(s, 20);
    assert_true(pw_record_poll(r));
    assert_false(pw_record_poll(r));
    pw_record_close(r);
    pw_store_close(s, "quit");
}

static void a_follower_sees_commits(void **state)
{
    char path[4096], log[4200];
    uint64_t rng = 4, seen = 0;
    struct stat st;
    struct pw_store *s = session_open(session_path(state, path), true);
    struct pw_record *r = session_read(path);
    struct pw_record_cursor *c;
    struct pw_event *e;
    assert_int_equal(pw_record_begin(r, 1, &c, NULL), PW_OK);
    assert_null(pw_record_next(c));
    snprintf(log, sizeof log, "%s/session.db-wal", path);
    assert_int_equal(stat(log, &st), 0);
    ino_t inode = st.st_ino;
    assert_false(pw_record_poll(r));
    for (int i = 0; i < 20; i++) {
        session_put(s, (uint64_t)(i * 100 + 1), (uint64_t)(i * 100 + 100), &rng);
        session_wait(s, (uint64_t)(i * 100 + 100));
        assert_true(pw_record_poll(r));
        assert_false(pw_record_poll(r));
        for (; (e = pw_record_next(c)) != NULL; pw_event_free(e))
            assert_int_equal(e->seq, ++seen);
        assert_int_equal(seen, i * 100 + 100);
        struct pw_record *brief = session_read(path); /* opens and closes */
        pw_record_close(brief);
        assert_int_equal(stat(log, &st), 0);
        assert_true(st.st_ino == inode);
    }
    pw_record_end(c);
    pw_store_close(s, "quit");
    struct pw_record_info info;
    pw_record_info(r, &info);
    assert_int_equal(info.last, 2000);
    assert_true(info.ended);
    pw_record_close(r);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, session_setup, session_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_lost_by_kill),          TEST(notices_that_its_log_is_gone),
        TEST(notices_that_its_log_was_damaged), TEST(folding_the_log_is_no_news),
        TEST(a_follower_sees_commits),
    };
    return cmocka_run_group_tests_name("store_lost", tests, NULL, NULL);
}
