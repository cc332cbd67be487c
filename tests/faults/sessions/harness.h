/* harness.h - what the fault harnesses of sessions share: a process that records, and what must hold of what
 * it recorded.
 *
 * The writer (writer.c) is this program again, as a process that can be killed, run out of disk or be stopped
 * at any of its calls. It records events whose content follows from their numbers, and says on a pipe up to
 * which number they are on disk. So whoever looks at the folder afterwards knows what must be there, to the
 * bit. */
#ifndef PW_TESTS_HARNESS_H
#define PW_TESTS_HARNESS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sessions/record.h"
#include "sessions/store.h"

struct harness {
    const char *self;    /* this program's path, */
    const char *shim;    /* the shim's; NULL: there is none (sanitizers have calls of their own) */
    const char *program; /* pewter's; NULL: nobody said */
    char dir[64];        /* to work in; removed at the end */
    int count;           /* of kills, states, ... */
    uint64_t rng;
    char now[512]; /* the case in hand: what a violation is told with */
    int violations;
    bool quiet; /* they are counted only: somebody sees whether there are any */
};

/* "violation: CASE: text" on standard error; the exit status follows from their number. */
void harness_violation(struct harness *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
uint64_t harness_random(struct harness *h, uint64_t below);
void harness_remove(const char *folder); /* with all that is in it; it needn't be there */

/* ---- the writer */

/* `write FOLDER N`: records N events (0: without end) in FOLDER, which is made if it isn't there. Lines on
 * standard output: S SEQ opened; A SEQ on disk; P WHY, G recording is paused, goes on; D all is on disk; E
 * WHY not opened. */
int writer_main(const char *folder, uint64_t n);

/* What it said. */
struct said {
    bool opened, done;
    uint64_t opened_at, saved;
    int pauses, resumed;
    char error[512], paused[512];
    char line[512]; /* the one that is coming in */
    size_t n;
};

/* Starts it with its standard output as a pipe. env: NULL, or "NAME=VALUE" ..., NULL. */
pid_t writer_start(struct harness *h, int *out, const char *folder, const char *n, const char *const env[]);
/* Takes in what is there, waiting for it at most so long (< 0: as long as it takes); false: it has ended. */
bool writer_listen(int out, struct said *said, int wait_ms);
void writer_hear(struct said *said, const char *text, size_t n);

/* Opens a session for writing, or makes it; NULL: it can't be. */
struct pw_store *writer_open(const char *folder, struct pw_err *err);

/* ---- what was recorded */

/* Event number seq as the writer makes it, unless it is a checkpoint's. The caller frees. */
struct pw_event *writer_event(uint64_t seq);
/* The content of the file that is stored after event seq (a multiple of FILE_EVERY). The caller frees. */
enum { FILE_EVERY = 40 };
void *writer_file(uint64_t seq, size_t *n);

/* The contract: it opens; pw_record_check vouches for all of it; events 1 to the last are there without a
 * gap, those up to `saved` among them, and those after `known` have the bits that the writer gave them;
 * checkpoints have their files. The last event's number, 0 after a violation. */
uint64_t harness_check(struct harness *h, const char *folder, uint64_t saved, uint64_t known);
/* The next one opens it after `last`, records and closes, and the contract holds. */
void harness_goes_on(struct harness *h, const char *folder, uint64_t last);

/* ---- the harnesses: each prints its line of figures */
void kill_run(struct harness *h);
void power_run(struct harness *h);
void errors_run(struct harness *h);
void damage_run(struct harness *h);
void workbench_run(struct harness *h);
void shrink_run(struct harness *h); /* of the seed; count: runs of each smaller case */

#endif
