/* test_lab.c - tests the lab through its commands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ref_lab.h"
#include "tasks/task.h"

/* ---- bits */

/* 20 steps of two arms have the same parameters for any number of threads. Evaluations, prompts, inspection
 * and a pause in between don't matter; neither do live events. */
static void test_bits(void **state)
{
    (void)state;
    static const char plain[] = "race t5,rotary; train 20; digest";
    static const char busy[] =
        "race t5,rotary; train 4; prompt sort 3 1 2; inspect layer=1 head=2 view=bias; train 6; "
        "eval lengths=2..4 samples=9; arm 2; prompt sort 9 9 1; step 2; train 8; table; digest";
    struct bench b;
    char first[sizeof b.digests];
    bench_open(&b, 1, false);
    bench_must(&b, plain);
    memcpy(first, b.digests, sizeof first);
    assert_non_null(strstr(first, "arm 2  step 20"));
    bench_close(&b);
    for (int threads = 1; threads <= 8; threads = threads == 3 ? 8 : threads + 1) {
        bench_open(&b, threads, threads == 2);
        bench_must(&b, busy);
        assert_string_equal(b.digests, first);
        bench_close(&b);
    }
    bench_open(&b, 2, false); /* also with a change of threads in between */
    bench_must(&b, "race t5,rotary; train 5; set threads 3; train 10; set threads 1; train 5; digest");
    assert_string_equal(b.digests, first);
    bench_must(&b, "race t5,rotary; train 7; set isa scalar");
    assert_non_null(strstr(b.note, "1 thread, scalar"));
    bench_must(&b, "train 2; set isa auto; train 11; digest");
    assert_string_equal(b.digests, first);
    bench_must(&b, "seed 1; train 20; digest"); /* and the digest can differ */
    assert_string_not_equal(b.digests, first);
    bench_close(&b);
}

/* Epochs are a function of (seed, step). There is no iterator that an evaluation or a command in between
 * could advance. */
static void test_a_fixed_set_has_bits(void **state)
{
    (void)state;
    struct bench b;
    char first[sizeof b.digests];
    bench_open(&b, 1, false);
    bench_must(&b, "task copy,lego lengths=3..4 data=70 held=on; train 12; digest");
    memcpy(first, b.digests, sizeof first);
    assert_int_equal(b.s->lab.tasks[1].data, 70);
    double epoch = b.s->state.epoch;
    assert_true(epoch > 1);
    bench_close(&b);
    bench_open(&b, 3, false);
    bench_must(&b, "task copy,lego lengths=3..4 data=70 held=on; train 5; eval samples=9; train 7; digest");
    assert_string_equal(b.digests, first);
    assert_true(b.s->state.epoch == epoch);
    bench_must(&b, "task copy,lego lengths=3..4 held=on; reset; train 12; digest");
    assert_string_not_equal(b.digests, first);
    assert_true(b.s->state.epoch == 0);
    bench_close(&b);
}

/* A row's pairs add up to the row, and samples cycle through them. */
static void test_pairs_are_counted(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, 2, false);
    bench_must(&b, "task sort,addition lengths=1..2; train 30; eval samples=7");
    const struct pw_ev_lab *lab = &b.s->lab;
    assert_string_equal(lab->tasks[0].axis[0], "");
    assert_string_equal(lab->tasks[1].axis[0], "digits of the first number");
    assert_string_equal(lab->tasks[1].axis[1], "digits of the second number");
    for (int k = 0; k < 2; k++) {
        assert_int_equal(lab->tasks[1].box_lo[k], 1);
        assert_int_equal(lab->tasks[1].box_hi[k], 2);
    }
    const struct pw_ev_eval *e = &b.s->arms[0].rep[0].eval;
    assert_int_equal(e->n, 8);
    assert_int_equal(e->n_pairs, 1 + 3 + 5 + 7);
    for (int i = 0; i < e->n; i++) {
        const struct pw_eval_row *r = &e->rows[i];
        int samples = 0, exact = 0;
        int64_t tokens = 0, right = 0;
        assert_int_equal(r->n_pairs, r->task == 0 ? 0 : 2 * r->length - 1);
        assert_int_equal(r->seen, r->length <= 2);
        for (int k = 0; k < r->n_pairs; k++) {
            const struct pw_eval_pair *p = &e->pairs[r->first_pair + k];
            assert_int_equal(p->a > p->b ? p->a : p->b, r->length);
            assert_int_equal(p->samples, 7 / r->n_pairs + (k < 7 % r->n_pairs));
            samples += p->samples;
            exact += p->exact;
            tokens += p->tokens;
            right += p->tokens_right;
        }
        assert_int_equal(r->samples, 7);
        if (r->n_pairs > 0)
            assert_true(samples == 7 && exact == r->exact && tokens == r->tokens && right == r->tokens_right);
    }
    bench_close(&b);
}

