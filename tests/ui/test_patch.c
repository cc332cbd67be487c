/* test_patch.c - tests the page of the step pane that shows a patch's recovery. Checks its words and numbers,
 * and draws it at every size with events that no lab would emit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "ref_screen.h"
#include "ui/panes/lengths.h"
#include "ui/plot.h"

static void *array(size_t n, size_t size)
{
    void *p = calloc(n, size);
    assert_non_null(p);
    return p;
}

/* A patch of the clean "sort 3 1 2 >" into "sort 3 4 2 >", in a model with these layers and heads. */
static void put_patch(struct pw_snapshot *s, enum pw_patch_kind kind, int layers, int heads)
{
    static const char *const clean[] = {"sort", " 3", " 1", " 2", " >"};
    struct pw_event *e = pw_event_new(PW_EV_PATCH);
    struct pw_ev_patch *p = &e->u.patch;
    bool resid = kind == PW_PATCH_RESID;

    e->arm = 3, e->step = 640;
    *p = (struct pw_ev_patch){.kind = kind,
                              .layer = -1,
                              .head = -1,
                              .pos = -1,
                              .rows = resid ? layers + 1 : layers,
                              .cols = resid ? 5 : heads,
                              .T = 5,
                              .n_prompt = 5,
                              .clean_token = " 1",
                              .corrupt_token = " 2",
                              .m_clean = 9.97f,
                              .m_corrupt = -8.88f,
                              .text = "patch"};
    p->recovery = array((size_t)p->rows * p->cols, sizeof *p->recovery);
    p->clean = array(5, sizeof *p->clean);
    p->corrupt = array(5, sizeof *p->corrupt);
    for (int t = 0; t < 5; t++) {
        strcpy(p->clean[t], clean[t]);
        strcpy(p->corrupt[t], t == 2 ? " 4" : clean[t]);
    }
    for (int i = 0; i < p->rows * p->cols; i++)
        p->recovery[i] = (float)(i * 37 % 113 - 6) / 100;
    pw_fold(s, e);
    pw_event_free(e);
}

static void page_is(struct pw_ui *ui, int h, int w, const char *want)
{
    struct pw_canvas c;
    struct pw_str text = {0};

    pw_canvas_init(&c);
    pw_canvas_resize(&c, h, w);
    pw_step_patch_settle(ui);
    pw_step_patch_draw(ui, &c, (struct pw_rect){0, 0, h, w});
    pw_theme_fit(&c, &ui->look);
    pw_canvas_text(&c, &text);
    assert_string_equal(pw_str_text(&text), want);
    pw_str_fini(&text);
    pw_canvas_fini(&c);
}

