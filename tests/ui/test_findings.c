/* test_findings.c - tests the findings pane: the shown finding and page, the cursor's read-out, and drawing
 * of arbitrary findings. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "plot/finding.h"
#include "ref_bench.h"
#include "ui/mouse.h"
#include "ui/panes/findings.h"

static struct pw_finding_view *newest(struct pw_snapshot *s)
{
    return (struct pw_finding_view *)pw_finding_named(s, "");
}

static void tell(struct pw_snapshot *s, struct pw_finding *f)
{
    struct pw_event *e = pw_event_new(PW_EV_FINDING);
    e->u.finding = *f;
    e->seq = s->seq + 1;
    pw_fold(s, e);
    pw_event_free(e);
}

static void tell_small(struct pw_snapshot *s, const char *name, double value)
{
    struct pw_finding f;
    pw_finding_init(&f, name, "", "what %s is", name);
    int b = pw_finding_table(&f, "in numbers", 2, 2);
    pw_finding_put(&f, b, 1, 1, value);
    tell(s, &f);
}

static void press(struct bench *b, const char *keys)
{
    struct pw_str line = {0};
    for (; *keys; keys++)
        assert_true(pw_ui_key(&b->app.ui, *keys, &line));
    assert_int_equal(line.len, 0);
    pw_str_fini(&line);
}

static void open_pane(struct bench *b)
{
    screen_set_findings(b->s);
    b->app.ui.focus = PW_PANE_FINDINGS, b->app.ui.zoom = true;
    bench_draw(b);
}

static void the_newest_or_the_chosen_one(void **state)
{
    struct bench *b = *state;
    open_pane(b);
    bench_shows(b, "what scores are made of", true);
    press(b, "[");
    bench_shows(b, "finding 2 of 3", true);
    tell_small(b->s, "shift", 1); /* a selected finding stays selected */
    bench_shows(b, "rank of position", true);
    press(b, "]]");
    bench_shows(b, "what shift is", true);
    tell_small(b->s, "adjacent", 2); /* the selection of the newest follows */
    bench_shows(b, "what adjacent is", true);
    press(b, "[[[");
    bench_shows(b, "rank of position", true);
    press(b, "[[[[[[");
    bench_shows(b, "kernel of each encoding", true);
    for (int i = 0; i < PW_MAX_FINDINGS; i++) { /* the selected one is replaced */
        char name[16];
        snprintf(name, sizeof name, "more %d", i);
        tell_small(b->s, name, i);
    }
    char last[32];
    snprintf(last, sizeof last, "what more %d is", PW_MAX_FINDINGS - 1);
    bench_shows(b, last, true);
    bench_shows(b, "the newest of", true);
}

/* A new measurement replaces the finding: page and cursor stay. Another finding begins with its first
 * page. */
static void page_and_cursor_stay(void **state)
{
    struct bench *b = *state;
    open_pane(b);
    tell_small(b->s, "shift", 0.25);
    press(b, "jl");
    bench_shows(b, "1, 1: 0.25", true);
    tell_small(b->s, "shift", 0.75);
    bench_shows(b, "1, 1: 0.75", true);
    press(b, "[v");
    bench_shows(b, "entropy by length", true);
    press(b, "]");
    bench_shows(b, "0, 0: -", true);
}

/* Enter puts the commands of a row into the prompt, and does not run them. */
static void commands_of_a_row(void **state)
{
    struct bench *b = *state;
    struct pw_finding f;
    open_pane(b);
    pw_finding_init(&f, "why", "1", "changes");
    int t = pw_finding_table(&f, "candidates", 2, 1);
    pw_finding_action(&f, t, 1, "arm 1; fork; tune distance=20");
    tell(b->s, &f);
    press(b, "\r");
    assert_string_equal(b->app.ui.ask, "");
    press(b, "j\r");
    assert_string_equal(b->app.ui.ask, "arm 1; fork; tune distance=20");
}

