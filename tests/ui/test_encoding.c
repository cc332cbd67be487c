/* test_encoding.c - tests the encoding pane's pages, keys and read-outs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plot/encoding.h"
#include "ref_screen.h"
#include "ui/plot.h"

struct desk {
    struct pw_snapshot *s;
    struct pw_ui ui;
    struct pw_canvas c;
    struct pw_str text, line;
};

static void open_desk(struct desk *d, enum screen_table kind)
{
    *d = (struct desk){.s = screen_race()};
    screen_set_table(d->s, kind);
    d->ui = screen_ui(d->s, PW_COLORS_TRUE, true);
    d->ui.focus = PW_PANE_ENCODING, d->ui.zoom = true;
    pw_canvas_init(&d->c);
    pw_canvas_resize(&d->c, 30, 120);
    pw_ui_frame(&d->ui, &d->c);
}

static void close_desk(struct desk *d)
{
    pw_str_fini(&d->text);
    pw_str_fini(&d->line);
    pw_canvas_fini(&d->c);
    pw_snapshot_free(d->s);
}

/* Presses keys one after the other, and returns the command line of the last one. */
static const char *press(struct desk *d, const char *keys)
{
    for (; *keys; keys++) {
        pw_str_clear(&d->line);
        assert_true(pw_ui_key(&d->ui, *keys, &d->line));
    }
    pw_ui_frame(&d->ui, &d->c);
    return pw_str_text(&d->line);
}

static void shows(struct desk *d, const char *what)
{
    pw_str_clear(&d->text);
    pw_canvas_text(&d->c, &d->text);
    if (strstr(d->text.s, what) == NULL)
        fail_msg("'%s' is not in\n%s", what, d->text.s);
}

static void hides(struct desk *d, const char *what)
{
    pw_str_clear(&d->text);
    pw_canvas_text(&d->c, &d->text);
    if (strstr(d->text.s, what) != NULL)
        fail_msg("'%s' is in\n%s", what, d->text.s);
}

/* One sign for the cursor in all maps: ● is an arm's mark. */
static void the_cursor_is_no_mark(void **state)
{
    static const enum screen_table kinds[] = {SCREEN_T5, SCREEN_ALIBI, SCREEN_T5};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct desk d;
        int cursors = 0, marks = 0;
        open_desk(&d, kinds[i]);
        if (i == 2) {
            pw_canvas_resize(&d.c, 30, 40); /* T5's buckets without numbers */
            press(&d, "v");
        }
        for (int at = 2 * d.c.cols; at < (d.c.rows - 4) * d.c.cols; at++) {
            cursors += d.c.cells[at].cp == 0x25aa;
            marks += d.c.cells[at].cp == 0x25cf;
        }
        assert_true(cursors > 0);
        if (i != 1)
            assert_int_equal(marks, 0); /* slopes have a curve below, with a point */
        close_desk(&d);
    }
}

static void pages_go_round(void **state)
{
    static const char *const pages[][5] = {
        [SCREEN_NONE] = {"kernel 1/1"},
        [SCREEN_T5] = {"bias 1/4", "buckets 2/4", "matrix 3/4", "kernel 4/4"},
        [SCREEN_ALIBI] = {"slopes 1/2", "kernel 2/2"},
        [SCREEN_ROTARY] = {"frequencies 1/3", "decay 2/3", "kernel 3/3"},
        [SCREEN_LEARNED] = {"rows 1/3", "cosine 2/3", "kernel 3/3"},
        [SCREEN_SHAW] = {"keys 1/2", "kernel 2/2"},
        [SCREEN_FIRE] = {"bias 1/3", "queries 2/3", "kernel 3/3"},
        [SCREEN_FORMULA] = {"bias 1/3", "params 2/3", "kernel 3/3"},
    };
    (void)state;
    for (int kind = SCREEN_NONE; kind < SCREEN_TABLES; kind++) {
        struct desk d;
        int n = 0;
        open_desk(&d, (enum screen_table)kind);
        for (; n < 5 && pages[kind][n] != NULL; n++) {
            shows(&d, pages[kind][n]);
            press(&d, "v");
        }
        shows(&d, pages[kind][0]);
        press(&d, "V");
        shows(&d, pages[kind][n - 1]);
        close_desk(&d);
    }
}

