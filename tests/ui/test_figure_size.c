/* test_figure_size.c - tests that figures stay small and lose no point of long runs and no value of maps.
 * They are written as SVG, PDF and PNG. */
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
#include "ref_figure.h"
#include "ref_screen.h"

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
    struct pw_figure_options o = figure_options("curves", "loss");
    figure_check(s, &o);
    figure_svg(&out, s, &o);
    /* One point in 40,000 reaches the top of the field: the highest y of all paths is at the value 50. */
    double top = 1e9, x = 0, y = 0;
    for (const char *p = strstr(out.s, "<path"); p != NULL; p = strstr(p + 1, "<path")) {
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
    struct pw_snapshot *s = figure_race(1);
    struct pw_figure_options o = figure_options("attention", "map");
    screen_set_prompt(s, 128, labels, 9);
    figure_check(s, &o);
    o = figure_options("attention", "heads");
    figure_check(s, &o);
    o.width = 2000;
    figure_check(s, &o);
    pw_snapshot_free(s);
}

/* The bytes of the first image of a picture; the caller frees them. */
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

/* Every value of a map is a pixel of its image, in the ramp's colour; hidden values are transparent. */
static void a_map_says_its_values(void **state)
{
    (void)state;
    static const char *const labels[] = {"a", "b", "c"};
    struct pw_snapshot *s = figure_race(1);
    struct pw_figure_options o = figure_options("attention", "map");
    struct pw_str out = {0};
    png_image png = {.version = PNG_IMAGE_VERSION};
    size_t size;
    enum { T = 7 };
    screen_set_prompt(s, T, labels, 3);
    screen_set_view(s, 0, 3, PW_VIEW_PROBS);
    figure_svg(&out, s, &o);
    unsigned char *bytes = image_of(&out, &size);
    assert_true(png_image_begin_read_from_memory(&png, bytes, size));
    png.format = PNG_FORMAT_RGBA;
    unsigned char *pixel = malloc(PNG_IMAGE_SIZE(png));
    assert_true(png_image_finish_read(&png, NULL, pixel, 0, NULL));
    assert_int_equal(png.width, png.height);
    assert_int_equal(png.width % T, 0);
    for (unsigned q = 0; q < T; q++)
        for (unsigned k = 0; k < T; k++) { /* head 0.3 is uniform: 1 / (q + 1) */
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
    struct pw_figure_options o = figure_options("lengths", "");
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
    if (ending[1] == 'n') { /* the header has the size: four pixels a point */
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
    struct pw_snapshot *s = figure_race(1);
    check_file(s, "svg", "<svg ", 5);
    check_file(s, "pdf", "%PDF", 4);
    check_file(s, "png", "\x89PNG\r\n\x1a\n", 8);
    pw_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_runs_stay_small),
        cmocka_unit_test(large_maps_stay_small),
        cmocka_unit_test(a_map_says_its_values),
        cmocka_unit_test(pdf_and_png_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
