/* schema.c - the SQL text of a session's tables, exactly as `sqlite3 session.db .schema` shows it.
 *
 * The table `event` is authoritative and append-only. Each row's chain is a hash of the row and of the chain
 * before it, so every flipped bit is detected. (SQLite's own integrity check finds a third of them: it checks
 * the trees, not the values.) Blobs and files are named by their SHA-256, and the chain covers these names.
 * The few rows that are updated carry a hash of their own.
 *
 * Readers compare this text with the file's, so a session from elsewhere can't contain triggers, views or
 * computed columns. A later minor version may add tables and columns, and change nothing else. */
#include "sessions/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/sha256.h"

static const struct object {
    const char *type, *name, *sql;
} objects[] = {
    {"table", "meta",
     "CREATE TABLE meta (\n"
     "  id INTEGER PRIMARY KEY,\n"
     "  key TEXT NOT NULL UNIQUE, -- 'session': 32 random digits; 'created_ns'; 'pewter': which version made "
     "it\n"
     "  value TEXT NOT NULL,\n"
     "  guard BLOB -- 16 bytes of SHA-256 over the other columns\n"
     ") STRICT"},
    {"table", "segment",
     "CREATE TABLE segment (\n"
     "  id INTEGER PRIMARY KEY, -- 1, 2, ...: the processes that recorded this session, one after the other\n"
     "  after INTEGER NOT NULL, -- the last event on disk when it began\n"
     "  began_ns INTEGER NOT NULL, -- CLOCK_REALTIME\n"
     "  ended_ns INTEGER, -- NULL: it was killed, or is still there\n"
     "  last INTEGER, -- the last event when it ended\n"
     "  exit TEXT, -- how it ended: 'quit', 'signal 15', ...\n"
     "  pewter TEXT NOT NULL, -- version and build\n"
     "  bits TEXT NOT NULL, -- 'portable': the same bits anywhere; 'machine': on this machine\n"
     "  kernel_abi INTEGER NOT NULL, -- bits are the same only where this is\n"
     "  device TEXT NOT NULL, -- what computed: 'cpu: 2 threads, avx512'\n"
     "  isa TEXT NOT NULL, -- the kernels' instruction set\n"
     "  threads INTEGER NOT NULL,\n"
     "  system TEXT NOT NULL, -- as uname says\n"
     "  pid INTEGER NOT NULL,\n"
     "  cleared INTEGER NOT NULL, -- bytes of unfinished files that were removed when it began\n"
     "  guard BLOB -- 16 bytes of SHA-256 over the other columns\n"
     ") STRICT"},
    {"table", "blob",
     "CREATE TABLE blob (\n"
     "  sha BLOB PRIMARY KEY NOT NULL, -- SHA-256 of a payload of more than 1 KiB\n"
     "  bytes INTEGER NOT NULL, -- of the payload\n"
     "  dropped INTEGER NOT NULL, -- 1: the budget took it\n"
     "  packed BLOB -- deflated by zlib; NULL where it was dropped\n"
     ") STRICT"},
    {"table", "event",
     "CREATE TABLE event (\n"
     "  seq INTEGER PRIMARY KEY, -- 1, 2, ... in the order of happening; not everything that happens is "
     "recorded\n"
     "  last INTEGER NOT NULL, -- seq, but for a run: the number of its last event\n"
     "  seg INTEGER NOT NULL REFERENCES segment(id), -- the process\n"
     "  t_ns INTEGER NOT NULL, -- CLOCK_REALTIME\n"
     "  kind INTEGER NOT NULL, -- the numbers of enum pw_event_kind; 5: a run of steps, updates, digests\n"
     "  arm INTEGER NOT NULL, -- 0: the laboratory\n"
     "  replicate INTEGER NOT NULL, -- of the arm; 0: of none\n"
     "  step INTEGER NOT NULL, -- optimiser steps that the arm had completed\n"
     "  text TEXT, -- what it says, for people; pewter reads data\n"
     "  data BLOB, -- its payload: numbered fields; of kind 5 packed events\n"
     "  blob BLOB REFERENCES blob(sha), -- or where its payload is\n"
     "  chain BLOB NOT NULL -- 16 bytes of SHA-256 over the chain before it and all other columns\n"
     ") STRICT"},
    {"index", "event_kind", "CREATE INDEX event_kind ON event(kind)"},
    {"index", "event_slot", "CREATE INDEX event_slot ON event(kind, arm, replicate)"},
    {"table", "file",
     "CREATE TABLE file (\n"
     "  id INTEGER PRIMARY KEY,\n"
     "  sha BLOB NOT NULL UNIQUE, -- SHA-256 of the content; files/ has it under its 64 digits\n"
     "  bytes INTEGER NOT NULL,\n"
     "  keep INTEGER NOT NULL, -- 1: the budget never takes it\n"
     "  deleted INTEGER NOT NULL, -- 1: the budget took it\n"
     "  guard BLOB -- 16 bytes of SHA-256 over the other columns\n"
     ") STRICT"},
    {"table", "chunk",
     "CREATE TABLE chunk (\n"
     "  id INTEGER PRIMARY KEY,\n"
     "  sha BLOB NOT NULL REFERENCES file(sha), -- the file that it is a part of\n"
     "  n INTEGER NOT NULL, -- 0, 1, ...: which part\n"
     "  data BLOB NOT NULL -- 8 MiB, or what is left\n"
     ") STRICT"},
    {"index", "chunk_part", "CREATE UNIQUE INDEX chunk_part ON chunk(sha, n)"},
};
#define N_PACKED  (sizeof objects / sizeof objects[0]) /* of a packed file */
#define N_OBJECTS (N_PACKED - 2)                       /* of a folder: without chunks */

