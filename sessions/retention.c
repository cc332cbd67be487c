/* retention.c - keep a session within its disk budget.
 *
 * Pictures emitted automatically during training (PW_BESIDE) are removed first. Of each kind and arm a
 * picture is kept if its step is at least 1.5 times that of the last one kept. Then checkpoints are removed:
 * first the one whose neighbours are closest as a ratio, so that they stay dense early and sparse later, like
 * learning. Never removed are the first, the last three, a pinned one, and one that a fork started from.
 * Events are never removed, only their payloads, so the chain stays valid. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "sessions/record.h"
#include "sessions/store_int.h"

#define BUDGET_MOST (INT64_C(10) << 30)
#define LAST        3 /* number of last checkpoints that are kept */

/* ---- inventory */

void pw_store_kept_file(struct pw_store *s, const uint8_t sha[PW_SHA256])
{
    s->keeps = pw_grow(s->keeps, (size_t)s->n_keeps + 1, sizeof *s->keeps);
    memcpy(s->keeps[s->n_keeps++], sha, PW_SHA256);
}

void pw_store_kept_add(struct pw_store *s, const struct pw_event *e)
{
    const struct pw_ev_checkpoint *c = &e->u.checkpoint;
    if (e->kind == PW_EV_ARM && e->u.arm.parent != 0 && e->u.arm.restarted) {
        s->forks = pw_grow(s->forks, (size_t)s->n_forks + 1, sizeof *s->forks);
        s->forks[s->n_forks++] = e->seq;
    } else if (e->kind == PW_EV_FILE) {
        pw_store_kept_file(s, e->u.file.sha);
    } else if (e->kind == PW_EV_CHECKPOINT && c->n_files > 0) {
        s->checkpoints = pw_grow(s->checkpoints, (size_t)s->n_checkpoints + 1, sizeof *s->checkpoints);
        struct pw_kept_checkpoint *k = &s->checkpoints[s->n_checkpoints++];
        *k = (struct pw_kept_checkpoint){.seq = e->seq, .n_files = c->n_files};
        k->files = pw_alloc((size_t)c->n_files, sizeof *k->files);
        memcpy(k->files, c->files, (size_t)c->n_files * sizeof *k->files);
    }
}

void pw_store_kept_fini(struct pw_store *s)
{
    for (int i = 0; i < s->n_checkpoints; i++)
        free(s->checkpoints[i].files);
    free(s->checkpoints);
    free(s->forks);
    free(s->keeps);
}

static bool among(uint8_t (*list)[PW_SHA256], int n, const uint8_t sha[PW_SHA256])
{
    for (int i = 0; i < n; i++)
        if (memcmp(list[i], sha, PW_SHA256) == 0)
            return true;
    return false;
}

/* Load the files that are marked as kept, and find the checkpoints whose files are gone. */
static enum pw_code load_files(struct pw_store *s, struct pw_err *err)
{
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_prepare_v2(s->db, "SELECT sha,keep,deleted FROM file", -1, &q, NULL);
    while (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        const uint8_t *sha = sqlite3_column_blob(q, 0);
        rc = SQLITE_OK;
        if (sqlite3_column_bytes(q, 0) != PW_SHA256)
            continue;
        if (sqlite3_column_int(q, 1) != 0)
            pw_store_kept_file(s, sha);
        for (int i = 0; sqlite3_column_int(q, 2) != 0 && i < s->n_checkpoints; i++)
            if (among(s->checkpoints[i].files, s->checkpoints[i].n_files, sha))
                s->checkpoints[i].n_files = 0;
    }
    enum pw_code code = rc == SQLITE_DONE ? PW_OK : pw_sql_fail(err, s->db, PW_SESSION_DB);
    sqlite3_finalize(q);
    s->keeps_on_record = s->n_keeps;
    return code;
}

