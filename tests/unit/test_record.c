/* test_record.c - tests reading sessions with any damage or forgery. Damage must be found or harmless, intact
 * events must be shown, hostile values must be refused. */
#include "ref_session.h"

#include <sqlite3.h>
#include <sys/time.h>

#include "base/file.h"
#include "base/sha256.h"
#include "ref_codec.h"
#include "sessions/schema.h"

static void db_of(const char *path, char db[4200])
{
    snprintf(db, 4200, "%s/session.db", path);
}

static void read_db(const char *path, char **data, size_t *size)
{
    char db[4200];
    db_of(path, db);
    assert_int_equal(pw_file_read(db, 1 << 26, data, size, NULL), PW_OK);
}

static void write_db(const char *path, const char *data, size_t size)
{
    char db[4200];
    db_of(path, db);
    FILE *f = fopen(db, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    fclose(f);
}

/* A hash of all that a reader shows of a session. *found: damage was reported. */
static uint64_t all_of(const char *path, bool *found, int *events)
{
    struct pw_record *r;
    struct pw_record_info info;
    struct pw_err err;
    uint64_t intact, sum = 0;
    *events = 0;
    *found = pw_record_open(&r, path, &err) != PW_OK;
    if (*found)
        return 0;
    *found = pw_record_check(r, &intact, &err) != PW_OK;
    sum = session_sum(r, 1, UINT64_MAX, events);
    pw_record_info(r, &info);
    for (const char *c = info.env; *c != '\0'; c++)
        sum = sum * 31 + (uint64_t)*c;
    sum = ((sum * 31 + (uint64_t)info.segments) * 31 + (uint64_t)info.kernel_abi) * 2 + info.ended;
    pw_record_close(r);
    return sum;
}

/* PEWTER_FAULTS=500 tries that many flips that change the file. */
static void every_flip_is_found(void **state)
{
    char path[4096];
    char *data;
    size_t size;
    bool found;
    const char *wanted = getenv("PEWTER_FAULTS");
    int n, harmful = 0, most = wanted != NULL ? atoi(wanted) : 50;
    uint64_t rng = 99;
    session_path(state, path);
    session_record(path, 100);
    uint64_t sum = all_of(path, &found, &n);
    assert_false(found);
    assert_int_equal(n, 100);
    read_db(path, &data, &size);
    for (int i = 0; i < 100 * most && harmful < most; i++) {
        uint64_t bit = codec_next(&rng) % (8 * size);
        data[bit / 8] = (char)(data[bit / 8] ^ 1 << bit % 8);
        write_db(path, data, size);
        bool same = all_of(path, &found, &n) == sum;
        if (!same && !found)
            fail_msg("bit %zu: %d events, and no error was reported", (size_t)bit, n);
        harmful += !same;
        data[bit / 8] = (char)(data[bit / 8] ^ 1 << bit % 8);
    }
    assert_int_equal(harmful, most);
    free(data);
}

/* A page of zeros costs only its rows. In a truncated file the rows before the end are shown, or the session
 * is refused. */
static void shows_what_is_intact(void **state)
{
    char path[4096];
    char *data;
    size_t size;
    bool found;
    int n, most = 0;
    session_path(state, path);
    session_record(path, 1500);
    read_db(path, &data, &size);
    size_t pages = size / 8192;
    for (size_t page = 1; page < pages; page += 1 + pages / 6) {
        char *copy = malloc(size);
        memcpy(copy, data, size);
        memset(copy + page * 8192, 0, 8192);
        write_db(path, copy, size);
        all_of(path, &found, &n);
        assert_true(found || n == 1500);
        most = n < 1500 && n > most ? n : most;
        free(copy);
    }
    assert_in_range(most, 700, 1499);
    for (size_t cut = 100; cut < size; cut += size / 5) {
        write_db(path, data, cut);
        all_of(path, &found, &n);
        assert_true(found);
    }
    free(data);
}

struct shown {
    uint64_t bits[121], seq; /* [events + 1] */
    bool compare;
    int n;
};

static bool note_bits(void *arg, struct pw_event *e)
{
    struct shown *s = arg;
    assert_in_range(e->seq, s->seq + 1, 120);
    if (s->compare)
        assert_true(session_bits(e) == s->bits[e->seq]);
    s->bits[e->seq] = session_bits(e);
    s->seq = e->seq;
    s->n++;
    return true;
}

/* In a page that ends in zeros the last row may be incomplete. It can't be verified, as the row before it is
 * lost. */
static void shows_only_what_was_recorded(void **state)
{
    char path[4096];
    char *data;
    size_t size;
    struct shown shown = {.compare = false};
    struct pw_record *r;
    struct pw_err err;
    int pages = 0, fewer = 0;
    session_path(state, path);
    session_record(path, 120);
    r = session_read(path);
    assert_int_equal(pw_record_events(r, 1, UINT64_MAX, note_bits, &shown, &err), PW_OK);
    assert_int_equal(shown.n, 120);
    pw_record_close(r);
    read_db(path, &data, &size);
    shown.compare = true;
    for (size_t page = 8192; page < size && pages < 5; page += 8192) {
        if (data[page] != 0x0d ||
            data[page + 4] < 8) /* a leaf of a table, with as many rows as events have */
            continue;
        char *copy = malloc(size);
        memcpy(copy, data, size);
        pages++;
        for (size_t left = 8192 - 20; left > 6500; left -= 20) {
            memset(copy + page + left, 0, 8192 - left);
            write_db(path, copy, size);
            if (pw_record_open(&r, path, &err) != PW_OK)
                continue;
            shown.seq = 0;
            shown.n = 0;
            pw_record_events(r, 1, UINT64_MAX, note_bits, &shown, &err);
            fewer += shown.n < 120;
            pw_record_close(r);
        }
        free(copy);
    }
    assert_true(fewer > 50);
    free(data);
}

static void edit(const char *path, const char *sql)
{
    char db[4200];
    sqlite3 *raw;
    db_of(path, db);
    assert_int_equal(sqlite3_open(db, &raw), SQLITE_OK);
    char *msg = NULL;
    sqlite3_exec(raw, sql, NULL, NULL, &msg);
    if (msg != NULL)
        fail_msg("%s: %s", sql, msg);
    sqlite3_close(raw);
}

/* Where a tree has two pages or more with rows, makes all entries refer to the first page. */
static int fold_trees(char *data, size_t size)
{
    int trees = 0;
    for (size_t page = 8192; page < size; page += 8192) {
        const unsigned char *list = (unsigned char *)data + page + 12;
        int cells = data[page + 3] << 8 | data[page + 4];
        if (data[page] != 0x05 || cells < 2) /* an inner page of a table */
            continue;
        for (int i = 1; i < cells; i++)
            memcpy(data + page + (list[2 * i] << 8 | list[2 * i + 1]), data + page + (list[0] << 8 | list[1]),
                   4);
        trees++;
    }
    return trees;
}

/* Then a search for a number yields a smaller one, and continuing after it would never end. Neither would a
 * last row that claims to hold less than was already found. */
static void comes_to_an_end(void **state)
{
    char path[4096], sql[100];
    char *data, *edited;
    size_t size, n_edited;
    bool found;
    int n;
    session_path(state, path);
    session_record(path, 800);
    read_db(path, &data, &size);
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = 60}, NULL); /* of this process's own time */
    for (int last = 0; last < 60; last += 6) {
        write_db(path, data, size);
        snprintf(sql, sizeof sql, "UPDATE event SET last=%d WHERE seq=(SELECT max(seq) FROM event)", last);
        if (last > 0)
            edit(path, sql);
        read_db(path, &edited, &n_edited);
        assert_true(fold_trees(edited, n_edited) > 0);
        write_db(path, edited, n_edited);
        all_of(path, &found, &n);
        assert_true(found);
        free(edited);
    }
    setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
    free(data);
}

