/* test_attention_long.c - tests maps of long sequences: what the pane keeps of their pairs changes no
 * picture, follows every change of the map, and makes a frame cheap. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "ref_screen_int.h"
#include "ui/panes/attention.h"

enum { ROWS = 36, COLS = 120, LONG = 300, LONGEST = 4096 };

static const char *const labels[] = {"a", "bc", "d", "e"};
static const struct pw_rect all = {0, 0, ROWS, COLS};

struct bench {
    struct pw_snapshot *s;
    struct pw_ui ui;
    struct pw_canvas kept, read;
};

static void bench_open(struct bench *b, enum pw_colors colors)
{
    *b = (struct bench){.s = screen_race()};
    screen_set_prompt(b->s, LONG, labels, 4);
    b->ui = screen_ui(b->s, colors, true);
    pw_canvas_init(&b->kept);
    pw_canvas_init(&b->read);
    pw_canvas_resize(&b->kept, ROWS, COLS);
    pw_canvas_resize(&b->read, ROWS, COLS);
}

static void bench_close(struct bench *b)
{
    pw_ui_fini(&b->ui);
    pw_snapshot_free(b->s);
    pw_canvas_fini(&b->kept);
    pw_canvas_fini(&b->read);
}

static void draw_frame(struct bench *b, struct pw_canvas *c)
{
    pw_canvas_clear(c);
    pw_pane_attention.draw(&b->ui, c, all);
}

/* Draws a frame with what is kept, and one that reads every pair. */
static void check_frame(struct bench *b, const char *where)
{
    struct pw_str line = {0};
    pw_pane_attention.settle(&b->ui, all);
    draw_frame(b, &b->kept);
    pw_att_forget_long(&b->ui);
    draw_frame(b, &b->read);
    if (memcmp(b->kept.cells, b->read.cells, (size_t)ROWS * COLS * sizeof *b->kept.cells) != 0)
        fail_msg("%s: the frame differs from one that reads every pair", where);
    pw_str_fini(&line);
}

static void press(struct bench *b, char key)
{
    struct pw_str line = {0};
    assert_true(pw_pane_attention.key(&b->ui, key, &line));
    pw_str_fini(&line);
}

static void kept_values_change_no_picture(void **state)
{
    /* the scale, the first key, hatching, the mean, scrolling, the overview, a reference */
    static const char keys[] = "rrxrrrHaxawhkwH\n\ncrrrxc";
    static const enum pw_colors colors[] = {PW_COLORS_TRUE, PW_COLORS_16};
    (void)state;
    for (int i = 0; i < 2; i++)
        for (int view = 0; view <= PW_VIEW_BIAS; view++) {
            struct bench b;
            bench_open(&b, colors[i]);
            screen_set_view(b.s, 1, 1, (enum pw_view)view);
            check_frame(&b, "first");
            for (const char *k = keys; *k != '\0'; k++) {
                char where[32];
                snprintf(where, sizeof where, "view %d, key %d", view, (int)(k - keys));
                press(&b, *k);
                check_frame(&b, where);
            }
            bench_close(&b);
        }
}

/* The kept values are those of the shown map: after another head, another prompt of the same length and
 * another size of the pane. */
static void kept_values_follow_the_map(void **state)
{
    static const char *const others[] = {"x", "y", "z"};
    struct bench b;
    (void)state;
    bench_open(&b, PW_COLORS_TRUE);
    pw_pane_attention.settle(&b.ui, all);
    const struct pw_att_long *kept = b.ui.attention.kept;
    assert_non_null(kept);
    pw_pane_attention.settle(&b.ui, all);
    assert_ptr_equal(b.ui.attention.kept, kept); /* nothing changed */
    screen_set_view(b.s, 0, 2, PW_VIEW_PROBS);
    pw_pane_attention.settle(&b.ui, all);
    draw_frame(&b, &b.kept);
    check_frame(&b, "another head");
    pw_pane_attention.settle(&b.ui, all);
    screen_set_prompt(b.s, LONG, others, 3);
    struct pw_att w;
    assert_true(pw_att_init(&w, &b.ui));
    assert_null(w.kept); /* of another event */
    pw_att_fini(&w);
    check_frame(&b, "another prompt");
    pw_pane_attention.settle(&b.ui, all);
    pw_pane_attention.settle(&b.ui, (struct pw_rect){0, 0, ROWS / 2, COLS});
    check_frame(&b, "another size");
    bench_close(&b);
}

/* One layer of two heads over 4,096 tokens, as the lab sends it: the inspected head and pooled maps. */
static void set_longest(struct pw_snapshot *s)
{
    enum { POOL = 34, SIDE = (LONGEST + POOL - 1) / POOL };
    struct pw_event *e = pw_event_new(PW_EV_ATTENTION);
    struct pw_ev_attention *a = &e->u.attention;
    size_t square = (size_t)LONGEST * LONGEST;
    e->arm = 3, e->step = 640;
    *a = (struct pw_ev_attention){.prompt = s->prompt.id,
                                  .T = LONGEST,
                                  .layers = 1,
                                  .heads = 2,
                                  .n_prompt = LONGEST,
                                  .pool = POOL,
                                  .side = SIDE};
    a->labels = screen_array(LONGEST, sizeof *a->labels);
    a->pooled = screen_array(2 * (size_t)SIDE * SIDE, sizeof *a->pooled);
    a->map = screen_array(square, sizeof *a->map);
    for (size_t i = 0; i < square; i++)
        a->map[i] = (uint16_t)(i * 2654435761u >> 18 & 0x3bff);
    screen_fold(s, e);
}

/* Processor time in milliseconds, the least of several frames. */
static double frame_ms(struct bench *b, bool keep)
{
    double least = INFINITY;
    for (int i = 0; i < 5; i++) {
        struct timespec t0, t1;
        if (!keep)
            pw_att_forget_long(&b->ui);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t0);
        if (keep)
            pw_pane_attention.settle(&b->ui, all);
        draw_frame(b, &b->kept);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t1);
        least = fmin(least, (double)(t1.tv_sec - t0.tv_sec) * 1e3 + (double)(t1.tv_nsec - t0.tv_nsec) * 1e-6);
    }
    return least;
}

/* A frame that reads no pairs is many times cheaper, pooled and scrolled. */
static void frames_are_cheap(void **state)
{
    static const char *const pages[] = {"pooled", "scrolled", "by row"};
    struct bench b;
    (void)state;
    bench_open(&b, PW_COLORS_TRUE);
    set_longest(b.s);
    for (int page = 0; page < 3; page++) {
        struct timespec t0, t1;
        pw_att_forget_long(&b.ui);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t0);
        pw_pane_attention.settle(&b.ui, all);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t1);
        double once = (double)(t1.tv_sec - t0.tv_sec) * 1e3 + (double)(t1.tv_nsec - t0.tv_nsec) * 1e-6;
        double kept = frame_ms(&b, true), reading = frame_ms(&b, false);
        print_message("%s: %.1f ms once, then %.2f ms a frame; %.1f ms if it reads the pairs\n", pages[page],
                      once, kept, reading);
        if (page != 1) /* a scrolled frame reads few pairs in any case */
            assert_true(kept * 5 < reading && once * 2 < reading);
        press(&b, 'w');
        if (page == 1)
            press(&b, 'r');
    }
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_values_change_no_picture),
        cmocka_unit_test(kept_values_follow_the_map),
        cmocka_unit_test(frames_are_cheap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
