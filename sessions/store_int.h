/* store_int.h - the store's parts, and which thread may touch what. */
#ifndef PW_STORE_INT_H
#define PW_STORE_INT_H
#include <dirent.h>
#include <pthread.h>
#include <sys/types.h>

#include "base/clock.h"
#include "sessions/codec_int.h"
#include "sessions/schema.h"
#include "sessions/store.h"

#define PW_LOG_PAGES   128                /* of the write-ahead log before it is folded in: 1 MiB */
#define PW_WAITING_MAX ((size_t)16 << 20) /* bytes that wait for the disk before events are lost */
#define PW_PATH        1400               /* bytes of folder/name; the folder's length was checked */

/* Rows that wait; their texts and payloads lie in one buffer. */
struct pw_batch {
    struct pw_str bytes;
    struct pw_waiting {
        struct pw_row row; /* its text and data are set when it is written */
        size_t at;         /* of its text, then its data, in bytes */
    } * rows;
    int n, cap;
    int64_t events; /* in them, those of runs counted one by one */
};
void pw_batch_clear(struct pw_batch *b);
void pw_batch_fini(struct pw_batch *b);

/* What is worth recording: store_worth.c. */
struct pw_worth {
    bool training;
    bool asked; /* since the last step somebody sent a command */
    bool told;  /* a state is on record: */
    enum pw_run_state run;
    int64_t until;
    bool answer;                 /* the answer that is being told is recorded */
    int64_t answer_ns, table_ns; /* when the last of them was recorded */
};
bool pw_worth_recording(struct pw_worth *w, const struct pw_event *e);
/* A picture that training showed by the way: what the budget takes first. */
bool pw_worth_beside(const struct pw_worth *w, const struct pw_event *e);
#define PW_BESIDE "beside training" /* the text of its row */

struct pw_new_file {
    uint8_t sha[PW_SHA256];
    uint8_t *bytes;
    size_t n, done;
    int fd; /* -1: not begun */
    struct pw_new_file *next;
};

/* A row of the table file that is to be written. */
struct pw_file_row {
    uint8_t sha[PW_SHA256];
    int64_t bytes; /* -1: it is there, and to be kept */
};

/* What the budget has to know: retention.c. */
struct pw_kept {
    uint64_t seq;
    int n_files; /* 0: the budget took them */
    uint8_t (*files)[PW_SHA256];
};

struct pw_store {
    struct pw_store_config cfg; /* its texts are copies */
    char *folder;               /* absolute */
    int lock_fd;
    uint64_t opened_at; /* the last event then, */
    uint64_t gone;      /* and how many more had been on disk */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work, done;

    /* ---- the mutex's */
    struct pw_batch queue;
    struct pw_run run; /* of the queue's end; it becomes a row when something else comes or it is long */
    struct pw_row run_row;
    double due;             /* when the queue is to be committed; 0: nothing waits */
    uint64_t queued, saved; /* the last event that was taken; that is on disk */
    int64_t lost;           /* events that did not fit, */
    uint64_t lost_seq;      /* from this one on */
    int64_t lost_ns;
    bool hurry, closing;
    bool paused, stopped;                                      /* stopped: for good */
    char why[PW_LINE], file_why[PW_LINE], budget_why[PW_LINE]; /* "": nothing is wrong */
    struct pw_new_file *files;    /* that wait, the first one perhaps in part on disk */
    uint8_t (*stored)[PW_SHA256]; /* [n_stored] that this process has written, complete */
    int n_stored;
    uint8_t (*keeps)[PW_SHA256]; /* [n_keeps] that the budget must not take; keeps_on_record are, of them */
    int n_keeps, keeps_on_record;
    struct pw_kept *checkpoints; /* [n_checkpoints] that have files */
    int n_checkpoints;
    uint64_t *forks; /* [n_forks] events that made an arm of another */
    int n_forks;
    const char *move_to; /* NULL: nobody asked */
    enum pw_code move_code;
    struct pw_err *move_err;
    int64_t bytes;

