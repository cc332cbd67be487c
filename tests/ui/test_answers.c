/* test_answers.c - tests that a terminal's answers are removed from the keys, whole or in pieces, and never
 * typed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ui/keys.h"
#include "ui/plot.h"

/* Feeds text in pieces of `step` bytes. Returns the decoded keys, and the last background colour among
 * them. */
static void feed(const char *text, size_t step, int *keys, int *n, uint32_t *rgb)
{
    struct pw_keys k;
    struct pw_input in;
    size_t left = strlen(text);

    pw_keys_init(&k);
    *n = 0;
    while (left > 0) {
        size_t now = left < step ? left : step;
        assert_int_equal(pw_keys_feed(&k, text, now), now);
        text += now, left -= now;
        while (pw_keys_next(&k, &in)) {
            assert_in_range(*n, 0, 15);
            keys[(*n)++] = in.key;
            if (in.key == PW_KEY_BACKGROUND) {
                *rgb = in.rgb;
                assert_int_equal(in.n_raw, 0); /* no bytes for readline */
            }
        }
    }
    while (pw_keys_settle(&k, &in))
        keys[(*n)++] = in.key;
    assert_int_equal(pw_keys_waiting(&k), 0);
    pw_keys_fini(&k);
}

static void a_background_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t rgb;
    } answers[] = {
        {"a\033]11;rgb:ffff/fdfd/e3e3\033\\b", 0xfffde3},
        {"a\033]11;rgb:1e1e/1e1e/1e1e\ab", 0x1e1e1e},
        {"a\033]11;rgb:0/8/f\ab", 0x0088ff},
        {"a\033]11;rgb:FF/00/7f\033\\b", 0xff007f},
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        for (size_t step = 1; step < 40; step++) {
            int keys[16], n;
            uint32_t rgb = 1;
            feed(answers[i].text, step, keys, &n, &rgb);
            assert_int_equal(n, 3);
            assert_int_equal(keys[0], 'a');
            assert_int_equal(keys[1], PW_KEY_BACKGROUND);
            assert_int_equal(keys[2], 'b');
            assert_int_equal(rgb, answers[i].rgb);
        }
    assert_int_equal(pw_theme_behind(0xfdf6e3), PW_ON_LIGHT);
    assert_int_equal(pw_theme_behind(0x1e1e1e), PW_ON_DARK);
}

static void other_answers_are_swallowed(void **state)
{
    (void)state;
    static const char *const answers[] = {
        "a\033]10;rgb:ffff/ffff/ffff\ab",
        "a\033]11;rgba:ff/ff/ff/ff\ab",
        "a\033]11;rgb:ff/ff\ab",
        "a\033]11;rgb:ff/ff/fg\033\\b",
        "a\033]11;\ab",
        "a\033]11;rgb:12345/0/0\ab",
        "a\033]\ab",
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        for (size_t step = 1; step < 40; step += 3) {
            int keys[16], n;
            uint32_t rgb = 1;
            feed(answers[i], step, keys, &n, &rgb);
            assert_int_equal(n, 2);
            assert_int_equal(keys[1], 'b');
            assert_int_equal(rgb, 1);
        }
}

/* A slow line, or a terminal that dies in the middle of an answer. */
static void half_an_answer_is_not_typed(void **state)
{
    (void)state;
    int keys[16], n;
    uint32_t rgb = 1;
    feed("a\033]11;rgb:ffff/ff", 1, keys, &n, &rgb);
    assert_int_equal(n, 1);
    struct pw_keys k;
    struct pw_input in;
    char endless[4096];
    memset(endless, 'x', sizeof endless);
    memcpy(endless, "\033]", 2);
    pw_keys_init(&k);
    for (size_t at = 0; at < sizeof endless;) {
        size_t took = pw_keys_feed(&k, endless + at, sizeof endless - at);
        while (pw_keys_next(&k, &in))
            continue;
        assert_true(took > 0); /* the buffer never fills up */
        at += took;
    }
    pw_keys_fini(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_background_is_read),
        cmocka_unit_test(other_answers_are_swallowed),
        cmocka_unit_test(half_an_answer_is_not_typed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
