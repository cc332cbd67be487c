/* test_attention.c - tests the attention events of the pinned prompt, and that they are kept during
 * training. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ref_lab.h"
#include "sessions/codec.h"

static float at(const uint16_t *map, const struct pw_ev_attention *a, int q, int k)
{
    return pw_from_half(map[(size_t)q * a->T + k]);
}

/* The terms exist if positions are in the residual stream. They add up to the content within the precision of
 * 16 bits. */
static void check_terms(const struct pw_ev_attention *a)
{
    size_t square = (size_t)a->T * a->T;
    assert_non_null(a->terms);
    for (int q = 0; q < a->T; q++)
        for (int k = 0; k <= q; k++) {
            float sum = 0, size = 0.1f;
            for (size_t term = 0; term < 4; term++) {
                sum += at(a->terms + term * square, a, q, k);
                size += fabsf(at(a->terms + term * square, a, q, k));
            }
            assert_true(fabsf(sum - at(a->content, a, q, k)) < 2e-3f * size);
        }
}

static void test_terms(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, 1, false);
    bench_must(&b, "task sort lengths=2..8; race none,learned,t5,rotary; train 20; prompt sort 3 1 2");
    const struct pw_ev_attention *a = &b.s->attention;
    bench_must(&b, "inspect layer=0 head=1 view=cc");
    assert_null(a->terms); /* no position enters layer 0 */
    assert_true(a->asked && !a->adds && !a->rotates && !a->biases && !a->sees_all);
    bench_must(&b, "inspect layer=1 head=1 view=pp");
    check_terms(a); /* the mask brings positions into layer 1 */
    assert_int_equal(a->samples, 64);
    bench_must(&b, "inspect view=probs");
    assert_null(a->terms); /* too costly to emit without a request */
    bench_must(&b, "arm 2; prompt sort 3 1 2; inspect layer=0 view=probs");
    check_terms(a);
    assert_true(a->adds);
    assert_int_equal(a->samples, 0); /* exact, not sampled */
    bench_must(&b, "arm 3; prompt sort 3 1 2; inspect layer=0 view=bias");
    assert_true(a->biases && a->terms == NULL);
    bench_must(&b, "arm 4; prompt sort 3 1 2");
    assert_true(a->rotates && !a->asked);
    bench_must(&b, "model causal=off; prompt sort 3 1 2");
    assert_true(a->sees_all);
    bench_close(&b);
}

/* The content of a walk is the plain product, which the own key has; each token has a factor or a mean gate.
 */
static void test_walks(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, 1, false);
    bench_must(&b, "task sort lengths=2..8; race path,wall(gate_bias=1); train 20; prompt sort 3 1 2");
    bench_must(&b, "inspect layer=1 head=1");
    const struct pw_ev_attention *a = &b.s->attention;
    for (int arm = 1; arm <= 2; arm++) {
        assert_true(a->rotates == (arm == 1) && a->biases == (arm == 2) && !a->gates);
        assert_non_null(a->gate_values);
        float most = 0.0f;
        for (int i = 0; i < a->heads * a->T; i++) {
            assert_true(a->gate_values[i] > 0.0f && a->gate_values[i] < (arm == 1 ? 2.0f : 1.0f));
            most = fmaxf(most, a->gate_values[i]);
        }
        assert_true(arm == 1 ? most > 0.9f : most > 0.6f); /* they start at 1 and sigmoid(1) */
        for (int q = 0; q < a->T; q++) {
            assert_true(fabsf(at(a->bias, a, q, q)) < 1e-5f);
            for (int k = 0; k < q; k++)
                assert_true(fabsf(at(a->score, a, q, k) - at(a->content, a, q, k) - at(a->bias, a, q, k)) <
                            2e-2f);
        }
        if (arm == 1)
            bench_must(&b, "arm 2; prompt sort 3 1 2; inspect layer=0 head=1");
    }
    bench_close(&b);
}

