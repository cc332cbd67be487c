/* test_commands.c - tests the program's own commands. Their help, completion and manual texts must be well
 * formed, and completion must accept any input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "command/commands/commands.h"
#include "ui/commands/commands.h"

static const struct pw_command *list[128];
static const struct pw_commands all = {list};

static int join(void **state)
{
    (void)state;
    int n = pw_commands_join(list, pw_commands_join(list, 0, pw_lab_commands), pw_ui_commands);
    return n > 20 ? 0 : -1;
}

static void test_descriptors(void **state)
{
    (void)state;
    int wrong = 0;
    for (int i = 0; list[i] != NULL; i++) {
        const struct pw_command *c = list[i];
        size_t n = strlen(c->name);
        const char *problem = NULL;
        for (const char *const *alias = c->aliases; alias != NULL && *alias != NULL; alias++)
            if (pw_command_find(&all, *alias) != c)
                problem = "another command has its alias";
        if (pw_command_find(&all, c->name) != c)
            problem = "another command has this name, and this one is never found";
        else if (strncmp(c->usage, c->name, n) != 0 || (c->usage[n] != '\0' && c->usage[n] != ' '))
            problem = "the usage doesn't begin with the name";
        else if (c->summary == NULL || c->summary[0] == '\0' || strchr(c->summary, '\n') != NULL)
            problem = "the summary is not one line";
        else if (pw_text_cells(c->name) + pw_text_cells(c->summary) > 100)
            problem = "the summary is too long for a list";
        else if (c->run == NULL)
            problem = "it does nothing";
        for (const struct pw_opt *o = c->opts; o != NULL && o->name != NULL; o++)
            if (o->help == NULL || o->help[0] == '\0' || strchr(o->help, '\n') != NULL)
                problem = "an option's help is not one line";
        if (problem != NULL)
            print_error("%s: %s\n", c->name, problem);
        wrong += problem != NULL;
    }
    assert_int_equal(wrong, 0);
}

static void collect(void *arg, const char *candidate)
{
    pw_str_add(arg, "%s ", candidate);
}

/* Values of a fixed set must be offered. */
static void test_values(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"help tr", "train "},
        {"set precision ", "fp32 tf32 bf16 "},
        {"set theme d", "dark "},
        {"set hover ", "on off "},
        {"show st", "step "},
        {"screenshot a.svg focus=l", "lengths log "},
        {"screenshot zoom=o", "on off "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_str got = {0};
        pw_command_complete(&all, NULL, cases[i][0], strlen(cases[i][0]), collect, &got);
        if (strncmp(pw_str_text(&got), cases[i][1], strlen(cases[i][1])) != 0)
            fail_msg("%s: %s", cases[i][0], pw_str_text(&got));
        pw_str_fini(&got);
    }
}

static void test_help(void **state)
{
    (void)state;
    struct pw_str out = {0};
    struct pw_err err;
    pw_command_help_list(&all, &out);
    assert_true(pw_utf8_valid(out.s, out.len));
    for (int i = 0; list[i] != NULL; i++) {
        assert_non_null(strstr(out.s, list[i]->summary));
        struct pw_str one = {0};
        assert_int_equal(pw_command_help(&all, list[i]->name, NULL, &one, &err), PW_OK);
        pw_str_fini(&one);
    }
    pw_command_manual(&all, &out);
    pw_str_fini(&out);
}

static void check(void *arg, const char *candidate)
{
    assert_non_null(candidate);
    assert_string_not_equal(candidate, "");
    ++*(int *)arg;
}

