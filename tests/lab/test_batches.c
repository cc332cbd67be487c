/* test_batches.c - tests `race ... batches=own`: replicas differ in their training samples, too. Each
 * replica must equal, to the bit, the model that its seed alone would train. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "lab/actions.h"
#include "ref_record.h"
#include "ref_state.h"

#define SMALL "model tiny width=16 layers=1 heads=2; optim batch=3; "

/* Returns line i of the output of `digest`, without the arm and the replica. */
static const char *life(const struct bench *b, int i)
{
    const char *line = strstr(digest_line(b->digests, i), "  step");
    assert_non_null(line);
    return line;
}

/* Runs a script in a new lab with one thread; the bench keeps the results. */
static void alone(struct bench *one, const char *script)
{
    bench_open(one, 1, false);
    bench_must(one, SMALL);
    bench_must(one, script);
    bench_close(one);
}

/* Replica k of every arm equals the model that `seed S+k-1` alone trains. Batches come from a stream or a
 * fixed set; threads and the order of arms don't matter. */
static void test_bits(void **state)
{
    static const char *const before[] = {"", "task copy lengths=2..5 data=200; ",
                                         "task copy,sort lengths=2..4; ", "set share flops; "};
    (void)state;
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        struct bench b;
        char script[256];
        bench_open(&b, 3, false);
        bench_must(&b, SMALL);
        snprintf(script, sizeof script, "%sseed 7; race t5,none seeds=3 batches=own; train 8; digest",
                 before[i]);
        bench_must(&b, script);
        for (int k = 0; k < 6; k++) {
            struct bench one;
            snprintf(script, sizeof script, "%sseed %d; race %s; train 8; digest", before[i], 7 + k % 3,
                     k < 3 ? "t5" : "none");
            alone(&one, script);
            assert_true(same_line(life(&one, 0), life(&b, k)));
        }
        struct bench first = b;
        bench_must(&b, "seed 7; train 3; eval samples=2 lengths=2..3; set threads 1; train 5; digest");
        assert_string_equal(b.digests, first.digests);
        bench_close(&b);
    }
}

/* Shared batches are unchanged: all replicas use those of the first replica, which differ from own
 * batches. */
static void test_shared(void **state)
{
    struct bench own, shared, one;
    (void)state;
    alone(&own, "seed 7; race none seeds=2 batches=own; train 6; digest");
    alone(&shared, "seed 7; race none seeds=2 batches=shared; train 6; digest");
    alone(&one, "seed 7; race none seeds=2; train 6; digest");
    assert_true(same_line(life(&own, 0), life(&shared, 0)));
    assert_false(same_line(life(&own, 1), life(&shared, 1)));
    assert_string_equal(one.digests, shared.digests);
    alone(&one, "seed 7; race none seeds=2 batches=own; train 2; race none seeds=2; train 6; digest");
    assert_string_equal(one.digests, shared.digests); /* own batches end with the arms of that race */
    alone(&shared, "seed 7; race none; train 6; digest");
    alone(&one, "seed 7; race none batches=own; train 6; digest");
    assert_string_equal(one.digests, shared.digests); /* an arm of one model uses the seed's batches */
}

/* An arm's own seed is that of its initialisation. Its batches stay those of the other arms. */
static void test_seed_of_arm(void **state)
{
    struct bench b, one;
    (void)state;
    alone(&b, "seed 7; race none,none seeds=2 batches=own; seed 40 arm=2; train 6; digest");
    alone(&one, "seed 8; race none; seed 41 arm=1; train 6; digest");
    assert_true(same_line(life(&one, 0), life(&b, 3)));
}

/* Arms that are derived from the race's arms have own batches, too. */
static void test_kept(void **state)
{
    struct bench b, one;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, SMALL "seed 7; race none seeds=2 batches=own");
    bench_must(&b, "train 4; pe t5; train 4; fork rotary; train 3; digest");
    alone(&one, "seed 8; race none; train 4; pe t5; train 4; fork rotary; train 3; digest");
    assert_true(same_line(life(&one, 0), life(&b, 1)));
    assert_true(same_line(life(&one, 1), life(&b, 3)));
    bench_must(&b, "arm add alibi; arm drop 2; arm drop 1; reset; train 5; digest");
    assert_true(b.s->arms[2].used || b.s->arms[1].used);
    alone(&one, "seed 8; race alibi; train 5; digest");
    assert_true(same_line(life(&one, 0), life(&b, 1)));
    bench_must(&b, "seed 20; task copy; model layers=2; train 3; digest");
    alone(&one, "seed 21; race alibi; task copy; model layers=2; train 3; digest");
    assert_true(same_line(life(&one, 0), life(&b, 1)));
    bench_close(&b);
}

/* Own batches have different lengths, so replicas spend a budget at different steps. All continue until
 * each replica has spent it, and end at the same step. */
