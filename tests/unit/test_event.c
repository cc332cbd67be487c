/* test_event.c - memory of each kind of event (ASan), and how what they tell is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

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
    pw_event_clear(e); /* a second time is harmless */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
