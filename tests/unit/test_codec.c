/* test_codec.c - tests the encoding of events. Every kind must survive a round trip. Damaged bytes must be
 * refused, or give an event that all readers accept (ASan, UBSan). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "ref_codec.h"

static void encode(struct pw_str *out, const struct pw_event *e)
{
    pw_str_clear(out);
    pw_event_encode(out, e);
}

/* ---- round trips */

static void test_every_kind_comes_back(void **state)
{
    struct pw_str first = {0}, second = {0};
    struct pw_err err;
    uint64_t rng = 7;
    (void)state;
    for (int kind = 0; kind < PW_EV_KINDS; kind++)
        for (int i = 0; i < 200; i++) {
            struct pw_event *e = codec_random((enum pw_event_kind)kind, &rng), *back;
            int unknown = 0;
            encode(&first, e);
            if (pw_event_decode(&back, kind, first.s, first.len, &unknown, &err) != PW_OK)
                fail_msg("%s", err.msg);
            assert_int_equal(unknown, 0);
            assert_int_equal(back->kind, kind);
            encode(&second, back);
            assert_int_equal(second.len, first.len);
            assert_memory_equal(pw_str_text(&second), pw_str_text(&first), first.len);
            pw_event_free(back);
            pw_event_free(e);
        }
    pw_str_fini(&first);
    pw_str_fini(&second);
}

/* ---- damage */

static int tried;

/* Passes arbitrary bytes to every reader of events. */
static void try(struct pw_snapshot *s, int kind, const void *data, size_t n)
{
    struct pw_event *e = (void *)&kind;
    struct pw_err err = {.msg = ""};
    int unknown = 0;
    if (pw_event_decode(&e, kind, data, n, &unknown, &err) != PW_OK) {
        assert_int_equal(err.code, PW_EUSER);
        assert_null(strchr(err.msg, '\n'));
        assert_null(e);
        return;
    }
    e->seq = s->seq + 1;
    e->arm = 1;
    e->step = 5;
    codec_look(s, e);
    if (++tried % 3000 == 0)
        codec_draw(s, (uint64_t)tried);
    pw_event_free(e);
}

static void test_truncated(void **state)
{
    struct pw_snapshot *s = codec_snapshot();
    struct pw_str bytes = {0};
    uint64_t rng = 11;
    (void)state;
    for (int kind = 0; kind < PW_EV_KINDS; kind++) {
        struct pw_event *e = codec_random((enum pw_event_kind)kind, &rng);
        encode(&bytes, e);
        for (size_t n = 0; n < bytes.len; n++) {
            char *cut = malloc(n + 1); /* so that ASan detects reads past its end */
            char *exact = realloc(cut, n > 0 ? n : 1);
            memcpy(exact, bytes.s, n);
            try(s, kind, exact, n);
            free(exact);
        }
        pw_event_free(e);
    }
    pw_str_fini(&bytes);
    pw_snapshot_free(s);
}

static void test_flipped(void **state)
{
    struct pw_snapshot *s = codec_snapshot();
    struct pw_str bytes = {0};
    uint64_t rng = 13;
    (void)state;
    for (int kind = 0; kind < PW_EV_KINDS; kind++)
        for (int i = 0; i < 20000; i++) {
            if (i % 500 == 0) {
                struct pw_event *e = codec_random((enum pw_event_kind)kind, &rng);
                encode(&bytes, e);
                pw_event_free(e);
            }
            if (bytes.len == 0)
                continue;
            uint64_t bit = codec_next(&rng) % (8 * bytes.len);
            bytes.s[bit / 8] = (char)(bytes.s[bit / 8] ^ 1 << bit % 8);
            try(s, kind, bytes.s, bytes.len);
            bytes.s[bit / 8] = (char)(bytes.s[bit / 8] ^ 1 << bit % 8);
        }
    pw_str_fini(&bytes);
    pw_snapshot_free(s);
}

/* ---- runs */

/* Metrics of 3 arms with up to 2 replicas, as training emits them. Nearly every header field changes in every
 * possible way. */
