/* test_codec_compare.c - tests that any different bit of a recorded event is found. The codec's tables
 * drive the test, so that a new member is covered without a change here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "lab/recording/verify.h"
#include "ref_codec.h"

#define MOST 1000 /* fields of all tables */

static struct tried {
    const struct pw_field *f;
    int times;
} tried[MOST];
static int n_tried;

static struct tried *tried_of(const struct pw_field *f)
{
    int i = 0;
    while (i < n_tried && tried[i].f != f)
        i++;
    assert_true(i < MOST);
    if (i == n_tried)
        tried[i] = (struct tried){.f = f};
    n_tried = i == n_tried ? n_tried + 1 : n_tried;
    return &tried[i];
}

/* Returns the event as a reader of a session decodes it. */
static struct pw_event *recorded(const struct pw_event *e)
{
    struct pw_str bytes = {0};
    struct pw_event *back;
    struct pw_err err;
    int unknown = 0;
    pw_event_encode(&bytes, e);
    assert_int_equal(pw_event_decode(&back, (int)e->kind, pw_str_text(&bytes), bytes.len, &unknown, &err),
                     PW_OK);
    assert_int_equal(unknown, 0);
    pw_str_fini(&bytes);
    return back;
}

struct pair {
    struct pw_event *then;
    const struct pw_event *now;
};

/* One member of `then` differs. The difference must be found and reported, unless the member depends on the
 * host or is prose (`host`). */
static void must_differ(const struct pair *p, const struct pw_field *f, bool host)
{
    struct pw_verdict v = {.end = PW_FOLLOW_EQUAL};
    bool same = pw_verify_same(&v, p->then, p->now);
    if (same != host)
        print_error("%s: %s: %s\n", pw_messages[p->then->kind].name, f->name,
                    same ? "a difference is not found" : "a member of the host, or prose, is compared");
    assert_true(same == host);
    tried_of(f)->times++;
    if (same)
        return;
    assert_int_equal(v.end, PW_FOLLOW_DIFFERENT);
    assert_true(v.what[0] != '\0');
    assert_non_null(strstr(v.text, " when it was recorded and is "));
    assert_true(f->type == PW_F_TEXT || f->type == PW_F_STRING || strcmp(v.recorded, v.now) != 0);
}

static void flip_fields(const struct pair *p, const struct pw_message *m, char *base, bool host);

/* All NaNs are equal, whatever their bits. */
static bool is_nan(const struct pw_field *f, const char *at)
{
    uint64_t bits = pw_load_bits(f->type, at);
    return f->type == PW_F_FLOAT    ? isnan(pw_bits_float(bits))
           : f->type == PW_F_DOUBLE ? isnan(pw_bits_double(bits))
                                    : f->type == PW_F_HALF && isnan(pw_from_half((uint16_t)bits));
}

/* Changes a value, compares, and restores it. */
static void flip_value(const struct pair *p, const struct pw_field *f, char *at, bool host)
{
    char *kept, other[] = "another", *string = other;
    if (f->type == PW_F_STRUCT) {
        flip_fields(p, f->of, at, host);
        return;
    }
    kept = malloc(f->size);
    assert_non_null(kept);
    memcpy(kept, at, f->size);
    if (f->type == PW_F_TEXT)
        at[0] = at[0] == 'a' ? 'b' : 'a', at[1] = at[0] == kept[0] ? at[1] : '\0';
    else if (f->type == PW_F_STRING)
        memcpy(at, &string, sizeof string);
    else if (f->type <= PW_F_LONG)
        pw_store_number(f->type, at,
                        f->type == PW_F_BOOL ? !pw_load_number(f->type, at)
                                             : pw_load_number(f->type, at) + (kept[0] ? -1 : 1));
    else
        pw_store_bits(f->type, at, is_nan(f, at) ? 0 : pw_load_bits(f->type, at) ^ 1);
    must_differ(p, f, host);
    memcpy(at, kept, f->size);
    free(kept);
}

