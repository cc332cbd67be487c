/* test_screen.c - whole screens against the text files in golden/ (PEWTER_ACCEPT=1 writes them anew; look at
 * the difference before you commit it), and every pane at every size with what no sane laboratory would send.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/file.h"
#include "ref_screen.h"
#include "ui/plot.h"

struct shot {
    const char *name;
    int rows, cols, focus;
    enum pw_colors colors;
    bool utf8, zoom, empty;
    enum screen_table table;
    enum pw_view view;
    const char *keys;
    int replicates; /* 0: one */
    int reference;  /* of the encoding pane */
    int64_t time;   /* the time cursor's step, moved after the keys; 0: live */
    bool pairs;     /* screen_set_pairs */
};

#define FULL .colors = PW_COLORS_TRUE, .utf8 = true

static const struct shot shots[] = {
    {"first_80x24", 24, 80, PW_PANE_CURVES, FULL, .empty = true},
    {"first_160x48", 48, 160, PW_PANE_CURVES, FULL, .empty = true},
    {"curves_80x24", 24, 80, PW_PANE_CURVES, FULL, .table = SCREEN_T5},
    {"curves_exact_80x24", 24, 80, PW_PANE_CURVES, FULL, .zoom = true, .keys = "m"},
    {"curves_log_100x30", 30, 100, PW_PANE_CURVES, FULL, .zoom = true, .keys = "a"},
    {"curves_raw_100x30_ascii", 30, 100, PW_PANE_CURVES, PW_COLORS_MONO, false, .zoom = true, .keys = "s"},
    {"curves_cursor_80x24", 24, 80, PW_PANE_CURVES, FULL, .keys = "HHhh"},
    {"curves_flops_100x30", 30, 100, PW_PANE_CURVES, FULL, .zoom = true, .keys = "xww"},
    {"curves_time_160x48", 48, 160, PW_PANE_CURVES, FULL, .zoom = true, .keys = "xxs"},
    {"curves_exact_cursor_100x30", 30, 100, PW_PANE_CURVES, FULL, .zoom = true, .keys = "mHH",
     .replicates = 3},
    {"curves_100x30_mono", 30, 100, PW_PANE_CURVES, PW_COLORS_MONO, true, .zoom = true},
    {"lengths_80x24", 24, 80, PW_PANE_LENGTHS, FULL, .keys = "jjjjjjjjj"},
    {"lengths_100x30", 30, 100, PW_PANE_LENGTHS, FULL},
    {"lengths_zoom_100x30", 30, 100, PW_PANE_LENGTHS, FULL, .zoom = true},
    {"lengths_160x48", 48, 160, PW_PANE_LENGTHS, FULL, .zoom = true, .keys = "jjjjjjjjj"},
    {"lengths_100x30_ascii", 30, 100, PW_PANE_LENGTHS, .colors = PW_COLORS_MONO, .zoom = true},
    {"lengths_errors_80x24", 24, 80, PW_PANE_LENGTHS, FULL, .keys = "vjjjjjjjjjll"},
    {"lengths_errors_100x30", 30, 100, PW_PANE_LENGTHS, FULL, .zoom = true, .keys = "vGlllllll"},
    {"lengths_errors_100x30_mono", 30, 100, PW_PANE_LENGTHS, PW_COLORS_MONO, true, .zoom = true, .keys = "v"},
    {"lengths_errors_160x48", 48, 160, PW_PANE_LENGTHS, FULL, .zoom = true, .keys = "v", .replicates = 3},
    {"lengths_tests_80x24", 24, 80, PW_PANE_LENGTHS, FULL, .keys = "vvjj"},
    {"lengths_tests_100x30", 30, 100, PW_PANE_LENGTHS, FULL, .zoom = true, .keys = "vv", .replicates = 3},
    {"lengths_tests_160x48", 48, 160, PW_PANE_LENGTHS, FULL, .zoom = true, .keys = "Gvvb", .replicates = 3},
    {"lengths_failing_80x24", 24, 80, PW_PANE_LENGTHS, FULL, .keys = "Vjjj"},
    {"lengths_failing_100x30", 30, 100, PW_PANE_LENGTHS, FULL, .zoom = true, .keys = "Vjjjj"},
    {"lengths_failing_160x48", 48, 160, PW_PANE_LENGTHS, FULL, .keys = "V"},
    {"lengths_grid_80x24", 24, 80, PW_PANE_LENGTHS, FULL, .keys = "vjlllllll", .pairs = true},
    {"lengths_grid_100x30", 30, 100, PW_PANE_LENGTHS, FULL, .zoom = true, .keys = "vjjll", .pairs = true},
    {"lengths_grid_100x30_mono", 30, 100, PW_PANE_LENGTHS, PW_COLORS_MONO, true, .keys = "v", .pairs = true},
    {"lengths_grid_160x48", 48, 160, PW_PANE_LENGTHS, FULL, .zoom = true, .keys = "v", .pairs = true},
    {"lengths_chance_100x30", 30, 100, PW_PANE_LENGTHS, FULL, .zoom = true, .pairs = true},
    {"lengths_pairs_80x24", 24, 80, PW_PANE_LENGTHS, FULL, .keys = "j", .pairs = true},
    {"curves_band_80x24", 24, 80, PW_PANE_CURVES, FULL, .replicates = 3},
    {"curves_band_exact_100x30", 30, 100, PW_PANE_CURVES, FULL, .zoom = true, .keys = "m", .replicates = 3},
    {"curves_band_100x30_ascii", 30, 100, PW_PANE_CURVES, PW_COLORS_MONO, false, .zoom = true,
     .replicates = 5},
    {"curves_band_100x30_mono", 30, 100, PW_PANE_CURVES, PW_COLORS_MONO, true, .zoom = true, .keys = "s",
     .replicates = 2},
    {"lengths_band_80x24", 24, 80, PW_PANE_LENGTHS, FULL, .keys = "jjjjjjjjj", .replicates = 3},
    {"lengths_band_zoom_100x30", 30, 100, PW_PANE_LENGTHS, FULL, .zoom = true, .replicates = 3},
    {"dashboard_band_160x48", 48, 160, PW_PANE_LENGTHS, FULL, .table = SCREEN_T5, .replicates = 3},
    {"attention_80x24", 24, 80, PW_PANE_ATTENTION, FULL},
    {"attention_80x24_ascii", 24, 80, PW_PANE_ATTENTION, .colors = PW_COLORS_MONO},
    {"attention_100x30", 30, 100, PW_PANE_ATTENTION, FULL, .keys = "khhhh"},
    {"attention_bias_100x30_mono", 30, 100, PW_PANE_ATTENTION, PW_COLORS_MONO, true, .view = PW_VIEW_BIAS},
    {"attention_score_200x60", 60, 200, PW_PANE_ATTENTION, FULL, .zoom = true, .view = PW_VIEW_SCORE},
    {"attention_heads_80x24", 24, 80, PW_PANE_ATTENTION, FULL, .zoom = true, .keys = "\n"},
    {"attention_heads_60x16_mono", 16, 60, PW_PANE_ATTENTION, PW_COLORS_MONO, true, .keys = "\nmmmm"},
    {"attention_scores_60x16", 16, 60, PW_PANE_ATTENTION, FULL, .keys = "s"},
    {"attention_scores_160x48", 48, 160, PW_PANE_ATTENTION, FULL, .zoom = true, .keys = "s"},
    {"attention_row_300x100", 100, 300, PW_PANE_ATTENTION, FULL, .zoom = true, .keys = "xra"},
    {"attention_then_100x30", 30, 100, PW_PANE_ATTENTION, FULL, .zoom = true, .time = 200},
    {"attention_less_80x24_ascii", 24, 80, PW_PANE_ATTENTION, PW_COLORS_MONO, false, .zoom = true,
     .keys = "c", .time = 200},
    {"encoding_t5_80x24", 24, 80, PW_PANE_ENCODING, FULL, .zoom = true, .table = SCREEN_T5, .keys = "llll"},
    {"encoding_t5_60x16", 16, 60, PW_PANE_ENCODING, FULL, .zoom = true, .table = SCREEN_T5, .keys = "llll"},
    {"encoding_t5_160x48", 48, 160, PW_PANE_ENCODING, FULL, .zoom = true, .table = SCREEN_T5, .keys = "llll"},
    {"encoding_t5_100x30_ascii", 30, 100, PW_PANE_ENCODING, PW_COLORS_MONO, false, .zoom = true,
     .table = SCREEN_T5},
    {"encoding_buckets_80x24", 24, 80, PW_PANE_ENCODING, FULL, .zoom = true, .table = SCREEN_T5,
     .keys = "vjjjjl"},
    {"encoding_buckets_60x16", 16, 60, PW_PANE_ENCODING, PW_COLORS_MONO, true, .zoom = true,
     .table = SCREEN_T5, .keys = "vjjjjjjjjjl"},
    {"encoding_buckets_100x30_ascii", 30, 100, PW_PANE_ENCODING, PW_COLORS_MONO, false, .zoom = true,
     .table = SCREEN_T5, .keys = "v"},
    {"encoding_matrix_80x24", 24, 80, PW_PANE_ENCODING, FULL, .zoom = true, .table = SCREEN_T5,
     .keys = "vvlll"},
    {"encoding_alibi_80x24", 24, 80, PW_PANE_ENCODING, FULL, .zoom = true, .table = SCREEN_ALIBI,
     .keys = "G"},
    {"encoding_alibi_60x16_mono", 16, 60, PW_PANE_ENCODING, PW_COLORS_MONO, true, .zoom = true,
     .table = SCREEN_ALIBI, .keys = "j"},
    {"encoding_alibi_kernel_100x30", 30, 100, PW_PANE_ENCODING, FULL, .zoom = true, .table = SCREEN_ALIBI,
     .keys = "Vjlll"},
    {"encoding_rotary_100x30", 30, 100, PW_PANE_ENCODING, FULL, .zoom = true, .table = SCREEN_ROTARY,
     .keys = "lll"},
    {"encoding_rotary_60x16_ascii", 16, 60, PW_PANE_ENCODING, PW_COLORS_MONO, false, .zoom = true,
     .table = SCREEN_ROTARY, .keys = "jjll"},
    {"encoding_rotary_decay_80x24", 24, 80, PW_PANE_ENCODING, FULL, .zoom = true, .table = SCREEN_ROTARY,
     .keys = "vll"},
    {"encoding_rotary_kernel_80x24", 24, 80, PW_PANE_ENCODING, FULL, .zoom = true, .table = SCREEN_ROTARY,
     .keys = "Vllj"},
    {"encoding_rotary_160x48_mono", 48, 160, PW_PANE_ENCODING, PW_COLORS_MONO, true, .zoom = true,
     .table = SCREEN_ROTARY},
    {"encoding_learned_80x24", 24, 80, PW_PANE_ENCODING, FULL, .zoom = true, .table = SCREEN_LEARNED},
    {"encoding_learned_60x16_ascii", 16, 60, PW_PANE_ENCODING, PW_COLORS_MONO, false, .zoom = true,
     .table = SCREEN_LEARNED, .keys = "jjjlll"},
    {"encoding_cosine_80x24", 24, 80, PW_PANE_ENCODING, FULL, .zoom = true, .table = SCREEN_LEARNED,
     .keys = "vjjjllllll"},
    {"encoding_cosine_100x30_mono", 30, 100, PW_PANE_ENCODING, PW_COLORS_MONO, true, .zoom = true,
     .table = SCREEN_LEARNED, .keys = "vjjj"},
    {"encoding_none_80x24", 24, 80, PW_PANE_ENCODING, FULL, .table = SCREEN_NONE},
    {"encoding_none_zoom_100x30", 30, 100, PW_PANE_ENCODING, FULL, .zoom = true, .table = SCREEN_NONE},
    {"encoding_difference_100x30", 30, 100, PW_PANE_ENCODING, FULL, .zoom = true, .reference = 3,
     .table = SCREEN_ALIBI, .keys = "Vjll"},
    {"encoding_difference_60x16_ascii", 16, 60, PW_PANE_ENCODING, PW_COLORS_MONO, false, .zoom = true,
     .reference = 3, .table = SCREEN_NONE, .keys = "V"},
    {"encoding_difference_80x24", 24, 80, PW_PANE_ENCODING, PW_COLORS_MONO, true, .zoom = true,
     .reference = 3, .table = SCREEN_ROTARY, .keys = "V"},
    {"prompt_80x24", 24, 80, PW_PANE_IO, FULL},
    {"step_80x24", 24, 80, PW_PANE_STEP, FULL, .keys = "j"},
    {"step_60x16", 16, 60, PW_PANE_STEP, FULL, .keys = "vvj"},
    {"step_parts_100x30", 30, 100, PW_PANE_STEP, FULL, .keys = "vjtor"},
    {"step_heads_100x30_ascii", 30, 100, PW_PANE_STEP, PW_COLORS_MONO, false, .zoom = true, .keys = "Vj"},
    {"step_zoom_160x48_mono", 48, 160, PW_PANE_STEP, PW_COLORS_MONO, true, .zoom = true},
    {"step_300x100", 100, 300, PW_PANE_STEP, FULL},
    {"log_80x24", 24, 80, PW_PANE_LOG, FULL, .keys = "k"},
    {"small_60x16", 16, 60, PW_PANE_CURVES, FULL},
    {"tiny_20x6", 6, 20, PW_PANE_ATTENTION, FULL},
    {"dashboard_160x48", 48, 160, PW_PANE_ATTENTION, FULL, .table = SCREEN_T5},
    {"dashboard_160x48_ascii", 48, 160, PW_PANE_CURVES, PW_COLORS_16, false, .table = SCREEN_ROTARY},
    {"dashboard_160x48_mono", 48, 160, PW_PANE_LENGTHS, PW_COLORS_MONO, true, .table = SCREEN_ALIBI},
    {"dashboard_200x60", 60, 200, PW_PANE_LENGTHS, FULL, .table = SCREEN_T5},
    {"keys_80x24", 24, 80, PW_PANE_CURVES, FULL, .keys = "?"},
    {"keys_filtered_80x24", 24, 80, PW_PANE_CURVES, FULL, .keys = "?eval"},
};