static struct pw_event *metrics(int n, uint64_t *rng)
{
    struct pw_event *e = pw_alloc((size_t)n, sizeof *e);
    int64_t step = 1, t_ns = INT64_C(1763778000000000000);
    double flops[3][2] = {{0}};
    uint64_t seq = 0;
    for (int i = 0; i < n; i++) {
        uint64_t r = codec_next(rng);
        int arm = i % 3, replica = i / 3 % 2;
        seq += r % 50 == 0 ? 1 + (r >> 50) : 1;
        step = r % 1000 == 1 ? (int64_t)(r >> 40) : step + (i % 6 == 0); /* a reset, or weights loaded */
        t_ns += r % 700 == 2 ? -INT64_C(3600000000000) : 9000000 + (int64_t)(r % 4000000);
        flops[arm][replica] += 1e8 + (double)(r % 100000);
        flops[arm][replica] = r % 1000 == 3 ? 0.5 : r % 1000 == 4 ? (double)NAN : flops[arm][replica];
        e[i] =
            (struct pw_event){.seq = seq, .t_ns = t_ns, .arm = arm + 1, .replica = replica + 1, .step = step};
        if (r % 97 == 0) {
            e[i].kind = PW_EV_DIGEST;
            e[i].u.digest[0] = codec_next(rng), e[i].u.digest[1] = codec_next(rng);
        } else if (r % 11 == 0) {
            e[i].kind = PW_EV_UPDATES;
            e[i].u.updates.n = 3 + (int)(r % (PW_MAX_BLOCKS - 2));
            for (int k = 0; k < e[i].u.updates.n; k++)
                e[i].u.updates.ratio[k] = k == 2 ? NAN : 1e-3f * (float)k;
        } else {
            e[i].kind = PW_EV_STEP;
            e[i].u.step = (struct pw_ev_step){.loss = r % 60 == 1   ? NAN
                                                      : r % 60 == 2 ? INFINITY
                                                                    : (float)(r % 1000) * 0.01f,
                                              .accuracy = (float)(r % 32) / 32,
                                              .lr = 1e-3f,
                                              .grad_norm = 1,
                                              .flops = flops[arm][replica]};
        }
    }
    return e;
}

static void assert_same(const struct pw_event *a, const struct pw_event *b)
{
    struct pw_str x = {0}, y = {0};
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->seq, b->seq);
    assert_int_equal(a->t_ns, b->t_ns);
    assert_int_equal(a->arm, b->arm);
    assert_int_equal(a->replica, b->replica);
    assert_int_equal(a->step, b->step);
    encode(&x, a);
    encode(&y, b);
    assert_int_equal(x.len, y.len);
    assert_memory_equal(x.s, y.s, x.len);
    pw_str_fini(&x);
    pw_str_fini(&y);
}

static void test_run(void **state)
{
    enum { MANY = 100000 };
    uint64_t rng = 17;
    struct pw_event *e = metrics(MANY, &rng);
    struct pw_run run = {0};
    (void)state;
    for (int part = 0, at = 0; at < MANY; part++) { /* the second run reuses the cleared buffers */
        int end = part == 0 ? 1000 : MANY, i = at;
        for (int k = at; k < end; k++) {
            assert_true(pw_run_takes(&e[k]));
            pw_run_add(&run, &e[k]);
        }
        assert_int_equal(run.n, end - at);
        assert_int_equal(run.first, e[at].seq);
        assert_int_equal(run.seq, e[end - 1].seq);
        struct pw_run_reader r;
        struct pw_event back;
        struct pw_err err;
        bool got;
        pw_run_open(&r, run.bytes.s, run.bytes.len);
        for (; pw_run_next(&r, &back, &got, &err) == PW_OK && got; i++)
            assert_same(&back, &e[i]);
        assert_int_equal(i, end);
        pw_run_clear(&run);
        at = end;
    }
    pw_run_fini(&run);
    free(e);
}