static void test_budget(void **state)
{
    static const char *const trains[] = {"train flops=1e7", "train flops=1e7; train flops=1e7",
                                         "train until flops=3.35e7", "train until flops=3.45e7",
                                         "train 7; train until flops=5.1e7"};
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, SMALL "seed 1; race none,t5 seeds=5 batches=own");
    for (size_t i = 0; i < sizeof trains / sizeof *trains; i++) {
        bench_must(&b, trains[i]);
        const struct pw_replica *first = pw_lab_arm(b.lab, 1);
        bool differ = false;
        for (int arm = 1; arm <= 2; arm++)
            for (int r = 1; r <= 5; r++) {
                const struct pw_replica *a = pw_lab_replica(b.lab, arm, r);
                assert_int_equal(a->step, first->step);
                assert_true((double)a->flops >= a->until_value);
                differ = differ || a->flops != first->flops;
            }
        assert_true(differ);
    }
    bench_close(&b);
}

static void assert_note(const struct bench *b, const char *text)
{
    if (strstr(b->note, text) == NULL)
        fail_msg("'%s' has no '%s'", b->note, text);
}

/* The first line of the file must end in `head`, and n of the other lines in `end`. */
static void assert_column(const char *path, const char *head, const char *end, int n)
{
    struct pw_err err;
    char *text, *next;
    size_t size;
    assert_int_equal(pw_file_read(path, 1 << 20, &text, &size, &err), PW_OK);
    for (char *line = text; *line != '\0'; line = next) {
        size_t len = strcspn(line, "\n");
        const char *want = line == text ? head : end;
        next = line + len + (line[len] == '\n');
        line[len] = '\0';
        bool so = len >= strlen(want) && strcmp(line + len - strlen(want), want) == 0;
        assert_true(line != text || so);
        n -= line != text && so;
    }
    free(text);
    assert_int_equal(n, 0);
}

static void test_named(void **state)
{
    struct bench b;
    char dir[] = "/tmp/pewter_batches_XXXXXX", path[64], line[128];
    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/x.csv", dir);
    bench_open(&b, 2, false);
    bench_must(&b, SMALL "seed 7; race none,t5 seeds=2 batches=own; arm");
    assert_note(&b, "seed 7..8 n=2, own batches");
    assert_true(b.s->arms[0].info.own_batches && b.s->arms[1].info.own_batches);
    bench_must(&b, "seed 30 arm=2; train 4; runs batches=own");
    assert_note(&b, "batches=own");
    snprintf(line, sizeof line, "export curves %s", path);
    bench_must(&b, line);
    assert_column(path, ",seed,batch_seed", ",8,8", 4);
    assert_column(path, ",seed,batch_seed", ",31,8", 4);
    snprintf(line, sizeof line, "eval lengths=2..4 samples=3; export lengths %s", path);
    bench_must(&b, line);
    assert_column(path, ",seed,batch_seed", ",31,8", 3);
    bench_must(&b, "paired lengths=2..4");
    assert_note(
        &b, "no arm is called best: p < 0.05 needs 6 seeds"); /* 4 if only the initialisation seeds differ */
    bench_must(&b, "runs batches=shared");
    assert_string_equal(b.note, "no arm of 2 matches");
    bench_must(&b, "race none,t5 seeds=2; arm");
    assert_null(strstr(b.note, "own batches"));
    assert_false(b.s->arms[0].info.own_batches);
    snprintf(line, sizeof line, "train 1; export curves %s", path);
    bench_must(&b, line);
    assert_column(path, ",seed", ",8", 2);
    bench_must(&b, "race none batches=own; arm");
    assert_null(strstr(b.note, "own batches"));
    assert_false(b.s->arms[0].info.own_batches);
    bench_close(&b);
    unlink(path);
    rmdir(dir);
}

/* The next batch of a replica is that of its seed's model. */
static void test_export_batch(void **state)
{
    struct bench b;
    char dir[] = "/tmp/pewter_batches_XXXXXX", line[256];
    char *text[3];
    size_t size[3];
    (void)state;
    assert_non_null(mkdtemp(dir));
    bench_open(&b, 2, false);
    snprintf(
        line, sizeof line,
        "seed 7; race none seeds=2 batches=own; export batch %s/0.npz; export batch %s/1.npz replicate=2; "
        "seed 8; race none; export batch %s/2.npz",
        dir, dir, dir);
    bench_must(&b, line);
    for (int i = 0; i < 3; i++) {
        struct pw_err err;
        snprintf(line, sizeof line, "%s/%d.npz", dir, i);
        assert_int_equal(pw_file_read(line, 1 << 20, &text[i], &size[i], &err), PW_OK);
        unlink(line);
    }
    assert_true(size[1] == size[2] && memcmp(text[1], text[2], size[1]) == 0);
    assert_false(size[0] == size[1] && memcmp(text[0], text[1], size[0]) == 0);
    for (int i = 0; i < 3; i++)
        free(text[i]);
    bench_run(&b, "export batch x.npz replica=2");
    assert_string_equal(
        b.error, "export batch: replica=2: arm 1 has one replica; 'race PE,... seeds=N' makes N of each");
    bench_close(&b);
    rmdir(dir);
}

