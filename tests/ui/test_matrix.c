/* test_matrix.c - tests every pane at every size in every look, glyphs and colours:
 * golden/matrix/PANE_SIZE.txt.
 *
 * A file has the glyphs in true colour, then one digest a look. Up to 160 columns it also has the styles of
 * each row in runs, at 80x24 the ASCII glyphs. So a diff shows changes of the first look, and digests detect
 * changes of all. PEWTER_ACCEPT=1 rewrites the files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/file.h"
#include "ref_screen.h"

#define FOLDER PEWTER_SOURCE_DIR "/tests/ui/golden/matrix"

static const struct {
    int rows, cols;
} sizes[] = {{16, 60}, {24, 80}, {30, 100}, {48, 160}, {100, 300}};

static const struct {
    const char *name;
    struct pw_abilities look;
} looks[] = {
    {"true", {PW_COLORS_TRUE, true, false}},
    {"256", {PW_COLORS_256, true, false}},
    {"mono", {PW_COLORS_MONO, true, false}},
    {"ascii", {PW_COLORS_MONO, false, false}},
};

static void draw(struct pw_canvas *c, const struct pw_snapshot *s, int focus, struct pw_abilities look,
                 int rows, int cols)
{
    struct pw_ui ui = screen_ui(s, look.colors, look.utf8);
    ui.focus = focus;
    ui.theme.backdrop = PW_ON_DARK; /* so that named colours are resolved, too */
    pw_canvas_resize(c, rows, cols);
    pw_ui_frame(&ui, c); /* drawing clamps cursors to the available data */
    pw_ui_frame(&ui, c);
}

static void put_color(struct pw_str *out, uint32_t color)
{
    if (color == PW_DEFAULT)
        pw_str_add(out, "-");
    else if (color >= PW_ANSI(0))
        pw_str_add(out, "%u", (unsigned)(color & 7));
    else
        pw_str_add(out, "%06x", (unsigned)color);
}

static void put_style(struct pw_str *out, struct pw_style s)
{
    put_color(out, s.fg);
    if (s.bg != PW_DEFAULT || s.attr) {
        pw_str_add(out, "/");
        put_color(out, s.bg);
    }
    if (s.attr)
        pw_str_add(out, "/%s%s%s%s", s.attr & PW_BOLD ? "b" : "", s.attr & PW_DIM ? "d" : "",
                   s.attr & PW_REVERSE ? "r" : "", s.attr & PW_UNDERLINE ? "u" : "");
}

/* Appends the number of cells in each style, row by row: "12 -/-/b, 68 -". Rows without styles are
 * omitted. */
static void put_styles(struct pw_str *out, const struct pw_canvas *c)
{
    for (int y = 0; y < c->rows; y++) {
        const struct pw_cell *row = c->cells + (size_t)y * (size_t)c->cols;
        bool first = true;
        for (int x = 0, end; x < c->cols; x = end) {
            for (end = x + 1;
                 end < c->cols && memcmp(&row[end].style, &row[x].style, sizeof row[x].style) == 0; end++)
                continue;
            bool rest_is_plain = end == c->cols && row[x].style.fg == PW_DEFAULT &&
                                 row[x].style.bg == PW_DEFAULT && row[x].style.attr == 0;
            if (rest_is_plain)
                break;
            if (first)
                pw_str_add(out, "%d: ", y);
            pw_str_add(out, "%s%d ", first ? "" : ", ", end - x);
            put_style(out, row[x].style);
            first = false;
        }
        if (!first)
            pw_str_add(out, "\n");
    }
}

/* FNV-1a, 64 bits, over all cells. */
static uint64_t digest(const struct pw_canvas *c)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (int i = 0; i < c->rows * c->cols; i++) {
        uint32_t words[4] = {c->cells[i].cp, c->cells[i].style.fg, c->cells[i].style.bg,
                             c->cells[i].style.attr};
        for (int k = 0; k < 16; k++)
            h = (h ^ (words[k / 4] >> 8 * (k % 4) & 255)) * UINT64_C(1099511628211);
    }
    return h;
}