static void flip_fields(const struct pair *p, const struct pw_message *m, char *base, bool host)
{
    for (int i = 0; i < m->n; i++) {
        const struct pw_field *f = &m->fields[i];
        char *at = base + f->at, *nothing = NULL;
        bool hosts = host || f->prose || (f->host != NULL && p->then->older == PW_EDITION);
        if (f->form == PW_FORM_ONE) {
            flip_value(p, f, at, hosts);
            continue;
        }
        size_t n = pw_field_count(f, base);
        if (f->form == PW_FORM_ARRAY)
            memcpy(&at, base + f->at, sizeof at);
        if (at == NULL || n == 0)
            continue;
        flip_value(p, f, at, hosts);
        flip_value(p, f, at + (n - 1) * f->size, hosts);
        if (f->form == PW_FORM_ARRAY) {
            memcpy(base + f->at, &nothing, sizeof nothing);
            must_differ(p, f, hosts);
            memcpy(base + f->at, &at, sizeof at);
        }
    }
}

/* Calls `each` for every field of a table, and for those of nested structs. */
static void each_field(const struct pw_message *m,
                       void (*each)(void *, const struct pw_message *, const struct pw_field *), void *arg)
{
    for (int i = 0; i < m->n; i++) {
        each(arg, m, &m->fields[i]);
        if (m->fields[i].type == PW_F_STRUCT)
            each_field(m->fields[i].of, each, arg);
    }
}

static void must_be_tried(void *kind, const struct pw_message *m, const struct pw_field *f)
{
    (void)m;
    if (f->type != PW_F_STRUCT && tried_of(f)->times == 0)
        fail_msg("%s: %s was never changed", (const char *)kind, f->name);
}

static void test_every_member(void **state)
{
    uint64_t rng = 29;
    (void)state;
    for (int kind = 0; kind < PW_EV_KINDS; kind++) {
        const struct pw_message *m = &pw_messages[kind];
        n_tried = 0; /* kinds share tables: each must have its members changed */
        for (int i = 0; i < 60; i++) {
            struct pw_event *e = codec_random((enum pw_event_kind)kind, &rng);
            struct pair p = {recorded(e), e};
            struct pw_verdict v = {.end = PW_FOLLOW_EQUAL};
            assert_true(pw_verify_same(&v, p.then, p.now));
            flip_fields(&p, m, (char *)p.then + m->at, false);
            pw_event_free(p.then);
            pw_event_free(e);
        }
        each_field(m, must_be_tried, (void *)(uintptr_t)m->name);
    }
}

/* ---- members that are not compared on purpose */

static void list_skipped(void *arg, const struct pw_message *m, const struct pw_field *f)
{
    (void)m;
    if (f->host != NULL || f->prose)
        pw_str_add(arg, "%s ", f->name);
}

/* A member that is newly marked as the host's, or as prose, must be listed here, too. */
static void test_members_not_compared(void **state)
{
    static const struct {
        enum pw_event_kind kind;
        const char *members;
    } known[] = {{PW_EV_TOKEN, "entropy "},
                 {PW_EV_CURSOR, "entropy "},
                 {PW_EV_LOOK, "entropy entropy "},
                 {PW_EV_ATTENTION, "chance scores "},
                 {PW_EV_FINDING, "title title x y claim found text commands "}};
    (void)state;
    for (int kind = 0; kind < PW_EV_KINDS; kind++) {
        struct pw_str text = {0};
        const char *expected = "";
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            expected = (int)known[i].kind == kind ? known[i].members : expected;
        each_field(&pw_messages[kind], list_skipped, &text);
        assert_string_equal(pw_str_text(&text), expected);
        pw_str_fini(&text);
    }
}

/* ---- sessions of older versions */

static void test_entropies(void **state)
{
    struct pw_event *then = pw_event_new(PW_EV_TOKEN), *now = pw_event_new(PW_EV_TOKEN);
    struct pw_difference d;
    (void)state;
    then->u.token.entropy = 1.0f;
    now->u.token.entropy = 1.0000001f;
    assert_false(pw_event_same(then, now, &d));
    assert_string_equal(d.what, "entropy at position 0");
    then->older = PW_EDITION; /* recorded by edition 0 */
    assert_true(pw_event_same(then, now, &d));
    pw_event_free(then);
    pw_event_free(now);
}

