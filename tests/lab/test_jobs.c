/* test_jobs.c - tests long commands: they run beside other commands, and end when they are cancelled. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit/ref_session.h"
#include "command/commands/commands.h"
#include "lab/core/lab_int.h"
#include "lab/jobs/evals.h"
#include "lab/loop/loop.h"
#include "ref_lab.h"

/* Millions of samples as text: Ctrl-C cancels the export at once, and no file is left. */
static void test_data(void **state)
{
    char line[4200], path[4096], name[256];
    struct bench b;
    bench_open(&b, 1, false);
    bench_must(&b, "task sort lengths=2..4; train 1");
    for (int i = 0; i < 2; i++) {
        snprintf(line, sizeof line, "export data %s n=10000000 split=all",
                 scratch_path(state, "d.jsonl", path));
        bench_send(&b, line);
        do { /* until it runs */
            bench_look(&b, 10000);
            assert_false(pw_lab_idle(b.lab));
        } while (b.s->job.state != PW_JOB_RUNNING || b.s->job.done == 0);
        assert_string_equal(b.s->job.name, "data");
        assert_int_equal(b.s->job.total, 30000000);
        assert_true(access(path, F_OK) != 0); /* the file gets its name only when it is complete */
        bench_send(&b, line);
        while (b.errors <= i)
            bench_look(&b, 10000);
        assert_non_null(strstr(b.error, "d.jsonl is still being written"));
        if (i == 0)
            pw_lab_interrupt(b.lab);
        else
            bench_send(&b, "task sort test=9..10"); /* else the samples would mix both tasks */
        bench_until_idle(&b);
        assert_int_equal(b.s->job.state, PW_JOB_CANCELLED);
        assert_int_equal(scratch_count(*state, name), 0);
    }
    snprintf(line, sizeof line, "export data %s n=7 split=all", path);
    bench_must(&b, line);
    assert_int_equal(b.s->job.done, 21);
    assert_int_equal(scratch_count(*state, name), 1);
    bench_close(&b);
}

/* ---- every command during every job */

/* Two arms in their initial state, whatever was before. */
#define FRESH                                                                                                \
    "seed 0; model tiny width=16 layers=2 heads=2 ffn=16; task sort lengths=2..9 test=10..12; "              \
    "race t5,t5; prompt sort 9 8 7 6 5 4 3 2 1; train 2; eval samples=2; digest"

/* @ is the test's folder. NULL: an evaluation during training. */
static const char *const jobs[] = {"eval lengths=2..9 samples=100000",
                                   "probe dispersion samples=4096",
                                   "probe dispersion samples=4096 every=3; train 100000",
                                   "export activations @/a.npz samples=2000 length=9 sites=z",
                                   "export data @/d.jsonl n=10000000",
                                   "ablate 0.0,1.1 mode=mean samples=4096",
                                   "patch resid from=\"sort 9 8 7 6 5 4 3 2 2\"",
                                   "prompt sort 1 2 3 4 5 6 7 8 9 9 8 7 6 5 4 3 2 1",
                                   "train 100000 until acc=1",
                                   NULL};

/* clang-format off */
static const char *const typed[] = {
    "task sort lengths=2..9 test=11..12", "task addition", "model heads=4", "model tiny width=24 arm=2",
    "construct theorem1", "optim lr=0.01", "seed 3", "seed 3 arm=2", "pe rotary", "pe t5 arm=2",
    "race none,alibi seeds=2", "arm 2", "arm next", "arm add learned", "arm drop 1", "arm drop 2", "fork",
    "fork alibi", "runs", "train 3", "train 3 arm=2", "pause", "resume", "step 2", "stop", "cancel", "reset",
    "reset arm=1", "eval samples=3", "failing", "paired", "prompt sort 2 1", "sample length=3", "next",
    "back", "edit 11 2", "inspect head=1", "ablate 0.0", "ablate 1.* mode=resample", "restore",
    "restore 0.0 arm=2", "patch heads from=\"sort 9 8 7 6 5 4 3 1 1\"", "tune temperature=2", "tune off",
    "transplant 2", "probe scores", "probe dispersion samples=1 every=1", "probe off", "compare", "why 3",
    "judge figure4", "check task=copy race=none,alibi", "table length=9", "export weights @/w2.safetensors", "export attention @/x.npz",
    "export logits @/l.npz", "export step @/s.json", "export curves @/c.csv", "export track @/c.csv",
    "export updates @/c.csv", "export lengths @/c.csv", "export errors @/c.csv", "export table @/t.json",
    "export data @/y.jsonl n=3", "export batch @/b.npz", "export activations @/z.npz samples=3",
    "export tensorboard @/board", "import weights @/w.safetensors", "import attention @/x.npz",
    "import attention off", "checkpoint here", "sessions @", "digest", "backend cpu", "devices",
    "set threads 3", "set isa scalar", "set isa auto", "set share flops", "set temperature 0.5", "mark here",
    "say hello", "demo", "help train", "open @/one.pewter", "open @/two.pewter", "open @/one.pewter from=2",
    "save @/kept", "delete @/nothing.pewter",
    NULL,
};
/* clang-format on */

