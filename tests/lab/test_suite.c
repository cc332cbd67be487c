/* test_suite.c - the paper's tasks as studies run them: every entry takes one step, at toy and at paper
 * settings; an entry that can't run is named before anything trains; and `judge` refuses what the study
 * doesn't ask for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/plan.h"
#include "ref_lab.h"
#include "reproduce/study.h"
#include "reproduce/suite.h"
#include "tasks/task.h"

/* ---- the table */

/* The longest distance between a query and a key of a training sequence: its last token is no input. */
static int longest_distance(const char *task)
{
    struct pw_taskset set;
    struct pw_err err;
    int most = 0;
    if (pw_taskset_init(&set, task, &err) != PW_OK)
        fail_msg("%s: %s", task, err.msg);
    struct pw_range train = pw_task_train(&set.use[0]);
    for (int length = train.lo; length <= train.hi; length++) {
        int n = pw_task_has(&set.use[0], length) ? pw_taskset_tokens_at(&set, 0, length) : 0;
        most = n > most ? n : most;
    }
    pw_taskset_fini(&set);
    return most - 2;
}

static void test_distances(void **state)
{
    int wrong = 0;
    (void)state;
    for (const struct pw_suite_task *t = pw_suite; t->name != NULL; t++) {
        int toy = longest_distance(t->toy), paper = longest_distance(t->paper);
        if (toy != t->toy_far || paper != t->paper_far)
            print_error("%s: %d, %d; the table says %d, %d\n", t->name, toy, paper, t->toy_far, t->paper_far),
                wrong++;
    }
    assert_int_equal(wrong, 0);
}

/* ---- every entry takes a step */

/* Runs an entry as its script says, but for one step, one sample and one seed; a smaller model of the paper's
 * kind where `model` says so. What it races must have been evaluated. */
static void run_entry(struct bench *b, const struct pw_suite_task *t, int protocol, const char *model)
{
    struct pw_race_plan race = {.protocol = protocol,
                                .seeds = 1,
                                .steps = 1,
                                .samples = 1,
                                .seed = PW_STUDY_SEED,
                                .pes = "",
                                .model = model};
    const struct pw_arm_view *arms[PW_MAX_ARMS];
    struct pw_str script = {0};
    pw_suite_check(&race, NULL, t, t->name, &script);
    pw_suite_script(&race, NULL, t, &script);
    bench_must(b, pw_str_text(&script));
    int n = pw_evaluated(b->s, arms);
    if (n < PW_PAPER_PES || arms[0]->info.step != 1)
        fail_msg("%s: %d encodings evaluated after %d steps", t->name, n, (int)arms[0]->info.step);
    pw_str_fini(&script);
}

static void test_entries_at_toy_size(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    for (const struct pw_suite_task *t = pw_suite; t->name != NULL; t++)
        run_entry(&b, t, PW_PROTOCOL_TOY, NULL);
    bench_close(&b);
}

/* The paper's texts, data, context and encodings; of its model one narrow layer, as twelve of 768 are too
 * slow here. */
static void test_entries_of_the_paper(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    for (const struct pw_suite_task *t = pw_suite; t->name != NULL; t++)
        run_entry(&b, t, PW_PROTOCOL_PAPER, "layers=1 width=96 ffn=96");
    bench_close(&b);
}

/* The races of a script, as `check` asks about them: with the task and the model that stand before each. */
static int check_races(const char *name, const char *script)
{
    struct pw_plan plan = {.seeds = 1, .points = 1};
    char *copy = strdup(script), *rest = copy, *line;
    int wrong = 0, races = 0;
    while ((line = strtok_r(rest, "\n", &rest)) != NULL) {
        struct pw_err err;
        if (sscanf(line, "task %511[^\n]", plan.task) + sscanf(line, "model %255[^\n]", plan.model) > -2 &&
            sscanf(line, "race %511[^ ]", plan.race) == 1 && strcmp(line, "race none") != 0) {
            races++;
            if (pw_lab_plan_fits(&plan, &err) != PW_OK)
                print_error("%s: %s, %s: %s\n", name, plan.task, plan.model, err.msg), wrong++;
        }
    }
    free(copy);
    if (races == 0)
        print_error("%s: no race\n", name);
    return wrong + (races == 0);
}

