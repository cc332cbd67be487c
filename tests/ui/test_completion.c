/* test_completion.c - tests the candidates that Tab offers at every argument of every command, with a lab
 * on the screen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* cmocka needs the headers above */
#include "command/commands/commands.h"
#include "ref_screen.h"
#include "ui/commands/commands.h"
#include <cmocka.h>

static const struct pw_command *list[128];
static const struct pw_commands all = {list};

struct bench {
    struct pw_snapshot *s;
    struct pw_ui ui;
    struct pw_seen seen;
};

static int setup(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    struct pw_event *heads = pw_event_new(PW_EV_HEADS), *mark = pw_event_new(PW_EV_MARK);
    struct pw_err err;
    pw_commands_join(list, pw_commands_join(list, 0, pw_lab_commands), pw_ui_commands);
    b->s = screen_race_of(3);
    screen_set_failing(b->s, 3);
    screen_set_findings(b->s);
    mark->arm = b->s->current;
    strcpy(mark->u.text, "half way");
    pw_fold(b->s, mark);
    pw_event_free(mark);
    heads->arm = b->s->current;
    heads->u.heads = (struct pw_ev_heads){.layers = 2, .heads = 4, .mode = calloc(8, 1)};
    heads->u.heads.mode[5] = PW_ABLATE_ZERO;
    pw_fold(b->s, heads);
    pw_event_free(heads);
    b->ui = screen_ui(b->s, PW_COLORS_TRUE, true);
    assert_int_equal(pw_bindings_set(&b->ui.bindings, PW_KEY_F1 + 4, "eval", &err), PW_OK);
    assert_int_equal(pw_bindings_set(&b->ui.bindings, 'x', "step", &err), PW_OK);
    b->seen = (struct pw_seen){{[PW_AT_LAB] = b->s, [PW_AT_UI] = &b->ui}};
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;
    pw_ui_fini(&b->ui);
    pw_snapshot_free(b->s);
    free(b);
    return 0;
}

static void collect(void *arg, const char *candidate)
{
    pw_str_add(arg, "%s ", candidate);
}

static void offers(const struct bench *b, const char *line, struct pw_str *got)
{
    pw_str_clear(got);
    pw_command_complete(&all, &b->seen, line, strlen(line), collect, got);
}

/* Candidates that are computed from the state on the screen. */
static void test_seen(void **state)
{
    static const char *const cases[][2] = {
        {"arm ", "next prev add drop 1 2 3 4 5 "},
        {"arm drop ", "1 2 3 4 5 "},
        {"eval lengths=", "2..8 9..16 2..16 "},
        {"paired 1 2 l", "lengths= "},
        {"compare 1 2 p", "pairs= "},
        {"compare formula=", "jsd released "},
        {"ablate 1.", "1.0 1.2 1.3 1.* "},
        {"ablate 0.0,1.", "1.0 1.2 1.3 1.* "},
        {"restore ", "1.1 replica= arm= "},
        {"restore arm=1 ", "replica= "},
        {"ablate replica=2 1.", "1.0 1.1 1.2 1.3 1.* "},
        {"ablate replicate=2 1.", "1.0 1.1 1.2 1.3 1.* "}, /* the option's older name */
        {"restore replica=2 1", ""},
        {"restore replica=", "all 1 2 3 "},
        {"restore replicate=", "all 1 2 3 "},
        {"inspect rep", "replica= "},
        {"inspect replica=", "1 2 3 "},
        {"patch heads replica=", "inspected 1 2 3 "},
        {"export attention a.npz rep", "replica= "},
        {"export step a.json replica=", "inspected 1 2 3 "},
        {"export activations a.npz replica=", "inspected 1 2 3 "},
        {"inspect layer=", "0 1 "},
        {"inspect head=", "0 1 2 3 "},
        {"table arm=", "1 2 3 4 5 "},
        {"edit 1", "1 10 11 12 13 14 15 16 "},
        {"edit 9 <", "</s> "},
        {"prompt ", "sort "},
        {"failing length=12 index=", "0 3 6 "},
        {"failing task=", "sort "},
        {"sample length=1", "10 11 12 13 14 15 16 "},
        {"patch resid ", "0 1 2 from= replica= arm= "},
        {"patch 0.1 1", "1 "},
        {"patch heads from=", "\"sort 3 1 4 1 5 9 2\" "},
        {"goto mark ", "\"half way\" "},
        {"unbind ", "F5 x "},
        {"train 10 ", "until acc= loss= step= flops= replica= arm= "},
        {"train until ", "acc= loss= step= flops= replica= arm= "},
        {"export activations a.npz length=1", "10 11 12 13 14 15 16 "},
        {"export activations a.npz sites=q,re", "resid "},
        {"export figure a.svg pane=attention page=", "map heads file file_heads file_scores "},
        {"export figure a.svg arms=", "all 1 2 3 4 5 "},
        {"export figure a.svg arms=1,", "all 1 2 3 4 5 "},
        {"export figure a.svg finding=r", "\"rank 2\" "},
        {"export finding a.csv finding=", "\"scores 1 2 3\" \"rank 2\" decay "},
        {"probe buckets every=", ""},
        {"probe off", "off "},
        {"runs t5 norm=", "rmsnorm layernorm none "},
        {"wait 2 ", "s "},
        {"pe RoPE b", "base= "},
        {"pe ro", "rotary "},
    };
    struct pw_str got = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        offers(*state, cases[i][0], &got);
        if (strcmp(pw_str_text(&got), cases[i][1]) != 0)
            fail_msg("'%s' offers '%s', not '%s'", cases[i][0], pw_str_text(&got), cases[i][1]);
    }
    pw_str_fini(&got);
}

