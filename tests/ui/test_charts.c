/* test_charts.c - tests the panes of lengths and prompt: their keys and their words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plot/names.h"
#include "ref_screen.h"
#include "ui/plot.h"

static void press_key(struct pw_ui *ui, int key)
{
    struct pw_str line = {0};

    assert_true(pw_ui_key(ui, key, &line));
    pw_str_fini(&line);
}

/* Shows the effect of heads: after a switch, the earlier curve stays, and words say which of the two had
 * heads off. */
static void lengths_before_heads_went_off(void **state)
{
    (void)state;
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
    struct pw_arm_view *arm = &s->arms[s->current - 1];
    struct pw_replica_view *rep = &arm->rep[0];
    struct pw_canvas c;
    struct pw_str none = {0}, since = {0}, off = {0}, on = {0}, later = {0};

    ui.focus = PW_PANE_LENGTHS, ui.zoom = true;
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 30, 100);
    pw_ui_frame(&ui, &c);
    pw_canvas_text(&c, &none);
    rep->heads_off = (struct pw_ev_heads){.layers = 1, .heads = 2, .mode = calloc(2, 1)};
    rep->heads_off.mode[1] = PW_ABLATE_MEAN;
    rep->heads_changed = true;
    pw_ui_frame(&ui, &c);
    pw_canvas_text(&c, &since);
    rep->heads_changed = false;
    rep->eval_before =
        (struct pw_ev_eval){.n = rep->eval.n, .rows = calloc((size_t)rep->eval.n, sizeof *rep->eval.rows)};
    for (int i = 0; i < rep->eval.n; i++) {
        const struct pw_eval_row *r = &rep->eval.rows[i];
        rep->eval_before.rows[i] = (struct pw_eval_row){
            .task = r->task, .length = r->length, .samples = r->samples, .exact = r->samples / 4};
    }
    rep->eval_before_step = rep->eval_step, rep->eval_before_seq = rep->eval_seq;
    pw_ui_frame(&ui, &c);
    pw_canvas_text(&c, &off);
    rep->heads_off.mode[1] = PW_ABLATE_NONE;
    pw_ui_frame(&ui, &c);
    pw_canvas_text(&c, &on);
    arm->info.step++; /* other weights: the curves are of different models */
    pw_ui_frame(&ui, &c);
    pw_canvas_text(&c, &later);
    assert_null(strstr(none.s, "heads"));
    assert_null(strstr(later.s, "heads"));
    assert_non_null(strstr(since.s, "heads changed since, e evaluates"));
    assert_non_null(strstr(off.s, "dim dots: before heads off"));
    assert_non_null(strstr(off.s, "before heads off: 25%, now:"));
    assert_non_null(strstr(on.s, "with heads off: 25%, now:"));
    const char *row = strstr(off.s, "50%\u2524"), *was = strstr(none.s, "50%\u2524"); /* 25% is below */
    assert_true(row != NULL && was != NULL && strncmp(row, was, 300) != 0);
    pw_str_fini(&none), pw_str_fini(&since), pw_str_fini(&off), pw_str_fini(&on);
    pw_str_fini(&later);
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

/* With several seeds the readout has medians. The forced count includes every exact answer, so it is never
 * below. */
static void lengths_read_out_medians(void **state)
{
    (void)state;
    static const int exact[] = {6, 2, 4}, late[] = {0, 1, 3}, tokens[] = {90, 10, 50};
    struct pw_snapshot *s = screen_race_of(3);
    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
    struct pw_arm_view *arm = &s->arms[s->current - 1];
    struct pw_canvas c;
    struct pw_str text = {0};

    for (int r = 0; r < 3; r++) {
        struct pw_eval_row *row = &arm->rep[r].eval.rows[0];
        row->samples = 10, row->exact = exact[r], row->errors[PW_ERROR_LATE] = late[r];
        row->tokens = 100, row->tokens_right = tokens[r];
    }
    ui.focus = PW_PANE_LENGTHS, ui.zoom = true;
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 30, 100);
    pw_ui_frame(&ui, &c);
    pw_canvas_text(&c, &text);
    if (strstr(text.s, "40% (20..60), medians of 3 seeds  tokens 50.0%  forced 60%") == NULL)
        fail_msg("%s", text.s);
    pw_str_fini(&text);
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

