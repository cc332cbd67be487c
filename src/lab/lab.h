/* lab.h - public interface of the lab: send a line, wait on a descriptor, read the latest snapshot.
 *
 * The lab thread owns backend, models and data; none of them crosses this header. Commands are text and
 * results are plain values, so the lab could run in another process without a change to any pane. */
#ifndef PW_LAB_H
#define PW_LAB_H
#include "base/err.h"
#include "base/progress.h"
#include "command/command.h"
#include "lab/follow.h"
#include "sessions/fold.h"
#include <stdbool.h>

struct pw_lab;

/* Arguments of pw_lab_create. Texts and pointers are borrowed until pw_lab_destroy. */
struct pw_lab_config {
    const struct pw_commands *commands; /* the lab's commands; borrowed, like the next */
    /* commands that `help` lists and messages suggest, those of the workbench included */
    const struct pw_commands *help;
    int threads; /* 0: all processors */
    /* Called on the reader's thread for every event, before it is folded into s; may be NULL. */
    void (*on_event)(void *arg, const struct pw_event *e, const struct pw_snapshot *s);
    void *on_event_arg;
    bool live; /* there is a viewer: evaluate, and answer the pinned prompt, during training */
    /* Name of the session to record: an existing one is resumed at its end. "": a new session without a name,
     * kept only while it is open. NULL: nothing is recorded. */
    const char *session;
    int64_t from; /* resume an existing session at this step, as a new session; -1: at its end */
    bool verify;  /* only re-run the session, from step `from` (-1: from its start), and compare */
    /* If this machine does not support the session's arithmetic, continue with the lab's own, which gives
     * other bits. */
    bool any_bits;
    const struct pw_follow_opts *follow; /* re-run this first; NULL: nothing. Borrowed */
};

/* Start the lab's thread with one arm (preset tiny, task sort, seed 0), or resume or re-run the session of
 * cfg. *lab belongs to the caller. Fails if the session cannot be opened, or without memory or backend. */
enum pw_code pw_lab_create(struct pw_lab **lab, const struct pw_lab_config *cfg, struct pw_err *err);
/* Stops at the next chunk, joins the thread and frees everything. NULL is a no-op. PW_EIO: the disk failed
 * until the end; the message says from when on nothing is recorded. */
enum pw_code pw_lab_destroy(struct pw_lab *lab, struct pw_err *err);

/* When a line takes effect. */
enum pw_send {
    PW_SEND_NOW, /* typed: takes effect between two steps, without waiting for the end of training */
    /* Queued: waits until all earlier lines are finished, training included. A failed command drops the rest
     * of the queue, and all further lines until the reader has seen the failure. */
    PW_SEND_SCRIPT,
};
/* Send one line of one or more commands. With PW_SEND_SCRIPT the line may also set the place of the following
 * commands (PW_PLACE). Never blocks. */
void pw_lab_send(struct pw_lab *lab, const char *line, enum pw_send how);
/* Data that a picture shows, and which must describe the current state of the chosen arm. */
struct pw_needs {
    /* the answer to the pinned prompt, with attention and inspected token; nothing if no prompt is pinned */
    bool answer;
    bool tables;       /* tables of all encodings whose table was emitted before */
    unsigned table_of; /* bit id: tables of these arms in any case; bit 0: the chosen arm */
    /* Bit id: answers of these arms too; missing arms are skipped. The chosen arm answers last, so that the
     * answer is its own again. */
    unsigned answer_of;
};
/* Request these data, after all lines sent before. Never blocks. */
void pw_lab_request(struct pw_lab *lab, const struct pw_needs *needs);
/* Number of requests served. The snapshot ends at the request that was served last: it shows the lab's state
 * at that request. */
uint64_t pw_lab_requests_done(const struct pw_lab *lab);
/* Ctrl-C: cancel the running job or, if there is none, pause training. Any thread. */
void pw_lab_interrupt(struct pw_lab *lab);

int pw_lab_fd(const struct pw_lab *lab); /* an eventfd, readable when there are new events */
/* Fold the new events up to the next served request, and return the snapshot. It is valid until the next
 * call. One reader thread. */
const struct pw_snapshot *pw_lab_snapshot(struct pw_lab *lab);

/* For the end of a script: is nothing left to do, and how many commands failed? Consistent with the last
 * snapshot. */
bool pw_lab_idle(const struct pw_lab *lab);
int pw_lab_failures(const struct pw_lab *lab);
/* How far the lab is with work that no event reports before its end: the files of a model are read. The lab
 * wakes the reader while such work takes longer than a tenth of a second. Reader's thread. */
struct pw_progress_now pw_lab_progress(const struct pw_lab *lab);
/* The verdict of the session's verification, once the lab is idle. */
const struct pw_verdict *pw_lab_verdict(const struct pw_lab *lab);

/* Write the name of the user's session that was written last if it was not ended and no process has it open;
 * false: there is no such session, or it cannot be read. Reads files. Any thread. */
bool pw_lab_find_unended(char *name, size_t size);

/* Resolve a typed session to its folder or packed file, and its name without folders and extension. Does not
 * check that it exists. Any thread. */
enum pw_code pw_lab_session_folder(char *folder, size_t size, char *name, size_t name_size, const char *typed,
                                   struct pw_err *err);

/* Kinds that `export` can write, and the options of a kind, for help and completion. Constants; any thread.
 */
/* NULL-terminated; includes the kinds that the reader's side writes */
extern const char *const pw_export_names[];
const struct pw_opt *pw_export_opts(const char *what); /* NULL: no options, or no such kind */

#endif