static void the_stream(void **state)
{
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);

    (void)state;
    put_patch(s, PW_PATCH_RESID, 2, 4);
    ui.step.patch.row = 2, ui.step.patch.col = 1;
    page_is(&ui, 11, 60,
            "1 over 2 after position 4: logits +9.97 clean, -8.88 corrupt\n"
            "into layer     0     1   out\n"
            "0 sort     -0.06  0.66  0.25\n"
            "1 3         0.31  1.03  0.62\n"
            "2 1 for 4   0.68  0.27< 0.99\n"
            "3 2         1.05  0.64  0.23\n"
            "4 >         0.29  1.01  0.60\n"
            "\n"
            "\n"
            "recovery  0 nothing            1 all   -1      the other way\n"
            "27 % back: stream into layer 1 at position 2 (\"1\" for \"4\")\n");
    const struct pw_rect r = {5, 7, 11, 60}; /* a click selects the cell that is drawn there */
    assert_true(pw_step_patch_click(&ui, 5 + 2 + 3, 7 + 11 + 6 + 2, r));
    assert_int_equal(ui.step.patch.row, 3);
    assert_int_equal(ui.step.patch.col, 1);
    assert_false(pw_step_patch_click(&ui, 5 + 1, 7 + 12, r)); /* the names */
    assert_false(pw_step_patch_click(&ui, 5 + 3, 7 + 4, r));  /* the tokens */
    assert_false(pw_step_patch_click(&ui, 5 + 8, 7 + 12, r)); /* below */
    assert_false(pw_step_patch_click(&ui, 5 + 3, 7 + 50, r)); /* beside */
    assert_true(pw_step_patch_click(&ui, 5 + 4, 7 + 18, r));
    struct pw_str text = {0};
    ui.focus = PW_PANE_STEP, ui.step.patch.asked = true;
    pw_panes[PW_PANE_STEP]->copy(&ui, &text);
    assert_string_equal(pw_str_text(&text), "position\tclean\tcorrupt\t0\t1\tout\n"
                                            "0\tsort\tsort\t-0.06\t0.66\t0.25\n"
                                            "1\t3\t3\t0.31\t1.03\t0.62\n"
                                            "2\t1\t4\t0.68\t0.27\t0.99\n"
                                            "3\t2\t2\t1.05\t0.64\t0.23\n"
                                            "4\t>\t>\t0.29\t1.01\t0.6\n");
    pw_str_fini(&text);
    page_is(&ui, 4, 20, /* scrolls; only colours, and the cursor's number as text */
            "into layer  0  1  o\n"
            "1 3\n"
            "2 1 for 4       <\n"
            "27 % back: stream i…\n");
    pw_snapshot_free(s);
}

static void the_heads(void **state)
{
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_MONO, false);

    (void)state;
    put_patch(s, PW_PATCH_HEADS, 2, 4);
    assert_true(pw_step_patch_key(&ui, 'j'));
    assert_true(pw_step_patch_key(&ui, 'l'));
    assert_false(pw_step_patch_key(&ui, 'x'));
    page_is(&ui, 10, 48,
            "1 over 2 after position 4: logits +9.97 clean, ~\n"
            "clean   sort 3 1 2 >\n"
            "corrupt sort 3 4 2 >\n"
            "head       .0    .1    .2    .3\n"
            "layer 0 -0.06  0.31  0.68  1.05\n"
            "layer 1  0.29  0.66< 1.03  0.27\n"
            "\n"
            "\n"
            "recovery  0 nothing ..::++**## 1 all\n"
            "66 % back: head L1H1 at all positions\n");
    pw_snapshot_free(s);
}

/* P shows the page, or explains how to get a patch, and hides it again; e and E start the command. */
static void the_key(void **state)
{
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
    struct pw_str line = {0};

    (void)state;
    ui.focus = PW_PANE_STEP;
    pw_ui_key(&ui, 'P', &line);
    assert_true(pw_step_patch_shown(&ui));
    page_is(&ui, 3, 60,
            "     nothing patched yet: find what carries the answer\n"
            "     :patch resid from=\"PROMPT\"\n"
            "     a prompt of as many tokens; e and E start it\n");
    pw_ui_key(&ui, 'e', &line);
    assert_string_equal(ui.ask, "patch resid from=\"sort 3 1 4 1 5 9 2");
    pw_ui_key(&ui, 'E', &line);
    assert_string_equal(ui.ask, "patch heads from=\"sort 3 1 4 1 5 9 2");
    put_patch(s, PW_PATCH_RESID, 2, 4);
    pw_ui_key(&ui, 'j', &line);
    assert_int_equal(ui.step.patch.row, 1);
    assert_int_equal(line.len, 0);
    pw_ui_key(&ui, 'P', &line);
    assert_false(pw_step_patch_shown(&ui));
    pw_ui_key(&ui, 'j', &line);
    assert_int_equal(ui.step.patch.row, 1);
    pw_ui_key(&ui, 'P', &line);
    pw_ui_key(&ui, 'v', &line); /* on to the other pages */
    assert_false(pw_step_patch_shown(&ui));
    put_patch(s, PW_PATCH_HEADS, 2, 4); /* a new patch is shown at once, from any command */
    s->patch_seq = 7;
    assert_true(pw_step_patch_shown(&ui));
    pw_ui_key(&ui, 'V', &line);
    assert_false(pw_step_patch_shown(&ui));
    put_patch(s, PW_PATCH_HEADS, 2, 4);
    s->patch_seq = 8;
    assert_true(pw_step_patch_shown(&ui));
    pw_str_fini(&line);
    pw_snapshot_free(s);
}

