/* store_int.h - the store's parts and who may touch what: the mutex's, the lab's alone, the thread's alone. */
#ifndef PW_STORE_INT_H
#define PW_STORE_INT_H
#include <pthread.h>
#include <sys/types.h>

#include "sessions/codec.h"
#include "sessions/schema.h"
#include "sessions/store.h"

#define PW_LOG_PAGES    128               /* of the write-ahead log before it is folded in: 1 MiB */
#define PW_WAITING_MAX  ((size_t)16 << 20) /* bytes that wait for the disk before events are lost */
#define PW_RETRY_S      1.0               /* between tries while recording is paused */

/* Rows that wait; their texts and payloads lie in one buffer. */
struct pw_batch {
    struct pw_str bytes;
    struct pw_waiting {
        struct pw_row row; /* its text and data are set when it is written */
        size_t at;         /* of its text, then its data, in bytes */
    } * rows;
    int n, cap;
};
size_t pw_batch_size(const struct pw_batch *b);
void pw_batch_clear(struct pw_batch *b);
void pw_batch_fini(struct pw_batch *b);

/* What is worth recording: store_worth.c. */
struct pw_worth {
    bool training, asked;            /* since the last step somebody sent a command */
    bool state_told, answer;         /* a state is on record; this answer is */
    enum pw_run_state run;
    int64_t until;
    int64_t answer_ns, table_ns;     /* when the last of them was recorded beside training */
};
bool pw_worth_recording(struct pw_worth *w, const struct pw_event *e);

struct pw_new_file {
    uint8_t sha[PW_SHA256];
    uint8_t *bytes;
    size_t n, done;
    int fd; /* -1: not begun */
    struct pw_new_file *next;
};

struct pw_store {
    struct pw_store_config cfg; /* folder and env's texts are copies */
    char *folder;
    int lock_fd;
    uint64_t opened_at; /* the last event then */

    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work, done;

    /* ---- the mutex's */
    struct pw_batch queue;
    struct pw_run run; /* of the queue's end; it becomes a row when something else comes or it is long */
    struct pw_row run_row;
    double due;               /* when the queue is to be committed; 0: nothing waits */
    uint64_t queued, saved;   /* the last event that was taken; that is on disk */
    int64_t waiting, lost;    /* events that are not on disk yet; that did not fit */
    uint64_t lost_seq;        /* the first of those */
    int64_t lost_ns;
    bool hurry, closing;
    bool paused, stopped; /* stopped: for good */
    char why[PW_LINE];    /* "": all is well */
    struct pw_new_file *files; /* that wait, the first one perhaps in part on disk */
    uint8_t (*stored)[PW_SHA256]; /* [n_stored] that this process has written, complete */
    int n_stored, cap_stored;
    const char *move_to; /* NULL: nobody asked */
    bool moved;
    enum pw_code move_code;
    struct pw_err *move_err;
    int64_t bytes;
    int checkpoints;

    /* ---- the lab's alone */
    struct pw_worth worth;

    /* ---- the thread's alone, once it runs */
    sqlite3 *db; /* NULL: lost, to be opened anew */
    sqlite3_stmt *insert, *blob_known, *blob_put;
    int64_t seg;
    uint8_t chain[PW_CHAIN];
    uint64_t last; /* the last event in the database */
    ino_t db_inode, log_inode;
    int log_pages;
    struct pw_batch writing; /* taken from the queue, not on disk yet */
    struct pw_str packed;
    uint8_t (*rows_due)[PW_SHA256]; /* files on disk whose rows are not yet */
    int64_t *rows_due_bytes;
    int n_rows_due;
    bool ballast;
    double retry_at, files_at, chores_at, idle_at; /* when it is time for that */
};

double pw_store_now(void);
/* folder/name into dst; it was checked when it was opened that all names fit. */
#define PW_PATH 1400
void pw_store_path(const struct pw_store *s, char dst[PW_PATH], const char *name);
int pw_sync_folder(const char *path); /* 0 or errno */

/* store_queue.c; the mutex is held */
void pw_queue_close_run(struct pw_store *s);
void pw_queue_gap(struct pw_store *s);

/* store_db.c: the one connection that writes */
enum pw_code pw_store_connect(struct pw_store *s, struct pw_err *err);
/* Lets go without touching what is on disk. */
void pw_store_disconnect(struct pw_store *s);
enum pw_code pw_store_write(struct pw_store *s, struct pw_err *err); /* `writing` and rows_due, in one commit */
enum pw_code pw_store_fold_log(struct pw_store *s, int mode, struct pw_err *err);
enum pw_code pw_segment_begin(struct pw_store *s, int64_t cleared, struct pw_err *err);
enum pw_code pw_segment_end(struct pw_store *s, const char *exit, struct pw_err *err);

/* store_open.c */
enum pw_code pw_store_make(struct pw_store *s, struct pw_err *err);
enum pw_code pw_store_take(struct pw_store *s, int64_t *cleared, struct pw_err *err);

/* store_lock.c */
enum pw_code pw_lock_take(int *fd, const char *folder, struct pw_err *err);

/* store_files.c: one slice of the first waiting file */
enum pw_code pw_store_files_go_on(struct pw_store *s, struct pw_err *err);
void pw_store_files_again(struct pw_store *s); /* the one that was begun, from its beginning */
/* At the beginning: what no row names goes; bytes: so much. */
enum pw_code pw_store_files_clear(struct pw_store *s, int64_t *bytes, struct pw_err *err);

/* store_disk.c: when the disk is full or fails */
/* Commits `writing`, on a new connection if the old one has failed; false: recording is paused, or stopped. */
bool pw_store_commit(struct pw_store *s);
void pw_store_ballast(struct pw_store *s);

/* retention.c: what it takes on disk, and what the budget takes away */
enum pw_code pw_store_measure(struct pw_store *s, struct pw_err *err);

/* store_move.c */
enum pw_code pw_store_do_move(struct pw_store *s, const char *folder, struct pw_err *err);

#endif