static void press(struct pw_ui *ui, const char *keys)
{
    struct pw_str line = {0};
    for (; keys && *keys; keys++)
        pw_ui_key(ui, *keys, &line);
    pw_str_fini(&line);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0)
        fail_msg("can't write %s", path);
}

/* Names the first line that differs: a whole screen in a message can't be read. */
static bool same_screen(const char *name, const char *got, const char *want)
{
    for (int line = 1; *got || *want; line++) {
        size_t g = strcspn(got, "\n"), w = strcspn(want, "\n");
        if (g != w || memcmp(got, want, g) != 0) {
            print_error("%s, line %d:\n  golden: %.*s\n  screen: %.*s\n", name, line, (int)w, want, (int)g,
                        got);
            return false;
        }
        got += g + (got[g] == '\n'), want += w + (want[w] == '\n');
    }
    return true;
}

static void screens_are_as_accepted(void **state)
{
    (void)state;
    bool accept = getenv("PEWTER_ACCEPT") != NULL;
    int wrong = 0;

    for (size_t i = 0; i < sizeof shots / sizeof *shots; i++) {
        const struct shot *k = &shots[i];
        struct pw_snapshot *s =
            k->empty ? pw_snapshot_new() : screen_race_of(k->replicates > 0 ? k->replicates : 1);
        struct pw_ui ui = screen_ui(s, k->colors, k->utf8);
        struct pw_canvas c;
        struct pw_str text = {0};
        char path[512], *golden = NULL;

        if (!k->empty) {
            screen_set_table(s, k->table);
            screen_set_view(s, 1, 1, k->view);
            screen_set_failing(s, 9);
            if (k->pairs)
                screen_set_pairs(s);
        }
        ui.focus = k->focus, ui.zoom = k->zoom, ui.encoding.reference = k->reference;
        pw_canvas_init(&c);
        pw_canvas_resize(&c, k->rows, k->cols);
        pw_ui_draw(&ui, &c); /* cursors are clamped to what is there when they are drawn */
        press(&ui, k->keys);
        ui.time = k->time > 0 ? k->time : ui.time;
        pw_ui_draw(&ui, &c);
        pw_canvas_text(&c, &text);
        snprintf(path, sizeof path, PEWTER_SOURCE_DIR "/tests/ui/golden/%s.txt", k->name);
        if (accept)
            write_file(path, text.s);
        struct pw_err err = {0};
        size_t size;
        if (pw_file_read(path, 1 << 20, &golden, &size, &err) != PW_OK) {
            print_error("%s\n", err.msg);
            wrong++;
        } else {
            wrong += !same_screen(k->name, text.s, golden);
        }
        free(golden);
        pw_str_fini(&text);
        pw_canvas_fini(&c);
        pw_ui_fini(&ui);
        pw_snapshot_free(s);
    }
    if (wrong)
        fail_msg("%d screens differ from golden/", wrong);
}

