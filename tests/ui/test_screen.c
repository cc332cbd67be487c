/* test_screen.c - compares whole screens with the text files in golden/. PEWTER_ACCEPT=1 rewrites them;
 * review the difference before you commit it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    int replicas;  /* 0: one */
    int reference; /* reference arm of the encoding pane */
    int64_t time;  /* the time cursor's step, set after the keys; 0: live */
    bool pairs;    /* screen_set_pairs */
    bool file;     /* screen_import */
    bool found;    /* screen_set_findings */
    bool text;     /* screen_set_text */
    bool pieces;   /* a prompt in the pieces of a tokenizer */
};

#define FULL .colors = PW_COLORS_TRUE, .utf8 = true

/* Labels as the lab writes them for a model of another program. */
static const char *const pieces[] = {"The", "·capital", "·of",  "·France", "·is",    "·Paris",
                                     ",",   "↵",        "·and", "·its",    "<0xE2>", "·internationalisatio",
                                     "·42", "."};

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
    {"curves_exact_cursor_100x30", 30, 100, PW_PANE_CURVES, FULL, .zoom = true, .keys = "mHH", .replicas = 3},
    {"curves_100x30_mono", 30, 100, PW_PANE_CURVES, PW_COLORS_MONO, true, .zoom = true},
    {"lengths_80x24", 24, 80, PW_PANE_LENGTHS, FULL, .keys = "jjjjjjjjj"},
    {"lengths_100x30", 30, 100, PW_PANE_LENGTHS, FULL},
    {"lengths_zoom_100x30", 30, 100, PW_PANE_LENGTHS, FULL, .zoom = true},
    {"lengths_160x48", 48, 160, PW_PANE_LENGTHS, FULL, .zoom = true, .keys = "jjjjjjjjj"},
    {"lengths_100x30_ascii", 30, 100, PW_PANE_LENGTHS, .colors = PW_COLORS_MONO, .zoom = true},
    {"lengths_errors_80x24", 24, 80, PW_PANE_LENGTHS, FULL, .keys = "vjjjjjjjjjll"},
    {"lengths_errors_100x30", 30, 100, PW_PANE_LENGTHS, FULL, .zoom = true, .keys = "vGlllllll"},
    {"lengths_errors_100x30_mono", 30, 100, PW_PANE_LENGTHS, PW_COLORS_MONO, true, .zoom = true, .keys = "v"},
    {"lengths_errors_160x48", 48, 160, PW_PANE_LENGTHS, FULL, .zoom = true, .keys = "v", .replicas = 3},
    {"lengths_tests_80x24", 24, 80, PW_PANE_LENGTHS, FULL, .keys = "vvjj"},
    {"lengths_tests_100x30", 30, 100, PW_PANE_LENGTHS, FULL, .zoom = true, .keys = "vv", .replicas = 3},
    {"lengths_tests_160x48", 48, 160, PW_PANE_LENGTHS, FULL, .zoom = true, .keys = "Gvvb", .replicas = 3},
    {"lengths_failing_80x24", 24, 80, PW_PANE_LENGTHS, FULL, .keys = "Vjjj"},
    {"lengths_failing_100x30", 30, 100, PW_PANE_LENGTHS, FULL, .zoom = true, .keys = "Vjjjj"},
    {"lengths_failing_160x48", 48, 160, PW_PANE_LENGTHS, FULL, .keys = "V"},
    {"lengths_grid_80x24", 24, 80, PW_PANE_LENGTHS, FULL, .keys = "vjlllllll", .pairs = true},
    {"lengths_grid_100x30", 30, 100, PW_PANE_LENGTHS, FULL, .zoom = true, .keys = "vjjll", .pairs = true},
    {"lengths_grid_100x30_mono", 30, 100, PW_PANE_LENGTHS, PW_COLORS_MONO, true, .keys = "v", .pairs = true},
    {"lengths_grid_160x48", 48, 160, PW_PANE_LENGTHS, FULL, .zoom = true, .keys = "v", .pairs = true},
    {"lengths_chance_100x30", 30, 100, PW_PANE_LENGTHS, FULL, .zoom = true, .pairs = true},
    {"lengths_pairs_80x24", 24, 80, PW_PANE_LENGTHS, FULL, .keys = "j", .pairs = true},
    {"curves_band_80x24", 24, 80, PW_PANE_CURVES, FULL, .replicas = 3},
    {"curves_band_exact_100x30", 30, 100, PW_PANE_CURVES, FULL, .zoom = true, .keys = "m", .replicas = 3},
    {"curves_band_100x30_ascii", 30, 100, PW_PANE_CURVES, PW_COLORS_MONO, false, .zoom = true, .replicas = 5},
    {"curves_band_100x30_mono", 30, 100, PW_PANE_CURVES, PW_COLORS_MONO, true, .zoom = true, .keys = "s",
     .replicas = 2},
    {"lengths_band_80x24", 24, 80, PW_PANE_LENGTHS, FULL, .keys = "jjjjjjjjj", .replicas = 3},
    {"lengths_band_zoom_100x30", 30, 100, PW_PANE_LENGTHS, FULL, .zoom = true, .replicas = 3},
    {"dashboard_band_160x48", 48, 160, PW_PANE_LENGTHS, FULL, .table = SCREEN_T5, .replicas = 3},
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
    {"attention_file_100x30", 30, 100, PW_PANE_ATTENTION, FULL, .keys = "]}vk", .file = true},
    {"attention_file_less_80x24", 24, 80, PW_PANE_ATTENTION, FULL, .zoom = true, .keys = "ici", .file = true},
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
    {"encoding_keys_80x24", 24, 80, PW_PANE_ENCODING, FULL, .zoom = true, .table = SCREEN_SHAW,
     .keys = "jjjll"},
    {"encoding_fire_80x24", 24, 80, PW_PANE_ENCODING, FULL, .zoom = true, .table = SCREEN_FIRE,
     .keys = "lll"},
    {"encoding_queries_80x24", 24, 80, PW_PANE_ENCODING, FULL, .zoom = true, .table = SCREEN_FIRE,
     .keys = "vjjjll"},
    {"encoding_queries_160x48", 48, 160, PW_PANE_ENCODING, FULL, .zoom = true, .table = SCREEN_FIRE,
     .keys = "vjjjll]]"},
    {"encoding_queries_60x16_ascii", 16, 60, PW_PANE_ENCODING, PW_COLORS_MONO, false, .zoom = true,
     .table = SCREEN_FIRE, .keys = "vjjjjjjl"},
    {"encoding_params_80x24", 24, 80, PW_PANE_ENCODING, FULL, .zoom = true, .table = SCREEN_FORMULA,
     .keys = "vjj"},
    {"encoding_params_120x36", 36, 120, PW_PANE_ENCODING, FULL, .zoom = true, .table = SCREEN_FORMULA,
     .keys = "vjjjjjlll"},
    {"encoding_params_200x60", 60, 200, PW_PANE_ENCODING, FULL, .zoom = true, .table = SCREEN_FORMULA,
     .keys = "vjjjjjlll"},
    {"encoding_params_60x16_ascii", 16, 60, PW_PANE_ENCODING, PW_COLORS_MONO, false, .zoom = true,
     .table = SCREEN_FORMULA, .keys = "vjjjj"},
    {"encoding_none_80x24", 24, 80, PW_PANE_ENCODING, FULL, .table = SCREEN_NONE},
    {"encoding_none_zoom_100x30", 30, 100, PW_PANE_ENCODING, FULL, .zoom = true, .table = SCREEN_NONE},
    {"encoding_difference_100x30", 30, 100, PW_PANE_ENCODING, FULL, .zoom = true, .reference = 3,
     .table = SCREEN_ALIBI, .keys = "Vjll"},
    {"encoding_difference_60x16_ascii", 16, 60, PW_PANE_ENCODING, PW_COLORS_MONO, false, .zoom = true,
     .reference = 3, .table = SCREEN_NONE, .keys = "V"},
    {"encoding_difference_80x24", 24, 80, PW_PANE_ENCODING, PW_COLORS_MONO, true, .zoom = true,
     .reference = 3, .table = SCREEN_ROTARY, .keys = "V"},
    {"text_curves_100x30", 30, 100, PW_PANE_CURVES, FULL, .zoom = true, .text = true, .keys = "HH"},
    {"text_lengths_100x30", 30, 100, PW_PANE_LENGTHS, FULL, .zoom = true, .text = true},
    {"text_places_100x30", 30, 100, PW_PANE_LENGTHS, FULL, .zoom = true, .text = true, .keys = "v"},
    {"text_dashboard_160x48", 48, 160, PW_PANE_LENGTHS, FULL, .text = true, .pieces = true},
    {"pieces_map_100x30", 30, 100, PW_PANE_ATTENTION, FULL, .zoom = true, .text = true, .pieces = true},
    {"prompt_80x24", 24, 80, PW_PANE_IO, FULL},
    {"step_80x24", 24, 80, PW_PANE_STEP, FULL, .keys = "j"},
    {"step_60x16", 16, 60, PW_PANE_STEP, FULL, .keys = "vvj"},
    {"step_parts_100x30", 30, 100, PW_PANE_STEP, FULL, .keys = "vjtor"},
    {"step_heads_100x30_ascii", 30, 100, PW_PANE_STEP, PW_COLORS_MONO, false, .zoom = true, .keys = "Vj"},
    {"step_zoom_160x48_mono", 48, 160, PW_PANE_STEP, PW_COLORS_MONO, true, .zoom = true},
    {"step_300x100", 100, 300, PW_PANE_STEP, FULL},
    {"findings_80x24", 24, 80, PW_PANE_FINDINGS, FULL, .found = true, .keys = "jlllllll"},
    {"findings_table_60x16_ascii", 16, 60, PW_PANE_FINDINGS, PW_COLORS_MONO, false, .found = true,
     .keys = "jllll"},
    {"findings_plot_80x24", 24, 80, PW_PANE_FINDINGS, FULL, .found = true, .keys = "vllllll"},
    {"findings_plot_160x48", 48, 160, PW_PANE_FINDINGS, FULL, .zoom = true, .found = true,
     .keys = "vjllllll"},
    {"findings_plot_100x30_ascii", 30, 100, PW_PANE_FINDINGS, PW_COLORS_MONO, false, .zoom = true,
     .found = true, .keys = "v"},
    {"findings_log_100x30_mono", 30, 100, PW_PANE_FINDINGS, PW_COLORS_MONO, true, .zoom = true, .found = true,
     .keys = "[[lll"},
    {"findings_map_80x24", 24, 80, PW_PANE_FINDINGS, FULL, .found = true, .keys = "vvjlll"},
    {"findings_map_100x30_ascii", 30, 100, PW_PANE_FINDINGS, PW_COLORS_MONO, false, .zoom = true,
     .found = true, .keys = "vvjlll"},
    {"findings_map_large_100x30", 30, 100, PW_PANE_FINDINGS, FULL, .zoom = true, .found = true,
     .keys = "[jjjjjjjjjll"},
    {"findings_claims_80x24", 24, 80, PW_PANE_FINDINGS, FULL, .found = true, .keys = "V"},
    {"findings_claims_60x16", 16, 60, PW_PANE_FINDINGS, FULL, .found = true, .keys = "VG"},
    {"findings_first_80x24", 24, 80, PW_PANE_FINDINGS, FULL},
    {"dashboard_findings_160x48", 48, 160, PW_PANE_LENGTHS, FULL, .table = SCREEN_T5, .found = true},
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
    for (; keys != NULL && *keys; keys++)
        pw_ui_key(ui, *keys, &line);
    pw_str_fini(&line);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0)
        fail_msg("can't write %s", path);
}

