/* schema.h - the SQLite schema of a session's database, and the hashes that detect changes to it.
 *
 * Codes: PW_EUSER for a damaged or foreign file, else PW_EIO or PW_ENOMEM. A connection belongs to one
 * thread. */
#ifndef PW_SCHEMA_H
#define PW_SCHEMA_H
#include <sqlite3.h>

#include "base/err.h"
#include "sessions/event.h"

#define PW_SESSION_DB    "session.db"
#define PW_SESSION_APP   0x50575452 /* "PWTR", where file(1) finds it */
#define PW_SESSION_MAJOR 1
#define PW_SESSION_MINOR 0
#define PW_PAGE          8192
#define PW_CHAIN         16                 /* bytes of a SHA-256 that are stored */
#define PW_INLINE        1024               /* largest payload, in bytes, that is stored in its row */
#define PW_PAYLOAD_MAX   ((size_t)64 << 20) /* largest payload in bytes: a map of 64 heads and 700 tokens */

/* A row of the table `event`. Texts and bytes are borrowed. */
struct pw_row {
    int64_t seq, last, seg, t_ns, kind, arm, replica, step;
    const char *text; /* [n_text] NULL: none */
    size_t n_text;
    const void *data; /* [n_data] NULL: the payload is a blob */
    size_t n_data;
    const uint8_t *blob; /* [PW_SHA256] NULL: none */
};

/* Compute the chain hash after this row from the one before it. */
void pw_row_chain(uint8_t chain[PW_CHAIN], const uint8_t before[PW_CHAIN], const struct pw_row *row);
/* Read the columns PW_ROW_COLUMNS from column 0 of statement q; `chain` gets the stored hash. Returns false
 * if a column has the wrong type. The row is valid until the statement is stepped or reset. */
#define PW_ROW_COLUMNS "seq,last,seg,t_ns,kind,arm,replicate,step,text,data,blob,chain"
bool pw_row_read(struct pw_row *row, uint8_t chain[PW_CHAIN], sqlite3_stmt *q);

/* Apply the settings of every connection, before anything is read. foreign: the file is from an unknown
 * writer. */
enum pw_code pw_schema_settings(sqlite3 *db, bool foreign, struct pw_err *err);
/* Create the tables. packed: a packed file (pack.h), which also holds files. */
enum pw_code pw_schema_create(sqlite3 *db, bool packed, struct pw_err *err);
/* Check that the database is a session of a supported version with exactly the expected tables. *newer: a
 * later minor version, which may have more tables and columns. */
enum pw_code pw_schema_check(sqlite3 *db, bool packed, bool *newer, struct pw_err *err);
/* Copy every row of the tables that all sessions have into an empty database of this version. */
enum pw_code pw_schema_copy(sqlite3 *to, sqlite3 *from, struct pw_err *err);

/* Rows that are updated (tables meta, segment, file) carry a hash over their other columns. Write it, or
 * verify the whole table. */
enum pw_code pw_guard_write(sqlite3 *db, const char *table, int64_t rowid, struct pw_err *err);
enum pw_code pw_guard_check(sqlite3 *db, const char *table, struct pw_err *err);

/* Fill err with SQLite's last error and the operation. Returns PW_EUSER for a damaged or foreign file. */
enum pw_code pw_sql_fail(struct pw_err *err, sqlite3 *db, const char *doing);
enum pw_code pw_sql_run(sqlite3 *db, const char *sql, struct pw_err *err);
/* Read the first column of the first row; `none` if there is no row. */
enum pw_code pw_sql_int(sqlite3 *db, const char *sql, int64_t none, int64_t *out, struct pw_err *err);

#endif
