/* test_decode.c - tests that decoding with a cache gives the bits of the whole sequence. This must hold for
 * any division of the tokens, and for any change of the model in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/decode.h"
#include "ref_fixed.h"
#include "ref_toy.h"

enum { V = 7, CONTEXT = 80 };

/* Writes the logits of the last row of the whole sequence. */
static void whole(struct pw_model *m, const int *tokens, int T, float *logits)
{
    static float all[CONTEXT * V];
    struct pw_err err = {0};

    if (pw_model_inspect(m, tokens, T, &(struct pw_inspection){.logits = all}, &err))
        fail_msg("%s", err.msg);
    memcpy(logits, all + (T - 1) * V, V * sizeof *logits);
    struct pw_inspection last = {.logits = all, .last_logits = true}; /* the row alone has the same bits */
    assert_int_equal(pw_model_inspect(m, tokens, T, &last, &err), PW_OK);
    assert_memory_equal(all, logits, V * sizeof *logits);
}

static void feed(struct pw_decoder *d, struct pw_model *m, const int *tokens, int n, const char *what)
{
    float got[V], want[V];
    struct pw_err err = {0};
    int T = pw_decoder_length(d) + n;

    if (pw_decoder_feed(d, tokens + T - n, n, got, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(pw_decoder_length(d), T);
    whole(m, tokens, T, want);
    if (memcmp(got, want, sizeof got) != 0)
        fail_msg("%s: the logits after token %d of %d new ones differ", what, T, n);
}

static struct pw_decoder *decoder(struct pw_model *m, int longest)
{
    struct pw_decoder *d;
    struct pw_err err = {0};

    if (pw_decoder_create(&d, m, longest, &err))
        fail_msg("%s", err.msg);
    return d;
}

/* Feeds tokens one at a time; all at once; a prompt and then single tokens; and after going back some
 * tokens. */
static void check(struct pw_model *m, const char *what)
{
    enum { T = 37 };
    struct pw_batch *b = toy_batch(3, 1, CONTEXT, CONTEXT, V);
    struct pw_decoder *d = decoder(m, CONTEXT);

    for (int t = 0; t < T; t++)
        feed(d, m, b->tokens, 1, what);
    pw_decoder_rewind(d, 0);
    feed(d, m, b->tokens, CONTEXT, what);
    pw_decoder_rewind(d, 20);
    feed(d, m, b->tokens, 1, what);
    feed(d, m, b->tokens, 18, what);
    feed(d, m, b->tokens, 1, what);
    pw_decoder_destroy(d);
    toy_batch_free(b);
}

static void check_model(struct toy *toy, const char *options, const char *name)
{
    char what[200];
    struct pw_config cfg = toy_config(options, V);
    struct pw_pe_use_opts pe;
    if (pw_pe_parse(&pe, name, &cfg, NULL))
        return; /* odd widths support neither rotation nor sines */
    struct pw_model *m = toy_model(toy, options, name, V, 1);
    toy_shake(m, 5);
    snprintf(what, sizeof what, "%s %s", name, options);
    check(m, what);
    pw_model_destroy(m);
}

/* Options with vector tails: widths that are no multiples of 16, norms, biases, a tied head. */
static void test_every_model(void **state)
{
    static const char *const options[] = {
        "layers=2 width=16 heads=2 context=80",
        "layers=1 width=13 heads=1 ffn=9 context=80 bias=on norm=layernorm act=gelu",
        "layers=3 width=20 heads=2 head_width=6 ffn=33 context=80 tied=on logit_scale=0.3 scale=off",
        "layers=2 width=34 heads=1 context=80 norm=none bias=on act=gelu_tanh",
        "layers=2 width=24 heads=3 context=80 norm_at=ff",
        "layers=2 width=24 heads=3 context=80 norm_at=after norm=layernorm bias=on tied=on embed_width=7",
        "layers=2 width=12 heads=3 context=80 causal=off",
        "layers=2 width=12 heads=3 context=80 adapter=2",
        "layers=2 width=16 heads=2 context=80 dropout=0.5",
        ("layers=2 width=24 heads=6 kv_heads=2 context=80 gated=on act=silu bias=qkv qk_norm=head "
         "post_norm=on embed_scale=4.9 logit_cap=5"),
        ("layers=2 width=16 heads=2 context=80 norm=layernorm bias=mlp head_bias=on parallel=shared "
         "embed_norm=on"),
    };
    static const char *const formulas[] = {
        "expr 'score = 3 * tanh(s / 3)'",
        "expr 'cap = learn(normal(2)) per head, layer; cut = 1 + abs(cap); score = cut * tanh(s / cut)'",
        "expr 'bias = -slopes()[h] * d; score = d > 2 ? s * (1 + l) : -s'",
        "expr 'bias = i * 0.01 - j * 0.02; mask = d < 9 || j < 2'",
        "expr 'angle = l % 2 == 0 ? 0 : i * 10000 ** (-2 * p / D)'",
        "expr 'angle = i * 10000 ** (-2 * p / D); gain = 0.9 ** ((key ? -1 : 1) * (i - 40))'",
    };

    for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
        for (int e = 0; pw_pes[e] != NULL; e++)
            if (!pw_pes[e]->needs_mask || strstr(options[o], "causal=off") == NULL)
                check_model(*state, options[o], pw_pes[e]->name);
        for (size_t f = 0; f < sizeof formulas / sizeof *formulas; f++)
            check_model(*state, options[o], formulas[f]);
    }
}

static void test_formulas(void **state)
{
    for (const struct ref_fixed_case *x = ref_fixed_cases; x->pe != NULL; x++)
        for (int both = 0; both <= x->both; both++) {
            struct pw_model *m = toy_model(*state,
                                           both ? "layers=2 width=12 heads=3 context=80 causal=off"
                                                : "layers=3 width=16 heads=2 context=80",
                                           x->pe, V, 1);
            toy_shake(m, 5);
            check(m, x->pe);
            pw_model_destroy(m);
        }
}

static void step(struct pw_model *m)
{
    struct pw_optim o = toy_optim("warmup=0");

    toy_step(m, &o, 9, 4, 5, 20, V);
}

/* Training steps, swapped encodings and new weights between two tokens. */
static void test_the_model_changes(void **state)
{
    static const char *const pes[] = {
        "rotary",
        "learned",
        "dpe",
        "shaw",
        "none logn=3",
        "rotary logn=4",
        "2dspe",
        "t5",
        "ldpe",
        "alibi",
        "fox",
        "fox open=4",
        "expr 'gate = -exp(g) * (h + l + 1); bias = -0.1 * d' logn=3",
        "expr 'scan = stick; angle = i / (p + 1); scale = log(n + 2)'",
        "expr 'scan = stick; angle = i / max(n, 9)'",
        "expr 'mixes = 2; mix = m - d * 0.1; angle = i / max(n, 9); scale = log(n + 2)'",
        "expr 'scan = context(6); embed = sin(i + c)'",
        "expr 'mixes = 2; P = learn(normal(1), 40) per mix; mix = P[d] - m * d; mask = d < 30' logn=5",
        "inkling",
        "inkling reach=5 alpha=0.5 floor=3",
        "inkling logn=4",
        "grape",
        "stickbreaking",
        "cope npos=5",
        "cope",
        "selective",
        "selective logn=4",
        "pope",
        "path",
        "path rank=4 conv=8 logn=4",
        "path conv=0",
        "wall",
        "wall gate_bias=0",
        "grape_turn",
        "grape_turn planes=1 base=20 offset=2"};
    struct pw_model *m = toy_model(*state, "layers=2 width=16 heads=2 context=80 dropout=0.2", "t5", V, 1);
    struct pw_batch *b = toy_batch(4, 1, CONTEXT, CONTEXT, V);
    struct pw_decoder *d = decoder(m, CONTEXT);

    feed(d, m, b->tokens, 5, "at first");
    for (size_t i = 0; i < sizeof pes / sizeof *pes; i++) {
        struct pw_pe_use_opts pe = toy_pe(pes[i], pw_model_config(m));
        step(m);
        feed(d, m, b->tokens, 1, "after a step");
        feed(d, m, b->tokens, 1, "and on");
        pw_decoder_destroy(d);
        toy_swap(&m, &pe, 2, true);
        d = decoder(m, CONTEXT);
        feed(d, m, b->tokens, 5, pes[i]);
        step(m);
        pw_decoder_rewind(d, pw_decoder_length(d) - 2);
        feed(d, m, b->tokens, 3, "after a step and back");
        toy_shake(m, i);
        feed(d, m, b->tokens, 1, "other weights");
    }
    pw_decoder_destroy(d);
    toy_batch_free(b);
    pw_model_destroy(m);
}

/* Several sequences in parallel, each at its own position; one of them goes back in between. */
static void test_side_by_side(void **state)
{
    enum { N = 5 };
    static const char *const pes[] = {"t5", "dpe"};

    for (int e = 0; e < 2; e++) {
        struct pw_model *m = toy_model(*state, "layers=2 width=16 heads=2 context=80", pes[e], V, 1);
        struct pw_batch *b = toy_batch(4, N, CONTEXT, CONTEXT, V);
        struct pw_decoder *d[N];
        const int *tokens[N];
        float got[N * V], want[V];
        int n[N];
        struct pw_err err = {0};

        for (int i = 0; i < N; i++)
            d[i] = decoder(m, CONTEXT);
        for (int turn = 0; turn < 9; turn++) {
            int used = 1 + turn % N;
            for (int i = 0; i < used; i++) {
                n[i] = 1 + (turn * 3 + i) % 4;
                tokens[i] = b->tokens + b->start[i] + pw_decoder_length(d[i]);
            }
            assert_int_equal(pw_decoder_feed_all(d, used, tokens, n, got, &err), PW_OK);
            for (int i = 0; i < used; i++) {
                whole(m, b->tokens + b->start[i], pw_decoder_length(d[i]), want);
                assert_memory_equal(got + i * V, want, sizeof want);
            }
            pw_decoder_rewind(d[0], pw_decoder_length(d[0]) / 2);
        }
        for (int i = 0; i < N; i++)
            pw_decoder_destroy(d[i]);
        toy_batch_free(b);
        pw_model_destroy(m);
    }
}

static void test_full(void **state)
{
    struct pw_model *m = toy_model(*state, "layers=1 width=8 heads=1 context=80", "none", V, 1);
    struct pw_batch *b = toy_batch(4, 1, CONTEXT, CONTEXT, V);
    struct pw_decoder *d = decoder(m, 9);
    float logits[V];
    struct pw_err err = {0};

    feed(d, m, b->tokens, 8, "short");
    assert_int_equal(pw_decoder_feed(d, b->tokens + 8, 2, logits, &err), PW_EUSER);
    assert_string_equal(err.msg, "the sequence has 10 tokens; this decoder reads at most 9");
    assert_int_equal(pw_decoder_length(d), 8);
    feed(d, m, b->tokens, 1, "the last that fits");
    pw_decoder_destroy(d);
    toy_batch_free(b);
    pw_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_model),
        cmocka_unit_test(test_formulas),
        cmocka_unit_test(test_the_model_changes),
        cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_full),
    };

    return cmocka_run_group_tests(tests, toy_setup, toy_teardown);
}
