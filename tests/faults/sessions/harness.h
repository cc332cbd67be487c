/* harness.h - shared by the fault harnesses of sessions: a process that records, and the contract that its
 * session must meet.
 *
 * The writer (writer.c) is this program again, as a process that can be killed, run out of disk space, or
 * fail at any call. The content of its events follows from their numbers. It reports on a pipe up to which
 * number they are on disk. So the harness can compute every bit that must be in the folder. */
#ifndef PW_TESTS_HARNESS_H
#define PW_TESTS_HARNESS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sessions/record.h"
#include "sessions/store.h"

struct harness {
    const char *self;    /* this program's path */
    const char *shim;    /* the shim's path; NULL: none, as sanitizers intercept the same calls */
    const char *program; /* path of pewter; NULL: not given */
    char dir[64];        /* working folder, removed at the end */
    int count;           /* number of kills, states, ... */
    uint64_t rng;
    char now[512]; /* the current case, printed with a violation */
    int violations;
    bool quiet; /* violations are only counted: the caller expects some */
};

/* Prints "violation: CASE: text" on standard error. Any violation makes the exit status non-zero. */
void harness_violation(struct harness *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A random number less than `below`, from the state h->rng. */
uint64_t harness_random(struct harness *h, uint64_t below);
void harness_remove(const char *folder); /* recursively; the folder needn't exist */

/* ---- the writer */

/* `write FOLDER N`: records N events (0: without end) in FOLDER, which is created if it doesn't exist. It
 * prints these lines on standard output:
 * - S SEQ: opened
 * - A SEQ: on disk up to SEQ
 * - P WHY: recording pauses
 * - G: recording resumes
 * - D: all on disk
 * - E WHY: not opened */
int writer_main(const char *folder, uint64_t n);

/* The parsed output of a writer. */
struct said {
    bool opened, done;
    uint64_t opened_at, saved;
    int pauses, resumed;
    char error[512], paused[512];
    char line[512]; /* the line that is not complete yet */
    size_t n;
};

/* Starts a writer with its standard output as a pipe. env: NULL, or "NAME=VALUE" strings and a final NULL. */
pid_t writer_start(struct harness *h, int *out, const char *folder, const char *n, const char *const env[]);
/* Reads available output and waits for it at most wait_ms (< 0: without limit). Returns false when the writer
 * has ended. */
bool writer_listen(int out, struct said *said, int wait_ms);
/* Parses n bytes of output. writer_listen does so, too; this is for output from a log. */
void writer_hear(struct said *said, const char *text, size_t n);

/* Opens a session for writing, or creates it. Returns NULL on failure. */
struct pw_store *writer_open(const char *folder, struct pw_err *err);

/* ---- the recorded session */

/* Event number seq of the writer, unless it is a checkpoint. The caller frees it. */
struct pw_event *writer_event(uint64_t seq);
/* The content of the file that is stored after event seq (a multiple of FILE_EVERY). The caller frees it. */
enum { FILE_EVERY = 40 };
void *writer_file(uint64_t seq, size_t *n);

/* Checks the contract. The session opens, and pw_record_check finds no damage. Events 1 to the last are
 * present without a gap, including those up to `saved`. Events after `known` have the writer's bits.
 * Checkpoints have their files. Returns the last event's number, or 0 after a violation. */
uint64_t harness_check(struct harness *h, const char *folder, uint64_t saved, uint64_t known);
/* Opens the session again after event `last`, records and closes. The contract must still hold. */
void harness_goes_on(struct harness *h, const char *folder, uint64_t last);

/* ---- the harnesses: each prints a line of figures */
void kill_run(struct harness *h);
void power_run(struct harness *h);
void errors_run(struct harness *h);
void damage_run(struct harness *h);
void workbench_run(struct harness *h);
void shrink_run(struct harness *h); /* of the plan of the seed; count: runs of each smaller case */

#endif
