/* store.c - the store's thread, and the lab's interface to it.
 *
 * The thread sleeps until work is due. Work is a commit of rows (at once, or with the next group), a slice of
 * a file, a move, or a checkpoint of the log when idle. A commit has priority over the rest. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/slice.h"
#include "sessions/saved.h"
#include "sessions/store_int.h"

#define IDLE_S   2.0  /* seconds without a commit before the log is checkpointed */
#define CHORES_S 10.0 /* seconds between checks of the budget */

void pw_store_path(const struct pw_store *s, char dst[PW_PATH], const char *name)
{
    snprintf(dst, PW_PATH, "%s%s%s", s->folder, name[0] != '\0' ? "/" : "", name);
}

/* ---- the thread */

/* Take the queue for writing, if everything before it is on disk. */
static void take_queue(struct pw_store *s)
{
    if (s->writing.n > 0)
        return;
    pw_queue_close_run(s);
    pw_queue_gap(s);
    struct pw_row_batch empty = s->writing;
    s->writing = s->queue;
    s->queue = empty;
    s->due = 0.0;
}

/* Append rows for kept files after those of stored files, because a kept file may be one of these. */
static void take_keeps(struct pw_store *s)
{
    int n = s->n_keeps - s->keeps_on_record;
    s->file_rows = pw_grow(s->file_rows, (size_t)(s->n_file_rows + n), sizeof *s->file_rows);
    for (int i = 0; i < n; i++) {
        struct pw_file_row *row = &s->file_rows[s->n_file_rows++];
        row->bytes = -1;
        memcpy(row->sha, s->keeps[s->keeps_on_record++], PW_SHA256);
    }
}

static void is_saved(struct pw_store *s, uint64_t seq)
{
    int64_t used;
    pw_store_measure(s, &used, NULL);
    pw_saved_write(s->folder, s->last, s->gone > 0);
    pthread_mutex_lock(&s->lock);
    s->saved = seq;
    pthread_mutex_unlock(&s->lock);
    s->idle_at = pw_now() + IDLE_S;
}

/* Commit everything that waits, including what arrives meanwhile. The mutex is not held. */
static bool commit_all(struct pw_store *s)
{
    pthread_mutex_lock(&s->lock);
    uint64_t seq = s->queued;
    bool behind = s->writing.n > 0; /* rows of a failed commit: write the queue after them */
    take_queue(s);
    take_keeps(s);
    s->hurry = false;
    pthread_mutex_unlock(&s->lock);
    if (!pw_store_commit(s))
        return false;
    if (behind)
        return commit_all(s);
    is_saved(s, seq);
    return true;
}

/* The rows of new files go into one commit, because the files of a checkpoint belong together. */
static bool new_files_are_there(const struct pw_store *s)
{
    return s->n_file_rows > 0 && s->files == NULL;
}

/* Return the time of the next work if nothing arrives. */
static double next_time(const struct pw_store *s)
{
    double t = s->chores_at;
    if (s->paused)
        return s->stopped ? t : fmin(t, s->hurry ? 0.0 : s->retry_at);
    if (s->due > 0.0)
        t = fmin(t, s->hurry ? 0.0 : s->due);
    if (new_files_are_there(s))
        t = 0.0;
    if (s->files != NULL)
        t = fmin(t, s->files_at);
    if (s->log_pages > 0)
        t = fmin(t, s->idle_at);
    return t;
}

static void sleep_until(struct pw_store *s, double t)
{
    struct timespec at = {.tv_sec = (time_t)t, .tv_nsec = (long)((t - floor(t)) * 1e9)};
    pthread_cond_timedwait(&s->work, &s->lock, &at);
}

static void report_failure(struct pw_store *s, char why[PW_LINE], const char *text)
{
    pthread_mutex_lock(&s->lock);
    snprintf(why, PW_LINE, "%.255s", text);
    pthread_mutex_unlock(&s->lock);
}