/* ---- teacher forcing against decoding */

/* The samples of `eval lengths=N samples=n`, sent as prompts, are answered right exactly as often as eval
 * reports. */
static void compare(struct bench *b, const char *task, int length, int n, int *right, int *all)
{
    struct pw_taskset set;
    struct pw_err err;
    char line[2048];
    assert_int_equal(pw_taskset_init(&set, task, &err), PW_OK);
    snprintf(line, sizeof line, "eval lengths=%d samples=%d", length, n);
    bench_must(b, line);
    assert_int_equal(b->s->arms[0].rep[0].eval.n, 1);
    int expected = b->s->arms[0].rep[0].eval.rows[0].exact, exact = 0;
    for (int k = 0; k < n; k++) {
        struct pw_str prompt = {0}, answer = {0};
        pw_taskset_sample_text(&set, 0, PW_SPLIT_TEST, (uint64_t)k, 0, length, &prompt, &answer);
        snprintf(line, sizeof line, "prompt \"%s\"", pw_str_text(&prompt));
        bench_must(b, line);
        assert_int_equal(b->decoded, 1);
        exact += b->exact;
        pw_str_fini(&prompt);
        pw_str_fini(&answer);
    }
    assert_int_equal(exact, expected);
    *right += exact;
    *all += n;
    pw_taskset_fini(&set);
}

static void test_teacher_forcing_is_greedy(void **state)
{
    (void)state;
    static const char *const tasks[] = {"sort",
                                        "sort text=paper",
                                        "copy variant=rsc",
                                        "copy variant=rsc2x lengths=1..3",
                                        "copy variant=rdc",
                                        "copy variant=cmc lengths=1..3 alphabet=4",
                                        "copy variant=cmc2x lengths=1..2 alphabet=3",
                                        "copy variant=rsc text=paper",
                                        "lego lengths=2..4",
                                        "lego lengths=2..4 text=paper"};
    int right = 0, all = 0;
    struct bench b;
    bench_open(&b, 2, false);
    for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++) {
        char line[256];
        snprintf(line, sizeof line, "task %s; reset; pe t5; optim batch=8 warmup=10; train 60", tasks[i]);
        bench_must(&b, line);
        compare(&b, tasks[i], 2, 12, &right, &all);
        compare(&b, tasks[i], 3, 12, &right, &all);
    }
    /* Also in bf16: a row's products don't depend on neighbouring rows. Without a bf16 unit it is refused. */
    bench_run(&b, "set precision bf16");
    bench_must(&b, "task sort; reset; train 60");
    compare(&b, "sort", 2, 12, &right, &all);
    bench_close(&b);
    assert_true(right > all / 10 && right < all - all / 10); /* both outcomes occurred */
}

/* ---- commands */

static void test_fresh(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, 1, false);
    bench_must(&b, "arm");
    assert_string_equal(b.s->lab.task, "sort");
    assert_int_equal(b.s->current, 1);
    assert_string_equal(b.s->arms[0].info.pe, "none");
    assert_false(b.s->arms[1].used);
    bench_close(&b);
}