static void test_run_takes(void **state)
{
    struct pw_event e = {.kind = PW_EV_STEP, .arm = 1};
    (void)state;
    for (int kind = 0; kind < PW_EV_KINDS; kind++) {
        e.kind = (enum pw_event_kind)kind;
        assert_int_equal(pw_run_takes(&e),
                         kind == PW_EV_STEP || kind == PW_EV_UPDATES || kind == PW_EV_DIGEST);
    }
    e.kind = PW_EV_STEP;
    e.arm = 0; /* an event of the lab doesn't exist here */
    assert_false(pw_run_takes(&e));
    e.arm = PW_MAX_ARMS;
    e.replica = PW_MAX_REPLICAS;
    assert_true(pw_run_takes(&e));
    e.replica++;
    assert_false(pw_run_takes(&e));
}

/* Every replica survives a round trip. The byte of the first five is the one of the oldest sessions. */
static void test_run_replicas(void **state)
{
    (void)state;
    for (int arm = 1; arm <= PW_MAX_ARMS; arm++)
        for (int replica = 0; replica <= PW_MAX_REPLICAS; replica++) {
            struct pw_event e = {.kind = PW_EV_DIGEST, .seq = 1, .arm = arm, .replica = replica}, back;
            struct pw_run run = {0};
            struct pw_run_reader r;
            bool got;
            pw_run_add(&run, &e);
            if (replica <= 5)
                assert_int_equal((unsigned char)run.bytes.s[1], 6 * arm + replica);
            pw_run_open(&r, run.bytes.s, run.bytes.len);
            assert_int_equal(pw_run_next(&r, &back, &got, NULL), PW_OK);
            assert_true(got && back.arm == arm && back.replica == replica);
            pw_run_fini(&run);
        }
}

/* Steps of 50 to 100 ms of three arms, as the default model takes them. */
static void test_run_size(void **state)
{
    struct pw_run run = {0};
    struct pw_event e = {.kind = PW_EV_STEP, .t_ns = INT64_C(1763778000000000000)};
    uint64_t rng = 19;
    (void)state;
    for (int i = 0; i < 3000; i++) {
        e.seq++;
        e.t_ns += 17000000 + (int64_t)(codec_next(&rng) % 17000000);
        e.arm = 1 + i % 3;
        e.step = 1 + i / 3;
        e.u.step = (struct pw_ev_step){2.0f / (float)e.step, 0.37f, 1e-3f, 1.3f, (double)e.step * 700123456};
        pw_run_add(&run, &e);
    }
    assert_true(run.bytes.len <= 3000 * 28);
    assert_true(run.bytes.len >= 3000 * 20); /* 16 of these are the values */
    pw_run_fini(&run);
}

static void test_run_damaged(void **state)
{
    uint64_t rng = 23;
    struct pw_event *e = metrics(200, &rng);
    struct pw_run run = {0};
    struct pw_snapshot *s = codec_snapshot();
    (void)state;
    for (int i = 0; i < 200; i++)
        pw_run_add(&run, &e[i]);
    for (int i = 0; i < 4000; i++) {
        struct pw_str bytes = {0};
        struct pw_run_reader r;
        struct pw_event back;
        struct pw_err err;
        bool got = true;
        uint64_t bit = codec_next(&rng) % (8 * run.bytes.len), last = 0;
        size_t n = i % 2 == 0 ? run.bytes.len : (size_t)(bit / 8);
        pw_str_put(&bytes, run.bytes.s, n);
        if (i % 2 == 0)
            bytes.s[bit / 8] = (char)(bytes.s[bit / 8] ^ 1 << bit % 8);
        pw_run_open(&r, bytes.s, bytes.len);
        while (got) {
            if (pw_run_next(&r, &back, &got, &err) != PW_OK) {
                assert_int_equal(err.code, PW_EUSER);
                assert_false(got);
            } else if (got) {
                assert_true(pw_run_takes(&back));
                assert_true(back.seq > last);
                last = back.seq;
                if (i % 50 == 0)
                    pw_fold(s, &back);
            }
        }
        pw_str_fini(&bytes);
    }
    pw_run_fini(&run);
    pw_snapshot_free(s);
    free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_comes_back),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_flipped),
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_run_takes),
        cmocka_unit_test(test_run_replicas),
        cmocka_unit_test(test_run_size),
        cmocka_unit_test(test_run_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
