/* test_text.c - tests strings, UTF-8, suggestions, numbers and times. */
#include "unit.h"

#include "base/text.h"

static void string_grows(void **state)
{
    (void)state;
    struct pw_str b = {0};

    assert_string_equal(pw_str_text(&b), "");
    pw_str_clear(&b); /* also of a string that was never filled */
    pw_str_put(&b, NULL, 0);
    assert_string_equal(b.s, ""); /* NUL-terminated after the first append, even of nothing */
    for (int i = 0; i < 1000; i++)
        pw_str_add(&b, "%d,", i);
    assert_int_equal(b.len, 10 * 2 + 90 * 3 + 900 * 4);
    assert_int_equal(strlen(b.s), b.len);
    assert_true(b.cap > b.len);
    assert_memory_equal(b.s, "0,1,2,3,", 8);
    assert_string_equal(b.s + b.len - 8, "998,999,");
    char *memory = b.s;
    pw_str_clear(&b);
    assert_string_equal(pw_str_text(&b), "");
    assert_ptr_equal(b.s, memory);
    pw_str_put(&b, "a\0b", 3);
    assert_int_equal(b.len, 3);
    assert_memory_equal(b.s, "a\0b", 4);
    pw_str_clear(&b);
    pw_str_quote(&b, "a \"b\" \\ c");
    pw_str_quote(&b, "");
    assert_string_equal(b.s, "\"a \\\"b\\\" \\\\ c\"\"\"");
    pw_str_clear(&b);
    pw_str_word(&b, "mine,2=x");
    pw_str_word(&b, "a b");
    pw_str_word(&b, "a;b");
    pw_str_word(&b, "");
    assert_string_equal(b.s, "mine,2=x\"a b\"\"a;b\"\"\"");
    pw_str_fini(&b);
    assert_null(b.s);
    assert_int_equal(b.cap, 0);
}

static void string_at_every_length(void **state)
{
    (void)state;
    char expect[400];

    /* Around each size at which the buffer grows, for both ways of appending. */
    for (int n = 0; n < 399; n++) {
        struct pw_str a = {0}, b = {0};
        memset(expect, 'x', (size_t)n);
        expect[n] = '\0';
        pw_str_add(&a, "%s", expect);
        pw_str_put(&b, expect, (size_t)n);
        pw_str_add(&b, "%s|", expect);
        assert_string_equal(a.s, expect);
        assert_int_equal(a.len, n);
        assert_int_equal(b.len, 2 * n + 1);
        assert_int_equal(b.s[2 * n], '|');
        pw_str_fini(&a);
        pw_str_fini(&b);
    }
}

static void utf8_round_trip(void **state)
{
    (void)state;
    for (uint32_t cp = 0; cp <= 0x10ffff; cp += cp < 0x3000 ? 1 : 37) {
        char s[4];
        uint32_t back = 0;
        if (cp >= 0xd800 && cp < 0xe000)
            continue;
        size_t n = pw_utf8_put(s, cp);
        assert_int_equal(n, cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4);
        assert_int_equal(pw_utf8_next(s, n, &back), n);
        assert_int_equal(back, cp);
        assert_true(pw_utf8_valid(s, n));
        if (n > 1)
            assert_false(pw_utf8_valid(s, n - 1));
    }
    char s[4];
    assert_int_equal(pw_utf8_put(s, 0xd800), 3); /* not a character: U+FFFD */
    assert_memory_equal(s, "\xef\xbf\xbd", 3);
    assert_true(pw_utf8_valid(s, 3)); /* which is itself valid */
    assert_int_equal(pw_utf8_put(s, 0x110000), 3);
}