static void write_matrix(struct pw_str *out, const struct pw_snapshot *s, int focus, int rows, int cols)
{
    struct pw_canvas c;
    pw_canvas_init(&c);
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        draw(&c, s, focus, looks[i].look, rows, cols);
        if (i == 0) {
            pw_canvas_text(&c, out);
            if (cols <= 160) { /* larger screens have only the digest */
                pw_str_add(out, "---- styles\n");
                put_styles(out, &c);
            }
        } else if (rows == 24 && !looks[i].look.utf8) {
            pw_str_add(out, "---- %s\n", looks[i].name);
            pw_canvas_text(&c, out);
        }
        pw_str_add(out, "---- %s %016llx\n", looks[i].name, (unsigned long long)digest(&c));
    }
    pw_canvas_fini(&c);
}

static void accept(const char *path, const char *text)
{
    FILE *f;
    mkdir(FOLDER, 0777);
    f = fopen(path, "w");
    if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0)
        fail_msg("can't write %s", path);
}

/* Compares two texts, and reports the position of the first difference. */
static bool same(const char *name, const char *got, const char *want)
{
    for (int line = 1; *got || *want; line++) {
        size_t g = strcspn(got, "\n"), w = strcspn(want, "\n");
        if (g != w || memcmp(got, want, g) != 0) {
            print_error("%s, line %d:\n  golden: %.*s\n  screen: %.*s\n", name, line,
                        (int)(w < 200 ? w : 200), want, (int)(g < 200 ? g : 200), got);
            return false;
        }
        got += g + (got[g] == '\n'), want += w + (want[w] == '\n');
    }
    return true;
}

static void every_pane_at_every_size_in_every_look(void **state)
{
    (void)state;
    struct pw_snapshot *s = screen_race();
    int wrong = 0;
    screen_set_table(s, SCREEN_T5);
    for (int focus = 0; focus < PW_PANES; focus++) {
        if (focus == PW_PANE_FINDINGS) /* beside the others it isn't shown: the encoding has its place */
            screen_set_findings(s);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct pw_str text = {0};
            struct pw_err err;
            char name[64], path[512], *golden = NULL;
            size_t size;
            snprintf(name, sizeof name, "%s_%dx%d", pw_panes[focus]->name, sizes[i].cols, sizes[i].rows);
            snprintf(path, sizeof path, FOLDER "/%s.txt", name);
            write_matrix(&text, s, focus, sizes[i].rows, sizes[i].cols);
            if (getenv("PEWTER_ACCEPT") != NULL)
                accept(path, text.s);
            if (pw_file_read(path, 1 << 20, &golden, &size, &err) != PW_OK) {
                print_error("%s\n", err.msg);
                wrong++;
            } else {
                wrong += !same(name, text.s, golden);
            }
            free(golden);
            pw_str_fini(&text);
        }
    }
    pw_snapshot_free(s);
    if (wrong)
        fail_msg("%d screens differ from golden/matrix/", wrong);
}

