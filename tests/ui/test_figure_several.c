/* test_figure_several.c - tests figures of several arms: arms of recorded sessions beside those of the lab,
 * attention maps side by side, encodings in one plot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "figure/svg.h"
#include "ref_figure.h"
#include "ref_screen.h"

static void expect(const struct pw_snapshot *s, const struct pw_figure_options *o, const char *part)
{
    struct pw_str out = {0};

    figure_svg(&out, s, o);
    if (strstr(out.s, part) == NULL)
        fail_msg("%s %s doesn't say '%s'", pw_figure_names[o->pane], o->page, part);
    pw_str_fini(&out);
}

static void expect_not(const struct pw_snapshot *s, const struct pw_figure_options *o, const char *part)
{
    struct pw_str out = {0};

    figure_svg(&out, s, o);
    if (strstr(out.s, part) != NULL)
        fail_msg("%s %s says '%s'", pw_figure_names[o->pane], o->page, part);
    pw_str_fini(&out);
}

static int count(const struct pw_snapshot *s, const struct pw_figure_options *o, const char *part)
{
    struct pw_str out = {0};
    int n = 0;

    figure_svg(&out, s, o);
    for (const char *at = out.s; (at = strstr(at, part)) != NULL; at++)
        n++;
    pw_str_fini(&out);
    return n;
}

static void widths(const struct pw_snapshot *s, struct pw_figure_options o)
{
    static const int points[] = {240, 468, 1200};

    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        o.width = points[i], o.caption = i != 2;
        figure_check(s, &o);
    }
}

static struct pw_figure_options with_arms(const char *pane, const char *page, const char *arms)
{
    struct pw_figure_options o = figure_options(pane, page);

    pw_text_copy(o.arms, sizeof o.arms, arms);
    return o;
}

static void take(struct pw_figure_options *o, const struct pw_figure_session *list, int n)
{
    strcpy(o->sessions, "as typed");
    o->recorded = list, o->n_recorded = n;
}

/* ---- sessions */

static const char *const pages[][2] = {
    {"lengths", "curve"}, {"lengths", "grid"}, {"curves", "loss"}, {"curves", "exact"}, {"curves", "lr"}};

static void sessions_are_drawn(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        struct pw_snapshot *here = figure_race(1), *a = figure_race(2), *b = figure_race(1);
        const struct pw_figure_session list[] = {{"monday <1>", a}, {"tuesday", b}};
        struct pw_figure_options o = with_arms(pages[i][0], pages[i][1], "1,3");
        take(&o, list, 2);
        if (strcmp(pages[i][1], "grid") == 0) {
            screen_set_pairs(here);
            screen_set_pairs(a);
            screen_set_pairs(b);
        }
        widths(here, o);
        expect(here, &o, ">1 none");
        expect(here, &o, ">monday &lt;1&gt;: none");
        expect(here, &o, ">tuesday: t5 8/16");
        expect(here, &o,
               "From recorded sessions: monday &lt;1&gt;: none at step 640, t5 8/16 ↻ at step 640; tuesday: "
               "none");
        expect(here, &o, "Made by: pewter " PEWTER_VERSION ": this lab: race none,alibi");
        expect(here, &o, " | tuesday: race none,alibi");
        strcpy(o.names, "own,,,theirs"); /* the session's first arm follows the lab's third */
        expect(here, &o, ">own");
        expect(here, &o, ">theirs");
        expect_not(here, &o, ">monday &lt;1&gt;: none");
        pw_snapshot_free(here);
        pw_snapshot_free(a);
        pw_snapshot_free(b);
    }
}

