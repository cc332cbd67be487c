/* test_complete.c - tests candidates, hints, help and the manual page that are made from a table of
 * commands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "ref_commands.h"

static void collect(void *arg, const char *candidate)
{
    pw_str_add(arg, "%s ", candidate);
}

static const struct pw_seen *seen;

/* '^' in line marks the cursor. begin: the text before the completed part. */
static void expect(const char *line, const char *begin, const char *candidates)
{
    struct pw_str text = {0}, got = {0};
    size_t point = strcspn(line, "^");
    pw_str_put(&text, line, point);
    pw_str_add(&text, "%s", line + point + 1);
    size_t at = pw_command_complete(&ref_commands, seen, text.s, point, collect, &got);
    assert_string_equal(pw_str_text(&got), candidates);
    if (candidates[0] != '\0')
        assert_int_equal(at, strlen(begin));
    pw_str_fini(&text);
    pw_str_fini(&got);
}

static void test_complete(void **state)
{
    (void)state;
    /* names of commands */
    expect("^", "", "train pe race model arm prompt open ");
    expect("p^", "", "pe prompt ");
    expect("p^ t5", "", "pe prompt ");
    expect("train^", "", "train ");
    expect("x^", "", "");
    expect("train 3; p^", "train 3; ", "pe prompt ");
    expect("train 3;^", "train 3;", "train pe race model arm prompt open ");
    expect("train 3\np^", "train 3\n", "pe prompt ");
    expect("prompt \"a; b\"; p^", "prompt \"a; b\"; ", "pe prompt ");
    expect("prompt \"a; p^", "", "");
    expect("train # p^", "", "");
    expect("train # p\np^", "train # p\n", "pe prompt ");
    /* words of a command */
    expect("pe ^", "pe ", "none t5 alibi rotary ");
    expect("pe r^", "pe ", "rotary ");
    expect("pe t5 ^", "pe t5 ", "buckets= clip= ");
    expect("pe t5 c^", "pe t5 ", "clip= ");
    expect("pe t5 clip=^", "pe t5 clip=", "on off ");
    expect("pe alibi clip=^", "", "");
    expect("pe rotary ^", "", "");
    expect("nosuch ^", "", "");
    expect("train ^", "", "");
    /* lists */
    expect("race ^", "race ", "none t5 alibi rotary ");
    expect("race none,^", "race none,", "none t5 alibi rotary ");
    expect("race none,t5(buckets=8),al^", "race none,t5(buckets=8),", "alibi ");
    expect("race t5(^", "", "");
    expect("race t5(buckets=8 ^", "", "");
    /* options and their values */
    expect("model ^", "model ", "width= tied= norm= lengths= ");
    expect("model t^", "model ", "tied= ");
    expect("model tied=on ^", "model tied=on ", "width= norm= lengths= ");
    expect("model tied=^", "model tied=", "on off ");
    expect("model tied=of^", "model tied=", "off ");
    expect("model norm=^", "model norm=", "rmsnorm layernorm none ");
    expect("model width=^", "", "");
    expect("model nosuch=^", "", "");
    /* candidates that need quotes get them */
    expect("open ^", "open ", "first \"my \\\"best\\\" run\" ");
    expect("open my^", "open ", "\"my \\\"best\\\" run\" ");
    expect("open \"my \\\"b^", "open ", "\"my \\\"best\\\" run\" ");
    expect("open \"f^", "open ", "\"first\" ");
}

/* A command must use only the state that was passed for its place. */
static void test_complete_seen(void **state)
{
    (void)state;
    int arms = 2;
    struct pw_seen now = {{[PW_AT_LAB] = &arms}};
    expect("arm ^", "", "");
    seen = &now;
    expect("arm ^", "arm ", "1 2 ");
    expect("arm 2^", "arm ", "2 ");
    expect("arm 2 ^", "", "");
    expect("model width=^", "model width=", "20 ");
    expect("model norm=n^", "model norm=", "none ");
    seen = NULL;
    expect("model width=^", "", "");
}

/* The word that file_at selects must complete to file names, in alphabetical order. Folders can be completed
 * further; hidden files are left out. */