static void test_completion_holds(void **state)
{
    (void)state;
    static const char *const words[] = {
        "add", "t5", "none", "sort",      "copy",  "1",    "nosuch", "arm=", "buckets=",    "=",   "tiny",
        "on",  "\"", "(",    "lengths=2", "until", "acc=", ",",      "a b",  "until acc=1", "png", "weights"};
    uint32_t seed = 1;
    int offered = 0;
    for (int round = 0; round < 20000; round++) {
        char line[256];
        int n_commands = 0, n;
        while (list[n_commands] != NULL)
            n_commands++;
        n = snprintf(line, sizeof line, "%s", list[round % n_commands]->name);
        for (int i = 0; i < round % 6; i++) {
            seed = seed * 1664525 + 1013904223;
            unsigned r = seed >> 8;
            n += snprintf(line + n, sizeof line - (size_t)n, "%s%s", r % 8 == 0 ? "" : " ",
                          words[r / 8 % (sizeof words / sizeof *words)]);
        }
        if (round % 3 == 0)
            n += snprintf(line + n, sizeof line - (size_t)n, " ");
        assert_true(pw_command_complete(&all, NULL, line, (size_t)n, check, &offered) <= (size_t)n);
        struct pw_str hint = {0};
        pw_command_hint(&all, line, &hint);
        pw_str_fini(&hint);
    }
    assert_true(offered > 1000);
}

/* `help` with a command and one of its words must describe that word and list its options. */
static void test_words_of_commands(void **state)
{
    static const char *const words[][3] = {
        {"pe", "t5", "buckets="},     {"probe", "decay", "samples="}, {"reproduce", "lengths", "protocol="},
        {"task", "sort", "variant="}, {"model", "layers", "1..64"},   {"optim", "lr", "lr="}};
    struct pw_str out = {0};
    struct pw_err err;
    (void)state;
    for (int i = 0; i < 6; i++) {
        pw_str_clear(&out);
        assert_int_equal(pw_command_help(&all, words[i][0], words[i][1], &out, &err), PW_OK);
        assert_non_null(strstr(pw_str_text(&out), words[i][1]));
        assert_non_null(strstr(pw_str_text(&out), words[i][2]));
        assert_int_equal(pw_command_help(&all, words[i][0], "nothing", &out, &err), PW_EUSER);
        assert_non_null(strstr(err.msg, "no topic 'nothing'"));
    }
    assert_int_equal(pw_command_help(&all, "train", "5", &out, &err), PW_EUSER);
    pw_str_fini(&out);
}

/* A word that is no command's name must find the commands about it. If it is typed as a command, the error
 * must suggest them. */
static void test_help_by_meaning(void **state)
{
    static const char *const words[][2] = {
        {"pdf", "export "}, {"heatmap", "inspect "}, {"rewind", "goto "}, {"tutorial", "present "},
        {"theme", "set "},  {"lego", "task "},       {"rope", "pe "},     {"load", "open "}};
    static const char *const typed[][2] = {{"tutorial", "did you mean 'demo' or 'present'?"},
                                           {"lego", "did you mean 'task lego'?"},
                                           {"RoPE", "did you mean 'pe RoPE'?"},
                                           {"tensorboard", "did you mean 'export'?"},
                                           {"trian", "did you mean 'train'?"}};
    struct pw_str out = {0};
    struct pw_err err;
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char row[40];
        pw_str_clear(&out);
        assert_int_equal(pw_command_help(&all, words[i][0], NULL, &out, &err), PW_OK);
        snprintf(row, sizeof row, "\n%s", words[i][1]);
        if (strstr(pw_str_text(&out), row) == NULL)
            fail_msg("help %s: no '%s' in: %s", words[i][0], words[i][1], out.s);
    }
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++) {
        assert_int_equal(pw_command_unknown(&all, typed[i][0], &err), PW_EUSER);
        if (strstr(err.msg, typed[i][1]) == NULL)
            fail_msg("%s: no '%s' in: %s", typed[i][0], typed[i][1], err.msg);
    }
    assert_int_equal(pw_command_help(&all, "qwxzy", NULL, &out, &err), PW_EUSER);
    assert_int_equal(pw_command_help(&all, "pdf", "width", &out, &err), PW_EUSER);
    pw_str_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_completion_holds),
        cmocka_unit_test(test_words_of_commands),
        cmocka_unit_test(test_help_by_meaning),
    };
    return cmocka_run_group_tests(tests, join, NULL);
}
