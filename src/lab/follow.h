/* follow.h - re-run a recorded session in the lab and compare the results.
 *
 * A re-run resumes a session (from its last checkpoint to its end, then live), branches it, or verifies it.
 * The lab does its ordinary work. Timing that a clock or the user decided originally now comes from the
 * record: when a command took effect, when live evaluations ran, when the prompt was decoded and inspected.
 * Events of the re-run go to the comparison instead of to the reader and the store. An event that is not
 * recorded is not compared. A recorded event of a compared kind must occur again, with the same bits. */
#ifndef PW_FOLLOW_H
#define PW_FOLLOW_H
#include "base/err.h"
#include "sessions/event.h"
#include <stdbool.h>

/* How a re-run ended. */
enum pw_follow_end {
    PW_FOLLOW_EQUAL,     /* equal to the end of the record */
    PW_FOLLOW_DIFFERENT, /* a recorded event did not occur, or occurred with other bits */
    PW_FOLLOW_STOPPED,   /* stopped by Ctrl-C or because the lab was closed; equal up to there */
};

/* Result of a re-run. */
struct pw_verdict {
    enum pw_follow_end end;
    char text[PW_LINE * 4]; /* one line */
    /* numbers of compared events that were equal */
    int64_t commands, steps, digests, evals, tokens, others;
    int64_t models;     /* models of checkpoints that were equal in every weight, moment and count */
    int64_t unrecorded; /* steps of the re-run that the record lacks because of its gaps */
    /* The first difference: the recorded event, and the member that differs. PW_FOLLOW_STOPPED: seq is the
     * last event that was re-run. */
    uint64_t seq;
    enum pw_event_kind kind;
    int arm, replica;
    int64_t step;
    char what[64];              /* "loss", "exact at length 12"; "": the event did not occur */
    char recorded[64], now[64]; /* value and bits */
};

/* The source of a re-run, and its callbacks. They run on the lab's thread. */
struct pw_follow_opts {
    /* Return the next recorded event; the re-run frees it. NULL: no more events. */
    struct pw_event *(*next)(void *arg);
    /* Return a path to the file with this hash, if the session has a copy; else NULL. Valid until the next
     * call. */
    const char *(*file)(void *arg, const uint8_t sha[PW_SHA256]);
    /* Return the first CHECKPOINT event with a state of the lab as of event `from` or later; NULL: none
     * follows. The re-run frees the event. With this callback, models are compared at each checkpoint. After
     * a difference the re-run continues to the next checkpoint, to name the tensors that differ. May be NULL.
     */
    struct pw_event *(*checkpoint)(void *arg, uint64_t from);
    /* Called on the lab's thread when the re-run has ended; recording of what follows begins here. Returns
     * whether the rest of the recorded script continues. */
    bool (*ended)(void *arg, const struct pw_verdict *v);
    /* Called after `ended`, when the lab is live: events of work that was in progress at the end of the
     * record have been emitted. May be NULL. */
    void (*live)(void *arg, const struct pw_verdict *v);
    void *arg;
    uint64_t first, last; /* numbers of the first and the last recorded event, for progress; 0: unknown */
    /* only verify: nothing continues afterwards, and events after the last recorded one are dropped */
    bool verify;
};

struct pw_lab;

/* Start a re-run on the lab's thread, between two commands; opts is copied. Typed lines wait until the re-run
 * has ended. PW_EUSER: a re-run is in progress. */
enum pw_code pw_lab_follow(struct pw_lab *lab, const struct pw_follow_opts *opts, struct pw_err *err);

#endif
