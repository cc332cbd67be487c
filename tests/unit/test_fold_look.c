/* test_fold_look.c - tests the cursor in the answer and the computation of its token. Both slots belong to
 * one prompt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sessions/fold.h"

static void fold_and_free(struct pw_snapshot *s, struct pw_event *e)
{
    pw_fold(s, e);
    pw_event_free(e);
}

static void put_prompt(struct pw_snapshot *s, int id)
{
    struct pw_event *e = pw_event_new(PW_EV_PROMPT);
    e->u.prompt.id = id;
    e->u.prompt.n = e->u.prompt.n_prompt = id > 0 ? 3 : 0;
    e->u.prompt.edited = calloc(3, sizeof(bool));
    fold_and_free(s, e);
}

static void put_cursor(struct pw_snapshot *s, int prompt, int pos)
{
    struct pw_event *e = pw_event_new(PW_EV_CURSOR);
    e->u.cursor.at.prompt = prompt;
    e->u.cursor.at.pos = pos;
    fold_and_free(s, e);
}

static void put_look(struct pw_snapshot *s, int prompt, int pos)
{
    struct pw_event *e = pw_event_new(PW_EV_LOOK);
    struct pw_ev_inspection *k = &e->u.look;
    k->prompt = prompt;
    k->pos = pos;
    k->n = k->n_parts = 1;
    k->token = calloc(1, sizeof *k->token);
    k->parts = calloc(1, sizeof *k->parts);
    k->part = calloc(1, sizeof *k->part);
    k->mean = calloc(1, sizeof *k->mean);
    k->lens = calloc(1, sizeof *k->lens);
    k->lens_prob = calloc(1, sizeof *k->lens_prob);
    k->lens_rank = calloc(1, sizeof *k->lens_rank);
    k->part[0] = pos;
    fold_and_free(s, e);
}

static void slots(void **state)
{
    struct pw_snapshot *s = pw_snapshot_new();
    (void)state;
    put_cursor(s, 1, 4); /* of an unknown prompt */
    put_look(s, 1, 4);
    assert_false(s->has_cursor || s->has_look);
    put_prompt(s, 1);
    put_cursor(s, 1, 4);
    put_look(s, 1, 4);
    assert_true(s->has_cursor && s->has_look);
    put_look(s, 1, 5);
    assert_int_equal(s->look.pos, 5);
    assert_true(s->look.part[0] == 5);
    put_cursor(s, 1, 5);
    assert_int_equal(s->cursor.at.pos, 5);
    put_prompt(s, 1); /* the same prompt is decoded again */
    assert_true(s->has_cursor && s->has_look);
    put_prompt(s, 2);
    assert_false(s->has_cursor || s->has_look);
    put_cursor(s, 1, 4); /* arrives late */
    put_look(s, 1, 4);
    assert_false(s->has_cursor || s->has_look);
    put_cursor(s, 2, 4);
    put_look(s, 2, 4);
    put_prompt(s, 0); /* no prompt is pinned */
    assert_false(s->has_cursor || s->has_look);
    pw_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(slots)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
