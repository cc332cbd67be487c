/* test_opt.c - tests option tables: every type is parsed, refused, printed and read back. */
#include "unit.h"

#include <math.h>

#include "base/opt.h"
#include "base/rng.h"
#include "base/text.h"

enum norm { RMSNORM, LAYERNORM, NONE };

struct target {
    char guard; /* so that no member is at offset 0 */
    int layers;
    float lr;
    uint64_t seed;
    bool bias;
    int norm;
    char path[12];
    struct pw_range lengths;
    int kept;
};

static const char *const norms[] = {"rmsnorm", "layernorm", "none", NULL};

#define AT(member) offsetof(struct target, member)
static const struct pw_opt table[] = {
    {.name = "layers",
     .type = PW_OPT_INT,
     .offset = AT(layers),
     .def = "2",
     .min = 1,
     .max = 512,
     .help = "blocks"},
    {.name = "lr",
     .type = PW_OPT_FLOAT,
     .offset = AT(lr),
     .def = "3e-4",
     .min = 0,
     .max = 0.1,
     .help = "step size"},
    {.name = "seed", .type = PW_OPT_SEED, .offset = AT(seed), .def = "0", .help = "of everything"},
    {.name = "bias", .type = PW_OPT_SWITCH, .offset = AT(bias), .def = "off", .help = "biases"},
    {.name = "norm",
     .type = PW_OPT_CHOICE,
     .offset = AT(norm),
     .def = "rmsnorm",
     .choices = norms,
     .help = "norm"},
    {.name = "path",
     .type = PW_OPT_TEXT,
     .offset = AT(path),
     .def = "",
     .size = sizeof((struct target *)0)->path,
     .help = "file"},
    {.name = "lengths",
     .type = PW_OPT_RANGE,
     .offset = AT(lengths),
     .def = "2..8",
     .min = 1,
     .max = 512,
     .help = "trained"},
    {.name = "kept", .type = PW_OPT_INT, .offset = AT(kept), .min = -5, .max = 5, .help = "no default"},
    {.name = NULL},
};

static enum pw_code set(struct target *t, const char *key, const char *value, struct pw_err *err)
{
    return pw_opt_set(table, t, "model", key, value, err);
}

static void defaults(void **state)
{
    (void)state;
    struct target t;

    memset(&t, 0, sizeof t);
    t.kept = 4;
    t.bias = true;
    pw_opt_defaults(table, &t);
    assert_int_equal(t.layers, 2);
    assert_true(t.lr == 3e-4f);
    assert_int_equal(t.seed, 0);
    assert_false(t.bias);
    assert_int_equal(t.norm, RMSNORM);
    assert_string_equal(t.path, "");
    assert_int_equal(t.lengths.lo, 2);
    assert_int_equal(t.lengths.hi, 8);
    assert_int_equal(t.kept, 4);
    assert_int_equal(t.guard, 0);
}

static void finds(void **state)
{
    (void)state;
    assert_ptr_equal(pw_opt_find(table, "layers"), &table[0]);
    assert_ptr_equal(pw_opt_find(table, "kept"), &table[7]);
    assert_null(pw_opt_find(table, "layer"));
    assert_null(pw_opt_find(table, ""));
}

static void accepts(void **state)
{
    (void)state;
    struct target t;

    memset(&t, 0, sizeof t);
    assert_int_equal(set(&t, "layers", "512", NULL), PW_OK);
    assert_int_equal(t.layers, 512);
    assert_int_equal(set(&t, "lr", "0.1", NULL), PW_OK); /* as float slightly above the maximum */
    assert_true(t.lr == 0.1f);
    assert_int_equal(set(&t, "seed", "18446744073709551615", NULL), PW_OK);
    assert_true(t.seed == UINT64_MAX);
    assert_int_equal(set(&t, "bias", "on", NULL), PW_OK);
    assert_true(t.bias);
    assert_int_equal(set(&t, "norm", "none", NULL), PW_OK);
    assert_int_equal(t.norm, NONE);
    assert_int_equal(set(&t, "path", "eleven byte", NULL), PW_OK);
    assert_string_equal(t.path, "eleven byte");
    assert_int_equal(set(&t, "lengths", "5", NULL), PW_OK);
    assert_int_equal(t.lengths.lo, 5);
    assert_int_equal(t.lengths.hi, 5);
    assert_int_equal(set(&t, "lengths", "1..512", NULL), PW_OK);
    assert_int_equal(t.lengths.hi, 512);
    assert_int_equal(set(&t, "kept", "-5", NULL), PW_OK);
    assert_int_equal(t.kept, -5);
}

