/* test_figure.c - figures: every page of every pane is sound XML, small, the same bytes twice, and inside its
 * own borders; hostile text stays text; what can't be drawn is said in one line. */
#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "figure/figure.h"
#include "figure/svg.h"
#include "ref_screen.h"

#define SMALL 100000 /* bytes that a figure may have */

static struct pw_figure_options options(const char *pane, const char *page)
{
    struct pw_figure_options o;
    struct pw_err err;
    pw_opt_defaults(pw_figure_opts, &o);
    assert_int_equal(pw_opt_set(pw_figure_opts, &o, "test", "pane", pane, &err), PW_OK);
    pw_text_copy(o.page, sizeof o.page, page);
    return o;
}

static void svg(struct pw_str *out, const struct pw_snapshot *s, const struct pw_figure_options *o)
{
    struct pw_err err = {0};
    pw_str_clear(out);
    if (pw_figure_svg(out, s, o, &err) != PW_OK)
        fail_msg("%s %s: %s", pw_figure_names[o->pane], o->page, err.msg);
}

/* ---- a reader of what we write: tags nest, attributes are quoted, entities are known */

static double number_of(const char *tag, const char *name, double none)
{
    char key[32];
    snprintf(key, sizeof key, " %s=\"", name);
    const char *at = strstr(tag, key);
    return at ? atof(at + strlen(key)) : none;
}

static void read_entity(const char *s)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(s, known[i], strlen(known[i])) == 0)
            return;
    fail_msg("no such entity: %.12s", s);
}

/* Text of an element is inside the picture, from its first letter to its last. */
static void check_text(const char *tag, const char *body, double w, double h)
{
    char text[4096];
    size_t len = 0;
    for (; *body && len + 1 < sizeof text; body++) {
        text[len++] = *body == '&' ? '_' : *body; /* an entity is one letter */
        if (*body == '&')
            body = strchr(body, ';');
    }
    text[len] = '\0';
    struct pw_font f = {.size = number_of(tag, "font-size", 0),
                        .bold = strstr(tag, "bold") != NULL,
                        .mono = strstr(tag, "Mono") != NULL};
    double x = number_of(tag, "x", -1), y = number_of(tag, "y", -1), width = pw_svg_width(&f, text);
    bool turned = strstr(tag, "rotate(-90)") != NULL;
    double from = strstr(tag, "\"end\"") ? x - width : strstr(tag, "\"middle\"") ? x - width / 2 : x;
    double lo = turned ? -(from + width) : from, hi = turned ? -from : from + width, most = turned ? h : w;
    if (f.size <= 0 || lo < -1 || hi > most + 1 || y < 0 || y > (turned ? w : h))
        fail_msg("'%s' at %g %g, %g to %g, is outside of %g x %g", text, x, y, lo, hi, w, h);
}

/* Reads the picture as a whole; returns how many <text> there are. */
static int read_xml(const struct pw_str *doc)
{
    char *copy = strdup(doc->s), *at = copy;
    char open[16][16];
    int depth = 0, texts = 0;
    double w = 0, h = 0;
    char tag[1 << 18];

    assert_true(pw_utf8_valid(doc->s, doc->len));
    assert_int_equal(strlen(doc->s), doc->len);
    while (*at) {
        if (*at != '<') {
            assert_true(*at == '\n' || (unsigned char)*at >= 0x20);
            assert_true(*at != '>');
            if (*at == '&')
                read_entity(at);
            at++;
            continue;
        }
        char *end = strchr(at, '>');
        assert_non_null(end);
        size_t n = (size_t)(end - at) - 1;
        n = n < sizeof tag - 1 ? n : sizeof tag - 1;
        memcpy(tag, at + 1, n);
        tag[n] = '\0';
        int quotes = 0;
        for (size_t i = 0; i < n; i++) {
            quotes += tag[i] == '"';
            assert_true(tag[i] != '<');
        }
        assert_int_equal(quotes % 2, 0);
        size_t name = strcspn(tag, " /");
        if (tag[0] == '/') {
            assert_true(depth-- > 0);
            assert_string_equal(tag + 1, open[depth]);
        } else if (tag[n - 1] != '/') {
            assert_true(depth < 16 && name < 16);
            memcpy(open[depth], tag, name);
            open[depth++][name] = '\0';
        }
        if (strncmp(tag, "svg ", 4) == 0)
            w = number_of(tag, "width", 0), h = number_of(tag, "height", 0);
        if (strncmp(tag, "text ", 5) == 0) {
            size_t body = strcspn(end + 1, "<");
            char *inner = strndup(end + 1, body);
            check_text(tag, inner, w, h);
            free(inner);
            texts++;
        }
        at = end + 1;
    }
    assert_int_equal(depth, 0);
    free(copy);
    return texts;
}

