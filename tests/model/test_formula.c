/* test_formula.c - tests the fixed tables of formulas: their values, what an inspection shows of hidden keys,
 * that the instruction sets agree, and what a model refuses. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/expr/expr.h"
#include "model/model_int.h"
#include "ref_fixed.h"
#include "ref_toy.h"

#define SMALL "layers=2 width=16 heads=4 context=24"

static struct toy toy;

static void assert_near(double found, double expected, double tolerance, const char *what, int i)
{
    if (!(fabs(found - expected) <= tolerance || found == expected))
        fail_msg("%s[%d] is %.12g, not %.12g", what, i, found, expected);
}

static struct pw_pe_tables tables(const char *options, const char *pe, int P)
{
    struct pw_model *m = toy_model(&toy, options, pe, 3, 1);
    struct pw_pe_tables t;
    struct pw_err err = {0};
    if (pw_model_tables(m, P, &t, &err))
        fail_msg("%s", err.msg);
    pw_model_destroy(m);
    return t;
}

/* ---- by distance or by both positions */

static void test_by_distance(void **state)
{
    static const struct {
        const char *text;
        bool by_distance;
    } cases[] = {
        {"bias = -slopes()[h] * d", true},
        {"bias = -slopes()[h] * (i - j)", true},
        {"bias = i - j + h * 3", true},
        {"bias = 0.5 * i - j / 2", true},
        {"bias = (h + 1) * i - (h + 1) * j", true},
        {"bias = i / context - j / context", true},
        {"bias = -(j - i)", true},
        {"bias = i > j ? d : 0", false},
        {"bias = i - j > 0 ? d : 0", true},
        {"bias = d > 4 ? i - j : d", true},
        {"bias = i", false},
        {"bias = i - 2 * j", false},
        {"bias = i * j - j * i", false},
        {"bias = i - h * j", false},
        {"bias = floor(i / 2) - floor(j / 2)", false},
        {"bias = sum(k=1..3, k * (i - j))", true},
        {"bias = sum(k=0..i, k)", false},
        {"bias = n - i", false},
        {"bias = context - l + L", true},
        {"position = i * L / context; bias = -d", true},
        {"position = i * L / context + i * h; bias = -d", false},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct pw_expr *x;
        assert_int_equal(pw_expr_parse(&x, cases[k].text, NULL, NULL), PW_OK);
        if (pw_expr_by_distance(x, PW_STAGE_BIAS) != cases[k].by_distance)
            fail_msg("%s", cases[k].text);
        assert_true(pw_expr_by_distance(x, PW_STAGE_MASK));
        pw_expr_free(x);
    }
}

/* The same function written by distance and by both positions has the same values. */
static void test_dense(void **state)
{
    enum { P = 21 };
    struct pw_pe_tables a = tables(SMALL, "expr 'bias = -slopes()[h] * d; mask = d < 9'", P);
    struct pw_pe_tables b =
        tables(SMALL, "expr 'bias = i < 0 ? 7 : -slopes()[h] * (i - j); mask = j > i - 9'", P);
    (void)state;
    assert_true(a.bias != NULL && a.dense == NULL && b.dense != NULL && b.bias == NULL);
    for (int h = 0; h < 4; h++)
        for (int i = 0; i < P; i++)
            for (int j = 0; j <= i; j++) {
                float one = pw_pe_bias_at(&a, h, i, j), two = pw_pe_bias_at(&b, h, i, j);
                assert_true(one == two && (isinf(one) != 0) == (i - j >= 9));
            }
    pw_pe_tables_free(&a);
    pw_pe_tables_free(&b);
}

/* ---- layers */

static void test_layers(void **state)
{
    enum { P = 20 };
    static const char *const text = "expr 'angle = l * i * 0.25; bias = -(l + 1) * d'";
    struct pw_pe_tables t = tables(SMALL " layers=3", text, P);
    struct pw_pe_tables shared = tables(SMALL " layers=3", "expr 'angle = i * 0.25; bias = -d'", P);
    (void)state;
    assert_true(shared.turn_layer == 0 && shared.bias_layer == 0 && shared.gain_layer == 0);
    assert_true(t.turn_layer == P * 2 && t.bias_layer == 4 * (2 * P - 1));
    for (int l = 0; l < 3; l++) {
        struct pw_pe_tables at = pw_pe_tables_at(&t, l);
        for (int i = 0; i < P; i++) {
            assert_near((double)at.cosine[i * 2], cos(0.25 * l * i), 1e-7, "cosine", i);
            assert_near((double)at.sine[i * 2 + 1], sin(0.25 * l * i), 1e-7, "sine", i);
            assert_near((double)pw_pe_bias_at(&at, 2, i, 0), -(l + 1) * i, 0, "bias", i);
        }
    }
    pw_pe_tables_free(&t);
    pw_pe_tables_free(&shared);
}

