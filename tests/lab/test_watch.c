/* test_watch.c - tests watches: when they measure, which events end them, and that a re-run has the same
 * findings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ref_record.h"
#include "ref_state.h"

#define SMALL                                                                                                \
    "task sort lengths=2..4 test=5..6; model tiny width=16 layers=1 heads=2 context=32; optim batch=4; "

/* "2@20 2@40": arm and step of every finding. */
static const char *found(const struct record *r, struct pw_str *out)
{
    pw_str_clear(out);
    for (int i = 0; i < r->n; i++)
        if (r->e[i]->kind == PW_EV_FINDING)
            pw_str_add(out, "%s%d@%lld", out->len > 0 ? " " : "", r->e[i]->arm, (long long)r->e[i]->step);
    return pw_str_text(out);
}

static bool noted(const struct record *r, const char *text)
{
    for (int i = 0; i < r->n; i++)
        if (r->e[i]->kind == PW_EV_NOTE && strstr(r->e[i]->u.text, text) != NULL)
            return true;
    return false;
}

struct case_of {
    const char *script, *found, *note;
};

/* Each record is also re-run, and must be equal to the bit. */
static void measured_at_multiples(void **state)
{
    static const struct case_of cases[] = {
        {"race none,alibi; probe dispersion samples=1 every=10 arm=2; arm 1; train 25", "2@0 2@10 2@20",
         NULL},
        {"race none,alibi; probe dispersion samples=1 every=10; probe dispersion samples=1 every=15 arm=2; "
         "train 31; probe",
         "1@0 2@0 1@10 2@15 1@20 1@30 2@30", "repeated, of arm 2: probe dispersion samples=1 every=15 arm=2"},
        {"train 7; probe dispersion samples=1 every=5; train 7", "1@7 1@10", NULL},
        {"probe dispersion samples=1 every=5; probe dispersion samples=2 every=4; train 9", "1@0 1@0 1@4 1@8",
         NULL}, /* a watch of the same arm replaces the first */
        {"probe dispersion samples=1 every=5; train 6; probe dispersion every=0; train 6", "1@0 1@5", NULL},
        {"probe dispersion samples=1 every=5; train 6; probe off; train 6", "1@0 1@5", NULL},
        {"probe dispersion samples=1 every=5; train 6; reset; pe t5; train 6", "1@0 1@5 1@5", NULL},
        {"race none,t5,alibi; arm 2; probe dispersion samples=1 every=5; train 6; arm drop 2; train 6",
         "2@0 2@5", "probe dispersion every=5 ends: one of its arms was dropped"},
        {"race none,t5; probe dispersion samples=1 every=5 arm=2; train 6; train 10 arm=1", "2@0 2@5", NULL},
        {"race none,t5 seeds=2; set share flops; probe dispersion samples=1 every=3 arm=2; train 7",
         "2@0 2@3 2@6", NULL},
        {"race none,t5; probe distance every=4; train 9", "0@0 0@0 0@0", NULL},
        {"probe dispersion samples=1 every=5; pause; step 7", "1@0", NULL}, /* starts no training */
        {"probe dispersion samples=1 every=5; train 9; prompt sort 2 1; eval samples=8; train 2; pe alibi; "
         "train 9",
         "1@0 1@5 1@10 1@15 1@20", NULL},
    };
    struct pw_str text = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct record r;
        struct bench b;
        record_open(&b, &r, 1 + (int)i % 3, i % 2 == 0);
        bench_must(&b, SMALL);
        bench_must(&b, cases[i].script);
        bench_close(&b);
        if (strcmp(found(&r, &text), cases[i].found) != 0)
            fail_msg("%s: found %s, not %s", cases[i].script, pw_str_text(&text), cases[i].found);
        if (cases[i].note != NULL && !noted(&r, cases[i].note))
            fail_msg("%s: not noted: %s", cases[i].script, cases[i].note);
        record_must(&r, 1 + (int)(i + 1) % 3);
        record_free(&r);
    }
    pw_str_fini(&text);
}

/* The cancelling command is typed during a long measurement. The re-run must cancel it, too. */
static void begin_to_cancel(struct bench *b, struct record *r)
{
    record_open(b, r, 2, true);
    bench_must(b, SMALL "train 3");
}

static void end_cancelled(struct bench *b, struct record *r)
{
    bench_close(b);
    record_must(r, 1);
    record_free(r);
}

