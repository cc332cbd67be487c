/* test_words.c - tests the text of `show PANE`: the content of panes as words and columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "ref_figure.h"
#include "ref_screen.h"
#include "ui/plot.h"
#include "ui/report.h"

/* ---- columns */

static char text[1 << 17]; /* the latest output */

static void columns_of(const char *tsv)
{
    FILE *f = fmemopen(text, sizeof text, "w");

    text[0] = '\0';
    pw_report_columns(f, tsv);
    fclose(f);
}

static void columns(void **state)
{
    static const struct {
        const char *tsv, *lines;
    } tables[] = {
        {"", ""},
        {"a\tb", "  a  b\n"},
        {"step\tname\n1\tlong one\n100\tx\n", "  step  name\n     1  long one\n   100  x\n"},
        {"x\ty\tz\n0.0748484\t\t3\n1e-12\tnan\n", "        x  y  z\n  0.07485  -  3\n    1e-12  -  -\n"},
        {"a\n1\t2\t3\n", "  a\n  1\n"}, /* more values than names */
        {"t\n·\nxx\n", "  t\n  ·\n  xx\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        columns_of(tables[i].tsv);
        assert_string_equal(text, tables[i].lines);
    }
}

/* ---- panes */

static void words_of(const struct pw_ui *ui, int pane)
{
    FILE *f = fmemopen(text, sizeof text, "w");

    text[0] = '\0';
    pw_panes[pane]->words(f, ui);
    fclose(f);
}

/* The pane's text must contain these parts, in this order. */
static void says(const struct pw_ui *ui, int pane, const char *const *parts)
{
    const char *at = text;

    words_of(ui, pane);
    for (; *parts != NULL; parts++) {
        at = strstr(at, *parts);
        if (at == NULL)
            fail_msg("'%s' is not, or not there, in\n%s", *parts, text);
    }
}

static void curves(void **state)
{
    struct pw_snapshot *s = screen_race_of(3);
    struct pw_ui ui = screen_ui(s, PW_COLORS_MONO, false);
    (void)state;
    screen_arm(s, 4, "alibi", "alibi"); /* in place of rotary */
    says(&ui, PW_PANE_CURVES,
         (const char *const[]){"arm 1 none, 3 seeds: median (least..greatest)\n", "  step  loss ",
                               "token accuracy", "learning rate", "seconds\n", "\n   640  ", "exact match:",
                               "trained lengths", "arm 4 alibi ↻", "  encoding swapped at step ", NULL});
    pw_snapshot_free(s);
}

/* Different numbers of samples are listed by arm. Here the second arm has those of a live evaluation. */
static void samples(void **state)
{
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_MONO, false);
    struct pw_str status = {0};
    (void)state;
    pw_pane_lengths.status(&ui, &status);
    assert_non_null(strstr(status.s, " 64 samples "));
    assert_null(strstr(status.s, "live"));
    for (int a = 0; a < PW_MAX_ARMS; a++)
        for (int i = 0; a != 1 && i < s->arms[a].rep[0].eval.n; i++)
            s->arms[a].rep[0].eval.rows[i].samples = 256;
    s->arms[1].rep[0].eval.live = true;
    pw_str_clear(&status);
    pw_pane_lengths.status(&ui, &status);
    assert_non_null(strstr(status.s, "  samples 256 (1,3,4,5), 64 live (2)  trained 2..8"));
    /* Also in a narrow title: 80x24, and the pane of 120x36 and 200x60. */
    static const int sizes[][2] = {{24, 80}, {36, 120}, {60, 200}};
    struct pw_canvas c = {0};
    struct pw_str drawn = {0};
    pw_ui_focus(&ui, PW_PANE_LENGTHS);
    for (int i = 0; i < 3; i++) {
        pw_canvas_resize(&c, sizes[i][0], sizes[i][1]);
        pw_ui_frame(&ui, &c);
        pw_str_clear(&drawn);
        pw_canvas_text(&c, &drawn);
        assert_non_null(strstr(drawn.s, "  samples 256 (1,3,4,5), 64 live (2) "));
    }
    pw_str_fini(&drawn);
    pw_canvas_fini(&c);
    says(&ui, PW_PANE_LENGTHS,
         (const char *const[]){"trained 2 to 8, 256 samples (arms 1, 3, 4, 5), 64 live (arm 2) (", NULL});
    struct pw_figure_options o = figure_options("lengths", "curve");
    struct pw_str svg = {0};
    figure_svg(&svg, s, &o);
    assert_non_null(strstr(svg.s, " 256 samples (arms 1, 3, 4, 5), 64 live (arm 2) a length and model."));
    pw_str_fini(&svg);
    pw_str_fini(&status);
    pw_snapshot_free(s);
}

