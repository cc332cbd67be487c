/* test_parse.c - tests the parser: the cases of cases.txt, long lines, the helpers of run functions, and
 * random text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ref_commands.h"

/* ---- cases.txt */

static enum pw_code show(void *arg, const char *text, int line)
{
    (void)line;
    struct pw_str *out = arg;
    struct pw_args args;
    struct pw_err err = {0};
    const struct pw_command *cmd;
    enum pw_code code = pw_command_parse(&ref_commands, text, &args, &cmd, &err);
    if (code != PW_OK) {
        pw_str_add(out, "error: %s\n", err.msg);
        return code;
    }
    assert_string_equal(args.text, text);
    assert_string_equal(args.name, cmd->name);
    pw_str_add(out, "%s", args.name);
    if (cmd->raw)
        pw_str_add(out, " <%s>", args.rest);
    for (int i = 0; i < args.n; i++)
        pw_str_add(out, " %s%s[%s]", args.words[i].key != NULL ? args.words[i].key : "",
                   args.words[i].key != NULL ? "=" : "", args.words[i].value);
    pw_str_add(out, "\n");
    pw_args_fini(&args);
    return PW_OK;
}

static void render(const char *text, struct pw_str *out)
{
    struct pw_err err = {0};
    enum pw_code code = pw_commands_split(text, show, out, &err);
    if (code != PW_OK && err.msg[0] != '\0')
        pw_str_add(out, "error: %s\n", err.msg);
    if (out->len == 0)
        pw_str_add(out, "nothing\n");
}

/* Replaces {0a} by that byte, in place. */
static void resolve(char *s)
{
    char *to = s;
    unsigned byte;
    for (; *s != '\0'; s++, to++) {
        *to = *s;
        if (s[0] == '{' && sscanf(s, "{%2x}", &byte) == 1) {
            *to = (char)byte;
            s += 3;
        }
    }
    *to = '\0';
}

static void test_cases(void **state)
{
    (void)state;
    FILE *f = fopen(PEWTER_SOURCE_DIR "/tests/lang/cases.txt", "r");
    char line[512], text[512] = "";
    struct pw_str expected = {0}, got = {0};
    int cases = 0, wrong = 0, number = 0, at = 0;
    bool more = true;
    assert_non_null(f);
    while (more) {
        more = fgets(line, sizeof line, f) != NULL;
        number++;
        if (!more || strcmp(line, "\n") == 0) {
            if (at == 0)
                continue;
            resolve(text);
            pw_str_clear(&got);
            render(text, &got);
            if (strcmp(pw_str_text(&expected), pw_str_text(&got)) != 0) {
                print_error("cases.txt:%d: %s\nexpected:\n%sgot:\n%s\n", at, text, pw_str_text(&expected),
                            pw_str_text(&got));
                wrong++;
            }
            cases++;
            at = 0;
        } else if (at == 0 && line[0] != '#') {
            at = number;
            line[strcspn(line, "\n")] = '\0';
            memcpy(text, line, sizeof text);
            pw_str_clear(&expected);
        } else if (at != 0) {
            pw_str_add(&expected, "%s", line);
        }
    }
    fclose(f);
    pw_str_fini(&expected);
    pw_str_fini(&got);
    assert_int_equal(wrong, 0);
    assert_true(cases > 50);
}

/* ---- other tests */

static enum pw_code count(void *arg, const char *text, int line)
{
    (void)line;
    (void)text;
    return ++*(int *)arg == 3 ? PW_EIO : PW_OK;
}

static enum pw_code number(void *arg, const char *text, int line)
{
    pw_str_add(arg, "%s %d, ", text, line);
    return PW_OK;
}

/* Comments and empty commands, with any line ending, after a byte order mark. */
static void test_lines(void **state)
{
    static const char text[] = "\xef\xbb\xbf"
                               "a; b\n\n# c; d\r\n;;e # f\ng";
    struct pw_err err = {0};
    struct pw_str got = {0};
    (void)state;
    assert_int_equal(pw_commands_split(text, number, &got, &err), PW_OK);
    assert_string_equal(got.s, "a 1, b 1, e 4, g 5, ");
    pw_str_fini(&got);
}

