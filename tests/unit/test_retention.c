/* test_retention.c - tests that a session stays within its budget: what it removes first, and what it always
 * keeps. */
#include "ref_session.h"

#include <sqlite3.h>

#include "base/alloc.h"
#include "base/file.h"
#include "ref_codec.h"
#include "sessions/schema.h"

static void put_checkpoint(struct pw_store *s, uint64_t seq, size_t n, uint8_t sha[32])
{
    uint8_t *p = pw_alloc(n, 1);
    uint64_t x = seq;
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(codec_next(&x) >> 40);
    session_store(s, sha, p, n);
    struct pw_event *e = pw_event_new(PW_EV_CHECKPOINT);
    e->seq = seq;
    e->u.checkpoint.as_of = seq - 1;
    e->u.checkpoint.n_files = 1;
    e->u.checkpoint.bytes = (int64_t)n;
    e->u.checkpoint.files = pw_alloc(1, sizeof *e->u.checkpoint.files);
    e->u.checkpoint.state = pw_text_dup("{}");
    memcpy(e->u.checkpoint.files[0], sha, 32);
    pw_store_put(s, e);
    pw_event_free(e);
}

static void put_picture(struct pw_store *s, uint64_t seq, bool asked)
{
    uint64_t rng = seq;
    struct pw_event *e = pw_event_new(PW_EV_ATTENTION);
    struct pw_ev_attention *a = &e->u.attention;
    *a = (struct pw_ev_attention){.prompt = 1, .T = 24, .layers = 2, .heads = 4, .n_prompt = 5};
    a->labels = pw_alloc(24, sizeof *a->labels);
    a->probs = pw_alloc(8 * 24 * 24, sizeof *a->probs);
    a->score = pw_alloc(24 * 24, sizeof *a->score);
    a->content = pw_alloc(24 * 24, sizeof *a->content);
    a->bias = pw_alloc(24 * 24, sizeof *a->bias);
    for (int i = 0; i < 8 * 24 * 24; i++)
        a->probs[i] = (uint16_t)(codec_next(&rng) >> 50);
    e->seq = seq;
    e->t_ns = (int64_t)seq * 3000000000;
    e->arm = 1;
    e->step = (int64_t)seq;
    e->u.attention.asked = asked;
    pw_store_put(s, e);
    pw_event_free(e);
}

static bool has_file(struct pw_record *r, const uint8_t sha[32])
{
    void *bytes;
    size_t n;
    bool has = pw_record_file(r, sha, &bytes, &n, NULL) == PW_OK;
    free(bytes);
    return has;
}