static void lengths(void **state)
{
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_MONO, false);
    (void)state;
    screen_set_failing(s, 2);
    says(&ui, PW_PANE_LENGTHS,
         (const char *const[]){"sort: exact match by length, trained 2 to 8, 64 samples",
                               "1 none",
                               "3 t5",
                               "chance",
                               "\n  >8 ",
                               "mean beyond training\n",
                               "\n  2 ",
                               "..",
                               "  trained",
                               "\n  9 ",
                               "beyond training",
                               "arm 1 none, evaluated at step 640\n",
                               "first errors: ",
                               "on the same samples: ",
                               "p over training runs, exact",
                               "corrected  networks\n",
                               "first errors in the answers of arm 3",
                               "forced  early  late  wrong  token 1 ",
                               "arm 3",
                               "length 12: 5 of 64 failed",
                               "#0  early stop at token 1 of 13",
                               "model  0 1 1 9",
                               NULL});
    screen_set_pairs(s);
    says(&ui, PW_PANE_LENGTHS,
         (const char *const[]){"addition", "across: digits of the first number:\n", "digits of the second  ",
                               NULL});
    pw_snapshot_free(s);
}

/* Pages combine several seeds in two ways, so their numbers differ. Each page names its way. */
static void seeds(void **state)
{
    struct pw_snapshot *s = screen_race_of(3);
    struct pw_ui ui = screen_ui(s, PW_COLORS_MONO, false);
    struct pw_canvas c;
    struct pw_str curve = {0}, errors = {0};
    (void)state;
    says(&ui, PW_PANE_LENGTHS,
         (const char *const[]){"in brackets minimum and maximum over seeds; before them the median",
                               "first errors in the answers of arm 3, 3 seeds together:", NULL});
    ui.focus = PW_PANE_LENGTHS, ui.zoom = true;
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 30, 120);
    pw_ui_frame(&ui, &c);
    pw_canvas_text(&c, &curve);
    ui.lengths.page = 4; /* errors */
    pw_ui_frame(&ui, &c);
    pw_canvas_text(&c, &errors);
    assert_non_null(strstr(curve.s, "medians of seeds"));
    assert_non_null(strstr(curve.s, "line: median, band: least..greatest seed"));
    assert_null(strstr(curve.s, "together"));
    assert_non_null(strstr(errors.s, "trained 2..8, 3 seeds together"));
    assert_null(strstr(errors.s, "median"));
    pw_str_fini(&curve), pw_str_fini(&errors);
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

static void attention(void **state)
{
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_MONO, false);
    (void)state;
    says(&ui, PW_PANE_ATTENTION,
         (const char *const[]){"the keys that each query attends to",
                               "query 0 'sort' attends to 0 'sort' 1.00\n",
                               "query 8 '>' attends to 5 '5' 0.94; gold 4 '1' 0.0", "kinds of heads;",
                               "layer   head", "chance     - ", "over training:", NULL});
    screen_set_view(s, s->attention.layer, s->attention.head, PW_VIEW_BIAS);
    says(&ui, PW_PANE_ATTENTION,
         (const char *const[]){"query 0 'sort' attends to", "positional bias, one row per query:", "0 sort",
                               NULL});
    ui.attention.mean = true;
    says(&ui, PW_PANE_ATTENTION, (const char *const[]){"mean of the 4 heads of layer", NULL});
    pw_snapshot_free(s);
}

/* The printed parts add up to the printed sum. */
static void step(void **state)
{
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_MONO, false);
    double parts = 0, sum = 0, logits = 1;
    (void)state;
    says(&ui, PW_PANE_STEP,
         (const char *const[]){"token 1, '", "candidates '", "at the cursor: token ",
                               "candidates for the next token, of ", "  rank  token", "said",
                               "contributions to logit \"", "norms frozen:\n", "  part ", "adds\n", "  sum ",
                               "logit lens", "  embed  ", "  L1 ", "attention of the row that predicts it",
                               "  head ", "0 sort", NULL});
    words_of(&ui, PW_PANE_STEP);
    char *line = strchr(strstr(text, "  part "), '\n') + 1;
    while (strncmp(line, "  sum ", 6) != 0) {
        char *end = strchr(line, '\n');
        *end = '\0';
        parts += strtod(strrchr(line, ' '), NULL);
        line = end + 1;
    }
    assert_int_equal(sscanf(line, "  sum %lf, logits of the forward pass %lf", &sum, &logits), 2);
    assert_true(sum - parts < 1e-2 && parts - sum < 1e-2); /* each part has four digits */
    assert_true(sum - logits < 1e-3 && logits - sum < 1e-3);
    pw_snapshot_free(s);
}