static void draw_all(const struct pw_snapshot *s)
{
    static const struct pw_abilities looks[] = {
        {PW_COLORS_TRUE, true, false}, {PW_COLORS_MONO, true, false}, {PW_COLORS_16, false, false}};
    struct pw_canvas c;

    pw_canvas_init(&c);
    pw_canvas_resize(&c, 44, 104);
    struct pw_ui any = screen_ui(s, PW_COLORS_TRUE, true);
    struct pw_str text = {0};
    pw_step_patch_copy(&any, &text);
    pw_str_fini(&text);
    for (int h = 1; h <= 40; h += h < 10 ? 1 : 6)
        for (int w = 1; w <= 100; w += w < 20 ? 1 : 9)
            for (int i = 0; i < 3; i++) {
                struct pw_ui ui = screen_ui(s, looks[i].colors, looks[i].utf8);
                struct pw_rect r = {2, 2, h, w};
                ui.step.patch.row = 1 << 30, ui.step.patch.col = i ? -5 : 1 << 30;
                pw_canvas_clear(&c);
                pw_step_patch_settle(&ui);
                pw_step_patch_draw(&ui, &c, r);
                pw_step_patch_click(&ui, 2 + h / 2, 2 + w / 2, r);
                for (int y = 0; y < c.rows; y++)
                    for (int x = 0; x < c.cols; x++)
                        if ((y < 2 || y >= h + 2 || x < 2 || x >= w + 2) && c.cells[y * c.cols + x].cp != ' ')
                            fail_msg("%dx%d drew outside", w, h);
            }
    pw_canvas_fini(&c);
}

static void every_size(void **state)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY, 1e30f, -12345, 99.7f, -0.0f};
    struct pw_snapshot *s = screen_race();

    (void)state;
    draw_all(s); /* no patch */
    put_patch(s, PW_PATCH_RESID, 2, 4);
    draw_all(s);
    put_patch(s, PW_PATCH_RESID, 60, 4);
    draw_all(s);
    put_patch(s, PW_PATCH_HEADS, 1, 128);
    draw_all(s);
    put_patch(s, PW_PATCH_HEADS, 3, 7);
    struct pw_ev_patch *p = &s->patch;
    for (int i = 0; i < 21; i++)
        p->recovery[i] = bad[i % 7];
    p->m_clean = NAN, p->m_corrupt = -1e30f, p->pos = 3;
    strcpy(p->clean[0], "日本日本");
    strcpy(p->clean[1], "\033[31m\xff");
    strcpy(p->clean_token, "");
    draw_all(s);
    p->kind = PW_PATCH_RESID; /* its columns aren't positions */
    draw_all(s);
    p->kind = (enum pw_patch_kind)77;
    p->rows = -1;
    draw_all(s);
    p->rows = 3;
    free(p->clean);
    p->clean = NULL;
    draw_all(s);
    free(p->recovery);
    p->recovery = NULL;
    draw_all(s);
    pw_snapshot_free(s);
}

