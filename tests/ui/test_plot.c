/* test_plot.c - tests that colours encode the values, that a spike is always drawn, and that hidden isn't
 * zero. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "plot/ticks.h"
#include "ref_screen.h"
#include "ui/plot.h"

static const struct pw_abilities full = {PW_COLORS_TRUE, true, true};

static double lightness(uint32_t rgb)
{
    double sum = 0;
    static const double weight[3] = {0.2126, 0.7152, 0.0722};
    for (int i = 0; i < 3; i++) /* linear light: approximately the encoded value to the power 2.2 */
        sum += weight[i] * pow((rgb >> (16 - 8 * i) & 255) / 255.0, 2.2);
    return sum;
}

static void the_sequential_ramp_grows_in_lightness(void **state)
{
    (void)state;
    double last = -1;
    for (int i = 0; i <= 200; i++) {
        double now = lightness(pw_ramp((float)i / 200));
        assert_true(now > last - 1e-4);
        last = now;
    }
    assert_true(lightness(pw_ramp(1)) > 10 * lightness(pw_ramp(0)));
    assert_int_equal(pw_ramp(-3), pw_ramp(0));
    assert_int_equal(pw_ramp(7), pw_ramp(1));
    assert_int_equal(pw_ramp(NAN), pw_ramp(0));
}

static void the_diverging_ramp_is_lightest_in_the_middle(void **state)
{
    (void)state;
    for (int i = 1; i <= 100; i++)
        for (int sign = -1; sign <= 1; sign += 2)
            assert_true(lightness(pw_ramp_signed((float)(sign * i) / 100)) <
                        lightness(pw_ramp_signed((float)(sign * (i - 1)) / 100)) + 1e-9);
    uint32_t low = pw_ramp_signed(-1), high = pw_ramp_signed(1);
    assert_true((low & 255) > (low >> 16 & 255));   /* blue */
    assert_true((high >> 16 & 255) > (high & 255)); /* orange */
}

/* ---- heat maps */

static float square[8][8];

static float value(const void *arg, int row, int col)
{
    (void)arg;
    return square[row][col];
}

static struct pw_heat heat(int n)
{
    return (struct pw_heat){.data = {.rows = n, .cols = n, .value = value, .hi = 1},
                            .square = true,
                            .cursor_row = -1,
                            .cursor_col = -1};
}

static void fill(int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            square[i][j] = j > i ? -INFINITY : (float)(i * n + j) / 64;
}

static const struct pw_cell *at(const struct pw_canvas *c, int y, int x)
{
    return &c->cells[y * c->cols + x];
}

static void half_blocks_show_two_exact_colors(void **state)
{
    (void)state;
    struct pw_canvas c;
    struct pw_rect r = {0, 0, 2, 4};
    struct pw_heat m = heat(4);
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 2, 4);
    fill(4);
    assert_true(pw_heat_fit(&m, &full, 4, 2));
    assert_int_equal(m.sx, 1);
    assert_int_equal(m.sy, 1);
    pw_heat_draw(&m, &full, &c, r, 0, 0);
    assert_int_equal(at(&c, 0, 0)->cp, 0x2580);
    assert_int_equal(at(&c, 0, 0)->style.fg, pw_ramp(square[0][0]));
    assert_int_equal(at(&c, 0, 0)->style.bg, pw_ramp(square[1][0]));
    assert_int_equal(at(&c, 1, 2)->style.bg, pw_ramp(square[3][2]));
    /* hidden above, shown below: only the lower half, on the terminal's own background */
    assert_int_equal(at(&c, 0, 1)->cp, 0x2584);
    assert_int_equal(at(&c, 0, 1)->style.fg, pw_ramp(square[1][1]));
    assert_int_equal(at(&c, 0, 1)->style.bg, PW_DEFAULT);
    /* both hidden: an empty cell; zero is not empty */
    assert_int_equal(at(&c, 0, 3)->cp, ' ');
    assert_int_equal(at(&c, 0, 3)->style.bg, PW_DEFAULT);
    assert_int_not_equal(pw_ramp(0), PW_DEFAULT);
    pw_canvas_fini(&c);
}

static void whole_cells_where_there_is_room(void **state)
{
    (void)state;
    struct pw_canvas c;
    struct pw_rect r = {0, 0, 4, 12};
    struct pw_heat m = heat(4);
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 4, 12);
    fill(4);
    assert_true(pw_heat_fit(&m, &full, 12, 4));
    assert_int_equal(m.sy, 2);
    assert_int_equal(m.sx, 3);
    m.cursor_row = 3, m.cursor_col = 1;
    pw_heat_draw(&m, &full, &c, r, 0, 0);
    for (int q = 0; q < 4; q++)
        for (int k = 0; k < 4; k++)
            for (int x = 0; x < 3; x++)
                assert_int_equal(at(&c, q, 3 * k + x)->style.bg, k > q ? PW_DEFAULT : pw_ramp(square[q][k]));
    assert_int_equal(at(&c, 3, 3)->cp, '[');
    assert_int_equal(at(&c, 3, 5)->cp, ']');
    pw_canvas_fini(&c);
}