static void refuses(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value, *msg;
    } cases[] = {
        {"layers", "0", "model: layers=0: allowed are 1..512"},
        {"layers", "513", "model: layers=513: allowed are 1..512"},
        {"layers", "two", "model: layers=two: allowed are 1..512"},
        {"layers", "", "model: layers=: allowed are 1..512"},
        {"layers", "2.5", "model: layers=2.5: allowed are whole numbers 1..512"},
        {"layers", "0.0", "model: layers=0.0: allowed are 1..512"},
        {"layers", "99999999999999999999", "model: layers=99999999999999999999: allowed are 1..512"},
        {"lr", "-1e-9", "model: lr=-1e-9: allowed are 0..0.1"},
        {"lr", "0.11", "model: lr=0.11: allowed are 0..0.1"},
        {"lr", "nan", "model: lr=nan: allowed are 0..0.1"},
        {"seed", "-1", "model: seed=-1: allowed are 0..18446744073709551615"},
        {"seed", "18446744073709551616",
         "model: seed=18446744073709551616: allowed are 0..18446744073709551615"},
        {"seed", "", "model: seed=: allowed are 0..18446744073709551615"},
        {"bias", "yes", "model: bias=yes: allowed are on|off"},
        {"bias", "1", "model: bias=1: allowed are on|off"},
        {"norm", "rmsnrom",
         "model: norm=rmsnrom: allowed are rmsnorm|layernorm|none; did you mean 'rmsnorm'?"},
        {"norm", "batch", "model: norm=batch: allowed are rmsnorm|layernorm|none"},
        {"path", "twelve bytes", "model: path=twelve bytes: allowed are text of at most 11 bytes"},
        {"path", "a\nb", "model: path=a?b: allowed are text of at most 11 bytes"},
        {"path", "\xff", "model: path=?: allowed are text of at most 11 bytes"},
        {"lengths", "8..2", "model: lengths=8..2: allowed are A..B (A <= B) or A in 1..512"},
        {"lengths", "0..2", "model: lengths=0..2: allowed are A..B (A <= B) or A in 1..512"},
        {"lengths", "2..513", "model: lengths=2..513: allowed are A..B (A <= B) or A in 1..512"},
        {"lengths", "2..", "model: lengths=2..: allowed are A..B (A <= B) or A in 1..512"},
        {"lengths", "..2", "model: lengths=..2: allowed are A..B (A <= B) or A in 1..512"},
        {"lengths", "2...4", "model: lengths=2...4: allowed are A..B (A <= B) or A in 1..512"},
        {"lengths", "0000000000000000000000002..4",
         "model: lengths=0000000000000000000000002..4: allowed are A..B (A <= B) or A in 1..512"},
        {"layer", "2", "model: no option 'layer'; did you mean 'layers'?"},
        {"frobnicate", "2",
         "model: no option 'frobnicate'; there are layers lr seed bias norm path lengths kept"},
    };
    struct target t, before;
    struct pw_err err;

    memset(&t, 0, sizeof t);
    pw_opt_defaults(table, &t);
    memcpy(&before, &t, sizeof t);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(&err, 0, sizeof err);
        assert_int_equal(set(&t, cases[i].key, cases[i].value, &err), PW_EUSER);
        assert_int_equal(err.code, PW_EUSER);
        assert_string_equal(err.msg, cases[i].msg);
        assert_memory_equal(&t, &before, sizeof t);
    }
    static const struct pw_opt empty[] = {{.name = NULL}};
    assert_int_equal(pw_opt_set(empty, &t, "quit", "now", "on", &err), PW_EUSER);
    assert_string_equal(err.msg, "quit: no option 'now'; there are no options");
    assert_int_equal(set(&t, "layers", "x", NULL), PW_EUSER); /* without an err */
}

