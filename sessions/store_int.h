/* store_int.h - internals of the store, and which thread may use each part. */
#ifndef PW_STORE_INT_H
#define PW_STORE_INT_H
#include <dirent.h>
#include <pthread.h>
#include <sys/types.h>

#include "base/clock.h"
#include "sessions/codec_int.h"
#include "sessions/schema.h"
#include "sessions/store.h"

#define PW_LOG_PAGES   128                /* pages of the write-ahead log before a checkpoint: 1 MiB */
#define PW_WAITING_MAX ((size_t)16 << 20) /* bytes that may wait for the disk before events are lost */
#define PW_PATH        1400               /* bytes of folder/name; the folder's length was checked */

/* Rows that wait to be written; their texts and payloads are in one buffer. */
struct pw_row_batch {
    struct pw_str bytes;
    struct pw_waiting {
        struct pw_row row; /* its text and data pointers are set when it is written */
        size_t at;         /* offset in bytes of its text, followed by its data */
    } * rows;
    int n, cap;
    int64_t events; /* number of events in the rows; those of runs are counted singly */
};
/* Empty a batch and keep its memory; or free it. */
void pw_row_batch_clear(struct pw_row_batch *b);
void pw_row_batch_fini(struct pw_row_batch *b);

/* State of the filter that decides which events are recorded: store_worth.c. */
struct pw_worth {
    bool training;
    bool asked; /* a command was sent since the last step */
    bool told;  /* a STATE event was recorded; run and until are its values */
    enum pw_run_state run;
    int64_t until;
    bool answer;                 /* the current answer is recorded */
    int64_t answer_ns, table_ns; /* time of the last recorded answer; of the last recorded table */
};
/* Should e be recorded? Call it for every event in order. */
bool pw_worth_recording(struct pw_worth *w, const struct pw_event *e);
/* Is e a picture that was emitted automatically during training? The disk budget removes these first. */
bool pw_worth_beside(const struct pw_worth *w, const struct pw_event *e);
#define PW_BESIDE "beside training" /* text of the row of such an event */

/* A file that waits to be written, in slices. */
struct pw_new_file {
    uint8_t sha[PW_SHA256];
    uint8_t *bytes;
    size_t n, done;
    int fd; /* -1: not created yet */
    struct pw_new_file *next;
};

/* A pending row of the table `file`. */
struct pw_file_row {
    uint8_t sha[PW_SHA256];
    int64_t bytes; /* -1: the row exists and must be marked as kept */
};

/* A checkpoint, for the disk budget: retention.c. */
struct pw_kept_checkpoint {
    uint64_t seq;
    int n_files; /* 0: the budget removed them */
    uint8_t (*files)[PW_SHA256];
};

/* The store. A comment before each group of members says which thread may use it. */
struct pw_store {
    struct pw_store_config cfg; /* its texts are copies */
    char *folder;               /* absolute path */
    int lock_fd;
    uint64_t opened_at; /* the last event at that time */
    uint64_t gone;      /* later events that had been on disk but are missing */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work, done;

    /* ---- protected by the mutex */
    struct pw_row_batch queue;
    /* The run at the end of the queue; it becomes a row when another event comes, or when it is long
     * enough. */
    struct pw_run run;
    struct pw_row run_row;
    double due;             /* when to commit the queue; 0: nothing waits */
    uint64_t queued, saved; /* the last event queued; the last event on disk */
    int64_t lost;           /* number of events that did not fit */
    uint64_t lost_seq;      /* the first of them */
    int64_t lost_ns;
    bool hurry, closing;
    bool paused, stopped;                                      /* stopped: permanently */
    char why[PW_LINE], file_why[PW_LINE], budget_why[PW_LINE]; /* "": no problem */
    struct pw_new_file *files;    /* waiting to be written; the first may be partly written */
    struct pw_new_file *copies;   /* the same, which the next commit writes first */
    uint8_t (*stored)[PW_SHA256]; /* [n_stored] complete files that this process has written */
    int n_stored;
    /* [n_keeps] files that the budget must not remove; the first keeps_on_record are marked in the
     * database. */
    uint8_t (*keeps)[PW_SHA256];
    int n_keeps, keeps_on_record;
    struct pw_kept_checkpoint *checkpoints; /* [n_checkpoints] that have files */
    int n_checkpoints;
    uint64_t *forks; /* [n_forks] events that forked an arm from another */
    int n_forks;
    const char *move_to; /* requested folder of a move; NULL: none */
    enum pw_code move_code;
    struct pw_err *move_err;
    int64_t bytes;

    /* ---- lab thread only */
    struct pw_worth worth;

    /* ---- store's thread only, once it runs */
    sqlite3 *db; /* NULL: closed after a failure; it is reopened */
    sqlite3_stmt *insert, *blob_known, *blob_put;
    int64_t seg;
    uint8_t chain[PW_CHAIN];
    uint64_t last; /* the last event in the database */
    ino_t db_inode, log_inode;
    int log_pages;
    struct pw_row_batch writing; /* taken from the queue, not on disk yet */
    struct pw_str packed;
    struct pw_file_row *file_rows; /* [n_file_rows] of files on disk */
    int n_file_rows;
    bool ballast;
    /* Bytes at the time when the budget could remove nothing more. */
    int64_t thinned;
    /* Times of the next retry, file slice, chores and idle work. */
    double retry_at, files_at, chores_at, idle_at;
};