static void test_refused(void **state)
{
    static const char *const wrong[] = {"mine", "", "1", "OWN"};
    struct bench b;
    char line[64];
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, SMALL "race none,t5 seeds=2 batches=own");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(line, sizeof line, "race none batches=%s", wrong[i]);
        bench_run(&b, line);
        assert_int_equal(b.errors, 1);
        assert_non_null(strstr(b.error, "batches"));
        assert_non_null(strstr(b.error, "shared"));
    }
    bench_run(&b, "race none,nope7 seeds=2"); /* a race that fails changes nothing */
    assert_int_equal(b.errors, 1);
    bench_must(&b, "arm");
    assert_note(&b, "n=2, own batches");
    bench_close(&b);
}

/* A state that is saved at any turn of unfinished rounds continues with the same bits and the same output. */
static void goes_on(const char *begin)
{
    struct life whole;
    life_open(&whole, 1, false);
    life_run(&whole, begin);
    life_train(&whole);
    life_run(&whole, "digest; arm");
    for (int turns = 0; turns <= 16; turns += 3) {
        struct life first, next;
        struct saved s, again;
        struct pw_err err;
        life_open(&first, 1, false);
        life_run(&first, begin);
        life_turns(&first, turns);
        size_t told = strlen(life_told(&first));
        life_save(&first, &s);
        assert_non_null(strstr(s.json.s, "\"own_batches\":\"on\""));
        life_open(&next, 3, false);
        assert_int_equal(life_restore(&next, &s, &err), PW_OK);
        life_save(&next, &again);
        assert_true(saved_equal(&s, &again));
        life_train(&next);
        life_run(&next, "digest; arm");
        assert_string_equal(life_told(&next), life_told(&whole) + told);
        saved_free(&s);
        saved_free(&again);
        life_close(&first);
        life_close(&next);
    }
    life_close(&whole);
}

static void test_state(void **state)
{
    (void)state;
    goes_on(SMALL "seed 7; race none,t5 seeds=2 batches=own; train 4");
    goes_on(SMALL "seed 7; race none,t5 seeds=2 batches=own; train flops=4e6");
}

/* A state with shared batches doesn't name them, so that older versions can read it. An unknown word is
 * refused. */
static void test_state_words(void **state)
{
    struct life l;
    struct saved s;
    struct pw_err err;
    (void)state;
    life_open(&l, 1, false);
    life_run(&l, SMALL "race none seeds=2");
    life_save(&l, &s);
    assert_null(strstr(s.json.s, "own_batches"));
    saved_free(&s);
    life_run(&l, "race none seeds=2 batches=own");
    life_save(&l, &s);
    char *on = strstr(s.json.s, "\"own_batches\":\"on\"");
    assert_non_null(on);
    on[15] = 'x';
    assert_int_equal(life_restore(&l, &s, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "own_batches"));
    on[15] = 'o';
    on[1] = 'x';
    assert_int_equal(life_restore(&l, &s, &err), PW_EUSER);
    saved_free(&s);
    life_close(&l);
}

/* A re-run with another number of threads emits the same events and bits. With shared batches it would
 * differ at the first step of the second replica. */
static void test_followed(void **state)
{
    struct record r;
    struct bench b;
    (void)state;
    record_open(&b, &r, 2, false);
    bench_must(&b, SMALL
               "race none,t5 seeds=2 batches=own; train 103; eval samples=2; fork; train flops=5e6; train 2");
    bench_close(&b);
    record_must(&r, 1);
    record_must(&r, 3);
    int race = record_find(&r, PW_EV_COMMAND, "race");
    snprintf(r.e[race]->u.command.text, sizeof r.e[race]->u.command.text, "race none,t5 seeds=2");
    record_follow(&r, 2);
    assert_int_equal(r.v.end, PW_FOLLOW_DIFFERENT);
    assert_true(r.v.kind == PW_EV_STEP && r.v.arm == 1 && r.v.replica == 2 && r.v.step == 1);
    assert_string_equal(r.v.what, "loss");
    record_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),         cmocka_unit_test(test_shared),
        cmocka_unit_test(test_seed_of_arm),  cmocka_unit_test(test_kept),
        cmocka_unit_test(test_budget),       cmocka_unit_test(test_named),
        cmocka_unit_test(test_export_batch), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_state),        cmocka_unit_test(test_state_words),
        cmocka_unit_test(test_followed),
    };
    return cmocka_run_group_tests_name("batches", tests, NULL, NULL);
}
