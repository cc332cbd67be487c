/* test_inspected.c - tests the replica that is inspected. Its answers equal, to the bit, those of a model
 * that trains alone from its seed. The choice is recorded and lasts; invalid choices are refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "ref_record.h"
#include "ref_state.h"

#define SMALL "model tiny width=16 layers=2 heads=2; optim batch=4; "
#define RACE  SMALL "seed 7; race none,t5 seeds=3; train 12; "
#define ALONE                                                                                                \
    SMALL "seed 7; race none,t5; seed 9 arm=2; train 12; " /* replica 3 of arm 2 and its batches             \
                                                            */
#define PROMPT "prompt sort 3 1 2; inspect layer=1 head=1; table; back"

static void same_floats(const float *a, const float *b, size_t n)
{
    assert_int_equal(a != NULL, b != NULL);
    if (a != NULL)
        assert_memory_equal(a, b, n * sizeof *a);
}

/* Compares answer, attention, the step inspector and the learned table. */
static void assert_same(const struct pw_snapshot *a, const struct pw_snapshot *b)
{
    const struct pw_ev_attention *x = &a->attention, *y = &b->attention;
    const struct pw_ev_table *s = pw_table_of(a, 2), *t = pw_table_of(b, 2);
    size_t maps = (size_t)x->layers * (size_t)x->heads * (size_t)(x->T * x->T);
    assert_int_equal(a->n_tokens, b->n_tokens);
    for (int i = 0; i < a->n_tokens; i++) {
        assert_int_equal(a->tokens[i].token, b->tokens[i].token);
        same_floats(&a->tokens[i].logit, &b->tokens[i].logit, 1);
        same_floats(&a->tokens[i].prob, &b->tokens[i].prob, 1);
    }
    assert_int_equal(x->T, y->T);
    assert_memory_equal(x->probs, y->probs, maps * sizeof *x->probs);
    same_floats(x->scores, y->scores, (size_t)x->layers * (size_t)x->heads * (size_t)x->n_scores);
    assert_int_equal(a->look.pos, b->look.pos);
    assert_int_equal(a->look.n, b->look.n);
    assert_memory_equal(a->look.part, b->look.part,
                        (size_t)(a->look.n * a->look.n_parts) * sizeof *a->look.part);
    assert_int_equal(s->n_buckets, t->n_buckets);
    same_floats(s->bucket_bias, t->bucket_bias, (size_t)s->n_buckets * (size_t)s->heads);
    same_floats(s->score, t->score, (size_t)s->heads * (size_t)s->length);
}

/* Returns whether the answers differ. Those of another replica must, or the comparison would prove
 * nothing. */
static bool differ(const struct pw_snapshot *a, const struct pw_snapshot *b)
{
    bool differ = a->n_tokens != b->n_tokens;
    for (int i = 0; i < a->n_tokens && i < b->n_tokens; i++)
        differ = differ || a->tokens[i].logit != b->tokens[i].logit;
    return differ;
}

static void test_bits(void **state)
{
    struct bench b, one;
    (void)state;
    bench_open(&b, 2, false);
    bench_open(&one, 1, false);
    bench_must(&one, ALONE "arm 2; " PROMPT);
    bench_must(&b, RACE "arm 2; " PROMPT);
    assert_int_equal(b.s->replica, 1);
    assert_true(differ(b.s, one.s));
    bench_must(&b, "inspect replica=3; table; back; next");
    assert_int_equal(b.s->replica, 3);
    assert_int_equal(b.s->prompt_replica, 3);
    assert_int_equal(b.s->attention_replica, 3);
    assert_int_equal(b.s->arms[1].table_replica, 3);
    assert_same(b.s, one.s);
    bench_must(&b, "eval samples=6; failing");
    bench_must(&one, "eval samples=6; failing");
    assert_int_equal(b.s->failing_replica, 3);
    assert_int_equal(b.s->failing.failed, one.s->failing.failed);
    for (int i = 0; i < b.s->failing.n; i++)
        assert_string_equal(b.s->failing.list[i].model, one.s->failing.list[i].model);
    bench_must(&b, "patch heads from=\"sort 4 1 2\"; probe dispersion samples=2");
    bench_must(&one, "patch heads from=\"sort 4 1 2\"; probe dispersion samples=2");
    assert_int_equal(b.s->patch_replica, 3);
    same_floats(b.s->patch.recovery, one.s->patch.recovery, 4);
    const struct pw_finding *f = &pw_finding_of(b.s, "dispersion", "2")->f,
                            *g = &pw_finding_of(one.s, "dispersion", "2")->f;
    assert_int_equal(f->n_values, g->n_values);
    assert_memory_equal(f->values, g->values, (size_t)f->n_values * sizeof *f->values);
    /* The replica also answers a prompt that is typed later. Then the other arm's third replica is
     * compared. */
    bench_must(&b, "prompt sort 2 1; table; back; next");
    bench_must(&one, "prompt sort 2 1; table; back; next");
    assert_same(b.s, one.s);
    bench_must(&b, "arm 1");
    assert_int_equal(b.s->replica, 3);
    bench_close(&one);
    bench_close(&b);
}

