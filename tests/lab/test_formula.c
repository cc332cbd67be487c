/* test_formula.c - tests encodings that a formula defines: they have the bits of the built-in encodings that
 * they write down, in training, sessions and files, and what is refused changes nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ref_record.h"

#define SMALL "model tiny width=32 layers=2 heads=4; optim batch=4; "

static const struct {
    const char *pe, *formula;
} same[] = {
    {"alibi", "\"m = slopes()[h]; bias = -m * d\""},
    {"rotary", "\"angle = i * 10000 ** (-2 * p / D)\""},
    {"none", "\"bias = 0\""},
    {"none", "\"score = s\""},
    {"alibi", "\"bias = -slopes()[h] * d; score = s + (d - d)\""},
    {"none", "\"mask = j <= i\""},
    {"alibi", "\"bias = l < 0 || i < 0 ? 1 : -slopes()[h] * d\""},
    {"rotary", "\"angle = l < 0 ? 1 : i * 10000 ** (-2 * p / D)\""},
    {"sinusoidal amplitude=1",
     "\"w = 10000 ** (-2 * floor(c / 2) / C); embed = c % 2 == 0 ? sin(i * w) : cos(i * w)\""},
    {"alibi offset=0 stretch=0.5", "\"bias = -slopes()[h] * d\" stretch=0.5"},
};

/* Line i of the digests without arm and replica, as in "step 20  digest ...". */
static const char *life(const struct bench *b, int i)
{
    const char *line = strstr(digest_line(b->digests, i), "  step");
    assert_non_null(line);
    return line;
}

static void test_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct bench built_in, typed;
        char line[512];
        bench_open(&built_in, 2, false);
        snprintf(line, sizeof line, SMALL "pe %s; train 20; eval samples=4; digest", same[i].pe);
        bench_must(&built_in, line);
        bench_open(&typed, 1, false);
        snprintf(line, sizeof line, SMALL "pe expr %s; train 20; eval samples=4; digest", same[i].formula);
        bench_must(&typed, line);
        if (!same_line(life(&built_in, 0), life(&typed, 0)))
            fail_msg("%s:\n%s%s", same[i].pe, built_in.digests, typed.digests);
        bench_close(&typed);
        bench_close(&built_in);
    }
}

/* An arm of a race, forks, replicas, files and tuning take a formula as any encoding. */
static void test_everywhere(void **state)
{
    struct bench b;
    char folder[] = "/tmp/pewter-formula-XXXXXX", line[512];
    (void)state;
    assert_non_null(mkdtemp(folder));
    bench_open(&b, 2, false);
    bench_must(&b, SMALL "race alibi,expr(\"m = slopes()[h]; bias = -m * d\") seeds=2; train 10; digest");
    assert_true(same_line(life(&b, 0), life(&b, 2)) && same_line(life(&b, 1), life(&b, 3)));
    bench_must(&b, "arm 2; fork; tune gain=2; train 3; prompt sort 3 1 2; reset arm=3");
    bench_must(&b, "race expr(bias = -0.25 * d); train 4; digest");
    struct bench before = b;
    snprintf(line, sizeof line,
             "export weights %s/w.safetensors; pe none; import weights %s/w.safetensors; digest", folder,
             folder);
    bench_must(&b, line);
    assert_string_equal(b.s->arms[0].info.pe, "expr 'bias = -0.25 * d'");
    assert_string_equal(b.digests, before.digests);
    bench_close(&b);
    snprintf(line, sizeof line, "%s/w.safetensors", folder);
    unlink(line);
    rmdir(folder);
}

static void test_session(void **state)
{
    struct bench b;
    struct record r;
    (void)state;
    record_open(&b, &r, 2, false);
    bench_must(&b, SMALL
               "race t5,expr(\"bias = d > 3 ? -1 : 0.5 * cos(d)\"); train 12; prompt sort 4 1; "
               "pe expr \"embed = 0.1 * sin(i + c)\"; train 3; digest; eval samples=2; "
               "pe expr \"angle = l * i; bias = -l * d; mask = d < 4 + l || j < h\"; train 3; "
               "table layer=1; inspect layer=1; fork; train 2; digest; eval samples=2; "
               "pe expr \"position = min(i, 9); scale = (h + 1) * max(1, log(n) / log(L)); bias = -d / L\"; "
               "train 3; tune L=30; task sort lengths=2..5; train 2; digest; eval samples=2");
    bench_close(&b);
    record_must(&r, 1);
    record_free(&r);
}

