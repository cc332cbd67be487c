/* test_sizes.c - tests every pane at every size and with hostile values, and measures the time of a frame. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "ref_screen.h"
#include "ui/plot.h"

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

static int lengths_page; /* page of the lengths pane */

/* Draws panes into rectangles of all sizes; no cell around them may change. only: one pane, or -1 for all;
 * page: of the step inspector. */
static void draw_page(struct pw_snapshot *s, struct pw_abilities look, int only, int step, int page)
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
                if (pw_panes[i]->settle != NULL)
                    pw_panes[i]->settle(&ui, r);
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

static void draw_sizes(struct pw_snapshot *s, struct pw_abilities look, int only, int step)
{
    draw_page(s, look, only, step, 0);
}

static const struct pw_abilities looks[] = {
    {PW_COLORS_TRUE, true, false}, {PW_COLORS_MONO, true, false}, {PW_COLORS_MONO, false, false}};

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
    for (int table = SCREEN_NONE; table < SCREEN_TABLES; table++) {
        screen_set_table(s, (enum screen_table)table);
        for (int i = 0; i < 3; i++)
            draw_sizes(s, looks[i], PW_PANE_ENCODING, 3);
    }
    screen_set_failing(s, 9);
    for (int pairs = 0; pairs < 2; pairs++) {
        for (int page = 0; page < 7; page++)
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
                pw_ui_frame(&ui, &c);
                int at = rows - 1; /* the message ends on the last row at any size */
                while (at > 0 && cols < 30 && c.cells[at * cols].cp == ' ')
                    at--;
                assert_int_equal(c.cells[at * cols].cp, '!');
            }
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

/* The line of the token has its number of bits complete or not at all. */
static void a_number_is_never_cut(void **state)
{
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
    struct pw_canvas c = {0};
    struct pw_str text = {0};
    int told = 0;
    (void)state;

    for (int cols = 20; cols < 70; cols++) {
        pw_canvas_resize(&c, 24, cols);
        pw_canvas_clear(&c);
        pw_panes[PW_PANE_STEP]->draw(&ui, &c, (struct pw_rect){0, 0, 24, cols});
        pw_str_clear(&text);
        pw_canvas_text(&c, &text);
        const char *at = strstr(text.s, "right is 5"), *end = at != NULL ? strchr(at, '\n') : NULL;
        if (at == NULL)
            continue;
        told++;
        *(char *)end = '\0';
        assert_null(strstr(at, "\u2026"));
        assert_true(strstr(at, "1.62 bits") != NULL || strstr(at, "1.6") == NULL);
        assert_true(cols < 48 || strstr(at, "entropy 1.62 bits") != NULL);
    }
    assert_true(told > 30);
    pw_str_fini(&text);
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

/* ---- hostile labels and values */

static void draw_odd(struct pw_snapshot *s)
{
    for (int i = 0; i < 3; i++) {
        draw_sizes(s, looks[i], PW_PANE_ATTENTION, 7);
        draw_sizes(s, looks[i], PW_PANE_IO, 7);
        draw_sizes(s, looks[i], PW_PANE_STEP, 7);
    }
}

static void spoil_look(struct pw_ev_inspection *k, const char *label, int turn)
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
        for (int t = 0; t < a->T; t++) /* raw, without the cleaning of pw_text_copy */
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

/* With several replicas the first has the invalid values, and more steps than the others. */
static void draw_numbers_that_are_none(int of)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY, 0, -1, 1e30f, 1e-30f};
    struct pw_snapshot *s = screen_race_of(of);
    struct pw_canvas c;

    for (int i = 0; i < 700; i++)
        screen_step(s, 1 + i % 5, 641 + i / 5, bad[i % 7]);
    screen_step(s, 5, INT64_MAX / 2, 0.5f);
    s->state = (struct pw_ev_state){PW_RUN_TRAINING, INT64_MAX, INFINITY, NAN, INFINITY, false};
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
            pw_ui_frame(&ui, &c);
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

/* Eight arms of 100000 steps at 200x60. The budget is 5 ms in a release build. Sanitizers are slower, so
 * the time is printed and only 250 ms fail. */
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
        struct pw_replica_view *rep = &s->arms[a].rep[0];
        for (int i = rep->series.n; i < STEPS; i++)
            screen_point(rep, (float)(a + 1) / (1 + (float)i / 3000) + 0.01f * (float)(i * 7919 % 13));
    }
    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 60, 200);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from); /* CPU time, because other processes may be running */
    for (int i = 0; i < FRAMES; i++)
        pw_ui_frame(&ui, &c);
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
        cmocka_unit_test(every_pane_at_every_size),  cmocka_unit_test(every_screen_size),
        cmocka_unit_test(hostile_labels_and_values), cmocka_unit_test(numbers_that_are_none),
        cmocka_unit_test(long_runs_draw_quickly),    cmocka_unit_test(a_number_is_never_cut),
    };
    setenv("TZ", "UTC", 1); /* the log shows local time */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