static void utf8_rejects(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "\x80",             /* continuation alone */
        "\xc0\xaf",         /* overlong '/' */
        "\xc1\xbf",         /* overlong DEL */
        "\xe0\x9f\xbf",     /* overlong, three bytes */
        "\xf0\x8f\xbf\xbf", /* overlong, four bytes */
        "\xed\xa0\x80",     /* surrogate */
        "\xf4\x90\x80\x80", /* beyond U+10FFFF */
        "\xf8\x88\x80\x80\x80",
        "\xff",
        "\xc3",
        "\xc3(",
        "\xe2\x82",
        "\xe2(\xac",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint32_t cp = 0;
        assert_int_equal(pw_utf8_next(bad[i], strlen(bad[i]), &cp), 1);
        assert_int_equal(cp, 0xfffd);
        assert_false(pw_utf8_valid(bad[i], strlen(bad[i])));
    }
    assert_true(pw_utf8_valid("", 0));
    assert_true(pw_utf8_valid("a\xc3\xa9", 3));
}

static void cells(void **state)
{
    (void)state;
    static const struct {
        uint32_t cp;
        int cells;
    } known[] = {
        {0, 1},      {'\n', 1},   {'a', 1},     {0xad, 1},    {0xe9, 1},    {0x2ff, 1},   {0x300, 0},
        {0x36f, 0},  {0x370, 1},  {0x10ff, 1},  {0x1100, 2},  {0x1160, 0},  {0x200b, 0},  {0x200d, 0},
        {0x2010, 1}, {0x20ac, 1}, {0x2500, 1},  {0x2588, 1},  {0x28ff, 1},  {0x231a, 2},  {0x231c, 1},
        {0x3000, 2}, {0x303f, 1}, {0x3042, 2},  {0x3099, 0},  {0x4e2d, 2},  {0xac00, 2},  {0xff01, 2},
        {0xff61, 1}, {0xfe0f, 0}, {0x1f600, 2}, {0x20000, 2}, {0x3fffd, 2}, {0xe0100, 0}, {0x10ffff, 1},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (pw_utf8_cells(known[i].cp) != known[i].cells)
            fail_msg("U+%04X has %d cells, not %d", known[i].cp, known[i].cells, pw_utf8_cells(known[i].cp));
    assert_int_equal(pw_text_cells(""), 0);
    assert_int_equal(pw_text_cells("na\xc3\xafve"), 5);
    assert_int_equal(pw_text_cells("e\xcc\x81"), 1);                   /* e and a combining accent */
    assert_int_equal(pw_text_cells("\xe4\xb8\xad\xe6\x96\x87 ok"), 7); /* two ideographs */
    assert_int_equal(pw_text_cells("\xff\xfe"), 2);
}

static void copy_cuts_and_cleans(void **state)
{
    (void)state;
    char dst[8];

    pw_text_copy(dst, sizeof dst, "abc");
    assert_string_equal(dst, "abc");
    pw_text_copy(dst, sizeof dst, "1234567");
    assert_string_equal(dst, "1234567");
    pw_text_copy(dst, sizeof dst, "12345678");
    assert_string_equal(dst, "1234567");
    pw_text_copy(dst, sizeof dst, "123456\xc3\xa9"); /* the second byte of e-acute would not fit */
    assert_string_equal(dst, "123456");
    pw_text_copy(dst, sizeof dst, "12345\xc3\xa9");
    assert_string_equal(dst, "12345\xc3\xa9");
    pw_text_copy(dst, sizeof dst, "\x1b[31m\x7f");
    assert_string_equal(dst, "?[31m?");
    pw_text_copy(dst, sizeof dst,
                 "a\xc2\x9b"
                 "b\xff"); /* C1 control (CSI), broken byte */
    assert_string_equal(dst, "a?b?");
    pw_text_copy(dst, sizeof dst, "\xef\xbf\xbd"); /* U+FFFD itself may pass */
    assert_string_equal(dst, "\xef\xbf\xbd");
    pw_text_copy(dst, 1, "abc");
    assert_string_equal(dst, "");
}

static void nearest(void **state)
{
    (void)state;
    static const char *const names[] = {"layers",  "width", "heads", "head_width", "ffn", "norm",
                                        "norm_at", "act",   "bias",  "on",         NULL};
    static const struct {
        const char *word, *name;
    } cases[] = {
        {"layer", "layers"},   /* delete */
        {"layerss", "layers"}, /* insert */
        {"lajers", "layers"},  /* replace */
        {"lyaers", "layers"},  /* swap */
        {"layesr", "layers"},
        {"WIDTH", "width"}, /* case is ignored */
        {"headwidth", "head_width"},
        {"hed_witdh", "head_width"}, /* two edits and the length allows three */
        {"fn", "ffn"},
        {"fnf", "ffn"},
        {"nrom", "norm"},
        {"head_", "heads"},       /* head_width has this prefix: equally near, but later */
        {"head_w", "head_width"}, /* a prefix */
        {"la", "layers"},
        {"l", NULL}, /* one letter suggests nothing */
        {"xyz", NULL},
        {"frobnicate", NULL},
        {"act", "act"},
        {"", NULL},
        {"no", "norm"},
        {"learning_rate", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *got = pw_text_nearest(cases[i].word, names);
        if (cases[i].name == NULL ? got != NULL : got == NULL || strcmp(got, cases[i].name) != 0)
            fail_msg("nearest to '%s' is %s, not %s", cases[i].word, cases[i].name, got);
    }
    static const char *const none[] = {NULL};
    assert_null(pw_text_nearest("word", none));
    char huge[300];
    memset(huge, 'a', sizeof huge - 1);
    huge[sizeof huge - 1] = '\0';
    assert_null(pw_text_nearest(huge, names));
    const char *const longs[] = {huge, "aa", NULL};
    assert_string_equal(pw_text_nearest("aaa", longs), "aa");
}

static void integers(void **state)
{
    (void)state;
    long v = 77;
    static const char *const bad[] = {"",
                                      " 1",
                                      "1 ",
                                      "+1",
                                      "-",
                                      "1-",
                                      "1.0",
                                      "0x10",
                                      "1e3",
                                      "--1",
                                      "99999999999999999999",
                                      "-99999999999999999999",
                                      "a",
                                      "101",
                                      "-101"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (pw_text_int(bad[i], -100, 100, &v))
            fail_msg("'%s' passed", bad[i]);
    assert_int_equal(v, 77);
    assert_true(pw_text_int("100", -100, 100, &v));
    assert_int_equal(v, 100);
    assert_true(pw_text_int("-100", -100, 100, &v));
    assert_int_equal(v, -100);
    assert_true(pw_text_int("007", -100, 100, &v)); /* decimal, not octal */
    assert_int_equal(v, 7);
}

static void doubles(void **state)
{
    (void)state;
    double v = 77;
    static const char *const bad[] = {"",    " 1",  "1 ",  "+1",    "-",   ".",  "e5",   "1e",
                                      "nan", "inf", "0x1", "1e999", "1,5", "1f", "-inf", "1..2"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (pw_text_double(bad[i], &v))
            fail_msg("'%s' passed", bad[i]);
    assert_true(v == 77);
    assert_true(pw_text_double("3e-4", &v) && v == 3e-4);
    assert_true(pw_text_double("-.5", &v) && v == -0.5);
    assert_true(pw_text_double("1e+3", &v) && v == 1000);
    assert_true(pw_text_double("1e-320", &v) && v > 0); /* subnormal */
    assert_true(pw_text_double("1e-999", &v) && v == 0);
}

static void durations(void **state)
{
    (void)state;
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {{0, "0:00"},     {7.9, "0:07"},       {59.999, "0:59"},  {60, "1:00"},
                 {3599, "59:59"}, {3600, "1:00:00"},   {3753, "1:02:33"}, {360000, "100:00:00"},
                 {-1, "-:--"},    {0.0 / 0.0, "-:--"}, {1e300, "-:--"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char dst[32];
        pw_text_duration(dst, sizeof dst, cases[i].seconds);
        assert_string_equal(dst, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(string_grows),    cmocka_unit_test(string_at_every_length),
        cmocka_unit_test(utf8_round_trip), cmocka_unit_test(utf8_rejects),
        cmocka_unit_test(cells),           cmocka_unit_test(copy_cuts_and_cleans),
        cmocka_unit_test(nearest),         cmocka_unit_test(integers),
        cmocka_unit_test(doubles),         cmocka_unit_test(durations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