/* A lab without content is left out. If the lab's own session is named, its arms have that name. */
static void the_lab_itself(void **state)
{
    (void)state;
    struct pw_snapshot *fresh = pw_snapshot_new(), *a = figure_race(1);
    const struct pw_figure_session list[] = {{"monday", a}}, own[] = {{"monday", NULL}};
    struct pw_figure_options o = figure_options("lengths", "");
    screen_arm(fresh, 1, "", "none");
    take(&o, list, 1);
    widths(fresh, o);
    expect(fresh, &o, ">monday: none");
    expect_not(fresh, &o, ">1 none");
    take(&o, own, 1);
    expect(a, &o, ">monday: none");
    expect_not(a, &o, ">1 none");
    figure_fails(fresh, &o, "session 'monday' has no evaluation to draw");
    pw_snapshot_free(fresh);
    pw_snapshot_free(a);
}

/* The legend's mean beyond training is that of the figure's task, not of the whole mixture. */
static void a_mixture_is_not_averaged(void **state)
{
    (void)state;
    struct pw_snapshot *s = figure_race(1);
    struct pw_ev_eval *e = &s->arms[0].rep[0].eval;
    struct pw_figure_options o = with_arms("lengths", "curve", "1");

    s->lab.n_tasks = 2;
    s->lab.tasks[1] = s->lab.tasks[0];
    strcpy(s->lab.tasks[1].name, "copy");
    for (int i = 0; i < e->n; i++)
        e->rows[i].exact = 0;
    e->rows[e->n - 1].task = 1, e->rows[e->n - 1].exact = e->rows[e->n - 1].samples;
    o.task = 1;
    expect(s, &o, ", beyond 0%");
    o.task = 2;
    expect(s, &o, ", beyond 100%");
    pw_snapshot_free(s);
}

/* Each session has the range of its own training lengths. */
static void trained_lengths_are_each_ones_own(void **state)
{
    (void)state;
    struct pw_snapshot *here = figure_race(1), *a = figure_race(1), *b = figure_race(1);
    const struct pw_figure_session list[] = {{"monday", a}, {"tuesday", b}};
    struct pw_figure_options o = with_arms("lengths", "curve", "1,3");
    take(&o, list, 2);
    expect(here, &o, "Task: sort, trained on lengths 2 to 8. From");
    expect(here, &o, ">trained<");
    a->lab.tasks[0].train_hi = 12;
    widths(here, o);
    expect(here, &o, "Task: sort, trained on lengths 2 to 8 (this lab, tuesday); 2 to 12 (monday).");
    expect(here, &o, ">trained: this lab, tuesday<");
    expect(here, &o, ">trained: monday<");
    expect_not(here, &o, ">trained<");
    pw_snapshot_free(here);
    pw_snapshot_free(a);
    pw_snapshot_free(b);
}

static void an_encoding_twice_has_its_number(void **state)
{
    (void)state;
    struct pw_snapshot *here = pw_snapshot_new(), *a = figure_race(1);
    const struct pw_figure_session list[] = {{"monday", a}};
    struct pw_figure_options o = figure_options("curves", "");
    take(&o, list, 1);
    pw_text_copy(a->arms[1].info.pe, sizeof a->arms[1].info.pe, a->arms[2].info.pe);
    expect(here, &o, ">monday: 2 t5 8/16");
    expect(here, &o, ">monday: 3 t5 8/16");
    expect(here, &o, ">monday: none");
    pw_snapshot_free(here);
    pw_snapshot_free(a);
}

/* No combination of shape and colour repeats, up to the maximum number of lines. */
static void sixteen_can_be_told_apart(void **state)
{
    (void)state;
    struct pw_str mark[PW_FIGURE_LINES + 1] = {{0}};
    for (int i = 1; i <= PW_FIGURE_LINES; i++) {
        struct pw_svg svg = {{0}};
        pw_svg_mark(&svg, i, 50, 50, 3);
        pw_str_add(&mark[i], "%s", svg.out.s);
        pw_svg_fini(&svg);
        for (int k = 1; k < i; k++)
            assert_string_not_equal(mark[i].s, mark[k].s);
    }
    for (int i = 1; i <= PW_FIGURE_LINES; i++)
        pw_str_fini(&mark[i]);
}

