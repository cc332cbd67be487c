/* ref_figure.c - see ref_figure.h. */
#include "ref_figure.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "figure/svg.h"
#include "ref_screen.h"

#define SMALL 100000 /* largest allowed figure, in bytes */

struct pw_figure_options figure_options(const char *pane, const char *page)
{
    struct pw_figure_options o = {0};
    struct pw_err err;
    pw_opt_defaults(pw_figure_opts, &o);
    assert_int_equal(pw_opt_set(pw_figure_opts, &o, "test", "pane", pane, &err), PW_OK);
    pw_text_copy(o.page, sizeof o.page, page);
    return o;
}

void figure_svg(struct pw_str *out, const struct pw_snapshot *s, const struct pw_figure_options *o)
{
    struct pw_err err = {0};
    pw_str_clear(out);
    if (pw_figure_svg(out, s, o, &err) != PW_OK)
        fail_msg("%s %s: %s", pw_figure_names[o->pane], o->page, err.msg);
}

/* ---- a reader of SVG: tags nest, attributes are quoted, entities are known */

static double number_of(const char *tag, const char *name, double none)
{
    char key[32];
    snprintf(key, sizeof key, " %s=\"", name);
    const char *at = strstr(tag, key);
    return at != NULL ? atof(at + strlen(key)) : none;
}

static void read_entity(const char *s)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(s, known[i], strlen(known[i])) == 0)
            return;
    fail_msg("no such entity: %.12s", s);
}

/* The text of an element must be inside the picture, from its first letter to its last. */
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
    double from = strstr(tag, "\"end\"") != NULL      ? x - width
                  : strstr(tag, "\"middle\"") != NULL ? x - width / 2
                                                      : x;
    double lo = turned ? -(from + width) : from, hi = turned ? -from : from + width, most = turned ? h : w;
    if (f.size <= 0 || lo < -1 || hi > most + 1 || y < 0 || y > (turned ? w : h))
        fail_msg("'%s' at %g %g, %g to %g, is outside of %g x %g", text, x, y, lo, hi, w, h);
}

int figure_read(const struct pw_str *doc)
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

void figure_check(const struct pw_snapshot *s, const struct pw_figure_options *o)
{
    struct pw_str a = {0}, b = {0};
    struct pw_err err;
    if (pw_figure_svg(&a, s, o, &err) != PW_OK &&
        strstr(err.msg, "width=") != NULL) { /* retry with the width that the error asks for */
        struct pw_figure_options wide = *o;
        const char *needs = strstr(err.msg, "needs ");
        assert_non_null(needs);
        wide.width = atoi(needs + strlen("needs "));
        assert_true(wide.width > o->width && wide.width < 460); /* the width of a page */
        figure_check(s, &wide);
        pw_str_fini(&a);
        return;
    }
    figure_svg(&a, s, o);
    figure_svg(&b, s, o);
    assert_string_equal(a.s, b.s);
    if (a.len >= SMALL)
        fail_msg("%s %s: %zu bytes", pw_figure_names[o->pane], o->page, a.len);
    assert_true(figure_read(&a) > 3);
    assert_non_null(strstr(a.s, "<title>"));
    assert_non_null(strstr(a.s, "<desc>"));
    assert_non_null(strstr(a.s, "race"));
    pw_str_fini(&a);
    pw_str_fini(&b);
}

struct pw_snapshot *figure_race(int replicas)
{
    struct pw_snapshot *s = screen_race_of(replicas);
    screen_command(s, "race none,alibi,t5,rotary,learned");
    return s;
}

void figure_fails(const struct pw_snapshot *s, const struct pw_figure_options *o, const char *message)
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