    /* ---- the lab's alone */
    struct pw_worth worth;

    /* ---- the thread's alone, once it runs */
    sqlite3 *db; /* NULL: given up, to be opened anew */
    sqlite3_stmt *insert, *blob_known, *blob_put;
    int64_t seg;
    uint8_t chain[PW_CHAIN];
    uint64_t last; /* the last event in the database */
    ino_t db_inode, log_inode;
    int log_pages;
    struct pw_batch writing; /* taken from the queue, not on disk yet */
    struct pw_str packed;
    struct pw_file_row *file_rows; /* [n_file_rows] of files on disk */
    int n_file_rows;
    bool ballast;
    int64_t thinned;                               /* bytes when the budget found nothing more to take */
    double retry_at, files_at, chores_at, idle_at; /* when it is time for that */
};

void pw_store_path(const struct pw_store *s, char dst[PW_PATH], const char *name);
int pw_sync_folder(const char *path); /* 0 or errno */
/* A folder inside; NULL (errno): it isn't there, or a link. */
DIR *pw_folder_inside(const struct pw_store *s, const char *name);

/* store_queue.c; the mutex is held */
void pw_queue_close_run(struct pw_store *s);
void pw_queue_gap(struct pw_store *s);

/* store_db.c: the one connection that writes */
enum pw_code pw_store_connect(struct pw_store *s, struct pw_err *err);
void pw_store_disconnect(struct pw_store *s); /* leaves what is on disk as it is */
enum pw_code pw_store_write(struct pw_store *s,
                            struct pw_err *err); /* writing and file_rows, in one commit */
/* Readers may be in the way, which is no failure. */
enum pw_code pw_store_fold_log(struct pw_store *s, int mode, struct pw_err *err);

/* store_segment.c */
enum pw_code pw_segment_begin(struct pw_store *s, int64_t cleared, struct pw_err *err);
enum pw_code pw_segment_end(struct pw_store *s, const char *exit, struct pw_err *err);
enum pw_code pw_segment_check(struct pw_store *s, struct pw_err *err); /* what the last one recorded */

/* store_open.c: a new folder, or one that is there; cleared: bytes of what a crash left in it */
enum pw_code pw_store_make(struct pw_store *s, struct pw_err *err);
enum pw_code pw_store_take(struct pw_store *s, int64_t *cleared, struct pw_err *err);

/* store_lock.c */
enum pw_code pw_lock_take(int *fd, const char *folder, struct pw_err *err);

/* store_files.c */
enum pw_code pw_store_files_go_on(struct pw_store *s,
                                  struct pw_err *err); /* a slice of the first that waits */
void pw_store_files_again(struct pw_store *s);         /* the one that was begun, from its beginning */
enum pw_code pw_store_files_clear(struct pw_store *s, int64_t *bytes, struct pw_err *err);

/* store_disk.c: when the disk is full or fails */
/* Commits, on a new connection if the old one has failed; false: recording is paused, or stopped. */
bool pw_store_commit(struct pw_store *s);
void pw_store_ballast(struct pw_store *s);    /* makes it, if there is space */
bool pw_store_no_ballast(struct pw_store *s); /* gives it back; false: there was none */

/* store_move.c */
enum pw_code pw_store_do_move(struct pw_store *s, const char *folder, struct pw_err *err);

/* retention.c */
/* What it takes on the disk, and without the pages of the database that are free to be used again. */
enum pw_code pw_store_measure(struct pw_store *s, int64_t *used, struct pw_err *err);
enum pw_code pw_store_budget(struct pw_store *s,
                             struct pw_err *err); /* measures, and thins what is too much */
enum pw_code pw_store_kept_load(struct pw_store *s, struct pw_err *err);
void pw_store_kept_add(struct pw_store *s, const struct pw_event *e);      /* the mutex is held */
void pw_store_kept_file(struct pw_store *s, const uint8_t sha[PW_SHA256]); /* as well */
void pw_store_kept_fini(struct pw_store *s);

#endif