/* Contextual positions are sums of gates on the content; the rest of a stick completes each row. */
static void test_scans(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, 1, false);
    bench_must(&b, "task sort lengths=2..8; race cope(npos=4),stickbreaking; train 20; prompt sort 3 1 2");
    bench_must(&b, "inspect layer=1 head=1");
    const struct pw_ev_attention *a = &b.s->attention;
    assert_true(a->positions != NULL && a->biases && !a->rests);
    for (int q = 0; q < a->T; q++) {
        double sum = 0;
        for (int k = q; k >= 0; k--) {
            sum += 1 / (1 + exp(-(double)at(a->content, a, q, k)));
            assert_true(fabs(fmin(sum, 3) - (double)at(a->positions, a, q, k)) < 5e-3);
        }
        for (int k = q + 1; k < a->T; k++)
            assert_true(at(a->positions, a, q, k) == 0);
    }
    bench_must(&b, "arm 2; prompt sort 3 1 2; inspect layer=0 head=0 view=bias");
    assert_true(a->positions == NULL && !a->biases && a->rests);
    for (int q = 0; q < a->T; q++) {
        double left = 1;
        for (int k = q - 1; k >= 0; k--)
            left /= 1 + exp((double)at(a->score, a, q, k));
        size_t own = (size_t)q * a->T + (size_t)q;
        assert_true(fabs(left - (double)pw_from_half(a->probs[own])) < 5e-3);
    }
    bench_must(&b, "table");
    assert_string_equal(b.s->arms[1].table.order, "a scan over the keys, which reads the tokens");
    bench_run(&b, "export table x.npz");
    assert_string_equal(b.error, "export table: stickbreaking has a scan over the keys, which an .npz file "
                                 "can't hold: allowed is .json");
    bench_close(&b);
}

/* The gate is minus the sum of votes, and votes are the positive scores of head 0 without it. */
static void test_selection(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, 1, false);
    bench_must(&b,
               "task sort lengths=2..8; pe selective; train 20; prompt sort 3 1 2; inspect layer=1 head=0");
    const struct pw_ev_attention *a = &b.s->attention;
    enum { MOST = 64 };
    double lost[MOST] = {0}, most = 0;
    assert_true(a->gates && !a->biases && !a->rotates && a->gate_values == NULL && a->T < MOST);
    for (int q = 0; q < a->T; q++)
        for (int k = 0; k <= q; k++) {
            double content = (double)at(a->content, a, q, k);
            assert_true(fabs((double)at(a->gate, a, q, k) + lost[k]) < 5e-3 * (1 + lost[k]));
            assert_true(at(a->bias, a, q, k) == 0);
            lost[k] += k > 0 && k < q ? fmax(content, 0) : 0;
            most = fmax(most, lost[k]);
        }
    assert_true(most > 0.01);
    bench_must(&b, "inspect head=1 view=gate");
    for (int k = 0; k < a->T - 1; k++)
        assert_true(at(a->gate, a, a->T - 1, k) <= 0 && at(a->gate, a, 2, k) == 0);
    bench_must(&b, "table");
    assert_string_equal(b.s->arms[0].table.order, "votes of tokens, which hide keys from later ones");
    bench_run(&b, "export table x.npz");
    assert_string_equal(b.error, "export table: selective has votes of the tokens, which an .npz file can't "
                                 "hold: allowed is .json");
    bench_close(&b);
}

/* The share of the variation of a head's scores that comes from position. NaN if no position acts. */
static float position_part(const struct pw_ev_attention *a)
{
    assert_string_equal(a->kinds[a->n_scores - 1].name, "position's part");
    return a->scores[(a->layer * a->heads + a->head + 1) * a->n_scores - 1];
}

static void test_position_part(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, 1, false);
    bench_must(&b, "race none,learned,alibi; prompt sort 3 1 2; inspect layer=0 head=0");
    assert_true(isnan(position_part(&b.s->attention)));
    bench_must(&b, "arm 2; prompt sort 3 1 2; inspect layer=0");
    assert_in_range(position_part(&b.s->attention) * 1000, 100, 990); /* both parts have the same magnitude */
    bench_must(&b, "inspect layer=1 view=score");
    assert_true(isnan(position_part(&b.s->attention)));
    bench_must(&b, "arm 3; prompt sort 3 1 2 1 5 6; inspect layer=0");
    float steep = position_part(&b.s->attention);
    bench_must(&b, "inspect head=7");
    assert_true(steep > position_part(&b.s->attention) && steep > 0.02f);
    bench_close(&b);
}