/* Load the inventory of earlier processes, through the reading interface. */
enum pw_code pw_store_kept_load(struct pw_store *s, struct pw_err *err)
{
    static const enum pw_event_kind kinds[] = {PW_EV_ARM, PW_EV_CHECKPOINT};
    struct pw_record *r;
    enum pw_code code = pw_record_open(&r, s->folder, err);
    for (int k = 0; code == PW_OK && k < 2; k++) {
        struct pw_event *e;
        for (uint64_t seq = UINT64_MAX; seq > 0 && (e = pw_record_last(r, kinds[k], -1, -1, seq)) != NULL;) {
            seq = e->seq - 1;
            pw_store_kept_add(s, e);
            pw_event_free(e);
        }
    }
    for (int i = 0, n = s->n_checkpoints; i < n / 2; i++) { /* they were read last one first */
        struct pw_kept_checkpoint k = s->checkpoints[i];
        s->checkpoints[i] = s->checkpoints[n - 1 - i];
        s->checkpoints[n - 1 - i] = k;
    }
    pw_record_close(r);
    return code == PW_OK ? load_files(s, err) : code;
}

static int64_t size_of(const struct pw_store *s, const char *name)
{
    char path[PW_PATH];
    struct stat st;
    pw_store_path(s, path, name);
    return lstat(path, &st) == 0 ? (int64_t)st.st_size : 0;
}

/* Pages in the log count as pages of the database, so a checkpoint of the log does not change the result. */
enum pw_code pw_store_measure(struct pw_store *s, int64_t *used, struct pw_err *err)
{
    int64_t files, pages = 0, unused = 0;
    enum pw_code code = pw_sql_int(s->db, "SELECT sum(bytes) FROM file WHERE deleted=0", 0, &files, err);
    if (code == PW_OK)
        code = pw_sql_int(s->db, "PRAGMA page_count", 0, &pages, err);
    if (code == PW_OK)
        code = pw_sql_int(s->db, "PRAGMA freelist_count", 0, &unused, err);
    *used = files + (pages - unused) * PW_PAGE;
    pthread_mutex_lock(&s->lock);
    s->bytes = files + pages * PW_PAGE;
    pthread_mutex_unlock(&s->lock);
    return code;
}

/* ---- pictures */

static enum pw_code drop_blob(struct pw_store *s, const uint8_t sha[PW_SHA256], struct pw_err *err)
{
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_prepare_v2(s->db, "UPDATE blob SET packed=NULL, dropped=1 WHERE sha=?1", -1, &q, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_blob(q, 1, sha, PW_SHA256, SQLITE_STATIC);
        rc = sqlite3_step(q);
    }
    enum pw_code code = rc == SQLITE_DONE ? PW_OK : pw_sql_fail(err, s->db, PW_SESSION_DB);
    sqlite3_finalize(q);
    return code;
}

struct picture {
    uint8_t sha[PW_SHA256];
    int64_t bytes;
};

/* List pictures that can be removed, oldest first for each kind and arm. The last one of each is kept. */
static enum pw_code list_pictures(struct pw_store *s, struct picture **list, int *n, struct pw_err *err)
{
    static const char sql[] =
        "SELECT e.kind*100+e.arm, e.step, b.sha, length(b.packed) FROM event e JOIN blob b ON b.sha=e.blob "
        "WHERE e.kind IN (?1,?2,?3) AND e.text='" PW_BESIDE "' AND b.dropped=0 AND b.sha NOT IN (SELECT blob "
        "FROM event WHERE kind IN (?1,?2,?3) AND text IS NULL AND blob IS NOT NULL) "
        "ORDER BY e.kind, e.arm, e.seq";
    static const enum pw_event_kind kinds[] = {PW_EV_ATTENTION, PW_EV_LOOK, PW_EV_TABLE};
    sqlite3_stmt *q = NULL;
    int64_t slot = -1, stayed = 0;
    bool can_go = false;
    int rc = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL);
    for (int i = 0; rc == SQLITE_OK && i < 3; i++)
        rc = sqlite3_bind_int(q, i + 1, kinds[i]);
    *n = 0;
    while (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        int64_t is = sqlite3_column_int64(q, 0), step = sqlite3_column_int64(q, 1);
        if (can_go && is != slot)
            --*n; /* the last of its kind and arm */
        can_go =
            is == slot && step >= stayed && 2 * step < 3 * stayed && sqlite3_column_bytes(q, 2) == PW_SHA256;
        stayed = can_go ? stayed : step;
        slot = is;
        rc = SQLITE_OK;
        if (!can_go)
            continue;
        *list = pw_grow(*list, (size_t)*n + 1, sizeof **list);
        memcpy((*list)[*n].sha, sqlite3_column_blob(q, 2), PW_SHA256);
        (*list)[(*n)++].bytes = sqlite3_column_int64(q, 3);
    }
    if (can_go)
        --*n;
    enum pw_code code = rc == SQLITE_DONE ? PW_OK : pw_sql_fail(err, s->db, PW_SESSION_DB);
    sqlite3_finalize(q);
    return code;
}

