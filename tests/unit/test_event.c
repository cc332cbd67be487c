/* test_event.c - tests the memory of each kind of event (ASan), and the text of events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ref_codec.h"
#include "sessions/event.h"

static void test_memory(void **state)
{
    (void)state;
    pw_event_free(NULL);
    for (int kind = 0; kind < PW_EV_KINDS; kind++) {
        struct pw_event *e = pw_event_new((enum pw_event_kind)kind);
        assert_int_equal(e->kind, kind);
        assert_int_equal(e->seq, 0);
        pw_event_free(e); /* without arrays */
    }
    struct pw_event *e = pw_event_new(PW_EV_ATTENTION);
    e->seq = 7;
    e->u.attention.probs = calloc(4, sizeof(uint16_t));
    e->u.attention.bias = calloc(4, sizeof(uint16_t));
    pw_event_clear(e);
    assert_null(e->u.attention.probs);
    assert_int_equal(e->kind, PW_EV_ATTENTION);
    assert_int_equal(e->seq, 7);
    pw_event_clear(e); /* a second call is harmless */
    pw_event_free(e);
}

static void test_names(void **state)
{
    static const char *const want[] = {"embed", "layers.0", "layers.1", "head", "pe"};
    const uint64_t digest[] = {0x0123456789abcdef, 7};
    char name[24], text[33];
    (void)state;
    for (int i = 0; i < 5; i++) {
        pw_block_name(name, i, 5);
        assert_string_equal(name, want[i]);
    }
    pw_block_name(name, 64, PW_MAX_BLOCKS);
    assert_string_equal(name, "layers.63");
    pw_digest_text(text, digest);
    assert_string_equal(text, "0123456789abcdef0000000000000007");
}

/* For every kind: a copy has the same values in its own memory, and moving an event leaves the source
 * empty. */
static void test_copies(void **state)
{
    uint64_t rng = 5;
    (void)state;
    for (int k = 0; k < PW_EV_KINDS; k++)
        for (int i = 0; i < 20; i++) {
            struct pw_event *e = codec_random((enum pw_event_kind)k, &rng), *copy = pw_event_copy(e);
            struct pw_difference d;
            e->seq = copy->seq = 9;
            assert_true(pw_event_same(e, copy, &d));
            assert_int_equal(pw_event_bytes(e), pw_event_bytes(copy));
            struct pw_event *moved = pw_event_move(e);
            assert_true(pw_event_same(moved, copy, &d));
            assert_int_equal(moved->seq, 9);
            pw_event_free(e); /* ASan: each array is freed once */
            pw_event_free(copy);
            pw_event_free(moved);
        }
}

static void test_bytes(void **state)
{
    struct pw_event *step = pw_event_new(PW_EV_STEP), *map = pw_event_new(PW_EV_ATTENTION);
    (void)state;
    assert_true(pw_event_bytes(step) <= 128); /* one event per step is queued for a stalled reader */
    size_t before = pw_event_bytes(map);
    map->u.attention.T = 10;
    map->u.attention.layers = map->u.attention.heads = 1;
    map->u.attention.probs = calloc(100, sizeof(uint16_t));
    assert_int_equal(pw_event_bytes(map), before + 200);
    pw_event_free(step);
    pw_event_free(map);
}

/* Only fields of an event itself own memory: pw_event_free and pw_event_copy don't descend into entries. */
static void test_entries_own_nothing(void **state)
{
    (void)state;
    for (int k = 0; k < PW_EV_KINDS; k++)
        for (int i = 0; i < pw_messages[k].n; i++) {
            const struct pw_message *of = pw_messages[k].fields[i].of;
            for (int j = 0; of != NULL && j < of->n; j++) {
                assert_false(pw_field_owns(&of->fields[j]));
                for (int n = 0; of->fields[j].of != NULL && n < of->fields[j].of->n; n++)
                    assert_false(pw_field_owns(&of->fields[j].of->fields[n]));
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_entries_own_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
