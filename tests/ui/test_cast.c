/* test_cast.c - tests films of a session. A terminal that receives a film must show what the workbench shows
 * at that moment. The test's own small terminal supports only the sequences that films may send, and fails on
 * others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/json.h"
#include "ref_recording.h"
#include "ref_screen.h"
#include "ui/app.h"
#include "ui/cast.h"
#include "ui/commands/commands.h"

struct bench {
    char folder[64], film[96];
    struct pw_app app;
    struct pw_err err;
};

static const struct pw_commands commands = {pw_ui_commands};

static int setup(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    struct pw_player *p;
    char session[96];
    strcpy(b->folder, "/tmp/pewter-cast-XXXXXX");
    if (mkdtemp(b->folder) == NULL)
        return 1;
    snprintf(session, sizeof session, "%s/r.pewter", b->folder);
    snprintf(b->film, sizeof b->film, "%s/f.cast", b->folder);
    recording_make(session);
    b->app.commands = &commands;
    b->app.screen = true;
    pw_ui_init(&b->app.ui);
    b->app.ui.look = (struct pw_abilities){PW_COLORS_TRUE, true, true};
    b->app.ui.rows = 24, b->app.ui.cols = 80;
    assert_int_equal(pw_player_open(&p, session, &b->err), PW_OK);
    pw_time_open(&b->app.ui, p);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;
    char text[128];
    snprintf(text, sizeof text, "rm -r %s", b->folder);
    pw_app_end(&b->app);
    free(b);
    return system(text);
}

/* ---- a terminal */

struct terminal {
    struct pw_canvas c;
    int y, x;
    struct pw_style style;
    bool hidden; /* of the cursor */
};

static void set_style(struct terminal *t, const int *v, int n)
{
    for (int i = 0; i < n; i++) {
        int code = v[i];
        uint32_t *color = code >= 40 ? &t->style.bg : &t->style.fg;
        if (code == 0)
            t->style = (struct pw_style){PW_DEFAULT, PW_DEFAULT, 0};
        else if (code == 1 || code == 2 || code == 4 || code == 7)
            t->style.attr |= code == 1 ? PW_BOLD : code == 2 ? PW_DIM : code == 4 ? PW_UNDERLINE : PW_REVERSE;
        else if ((code == 38 || code == 48) && i + 4 < n && v[i + 1] == 2)
            *color = PW_RGB(v[i + 2], v[i + 3], v[i + 4]), i += 4;
        else if ((code >= 30 && code < 38) || (code >= 40 && code < 48))
            *color = PW_ANSI(code % 10);
        else
            fail_msg("a style of %d", code);
    }
}

/* Executes the sequence after its escape. Returns the byte after it. */
static const char *obey(struct terminal *t, const char *s)
{
    int v[16] = {0}, n = 0;
    assert_int_equal(*s++, '[');
    if (strncmp(s, "?25", 3) == 0) {
        t->hidden = s[3] == 'l';
        assert_true(s[3] == 'l' || s[3] == 'h');
        return s + 4;
    }
    for (; n < 16 && ((*s >= '0' && *s <= '9') || *s == ';'); s += *s == ';')
        v[n++] = (int)strtol(s, (char **)&s, 10);
    if (*s == 'J')
        pw_canvas_clear(&t->c);
    else if (*s == 'm')
        set_style(t, v, n);
    else if (*s == 'H')
        t->y = v[0] - 1, t->x = v[1] - 1;
    else
        fail_msg("a sequence that ends in '%c'", *s);
    return s + 1;
}

static void show(struct terminal *t, const char *s)
{
    while (*s != '\0') {
        uint32_t cp;
        if (*s == '\033') {
            s = obey(t, s + 1);
            continue;
        }
        s += pw_utf8_next(s, strlen(s), &cp);
        assert_true(cp >= 0x20 && (cp < 0x7f || cp >= 0xa0));
        assert_true(t->y < t->c.rows && t->x < t->c.cols);
        pw_draw_cell(&t->c, (struct pw_rect){0, 0, t->c.rows, t->c.cols}, t->y, t->x, t->style, cp);
        t->x += pw_utf8_cells(cp);
    }
}

