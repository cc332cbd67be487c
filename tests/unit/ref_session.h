/* ref_session.h - shared by the tests of sessions: a folder, events to record, and reading them back. */
#ifndef PW_TESTS_REF_SESSION_H
#define PW_TESTS_REF_SESSION_H
#include "unit.h"

#include "sessions/record.h"
#include "sessions/store.h"

/* Setup and teardown: create a folder, and remove it recursively. */
int session_setup(void **state);
int session_teardown(void **state);
/* Writes the path of its session "s": FOLDER/s.pewter. */
const char *session_path(void **state, char path[4096]);

/* Opens a session for writing. A failure fails the test. */
struct pw_store *session_open(const char *path, bool create);
/* The first opens and closes a session. The second expects a refusal whose message contains `words`. */
enum pw_code session_try(const char *path, bool create, struct pw_err *err);
void session_refused(const char *path, bool create, const char *words);
/* A random event, number seq, of a kind that is always recorded. */
struct pw_event *session_event(uint64_t seq, uint64_t *rng);
/* Puts events first..last and frees them. Returns their sum, which session_sum computes from the recorded
 * events. */
uint64_t session_put(struct pw_store *s, uint64_t first, uint64_t last, uint64_t *rng);
/* Puts an event of a kind, ten a second. It belongs to an arm if its kind does. */
void session_put_one(struct pw_store *s, uint64_t seq, enum pw_event_kind kind);
/* Waits until event seq is on disk. */
void session_wait(struct pw_store *s, uint64_t seq);
/* Stores n bytes, which it takes over, writes their SHA-256, and waits until the file is on disk. */
void session_store(struct pw_store *s, uint8_t sha[PW_SHA256], void *bytes, size_t n);
/* Records a new session of the events 1..n. */
void session_record(const char *path, uint64_t n);

/* A hash of all bytes of an event. */
uint64_t session_bits(const struct pw_event *e);
/* The sum over the events from..to of a record. */
uint64_t session_sum(struct pw_record *r, uint64_t from, uint64_t to, int *n);
struct pw_record *session_read(const char *path);
void session_copy(const char *from, const char *to);

#endif