static void ascii_screens_hold_ascii_only(void **state)
{
    (void)state;
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_MONO, false);
    struct pw_canvas c;
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 60, 200);
    for (int table = SCREEN_NONE; table <= SCREEN_LEARNED; table++) {
        screen_set_table(s, (enum screen_table)table);
        pw_ui_draw(&ui, &c);
        for (int i = 0; i < c.rows * c.cols; i++) {
            assert_in_range(c.cells[i].cp, 0x20, 0x7e);
            assert_int_equal(c.cells[i].style.fg, PW_DEFAULT);
            assert_int_equal(c.cells[i].style.bg, PW_DEFAULT);
        }
    }
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

/* In the whole screen, too, a map's colours are its values: the first query looks at itself alone. */
static void the_map_on_the_screen_has_the_ramp_s_colors(void **state)
{
    (void)state;
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
    struct pw_canvas c;
    int whole = 0, cursor = 0;

    ui.focus = PW_PANE_ATTENTION, ui.zoom = true;
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 48, 160);
    pw_ui_draw(&ui, &c);
    const struct pw_ev_attention *a = &s->attention;
    size_t at =
        (((size_t)a->layer * a->heads + a->head) * a->T + ui.attention.query) * a->T + ui.attention.key;
    uint32_t want = pw_ramp(pw_from_half(a->probs[at]));
    for (int i = 0; i < c.rows * c.cols; i++) {
        whole += c.cells[i].style.bg == pw_ramp(1);
        cursor += c.cells[i].cp == '[' && c.cells[i].style.bg == want;
    }
    assert_true(whole >= 4);
    assert_true(cursor >= 1);
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

