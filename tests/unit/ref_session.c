/* ref_session.c - see ref_session.h. */
#include "ref_session.h"

#include <ftw.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "ref_codec.h"
#include "sessions/codec.h"

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

/* Uses memory where possible, so that the tests don't wait for a slow disk. */
int session_setup(void **state)
{
    char dir[] = "/dev/shm/pewter-unit-XXXXXX";
    if (mkdtemp(dir) == NULL)
        return scratch_setup(state);
    *state = strdup(dir);
    return *state == NULL;
}

int session_teardown(void **state)
{
    int failed = nftw(*state, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(*state);
    return failed;
}

const char *session_path(void **state, char path[4096])
{
    return scratch_path(state, "s.pewter", path);
}

struct pw_store *session_open(const char *path, bool create)
{
    struct pw_store_config cfg = {.folder = path,
                                  .create = create,
                                  .env = {.pewter = "pewter test",
                                          .bits = "portable",
                                          .device = "cpu: 2 threads, none",
                                          .isa = "none",
                                          .threads = 2,
                                          .kernel_abi = 1}};
    struct pw_store *s;
    struct pw_err err;
    if (pw_store_open(&s, &cfg, &err) != PW_OK)
        fail_msg("%s", err.msg);
    return s;
}

/* Mostly metrics, as in real sessions. */
struct pw_event *session_event(uint64_t seq, uint64_t *rng)
{
    static const enum pw_event_kind kinds[] = {
        PW_EV_STEP,    PW_EV_STEP, PW_EV_STEP,       PW_EV_UPDATES, PW_EV_STEP, PW_EV_DIGEST,  PW_EV_EVAL,
        PW_EV_COMMAND, PW_EV_STEP, PW_EV_CHECKPOINT, PW_EV_STEP,    PW_EV_NOTE, PW_EV_FAILING, PW_EV_ARM};
    enum pw_event_kind kind = kinds[codec_next(rng) % (sizeof kinds / sizeof kinds[0])];
    if (seq % 40 == 0)
        kind = PW_EV_ATTENTION;
    struct pw_event *e = codec_random(kind, rng);
    e->seq = seq;
    e->t_ns = (int64_t)seq * 1000;
    e->arm = 1 + (int)(codec_next(rng) % 3);
    e->replica = 1;
    e->step = (int64_t)seq;
    if (kind == PW_EV_ATTENTION)
        e->u.attention.asked = true;
    return e;
}

uint64_t session_bits(const struct pw_event *e)
{
    const int64_t head[] = {e->kind, (int64_t)e->seq, e->t_ns, e->arm, e->replica, e->step};
    struct pw_str bytes = {0};
    uint8_t sha[32];
    uint64_t sum = 0;
    pw_str_put(&bytes, (const char *)head, sizeof head);
    pw_event_encode(&bytes, e);
    pw_sha256_of(sha, bytes.s, bytes.len);
    pw_str_fini(&bytes);
    for (int i = 0; i < 8; i++)
        sum = sum << 8 | sha[i];
    return sum;
}

static uint64_t joined(uint64_t sum, const struct pw_event *e)
{
    return sum * 31 + session_bits(e);
}

uint64_t session_put(struct pw_store *s, uint64_t first, uint64_t last, uint64_t *rng)
{
    uint64_t sum = 0;
    for (uint64_t seq = first; seq <= last; seq++) {
        struct pw_event *e = session_event(seq, rng);
        sum = joined(sum, e);
        pw_store_put(s, e);
        pw_event_free(e);
    }
    return sum;
}

void session_wait(struct pw_store *s, uint64_t seq)
{
    pw_store_hurry(s);
    for (int i = 0; i < 60000 && !pw_store_has(s, seq); i++)
        usleep(1000);
    assert_true(pw_store_has(s, seq));
}

static void wait_file(struct pw_store *s, const uint8_t sha[PW_SHA256])
{
    for (int i = 0; i < 60000 && !pw_store_has_file(s, sha); i++)
        usleep(1000);
    assert_true(pw_store_has_file(s, sha));
}

void session_store(struct pw_store *s, uint8_t sha[PW_SHA256], void *bytes, size_t n)
{
    pw_sha256_of(sha, bytes, n);
    pw_store_file(s, sha, bytes, n);
    wait_file(s, sha);
}

struct sum {
    uint64_t bits;
    int n;
};

static bool add_to_sum(void *arg, struct pw_event *e)
{
    struct sum *sum = arg;
    sum->bits = joined(sum->bits, e);
    sum->n++;
    return true;
}

uint64_t session_sum(struct pw_record *r, uint64_t from, uint64_t to, int *n)
{
    struct sum sum = {0};
    struct pw_err err;
    if (pw_record_events(r, from, to, add_to_sum, &sum, &err) != PW_OK)
        fail_msg("%s", err.msg);
    *n = sum.n;
    return sum.bits;
}

struct pw_record *session_read(const char *path)
{
    struct pw_record *r;
    struct pw_err err;
    if (pw_record_open(&r, path, &err) != PW_OK)
        fail_msg("%s", err.msg);
    return r;
}

void session_copy(const char *from, const char *to)
{
    char command[8300];
    snprintf(command, sizeof command, "cp -r '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
}

enum pw_code session_try(const char *path, bool create, struct pw_err *err)
{
    struct pw_store_config cfg = {.folder = path, .create = create, .env = {.pewter = "x", .kernel_abi = 1}};
    struct pw_store *s;
    enum pw_code code = pw_store_open(&s, &cfg, err);
    pw_store_close(s, "quit");
    return code;
}

void session_refused(const char *path, bool create, const char *words)
{
    struct pw_err err;
    assert_int_equal(session_try(path, create, &err), PW_EUSER);
    if (strstr(err.msg, words) == NULL)
        fail_msg("'%s' lacks '%s'", err.msg, words);
}

void session_put_one(struct pw_store *s, uint64_t seq, enum pw_event_kind kind)
{
    struct pw_event *e = pw_event_new(kind);
    e->seq = seq;
    e->arm =
        kind == PW_EV_COMMAND || kind == PW_EV_SESSION || kind == PW_EV_STATE || kind == PW_EV_JOB ? 0 : 1;
    e->replica = e->arm;
    e->t_ns = (int64_t)seq * 100000000; /* ten a second */
    e->step = (int64_t)seq;
    if (kind == PW_EV_STATE)
        e->u.state.run = PW_RUN_TRAINING;
    if (kind == PW_EV_PROMPT)
        e->u.prompt.id = 1;
    if (kind == PW_EV_JOB)
        e->u.job = (struct pw_ev_job){.state = PW_JOB_RUNNING, .done = 3, .total = 4};
    pw_store_put(s, e);
    pw_event_free(e);
}

void session_record(const char *path, uint64_t n)
{
    uint64_t rng = 12;
    struct pw_store *s = session_open(path, true);
    session_put(s, 1, n / 2, &rng);
    session_wait(s, n / 2);
    session_put(s, n / 2 + 1, n, &rng);
    pw_store_close(s, "quit");
}