/* ---- SQLite with struct pw_err */

enum pw_code pw_sql_fail(struct pw_err *err, sqlite3 *db, const char *doing)
{
    int code = sqlite3_errcode(db) & 0xff;
    int number = sqlite3_system_errno(db);
    bool disk = code == SQLITE_IOERR || code == SQLITE_FULL || code == SQLITE_CANTOPEN;
    enum pw_code ours = code == SQLITE_NOMEM                              ? PW_ENOMEM
                        : code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? PW_EUSER
                                                                          : PW_EIO;
    if (code == SQLITE_INTERRUPT)
        return pw_fail(err, PW_EUSER, "%s: it takes too long; its content is not written by pewter", doing);
    return pw_fail(err, ours, "%s: %s", doing,
                   code == SQLITE_FULL   ? "no space left on the disk"
                   : disk && number != 0 ? strerror(number)
                                         : sqlite3_errmsg(db));
}

enum pw_code pw_sql_run(sqlite3 *db, const char *sql, struct pw_err *err)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? PW_OK : pw_sql_fail(err, db, PW_SESSION_DB);
}

enum pw_code pw_sql_int(sqlite3 *db, const char *sql, int64_t none, int64_t *out, struct pw_err *err)
{
    sqlite3_stmt *q = NULL;
    *out = none;
    int rc = sqlite3_prepare_v2(db, sql, -1, &q, NULL);
    if (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW && sqlite3_column_type(q, 0) != SQLITE_NULL)
        *out = sqlite3_column_int64(q, 0);
    enum pw_code code = rc == SQLITE_ROW || rc == SQLITE_DONE ? PW_OK : pw_sql_fail(err, db, PW_SESSION_DB);
    sqlite3_finalize(q);
    return code;
}

/* SQLite's recommendations for untrusted files (sqlite.org/security.html), and settings that the schema
 * needs. */