static void more_are_refused(void **state)
{
    (void)state;
    struct pw_snapshot *here = figure_race(1), *a = figure_race(1);
    const struct pw_figure_session list[] = {{"monday", a}, {"tuesday", a}, {"friday", a}};
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        struct pw_figure_options o = figure_options(pages[i][0], pages[i][1]);
        if (strcmp(pages[i][1], "grid") == 0)
            continue;
        take(&o, list, 3);
        figure_fails(here, &o,
                     "20 arms in one figure: at most 16 are allowed; name fewer sessions, or the arms of "
                     "each, as arms=1,2");
        strcpy(o.arms, "1,2,3,5"); /* 4 arms of each of 4 */
        widths(here, o);
        expect(here, &o, ">friday: learned");
        assert_true(count(here, &o, "#ffffff\" stroke-width=\"0.9\"") > 0 ||
                    count(here, &o, "stroke=\"#ffffff\"") >= 8); /* the second eight have a thin white line */
    }
    pw_snapshot_free(here);
    pw_snapshot_free(a);
}

static void what_sessions_lack(void **state)
{
    (void)state;
    struct pw_snapshot *here = figure_race(1), *a = figure_race(1), *none = pw_snapshot_new();
    struct pw_figure_session list[] = {{"monday", a}, {"tuesday", none}};
    struct pw_figure_options o = figure_options("lengths", "");
    screen_arm(none, 1, "", "none");
    take(&o, list, 2);
    figure_fails(here, &o, "session 'tuesday' has no evaluation to draw");
    o = figure_options("curves", "");
    take(&o, list, 2);
    figure_fails(here, &o, "session 'tuesday' has no training steps to draw");
    o = with_arms("lengths", "", "4");
    take(&o, list, 2);
    figure_fails(here, &o, "session 'tuesday' has no arm of arms=4");
    take(&o, list, 1);
    strcpy(o.arms, "1,8");
    figure_fails(here, &o, "arms=1,8: there is no arm 8");
    o = figure_options("lengths", "errors");
    take(&o, list, 1);
    figure_fails(here, &o,
                 "lengths errors takes no sessions=; those that do: curves loss|exact|accuracy|"
                 "grad_norm|lr, lengths curve|grid");
    o = figure_options("attention", "");
    take(&o, list, 1);
    figure_fails(here, &o, "attention map takes no sessions=");
    o = figure_options("lengths", "curve");
    take(&o, list, 1);
    strcpy(a->lab.tasks[0].name, "reverse");
    figure_fails(here, &o,
                 "session 'monday' is of task reverse, and the lab of task sort: a figure of lengths "
                 "is of one task");
    o = figure_options("curves", "");
    take(&o, list, 1);
    expect(here, &o, "Tasks differ: this lab: sort, monday: reverse.");
    pw_snapshot_free(here);
    pw_snapshot_free(a);
    pw_snapshot_free(none);
}

/* ---- arms= */

static void wrong_lists_are_named(void **state)
{
    (void)state;
    static const char *const wrong[] = {"0", "9", "1,", ",1", "1;2", "x", "1 2", "-1", "all,1", "1,2x", " "};
    struct pw_snapshot *s = figure_race(1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pw_figure_options o = with_arms("curves", "", wrong[i]);
        char message[160];
        snprintf(message, sizeof message,
                 "arms=%s: allowed are numbers 1..8 separated by commas, as arms=1,3, or all", wrong[i]);
        figure_fails(s, &o, message);
    }
    struct pw_figure_options o = with_arms("curves", "", "1,7");
    figure_fails(s, &o, "arms=1,7: there is no arm 7");
    o = with_arms("curves", "", "1,2");
    o.arm = 1;
    figure_fails(s, &o, "arm=1 and arms=1,2: only one of the two");
    o = with_arms("encoding", "rows", "1,2");
    figure_fails(s, &o, "encoding rows takes no arms=; those that do: curves loss|");
    o = with_arms("step", "", "all");
    figure_fails(s, &o, "step all takes no arms=; ");
    pw_snapshot_free(s);
}