/* ---- films */

struct film {
    int frames, width, height;
    double last, shortest, longest; /* in seconds: time of the last frame, and between two frames */
    double begun;
    struct terminal t;
};

static struct film watch(const char *path)
{
    struct film f = {.shortest = 1e9};
    struct pw_err err;
    char *data;
    size_t size;
    assert_int_equal(pw_file_read(path, 1 << 24, &data, &size, &err), PW_OK);
    pw_canvas_init(&f.t.c);
    for (char *line = strtok(data, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        cJSON *j = cJSON_Parse(line);
        assert_non_null(j);
        if (f.width == 0) {
            assert_int_equal(cJSON_GetObjectItem(j, "version")->valueint, 2);
            f.width = cJSON_GetObjectItem(j, "width")->valueint;
            f.height = cJSON_GetObjectItem(j, "height")->valueint;
            f.begun = cJSON_GetObjectItem(j, "timestamp")->valuedouble;
            assert_string_equal(cJSON_GetObjectItem(j, "title")->valuestring, "pewter: r");
            pw_canvas_resize(&f.t.c, f.height, f.width);
        } else {
            double at = cJSON_GetArrayItem(j, 0)->valuedouble, since = at - f.last;
            assert_string_equal(cJSON_GetArrayItem(j, 1)->valuestring, "o");
            assert_true(since >= 0);
            if (f.frames > 0 && since > 0)
                f.shortest = since < f.shortest ? since : f.shortest;
            f.longest = since > f.longest ? since : f.longest;
            f.last = at;
            f.frames++;
            show(&f.t, cJSON_GetArrayItem(j, 2)->valuestring);
        }
        cJSON_Delete(j);
    }
    free(data);
    return f;
}

static void make(struct bench *b, const char *options)
{
    char line[256];
    snprintf(line, sizeof line, "export cast %s %s", b->film, options);
    if (pw_app_submit(&b->app, line, PW_SEND_NOW, &b->err) != PW_OK)
        fail_msg("%s: %s", line, b->err.msg);
}

/* Compares with the workbench at that step, drawn from scratch. */
static void assert_shows(struct bench *b, const struct film *f, int64_t step)
{
    struct pw_ui ui;
    struct pw_canvas c;
    struct pw_player *p;
    pw_canvas_init(&c);
    pw_canvas_resize(&c, f->height, f->width);
    pw_app_pose(&b->app, &ui);
    assert_int_equal(pw_time_player(&ui, &p, &b->err), PW_OK);
    pw_time_to_event(&ui, step < 0 ? UINT64_MAX : pw_player_step(p, 0, step));
    ui.no_machine = true;
    pw_ui_frame(&ui, &c);
    for (int i = 0; i < c.rows * c.cols; i++)
        if (memcmp(&c.cells[i], &f->t.c.cells[i], sizeof *c.cells) != 0)
            fail_msg("row %d, column %d differs", i / c.cols, i % c.cols);
    pw_canvas_fini(&c);
}

static void test_shows_what_play_shows(void **state)
{
    struct bench *b = *state;
    make(b, "");
    struct film f = watch(b->film);
    assert_true(f.width == 80 && f.height == 24 && f.begun == 1790000000 && !f.t.hidden);
    assert_true(f.frames > STEPS && f.frames < 4 * STEPS); /* all events within 1/30 s are one frame */
    assert_true(f.last > 7.89 &&
                f.last < 7.91); /* 6 seconds, and an hour between two steps that is cut to 2 seconds */
    assert_true(f.longest < 2.001 && f.longest > 1.999);
    assert_shows(b, &f, -1);
    pw_canvas_fini(&f.t.c);
    make(b, "speed=40 width=121 height=33 to=37");
    f = watch(b->film);
    assert_true(f.width == 121 && f.height == 33);
    assert_true(f.frames < 12 && f.shortest > 0.032); /* 30 a second, at any speed */
    assert_shows(b, &f, 37);
    pw_canvas_fini(&f.t.c);
    make(b, "from=30 to=30 width=20 height=6");
    f = watch(b->film);
    assert_int_equal(f.frames, 2); /* the second one is the cursor */
    assert_shows(b, &f, 30);
    pw_canvas_fini(&f.t.c);
}

/* Making a film doesn't move the current moment. */
static void test_stays_where_one_is(void **state)
{
    struct bench *b = *state;
    assert_int_equal(pw_app_submit(&b->app, "goto 25", PW_SEND_NOW, &b->err), PW_OK);
    uint64_t at = b->app.ui.transport.at;
    make(b, "speed=100");
    assert_true(b->app.ui.transport.at == at);
    assert_int_equal(b->app.ui.snap->arms[0].info.step, 25);
    assert_false(b->app.ui.no_machine);
}

static void test_refused(void **state)
{
    static const char *const cases[][2] = {
        {"export cast", "usage: export cast FILE.cast"},
        {"export cast a.txt", "must end in .cast"},
        {"export cast a.cast speed=0", "allowed are 0.1..1000"},
        {"export cast a.cast width=5", "allowed are screen|20..500"},
        {"export cast a.cast from=40 to=30", "from=40 is after to=30"},
        {"export cast a.cast fps=60", "no option 'fps'"},
        {"export cast /nowhere/a.cast", "/nowhere/a.cast"},
    };
    struct bench *b = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (pw_app_submit(&b->app, cases[i][0], PW_SEND_NOW, &b->err) == PW_OK)
            fail_msg("'%s' is taken", cases[i][0]);
        if (strstr(b->err.msg, cases[i][1]) == NULL)
            fail_msg("'%s': %s", cases[i][0], b->err.msg);
    }
    pw_ui_fini(&b->app.ui); /* a lab that isn't recorded */
    pw_ui_init(&b->app.ui);
    struct pw_snapshot *s = pw_snapshot_new();
    b->app.ui.snap = s;
    assert_int_equal(pw_app_submit(&b->app, "export cast a.cast", PW_SEND_NOW, &b->err), PW_EUSER);
    assert_non_null(strstr(b->err.msg, "nothing is recorded here"));
    pw_snapshot_free(s);
}