/* Rows of the layer's relative keys; all larger distances use the last one. */
static void relative_keys_are_read(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d, SCREEN_SHAW);
    press(&d, "jjl");
    shows(&d, "layer 0 distance 2 dimension 1:");
    shows(&d, "24000 pairs seen in training, mean |gradient| 0.00067 over 64 steps");
    shows(&d, "norm of the row 0.");
    for (int i = 0; i < 20; i++)
        press(&d, "j");
    shows(&d, "distance 12– dimension 1:");
    shows(&d, "never seen");
    assert_string_equal(press(&d, "}"), "table layer=+1");
    close_desk(&d);
}

/* Before FIRE's threshold, a distance is a fraction of the query's position. */
static void queries_are_read(void **state)
{
    struct desk d;
    struct pw_str out = {0};
    (void)state;
    open_desk(&d, SCREEN_FIRE);
    shows(&d, "distance 1 of the query at 31  head 0 ");
    shows(&d, "of the query at 31, the last one");
    press(&d, "v");
    shows(&d, "head 0 of 4  c 0.5, L 6 = |0.75 x 8|  psi(x) = ln(c x + 1)");
    shows(&d, "▸q 1    L 6");
    /* ln 1.5 / ln 4, and for head 0 -0.8 + sin(3u)/3 */
    shows(&d, "query 1  distance 1  head 0 -0.544  u 0.292 = psi(1)/psi(6)  28000 pairs seen in training");
    press(&d, "ll");
    shows(&d, "query 1  distance 3  head 0 has no key at this distance");
    press(&d, "jjj]]"); /* ln 2.5 / ln 6 */
    shows(&d, "head 2 of 4");
    shows(&d, "▸q 10   i 10");
    shows(&d, "query 10  distance 3  head 2 +1.199  u 0.511 = psi(3)/psi(10)  20000 pairs seen");
    hides(&d, "no query was");
    press(&d, "jG");
    shows(&d, "has no key at this distance");
    press(&d, "jjj");
    shows(&d, "query 31  distance 31  head 2 +0.341  u 1.000 = psi(31)/psi(31)  never seen in training; no "
              "query was");
    hides(&d, "nan");
    shows(&d, "pe.L_multiplier         [1]");
    shows(&d, "pe.mlp.2.bias           [4]      0.25                -");
    pw_panes[PW_PANE_ENCODING]->copy(&d.ui, &out);
    assert_ptr_equal(strstr(out.s, "head\tdistance\tquery_1\tquery_4\t"), out.s);
    assert_non_null(strstr(out.s, "\n2\t31\t\t\t\t\t\t\t\t0.34112\n"));
    pw_str_fini(&out);
    close_desk(&d);
}

/* A row for each layer and head; h and l go through the entries of a table, and the head follows. */
static void learned_parameters_are_read(void **state)
{
    struct desk d;
    struct pw_str out = {0};
    (void)state;
    open_desk(&d, SCREEN_FORMULA);
    press(&d, "v");
    shows(&d, "▸a             h0            1.5    0.001  ▁▃▃▄▅▅▅▆▆▆▇▇▇▇███");
    shows(&d, " parameter             value/rms   |grad|  steps 0..640");
    shows(&d, "a h0 1.5  mean |gradient| 0.001 over 64 steps  was 1 at step 0  (per head)");
    shows(&d, "a h0 over training; grey: its other parts");
    press(&d, "jjl");
    shows(&d, "a h2 0.9  mean |gradient| 0.00033 over 64 steps  was 1 at step 0");
    press(&d, "jjll"); /* the first table */
    shows(&d, "▸T             L0 h0 ");
    shows(&d, "T L0 h0 rms 0.15  entry 2 ");
    shows(&d, "mean |gradient| 0.0002 over 64 steps");
    shows(&d, "(per head, layer, table of 16)");
    press(&d, "]");
    shows(&d, "T L0 h1 rms ");
    press(&d, "G[");
    shows(&d, "T L0 h0 rms 0.15  entry 15 ");
    pw_panes[PW_PANE_ENCODING]->copy(&d.ui, &out);
    assert_ptr_equal(strstr(out.s, "parameter\tof\tentry\tvalue\tmean_gradient\na\th0\t\t1.5\t0.001\n"),
                     out.s);
    assert_non_null(strstr(out.s, "\nT\tL1 h3\t15\t"));
    press(&d, "kkkkkk"); /* a table has entries, a number has none */
    shows(&d, "a h0 1.5  mean");
    pw_str_fini(&out);
    close_desk(&d);
}