enum pw_code pw_schema_settings(sqlite3 *db, bool foreign, struct pw_err *err)
{
    static const int off[] = {SQLITE_DBCONFIG_ENABLE_TRIGGER,        SQLITE_DBCONFIG_ENABLE_VIEW,
                              SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER,
                              SQLITE_DBCONFIG_TRUSTED_SCHEMA,        SQLITE_DBCONFIG_WRITABLE_SCHEMA};
    static const int limits[][2] = {{SQLITE_LIMIT_LENGTH, (int)PW_PAYLOAD_MAX + (1 << 16)},
                                    {SQLITE_LIMIT_SQL_LENGTH, 100000},
                                    {SQLITE_LIMIT_COLUMN, 100},
                                    {SQLITE_LIMIT_EXPR_DEPTH, 10},
                                    {SQLITE_LIMIT_COMPOUND_SELECT, 3},
                                    {SQLITE_LIMIT_VDBE_OP, 25000},
                                    {SQLITE_LIMIT_FUNCTION_ARG, 8},
                                    {SQLITE_LIMIT_ATTACHED, 0},
                                    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50},
                                    {SQLITE_LIMIT_VARIABLE_NUMBER, 20},
                                    {SQLITE_LIMIT_TRIGGER_DEPTH, 10}};

    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, 2000);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++)
        sqlite3_db_config(db, off[i], 0, NULL);
    for (size_t i = 0; foreign && i < sizeof limits / sizeof limits[0]; i++)
        sqlite3_limit(db, limits[i][0], limits[i][1]);
    return pw_sql_run(db,
                      "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA foreign_keys=ON;"
                      "PRAGMA temp_store=MEMORY; PRAGMA locking_mode=NORMAL",
                      err);
}

enum pw_code pw_schema_create(sqlite3 *db, bool packed, struct pw_err *err)
{
    char version[96];
    snprintf(version, sizeof version, "PRAGMA application_id=%d; PRAGMA user_version=%d", PW_SESSION_APP,
             1000 * PW_SESSION_MAJOR + PW_SESSION_MINOR);
    enum pw_code code = pw_sql_run(db, version, err);
    for (size_t i = 0; code == PW_OK && i < (packed ? N_PACKED : N_OBJECTS); i++)
        code = pw_sql_run(db, objects[i].sql, err);
    return code;
}

static enum pw_code copy_table(sqlite3 *to, sqlite3 *from, const char *name, struct pw_err *err)
{
    char sql[200];
    sqlite3_stmt *get = NULL, *put = NULL;
    enum pw_code code = PW_OK;
    snprintf(sql, sizeof sql, "SELECT * FROM %s", name);
    int rc = sqlite3_prepare_v2(from, sql, -1, &get, NULL);
    if (rc == SQLITE_OK) {
        int used = snprintf(sql, sizeof sql, "INSERT INTO %s VALUES(?", name);
        for (int i = 1; i < sqlite3_column_count(get); i++)
            used += snprintf(sql + used, sizeof sql - (size_t)used, ",?");
        snprintf(sql + used, sizeof sql - (size_t)used, ")");
        if (sqlite3_prepare_v2(to, sql, -1, &put, NULL) != SQLITE_OK)
            code = pw_sql_fail(err, to, name);
    }
    while (rc == SQLITE_OK && code == PW_OK && (rc = sqlite3_step(get)) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(get); i++)
            sqlite3_bind_value(put, i + 1, sqlite3_column_value(get, i));
        code = sqlite3_step(put) == SQLITE_DONE ? PW_OK : pw_sql_fail(err, to, name);
        sqlite3_reset(put);
        rc = SQLITE_OK;
    }
    if (code == PW_OK && rc != SQLITE_DONE)
        code = pw_sql_fail(err, from, name);
    sqlite3_finalize(get);
    sqlite3_finalize(put);
    return code;
}

enum pw_code pw_schema_copy(sqlite3 *to, sqlite3 *from, struct pw_err *err)
{
    enum pw_code code = PW_OK;
    for (size_t i = 0; code == PW_OK && i < N_OBJECTS; i++)
        if (strcmp(objects[i].type, "table") == 0)
            code = copy_table(to, from, objects[i].name, err);
    return code;
}