/* A formula that only looks as if it differed by layer gives the bits of one that does not. A partial
 * rotation has those of the built-in one. */
static void test_equal(void **state)
{
    static const char *const pes[][2] = {
        {"rotary dims=4 pairing=half", "expr 'rotary_dim = 4; angle = i * 10000 ** (-p / pairs)'"},
        {"rotary dims=4 pairing=interleaved base=50",
         "expr 'rotary_dim = 4; angle = i * 50 ** (-2 * p / 4); pairing = interleaved'"},
        {"expr 'rotary_dim = 4; angle = i / (p + 1) + i / 8'",
         "expr 'rotary_dim = 4; angle = l + n + key >= 0 ? i / (p + 1) + i / 8 : 0'"},
        {"expr 'angle = i * 10000 ** (-2 * p / D)'", "expr 'angle = l >= 0 ? i * 10000 ** (-2 * p / D) : 0'"},
        {"expr 'bias = -slopes()[h] * d'", "expr 'bias = l >= 0 ? -slopes()[h] * d : 0'"},
        {"expr 'bias = -slopes()[h] * d'", "expr 'bias = l >= 0 && i >= 0 ? -slopes()[h] * d : 0'"},
        {"expr 'mask = d < 5'", "expr 'mask = l >= 0 && j > i - 5'"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof pes / sizeof *pes; k++) {
        uint64_t digest[2][2];
        for (int side = 0; side < 2; side++) {
            struct pw_model *m = toy_model(&toy, SMALL " width=32", pes[k][side], 7, 1);
            struct pw_optim o = toy_optim("warmup=0 lr=0.01");
            for (int i = 0; i < 5; i++)
                toy_step(m, &o, (uint64_t)i, 6, 2, 20, 7);
            pw_model_digest(m, digest[side]);
            pw_model_destroy(m);
        }
        if (memcmp(digest[0], digest[1], sizeof digest[0]) != 0)
            fail_msg("%s", pes[k][1]);
    }
}

/* ---- scale, L and n */

static void test_scale(void **state)
{
    enum { P = 9 };
    static const char *const text = "expr 'scale = l + h * 10 + max(1, log(n) / log(L))' L=3 logn=4";
    struct pw_pe_tables t = tables(SMALL, text, P);
    (void)state;
    assert_true(t.gain_layer == 4 * P && t.cosine == NULL && t.bias == NULL);
    for (int l = 0; l < 2; l++)
        for (int h = 0; h < 4; h++)
            for (int i = 0; i < P; i++) {
                double logn = i < 4 ? 1 : log(i + 1) / log(4);
                assert_near((double)t.gain[(l * 4 + h) * P + i],
                            (l + h * 10 + fmax(1, log(i + 1) / log(3))) * logn, 1e-5, "gain", i);
            }
    pw_pe_tables_free(&t);
}

/* L is set with the encoding: given, the task's, or the context. It is part of the text. */
static void test_trained(void **state)
{
    static const struct {
        int trained;
        const char *pe, *text;
    } cases[] = {
        {0, "expr 'bias = -d / L'", "expr 'bias = -d / L' L=24"},
        {12, "expr 'bias = -d / L'", "expr 'bias = -d / L' L=12"},
        {12, "expr 'bias = -d / L' L=5", "expr 'bias = -d / L' L=5"},
        {12, "expr 'bias = -d'", "expr 'bias = -d'"},
        {12, "expr 'a = option(2, 1..9); bias = -a * d / L' a=3 L=5",
         "expr 'a = option(2, 1 .. 9); bias = -a * d / L' a=3 L=5"},
        {12, "expr 'a = option(2, 1..9); bias = -a * d / L' L=5 a=3",
         "expr 'a = option(2, 1 .. 9); bias = -a * d / L' a=3 L=5"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct pw_config cfg = toy_config(SMALL, 7);
        struct pw_str text = {0};
        cfg.trained = cases[k].trained;
        struct pw_pe_use_opts use = toy_pe(cases[k].pe, &cfg), again;
        pw_pe_print(&use, &text);
        assert_string_equal(pw_str_text(&text), cases[k].text);
        cfg.trained = 99; /* its own text sets it, not the training lengths of another day */
        again = toy_pe(pw_str_text(&text), &cfg);
        assert_memory_equal(&use, &again, sizeof use);
        pw_str_fini(&text);
    }
    struct pw_config cfg = toy_config(SMALL, 7);
    struct pw_pe_use_opts use = toy_pe(cases[4].pe, &cfg);
    assert_int_equal(pw_pe_turn(&use, "L=7", &cfg, NULL), PW_OK);
    assert_int_equal(pw_pe_turn(&use, "a=4", &cfg, NULL), PW_OK);
    struct pw_str text = {0};
    pw_pe_print(&use, &text);
    assert_string_equal(pw_str_text(&text), "expr 'a = option(2, 1 .. 9); bias = -a * d / L' a=4 L=7");
    pw_str_fini(&text);
}

static void test_position(void **state)
{
    enum { P = 20 };
    static const struct {
        const char *pe;
        bool dense;
    } cases[] = {
        {"expr 'position = i * 0.5 + 3; bias = d'", false},
        {"expr 'position = i * L / context; bias = d' L=12", false},
        {"expr 'position = i < 0 ? 0 : i * 0.5; bias = d'", true},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct pw_pe_tables t = tables(SMALL, cases[k].pe, P);
        assert_true((t.dense != NULL) == cases[k].dense);
        for (int i = 0; i < P; i++)
            for (int j = 0; j <= i; j++)
                assert_near((double)pw_pe_bias_at(&t, 1, i, j), 0.5 * (i - j), 1e-6, cases[k].pe, i);
        pw_pe_tables_free(&t);
    }
}

/* ---- golden numbers */

/* Sandwich (Chi et al. 2023) with dbar = 128, head 1 of 8: sums of 64 cosines, divided by h * 8 / H. p-RoPE
 * (Barbero et al. 2024), d = 8, p = 0.5. NTK-aware RoPE with s = 4, base 48760.54616817902; the Llama 4
 * scale. All in double precision with numpy from the papers' equations. */
static void test_golden(void **state)
{
    enum { P = 24 };
    struct pw_pe_tables s = tables(
        SMALL " heads=8", "expr 'bias = sum(k=0..63, cos(d * 10000 ** (-k / 64))) * H / 8 / (h + 1)'", P);
    struct pw_pe_tables p = tables("layers=1 width=8 heads=1 context=24",
                                   "expr 'angle = p < 0.5 * D / 2 ? i * 10000 ** (-2 * p / D) : 0'", P);
    struct pw_pe_tables n = tables("layers=1 width=16 heads=1 context=24",
                                   "expr 'angle = i * (10000 * 4 ** (D / (D - 2))) ** (-2 * p / D)'", P);
    struct pw_pe_tables w = tables(SMALL, "expr 'mask = d < 4 || j < 2'", P);
    struct pw_pe_tables g = tables("layers=1 width=8 heads=1 context=16",
                                   "expr 'scale = 1 + 0.1 * log(1 + floor((i * 8192 + 1) / 8192))'", 16);
    static const double ntk[] = {1,
                                 0.25941281701492275,
                                 0.0672950096316178,
                                 0.017457188019584336,
                                 0.004528618321319533,
                                 0.0011747816359188909,
                                 0.00030475341355111886,
                                 7.905694150420948e-05};
    static const double half[] = {1, 0.1, 0, 0};
    (void)state;
    for (int d = 0; d < P; d++) {
        double sum = 0;
        for (int k = 0; k < 64; k++)
            sum += cos(d * pow(10000, -k / 64.0));
        assert_near((double)pw_pe_bias_at(&s, 1, d, 0), sum / 2, 1e-5, "sandwich", d);
    }
    for (int k = 0; k < 4; k++)
        assert_near((double)p.sine[4 + k], sin(half[k]), 1e-7, "p-RoPE", k);
    for (int k = 0; k < 8; k++)
        assert_near((double)n.sine[8 + k], sin(ntk[k]), 1e-7, "NTK-aware", k);
    for (int i = 0; i < P; i++)
        for (int j = 0; j <= i; j++)
            assert_true((pw_pe_bias_at(&w, 3, i, j) == 0) == (i - j < 4 || j < 2));
    for (int i = 0; i < 16; i++)
        assert_near((double)g.gain[i], 1 + 0.1 * log(1 + i), 1e-6, "Llama 4", i);
    pw_pe_tables_free(&s);
    pw_pe_tables_free(&p);
    pw_pe_tables_free(&n);
    pw_pe_tables_free(&w);
    pw_pe_tables_free(&g);
}

/* ---- hidden keys */

/* Each query sees a key; hidden keys have score and bias -inf and probability 0; nothing is NaN. */
static void test_inspection(void **state)
{
    enum { L = 2, H = 4, T = 24, N = L * H * T * T };
    static float content[N], bias[N], score[N], probs[N];
    struct pw_model *m = toy_model(&toy, SMALL, "expr 'bias = -d; mask = d < 2 + l || j == h'", 7, 1);
    struct pw_batch *b = toy_batch(3, 1, T, T, 7);
    struct pw_err err = {0};
    (void)state;
    toy_shake(m, 3);
    assert_int_equal(
        pw_model_inspect(
            m, b->tokens, T,
            &(struct pw_inspection){.content = content, .bias = bias, .score = score, .probs = probs}, &err),
        PW_OK);
    for (int k = 0; k < N; k++) {
        int l = k / (H * T * T), h = k / (T * T) % H, i = k / T % T, j = k % T;
        bool after = j > i, seen = !after && (i - j < 2 + l || j == h);
        assert_true((score[k] == -INFINITY) == !seen && (after || isfinite(content[k])));
        assert_true(seen ? probs[k] > 0 : probs[k] == 0);
        assert_true(after  ? bias[k] == 0
                    : seen ? fabs((double)bias[k] + i - j) < 1e-4
                           : bias[k] == -INFINITY);
    }
    toy_batch_free(b);
    pw_model_destroy(m);
}

/* All instruction sets give the same bits. */
static void test_bits(void **state)
{
    static const char *const isas[] = {"scalar", "avx2", "avx512"};
    (void)state;
    for (const struct ref_fixed_case *x = ref_fixed_cases; x->pe != NULL; x++) {
        uint64_t first[2], digest[2];
        for (int k = 0; k < 3; k++) {
            struct pw_err err = {0};
            struct toy t = {.ops = pw_backend_cpu_isa(isas[k], &err)};
            if (t.ops == NULL)
                continue;
            assert_int_equal(t.ops->open(&t.be, 1, &err), PW_OK);
            struct pw_model *m =
                toy_model(&t, "layers=2 width=24 heads=3 context=40 dropout=0.1", x->pe, 7, 1);
            struct pw_optim o = toy_optim("warmup=0 lr=0.01");
            for (int i = 0; i < 3; i++)
                assert_true(isfinite(toy_step(m, &o, (uint64_t)i, 5, 2, 38, 7).loss));
            pw_model_digest(m, digest);
            if (k == 0)
                memcpy(first, digest, sizeof digest);
            if (memcmp(first, digest, sizeof digest) != 0)
                fail_msg("%s: %s has other bits", x->pe, isas[k]);
            pw_model_destroy(m);
            toy_close(&t);
        }
    }
}

/* A stage with fixed values behind a bias with learned parameters, which have no values in a table. */
static void test_behind_learned(void **state)
{
    const char *pe = "expr 'T = learn(1, 5) per head; bias = T[d] + mlp(d); scale = 1 + i / 9; angle = i'";
    struct pw_pe_tables t = tables(SMALL, pe, 6);
    (void)state;
    for (int i = 0; i < 6; i++)
        assert_near(t.gain[i], 1 + i / 9.0, 1e-6, "scale", i);
    pw_pe_tables_free(&t);
}

static void test_refused(void **state)
{
    static const struct {
        const char *options, *pe, *message;
    } cases[] = {
        {SMALL, "expr 'embed = sin(i + l)'",
         "expr: embed: no 'l': embeddings are added once, before layer 0"},
        {SMALL, "expr 'mask = d > 0'", "expr: mask: query i=0 sees no key (layer 0, head 0)"},
        {SMALL, "expr 'mask = h < 2 || l < 1 || i != 7 || j > i'",
         "expr: mask: query i=7 sees no key (layer 1, head 2)"},
        {SMALL " causal=off", "expr 'mask = j > i - 1'", NULL},
        {SMALL " causal=off", "expr 'mask = j > i'", "expr: mask: query i=0 sees no key (layer 0, head 0)"},
        {SMALL, "expr 'mask = log(j - 3)'", "expr: mask is not finite at i=0, j=0, head 0"},
        {SMALL, "expr 'bias = 1 / (i - j - 3 * l)'", "expr: bias is not finite at d=0, head 0, layer 0"},
        {SMALL, "expr 'bias = log(d); mask = d > 0 || i == 0'",
         "expr: bias is not finite at i=0, j=0, head 0"},
        {SMALL, "expr 'bias = log(d); mask = d > 0' stretch=2",
         "expr: mask: query i=0 sees no key (layer 0, head 0)"},
        {SMALL, "expr 'bias = sqrt(23 - d)'", NULL},
        {SMALL, "expr 'gate = log(sigmoid(g)) * slopes()[l]'", NULL},
        {SMALL, "expr 'gate = log(sigmoid(g)) * slopes()[h]'",
         "expr: gate: slopes() of a value that is not constant: use it in 'bias'"},
        {SMALL, "expr 'g = 2; bias = -g * d'", NULL},
        {SMALL, "expr 'gate = g * d'", "expr: gate: no 'd': a gate reads the token alone; 'bias' has d"},
        {SMALL, "expr 'g = 2; gate = g'",
         "expr: gate: it must read g, the token's projection, which no other name may hide; constants belong "
         "into 'bias'"},
        {SMALL, "expr 'gate = g; score = 2 * s'",
         "expr: gate: not beside a score: the function of scores would act on the sums"},
        {SMALL, "expr 'a = learn(1); gate = a * g'", "expr: gate: no learned parameters here: write numbers"},
        {SMALL, "expr 'gate = h > 2 ? log(g + 2) : g'", "expr: gate is not finite at g=-10, head 3"},
        {SMALL " causal=off", "expr 'gate = -exp(g)'",
         "expr: causal=off: it sums over earlier tokens, so it needs causal=on"},
        {SMALL, "expr 'scan = stick; bias = -d'",
         "expr: scan: not beside 'bias': allowed are embed, scale, angle, gain and position"},
        {SMALL, "expr 'scan = stick; gate = -exp(g)'",
         "expr: scan: not beside 'gate': allowed are embed, scale, angle, gain and position"},
        {SMALL, "expr 'scan = stick; mixes = 2; mix = m * d'",
         "expr: scan: not beside 'mix': allowed are embed, scale, angle, gain and position"},
        {SMALL, "expr 'scan = context(9); angle = i'",
         "expr: scan: not beside 'angle': allowed are embed, scale and position"},
        {SMALL, "expr 'scan = context(9); mask = d < 3'",
         "expr: scan: not beside 'mask': allowed are embed, scale and position"},
        {SMALL, "expr 'scan = stick; position = index(i); embed = position(i)'",
         "expr: scan: not beside positions by tokens: it reads keys in the order of their rows"},
        {SMALL, "expr 'scan = stick; position = i / 2'",
         "expr: position: no stage reads it: write a bias, an angle or an embed"},
        {SMALL " causal=off", "expr 'scan = stick'",
         "expr: causal=off: it sums over earlier tokens, so it needs causal=on"},
        {SMALL, "expr 'scan = stick; embed = sin(i); gain = 2'", NULL},
        {SMALL, "expr 'm = 2; bias = -m * d'", NULL},
        {SMALL, "expr 'x = m * d; bias = x'", "expr: bias: no 'm': only mix can read it"},
        {SMALL, "expr 'x = g * d; bias = x'", "expr: bias: no 'g': only gate can read it"},
        {SMALL, "expr 'x = key * p; bias = x'", "expr: bias: no 'p': a score is one number for all pairs"},
        {SMALL, "expr 'x = key * d; bias = x'", "expr: bias: no 'key': only angle and gain can read it"},
        {SMALL, "expr 'mixes = 3; mix = exp(-d / (m + 1)); score = 2 * tanh(s)'", NULL},
        {SMALL, "expr 'mixes = 1; mix = -d'", NULL},
        {SMALL, "expr 'position = i / 2; mixes = 2; mix = -d * m'", NULL},
        {SMALL, "expr 'mixes = 3; mix = m * i'",
         "expr: mix: it reads i or j, not d alone: a mix is a function of the distance"},
        {SMALL, "expr 'mixes = 3; mix = m * h * d'",
         "expr: mix: no 'h': heads share the functions, and weigh them differently"},
        {SMALL, "expr 'mixes = 3; mix = m * d / n'", "expr: mix: no 'n': a mix reads the distance alone"},
        {SMALL, "expr 'mixes = 3; mix = -d'",
         "expr: mix: its 3 functions are equal: it must read m, which no other name may hide, or a parameter "
         "'per mix'"},
        {SMALL, "expr 'm = 3; mixes = 3; mix = -d * m'",
         "expr: mix: its 3 functions are equal: it must read m, which no other name may hide, or a parameter "
         "'per mix'"},
        {SMALL, "expr 'mixes = 2; mix = mlp(d) * m'",
         "expr: mix: no 'mlp': its outputs belong to heads, which share the functions"},
        {SMALL, "expr 'mixes = 2; mix = m * d; gate = -exp(g)'",
         "expr: mix: not beside a gate: a layer has one projection of its input"},
        {SMALL, "expr 'a = learn(1); mixes = 2; mix = m * d; scale = a * i'",
         "expr: mix: not beside a scale with learned parameters: its gradient would lack the mix"},
        {SMALL, "expr 'mixes = 2; mix = m * sum(k=1..d, k)'",
         "expr: mix: the ends of a sum are numbers, as in sum(k=1..8, ...)"},
        {SMALL, "expr 'a = learn(1) per head; mixes = 2; mix = m * a * d'",
         "expr: mix: 'a' has a value per head: only bias, scale and score can read it"},
        {SMALL, "expr 'a = learn(1) per mix; bias = a * d'",
         "expr: bias: 'a' has a value per mix: only mix can read it"},
        {SMALL, "expr 'mixes = 2; mix = 1 / (d - 3 + 9 * (l == 0) + m)'",
         "expr: mix is not finite at d=3, m=0, layer 1"},
        {SMALL, "expr 'mixes = 2; mix = d < 3 ? m + 1 / (d - 3) : 0'", NULL},
        {SMALL, "expr 'mixes = 2; mix = m * d' stretch=2",
         "expr: stretch=2: there are no values between the distances of its bank"},
        {SMALL, "expr 'angle = i * h'", "expr: angle: no 'h': heads share their rotation"},
        {SMALL, "expr 'angle = i / n'", NULL},
        {SMALL, "expr 'bias = p * d'", "expr: bias: no 'p': a score is one number for all pairs"},
        {SMALL, "expr 'scale = c'", "expr: scale: no 'c': a score is one number for all channels"},
        {SMALL, "expr 'scale = 1 / (i - 3 - h)'", "expr: scale is not finite at i=3, head 0"},
        {SMALL " causal=off", "expr 'scale = n'",
         "expr: scale: no 'n': with causal=off every query sees all keys"},
        {SMALL, "expr 'position = i * 2'",
         "expr: position: no stage reads it: write a bias, an angle or an embed"},
        {SMALL, "expr 'bias = -d / L' L=0", "expr: L=0: allowed are 1..1048576"},
        {SMALL, "expr 'bias = sqrt(23 - d)' stretch=2", "expr: bias is not finite at d=24, head 0"},
        {SMALL, "expr 'bias = sqrt(i - j) + (i > 23 ? log(-1) : 0)' offset=5",
         "expr: bias is not finite at i=24, j=5, head 0"},
        {"layers=2 width=16 heads=4 context=40000", "expr 'bias = i * 0.01'",
         "expr: bias reads i or j, not d alone: context=40000: allowed are 32768"},
        {"layers=2 width=16 heads=4 context=20000", "expr 'bias = d; mask = j < l'",
         "expr: mask reads i or j, not d alone: its table of 4 heads, 2 layers and context=20000 needs 12.8 "
         "GB: "
         "allowed are 2 GB"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct pw_config cfg = toy_config(cases[k].options, 7);
        struct pw_pe_use_opts use;
        struct pw_err err = {0};
        enum pw_code code = pw_pe_parse(&use, cases[k].pe, &cfg, &err);
        if ((code == PW_OK) != (cases[k].message == NULL) ||
            (code != PW_OK && strcmp(err.msg, cases[k].message) != 0))
            fail_msg("%s: %s", cases[k].pe, err.msg);
    }
}

static int setup(void **state)
{
    (void)state;
    toy = toy_open(2);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    toy_close(&toy);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_distance),    cmocka_unit_test(test_dense),
        cmocka_unit_test(test_layers),         cmocka_unit_test(test_equal),
        cmocka_unit_test(test_scale),          cmocka_unit_test(test_trained),
        cmocka_unit_test(test_position),       cmocka_unit_test(test_golden),
        cmocka_unit_test(test_inspection),     cmocka_unit_test(test_bits),
        cmocka_unit_test(test_behind_learned), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("formula", tests, setup, teardown);
}