static void test_arms(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, 1, false);
    bench_must(&b, "race none,t5(buckets=4,distance=9),alibi; train 3");
    assert_string_equal(b.s->arms[1].info.pe, "t5 buckets=4 distance=9");
    assert_int_equal(b.s->arms[2].rep[0].series.n, 3);
    bench_must(&b, "arm add rotary base=100; arm 4; train 2; arm drop 2");
    assert_false(b.s->arms[1].used);
    assert_int_equal(b.s->current, 4);
    assert_int_equal(b.s->arms[3].rep[0].series.n, 2);
    assert_int_equal(b.s->arms[0].rep[0].series.n, 5);
    bench_must(&b, "arm drop 4; arm add learned");
    assert_int_equal(b.s->current, 3);
    assert_string_equal(b.s->arms[1].info.pe, "learned"); /* the lowest free place */
    bench_must(&b, "reset; train until step=4");
    assert_int_equal(b.s->arms[0].rep[0].series.n, 4);
    assert_int_equal(b.s->arms[2].info.step, 4);
    bench_close(&b);
}

static void test_swap(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, 1, false);
    bench_must(&b, "pe alibi"); /* before the first step it is no swap */
    assert_int_equal(b.s->arms[0].n_marks, 0);
    bench_must(&b, "train 5; pe t5 buckets=4; train 5; pe rotary restart=off; train 2");
    assert_int_equal(b.s->arms[0].n_marks, 2);
    assert_int_equal((int)b.s->arms[0].marks[0], 5);
    assert_int_equal((int)b.s->arms[0].marks[1], 10);
    assert_int_equal(b.s->arms[0].rep[0].series.n, 12);
    const float *lr = b.s->arms[0].rep[0].series.v[PW_M_LR];
    assert_true(lr[5] == lr[0] &&
                lr[10] > lr[9]); /* the schedule restarted, and the second time it continued */
    bench_close(&b);
}

static void test_until(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, 2, false);
    bench_must(&b, "task copy variant=rsc lengths=1..2 alphabet=3; train until acc=0.9");
    assert_true(b.s->arms[0].info.step % 50 == 0 && b.s->arms[0].info.step > 0);
    bench_run(&b, "reset; train 20 until acc=0.999; mark never");
    assert_int_equal(b.errors, 1);
    assert_non_null(strstr(b.error, "acc=0.999 was not reached by step 20"));
    assert_null(strstr(b.note, "never"));
    bench_must(&b, "reset; train until loss=1");
    bench_close(&b);
}

static void test_task_keeps_weights_where_it_can(void **state)
{
    (void)state;
    struct bench b;
    char before[sizeof b.digests];
    bench_open(&b, 1, false);
    bench_must(&b, "train 3; digest");
    memcpy(before, b.digests, sizeof before);
    bench_must(&b, "task sort lengths=3..5; digest");
    assert_string_equal(b.digests, before);
    bench_must(&b, "task copy; digest");
    assert_non_null(strstr(b.digests, "step 0"));
    bench_must(&b, "task sort,copy(variant=rsc),lego lengths=4..6; train 3; eval samples=4; prompt lego a = "
                   "1, b = -a, b ?");
    assert_int_equal(b.s->lab.n_tasks, 3);
    assert_int_equal(b.decoded, 1);
    bench_close(&b);
}

/* ---- errors are one line and change nothing */