static void pages_and_read_out(void **state)
{
    struct bench *b = *state;
    open_pane(b);
    assert_string_equal(pw_panes[PW_PANE_FINDINGS]->page(&b->app.ui), "1");
    press(b, "jlll");
    bench_shows(b, "arm 2 alibi, head 3: -", true);
    press(b, "jGlllll");
    bench_shows(b, "arm 3 t5 buckets=8, adds up?: no", true);
    press(b, "v");
    bench_shows(b, "keys 2  ● layer 0 0.2 (0.15..0.3)  ▲ layer 1 0.1 (0.05..0.125)  ┄ uniform 0.4", true);
    press(b, "jllllllllllll");
    bench_shows(b, "keys 14  ▲ layer 1 -  ● layer 0 1.4", true);
    press(b, "v");
    bench_shows(b, "layer 0, head 0.0: 0", true);
    bench_shows(b, "✗ contradicted: no head is absolute", true);
    b->app.ui.zoom = false;
    bench_shows(b, "✗ 1 contradicted  ? 1 inconclusive  ≈ 1 same order", true);
    b->app.ui.zoom = true;
    press(b, "v");
    bench_shows(b, "residual 3e-7, below 1e-5", true);
    bench_shows(b, "contradicted: no head is absolute", false); /* in full, on lines of their own */
    assert_string_equal(pw_panes[PW_PANE_FINDINGS]->page(&b->app.ui), "all");
    press(b, "v");
    bench_shows(b, "shares of the score", true);
}

/* The encoding and the findings share one corner of a dashboard. It shows the pane that had the focus last,
 * or that has news. */
static void a_corner_for_two(void **state)
{
    struct bench *b = *state;
    struct pw_ui *ui = &b->app.ui;
    pw_canvas_resize(&b->c, 48, 160);
    pw_ui_focus(ui, PW_PANE_CURVES);
    bench_shows(b, "5 Encoding", true);
    screen_set_findings(b->s);
    bench_shows(b, "8 Findings", true);
    bench_shows(b, "5 Encoding", false);
    pw_ui_focus(ui, PW_PANE_ENCODING);
    bench_shows(b, "5 Encoding", true);
    pw_ui_focus(ui, PW_PANE_LOG);
    bench_shows(b, "5 Encoding", true);
    tell_small(b->s, "shift", 1);
    bench_shows(b, "8 Findings", true);
    pw_ui_focus(ui, PW_PANE_ENCODING);
    bench_draw(b);
    pw_ui_focus(ui, PW_PANE_LOG);
    tell_small(b->s, "shift", 2); /* the watch only advanced: no news */
    bench_shows(b, "5 Encoding", true);
    bench_run(b, "focus findings");
    bench_shows(b, "8 Findings", true);
}

static void copied_searched_and_told(void **state)
{
    struct bench *b = *state;
    struct pw_str text = {0};
    open_pane(b);
    press(b, "v");
    pw_panes[PW_PANE_FINDINGS]->copy(&b->app.ui, &text);
    assert_memory_equal(text.s, "keys\tlayer 0\tlayer 0 low\tlayer 0 high\tlayer 1\t", 46);
    assert_non_null(strstr(text.s, "\n2\t0.2\t0.15\t0.3\t"));
    press(b, "v");
    pw_str_clear(&text);
    pw_panes[PW_PANE_FINDINGS]->copy(&b->app.ui, &text);
    assert_memory_equal(text.s, "layer\t0.0\t0.1\t", 14);
    press(b, "v");
    pw_str_clear(&text);
    pw_panes[PW_PANE_FINDINGS]->copy(&b->app.ui, &text);
    assert_non_null(strstr(text.s, "\ncontradicted\tno head is absolute\thead 1.3: 0.6 of its score\n"));
    pw_str_fini(&text);

    bench_run(b, "find untrained");
    assert_non_null(strstr(b->app.ui.message, "1 of 3"));
    bench_shows(b, "arm 1 none, head 2, untrained: -0.125", true);
    press(b, "n");
    bench_shows(b, "arm 1 none, head 5, untrained: 0.062", true);
    bench_run(b, "find corrected form");
    bench_shows(b, "the corrected form", true);
    bench_run(b, "find nothing of it");
    assert_non_null(strstr(b->app.ui.message, "is not in this pane"));
}

