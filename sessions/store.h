/* store.h - record a session into the folder NAME.pewter; a thread of the store writes it.
 *
 *   session.db    SQLite: one append-only table of events, chained by SHA-256, and their payloads (schema.c)
 *   files/        by content: <sha256>, models (safetensors) and files that commands read; immutable
 *   tmp/          files being written; emptied when the session is opened
 *   lock          locked with flock while a process records; its text names the process
 *   saved         the number of the last event on disk, to detect lost events: saved.h
 *   ballast       reserved space, released when the disk is full, so that committed data stays readable
 *
 * Exactly one connection writes, on the store's thread. No code except SQLite opens session.db: closing a
 * second descriptor would drop SQLite's POSIX locks, and two writers would corrupt the database. The lab
 * hands over bytes and continues. A commit with synchronous=FULL writes them to disk. It runs at once if a
 * caller waits for it, else every 100 ms (every second if there are only metrics).
 *
 * If the disk is full or fails, recording pauses. Committed data stay. Events that are lost meanwhile are
 * counted, and the count is recorded when a retry succeeds and recording resumes by itself. If only a file
 * can't be written (such as a checkpoint without space), events are still recorded.
 *
 * All calls come from one thread (the lab's), except pw_store_status. Functions that return a code fail with
 * PW_EUSER, PW_EIO or PW_ENOMEM. */
#ifndef PW_STORE_H
#define PW_STORE_H
#include "base/err.h"
#include "sessions/event.h"
#include <time.h>

/* The environment of a session; one per process. Texts are borrowed. */
struct pw_environment {
    const char *pewter; /* version and build */
    const char *bits;   /* "portable", or "machine" if a re-run on another machine may give other bits */
    const char *device; /* as in struct pw_ev_lab's backend */
    const char *isa;
    int threads;
    int kernel_abi; /* PW_BITS: bits are reproducible only if this matches */
};

enum { PW_SESSION_FOLDERS = 16 }; /* most folders that a session keeps */

struct pw_store;

/* Arguments of pw_store_open. Texts are copied. */
struct pw_store_config {
    const char *folder; /* NAME.pewter */
    bool create;        /* create a new session (the folder must not exist); false: open an existing one */
    /* Folders from which relative paths of the session's commands count, which it keeps (pw_record_folders);
     * [n_folders] absolute paths, borrowed during the call. */
    const char *const *folders;
    int n_folders;
    struct pw_environment env;
    int64_t budget; /* bytes it may use; 0: the smaller of 10 GiB and a tenth of the free space */
    double retry_s; /* seconds between retries while the disk fails; 0: 1 */
    /* Called on the store's thread after events were committed, a file was stored, or recording paused or
     * resumed. */
    void (*wake)(void *arg);
    void *wake_arg;
};

/* Open a session for recording. *s belongs to the caller. Fails with one line if another process records it
 * ("it is open in pewter 4711 on HOST since 12:01; 'pewter replay NAME' follows it read-only"). Fails too if
 * it is read-only, not a session, or from a newer pewter that this one can only read. */
enum pw_code pw_store_open(struct pw_store **s, const struct pw_store_config *cfg, struct pw_err *err);
/* Commit everything, checkpoint the write-ahead log into the database so that one plain file remains, and
 * release the lock. exit: how the process ended: "quit", "signal 15", ... NULL is a no-op. */
void pw_store_close(struct pw_store *s, const char *exit);
/* Like pw_store_close; fails with PW_EIO if the disk failed to the end, and says from when on events are
 * lost. */
enum pw_code pw_store_end(struct pw_store *s, const char *exit, struct pw_err *err);

/* Return the number of the last event on disk when the session was opened; the next event put must be
 * larger. */
uint64_t pw_store_last(const struct pw_store *s);
/* Return how many later events had been on disk when they were recorded, but are missing because the log was
 * damaged. */
uint64_t pw_store_gone(const struct pw_store *s);

/* Encode e and queue it; never blocks. Its number must be larger than all before. Events about this process
 * (SESSION, most STATE and JOB) are not recorded. Of the answers and tables that are emitted by themselves
 * during training, only some are recorded (store_worth.c). */