/* Lines at which a word must be offered: commands, up to the word that is typed. A command without
 * arguments is listed by its name. */
static const char *const offered[] = {
    "cancel ",      "probe ",          "judge ",       "compare ",       "compare 1 ", "reproduce ",
    "study ",       "open ",           "sessions ",    "task ",          "model ",     "pe ",
    "race ",        "race none,",      "arm ",         "arm add ",       "arm drop ",  "fork ",
    "runs ",        "train ",          "train 10 ",    "paired ",        "paired 1 ",  "prompt ",
    "edit ",        "edit 9 ",         "ablate ",      "ablate 0.0 ",    "restore ",   "patch ",
    "patch resid ", "patch 0.1 ",      "patch heads ", "patch resid 0 ", "export ",    "export data ",
    "import ",      "import weights ", "set ",         "set theme ",     "demo ",      "help ",
    "focus ",       "zoom ",           "show ",        "press ",         "press 2 ",   "goto ",
    "play ",        "goto mark ",      "copy ",        "screenshot ",    "source ",    "present ",
    "wait ",        "wait 2 ",         "bind ",        "bind F5 ",       "unbind ",    "config ",
    "config save ", "delete ",         "quit ",        "backend ",       "tune ",      "transplant ",
    "construct ",   "film ",           "film begin ",  "why ",
};

/* Lines at which no word may be offered: commands without words, or with a number or text of the user's
 * own. */
static const char *const nothing[] = {
    "optim ",   "pause ",      "resume ", "stop ",  "reset ", "eval ",   "failing ",     "sample ",
    "inspect ", "table ",      "digest ", "check ", "undo ",  "redo ",   "devices ",     /* no words */
    "seed ",    "step ",       "next ",   "back ",                                       /* numbers */
    "save ",    "checkpoint ", "mark ",   "say ",   "find ",  "filter ", "prompt sort ", /* texts */
};

/* Returns whether a candidate is a word, not only a key. */
static bool offers_word(const char *got)
{
    for (const char *at = got, *end; (end = strchr(at, ' ')) != NULL; at = end + 1)
        if (end > at && end[-1] != '=')
            return true;
    return false;
}

static void test_words(void **state)
{
    struct pw_str got = {0};
    int wrong = 0;
    for (size_t i = 0; i < sizeof offered / sizeof *offered; i++) {
        offers(*state, offered[i], &got);
        if (!offers_word(pw_str_text(&got)))
            print_error("'%s' offers no word: '%s'\n", offered[i], pw_str_text(&got)), wrong++;
    }
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) {
        offers(*state, nothing[i], &got);
        if (offers_word(pw_str_text(&got)))
            print_error("'%s' offers '%s'\n", nothing[i], pw_str_text(&got)), wrong++;
    }
    for (int c = 0; list[c] != NULL; c++) { /* every new command must be added to a list */
        bool known = false;
        pw_str_clear(&got);
        pw_str_add(&got, "%s ", list[c]->name);
        for (size_t i = 0; i < sizeof offered / sizeof *offered; i++)
            known = known || strcmp(offered[i], got.s) == 0;
        for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
            known = known || strcmp(nothing[i], got.s) == 0;
        if (!known)
            print_error("'%s' is in no list here\n", got.s), wrong++;
    }
    pw_str_fini(&got);
    assert_int_equal(wrong, 0);
}

/* Keys whose value is a number or a text of the user's own. For the options of a model, a task, an encoding
 * or the screen, this holds for every number. */