/* Moves a value: to a number or a name, or by a number of choices. */
static void moves(void **state)
{
    (void)state;
    struct {
        struct pw_move layer, norm;
    } m, before;
    static const struct pw_opt opts[] = {
        {.name = "layer", .type = PW_OPT_MOVE, .offset = 0, .def = "+0", .max = 12, .help = ""},
        {.name = "norm",
         .type = PW_OPT_MOVE,
         .offset = sizeof(struct pw_move),
         .def = "none",
         .max = 3,
         .choices = norms,
         .help = ""},
        {.name = NULL},
    };
    static const char *const good[][2] = {{"layer", "3"}, {"layer", "+12"}, {"layer", "-1"},
                                          {"norm", "+1"}, {"norm", "-3"},   {"norm", "layernorm"}};
    static const char *const bad[][3] = {
        {"layer", "13", "look: layer=13: allowed are 0..12|+N|-N"},
        {"layer", "+13", "look: layer=+13: allowed are 0..12|+N|-N"},
        {"layer", "+", "look: layer=+: allowed are 0..12|+N|-N"},
        {"layer", "--1", "look: layer=--1: allowed are 0..12|+N|-N"},
        {"norm", "1", "look: norm=1: allowed are rmsnorm|layernorm|none|+N|-N"},
        {"norm", "layrnorm",
         "look: norm=layrnorm: allowed are rmsnorm|layernorm|none|+N|-N; did you mean 'layernorm'?"},
    };
    struct pw_err err;
    struct pw_str text = {0};
    pw_opt_defaults(opts, &m);
    assert_true(m.layer.by && m.layer.n == 0 && !m.norm.by && m.norm.n == NONE);
    memcpy(&before, &m, sizeof m);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(pw_opt_set(opts, &m, "look", bad[i][0], bad[i][1], &err), PW_EUSER);
        assert_string_equal(err.msg, bad[i][2]);
        assert_memory_equal(&m, &before, sizeof m);
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char expected[64];
        pw_opt_defaults(opts, &m);
        assert_int_equal(pw_opt_set(opts, &m, "look", good[i][0], good[i][1], &err), PW_OK);
        snprintf(expected, sizeof expected, " %s=%s", good[i][0], good[i][1]);
        pw_str_clear(&text);
        pw_opt_print(opts, &m, true, &text);
        assert_string_equal(text.s, expected);
    }
    pw_str_fini(&text);
    assert_int_equal(pw_move_round((struct pw_move){1, true}, 3, 4), 0);
    assert_int_equal(pw_move_round((struct pw_move){-1, true}, 0, 4), 3);
    assert_int_equal(pw_move_round((struct pw_move){-10, true}, 1, 4), 3);
    assert_int_equal(pw_move_round((struct pw_move){7, false}, 1, 4), 7);
}

