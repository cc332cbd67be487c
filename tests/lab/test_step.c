/* test_step.c - tests stepping through the answer of the pinned prompt: the moves of the cursor, the events
 * for its token, and edits. Edits must leave earlier tokens unchanged, and results must be deterministic. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ref_lab.h"

static void answer(const struct bench *b, char out[512])
{
    out[0] = '\0';
    for (int i = 0; i < b->s->n_tokens; i++)
        snprintf(out + strlen(out), 512 - strlen(out), "%s%s ", b->s->tokens[i].label,
                 b->s->tokens[i].edited ? "*" : "");
}

/* Checks that the cursor is at pos, and that its event agrees with the token. */
static void assert_at(const struct bench *b, int pos)
{
    const struct pw_ev_inspection *k = &b->s->look;
    const struct pw_ev_token *t = &b->s->tokens[pos - b->s->prompt.n_prompt];
    assert_true(b->s->has_cursor && b->s->has_look);
    assert_int_equal(b->s->cursor.at.pos, pos);
    assert_int_equal(b->s->cursor.newest, pos == b->s->tokens[b->s->n_tokens - 1].pos);
    assert_int_equal(k->pos, pos);
    assert_int_equal(k->prompt, b->s->prompt.id);
    assert_string_equal(k->token[k->said].label, t->label);
    /* decoding and inspection have the same bits */
    assert_true(k->token[k->said].logit == t->logit);
    assert_true(k->token[k->said].prob == t->prob);
    assert_string_equal(k->target >= 0 ? k->token[k->target].label : "", t->target);
    assert_true(k->worst < 1e-4);
}

static void test_back_and_forth(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "train 60; prompt sort 3 1 4 1 5");
    int first = b.s->prompt.n_prompt, last = first + b.s->n_tokens - 1;
    assert_false(b.s->has_cursor);
    assert_true(b.s->has_look);
    assert_int_equal(b.s->look.pos, last);
    assert_true(b.s->tokens[b.s->n_tokens - 1].ended);
    bench_must(&b, "back");
    assert_at(&b, last - 1);
    bench_must(&b, "back 50");
    assert_at(&b, first);
    bench_must(&b, "next 2");
    assert_at(&b, first + 2);
    bench_must(&b, "next 50");
    assert_at(&b, last);
    bench_run(&b, "next");
    char want[256];
    snprintf(want, sizeof want,
             "next: the answer ends at position %d; 'edit %d TOKEN' continues with another token", last,
             last);
    assert_string_equal(b.error, want);
    bench_must(&b, "back 50");
    bench_run(&b, "back");
    snprintf(want, sizeof want, "back: position %d is the first of the answer", first);
    assert_string_equal(b.error, want);
    assert_at(&b, first);
    bench_close(&b);
}

static void test_edit(void **state)
{
    struct bench b;
    char was[512], is[512];
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "train 60; prompt sort 3 1 4 1 5");
    answer(&b, was);
    bench_must(&b, "edit 8 9");
    answer(&b, is);
    assert_at(&b, 8);
    assert_int_equal(is[0], was[0]); /* tokens before the edit stay */
    assert_non_null(strstr(is, "9* "));
    assert_true(b.s->tokens[1].edited && !b.s->tokens[1].right);
    assert_false(b.s->tokens[b.s->n_tokens - 1].exact);
    bench_must(&b, "edit 7 4"); /* drops the edit of a later position */
    answer(&b, is);
    assert_null(strstr(is, "9*"));
    assert_true(b.s->tokens[0].edited);
    bench_must(&b, "edit 7 </s>");
    assert_int_equal(b.s->n_tokens, 1);
    assert_true(b.s->tokens[0].ended);
    bench_must(&b, "prompt sort 3 1 4 1 5"); /* all edits are dropped */
    answer(&b, is);
    assert_string_equal(is, was);
    assert_false(b.s->has_cursor);
    bench_close(&b);
}