/* A checksum doesn't prove a value sane: numbers and payloads out of range, with matching checksums. */
static void hostile_values_are_harmless(void **state)
{
    static const char *const edits[] = {
        "UPDATE blob SET bytes=1<<62",
        "UPDATE blob SET bytes=-5",
        "UPDATE blob SET packed=zeroblob(100)",
        "UPDATE blob SET packed=x''",
        "UPDATE blob SET bytes=67108865",
        "UPDATE event SET data=zeroblob(30000000) WHERE seq=(SELECT max(seq) FROM event)",
        "UPDATE event SET kind=1<<40",
        "UPDATE event SET arm=-1",
        "UPDATE event SET last=1<<62",
        "UPDATE event SET chain=x''",
        "DELETE FROM blob",
        "UPDATE file SET bytes=1<<50",
        "UPDATE segment SET pewter=replace(hex(zeroblob(100000)),'00','x')"};
    char path[4096], copy[4096];
    bool found;
    int n;
    session_path(state, path);
    session_record(path, 200);
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        char name[40];
        snprintf(name, sizeof name, "c%zu.pewter", i);
        session_copy(path, scratch_path(state, name, copy));
        edit(copy, edits[i]);
        all_of(copy, &found, &n);
        if (!found && strstr(edits[i], "file") == NULL)
            fail_msg("%s: %d events, and no error was reported", edits[i], n);
    }
}