/* Remove pictures until `much` bytes are freed, or none is left. */
static enum pw_code thin_pictures(struct pw_store *s, int64_t much, struct pw_err *err)
{
    struct picture *list = NULL;
    int n = 0;
    enum pw_code code = list_pictures(s, &list, &n, err);
    if (code == PW_OK && n > 0)
        code = pw_sql_run(s->db, "BEGIN IMMEDIATE", err);
    for (int i = 0; code == PW_OK && i < n && much > 0; i++) {
        code = drop_blob(s, list[i].sha, err);
        much -= list[i].bytes;
    }
    if (code == PW_OK && n > 0)
        code = pw_sql_run(s->db, "COMMIT", err);
    free(list);
    return code;
}

/* ---- checkpoints */

static bool went_on_from(const struct pw_store *s, int i)
{
    uint64_t from = s->checkpoints[i].seq;
    uint64_t to = i + 1 < s->n_checkpoints ? s->checkpoints[i + 1].seq : UINT64_MAX;
    for (int f = 0; f < s->n_forks; f++)
        if (s->forks[f] > from && s->forks[f] < to)
            return true;
    return false;
}

static bool is_pinned(const struct pw_store *s, int i)
{
    for (int f = 0; f < s->checkpoints[i].n_files; f++)
        if (among(s->keeps, s->n_keeps, s->checkpoints[i].files[f]))
            return true;
    return false;
}

/* Return the checkpoint that is needed least; -1 if none can be removed. The caller holds the mutex, because
 * the lab adds to the list. */
static int least_missed(const struct pw_store *s)
{
    int found = -1, before = -1, after = 0;
    double least = 0.0;
    for (int i = 0; i < s->n_checkpoints - LAST; i++) {
        if (s->checkpoints[i].n_files == 0)
            continue;
        for (after = i + 1; after < s->n_checkpoints && s->checkpoints[after].n_files == 0;)
            after++;
        double ratio = before >= 0 && after < s->n_checkpoints
                           ? (double)s->checkpoints[after].seq / (double)s->checkpoints[before].seq
                           : 0.0;
        if (before >= 0 && (found < 0 || ratio < least) && !went_on_from(s, i) && !is_pinned(s, i)) {
            found = i;
            least = ratio;
        }
        before = i;
    }
    return found;
}

static bool is_shared(const struct pw_store *s, int i, const uint8_t sha[PW_SHA256])
{
    for (int k = 0; k < s->n_checkpoints; k++)
        if (k != i && among(s->checkpoints[k].files, s->checkpoints[k].n_files, sha))
            return true;
    return false;
}

static enum pw_code mark_deleted(struct pw_store *s, const uint8_t sha[PW_SHA256], struct pw_err *err)
{
    sqlite3_stmt *q = NULL;
    int64_t id = 0;
    int rc = sqlite3_prepare_v2(s->db, "UPDATE file SET deleted=1 WHERE sha=?1 RETURNING id", -1, &q, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_blob(q, 1, sha, PW_SHA256, SQLITE_STATIC);
        rc = sqlite3_step(q);
        id = rc == SQLITE_ROW ? sqlite3_column_int64(q, 0) : 0;
        rc = rc == SQLITE_ROW ? sqlite3_step(q) : rc;
    }
    enum pw_code code = rc == SQLITE_DONE ? PW_OK : pw_sql_fail(err, s->db, PW_SESSION_DB);
    sqlite3_finalize(q);
    return code == PW_OK && id != 0 ? pw_guard_write(s->db, "file", id, err) : code;
}

