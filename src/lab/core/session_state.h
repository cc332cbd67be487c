/* session_state.h - the state of the lab's recording; recording/session.h has its functions. Lab thread only;
 * the store's thread reads only `waits`. */
#ifndef PW_SESSION_STATE_H
#define PW_SESSION_STATE_H
#include "sessions/event.h"
#include "sessions/store.h"
#include <stdatomic.h>
#include <stdbool.h>

struct pw_resume;

/* Folders in which a session was recorded. Terminated by NULL, owned. */
struct pw_session_folders {
    char *path[PW_SESSION_FOLDERS + 1];
};

/* A member of struct pw_lab. */
struct pw_session {
    struct pw_store *store; /* NULL: not recording */
    bool unnamed;           /* the user gave no name */
    /* this process created the session; a line was received, so the session is worth keeping */
    bool made, used;
    struct pw_ev_session now; /* as last emitted */
    double t_told;            /* time of that event */

    /* The line that runs next, once its text is on disk; NULL: none. */
    char *line;
    bool script;       /* the line comes from a script; false: it was typed */
    uint64_t asked;    /* number of the line's ASKED event, which must be on disk first */
    atomic_bool waits; /* a line waits for the store; once it is on disk, a running step may yield */

    /* The pending checkpoint, emitted once its files are on disk; NULL: none. */
    struct pw_event *checkpoint;
    bool first;  /* a checkpoint has been emitted, so the session can resume */
    bool wanted; /* a checkpoint is due for a reason other than time */
    bool keep;   /* the user requested the next checkpoint, named `text` in the log; it is kept */
    char text[PW_LINE];
    uint64_t told;     /* number of the event of a requested checkpoint until the event is on disk; 0: none */
    int64_t told_step; /* step of that checkpoint, for the log */
    /* steps that all arms together had done at the newest checkpoint, pending or emitted */
    int64_t steps;
    int commands;        /* commands that have run since that checkpoint */
    double t_checkpoint; /* when the newest checkpoint began */
    double took_s;       /* how much of the lab's time it took */

    struct pw_session_folders
        folders; /* of the session that was opened: relative paths count from these, too */

    struct pw_resume *resume; /* the re-run of the session that is being resumed: resume.c; NULL: none */
};

#endif
