/* ref_record.h - a recording in memory: what a laboratory told, to be followed by another. */
#ifndef PW_REF_RECORD_H
#define PW_REF_RECORD_H
#include "ref_lab.h"

struct record {
    struct pw_event **e;
    int n, cap;
    int at; /* the next to be read */
    struct pw_verdict v;
    int ended;        /* how often */
    const char *file; /* the copy of whatever commands read; NULL: there is none */
};

/* A laboratory whose events are kept. */
void record_open(struct bench *b, struct record *r, int threads, bool live);
void record_free(struct record *r);
/* The last event of a kind at a step of arm 1 (-1: any); NULL: there is none. */
struct pw_event *record_find(const struct record *r, enum pw_event_kind kind, int64_t step);
/* Follows all of it with a fresh laboratory, after running `first` in it ("": nothing). */
void record_follow(struct record *r, int threads, const char *first);
/* The same, and it must be equal. */
void record_must(struct record *r, int threads, const char *first);

#endif