static void arms_choose_among_curves(void **state)
{
    (void)state;
    struct pw_snapshot *s = figure_race(1);
    static const char *const some[][2] = {
        {"lengths", "curve"}, {"lengths", "tests"}, {"curves", "loss"}, {"curves", "exact"}};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        struct pw_figure_options o = with_arms(some[i][0], some[i][1], " 3 , 1");
        widths(s, o);
        expect(s, &o, ">1 none");
        expect(s, &o, ">3 t5 8/16");
        expect_not(s, &o, ">2 alibi");
        strcpy(o.arms, "all");
        expect(s, &o, ">2 alibi");
    }
    pw_snapshot_free(s);
}

/* Emits an arm's attention on the prompt: labels of its own, and a map that attends to token `at` alone. */
static void answer(struct pw_snapshot *s, int arm, int T, int at)
{
    const struct pw_ev_attention *now = &s->attention;
    struct pw_event *e = pw_event_new(PW_EV_ATTENTION);
    struct pw_ev_attention *a = &e->u.attention;
    size_t maps = (size_t)now->layers * now->heads;

    e->arm = arm, e->seq = s->seq + 1, e->step = s->arms[arm - 1].info.step;
    *a = (struct pw_ev_attention){.prompt = now->prompt,
                                  .T = T,
                                  .layers = now->layers,
                                  .heads = now->heads,
                                  .layer = now->layer,
                                  .head = now->head,
                                  .n_prompt = now->n_prompt};
    a->labels = calloc((size_t)T, sizeof *a->labels);
    a->probs = calloc(maps * (size_t)T * (size_t)T, sizeof *a->probs);
    for (int t = 0; t < T; t++)
        snprintf(a->labels[t], sizeof a->labels[t], "%d<%d", arm, t);
    for (size_t i = 0; i < maps * (size_t)T; i++)
        a->probs[i * (size_t)T + (size_t)at] = pw_half(1);
    pw_fold(s, e);
    pw_event_free(e);
}

static void attention_of_arms_is_drawn(void **state)
{
    (void)state;
    struct pw_snapshot *s = figure_race(1);
    struct pw_figure_options o = with_arms("attention", "map", "1,2,3");
    struct pw_str before = {0}, after = {0};
    figure_fails(s, &o, "nothing to draw yet: arm 1 none has no attention on a pinned prompt");
    int current = s->current, T = s->attention.T;
    answer(s, 1, T, 0);
    answer(s, 2, T - 2, 1);
    answer(s, current, T, 2);
    widths(s, o);
    expect(s, &o, ">1 none<");
    expect(s, &o, ">2 alibi<");
    expect(s, &o, ">3 t5 8/16 ↻<");
    expect(s, &o, ">2&lt;1<"); /* a token of the second arm */
    expect(s, &o, "arms 1 none, 2 alibi, 3 t5 8/16 ↻ at step 640. Rows: queries");
    assert_int_equal(count(s, &o, "data:image/png"), 4); /* three maps and one bar */
    assert_int_equal(count(s, &o, ">probability<"), 1);
    o.layer = 1, o.head = 3;
    expect(s, &o, "<title>Attention of head L1H3: probabilities</title>");
    o.head = 4;
    figure_fails(s, &o, "arm 1 has layers 0 to 1 and heads 0 to 3, and no L1H4");
    o.layer = o.head = -1;

    /* Every map belongs to its arm: a change of one arm's attention changes one image only. */
    figure_svg(&before, s, &o);
    answer(s, 2, T - 2, 2);
    figure_svg(&after, s, &o);
    int same = 0, other = 0;
    const char *a = before.s, *b = after.s;
    while ((a = strstr(a, "base64,")) != NULL && (b = strstr(b, "base64,")) != NULL) {
        size_t n = strcspn(a, "\"");
        bool equal = n == strcspn(b, "\"") && memcmp(a, b, n) == 0;
        same += equal, other += !equal;
        a += n, b += strcspn(b, "\"");
    }
    assert_true(same == 3 && other == 1);

    /* Arms at different steps are labelled with them. An arm that was swapped since has no map of its new
     * encoding. */
    s->arms[1].kept.map[s->arms[1].kept.n - 1].step = 600;
    expect(s, &o, "arms 1 none at step 640, 2 alibi at step 600, 3 t5 8/16 ↻ at step 640");
    strcpy(o.arms, "all");
    expect(s, &o, "Left out, because they lack the data: 4 rotary, 5 learned");
    s->arms[1].pe_seq = s->seq + 1;
    strcpy(o.arms, "2");
    figure_fails(s, &o, "arm 2 alibi has no attention on a pinned prompt");
    s->prompt.id++;
    strcpy(o.arms, "all");
    figure_fails(s, &o, "nothing to draw yet: all arms have no attention on a pinned prompt");
    pw_str_fini(&before);
    pw_str_fini(&after);
    pw_snapshot_free(s);
}