/* A model with heads off says so, in the status line and beside the small maps. */
static void heads_that_are_off(void **state)
{
    struct pw_snapshot *s = screen_race();
    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
    struct pw_event *e = pw_event_new(PW_EV_HEADS);
    struct pw_canvas c;
    struct pw_str text = {0};

    (void)state;
    e->arm = 3;
    e->u.heads = (struct pw_ev_heads){.layers = 2, .heads = 4, .mode = array(8, 1)};
    e->u.heads.mode[1] = PW_ABLATE_ZERO, e->u.heads.mode[6] = PW_ABLATE_MEAN;
    pw_fold(s, e);
    pw_event_free(e);
    ui.focus = PW_PANE_ATTENTION, ui.zoom = true;
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 48, 160);
    pw_ui_frame(&ui, &c);
    pw_canvas_text(&c, &text);
    assert_non_null(strstr(text.s, "heads off L0H1 L1H2"));
    assert_non_null(strstr(text.s, "L0H1✗"));
    assert_non_null(strstr(text.s, "L1H2✗"));
    assert_null(strstr(text.s, "L1H1✗"));
    pw_str_clear(&text); /* a key switches the selected head */
    assert_true(pw_ui_key(&ui, 'X', &text));
    assert_string_equal(pw_str_text(&text), "ablate L1H1 arm=3");
    s->arms[2].rep[0].heads_off.mode[1 * 4 + 1] = PW_ABLATE_ZERO;
    pw_str_clear(&text);
    assert_true(pw_ui_key(&ui, 'X', &text));
    assert_string_equal(pw_str_text(&text), "restore L1H1 arm=3");
    pw_str_fini(&text);
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

/* One of several replicas has a head off: the status line says so. The evaluation before is the spread of all
 * replicas. */
static void heads_off_in_one_replica(void **state)
{
    struct pw_snapshot *s = screen_race_of(3);
    struct pw_ui ui = screen_ui(s, PW_COLORS_TRUE, true);
    struct pw_event *e = pw_event_new(PW_EV_HEADS);
    struct pw_replica_view *rep = &s->arms[2].rep[1];
    struct pw_canvas c;
    struct pw_str text = {0};

    (void)state;
    e->arm = 3, e->replica = 2;
    e->u.heads = (struct pw_ev_heads){.layers = 2, .heads = 4, .mode = array(8, 1)};
    e->u.heads.mode[6] = PW_ABLATE_ZERO;
    pw_fold(s, e);
    pw_event_free(e);
    e = pw_event_new(PW_EV_EVAL); /* of a replica with no right answers */
    e->arm = 3, e->replica = 2, e->step = 640;
    e->u.eval.n = rep->eval.n;
    e->u.eval.rows = array((size_t)rep->eval.n, sizeof *rep->eval.rows);
    for (int i = 0; i < rep->eval.n; i++)
        e->u.eval.rows[i] = (struct pw_eval_row){
            .task = rep->eval.rows[i].task, .length = rep->eval.rows[i].length, .samples = 10};
    float v[3];
    for (int r = 0; r < 3; r++) {
        const struct pw_eval_row *row = pw_eval_find(&s->arms[2].rep[r].eval, 0, 12);
        v[r] = (float)row->exact / (float)row->samples;
    }
    float whole = pw_spread_of(v, 3).median;
    assert_true(isnan(pw_lengths_before(&s->arms[2], 0, 12)));
    pw_fold(s, e);
    pw_event_free(e);
    assert_true(pw_lengths_before(&s->arms[2], 0, 12) == whole);
    ui.focus = PW_PANE_LENGTHS;
    pw_canvas_init(&c);
    pw_canvas_resize(&c, 48, 160);
    pw_ui_frame(&ui, &c);
    pw_canvas_text(&c, &text);
    assert_non_null(strstr(text.s, "head off L1H2 in some replicas"));
    assert_non_null(strstr(text.s, "before heads off"));
    pw_str_clear(&text);
    pw_snapshot_free(s);
    pw_str_fini(&text);
    pw_canvas_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_stream),
        cmocka_unit_test(the_heads),
        cmocka_unit_test(the_key),
        cmocka_unit_test(heads_that_are_off),
        cmocka_unit_test(heads_off_in_one_replica),
        cmocka_unit_test(every_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
