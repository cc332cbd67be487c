/* test_preview.c - tests the preview of a formula that is being typed: where a line has its formula, the
 * error and its place, the curve, completion, and the time of a key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/preview.h"
#include "model/pe.h"

static struct pw_snapshot *snap;

static int set_up(void **state)
{
    (void)state;
    snap = pw_snapshot_new();
    for (int k = 0; k < 2; k++) {
        struct pw_arm_view *arm = &snap->arms[k];
        arm->used = true;
        arm->info = (struct pw_ev_arm){.id = k + 1, .layers = 2, .heads = 4, .width = 64, .context = 32};
    }
    snprintf(snap->arms[1].info.name, sizeof snap->arms[1].info.name, "expr");
    snprintf(snap->arms[1].info.pe, sizeof snap->arms[1].info.pe, "expr 'bias = -d'");
    snap->current = 1;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pw_snapshot_free(snap);
    return 0;
}

static void test_lines(void **state)
{
    static const struct {
        const char *line;
        bool formula;
        int arm;
        const char *marked; /* the text of the error; NULL: valid */
    } cases[] = {
        {"pe expr \"bias = -d", true, 1, NULL},
        {"pe expr \"m = 1; bias = -m * d\"", true, 1, NULL},
        {"pe expr bias = -d", true, 1, NULL},
        {"  pe arm=2 expr 'bias = -d'", true, 2, NULL},
        {":pe expr 'bias = -dd'", true, 1, "dd"},
        {"pe expr 'bias = -d + '", true, 1, ""},
        {"pe expr ", true, 1, ""},
        {"pe alibi", false, 0, NULL},
        {"pe arm=7 expr 'bias = 0'", false, 0, NULL},
        {"train 10", false, 0, NULL},
        {"", false, 0, NULL},
        {"say pe expr 'bias = -d'", false, 0, NULL},
    };
    struct pw_preview p = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *line = cases[i].line;
        if (pw_preview_read(&p, line, snap) != cases[i].formula)
            fail_msg("'%s': a formula or not?", line);
        assert_int_equal(p.arm, cases[i].arm);
        assert_int_equal(p.why[0] != '\0', cases[i].marked != NULL);
        assert_int_equal(p.refused, cases[i].marked != NULL);
        if (cases[i].marked != NULL && cases[i].marked[0] != '\0') {
            assert_int_equal(p.to - p.from, strlen(cases[i].marked));
            assert_memory_equal(line + p.from, cases[i].marked, p.to - p.from);
        } else if (cases[i].marked != NULL) {
            assert_int_equal(p.to - p.from, 1);
        }
    }
    pw_preview_fini(&p);
}

static float curve_at(const struct pw_preview *p, int h, int d)
{
    assert_true(h < p->curve.heads && d < p->curve.length);
    return p->curve.kernel[h * p->curve.length + d];
}

static void test_curves(void **state)
{
    struct pw_preview p = {0};
    (void)state;
    assert_true(pw_preview_read(&p, "pe expr 'bias = -slopes()[h] * d'", snap));
    assert_int_equal(p.curve.length, 32);
    for (int h = 0; h < 4; h++)
        for (int d = 0; d < 32; d++)
            assert_true(fabs((double)curve_at(&p, h, d) + pw_alibi_slope(h, 4) * d) < 1e-6);
    /* an error leaves the last valid curve */
    assert_true(pw_preview_read(&p, "pe expr 'bias = -slopes()[h] * d *'", snap));
    assert_true(p.why[0] != '\0');
    assert_true(fabs((double)curve_at(&p, 0, 2) - (-0.5)) < 1e-6);
    assert_true(pw_preview_read(&p, "pe expr 'angle = i * 10000 ** (-2 * p / D)'", snap));
    for (int d = 0; d < 32; d++) {
        double mean = 0;
        for (int k = 0; k < 8; k++)
            mean += cos(d * pw_rotary_frequency(k, 16, 10000)) / 8;
        assert_true(fabs((double)curve_at(&p, 3, d) - mean) < 1e-6);
    }
    assert_true(pw_preview_read(&p, "pe expr 'embed = c == 0 ? 1 : i % 2'", snap));
    assert_true(fabs((double)curve_at(&p, 0, 2) - (1)) < 1e-6);
    assert_true(curve_at(&p, 0, 1) < 0.2f);
    /* the mask hides keys: no error; a value that is not finite is one */
    assert_true(pw_preview_read(&p, "pe expr 'bias = -d; mask = d < 4 || j == 0'", snap));
    assert_true(p.why[0] == '\0' && isnan(curve_at(&p, 1, 4)) && curve_at(&p, 1, 31) == -31);
    assert_true(pw_preview_read(&p, "pe expr 'bias = 1 / (d - 3)'", snap));
    assert_string_equal(p.why, "not finite at distance 3, head 0");
    /* a valid formula that the model can't have */
    assert_true(pw_preview_read(&p, "pe expr 'angle = i * h'", snap));
    assert_string_equal(p.why, "angle: no 'h': heads share their rotation");
    assert_true(p.from == 0 && p.to == 0 && p.refused);
    assert_true(pw_preview_read(&p, "pe expr 'a = learn(1) per head; angle = a * i'", snap));
    assert_string_equal(p.why, "angle: 'a' has a value per head: only bias, scale and score can read it");
    assert_true(pw_preview_read(&p, "pe expr 'a = learn(0.5) per head; bias = -a * d'", snap));
    assert_true(fabs((double)curve_at(&p, 2, 4) - (-2)) < 1e-6);
    assert_false(pw_preview_read(&p, "pe alibi", snap));
    assert_int_equal(p.curve.length, 0);
    pw_preview_fini(&p);
}