/* Reports the first line that differs: a whole screen in a message is unreadable. */
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
            k->empty ? pw_snapshot_new() : screen_race_of(k->replicas > 0 ? k->replicas : 1);
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
            if (k->found)
                screen_set_findings(s);
            if (k->text)
                screen_set_text(s);
            if (k->pieces)
                screen_set_prompt(s, 14, pieces, (int)(sizeof pieces / sizeof *pieces));
            if (k->file)
                screen_import(s, 16, (const char *[]){"sort", " 3", " 1", " 4"}, 4);
        }
        ui.focus = k->focus, ui.zoom = k->zoom, ui.encoding.reference = k->reference;
        pw_canvas_init(&c);
        pw_canvas_resize(&c, k->rows, k->cols);
        pw_ui_frame(&ui, &c); /* drawing clamps cursors to the available data */
        press(&ui, k->keys);
        ui.time = k->time > 0 ? k->time : ui.time;
        pw_ui_frame(&ui, &c);
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
    for (int table = SCREEN_NONE; table < SCREEN_TABLES; table++) {
        screen_set_table(s, (enum screen_table)table);
        pw_ui_frame(&ui, &c);
        for (int i = 0; i < c.rows * c.cols; i++) {
            assert_in_range(c.cells[i].cp, 0x20, 0x7e);
            assert_int_equal(c.cells[i].style.fg, PW_DEFAULT);
            assert_int_equal(c.cells[i].style.bg, PW_DEFAULT);
        }
    }
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