static void test_complete_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/pewter-files-XXXXXX", was[4096];
    static const char *const files[] = {"b.csv", "a file", ".hidden", "b.json", "c/d"};
    assert_non_null(mkdtemp(folder));
    assert_non_null(getcwd(was, sizeof was));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mkdir("c", 0700), 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        fclose(fopen(files[i], "w"));
    expect("open first ^", "open first ", "\"a file\" b.csv b.json c/ ");
    expect("open first b^", "open first ", "b.csv b.json ");
    expect("open first \"a^", "open first ", "\"a file\" ");
    expect("open first .^", "open first ", ".hidden ");
    expect("open first c/^", "open first ", "c/d ");
    expect("open first ./c/^", "open first ", "./c/d ");
    expect("open first nosuch/^", "", "");
    expect("open first b.csv ^", "", "");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(files[i]);
    rmdir("c");
    assert_int_equal(chdir(was), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void hint(const char *line, const char *expected)
{
    struct pw_str got = {0};
    pw_command_hint(&ref_commands, line, &got);
    assert_string_equal(pw_str_text(&got), expected);
    pw_str_fini(&got);
}

static void test_hint(void **state)
{
    (void)state;
    hint("", "");
    hint("tra", "");
    hint("nosuch ", "");
    hint("train", "[N] [until acc=A|loss=X|step=N]");
    hint("train ", "[N] [until acc=A|loss=X|step=N]");
    hint("train 10", "[until acc=A|loss=X|step=N]");
    hint("train 10 ", "[until acc=A|loss=X|step=N]");
    hint("train until ", "acc=A|loss=X|step=N");
    hint("train 10 until acc=0.9", "");
    hint("train until loss=1 ", "");
    hint("train # ", "");
    hint("train N] ", "[until acc=A|loss=X|step=N]"); /* found by fuzzing */
    hint("train 1; pe ", "NAME [key=value]");
    hint("train 1; ", "");
    hint("pe t5 ", "[key=value]");
    hint("pe t5 buckets=8 ", "[key=value]");
    hint("pe t5 buckets=", "2..512: distances told apart");
    hint("arm ", "[N] | arm add PE [key=value] | arm drop N");
    hint("arm 2", "");
    hint("arm add ", "PE [key=value]");
    hint("arm add t5", "[key=value]");
    hint("arm drop", "N");
    hint("model width=", "1..4096: of the hidden state");
    hint("model norm=", "rmsnorm|layernorm|none: before each block");
    hint("model norm=none ", "[PRESET] [key=value]");
    hint("prompt \"a b", "");
}

static void test_help(void **state)
{
    (void)state;
    struct pw_str out = {0};
    struct pw_err err = {0};
    pw_command_help_list(&ref_commands, &out);
    assert_string_equal(out.s, "train   train every arm\n"
                               "pe      swap the encoding in place\n"
                               "race    several arms\n"
                               "model   shape of the model\n"
                               "arm     models side by side\n"
                               "prompt  ask\n"
                               "open    go on with a session\n");
    pw_str_clear(&out);
    assert_int_equal(pw_command_help(&ref_commands, "train", NULL, &out, &err), PW_OK);
    assert_string_equal(out.s, "train [N] [until acc=A|loss=X|step=N]\n"
                               "train every arm\n"
                               "also fit, t!\n"
                               "\n"
                               "N steps more.\n"
                               ".5 is no step; -1 neither.\n");
    pw_str_clear(&out);
    assert_int_equal(pw_command_help(&ref_commands, "model", NULL, &out, &err), PW_OK);
    assert_string_equal(out.s, "model [PRESET] [key=value]\n"
                               "shape of the model\n"
                               "\n"
                               "options, with their defaults:\n"
                               "  width=64      1..4096                       of the hidden state\n"
                               "  tied=on       on|off                        the head shares the embedding\n"
                               "  norm=rmsnorm  rmsnorm|layernorm|none        before each block\n"
                               "  lengths=      A..B (A <= B) or A in 1..512  trained\n");
    assert_int_equal(pw_command_help(&ref_commands, "modle", NULL, &out, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "did you mean 'model'"));
    pw_str_fini(&out);
}

/* Tables, examples and paragraphs of the terminal text must stay such in troff. */
static void test_manual_detail(void **state)
{
    static const char detail[] = "Sentences are broken by hand, and go\n"
                                 "on in the next line. It ends:\n"
                                 "train 5; pe t5\n"
                                 "train until loss=0.1\n"
                                 "  t5   buckets=  a bias,\n"
                                 "                 learned\n"
                                 "  no meaning\n"
                                 "      but here\n"
                                 "train 3   and what it does,\n"
                                 "          in columns\n"
                                 "The end";
    struct pw_str out = {0};
    (void)state;
    pw_manual_detail(&ref_commands, detail, &out);
    assert_string_equal(out.s, ".br\nSentences are broken by hand, and go\non in the next line. It ends:\n"
                               ".br\ntrain 5; pe t5\n.br\ntrain until loss=0.1\n"
                               ".RS\n.PD 0\n.TP 16\nt5 buckets=\na bias,\nlearned\n"
                               ".TP 16\nno meaning\nbut here\n"
                               ".TP 16\ntrain 3\nand what it does,\nin columns\n"
                               ".PD\n.RE\n.IP\n.br\nThe end\n");
    pw_str_fini(&out);
}

static void test_manual(void **state)
{
    (void)state;
    struct pw_str out = {0};
    pw_command_manual(&ref_commands, &out);
    static const char first[] = ".SH COMMANDS\n.TP\n\\fBtrain\\fR [N] [until "
                                "acc=A|\\:loss=X|\\:step=N]\ntrain every arm; also fit, t!\n";
    assert_int_equal(strncmp(out.s, first, strlen(first)), 0);
    assert_non_null(strstr(out.s, "\n\\&.5 is no step; \\-1 neither.\n"));
    assert_non_null(
        strstr(out.s, "\\fBnorm=rmsnorm\\fR\nbefore each block (rmsnorm|\\:layernorm|\\:none)\n"));
    /* only macros may start with a dot */
    static const char *const macros[] = {".SH ", ".TP\n", ".TP 16\n", ".IP\n", ".PP\n",
                                         ".PD ", ".PD\n", ".br\n",    ".RS\n", ".RE\n"};
    for (const char *dot = strstr(out.s, "\n."); dot != NULL; dot = strstr(dot + 1, "\n.")) {
        bool known = false;
        for (size_t i = 0; i < sizeof macros / sizeof *macros; i++)
            known |= strncmp(dot + 1, macros[i], strlen(macros[i])) == 0;
        assert_true(known);
    }
    pw_str_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_complete),       cmocka_unit_test(test_complete_seen),
        cmocka_unit_test(test_complete_files), cmocka_unit_test(test_hint),
        cmocka_unit_test(test_help),           cmocka_unit_test(test_manual),
        cmocka_unit_test(test_manual_detail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
