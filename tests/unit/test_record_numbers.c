/* test_record_numbers.c - tests that numbers in a session's rows cost a reader no more than the rows
 * themselves. Impossible numbers must be refused or skipped at once, even where all checksums are right. */
#include "ref_session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/sha256.h"
#include "ref_forge.h"
#include "sessions/codec.h"
#include "sessions/pack.h"
#include "sessions/player.h"
#include "sessions/schema.h"

/* Limit of processor time for all reads of a session: far more than they take. */
#define MOST_S 1.0

struct seen {
    int n;
    bool told; /* an error was reported, without the check */
    uint64_t last;
};

static bool each(void *arg, struct pw_event *e)
{
    struct seen *s = arg;
    assert_true(e->seq > s->last && pw_event_placed(e));
    s->last = e->seq;
    s->n++;
    return true;
}

/* Reads all of a session, as replay, lists and checks do. Returns whether an error was reported. */
static bool read_all(const char *path, struct seen *seen)
{
    struct pw_record *r;
    struct pw_record_info info;
    struct pw_player *p;
    struct pw_err err = {.msg = ""};
    uint64_t intact;
    *seen = (struct seen){0};
    if (pw_record_open(&r, path, &err) != PW_OK) {
        assert_true(err.msg[0] != '\0' && strchr(err.msg, '\n') == NULL);
        seen->told = true;
        return true;
    }
    assert_int_equal(pw_record_events(r, 1, UINT64_MAX, each, seen, &err), PW_OK);
    for (uint64_t from = 1; from < (uint64_t)1 << 50; from *= 256) { /* from many starting points */
        struct seen rest = {.last = from - 1};
        assert_int_equal(pw_record_events(r, from, UINT64_MAX, each, &rest, &err), PW_OK);
    }
    for (int kind = 0; kind < PW_EV_KINDS; kind++)
        pw_event_free(pw_record_last(r, (enum pw_event_kind)kind, -1, -1, UINT64_MAX));
    pw_record_info(r, &info);
    seen->told = info.damaged > 0;
    assert_true(info.last >= seen->last && info.last < (uint64_t)1 << 54);
    bool wrong = pw_record_check(r, &intact, &err) != PW_OK;
    assert_true(!wrong || (err.msg[0] != '\0' && strchr(err.msg, '\n') == NULL));
    pw_record_close(r);
    if (pw_player_open(&p, path, &err) != PW_OK)
        return true;
    assert_int_equal(pw_player_last(p), seen->last);
    for (uint64_t at = pw_player_last(p); at > 0; at /= 2)
        assert_true(pw_player_at(p, at)->seq <= at);
    for (uint64_t at = 0; (at = pw_player_seek(p, at, 1, PW_EV_COMMAND, "")) > 0;)
        assert_true(at <= seen->last);
    pw_player_close(p);
    return wrong;
}

/* Records a session of 400 events. */
static void record(const char *path)
{
    struct pw_store *s = session_open(path, true);
    uint64_t rng = 3;
    session_put(s, 1, 400, &rng);
    pw_store_close(s, "quit");
}

#define LAST "(SELECT max(seq) FROM event)"
#define SOME "(SELECT seq FROM event ORDER BY seq LIMIT 1 OFFSET 20)"

static const char *const numbers[] = {"9223372036854775807", "4611686018427387904", "9007199254740993", "0",
                                      "-1"};
static const char *const edits[] = {
    "UPDATE event SET seq=%s WHERE seq=" LAST,
    "UPDATE event SET seq=%s, last=%s WHERE seq=" LAST,
    "UPDATE event SET seq=%s, last=%s WHERE seq=" SOME,
    "UPDATE event SET last=%s WHERE seq=" LAST,
    "UPDATE event SET last=%s WHERE seq=" SOME,
    "UPDATE event SET last=%s WHERE kind=5",
    "UPDATE event SET step=%s WHERE seq=" SOME,
    "UPDATE event SET t_ns=%s WHERE seq=" SOME,
    "UPDATE event SET arm=%s WHERE seq=" SOME,
    "UPDATE event SET replicate=%s WHERE seq=" SOME,
    "UPDATE event SET kind=%s WHERE seq=" SOME,
    "UPDATE event SET step=%s",
    "UPDATE event SET t_ns=%s",
};

static void numbers_cost_nothing(void **state)
{
    char path[4096], copy[4096], sql[400], file[4200], *db;
    struct seen whole, seen;
    struct pw_err err;
    size_t n;
    record(session_path(state, path));
    assert_false(read_all(path, &whole));
    assert_int_equal(whole.n, 400);
    snprintf(file, sizeof file, "%s/" PW_SESSION_DB, path);
    assert_int_equal(pw_file_read(file, 1 << 24, &db, &n, &err), PW_OK);
    session_copy(path, scratch_path(state, "copy.pewter", copy));
    snprintf(file, sizeof file, "%s/" PW_SESSION_DB, copy);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++)
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            for (int sums = 0; sums < 2; sums++) {
                snprintf(sql, sizeof sql, edits[i], numbers[k], numbers[k]);
                FILE *f = fopen(file, "w");
                assert_true(f != NULL && fwrite(db, 1, n, f) == n && fclose(f) == 0);
                forge(copy, sql, sums);
                clock_t began = clock();
                alarm(60); /* an endless loop must not block the other tests */
                bool wrong = read_all(copy, &seen);
                alarm(0);
                double took = (double)(clock() - began) / CLOCKS_PER_SEC;
                if (took > MOST_S)
                    fail_msg("%s: %.1f s", sql, took);
                if (!wrong && !sums)
                    fail_msg("%s: no error was reported", sql);
                if (!seen.told && strstr(sql, "SET last") != NULL)
                    fail_msg("%s: no error while it is read", sql);
                assert_true(seen.n <= whole.n);
            }
    free(db);
}