/* The style of the first cell of this text. */
static struct pw_style style_of(const struct desk *d, const char *text)
{
    size_t n = strlen(text), k;
    for (int i = 0; i + (int)n <= d->c.rows * d->c.cols; i++) {
        for (k = 0; k < n && d->c.cells[i + (int)k].cp == (unsigned char)text[k]; k++)
            ;
        if (k == n)
            return d->c.cells[i].style;
    }
    fail_msg("'%s' isn't drawn", text);
    return pw_style_plain();
}

/* Training saw positions up to 10. */
static void queries_beyond_training_are_marked(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d, SCREEN_FIRE);
    press(&d, "v");
    assert_int_equal(style_of(&d, "q 10 ").fg, pw_style_plain().fg);
    assert_int_equal(style_of(&d, "q 15 ").fg, pw_style_warn().fg);
    assert_int_not_equal(pw_style_plain().fg, pw_style_warn().fg);
    d.s->arms[d.s->current - 1].table.trained = 20; /* from a file of weights, so there are no counts */
    pw_ui_frame(&d.ui, &d.c);
    assert_int_equal(style_of(&d, "q 15 ").fg, pw_style_plain().fg);
    assert_int_equal(style_of(&d, "q 26 ").fg, pw_style_warn().fg);
    close_desk(&d);
}

/* A head can be chosen on every page, whichever cursor the page has. */
static void a_head_by_its_keys(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d, SCREEN_T5);
    press(&d, "]]");
    shows(&d, "▸head 2");
    press(&d, "[");
    shows(&d, "▸head 1");
    press(&d, "[[");
    shows(&d, "▸head 0");
    hides(&d, "of the query");
    close_desk(&d);
}

/* The ruler's numbers don't touch, with the cursor's number at any place. */
static void distances_stand_apart(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d, SCREEN_T5);
    d.ui.zoom = false;
    pw_canvas_resize(&d.c, 24, 80);
    for (int at = 1; at < 32; at++) {
        press(&d, at == 1 ? "h" : "l");
        pw_str_clear(&d.text);
        pw_canvas_text(&d.c, &d.text);
        char *row = strstr(d.text.s, "dist"), *end;
        int cursor = d.ui.encoding.cursor[PW_ENC_DISTANCE];
        bool there = false;
        assert_non_null(row);
        row += 4;
        for (long before = -1, n; n = strtol(row, &end, 10), end != row; before = n, row = end) {
            if (n <= before)
                fail_msg("cursor %d: %ld comes behind %ld\n%s", cursor, n, before, d.text.s);
            there = there || n == cursor;
        }
        assert_true(there);
    }
    close_desk(&d);
}