/* A cancelled measurement gives no finding. The next one still comes at its step. */
static void cancelled(void **state)
{
    struct record r;
    struct bench b;
    struct pw_str text = {0};
    (void)state;
    begin_to_cancel(&b, &r);
    bench_send(&b, "probe dispersion samples=4096 every=4");
    bench_send(&b, "train 6");
    bench_send(&b, "cancel probe");
    for (int i = 0; i < 1000 && b.steps < 1; i++)
        bench_look(&b, 10);
    bench_send(&b, "cancel probe");
    bench_send(&b, "probe dispersion samples=1 every=4");
    bench_until_idle(&b);
    assert_null(strstr(found(&r, &text), "@0"));
    assert_non_null(strstr(text.s, "1@8"));
    end_cancelled(&b, &r);
    pw_str_fini(&text);
}

/* Sequences are drawn during the measurement: a switch to another task with the same tokens cancels it. */
static void cancelled_by_another_task(void **state)
{
    struct record r;
    struct bench b;
    struct pw_str text = {0};
    (void)state;
    begin_to_cancel(&b, &r);
    bench_send(&b, "probe dispersion samples=4096");
    bench_send(&b, "task sort lengths=2..3 test=4..5");
    bench_until_idle(&b);
    assert_string_equal(found(&r, &text), "");
    assert_true(noted(&r, "cancelled: probe dispersion"));
    end_cancelled(&b, &r);
    pw_str_fini(&text);
}

static void refused(void **state)
{
    static const char *const lines[][2] = {
        {"probe buckets every=5", "probe buckets: every=5: it measures no arm"},
        {"probe dispersion every=-1", "every=-1: allowed are 0..1000000000"},
        {"probe dispersion every=often", "every=often"},
        {"probe dispersion every=0", "probe dispersion: every=0: there is no such watch"},
        {"probe off", "probe off: no watch is active; 'probe NAME every=N' starts one"},
        {"probe off 3", "probe off: too many arguments; 'probe NAME every=0' ends one watch"},
        {"probe dispersion every=5 arm=4", "no arm 4"},
        {"probe dispersion every=5 samples=0", "samples=0"},
        {"probe dispersion every=5 what=1", "no option 'what'"},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, SMALL);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        bench_run(&b, lines[i][0]);
        if (b.errors != 1 || strstr(b.error, lines[i][1]) == NULL)
            fail_msg("%s: %d errors: %s", lines[i][0], b.errors, b.error);
    }
    bench_must(&b, "race none,t5,alibi,rotary,none,t5,alibi,rotary");
    for (int i = 1; i <= 8; i++) {
        char line[64];
        snprintf(line, sizeof line, "probe dispersion samples=1 every=5 arm=%d", i);
        bench_must(&b, line);
    }
    bench_run(&b, "probe distance every=3");
    assert_non_null(
        strstr(b.error, "probe distance: every=3: there are 8 watches, the limit; 'probe off' ends them"));
    bench_close(&b);
}

/* A saved state may have been forged. */
static void states_are_checked(void **state)
{
    static const char *const bad[][2] = {
        {"[{\"line\":\"train 5\",\"every\":\"5\",\"arm\":\"1\"}]",
         "'train 5' is not a probe that can be repeated"},
        {"[{\"line\":\"probe none of these\",\"every\":\"5\",\"arm\":\"1\"}]",
         "'probe none of these' is not a probe that can be repeated"},
        {"[{\"line\":\"\",\"every\":\"5\",\"arm\":\"1\"}]", "state: "},
        {"[{\"line\":\"probe dispersion\",\"every\":\"0\",\"arm\":\"1\"}]", "every=0"},
        {"[{\"line\":\"probe dispersion\",\"every\":\"5\",\"arm\":\"9\"}]", "arm=9"},
        {"[{\"line\":\"probe dispersion\",\"every\":\"5\"}]", "'arm' is missing"},
        {"[1,2,3,4,5,6,7,8,9]", "state: watches: not a list of at most 8"},
        {"{}", "state: watches: not a list of at most 8"},
    };
    struct life l;
    struct saved s;
    struct pw_err err;
    (void)state;
    life_open(&l, 1, false);
    life_run(&l, SMALL "probe dispersion samples=1 every=5");
    life_save(&l, &s);
    const char *list = strstr(s.json.s, "\"watches\":");
    assert_non_null(list);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct saved x = {.images = s.images};
        pw_str_put(&x.json, s.json.s, (size_t)(list - s.json.s));
        pw_str_add(&x.json, "\"watches\":%s%s", bad[i][0], strchr(list, ']') + 1);
        if (life_restore(&l, &x, &err) == PW_OK || strstr(err.msg, bad[i][1]) == NULL)
            fail_msg("%s: %s", bad[i][0], err.msg);
        pw_str_fini(&x.json);
    }
    assert_int_equal(life_restore(&l, &s, &err), PW_OK);
    saved_free(&s);
    life_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measured_at_multiples),     cmocka_unit_test(cancelled),
        cmocka_unit_test(cancelled_by_another_task), cmocka_unit_test(refused),
        cmocka_unit_test(states_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