static void check_figure(const struct pw_snapshot *s, const struct pw_figure_options *o)
{
    struct pw_str a = {0}, b = {0};
    struct pw_err err;
    if (pw_figure_svg(&a, s, o, &err) != PW_OK &&
        strstr(err.msg, "width=")) { /* as wide as it wants to be then */
        struct pw_figure_options wide = *o;
        const char *needs = strstr(err.msg, "needs ");
        assert_non_null(needs);
        wide.width = atoi(needs + strlen("needs "));
        assert_true(wide.width > o->width && wide.width < 460); /* a page's width */
        check_figure(s, &wide);
        pw_str_fini(&a);
        return;
    }
    svg(&a, s, o);
    svg(&b, s, o);
    assert_string_equal(a.s, b.s);
    if (a.len >= SMALL)
        fail_msg("%s %s: %zu bytes", pw_figure_names[o->pane], o->page, a.len);
    assert_true(read_xml(&a) > 3);
    assert_non_null(strstr(a.s, "<title>"));
    assert_non_null(strstr(a.s, "<desc>"));
    assert_non_null(strstr(a.s, "race"));
    pw_str_fini(&a);
    pw_str_fini(&b);
}

/* ---- states */

static struct pw_snapshot *race(int replicates)
{
    struct pw_snapshot *s = screen_race_of(replicates);
    screen_command(s, "race none,alibi,t5,rotary,learned");
    return s;
}

/* All pages that there is something for, of some panes in other widths and looks, too. Returns how many. */
static int check_all(const struct pw_snapshot *s, const char *thorough)
{
    const char *names[16];
    struct pw_str out = {0};
    struct pw_err err;
    int drawn = 0;
    for (int pane = 1; pw_figure_names[pane]; pane++) {
        int n = pw_figure_pages(pane, names, 16);
        assert_true(n > 0);
        for (int i = 0; i < n; i++) {
            struct pw_figure_options o = options(pw_figure_names[pane], names[i]);
            pw_str_clear(&out);
            if (pw_figure_svg(&out, s, &o, &err) != PW_OK) {
                assert_non_null(strstr(err.msg, "export figure: nothing to draw yet: "));
                assert_int_equal(out.len, 0);
                continue;
            }
            drawn++;
            check_figure(s, &o);
            if (!strstr(thorough, pw_figure_names[pane]))
                continue;
            o.width = 240, o.log = true, o.x = 1;
            check_figure(s, &o);
            o.width = 900, o.caption = false, o.map = PW_CIVIDIS, o.x = 2;
            check_figure(s, &o);
        }
    }
    pw_str_fini(&out);
    return drawn;
}

static void every_page_is_sound(void **state)
{
    (void)state;
    static const enum screen_table tables[] = {SCREEN_NONE, SCREEN_T5, SCREEN_ALIBI, SCREEN_ROTARY,
                                               SCREEN_LEARNED};
    static const int pages[] = {1, 4, 1, 3,
                                3}; /* of the encoding: kernel alone, with bias and buckets, ... */
    struct pw_snapshot *s = race(1);
    screen_set_failing(s, 5);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        screen_set_table(s, tables[i]);
        int n = check_all(s, i == 0 ? "curves lengths attention step prompt log" : "encoding");
        if (n < 5 + 4 + 2 + 4 + 2 + pages[i])
            fail_msg("table %zu: only %d pages", i, n);
    }
    for (int view = PW_VIEW_PROBS; view <= PW_VIEW_BIAS; view++) {
        struct pw_figure_options o = options("attention", "map");
        screen_set_view(s, 1, 1, (enum pw_view)view);
        check_figure(s, &o);
    }
    pw_snapshot_free(s);
    s = race(3);
    check_all(s, "");
    screen_set_pairs(s);
    struct pw_figure_options o = options("lengths", "grid");
    check_figure(s, &o);
    pw_snapshot_free(s);
}

