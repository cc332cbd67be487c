/* test_zoo.c - tests the formula files of the folder encodings: each has title and paper, is parsed, printed
 * and parsed again to the same program, and has the numbers of its paper or of released code.
 *
 * The numbers were computed in double precision from the papers' equations with numpy, apart from pewter; a
 * comment names the code whose rule they follow. A stage is evaluated here, so a file is tested even where no
 * model computes its stage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/expr/expr_int.h"
#include "model/expr/formula.h"
#include "model/expr/library.h"
#include "ref_ids.h"

#define FOLDER PEWTER_SOURCE_DIR "/encodings"

enum { MOST = 16 };

/* Values of a stage at consecutive values of a variable, from `from` in steps of `step`. */
struct golden {
    const char *pe;
    enum pw_stage stage;
    struct {
        enum pw_expr_var var;
        double value;
    } set[4];
    enum pw_expr_var over;
    double from, step;
    int n;
    double values[MOST];
    const double *param[6]; /* of its learned parameters */
};

#define D16                                                                                                  \
    {PW_VAR_WIDTH, 16},                                                                                      \
    {                                                                                                        \
        PW_VAR_PAIRS, 8                                                                                      \
    }
#define FREQUENCIES(text, ...)                                                                               \
    {                                                                                                        \
        .pe = text, .stage = PW_STAGE_ANGLE, .set = {{PW_VAR_I, 1}, D16}, .over = PW_VAR_PAIR, .step = 1,    \
        .n = 8, .values = {                                                                                  \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }
#define ROPE16                                                                                               \
    1, .31622776601683794, .1, .031622776601683794, .01, .0031622776601683794, .001, .00031622776601683794

static const double one = 1, half = .5, eight_tenths = .8, tenth = .1, ssmax = .43, two = 2, numbers[512],
                    ln5 = 1.6094379124341003;
/* An MLP 1 -> 4 -> 1 of head 0. */
static const double in[] = {1, -1, 2, .5}, in_bias[] = {0, .5, -.5, .1}, out[] = {-1, .5, .25, 2},
                    out_bias[] = {.05};

static const struct golden cases[] = {
    {.pe = "alibi_formula", /* BLOOM's slopes for 6 heads */
     .stage = PW_STAGE_BIAS,
     .set = {{PW_VAR_DISTANCE, 2}, {PW_VAR_HEADS, 6}},
     .over = PW_VAR_HEAD,
     .step = 1,
     .n = 6,
     .values = {-.5, -.125, -.03125, -.0078125, -1, -.25}},
    {.pe = "alibi_geometric",
     .stage = PW_STAGE_BIAS,
     .set = {{PW_VAR_DISTANCE, 2}, {PW_VAR_HEADS, 6}},
     .over = PW_VAR_HEAD,
     .step = 1,
     .n = 3,
     .values = {-.7937005259840998, -.31498026247371824, -.125}},
    {.pe = "alibi_clipped distance=3",
     .stage = PW_STAGE_BIAS,
     .set = {{PW_VAR_HEADS, 8}},
     .over = PW_VAR_DISTANCE,
     .step = 1,
     .n = 5,
     .values = {0, -.5, -1, -1.5, -1.5}},
    {.pe = "sinusoidal_formula", /* row 3 of width 8 */
     .stage = PW_STAGE_EMBED,
     .set = {{PW_VAR_I, 3}, {PW_VAR_CHANNELS, 8}},
     .over = PW_VAR_CHANNEL,
     .step = 1,
     .n = 8,
     .values = {.1411200080598672, -.9899924966004454, .2955202066613396, .9553364891256061,
                .02999550020249566, .9995500337489878, .002999995500002025, .999995500003375}},
    FREQUENCIES("rotary_formula", ROPE16),
    FREQUENCIES("rotary_partial fraction=0.25", 1, .01), /* GPT-NeoX */
    FREQUENCIES("p_rope fraction=0.5", 1, .31622776601683794, .1, .031622776601683794),
    FREQUENCIES("p_rope fraction=1", ROPE16),
    FREQUENCIES("p_rope fraction=0", 0),
    FREQUENCIES("proportional_rope base=10000", 1, .31622776601683794),
    FREQUENCIES("hope trained=64", 1, .31622776601683794, .1),
    FREQUENCIES("rope_pi factor=4", .25, .07905694150420949, .025, .007905694150420948, .0025,
                .0007905694150420948, .00025, 7.905694150420948e-05),
    /* The base is 48760.54616817902. */
    FREQUENCIES("rope_ntk factor=4", 1, .25941281701492275, .0672950096316178, .017457188019584336,
                .004528618321319533, .0011747816359188909, .00030475341355111886, 7.905694150420948e-05),
    /* jquesnelle/yarn, Hugging Face */
    FREQUENCIES("rope_yarn factor=4 trained=2048", 1, .31622776601683794, .1, .02569350598886808, .00625,
                .001383496476323666, .00025, 7.905694150420948e-05),
    FREQUENCIES("rope_yarn factor=4 trained=64", 1, .23717082451262847, .05, .007905694150420948, .0025,
                .0007905694150420948, .00025, 7.905694150420948e-05),
    FREQUENCIES("rope_yarn_paper factor=4 trained=2048", 1, .31622776601683794, .1, .015026497703256057,
                .0030466515889972625, .000792921404744199, .00025, 7.905694150420948e-05),
    FREQUENCIES("rope_yarn_paper factor=4 trained=64", .47223991188422504, .09604961577286979,
                .02504497976400354, .007905694150420948, .0025, .0007905694150420948, .00025,
                7.905694150420948e-05),
    {.pe = "rope_yarn factor=4", .stage = PW_STAGE_GAIN, .n = 1, .values = {1.138629436111989}},
    {.pe = "rope_yarn_paper factor=4", .stage = PW_STAGE_GAIN, .n = 1, .values = {1.138629436111989}},
    {.pe = "longrope trained=4096", /* Phi-3-mini-128k beyond its trained length */
     .stage = PW_STAGE_ANGLE,
     .set = {{PW_VAR_I, 1}, {PW_VAR_WIDTH, 96}, {PW_VAR_PAIRS, 48}, {PW_VAR_N, 4097}},
     .over = PW_VAR_PAIR,
     .step = 6,
     .n = 8,
     .values = {.970873786407767, .24325212770525995, .02710027100271003, .0020193343934663977,
                .0003332222592469177, 5.6268285768120624e-05, 1.6139444803098775e-05, 4.95266665648924e-06}},
    {.pe = "longrope trained=4096", /* and at its trained length */
     .stage = PW_STAGE_ANGLE,
     .set = {{PW_VAR_I, 1}, {PW_VAR_WIDTH, 96}, {PW_VAR_PAIRS, 48}, {PW_VAR_N, 4096}},
     .over = PW_VAR_PAIR,
     .step = 6,
     .n = 8,
     .values = {.9523809523809523, .25298221281347033, .052631578947368425, .015811388300841896, .005,
                .0015811388300841897, .000425531914893617, .00011712139482105108}},
    {.pe = "longrope trained=4096",
     .stage = PW_STAGE_GAIN,
     .set = {{PW_VAR_CONTEXT, 131072}},
     .n = 1,
     .values = {1.1902380714238083}},
    {.pe = "longrope trained=4096",
     .stage = PW_STAGE_GAIN,
     .set = {{PW_VAR_CONTEXT, 4096}},
     .n = 1,
     .values = {1}},
    {.pe = "rope_llama3 base=500000 trained=8192", /* Hugging Face, rope type llama3 */
     .stage = PW_STAGE_ANGLE,
     .set = {{PW_VAR_I, 1}, {PW_VAR_WIDTH, 32}, {PW_VAR_PAIRS, 16}},
     .over = PW_VAR_PAIR,
     .step = 1,
     .n = 16,
     .values = {1, .44036660267178046, .19392274474868576, .08539710028576561, .03760603093086393,
                .016560440080994443, .0072926647372171085, .003211445994752591, .0005248461609929549,
                7.78465527393245e-05, 3.428102195952591e-05, 1.509621717643313e-05, 6.647869871181235e-06,
                2.9274998701761677e-06, 1.2891731721515572e-06, 5.677088100759837e-07}},
    {.pe = "rope_dynamic trained=2048",
     .stage = PW_STAGE_ANGLE,
     .set = {{PW_VAR_I, 1}, {PW_VAR_WIDTH, 16}, {PW_VAR_N, 4096}},
     .over = PW_VAR_PAIR,
     .step = 1,
     .n = 8,
     .values = {1, .2702961256924036, .07305999556432365, .019747833744140873, .00533776295185899,
                .001442776645751933, .000389976937586229, .00010540925533894598}},
    {.pe = "rope_dynamic trained=2048",
     .stage = PW_STAGE_ANGLE,
     .set = {{PW_VAR_I, 1}, {PW_VAR_WIDTH, 16}, {PW_VAR_N, 1024}},
     .over = PW_VAR_PAIR,
     .step = 1,
     .n = 8,
     .values = {ROPE16}},
    {.pe = "sandwich dims=8",
     .stage = PW_STAGE_BIAS,
     .set = {{PW_VAR_HEAD, 2}, {PW_VAR_HEADS, 4}},
     .over = PW_VAR_DISTANCE,
     .step = 1,
     .n = 9,
     .values = {.6666666666666666, .589209328593812, .42728629132689067, .3274815877129206, .377768246635153,
                .5266637512957678, .6306147402582082, .5860451569968524, .4246627303353063}},
    {.pe = "kerple_log",
     .stage = PW_STAGE_BIAS,
     .over = PW_VAR_DISTANCE,
     .step = 1,
     .n = 9,
     .values = {0, -.6931471805599453, -1.0986122886681098, -1.3862943611198906, -1.6094379124341003,
                -1.791759469228055, -1.9459101490553132, -2.0794415416798357, -2.1972245773362196},
     .param = {&one, &one}},
    {.pe = "kerple_power",
     .stage = PW_STAGE_BIAS,
     .over = PW_VAR_DISTANCE,
     .step = 1,
     .n = 9,
     .values = {0, -.5, -.8705505632961241, -1.2041123426403462, -1.5157165665103982, -1.811949159194239,
                -2.096481356314738, -2.3716381969016833, -2.639015821545789},
     .param = {&half, &eight_tenths}},
    {.pe = "t5_formula buckets=32 distance=128", /* the first distances of buckets 16 to 31, minus 1 */
     .stage = PW_STAGE_BIAS,
     .over = PW_VAR_DISTANCE,
     .from = 15,
     .step = 1,
     .n = 16,
     .values = {15, 16, 16, 16, 17, 17, 18, 18, 18, 19, 19, 19, 20, 20, 20, 20},
     .param = {numbers}},
    {.pe = "fire_formula threshold=4 units=4", /* the query at 5, keys 0 to 5 */
     .stage = PW_STAGE_BIAS,
     .set = {{PW_VAR_I, 5}},
     .over = PW_VAR_DISTANCE,
     .from = 5,
     .step = -1,
     .n = 6,
     .values = {.625, .5399213210862196, .44853494693000945, .375, .3824680867744365, .5},
     .param = {&tenth, &one, in, in_bias, out, out_bias}},
    {.pe = "log_n trained=512",
     .stage = PW_STAGE_SCALE,
     .over = PW_VAR_I,
     .from = 511,
     .step = 512,
     .n = 2,
     .values = {1, 1.1111111111111112}},
    {.pe = "log_n trained=512",
     .stage = PW_STAGE_SCALE,
     .over = PW_VAR_I,
     .from = 8191,
     .n = 1,
     .values = {1.4444444444444444}},
    {.pe = "ssmax",
     .stage = PW_STAGE_SCALE,
     .over = PW_VAR_I,
     .step = 1,
     .n = 2,
     .values = {0, .2980532876407765},
     .param = {&ssmax}},
    {.pe = "ssmax",
     .stage = PW_STAGE_SCALE,
     .over = PW_VAR_I,
     .from = 4095,
     .n = 1,
     .values = {3.5766394516893176},
     .param = {&ssmax}},
    {.pe = "head_scale", .stage = PW_STAGE_SCALE, .n = 1, .values = {2}, .param = {&two}},
    {.pe = "head_scale", .stage = PW_STAGE_SCALE, .n = 1, .values = {1}, .param = {&half}},
    {.pe = "uniform_scale factor=1.2", .stage = PW_STAGE_SCALE, .n = 1, .values = {1.2}},
    {.pe = "llama4 floor_at=8192", /* Hugging Face, modeling_llama4: layer 3 */
     .stage = PW_STAGE_SCALE,
     .set = {{PW_VAR_LAYER, 3}},
     .over = PW_VAR_I,
     .from = 8190,
     .step = 1,
     .n = 2,
     .values = {1, 1.0693147180559945}},
    {.pe = "llama4 floor_at=8192",
     .stage = PW_STAGE_SCALE,
     .set = {{PW_VAR_LAYER, 3}},
     .over = PW_VAR_I,
     .from = 100000,
     .n = 1,
     .values = {1.2564949357461537}},
    {.pe = "llama4",
     .stage = PW_STAGE_ANGLE,
     .set = {{PW_VAR_I, 5}, {PW_VAR_WIDTH, 16}},
     .over = PW_VAR_LAYER,
     .step = 1,
     .n = 5,
     .values = {5, 5, 5, 0, 5}},
    {.pe = "xpos", /* the zetas of D = 8: one decay, 512 positions after the middle */
     .stage = PW_STAGE_GAIN,
     .set = {{PW_VAR_I, 576}, {PW_VAR_WIDTH, 8}, {PW_VAR_CONTEXT, 128}},
     .over = PW_VAR_PAIR,
     .step = 1,
     .n = 4,
     .values = {.28571428571428575, .46428571428571436, .6428571428571429, .8214285714285714}},
    {.pe = "rope_nope", /* SmolLM3 */
     .stage = PW_STAGE_ANGLE,
     .set = {{PW_VAR_I, 5}, {PW_VAR_WIDTH, 16}},
     .over = PW_VAR_LAYER,
     .step = 1,
     .n = 5,
     .values = {5, 5, 5, 0, 5}},
    {.pe = "command_r window=3",
     .stage = PW_STAGE_MASK,
     .set = {{PW_VAR_LAYER, 2}},
     .over = PW_VAR_DISTANCE,
     .step = 1,
     .n = 5,
     .values = {1, 1, 1, 0, 0}},
    {.pe = "command_r window=3",
     .stage = PW_STAGE_MASK,
     .set = {{PW_VAR_DISTANCE, 9}},
     .over = PW_VAR_LAYER,
     .step = 1,
     .n = 5,
     .values = {0, 0, 0, 1, 0}},
    {.pe = "window_sinks window=3 sinks=2",
     .stage = PW_STAGE_MASK,
     .set = {{PW_VAR_DISTANCE, 9}},
     .over = PW_VAR_J,
     .step = 1,
     .n = 4,
     .values = {1, 1, 0, 0}},
    {.pe = "window_sinks window=3 sinks=2",
     .stage = PW_STAGE_MASK,
     .set = {{PW_VAR_J, 7}},
     .over = PW_VAR_DISTANCE,
     .step = 1,
     .n = 5,
     .values = {1, 1, 1, 0, 0}},
    {.pe = "self_extend window=4 group=2", /* the query at 9: far keys at 9 / 2 - j / 2 + 4 - 2 */
     .stage = PW_STAGE_BIAS,
     .set = {{PW_VAR_I, 9}, {PW_VAR_DISTANCE, 9}, {PW_VAR_HEADS, 8}},
     .over = PW_VAR_J,
     .step = 1,
     .n = 6,
     .values = {-3, -3, -2.5, -2.5, -2, -2}},
    {.pe = "self_extend window=4 group=2",
     .stage = PW_STAGE_BIAS,
     .set = {{PW_VAR_I, 9}, {PW_VAR_HEADS, 8}},
     .over = PW_VAR_DISTANCE,
     .step = 1,
     .n = 4,
     .values = {0, -.5, -1, -1.5}},
    {.pe = "soft_cap cap=50", /* 50 tanh(1), 50 tanh(2) */
     .stage = PW_STAGE_SCORE,
     .over = PW_VAR_SCORE,
     .step = 50,
     .n = 3,
     .values = {0, 38.0797077977882, 48.2013790037908}},
    {.pe = "learned_cap", /* 50 = 10 exp(ln 5) */
     .stage = PW_STAGE_SCORE,
     .over = PW_VAR_SCORE,
     .step = 50,
     .n = 3,
     .values = {0, 38.0797077977882, 48.2013790037908},
     .param = {&ln5}},
    {.pe = "fox_formula open=1", /* ln sigmoid of -2, 0 and 2 */
     .stage = PW_STAGE_GATE,
     .over = PW_VAR_GATE,
     .from = -3,
     .step = 2,
     .n = 3,
     .values = {-2.1269280110429727, -.69314718055994531, -.12692801104297263}},
    {.pe = "inkling_formula reach=6", /* its table holds 0, 1, 2, ...; farther keys have none */
     .stage = PW_STAGE_MIX,
     .set = {{PW_VAR_MIX, 2}},
     .over = PW_VAR_DISTANCE,
     .step = 1,
     .n = 8,
     .values = {0, 1, 2, 3, 4, 5, 0, 0},
     .param = {numbers}},
};
enum { CASES = sizeof cases / sizeof *cases };

static const struct pw_config config = {
    .layers = 2, .width = 64, .heads = 4, .head_width = 16, .context = 128, .causal = true};

/* The encoding, without the checks of a model. */
static struct pw_pe_use_opts read_case(const char *text)
{
    struct pw_pe_use_opts use = {0};
    struct pw_err err = {0};
    char copy[200], *state = NULL;
    snprintf(copy, sizeof copy, "%s", text);
    char *word = strtok_r(copy, " ", &state);
    if (pw_library_use(&use, word, &err) != PW_OK)
        fail_msg("%s: %s", text, err.msg);
    while ((word = strtok_r(NULL, " ", &state)) != NULL)
        if (pw_pe_set_option(&use, word, &err) != PW_OK)
            fail_msg("%s: %s", text, err.msg);
    if (pw_pe_formula_settle(&use, &err) != PW_OK)
        fail_msg("%s: %s", text, err.msg);
    return use;
}

static void test_golden(void **state)
{
    double counted[512];
    (void)state;
    for (int i = 0; i < 512; i++)
        counted[i] = i;
    for (int c = 0; c < CASES; c++) {
        const struct golden *g = &cases[c];
        struct pw_pe_use_opts use = read_case(g->pe);
        const struct pw_expr *x = pw_formula_of(use.o.bytes)->x;
        const double *param[6];
        double vars[PW_VARS] = {0}, *regs = calloc((size_t)pw_expr_n_nodes(x), sizeof *regs);
        assert_non_null(regs);
        for (int k = 0; k < 6; k++)
            param[k] = g->param[k] == numbers ? counted : g->param[k];
        for (int k = 0; k < 4; k++)
            if (g->set[k].value != 0)
                vars[g->set[k].var] = g->set[k].value;
        assert_true(pw_expr_has(x, g->stage));
        for (int i = 0; i < g->n; i++) {
            vars[g->over] = g->n > 1 || g->from != 0 ? g->from + i * g->step : vars[g->over];
            double y = pw_expr_eval(x, g->stage, vars, param, regs);
            if (!(fabs(y - g->values[i]) <= 1e-9 * (1 + fabs(g->values[i]))))
                fail_msg("%s: %s, value %d: %.17g instead of %.17g", g->pe, pw_stage_names[g->stage], i, y,
                         g->values[i]);
        }
        free(regs);
    }
}

/* Position ids of a text whose tokens are its characters (ref_ids.h), outside of training. */
static const struct {
    const char *pe, *text;
    int ids[MOST];
} lines[] = {
    {"abacus", "321+54=861", {1, 2, 3, 0, 1, 2, 0, 1, 2, 3}},           /* mcleish7/arithmetic, abacus.py */
    {"coupling", "653+049=2070", {4, 3, 2, 1, 4, 3, 2, 1, 2, 3, 4, 5}}, /* HanseulJo/position-coupling */
    /* Philox4x32-10 in Python: the first of 14 numbers below 128 */
    {"randomized", "321+54=861", {1, 17, 27, 40, 46, 47, 48, 52, 80, 87}},
    {"coupling", "add 12+345=753", {0, 0, 0, 0, 3, 2, 1, 4, 3, 2, 1, 2, 3, 4}},
};
enum { LINES = sizeof lines / sizeof *lines };

/* Files without stages: how their heads read keys. */
static const struct {
    const char *pe;
    enum pw_scan_kind kind;
    int rows;
} scans[] = {
    {"stickbreaking_formula", PW_SCAN_STICK, 0},
    {"cope_formula", PW_SCAN_CONTEXT, 64},
    {"cope_formula npos=9", PW_SCAN_CONTEXT, 9},
};
enum { SCANS = sizeof scans / sizeof *scans };

static void test_scans(void **state)
{
    (void)state;
    for (int k = 0; k < SCANS; k++) {
        struct pw_pe_use_opts use = read_case(scans[k].pe);
        assert_int_equal(use.pe->uses, PW_PE_SCAN);
        assert_int_equal(use.pe->scan, scans[k].kind);
        assert_int_equal(use.pe->scan_rows(use.o.bytes), scans[k].rows);
    }
}

static void test_ids(void **state)
{
    (void)state;
    for (int k = 0; k < LINES; k++) {
        int ids[64];
        struct pw_pe_use_opts use = read_case(lines[k].pe);
        ref_ids(ids, &use, lines[k].text, false, 0);
        for (int t = 0; lines[k].text[t] != '\0'; t++)
            if (ids[t] != lines[k].ids[t])
                fail_msg("%s: '%s': token %d has position %d instead of %d", lines[k].pe, lines[k].text, t,
                         ids[t], lines[k].ids[t]);
    }
}

static void test_file(void *arg, const char *name)
{
    struct pw_library_file f;
    struct pw_pe_use_opts use = {0}, again = {0};
    struct pw_str text = {0}, twice = {0};
    struct pw_err err = {0};
    int *n = arg;
    bool found = false;
    ++*n;
    if (pw_library_read(&f, name, &err) != PW_OK || pw_library_use_file(&use, &f, &err) != PW_OK)
        fail_msg("%s", err.msg);
    if (f.title == NULL || f.paper == NULL || f.look == NULL || strlen(f.title) > 100)
        fail_msg("%s: title (at most 100 bytes), paper and look are the head of a file", name);
    for (int c = 0; c < CASES; c++)
        found = found || (strncmp(cases[c].pe, name, strlen(name)) == 0 &&
                          strchr(" ", cases[c].pe[strlen(name)]) != NULL);
    for (int k = 0; k < LINES; k++)
        found = found || (strncmp(lines[k].pe, name, strlen(name)) == 0 &&
                          strchr(" ", lines[k].pe[strlen(name)]) != NULL);
    for (int k = 0; k < SCANS; k++)
        found = found || (strncmp(scans[k].pe, name, strlen(name)) == 0 &&
                          strchr(" ", scans[k].pe[strlen(name)]) != NULL);
    if (!found)
        fail_msg("%s: no golden numbers", name);
    pw_pe_print(&use, &text);
    struct pw_err why = {0};
    if (pw_pe_parse(&again, text.s, &config, &why) == PW_OK) { /* a model may refuse its stages */
        pw_pe_print(&again, &twice);
        assert_string_equal(text.s, twice.s);
        assert_true(again.pe == use.pe);
    }
    struct pw_expr *x;
    assert_int_equal(pw_expr_parse(&x, pw_formula_of(use.o.bytes)->text.s, NULL, &err), PW_OK);
    assert_true(pw_expr_same(x, pw_formula_of(use.o.bytes)->x));
    pw_expr_free(x);
    pw_library_free(&f);
    pw_str_fini(&text);
    pw_str_fini(&twice);
}

static void test_files(void **state)
{
    int n = 0;
    (void)state;
    pw_library_list(test_file, &n);
    assert_true(n >= 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_scans),
        cmocka_unit_test(test_files),
    };
    pw_library_folders("/nonexistent", FOLDER);
    return cmocka_run_group_tests_name("zoo", tests, NULL, NULL);
}