/* ---- comparison with the known schema */

static const struct object *object_named(const char *name, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(objects[i].name, name) == 0)
            return &objects[i];
    return NULL;
}

/* Does an object belong to a session? An index that SQLite created itself has no text. */
static bool object_belongs(const struct object *known, const char *type, const char *name, const char *sql,
                           bool newer)
{
    if (sql[0] == '\0')
        return strcmp(type, "index") == 0 && strncmp(name, "sqlite_autoindex_", 17) == 0;
    if (known != NULL && (!newer || strcmp(type, "index") == 0))
        return strcmp(type, known->type) == 0 && strcmp(sql, known->sql) == 0;
    return newer && ((strcmp(type, "table") == 0 && strncmp(sql, "CREATE TABLE ", 13) == 0) ||
                     (strcmp(type, "index") == 0 && strncmp(sql, "CREATE INDEX ", 13) == 0));
}

/* Does a later version's table have our columns, stored and not computed? The column names are taken from our
 * own SQL text. */
static bool columns_are_there(sqlite3 *db, const struct object *table)
{
    sqlite3_stmt *q = NULL;
    bool all = true;
    for (const char *line = strchr(table->sql, '\n'); all && line != NULL && line[1] == ' ';
         line = strchr(line + 1, '\n')) {
        int n = (int)strcspn(line + 3, " ");
        if (sqlite3_prepare_v2(db, "SELECT hidden FROM pragma_table_xinfo(?1) WHERE name=?2", -1, &q, NULL) !=
            SQLITE_OK)
            return false;
        sqlite3_bind_text(q, 1, table->name, -1, SQLITE_STATIC);
        sqlite3_bind_text(q, 2, line + 3, n, SQLITE_STATIC);
        all = sqlite3_step(q) == SQLITE_ROW && sqlite3_column_int(q, 0) == 0;
        sqlite3_finalize(q);
    }
    return all;
}

static enum pw_code check_objects(sqlite3 *db, bool packed, bool newer, struct pw_err *err)
{
    sqlite3_stmt *q = NULL;
    enum pw_code code = PW_OK;
    size_t found = 0, wanted = packed ? N_PACKED : N_OBJECTS;
    int rc = sqlite3_prepare_v2(db, "SELECT type,name,sql FROM sqlite_schema", -1, &q, NULL);
    while (rc == SQLITE_OK && code == PW_OK && sqlite3_step(q) == SQLITE_ROW) {
        const char *column[3];
        for (int i = 0; i < 3; i++) {
            column[i] = (const char *)sqlite3_column_text(q, i);
            column[i] = column[i] != NULL ? column[i] : "";
        }
        const struct object *known = object_named(column[1], wanted);
        found += known != NULL;
        if (!object_belongs(known, column[0], column[1], column[2], newer))
            code = pw_fail(err, PW_EUSER, "it has a %.20s '%.60s' that a session doesn't have", column[0],
                           column[1]);
    }
    if (code == PW_OK && sqlite3_errcode(db) != SQLITE_OK && sqlite3_errcode(db) != SQLITE_DONE)
        code = pw_sql_fail(err, db, PW_SESSION_DB);
    sqlite3_finalize(q);
    if (code == PW_OK && found != wanted)
        code = pw_fail(err, PW_EUSER, "it lacks tables that a session has");
    for (size_t i = 0; code == PW_OK && newer && i < wanted; i++)
        if (strcmp(objects[i].type, "table") == 0 && !columns_are_there(db, &objects[i]))
            code = pw_fail(err, PW_EUSER, "its table '%s' is not a session's", objects[i].name);
    return code;
}