/* Every race of every study that trains the paper's tasks goes together, with the paper's own model too. */
static void test_studies(void **state)
{
    static const char *const cases[][2] = {{"lengths", "group=all"},
                                           {"lengths", "group=all protocol=paper"},
                                           {"sensitivity", ""},
                                           {"sensitivity", "protocol=paper"},
                                           {"figure4", ""},
                                           {"figure4", "protocol=paper"},
                                           {"scratchpads", "task=all"}};
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        union {
            char bytes[PW_STUDY_OPTS_MAX];
            double align;
        } opts;
        const struct pw_study *study;
        struct pw_err err;
        struct pw_str script = {0};
        char words[128], *rest = words, *word, label[192];
        assert_int_equal(pw_study_find(&study, cases[i][0], &err), PW_OK);
        pw_opt_defaults(study->opts, opts.bytes);
        snprintf(words, sizeof words, "%s", cases[i][1]);
        while ((word = strtok_r(rest, " ", &rest)) != NULL) {
            char *value = strchr(word, '=');
            *value++ = '\0';
            if (pw_opt_set(study->opts, opts.bytes, "test", word, value, &err) != PW_OK)
                fail_msg("%s", err.msg);
        }
        study->script(opts.bytes, &script);
        snprintf(label, sizeof label, "%s %s", cases[i][0], cases[i][1]);
        wrong += check_races(label, pw_str_text(&script));
        pw_str_fini(&script);
    }
    assert_int_equal(wrong, 0);
}

/* ---- an entry that can't run is named before anything trains */

static void test_check(void **state)
{
    static const char *const cases[][2] = {
        {"check \"sort multi\" task=\"sort variant=multi\" model=\"tiny context=128\"",
         "check: sort multi can't run: the longest sample has 160 positions, this model takes 128"},
        {"check task=\"sort varian=multi\"", "check: sort varian=multi can't run: task: "},
        {"check x race=none,rotary(dims=3)",
         "check: x can't run: rotary: 3 entries of a head can't form pairs"},
        {"check x model=tniy", "check: x can't run: no preset 'tniy'; did you mean 'tiny'?"},
        {"check x model=\"tiny width=65\"", "check: x can't run: width=65 heads=8"},
        {"check x optim=speed=3", "check: x can't run: optim: no option 'speed'"},
        {"check x race=none,none,none,none,none,none,none,none,none",
         "check: x can't run: 9 encodings; at most 8"},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench_run(&b, cases[i][0]);
        if (b.errors != 1 || strncmp(b.error, cases[i][1], strlen(cases[i][1])) != 0)
            fail_msg("%s: %d errors, '%s'", cases[i][0], b.errors, b.error);
    }
    bench_must(
        &b,
        "check \"sort multi\" task=\"sort variant=multi\" model=\"tiny context=fit\" race=none,t5 seeds=3");
    assert_int_equal(b.s->arms[0].info.context, 128); /* and it builds nothing */
    bench_close(&b);
}

/* context=fit: as many positions as the longest sample takes, no fewer than the preset's. */
static void test_context_fits(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, "model tiny context=1000; task sort variant=multi; model tiny context=fit");
    assert_int_equal(b.s->arms[0].info.context, 160);
    bench_must(&b, "train 1; eval samples=1");
    bench_must(&b, "task sort; model tiny context=fit");
    assert_int_equal(b.s->arms[0].info.context, 128);
    bench_must(&b, "model small context=fit");
    assert_int_equal(b.s->arms[0].info.context, 256);
    bench_close(&b);
}

/* A group's entries are checked before the first of them trains. */
static void test_checks_come_first(void **state)
{
    const struct pw_study *study;
    union {
        char bytes[PW_STUDY_OPTS_MAX];
        double align;
    } opts;
    struct pw_err err;
    struct pw_str out = {0};
    int checks = 0;
    (void)state;
    assert_int_equal(pw_study_find(&study, "lengths", &err), PW_OK);
    pw_opt_defaults(study->opts, opts.bytes);
    assert_int_equal(pw_opt_set(study->opts, opts.bytes, "test", "group", "all", &err), PW_OK);
    study->script(opts.bytes, &out);
    const char *first = strstr(out.s, "\ntask ");
    for (const char *at = out.s; strncmp(at, "check ", 6) == 0; at = strchr(at, '\n') + 1, checks++)
        assert_true(at < first);
    assert_int_equal(checks, 17);
    pw_str_fini(&out);
}

/* ---- judge refuses what the study doesn't ask for */

#define STUDY "steps=3 seeds=2 samples=4 pes=none,alibi"

static void refuse(struct bench *b, const char *line, const char *why)
{
    bench_run(b, line);
    if (b->errors != 1 || strstr(b->error, why) == NULL)
        fail_msg("%s: %d errors, '%s', not '%s'", line, b->errors, b->error, why);
}