/* Writes the finding on the screen, or a named one, with all of its numbers. */
static void written(void **state)
{
    struct bench *b = *state;
    char line[200], *text;
    size_t size;
    bench_refused(b, "export finding x.csv", "there is no finding");
    open_pane(b);
    press(b, "[");
    snprintf(line, sizeof line, "export finding %s", bench_path_of(b, "f.json"));
    b->app.screen = true;
    bench_run(b, line);
    assert_int_equal(pw_file_read(bench_path_of(b, "f.json"), 1 << 22, &text, &size, &b->err), PW_OK);
    assert_memory_equal(text, "{\"arm\":2,\"step\":640,\"name\":\"rank\",\"topic\":\"2\",", 46);
    assert_non_null(strstr(text, "\"verdict\":\"reproduced\""));
    free(text);
    snprintf(line, sizeof line, "export finding %s finding=\"scores 1 2 3\"", bench_path_of(b, "f.csv"));
    bench_run(b, line);
    assert_int_equal(pw_file_read(bench_path_of(b, "f.csv"), 1 << 22, &text, &size, &b->err), PW_OK);
    assert_memory_equal(text, "# scores 1 2 3: what scores are made of", 39);
    assert_non_null(strstr(
        text, "\n# 1 table: shares of the score, head by head\narm,head 0,head 1,\"head 2, untrained\","));
    assert_non_null(strstr(text, "\n2,0.2,0.15,0.3,"));
    assert_non_null(strstr(text, "\n# claims\nverdict,claim,found\nreproduced,"));
    free(text);
    bench_refused(b, "export finding x.txt", ".json or .csv");
    bench_refused(b, "export finding x.csv finding=shift", "there are scores 1 2 3, rank 2, decay");
    bench_refused(b, "export finding x.csv page=2", "no option 'page'");
    bench_refused(b, "export finding", "usage");
}

static struct pw_rect inside_of(struct bench *b)
{
    struct pw_layout l;
    pw_ui_layout(&b->app.ui, b->app.ui.rows, b->app.ui.cols, &l);
    return pw_ui_inside(&l, PW_PANE_FINDINGS);
}

/* A click in a cell moves the cursor there: in each kind of block, by its drawn position. */
static void the_pointer_reads_out(void **state)
{
    struct bench *b = *state;
    struct pw_str line = {0};
    pw_canvas_resize(&b->c, 30, 160);
    open_pane(b);
    for (int page = 0; page < 3; page++, press(b, "v")) {
        struct pw_rect in = inside_of(b), r = pw_fnd_body(&b->app.ui, in);
        int hits = 0, seen = 0;
        for (int y = r.y; y < r.y + r.h; y++)
            for (int x = r.x; x < r.x + r.w; x++) {
                if (!pw_panes[PW_PANE_FINDINGS]->click(&b->app.ui, y, x, in, &line))
                    continue;
                hits++;
                seen |= 1 << (b->app.ui.findings.across < 30 ? b->app.ui.findings.across : 30);
                bench_draw(b);
            }
        assert_true(hits > r.w * r.h / 8);
        assert_int_equal(seen, page == 0 ? (1 << 9) - 1 : page == 1 ? (1 << 24) - 1 : (1 << 6) - 1);
        assert_int_equal(line.len, 0);
    }
}

/* ---- findings of arbitrary sessions */

