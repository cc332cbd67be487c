/* ref_lab.h - a laboratory for tests: run a script to its end, then look. */
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
    char error[512];    /* the last error event */
    char note[512];     /* the last note */
    char order[256];    /* the arm of each of the first steps since the last script: "1212" */
    char digests[4096]; /* every note of `digest` since the last script, one a line */
    /* Events since the last script: errors, notes, prompts answered right, prompts answered, steps,
     * evaluations. */
    int errors, notes, exact, decoded, steps, evals;
};

/* A laboratory as cfg says, with all of its commands. */
struct pw_lab *lab_open(struct pw_lab_config cfg);
/* Reads what is there, after waiting for so many ms at most. */
const struct pw_snapshot *lab_look(struct pw_lab *lab, int ms);

/* Lines that only look, for typing while arms train; ends with NULL. */
extern const char *const bench_asked[];

/* live: as in the workbench, with evaluations and looks at the prompt while training. */
void bench_open(struct bench *b, int threads, bool live);
void bench_open_as(struct bench *b, struct pw_lab_config cfg); /* on_event is the bench's */
void bench_close(struct bench *b);
/* Runs the script and waits for its end. */
void bench_run(struct bench *b, const char *script);
/* The same, and it must not fail. */
void bench_must(struct bench *b, const char *script);
/* What is typed, in the middle of whatever is going on. */
void bench_send(struct bench *b, const char *line);
void bench_look(struct bench *b, int ms);
void bench_until_idle(struct bench *b);
/* Sends a line that begins a long job, and looks until the job runs: an interrupt before that ends nothing.
 */
void bench_begin_job(struct bench *b, const char *line);
void bench_doze(double ms);

/* Line i of b->digests, or of a copy; and do two lines say the same to their ends? */
const char *digest_line(const char *digests, int i);
bool same_line(const char *a, const char *b);

#endif