/* An edited prompt is another prompt: its right answer is the task's, if the task can parse it. */
static void test_edit_the_prompt(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "prompt sort 3 1 4; edit 2 9");
    assert_string_equal(b.s->prompt.labels[2], "9");
    assert_true(b.s->prompt.edited[2] && !b.s->prompt.edited[1]);
    assert_true(b.s->prompt.has_answer);
    for (int i = 0; i < 3; i++)
        assert_string_equal(b.s->prompt.labels[b.s->prompt.n_prompt + i],
                            ((const char *const[]){"3", "4", "9"})[i]);
    bench_must(&b, "edit 0 >"); /* no prompt of sort begins so */
    assert_false(b.s->prompt.has_answer);
    assert_true(b.s->prompt.edited[0] && b.s->prompt.edited[2]);
    assert_string_equal(b.note, "edit: no task can read this prompt, so no right answer is known");
    bench_must(&b, "edit 0 sort");
    assert_true(b.s->prompt.has_answer);
    bench_close(&b);
}

static void test_errors(void **state)
{
    static const struct {
        const char *script, *error;
    } cases[] = {
        {"next", "next: no prompt is pinned; run 'prompt TEXT' first, such as 'prompt sort 3 1 4 1 5'"},
        {"back 2", "back: no prompt is pinned; run 'prompt TEXT' first, such as 'prompt sort 3 1 4 1 5'"},
        {"edit 3 1", "edit: no prompt is pinned; run 'prompt TEXT' first, such as 'prompt sort 3 1 4 1 5'"},
        {"prompt sort 1 2; edit 1 zz", "edit: no token 'zz'; there are </s> sort > 0 1 2 3 4 5 6 7 8 9"},
        {"edit 1 <pad>", "edit: no token '<pad>'; there are </s> sort > 0 1 2 3 4 5 6 7 8 9"},
        {"next 0", "usage: next [N], N in 1..1000"},
        {"next 1 2", "next: too many arguments; usage: next [N]"},
        {"back x", "usage: back [N], N in 1..1000"},
        {"edit 1", "usage: edit POS TOKEN, such as 'edit 6 3'; position 0 is the prompt's first token"},
        {"edit -1 3", "usage: edit POS TOKEN, such as 'edit 6 3'; position 0 is the prompt's first token"},
        {"sample length=100000", "sample: length=100000: sort has lengths 1..256"},
        {"sample length=200", "the prompt has 202 tokens; the model reads at most 128, including the answer"},
        {"sample task=copy", "sample: the lab has no task 'copy': sort"},
        {"sample 3", "sample: '3' is not key=value; usage: sample [length=L] [index=N] [task=NAME]"},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench_run(&b, cases[i].script);
        assert_string_equal(b.error, cases[i].error);
    }
    assert_int_equal(b.s->prompt.id, 1); /* no other prompt was pinned */
    bench_run(&b, "edit 99 1");
    char want[128];
    snprintf(want, sizeof want, "edit: position 99: allowed are 0..%d; the answer starts at 4",
             3 + b.s->n_tokens);
    assert_string_equal(b.error, want);
    bench_close(&b);
}

/* Stepping works beyond the length at which decoding gives up, to the last position and no further. */
static void test_beyond_the_limit(void **state)
{
    struct bench b;
    char first[512], again[512];
    (void)state;
    bench_open(&b, 1, false);
    /* an untrained model of few positions that never ends */
    bench_must(&b, "task sort lengths=2..4 test=5..6; model context=24; prompt sort 3 1");
    int most = 24 - b.s->prompt.n_prompt;
    for (int i = 0; i < 30 && b.s->tokens[b.s->n_tokens - 1].ended;
         i++) { /* until it doesn't end by itself */
        char line[64];
        snprintf(line, sizeof line, "seed %d; prompt sort 3 1", i);
        bench_must(&b, line);
    }
    int stopped = b.s->n_tokens;
    assert_false(b.s->tokens[stopped - 1].ended);
    assert_true(stopped < most);
    answer(&b, first);
    bench_must(&b, "next");
    assert_int_equal(b.s->n_tokens, stopped + 1);
    assert_at(&b, b.s->prompt.n_prompt + stopped);
    answer(&b, again);
    assert_memory_equal(again, first, strlen(first)); /* earlier tokens are unchanged */
    bench_must(&b, "next 1000");
    bool ended = b.s->tokens[b.s->n_tokens - 1].ended;
    assert_true(ended || b.s->n_tokens == most);
    bench_run(&b, "next");
    assert_int_equal(b.errors, 1);
    bench_close(&b);
}

