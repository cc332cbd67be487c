/* lab.h - the laboratory as its users see it: send a line, a descriptor that wakes, the latest snapshot.
 *
 * The lab thread owns backend, models and data; nothing of them crosses this header. Text goes in, plain
 * values come out, so the lab could live in another process without a change to any pane. */
#ifndef PW_LAB_H
#define PW_LAB_H
#include "base/err.h"
#include "command/command.h"
#include "lab/follow.h"
#include "sessions/fold.h"
#include <stdbool.h>

struct pw_lab;

struct pw_lab_config {
    const struct pw_commands *commands; /* what the lab runs; borrowed, like the next */
    const struct pw_commands *help;     /* what `help` lists and messages know: the workbench's own too */
    int threads;                        /* 0: all processors */
    /* Called on the reader's thread for every event, before it is folded into s; may be NULL. */
    void (*on_event)(void *arg, const struct pw_event *e, const struct pw_snapshot *s);
    void *on_event_arg;
    bool live; /* somebody watches: evaluate and look at the pinned prompt while training */
    /* The session that everything is recorded in, by name: an old one is taken up where it ended. "": a new
     * one without a name, for as long as somebody uses it. NULL: nothing is recorded. */
    const char *session;
    int64_t from; /* an old one is taken up at this step, as a session of its own; -1: at its end */
    bool verify; /* the session is only done again, from step `from` (-1: from its beginning), and compared */
    /* A session whose arithmetic this machine hasn't got goes on with the lab's own, other bits and all. */
    bool any_bits;
    const struct pw_follow_opts *follow; /* does this first; NULL: nothing. Borrowed */
};

enum pw_code pw_lab_create(struct pw_lab **lab, const struct pw_lab_config *cfg, struct pw_err *err);
/* Stops at the next chunk, joins the thread, frees everything. NULL is a no-op. PW_EIO: the disk has failed
 * to the end, and from when on nothing is on record. */
enum pw_code pw_lab_destroy(struct pw_lab *lab, struct pw_err *err);

enum pw_send {
    PW_SEND_NOW,    /* typed: takes effect between two steps, does not wait for training to end */
    PW_SEND_SCRIPT, /* queued: waits until what came before it is finished, training included; after a failed
                       command the rest of the queue is dropped, and what comes until the reader has seen it
                     */
};
/* One line of one or more commands; with PW_SEND_SCRIPT also where the next ones stand (PW_PLACE). Never
 * blocks. */
void pw_lab_send(struct pw_lab *lab, const char *line, enum pw_send how);
/* What a picture shows and must be the chosen arm's, as it is now. */
struct pw_needs {
    bool answer;       /* to the pinned prompt, attention and what led to its tokens; where one is pinned */
    bool tables;       /* of every encoding of which one was emitted before */
    unsigned table_of; /* bit id: and of these arms in any case; bit 0: of the chosen one */
    /* Bit id: the answers of these arms, too, as far as there are such arms. The chosen one's comes last, so
     * that the answer is its own again. */
    unsigned answer_of;
};
/* Asks for that, behind the lines that were sent before. Never blocks. */
void pw_lab_request(struct pw_lab *lab, const struct pw_needs *needs);
/* How many requests have been served. A snapshot ends with the one that was served last: it shows the lab as
 * the request found it. */
uint64_t pw_lab_requests_done(const struct pw_lab *lab);
/* Cancels the running job or, if there is none, pauses training: what Ctrl-C means. Any thread. */
void pw_lab_interrupt(struct pw_lab *lab);

int pw_lab_fd(const struct pw_lab *lab); /* an eventfd, readable when there is something new */
/* Folds what is new, up to the next request that was served, and returns the snapshot, valid until the next
 * call. One reader thread. */
const struct pw_snapshot *pw_lab_snapshot(struct pw_lab *lab);

/* For a script's end: is there nothing left to do, and did anything fail? Consistent with the last snapshot.
 */
bool pw_lab_idle(const struct pw_lab *lab);
int pw_lab_failures(const struct pw_lab *lab);
/* What came of verifying the session, once the lab is idle. */
const struct pw_verdict *pw_lab_verdict(const struct pw_lab *lab);

/* The folder, or packed file, of a session by what was typed for it, and its name: without folders and
 * ending. Whether it is there is not looked at. Any thread. */
enum pw_code pw_lab_session_folder(char *folder, size_t size, char *name, size_t name_size, const char *typed,
                                   struct pw_err *err);

/* What `export` can write, and the options of one, for help and completion: constants, any thread. */
extern const char *const pw_export_names[];            /* also of what the reader's side writes; NULL */
const struct pw_opt *pw_export_opts(const char *what); /* NULL: it has none, or isn't one */

#endif
