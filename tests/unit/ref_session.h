/* ref_session.h - what tests of recorded sessions share: a folder, events to record, and what was recorded.
 */
#ifndef PW_TESTS_REF_SESSION_H
#define PW_TESTS_REF_SESSION_H
#include "unit.h"

#include "sessions/record.h"
#include "sessions/store.h"

/* Setup and teardown: a new folder, removed with all that is in it. */
int session_setup(void **state);
int session_teardown(void **state);
/* Its session "s": FOLDER/s.pewter. */
const char *session_path(void **state, char path[4096]);

/* Opens for writing; fails the test if it can't. */
struct pw_store *session_open(const char *path, bool create);
/* Opens and closes it; and this must be refused, with these words. */
enum pw_code session_try(const char *path, bool create, struct pw_err *err);
void session_refused(const char *path, bool create, const char *words);
/* Of a kind that is recorded whatever was before, at random; its number is seq. */
struct pw_event *session_event(uint64_t seq, uint64_t *rng);
/* Puts events first..last (freeing them); returns a sum over them, as session_sum does of what was recorded.
 */
uint64_t session_put(struct pw_store *s, uint64_t first, uint64_t last, uint64_t *rng);
/* Puts an event of a kind, ten a second, of an arm or of none as its kind is. */
void session_put_one(struct pw_store *s, uint64_t seq, enum pw_event_kind kind);
/* Waits until it is on disk. */
void session_wait(struct pw_store *s, uint64_t seq);

/* All bytes of an event, in a number. */
uint64_t session_bits(const struct pw_event *e);
/* Over the events from..to of a record. */
uint64_t session_sum(struct pw_record *r, uint64_t from, uint64_t to, int *n);
struct pw_record *session_read(const char *path);
void session_copy(const char *from, const char *to);

#endif