enum pw_code pw_schema_check(sqlite3 *db, bool packed, bool *newer, struct pw_err *err)
{
    int64_t app, version;
    enum pw_code code = pw_sql_int(db, "PRAGMA application_id", 0, &app, err);
    *newer = false;
    if (code == PW_OK)
        code = pw_sql_int(db, "PRAGMA user_version", 0, &version, err);
    if (code != PW_OK)
        return code;
    if (app == 0 && version == 0)
        return pw_fail(err, PW_EUSER, "not a session: it is unfinished, or another kind of file");
    if (app != PW_SESSION_APP || version < 1000)
        return pw_fail(err, PW_EUSER, "not a session: it is another program's database");
    if (version / 1000 != PW_SESSION_MAJOR)
        return pw_fail(err, PW_EUSER,
                       "a session of version %" PRId64 ".%" PRId64 "; this pewter reads version %d",
                       version / 1000, version % 1000, PW_SESSION_MAJOR);
    *newer = version % 1000 > PW_SESSION_MINOR;
    return check_objects(db, packed, *newer, err);
}

/* ---- hashes */

static void add_int(struct pw_sha256 *h, int64_t x)
{
    uint8_t b[8];
    for (int i = 0; i < 8; i++)
        b[i] = (uint8_t)((uint64_t)x >> 8 * i);
    pw_sha256_add(h, b, sizeof b);
}

/* Hash the length too, so that bytes can't move between columns. NULL differs from empty. */
static void add_bytes(struct pw_sha256 *h, const void *p, size_t n)
{
    add_int(h, p != NULL ? (int64_t)n : -1);
    if (p != NULL)
        pw_sha256_add(h, p, n);
}

void pw_row_chain(uint8_t chain[PW_CHAIN], const uint8_t before[PW_CHAIN], const struct pw_row *row)
{
    const int64_t numbers[] = {row->seq,  row->last, row->seg,     row->t_ns,
                               row->kind, row->arm,  row->replica, row->step};
    struct pw_sha256 h;
    uint8_t sum[PW_SHA256];
    pw_sha256_begin(&h);
    pw_sha256_add(&h, before, PW_CHAIN);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        add_int(&h, numbers[i]);
    add_bytes(&h, row->text, row->n_text);
    add_bytes(&h, row->data, row->n_data);
    add_bytes(&h, row->blob, PW_SHA256);
    pw_sha256_end(&h, sum);
    memcpy(chain, sum, PW_CHAIN);
}

bool pw_row_read(struct pw_row *row, uint8_t chain[PW_CHAIN], sqlite3_stmt *q)
{
    int64_t *numbers[] = {&row->seq,  &row->last, &row->seg,     &row->t_ns,
                          &row->kind, &row->arm,  &row->replica, &row->step};
    bool typed = true;
    for (int i = 0; i < 8; i++) {
        typed = typed && sqlite3_column_type(q, i) == SQLITE_INTEGER;
        *numbers[i] = sqlite3_column_int64(q, i);
    }
    int text = sqlite3_column_type(q, 8), data = sqlite3_column_type(q, 9), blob = sqlite3_column_type(q, 10);
    typed = typed && (text == SQLITE_NULL || text == SQLITE_TEXT) &&
            (data == SQLITE_NULL || data == SQLITE_BLOB) && (blob == SQLITE_NULL || blob == SQLITE_BLOB) &&
            sqlite3_column_type(q, 11) == SQLITE_BLOB && sqlite3_column_bytes(q, 11) == PW_CHAIN &&
            (blob == SQLITE_NULL || sqlite3_column_bytes(q, 10) == PW_SHA256);
    if (!typed)
        return false;
    row->text = text == SQLITE_TEXT ? (const char *)sqlite3_column_text(q, 8) : NULL;
    row->n_text = (size_t)sqlite3_column_bytes(q, 8);
    row->data = data == SQLITE_BLOB ? sqlite3_column_blob(q, 9) : NULL;
    row->n_data = (size_t)sqlite3_column_bytes(q, 9);
    if (data == SQLITE_BLOB && row->data == NULL) /* SQLite returns NULL for an empty one */
        row->data = "";
    row->blob = blob == SQLITE_BLOB ? sqlite3_column_blob(q, 10) : NULL;
    memcpy(chain, sqlite3_column_blob(q, 11), PW_CHAIN);
    return true;
}