static void stays_within_its_budget(void **state)
{
    enum { N = 40, SIZE = 100000, FORK = 22, PIN = 15 };
    char path[4096];
    uint8_t sha[N][32];
    struct pw_err err;
    struct pw_ev_session status;
    struct pw_store_config cfg = {.folder = session_path(state, path),
                                  .create = true,
                                  .budget = 1000000,
                                  .env = {.pewter = "x", .kernel_abi = 1}};
    struct pw_store *s;
    assert_int_equal(pw_store_open(&s, &cfg, &err), PW_OK);
    for (int i = 0; i < N; i++) {
        if (i == N / 2) { /* also across the end of a process */
            pw_store_close(s, "quit");
            cfg.create = false;
            assert_int_equal(pw_store_open(&s, &cfg, &err), PW_OK);
        }
        put_checkpoint(s, 10 * (uint64_t)i + 10, SIZE, sha[i]);
        if (i == PIN)
            pw_store_keep(s, sha[i]);
        if (i == FORK) {
            struct pw_event *e = pw_event_new(PW_EV_ARM);
            e->seq = 10 * (uint64_t)i + 11;
            e->arm = 2;
            e->u.arm = (struct pw_ev_arm){.id = 2, .parent = 1, .restarted = true};
            pw_store_put(s, e);
            pw_event_free(e);
        }
        session_wait(s, 10 * (uint64_t)i + 11);
    }
    pw_store_close(s, "quit");
    cfg.create = false;
    assert_int_equal(pw_store_open(&s, &cfg, &err), PW_OK);
    pw_store_status(s, &status);
    assert_string_equal(status.why, "");
    assert_in_range(status.bytes, 700000, 1000000);
    assert_in_range(status.checkpoints, 7, 9);
    pw_store_close(s, "quit");
    struct pw_record *r = session_read(path);
    uint64_t intact;
    int kept = 0, n;
    if (pw_record_check(r, &intact, &err) != PW_OK)
        fail_msg("%s", err.msg);
    for (int i = 0; i < N; i++)
        kept += has_file(r, sha[i]);
    static const int stay[] = {0, PIN, FORK, N - 3, N - 2, N - 1};
    for (size_t i = 0; i < sizeof stay / sizeof stay[0]; i++)
        if (!has_file(r, sha[stay[i]]))
            fail_msg("checkpoint %d is gone", stay[i]);
    assert_int_equal(kept, status.checkpoints);
    session_sum(r, 1, UINT64_MAX, &n);
    assert_int_equal(n, N + 1); /* the events remain recorded */
    pw_record_close(r);

    cfg.budget = 300000; /* less than the required parts need */
    assert_int_equal(pw_store_open(&s, &cfg, &err), PW_OK);
    pw_store_status(s, &status);
    assert_int_equal(status.how, PW_REC_ON);
    assert_non_null(strstr(status.why, "of a budget of 0.3 MB, and nothing more can be deleted"));
    pw_store_close(s, "quit");
}

/* Requested pictures are kept. Of the others fewer are kept, the later they are. */
static void thins_pictures_first(void **state)
{
    char path[4096];
    uint8_t sha[5][32];
    struct pw_err err;
    struct pw_store_config cfg = {
        .folder = session_path(state, path), .create = true, .env = {.pewter = "x", .kernel_abi = 1}};
    struct pw_store *s;
    assert_int_equal(pw_store_open(&s, &cfg, &err), PW_OK);
    struct pw_event *e = pw_event_new(PW_EV_STATE);
    e->seq = 1;
    e->u.state.run = PW_RUN_TRAINING;
    pw_store_put(s, e);
    pw_event_free(e);
    e = pw_event_new(PW_EV_PROMPT);
    e->seq = 2;
    e->t_ns = 6000000000;
    e->u.prompt.id = 1;
    pw_store_put(s, e);
    pw_event_free(e);
    for (uint64_t seq = 3; seq <= 300; seq++)
        put_picture(s, seq, seq % 50 == 0);
    for (uint64_t i = 0; i < 5; i++)
        put_checkpoint(s, 301 + i, 1000, sha[i]);
    pw_store_close(s, "quit");
    cfg.create = false;
    cfg.budget = 800000;
    assert_int_equal(pw_store_open(&s, &cfg, &err), PW_OK);
    pw_store_close(s, "quit");
    struct pw_record *r = session_read(path);
    uint64_t intact, seq = 301;
    int n = 0, asked = 0;
    if (pw_record_check(r, &intact, &err) != PW_OK)
        fail_msg("%s", err.msg);
    while ((e = pw_record_last(r, PW_EV_ATTENTION, 1, -1, seq)) != NULL) {
        n++;
        asked += e->u.attention.asked;
        assert_true(e->seq == 300 || n > 1); /* the last one is kept */
        seq = e->seq - 1;
        pw_event_free(e);
    }
    struct pw_record_info info;
    pw_record_info(r, &info);
    assert_int_equal(info.damaged, 0);
    assert_int_equal(asked, 6);
    assert_in_range(n, 6 + 8, 6 + 54);
    for (int i = 0; i < 5; i++)
        assert_true(has_file(r, sha[i]));
    pw_record_close(r);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, session_setup, session_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(stays_within_its_budget),
        TEST(thins_pictures_first),
    };
    return cmocka_run_group_tests_name("retention", tests, NULL, NULL);
}
