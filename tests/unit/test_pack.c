/* test_pack.c - tests a session as one file. It reads as the folder does and unpacks to a session that can
 * be continued. A modified file is refused and leaves nothing. */
#include "ref_session.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "ref_codec.h"
#include "sessions/pack.h"
#include "sessions/schema.h"

enum { EVENTS = 300 };

static void put_file(struct pw_store *s, size_t n, uint8_t sha[PW_SHA256])
{
    unsigned char *bytes = pw_alloc(n + 1, 1);
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 251);
    session_store(s, sha, bytes, n);
}

/* Makes a session with two files, one of n bytes; returns the sum over its events. */
static uint64_t make(void **state, char path[4096], size_t n, uint8_t sha[2][PW_SHA256])
{
    uint64_t rng = 5;
    struct pw_store *s = session_open(session_path(state, path), true);
    put_file(s, 5, sha[0]);
    put_file(s, n, sha[1]);
    uint64_t sum = session_put(s, 1, EVENTS, &rng);
    session_wait(s, EVENTS);
    pw_store_close(s, "quit");
    return sum;
}

static int entries(void **state)
{
    struct dirent *e;
    int n = 0;
    DIR *d = opendir(*state);
    while ((e = readdir(d)) != NULL)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void assert_whole(const char *path, uint64_t sum, size_t n, uint8_t sha[2][PW_SHA256])
{
    struct pw_record *r = session_read(path);
    struct pw_record_info info;
    struct pw_err err;
    uint64_t intact;
    int events;
    assert_true(session_sum(r, 1, EVENTS, &events) == sum);
    assert_int_equal(events, EVENTS);
    for (int i = 0; i < 2; i++) {
        void *bytes;
        size_t got;
        uint8_t is[PW_SHA256];
        assert_int_equal(pw_record_file(r, sha[i], &bytes, &got, &err), PW_OK);
        assert_int_equal(got, i == 0 ? 5 : n);
        pw_sha256_of(is, bytes, got);
        assert_memory_equal(is, sha[i], PW_SHA256);
        free(bytes);
    }
    if (pw_record_check(r, &intact, &err) != PW_OK)
        fail_msg("%s", err.msg);
    assert_int_equal(intact, EVENTS);
    pw_record_info(r, &info);
    assert_int_equal(info.last, EVENTS);
    assert_true(info.ended && info.bytes > (int64_t)n);
    pw_record_close(r);
}

static void assert_refused(enum pw_code code, const struct pw_err *err, const char *why)
{
    assert_int_equal(code, PW_EUSER);
    if (strstr(err->msg, why) == NULL || strchr(err->msg, '\n') != NULL)
        fail_msg("'%s' doesn't say '%s'", err->msg, why);
}

static void there_and_back(void **state)
{
    const size_t n = ((size_t)17 << 20) + 3; /* three chunks */
    char path[4096], file[4096], again[4096], link[4096];
    uint8_t sha[2][PW_SHA256];
    struct pw_err err;
    uint64_t sum = make(state, path, n, sha), rng = 9;
    scratch_path(state, "s.pwt", file);
    scratch_path(state, "t.pewter", again);
    scratch_path(state, "link", link);
    assert_whole(path, sum, n, sha);
    if (pw_session_pack(path, file, &err) != PW_OK)
        fail_msg("%s", err.msg);
    assert_int_equal(entries(state), 2); /* no journal, no temporary file */
    assert_whole(file, sum, n, sha);
    if (pw_session_unpack(file, again, &err) != PW_OK)
        fail_msg("%s", err.msg);
    assert_int_equal(entries(state), 3);
    assert_whole(again, sum, n, sha);

    assert_refused(pw_session_pack(path, file, &err), &err, "already exists");
    assert_refused(pw_session_unpack(file, again, &err), &err, "already exists");
    assert_int_equal(symlink("nowhere", link), 0);
    assert_refused(pw_session_pack(path, link, &err), &err, "already exists");
    assert_refused(pw_session_unpack(file, link, &err), &err, "already exists");
    unlink(link);
    assert_refused(pw_session_pack(file, link, &err), &err, "packed already");
    assert_refused(pw_session_unpack(path, link, &err), &err, "nothing to unpack");
    assert_refused(pw_session_unpack(link, path, &err), &err, "already exists");
    assert_refused(pw_session_pack(link, link, &err), &err, "no such session");
    assert_int_equal(entries(state), 3);

    struct pw_store *s = session_open(again, false); /* the unpacked session can be continued */
    assert_int_equal(pw_store_last(s), EVENTS);
    session_put(s, EVENTS + 1, EVENTS + 10, &rng);
    session_wait(s, EVENTS + 10);
    pw_store_close(s, "quit");
    struct pw_record *r = session_read(again);
    uint64_t intact;
    assert_int_equal(pw_record_check(r, &intact, &err), PW_OK);
    assert_int_equal(intact, EVENTS + 10);
    pw_record_close(r);
}

/* Packing doesn't disturb a session that is being recorded, and the packed file is a consistent state. */
static void of_a_session_that_is_recorded(void **state)
{
    char path[4096], file[4096];
    uint64_t rng = 5, sum;
    struct pw_err err;
    int n;
    scratch_path(state, "s.pwt", file);
    struct pw_store *s = session_open(session_path(state, path), true);
    sum = session_put(s, 1, 100, &rng);
    session_wait(s, 100);
    if (pw_session_pack(path, file, &err) != PW_OK)
        fail_msg("%s", err.msg);
    session_put(s, 101, 200, &rng);
    session_wait(s, 200);
    pw_store_close(s, "quit");
    struct pw_record *r = session_read(file);
    assert_true(session_sum(r, 1, UINT64_MAX, &n) == sum);
    assert_int_equal(n, 100);
    pw_record_close(r);
}

static void change(const char *file, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

static void tampered(void **state)
{
    static const struct {
        const char *sql, *why;
    } cases[] = {
        {"UPDATE chunk SET data=zeroblob(5) WHERE length(data)=5", "damaged"},
        {"DELETE FROM chunk WHERE length(data)=5", "its size is not 5 bytes"},
        {"INSERT INTO chunk(sha,n,data) SELECT sha,1,data FROM chunk WHERE length(data)=5",
         "its size is not 5 bytes"},
        {"UPDATE file SET bytes=1000000000000 WHERE bytes=5", "damaged"},
        {"UPDATE event SET text='x' WHERE seq=(SELECT min(seq) FROM event WHERE kind=18)", "damaged"},
        {"DELETE FROM event WHERE seq=(SELECT max(seq) FROM event)", "last events"},
        {"UPDATE segment SET threads=3", "damaged"},
        {"CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM event; END", "doesn't have"},
        {"CREATE VIEW v AS SELECT 1", "doesn't have"},
        {"DROP TABLE chunk", "lacks"},
        {"PRAGMA user_version=1001", "newer"},
        {"PRAGMA user_version=2000", "version 2.0"},
        {"PRAGMA application_id=7", "another program"},
    };
    char path[4096], file[4096], bad[4096], to[4096];
    uint8_t sha[2][PW_SHA256];
    struct pw_err err;
    make(state, path, 100000, sha);
    scratch_path(state, "s.pwt", file);
    scratch_path(state, "bad.pwt", bad);
    scratch_path(state, "t.pewter", to);
    assert_int_equal(pw_session_pack(path, file, &err), PW_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        session_copy(file, bad);
        change(bad, cases[i].sql);
        assert_refused(pw_session_unpack(bad, to, &err), &err, cases[i].why);
        assert_int_equal(entries(state), 3);
        unlink(bad);
    }
}

/* One flipped bit: either the file is refused, or the unpacked session is intact. */
static void flipped(void **state)
{
    char path[4096], file[4096], to[4096];
    uint8_t sha[2][PW_SHA256];
    struct stat st;
    struct pw_err err;
    uint64_t rng = 21, sum = make(state, path, 3000, sha);
    int refused = 0;
    scratch_path(state, "s.pwt", file);
    scratch_path(state, "t.pewter", to);
    assert_int_equal(pw_session_pack(path, file, &err), PW_OK);
    assert_int_equal(stat(file, &st), 0);
    int fd = open(file, O_RDWR);
    for (int i = 0; i < 60; i++) {
        off_t at = (off_t)(codec_next(&rng) % (uint64_t)st.st_size);
        unsigned char byte, other;
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        other = byte ^ (unsigned char)(1u << codec_next(&rng) % 8);
        assert_int_equal(pwrite(fd, &other, 1, at), 1);
        if (pw_session_unpack(file, to, &err) == PW_OK) {
            assert_whole(to, sum, 3000, sha);
            pw_session_remove(to);
        } else {
            refused++;
        }
        assert_int_equal(entries(state), 2);
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    }
    close(fd);
    assert_true(refused >= 30);
}

/* ---- killed */

typedef enum pw_code convert(const char *from, const char *to, struct pw_err *err);

/* Runs f in a process that the kernel kills when a file grows beyond this many bytes. */
static void assert_killed(convert *f, const char *from, const char *to, rlim_t bytes)
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct pw_err err;
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, bytes});
        signal(SIGXFSZ, SIG_DFL);
        _exit(f(from, to, &err) == PW_OK ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGXFSZ)
        fail_msg("%d bytes: it wasn't killed (%d)", (int)bytes, status);
}

