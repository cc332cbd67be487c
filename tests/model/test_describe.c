/* test_describe.c - tests what the program says of a formula before training: the built-in encoding that it
 * equals, its class, parameters, range and form in FlexAttention. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "model/expr/describe.h"
#include "ref_toy.h"

#define SHAPE "layers=2 width=32 heads=4 context=64"

static struct pw_pe_use_opts formula(const char *text, const struct pw_config *cfg)
{
    struct pw_pe_use_opts use = toy_pe("none", cfg);
    struct pw_err err = {0};
    if (pw_pe_formula(&use, text, &err) != PW_OK)
        fail_msg("%s: %s", text, err.msg);
    return use;
}

/* Formulas that write down a built-in encoding, and slightly different ones. */
static void test_nearest(void **state)
{
    static const struct {
        const char *text, *twin; /* twin NULL: none */
        double factor, error;    /* error: at most */
        bool learned;
    } cases[] = {
        {"m = slopes()[h]; bias = -m * d", "alibi", 1, 0, false},
        {"bias = d * slopes()[h] * -1.00000003", "alibi", 1, 1e-7, false},
        {"bias = -0.5 * slopes()[h] * d", "alibi", 0.5, 1e-7, false},
        {"bias = -slopes()[h] * d * 1.0005", "alibi", 1, 6e-4, false},
        {"bias = -slopes()[h] * d ** 1.01", NULL, 1, 0, false},
        {"bias = d < 20 ? -slopes()[h] * d : -3", NULL, 1, 0, false},
        {"angle = i * 10000 ** (-2 * p / D)", "rotary", 1, 0, false},
        {"angle = i * 9000 ** (-2 * p / D)", NULL, 1, 0, false},
        {"angle = i * 10000 ** (-2 * p / D); gain = 3", "rotary", 3, 1e-7, false},
        {"angle = i * 10000 ** (-2 * p / D); bias = -d", NULL, 1, 0, false},
        {"w = 10000 ** (-2 * floor(c / 2) / C); embed = c % 2 == 0 ? sin(i * w) : cos(i * w)", "sinusoidal",
         1, 0, false},
        {"w = 10000 ** (-2 * floor(c / 2) / C); embed = c % 2 == 0 ? cos(i * w) : sin(i * w)", NULL, 1, 0,
         false},
        {"T = learn(normal(0.1), 17) per head; bias = T[min(d, 16)]", "clipped", 1, 0, true},
        {"T = learn(0, 40) per head; bias = T[39 - min(d, 16)]", "clipped", 1, 0, true},
        {"bias = l == 0 ? -slopes()[h] * d : 0", NULL, 1, 0, false},
        {"position = index(i); bias = -slopes()[h] * d", NULL, 1, 0, false},
        {"angle = l == 0 ? i : 10 * i", NULL, 1, 0, false},
        {"T = learn(0, 8) per head; bias = T[bucket(d, 8, 16)]", "t5", 1, 0, true},
        {"T = learn(0, 8) per head; bias = T[bucket(d, 8, 17)]", NULL, 1, 0, true},
        {"T = learn(0, 17); bias = T[min(d, 16)]", NULL, 1, 0, true},
        {"T = learn(0, 17) per head; bias = T[min(d, 16)] * 2", NULL, 1, 0, true},
        {"T = learn(0, 18) per head; bias = T[h == 3 ? min(d, 17) : min(d, 16)]", NULL, 1, 0, true},
    };
    struct pw_config cfg = toy_config(SHAPE, 16);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_pe_use_opts use = formula(cases[i].text, &cfg);
        struct pw_formula_twin t = pw_formula_nearest(&use, &cfg);
        const char *name = t.pe != NULL ? t.pe->name : "none",
                   *twin = cases[i].twin != NULL ? cases[i].twin : "none";
        if (strcmp(name, twin) != 0)
            fail_msg("%s: equals %s, not %s", cases[i].text, name, twin);
        if (t.pe != NULL &&
            (!(t.error <= cases[i].error) || t.learned != cases[i].learned ||
             !(t.factor > cases[i].factor * 0.999999 && t.factor < cases[i].factor * 1.000001)))
            fail_msg("%s: %g times %s to %g", cases[i].text, t.factor, name, t.error);
    }
}