static void test_bad_commands(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"trian 5", "no command 'trian'; did you mean 'train'"},
        {"train -1", "train: '-1'"},
        {"train 1e9", "train: '1e9'"},
        {"train until", "one of acc=A"},
        {"train flops=0", "flops=0"},
        {"train flops=many", "flops=many"},
        {"train 5 flops=1e9", "usage: train"},
        {"train flops=1e9 until acc=1", "one of acc=A"},
        {"train until flops=1", "every arm has reached this goal"},
        {"train until acc=2", "acc=2"},
        {"train until acc=0.5 loss=1", "one of acc=A"},
        {"pe", "usage: pe"},
        {"pe t6", "t6"},
        {"pe t5 buckets=1", "buckets=1"},
        {"pe t5 bucket=8", "did you mean 'buckets'"},
        {"pe t5 buckets=8 distance=2", "distance"},
        {"pe rotary dims=3", "dims"},
        {"pe rotary dims=64", "dims"},
        {"pe none restart=maybe", "restart=maybe"},
        {"race", "usage: race"},
        {"race none,,t5", ""},
        {"race none,xyz", "xyz"},
        {"race none seeds=0", "seeds=0"},
        {"race none seeds=11", "1..10"},
        {"race none seed=2", "did you mean 'seeds'"},
        {"race none,none,none,none,none,none,none,none,none", "at most 8"},
        {"arm 3", "there is no arm 3; there is only arm 1"},
        {"arm drop 1", "the only arm"},
        {"save", "save: nothing is recorded"},
        {"checkpoint", "checkpoint: nothing is recorded"},
        {"arm add", "usage"},
        {"fork t6", "t6"},
        {"fork restart=off", "usage: fork"},
        {"fork choose=on base=3", "usage: fork"},
        {"fork t5 rotary", "option=value"},
        {"fork t5 buckets=1", "buckets=1"},
        {"fork rotary restart=2", "restart=2"},
        {"runs t6", "did you mean 't5'"},
        {"runs path=/nonexistent", "/nonexistent"},
        {"runs layer=2", "did you mean 'layers'"},
        {"runs zzzzzz=1", "runs: no key"},
        {"model huge", "huge"},
        {"model width=63", "width"},
        {"model layers=0", "layers=0"},
        {"model context=8", "positions"},
        {"model tiny small", "one preset"},
        {"optim lr=-1", "lr=-1"},
        {"optim fast", "not key=value"},
        {"optim lr=0.1 arm=2", "there is no arm 2; there is only arm 1"},
        {"optim lr=-1 arm=1", "lr=-1"},
        {"reset arm=9", "arm=9: allowed are 1..8"},
        {"reset arm=3", "there is no arm 3"},
        {"reset lr=1", "no option 'lr'"},
        {"reset 1", "too many arguments"},
        {"model small arm=0", "arm=0"},
        {"pe t5 arm=2", "there is no arm 2"},
        {"pe arm=1", "usage: pe"},
        {"seed", "usage: seed"},
        {"seed x", "x"},
        {"seed 1 arm=5", "no arm 5"},
        {"task juggle", "juggle"},
        {"task sort lengths=9..3", "lengths=9..3"},
        {"task sort lengths=2..8 test=5..9", "test"},
        {"task sort lengths=2..200 test=201..210", ""},
        {"eval lengths=0..3", "lengths=0..3"},
        {"eval lengths=500", ""},
        {"eval 5", "not key=value"},
        {"prompt", "usage: prompt"},
        {"prompt sort 3 x 1", "'x'"},
        {"prompt juggle 3", ""},
        {"prompt sort 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 "
         "1 1 1 1 1 1 "
         "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 "
         "1 1",
         "tokens"},
        {"inspect layer=2", "layers 0..1"},
        {"inspect head=8", "heads 0..7"},
        {"inspect view=nothing", "view=nothing"},
        {"pause", "no training to pause"},
        {"resume", "no training is paused"},
        {"step 0", "usage: step"},
        {"table length=129", "128"},
        {"export", "usage: export"},
        {"export wieghts x.safetensors", "did you mean 'weights'"},
        {"export weights x.npz", ".safetensors"},
        {"export weights /nonexistent/x.safetensors", "/nonexistent"},
        {"export lengths /tmp/x.csv", "there is no evaluation yet"},
        {"export attention /tmp/x.npz", "no prompt is pinned; run 'prompt TEXT' first"},
        {"export data /tmp/x.jsonl n=0", "n=0"},
        {"import weights /nonexistent.safetensors", "/nonexistent"},
        {"import weights /etc/passwd", ""},
        {"import weights /tmp", ""},
        {"set color mono", "color"},
        {"set threads 65", "0..64"},
        {"set threads", "usage: set"},
        {"set share money", "steps|flops"},
        {"set isa neon", "auto|scalar|avx2|avx512"},
        {"set precision fp16", "fp32|tf32|bf16"},
        {"set precision", "usage: set"},
        {"demo juggle", "sort, copy and text"},
        {"help juggle", "juggle"},
        {"step x=3", "no option 'x'; there are no options"},
        {"next x=3", "no option 'x'; there are no options"},
        {"back x=3", "no option 'x'; there are no options"},
        {"digest x=3", "no option 'x'; there are no options"},
        {"sessions path=/", "no option 'path'"},
        {"sessions by=name", "by=name: allowed are use|size"},
        {"demo x=sort", "no option 'x'; there are no options"},
        {"help x=step", "no option 'x'; there are no options"},
        {"prompt \"sort 1", ""},
    };
    struct bench b;
    char before[sizeof b.digests];
    bench_open(&b, 1, false);
    bench_must(&b, "train 2; digest");
    memcpy(before, b.digests, sizeof before);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        bench_run(&b, bad[i][0]);
        if (b.errors != 1 || strstr(b.error, bad[i][1]) == NULL || strchr(b.error, '\n') != NULL)
            print_error("%s\n    says: %s (%d errors)\n", bad[i][0], b.error, b.errors);
        assert_int_equal(b.errors, 1);
        assert_non_null(strstr(b.error, bad[i][1]));
        assert_true(strlen(b.error) > 10);
        bench_must(&b, "digest");
        assert_string_equal(b.digests, before);
    }
    assert_int_equal(b.s->arms[0].rep[0].series.n, 2);
    assert_string_equal(b.s->lab.task, "sort");
    bench_close(&b);
}