static void test_judge_refuses(void **state)
{
    static const char *const others[][2] = {
        {"judge lengths task=\"sort single\" " STUDY,
         "judge lengths: the lab has task 'copy variant=rsc', the study asks for 'sort'"},
        {"judge lengths task=\"copy lengths=2..9\" " STUDY, "the study asks for 'copy lengths=2..9'"},
        {"judge lengths task=\"copy rsc\" seed=7 " STUDY, "the lab has seed 101, the study asks for 7"},
        {"judge lengths task=\"copy rsc\" steps=4 seeds=2 samples=4 pes=none,alibi",
         "optim steps '3', the study asks for '4'"},
        {"judge lengths task=\"copy rsc\" steps=3 seeds=1 samples=4 pes=none,alibi",
         "seeds 2, the study asks for 1"},
        {"judge lengths task=\"copy rsc\" steps=3 seeds=2 samples=5 pes=none,alibi",
         "samples of a length 4, the study asks for 5"},
        {"judge lengths task=\"copy rsc\" steps=3 seeds=2 samples=4 pes=none,t5",
         "arm 2: the lab has encoding 'alibi'"},
        {"judge lengths task=\"copy rsc\" steps=3 seeds=2 samples=4 pes=none",
         "encodings 2, the study asks for 1"},
        {"judge lengths task=\"copy rsc\" protocol=paper " STUDY,
         "task 'copy variant=rsc', the study asks for 'copy lengths=2..20"},
        {"judge lengths task=\"copy rsc\" checkpoint=best " STUDY,
         "no evaluation after step 0, one of 20 checkpoints"},
    };
    const struct pw_study *study;
    struct pw_err err;
    struct bench b;
    (void)state;
    assert_int_equal(pw_study_find(&study, "lengths", &err), PW_OK);
    bench_open(&b, 2, false);
    bench_must(&b,
               "seed 101; task copy variant=rsc; model tiny; optim steps=3; race none,alibi seeds=2; train; "
               "eval samples=4; judge lengths task=\"copy rsc\" " STUDY);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        refuse(&b, others[i][0], others[i][1]);
    bench_must(&b, "judge lengths task=\"copy rsc\" " STUDY); /* a refusal changes nothing */
    bench_must(&b, "train 1");
    refuse(&b, "judge lengths task=\"copy rsc\" " STUDY, "arm 1: the lab has step 4, the study asks for 3");
    bench_must(&b, "reset; train; eval lengths=2..10 samples=4");
    refuse(&b, "judge lengths task=\"copy rsc\" " STUDY, "length 11 was not evaluated");
    bench_must(&b, "reset; pe alibi arm=1; train");
    refuse(&b, "judge lengths task=\"copy rsc\" " STUDY, "arm 1: the lab has encoding 'alibi'");
    bench_close(&b);
}

/* checkpoint=best: twenty evaluations, and the verdict takes them. */
static void test_best_checkpoint(void **state)
{
    const struct pw_finding_view *v;
    struct bench b;
    struct pw_race_plan race = {
        .seeds = 2, .steps = 40, .samples = 4, .seed = 101, .pes = "none,alibi", .points = 20};
    struct pw_str script = {0};
    (void)state;
    bench_open(&b, 2, false);
    pw_suite_script(&race, NULL, pw_suite_find("copy rsc"), &script);
    pw_str_add(&script,
               "judge lengths task=\"copy rsc\" steps=40 seeds=2 samples=4 pes=none,alibi checkpoint=best\n");
    bench_must(&b, pw_str_text(&script));
    assert_int_equal(b.s->arms[0].rep[1].track.n, 20);
    assert_int_equal(b.s->arms[0].rep[1].track.step[0], 2);
    assert_non_null(v = pw_finding_of(b.s, "lengths", "copy rsc"));
    assert_non_null(strstr(v->f.blocks[1].title, "at the best of 20 checkpoints in range"));
    pw_str_fini(&script);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_distances),
                                       cmocka_unit_test(test_entries_at_toy_size),
                                       cmocka_unit_test(test_entries_of_the_paper),
                                       cmocka_unit_test(test_studies),
                                       cmocka_unit_test(test_check),
                                       cmocka_unit_test(test_context_fits),
                                       cmocka_unit_test(test_checks_come_first),
                                       cmocka_unit_test(test_judge_refuses),
                                       cmocka_unit_test(test_best_checkpoint)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
