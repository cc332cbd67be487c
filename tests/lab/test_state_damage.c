/* test_state_damage.c - tests that an invalid lab state gives one error line and leaves the lab as before. */
#include "ref_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

#define SUBJECT                                                                                              \
    "task sort lengths=2..3 test=4..5; model tiny layers=1 width=8 heads=2 ffn=8 context=16; optim "         \
    "batch=2; "                                                                                              \
    "race t5,learned; ablate 0.1 mode=mean samples=4; train 3; wait; prompt sort 3 1 2; edit 6 1; back; "    \
    "train 5"

/* States whose members contradict each other, as text. */
static void test_lies(void **state)
{
    static const struct {
        const char *from, *to, *message;
    } lies[] = {
        {"\"format\":\"1\"", "\"format\":\"2\"", "state: unknown format '2'; a newer pewter may read it"},
        {"\"format\"", "\"formaT\"", "state: 'format' is missing or not a string"},
        {"\"task\":\"sort", "\"task\":\"sorr", "no task 'sorr'"},
        {"\"seed\":\"0\"", "\"seed\":\"-1\"", "state: lab: seed=-1: allowed are 0..18446744073709551615"},
        {"\"seed\":\"0\"", "\"seed\":0", "state: lab: 'seed' is missing or not a string"},
        {"\"paused\":\"off\",", "", "state: lab: 'paused' is missing or not a string"},
        {"\"paused\":\"off\",", "\"paused\":\"off\",\"mood\":\"good\",",
         "state: lab: has 14 members; this pewter expects 13"},
        {"\"current\":\"1\"", "\"current\":\"3\"", "state: the current arm 3 is missing"},
        {"\"arm\":\"2\"", "\"arm\":\"1\"",
         "state: arm 1, replica 1: is a duplicate, or the one before it is missing"},
        {"\"arm\":\"2\",\"replicate\":\"1\"", "\"arm\":\"2\",\"replicate\":\"3\"",
         "replica 3: is a duplicate, or the one before"},
        {"\"arm\":\"2\",\"replicate\":\"1\"", "\"arm\":\"1\",\"replicate\":\"2\"",
         "the replicas of an arm have different shapes"},
        {"\"step\":\"5\"", "\"step\":\"6\"", "is at step 6, but its model at 5"},
        {"\"step\":\"5\"", "\"step\":\"1e3\"", "step=1e3: allowed are 0..1000000000000"},
        {"\"until\":\"step\"", "\"until\":\"dawn\"", "until=dawn: allowed are step|acc|loss|flops"},
        {"\"checking\":\"off\"", "\"checking\":\"on\"", "0 right of 0 of 0 samples"},
        {"\"seen\":\"none\"", "\"seen\":\"much\"", "seen must be a number or 'none'"},
        {"\"at\":\"5\"", "\"at\":\"3\"", "state: pin: its numbers are inconsistent"},
        {"\"kept\":\"7\"", "\"kept\":\"99\"", "state: pin: 'tokens' must be "},
        {"\"edited\":[0", "\"edited\":[2", "'edited' has a number outside 0..1"},
        {"\"tokens\":[2", "\"tokens\":[3", "state: pin: 'tokens' do not start with the prompt"},
        {"\"sample\":[2", "\"sample\":[9999", "state: pin: 'sample' has a number outside 0.."},
        {"{\"lab\"", "[\"lab\"", "state: is not a JSON object"},
        {"test=4..5", "test=4..4", NULL}, /* another task of the same tokens */
        {"test=4..5", "test=4..5 alphabet=4",
         "state: arm 1, replica 1: its model has another vocabulary than the task"},
    };
    struct life l;
    struct saved good, now;
    (void)state;
    life_open(&l, 1, false);
    life_run(&l, SUBJECT);
    life_turns(&l, 4);
    life_save(&l, &good);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct saved bad = {.images = good.images};
        struct pw_err err = {.msg = ""};
        const char *at = strstr(good.json.s, lies[i].from);
        if (at == NULL)
            fail_msg("%s is not in %s", lies[i].from, good.json.s);
        pw_str_add(&bad.json, "%.*s%s%s", (int)(at - good.json.s), good.json.s, lies[i].to,
                   at + strlen(lies[i].from));
        enum pw_code code = life_restore(&l, &bad, &err);
        if (lies[i].message == NULL ? code != PW_OK
                                    : code != PW_EUSER || strstr(err.msg, lies[i].message) == NULL)
            fail_msg("%s: says '%s', not '%s'", lies[i].to, err.msg, lies[i].message);
        if (lies[i].message == NULL)
            assert_int_equal(life_restore(&l, &good, &err), PW_OK);
        pw_str_fini(&bad.json);
    }
    life_save(&l, &now);
    assert_true(saved_equal(&now, &good));
    saved_free(&good);
    saved_free(&now);
    life_close(&l);
}