/* Whatever is cut from the status line, it says which arm with which encoding is looked at, and the state. */
static void the_encoding_is_always_told(void **state)
{
    (void)state;
    struct pw_snapshot *s = screen_race();
    struct pw_canvas c;

    pw_canvas_init(&c);
    for (int job = 0; job < 2; job++)
        for (int cols = 34; cols <= 200; cols++) {
            struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
            struct pw_str text = {0};
            s->job = (struct pw_ev_job){"eval", job ? PW_JOB_RUNNING : PW_JOB_DONE, 12, 40};
            pw_canvas_resize(&c, 10, cols);
            pw_ui_draw(&ui, &c);
            pw_canvas_text(&c, &text);
            *strchr(text.s, '\n') = '\0';
            if (!strstr(text.s, "3 t5 8/16") || !strstr(text.s, job ? "eval 12/40" : "TRAIN 640/1000"))
                fail_msg("%d columns: %s", cols, text.s);
            if (cols >= 80)
                assert_non_null(strstr(text.s, job ? "30%" : "64%  412 it/s  ETA 0:04"));
            pw_str_fini(&text);
        }
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

/* ---- every pane at every size */

#define SNOWMAN 0x2603

/* Surrounds rows 1 to bottom - 1 and columns 1 to right - 1 with a sign that no pane uses. */
static void ring(struct pw_canvas *c, int bottom, int right)
{
    struct pw_style s = {PW_RGB(1, 2, 3), PW_RGB(4, 5, 6), PW_UNDERLINE};

    pw_draw_fill(c, (struct pw_rect){0, 0, 1, right + 1}, s, SNOWMAN);
    pw_draw_fill(c, (struct pw_rect){bottom, 0, 1, right + 1}, s, SNOWMAN);
    pw_draw_fill(c, (struct pw_rect){0, 0, bottom + 1, 1}, s, SNOWMAN);
    pw_draw_fill(c, (struct pw_rect){0, right, bottom + 1, 1}, s, SNOWMAN);
}

static int lengths_page; /* of the pane with several */

/* Draws panes into rectangles of all sizes: nothing around them may change. only: one pane, or -1 for all;
 * page: of the step inspector. */
static void draw_page(struct pw_snapshot *s, struct pw_look look, int only, int step, int page)
{
    struct pw_canvas c;
    struct pw_ui ui = screen_ui(s, look.colors, look.utf8);
    ui.step.page = page;

    ui.lengths.page = lengths_page;
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 42, 82);
    for (int h = 1; h <= 40; h += step)
        for (int w = 1; w <= 80; w += w < 10 && step > 1 ? 2 : step)
            for (int i = only < 0 ? 0 : only; i < (only < 0 ? PW_PANES : only + 1); i++) {
                struct pw_str note = {0};
                struct pw_rect r = {1, 1, h, w};
                pw_canvas_clear(&c);
                ring(&c, h + 1, w + 1);
                ui.focus = i;
                pw_panes[i]->status(&ui, &note);
                pw_panes[i]->draw(&ui, &c, r);
                pw_str_fini(&note);
                for (int y = 0; y < h + 2; y++)
                    for (int x = 0; x < w + 2; x += y == 0 || y == h + 1 ? 1 : w + 1)
                        if (c.cells[y * c.cols + x].cp != SNOWMAN)
                            fail_msg("%s at %dx%d drew outside", pw_panes[i]->name, w, h);
            }
    pw_canvas_fini(&c);
}

