/* ref_forge.c - see ref_forge.h. */
#include "ref_forge.h"

#include <sys/stat.h>

#include "ref_session.h"
#include "sessions/schema.h"

static void run(sqlite3 *db, const char *sql)
{
    char *msg = NULL;
    sqlite3_exec(db, sql, NULL, NULL, &msg);
    if (msg != NULL)
        fail_msg("%s: %s", sql, msg);
}

/* Reads all rows before it writes any: rows are found only by their numbers. */
static void sum_rows(sqlite3 *db)
{
    uint8_t chain[PW_CHAIN] = {0}, stored[PW_CHAIN];
    sqlite3_stmt *get, *put;
    run(db, "CREATE TEMP TABLE made(seq INTEGER PRIMARY KEY, chain BLOB)");
    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT " PW_ROW_COLUMNS " FROM event ORDER BY seq", -1, &get, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "INSERT INTO made VALUES(?1,?2)", -1, &put, NULL), SQLITE_OK);
    while (sqlite3_step(get) == SQLITE_ROW) {
        struct pw_row row;
        assert_true(pw_row_read(&row, stored, get));
        pw_row_chain(chain, chain, &row);
        sqlite3_bind_int64(put, 1, row.seq);
        sqlite3_bind_blob(put, 2, chain, PW_CHAIN, SQLITE_STATIC);
        assert_int_equal(sqlite3_step(put), SQLITE_DONE);
        sqlite3_reset(put);
    }
    sqlite3_finalize(get);
    sqlite3_finalize(put);
    run(db, "UPDATE event SET chain=(SELECT chain FROM made WHERE made.seq=event.seq); DROP TABLE made");
}

void forge(const char *path, const char *sql, bool sums)
{
    char file[4200];
    struct stat st;
    sqlite3 *db;
    assert_int_equal(stat(path, &st), 0);
    snprintf(file, sizeof file, "%s%s", path, S_ISDIR(st.st_mode) ? "/" PW_SESSION_DB : "");
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    run(db, "BEGIN");
    run(db, sql);
    if (sums)
        sum_rows(db);
    run(db, "COMMIT");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}