/* What is shown without a page named is the first that there is something for. */
static void a_page_is_found(void **state)
{
    (void)state;
    struct pw_snapshot *s = race(1);
    struct pw_str out = {0};
    screen_set_table(s, SCREEN_ROTARY);
    struct pw_figure_options o = options("encoding", "");
    svg(&out, s, &o);
    assert_non_null(strstr(out.s, "<title>Turns of each pair of dimensions: 4 rotary"));
    o = options("lengths", "");
    svg(&out, s, &o);
    assert_non_null(strstr(out.s, "<title>Exact match by length</title>"));
    assert_non_null(strstr(out.s, "Wilson's 95% interval"));
    assert_non_null(strstr(out.s, "64 samples a length"));
    pw_text_copy(o.title, sizeof o.title, "My own");
    svg(&out, s, &o);
    assert_non_null(strstr(out.s, "<title>My own</title>"));
    pw_str_fini(&out);
    pw_snapshot_free(s);
}

static void expect_failure(const struct pw_snapshot *s, const struct pw_figure_options *o,
                           const char *message)
{
    struct pw_str out = {0};
    struct pw_err err = {0};
    assert_int_equal(pw_figure_svg(&out, s, o, &err), PW_EUSER);
    assert_int_equal(out.len, 0);
    assert_null(strchr(err.msg, '\n'));
    if (strstr(err.msg, message) == NULL)
        fail_msg("'%s' doesn't say '%s'", err.msg, message);
    pw_str_fini(&out);
}

static void nothing_is_said_in_one_line(void **state)
{
    (void)state;
    struct pw_snapshot *s = pw_snapshot_new();
    const char *names[16];
    for (int pane = 1; pw_figure_names[pane]; pane++) {
        struct pw_figure_options o = options(pw_figure_names[pane], "");
        expect_failure(s, &o, "export figure: nothing to draw yet: ");
        for (int i = 0, n = pw_figure_pages(pane, names, 16); i < n; i++) {
            o = options(pw_figure_names[pane], names[i]);
            expect_failure(s, &o, "export figure: nothing to draw yet: ");
        }
    }
    pw_snapshot_free(s);
}

static void wrong_choices_are_named(void **state)
{
    (void)state;
    struct pw_snapshot *s = race(1);
    struct pw_err err;
    struct pw_figure_options o = options("lengths", "curves");
    expect_failure(s, &o, "lengths has no page 'curves'; there are curve, grid, errors, tests, failing");
    o = options("log", "x");
    expect_failure(s, &o, "log has no page 'x'; there is lines");
    o = options("curves", "");
    o.arm = 7;
    expect_failure(s, &o, "arm=7: there is no such arm");
    o = options("lengths", "");
    o.task = 3;
    expect_failure(s, &o, "task=3: there is 1");
    o = options("curves", "");
    o.height = 90;
    expect_failure(s, &o, "height=90 is too little: this one needs");
    o = options("attention", "");
    o.layer = 2;
    expect_failure(s, &o, "there are layers 0 to 1 and heads 0 to 3");
    assert_int_equal(pw_opt_set(pw_figure_opts, &o, "export", "pane", "map", &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "pane=map: allowed are focused|curves|lengths"));
    assert_int_equal(pw_opt_set(pw_figure_opts, &o, "export", "width", "20", &err), PW_EUSER);
    o = options("curves", "");
    assert_int_equal(pw_figure_write("figure.gif", s, &o, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "figure.gif: the ending is one of .svg, .pdf, .png"));
    assert_int_equal(pw_figure_write("/nowhere/figure.svg", s, &o, &err), PW_EIO);
    pw_snapshot_free(s);
}