static void draw_sizes(struct pw_snapshot *s, struct pw_look look, int only, int step)
{
    draw_page(s, look, only, step, 0);
}

static const struct pw_look looks[] = {
    {PW_COLORS_TRUE, true}, {PW_COLORS_MONO, true}, {PW_COLORS_MONO, false}};

static void draw_step_pages(struct pw_snapshot *s)
{
    for (int page = 0; page < 5; page++)
        for (int i = 0; i < 3; i++)
            draw_page(s, looks[i], PW_PANE_STEP, 3, page);
}

static void every_pane_at_every_size(void **state)
{
    (void)state;
    struct pw_snapshot *empty = pw_snapshot_new(), *s = screen_race(), *several = screen_race_of(4);

    draw_sizes(s, looks[0], -1, 1);
    draw_sizes(empty, looks[0], -1, 7);
    for (int i = 1; i < 3; i++)
        draw_sizes(s, looks[i], -1, 7);
    draw_step_pages(s);
    for (int i = 0; i < 3; i++) {
        draw_sizes(several, looks[i], PW_PANE_CURVES, 5);
        draw_sizes(several, looks[i], PW_PANE_LENGTHS, 5);
    }
    for (int table = SCREEN_NONE; table <= SCREEN_LEARNED; table++) {
        screen_set_table(s, (enum screen_table)table);
        for (int i = 0; i < 3; i++)
            draw_sizes(s, looks[i], PW_PANE_ENCODING, 3);
    }
    screen_set_failing(s, 9);
    for (int pairs = 0; pairs < 2; pairs++) {
        for (int page = 0; page < 5; page++)
            for (int i = 0; i < 3; i++) {
                lengths_page = page;
                draw_sizes(pairs ? s : several, looks[i], PW_PANE_LENGTHS, 5);
                draw_sizes(s, looks[i], PW_PANE_LENGTHS, 5);
            }
        screen_set_pairs(s);
    }
    lengths_page = 0;
    pw_snapshot_free(empty);
    pw_snapshot_free(several);
    pw_snapshot_free(s);
}

