/* test_text.c - tests the pages and figures of running text in the lengths pane: loss by context length and
 * by position. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "ref_figure.h"
#include "ref_screen.h"
#include "sessions/event.h"
#include "ui/plot.h"

enum { LONGEST = 32, SAMPLES = 10 };

/* Gives an arm's replica an evaluation of text: lengths 8, 16, 24, 32, trained up to 8. Its loss rises by
 * `rise` nats per position behind 8. */
static void evaluate(struct pw_replica_view *rep, float rise)
{
    struct pw_event old = {.kind = PW_EV_EVAL, .u.eval = rep->eval};
    struct pw_ev_eval *e = &rep->eval;
    pw_event_clear(&old);
    *e = (struct pw_ev_eval){.n = 4, .draw = 5, .n_losses = LONGEST, .n_sampled = 4 * SAMPLES};
    e->rows = pw_alloc(4, sizeof *e->rows);
    e->losses = pw_alloc(LONGEST, sizeof *e->losses);
    e->sampled = pw_alloc(4 * SAMPLES, sizeof *e->sampled);
    for (int k = 0; k < LONGEST; k++)
        e->losses[k] = 1 + (k < 8 ? 0 : rise * (float)(k - 7));
    for (int i = 0; i < 4; i++) {
        struct pw_eval_row *r = &e->rows[i];
        double sum = 0;
        *r = (struct pw_eval_row){.length = 8 * (i + 1),
                                  .samples = SAMPLES,
                                  .tokens = 8 * SAMPLES * (i + 1),
                                  .tokens_right = 40,
                                  .n_losses = i == 3 ? LONGEST : 0,
                                  .first_sampled = SAMPLES * i};
        for (int k = 0; k < r->length; k++)
            sum += (double)e->losses[k];
        r->loss = (float)(sum / r->length);
        for (int k = 0; k < SAMPLES; k++)
            e->sampled[r->first_sampled + k] = r->loss + 0.01f * (float)(k - 5);
    }
}

/* Gives a race evaluations of text. */
static struct pw_snapshot *as_text(struct pw_snapshot *s)
{
    s->lab.n_tasks = 1;
    s->lab.tasks[0] = (struct pw_task_view){.name = "text",
                                            .train_lo = 8,
                                            .train_hi = 8,
                                            .test_lo = 9,
                                            .test_hi = 32,
                                            .n_share = 1,
                                            .share = {1},
                                            .runs = true};
    for (int a = 0; a < PW_MAX_ARMS; a++)
        for (int r = 0; s->arms[a].used && r < s->arms[a].info.replicas; r++)
            evaluate(&s->arms[a].rep[r], 0.05f * (float)a);
    return s;
}

static struct pw_snapshot *text_race(void)
{
    return as_text(screen_race());
}

static const char *shown(struct pw_ui *ui, int rows, int cols)
{
    static struct pw_str text;
    struct pw_canvas c;
    pw_canvas_init(&c);
    pw_canvas_resize(&c, rows, cols);
    pw_ui_frame(ui, &c);
    pw_str_clear(&text);
    pw_canvas_text(&c, &text);
    pw_canvas_fini(&c);
    return pw_str_text(&text);
}

static void press(struct pw_ui *ui, int key, const char *line)
{
    struct pw_str got = {0};
    assert_true(pw_ui_key(ui, key, &got));
    assert_string_equal(pw_str_text(&got), line);
    pw_str_fini(&got);
}

static void must_have(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' is not in:\n%s", part, text);
}

static void the_pages_of_text(void **state)
{
    (void)state;
    struct pw_snapshot *s = text_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
    ui.focus = PW_PANE_LENGTHS, ui.zoom = true;
    const char *text = shown(&ui, 30, 100);
    must_have(text, "loss 1/3  text");
    must_have(text, "beyond training");
    must_have(text, "nats per token");
    must_have(text, "  32 ┊");
    must_have(text, "context 8");
    press(&ui, 'G', "");
    text = shown(&ui, 30, 100);
    must_have(text, "context 32");
    must_have(text, "4 times the trained context");
    press(&ui, '\n', "sample length=32");
    press(&ui, 'f', "");
    press(&ui, 'v', "");
    must_have(shown(&ui, 30, 100), "positions 2/3  text");
    press(&ui, 'v', "");
    must_have(shown(&ui, 30, 100), "tests 3/3  text");
    press(&ui, 'v', "");
    for (int rows = 3; rows < 40; rows += 4)
        for (int cols = 20; cols < 160; cols += 17)
            for (int page = 0; page < 3; page++) {
                (void)shown(&ui, rows, cols);
                press(&ui, 'v', "");
            }
    pw_snapshot_free(s);
}

static void text_in_words(void **state)
{
    (void)state;
    struct pw_snapshot *s = text_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
    char *words = NULL;
    size_t n;
    FILE *out = open_memstream(&words, &n);
    pw_pane_lengths.words(out, &ui);
    fclose(out);
    must_have(words, "text: loss in nats per token by context length, trained 8 to 8");
    must_have(words, "perplexity");
    must_have(words, "by position in the longest context");
    free(words);
    for (int i = 0; i < PW_MAX_ARMS; i++) /* as a model from a file, whose trained lengths are unknown */
        s->arms[i].info.step = 0;
    struct pw_str status = {0};
    pw_pane_lengths.status(&ui, &status);
    must_have(status.s, "text, not trained here");
    pw_str_fini(&status);
    struct pw_str copied = {0};
    pw_pane_lengths.copy(&ui, &copied);
    must_have(copied.s, "arm\tpe\treplicate\tlength\tsamples\tloss\tperplexity\ttoken_accuracy\n1\t");
    pw_str_fini(&copied);
    pw_snapshot_free(s);
}

static void figures_of_text(void **state)
{
    static const char *const pages[] = {"loss", "positions"};
    (void)state;
    for (int replicas = 1; replicas <= 3; replicas += 2)
        for (int i = 0; i < 2; i++) {
            struct pw_snapshot *s = as_text(figure_race(replicas));
            struct pw_figure_options o = figure_options("lengths", pages[i]);
            struct pw_str svg = {0};
            figure_check(s, &o);
            figure_svg(&svg, s, &o);
            must_have(svg.s, i == 0 ? "Loss by context length" : "Loss by position in contexts of 32");
            must_have(svg.s, "nats per token");
            pw_str_fini(&svg);
            pw_snapshot_free(s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pages_of_text),
        cmocka_unit_test(text_in_words),
        cmocka_unit_test(figures_of_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
