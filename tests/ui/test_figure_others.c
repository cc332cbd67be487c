/* test_figure_others.c - tests figures with data beside the current arm's: the difference of two encodings,
 * and attention of an imported model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "plot/encoding.h"
#include "ref_figure.h"
#include "ref_screen.h"

static void expect(const struct pw_snapshot *s, const struct pw_figure_options *o, const char *part)
{
    struct pw_str out = {0};

    figure_svg(&out, s, o);
    if (strstr(out.s, part) == NULL)
        fail_msg("page '%s' doesn't say '%s'", o->page, part);
    pw_str_fini(&out);
}

static void widths(const struct pw_snapshot *s, struct pw_figure_options o)
{
    static const int points[] = {240, 468, 1200};

    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        o.width = points[i], o.caption = i != 2;
        figure_check(s, &o);
    }
}

/* ---- two encodings */

static void a_difference_is_drawn(void **state)
{
    (void)state;
    struct pw_snapshot *s = figure_race(1);
    struct pw_figure_options o = figure_options("encoding", "difference");
    screen_set_table(s, SCREEN_T5);
    int t5 = s->current;
    screen_set_table(s, SCREEN_ALIBI);
    int alibi = s->current;
    assert_int_not_equal(t5, alibi);
    o.reference = t5;
    widths(s, o);
    expect(s, &o, "<title>Kernel by distance: 2 alibi minus 3 t5");
    expect(s, &o, "Different families: only their effects can be compared.");
    o.arm = t5, o.reference = alibi;
    widths(s, o);
    expect(s, &o, "minus 2 alibi</title>");

    struct pw_str before = {0}, after = {0};
    figure_svg(&before, s, &o);
    s->arms[t5 - 1].table.kernel[1] += 0.5f; /* head 0 at distance 1 */
    figure_svg(&after, s, &o);
    assert_string_not_equal(before.s, after.s);
    pw_str_fini(&before);
    pw_str_fini(&after);
    pw_snapshot_free(s);
}

/* The difference counts from distance 0. Exchanging the arms negates it. */
static void a_difference_is_of_both(void **state)
{
    (void)state;
    struct pw_snapshot *s = figure_race(1);
    struct pw_enc_pair p, q;
    screen_set_table(s, SCREEN_T5);
    int t5 = s->current;
    screen_set_table(s, SCREEN_ALIBI);
    const struct pw_ev_table *a = pw_table_of(s, t5), *b = pw_table_of(s, s->current);
    pw_enc_pair_init(&p, a, b);
    pw_enc_pair_init(&q, b, a);
    assert_true(p.kernels && p.heads == a->heads && p.length == a->length);
    for (int h = 0; h < p.heads; h++)
        for (int d = 0; d < p.length; d++) {
            int i = h * p.length + d;
            float x = a->kernel[i] - a->kernel[h * p.length], y = b->kernel[i] - b->kernel[h * p.length];
            assert_true(p.minus[i] == x - y && q.minus[i] == y - x);
            assert_true(d > 0 || p.minus[i] == 0);
        }
    pw_enc_pair_fini(&p);
    pw_enc_pair_fini(&q);
    pw_snapshot_free(s);
}

static void what_a_difference_needs(void **state)
{
    (void)state;
    struct pw_snapshot *s = figure_race(1);
    struct pw_figure_options o = figure_options("encoding", "difference");
    screen_set_table(s, SCREEN_T5);
    figure_fails(s, &o, "nothing to draw yet: no arm to compare the encoding with; reference=K names one");
    o.reference = s->current;
    figure_fails(s, &o, "is the arm itself; arm=K chooses another");
    o.reference = 7;
    figure_fails(s, &o, "reference=7: there is no such arm");
    o.reference = s->current == 1 ? 2 : 1;
    figure_fails(s, &o, "nothing to draw yet: the other encoding's table is missing");
    pw_snapshot_free(s);
}

/* ---- attention from a file */

static const char *const labels[] = {"the", "<cat>", "sat"};