static void test_a_failed_script_stops(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, 1, false);
    bench_run(&b, "mark one; pe t7; mark two");
    assert_int_equal(b.errors, 1);
    assert_string_equal(b.note, "mark: one");
    bench_must(&b, "mark three");
    bench_close(&b);
}

/* A script's lines may come one by one, and some only after an earlier one has failed. */
static void test_a_failed_script_takes_no_more(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, 1, false);
    pw_lab_send(b.lab, "pe t7", PW_SEND_SCRIPT);
    bench_doze(100);
    bench_run(&b, "mark two");
    assert_int_equal(b.errors, 1);
    assert_string_equal(b.note, "");
    bench_must(&b, "mark three");
    assert_string_equal(b.note, "mark: three");
    bench_close(&b);
}

/* A remark is emitted whole, or refused. */
static void test_remarks(void **state)
{
    static const char *const all[] = {"mark", "say", "checkpoint"};
    static const int most[] = {500, 500, 255};
    (void)state;
    struct bench b;
    bench_open(&b, 1, false);
    for (int i = 0; i < 3; i++) {
        char line[600], why[80];
        for (int more = 0; more < 2; more++) {
            int n = snprintf(line, sizeof line, "%s ", all[i]);
            memset(line + n, 'x', (size_t)(most[i] + more));
            line[n + most[i] + more] = '\0';
            bench_run(&b, line);
            snprintf(why, sizeof why, "%s: at most %d bytes of text are allowed; this one has %d", all[i],
                     most[i], most[i] + 1);
            assert_int_equal(strcmp(b.error, why) == 0, more);
            if (i < 2 && more == 0)
                assert_int_equal(strspn(strchr(b.note, 'x'), "x"), most[i]);
        }
    }
    bench_close(&b);
}

/* An empty script ends, whenever it comes: in a new lab, in an idle one, in one that is about to become
 * idle. */
static void test_nothing_ends(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        struct bench b;
        bench_open(&b, 1, false);
        bench_must(&b, i % 2 == 0 ? "" : "# a remark");
        bench_must(&b, "");
        bench_must(&b, "mark x");
        bench_must(&b, " ; ;");
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fresh),
        cmocka_unit_test(test_nothing_ends),
        cmocka_unit_test(test_remarks),
        cmocka_unit_test(test_a_failed_script_takes_no_more),
        cmocka_unit_test(test_arms),
        cmocka_unit_test(test_swap),
        cmocka_unit_test(test_until),
        cmocka_unit_test(test_task_keeps_weights_where_it_can),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_teacher_forcing_is_greedy),
        cmocka_unit_test(test_a_fixed_set_has_bits),
        cmocka_unit_test(test_pairs_are_counted),
        cmocka_unit_test(test_bad_commands),
        cmocka_unit_test(test_a_failed_script_stops),
    };
    return cmocka_run_group_tests_name("lab", tests, NULL, NULL);
}