/* Returns a head's score by its name. */
static float score_named(const struct pw_ev_attention *a, int layer, int head, const char *name)
{
    for (int k = 0; k < a->n_scores; k++)
        if (strcmp(a->kinds[k].name, name) == 0)
            return a->scores[(layer * a->heads + head) * a->n_scores + k];
    fail_msg("no score '%s'", name);
    return NAN;
}

/* Content, bias and gate add up to the score. The gate is the sum of the logarithms of the gates of the
 * tokens between key and query. */
static void check_gates(const struct pw_ev_attention *a)
{
    assert_true(a->gates && !a->biases && !a->rotates && !a->adds);
    for (int q = 0; q < a->T; q++) {
        double kept = 0;
        for (int k = q; k >= 0; k--) {
            float content = at(a->content, a, q, k), gate = at(a->gate, a, q, k);
            assert_true(at(a->bias, a, q, k) == 0);
            assert_true(fabsf(at(a->score, a, q, k) - content - gate) <
                        2e-3f * (0.1f + fabsf(content) - gate));
            assert_true(fabs((double)gate - kept) < 1e-3 * (0.1 - kept));
            float f = a->gate_values[a->head * a->T + k];
            assert_true(f > 0 && f < 1);
            kept += log((double)f);
        }
    }
    for (int h = 0; h < a->layers * a->heads; h++) {
        float gate = score_named(a, h / a->heads, h % a->heads, "gate's part");
        assert_true(gate > 0 && gate < 1);
        assert_true(score_named(a, h / a->heads, h % a->heads, "position's part") == 0);
    }
}

static void test_gates(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, 1, false);
    bench_must(&b, "race fox,t5; train 20; prompt sort 3 1 2; inspect layer=0 head=3 view=bias");
    const struct pw_ev_attention *a = &b.s->attention;
    check_gates(a);
    float first = a->gate_values[0];
    bench_must(&b, "inspect view=+1");
    assert_int_equal(a->view, PW_VIEW_GATE);
    bench_must(&b, "inspect view=+1"); /* the scores of layer 0 have no four terms */
    assert_int_equal(a->view, PW_VIEW_PROBS);
    bench_must(&b, "inspect view=gate layer=1 head=6");
    assert_int_equal(a->view, PW_VIEW_GATE);
    check_gates(a);
    assert_true(a->gate_values[0] != first);
    bench_must(&b, "inspect view=+1");
    assert_int_equal(a->view, PW_VIEW_CC);
    check_terms(a);
    bench_must(&b, "arm 2; inspect view=gate");
    assert_true(!a->gates && a->gate == NULL && a->gate_values == NULL);
    bench_must(&b, "inspect view=+1"); /* t5 has no gate view to move on from */
    assert_int_equal(a->view, PW_VIEW_PROBS);
    bench_close(&b);
}

/* A bias that each token mixes is the position's part, and differs between queries at one distance. */
static void test_mixed_bias(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, 1, false);
    bench_must(&b, "pe inkling; train 20; prompt sort 3 1 2; inspect layer=0 head=3 view=bias");
    const struct pw_ev_attention *a = &b.s->attention;
    assert_true(a->biases && !a->gates && a->gate == NULL);
    for (int q = 0; q < a->T; q++)
        for (int k = 0; k <= q; k++) {
            float content = at(a->content, a, q, k), bias = at(a->bias, a, q, k);
            assert_true(fabsf(at(a->score, a, q, k) - content - bias) < 2e-3f * (0.1f + fabsf(content)));
        }
    assert_true(at(a->bias, a, 2, 1) != at(a->bias, a, 3, 2));
    float part = score_named(a, 0, 3, "position's part");
    assert_true(part > 0 && part < 1);
    bench_close(&b);
}