static const char *within(void **state, const char *text, char line[8192])
{
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += (size_t)snprintf(line + n, 8192 - n, *text == '@' ? "%s" : "%.1s",
                              *text == '@' ? (const char *)*state : text);
    return line;
}

/* Begins a job and types a command: at once, or after some slices. */
static void type_in(struct bench *b, const char *job, const char *command, bool at_once)
{
    char both[2 * 8192 + 3];
    if (job == NULL) {
        if (b->lab->session.store == NULL) { /* else the store may wake the lab, which sleeps here */
            pw_lab_eval_live(b->lab, pw_lab_current(b->lab));
            assert_true(pw_lab_busy(b->lab));
        }
        bench_send(b, command);
    } else if (at_once) {
        snprintf(both, sizeof both, "%s; %s", job, command);
        bench_send(b, both);
    } else {
        bench_send(b, job);
        bench_look(b, 10);
        bench_look(b, 10);
        bench_send(b, command);
    }
}

/* No command ends the program, and afterwards the lab works as before. */
static void test_in_the_middle(void **state)
{
    char job[8192], command[8192], first[sizeof((struct bench *)0)->digests] = "";
    struct bench b;
    setenv("XDG_STATE_HOME", *state, 1);
    for (int i = 0; i < 2; i++) {
        b = (struct bench){0};
        b.lab = lab_open(
            (struct pw_lab_config){.threads = 2,
                                   .from = -1,
                                   .session = within(state, i == 0 ? "@/one.pewter" : "@/two.pewter", job)});
        bench_must(&b, FRESH);
        bench_must(&b, within(state, "export weights @/w.safetensors; train 3", job));
        bench_close(&b);
    }
    const size_t n_jobs = sizeof jobs / sizeof *jobs;
    for (size_t round = 0; round <= n_jobs; round++) { /* the last round records a session */
        size_t i = round < n_jobs ? round : 1;
        bench_open_as(
            &b, (struct pw_lab_config){.threads = 2, .from = -1, .session = round < n_jobs ? NULL : ""});
        for (int k = 0; typed[k] != NULL; k++) {
            bench_must(&b, FRESH);
            if (first[0] == '\0')
                snprintf(first, sizeof first, "%s", b.digests);
            if (strcmp(b.digests, first) != 0)
                fail_msg("before %s while %s: then\n%s, not\n%s", typed[k],
                         jobs[i] != NULL ? jobs[i] : "live", b.digests, first);
            within(state, typed[k], command);
            type_in(&b, jobs[i] != NULL ? within(state, jobs[i], job) : NULL, command,
                    (i + (size_t)k) % 2 == 0);
            bench_send(&b, "cancel");
            bench_send(&b, "stop");
            bench_send(&b, "probe off");
            bench_until_idle(&b);
        }
        bench_must(&b, FRESH);
        assert_string_equal(b.digests, first);
        bench_close(&b);
    }
}

static void test_every_command(void **state)
{
    (void)state;
    for (int i = 0; pw_lab_commands[i] != NULL; i++) {
        const char *name = pw_lab_commands[i]->name;
        size_t n = strlen(name);
        int k = 0;
        while (typed[k] != NULL &&
               (strncmp(typed[k], name, n) != 0 || (typed[k][n] != ' ' && typed[k][n] != '\0')))
            k++;
        if (typed[k] == NULL)
            fail_msg("no line types '%s'", name);
    }
}

/* A probe's own models belong to the backend on which it began. So it ends with that backend, even if it is
 * about no arm. All commands are one typed line: they run without a slice in between. */
static void test_probe_ends_with_its_backend(void **state)
{
    static const char *const lines[] = {"probe awareness; set threads 1", "probe awareness; set isa scalar",
                                        "probe permutation; set threads 1",
                                        "probe permutation; set isa scalar"};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct bench b;
        bench_open(&b, 2, false);
        bench_send(&b, lines[i]);
        bench_until_idle(&b);
        assert_int_equal(b.errors, 0);
        assert_int_equal(b.s->job.state, PW_JOB_CANCELLED);
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_command),
        cmocka_unit_test(test_probe_ends_with_its_backend),
        cmocka_unit_test_setup_teardown(test_in_the_middle, session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(test_data, session_setup, session_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
