/* store_segment.c - segments: the processes that recorded a session, one after the other, with their
 * environment and how they ended. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "sessions/store_int.h"

#define CANT "the session can't be written"

/* Finalise q, which writes the segment's row and stepped with rc, protect the row and commit. */
static enum pw_code commit(struct pw_store *s, sqlite3_stmt *q, int rc, struct pw_err *err)
{
    enum pw_code code = rc == SQLITE_DONE ? PW_OK : pw_sql_fail(err, s->db, CANT);
    sqlite3_finalize(q);
    if (code == PW_OK)
        code = pw_guard_write(s->db, "segment", s->seg, err);
    return code == PW_OK ? pw_sql_run(s->db, "COMMIT", err) : code;
}

/* Is the folder among those of the session? *n: how many there are. */
static bool has_folder(sqlite3 *db, const char *folder, int *n)
{
    sqlite3_stmt *q = NULL;
    bool has = false;
    *n = 0;
    if (sqlite3_prepare_v2(db, PW_FOLDERS_SQL, -1, &q, NULL) == SQLITE_OK)
        while (sqlite3_step(q) == SQLITE_ROW) {
            const char *value = (const char *)sqlite3_column_text(q, 0);
            has = has || (value != NULL && strcmp(value, folder) == 0);
            ++*n;
        }
    sqlite3_finalize(q);
    return has;
}

/* Keep the folders from which relative paths of commands count. */
static enum pw_code keep_folders(struct pw_store *s, struct pw_err *err)
{
    enum pw_code code = PW_OK;
    for (int i = 0; i < s->cfg.n_folders && code == PW_OK; i++) {
        char key[32];
        int n;
        if (has_folder(s->db, s->cfg.folders[i], &n) || n >= PW_SESSION_FOLDERS)
            continue;
        snprintf(key, sizeof key, "folder %d", n + 1);
        code = pw_store_put_meta(s->db, key, s->cfg.folders[i], err);
    }
    s->cfg.folders = NULL;
    s->cfg.n_folders = 0;
    return code;
}

enum pw_code pw_segment_begin(struct pw_store *s, int64_t cleared, struct pw_err *err)
{
    const struct pw_environment *env = &s->cfg.env;
    const char *texts[] = {env->pewter, env->bits, env->device, env->isa};
    struct utsname u;
    char system[PW_LINE];
    sqlite3_stmt *q = NULL;
    if (uname(&u) != 0)
        return pw_fail(err, PW_EIO, "the system doesn't say its name");
    snprintf(system, sizeof system, "%.60s %.60s %.60s on %.60s", u.sysname, u.release, u.machine,
             u.nodename);
    enum pw_code code = pw_sql_int(s->db, "SELECT max(id) FROM segment", 0, &s->seg, err);
    s->seg++;
    if (code == PW_OK)
        code = pw_sql_run(s->db, "BEGIN IMMEDIATE", err);
    if (code == PW_OK)
        code = keep_folders(s, err);
    if (code != PW_OK)
        return code;
    static const char sql[] =
        "INSERT INTO segment(id,after,began_ns,pewter,bits,device,isa,kernel_abi,threads,"
        "system,pid,cleared) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12)";
    int rc = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_int64(q, 1, s->seg);
        sqlite3_bind_int64(q, 2, (int64_t)s->last);
        sqlite3_bind_int64(q, 3, pw_wall_ns());
        for (int i = 0; i < 4; i++)
            sqlite3_bind_text(q, 4 + i, texts[i] != NULL ? texts[i] : "", -1, SQLITE_STATIC);
        sqlite3_bind_int(q, 8, env->kernel_abi);
        sqlite3_bind_int(q, 9, env->threads);
        sqlite3_bind_text(q, 10, system, -1, SQLITE_STATIC);
        sqlite3_bind_int64(q, 11, getpid());
        sqlite3_bind_int64(q, 12, cleared);
        rc = sqlite3_step(q);
    }
    return commit(s, q, rc, err);
}

enum pw_code pw_segment_end(struct pw_store *s, const char *exit, struct pw_err *err)
{
    sqlite3_stmt *q = NULL;
    enum pw_code code = pw_sql_run(s->db, "BEGIN IMMEDIATE", err);
    if (code != PW_OK)
        return code;
    int rc = sqlite3_prepare_v2(s->db, "UPDATE segment SET ended_ns=?1, last=?2, exit=?3 WHERE id=?4", -1, &q,
                                NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_int64(q, 1, pw_wall_ns());
        sqlite3_bind_int64(q, 2, (int64_t)s->last);
        sqlite3_bind_text(q, 3, exit, -1, SQLITE_STATIC);
        sqlite3_bind_int64(q, 4, s->seg);
        rc = sqlite3_step(q);
    }
    return commit(s, q, rc, err);
}

/* Get the chain before the last process's events, and a number not above the first of them. */
static enum pw_code look_before(struct pw_store *s, int64_t *after, uint8_t chain[PW_CHAIN],
                                struct pw_err *err)
{
    sqlite3_stmt *q = NULL;
    memset(chain, 0, PW_CHAIN);
    enum pw_code code =
        pw_sql_int(s->db, "SELECT after FROM segment ORDER BY id DESC LIMIT 1", 0, after, err);
    if (code != PW_OK)
        return code;
    int rc = sqlite3_prepare_v2(s->db, "SELECT chain FROM event WHERE seq<=?1 ORDER BY seq DESC LIMIT 1", -1,
                                &q, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_int64(q, 1, *after);
        rc = sqlite3_step(q);
    }
    if (rc == SQLITE_ROW && sqlite3_column_bytes(q, 0) == PW_CHAIN)
        memcpy(chain, sqlite3_column_blob(q, 0), PW_CHAIN);
    else if (rc != SQLITE_DONE)
        code = pw_fail(err, PW_EUSER, "its record is damaged: it can be replayed, not continued");
    sqlite3_finalize(q);
    return code;
}

/* Verify the chain of the last process's events, because new events continue it. pw_record_check verifies the
 * rest. */
enum pw_code pw_segment_check(struct pw_store *s, struct pw_err *err)
{
    uint8_t chain[PW_CHAIN], stored[PW_CHAIN];
    sqlite3_stmt *q = NULL;
    struct pw_row row;
    int64_t after;
    enum pw_code code = look_before(s, &after, chain, err);
    if (code != PW_OK)
        return code;
    int rc = sqlite3_prepare_v2(s->db, "SELECT " PW_ROW_COLUMNS " FROM event WHERE seq>?1 ORDER BY seq", -1,
                                &q, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_int64(q, 1, after);
    while (rc == SQLITE_OK && code == PW_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        bool whole = pw_row_read(&row, stored, q);
        if (whole) {
            pw_row_chain(chain, chain, &row);
            whole = memcmp(chain, stored, sizeof stored) == 0;
        }
        if (!whole)
            code = pw_fail(err, PW_EUSER,
                           "its record is damaged at event %" PRId64 ": it can be replayed, not continued",
                           (int64_t)sqlite3_column_int64(q, 0));
        rc = SQLITE_OK;
    }
    if (code == PW_OK && rc != SQLITE_DONE)
        code = pw_sql_fail(err, s->db, "its record is damaged: it can be replayed, not continued");
    sqlite3_finalize(q);
    return code;
}