void pw_store_put(struct pw_store *s, const struct pw_event *e);
/* Commit as soon as possible instead of with the next group. */
void pw_store_hurry(struct pw_store *s);
/* Is everything up to seq on disk, or is it lost because recording is paused? */
bool pw_store_has(struct pw_store *s, uint64_t seq);

/* Store a file by its content; takes ownership of bytes (malloc). pw_store_has_file is true when it is on
 * disk, complete and named. Only then may an event refer to it. */
void pw_store_file(struct pw_store *s, const uint8_t sha[PW_SHA256], void *bytes, size_t n);
/* The same for a file that the next event refers to: it is on disk before that event, whose commit waits. */
void pw_store_copy(struct pw_store *s, const uint8_t sha[PW_SHA256], void *bytes, size_t n);
bool pw_store_has_file(struct pw_store *s, const uint8_t sha[PW_SHA256]);
/* Exempt a file from the disk budget: it belongs to a checkpoint that the user pinned. Files of FILE events
 * are always kept. */
void pw_store_keep(struct pw_store *s, const uint8_t sha[PW_SHA256]);

/* Move the session to a new folder (`save NAME`). Blocks. On failure it stays where it was. */
enum pw_code pw_store_move(struct pw_store *s, const char *folder, struct pw_err *err);

/* Fill the members how, why, saved, bytes, checkpoints and folder of a SESSION event. Any thread. */
void pw_store_status(struct pw_store *s, struct pw_ev_session *out);

/* ---- where sessions are stored: home.c */

#define PW_SESSION_ENDING ".pewter" /* ending of a session's folder */

struct pw_folder; /* base/folder.h */

/* Get the folder of the user's sessions: $XDG_STATE_HOME/pewter/sessions, else ~/.local/state/... It is
 * created if missing. */
enum pw_code pw_session_home(char *dst, size_t size, struct pw_err *err);
/* Resolve a session name that a user typed. NAME is in the folder of the user's sessions. A name with a '/'
 * or the ending .pewter is a path, and the ending .pwt is a file in the current folder. If the user has no
 * session NAME, a packed one of this name in the current folder is used. A name may have at most 100 bytes,
 * no control characters, and no leading dot or dash. */
enum pw_code pw_session_folder(char *dst, size_t size, const char *name, struct pw_err *err);
/* List the sessions NAME.pewter in a folder, packed or not. Scripts with the same ending are left out. */
enum pw_code pw_session_files(struct pw_folder *f, const char *folder, struct pw_err *err);
/* Fail if the path is such a script or another text file; the message says what to do with it. */
enum pw_code pw_session_no_text(const char *path, struct pw_err *err);
/* Get a folder for an unnamed session, from date, time and process. Missing parent folders are created. */
enum pw_code pw_session_unnamed(char *dst, size_t size, struct pw_err *err);
/* Is the name (without its ending) one that pw_session_unnamed makes? */
bool pw_session_is_unnamed(const char *name);
/* Return the bytes that a session's folder or packed file takes on disk; 0 if it can't be read. */
int64_t pw_session_usage(const char *path);
/* Return the time of the last write to a session's folder; 0 if the folder is no session. */
time_t pw_session_written(const char *folder);
/* Is `name` one that a folder has which an interrupted deletion or unpacking left among the sessions? */
bool pw_session_is_leftover(const char *name);
/* Remove such a folder. Fails with PW_EUSER if a process unpacks into it now, and with PW_EIO if a part is
 * left. */
enum pw_code pw_session_remove_leftover(const char *path, struct pw_err *err);
/* Is a session recorded by any process now? why names the process; NULL: not wanted. */
bool pw_session_in_use(const char *folder, struct pw_err *why);
/* Return the name of the network file system on which a folder is, where recording is refused; NULL: none. */
const char *pw_session_network(const char *folder);
/* Delete a session that was never used; best effort. */
void pw_session_remove(const char *folder);
/* Delete the session in a folder. Fails, and deletes nothing, if it is open in any pewter, packed, a link, or
 * not a session. */
enum pw_code pw_session_delete(const char *folder, struct pw_err *err);
/* Write the shortest name by which `open` finds a folder. */
void pw_session_name(char *dst, size_t size, const char *folder);

#endif