/* At 80 columns the readout of the zoomed pane is complete: parts that don't fit in one row continue in a
 * second one. */
static void the_readout_of_lengths_is_whole(void **state)
{
    (void)state;
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
    struct pw_canvas c;
    struct pw_str text = {0};

    s->arms[s->current - 1].rep[0].eval.rows[0].seen = true;
    ui.focus = PW_PANE_LENGTHS, ui.zoom = true;
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 24, 80);
    pw_ui_frame(&ui, &c);
    pw_canvas_text(&c, &text);
    assert_non_null(strstr(text.s, "┃length 2  ■3 t5 8/16↻  64 of 64 exact, 94..100%  (95%, samples only)"));
    assert_non_null(strstr(text.s, "tokens 100.0%  forced 100%"));
    pw_str_fini(&text);
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

/* The longest length is always labelled: the axis' name leaves room for its number. */
static void the_longest_length_is_named(void **state)
{
    (void)state;
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
    struct pw_canvas c;
    struct pw_str text = {0};

    ui.focus = PW_PANE_LENGTHS, ui.zoom = true;
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 30, 100);
    pw_ui_frame(&ui, &c);
    pw_canvas_text(&c, &text);
    assert_non_null(strstr(text.s, "14           16┃\n"));
    assert_non_null(strstr(text.s, "▇ trained: how often "));
    assert_non_null(strstr(text.s, "   length┃\n"));
    pw_str_fini(&text);
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

/* In a narrow pane the verdict is cut before the number of tokens that are not shown. */
static void verdict_beside_the_rest(void **state)
{
    (void)state;
    static const char *const digits[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_MONO, true);
    struct pw_canvas c;
    struct pw_str text = {0};

    screen_set_prompt(s, 500, digits, 10);
    s->prompt.has_answer = false;
    for (int i = 0; i < 200; i++) {
        struct pw_event *e = pw_event_new(PW_EV_TOKEN);
        e->arm = 3;
        e->u.token.prompt = s->prompt.id;
        e->u.token.pos = s->prompt.n_prompt + i;
        e->u.token.last = i == 199;
        pw_text_copy(e->u.token.label, PW_LABEL, "7");
        pw_fold(s, e);
        pw_event_free(e);
    }
    ui.focus = PW_PANE_IO, ui.zoom = true;
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 24, 48);
    pw_ui_frame(&ui, &c);
    pw_canvas_text(&c, &text);
    const char *verdict = strstr(text.s, "no right answer is known for");
    assert_non_null(verdict);
    const char *rest = strstr(verdict, "more …"), *cut = strstr(verdict, "… ");
    assert_true(rest != NULL && cut != NULL && cut < rest && rest < strchr(verdict, '\n'));
    pw_str_fini(&text);
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

/* A long answer is scrolled by whole bands, up to its end. */
static void keys_of_the_prompt(void **state)
{
    (void)state;
    static const char *const digits[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_MONO, true);
    struct pw_canvas c;
    struct pw_str first = {0}, second = {0}, last = {0};

    screen_set_prompt(s, 500, digits, 10);
    ui.focus = PW_PANE_IO, ui.zoom = true;
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 30, 100);
    pw_ui_frame(&ui, &c);
    pw_canvas_text(&c, &first);
    press_key(&ui, PW_KEY_UP);
    press_key(&ui, PW_KEY_DOWN);
    assert_int_equal(ui.io.top, 1);
    pw_ui_frame(&ui, &c);
    pw_canvas_text(&c, &second);
    assert_string_not_equal(first.s, second.s);
    press_key(&ui, PW_KEY_END);
    pw_ui_frame(&ui, &c);
    pw_canvas_text(&c, &last);
    assert_non_null(strstr(first.s, "more …"));
    assert_null(strstr(last.s, "more …"));
    int end = ui.io.top;
    press_key(&ui, PW_KEY_DOWN);
    pw_ui_frame(&ui, &c);
    assert_int_equal(ui.io.top, end);
    press_key(&ui, PW_KEY_HOME);
    assert_int_equal(ui.io.top, 0);
    pw_str_fini(&first), pw_str_fini(&second), pw_str_fini(&last);
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

