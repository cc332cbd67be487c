/* schema.h - what a session's database holds, and the sums that find out when somebody has changed it. */
#ifndef PW_SCHEMA_H
#define PW_SCHEMA_H
#include <sqlite3.h>

#include "base/err.h"
#include "sessions/event.h"

#define PW_SESSION_DB    "session.db"
#define PW_SESSION_APP   0x50575452 /* "PWTR", where file(1) looks for it */
#define PW_SESSION_MAJOR 1
#define PW_SESSION_MINOR 0
#define PW_PAGE          8192
#define PW_CHAIN         16                 /* bytes of a SHA-256 */
#define PW_INLINE        1024               /* bytes of a payload that stay in their row */
#define PW_PAYLOAD_MAX   ((size_t)64 << 20) /* bytes of a payload: a map of 64 heads and 700 tokens */

/* A row of the table event. Texts and bytes are borrowed. */
struct pw_row {
    int64_t seq, last, seg, t_ns, kind, arm, replicate, step;
    const char *text; /* [n_text] NULL: none */
    size_t n_text;
    const void *data; /* [n_data] NULL: its payload is a blob */
    size_t n_data;
    const uint8_t *blob; /* [PW_SHA256] NULL: none */
};

/* The chain after this row. */
void pw_row_chain(uint8_t chain[PW_CHAIN], const uint8_t before[PW_CHAIN], const struct pw_row *row);
/* What the columns of PW_ROW_COLUMNS have, from column 0 of a statement on; false: one is not of its type.
 * The chain as stored follows them. Valid until the statement moves. */
#define PW_ROW_COLUMNS "seq,last,seg,t_ns,kind,arm,replicate,step,text,data,blob,chain"
bool pw_row_read(struct pw_row *row, uint8_t chain[PW_CHAIN], sqlite3_stmt *q);

/* Settings of every connection, before anything is read by it; foreign: who wrote the file is unknown. */
enum pw_code pw_schema_settings(sqlite3 *db, bool foreign, struct pw_err *err);
/* packed: of a packed file (pack.h), which holds files, too. */
enum pw_code pw_schema_create(sqlite3 *db, bool packed, struct pw_err *err);
/* Is it a session, of a version that is understood, with the tables that belong there and nothing else?
 * *newer: a later minor version, which may have more tables and columns. */
enum pw_code pw_schema_check(sqlite3 *db, bool packed, bool *newer, struct pw_err *err);
/* Every row of the tables that all sessions have, into those of an empty one of this version. */
enum pw_code pw_schema_copy(sqlite3 *to, sqlite3 *from, struct pw_err *err);

/* Rows that are changed (meta, segment, file) carry a sum over their other columns. Writes it, or compares.
 */
enum pw_code pw_guard_write(sqlite3 *db, const char *table, int64_t rowid, struct pw_err *err);
enum pw_code pw_guard_check(sqlite3 *db, const char *table, struct pw_err *err);

/* One line of what SQLite said last, with what was being done. A damaged or foreign file is PW_EUSER. */
enum pw_code pw_sql_fail(struct pw_err *err, sqlite3 *db, const char *doing);
enum pw_code pw_sql_run(sqlite3 *db, const char *sql, struct pw_err *err);
/* The first column of the first row; `none` where there is no row. */
enum pw_code pw_sql_int(sqlite3 *db, const char *sql, int64_t none, int64_t *out, struct pw_err *err);

#endif
