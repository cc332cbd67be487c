/* test_queue.c - tests that the reader's queue is bounded in bytes, however long the reader stalls. Dropped
 * events must be counted or superseded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <cmocka.h>

#include "lab/core/queue.h"

#define MOST 20000 /* bytes */

static struct pw_event *event(enum pw_event_kind kind, int arm)
{
    static uint64_t seq;
    struct pw_event *e = pw_event_new(kind);
    e->seq = ++seq;
    e->arm = arm;
    e->replica = arm > 0;
    return e;
}

static void put(struct pw_queue *q, enum pw_event_kind kind, int arm)
{
    struct pw_event *e = event(kind, arm);
    if (kind == PW_EV_ATTENTION) {
        e->u.attention.T = e->u.attention.layers = e->u.attention.heads = 1;
        e->u.attention.T = 30;
        e->u.attention.probs = calloc(900, sizeof(uint16_t));
    }
    pw_queue_put(q, e);
}

static void put_live_eval(struct pw_queue *q, int arm, bool live)
{
    struct pw_event *e = event(PW_EV_EVAL, arm);
    e->u.eval.live = live;
    pw_queue_put(q, e);
}

static int count(const struct pw_queue *q, enum pw_event_kind kind)
{
    int n = 0;
    for (int i = 0; i < q->n; i++)
        n += q->event[i] != NULL && q->event[i]->kind == kind;
    return n;
}

/* Takes all events and returns their number. Adds up the gaps and steps. */
static int take_all(struct pw_queue *q, int64_t *gaps, int64_t *steps)
{
    struct pw_event **e;
    int n, all = 0;
    uint64_t last = 0;
    bool marked;
    do {
        marked = pw_queue_take(q, &e, &n);
        for (int i = 0; i < n; i++) {
            assert_true(e[i]->seq >= last);
            last = e[i]->seq;
            *gaps += e[i]->kind == PW_EV_GAP ? e[i]->u.gap : 0;
            *steps += e[i]->kind == PW_EV_STEP;
            pw_event_free(e[i]);
        }
        all += n;
        free(e);
    } while (marked);
    assert_int_equal(q->bytes, 0);
    return all;
}

static void test_steps(void **state)
{
    struct pw_queue q = {.most = MOST};
    int64_t gaps = 0, steps = 0;
    (void)state;
    for (int i = 0; i < 5000; i++) {
        put(&q, PW_EV_STEP, 1 + i % 2);
        if (i % 10 == 0)
            put(&q, PW_EV_UPDATES, 1);
        assert_true(q.bytes <= MOST);
    }
    put(&q, PW_EV_NOTE, 0); /* not a metric: it is queued */
    assert_int_equal(count(&q, PW_EV_NOTE), 1);
    take_all(&q, &gaps, &steps);
    assert_int_equal(gaps, 0);
    int64_t before = steps;
    for (int arm = 1; arm <= 2; arm++) /* the next step of each arm counts the drops before it */
        put(&q, PW_EV_STEP, arm);
    assert_int_equal(count(&q, PW_EV_GAP), 2);
    take_all(&q, &gaps, &steps);
    assert_true(before < 5000);
    assert_int_equal(gaps + steps, 5002);
    pw_queue_fini(&q);
}

/* Answers, maps, tables, states and live evaluations, while the reader is stalled. */
static void test_superseded(void **state)
{
    struct pw_queue q = {.most = MOST};
    int64_t gaps = 0, steps = 0;
    (void)state;
    for (int i = 0; i < 1000; i++) {
        q.most = i < 998 ? MOST : 1; /* finally only the newest fit */
        for (int arm = 1; arm <= 2; arm++) {
            put(&q, PW_EV_PROMPT, arm);
            put(&q, PW_EV_TOKEN, arm);
            put(&q, PW_EV_TOKEN, arm);
            put(&q, PW_EV_ATTENTION, arm);
            put(&q, PW_EV_LOOK, arm);
            put(&q, PW_EV_TABLE, arm);
            put_live_eval(&q, arm, true);
            put(&q, PW_EV_STATE, 0);
            assert_true(q.bytes <= 2 * MOST);
        }
    }
    assert_int_equal(count(&q, PW_EV_PROMPT), 2); /* the newest answer of each arm is complete */
    assert_int_equal(count(&q, PW_EV_TOKEN), 4);
    assert_int_equal(count(&q, PW_EV_ATTENTION), 2);
    assert_int_equal(count(&q, PW_EV_EVAL), 2);
    put_live_eval(&q, 1, false); /* requested: it stays, and replaces none */
    put_live_eval(&q, 1, false);
    assert_int_equal(count(&q, PW_EV_EVAL), 4);
    take_all(&q, &gaps, &steps);
    pw_queue_fini(&q);
}

/* An imported model's attention belongs to no answer. Events before a mark aren't dropped. */
static void test_kept(void **state)
{
    struct pw_queue q = {.most = 1};
    int64_t gaps = 0, steps = 0;
    (void)state;
    struct pw_event *foreign = event(PW_EV_ATTENTION, 1);
    foreign->u.attention.source[0] = 'f';
    pw_queue_put(&q, foreign);
    put(&q, PW_EV_PROMPT, 1);
    put(&q, PW_EV_TOKEN, 1);
    pw_queue_mark(&q);
    put(&q, PW_EV_TOKEN, 1);
    put(&q, PW_EV_PROMPT, 1);
    assert_int_equal(count(&q, PW_EV_ATTENTION), 1);
    assert_int_equal(count(&q, PW_EV_PROMPT), 2);
    assert_int_equal(count(&q, PW_EV_TOKEN), 1);
    struct pw_event **e;
    int n;
    assert_true(pw_queue_take(&q, &e, &n));
    assert_int_equal(n, 3);
    for (int i = 0; i < n; i++)
        pw_event_free(e[i]);
    free(e);
    assert_int_equal(take_all(&q, &gaps, &steps), 1);
    pw_queue_fini(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_superseded),
        cmocka_unit_test(test_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
