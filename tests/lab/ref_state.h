/* ref_state.h - a laboratory for tests that stand beside its thread: turn by turn, and what it told.
 *
 * Its own thread sleeps, because nobody sends it a line; the test does what lab_main does, and so can stop at
 * every single turn. */
#ifndef PW_REF_STATE_H
#define PW_REF_STATE_H
#include "lab/state.h"
#include "ref_lab.h"

struct life {
    struct pw_lab *lab;
    struct pw_str
        told;    /* a line for each event that depends on no clock: kind, place, digest of its payload */
    bool failed; /* an ERROR was among them */
};

struct saved {
    struct pw_str json;
    struct pw_lab_images images;
};

void life_open(struct life *l, int threads, bool live);
void life_close(struct life *l);
/* Commands, each to its end but for training, which only begins; 'wait' trains to its end. Must not fail. */
void life_run(struct life *l, const char *commands);
enum pw_code life_try(struct life *l, const char *command, struct pw_err *err);
/* n turns of training; false: it has ended before. */
bool life_turns(struct life *l, int n);
void life_train(struct life *l); /* to its end, or until it pauses */
const char *life_told(struct life *l);

void life_save(struct life *l, struct saved *s);
enum pw_code life_restore(struct life *l, struct saved *s, struct pw_err *err); /* images stay s's */
void saved_free(struct saved *s);
bool saved_equal(const struct saved *a, const struct saved *b);

#endif