/* The same commands give the same answer and inspection. Threads, live events and training by single steps
 * don't matter, also with a temperature. */
static void test_deterministic(void **state)
{
    static const char script[] =
        "train 30; set temperature 1.5; prompt sort 3 1 4 1 5; back 2; edit 8 2; next; back; digest";
    char first[512] = "", again[512];
    float logit = 0, entropy = 0;
    double part = 0;
    char digest[sizeof((struct bench *)0)->digests];
    (void)state;
    for (int run = 0; run < 3; run++) {
        struct bench b;
        bench_open(&b, run + 1, run == 2);
        bench_must(&b, script);
        answer(&b, again);
        const struct pw_ev_inspection *k = &b.s->look;
        if (run == 0) {
            memcpy(first, again, sizeof first);
            memcpy(digest, b.digests, sizeof digest);
            logit = k->token[0].logit, entropy = k->entropy, part = k->part[3];
        }
        assert_string_equal(again, first);
        assert_string_equal(b.digests, digest);
        assert_true(k->temperature == 1.5f);
        assert_true(k->token[0].logit == logit && k->entropy == entropy && k->part[3] == part);
        bench_close(&b);
    }
}

/* With other weights, or another arm, the answer is first decoded again, with all edits. */
static void test_it_is_up_to_date(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "race none,t5; train 10; prompt sort 3 1 4 1 5; edit 7 2; train 10; next");
    assert_int_equal(b.s->prompt_step, 20);
    assert_at(&b, 8);
    assert_true(b.s->tokens[0].edited);
    bench_must(&b, "arm 2; back");
    assert_int_equal(b.s->prompt_arm, 2);
    assert_at(&b, 7);
    assert_true(b.s->tokens[0].edited);
    bench_close(&b);
}

/* A decoding that stopped at its first wrong token continues when the user steps beyond that token, or
 * replaces it. */
static void test_after_a_failing_example(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "train 60; eval lengths=12 samples=8; failing length=12 index=0");
    int stopped = b.s->n_tokens, first = b.s->prompt.n_prompt;
    assert_false(b.s->tokens[stopped - 1].right);
    assert_false(b.s->tokens[stopped - 1].ended);
    bench_must(&b, "next");
    assert_true(b.s->n_tokens > stopped);
    assert_int_equal(b.s->cursor.at.pos, first + stopped);
    char line[64];
    snprintf(line, sizeof line, "failing length=12 index=0; edit %d 0", first);
    bench_must(&b, line);
    assert_true(b.s->tokens[0].edited && b.s->n_tokens > 1);
    bench_close(&b);
}

static void test_temperature(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "train 60; prompt sort 3 1 4 1 5");
    float greedy = b.s->tokens[0].prob;
    bench_must(&b, "set temperature 0.25; back 50");
    assert_at(&b, b.s->prompt.n_prompt);
    assert_true(b.s->look.temperature == 0.25f);
    assert_true(b.s->look.token[0].prob > greedy); /* sharper, and reported so everywhere */
    const struct pw_ev_inspection *k = &b.s->look;
    assert_true(fabsf(k->lens_prob[k->layers * k->n] - k->token[0].prob) < 1e-5f);
    bench_close(&b);
}

/* Arms may differ in their context. */
static void test_contexts(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "task sort lengths=2..3 test=4..5; race none,t5; model context=14 arm=2");
    bench_must(&b, "arm 1; prompt sort 1 2 3 1 2 3 1 2 3 1 2 3 1 2");
    bench_run(&b, "arm 2; next");
    assert_string_equal(b.error, "next: the pinned prompt has 16 tokens; arm 2 reads at most 14");
    bench_must(&b,
               "prompt sort 1 2; edit 0 >; arm 1; edit 4 1"); /* without a right answer: to the end of each */
    assert_in_range(b.s->n_tokens, 1, 128 - 4);
    bench_run(&b, "next 1000");
    assert_in_range(b.s->n_tokens, 1, 128 - 4);
    bench_close(&b);
}

