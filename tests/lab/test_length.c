/* test_length.c - tests arms whose encoding depends on the length of the sequence. Teacher forcing reveals
 * the answer's length to them, decoding doesn't. */
#include <stdio.h>
#include <string.h>

#include "ref_lab.h"

#define SETUP                                                                                                \
    "task sort lengths=2..4 test=5..6 alphabet=6; model tiny context=32 layers=1 width=32 heads=4 ffn=64; "

static int exact_of(const struct pw_ev_eval *v, int length, bool taught)
{
    for (int i = 0; i < v->n; i++)
        if (v->rows[i].length == length)
            return taught ? v->rows[i].taught : v->rows[i].exact;
    return -1;
}

/* Exact match is that of prompts answered one by one. Teacher forcing finds more, as it reveals the answer's
 * length. */
static void evaluation_decodes(void **state)
{
    static const char *const pes[] = {"dpe", "learned_reversed"};
    struct bench b;
    char line[96];
    (void)state;
    bench_open(&b, 2, false);
    for (int e = 0; e < 2; e++) {
        snprintf(line, sizeof line, "pe %s; train 250; eval samples=24", pes[e]);
        bench_must(&b, SETUP);
        bench_must(&b, line);
        const struct pw_ev_eval *v = &b.s->arms[0].rep[0].eval;
        int taught = 0, decoded = 0, counted[7];
        for (int i = 0; i < v->n; i++)
            assert_int_equal(v->rows[i].judge, PW_JUDGE_DECODED);
        for (int n = 2; n <= 6; n++) {
            counted[n] = exact_of(v, n, false);
            taught += exact_of(v, n, true);
        }
        for (int n = 2; n <= 6; n++) {
            int exact = 0;
            for (int k = 0; k < 24; k++) {
                snprintf(line, sizeof line, "sample length=%d index=%d", n, k);
                bench_must(&b, line);
                exact += b.exact;
            }
            assert_int_equal(exact, counted[n]);
            decoded += exact;
        }
        assert_true(taught > decoded);
    }
    bench_close(&b);
}

/* An inspection uses the current length: it adds as many rows of the table as there are tokens. */
static void a_look_takes_what_is_there(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, SETUP "pe dpe; train 5; prompt sort 3 1; inspect layer=0 head=1 view=pp");
    const struct pw_ev_attention *a = &b.s->attention;
    int T = a->T;
    assert_non_null(a->terms);
    assert_true(T > 4);
    bench_must(&b, "back; next"); /* computes the contributions to every token, and checks their sum */
    assert_true(b.s->look.worst < 1e-4);
    bench_must(&b, "inspect layer=0 head=1 view=pp");
    assert_int_equal(b.s->attention.T, T);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluation_decodes),
        cmocka_unit_test(a_look_takes_what_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
