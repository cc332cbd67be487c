/* follow.h - the laboratory does again what a recording says, and what comes of it is compared.
 *
 * Following is how a session is resumed (from its last checkpoint to where it broke off, then live), branched
 * and verified. The lab does its ordinary work; what a clock or somebody at the keyboard decided when it was
 * recorded (when a command took effect, when the screen's evaluations and looks at the prompt were taken) the
 * record decides now. What the lab tells goes to the comparison instead of to reader and store. What is not
 * on record is not compared; what is on record must come, with the same bits. */
#ifndef PW_FOLLOW_H
#define PW_FOLLOW_H
#include "base/err.h"
#include "sessions/event.h"
#include <stdbool.h>

enum pw_follow_end {
    PW_FOLLOW_EQUAL,     /* to the end of the record */
    PW_FOLLOW_DIFFERENT, /* what was recorded did not come, or came with other bits */
    PW_FOLLOW_STOPPED,   /* by Ctrl-C, or because the lab was closed */
};

/* What following came to. */
struct pw_verdict {
    enum pw_follow_end end;
    char text[PW_LINE * 4]; /* in one line */
    /* how many events of what was compared were equal */
    int64_t commands, steps, digests, evals, tokens, others;
    int64_t models;     /* of checkpoints, with every weight, moment and count */
    int64_t unrecorded; /* steps that the lab took and the record, which has gaps, doesn't have */
    /* The first difference: the event on record, and what of it. Stopped: seq is the last that has come. */
    uint64_t seq;
    enum pw_event_kind kind;
    int arm, replicate;
    int64_t step;
    char what[64];              /* "loss", "exact at length 12"; "" the event did not come */
    char recorded[64], now[64]; /* value and bits */
};

struct pw_follow_opts {
    /* The next event of the record, the follower's to free; NULL: there are no more. */
    struct pw_event *(*next)(void *arg);
    /* The file of these bytes that the session has a copy of; NULL: it hasn't. Valid until the next call. */
    const char *(*file)(void *arg, const uint8_t sha[PW_SHA256]);
    /* The first CHECKPOINT event with a state of the lab as of an event from `from` on; NULL: none follows.
     * The follower's to free. With it models are compared where checkpoints were taken, and after a
     * difference it goes on to the next one, to say which tensors differ. May be NULL. */
    struct pw_event *(*checkpoint)(void *arg, uint64_t from);
    /* It has ended, and whoever records what follows begins; on the lab's thread. Returns whether what is
     * left of its script goes on. */
    bool (*ended)(void *arg, const struct pw_verdict *v);
    /* After that: what the lab was in the middle of when the record ended has been told, and it is live. May
     * be NULL. */
    void (*live)(void *arg, const struct pw_verdict *v);
    void *arg;
    uint64_t first, last; /* numbers of the first and the last event of the record: progress; 0: not known */
    bool verify;          /* nothing goes on afterwards, and what comes after the last event is dropped */
};

struct pw_lab;

/* Begins to follow, on the lab's thread, between two commands; opts is copied. Typed lines wait until it has
 * ended. PW_EUSER: it follows already. */
enum pw_code pw_lab_follow(struct pw_lab *lab, const struct pw_follow_opts *opts, struct pw_err *err);

#endif