static void a_gap_separates_prompt_and_answer(void **state)
{
    (void)state;
    struct pw_heat m = heat(4);
    m.split_row = m.split_col = 2;
    assert_true(pw_heat_fit(&m, &full, 13, 5));
    assert_int_equal(m.gap_r, 2);
    assert_int_equal(m.gap_c, 1);
    assert_int_equal(pw_heat_half_row(&m, 1), 2);
    assert_int_equal(pw_heat_half_row(&m, 2), 6);
    assert_int_equal(pw_heat_column(&m, 2), 2 * m.sx + 1);
    assert_true(m.w <= 13 && m.h <= 5);
}

static void pooling_keeps_the_spike(void **state)
{
    (void)state;
    struct pw_canvas c;
    struct pw_rect r = {0, 0, 1, 2};
    struct pw_heat m = heat(8);
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 1, 2);
    for (int i = 0; i < 64; i++)
        square[i / 8][i % 8] = 0;
    square[6][5] = 1;
    assert_true(pw_heat_fit(&m, &full, 2, 1));
    assert_int_equal(m.pool_r, 4);
    assert_int_equal(m.pool_c, 4);
    pw_heat_draw(&m, &full, &c, r, 0, 0);
    assert_int_equal(at(&c, 0, 1)->style.bg, pw_ramp(1));
    assert_int_equal(at(&c, 0, 0)->style.bg, pw_ramp(0));
    square[1][1] = NAN;
    pw_heat_draw(&m, &full, &c, r, 0, 0);
    assert_int_equal(at(&c, 0, 0)->style.fg, PW_RGB(255, 0, 0));
    pw_canvas_fini(&c);
}

static void shades_tell_zero_from_hidden_and_signs_apart(void **state)
{
    (void)state;
    static const struct pw_abilities looks[] = {
        {PW_COLORS_MONO, true, false}, {PW_COLORS_MONO, false, false}, {PW_COLORS_16, true, false}};
    for (int i = 0; i < 3; i++) {
        struct pw_canvas c;
        struct pw_rect r = {0, 0, 1, 5};
        pw_canvas_init(&c);
        pw_canvas_resize(&c, 1, 5);
        pw_heat_cell(&looks[i], &c, r, 0, 0, 1, -INFINITY, -1, 1, true);
        pw_heat_cell(&looks[i], &c, r, 0, 1, 1, 0, -1, 1, true);
        pw_heat_cell(&looks[i], &c, r, 0, 2, 1, 1, -1, 1, true);
        pw_heat_cell(&looks[i], &c, r, 0, 3, 1, -1, -1, 1, true);
        assert_int_equal(c.cells[0].cp, ' ');
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < a; b++)
                assert_int_not_equal(c.cells[a].cp, c.cells[b].cp);
        pw_canvas_fini(&c);
    }
}

static void no_size_breaks_a_heat_map(void **state)
{
    (void)state;
    fill(8);
    for (int look = 0; look < 2; look++)
        for (int n = 1; n <= 8; n++)
            for (int w = 0; w <= 20; w++)
                for (int h = 0; h <= 20; h++) {
                    struct pw_abilities l = {look ? PW_COLORS_TRUE : PW_COLORS_MONO, true, true};
                    struct pw_heat m = heat(n);
                    m.split_row = m.split_col = n / 2;
                    if (!pw_heat_fit(&m, &l, w, h)) {
                        assert_true(w == 0 || h == 0);
                        continue;
                    }
                    assert_in_range(m.w, 1, w);
                    assert_in_range(m.h, 1, h);
                    assert_true(m.sx >= 1 && m.sy >= 1 && m.pool_r == m.pool_c);
                }
}

/* ---- curves */

static struct pw_plot begin(struct pw_ui *ui, struct pw_canvas *c, double x1, double y1)
{
    struct pw_plot p = {.box = {0, 0, c->rows, c->cols}, .x1 = x1, .y1 = y1};
    assert_true(pw_plot_begin(&p, ui, c, "step"));
    return p;
}

