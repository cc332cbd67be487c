/* test_looks.c - tests what is computed of the pinned prompt in one pass, and of long prompts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ref_lab.h"

static void *copied(const void *p, size_t bytes)
{
    void *to = malloc(bytes);
    assert_non_null(to);
    memcpy(to, p, bytes);
    return to;
}

/* The inspection that comes with the attention, from the same pass, has the bits of one that comes alone:
 * when the cursor has moved away and back. */
static void test_one_pass(void **state)
{
    static const char *const pes[] = {"rotary", "alibi", "learned", "rspe", "none", "t5"};
    (void)state;
    for (size_t i = 0; i < sizeof pes / sizeof *pes; i++) {
        struct bench b;
        char line[160];
        bench_open(&b, 2, false);
        snprintf(line, sizeof line,
                 "model tiny layers=2 width=16 heads=2; pe %s; train 20; prompt sort 3 1 4 1 5", pes[i]);
        bench_must(&b, line);
        assert_true(b.s->has_look && b.s->n_tokens > 1);
        const struct pw_ev_inspection *k = &b.s->look;
        size_t parts = (size_t)k->n_parts * (size_t)k->n * sizeof *k->part;
        size_t lens = (size_t)(k->layers + 1) * sizeof *k->lens;
        int pos = k->pos, n = k->n;
        double *part = copied(k->part, parts);
        void *of_lens = copied(k->lens, lens);
        bench_must(&b, "back; next");
        assert_true(k->pos == pos && k->n == n);
        assert_memory_equal(part, k->part, parts);
        assert_memory_equal(of_lens, k->lens, lens);
        free(part);
        free(of_lens);
        bench_close(&b);
    }
}

static float score_named(const struct pw_ev_attention *a, int head, const char *name, float *chance)
{
    int s = 0;
    while (strcmp(a->kinds[s].name, name) != 0)
        assert_true(++s < a->n_scores);
    *chance = a->kinds[s].chance;
    return a->scores[head * a->n_scores + s];
}

/* Above 1,024 tokens the entropy is a mean over some queries, the first and others in equal steps; so is its
 * value by chance. */
static void test_long(void **state)
{
    enum { BLOCK = 16 };
    struct bench b;
    float chance;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, "model tiny layers=1 width=16 heads=2 context=1400; task text path=" PEWTER_SOURCE_DIR
                   "/texts/chronicle.txt lengths=64 test=65..1300; pe alibi; train 5; sample length=1300");
    const struct pw_ev_attention *a = &b.s->attention;
    int T = a->T, every = (T + 511) / 512, n = 0;
    assert_in_range(T, 1200, 1400);
    assert_true(a->pool == 0 && a->probs != NULL);
    for (int head = 0; head < 2; head++) {
        double sum = 0, uniform = 0;
        n = 0;
        for (int q = 1; q < T; q++) {
            if (q / BLOCK % every != 0)
                continue;
            uniform += log2(q + 1);
            n++;
            for (int k = 0; k <= q; k++) {
                double p = (double)pw_from_half(a->probs[((size_t)head * T + q) * T + k]);
                sum -= p > 0 ? p * log2(p) : 0;
            }
        }
        float found = score_named(a, head, "entropy", &chance);
        assert_true(fabs((double)found - sum / n) < 0.01);
        assert_true(fabs((double)chance - uniform / n) < 1e-4);
        found = score_named(a, head, "position's part", &chance);
        assert_true(found > 0 && found < 1);
    }
    assert_in_range(n, T / every - 2 * BLOCK, T / every + 2 * BLOCK);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_pass),
        cmocka_unit_test(test_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