static void hostile_text_stays_text(void **state)
{
    (void)state;
    static const char *const labels[] = {"<script>",
                                         "&amp;",
                                         "\"'>",
                                         "]]>",
                                         "\xe2\x80\xae"
                                         "evil",
                                         "日本",
                                         "\xff\xfe",
                                         "a\tb",
                                         "-->",
                                         "%s%n"};
    struct pw_snapshot *s = race(1);
    struct pw_str out = {0};
    screen_set_prompt(s, 20, labels, sizeof labels / sizeof *labels);
    screen_command(s, "train 5 </desc><script>alert(1)</script>");
    screen_arm(s, 1, "<b>&", "t5 buckets=<i> distance=\"9");
    for (int pane = 1; pw_figure_names[pane]; pane++) {
        struct pw_figure_options o = options(pw_figure_names[pane], "");
        struct pw_err err;
        pw_text_copy(o.title, sizeof o.title, "</title><script>&");
        pw_str_clear(&out);
        if (pw_figure_svg(&out, s, &o, &err) != PW_OK)
            continue;
        read_xml(&out);
        assert_null(strstr(out.s, "<script"));
        assert_null(strstr(out.s, "\xe2\x80\xae"));
        assert_non_null(strstr(out.s, "&lt;script&gt;"));
    }
    pw_str_fini(&out);
    pw_snapshot_free(s);
}

/* ---- size */

static void long_runs_stay_small(void **state)
{
    (void)state;
    enum { STEPS = 40000 };
    struct pw_snapshot *s = pw_snapshot_new();
    struct pw_str out = {0};
    screen_command(s, "race none,alibi,t5,rotary,learned,sinusoidal,none,t5; train 40000");
    for (int arm = 1; arm <= 8; arm++) {
        screen_arm(s, arm, "t5", "t5 buckets=32 distance=128");
        for (int i = 0; i < STEPS; i++)
            screen_point(&s->arms[arm - 1].rep[0],
                         arm == 3 && i == 23456
                             ? 50
                             : 2.0f / (1 + (float)(i / (100 * arm))) + 0.001f * (float)(i * (arm + 7) % 97));
    }
    struct pw_figure_options o = options("curves", "loss");
    check_figure(s, &o);
    svg(&out, s, &o);
    /* One point in 40,000 reaches the top of the field: the highest y of all paths is where 50 is. */
    double top = 1e9, x = 0, y = 0;
    for (const char *p = strstr(out.s, "<path"); p; p = strstr(p + 1, "<path")) {
        const char *d = strstr(p, " d=\"") + 4;
        char *end;
        bool relative = false;
        while (*d != '"') {
            relative = *d == 'M' ? false : *d == 'l' ? true : relative;
            d += *d == 'M' || *d == 'l' || *d == ' ';
            double dx = strtod(d, &end);
            d = end;
            double dy = strtod(d, &end);
            d = end;
            x = relative ? x + dx : dx, y = relative ? y + dy : dy;
            top = y < top ? y : top;
        }
    }
    assert_true(x > 0);
    assert_true(top > 33 && top < 35); /* margin, title, four points above the field */
    pw_str_fini(&out);
    pw_snapshot_free(s);
}

static void large_maps_stay_small(void **state)
{
    (void)state;
    static const char *const labels[] = {"sort", "3", "1", "4", "1", "5", "9", "2", "6"};
    struct pw_snapshot *s = race(1);
    struct pw_figure_options o = options("attention", "map");
    screen_set_prompt(s, 128, labels, 9);
    check_figure(s, &o);
    o = options("attention", "heads");
    check_figure(s, &o);
    o.width = 2000;
    check_figure(s, &o);
    pw_snapshot_free(s);
}

/* The bytes of the first image of a picture; the caller frees. */
static unsigned char *image_of(const struct pw_str *doc, size_t *size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = strstr(doc->s, "base64,");
    assert_non_null(at);
    at += strlen("base64,");
    size_t n = strcspn(at, "\"");
    assert_int_equal(n % 4, 0);
    unsigned char *bytes = malloc(n);
    *size = 0;
    for (size_t i = 0; i < n; i += 4) {
        unsigned v = 0;
        for (size_t k = 0; k < 4; k++)
            v = v << 6 | (at[i + k] == '=' ? 0 : (unsigned)(strchr(digits, at[i + k]) - digits));
        bytes[(*size)++] = (unsigned char)(v >> 16);
        if (at[i + 2] != '=')
            bytes[(*size)++] = (unsigned char)(v >> 8);
        if (at[i + 3] != '=')
            bytes[(*size)++] = (unsigned char)v;
    }
    return bytes;
}

