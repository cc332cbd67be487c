/* test_store_woken.c - tests that each commit wakes the lab. A line runs once its event is on disk. If the
 * commit of a file also had this event and woke no thread, the line would wait for ever.
 *
 * An event arrives after each release of a mutex by the store's thread, one release after the other. */
#include "ref_session.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/sha256.h"

enum { BYTES = 5000, WAIT_MS = 3000 };

int __real_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m);

static pthread_t owner;
static _Atomic(struct pw_store *) store;
static atomic_int left;      /* releases until the event arrives */
static atomic_ullong woken;  /* the last event on disk at the last wake */
static atomic_ullong number; /* of the event */

int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
    int code = __real_pthread_mutex_unlock(m);
    struct pw_store *s = atomic_load(&store);
    if (s != NULL && !pthread_equal(pthread_self(), owner) && atomic_fetch_sub(&left, 1) == 1) {
        uint64_t seq = pw_store_last(s) + 1;
        session_put_one(s, seq, PW_EV_NOTE);
        pw_store_hurry(s);
        atomic_store(&number, seq);
    }
    return code;
}

static void wake(void *arg)
{
    struct pw_ev_session status;
    struct pw_store *s = atomic_load(&store);
    (void)arg;
    if (s == NULL)
        return;
    pw_store_status(s, &status);
    atomic_store(&woken, status.saved);
}

static struct pw_store *open_session(const char *path, bool create)
{
    struct pw_store_config cfg = {
        .folder = path, .create = create, .env = {.pewter = "pewter test", .bits = "portable"}, .wake = wake};
    struct pw_store *s;
    struct pw_err err;
    if (pw_store_open(&s, &cfg, &err) != PW_OK)
        fail_msg("%s", err.msg);
    return s;
}

/* Returns false if the store's thread came to rest before the event. */
static bool is_woken(const char *path, int releases)
{
    struct pw_store *s = open_session(path, releases == 1);
    uint8_t sha[PW_SHA256];
    uint64_t seq = 0;
    atomic_store(&number, 0);
    atomic_store(&woken, 0);
    atomic_store(&left, releases);
    atomic_store(&store, s);
    session_store(s, sha, pw_alloc(BYTES, 1),
                  BYTES); /* the same content: from the second session on the size stays */
    for (int i = 0; i < 300 && seq == 0; i++) {
        usleep(1000);
        seq = atomic_load(&number);
    }
    if (seq > 0) {
        session_wait(s, seq);
        for (int i = 0; i < WAIT_MS && atomic_load(&woken) < seq; i++)
            usleep(1000);
        if (atomic_load(&woken) < seq)
            fail_msg("release %d: event %d is on disk, and nothing was woken", releases, (int)seq);
    }
    atomic_store(&store, NULL);
    pw_store_close(s, "quit");
    return seq > 0;
}

static void each_commit_wakes(void **state)
{
    char path[4096];
    int releases = 1;
    owner = pthread_self();
    session_path(state, path);
    while (is_woken(path, releases))
        releases++;
    print_message("%d releases\n", releases - 1);
    assert_true(releases > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_commit_wakes, session_setup, session_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
