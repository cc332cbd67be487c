/* recorded.h - a recorded session as the source of a re-run: its events and the files that its commands read.
 * Resuming and verifying share it. Lab thread. */
#ifndef PW_RECORDED_H
#define PW_RECORDED_H
#include "sessions/record.h"

/* An open recorded session, and the position of a re-run in it. */
struct pw_recorded {
    char folder[PW_LINE * 4], file[32];
    int copy; /* descriptor of the file that `file` names; 0: none */
    struct pw_record *record;
    struct pw_record_cursor *cursor;
    uint64_t last; /* number of the last event to re-run */
};

/* Free everything that x refers to, but not x. */
void pw_recorded_close(struct pw_recorded *x);

/* Callbacks `next` and `file` of struct pw_follow_opts; arg points to a struct that begins with a struct
 * pw_recorded. */
struct pw_event *pw_recorded_next(void *arg);
const char *pw_recorded_file(void *arg, const uint8_t sha[PW_SHA256]);

#endif