static uint32_t dice(struct pw_rng *rng, size_t n)
{
    return pw_rng_below(rng, (uint32_t)n);
}

/* Damages n bytes of text in one of the ways in which files are damaged or forged; returns how many
 * remain. */
static size_t damage(char *s, size_t n, struct pw_rng *rng)
{
    static const char *const numbers[] = {"0",     "-1",  "1",   "99",   "2147483647", "99999999999999999999",
                                          "1e999", "nan", "0.5", "65536"};
    size_t at = dice(rng, n), span = 1 + dice(rng, 12), left = n - at;
    const char *number = numbers[dice(rng, sizeof numbers / sizeof *numbers)];
    span = span < left ? span : left;
    switch (dice(rng, 5)) {
    case 0: s[at] ^= (char)(1 << dice(rng, 7)); break;
    case 1: memmove(s + at, s + at + span, left - span); return n - span;
    case 2: memset(s + at, "0\"{[, "[dice(rng, 6)], span); break;
    case 3: return at; /* truncated */
    default:           /* another number in the place of the next one */
        while (at < n && (s[at] < '0' || s[at] > '9'))
            at++;
        memcpy(s + at, number, strlen(number) < n - at ? strlen(number) : n - at);
    }
    return n;
}

static void copy(struct saved *to, const struct saved *from)
{
    *to = (struct saved){.images.n = from->images.n};
    pw_str_put(&to->json, from->json.s, from->json.len);
    for (int i = 0; i < from->images.n; i++) {
        to->images.at[i].n = from->images.at[i].n;
        to->images.at[i].bytes = malloc(from->images.at[i].n);
        assert_non_null(to->images.at[i].bytes);
        memcpy(to->images.at[i].bytes, from->images.at[i].bytes, from->images.at[i].n);
    }
}

/* Damages one file: 0 is the text, i is image i - 1. */
static void damage_one(struct saved *s, int which, struct pw_rng *rng)
{
    if (which == 0) {
        s->json.len = damage(s->json.s, s->json.len, rng);
        s->json.s[s->json.len] = '\0';
        return;
    }
    size_t n = s->images.at[which - 1].n, head = dice(rng, 4) > 0 && n > 2000 ? 2000 : n;
    char *bytes = s->images.at[which - 1].bytes;
    size_t now = damage(bytes, head, rng);
    memmove(bytes + now, bytes + head, n - head);
    s->images.at[which - 1].n = now + n - head;
}

/* A damaged state gives one line and leaves everything as it was. If it is still valid, the lab must work. */
static void test_damage(void **state)
{
    enum { TIMES = 2000 };
    struct life l;
    struct saved good, now;
    struct pw_rng rng;
    int refused = 0;
    (void)state;
    life_open(&l, 1, false);
    life_run(&l, SUBJECT);
    life_turns(&l, 3);
    life_save(&l, &good);
    for (int i = 0; i < TIMES; i++) {
        struct saved bad;
        struct pw_err err = {.msg = ""};
        const struct pw_model *model = l.lab->replicas[1].model;
        pw_rng_init(&rng, 5, PW_STREAM_TEST, (uint64_t)i);
        copy(&bad, &good);
        damage_one(&bad, (int)dice(&rng, 1 + (size_t)bad.images.n), &rng);
        if (life_restore(&l, &bad, &err) == PW_OK) {
            life_turns(&l, 2);
            life_try(&l, "prompt sort 2 3", &err);
            life_try(&l, "inspect", &err);
            life_try(&l, "back", &err);
            assert_int_equal(life_restore(&l, &good, &err), PW_OK);
        } else {
            refused++;
            if (err.msg[0] == '\0' || strchr(err.msg, '\n') != NULL || l.lab->replicas[1].model != model)
                fail_msg("damage %d: '%s'", i, err.msg);
        }
        saved_free(&bad);
    }
    life_save(&l, &now);
    assert_true(saved_equal(&now, &good));
    assert_true(refused > TIMES / 2);
    saved_free(&good);
    saved_free(&now);
    life_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