static void a_cursor_reads_what_it_is_on(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d, SCREEN_T5);
    press(&d, "llll");
    shows(&d, "distance 5 → bucket 4  head 0 -0.765  12000 pairs seen in training");
    press(&d, "j");
    shows(&d, "▸head 1");
    shows(&d, "distance 5 → bucket 4  head 1 -1.292");
    press(&d, "G");
    shows(&d, "distance 31 → bucket 7");
    shows(&d, "never seen in training, mean |gradient| 0 ");
    press(&d, "hg"); /* wraps around to the first */
    shows(&d, "distance 0 → bucket 0");
    press(&d, "vjjjj"); /* the list: down moves by buckets */
    shows(&d, "bucket 4: distance 4–5  head 1 -1.292");
    shows(&d, "never trained: bucket 7");
    press(&d, "V"); /* the cursor of distances has followed */
    shows(&d, "distance 4 → bucket 4");
    close_desk(&d);

    open_desk(&d, SCREEN_ALIBI);
    shows(&d, "slope 0.25, a weight halves every 2.77 positions");
    close_desk(&d);

    open_desk(&d, SCREEN_ROTARY);
    press(&d, "jl");
    shows(&d, "distance 2: pair 1 has turned 0.1006 times, now at 36.2°  50.3% of its turn seen");
    close_desk(&d);

    open_desk(&d, SCREEN_LEARNED);
    press(&d, "vjjjllllll");
    shows(&d, "positions 4 and 6: cosine");
    press(&d, "jjjjjjjj"); /* position 12: no sequence was that long */
    shows(&d, "never seen in training, mean |gradient| 0 over 64 steps");
    close_desk(&d);

    open_desk(&d, SCREEN_NONE);
    shows(&d, "no positional term: order enters through the causal mask alone");
    press(&d, "G");
    shows(&d, "no sample has this distance");
    hides(&d, "nan");
    close_desk(&d);
}

/* A row of zeros (sinusoidal amplitude=0) has no direction, and a missing measurement has no number. */
static void what_is_undefined_is_said(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d, SCREEN_LEARNED);
    struct pw_ev_table *t = &d.s->arms[d.s->current - 1].table;
    memset(t->added, 0, sizeof *t->added * (size_t)t->width * 3);
    press(&d, "jj");
    shows(&d, "undefined");
    hides(&d, "nan");
    press(&d, "v");
    shows(&d, ": cosine undefined, a row is zero");
    hides(&d, "nan");
    close_desk(&d);
}

/* Figures 2 and 6: in the rows of DPE either half shows one end, and the pane states the length. */
static void rows_of_a_length(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d, SCREEN_LEARNED);
    struct pw_ev_table *t = &d.s->arms[d.s->current - 1].table;
    hides(&d, "of a sequence");
    t->by_length = true; /* no middle position was seen from both ends */
    for (int p = 0; p < 32; p++)
        t->rows[p] = p < 4 || p > 27 ? 100 : 0;
    pw_ui_frame(&d.ui, &d.c);
    shows(&d, "position (down) of a sequence of 32 x 64 dimensions");
    shows(&d, "   2 ┃");
    shows(&d, "   4 ┊");
    shows(&d, "  28 ┃");
    press(&d, "jjjj");
    shows(&d, "never seen in training");
    close_desk(&d);
}

static void keys_become_lines(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d, SCREEN_ROTARY);
    assert_string_equal(press(&d, "\r"), "table");
    assert_string_equal(press(&d, "}"), "table layer=+1");
    assert_string_equal(press(&d, "{"), "table layer=-1");
    assert_string_equal(press(&d, "vVhjklgGd"), "");
    close_desk(&d);
}

static void copied_as_values(void **state)
{
    struct desk d;
    struct pw_str out = {0};
    (void)state;
    open_desk(&d, SCREEN_T5);
    pw_panes[PW_PANE_ENCODING]->copy(&d.ui, &out);
    assert_ptr_equal(
        strstr(out.s, "distance\tpairs_met\tbucket\tkernel_0\tkernel_1\tkernel_2\tkernel_3\tscore_0"), out.s);
    assert_non_null(strstr(out.s, "\n5\t12000\t4\t-0.76"));
    assert_non_null(strstr(out.s, "\n31\t0\t7\t"));
    pw_str_fini(&out);
    close_desk(&d);
}