static void attention_of_a_file_is_drawn(void **state)
{
    (void)state;
    static const char *const pages[] = {"file", "file_heads", "file_scores"};
    struct pw_snapshot *s = figure_race(1);
    struct pw_str map = {0}, scores = {0};
    screen_import(s, 9, labels, 3);
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        struct pw_figure_options o = figure_options("attention", pages[i]);
        widths(s, o);
        expect(s, &o, "from the file theirs.npz, 9 tokens");
        if (i != 1)
            expect(s, &o, "&lt;cat&gt;");
    }
    struct pw_figure_options o = figure_options("attention", "file");
    o.layer = 1, o.head = 2;
    expect(s, &o, "<title>Attention of head L1H2: probabilities</title>");
    figure_svg(&map, s, &o);
    strcpy(o.page, "file_scores");
    expect(s, &o, "<title>Attention of head L1H2: scores</title>");
    figure_svg(&scores, s, &o);
    assert_non_null(strstr(scores.s, ">7</text>")); /* 1 + the seventh head, the end of the scale */
    assert_null(strstr(map.s, ">7</text>"));
    o.head = 4;
    figure_fails(s, &o, "there are layers 0 to 1 and heads 0 to 3");
    /* The arm's own attention is unchanged, and is drawn by default. */
    o = figure_options("attention", "");
    expect(s, &o, "prompt &quot;sort 3 1 4 1 5 9 2&quot;.");
    pw_str_fini(&map);
    pw_str_fini(&scores);
    pw_snapshot_free(s);
}

static void what_a_file_lacks(void **state)
{
    (void)state;
    struct pw_snapshot *s = figure_race(1);
    struct pw_figure_options o = figure_options("attention", "file");
    figure_fails(s, &o, "no attention of a file; run 'import attention F.npz' first");
    screen_import(s, 5, labels, 3);
    free(s->foreign.all_scores);
    s->foreign.all_scores = NULL;
    strcpy(o.page, "file_scores");
    figure_fails(s, &o, "the file has no scores");
    s->has_attention = false; /* without the arm's attention the file's is the first with content */
    o.page[0] = '\0';
    expect(s, &o, "from the file theirs.npz");
    pw_snapshot_free(s);
}

/* Imported models have more heads than ours, and their maps don't compress. */
static void many_heads_stay_small(void **state)
{
    (void)state;
    static const int shapes[][3] = {{12, 12, 64}, {2, 4, 100},  {2, 8, 64},   {4, 8, 64}, {6, 6, 64},
                                    {10, 16, 40}, {32, 32, 32}, {48, 64, 24}, {1, 1, 300}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct pw_snapshot *s = figure_race(1);
        struct pw_figure_options o = figure_options("attention", "file_heads");
        struct pw_ev_attention *a = &s->foreign;
        struct pw_rng rng;
        int T = shapes[i][2];
        screen_import(s, T, labels, 3);
        a->layers = shapes[i][0], a->heads = shapes[i][1];
        a->n_scores = 0;
        size_t n = (size_t)a->layers * a->heads * T * T;
        free(a->probs);
        a->probs = calloc(n, sizeof *a->probs);
        assert_non_null(a->probs);
        pw_rng_init(&rng, i, PW_STREAM_TRAIN, 0);
        for (size_t k = 0; k < n; k++)
            a->probs[k] = pw_half((float)pw_rng_unit(&rng));
        for (o.width = 468; o.width < 2000; o.width += 500) {
            struct pw_str out = {0};
            struct pw_err err;
            if (pw_figure_svg(&out, s, &o, &err) == PW_OK)
                figure_check(s, &o);
            else
                assert_non_null(strstr(err.msg, "too small for "));
            pw_str_fini(&out);
        }
        o = figure_options("attention", "file");
        figure_check(s, &o);
        pw_snapshot_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_difference_is_drawn),   cmocka_unit_test(a_difference_is_of_both),
        cmocka_unit_test(what_a_difference_needs), cmocka_unit_test(attention_of_a_file_is_drawn),
        cmocka_unit_test(what_a_file_lacks),       cmocka_unit_test(many_heads_stay_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