static const char *const free_keys[] = {
    " samples=", " acc=",    " loss=",        " step=",     " flops=",  " n=",        " index=",  " size=",
    " fps=",     " seeds=",  "table length=", "open from=", " optim=",  " title=",    "label=",   " names=",
    " width=",   " height=", " every=",       "tune ",      " figure=", " sessions=", " caption="};

static bool is_number(const struct pw_opt *o)
{
    return o->type == PW_OPT_INT || o->type == PW_OPT_FLOAT || o->type == PW_OPT_RANGE ||
           o->type == PW_OPT_SEED || o->type == PW_OPT_COUNT || o->type == PW_OPT_DOUBLE;
}

static int check_keys(const struct bench *b, const char *line, const struct pw_opt *o, bool numbers_free)
{
    struct pw_str got = {0}, typed = {0};
    int wrong = 0;
    for (; o != NULL && o->name != NULL; o++) {
        bool ours = numbers_free && is_number(o);
        pw_str_clear(&typed);
        pw_str_add(&typed, "%s%s=", line, o->name);
        for (size_t i = 0; i < sizeof free_keys / sizeof *free_keys; i++)
            ours = ours || strstr(typed.s, free_keys[i]) != NULL;
        offers(b, typed.s, &got);
        if (got.len == 0 && !ours)
            print_error("'%s' offers nothing\n", typed.s), wrong++;
    }
    pw_str_fini(&typed);
    pw_str_fini(&got);
    return wrong;
}

/* Completes the last name in a list of sessions. A folder is enough to be offered. */
static void test_sessions(void **state)
{
    struct pw_str got = {0}, folder = {0};
    const char *was = getenv("XDG_STATE_HOME");
    char home[] = "/tmp/pewter-completion-XXXXXX", *old = was != NULL ? strdup(was) : NULL;
    static const char *const parts[] = {"", "/pewter", "/pewter/sessions", "/pewter/sessions/monday.pewter",
                                        "/pewter/sessions/tuesday.pewter"};
    assert_non_null(mkdtemp(home));
    for (size_t i = 1; i < sizeof parts / sizeof *parts; i++) {
        pw_str_clear(&folder);
        pw_str_add(&folder, "%s%s", home, parts[i]);
        assert_int_equal(mkdir(folder.s, 0700), 0);
    }
    setenv("XDG_STATE_HOME", home, 1);
    offers(*state, "export figure a.svg pane=lengths sessions=", &got);
    assert_string_equal(got.s, "monday tuesday ");
    offers(*state, "export figure a.svg pane=lengths sessions=monday,t", &got);
    assert_string_equal(got.s, "tuesday ");
    if (old != NULL)
        setenv("XDG_STATE_HOME", old, 1);
    else
        unsetenv("XDG_STATE_HOME");
    for (size_t i = sizeof parts / sizeof *parts; i-- > 0;) {
        pw_str_clear(&folder);
        pw_str_add(&folder, "%s%s", home, parts[i]);
        assert_int_equal(rmdir(folder.s), 0);
    }
    free(old);
    pw_str_fini(&folder);
    pw_str_fini(&got);
}

static void test_values(void **state)
{
    static const char *const with[] = {
        "task sort",          "task copy",       "task addition",   "task file",   "pe t5",
        "pe rotary",          "fork sinusoidal", "arm add learned", "export data", "export weights",
        "export activations", "export table",    "export figure"};
    static const char *const numbers[] = {"model", "optim", "set", "runs", "construct", "tune"};
    const struct bench *b = *state;
    int wrong = 0;
    for (int c = 0; list[c] != NULL; c++) {
        struct pw_str line = {0};
        bool free = false;
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            free = free || strcmp(list[c]->name, numbers[i]) == 0;
        pw_str_add(&line, "%s ", list[c]->name);
        wrong += check_keys(b, line.s, list[c]->opts, free);
        wrong += check_keys(b, line.s, list[c]->also, free);
        pw_str_fini(&line);
    }
    for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
        const struct pw_command *cmd;
        struct pw_args args;
        struct pw_str line = {0};
        assert_int_equal(pw_command_parse(&all, with[i], &args, &cmd, NULL), PW_OK);
        pw_str_add(&line, "%s ", with[i]);
        const struct pw_opt *table = cmd->opts_for(&args);
        wrong += check_keys(b, line.s, table, strncmp(with[i], "export", 6) != 0);
        pw_args_fini(&args);
        pw_str_fini(&line);
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(test_words, setup, teardown),
        cmocka_unit_test_setup_teardown(test_values, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sessions, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