/* In every look the focused pane differs not only by colour, and a look with fewer colours uses fewer. */
static void looks_keep_to_what_they_have(void **state)
{
    (void)state;
    struct pw_snapshot *s = screen_race();
    struct pw_canvas c;
    pw_canvas_init(&c);
    for (int focus = 0; focus < PW_PANES; focus++) {
        draw(&c, s, focus, (struct pw_abilities){PW_COLORS_MONO, true, false}, 48, 160);
        int heavy = 0;
        for (int i = 0; i < c.rows * c.cols; i++) {
            assert_int_equal(c.cells[i].style.fg, PW_DEFAULT);
            assert_int_equal(c.cells[i].style.bg, PW_DEFAULT);
            heavy += c.cells[i].cp == 0x250f;
        }
        assert_int_equal(heavy, 1); /* the shared corner: one pane has the heavy frame */
        draw(&c, s, focus, (struct pw_abilities){PW_COLORS_16, true, true}, 48, 160);
        for (int i = 0; i < c.rows * c.cols; i++) {
            assert_true(c.cells[i].style.fg >= PW_ANSI(0));
            assert_true(c.cells[i].style.bg >= PW_ANSI(0));
        }
    }
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

/* ---- impossible and unusual snapshots */

static const char *const odd[] = {"\xff\xfe", "日本", "🙂", "e\xcc\x81", "\x1b[31m",
                                  "\t",       "",     "日",   "a\nb",      "Z\xe2\x80\x8dZ"};

static void expect_sane(const struct pw_canvas *c, bool utf8)
{
    for (int y = 0; y < c->rows; y++)
        for (int x = 0; x < c->cols; x++) {
            const struct pw_cell *cell = c->cells + (size_t)y * (size_t)c->cols + (size_t)x;
            if (cell->cp == 0) { /* the right half of the wide glyph before it */
                assert_true(x > 0 && pw_utf8_cells(cell[-1].cp) == 2);
                continue;
            }
            assert_true(cell->cp >= 0x20 && !(cell->cp >= 0x7f && cell->cp < 0xa0));
            assert_true(pw_utf8_cells(cell->cp) == 1 || (x + 1 < c->cols && cell[1].cp == 0));
            assert_true(utf8 || cell->cp < 0x7f);
        }
}

static void odd_labels_keep_their_columns(void **state)
{
    (void)state;
    static const int rows[] = {1, 2, 3, 7, 16, 24, 48}, cols[] = {1, 2, 3, 5, 20, 60, 80, 160};
    struct pw_snapshot *s = screen_race();
    struct pw_canvas c;
    screen_set_prompt(s, 21, odd, sizeof odd / sizeof *odd);
    pw_text_copy(s->prompt.text, sizeof s->prompt.text, "日本🙂 sort \xff\xfe 3 1 2");
    screen_note(s, PW_EV_NOTE, "日本語のメモ 🙂🙂 and a\xff byte");
    pw_canvas_init(&c);
    for (int focus = 0; focus < PW_PANES; focus++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            for (size_t j = 0; j < sizeof cols / sizeof *cols; j++)
                for (size_t k = 0; k < sizeof looks / sizeof *looks; k++) {
                    draw(&c, s, focus, looks[k].look, rows[i], cols[j]);
                    expect_sane(&c, looks[k].look.utf8);
                }
    pw_canvas_fini(&c);
    pw_snapshot_free(s);
}

static void endless_text_is_clipped(void **state)
{
    (void)state;
    enum { N = 10000 };
    char *text = malloc(3 * N + 1);
    struct pw_canvas c;
    assert_non_null(text);
    for (int i = 0; i < N; i++)
        memcpy(text + 3 * i, "日", 3);
    text[3 * N] = '\0';
    pw_canvas_init(&c);
    for (int cols = 1; cols < 40; cols++) {
        pw_canvas_resize(&c, 3, cols);
        assert_int_equal(pw_draw_text(&c, (struct pw_rect){1, 0, 1, cols}, 1, 0,
                                      (struct pw_style){PW_DEFAULT, PW_DEFAULT, 0}, text),
                         2 * N);
        expect_sane(&c, true);
        for (int x = 0; x < cols; x++) {
            assert_int_equal(c.cells[x].cp, ' ');
            assert_int_equal(c.cells[2 * cols + x].cp, ' ');
        }
    }
    pw_canvas_fini(&c);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pane_at_every_size_in_every_look),
        cmocka_unit_test(looks_keep_to_what_they_have),
        cmocka_unit_test(odd_labels_keep_their_columns),
        cmocka_unit_test(endless_text_is_clipped),
    };
    setenv("TZ", "UTC", 1); /* the log shows local time */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