/* Any screen is updated to any other. */
static void test_changes(void **state)
{
    struct pw_snapshot *s = screen_race();
    struct pw_canvas c[2];
    struct terminal t = {.style = {PW_DEFAULT, PW_DEFAULT, 0}};
    struct pw_str sent = {0};
    (void)state;
    pw_canvas_init(&t.c);
    pw_canvas_resize(&t.c, 40, 130);
    for (int i = 0; i < 2; i++) {
        pw_canvas_init(&c[i]);
        pw_canvas_resize(&c[i], 40, 130);
    }
    for (int i = 0; i < 2 * PW_PANES; i++) {
        struct pw_ui ui = screen_ui(s, i % 3 == 0 ? PW_COLORS_16 : PW_COLORS_TRUE, i % 5 != 0);
        struct pw_rect all = {0, 0, 40, 130};
        ui.focus = i % PW_PANES, ui.zoom = i % 2 == 0;
        pw_ui_frame(&ui, &c[i % 2]);
        for (int x = i % 3; x < 129; x += 3) /* glyphs of two columns, at odd and even places */
            pw_draw_cell(&c[i % 2], all, 20, x, (struct pw_style){PW_DEFAULT, PW_DEFAULT, 0}, 0x732b);
        pw_str_clear(&sent);
        pw_canvas_changes(&c[(i + 1) % 2], &c[i % 2], &sent);
        show(&t, pw_str_text(&sent));
        for (int k = 0; k < 40 * 130; k++)
            assert_memory_equal(&t.c.cells[k], &c[i % 2].cells[k], sizeof *t.c.cells);
        pw_str_clear(&sent);
        pw_canvas_changes(&c[i % 2], &c[i % 2], &sent);
        assert_int_equal(sent.len, 0);
        pw_ui_fini(&ui);
    }
    pw_str_fini(&sent);
    pw_canvas_fini(&c[0]);
    pw_canvas_fini(&c[1]);
    pw_canvas_fini(&t.c);
    pw_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_shows_what_play_shows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stays_where_one_is, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
        cmocka_unit_test(test_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
