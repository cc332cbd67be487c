/* ref_record.h - a recording in memory: what a laboratory told, to be followed by another. */
#ifndef PW_REF_RECORD_H
#define PW_REF_RECORD_H
#include "ref_lab.h"

struct record {
    struct pw_event **e;
    int n, cap;
    int at; /* the next to be read */
    struct pw_verdict v;
    int ended;         /* how often */
    const char *files; /* folder with what commands had read, by SHA-256; NULL: none */
    char path[512];
};

/* A laboratory whose events are kept. */
void record_open(struct bench *b, struct record *r, int threads, bool live);
void record_free(struct record *r);
void record_add(struct record *r, const struct pw_event *e); /* a copy */
void record_drop(struct record *r, int i);
/* The last event of a kind; with text: that has it (commands). -1: there is none. */
int record_find(const struct record *r, enum pw_event_kind kind, const char *text);

/* What follows it, for a laboratory's configuration. */
struct pw_follow_opts record_opts(struct record *r, bool verify);
/* A laboratory that follows it first, and then is live; what it tells goes to `told`. */
void record_resume(struct bench *b, struct record *told, const struct pw_follow_opts *opts, bool live);
/* A fresh laboratory follows all of it. */
void record_follow(struct record *r, int threads);
/* The same, and it must be equal. */
void record_must(struct record *r, int threads);

#endif