static void encodings_lie_over_each_other(void **state)
{
    (void)state;
    struct pw_snapshot *s = figure_race(1);
    static const enum screen_table tables[] = {SCREEN_NONE, SCREEN_ALIBI, SCREEN_T5, SCREEN_ROTARY};
    struct pw_figure_options o = with_arms("encoding", "kernel", "2,3");
    figure_fails(s, &o, "nothing to draw yet: arm 2 alibi has no score by distance");
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        screen_set_table(s, tables[i]);
    widths(s, o);
    expect(s, &o, "<title>Score by distance</title>");
    expect(s, &o, ">2 alibi<");
    expect(s, &o, ">3 t5 8/16 ↻<");
    expect(s, &o, ">head 3<");
    o = with_arms("encoding", "bias", "all");
    widths(s, o);
    expect(s, &o, "encodings 2 alibi, 3 t5 8/16 ↻ at step");
    expect(s, &o, "Left out, because they lack the data: 1 none, 4 rotary, 5 learned.");
    o = with_arms("encoding", "slopes", "2");
    widths(s, o);
    strcpy(o.arms, "2,3");
    figure_fails(s, &o, "nothing to draw yet: arm 3 t5 8/16 ↻ has no slopes");
    o = with_arms("encoding", "decay", "all");
    widths(s, o);
    expect(s, &o, "Encoding 4 rotary at step");
    strcpy(o.arms, "1,4");
    figure_fails(s, &o, "nothing to draw yet: arm 1 none has nothing that rotates");
    o = with_arms("encoding", "", "3,2"); /* the first page that all of them have */
    expect(s, &o, "<title>Bias by distance</title>");

    struct pw_str before = {0}, after = {0};
    figure_svg(&before, s, &o);
    s->arms[1].table.bias[5] -= 0.5f;
    figure_svg(&after, s, &o);
    assert_string_not_equal(before.s, after.s);
    pw_str_fini(&before);
    pw_str_fini(&after);
    pw_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_are_drawn),
        cmocka_unit_test(the_lab_itself),
        cmocka_unit_test(a_mixture_is_not_averaged),
        cmocka_unit_test(trained_lengths_are_each_ones_own),
        cmocka_unit_test(an_encoding_twice_has_its_number),
        cmocka_unit_test(sixteen_can_be_told_apart),
        cmocka_unit_test(more_are_refused),
        cmocka_unit_test(what_sessions_lack),
        cmocka_unit_test(wrong_lists_are_named),
        cmocka_unit_test(arms_choose_among_curves),
        cmocka_unit_test(attention_of_arms_is_drawn),
        cmocka_unit_test(encodings_lie_over_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