static void test_editor(void **state)
{
    struct pw_str s = {0};
    (void)state;
    assert_true(pw_preview_asked("pe expr", snap, &s));
    assert_string_equal(pw_str_text(&s), "pe expr \"");
    pw_preview_close(&s);
    assert_string_equal(pw_str_text(&s), "pe expr \"\"");
    pw_preview_close(&s);
    assert_string_equal(pw_str_text(&s), "pe expr \"\"");
    pw_str_clear(&s);
    assert_true(pw_preview_asked("pe arm=2 expr ", snap, &s)); /* with the formula that it has */
    assert_string_equal(pw_str_text(&s), "pe arm=2 expr \"bias = -d");
    pw_str_clear(&s);
    /* options: with their values as defaults */
    snprintf(snap->arms[1].info.pe, sizeof snap->arms[1].info.pe,
             "expr 'a = option(1, 0.0 .. 9); ba = option(2, 0 .. 9); bias = -a * d ** ba' a=0.1 as=steep "
             "offset=8");
    assert_true(pw_preview_asked("pe arm=2 expr", snap, &s));
    assert_string_equal(
        pw_str_text(&s),
        "pe arm=2 expr \"a = option(0.1, 0.0 .. 9); ba = option(2, 0 .. 9); bias = -a * d ** ba");
    pw_str_clear(&s);
    assert_false(pw_preview_asked("pe expr 'bias = 0'", snap, &s));
    assert_false(pw_preview_asked("pe expr ''", snap, &s));
    assert_false(pw_preview_asked("pe", snap, &s));
    assert_int_equal(s.len, 0);
    pw_str_add(&s, "pe expr bias = 0");
    pw_preview_close(&s);
    assert_string_equal(pw_str_text(&s), "pe expr bias = 0");
    pw_str_fini(&s);
}

static void join(void *arg, const char *candidate)
{
    pw_str_add(arg, "%s ", candidate);
}

static void test_completion(void **state)
{
    static const struct {
        const char *line, *words;
        size_t begin;
    } cases[] = {
        {"pe expr \"bias = lo", "log( log1p( log2( ", 16},
        {"pe expr \"slope_of = 2; bias = slo", "slopes() slope_of ", 30},
        {"pe expr \"bia", "bias ", 9},
        {"pe expr \"bias = cont", "context ", 16},
        {"pe expr \"bias = -lea", "learn( ", 17},
    };
    struct pw_str s = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pw_str_clear(&s);
        assert_int_equal(pw_preview_complete(cases[i].line, strlen(cases[i].line), join, &s), cases[i].begin);
        assert_string_equal(pw_str_text(&s), cases[i].words);
    }
    pw_str_clear(&s);
    assert_true(pw_preview_complete("pe ex", 5, join, &s) == PW_NO_FORMULA);
    assert_true(pw_preview_complete("pe expr 'bias = 0' arm=", 23, join, &s) == PW_NO_FORMULA);
    assert_int_equal(s.len, 0);
    pw_str_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_curves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_editor, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_completion, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
