/* ref_record.h - a recorded session in memory: the events of one lab, for another lab to re-run. */
#ifndef PW_REF_RECORD_H
#define PW_REF_RECORD_H
#include "ref_lab.h"

struct record {
    struct pw_event **e;
    int n, cap;
    int at; /* index of the next event to read */
    struct pw_verdict v;
    int ended;         /* number of ends that were reached */
    const char *files; /* folder with the files that commands had read, by SHA-256; NULL: none */
    char path[512];
};

/* Opens a lab whose events are kept in r. */
void record_open(struct bench *b, struct record *r, int threads, bool live);
void record_free(struct record *r);
void record_add(struct record *r, const struct pw_event *e); /* a copy */
/* Removes event i. */
void record_drop(struct record *r, int i);
/* The index of the last event of a kind, or -1. text: only a command that contains it; NULL: any. */
int record_find(const struct record *r, enum pw_event_kind kind, const char *text);

/* Options of a lab that re-runs r. */
struct pw_follow_opts record_opts(struct record *r, bool verify);
/* Opens a lab that re-runs the session and then is live. Its own events go to `told`. */
void record_resume(struct bench *b, struct record *told, const struct pw_follow_opts *opts, bool live);
/* Re-runs all of r in a new lab. */
void record_follow(struct record *r, int threads);
/* As record_follow; a difference fails the test. */
void record_must(struct record *r, int threads);

#endif