static void refuses_what_computes(void **state)
{
    static const char *const edits[] = {
        "CREATE VIEW x AS SELECT 1",
        "CREATE TRIGGER x AFTER INSERT ON meta BEGIN SELECT 1; END",
        "CREATE TABLE x(a)",
        "CREATE INDEX x ON event(length(text))",
        "DROP INDEX event_kind",
        "PRAGMA user_version=1001; ALTER TABLE meta ADD COLUMN x TEXT AS ('1'); CREATE VIEW y AS SELECT 1"};
    char path[4096], copy[4096];
    struct pw_record *r;
    struct pw_err err;
    session_path(state, path);
    session_record(path, 20);
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        char name[40];
        snprintf(name, sizeof name, "c%zu.pewter", i);
        session_copy(path, scratch_path(state, name, copy));
        edit(copy, edits[i]);
        if (pw_record_open(&r, copy, &err) != PW_EUSER)
            fail_msg("%s: accepted", edits[i]);
    }
    char name[4200];
    snprintf(name, sizeof name, "%s/session.db", path);
    assert_int_equal(rename(name, scratch_path(state, "x.db", copy)), 0);
    assert_int_equal(symlink(copy, name), 0);
    assert_int_equal(pw_record_open(&r, path, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "is not a file"));
    assert_int_equal(pw_record_open(&r, "/no/such/session", &err), PW_EUSER);
    assert_string_equal(err.msg, "/no/such/session: there is no such session");
    assert_int_equal(pw_record_open(&r, "/dev/null", &err), PW_EUSER);
}

/* A later version has kinds that this one doesn't support. They are counted, and the other events are
 * shown. */
static void counts_what_it_does_not_know(void **state)
{
    char path[4096], db[4200];
    struct pw_row row = {.seq = 101, .last = 101, .seg = 1, .kind = 77, .data = "abc", .n_data = 3};
    uint8_t chain[PW_CHAIN];
    sqlite3 *raw;
    sqlite3_stmt *q;
    session_path(state, path);
    session_record(path, 100);
    db_of(path, db);
    assert_int_equal(sqlite3_open(db, &raw), SQLITE_OK);
    sqlite3_prepare_v2(raw, "SELECT chain FROM event ORDER BY seq DESC LIMIT 1", -1, &q, NULL);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    pw_row_chain(chain, sqlite3_column_blob(q, 0), &row);
    sqlite3_finalize(q);
    sqlite3_prepare_v2(raw,
                       "INSERT INTO event(seq,last,seg,t_ns,kind,arm,replicate,step,data,chain) "
                       "VALUES(101,101,1,0,77,0,0,0,x'616263',?1)",
                       -1, &q, NULL);
    sqlite3_bind_blob(q, 1, chain, PW_CHAIN, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(q), SQLITE_DONE);
    sqlite3_finalize(q);
    sqlite3_close(raw);
    edit(path, "PRAGMA user_version=1003; ALTER TABLE event ADD COLUMN mood TEXT DEFAULT 'fine'; CREATE "
               "TABLE more(x)");
    struct pw_record *r = session_read(path);
    struct pw_record_info info;
    int n;
    session_sum(r, 1, UINT64_MAX, &n);
    assert_int_equal(n, 100);
    pw_record_info(r, &info);
    assert_int_equal(info.unknown, 1);
    assert_int_equal(info.damaged, 0);
    pw_record_close(r);
}

/* ---- by index */

static void finds_the_last_of_a_kind(void **state)
{
    char path[4096];
    uint64_t rng = 12;
    struct {
        uint64_t seq;
        int kind, arm;
    } all[400];
    session_path(state, path);
    for (uint64_t seq = 1; seq <= 400; seq++) {
        struct pw_event *e = session_event(seq, &rng);
        all[seq - 1].seq = seq;
        all[seq - 1].kind = (int)e->kind;
        all[seq - 1].arm = e->arm;
        pw_event_free(e);
    }
    session_record(path, 400);
    struct pw_record *r = session_read(path);
    static const enum pw_event_kind kinds[] = {PW_EV_EVAL, PW_EV_COMMAND, PW_EV_ATTENTION, PW_EV_PATCH};
    for (int i = 0; i < 300; i++) {
        enum pw_event_kind kind = kinds[codec_next(&rng) % 4];
        int arm = (int)(codec_next(&rng) % 5) - 1;
        int replica = (int)(codec_next(&rng) % 2) == 0 ? -1 : 1;
        uint64_t seq = codec_next(&rng) % 420, expect = 0;
        for (int k = 0; k < 400; k++)
            if (all[k].seq <= seq && all[k].kind == (int)kind && (arm < 0 || all[k].arm == arm))
                expect = all[k].seq;
        struct pw_event *e = pw_record_last(r, kind, arm, replica, seq);
        assert_int_equal(e != NULL ? e->seq : 0, expect);
        assert_true(e == NULL || e->kind == kind);
        pw_event_free(e);
    }
    pw_record_close(r);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, session_setup, session_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_flip_is_found),          TEST(shows_what_is_intact),
        TEST(shows_only_what_was_recorded), TEST(comes_to_an_end),
        TEST(hostile_values_are_harmless),  TEST(refuses_what_computes),
        TEST(counts_what_it_does_not_know), TEST(finds_the_last_of_a_kind),
    };
    return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