static void the_difference_of_two(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d, SCREEN_T5);
    press(&d, "d");
    assert_non_null(strstr(d.ui.message, "arm 3 is the reference"));
    screen_set_table(d.s, SCREEN_ALIBI);
    pw_ui_frame(&d.ui, &d.c);
    shows(&d, "difference 3/3");
    shows(&d, "kernel of ▲ 2 layer 0 minus ■ 3 layer 0, relative to distance 0");
    /* ALiBi's -0.25 d, and the learned difference of T5's head 0 between distances 1 and 0 */
    shows(&d, "distance 1  head 0  arm 2 -0.250  arm 3 -0.330  difference +0.080");
    shows(&d, "different families");
    press(&d, "V");
    shows(&d, "kernel 2/3");
    screen_set_table(d.s, SCREEN_T5); /* the reference arm has no difference from itself */
    pw_ui_frame(&d.ui, &d.c);
    shows(&d, "2/4");
    press(&d, "c");
    assert_string_equal(d.ui.message, "no arm is the reference now");
    screen_set_table(d.s, SCREEN_ALIBI);
    pw_ui_frame(&d.ui, &d.c);
    shows(&d, "2/2");
    close_desk(&d);
}

/* Positions are from + step * i and distances step * d, as tune maps them; with c = 0 every fraction is 0. */
static void fractions_of_tuned_positions(void **state)
{
    struct pw_ev_table t = {
        .fire_c = -0.5f, .fire_factor = 1, .fire_threshold = 8, .fire_from = 2, .fire_step = 0.5f};
    (void)state;
    assert_true(pw_fire_measure(&t, 10) == 8 && pw_fire_measure(&t, 20) == 12);
    assert_true(fabs(pw_fire_fraction(&t, 20, 6) - log(2.5) / log(7)) < 1e-5); /* 3 of 12 */
    assert_true(fabs(pw_fire_fraction(&t, 3, 2) - log(1.5) / log(5)) < 1e-5);  /* 1 of 8 */
    t.fire_c = 0;
    assert_true(pw_fire_fraction(&t, 20, 6) == 0);
    t.fire_threshold = 0;
    assert_true(isnan(pw_fire_threshold(&t)));
}

/* Two networks may compute the same with other weights: for two FIREs only the scalars are compared. */
static void the_parameters_of_two_fires(void **state)
{
    struct pw_ev_table a = {.fire_c = 0.5f, .fire_factor = 1, .fire_threshold = 8}, b = a;
    struct pw_enc_pair p = {.a = &a, .b = &b};
    struct pw_str out = {0};
    (void)state;
    b.fire_factor = -0.5f;
    pw_enc_pair_parameters(&p, &out);
    assert_string_equal(out.s, "parameters: c 0.5, L 8 = |1 x 8|, of the other c 0.5, L 4 = |-0.5 x 8|");
    b.fire_threshold = 0;
    pw_str_clear(&out);
    pw_enc_pair_parameters(&p, &out);
    assert_non_null(strstr(out.s, "different families"));
    pw_str_fini(&out);
}

/* Two tables of one family, the second smaller in every dimension: cursors stay within both. */
static void tables_of_other_sizes(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d, SCREEN_T5);
    press(&d, "jjjG");
    d.ui.encoding.reference = 2;
    screen_set_table(d.s, SCREEN_ALIBI);
    struct pw_ev_table *t = &d.s->arms[1].table;
    t->length = 9, t->heads = 2; /* of [4,32]: rows of another length, but this bias doesn't depend on it */
    screen_set_table(d.s, SCREEN_T5);
    press(&d, "VG");
    shows(&d, "difference 5/5");
    shows(&d, "distance 8  head 1");
    close_desk(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cursor_is_no_mark),       cmocka_unit_test(pages_go_round),
        cmocka_unit_test(distances_stand_apart),       cmocka_unit_test(a_cursor_reads_what_it_is_on),
        cmocka_unit_test(relative_keys_are_read),      cmocka_unit_test(queries_are_read),
        cmocka_unit_test(learned_parameters_are_read), cmocka_unit_test(queries_beyond_training_are_marked),
        cmocka_unit_test(a_head_by_its_keys),          cmocka_unit_test(rows_of_a_length),
        cmocka_unit_test(keys_become_lines),           cmocka_unit_test(copied_as_values),
        cmocka_unit_test(the_difference_of_two),       cmocka_unit_test(fractions_of_tuned_positions),
        cmocka_unit_test(the_parameters_of_two_fires), cmocka_unit_test(tables_of_other_sizes),
        cmocka_unit_test(what_is_undefined_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