static void test_refused(void **state)
{
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"pe expr",
         "expr: column 1: the formula defines nothing: one of position, embed, angle, gain, bias, scale, "
         "score, mask, gate, mix, scan"},
        {"pe expr \"bias = lgo(d)\"", "expr: column 8: nothing has the name 'lgo'; did you mean 'log'?"},
        {"pe expr \"bias = 1 / d\"", "expr: bias is not finite at d=0, head 0"},
        {"pe expr \"bias = d == 7 ? log(-1) : 0\"", "expr: bias is not finite at d=7, head 0"},
        {"pe expr \"bias = cos(d * 1e7)\"", "expr: bias is not finite at d=1, head 0"},
        {"pe expr \"angle = 1e7 * i\"", "expr: angle is too large (1e6) at i=1, p=0"},
        {"pe expr \"gain = 1e10 ** i\"", "expr: gain is too large (3.4e38) at i=4, p=0"},
        {"pe expr \"T = learn(1, 9); score = s * T[d]\"",
         "expr: score: no table or network of s, i, j or d: use it in 'bias'"},
        {"pe expr \"score = s * mlp(s)\"",
         "expr: score: no table or network of s, i, j or d: use it in 'bias'"},
        {"pe expr \"a = learn(0); score = a * tanh(s / a)\"",
         "expr: score is not finite at s=0, i=0, j=0, head 0"},
        {"pe expr \"a = learn(normal(1)) per head; score = s * log(a)\"",
         "expr: score is not finite at s=-1000, i=0, j=0, head 0"},
        {"pe expr \"a = learn(1); score = s * (1 + a * exp(a * j))\"",
         "expr: score is not finite at s=-1000, i=127, j=127, head 0"},
        {"pe expr \"a = learn(1) per pair; score = a * s\"",
         "expr: score: 'a' has a value per pair: only angle and gain can read it"},
        {"pe expr \"a = learn(1); mask = d < a\"", "expr: mask: no learned parameters here: write numbers"},
        {"pe expr \"a = learn(1) per head; angle = a * i\"",
         "expr: angle: 'a' has a value per head: only bias, scale and score can read it"},
        {"pe expr \"a = learn(1) per channel; bias = -a * d\"",
         "expr: bias: 'a' has a value per channel: only embed can read it"},
        {"pe expr \"embed = mlp(i)\"",
         "expr: embed: 'mlp.2.weight' has a value per head: only bias, scale and score can read it"},
        {"pe expr \"a = learn(1) per channel, layer; embed = a\"",
         "expr: embed: 'a' has a value per layer: embeddings are added once, before layer 0"},
        {"pe expr \"a = learn(1) per head, pair; bias = a\"",
         "expr: column 24: 'per head', 'per channel', 'per pair' or 'per mix', 'per layer', or two as in "
         "'per head, "
         "layer'"},
        {"pe expr \"bias = key\"",
         "expr: column 8: 'key' is 1 for a rotated key: only 'angle' and 'gain' can read it"},
        {"pe expr \"a = learn(1); gain = a + key\"",
         "expr: angle and gain: no 'key' with learned parameters"},
        {"pe expr \"angle = i; pairing = both\"", "expr: column 22: pairing is 'half' or 'interleaved'"},
        {"pe expr \"angle = i; rotary_dim = 3\"",
         "expr: column 25: 3 columns can't form pairs; use an even number"},
        {"pe expr \"angle = i; rotary_dim = 2; rotary_dim = 2\"",
         "expr: column 28: 'rotary_dim' is defined twice"},
        {"pe expr \"angle = i; rotary_dim = 64\"", "expr: rotary_dim = 64: a head has 8 columns"},
        {"pe expr \"bias = d; rotary_dim = 2\"",
         "expr: column 25: nothing uses 'rotary_dim': there is no angle and no gain"},
        {"pe expr \"bias = d; pairing = half\"",
         "expr: column 25: nothing uses the pairing: there is no angle and no gain"},
        {"pe expr \"a = learn(0); scale = log(a)\"", "expr: scale is not finite at i=0"},
        {"pe expr \"a = learn(1); b = a * 2; bias = d\"", "expr: parameter 'a': nothing uses it"},
        {"pe expr \"a = learn(1); bias = a / d\"", "expr: bias is not finite at d=0, head 0"},
        {"pe expr \"a = learn(1); bias = a / (i - 3 * j)\"", "expr: bias is not finite at i=0, j=0, head 0"},
        {"pe expr \"T = learn(normal(1), 4) per head; bias = log(T[d])\"",
         "expr: bias is not finite at d=0, head 0"},
        {"pe expr \"a = learn(1); bias = sum(k=1..d, a * k)\"",
         "expr: bias: with learned parameters the ends of a sum are numbers, as in sum(k=1..8, ...)"},
        {"pe expr \"mask = d > 4\"", "expr: mask: query i=0 sees no key (layer 0, head 0)"},
        {"pe expr \"embed = l\"", "expr: embed: no 'l': embeddings are added once, before layer 0"},
        {"pe expr \"score = log(s)\"", "expr: score is not finite at s=-1000, i=0, j=0, head 0"},
        {"pe expr \"score = s * bucket(d, 8, 16)\"",
         "expr: score: bucket of a value that is not constant: use it in 'bias'"},
        {"pe expr \"bias = d\" speed=3", "expr: no option 'speed'; there are no options"},
        {"pe check t5", "pe check: t5 is a built-in encoding; check a formula: pe check expr \"bias = -d\""},
        {"pe check expr \"bias = 1 / d\"", "expr: bias is not finite at d=0, head 0"},
        {"export formula /tmp/pewter.py",
         "export formula: alibi is a built-in encoding, not a formula; 'help pe' shows 'pe expr'"},
        {"export formula /tmp/pewter.txt",
         "export formula: '/tmp/pewter.txt': the file name must end in .py .tex .pe"},
        {"pe check bias=-d", "pe: a formula follows 'expr': pe expr 'bias = -d'"},
        {"pe \"bias = -d\"", "no encoding 'bias'; a formula follows 'expr', as in pe expr 'bias = -d'"},
        {"pe expr a = learn(1)",
         "expr: column 13: the formula defines nothing: one of position, embed, angle, gain, bias, scale, "
         "score, mask, gate, mix, scan; quotes around a formula protect ';'"},
        {"race t5,expr(a = 2; bias = -d)",
         "byte 13: unclosed '('; a formula with ';' needs quotes: expr('a = 2; bias = -a * d')"},
        {"pe expr \"bias = lern(1)\"", "expr: column 8: nothing has the name 'lern'; did you mean 'learn'?"},
        {"race t5,expr(\"bias = \")", "expr: column 8: the expression is not complete"},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, SMALL "pe alibi; train 3; digest");
    struct bench before = b;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench_run(&b, cases[i].line);
        assert_string_equal(b.error, cases[i].message);
    }
    bench_must(&b, "digest");
    assert_string_equal(b.digests, before.digests);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_everywhere),
        cmocka_unit_test(test_session),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("formula", tests, NULL, NULL);
}
