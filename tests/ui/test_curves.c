/* test_curves.c - tests the pane of curves: its keys, marks, and the drawing of long runs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "figure/figure.h"
#include "plot/curves.h"
#include "ref_screen.h"
#include "ui/plot.h"

/* The cursor's readout has the value of every arm at its step, on any axis and at any zoom. */
static void keys_of_curves(void **state)
{
    (void)state;
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
    struct pw_canvas c;
    char want[64];

    pw_canvas_init(&c);
    pw_canvas_resize(&c, 30, 100);
    ui.focus = PW_PANE_CURVES, ui.zoom = true;
    screen_line(&ui, "a", "");
    screen_line(&ui, "y", "copy"); /* the workbench copies */
    for (int zoom = 0; zoom < 3; zoom++) {
        struct pw_str text = {0};
        screen_line(&ui, zoom ? "w" : "h", "");
        ui.curves.cursor = 320;
        pw_ui_frame(&ui, &c);
        pw_canvas_text(&c, &text);
        snprintf(want, sizeof want, "step 320  ●%.3g  ▲%.3g  ■%.3g",
                 (double)s->arms[0].rep[0].series.v[PW_M_LOSS][319],
                 (double)s->arms[1].rep[0].series.v[PW_M_LOSS][319],
                 (double)s->arms[2].rep[0].series.v[PW_M_LOSS][319]);
        assert_non_null(strstr(text.s, want));
        assert_true(ui.curves.x0 <= 320 && ui.curves.x1 >= 320);
        assert_true(ui.curves.x1 - ui.curves.x0 == 640 >> zoom);
        pw_str_fini(&text);
    }
    screen_line(&ui, "WWW", "");
    assert_int_equal(ui.curves.zoom, 0);
    screen_line(&ui, "g", "");
    assert_int_equal(ui.curves.cursor, 0);
    screen_line(&ui, "Gl", ""); /* at the right end the cursor can't move right */
    assert_int_equal(ui.curves.cursor, -1);
    screen_line(&ui, "wHx", ""); /* another axis resets the zoom */
    assert_true(ui.curves.cursor == -1 && ui.curves.zoom == 0);
    assert_true(ui.curves.x1 == 15e8 * 640);
    ui.time = 320; /* the time cursor is shown on any axis */
    pw_ui_frame(&ui, &c);
    struct pw_str text = {0};
    pw_canvas_text(&c, &text);
    assert_non_null(strstr(text.s, "4.16e+11 FLOP"));
    assert_non_null(strstr(text.s, "GFLOP"));
    pw_str_fini(&text);
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

/* The mark of a swap is readable at every step: not covered by a curve, not cut by the frame. */
static void a_swap_can_be_read(void **state)
{
    (void)state;
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
    struct pw_canvas c;

    pw_canvas_init(&c);
    pw_canvas_resize(&c, 24, 80);
    for (int i = 0; i < PW_MAX_ARMS; i++)
        s->arms[i].n_marks = i == 0;
    for (int step = 1; step <= 640; step++) {
        struct pw_str text = {0};
        s->arms[0].marks[0] = step;
        pw_ui_frame(&ui, &c);
        pw_canvas_text(&c, &text);
        if (strstr(text.s, "swap") == NULL)
            fail_msg("step %d\n%s", step, text.s);
        pw_str_fini(&text);
    }
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

/* Running text has a second curve, of the held-out loss, in the pane, in words and in the figure; and no
 * exact match. */
static void held_out_loss_is_beside_the_loss(void **state)
{
    (void)state;
    struct pw_snapshot *s = screen_race();
    struct pw_figure_options o = {0};
    struct pw_str figure = {0};
    struct pw_err err;
    struct pw_curve k[2];
    char *text;
    size_t size;

    assert_int_equal(pw_curves_of(k, &s->arms[0], PW_M_LOSS, PW_AXIS_STEP), 1);
    screen_set_text(s);
    assert_int_equal(pw_curves_of(k, &s->arms[0], PW_M_LOSS, PW_AXIS_STEP), 2);
    assert_true(k[1].dotted && k[1].rep[0].n == 16);
    assert_true(k[1].rep[0].y[15] == pw_eval_loss(&s->lab, &s->arms[0].rep[0].eval, false));
    pw_curves_of(k, &s->arms[0], PW_METRIC_EXACT, PW_AXIS_STEP);
    assert_int_equal(k[0].rep[0].n, 0);

    pw_opt_defaults(pw_figure_opts, &o);
    for (o.pane = 1; strcmp(pw_figure_names[o.pane], "curves") != 0;)
        o.pane++;
    assert_int_equal(pw_figure_svg(&figure, s, &o, &err), PW_OK);
    assert_non_null(strstr(figure.s, ">held-out  "));
    assert_non_null(strstr(figure.s, "on held-out text"));
    pw_str_fini(&figure);

    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    pw_pane_curves.words(f, &ui);
    assert_int_equal(fclose(f), 0);
    assert_non_null(strstr(text, "loss on held-out text, nats per token:"));
    free(text);
    pw_pane_curves.copy(&ui, &figure);
    assert_non_null(strstr(figure.s, "\theld-out\n"));
    pw_str_fini(&figure);
    pw_ui_fini(&ui);
    pw_snapshot_free(s);
}

/* ---- long runs */

/* Draws the pane and the figure of one view. */
static void draw_both(const struct pw_ui *at, struct pw_canvas *c, struct pw_str *figure)
{
    struct pw_ui ui = *at;
    struct pw_figure_options o = {0};
    struct pw_err err;

    pw_ui_frame(&ui, c);
    pw_opt_defaults(pw_figure_opts, &o);
    for (o.pane = 1; strcmp(pw_figure_names[o.pane], "curves") != 0;)
        o.pane++;
    snprintf(o.page, sizeof o.page, "%s", pw_metric_views[ui.curves.metric].word);
    o.log = ui.curves.log, o.x = ui.curves.axis;
    if (pw_figure_svg(figure, ui.snap, &o, &err) != PW_OK)
        fail_msg("%s", err.msg);
}

static void forget_pyramids(struct pw_snapshot *s)
{
    for (int i = 0; i < PW_MAX_ARMS; i++)
        for (int r = 0; r < PW_MAX_REPLICAS; r++)
            for (int m = 0; m < PW_METRICS; m++)
                pw_pyramid_fini(&s->arms[i].rep[r].series.pyramid[m]);
}

/* Any part of any run at any screen size: drawing from the pyramids of the series equals drawing from every
 * point. */
static void pyramids_change_no_picture(void **state)
{
    (void)state;
    enum { RUNS = 4, MOMENTS = 12, STEPS = 5000 };
    struct pw_canvas c[2][MOMENTS];

    for (uint64_t run = 0; run < RUNS; run++) {
        struct pw_snapshot *s = screen_race_of(run % 2 ? 3 : 1);
        struct pw_str figure[2][MOMENTS] = {0};
        struct pw_ui at[MOMENTS];
        struct pw_rng rng;

        pw_rng_init(&rng, run, PW_STREAM_TRAIN, 0);
        for (int i = 0; i < PW_MAX_ARMS * PW_MAX_REPLICAS; i++) {
            struct pw_arm_view *a = &s->arms[i / PW_MAX_REPLICAS];
            struct pw_replica_view *rep = &a->rep[i % PW_MAX_REPLICAS];
            int n = (int)pw_rng_below(&rng, STEPS);
            while (a->used && i % PW_MAX_REPLICAS < a->info.replicas && rep->series.n < n) {
                double u = pw_rng_unit(&rng), spike = u > 0.999 ? 20 : 1;
                screen_point(rep, u < 0.001 * (double)run
                                      ? NAN
                                      : (float)(spike * (u + 30) / (20 + 0.1 * rep->series.n)));
            }
        }
        for (int i = 0; i < MOMENTS; i++) {
            at[i] = screen_ui(s, PW_COLORS_TRUE, i % 4 != 0);
            at[i].focus = PW_PANE_CURVES, at[i].zoom = i % 3 != 0;
            at[i].curves.metric = (int)pw_rng_below(&rng, PW_METRIC_CHOICES);
            at[i].curves.axis = (int)pw_rng_below(&rng, PW_AXES);
            at[i].curves.log = pw_rng_below(&rng, 2), at[i].curves.smooth = (int)pw_rng_below(&rng, 3);
            at[i].curves.zoom = (int)pw_rng_below(&rng, 6);
            at[i].curves.cursor = i % 2 ? (int64_t)pw_rng_below(&rng, STEPS) : -1;
        }
        for (int plain = 0; plain < 2; plain++)
            for (int i = 0; i < MOMENTS; i++) {
                if (plain && i == 0)
                    forget_pyramids(s);
                pw_canvas_init(&c[plain][i]);
                pw_canvas_resize(&c[plain][i], 20 + 3 * i, 60 + 20 * i);
                draw_both(&at[i], &c[plain][i], &figure[plain][i]);
            }
        for (int i = 0; i < MOMENTS; i++) {
            size_t cells = (size_t)c[0][i].rows * (size_t)c[0][i].cols;
            assert_memory_equal(c[0][i].cells, c[1][i].cells, cells * sizeof *c[0][i].cells);
            assert_string_equal(figure[0][i].s, figure[1][i].s);
            for (int plain = 0; plain < 2; plain++) {
                pw_canvas_fini(&c[plain][i]);
                pw_str_fini(&figure[plain][i]);
            }
        }
        pw_snapshot_free(s);
    }
}

static void range_of(float a, float b, bool *log, double want0, double want1)
{
    int64_t x[] = {1, 2};
    float y[] = {a, b};
    struct pw_curve k = {.arm = 1, .n = 1, .rep = {{.x = x, .y = y, .n = 2}}};
    double y0, y1;
    pw_curves_range(&k, 1, false, log, &y0, &y1);
    assert_true(y0 == want0 && y1 == want1);
}

static void a_range_has_ends_where_nothing_can_be_shown(void **state)
{
    bool linear = false, logarithmic = true;
    (void)state;
    range_of(2, 3, &linear, 0, 3);
    range_of(-2, 3, &linear, -2, 3);
    range_of(NAN, -INFINITY, &linear, 0, 1);
    assert_false(linear);
    range_of(2, 3, &logarithmic, 2, 3);
    range_of(0, 3, &logarithmic, 3, 4);
    assert_true(logarithmic);
    range_of(0, NAN, &logarithmic, 0, 1);
    assert_false(logarithmic);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_curves),
        cmocka_unit_test(a_swap_can_be_read),
        cmocka_unit_test(held_out_loss_is_beside_the_loss),
        cmocka_unit_test(pyramids_change_no_picture),
        cmocka_unit_test(a_range_has_ends_where_nothing_can_be_shown),
    };
    setenv("TZ", "UTC", 1); /* the log shows local time */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
