/* test_hostile.c - tests sessions whose checksums are right, and whose events no lab emits. Numbers are
 * anywhere between their limits, counts lack their arrays, arms come and go, clocks jump. The cost of reading
 * must follow from the number of bytes, and every moment must be drawable. */
#include "ref_session.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "ref_codec.h"
#include "sessions/player.h"

#define EVENTS 300
#define MOST_S 1.0               /* processor time for reading a session, or for drawing a moment */
#define MOST_B ((long)300 << 20) /* memory */

static int64_t wild(uint64_t *rng)
{
    static const int64_t some[] = {0, 1, 2, 100, INT32_MAX, INT64_C(1) << 32, INT64_C(1) << 53};
    uint64_t r = codec_next(rng);
    return r % 2 == 0 ? (int64_t)(r >> 32) % 50 : some[(r >> 32) % (sizeof some / sizeof *some)];
}

/* Whether field f counts the entries of field `of`. */
static bool counts(const struct pw_field *f, const struct pw_field *of)
{
    for (int k = 0; k < 4; k++)
        if (of->by[k].member == f->at + 1)
            return true;
    return of->count != NULL;
}

/* Sets one of the counts to its maximum, and removes optional arrays. */
static void lose_arrays(struct pw_event *e, uint64_t *rng)
{
    const struct pw_message *m = &pw_messages[e->kind];
    char *base = (char *)e + m->at, *array, *nothing = NULL;
    const struct pw_field *f = &m->fields[codec_next(rng) % (uint64_t)(m->n > 0 ? m->n : 1)];
    bool any = false;
    for (int i = 0; i < m->n; i++) {
        const struct pw_field *of = &m->fields[i];
        if (counts(f, of) && (of->needed || of->form != PW_FORM_ARRAY))
            return;
        any = any || counts(f, of);
    }
    if (!any || f->form != PW_FORM_ONE || f->type != PW_F_INT)
        return;
    for (int i = 0; i < m->n; i++) {
        if (!counts(f, &m->fields[i]))
            continue;
        memcpy(&array, base + m->fields[i].at, sizeof array);
        free(array);
        memcpy(base + m->fields[i].at, &nothing, sizeof nothing);
    }
    pw_store_number(f->type, base + f->at, f->hi);
}

static struct pw_event *make(uint64_t seq, uint64_t *rng)
{
    int arm = (int)(codec_next(rng) % 4);
    enum pw_event_kind kind = (enum pw_event_kind)(codec_next(rng) % PW_EV_KINDS);
    kind = kind == PW_EV_SESSION ? PW_EV_STEP : seq <= 4 ? PW_EV_ARM : kind;
    struct pw_event *e = codec_random(kind, rng);
    if (codec_next(rng) % 2 == 0)
        lose_arrays(e, rng);
    e->seq = seq;
    e->t_ns = wild(rng) * (codec_next(rng) % 3 == 0 ? 1 : 400);
    bool metric = kind == PW_EV_STEP || kind == PW_EV_UPDATES || kind == PW_EV_DIGEST;
    e->arm = seq <= 4 ? (int)seq : metric ? 1 + arm : arm;
    e->replica = (int)(codec_next(rng) % 4);
    e->step = wild(rng);
    if (kind == PW_EV_ARM) {
        e->u.arm.id = seq <= 4 ? (int)seq : 1 + arm;
        e->u.arm.restarted = codec_next(rng) % 4 == 0;
    }
    int id = codec_next(rng) % 8 == 0 ? 4 : 3; /* mostly of the pinned prompt */
    switch (kind) {
    case PW_EV_PROMPT: e->u.prompt.id = id; break;
    case PW_EV_TOKEN: e->u.token.prompt = id; break;
    case PW_EV_CURSOR: e->u.cursor.at.prompt = id; break;
    case PW_EV_LOOK: e->u.look.prompt = id; break;
    case PW_EV_ATTENTION: e->u.attention.prompt = id, e->u.attention.asked = true; break;
    default: break;
    }
    return e;
}

static void record(const char *path, uint64_t seed)
{
    struct pw_store *s = session_open(path, true);
    uint64_t rng = seed, seq = 0;
    for (int i = 0; i < EVENTS; i++) {
        seq += i > 4 && codec_next(&rng) % 50 == 0 ? (uint64_t)wild(&rng) % ((uint64_t)1 << 40) + 1 : 1;
        struct pw_event *e = make(seq, &rng);
        pw_store_put(s, e);
        pw_event_free(e);
    }
    pw_store_close(s, "quit");
}

static double took(clock_t since)
{
    return (double)(clock() - since) / CLOCKS_PER_SEC;
}

/* Opens one session, and draws moments of it. */
static void look_at(const char *path, int seed)
{
    struct pw_player *p;
    struct pw_err err;
    uint64_t rng = (uint64_t)seed;
    clock_t began = clock();
    if (pw_player_open(&p, path, &err) != PW_OK)
        fail_msg("seed %d: %s", seed, err.msg);
    if (took(began) > MOST_S)
        fail_msg("seed %d: opening takes %.1f s", seed, took(began));
    for (int i = 0; i < 12; i++) {
        uint64_t at = pw_player_last(p);
        for (uint64_t back = codec_next(&rng) % EVENTS; back > 0; back--)
            at = pw_player_seek(p, at, -1, PW_EV_KINDS, "");
        began = clock();
        codec_draw(pw_player_at(p, at), codec_next(&rng));
        if (took(began) > 8 * 4 * MOST_S) /* that many panes are drawn, each that often */
            fail_msg("seed %d, event %llu: drawing takes %.1f s", seed, (unsigned long long)at, took(began));
    }
    pw_player_close(p);
}

/* Seeds that found a bug, and others. For more: PEWTER_HOSTILE="FIRST LAST". */
static void test_sessions(void **state)
{
    int first = 94, last = 99;
    const char *wanted = getenv("PEWTER_HOSTILE");
    if (wanted != NULL)
        assert_int_equal(sscanf(wanted, "%d %d", &first, &last), 2);
    for (int seed = first; seed <= last; seed++) {
        char path[4096], name[40];
        struct rusage used;
        snprintf(name, sizeof name, "s%d.pewter", seed);
        record(scratch_path(state, name, path), (uint64_t)seed);
        look_at(path, seed);
        pw_session_remove(path);
        getrusage(RUSAGE_SELF, &used);
        if (wanted != NULL)
            print_message("seed %d: %ld MiB\n", seed, used.ru_maxrss >> 10);
#ifndef __SANITIZE_ADDRESS__ /* ASan keeps freed memory */
        if (used.ru_maxrss > MOST_B / 1024)
            fail_msg("seed %d: %ld MiB of memory", seed, used.ru_maxrss >> 10);
#endif
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sessions, session_setup, session_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
