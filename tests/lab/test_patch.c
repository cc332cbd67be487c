/* test_patch.c - tests activation patching in a lab: the recovery at both ends is known exactly. */
#include <stdio.h>
#include <string.h>

#include "ref_lab.h"

static float at(const struct bench *b, int row, int col)
{
    return b->s->patch.recovery[row * b->s->patch.cols + col];
}

static void test_maps(void **state)
{
    struct bench b;
    float map[2 * 8], kept;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, "model tiny width=32 heads=8; task sort lengths=2..4; train 60; prompt sort 3 1 2; patch "
                   "resid from=\"sort 3 4 2\"");
    const struct pw_ev_patch *p = &b.s->patch;
    assert_true(b.s->has_patch && b.s->patch_arm == 1 && b.s->patch_step == 60);
    assert_int_equal(p->rows, 3);
    assert_int_equal(p->cols, 5); /* sort 3 1 2 >: the answers differ at the first token */
    assert_string_equal(p->clean_token, "1");
    assert_string_equal(p->corrupt_token, "2");
    assert_false(p->greedy);
    assert_true(p->m_clean - p->m_corrupt > 0.1f);
    for (int t = 0; t < 5; t++) { /* the differing input, and the output position, recover all */
        assert_true(at(&b, 0, t) == (t == 2 ? 1 : 0));
        assert_true(at(&b, 2, t) == (t == 4 ? 1 : 0));
    }
    assert_true(at(&b, 1, 2) + at(&b, 1, 4) > 0.3f);
    kept = at(&b, 1, 2);

    bench_must(&b, "patch resid 1 2 from=\"sort 3 4 2\""); /* one value: the map stays */
    assert_int_equal(b.s->patch.rows, 3);
    char want[64];
    snprintf(want, sizeof want, "patch resid 1 2 from \"sort 3 4 2\": recovery %.3f;", (double)kept);
    assert_non_null(strstr(b.s->log[(b.s->n_log - 1) % PW_LOG_LINES].text, want));
    bench_must(&b, "patch resid 1 from=\"sort 3 4 2\"");
    assert_non_null(strstr(b.s->log[(b.s->n_log - 1) % PW_LOG_LINES].text, "recovery 1.000;"));

    bench_must(&b, "patch heads from=\"sort 3 4 2\"");
    assert_int_equal(b.s->patch.rows, 2);
    assert_int_equal(b.s->patch.cols, 8);
    memcpy(map, b.s->patch.recovery, sizeof map);
    bench_must(&b, "set threads 1; ablate 1.5; patch heads from=\"sort 3 4 2\"");
    assert_true(at(&b, 1, 5) == 0); /* this head is off in both runs */
    bench_must(&b, "restore; train 1; patch heads from=\"sort 3 4 2\"; patch heads 4 from=\"sort 3 4 2\"");
    assert_int_equal(b.s->patch.pos, 4);
    /* The last block is read at the last position only, so in layer 1 the other positions don't matter. */
    float all[8];
    for (int h = 0; h < 8; h++)
        all[h] = at(&b, 1, h);
    bench_must(&b, "patch heads from=\"sort 3 4 2\"");
    for (int h = 0; h < 8; h++)
        assert_true(at(&b, 1, h) == all[h]);
    bench_close(&b);
    bench_open(&b, 1, true); /* the same bits, with live events and other threads */
    bench_must(&b, "model tiny width=32 heads=8; task sort lengths=2..4; train 60; prompt sort 3 1 2; patch "
                   "heads from=\"sort 3 4 2\"");
    assert_memory_equal(b.s->patch.recovery, map, sizeof map);
    bench_close(&b);
}

/* The common prefix of both answers is appended to both prompts. */
static void test_a_shared_beginning(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "train 5; prompt sort 1 2 8; patch resid from=\"sort 2 9 1\"");
    assert_int_equal(b.s->patch.T, 5 + 2);
    assert_string_equal(b.s->patch.clean[5], "1");
    assert_string_equal(b.s->patch.corrupt[6], "2");
    assert_string_equal(b.s->patch.clean_token, "8");
    assert_string_equal(b.s->patch.corrupt_token, "9");
    bench_close(&b);
}

/* The model doesn't see where the prompts differ: an error instead of a division by zero. */
static void test_nothing_to_recover(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "prompt sort 3 1 2; ablate 0.*,1.*");
    bench_run(&b, "patch resid from=\"sort 3 4 2\"");
    assert_non_null(strstr(b.error, "patch: the model does not distinguish the prompts: the logit of "));
    assert_false(b.s->has_patch);
    bench_close(&b);
}

static void test_refused(void **state)
{
    static const struct {
        const char *line, *error;
    } cases[] = {
        {"patch resid", "usage: patch resid|heads|L.H [L] [POS] from=\"PROMPT\" [arm=K] [replica=R]"},
        {"patch resid from=\"sort 1 2\"",
         "patch: no prompt is pinned; run 'prompt TEXT' first, such as 'prompt sort 3 1 4 1 5'"},
        {"prompt sort 2 1; patch all from=\"sort 1 3\"",
         "patch: 'all': allowed: resid, heads, L.H; usage: patch resid|heads|L.H [L] [POS] from=\"PROMPT\" "
         "[arm=K] [replica=R]"},
        {"patch resid from=\"sort 1 3 4\"",
         "patch: the corrupt prompt has 5 tokens, the pinned one 4; both must have the same length"},
        {"patch resid from=\"sort 2 1\"", "patch: the corrupt prompt equals the pinned one; give another"},
        {"patch resid from=\"sort 1 2\"",
         "patch: both prompts have the same answer, so recovery is not defined"},
        {"patch resid 3 from=\"sort 3 2\"",
         "patch: layer 3: allowed are 0..1, and 2 for the output of the last layer"},
        {"patch resid 0 4 from=\"sort 3 2\"",
         "patch: position 4: allowed are 0..3, the prompt and the common part of the answers"},
        {"patch 0.* from=\"sort 3 2\"", "patch: '0.*' names several heads; 'patch heads' shows all"},
        {"patch 0.1 2 2 from=\"sort 3 2\"", "patch: too many arguments; usage: patch resid|heads|L.H [L] "
                                            "[POS] from=\"PROMPT\" [arm=K] [replica=R]"},
    };
    struct bench b;
    char digest[sizeof b.digests];
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "model tiny width=16 heads=8 ffn=16; train 3; digest");
    memcpy(digest, b.digests, sizeof digest);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench_run(&b, cases[i].line);
        assert_string_equal(b.error, cases[i].error);
        assert_false(b.s->has_patch);
    }
    bench_must(&b, "digest");
    assert_string_equal(b.digests, digest);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_a_shared_beginning),
        cmocka_unit_test(test_nothing_to_recover),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
