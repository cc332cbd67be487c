/* session.h - record the lab's events in a session, and resume a session. Lab thread only; the store's thread
 * reads only `waits`.
 *
 * Recording does not change what the lab computes. Events go to the store as well as to the reader, and a
 * line runs only when its text is on disk. session.c records, checkpoint.c saves the states from which a
 * session can resume, and resume.c resumes. */
#ifndef PW_SESSION_H
#define PW_SESSION_H
#include "lab/core/lab_int.h"
#include "sessions/record.h"

/* ---- begin.c */
/* Start to record as the lab's configuration says; called in pw_lab_create. */
enum pw_code pw_session_begin(struct pw_lab *lab, struct pw_err *err);

/* ---- session.c */
/* Close the session. A session that this process created and never used is removed. Fails like
 * pw_store_end. */
enum pw_code pw_session_end(struct pw_lab *lab, const char *exit, struct pw_err *err);
/* Stop recording for good. why: the reason, for the user. */
void pw_session_stop(struct pw_lab *lab, const char *why);
/* Take ownership of text, the line that runs next. script: it comes from a script. */
void pw_session_ask(struct pw_lab *lab, char *text, bool script);
bool pw_session_ready(struct pw_lab *lab); /* is there such a line, and may it run now? */
/* Emit the state of the session. fresh: readers must rebuild their snapshot from the session's events. */
void pw_session_emit(struct pw_lab *lab, bool fresh);
/* Open the store of the session in another folder. The caller owns *store; the lab's own session is not
 * touched. */
enum pw_code pw_session_attach(struct pw_lab *lab, const char *folder, bool create, struct pw_store **store,
                               struct pw_err *err);
struct pw_session_folders pw_session_read_folders(struct pw_record *r);
void pw_session_free_folders(struct pw_session_folders *x);

/* ---- checkpoint.c */
/* Do the pending work: begin or finish a checkpoint, emit changes of the session's state. Call between two
 * steps or slices. */
void pw_session_tick(struct pw_lab *lab);
/* Take a checkpoint if anything changed since the newest, and wait until it is on disk. */
void pw_checkpoint_last(struct pw_lab *lab);

/* ---- resume.c */
/* Fold events 1..upto of the session in a folder: all of them (wanted NULL; for the reader), or those that
 * the lab keeps for itself. */
enum pw_code pw_session_fold(struct pw_snapshot *s, const char *folder, uint64_t upto,
                             bool (*wanted)(const struct pw_event *e), struct pw_err *err);

/* Restore the newest complete checkpoint at or before the event `last`. *as_of: number of the event after
 * which it was taken; *cursor: at the first event after that. passed: why newer checkpoints were skipped; ""
 * if none was. */
enum pw_code pw_session_restore(struct pw_lab *lab, struct pw_record *record, uint64_t last,
                                struct pw_record_cursor **cursor, uint64_t *as_of, struct pw_err *passed,
                                struct pw_err *err);

/* ---- verify_session.c */
/* Re-run the session NAME and compare. from >= 0: start at the newest checkpoint before step `from` of the
 * current arm, not at the beginning. pw_lab_verdict returns the result. Nothing is recorded. */
enum pw_code pw_session_verify(struct pw_lab *lab, const char *name, int64_t from, struct pw_err *err);

/* ---- follow.c: re-running a session */
void pw_follow_go_on(struct pw_lab *lab);                       /* one turn of the loop */
void pw_follow_end(struct pw_lab *lab, enum pw_follow_end end); /* no-op unless a session is being re-run */

#endif
