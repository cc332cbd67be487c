/* session.h - what of the lab is on record, and how it is taken up again. Lab thread only, but for wake.
 *
 * Recording is no part of what the lab does: events go to the store beside the reader, and a line waits for
 * its turn until it is on disk. session.c records, checkpoint.c makes what a session can go on from, resume.c
 * goes on. */
#ifndef PW_SESSION_H
#define PW_SESSION_H
#include "lab/lab.h"
#include "sessions/record.h"
#include "sessions/store.h"
#include <stdatomic.h>
#include <stdbool.h>

struct pw_lab;

struct pw_session {
    struct pw_store *store;   /* NULL: nothing is recorded */
    bool unnamed;             /* nobody gave it a name */
    bool made, used;          /* this process has made it; something was asked for that is worth keeping */
    struct pw_ev_session now; /* as it was told last */
    double t_told;

    /* A line on its way: it runs once its words are on disk. Its text is NULL where there is none. */
    char *line;
    bool script; /* of the script's, not typed */
    uint64_t asked;
    atomic_bool waits; /* for the store: the step that runs may stop where it is */

    /* A checkpoint on its way: it is told once its files are on disk. */
    struct pw_event *checkpoint;
    bool first;  /* one has been told, so there is something to go on from */
    bool wanted; /* one is due for another reason than time */
    bool keep;   /* because somebody asked for it, who calls it `text` */
    char text[PW_LINE];
    uint64_t told; /* the event of one that somebody asked for, until it is on disk; 0: none */
    int64_t told_step;
    int64_t steps;       /* that all arms together had done at the newest, on its way or told */
    int commands;        /* that have run since */
    double t_checkpoint; /* when it was begun, and ... */
    double took_s;       /* ... what that took of the lab's time */

    struct pw_resume *resume; /* a recording that is being gone on with: resume.c; NULL: none */
};

/* ---- session.c */
/* Begins to record as the lab's configuration says; in pw_lab_create. */
enum pw_code pw_session_begin(struct pw_lab *lab, struct pw_err *err);
/* Lets go of the session; one that was made and never used is removed. As pw_store_end. */
enum pw_code pw_session_end(struct pw_lab *lab, const char *exit, struct pw_err *err);
/* Nothing is recorded from now on, because of why. */
void pw_session_stop(struct pw_lab *lab, const char *why);
void pw_session_put(struct pw_lab *lab, const struct pw_event *e);
/* Takes text, which is to run next; script: it is a script's. */
void pw_session_ask(struct pw_lab *lab, char *text, bool script);
bool pw_session_ready(struct pw_lab *lab); /* there is such a line, and it may run */
/* What is due: a checkpoint, news of the session. Between two steps or slices. */
void pw_session_tick(struct pw_lab *lab);
void pw_session_tell(struct pw_lab *lab, bool fresh);
/* The laboratory in another folder's session; the old one is let go of. */
enum pw_code pw_session_attach(struct pw_lab *lab, const char *folder, bool create, struct pw_store **store,
                               struct pw_err *err);
/* `save NAME`. */
enum pw_code pw_session_save(struct pw_lab *lab, const char *name, struct pw_err *err);
/* Is the session in this folder the one that the lab records in? */
bool pw_session_is_open(const struct pw_lab *lab, const char *folder);
/* "nothing is recorded", and why. Returns PW_EUSER. */
enum pw_code pw_session_none(struct pw_lab *lab, const char *what, struct pw_err *err);

/* ---- checkpoint.c */
/* One of this moment, kept whatever the budget; text: what it is called in the log. */
enum pw_code pw_session_checkpoint(struct pw_lab *lab, const char *text, struct pw_err *err);
/* One if it is time, and word of the one that is on its way. */
void pw_checkpoint_tick(struct pw_lab *lab);
/* One if anything changed since the newest, and waits until it is on disk. */
void pw_checkpoint_last(struct pw_lab *lab);

/* ---- resume.c */
/* `open NAME`: the lab as it was, once what is recorded after the newest checkpoint is computed again. from
 * >= 0: as it was at that step of the current arm, and what it does from there is a session of its own. On
 * failure all is as before. */
enum pw_code pw_session_open(struct pw_lab *lab, const char *name, int64_t from, struct pw_err *err);
/* Events 1..upto of the session in a folder, folded: all (the reader), or what the lab keeps for itself. */
enum pw_code pw_session_fold(struct pw_snapshot *s, const char *folder, uint64_t upto,
                             bool (*wanted)(const struct pw_event *e), struct pw_err *err);

/* Puts the lab where it was at the newest checkpoint that is not after the event `last` and all there
 * (*as_of: after which event that was), and the cursor on what came after it. passed: what is wrong with the
 * newest ("": nothing). */
enum pw_code pw_session_restore(struct pw_lab *lab, struct pw_record *record, uint64_t last,
                                struct pw_record_cursor **cursor, uint64_t *as_of, struct pw_err *passed,
                                struct pw_err *err);

/* ---- verify_session.c */
/* The session NAME is done again from its beginning, or (from >= 0) from the newest checkpoint before the
 * current arm's step `from`, and compared; what came of it: pw_lab_verdict. Nothing is recorded. */
enum pw_code pw_session_verify(struct pw_lab *lab, const char *name, int64_t from, struct pw_err *err);

/* ---- session_list.c */
/* The sessions in a folder (NULL: the user's) as notes. */
enum pw_code pw_session_list(struct pw_lab *lab, const char *folder, struct pw_err *err);
struct pw_completion;
/* Offers the sessions in the user's folder, by name. */
void pw_complete_session(struct pw_completion *c);

#endif
