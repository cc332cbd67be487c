/* ref_lab.h - a lab for tests: runs a script to its end, and reads the events and the snapshot. */
#ifndef PW_REF_LAB_H
#define PW_REF_LAB_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lab/lab.h"

struct bench {
    struct pw_lab *lab;
    const struct pw_snapshot *s;
    char error[512];    /* text of the last error event */
    char note[512];     /* text of the last note */
    char order[256];    /* the arm of each of the first steps since the last script: "1212" */
    char digests[4096]; /* every note of `digest` since the last script, one a line */
    /* Number of events since the last script: errors, notes, prompts answered right, prompts answered, steps,
     * evaluations. */
    int errors, notes, exact, decoded, steps, evals;
};

/* Creates a lab as cfg says, with all commands. */
struct pw_lab *lab_open(struct pw_lab_config cfg);
/* Reads the available events, after a wait of at most `ms`. */
const struct pw_snapshot *lab_look(struct pw_lab *lab, int ms);

/* Read-only commands to send while arms train. NULL ends them. */
extern const char *const bench_asked[];

/* Creates a lab. live: as the workbench, with evaluations and snapshots of the prompt during training. */
void bench_open(struct bench *b, int threads, bool live);
void bench_open_as(struct bench *b, struct pw_lab_config cfg); /* on_event is overwritten */
void bench_close(struct bench *b);
/* Runs the script and waits for its end. */
void bench_run(struct bench *b, const char *script);
/* As bench_run; an error fails the test. */
void bench_must(struct bench *b, const char *script);
/* Sends a line as typed, while other work runs. */
void bench_send(struct bench *b, const char *line);
/* As lab_look; the snapshot is in b->s. */
void bench_look(struct bench *b, int ms);
/* Reads events until the lab is idle. */
void bench_until_idle(struct bench *b);
/* Sends a line that begins a long job, and waits until the job runs. An earlier interrupt would have no
 * effect. */
void bench_begin_job(struct bench *b, const char *line);
/* Sleeps for less than a second. */
void bench_doze(double ms);

/* The first returns line i of b->digests, or of a copy. The second tests whether two lines are equal up to
 * their ends. */
const char *digest_line(const char *digests, int i);
bool same_line(const char *a, const char *b);

/* A finding's event, with a copy of f that outlives the lab. */
struct pw_event *finding_copied(const struct pw_finding *f);

#endif
