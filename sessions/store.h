/* store.h - a session being recorded: the folder NAME.pewter, which a thread of its own writes.
 *
 *   session.db    SQLite: one append-only table of events, chained by SHA-256, and what they carry (schema.c)
 *   files/        by content: <sha256>, models (safetensors) and files that commands read; immutable
 *   tmp/          what is being written; emptied by who opens the session
 *   lock          held by flock while somebody records, with a text that says who
 *   saved         the last event that is on disk, for who finds less there: saved.h
 *   ballast       space that is given back when the disk is full, so that what is committed stays readable
 *
 * Exactly one connection ever writes, on the store's thread; nobody but SQLite opens session.db (a stray open
 * and close of it drops SQLite's locks, as POSIX has them, and two writers would ruin it). The trainer and
 * the screen hand over bytes and go on; a commit with synchronous=FULL takes them to the disk, at once for
 * what somebody waits for, else every 100 ms (metrics alone: every second).
 *
 * When the disk is full or fails, recording pauses: what is committed stays, what happens meanwhile is
 * counted and its number is put on record when recording goes on, by itself, once a try succeeds. While it is
 * only a file that can't be written, as where a checkpoint has no room, events go on record all the same.
 *
 * All calls from one thread (the lab's), but for pw_store_status. */
#ifndef PW_STORE_H
#define PW_STORE_H
#include "base/err.h"
#include "sessions/event.h"

/* Where a session runs: one a process. Texts are borrowed. */
struct pw_environment {
    const char *pewter; /* the version, and how it was built */
    const char *bits;   /* "portable", or "machine" where re-execution elsewhere needn't give the same bits */
    const char *device; /* as struct pw_ev_lab's backend */
    const char *isa;
    int threads;
    int kernel_abi; /* bits are the same only where this is */
};

struct pw_store;

struct pw_store_config {
    const char *folder; /* NAME.pewter */
    bool create;        /* it must not be there yet; else it must be a session */
    struct pw_environment env;
    int64_t budget;          /* bytes it may take; 0: the smaller of 10 GiB and a tenth of what is free */
    double retry_s;          /* between tries while the disk fails; 0: 1 */
    void (*wake)(void *arg); /* from the store's thread: something was committed, stored, paused or goes on */
    void *wake_arg;
};

/* Fails with one line where the folder is somebody else's ("it is open in pewter 4711 on HOST since 12:01;
 * 'pewter replay NAME' follows it read-only"), read-only, no session, or a newer one that this pewter can
 * only read. */
enum pw_code pw_store_open(struct pw_store **s, const struct pw_store_config *cfg, struct pw_err *err);
/* Commits what is there, folds the log into the database, so that one plain file remains, and lets go. exit:
 * how the process ended: "quit", "signal 15", ... NULL is a no-op. */
void pw_store_close(struct pw_store *s, const char *exit);
/* The same; PW_EIO: the disk has failed to the end, and from when on nothing is on it. */
enum pw_code pw_store_end(struct pw_store *s, const char *exit, struct pw_err *err);

/* The number of the last event on disk when it was opened, for tests: the next one put must be larger. */
uint64_t pw_store_last(const struct pw_store *s);
/* How many events after that one had been on disk when it was recorded: its log was damaged. */
uint64_t pw_store_gone(const struct pw_store *s);

/* Takes a copy of e as bytes; never blocks. The event must be of a larger number than those before. Events
 * that are about this process (SESSION, most STATE and JOB) are not recorded. */
void pw_store_put(struct pw_store *s, const struct pw_event *e);
/* Commits as soon as possible instead of with the next group. */
void pw_store_hurry(struct pw_store *s);
/* Is everything up to seq on disk, or will it never be because recording is paused? */
bool pw_store_has(struct pw_store *s, uint64_t seq);

/* A file by its content; bytes are taken (malloc). It is on disk, complete and under its name, when
 * pw_store_has_file; only then an event may name it. */
void pw_store_file(struct pw_store *s, const uint8_t sha[PW_SHA256], void *bytes, size_t n);
bool pw_store_has_file(struct pw_store *s, const uint8_t sha[PW_SHA256]);
/* The budget never takes it: a checkpoint that somebody pinned. Files that a FILE event names are kept
 * anyway. */
void pw_store_keep(struct pw_store *s, const uint8_t sha[PW_SHA256]);

/* Moves the session to another folder (`save NAME`), which must not be there. Waits. On failure it is where
 * it was. */
enum pw_code pw_store_move(struct pw_store *s, const char *folder, struct pw_err *err);

/* As struct pw_ev_session tells it: how, why, saved, bytes, checkpoints, folder. Any thread. */
void pw_store_status(struct pw_store *s, struct pw_ev_session *out);

/* ---- where sessions are kept: home.c */

#define PW_SESSION_ENDING ".pewter" /* of a session's folder */

struct pw_folder; /* base/folder.h */

/* The folder that a user's sessions lie in: $XDG_STATE_HOME/pewter/sessions, else ~/.local/state/...; it is
 * made. */
enum pw_code pw_session_home(char *dst, size_t size, struct pw_err *err);
/* The folder of a session by the name that was typed: NAME lies in the user's sessions, a name with a '/' or
 * the ending .pewter is a path, and so is one with the ending .pwt of a file in the current folder. Where the
 * user has no session NAME, a packed one of this name in the current folder is meant. A name may have no
 * control characters, no leading dot or dash, at most 100 bytes. */
enum pw_code pw_session_folder(char *dst, size_t size, const char *name, struct pw_err *err);
/* The sessions NAME.pewter in a folder, packed or not. Scripts have the same ending, and are none. */
enum pw_code pw_session_files(struct pw_folder *f, const char *folder, struct pw_err *err);
/* Fails where a path is such a script, or another text, with what to do with it. */
enum pw_code pw_session_no_text(const char *path, struct pw_err *err);
/* A folder for a session without a name: by date, time and process. The folders above it are made. */
enum pw_code pw_session_unnamed(char *dst, size_t size, struct pw_err *err);
/* Deletes a session that nobody has used; best effort. */
void pw_session_remove(const char *folder);
/* Deletes the session in a folder. Fails with one line, and leaves it whole, where it is open in any pewter,
 * packed, a link, or no session. */
enum pw_code pw_session_delete(const char *folder, struct pw_err *err);
/* What `open` would take for a folder: the shortest. */
void pw_session_name(char *dst, size_t size, const char *folder);

#endif