static void every_screen_size(void **state)
{
    (void)state;
    struct pw_snapshot *s = screen_race();
    struct pw_canvas c;
    pw_canvas_init(&c);
    for (int rows = 1; rows <= 70; rows += rows < 8 ? 1 : 9)
        for (int cols = 1; cols <= 240; cols += cols < 24 ? 1 : 27)
            for (int focus = 0; focus < PW_PANES; focus++) {
                struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
                ui.focus = focus;
                ui.help = focus == 0 && rows % 2;
                strcpy(ui.message, "pe: no encoding 'rotry'");
                ui.message_is_error = true;
                pw_canvas_resize(&c, rows, cols);
                pw_ui_draw(&ui, &c);
                if (cols >= 8) /* the message is on the last row whatever the size */
                    assert_int_equal(c.cells[(rows - 1) * cols].cp, '!');
            }
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

/* ---- what no sane laboratory would send */

static void draw_odd(struct pw_snapshot *s)
{
    for (int i = 0; i < 3; i++) {
        draw_sizes(s, looks[i], PW_PANE_ATTENTION, 7);
        draw_sizes(s, looks[i], PW_PANE_IO, 7);
        draw_sizes(s, looks[i], PW_PANE_STEP, 7);
    }
}

static void spoil_look(struct pw_ev_look *k, const char *label, int turn)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY, 1e30f};
    for (int i = 0; i < k->n; i++) {
        snprintf(k->token[i].label, PW_LABEL, "%s", label);
        k->token[i].prob = k->token[i].logit = bad[(i + turn) % 4];
        k->part[i] = (double)bad[(i + turn) % 4];
        k->lens_rank[i] = INT32_MAX;
    }
    snprintf(k->lens[0].label, PW_LABEL, "%s", label);
    k->entropy = k->temperature = k->lens[0].entropy = NAN;
}

static void hostile_labels_and_values(void **state)
{
    (void)state;
    static const char *const labels[] = {"日本", "",  " ",   "\033[31m", "e\u0301", "a much too long token",
                                         "\t\n", "👩", "\xff"};
    static const int sizes[] = {1, 2, 3, 37, 128};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct pw_snapshot *s = screen_race();
        struct pw_ev_attention *a = &s->attention;
        screen_set_prompt(s, sizes[i], labels, sizeof labels / sizeof *labels);
        for (int t = 0; t < a->T; t++) /* as they come, not as pw_text_copy cleans them */
            snprintf(a->labels[t], PW_LABEL, "%s", labels[t % 9]);
        a->probs[0] = pw_half(NAN);
        a->score[0] = pw_half(INFINITY);
        a->content[(size_t)a->T * a->T - 1] = pw_half(NAN);
        screen_set_view(s, 1, 3, (enum pw_view)(i % 4));
        spoil_look(&s->look, labels[i], (int)i);
        draw_odd(s);
        s->cursor.at.pos = i % 2 ? -7 : 1 << 30; /* no such token */
        s->look.said = 1 << 20;
        screen_set_view(s, 7, -1, (enum pw_view)9); /* no such head, no such view */
        draw_odd(s);
        pw_snapshot_free(s);
    }
}

static void spoil_table(struct pw_ev_table *t)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY, 0, -1, 1e30f, 1e-30f};

    t->trained = 1 << 30;
    for (int i = 0; i < t->length; i++) {
        t->bias[i] = t->kernel[i] = t->score[t->length + i] = bad[i % 7];
        t->met[i] = i % 2 ? INT64_MAX : -1;
    }
    for (int i = 0; i < t->n_buckets * t->heads; i++)
        t->bucket_bias[i] = t->grad[i] = bad[i % 7];
}

/* With several replicates it is the first that goes astray, and further than the others. */
static void draw_numbers_that_are_none(int of)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY, 0, -1, 1e30f, 1e-30f};
    struct pw_snapshot *s = screen_race_of(of);
    struct pw_canvas c;

    for (int i = 0; i < 700; i++)
        screen_step(s, 1 + i % 5, 641 + i / 5, bad[i % 7]);
    screen_step(s, 5, INT64_MAX / 2, 0.5f);
    s->state = (struct pw_ev_state){PW_RUN_TRAINING, INT64_MAX, INFINITY, NAN, INFINITY};
    s->lab.n_tasks = 0;
    spoil_table(&s->arms[2].table);
    for (int i = 0; i < s->arms[0].rep[0].eval.n; i++)
        s->arms[0].rep[0].eval.rows[i].samples = i % 2 ? 0 : -3,
        s->arms[0].rep[0].eval.rows[i].length = i * 1000 - 5;
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 48, 160);
    for (int metric = 0; metric <= PW_METRICS; metric++)
        for (int mode = 0; mode < 4; mode++) {
            struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
            ui.curves.axis = mode, ui.curves.zoom = 9 * mode, ui.curves.cursor = mode - 1;
            ui.curves.metric = metric, ui.curves.log = mode & 1, ui.curves.smooth = mode & 2;
            ui.step.page = -metric, ui.step.row[mode] = mode % 2 ? 1 << 30 : -9, ui.step.chosen = 1 << 20;
            ui.lengths.cursor = 1 << 30, ui.lengths.task = -7, ui.encoding.page = 1 << 30;
            for (int i = 0; i < PW_ENC_CURSORS; i++)
                ui.encoding.cursor[i] = i % 2 ? -5 : 1 << 30;
            ui.attention.query = -9, ui.attention.key = 1 << 30, ui.attention.follow = false,
            ui.log.up = 1 << 30;
            pw_ui_draw(&ui, &c);
        }
    draw_sizes(s, looks[0], -1, 7);
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