/* A killed pack leaves no file. A killed unpack leaves a temporary folder until the next unpack. */
static void killed(void **state)
{
    static const rlim_t limits[] = {5000, 100000, 9000000, 17000000};
    const size_t n = ((size_t)17 << 20) + 3;
    char path[4096], file[4096], to[4096], stale[4096];
    uint8_t sha[2][PW_SHA256];
    struct pw_err err;
    uint64_t sum = make(state, path, n, sha);
    scratch_path(state, "s.pwt", file);
    scratch_path(state, "t.pewter", to);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        assert_killed(pw_session_pack, path, file, limits[i]);
        assert_int_equal(entries(state), 1);
    }
    /* A pack was killed before SQLite had opened its file. Files without such a name belong to other
     * programs. */
    scratch_path(state, "s.pwt.tmp01ef9a", stale);
    int fd = open(stale, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
    scratch_path(state, "s.pwt.tmp-of-mine", stale);
    fd = open(stale, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
    if (pw_session_pack(path, file, &err) != PW_OK)
        fail_msg("%s", err.msg);
    assert_int_equal(entries(state), 3);
    assert_int_equal(unlink(stale), 0);

    for (size_t i = 1; i < sizeof limits / sizeof *limits; i++) {
        assert_killed(pw_session_unpack, file, to, limits[i]);
        assert_int_equal(entries(state), 3); /* one temporary folder, not one more for each kill */
    }
    /* A folder that is being filled is locked, and stays. */
    scratch_path(state, "t.pewter.tmp-abcdef", stale);
    assert_int_equal(mkdir(stale, 0700), 0);
    fd = open(stale, O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    if (pw_session_unpack(file, to, &err) != PW_OK)
        fail_msg("%s", err.msg);
    assert_int_equal(entries(state), 4);
    assert_int_equal(rmdir(stale), 0);
    close(fd);
    assert_whole(to, sum, n, sha);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(there_and_back, session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(of_a_session_that_is_recorded, session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(tampered, session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(flipped, session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(killed, session_setup, session_teardown),
    };
    return cmocka_run_group_tests_name("pack", tests, NULL, NULL);
}