/* Write the path of `name` in the session's folder; "" gives the folder. */
void pw_store_path(const struct pw_store *s, char dst[PW_PATH], const char *name);
int pw_sync_folder(const char *path); /* 0 or errno */
/* Open a subfolder; NULL (errno) if it is missing or a link. */
DIR *pw_folder_inside(const struct pw_store *s, const char *name);

/* ---- store_queue.c; the caller holds the mutex */
/* Turn the open run into a row; or lost events into a row of kind GAP. Without any, nothing happens. */
void pw_queue_close_run(struct pw_store *s);
void pw_queue_gap(struct pw_store *s);

/* ---- store_db.c: the one connection that writes */
enum pw_code pw_store_connect(struct pw_store *s, struct pw_err *err);
void pw_store_disconnect(struct pw_store *s); /* leaves the data on disk unchanged */
/* Write `writing` and file_rows in one commit. */
enum pw_code pw_store_write(struct pw_store *s, struct pw_err *err);
/* Checkpoint the write-ahead log. Readers may block it; that is not a failure. */
enum pw_code pw_store_fold_log(struct pw_store *s, int mode, struct pw_err *err);

/* ---- store_segment.c */
/* Write the row of this process, with its environment; or its end, with how the process ended. */
enum pw_code pw_segment_begin(struct pw_store *s, int64_t cleared, struct pw_err *err);
enum pw_code pw_segment_end(struct pw_store *s, const char *exit, struct pw_err *err);
/* Verify the chain of the events that the last segment recorded. */
enum pw_code pw_segment_check(struct pw_store *s, struct pw_err *err);

/* ---- the table meta */
/* Its rows with the folders from which relative paths of commands count (store_segment.c). */
#define PW_FOLDERS_SQL "SELECT value FROM meta WHERE key LIKE 'folder %' ORDER BY id"
/* store_open.c: add a row. */
enum pw_code pw_store_put_meta(sqlite3 *db, const char *key, const char *value, struct pw_err *err);

/* ---- store_open.c: create a new folder, or open an existing one. cleared: bytes that a crash had left and
 * that were removed */
enum pw_code pw_store_make(struct pw_store *s, struct pw_err *err);
enum pw_code pw_store_take(struct pw_store *s, int64_t *cleared, struct pw_err *err);

/* ---- store_lock.c */
/* Lock a session's folder for recording. *fd holds the lock until it is closed. */
enum pw_code pw_lock_take(int *fd, const char *folder, struct pw_err *err);

/* ---- leftover.c */
/* Endings of folders beside a session's, while it is deleted or unpacked (leftover.c). */
#define PW_SESSION_DELETED ".deleted"
#define PW_SESSION_ASIDE   ".tmp-XXXXXX" /* for mkdtemp */
/* Write the folder that a path is in, which ends in '/'; "." if the path has none. */
void pw_session_parent(char parent[PW_PATH], const char *path);
/* Lock a folder against pw_session_remove_leftover; -1: another process holds the lock, or it is gone. The
 * caller closes the descriptor, which unlocks. */
int pw_session_lock_folder(const char *path);
/* Remove temporary folders that a killed process left when it unpacked into `path`. */
void pw_session_remove_unpacked(const char *path);

/* ---- store_files.c */
enum pw_code pw_store_files_go_on(struct pw_store *s,
                                  struct pw_err *err); /* writes a slice of the first waiting file */
void pw_store_files_again(struct pw_store *s);         /* restarts the file that was begun */
enum pw_code pw_store_copies(struct pw_store *s, struct pw_err *err); /* writes all waiting copies */
/* Remove files that a crash left; *bytes is their size. */
enum pw_code pw_store_files_clear(struct pw_store *s, int64_t *bytes, struct pw_err *err);

/* ---- store_disk.c: full or failing disks */
/* Commit, on a new connection if the old one failed; false: recording is paused or stopped. */
bool pw_store_commit(struct pw_store *s);
void pw_store_ballast(struct pw_store *s);    /* creates it if there is space */
bool pw_store_no_ballast(struct pw_store *s); /* releases it; false: there was none */

/* ---- store_move.c */
/* Move the session to `folder`, on the store's thread. */
enum pw_code pw_store_do_move(struct pw_store *s, const char *folder, struct pw_err *err);

/* ---- retention.c: the disk budget */
/* Measure the bytes on disk, without the database's free pages; sets s->bytes to the size with them. */
enum pw_code pw_store_measure(struct pw_store *s, int64_t *used, struct pw_err *err);
enum pw_code pw_store_budget(struct pw_store *s,
                             struct pw_err *err); /* measures, and removes what exceeds the budget */
/* The inventory of checkpoints, forks and kept files: load it from the database; add from a new event; add a
 * kept file; free it. */
enum pw_code pw_store_kept_load(struct pw_store *s, struct pw_err *err);
void pw_store_kept_add(struct pw_store *s, const struct pw_event *e);      /* the caller holds the mutex */
void pw_store_kept_file(struct pw_store *s, const uint8_t sha[PW_SHA256]); /* the caller holds the mutex */
void pw_store_kept_fini(struct pw_store *s);

#endif