static void go_on_with_file(struct pw_store *s)
{
    struct pw_err err;
    if (pw_store_files_go_on(s, &err) == PW_OK) {
        s->files_at = 0.0;
        return;
    }
    s->files_at = pw_now() + s->cfg.retry_s;
    report_failure(s, s->file_why, err.msg);
}

static void fold_log(struct pw_store *s)
{
    struct pw_err err;
    s->idle_at = pw_now() + IDLE_S;
    if (s->db != NULL && pw_store_fold_log(s, SQLITE_CHECKPOINT_TRUNCATE, &err) != PW_OK)
        pw_store_disconnect(s); /* the next commit reports the error */
}

static void do_chores(struct pw_store *s)
{
    struct pw_err err;
    s->chores_at = pw_now() + CHORES_S;
    pw_store_ballast(s);
    if (s->db != NULL && !s->paused && pw_store_budget(s, &err) != PW_OK)
        pw_store_disconnect(s);
}

static void move(struct pw_store *s)
{
    struct pw_err err;
    char name[PW_LINE];
    enum pw_code code =
        commit_all(s) ? pw_store_do_move(s, s->move_to, &err) : pw_fail(&err, PW_EIO, "%s", s->why);
    pw_session_name(name, sizeof name, s->move_to);
    if (code != PW_OK)
        pw_fail(s->move_err, code, "%s: %s", name, err.msg);
    pthread_mutex_lock(&s->lock);
    s->move_code = code;
    s->move_to = NULL;
    pthread_mutex_unlock(&s->lock);
    pthread_cond_signal(&s->done);
}

/* Do one piece of work; short ones that others wait for come first. */
static void do_next(struct pw_store *s, double now)
{
    bool rows = s->due > 0.0 && (s->hurry || now >= s->due);
    bool file = s->files != NULL && now >= s->files_at, files = new_files_are_there(s);
    bool move_asked = s->move_to != NULL;
    int64_t bytes = s->bytes; /* only this thread writes it */
    bool retry = s->paused && (s->hurry || now >= s->retry_at) && !s->stopped;
    bool commits = s->paused ? retry : rows || files; /* with events that arrive until it begins */
    pthread_mutex_unlock(&s->lock);
    if (commits)
        commit_all(s);
    else if (move_asked)
        move(s);
    else if (file && !s->paused)
        go_on_with_file(s);
    else if (now >= s->chores_at)
        do_chores(s);
    else if (s->log_pages > 0 && now >= s->idle_at)
        fold_log(s);
    bool news = s->paused || commits || move_asked || file || s->bytes != bytes;
    if (news && s->cfg.wake != NULL)
        s->cfg.wake(s->cfg.wake_arg);
    pthread_mutex_lock(&s->lock);
}

static bool left_to_do(const struct pw_store *s)
{
    return s->files != NULL && !s->paused;
}

/* Write everything that waits, as far as the disk allows, and leave the folder with one plain database file.
 * If a reader blocks the last part, an empty log remains until the next process closes the session. */
static void finish(struct pw_store *s, const char *exit)
{
    struct pw_err err;
    bool written = commit_all(s);
    enum pw_code code = PW_OK;
    while (written && code == PW_OK && left_to_do(s))
        code = pw_store_files_go_on(s, &err);
    if (code != PW_OK)
        report_failure(s, s->file_why, err.msg);
    pw_store_files_again(s);
    if (!written || (s->n_file_rows > 0 && !commit_all(s)))
        return;
    if (pw_segment_end(s, exit, &err) != PW_OK ||
        pw_store_fold_log(s, SQLITE_CHECKPOINT_TRUNCATE, &err) != PW_OK)
        return;
    sqlite3_busy_timeout(s->db, 100);
    pw_sql_run(s->db, "PRAGMA journal_mode=DELETE", NULL);
    pw_saved_remove(s->folder);
    pw_store_no_ballast(s);
}