/* Every value of a map is in its image, in the ramp's colour; what is hidden is clear. */
static void a_map_says_its_values(void **state)
{
    (void)state;
    static const char *const labels[] = {"a", "b", "c"};
    struct pw_snapshot *s = race(1);
    struct pw_figure_options o = options("attention", "map");
    struct pw_str out = {0};
    png_image png = {.version = PNG_IMAGE_VERSION};
    size_t size;
    enum { T = 7 };
    screen_set_prompt(s, T, labels, 3);
    screen_set_view(s, 0, 3, PW_VIEW_PROBS);
    svg(&out, s, &o);
    unsigned char *bytes = image_of(&out, &size);
    assert_true(png_image_begin_read_from_memory(&png, bytes, size));
    png.format = PNG_FORMAT_RGBA;
    unsigned char *pixel = malloc(PNG_IMAGE_SIZE(png));
    assert_true(png_image_finish_read(&png, NULL, pixel, 0, NULL));
    assert_int_equal(png.width, png.height);
    assert_int_equal(png.width % T, 0);
    for (unsigned q = 0; q < T; q++)
        for (unsigned k = 0; k < T; k++) { /* head 0.3 looks at everything alike: 1 / (q + 1) */
            unsigned block = png.width / T,
                     at = ((q * block + block / 2) * png.width + k * block + block / 2) * 4;
            uint32_t color = (uint32_t)pixel[at] << 16 | (uint32_t)pixel[at + 1] << 8 | pixel[at + 2];
            assert_int_equal(pixel[at + 3], k > q ? 0 : 255);
            float p = pw_from_half(s->attention.probs[((size_t)3 * T + q) * T + k]);
            if (k <= q)
                assert_int_equal(color, pw_ramp_up(PW_VIRIDIS, roundf(p * 126) / 126));
        }
    free(pixel);
    free(bytes);
    pw_str_fini(&out);
    pw_snapshot_free(s);
}

/* ---- PDF and PNG */

static void check_file(const struct pw_snapshot *s, const char *ending, const char *magic, size_t n)
{
    char path[] = "/tmp/pewter-figure-XXXXXX.pdf", *data;
    struct pw_figure_options o = options("lengths", "");
    struct pw_err err = {0};
    size_t size;
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
    memcpy(path + strlen(path) - 3, ending, 3);
    if (pw_figure_write(path, s, &o, &err) != PW_OK)
        fail_msg("%s", err.msg);
    assert_int_equal(pw_file_read(path, 1 << 24, &data, &size, &err), PW_OK);
    assert_true(size > 1000);
    assert_memory_equal(data, magic, n);
    if (ending[1] == 'n') { /* the header says its size: four pixels a point */
        const unsigned char *u = (const unsigned char *)data;
        assert_int_equal(u[16] << 24 | u[17] << 16 | u[18] << 8 | u[19], 4 * o.width);
        assert_memory_equal(data + size - 8, "IEND", 4);
        assert_true(size > 20000); /* not an empty page */
    }
    if (ending[1] == 'd')
        assert_non_null(memmem(data, size, "%%EOF", 5));
    free(data);
    unlink(path);
}

static void pdf_and_png_are_written(void **state)
{
    (void)state;
    struct pw_snapshot *s = race(1);
    check_file(s, "svg", "<svg ", 5);
    check_file(s, "pdf", "%PDF", 4);
    check_file(s, "png", "\x89PNG\r\n\x1a\n", 8);
    pw_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_page_is_sound),         cmocka_unit_test(a_page_is_found),
        cmocka_unit_test(nothing_is_said_in_one_line), cmocka_unit_test(wrong_choices_are_named),
        cmocka_unit_test(hostile_text_stays_text),     cmocka_unit_test(long_runs_stay_small),
        cmocka_unit_test(large_maps_stay_small),       cmocka_unit_test(a_map_says_its_values),
        cmocka_unit_test(pdf_and_png_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
