/* test_state.c - a laboratory that was saved and restored goes on as the one that was not interrupted: the same
 * losses, evaluations, tokens, attention and tables, and at the end the same state, to the bit. What is no such state
 * gives one line, and the laboratory is as before. */
#include "ref_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What shows the most of a model: kernels, tables and what training met; exact match; a prompt head by head. */
#define LOOK "digest; table; eval samples=20; prompt sort 3 1 4 1; inspect layer=1 head=2"

static const struct {
    const char *name, *begin; /* begins to train */
    int turns;                /* of training until it is saved */
    const char *after;        /* when training has ended */
} cases[] = {
    {"none", "train 25", 12, LOOK},
    {"learned", "pe learned; train 25", 12, LOOK},
    {"sinusoidal", "pe sinusoidal; train 25", 12, LOOK},
    {"t5", "pe t5; train 25", 12, LOOK},
    {"alibi", "pe alibi; train 25", 12, LOOK},
    {"rotary", "pe rotary; train 25", 12, LOOK},
};

/* The first line in which two lives differ. */
static void assert_same_told(const char *name, struct life *a, struct life *b)
{
    const char *x = life_told(a), *y = life_told(b);
    while (*x != '\0' && strcspn(x, "\n") == strcspn(y, "\n") && strncmp(x, y, strcspn(x, "\n")) == 0) {
        x += strcspn(x, "\n") + 1;
        y += strcspn(y, "\n") + 1;
    }
    if (*x != '\0' || *y != '\0')
        fail_msg("%s: one told '%.*s', the other '%.*s'", name, (int)strcspn(x, "\n"), x,
                 (int)strcspn(y, "\n"), y);
}

static void run_case(const char *name, const char *begin, int turns, const char *after)
{
    struct life whole, saved, restored;
    struct saved at, again, end[3];
    struct pw_err err;
    life_open(&whole, 2); /* nobody saves it */
    life_run(&whole, begin);
    life_train(&whole);
    life_run(&whole, after);

    life_open(&saved, 2);
    life_run(&saved, begin);
    if (!life_turns(&saved, turns))
        fail_msg("%s: training ended before turn %d", name, turns);
    life_save(&saved, &at);
    life_told(&saved);
    pw_str_clear(&saved.told);
    life_train(&saved);
    life_run(&saved, after);

    life_open(&restored, 1);
    if (life_restore(&restored, &at, &err) != PW_OK)
        fail_msg("%s: %s", name, err.msg);
    life_save(&restored, &again);
    if (!saved_equal(&at, &again))
        fail_msg("%s: what was restored is another state:\n%s\n%s", name, at.json.s, again.json.s);
    assert_string_equal(life_told(&restored), "");
    life_train(&restored);
    life_run(&restored, after);

    assert_same_told(name, &saved, &restored);
    life_save(&whole, &end[0]);
    life_save(&saved, &end[1]);
    life_save(&restored, &end[2]);
    if (!saved_equal(&end[0], &end[1]))
        fail_msg("%s: saving changed what came of it", name);
    if (!saved_equal(&end[1], &end[2]))
        fail_msg("%s: went on to\n%s\nand not to\n%s", name, end[2].json.s, end[1].json.s);
    for (int i = 0; i < 3; i++)
        saved_free(&end[i]);
    saved_free(&at);
    saved_free(&again);
    life_close(&whole);
    life_close(&saved);
    life_close(&restored);
}

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_case(cases[i].name, cases[i].begin, cases[i].turns, cases[i].after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
