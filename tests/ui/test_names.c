/* test_names.c - tests that an arm's name is its encoding as it runs: sizes, and every setting that differs
 * from the bare name's. */
#include "plot/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "model/config.h"
#include "model/pe.h"

static void expect(const char *pe, int swaps, const char *want)
{
    struct pw_arm_view a = {.used = true, .info = {.id = 2, .swaps = swaps}};
    struct pw_str name = {0};
    pw_text_copy(a.info.pe, sizeof a.info.pe, pe);
    sscanf(pe, "%15s", a.info.name);
    pw_arm_name(&a, &name);
    assert_string_equal(pw_str_text(&name), want);
    pw_str_fini(&name);
}

static void test_sizes(void **state)
{
    (void)state;
    expect("none", 0, "2 none");
    expect("t5 buckets=8 distance=16", 0, "2 t5 8/16");
    expect("t5 buckets=8 distance=16", 1, "2 t5 8/16 " PW_SWAPPED);
    expect("t5 buckets=32 distance=128", 0, "2 t5 32/128");
    expect("clipped distance=16", 0, "2 clipped 16");
    expect("fire hidden=32 threshold=8", 0, "2 fire threshold=8");
    expect("rotary base=10000 dims=0 pairing=half", 0, "2 rotary");
    expect("rotary base=500 dims=4 pairing=interleaved", 0, "2 rotary base=500 dims=4 pairing=interleaved");
    expect("sinusoidal base=10000 layout=split amplitude=1", 1, "2 sinusoidal layout=split " PW_SWAPPED);
}

/* A formula is named by its file, or by the beginning of its first stage. */
static void test_formulas(void **state)
{
    struct pw_str text = {0};
    (void)state;
    expect("expr 'bias = -d'", 0, "2 expr bias = -d");
    expect("grape_turn base=10000 planes=0", 0, "2 grape_turn");
    expect("grape_turn base=10000 planes=3", 0, "2 grape_turn planes=3");
    expect("expr 'mix = exp(-d / 2 ** m); mixes = 4'", 0, "2 expr mix = exp(-d/2**m)");
    expect("expr 'gate = -exp(g); a = 1; scale = a'", 0, "2 expr gate = -exp(g)");
    expect("expr 'scan = stick; pairing = half'", 0, "2 expr scan = stick");
    expect("expr 'm = slopes()[h]; bias = -m * d / 2'", 1, "2 expr bias = -m*d/2 " PW_SWAPPED);
    expect("expr 'angle = i * 10000 ** (-2 * p / D); gain = 2' stretch=0.5", 0,
           "2 expr angle = i*10000**(-2*p/D… stretch=0.5");
    expect("expr 'a = option(1, 0 .. 9); b = option(2, 0 .. 9); bias = -a * d ** b' a=1 b=2 as=mine", 0,
           "2 mine");
    expect("expr 'a = option(1, 0 .. 9); b = option(2, 0 .. 9); bias = -a * d ** b' a=1 b=3 as=mine gain=2",
           0, "2 mine b=3 gain=2");
    pw_encoding_text(&text, "expr 'a = option(1, 0 .. 9); bias = -a * d' a=1 as=mine");
    assert_string_equal(text.s, "mine a=1");
    pw_str_clear(&text);
    pw_encoding_text(
        &text, "expr 'bias = sum(k=1 .. 40, cos(k * d) * exp(-k)) + sum(k=1 .. 40, sin(k * d) * exp(-k)) + "
               "log1p(d) + d * d * d' offset=2");
    assert_string_equal(text.s,
                        "expr 'bias = sum(k=1 .. 40, cos(k * d) * exp(-k)) + sum(k=1 .. 40, sin(k * d) * "
                        "exp(-k)) + log1p(d) + d * …' offset=2");
    pw_str_clear(&text);
    pw_encoding_text(&text, "t5 buckets=8 distance=16");
    assert_string_equal(text.s, "t5 buckets=8 distance=16");
    pw_str_fini(&text);
}

/* For every encoding: two that compute differently have different names. The bare name is used for its
 * meaning in all our models. */
static void test_every_encoding(void **state)
{
    struct pw_config small, large;
    struct pw_optim optim;
    struct pw_err err;
    (void)state;
    assert_int_equal(pw_preset("tiny", &small, &optim, &err), PW_OK);
    large = small;
    large.context = 512;
    for (int i = 0; pw_pes[i] != NULL; i++) {
        struct pw_pe_use_opts a, b;
        struct pw_str text_a = {0}, text_b = {0}, name_a = {0}, name_b = {0};
        assert_int_equal(pw_pe_parse(&a, pw_pes[i]->name, &small, &err), PW_OK);
        assert_int_equal(pw_pe_parse(&b, pw_pes[i]->name, &large, &err), PW_OK);
        pw_pe_print(&a, &text_a);
        pw_pe_print(&b, &text_b);
        pw_encoding_name(&name_a, text_a.s);
        pw_encoding_name(&name_b, text_b.s);
        assert_int_equal(strcmp(text_a.s, text_b.s) == 0, strcmp(name_a.s, name_b.s) == 0);
        if (strcmp(pw_pes[i]->name, "clipped") != 0) /* its size is part of the name, as t5's is */
            assert_int_equal(strcmp(name_a.s, pw_pes[i]->name) == 0, pw_pes[i]->choice == NULL);
        pw_str_fini(&text_a);
        pw_str_fini(&text_b);
        pw_str_fini(&name_a);
        pw_str_fini(&name_b);
    }
}

/* All options of tune.c. */
static void test_tuned(void **state)
{
    char pe[64], want[64];
    (void)state;
    expect("rotary base=10000 dims=0 pairing=half stretch=0.5 logn=9", 0, "2 rotary stretch=0.5 logn=9");
    for (const struct pw_opt *o = pw_pe_tune_opts; o->name != NULL; o++) {
        snprintf(pe, sizeof pe, "none %s=5", o->name);
        snprintf(want, sizeof want, "2 none %s=5", o->name);
        expect(pe, 0, want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formulas),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_every_encoding),
        cmocka_unit_test(test_tuned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
