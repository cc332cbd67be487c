/* test_encodings.c - tests encodings as text: options, limits, messages and names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/places.h"
#include "model/pe.h"
#include "ref_toy.h"

static void assert_pe(const char *text, const char *options, const char *expected)
{
    struct pw_config c = toy_config(options, 3);
    struct pw_pe_use_opts use, again;
    struct pw_err err = {0};
    struct pw_str s = {0};

    if (pw_pe_parse(&use, text, &c, &err)) {
        assert_string_equal(err.msg, expected);
        return;
    }
    pw_pe_print(&use, &s);
    assert_string_equal(pw_str_text(&s), expected);
    assert_int_equal(pw_pe_parse(&again, pw_str_text(&s), &c, &err), PW_OK); /* must parse back the same */
    assert_memory_equal(&use, &again, sizeof use);
    pw_str_fini(&s);
}

static void test_encodings(void **state)
{
    (void)state;
    assert_pe("none", "", "none");
    assert_pe("  alibi ", "", "alibi");
    assert_pe("t5", "context=256", "t5 buckets=8 distance=16");
    assert_pe("t5", "context=257", "t5 buckets=32 distance=128");
    assert_pe("t5 buckets=32", "", "t5 buckets=32 distance=128");
    assert_pe("shaw", "context=256", "shaw distance=8");
    assert_pe("shaw", "context=257", "shaw distance=16");
    assert_pe("shaw(distance=512)", "", "shaw distance=512");
    assert_pe("shaw distance=0", "", "shaw: distance=0: allowed are 1..512");
    assert_pe("shaw distance=513", "", "shaw: distance=513: allowed are 1..512");
    assert_pe("fire", "context=128", "fire hidden=32 threshold=8");
    assert_pe("fire", "context=16", "fire hidden=32 threshold=4");
    assert_pe("fire", "context=8192", "fire hidden=32 threshold=512");
    assert_pe("fire(hidden=5,threshold=100)", "", "fire hidden=5 threshold=100");
    assert_pe("fire hidden=0", "", "fire: hidden=0: allowed are 1..256");
    assert_pe("fire threshold=0", "", "fire: threshold=0: allowed are 1..65536");
    assert_pe("fire", "context=32768", "fire hidden=32 threshold=2048");
    assert_pe(
        "fire", "context=32769",
        "fire: context=32769: allowed are contexts up to 32768, because its bias has an entry per pair of "
        "positions");
    assert_pe("fire gain=2", "", "fire: gain=2: it has no fixed bias (alibi and grape have one)");
    assert_pe("fire offset=2.5 stretch=0.5", "", "fire hidden=32 threshold=8 offset=2.5 stretch=0.5");
    assert_pe("t5(buckets=5,distance=6)", "", "t5 buckets=5 distance=6");
    assert_pe("t5(buckets=5, distance=6) ", "", "t5 buckets=5 distance=6");
    assert_pe("t5 distance=4 buckets=8", "",
              "t5: buckets=8 distance=4: the distance must exceed half the buckets, 4");
    assert_pe("t5 buckets=1", "", "t5: buckets=1: allowed are 2..128");
    assert_pe("t5(buckets=5", "", "encoding: one ')' must end 't5(buckets=5'");
    assert_pe("t5(buckets=5) x=1", "", "encoding: one ')' must end 't5(buckets=5) x=1'");
    assert_pe("t5 buckets", "", "t5: 'buckets' is not of the form option=value");
    assert_pe("t5 bucket=5", "", "t5: no option 'bucket'; did you mean 'buckets'?");
    assert_pe("alibi slope=5", "", "alibi: no option 'slope'; there are no options");
    assert_pe("rotery", "", "no encoding 'rotery'; did you mean 'rotary'?");
    struct pw_str unknown = {0};
    pw_str_add(
        &unknown,
        "no encoding 'xyzzy'; there are none, learned, sinusoidal, t5, alibi, rotary, clipped, shaw, fire, "
        "rspe, aspe, 2dspe, dpe, ldpe, learned_reversed, fox, inkling, grape, stickbreaking, cope, "
        "selective, pope, grape_turn, path, wall%s",
        pw_place_own_hint()); /* a test has no folder of encodings */
    assert_pe("xyzzy", "", unknown.s);
    pw_str_fini(&unknown);
    assert_pe("inkling", "", "inkling reach=32 mixes=4 alpha=0 floor=64");
    assert_pe("inkling reach=0", "", "inkling: reach=0: allowed are 1..4096");
    assert_pe("inkling offset=2", "", "inkling: offset=2: it has no positions to shift");
    assert_pe("inkling stretch=2", "",
              "inkling: stretch=2: there are no values between the distances of its bank");
    assert_pe("fox", "", "fox open=0");
    assert_pe("forgetting open=4", "", "fox open=4");
    assert_pe("fox open=21", "", "fox: open=21: allowed are -20..20");
    assert_pe("fox stretch=2", "", "fox: stretch=2: it has no positions to stretch");
    assert_pe("fox offset=2", "", "fox: offset=2: it has no positions to shift");
    assert_pe("grape", "", "grape gate=both omega=1");
    assert_pe("grape gate=key omega=0.5", "", "grape gate=key omega=0.5");
    assert_pe("grape gain=2", "", "grape gate=both omega=1 gain=2");
    assert_pe("grape stretch=0.5", "", "grape gate=both omega=1 stretch=0.5");
    assert_pe("grape offset=2", "", "grape: offset=2: it has no positions to shift");
    assert_pe("grape gate=value", "", "grape: gate=value: allowed are both|key|query");
    assert_pe("grape", "causal=off",
              "grape: causal=off: a later key would gain by its distance, so it needs causal=on");
    assert_pe("stick", "", "stickbreaking");
    assert_pe("cope", "context=40", "cope npos=41");
    assert_pe("contextual", "context=400", "cope npos=64");
    assert_pe("cope npos=1", "", "cope: npos=1: allowed are 2..1024");
    assert_pe("cope", "causal=off", "cope: causal=off: it sums over earlier tokens, so it needs causal=on");
    assert_pe("stickbreaking stretch=2", "", "stickbreaking: stretch=2: it has no positions to stretch");
    assert_pe("stickbreaking", "causal=off",
              "stickbreaking: causal=off: it sums over earlier tokens, so it needs causal=on");
    assert_pe("selection", "", "selective");
    assert_pe("selective offset=1", "", "selective: offset=1: it has no positions to shift");
    assert_pe("selective", "causal=off",
              "selective: causal=off: it sums over earlier tokens, so it needs causal=on");
    assert_pe("polar", "", "pope base=10000");
    assert_pe("pope base=500 offset=2 stretch=0.5", "causal=off", "pope base=500 offset=2 stretch=0.5");
    assert_pe("pope logn=4", "", "pope: logn=4: not allowed with the polar form");
    assert_pe("pope gain=2", "", "pope: gain=2: it has no fixed bias (alibi and grape have one)");
    assert_pe("grape_m", "", "grape_turn base=10000 planes=0");
    assert_pe("grape_turn planes=2 stretch=0.5", "", "grape_turn base=10000 planes=2 stretch=0.5");
    static const char *const turning[] = {"rotary", "pope", "grape_turn", "sinusoidal", "rspe"};
    for (size_t i = 0; i < sizeof turning / sizeof *turning; i++) {
        char text[64], why[160];
        snprintf(text, sizeof text, "%s stretch=10000 offset=9999", turning[i]);
        snprintf(why, sizeof why,
                 "%s: offset=9999 stretch=10000: the last of 101 positions would be 1009999; "
                 "allowed are positions below 1000000",
                 turning[i]);
        assert_pe(text, "context=101", why);
    }
    assert_pe("pope stretch=10000 offset=9999", "context=100", "pope base=10000 offset=9999 stretch=10000");
    assert_pe("fire stretch=10000", "context=200", "fire hidden=32 threshold=12 stretch=10000");
    assert_pe("grape_turn offset=3", "causal=off", "grape_turn base=10000 planes=0 offset=3");
    assert_pe("grape_turn logn=4", "", "grape_turn: logn=4: not allowed with learned planes");
    assert_pe("grape_turn planes=9", "width=16 heads=2",
              "grape_turn: planes=9: at most half of the head width, 4");
    assert_pe("grape_turn", "width=4 heads=4",
              "grape_turn: head_width=1: a plane needs a width of 2 at least");
    assert_pe("path", "width=64", "path rank=32 conv=3");
    assert_pe("householder conv=0", "width=16", "path rank=32 conv=0");
    assert_pe("path rank=0", "", "path: rank=0: allowed are 1..256");
    assert_pe("path conv=9", "", "path: conv=9: allowed are 0..8");
    assert_pe("path", "causal=off",
              "path: causal=off: a query walks over earlier tokens, so it needs causal=on");
    assert_pe("path stretch=2", "", "path: stretch=2: it has no positions to stretch");
    assert_pe("wall", "", "wall gate_bias=8");
    assert_pe("wall offset=2", "", "wall: offset=2: it has no positions to shift");
    assert_pe("wall", "causal=off",
              "wall: causal=off: a query walks over earlier tokens, so it needs causal=on");
    assert_pe("fox", "causal=off", "fox: causal=off: it sums over earlier tokens, so it needs causal=on");
    assert_pe("rotary", "", "rotary base=10000 dims=0 pairing=half");
    assert_pe("rotary dims=9", "width=64 heads=4",
              "rotary: 9 entries of a head cannot form pairs; use an even dims=N");
    assert_pe("rotary", "width=9 heads=3",
              "rotary: 3 entries of a head cannot form pairs; use an even dims=N");
    assert_pe("rotary dims=2", "width=9 heads=3", "rotary base=10000 dims=2 pairing=half");
    assert_pe("rotary dims=10", "", "rotary: dims=10: at most the head width, 8");
    assert_pe("sinusoidal", "scale=off", "sinusoidal base=10000 layout=interleaved amplitude=1");
    assert_pe("sinusoidal layout=split base=100", "", "sinusoidal base=100 layout=split amplitude=1");
    assert_pe("sinusoidal", "width=9 heads=3",
              "sinusoidal: width=9: the width must be even (pairs of sine and cosine)");
    assert_pe("dpe", "", "dpe base=10000 layout=interleaved amplitude=1");
    assert_pe("dpe", "width=6 heads=2",
              "dpe: width=6: the width must be a multiple of 4 (pairs of sine and cosine in both halves)");
    assert_pe("2dspe", "width=6 heads=2",
              "2dspe: width=6: the width must be a multiple of 4 (pairs of sine and cosine in both halves)");
    assert_pe("rspe", "width=9 heads=3", "rspe: width=9: the width must be even (pairs of sine and cosine)");
    assert_pe("aspe", "width=9 heads=3", "aspe: width=9: the width must be even (pairs of sine and cosine)");
    assert_pe("ldpe", "width=9 heads=3", "ldpe: width=9: the width must be even, two halves");
    assert_pe("ldpe", "width=6 heads=2", "ldpe");
    assert_pe("learned_reversed base=3", "", "learned_reversed: no option 'base'; there are no options");
    assert_pe("clipped", "", "clipped distance=16");
    assert_pe("clipped distance=0", "", "clipped: distance=0: allowed are 1..4096");
    assert_pe("dpes", "", "no encoding 'dpes'; did you mean 'dpe'?");
}

