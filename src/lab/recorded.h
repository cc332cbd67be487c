/* recorded.h - a recording that the lab does again: where its events and the files that it read come from,
 * for resuming and for verifying. */
#ifndef PW_RECORDED_H
#define PW_RECORDED_H
#include "sessions/record.h"

struct pw_recorded {
    char folder[PW_LINE * 4], file[32];
    int copy; /* the descriptor that file names, 0: none */
    struct pw_record *record;
    struct pw_record_cursor *cursor;
    uint64_t last; /* the event that it goes up to */
};

void pw_recorded_close(struct pw_recorded *x);

/* For struct pw_follow_opts; arg begins with a struct pw_recorded. */
struct pw_event *pw_recorded_next(void *arg);
const char *pw_recorded_file(void *arg, const uint8_t sha[PW_SHA256]);

#endif