static void test_split_stops(void **state)
{
    (void)state;
    struct pw_err err = {0};
    int n = 0;
    assert_int_equal(pw_commands_split("a;b;c;d", count, &n, &err), PW_EIO);
    assert_int_equal(n, 3);
    n = 0;
    assert_int_equal(pw_commands_split("a; b; \"c", count, &n, &err), PW_EUSER);
    assert_int_equal(n, 0); /* a text with an open quote must run nothing */
}

static void test_one_command(void **state)
{
    (void)state;
    struct pw_args args;
    struct pw_err err = {0};
    const struct pw_command *cmd;
    const char *const bad[] = {"", "  ", "# comment", "train; train", "train\ntrain"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err.msg[0] = '\0';
        assert_int_equal(pw_command_parse(&ref_commands, bad[i], &args, &cmd, &err), PW_EUSER);
        assert_string_not_equal(err.msg, "");
        assert_null(cmd);
        assert_null(args.text);
    }
    assert_int_equal(pw_command_parse(&ref_commands, " train 3 # c\n", &args, &cmd, &err), PW_OK);
    assert_string_equal(args.text, "train 3");
    assert_string_equal(args.rest, "3");
    pw_args_fini(&args);
    pw_args_fini(&args); /* a second fini must be harmless */
}

/* The error must state the position in the whole text. */
static void test_places(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"train 1; race t5(buckets=32", "byte 17: unclosed '('"},
        {"train 1; open \"sort", "byte 15: unclosed quote"},
        {"train 1\n model =5\n", "line 2, byte 8: '=' without a name before it"},
        {"train 1\n\nopen \"sort", "line 3, byte 6: unclosed quote"},
        {"train 1; trian", "no command 'trian'; did you mean 'train'?"},
        {"open a\x01", "byte 7: control character"},
    };
    struct pw_err err = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(pw_commands_check(&ref_commands, bad[i].text, &err), PW_EUSER);
        if (strncmp(err.msg, bad[i].why, strlen(bad[i].why)) != 0)
            fail_msg("%s: %s", bad[i].text, err.msg);
    }
    assert_int_equal(pw_commands_check(&ref_commands, "", &err), PW_OK);
    assert_int_equal(pw_commands_check(&ref_commands, "train 3; # (\n\n;race t5(a=1)", &err), PW_OK);
}

static void test_long_lines(void **state)
{
    (void)state;
    const size_t limit = 65536;
    struct pw_str got = {0}, text = {0};
    struct pw_err err = {0};
    pw_str_add(&text, "prompt ");
    while (text.len < limit)
        pw_str_put(&text, "x", 1);
    int n = 0;
    assert_int_equal(pw_commands_split(text.s, count, &n, &err), PW_OK);
    pw_str_put(&text, "x", 1);
    assert_int_equal(pw_commands_split(text.s, count, &n, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "64 KiB"));
    assert_int_equal(n, 1);
    /* many lines together may be longer */
    pw_str_clear(&text);
    for (int i = 0; i < 30000; i++)
        pw_str_add(&text, "train\n");
    render(text.s, &got);
    assert_int_equal(got.len, text.len);
    /* a name too long for the message */
    pw_str_clear(&text);
    pw_str_clear(&got);
    for (int i = 0; i < 1000; i++)
        pw_str_add(&text, "ä");
    render(text.s, &got);
    assert_true(got.len < 200);
    assert_true(pw_utf8_valid(got.s, got.len));
    pw_str_fini(&text);
    pw_str_fini(&got);
}