static void long_values_are_shown_shortened(void **state)
{
    (void)state;
    struct target t = {0};
    struct pw_err err;
    char value[2000];

    memset(value, 'x', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    assert_int_equal(set(&t, "norm", value, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "allowed are rmsnorm|layernorm|none"));
    assert_int_equal(set(&t, value, "1", &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "there are layers lr"));
}

static void prints(void **state)
{
    (void)state;
    struct target t;
    struct pw_str out = {0};

    memset(&t, 0, sizeof t);
    pw_opt_defaults(table, &t);
    pw_opt_print(table, &t, false, &out);
    assert_string_equal(out.s,
                        " layers=2 lr=0.0003 seed=0 bias=off norm=rmsnorm path=\"\" lengths=2..8 kept=0");
    pw_str_clear(&out);
    pw_opt_print(table, &t, true, &out);
    assert_string_equal(out.s, " kept=0"); /* it has no default to equal */
    pw_str_clear(&out);
    set(&t, "lr", "0.00030", NULL); /* another spelling of the same number is no change */
    set(&t, "norm", "none", NULL);
    set(&t, "lengths", "3", NULL);
    set(&t, "path", "a \"b\" \\", NULL);
    pw_opt_print(table, &t, true, &out);
    assert_string_equal(out.s, " norm=none path=\"a \\\"b\\\" \\\\\" lengths=3 kept=0");
    pw_str_clear(&out);
    set(&t, "path", "./a-b_1.npz", NULL);
    pw_opt_print(&table[5], &t, true, &out);
    assert_non_null(strstr(out.s, " path=./a-b_1.npz "));
    pw_str_fini(&out);
}

/* A choice with a blank must be one value when the printed text is parsed as a command line. */
static void prints_choices_with_blanks(void **state)
{
    static const char *const choices[] = {"parity", "sort multi", NULL};
    static const struct pw_opt one[] = {
        {.name = "task", .type = PW_OPT_CHOICE, .def = "parity", .choices = choices}, {.name = NULL}};
    int task = 1;
    struct pw_str out = {0};
    (void)state;
    pw_opt_print(one, &task, true, &out);
    assert_string_equal(out.s, " task=\"sort multi\"");
    pw_str_fini(&out);
}

static void allowed(void **state)
{
    (void)state;
    static const char *const expect[] = {"1..512",
                                         "0..0.1",
                                         "0..18446744073709551615",
                                         "on|off",
                                         "rmsnorm|layernorm|none",
                                         "text of at most 11 bytes",
                                         "A..B (A <= B) or A in 1..512",
                                         "-5..5"};
    for (size_t i = 0; i < sizeof expect / sizeof *expect; i++) {
        struct pw_str out = {0};
        pw_opt_allowed(&table[i], &out);
        assert_string_equal(out.s, expect[i]);
        pw_str_fini(&out);
    }
}

/* Any finite float must keep its bits when it is printed and parsed. */
static void floats_round_trip(void **state)
{
    (void)state;
    struct holder {
        float f;
    } h, back;
    static const struct pw_opt one[] = {
        {.name = "f", .type = PW_OPT_FLOAT, .offset = 0, .def = "0", .min = -3.5e38, .max = 3.5e38},
        {.name = NULL},
    };
    struct pw_rng r;
    int tested = 0;

    pw_rng_init(&r, 1, PW_STREAM_TEST, 0);
    for (int i = 0; i < 40000; i++) {
        uint32_t bits = i == 0 ? 0x80000000u : i == 1 ? 1 : i == 2 ? 0x7f7fffff : pw_rng_u32(&r);
        struct pw_str out = {0};
        memcpy(&h.f, &bits, sizeof h.f);
        if (!isfinite(h.f))
            continue;
        pw_opt_print(one, &h, false, &out);
        assert_int_equal(pw_opt_set(one, &back, "t", "f", out.s + 3, NULL), PW_OK);
        assert_memory_equal(&h.f, &back.f, sizeof h.f);
        pw_str_fini(&out);
        tested++;
    }
    assert_true(tested > 39000);
    struct pw_str out = {0};
    h.f = -0.0f; /* differs from 0 */
    pw_opt_print(one, &h, true, &out);
    h.f = 0.1f; /* the shortest text, not 0.100000001 */
    pw_opt_print(one, &h, true, &out);
    assert_string_equal(out.s, " f=-0 f=0.1");
    pw_str_fini(&out);
}

/* A word for 0, which no limit allows as a number, and words that a text offers. */
/* Counts beyond 2^53 and doubles keep their bits through pw_opt_value; texts are unchanged. */
static void values_round_trip(void **state)
{
    (void)state;
    struct wide {
        int64_t n;
        double d;
        char text[12];
    } t = {0}, back = {0};
    static const struct pw_opt wide[] = {
        {.name = "n", .type = PW_OPT_COUNT, .offset = offsetof(struct wide, n), .min = -1e18, .max = 1e18},
        {.name = "d", .type = PW_OPT_DOUBLE, .offset = offsetof(struct wide, d), .min = -1e300, .max = 1e300},
        {.name = "text",
         .type = PW_OPT_TEXT,
         .offset = offsetof(struct wide, text),
         .size = sizeof((struct wide *)0)->text},
        {.name = NULL}};
    static const double doubles[] = {0.0, -0.0, 1.0 / 3.0, 5e-324, 1e300, -0.1, 123456789012345680.0};
    struct pw_err err;
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++) {
        t.n = INT64_C(900719925474099301) + (int64_t)i;
        t.d = doubles[i];
        snprintf(t.text, sizeof t.text, "a \"b\" %zu", i);
        for (const struct pw_opt *o = wide; o->name != NULL; o++) {
            struct pw_str value = {0};
            pw_opt_value(o, &t, &value);
            assert_int_equal(pw_opt_set(wide, &back, "it", o->name, pw_str_text(&value), &err), PW_OK);
            pw_str_fini(&value);
        }
        assert_true(back.n == t.n);
        assert_memory_equal(&back.d, &t.d, sizeof t.d);
        assert_string_equal(back.text, t.text);
    }
    assert_int_equal(pw_opt_set(wide, &back, "it", "n", "1000000000000000001", &err), PW_EUSER);
    assert_string_equal(err.msg,
                        "it: n=1000000000000000001: allowed are -1000000000000000000..1000000000000000000");
    assert_int_equal(pw_opt_set(wide, &back, "it", "n", "0.5", &err), PW_EUSER);
    assert_int_equal(pw_opt_set(wide, &back, "it", "d", "nan", &err), PW_EUSER);
    assert_string_equal(err.msg, "it: d=nan: allowed are -1e+300..1e+300");
}