/* Rows that can't belong to a session don't hide the sound ones before them. */
static void what_is_sound_is_shown(void **state)
{
    char path[4096], file[4096];
    struct seen seen;
    struct pw_record *r;
    struct pw_err err;
    uint64_t intact;
    record(session_path(state, path));
    forge(path, "UPDATE event SET seq=9223372036854775807,last=9223372036854775807 WHERE seq=" LAST, true);
    assert_true(read_all(path, &seen));
    assert_in_range(seen.n, 380, 399);
    r = session_read(path);
    assert_int_equal(pw_record_check(r, &intact, &err), PW_EUSER);
    assert_string_equal(err.msg, "event 9223372036854775807: its numbers are out of range");
    assert_int_equal(intact, seen.n);
    pw_record_close(r);
    if (pw_session_pack(path, scratch_path(state, "packed", file), &err) != PW_OK)
        fail_msg("%s", err.msg);
    assert_true(read_all(file, &seen));
    assert_in_range(seen.n, 380, 399);
    session_refused(path, false, "its last event has the number 9223372036854775807, as no session has");
}

/* The same event twice: runs that overlap, and one that is longer than its row says. */
static void numbers_ascend(void **state)
{
    static const char *const twice[] = {
        "UPDATE event SET last=(SELECT min(e.seq) FROM event e WHERE e.seq>event.seq) WHERE kind=5",
        "INSERT INTO event SELECT seq-1,last,seg,t_ns,kind,arm,replicate,step,text,data,blob,chain FROM "
        "event a "
        "WHERE kind=5 AND last>seq+2 AND NOT EXISTS (SELECT 1 FROM event b WHERE b.seq=a.seq-1) LIMIT 1",
    };
    char path[4096], copy[4096];
    struct seen seen;
    record(session_path(state, path));
    for (size_t i = 0; i < sizeof twice / sizeof *twice; i++) {
        pw_session_remove(scratch_path(state, "copy.pewter", copy));
        session_copy(path, copy);
        forge(copy, twice[i], true);
        read_all(copy, &seen);
        assert_in_range(seen.n, 300, 400);
    }
}

/* One blob of few bytes that unpacks to many. Row after row refers to it. */
static void blobs_are_not_unpacked_for_ever(void **state)
{
    enum { SIZE = 60 << 20, ROWS = 400 };
    char path[4096], file[4200], sql[400];
    char head[] = "\x07\x02hi\xa3\x3f\x80\x80\x80\x1e"; /* a note, and an unknown field */
    char *payload = pw_alloc(SIZE + sizeof head, 1);
    unsigned char *packed = pw_alloc(SIZE >> 8, 1);
    uLongf n = SIZE >> 8;
    uint8_t sha[PW_SHA256];
    char digits[65];
    sqlite3 *db;
    sqlite3_stmt *q;
    struct seen seen;
    record(session_path(state, path));
    memcpy(payload, head, sizeof head - 1);
    size_t used = sizeof head - 1 + ((size_t)30 << 21);
    pw_sha256_of(sha, payload, used);
    pw_sha256_text(digits, sha);
    assert_int_equal(compress2(packed, &n, (Bytef *)payload, used, 9), Z_OK);
    snprintf(file, sizeof file, "%s/" PW_SESSION_DB, path);
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "INSERT INTO blob VALUES(?1,?2,0,?3)", -1, &q, NULL), SQLITE_OK);
    sqlite3_bind_blob(q, 1, sha, PW_SHA256, SQLITE_STATIC);
    sqlite3_bind_int64(q, 2, (sqlite3_int64)used);
    sqlite3_bind_blob64(q, 3, packed, n, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(q), SQLITE_DONE);
    sqlite3_finalize(q);
    sqlite3_close(db);
    snprintf(sql, sizeof sql,
             "WITH RECURSIVE i(n) AS (SELECT 401 UNION ALL SELECT n+1 FROM i WHERE n<%d) INSERT INTO event "
             "SELECT n,n,1,1,%d,0,0,0,NULL,NULL,x'%s',zeroblob(16) FROM i",
             400 + ROWS, PW_EV_NOTE, digits);
    forge(path, sql, true);
    clock_t began = clock();
    struct pw_record *r = session_read(path);
    struct pw_record_info info;
    struct pw_err err;
    assert_int_equal(pw_record_events(r, 1, UINT64_MAX, each, (seen = (struct seen){0}, &seen), &err), PW_OK);
    pw_record_info(r, &info);
    assert_in_range(seen.n, 402, 400 + ROWS / 10); /* some are shown, then an error says why no more are */
    assert_int_equal(info.damaged, 400 + ROWS - seen.n);
    assert_non_null(strstr(info.damage, "its payload is too large for a session of this size"));
    pw_record_close(r);
    assert_true((double)(clock() - began) / CLOCKS_PER_SEC < 3 * MOST_S);
    free(payload);
    free(packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_cost_nothing, session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(what_is_sound_is_shown, session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(numbers_ascend, session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(blobs_are_not_unpacked_for_ever, session_setup, session_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