/* ---- files */

static void assert_same_file(const char *a, const char *b)
{
    char *x, *y;
    size_t n, m;
    struct pw_err err;
    assert_int_equal(pw_file_read(a, 1 << 24, &x, &n, &err), PW_OK);
    assert_int_equal(pw_file_read(b, 1 << 24, &y, &m, &err), PW_OK);
    assert_int_equal(n, m);
    assert_memory_equal(x, y, n);
    free(x);
    free(y);
}

static void test_exports(void **state)
{
    static const char *const kinds[][2] = {{"weights", "safetensors"}, {"attention", "npz"},
                                           {"logits", "npz"},          {"step", "json"},
                                           {"table", "json"},          {"activations", "npz"}};
    char folder[] = "/tmp/pewter-inspected-XXXXXX", line[256], own[96], named[96], chosen[96];
    struct bench b, one;
    (void)state;
    assert_non_null(mkdtemp(folder));
    bench_open(&b, 2, false);
    bench_open(&one, 1, false);
    bench_must(&one, ALONE "arm 2; prompt sort 3 1 2; edit 5 4; next");
    bench_must(&b, RACE "arm 2; prompt sort 3 1 2; edit 5 4; next");
    for (int i = 0; i < 6; i++) {
        const char *opts = i == 5 ? "samples=3" : "";
        snprintf(own, sizeof own, "%s/own%d.%s", folder, i, kinds[i][1]);
        snprintf(named, sizeof named, "%s/named%d.%s", folder, i, kinds[i][1]);
        snprintf(chosen, sizeof chosen, "%s/chosen%d.%s", folder, i, kinds[i][1]);
        snprintf(line, sizeof line, "export %s %s %s", kinds[i][0], own, opts);
        bench_must(&one, line);
        int n = b.s->n_tokens;
        float logit = b.s->tokens[n - 1].logit;
        snprintf(line, sizeof line, "export %s %s %s replica=3", kinds[i][0], named, opts);
        bench_must(&b, line);
        assert_same_file(named, own);
        assert_int_equal(b.decoded, 0); /* the answer is computed for the file only */
        assert_int_equal(b.s->n_tokens, n);
        assert_true(b.s->tokens[n - 1].logit == logit);
        bench_must(&b, "inspect replica=3");
        snprintf(line, sizeof line, "export %s %s %s", kinds[i][0], chosen, opts);
        bench_must(&b, line);
        assert_same_file(chosen, own);
        bench_must(&b, "inspect replica=1");
        assert_int_equal(b.s->n_tokens, n);
        assert_true(b.s->tokens[n - 1].logit == logit);
        unlink(own);
        unlink(named);
        unlink(chosen);
    }
    rmdir(folder);
    bench_close(&one);
    bench_close(&b);
}

/* ---- the choice */

static void test_choice(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, SMALL "race none,t5 seeds=3; arm add alibi; inspect replica=2"); /* no prompt needed */
    assert_int_equal(b.s->replica, 2);
    assert_int_equal(b.errors, 0);
    bench_must(&b, "inspect replica=+1; inspect replica=+1");
    assert_int_equal(b.s->replica, 1);
    bench_must(&b, "inspect replica=-1; prompt sort 1 2; arm 2");
    assert_int_equal(b.s->replica, 3);
    bench_must(&b, "inspect head=1");
    assert_int_equal(b.s->attention_replica, 3);
    assert_int_equal(b.s->attention.head, 1);
    /* An arm with fewer replicas goes back to its first, and reports that. */
    bench_must(&b, "export weights /tmp/pewter-inspected-w.safetensors; import weights "
                   "/tmp/pewter-inspected-w.safetensors");
    unlink("/tmp/pewter-inspected-w.safetensors");
    assert_int_equal(b.s->arms[1].info.replicas, 1);
    assert_int_equal(b.s->replica, 1);
    bench_must(&b, "arm 1; inspect replica=3; arm 2");
    assert_string_equal(b.note, "arm 2 has one replica; it is inspected");
    assert_int_equal(b.s->replica, 1);
    bench_must(&b, "arm 1; inspect replica=2; race none seeds=2");
    assert_int_equal(b.s->replica, 1);
    bench_close(&b);
}