static void *run(void *arg)
{
    struct pw_store *s = arg;
    pw_slice_short();
    pthread_mutex_lock(&s->lock);
    while (!s->closing || s->move_to != NULL) {
        double now = pw_now(), next = s->move_to != NULL ? 0.0 : next_time(s);
        if (next > now)
            sleep_until(s, next);
        else
            do_next(s, now);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* ---- interface */

void pw_store_hurry(struct pw_store *s)
{
    pthread_mutex_lock(&s->lock);
    s->hurry = s->due > 0.0 || s->paused;
    pthread_mutex_unlock(&s->lock);
    pthread_cond_signal(&s->work);
}

bool pw_store_has(struct pw_store *s, uint64_t seq)
{
    pthread_mutex_lock(&s->lock);
    bool has = s->paused || s->saved >= (seq < s->queued ? seq : s->queued);
    pthread_mutex_unlock(&s->lock);
    return has;
}

uint64_t pw_store_last(const struct pw_store *s)
{
    return s->opened_at;
}

uint64_t pw_store_gone(const struct pw_store *s)
{
    return s->gone;
}

void pw_store_status(struct pw_store *s, struct pw_ev_session *out)
{
    *out = (struct pw_ev_session){.how = PW_REC_ON};
    pthread_mutex_lock(&s->lock);
    snprintf(out->folder, sizeof out->folder, "%s", s->folder);
    if (s->paused || s->file_why[0] != '\0') /* a session can't resume without its checkpoint */
        out->how = PW_REC_PAUSED;
    if (s->paused && s->lost > 0)
        snprintf(out->why, sizeof out->why, "%.180s; %" PRId64 " events are lost", s->why, s->lost);
    else
        snprintf(out->why, sizeof out->why, "%s",
                 s->paused                ? s->why
                 : s->file_why[0] != '\0' ? s->file_why
                                          : s->budget_why);
    out->saved = s->saved;
    out->bytes = s->bytes;
    for (int i = 0; i < s->n_checkpoints; i++)
        out->checkpoints += s->checkpoints[i].n_files > 0;
    pthread_mutex_unlock(&s->lock);
    pw_session_name(out->name, sizeof out->name, out->folder);
}

enum pw_code pw_store_move(struct pw_store *s, const char *folder, struct pw_err *err)
{
    pthread_mutex_lock(&s->lock);
    s->move_to = folder;
    s->move_err = err;
    pthread_cond_signal(&s->work);
    while (s->move_to != NULL)
        pthread_cond_wait(&s->done, &s->lock);
    pthread_mutex_unlock(&s->lock);
    return s->move_code;
}

static char *copy_of(const char *text)
{
    return pw_text_dup(text != NULL ? text : "");
}

static struct pw_store *new_store(const struct pw_store_config *cfg)
{
    struct pw_store *s = pw_alloc(1, sizeof *s);
    /* For an answer that was being decoded when the session ended: its prompt is recorded. */
    s->worth.answer = true;
    pthread_condattr_t clock;
    s->cfg = *cfg;
    s->cfg.retry_s = cfg->retry_s > 0.0 ? cfg->retry_s : 1.0;
    s->folder = copy_of(cfg->folder);
    s->cfg.env.pewter = copy_of(cfg->env.pewter);
    s->cfg.env.bits = copy_of(cfg->env.bits);
    s->cfg.env.device = copy_of(cfg->env.device);
    s->cfg.env.isa = copy_of(cfg->env.isa);
    s->lock_fd = -1;
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&s->work, &clock);
    pthread_cond_init(&s->done, &clock);
    pthread_condattr_destroy(&clock);
    return s;
}

static void free_files(struct pw_new_file *f)
{
    while (f != NULL) {
        struct pw_new_file *next = f->next;
        if (f->fd >= 0)
            close(f->fd);
        free(f->bytes);
        free(f);
        f = next;
    }
}

static void free_store(struct pw_store *s)
{
    pw_store_disconnect(s);
    if (s->lock_fd >= 0)
        close(s->lock_fd);
    free_files(s->files);
    free_files(s->copies);
    pw_row_batch_fini(&s->queue);
    pw_row_batch_fini(&s->writing);
    pw_run_fini(&s->run);
    pw_str_fini(&s->packed);
    free(s->stored);
    free(s->file_rows);
    pw_store_kept_fini(s);
    free((char *)s->cfg.env.pewter);
    free((char *)s->cfg.env.bits);
    free((char *)s->cfg.env.device);
    free((char *)s->cfg.env.isa);
    pthread_cond_destroy(&s->work);
    pthread_cond_destroy(&s->done);
    pthread_mutex_destroy(&s->lock);
    free(s->folder);
    free(s);
}

enum pw_code pw_store_open(struct pw_store **out, const struct pw_store_config *cfg, struct pw_err *err)
{
    struct pw_store *s = new_store(cfg);
    struct pw_err why;
    char name[PW_LINE], folder[PW_PATH];
    int64_t cleared = 0;
    enum pw_code code;
    *out = NULL;
    if (strlen(s->folder) + 100 > PW_LINE * 4)
        code = pw_fail(&why, PW_EUSER, "its path has more than %d bytes", PW_LINE * 4 - 100);
    else
        code = cfg->create ? pw_store_make(s, &why) : pw_store_take(s, &cleared, &why);
    bool made = cfg->create && code == PW_OK;
    if (code == PW_OK)
        code = pw_segment_begin(s, cleared, &why);
    if (code == PW_OK && !cfg->create)
        code = pw_store_kept_load(s, &why);
    if (code == PW_OK)
        code = pw_store_budget(s, &why);
    if (code == PW_OK) {
        s->opened_at = s->queued = s->saved = s->last;
        pw_store_ballast(s);
        if (pthread_create(&s->thread, NULL, run, s) != 0)
            code = pw_fail(&why, PW_ENOMEM, "no thread for the session");
    }
    if (code == PW_OK) {
        *out = s;
        return PW_OK;
    }
    pw_session_name(name, sizeof name, s->folder);
    pw_store_path(s, folder, "");
    free_store(s);
    if (made)
        pw_session_remove(folder);
    return pw_fail(err, code, "%s: %s", name, why.msg);
}

/* Report rows and files that will never be on disk. */
static enum pw_code look_for_lost(const struct pw_store *s, struct pw_err *err)
{
    char name[PW_LINE], when[32] = "";
    struct tm tm;
    if (s->writing.n == 0 && s->files == NULL && s->copies == NULL)
        return PW_OK;
    pw_session_name(name, sizeof name, s->folder);
    if (s->writing.n == 0)
        return pw_fail(err, PW_EIO, "%.100s: not all of it is on disk: %.200s", name,
                       s->file_why[0] != '\0' ? s->file_why : s->why);
    time_t t = (time_t)(s->writing.rows[0].row.t_ns / 1000000000);
    if (localtime_r(&t, &tm) != NULL)
        strftime(when, sizeof when, "%H:%M:%S", &tm);
    return pw_fail(err, PW_EIO, "%.100s: nothing is recorded from %s on (%lld events): %.200s", name, when,
                   (long long)(s->writing.events + s->queue.events + s->lost), s->why);
}

enum pw_code pw_store_end(struct pw_store *s, const char *exit, struct pw_err *err)
{
    char folder[PW_PATH];
    if (s == NULL)
        return PW_OK;
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    pthread_mutex_unlock(&s->lock);
    pthread_cond_signal(&s->work);
    pthread_join(s->thread, NULL);
    finish(s, exit);
    enum pw_code code = look_for_lost(s, err);
    pw_store_disconnect(s);
    pw_store_path(s, folder, "");
    pw_sync_folder(folder);
    free_store(s);
    return code;
}

void pw_store_close(struct pw_store *s, const char *exit)
{
    pw_store_end(s, exit, NULL);
}