/* Readouts of a cursor: at any width no part is cut, and the first parts have priority. */
static void read_outs_are_whole(void **state)
{
    (void)state;
    static const char text[] =
        "length 2  54 of 64 exact, 74..91%  (95%, samples only)  inputs seen  tokens 92.1%";
    for (int rows = 1; rows <= 2; rows++)
        for (int w = 20; w < 100; w++) {
            struct pw_str parts = {0}, drawn = {0};
            struct pw_canvas c;
            pw_str_add(&parts, "%s", text);
            pw_canvas_init(&c);
            pw_canvas_resize(&c, rows, w);
            pw_draw_parts(&c, (struct pw_rect){0, 0, rows, w}, rows, pw_style_plain(), &parts);
            pw_canvas_text(&c, &drawn);
            assert_memory_equal(drawn.s, "length 2", 8);
            assert_null(strstr(drawn.s, "…"));
            int whole = 0;
            for (const char *part = text, *end; *part; part = end + strspn(end, " ")) {
                char one[64];
                end = strstr(part, "  ");
                end = end != NULL ? end : part + strlen(part);
                pw_text_copy(one, (size_t)(end - part) + 1, part);
                whole += strstr(drawn.s, one) != NULL ? (int)strlen(one) : 0;
            }
            int said = 0;
            for (const char *ch = drawn.s; *ch; ch++)
                said += *ch != '\n' && !(ch[0] == ' ' && (ch[1] == ' ' || ch[1] == '\n' || ch[-1] == ' '));
            if (whole != said)
                fail_msg("%d rows of %d: %d of %d are of whole parts: %s", rows, w, whole, said, drawn.s);
            pw_canvas_fini(&c);
            pw_str_fini(&parts), pw_str_fini(&drawn);
        }
    struct pw_snapshot *s = screen_race();
    for (int pane = 0; pane < PW_PANES; pane++) { /* also at 120x36 */
        struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
        struct pw_canvas c;
        struct pw_layout l;
        ui.focus = pane;
        pw_canvas_init(&c);
        pw_canvas_resize(&c, 36, 120);
        pw_ui_frame(&ui, &c);
        pw_ui_layout(&ui, 36, 120, &l);
        struct pw_rect r = l.panes[pane];
        for (int y = r.y + r.h - 3; y < r.y + r.h - 1 && pane != PW_PANE_LOG; y++)
            if (c.cells[y * c.cols + r.x + r.w - 2].cp == 0x2026)
                fail_msg("%s: row %d is cut", pw_panes[pane]->name, y);
        pw_canvas_fini(&c);
        pw_ui_fini(&ui);
    }
    pw_snapshot_free(s);
}

static void keys_of_lengths(void **state)
{
    (void)state;
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);

    ui.focus = PW_PANE_LENGTHS;
    screen_line(&ui, "e", "eval");
    screen_line(&ui, "\n", ""); /* length 2: nothing failed */
    assert_string_equal(ui.message, "nothing failed there");
    const struct pw_ev_eval *e = &s->arms[2].rep[0].eval;
    char want[64];
    snprintf(want, sizeof want, "failing length=16 index=%d", pw_eval_failing(e, &e->rows[14], 0));
    screen_line(&ui, "G\n", want);
    screen_line(&ui, "f", "failing length=16 n=20");
    screen_line(&ui, "h", "failing length=15 n=20");
    screen_line(&ui, "vgkkk", ""); /* wraps around the ends, and skips the grid */
    assert_int_equal(ui.lengths.page, 0);
    assert_int_equal(ui.lengths.cursor, 0);
    screen_line(&ui, "v", "");
    assert_int_equal(ui.lengths.page, 4);
    screen_line(&ui, "V", "");
    assert_int_equal(ui.lengths.page, 0);
    screen_set_failing(s, 9);
    screen_line(&ui, "Vjj\n", "failing length=12 index=6"); /* the third of the list */
    screen_line(&ui, "jjjjjjjjjjjj\n", "failing length=12 index=24");
    screen_set_pairs(s);
    screen_line(&ui, "vv", "");
    assert_int_equal(ui.lengths.page, 3);
    int index = pw_eval_failing(e, &e->rows[6], 0); /* 8 by 7 is the 9th of the 15 pairs of length 8 */
    while (index >= 0 && index % 15 != 8)
        index = pw_eval_failing(e, &e->rows[6], index + 1);
    struct pw_str values = {0};
    ui.lengths.page = 0;
    pw_pane_lengths.copy(&ui, &values);
    assert_non_null(strstr(values.s, "\n3\tt5 buckets=8 distance=16\t1\t8\t60\t"));
    pw_str_clear(&values);
    ui.lengths.page = 5;
    pw_pane_lengths.copy(&ui, &values);
    assert_non_null(strstr(values.s, "\nnone\talibi\t180\t")); /* 60 each of 6, 7 and 8 */
    pw_str_fini(&values);
    ui.lengths.page = 3;
    snprintf(want, sizeof want, "failing length=8 index=%d", index);
    screen_line(&ui, "jjjjjjjjkllllllll\n", want);
    pw_snapshot_free(s);
}