static void nothing_in_it(struct pw_finding *f)
{
    pw_finding_table(f, "empty", 0, 3);
    pw_finding_plot(f, "empty", "x", "y", 0, 0, true);
    pw_finding_map(f, "empty", 0, 0, 0, 0, true);
}
static void no_numbers(struct pw_finding *f)
{
    pw_finding_table(f, "", 3, 2);
    pw_finding_plot(f, "", "", "", 3, 2, true);
    pw_finding_map(f, "", 3, 2, 0, 0, false);
}
static void wild_numbers(struct pw_finding *f)
{
    static const double odd[] = {INFINITY, -INFINITY, NAN, 1e308, -1e308, 5e-324, 0, -1};
    int blocks[] = {pw_finding_table(f, "", 8, 3), pw_finding_plot(f, "", "", "", 8, 2, true),
                    pw_finding_map(f, "", 8, 3, NAN, INFINITY, false)};
    for (size_t i = 0; i < 3; i++)
        for (int k = 0; k < f->blocks[blocks[i]].n_values; k++)
            f->values[f->blocks[blocks[i]].value + k] = odd[(size_t)(k + 3 * (k / 8)) % 8];
    f->blocks[1].log_x = f->blocks[1].log_y = true;
}
static void below_zero_on_log_axes(struct pw_finding *f)
{
    int b = pw_finding_plot(f, "", "x", "y", 2, 1, false);
    f->blocks[b].log_x = f->blocks[b].log_y = true;
    for (int i = 0; i < 2; i++) {
        pw_finding_x(f, b, i, -2 + i);
        pw_finding_y(f, b, i, 0, -1);
    }
}
static void one_point(struct pw_finding *f)
{
    int b = pw_finding_plot(f, "", "x", "y", 1, 9, false);
    pw_finding_x(f, b, 0, 3);
    for (int i = 0; i < 9; i++)
        pw_finding_y(f, b, 0, i, 7);
}
static void long_names(struct pw_finding *f)
{
    int b = pw_finding_table(f, "日本語のとても長い題名", 40, 40),
        m = pw_finding_map(f, "", 40, 40, 0, 1, true);
    for (int i = 0; i < 40; i++) {
        pw_finding_row(f, b, i, "日本語 %d の行の名前", i);
        pw_finding_col(f, b, i, "a very long column %d", i);
        pw_finding_row(f, m, i, "日本語 %d の行の名前", i);
        pw_finding_col(f, m, i, "%d", i);
    }
}
static void claims_alone(struct pw_finding *f)
{
    for (int i = 0; i < 40; i++)
        pw_finding_claim(f, (enum pw_claim_verdict)(i % PW_CLAIM_VERDICTS), "a claim", "found %d", i);
}

static void nothing_is_too_odd(void **state)
{
    struct bench *b = *state;
    static void (*const makes[])(struct pw_finding * f) = {
        nothing_in_it, no_numbers, wild_numbers, below_zero_on_log_axes, one_point, long_names, claims_alone};
    static const int sizes[][2] = {{3, 10}, {7, 20}, {16, 60}, {24, 80}, {60, 200}};
    struct pw_str text = {0}, line = {0};
    for (size_t i = 0; i < sizeof makes / sizeof *makes; i++) {
        struct pw_finding f;
        pw_finding_init(&f, "odd", "", "%zu", i);
        makes[i](&f);
        assert_null(pw_finding_check(&f));
        tell(b->s, &f);
        assert_int_equal(pw_findings(b->s, (const struct pw_finding_view *[PW_MAX_FINDINGS]){0}), 1);
        assert_string_equal(newest(b->s)->f.name, "odd");
        b->app.ui.focus = PW_PANE_FINDINGS;
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            for (const char *keys = "lljjGlvhkgvGljvVV[]"; *keys; keys++) {
                b->app.ui.look.utf8 = k % 2;
                pw_canvas_resize(&b->c, sizes[k][0], sizes[k][1]);
                pw_ui_frame(&b->app.ui, &b->c);
                pw_ui_key(&b->app.ui, *keys, &line);
                struct pw_rect in = inside_of(b), r = pw_fnd_body(&b->app.ui, in);
                pw_panes[PW_PANE_FINDINGS]->click(&b->app.ui, r.y + r.h / 2, r.x + r.w / 2, in, &line);
                pw_panes[PW_PANE_FINDINGS]->copy(&b->app.ui, &text);
            }
        FILE *out = fopen("/dev/null", "w");
        pw_panes[PW_PANE_FINDINGS]->words(out, &b->app.ui);
        fclose(out);
    }
    pw_str_fini(&text);
    pw_str_fini(&line);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, bench_setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_newest_or_the_chosen_one),
        TEST(page_and_cursor_stay),
        TEST(commands_of_a_row),
        TEST(pages_and_read_out),
        TEST(a_corner_for_two),
        TEST(copied_searched_and_told),
        TEST(the_pointer_reads_out),
        TEST(written),
        TEST(nothing_is_too_odd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