/* Update the row first, then unlink the file. A crash between the two leaves an extra file, which the next
 * process removes. */
static enum pw_code drop_files(struct pw_store *s, uint8_t (*files)[PW_SHA256], int n, int64_t *much,
                               struct pw_err *err)
{
    enum pw_code code = pw_sql_run(s->db, "BEGIN IMMEDIATE", err);
    for (int f = 0; code == PW_OK && f < n; f++)
        code = mark_deleted(s, files[f], err);
    if (code == PW_OK)
        code = pw_sql_run(s->db, "COMMIT", err);
    for (int f = 0; code == PW_OK && f < n; f++) {
        char name[80] = "files/", path[PW_PATH];
        pw_sha256_text(name + 6, files[f]);
        *much -= size_of(s, name);
        pw_store_path(s, path, name);
        unlink(path);
    }
    return code;
}

/* Forget a stored file, so that the lab's next file with the same content is written again. */
static void forget_stored(struct pw_store *s, const uint8_t sha[PW_SHA256])
{
    for (int i = 0; i < s->n_stored; i++)
        if (memcmp(s->stored[i], sha, PW_SHA256) == 0)
            memmove(s->stored[i--], s->stored[--s->n_stored], PW_SHA256);
}

static enum pw_code thin_checkpoints(struct pw_store *s, int64_t much, struct pw_err *err)
{
    enum pw_code code = PW_OK;
    while (code == PW_OK && much > 0) {
        int n = 0;
        uint8_t(*files)[PW_SHA256] = NULL;
        pthread_mutex_lock(&s->lock);
        int i = least_missed(s);
        if (i >= 0) {
            struct pw_kept_checkpoint *k = &s->checkpoints[i];
            files = pw_alloc((size_t)k->n_files, sizeof *files);
            for (int f = 0; f < k->n_files; f++)
                if (!is_shared(s, i, k->files[f])) {
                    memcpy(files[n++], k->files[f], PW_SHA256);
                    forget_stored(s, k->files[f]);
                }
            k->n_files = 0;
        }
        pthread_mutex_unlock(&s->lock);
        if (i < 0)
            return PW_OK;
        code = drop_files(s, files, n, &much, err);
        free(files);
    }
    return code;
}

/* ---- the budget */

static int64_t default_budget(const struct pw_store *s)
{
    struct statvfs fs;
    if (statvfs(s->folder, &fs) != 0)
        return BUDGET_MOST;
    int64_t tenth = (int64_t)((uint64_t)fs.f_bavail * fs.f_frsize / 10);
    return tenth < BUDGET_MOST ? tenth : BUDGET_MOST;
}

/* Reduce to nine tenths of the budget, so that this does not run for every checkpoint. If nothing more can be
 * removed, try again when the session has grown by a tenth. */
enum pw_code pw_store_budget(struct pw_store *s, struct pw_err *err)
{
    int64_t used;
    if (s->cfg.budget <= 0)
        s->cfg.budget = default_budget(s);
    enum pw_code code = pw_store_measure(s, &used, err);
    if (code != PW_OK || used <= s->cfg.budget || used <= s->thinned + s->thinned / 10)
        return code;
    int64_t goal = s->cfg.budget / 10 * 9, before = INT64_MAX;
    while (code == PW_OK && used > goal && used < before) { /* freed bytes of pictures are not freed pages */
        before = used;
        code = thin_pictures(s, used - goal, err);
        if (code == PW_OK)
            code = pw_store_measure(s, &used, err);
    }
    if (code == PW_OK)
        code = thin_checkpoints(s, used - goal, err);
    if (code == PW_OK)
        code = pw_store_measure(s, &used, err);
    s->thinned = used > s->cfg.budget ? used : 0;
    pthread_mutex_lock(&s->lock);
    s->budget_why[0] = '\0';
    if (s->thinned > 0)
        snprintf(s->budget_why, sizeof s->budget_why,
                 "it takes %.1f MB of a budget of %.1f MB, and nothing more can be deleted",
                 (double)used / 1e6, (double)s->cfg.budget / 1e6);
    pthread_mutex_unlock(&s->lock);
    return code;
}