static void one_spike_in_many_points_is_drawn(void **state)
{
    (void)state;
    enum { N = 100000 };
    struct pw_ui ui;
    struct pw_canvas c;
    int64_t *x = malloc(N * sizeof *x);
    float *y = malloc(N * sizeof *y);
    assert_non_null(x);
    assert_non_null(y);
    for (int i = 0; i < N; i++)
        x[i] = i, y[i] = 0.1f;
    y[77777] = 10;
    y[20000] = NAN;
    pw_ui_init(&ui);
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 20, 60);
    struct pw_plot p = begin(&ui, &c, N - 1, 10);
    pw_plot_series(&p, &ui, &c, 1, &(struct pw_points){.x = x, .y = y, .n = N}, PW_STROKE_LINE);
    int column = pw_plot_column(&p, 77777);
    for (int row = p.field.y; row < p.field.y + p.field.h;
         row++) /* up to the top and back: a line through every row */
        assert_true(at(&c, row, column)->cp > 0x2800 && at(&c, row, column)->cp <= 0x28ff);
    int broken = pw_plot_column(&p, 20000);
    assert_int_equal(at(&c, p.field.y + p.field.h - 1, broken)->cp, 0xd7);
    assert_int_equal(at(&c, p.field.y + p.field.h - 1, broken)->style.fg, PW_ANSI(1));
    pw_canvas_fini(&c);
    free(x);
    free(y);
}

static void the_curve_drawn_last_owns_the_cell(void **state)
{
    (void)state;
    struct pw_ui ui;
    struct pw_canvas c;
    int64_t x[] = {0, 100};
    float up[] = {0, 1}, down[] = {1, 0};
    pw_ui_init(&ui);
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 21, 41);
    struct pw_plot p = begin(&ui, &c, 100, 1);
    pw_plot_series(&p, &ui, &c, 1, &(struct pw_points){.x = x, .y = up, .n = 2}, PW_STROKE_LINE);
    pw_plot_series(&p, &ui, &c, 2, &(struct pw_points){.x = x, .y = down, .n = 2}, PW_STROKE_LINE);
    int row = pw_plot_row(&p, 0.5), column = pw_plot_column(&p, 50);
    assert_int_equal(at(&c, row, column)->style.fg, pw_style_arm(&ui, 2).fg);
    assert_int_equal(at(&c, pw_plot_row(&p, 0), pw_plot_column(&p, 0))->style.fg, pw_style_arm(&ui, 1).fg);
    pw_canvas_fini(&c);
}

/* Three series at 0.2, 0.5 and 0.9, one of them broken: the line is the median, and the band ends at the
 * others. */
static void a_band_lies_between_least_and_greatest(void **state)
{
    (void)state;
    struct pw_ui ui;
    struct pw_canvas c;
    int64_t x[] = {0, 50, 100};
    float low[] = {0.2f, 0.2f, 0.2f}, middle[] = {0.5f, 0.5f, 0.5f}, high[] = {0.9f, NAN, 0.9f};
    const struct pw_points rep[] = {
        {.x = x, .y = high, .n = 3}, {.x = x, .y = low, .n = 3}, {.x = x, .y = middle, .n = 3}};
    pw_ui_init(&ui);
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 32, 41);
    struct pw_plot p = begin(&ui, &c, 100, 1);
    pw_plot_band(&p, &ui, &c, 3, rep, 3, PW_STROKE_LINE);
    struct pw_style s = pw_style_arm(&ui, 3);
    for (int row = p.field.y; row < p.field.y + p.field.h; row++) {
        const struct pw_cell *k = at(&c, row, pw_plot_column(&p, 10));
        if (row == pw_plot_row(&p, 0.5)) {
            assert_true(k->cp > 0x2800 && k->style.fg == s.fg && k->style.attr == s.attr);
        } else if (row > pw_plot_row(&p, 0.85) && row < pw_plot_row(&p, 0.25)) {
            assert_true(k->cp > 0x2800 && (k->style.attr & PW_DIM));
        } else if (row < pw_plot_row(&p, 0.95) || row > pw_plot_row(&p, 0.15)) {
            assert_int_equal(k->cp, ' ');
        }
    }
    /* Where one series has no number the line is between the other two. */
    assert_int_equal(at(&c, pw_plot_row(&p, 0.35), pw_plot_column(&p, 50))->style.attr, s.attr);
    assert_int_equal(at(&c, p.field.y + p.field.h - 1, pw_plot_column(&p, 50))->cp, 0xd7);
    pw_canvas_fini(&c);
}

/* A loss of 0 until an encoding is swapped, then 1. The smooth line stays below until the swap, with any
 * smoothing width. Values before the swap don't pull it down afterwards. */
