/* test_sensitivity.c - tests the verdict on learning rate and weight decay. Few seeds without a difference
 * don't support the claim; small intervals do; one certain large difference contradicts it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ref_races.h"

static const char *const pes[] = {"none", "alibi", "rotary", NULL};

/* Judges nine settings at which all encodings have 50 % on longer inputs, but one has `apart` points less
 * at setting `other`. */
static void expect(int other, double apart, double step, double in_range, int runs, int verdict)
{
    static const char *const rates[] = {"1", "3", "5"}, *const decays[] = {"0", "0.05", "0.1"};
    struct pw_snapshot *s = pw_snapshot_new();
    struct pw_finding f;
    for (int i = 0; i < 9; i++) {
        char topic[64];
        double mean[3] = {50, 50 - (i == other ? apart : 0), 50};
        snprintf(topic, sizeof topic, "rate %s decay %s", rates[i / 3], decays[i % 3]);
        races_add(s, "sensitivity", topic, "reproduce sensitivity", pes, mean, step, i == 8 ? in_range : 99,
                  runs);
    }
    races_judge(&f, s, "sensitivity", (const char *const[]){NULL});
    assert_int_equal(f.n_claims, 1);
    if (f.claims[0].verdict != verdict)
        fail_msg("%s: %s", pw_claim_verdicts[f.claims[0].verdict], f.claims[0].found);
    assert_true(strlen(f.claims[0].found) < sizeof f.claims[0].found - 1);
    pw_finding_fini(&f);
    pw_snapshot_free(s);
}

static void test_verdicts(void **state)
{
    (void)state;
    expect(-1, 0, .5, 99, 7, PW_CLAIM_TOY);
    expect(-1, 0, .5, 99, 3, PW_CLAIM_INCONCLUSIVE); /* too few seeds to support the claim */
    expect(-1, 0, 10, 99, 7, PW_CLAIM_INCONCLUSIVE); /* the spread between seeds is too large */
    expect(2, 20, .5, 99, 7, PW_CLAIM_CONTRADICTED);
    expect(2, 20, .5, 99, 6, PW_CLAIM_INCONCLUSIVE);
    expect(2, 3, .1, 99, 7, PW_CLAIM_TOY); /* certain, but small */
    expect(2, 20, 20, 99, 7, PW_CLAIM_INCONCLUSIVE);
    expect(-1, 0, .5, 90, 7, PW_CLAIM_INCONCLUSIVE); /* one setting has not learned the trained lengths */
}

/* A verdict refuses a setting that was measured on another task, or with fewer seeds. */
static void test_made_otherwise(void **state)
{
    static const char *const made[] = {"reproduce sensitivity task=parity", "reproduce sensitivity seeds=2"};
    static const double mean[] = {50, 50, 50};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct pw_snapshot *s = pw_snapshot_new();
        struct pw_finding f;
        char why[256];
        races_add(s, "sensitivity", "rate 1 decay 0", "reproduce sensitivity", pes, mean, .5, 99, 7);
        races_judge(&f, s, "sensitivity", (const char *const[]){NULL});
        pw_finding_fini(&f);
        races_add(s, "sensitivity", "rate 5 decay 0.1", made[i], pes, mean, .5, 99, 7);
        snprintf(why, sizeof why,
                 "judge: 'sensitivity rate 5 decay 0.1' was made by '%s', not by 'reproduce sensitivity'",
                 made[i]);
        races_refuse(s, "sensitivity", (const char *const[]){NULL}, why);
        snprintf(why, sizeof why,
                 "judge: 'sensitivity rate 1 decay 0' was made by 'reproduce sensitivity', not by '%s'",
                 made[i]);
        races_refuse(s, "sensitivity",
                     i == 0 ? (const char *const[]){"task", "parity", NULL}
                            : (const char *const[]){"seeds", "2", NULL},
                     why);
        pw_snapshot_free(s);
    }
}

static void test_size(void **state)
{
    static const struct {
        const char *made, *options[5];
        int verdict;
    } cases[] = {
        {"reproduce sensitivity protocol=paper", {"protocol", "paper"}, PW_CLAIM_REPRODUCED},
        {"reproduce sensitivity protocol=paper steps=9", {"protocol", "paper", "steps", "9"}, PW_CLAIM_TOY},
        {"reproduce sensitivity task=\"sort lengths=2..3\" protocol=paper",
         {"protocol", "paper", "task", "sort lengths=2..3"},
         PW_CLAIM_TOY}};
    static const char *const rates[] = {"1", "3", "5"}, *const decays[] = {"0", "0.05", "0.1"};
    static const double mean[] = {50, 50, 50};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct pw_snapshot *s = pw_snapshot_new();
        struct pw_finding f;
        for (int i = 0; i < 9; i++) {
            char topic[64];
            snprintf(topic, sizeof topic, "rate %s decay %s", rates[i / 3], decays[i % 3]);
            races_add(s, "sensitivity", topic, cases[c].made, pes, mean, .5, 99, 7);
        }
        races_judge(&f, s, "sensitivity", cases[c].options);
        assert_int_equal(f.claims[0].verdict, cases[c].verdict);
        pw_finding_fini(&f);
        pw_snapshot_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_verdicts), cmocka_unit_test(test_made_otherwise),
                                       cmocka_unit_test(test_size)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