static void test_refused(void **state)
{
    static const char *const cases[][2] = {
        {"inspect replica=4", "inspect: replica=4: arm 1 has replicas 1..3"},
        {"inspect replica=0", "inspect: replica=0: allowed are 1..10|+N|-N"},
        {"inspect replica=11", "inspect: replica=11: allowed are 1..10|+N|-N"},
        {"inspect replica=2 head=7", "inspect: head=7: arm 1 has heads 0..1"},
        {"patch heads from=\"sort 1 2 3\" replica=4", "patch: replica=4: arm 1 has replicas 1..3"},
        {"export attention x.npz replica=4", "export attention: replica=4: arm 1 has replicas 1..3"},
        {"export logits x.npz replicate=9", "export logits: replica=9: arm 1 has replicas 1..3"},
        {"export step x.json replica=5", "export step: replica=5: arm 1 has replicas 1..3"},
        {"export table x.json replica=5", "export table: replica=5: arm 1 has replicas 1..3"},
        {"export activations x.npz replica=5", "export activations: replica=5: arm 1 has replicas 1..3"},
        {"race none; inspect replica=2",
         "inspect: replica=2: arm 1 has one replica; 'race PE,... seeds=N' makes N of each"},
        {"inspect replica=2",
         "inspect: replica=2: arm 1 has one replica; 'race PE,... seeds=N' makes N of each"}};
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, SMALL "race none,t5 seeds=3; prompt sort 3 1 2");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench_run(&b, cases[i][0]);
        assert_string_equal(b.error, cases[i][1]);
        assert_int_equal(b.s->replica, 1);
        assert_int_equal(b.s->prompt_replica, 1);
    }
    bench_run(&b, "race none seeds=2; inspect replica=2 head=1"); /* the race has new weights, but .. */
    assert_int_equal(b.s->attention_replica, 2);                  /* .. the prompt is still pinned */
    bench_close(&b);
    bench_open(&b, 1, false);
    bench_run(&b, SMALL "race none seeds=2; inspect replica=2 head=1");
    assert_non_null(strstr(b.error, "inspect: there is no attention yet"));
    assert_int_equal(b.s->replica, 1);
    bench_close(&b);
}

/* ---- sessions */

/* Returns the number of answers that were decoded to their end. */
static int answers_of(const struct record *r)
{
    int n = 0;
    for (int i = 0; i < r->n; i++)
        n += r->e[i]->kind == PW_EV_TOKEN && r->e[i]->u.token.last;
    return n;
}

/* A user who steps through the arms does not wait for the answers of those that were passed over: only the
 * last one answers. A choice that fails leaves the answer to the arm before it. A re-run finds what was
 * recorded. */
static void test_passed_over(void **state)
{
    struct record r;
    struct bench b;
    (void)state;
    record_open(&b, &r, 1, true);
    bench_must(&b, SMALL "race none,t5,alibi,rotary; prompt sort 3 1 2");
    assert_int_equal(b.s->prompt_arm, 1);
    int before = answers_of(&r);
    bench_send(&b, "arm next; arm 3; arm next");
    bench_until_idle(&b);
    assert_int_equal(answers_of(&r), before + 1);
    assert_int_equal(b.s->prompt_arm, 4);
    assert_true(b.s->tokens[b.s->n_tokens - 1].last);
    before = answers_of(&r);
    bench_send(&b, "arm prev; arm 7");
    bench_until_idle(&b);
    assert_true(record_find(&r, PW_EV_ERROR, NULL) > 0);
    assert_int_equal(answers_of(&r), before + 1);
    assert_int_equal(b.s->prompt_arm, 3);
    assert_true(b.s->tokens[b.s->n_tokens - 1].last);
    before = answers_of(&r);
    bench_send(&b, "arm prev; inspect head=1"); /* needs the answer */
    bench_until_idle(&b);
    assert_int_equal(answers_of(&r), before + 1);
    assert_int_equal(b.s->attention_arm, 2);
    bench_close(&b);
    record_must(&r, 1);
    record_free(&r);
}