/* In pane and figure the answer ends after the right answer or the decoded one, whichever is longer. A step
 * back shortens it. */
static void an_answer_ends_behind_all_that_there_is(void **state)
{
    static const int decoded[] = {3, 4, 5, 6, 7};
    char labels[6][PW_LABEL] = {"<bos>", "copy", " 0", " 1", " 0", "<eos>"};
    struct pw_snapshot *s = pw_snapshot_new();
    (void)state;
    s->has_prompt = true;
    s->prompt.n = 6, s->prompt.n_prompt = 3;
    s->prompt.labels = labels;
    assert_int_equal(pw_answer_end(s), 3);
    for (int i = 0; i < 5; i++) {
        struct pw_event *e = pw_event_new(PW_EV_TOKEN);
        e->u.token.pos = decoded[i];
        pw_fold(s, e);
        pw_event_free(e);
        assert_int_equal(pw_answer_end(s), decoded[i] + 1);
        assert_string_equal(pw_answer_wanted(s, decoded[i]), "");
    }
    s->prompt.has_answer = true;
    assert_int_equal(pw_answer_end(s), 8);
    struct pw_event *back = pw_event_new(PW_EV_TOKEN);
    back->u.token.pos = 4;
    pw_fold(s, back);
    pw_event_free(back);
    assert_int_equal(s->n_tokens, 2);
    assert_int_equal(pw_answer_end(s), 6);
    assert_string_equal(pw_answer_wanted(s, 2), "");
    assert_string_equal(pw_answer_wanted(s, 3), "1");
    assert_string_equal(pw_answer_wanted(s, 6), "");
    s->prompt.labels = NULL;
    pw_snapshot_free(s);
}

/* Columns too narrow for the names of typed formulas cut them, so that two formulas differ. */
static void lengths_cut_formulas(void **state)
{
    (void)state;
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
    struct pw_canvas c;
    struct pw_str text = {0};

    screen_arm(s, 1, "expr", "expr 'bias = -d / (1 + d * d)'");
    screen_arm(s, 2, "expr", "expr 'scan = stick; angle = i * 10000 ** (-2 * p / D)'");
    ui.focus = PW_PANE_LENGTHS, ui.zoom = true;
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 30, 80);
    pw_ui_frame(&ui, &c);
    pw_canvas_text(&c, &text);
    assert_non_null(strstr(text.s, "expr bias"));
    assert_non_null(strstr(text.s, "expr scan"));
    pw_str_fini(&text);
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_before_heads_went_off),
        cmocka_unit_test(lengths_read_out_medians),
        cmocka_unit_test(the_readout_of_lengths_is_whole),
        cmocka_unit_test(the_longest_length_is_named),
        cmocka_unit_test(read_outs_are_whole),
        cmocka_unit_test(keys_of_lengths),
        cmocka_unit_test(keys_of_the_prompt),
        cmocka_unit_test(verdict_beside_the_rest),
        cmocka_unit_test(lengths_cut_formulas),
        cmocka_unit_test(an_answer_ends_behind_all_that_there_is),
    };
    setenv("TZ", "UTC", 1); /* the log shows local time */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
