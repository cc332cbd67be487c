/* ref_state.h - a lab whose slices the test runs one by one, and its events.
 *
 * The lab's own thread sleeps, because no line is sent to it. The test does the work of lab_main, and so can
 * stop after every slice. */
#ifndef PW_REF_STATE_H
#define PW_REF_STATE_H
#include "lab/jobs/evals.h"
#include "lab/loop/loop.h"
#include "lab/recording/state.h"
#include "lab/train/train.h"
#include "ref_lab.h"

struct life {
    struct pw_lab *lab;
    struct pw_str told; /* a line for each event independent of the clock: kind, place, digest */
    bool failed;        /* one of them was an ERROR */
};

struct saved {
    struct pw_str json;
    struct pw_lab_images images;
};

void life_open(struct life *l, int threads, bool live);
void life_close(struct life *l);
/* Runs commands, each to its end. Training is only started; 'wait' trains to its end. An error fails the
 * test. */
void life_run(struct life *l, const char *commands);
/* As life_run for one command, but returns its error. */
enum pw_code life_try(struct life *l, const char *command, struct pw_err *err);
/* Runs n slices of training. Returns false if training ended before. */
bool life_turns(struct life *l, int n);
void life_train(struct life *l); /* to its end, or until it pauses */
/* Reads the pending events. Returns l->told, which later events change. */
const char *life_told(struct life *l);

void life_save(struct life *l, struct saved *s);
enum pw_code life_restore(struct life *l, struct saved *s, struct pw_err *err); /* s keeps the images */
void saved_free(struct saved *s);
bool saved_equal(const struct saved *a, const struct saved *b);

#endif