/* The same for replicas. `mark` runs while an answer is being decoded, in its middle. */
static void test_replica_passed_over(void **state)
{
    struct record r;
    struct bench b;
    (void)state;
    record_open(&b, &r, 1, true);
    bench_must(&b, SMALL "race none,t5 seeds=4; table; prompt sort 3 1 2");
    for (int again = 0; again < 2; again++) { /* the second time from replica 4 */
        int before = answers_of(&r);
        bench_send(&b, "inspect replica=+1; inspect replica=+1 head=1; inspect replica=4; inspect replica=4");
        bench_until_idle(&b);
        assert_int_equal(answers_of(&r), before + 1);
        assert_int_equal(b.s->prompt_replica, 4);
        assert_int_equal(b.s->attention_replica, 4);
        assert_int_equal(b.s->attention.head, 1);
        assert_true(b.s->tokens[b.s->n_tokens - 1].last);
    }
    int before = answers_of(&r);
    bench_send(&b, "inspect replica=1; inspect replica=9");
    bench_until_idle(&b);
    assert_true(record_find(&r, PW_EV_ERROR, NULL) > 0);
    assert_int_equal(answers_of(&r), before + 1);
    assert_int_equal(b.s->prompt_replica, 1);
    before = answers_of(&r);
    bench_send(&b, "inspect replica=2; inspect head=0"); /* needs the answer */
    bench_until_idle(&b);
    assert_int_equal(answers_of(&r), before + 1);
    assert_int_equal(b.s->attention_replica, 2);
    for (int i = 1; i <= 4; i++) {
        char line[64];
        snprintf(line, sizeof line, "inspect replica=%d; mark in the middle", i);
        bench_send(&b, line);
        bench_until_idle(&b);
    }
    bench_close(&b);
    record_must(&r, 1);
    record_free(&r);
}

/* Replicas are chosen at random moments of training, with live events. The re-run has the same bits. */
static void test_recorded(void **state)
{
    static const char *const typed[] = {"inspect replica=2",
                                        "next",
                                        "table",
                                        "arm 2",
                                        "eval",
                                        "inspect replica=+1 head=1",
                                        "ablate 0.1",
                                        "edit 6 4",
                                        "inspect replica=-1",
                                        "failing",
                                        "arm 1",
                                        "patch heads from=\"sort 2 1 3\"",
                                        "fork alibi",
                                        "inspect replica=3"};
    struct record r;
    struct bench b;
    (void)state;
    record_open(&b, &r, 2, true);
    pw_lab_send(b.lab, SMALL "race none,t5 seeds=3; prompt sort 3 1 2; table; train 400", PW_SEND_NOW);
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++) {
        int n = r.n;
        while (r.n < n + 40 && !pw_lab_idle(b.lab))
            bench_look(&b, 10);
        pw_lab_send(b.lab, typed[i], PW_SEND_NOW);
    }
    bench_until_idle(&b);
    assert_int_equal(b.s->replica, 3);
    assert_int_equal(b.s->prompt_replica, 3);
    assert_int_equal(b.s->prompt_step, 400); /* the answer followed training */
    bench_close(&b);
    record_must(&r, 1);
    assert_true(r.v.tokens > 20);
    record_free(&r);
}

/* A state of an older version has no member for the choice. */
static void test_old_state(void **state)
{
    struct life a, b;
    struct saved s = {0}, now = {0};
    struct pw_err err;
    (void)state;
    life_open(&a, 1, false);
    life_run(&a,
             SMALL "race none seeds=2; prompt sort 3 1 2; probe dispersion samples=1 every=4; train 3; wait");
    life_save(&a, &s);
    static const char member[] = ",\"replica\":\"1\"";
    int n = 0;
    for (char *at; (at = strstr(s.json.s, member)) != NULL; n++)
        memmove(at, at + sizeof member - 1, strlen(at + sizeof member - 1) + 1);
    assert_int_equal(n, 2 + 1); /* of the lab, the prompt and the watch */
    life_open(&b, 1, false);
    assert_int_equal(life_restore(&b, &s, &err), PW_OK);
    life_save(&b, &now);
    saved_free(&s);
    life_save(&a, &s);
    assert_true(saved_equal(&s, &now));
    char *at = strstr(s.json.s, member);
    at[sizeof member - 3] = '9'; /* the lab's: a replica that its arm doesn't have */
    assert_int_equal(life_restore(&b, &s, &err), PW_EUSER);
    assert_string_equal(err.msg, "state: the inspected replica 9 of arm 1 is missing");
    saved_free(&s);
    saved_free(&now);
    life_close(&a);
    life_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),        cmocka_unit_test(test_exports),
        cmocka_unit_test(test_choice),      cmocka_unit_test(test_refused),
        cmocka_unit_test(test_passed_over), cmocka_unit_test(test_replica_passed_over),
        cmocka_unit_test(test_recorded),    cmocka_unit_test(test_old_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