/* Sessions before edition 5 have text=seed in the lab's task. */
static void test_renamed_choices(void **state)
{
    struct pw_event *then = pw_event_new(PW_EV_LAB), *now = pw_event_new(PW_EV_LAB);
    struct pw_difference d;
    (void)state;
    snprintf(then->u.lab.task, sizeof then->u.lab.task, "sort text=seed sampling=seed held=on");
    snprintf(now->u.lab.task, sizeof now->u.lab.task, "sort text=appendix sampling=appendix held=on");
    assert_false(pw_event_same(then, now, &d)); /* a present writer does not write old names */
    then->older = PW_EDITION - 4;
    assert_true(pw_event_same(then, now, &d));
    snprintf(now->u.lab.task, sizeof now->u.lab.task, "sort text=paper sampling=appendix held=on");
    assert_false(pw_event_same(then, now, &d));
    snprintf(now->u.lab.task, sizeof now->u.lab.task, "sort text=appendix sampling=appendix held=o");
    assert_false(pw_event_same(then, now, &d));
    pw_event_free(then);
    pw_event_free(now);
}

static void count_fields(void *arg, const struct pw_message *m, const struct pw_field *f)
{
    int *n = arg;
    for (int edition = 0; edition <= PW_EDITION; edition++)
        n[edition] += edition == PW_EDITION || m->upto[edition] == 0 || f->number <= m->upto[edition];
}

/* A member that an older writer didn't have reads as zero. This zero must not be taken for a recorded
 * value. */
static void test_a_new_field_begins_an_edition(void **state)
{
    /* With the fields of messages that only later fields contain. */
    static const int known[PW_EDITION + 1] = {322, 348, 349, 352, 353, 353, 354, 373, 377, 379, 385};
    int n[PW_EDITION + 1] = {0};
    (void)state;
    for (int kind = 0; kind < PW_EV_KINDS; kind++)
        each_field(&pw_messages[kind], count_fields, n);
    for (int i = 0; i <= PW_EDITION; i++) {
        if (n[i] != known[i])
            print_error("edition %d has %d fields: a new field raises PW_EDITION (sessions/codec_int.h)\n", i,
                        n[i]);
        assert_int_equal(n[i], known[i]);
    }
}

static struct pw_event *a_row(int exact, int taught)
{
    struct pw_event *e = pw_event_new(PW_EV_EVAL);
    e->u.eval.n = 1;
    e->u.eval.rows = pw_alloc(1, sizeof *e->u.eval.rows);
    *e->u.eval.rows = (struct pw_eval_row){.length = 12, .samples = 8, .exact = exact, .taught = taught};
    return e;
}

static void test_fields_that_were_not_known(void **state)
{
    struct pw_event *e = a_row(5, 3), *without = a_row(5, 0), *none = a_row(0, 0);
    struct pw_difference d;
    (void)state;
    assert_false(pw_event_same(without, e, &d)); /* a recorded zero, by a writer that has the member */
    assert_string_equal(d.what, "teacher-forced at length 12");
    assert_string_equal(d.recorded, "0");
    assert_string_equal(d.now, "3");
    without->older = none->older = PW_EDITION;
    struct pw_event *back = recorded(without), *again = recorded(back);
    assert_int_equal(back->older, PW_EDITION); /* a copy of a record has the same edition */
    assert_int_equal(again->older, PW_EDITION);
    assert_true(pw_event_same(again, e, &d));
    assert_false(pw_event_same(none, e, &d)); /* version 0.1 recorded this member */
    assert_string_equal(d.what, "exact at length 12");
    without->older = 0;
    e->u.eval.rows->taught = 2;
    assert_false(pw_event_same(without, e, &d));
    pw_event_free(again);
    pw_event_free(back);
    pw_event_free(none);
    pw_event_free(without);
    pw_event_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_member),
        cmocka_unit_test(test_members_not_compared),
        cmocka_unit_test(test_entropies),
        cmocka_unit_test(test_renamed_choices),
        cmocka_unit_test(test_a_new_field_begins_an_edition),
        cmocka_unit_test(test_fields_that_were_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