static void a_smooth_line_ends_at_a_swap(void **state)
{
    (void)state;
    enum { N = 1000, AT = 500 };
    static int64_t x[N], step[N];
    static float y[N];
    const int64_t swaps[] = {AT, N + 1};
    struct pw_ui ui;
    struct pw_canvas c;

    for (int i = 0; i < N; i++)
        x[i] = 10 * i, step[i] = i, y[i] = i > AT;
    const struct pw_points points = {.x = x, .y = y, .n = N, .step = step, .swaps = swaps, .n_swaps = 2};
    const struct pw_points twice[] = {points, points};
    for (int band = 0; band < 2; band++) {
        pw_ui_init(&ui);
        pw_canvas_init(&c);
        pw_canvas_resize(&c, 22, 61);
        struct pw_plot p = {.box = {0, 0, 22, 61}, .x1 = 10 * N, .y1 = 1, .reach = 0.2};
        assert_true(pw_plot_begin(&p, &ui, &c, "step"));
        if (band)
            pw_plot_band(&p, &ui, &c, 1, twice, 2, PW_STROKE_SMOOTH);
        else
            pw_plot_series(&p, &ui, &c, 1, &points, PW_STROKE_SMOOTH);
        int swap = pw_plot_column(&p, 10 * AT), top = p.field.y, bottom = top + p.field.h - 1;
        for (int px = p.field.x; px < p.field.x + p.field.w; px++)
            for (int row = top; row <= bottom; row++)
                if (px < swap - 1 || px > swap + 1) /* the jump is in between */
                    assert_int_equal(at(&c, row, px)->cp != ' ', row == (px < swap ? bottom : top));
        pw_canvas_fini(&c);
    }
}

static void without_utf8_a_curve_is_made_of_its_mark(void **state)
{
    (void)state;
    struct pw_ui ui;
    struct pw_canvas c;
    int64_t x[] = {0, 100};
    float y[] = {0, 1};
    pw_ui_init(&ui);
    ui.look.utf8 = false;
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 12, 41);
    struct pw_plot p = begin(&ui, &c, 100, 1);
    pw_plot_series(&p, &ui, &c, 2, &(struct pw_points){.x = x, .y = y, .n = 2}, PW_STROKE_LINE);
    for (int px = 0; px < p.field.w; px++) {
        int marks = 0;
        for (int row = 0; row < p.field.h; row++)
            marks += at(&c, p.field.y + row, p.field.x + px)->cp == 'x';
        assert_true(marks >= 1);
    }
    pw_canvas_fini(&c);
}

static void arms_differ_by_color_and_by_mark(void **state)
{
    (void)state;
    struct pw_ui ui;
    pw_ui_init(&ui);
    for (int a = 1; a <= PW_MAX_ARMS; a++)
        for (int b = 1; b < a; b++)
            for (int utf8 = 0; utf8 < 2; utf8++) {
                ui.look.utf8 = utf8;
                assert_string_not_equal(pw_arm_mark(&ui, a), pw_arm_mark(&ui, b));
                for (enum pw_colors k = PW_COLORS_16; k <= PW_COLORS_TRUE; k++) {
                    ui.look.colors = k;
                    assert_int_not_equal(pw_style_arm(&ui, a).fg, pw_style_arm(&ui, b).fg);
                }
            }
}

/* A log axis with only one of 1, 2, 5 gets linear ticks; a wide one keeps those. */
static void ticks_of_a_narrow_log_axis(void **state)
{
    double at[PW_MAX_TICKS_AXIS];
    (void)state;
    assert_true(pw_ticks(at, 6, 1.9, 2.7, true) >= 4);
    assert_true(fabs(at[1] - at[0] - 0.2) < 1e-9);
    assert_int_equal(pw_ticks(at, 6, 0.5, 50, true), 2);
    assert_true(at[0] == 1 && at[1] == 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sequential_ramp_grows_in_lightness),
        cmocka_unit_test(the_diverging_ramp_is_lightest_in_the_middle),
        cmocka_unit_test(half_blocks_show_two_exact_colors),
        cmocka_unit_test(whole_cells_where_there_is_room),
        cmocka_unit_test(a_gap_separates_prompt_and_answer),
        cmocka_unit_test(pooling_keeps_the_spike),
        cmocka_unit_test(shades_tell_zero_from_hidden_and_signs_apart),
        cmocka_unit_test(no_size_breaks_a_heat_map),
        cmocka_unit_test(one_spike_in_many_points_is_drawn),
        cmocka_unit_test(the_curve_drawn_last_owns_the_cell),
        cmocka_unit_test(a_band_lies_between_least_and_greatest),
        cmocka_unit_test(a_smooth_line_ends_at_a_swap),
        cmocka_unit_test(without_utf8_a_curve_is_made_of_its_mark),
        cmocka_unit_test(arms_differ_by_color_and_by_mark),
        cmocka_unit_test(ticks_of_a_narrow_log_axis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