/* In the whole screen, too, a map's colours are its values: the first query attends only to itself. */
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
    pw_ui_frame(&ui, &c);
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

/* Steps of other arms don't count for the selected arm. */
static void others_train(void **state)
{
    (void)state;
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
    struct pw_str text = {0};
    struct pw_canvas c;

    s->state.others = true;
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 10, 100);
    pw_ui_frame(&ui, &c);
    pw_canvas_text(&c, &text);
    *strchr(text.s, '\n') = '\0';
    assert_non_null(strstr(text.s, "TRAIN other arms  all 412 it/s  ETA 0:04"));
    assert_null(strstr(text.s, "640"));
    pw_str_fini(&text);
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

/* However much is cut from the status line, it names the selected arm, its encoding and the state. */
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
            pw_ui_frame(&ui, &c);
            pw_canvas_text(&c, &text);
            *strchr(text.s, '\n') = '\0';
            if (strstr(text.s, "3 t5 8/16") == NULL ||
                strstr(text.s, job ? "eval 12/40" : "TRAIN 640/1000") == NULL)
                fail_msg("%d columns: %s", cols, text.s);
            if (cols >= 80)
                assert_non_null(strstr(text.s, job ? "30%" : "64%  all 412 it/s  ETA 0:04"));
            pw_str_fini(&text);
        }
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
        cmocka_unit_test(others_train),
    };
    setenv("TZ", "UTC", 1); /* the log shows local time */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