static void numbers_that_are_none(void **state)
{
    (void)state;
    draw_numbers_that_are_none(1);
    draw_numbers_that_are_none(3);
}

/* ---- keys of the pane of lengths */

/* Presses them in the pane; the command line that comes of the last one must be this. */
static void line_of(struct pw_ui *ui, const char *keys, const char *want)
{
    struct pw_str line = {0};
    struct pw_canvas c;

    pw_canvas_init(&c);
    pw_canvas_resize(&c, 30, 100);
    for (; *keys; keys++) {
        pw_str_clear(&line);
        assert_true(pw_ui_key(ui, *keys, &line));
        pw_ui_draw(ui, &c);
    }
    assert_string_equal(pw_str_text(&line), want);
    pw_str_fini(&line);
    pw_canvas_fini(&c);
}

/* What heads did: after a change the curve before it, and in words which of the two had heads off. */
static void lengths_before_heads_went_off(void **state)
{
    (void)state;
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
    struct pw_arm_view *arm = &s->arms[s->current - 1];
    struct pw_replicate_view *rep = &arm->rep[0];
    struct pw_canvas c;
    struct pw_str none = {0}, since = {0}, off = {0}, on = {0};

    ui.focus = PW_PANE_LENGTHS, ui.zoom = true;
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 30, 100);
    pw_ui_draw(&ui, &c);
    pw_canvas_text(&c, &none);
    arm->heads_off = (struct pw_ev_heads){.layers = 1, .heads = 2, .mode = calloc(2, 1)};
    arm->heads_off.mode[1] = PW_ABLATE_MEAN;
    rep->heads_changed = true;
    pw_ui_draw(&ui, &c);
    pw_canvas_text(&c, &since);
    rep->heads_changed = false;
    rep->eval_before =
        (struct pw_ev_eval){.n = rep->eval.n, .rows = calloc((size_t)rep->eval.n, sizeof *rep->eval.rows)};
    for (int i = 0; i < rep->eval.n; i++) {
        const struct pw_eval_row *r = &rep->eval.rows[i];
        rep->eval_before.rows[i] = (struct pw_eval_row){
            .task = r->task, .length = r->length, .samples = r->samples, .exact = r->samples / 4};
    }
    pw_ui_draw(&ui, &c);
    pw_canvas_text(&c, &off);
    arm->heads_off.mode[1] = PW_ABLATE_NONE;
    pw_ui_draw(&ui, &c);
    pw_canvas_text(&c, &on);
    assert_null(strstr(none.s, "heads"));
    assert_non_null(strstr(since.s, "heads were switched since, e evaluates"));
    assert_non_null(strstr(off.s, "dim dots: before heads off"));
    assert_non_null(strstr(off.s, "before heads off: 25%, now:"));
    assert_non_null(strstr(on.s, "with heads off: 25%, now:"));
    const char *row = strstr(off.s, "50%\u2524"), *was = strstr(none.s, "50%\u2524"); /* 25% lies below */
    assert_true(row && was && strncmp(row, was, 300) != 0);
    pw_str_fini(&none), pw_str_fini(&since), pw_str_fini(&off), pw_str_fini(&on);
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

static void keys_of_lengths(void **state)
{
    (void)state;
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);

    ui.focus = PW_PANE_LENGTHS;
    line_of(&ui, "e", "eval");
    line_of(&ui, "\n", ""); /* length 2: nothing failed */
    assert_string_equal(ui.message, "nothing failed there");
    const struct pw_ev_eval *e = &s->arms[2].rep[0].eval;
    char want[64];
    snprintf(want, sizeof want, "failing length=16 index=%d", pw_eval_failing(e, &e->rows[14], 0));
    line_of(&ui, "G\n", want);
    line_of(&ui, "f", "failing length=16 n=20");
    line_of(&ui, "h", "failing length=15 n=20");
    line_of(&ui, "vgkkk", ""); /* round the end, and the grid is passed over */
    assert_int_equal(ui.lengths.page, 0);
    assert_int_equal(ui.lengths.cursor, 0);
    line_of(&ui, "v", "");
    assert_int_equal(ui.lengths.page, 2);
    line_of(&ui, "V", "");
    assert_int_equal(ui.lengths.page, 0);
    screen_set_failing(s, 9);
    line_of(&ui, "Vjj\n", "failing length=12 index=6"); /* the third of the list */
    line_of(&ui, "jjjjjjjjjjjj\n", "failing length=12 index=24");
    screen_set_pairs(s);
    line_of(&ui, "vv", "");
    assert_int_equal(ui.lengths.page, 1);
    int index = pw_eval_failing(e, &e->rows[6], 0); /* 8 by 7 is the 9th of the 15 pairs of length 8 */
    while (index >= 0 && index % 15 != 8)
        index = pw_eval_failing(e, &e->rows[6], index + 1);
    struct pw_str values = {0};
    ui.lengths.page = 0;
    pw_pane_lengths.copy(&ui, &values);
    assert_non_null(strstr(values.s, "\n3\tt5 buckets=8 distance=16\t1\t8\t60\t"));
    pw_str_clear(&values);
    ui.lengths.page = 3;
    pw_pane_lengths.copy(&ui, &values);
    assert_non_null(strstr(values.s, "\nnone\talibi\t180\t")); /* 60 each of 6, 7 and 8 */
    pw_str_fini(&values);
    ui.lengths.page = 1;
    snprintf(want, sizeof want, "failing length=8 index=%d", index);
    line_of(&ui, "jjjjjjjjkllllllll\n", want);
    pw_snapshot_free(s);
}

