/* test_suite.c - tests the paper's tasks as studies run them. Every entry takes one step, with toy and with
 * paper settings. An entry that can't run is reported before training starts. test_judge.c tests what `judge`
 * refuses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/actions.h"
#include "ref_lab.h"
#include "reproduce/repro.h"
#include "reproduce/suite.h"
#include "tasks/task.h"

/* ---- the table */

/* The longest distance between a query and a key of a training sequence. Its last token is no input. */
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

/* Runs an entry as its script says, but with one step, one sample and one seed. `model`: a smaller model of
 * the paper's kind, or NULL. All its races must be evaluated. */
static void run_entry(struct bench *b, const struct pw_suite_task *t, int protocol, const char *model)
{
    struct pw_race_plan race = {.protocol = protocol,
                                .seeds = 1,
                                .steps = 1,
                                .samples = 1,
                                .seed = PW_REPRO_SEED,
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

/* The paper's texts, data, context and encodings, but a model of one narrow layer: twelve of 768 are too slow
 * here. */
static void test_entries_of_the_paper(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    for (const struct pw_suite_task *t = pw_suite; t->name != NULL; t++)
        run_entry(&b, t, PW_PROTOCOL_PAPER, "layers=1 width=96 ffn=96");
    bench_close(&b);
}

/* Checks the races of a script as `check` does, with the task and the model in effect at each. */
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

union options {
    char bytes[PW_REPRO_OPTS_MAX];
    double align;
};

/* Parses a study with its options, "key=value key=value". */
static const struct pw_repro *find(const char *name, const char *options, union options *o)
{
    const struct pw_repro *study;
    struct pw_err err;
    char words[128], *rest = words, *word;
    assert_int_equal(pw_repro_find(&study, name, &err), PW_OK);
    pw_opt_defaults(study->opts, o->bytes);
    snprintf(words, sizeof words, "%s", options);
    while ((word = strtok_r(rest, " ", &rest)) != NULL) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        if (pw_opt_set(study->opts, o->bytes, "test", word, value, &err) != PW_OK)
            fail_msg("%s", err.msg);
    }
    return study;
}

/* All arms of each race of the paper's studies are compatible, also with the paper's own model. */
static void test_studies(void **state)
{
    static const char *const cases[][2] = {{"lengths", "group=all"},
                                           {"lengths", "group=all protocol=paper"},
                                           {"sensitivity", ""},
                                           {"sensitivity", "protocol=paper"},
                                           {"figure4", ""},
                                           {"figure4", "protocol=paper"},
                                           {"scratchpads", "task=all"},
                                           {"scratchpads", "task=all protocol=paper"}};
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        union options o;
        struct pw_str script = {0};
        char label[192];
        find(cases[i][0], cases[i][1], &o)->script(o.bytes, &script);
        snprintf(label, sizeof label, "%s %s", cases[i][0], cases[i][1]);
        wrong += check_races(label, pw_str_text(&script));
        pw_str_fini(&script);
    }
    assert_int_equal(wrong, 0);
}

/* The studies of one task, from their first line to the verdict. test_scratchpads.c has the third. */
static void test_studies_run(void **state)
{
    static const char *const cases[][2] = {{"sensitivity", "seeds=2 steps=1 pes=none,alibi"},
                                           {"figure4", "runs=2 steps=1 samples=2"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        union options o;
        struct bench b;
        struct pw_str script = {0};
        find(cases[i][0], cases[i][1], &o)->script(o.bytes, &script);
        pw_str_add(&script, "judge %s %s\n", cases[i][0], cases[i][1]);
        bench_open(&b, 2, false);
        bench_must(&b, pw_str_text(&script));
        const struct pw_finding_view *v = pw_finding_of(b.s, cases[i][0], "");
        assert_non_null(v);
        for (int k = 0; k < v->f.n_claims; k++)
            assert_int_equal(v->f.claims[k].verdict, PW_CLAIM_INCONCLUSIVE);
        bench_close(&b);
        pw_str_fini(&script);
    }
}

/* ---- an entry that can't run is reported before training starts */

static void test_check(void **state)
{
    static const char *const cases[][2] = {
        {"check \"sort multi\" task=\"sort variant=multi\" model=\"tiny context=128\"",
         "check: sort multi cannot run: the longest sample has 160 positions, this model reads 128"},
        {"check task=\"sort varian=multi\"", "check: sort varian=multi cannot run: task: "},
        {"check x race=none,rotary(dims=3)",
         "check: x cannot run: rotary: 3 entries of a head cannot form pairs"},
        {"check x model=tniy", "check: x cannot run: no preset 'tniy'; did you mean 'tiny'?"},
        {"check x model=\"tiny width=65\"", "check: x cannot run: width=65 heads=8"},
        {"check x optim=speed=3", "check: x cannot run: optim: no option 'speed'"},
        {"check x race=none,none,none,none,none,none,none,none,none",
         "check: x cannot run: 9 encodings; at most 8"},
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
    assert_int_equal(b.s->arms[0].info.context, 128); /* it builds no model */
    bench_close(&b);
}

/* context=fit: as many positions as the longest sample needs, but no fewer than the preset's. */
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

/* A long suite's entries are all checked before the first one trains. `ranks` is one `reproduce lengths`. */
static void test_checks_come_first(void **state)
{
    static const struct {
        const char *study, *options;
        int entries;
    } cases[] = {{"lengths", "group=all", 17}, {"scratchpads", "task=all", 4 * 8 + 3 * 7}};
    union options o;
    struct pw_str out = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int checks = 0, races = 0;
        find(cases[i].study, cases[i].options, &o)->script(o.bytes, &out);
        const char *at = out.s;
        for (; strncmp(at, "check ", 6) == 0; at = strchr(at, '\n') + 1)
            checks++;
        assert_null(strstr(at, "\ncheck "));
        for (; (at = strstr(at, "\ntask ")) != NULL; at++)
            races++;
        assert_int_equal(checks, cases[i].entries);
        assert_int_equal(races, cases[i].entries);
        pw_str_fini(&out);
    }
    find("ranks", "group=all", &o)->script(o.bytes, &out);
    assert_string_equal(out.s,
                        "reproduce lengths group=all protocol=toy seeds=" PW_REPRO_SEEDS " figure=off\n");
    pw_str_fini(&out);
}

/* checkpoint=best: twenty evaluations, and the verdict uses them. */
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
                                       cmocka_unit_test(test_studies_run),
                                       cmocka_unit_test(test_check),
                                       cmocka_unit_test(test_context_fits),
                                       cmocka_unit_test(test_checks_come_first),
                                       cmocka_unit_test(test_best_checkpoint)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
