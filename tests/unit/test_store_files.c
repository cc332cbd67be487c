/* test_store_files.c - tests the files of a session: stored by content, cleaned up after a crash, and moved
 * with the session. */
#include "ref_session.h"

#include "base/alloc.h"
#include "base/sha256.h"

static void *bytes_of(size_t n, uint64_t seed)
{
    uint8_t *p = pw_alloc(n, 1);
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)((seed = seed * 6364136223846793005u + 1442695040888963407u) >> 56);
    return p;
}

static void store_bytes(struct pw_store *s, uint8_t sha[32], size_t n, uint64_t seed)
{
    session_store(s, sha, bytes_of(n, seed), n);
}

static void keeps_files_by_content(void **state)
{
    static const size_t sizes[] = {0, 1, 5000, (1 << 20) - 1, 1 << 20, (3 << 20) + 17};
    char path[4096], name[4300];
    uint8_t sha[6][32];
    size_t n;
    void *back;
    struct pw_err err;
    session_path(state, path);
    struct pw_store *s = session_open(path, true);
    for (int i = 0; i < 6; i++)
        store_bytes(s, sha[i], sizes[i], (uint64_t)i);
    store_bytes(s, sha[2], sizes[2], 2); /* the same content again */
    pw_store_close(s, "quit");

    struct pw_record *r = session_read(path);
    for (int i = 0; i < 6; i++) {
        void *expect = bytes_of(sizes[i], (uint64_t)i);
        assert_int_equal(pw_record_file(r, sha[i], &back, &n, &err), PW_OK);
        assert_int_equal(n, sizes[i]);
        assert_memory_equal(back, expect, n);
        free(back);
        free(expect);
    }
    uint64_t intact;
    assert_int_equal(pw_record_check(r, &intact, &err), PW_OK);
    snprintf(name, sizeof name, "%s/files/", path);
    pw_sha256_text(name + strlen(name), sha[2]);
    FILE *f = fopen(name, "r+");
    fseek(f, 3000, SEEK_SET);
    fputc(fgetc(f) ^ 1, (fseek(f, 3000, SEEK_SET), f));
    fclose(f);
    assert_int_equal(pw_record_file(r, sha[2], &back, &n, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "its content is damaged"));
    assert_null(back);
    assert_int_equal(pw_record_check(r, &intact, &err), PW_EUSER);
    unlink(name);
    assert_int_equal(symlink("/etc/passwd", name), 0);
    assert_int_equal(pw_record_file(r, sha[2], &back, &n, &err), PW_EUSER);
    sha[0][0] ^= 1;
    assert_int_equal(pw_record_file(r, sha[0], &back, &n, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "no such file"));
    pw_record_close(r);
}

/* Counts the commits before a file of 24 slices is stored; first: the number of their first event. */
static int commits_beside_a_file(struct pw_store *s, uint64_t first)
{
    uint8_t sha[32];
    void *p = bytes_of(24 << 20, first);
    uint64_t seq = first;
    pw_sha256_of(sha, p, 24 << 20);
    pw_store_file(s, sha, p, 24 << 20);
    for (; !pw_store_has_file(s, sha); seq++) {
        session_put_one(s, seq, PW_EV_COMMAND);
        pw_store_hurry(s);
        while (!pw_store_has(s, seq))
            usleep(200);
    }
    return (int)(seq - first);
}

/* A command's commit must not wait for a checkpoint's file. If it did, only one or two commits would come:
 * before its first slice and after its last. So few may also come if this thread isn't scheduled; then the
 * test tries again. */
static void files_let_commits_pass(void **state)
{
    char path[4096];
    struct pw_store *s = session_open(session_path(state, path), true);
    int commits = 0;
    for (uint64_t i = 0; i < 30 && commits <= 3; i++)
        commits = commits_beside_a_file(s, 1 + 100 * i);
    assert_true(commits > 3);
    pw_store_close(s, "quit");
}