/* The gold pointers: the query before each token of the answer, and the position of that symbol in the
 * prompt. */
static void test_gold(void **state)
{
    (void)state;
    static const struct pw_gold want[] = {{4, 2}, {5, 3}, {6, 1}};
    struct bench b;
    bench_open(&b, 1, false);
    bench_must(&b, "task sort lengths=2..8; train 200; prompt sort 3 1 2");
    const struct pw_ev_attention *a = &b.s->attention;
    assert_int_equal(a->n_prompt, 5); /* sort 3 1 2 > */
    assert_int_equal(a->n_gold, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(a->gold[i].query, want[i].query);
        assert_int_equal(a->gold[i].key, want[i].key);
    }
    /* The score is the mean attention on the gold pointers. */
    double mass = 0;
    for (int i = 0; i < 3; i++)
        mass += (double)at(a->probs, a, want[i].query, want[i].key) / 3;
    int s = 0;
    while (s < a->n_scores && strcmp(a->kinds[s].name, "gold pointers") != 0)
        s++;
    assert_in_range(s, 0, a->n_scores - 1);
    assert_true(fabs(a->scores[s] - mass) < 1e-3);
    assert_true(fabsf(a->kinds[s].chance - (1.0f / 5 + 1.0f / 6 + 1.0f / 7) / 3) < 1e-6f);
    bench_close(&b);
}

/* In the workbench early steps are all kept, later ones more rarely. The maps stay until another prompt is
 * pinned. */
static void test_kept_while_training(void **state)
{
    (void)state;
    static const int64_t steps[] = {0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 30};
    struct bench b;
    int64_t found;
    bench_open(&b, 2, true);
    bench_must(&b, "race none,t5; prompt sort 3 1 2; train 30; mark here");
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        assert_non_null(pw_kept_attention(b.s, 1, steps[i], &found));
        assert_int_equal(found, steps[i]);
    }
    assert_int_equal(b.s->ticks[b.s->n_ticks - 1].kind, PW_TICK_MARK);
    assert_int_equal(b.s->ticks[b.s->n_ticks - 1].step, 30);
    bench_must(&b, "prompt sort 1 2");
    assert_null(pw_kept_attention(b.s, 1, 29, &found));
    bench_close(&b);
}

/* Relative moves wrap around, and start from the head that is currently shown. */
static void test_moves(void **state)
{
    static const struct {
        const char *line;
        int layer, head, view;
    } cases[] = {
        {"inspect head=+1", 0, 1, PW_VIEW_PROBS},
        {"inspect head=+1; inspect head=+2; inspect head=-4", 0, 0, PW_VIEW_PROBS},
        {"inspect head=-1 layer=+1", 1, 7, PW_VIEW_PROBS},
        {"inspect head=-4 layer=+1", 0, 3, PW_VIEW_PROBS},
        {"inspect view=-1", 0, 3, PW_VIEW_BIAS}, /* no position in the stream: there are no terms */
        {"inspect view=+1; inspect view=pp", 0, 3, PW_VIEW_PP},
        {"inspect head=0", 0, 0, PW_VIEW_PP}, /* requested, so it stays */
        {"inspect view=+1", 0, 0, PW_VIEW_PROBS},
        {"inspect layer=-1; inspect view=-2", 1, 0, PW_VIEW_PC},
        {"arm 2; inspect layer=0 view=-1", 0, 0, PW_VIEW_CP},
        {"inspect view=bias; inspect view=+1", 0, 0, PW_VIEW_CC},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "race t5,learned; prompt sort 3 1 2; inspect layer=0 head=0 view=probs");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench_must(&b, cases[i].line);
        assert_int_equal(b.s->attention.layer, cases[i].layer);
        assert_int_equal(b.s->attention.head, cases[i].head);
        assert_int_equal(b.s->attention.view, cases[i].view);
    }
    bench_run(&b, "inspect head=8");
    assert_string_equal(b.error, "inspect: head=8: arm 2 has heads 0..7");
    bench_run(&b, "inspect view=cx");
    assert_non_null(strstr(b.error, "cc|cp|pc|pp|gate|+N|-N"));
    bench_close(&b);
}