static void words_beside_values(void **state)
{
    (void)state;
    static const char *const stream[] = {"stream", NULL}, *const dists[] = {"uniform", "pairs", NULL};
    static const struct pw_opt own[] = {{.name = "layers",
                                         .type = PW_OPT_INT,
                                         .offset = AT(layers),
                                         .def = "stream",
                                         .min = 5,
                                         .max = 9,
                                         .choices = stream,
                                         .help = ""},
                                        {.name = "path",
                                         .type = PW_OPT_TEXT,
                                         .offset = AT(path),
                                         .def = "uniform",
                                         .choices = dists,
                                         .size = sizeof((struct target *)0)->path,
                                         .help = ""},
                                        {.name = NULL}};
    struct target t = {.layers = 7};
    struct pw_err err;
    struct pw_str out = {0};
    pw_opt_defaults(own, &t);
    assert_int_equal(t.layers, 0);
    assert_string_equal(t.path, "uniform");
    pw_opt_print(own, &t, true, &out);
    assert_int_equal(out.len, 0);
    pw_opt_print(own, &t, false, &out);
    assert_string_equal(out.s, " layers=stream path=uniform");
    assert_int_equal(pw_opt_set(own, &t, "task", "layers", "6", &err), PW_OK);
    assert_int_equal(pw_opt_set(own, &t, "task", "path", "any", &err), PW_OK);
    pw_str_clear(&out);
    pw_opt_print(own, &t, true, &out);
    assert_string_equal(out.s, " layers=6 path=any");
    assert_int_equal(pw_opt_set(own, &t, "task", "layers", "0", &err), PW_EUSER);
    assert_string_equal(err.msg, "task: layers=0: allowed are stream|5..9");
    assert_int_equal(t.layers, 6);
    assert_int_equal(pw_opt_set(own, &t, "task", "layers", "stream", &err), PW_OK);
    assert_int_equal(t.layers, 0);
    pw_str_clear(&out);
    pw_opt_allowed(&own[1], &out);
    assert_string_equal(out.s, "uniform|pairs|text of at most 11 bytes");
    pw_str_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(finds),
        cmocka_unit_test(accepts),
        cmocka_unit_test(refuses),
        cmocka_unit_test(moves),
        cmocka_unit_test(long_values_are_shown_shortened),
        cmocka_unit_test(prints),
        cmocka_unit_test(prints_choices_with_blanks),
        cmocka_unit_test(allowed),
        cmocka_unit_test(floats_round_trip),
        cmocka_unit_test(values_round_trip),
        cmocka_unit_test(words_beside_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