/* An event is on disk only after the copy that it refers to, also while a long file is written. */
static void copies_come_before_their_events(void **state)
{
    char path[4096];
    struct pw_store *s = session_open(session_path(state, path), true);
    uint8_t sha[32];
    void *large = bytes_of(64 << 20, 1);
    pw_sha256_of(sha, large, 64 << 20);
    pw_store_file(s, sha, large, 64 << 20);
    for (uint64_t seq = 1; seq <= 20; seq++) {
        void *p = bytes_of(300, 100 + seq);
        pw_sha256_of(sha, p, 300);
        pw_store_copy(s, sha, p, 300);
        session_put_one(s, seq, PW_EV_COMMAND);
        session_wait(s, seq);
        assert_true(pw_store_has_file(s, sha));
    }
    pw_store_close(s, "quit");
    struct pw_record *r = session_read(path);
    struct pw_err err;
    uint64_t intact;
    size_t n;
    void *back;
    assert_int_equal(pw_record_file(r, sha, &back, &n, &err), PW_OK);
    free(back);
    assert_int_equal(pw_record_check(r, &intact, &err), PW_OK);
    pw_record_close(r);
}

static void clears_what_a_crash_left(void **state)
{
    char path[4096], name[4300], outside[4300];
    uint8_t sha[32];
    struct pw_err err;
    session_path(state, path);
    struct pw_store *s = session_open(path, true);
    store_bytes(s, sha, 1000, 1);
    pw_store_close(s, "quit");
    static const char *const left[] = {"files/0123", "tmp/abc"};
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%s/%s", path, left[i]);
        FILE *f = fopen(name, "w");
        fputs("12345", f);
        fclose(f);
    }
    assert_int_equal(session_try(path, false, &err), PW_OK);
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%s/%s", path, left[i]);
        assert_int_equal(access(name, F_OK), -1);
    }
    snprintf(name, sizeof name, "%s/files", path);
    assert_int_equal(scratch_count(name, NULL), 1);

    /* A symbolic link instead of the folder isn't followed: nothing is removed elsewhere. */
    snprintf(outside, sizeof outside, "%s/../outside", path);
    assert_int_equal(rename(name, outside), 0);
    assert_int_equal(symlink("../outside", name), 0);
    session_refused(path, false, "files in it is not a folder");
    assert_int_equal(scratch_count(outside, NULL), 1);
}

/* ---- moving */

static void moves_while_it_records(void **state)
{
    char path[4096], to[4096], far[] = "/tmp/pewter-unit-XXXXXX", elsewhere[100];
    uint64_t rng = 6, intact;
    uint8_t sha[32];
    struct pw_err err;
    struct pw_ev_session status;
    session_path(state, path);
    scratch_path(state, "t.pewter", to);
    struct pw_store *s = session_open(path, true);
    store_bytes(s, sha, 100000, 1);
    session_put(s, 1, 100, &rng);
    assert_int_equal(pw_store_move(s, to, &err), PW_OK);
    assert_int_equal(access(path, F_OK), -1);
    session_put(s, 101, 200, &rng);
    session_wait(s, 200);
    pw_store_status(s, &status);
    assert_string_equal(status.folder, to);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(pw_store_move(s, path, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "it already exists"));
    assert_int_equal(pw_store_move(s, "/no/such/place/x.pewter", &err), PW_EIO);
    session_put(s, 201, 300, &rng);
    session_wait(s, 300);
    if (mkdtemp(far) != NULL) { /* another file system */
        snprintf(elsewhere, sizeof elsewhere, "%s/u.pewter", far);
        if (pw_store_move(s, elsewhere, &err) != PW_OK)
            fail_msg("%s", err.msg);
        assert_int_equal(access(to, F_OK), -1);
        session_put(s, 301, 400, &rng);
        session_wait(s, 400);
        if (pw_store_move(s, to, &err) != PW_OK) /* and back */
            fail_msg("%s", err.msg);
        rmdir(far);
    }
    session_put(s, 401, 500, &rng);
    pw_store_close(s, "quit");
    struct pw_record *r = session_read(to);
    struct pw_record_info info;
    pw_record_info(r, &info);
    assert_int_equal(info.last, 500);
    if (pw_record_check(r, &intact, &err) != PW_OK)
        fail_msg("%s", err.msg);
    pw_record_close(r);
    session_refused(path, false, "no session");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, session_setup, session_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(keeps_files_by_content),   TEST(files_let_commits_pass), TEST(copies_come_before_their_events),
        TEST(clears_what_a_crash_left), TEST(moves_while_it_records),
    };
    return cmocka_run_group_tests_name("store_files", tests, NULL, NULL);
}