/* The cursor's read-out is the value of every arm at its step, whatever lies across and however near. */
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
    line_of(&ui, "a", "");
    line_of(&ui, "y", "copy"); /* the workbench's */
    for (int zoom = 0; zoom < 3; zoom++) {
        struct pw_str text = {0};
        line_of(&ui, zoom ? "w" : "h", "");
        ui.curves.cursor = 320;
        pw_ui_draw(&ui, &c);
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
    line_of(&ui, "WWW", "");
    assert_int_equal(ui.curves.zoom, 0);
    line_of(&ui, "g", "");
    assert_int_equal(ui.curves.cursor, 0);
    line_of(&ui, "Gl", ""); /* at the right end there is nothing further right */
    assert_int_equal(ui.curves.cursor, -1);
    line_of(&ui, "wHx", ""); /* another axis: all of it */
    assert_true(ui.curves.cursor == -1 && ui.curves.zoom == 0);
    assert_true(ui.curves.x1 == 15e8 * 640);
    ui.time = 320; /* the time cursor is shown on any axis */
    pw_ui_draw(&ui, &c);
    struct pw_str text = {0};
    pw_canvas_text(&c, &text);
    assert_non_null(strstr(text.s, "4.16e+11 FLOP"));
    assert_non_null(strstr(text.s, "GFLOP"));
    pw_str_fini(&text);
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

/* Eight arms of 100000 steps at 200x60. The budget is 5 ms in a release build; sanitizers are slower, so it
 * is told and only a disaster fails. */
static void long_runs_draw_quickly(void **state)
{
    (void)state;
    enum { STEPS = 100000, FRAMES = 20 };
    struct pw_snapshot *s = screen_race();
    struct timespec from, to;
    struct pw_canvas c;

    for (int a = 6; a <= 8; a++)
        screen_arm(s, a, "t5", "t5 buckets=32 distance=128");
    for (int a = 0; a < PW_MAX_ARMS; a++) {
        struct pw_series *r = &s->arms[a].rep[0].series;
        r->step = realloc(r->step, STEPS * sizeof *r->step);
        assert_non_null(r->step);
        for (int m = 0; m < PW_METRICS; m++) {
            r->v[m] = realloc(r->v[m], STEPS * sizeof(float));
            assert_non_null(r->v[m]);
            for (int i = 0; i < STEPS; i++)
                r->v[m][i] = (float)(a + 1) / (1 + (float)i / 3000) + 0.01f * (float)(i * 7919 % 13);
        }
        for (int i = 0; i < STEPS; i++)
            r->step[i] = i + 1;
        r->n = r->cap = STEPS;
    }
    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 60, 200);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from); /* others may be using the machine */
    for (int i = 0; i < FRAMES; i++)
        pw_ui_draw(&ui, &c);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    double ms =
        ((double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6) / FRAMES;
    print_message("8 arms of 100000 steps at 200x60: %.2f ms a frame\n", ms);
    assert_true(ms < 250);
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(screens_are_as_accepted),
        cmocka_unit_test(ascii_screens_hold_ascii_only),
        cmocka_unit_test(the_map_on_the_screen_has_the_ramp_s_colors),
        cmocka_unit_test(the_encoding_is_always_told),
        cmocka_unit_test(every_pane_at_every_size),
        cmocka_unit_test(every_screen_size),
        cmocka_unit_test(hostile_labels_and_values),
        cmocka_unit_test(numbers_that_are_none),
        cmocka_unit_test(lengths_before_heads_went_off),
        cmocka_unit_test(keys_of_lengths),
        cmocka_unit_test(keys_of_curves),
        cmocka_unit_test(long_runs_draw_quickly),
    };
    setenv("TZ", "UTC", 1); /* the log shows local time */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