/* Names from papers and other programs, in upper or lower case. No two encodings may share a name. */
static void test_aliases(void **state)
{
    (void)state;
    assert_pe("rope", "", "rotary base=10000 dims=0 pairing=half");
    assert_pe("RoPE(base=500)", "", "rotary base=500 dims=0 pairing=half");
    assert_pe("NoPE", "", "none");
    assert_pe("ALiBi", "", "alibi");
    assert_pe("T5 buckets=32", "", "t5 buckets=32 distance=128");
    assert_pe("sin base=100", "", "sinusoidal base=100 layout=interleaved amplitude=1");
    assert_pe("APE", "", "sinusoidal base=10000 layout=interleaved amplitude=1");
    assert_pe("rpoe", "", "no encoding 'rpoe'; did you mean 'rope'?");
    assert_pe("ROPE x=1", "", "rotary: no option 'x'; there are base dims pairing");
    for (int i = 0; pw_pes[i] != NULL; i++) {
        assert_ptr_equal(pw_pe_find(pw_pes[i]->name), pw_pes[i]);
        for (const char *const *alias = pw_pes[i]->aliases; *alias != NULL; alias++)
            assert_ptr_equal(pw_pe_find(*alias), pw_pes[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_encodings), cmocka_unit_test(test_aliases)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