/* An attention that takes the other heads from the one before has the bits of one that computes all. */
static void test_known_heads(void **state)
{
    static const char *const pes[] = {"learned", "t5", "none", "fox"};
    (void)state;
    for (size_t i = 0; i < sizeof pes / sizeof *pes; i++) {
        struct bench b;
        struct pw_event then = {.kind = PW_EV_ATTENTION};
        bench_open(&b, 1, false);
        char line[160];
        snprintf(line, sizeof line, "pe %s; train 3; prompt sort 3 1 2; inspect layer=1 head=2 view=cc",
                 pes[i]);
        bench_must(&b, line);
        then.u.attention = b.s->attention;
        struct pw_event *first = pw_event_copy(&then);
        bench_must(&b, "inspect layer=0 head=5 view=bias; inspect layer=1 head=2 view=cc"); /* both known */
        struct pw_difference d;
        then.u.attention = b.s->attention;
        assert_true(pw_event_same(first, &then, &d));
        bench_must(&b, "train 1; inspect layer=0 head=0");
        assert_true(b.s->attention.scores[0] != first->u.attention.scores[0]);
        pw_event_free(first);
        bench_close(&b);
    }
}

/* A cell of a pooled map has the largest of its pairs. */
static void check_pooled(const struct pw_ev_attention *a)
{
    size_t map = ((size_t)a->layer * a->heads + a->head) * a->side * a->side;
    uint16_t *most = calloc((size_t)a->side * a->side, sizeof *most);
    assert_non_null(most);
    for (int q = 0; q < a->T; q++) {
        double sum = 0;
        for (int k = 0; k < a->T; k++) {
            uint16_t p = a->map[(size_t)q * a->T + k], *cell = &most[q / a->pool * a->side + k / a->pool];
            sum += (double)pw_from_half(p);
            *cell = pw_from_half(p) > pw_from_half(*cell) ? p : *cell;
        }
        assert_true(fabs(sum - 1) < 0.01);
    }
    assert_memory_equal(most, a->pooled + map, (size_t)a->side * a->side * sizeof *most);
    free(most);
}

/* With many tokens and heads, an event has pooled maps, and all pairs of one head. */
static void test_pooled(void **state)
{
    (void)state;
    struct bench b;
    struct pw_str line = {0};
    bench_open(&b, 2, false);
    bench_must(&b, "model tiny layers=8 width=16 heads=16 context=450; pe alibi");
    bench_must(&b, "task text path=" PEWTER_SOURCE_DIR "/texts/chronicle.txt lengths=16");
    pw_str_add(&line, "prompt ");
    for (int i = 0; i < 400; i++)
        pw_str_add(&line, "%c", "the wolves "[i * i % 11]);
    bench_must(&b, line.s);
    const struct pw_ev_attention *a = &b.s->attention;
    assert_true(a->T > 400 && a->T <= 450);
    assert_null(a->probs);
    assert_int_equal(a->pool, 3);
    assert_int_equal(a->side, (a->T + 2) / 3);
    check_pooled(a);
    float first = a->scores[0], here = at(a->score, a, 390, 0);
    bench_must(&b, "inspect layer=5 head=3");
    check_pooled(a);
    assert_true(a->scores[0] == first && at(a->score, a, 390, 0) != here);
    bench_must(&b, "model tiny layers=8 width=16 context=64; prompt the wolves");
    assert_true(a->probs != NULL && a->pooled == NULL && a->map == NULL && a->pool == 0);
    pw_str_fini(&line);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_terms),       cmocka_unit_test(test_position_part),
        cmocka_unit_test(test_gates),       cmocka_unit_test(test_mixed_bias),
        cmocka_unit_test(test_gold),        cmocka_unit_test(test_pooled),
        cmocka_unit_test(test_known_heads), cmocka_unit_test(test_scans),
        cmocka_unit_test(test_selection),   cmocka_unit_test(test_walks),
        cmocka_unit_test(test_moves),       cmocka_unit_test(test_kept_while_training),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