static void test_args(void **state)
{
    (void)state;
    struct pw_args args;
    struct pw_err err = {0};
    const struct pw_command *cmd;
    struct ref_target target = {0};
    assert_int_equal(
        pw_command_parse(&ref_commands, "model width=8 small tied=off large lengths=2..8", &args, &cmd, &err),
        PW_OK);
    assert_int_equal(pw_args_words(&args), 2);
    assert_string_equal(pw_args_word(&args, 0), "small");
    assert_string_equal(pw_args_word(&args, 1), "large");
    assert_null(pw_args_word(&args, 2));
    assert_string_equal(pw_args_key(&args, "tied"), "off");
    assert_null(pw_args_key(&args, "small"));
    pw_opt_defaults(cmd->opts, &target);
    assert_int_equal(pw_args_opts(&args, cmd->opts, &target, &err), PW_OK);
    assert_int_equal(target.width, 8);
    assert_false(target.tied);
    assert_int_equal(target.lengths.hi, 8);
    assert_int_equal(pw_args_limit(cmd, &args, 0, 2, &err), PW_OK);
    assert_int_equal(pw_args_limit(cmd, &args, 0, 1, &err), PW_EUSER);
    assert_string_equal(err.msg, "model: too many arguments; usage: model [PRESET] [key=value]");
    assert_int_equal(pw_args_limit(cmd, &args, 3, 3, &err), PW_EUSER);
    assert_string_equal(err.msg, "model: too few arguments; usage: model [PRESET] [key=value]");
    assert_int_equal(pw_args_opts(&args, NULL, NULL, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "no option 'width'"));
    pw_args_fini(&args);
    assert_int_equal(pw_command_parse(&ref_commands, "model witdh=8", &args, &cmd, &err), PW_OK);
    assert_int_equal(pw_args_opts(&args, cmd->opts, &target, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "did you mean 'width'"));
    pw_args_fini(&args);
}

/* ---- random text: nothing may crash, and printing and parsing again must give the same command */

static enum pw_code parse_twice(void *arg, const char *text, int line)
{
    (void)line;
    struct pw_args a, b;
    struct pw_err err = {0};
    const struct pw_command *cmd;
    int *parsed = arg;
    if (pw_command_parse(&ref_commands, text, &a, &cmd, &err) != PW_OK) {
        assert_string_not_equal(err.msg, "");
        assert_null(a.text);
        return PW_OK;
    }
    ++*parsed;
    assert_int_equal(pw_command_parse(&ref_commands, a.text, &b, &cmd, &err), PW_OK);
    assert_string_equal(a.rest, b.rest);
    assert_int_equal(a.n, b.n);
    for (int i = 0; i < a.n; i++) {
        assert_string_equal(a.words[i].value, b.words[i].value);
        assert_int_equal(a.words[i].key == NULL, b.words[i].key == NULL);
    }
    pw_args_fini(&a);
    pw_args_fini(&b);
    return PW_OK;
}

static void check_candidate(void *arg, const char *candidate)
{
    ++*(int *)arg;
    assert_string_not_equal(candidate, "");
}

static void test_random(void **state)
{
    (void)state;
    static const char *const pieces[] = {"train", "prompt", "model", "race", "open ", "pe t5",
                                         " ",     " ",      "\"",    "\\",   "(",     ")",
                                         "=",     ",",      ";",     "#",    "\n",    "until"};
    uint32_t seed = 1;
    int parsed = 0, offered = 0;
    for (int round = 0; round < 100000; round++) {
        char line[256];
        size_t n = 0;
        int length = 1 + round % 24;
        for (int i = 0; i < length; i++) {
            seed = seed * 1664525 + 1013904223;
            unsigned r = seed >> 8;
            if (r % 64 == 0) {
                line[n++] = (char)(1 + r / 64 % 255);
            } else {
                const char *piece = pieces[r / 64 % (sizeof pieces / sizeof *pieces)];
                memcpy(line + n, piece, strlen(piece));
                n += strlen(piece);
            }
        }
        line[n] = '\0';
        struct pw_err err = {0};
        if (pw_commands_split(line, parse_twice, &parsed, &err) != PW_OK)
            assert_string_not_equal(err.msg, "");
        assert_true(pw_command_complete(&ref_commands, NULL, line, n, check_candidate, &offered) <= n);
        size_t point = seed % (n + 1);
        assert_true(pw_command_complete(&ref_commands, NULL, line, point, check_candidate, &offered) <=
                    point);
        struct pw_str hint = {0};
        pw_command_hint(&ref_commands, line, &hint);
        pw_str_fini(&hint);
    }
    assert_true(parsed > 10000); /* some of the random text must parse */
    assert_true(offered > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),       cmocka_unit_test(test_split_stops), cmocka_unit_test(test_lines),
        cmocka_unit_test(test_one_command), cmocka_unit_test(test_long_lines),  cmocka_unit_test(test_args),
        cmocka_unit_test(test_random),      cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