static void test_lines(void **state)
{
    static const struct {
        const char *text;
        int trained;
        const char *lines;
    } cases[] = {
        {"m = slopes()[h]; bias = -m * d", 20,
         "bias by distance; no learned parameters; equals alibi in every bit; finite up to position 128, "
         "twice "
         "the context\nFlexAttention: score_mod ('export formula FILE.py')"},
        {"bias = -2 * slopes()[h] * d", 20,
         "bias by distance; no learned parameters; equals alibi times 2; finite up to position 128, twice "
         "the context\nFlexAttention: score_mod ('export formula FILE.py')"},
        {"bias = log(70 - d)", 20,
         "bias by distance; no learned parameters; bias is not finite at position 70, beyond the context of "
         "64\nFlexAttention: score_mod ('export formula FILE.py')"},
        {"T = learn(0, 32) per head; a = learn(1) per head, layer; bias = T[d] - a", 20,
         "bias by distance; 136 learned parameters; finite up to position 128, twice the context; 11 of 32 "
         "table entries are read beyond distance 20 only, which training does not reach\n"
         "FlexAttention: score_mod ('export formula FILE.py')"},
        {"T = learn(normal(1), 64) per channel; embed = T[i]", 20,
         "adds rows to the embeddings; 2048 learned parameters; finite up to position 128, twice the "
         "context; "
         "43 of 64 table entries are read beyond position 20 only, which training does not "
         "reach\nFlexAttention: "
         "none: it changes embeddings, which it does not see; plain PyTorch instead ('export formula "
         "FILE.py')"},
        {"T = learn(0, 17) per head; bias = T[min(d, 16)]", 0,
         "bias by distance; 68 learned parameters; reads a learned entry for the same distances as clipped; "
         "finite up to position 128, twice the context\nFlexAttention: score_mod ('export formula FILE.py')"},
        {"cap = learn(9) per head, layer; score = cap * tanh(s / cap)", 20,
         "replaces the finished score; 8 learned parameters; finite up to position 128, twice the context\n"
         "FlexAttention: score_mod ('export formula FILE.py')"},
        {"gate = log(sigmoid(g))", 20,
         "sums gates of the tokens between key and query; 264 learned parameters; equals fox to 2e-8; finite "
         "up to "
         "position 128, twice the context\nFlexAttention: score_mod with sums of the gates, which come from "
         "the layer's "
         "input ('export formula FILE.py')"},
        {"mixes = 4; P = learn(0, 40) per mix, layer; mix = d < 32 ? P[d] : 0", 20,
         "functions of the distance that each token mixes; 1344 learned parameters; reads a learned entry "
         "for "
         "the same distances as inkling; finite up to position 128, twice the context; 11 of 32 table "
         "entries "
         "are read beyond distance 20 only, which training does not reach\nFlexAttention: score_mod with "
         "weights of the mix, which come from the layer's input ('export formula FILE.py')"},
        {"scan = stick", 20,
         "stick-breaking weights in place of a softmax; no learned parameters; equals stickbreaking in every "
         "bit; finite "
         "up to "
         "position 128, twice the context\nFlexAttention: none: it does not see all scores of a query, which "
         "a "
         "scan reads; plain PyTorch instead ('export formula FILE.py')"},
        {"scan = context(64)", 20,
         "contextual positions; 1024 learned parameters; equals cope in every bit; finite up to position "
         "128, twice the "
         "context\nFlexAttention: none: it does not see all scores of a query, which a scan reads; plain "
         "PyTorch "
         "instead ('export formula FILE.py')"},
        {"scan = context(30); embed = sin(i)", 20,
         "adds rows to the embeddings, contextual positions; 480 learned parameters; finite up to position "
         "128, "
         "twice the context\nFlexAttention: none: it does not see all scores of a query, which a scan reads; "
         "plain PyTorch instead ('export formula FILE.py')"},
        {"mixes = 3; mix = exp(-d / 2 ** m); bias = -d", 0,
         "bias by distance, functions of the distance that each token mixes; 768 learned parameters; finite "
         "up "
         "to position 128, twice the context\nFlexAttention: score_mod with weights of the mix, which come "
         "from the layer's input ('export formula FILE.py')"},
        {"angle = i; embed = c; mask = d < 8 || j < 4", 20,
         "adds rows to the embeddings, rotates queries and keys, mask by query and key; no learned "
         "parameters; "
         "finite up to position 128, twice the context\nFlexAttention: mask_mod; not for the rest: it "
         "changes "
         "embeddings, queries and keys, which it does not see; plain PyTorch instead ('export formula "
         "FILE.py')"},
        {"score = 30 * tanh(s / 30); scale = log(n + 1); bias = log1p(j)", 20,
         "dense bias by query and key, scales the scores of a query, replaces the finished score; no learned "
         "parameters; finite up to position 128, twice the context\nFlexAttention: score_mod ('export "
         "formula "
         "FILE.py')"},
        {"position = index(i) + floor(uniform(0, 4)); T = learn(0, 17) per head; bias = T[min(d, 16)]", 3,
         "positions by tokens and chance, bias by distance; 68 learned parameters; finite up to position "
         "128, "
         "twice the context\nFlexAttention: none: it sees neither tokens nor draws, which the position "
         "reads"},
        {"embed = sin(i / n)", 20,
         "adds rows to the embeddings; no learned parameters; needs the length of the whole sequence; finite "
         "up "
         "to position 128, twice the context\nFlexAttention: none: it changes embeddings, which it does not "
         "see; "
         "plain PyTorch instead ('export formula FILE.py')"},
    };
    struct pw_config cfg = toy_config(SHAPE, 16);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_pe_use_opts use = formula(cases[i].text, &cfg);
        struct pw_str out = {0};
        pw_formula_describe(&use, &cfg, cases[i].trained, &out);
        assert_string_equal(out.s, cases[i].lines);
        pw_str_fini(&out);
    }
    struct pw_pe_use_opts t5 = toy_pe("t5", &cfg);
    struct pw_str out = {0};
    pw_formula_describe(&t5, &cfg, 20, &out);
    assert_int_equal(out.len, 0);
    pw_str_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nearest), cmocka_unit_test(test_lines)};
    return cmocka_run_group_tests_name("describe", tests, NULL, NULL);
}