/* Hash all columns except the last, which is the guard. */
static void guard_of(uint8_t guard[PW_CHAIN], sqlite3_stmt *q)
{
    struct pw_sha256 h;
    uint8_t sum[PW_SHA256];
    pw_sha256_begin(&h);
    for (int i = 0; i < sqlite3_column_count(q) - 1; i++) {
        add_int(&h, sqlite3_column_type(q, i));
        const void *p = sqlite3_column_blob(q, i); /* of a number: its text */
        add_bytes(&h, p != NULL ? p : "", (size_t)sqlite3_column_bytes(q, i));
    }
    pw_sha256_end(&h, sum);
    memcpy(guard, sum, PW_CHAIN);
}

/* List the columns of this version, in the order of its own text: a later version may have inserted
 * others. */
static void guarded_columns(char *dst, size_t size, const char *table)
{
    size_t used = 0;
    for (const char *line = strchr(object_named(table, N_OBJECTS)->sql, '\n'); line != NULL && line[1] == ' ';
         line = strchr(line + 1, '\n'))
        used += (size_t)snprintf(dst + used, size - used, "%s%.*s", used > 0 ? "," : "",
                                 (int)strcspn(line + 3, " "), line + 3);
}

enum pw_code pw_guard_write(sqlite3 *db, const char *table, int64_t rowid, struct pw_err *err)
{
    char columns[256], sql[400];
    uint8_t guard[PW_CHAIN];
    sqlite3_stmt *q = NULL;
    guarded_columns(columns, sizeof columns, table);
    snprintf(sql, sizeof sql, "SELECT %s FROM %s WHERE id=%" PRId64, columns, table, rowid);
    int rc = sqlite3_prepare_v2(db, sql, -1, &q, NULL);
    if (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW)
        guard_of(guard, q);
    sqlite3_finalize(q);
    if (rc != SQLITE_ROW)
        return pw_sql_fail(err, db, PW_SESSION_DB);
    snprintf(sql, sizeof sql, "UPDATE %s SET guard=?1 WHERE id=%" PRId64, table, rowid);
    rc = sqlite3_prepare_v2(db, sql, -1, &q, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_blob(q, 1, guard, PW_CHAIN, SQLITE_STATIC);
        rc = sqlite3_step(q);
    }
    enum pw_code code = rc == SQLITE_DONE ? PW_OK : pw_sql_fail(err, db, PW_SESSION_DB);
    sqlite3_finalize(q);
    return code;
}

enum pw_code pw_guard_check(sqlite3 *db, const char *table, struct pw_err *err)
{
    char columns[256], sql[400];
    uint8_t guard[PW_CHAIN];
    sqlite3_stmt *q = NULL;
    enum pw_code code = PW_OK;
    int rc;
    guarded_columns(columns, sizeof columns, table);
    snprintf(sql, sizeof sql, "SELECT %s FROM %s", columns, table);
    rc = sqlite3_prepare_v2(db, sql, -1, &q, NULL);
    while (rc == SQLITE_OK && code == PW_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        int last = sqlite3_column_count(q) - 1;
        guard_of(guard, q);
        const void *is = sqlite3_column_blob(q, last);
        if (is == NULL || sqlite3_column_bytes(q, last) != PW_CHAIN || memcmp(is, guard, PW_CHAIN) != 0)
            code = pw_fail(err, PW_EUSER, "a row of its table '%s' is damaged", table);
        rc = SQLITE_OK;
    }
    if (code == PW_OK && rc != SQLITE_DONE)
        code = pw_sql_fail(err, db, PW_SESSION_DB);
    sqlite3_finalize(q);
    return code;
}