/* Every kind of model: the parts sum up. */
static void test_sums(void **state)
{
    static const char *const models[] = {
        "model norm=layernorm bias=on tied=off; pe sinusoidal",
        "model norm=none logit_scale=0.5; pe t5",
        "model norm_at=ff dropout=0.2; pe learned",
        "model norm=layernorm norm_at=ff; pe rotary",
        "model norm=layernorm norm_at=after bias=on tied=on embed_width=20; pe learned",
        "model bias=on logit_scale=0 head_width=4; pe alibi",
    };
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        bench_must(&b, "model tiny layers=2 width=32 heads=4");
        bench_must(&b, models[i]);
        bench_must(&b, "train 20; prompt sort 3 1 4 1 5");
        const struct pw_ev_inspection *k = &b.s->look;
        assert_true(b.s->has_look && k->worst < 1e-4);
        for (int j = 0; j < k->n; j++) {
            double sum = 0;
            for (int p = 0; p < k->n_parts; p++)
                sum += k->part[p * k->n + j];
            assert_true(fabs(sum - (double)k->token[j].logit) < 1e-4);
            /* the last line of the lens equals the token table */
            assert_true(fabsf(k->lens_prob[k->layers * k->n + j] - k->token[j].prob) < 1e-5f);
            assert_int_equal(k->lens_rank[k->layers * k->n + j], k->token[j].rank);
        }
    }
    bench_close(&b);
}

static void test_samples(void **state)
{
    struct bench b;
    char first[512];
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "sample");
    assert_true(b.s->prompt.drawn && b.s->prompt.has_answer);
    assert_int_equal(b.s->prompt.length, 8); /* the longest trained length */
    assert_int_equal(b.s->prompt.sample, 0);
    memcpy(first, b.s->prompt.text, sizeof first);
    bench_must(&b, "sample");
    assert_int_equal(b.s->prompt.sample, 1);
    assert_string_not_equal(b.s->prompt.text, first);
    bench_must(&b, "sample length=3");
    assert_int_equal(b.s->prompt.length, 3);
    assert_int_equal(b.s->prompt.sample, 0);
    bench_must(&b, "sample index=7; sample");
    assert_int_equal(b.s->prompt.length, 3);
    assert_int_equal(b.s->prompt.sample, 8);
    bench_must(&b, "sample length=8 index=0");
    assert_string_equal(b.s->prompt.text, first);
    bench_must(&b, "sample length=+1; sample; sample index=+3; sample index=-1");
    assert_int_equal(b.s->prompt.length, 9);
    assert_int_equal(b.s->prompt.sample, 3);
    bench_run(&b, "sample index=-4");
    assert_string_equal(b.error, "sample: index=-4: the pinned sample has index 3, and the first is 0");
    bench_run(&b, "sample length=-9");
    assert_string_equal(b.error, "sample: length=0: sort has lengths 1..256");
    assert_int_equal(b.s->prompt.sample, 3);
    bench_must(&b, "prompt sort 1 2; sample index=-1"); /* a typed prompt is no sample */
    assert_int_equal(b.s->prompt.length, 8);
    assert_int_equal(b.s->prompt.sample, 0);
    bench_must(&b, "task sort,copy lengths=2..4; sample task=copy length=3");
    assert_int_equal(b.s->prompt.task, 1);
    bench_close(&b);
}

/* The answer of another model is discarded, also while no model has trained a step. */
static void test_untrained(void **state)
{
    static const char *const others[] = {"arm 2; back", "reset; back", "seed 5; back", "arm next; back"};
    struct bench b;
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        bench_open(&b, 1, false);
        bench_must(&b, "model tiny width=16 layers=1 heads=2; race none,t5; prompt sort 3 1 2");
        bench_run(&b, others[i]);
        assert_int_equal(b.decoded, 1); /* also if there is no token to move to */
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_untrained),
        cmocka_unit_test(test_back_and_forth),
        cmocka_unit_test(test_edit),
        cmocka_unit_test(test_edit_the_prompt),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_beyond_the_limit),
        cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_it_is_up_to_date),
        cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_temperature),
        cmocka_unit_test(test_after_a_failing_example),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