static void encoding(void **state)
{
    static const char *const parts[][6] = {
        [SCREEN_NONE] = {"no positional term", "by distance", "score_3"},
        [SCREEN_T5] = {"by distance", "bucket", "buckets; one with 0 pairs was never trained:", "8–11", NULL},
        [SCREEN_ALIBI] = {"slopes, and the positions", "halves every\n", "     0      0.25         2.773\n",
                          "by distance"},
        [SCREEN_ROTARY] = {"pairs, radians", "turn_seen", "similarity of a vector", "bound\n", "by distance"},
        [SCREEN_LEARNED] = {"rows; one never seen", "most_like", "by distance"},
        [SCREEN_SHAW] = {"relative keys of this layer", "12–", "by distance"},
        [SCREEN_FIRE] = {"c 0.5, L 6 = |0.75 x 8|; the bias by distance is of the query at 31\n",
                         "bias_3_query_31", "one column per query:", "query_26"},
        [SCREEN_FORMULA] = {"learned parameters; of a table", "parameter", "L1 h3", NULL},
    };
    (void)state;
    for (int kind = SCREEN_NONE; kind < SCREEN_TABLES; kind++) {
        struct pw_snapshot *s = screen_race();
        struct pw_ui ui = screen_ui(s, PW_COLORS_MONO, false);
        screen_set_table(s, (enum screen_table)kind);
        says(&ui, PW_PANE_ENCODING, parts[kind]);
        ui.encoding.reference = 3;
        words_of(&ui, PW_PANE_ENCODING);
        assert_true((strstr(text, "the reference, their difference") != NULL) == (kind != SCREEN_T5));
        pw_snapshot_free(s);
    }
}

static void prompt_and_log(void **state)
{
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_MONO, false);
    (void)state;
    says(&ui, PW_PANE_IO,
         (const char *const[]){"prompt  sort 3 1 4 1 5 9 2\n", "given   sort 3 1", "right   1 1 2 3 4 5 9",
                               "answer ", "(wrong)", "with p ", "\n1 of 8 wrong\n", NULL});
    screen_command(s, "train 5");
    says(&ui, PW_PANE_LOG,
         (const char *const[]){"is wrong, the right answer is", " command: train 5\n", NULL});
    pw_snapshot_free(s);
}

static void findings(void **state)
{
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_MONO, false);
    (void)state;
    screen_set_findings(s);
    says(&ui, PW_PANE_FINDINGS,
         (const char *const[]){"  finding 1 of 3, decay\n", "  finding 2 of 3, rank 2: reproduced\n",
                               "> finding 3 of 3, scores 1 2 3: contradicted\n", "scores: what scores are",
                               " shares of the score", "head 0 ", "  2 alibi ", "nats against keys", "a map",
                               "Equation 1 as printed", "contradicted: no head", NULL});
    pw_snapshot_free(s);
}

/* Before any event, each pane says in one line which data are missing, and shows no number. */
static void nothing_yet(void **state)
{
    struct pw_snapshot *s = pw_snapshot_new();
    struct pw_ui ui = screen_ui(s, PW_COLORS_MONO, false);
    (void)state;
    for (int pane = 0; pane < PW_PANES; pane++) {
        words_of(&ui, pane);
        assert_null(strpbrk(text, "0123456789"));
        assert_null(strstr(text, "nan"));
    }
    says(&ui, PW_PANE_STEP, (const char *const[]){"no answer yet: type a prompt first\n", NULL});
    says(&ui, PW_PANE_ENCODING, (const char *const[]){"no table yet", NULL});
    pw_snapshot_free(s);
}

/* The way of judging is named wherever its numbers are shown. */
static void judges(void **state)
{
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_MONO, false);
    struct pw_str copied = {0}, status = {0};
    (void)state;
    pw_pane_lengths.copy(&ui, &copied);
    assert_null(strstr(copied.s, "judged"));
    pw_str_clear(&copied);
    for (int a = 0; a < 2; a++)
        for (int i = 0; i < s->arms[a].rep[0].eval.n; i++) {
            struct pw_eval_row *row = &s->arms[a].rep[0].eval.rows[i];
            row->judge = a == 0 ? PW_JUDGE_DECODED : PW_JUDGE_TAUGHT;
            row->exact = row->samples, row->taught = a == 0 ? row->samples / 2 : 0;
        }
    says(&ui, PW_PANE_LENGTHS,
         (const char *const[]){"sort: right answers by length, trained 2 to 8",
                               "arm 1 none, evaluated at step 640\n",
                               "length  decoded, right  teacher-forced, every token right\n", "0.5\n",
                               "teacher-forced during training; 'eval' decodes", NULL});
    pw_pane_lengths.copy(&ui, &copied);
    assert_non_null(strstr(copied.s, "\twrong\tjudged\tteacher_forced\n"));
    assert_non_null(strstr(copied.s, "\tdecoded\t0.5\n"));
    assert_non_null(strstr(copied.s, "\tteacher-forced\t"));
    assert_non_null(strstr(copied.s, "\texact\t"));
    s->current = 1;
    pw_pane_lengths.status(&ui, &status);
    assert_non_null(strstr(status.s, "trained 2..8, decoded  "));
    pw_str_fini(&copied);
    pw_str_fini(&status);
    pw_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns),     cmocka_unit_test(curves),         cmocka_unit_test(lengths),
        cmocka_unit_test(seeds),       cmocka_unit_test(attention),      cmocka_unit_test(step),
        cmocka_unit_test(encoding),    cmocka_unit_test(prompt_and_log), cmocka_unit_test(findings),
        cmocka_unit_test(nothing_yet), cmocka_unit_test(judges),         cmocka_unit_test(samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
