/* test_err.c - tests error messages: one line per failure, whatever its arguments contain. */
#include "unit.h"

#include "base/err.h"
#include "base/text.h"

static void fills_and_returns(void **state)
{
    (void)state;
    struct pw_err err = {0};

    assert_int_equal(pw_fail(&err, PW_EIO, "%s: %d", "disk", 5), PW_EIO);
    assert_int_equal(err.code, PW_EIO);
    assert_string_equal(err.msg, "disk: 5");
    assert_int_equal(pw_fail(NULL, PW_EUSER, "no error wanted"), PW_EUSER);
    pw_err_at(NULL, "no error wanted");
    /* A message may be wrapped in another. */
    assert_int_equal(pw_fail(&err, err.code, "export: %s", err.msg), PW_EIO);
    assert_string_equal(err.msg, "export: disk: 5");
}

static void stays_one_clean_line(void **state)
{
    (void)state;
    struct pw_err err;
    char text[3000];

    pw_fail(&err, PW_EUSER, "a\nb\tc\x1b[31m\xff");
    assert_string_equal(err.msg, "a?b?c?[31m?");
    for (size_t i = 0; i + 1 < sizeof text; i += 2) /* e-acute, two bytes, to be cut in the middle */
        memcpy(text + i, "\xc3\xa9", 2);
    text[sizeof text - 2] = '\0';
    for (int shift = 0; shift < 2; shift++) {
        pw_fail(&err, PW_EUSER, "%s%s", shift == 0 ? "" : "x", text);
        assert_in_range(strlen(err.msg), sizeof err.msg - 2, sizeof err.msg - 1);
        assert_true(pw_utf8_valid(err.msg, strlen(err.msg)));
        assert_null(strchr(err.msg, '?'));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_and_returns),
        cmocka_unit_test(stays_one_clean_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
