/* test_import_table.c - tests `import table`: T5's biases are those that transformers computes, in the arm
 * and after a re-run without the files (tests/golden/make_t5.py). */
#include "../unit/ref_session.h"

#include "base/file.h"
#include "foreign/foreign.h"
#include "model/safetensors.h"
#include "ref_record.h"

#define FOLDER PEWTER_SOURCE_DIR "/tests/golden/t5/"
#define MODEL  "model tiny context=160 layers=1 width=16 heads=4"
#define OFF    "task sort; model tiny context=160 layers=1 width=16 heads=4 causal=off"

enum { P = 160, HEADS = 4 };

static struct pw_st expect;

/* The biases [HEADS,2P-1] of a case, by key minus query. */
static const float *right_of(const char *name)
{
    const struct pw_st_tensor *t = pw_st_find(&expect, name);
    if (t == NULL || t->bytes != (size_t)HEADS * (2 * P - 1) * sizeof(float))
        fail_msg("no biases '%s'", name);
    return t->data;
}

static void check_table(struct bench *b, const char *name, bool later)
{
    const struct pw_ev_table *t = pw_table_of(b->s, 1);
    const float *right = right_of(name);
    assert_non_null(t);
    assert_int_equal(t->length, P);
    assert_int_equal(t->later > 0, later);
    for (int h = 0; h < HEADS; h++)
        for (int d = 0; d < P; d++) {
            const float *at = right + h * (2 * P - 1) + P - 1;
            if (t->bias[h * P + d] != at[-d])
                fail_msg("%s: head %d, distance %d is %.9g, not %.9g", name, h, d, (double)t->bias[h * P + d],
                         (double)at[-d]);
            float after = later ? t->bucket_bias[pw_bucket_of(t, -d) * HEADS + h] : at[d];
            if (later && after != at[d])
                fail_msg("%s: head %d, distance -%d is %.9g, not %.9g", name, h, d, (double)after,
                         (double)at[d]);
        }
}

static void test_values(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, MODEL "; import table " FOLDER "one; table length=160");
    check_table(&b, "one/decoder", false);
    assert_string_equal(b.s->arms[0].info.pe, "t5 buckets=32 distance=128");
    bench_must(&b, "import table " FOLDER "one/model.safetensors stack=encoder; table length=160");
    check_table(&b, "one/encoder", false); /* the earlier half */
    assert_string_equal(b.s->arms[0].info.pe, "t5 buckets=16 distance=128");
    assert_non_null(strstr(b.note, "the arm is causal, so the half for later keys is left out"));
    bench_must(&b, "import table " FOLDER "each layer=0; table length=160");
    check_table(&b, "each/decoder", false);
    assert_string_equal(b.s->arms[0].info.pe, "t5 buckets=12 distance=50");
    bench_must(&b, OFF "; import table " FOLDER "one stack=encoder; table length=160");
    check_table(&b, "one/encoder", true);
    bench_must(&b, "import table " FOLDER "each stack=encoder layer=0; table length=160");
    check_table(&b, "each/encoder", true);
    bench_close(&b);
}

/* A relative path counts from the folders of the session, too, also that of config.json. */
static void test_folders(void **state)
{
    static const char *const folders[] = {FOLDER, NULL};
    struct pw_t5_table t;
    struct pw_err err;
    (void)state;
    pw_file_watch((struct pw_file_watch){.folders = folders});
    if (pw_t5_table_read(&t, "each", false, 0, &err) != PW_OK)
        fail_msg("%s", err.msg);
    assert_true(t.buckets == 12 && t.distance == 50);
    pw_t5_table_fini(&t);
    pw_file_watch((struct pw_file_watch){0});
}

/* All replicas of the arm get the table, other arms keep theirs, and training continues from it. */
static void test_in_place(void **state)
{
    static const char *const replicas[] = {"inspect replica=1; table length=160",
                                           "inspect replica=2; table length=160"};
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, MODEL "; race rotary,none seeds=2; train 3; import table " FOLDER "one");
    for (int r = 0; r < 2; r++) {
        bench_must(&b, replicas[r]);
        check_table(&b, "one/decoder", false);
    }
    assert_string_equal(b.s->arms[1].info.pe, "none");
    bench_must(&b, "train 5; table length=160");
    const struct pw_ev_table *t = pw_table_of(b.s, 1);
    assert_true(t->bias[0] != right_of("one/decoder")[P - 1]);
    assert_int_equal(t->met_from, 3);
    bench_must(&b, "import table " FOLDER "one; table length=160"); /* over a trained table */
    check_table(&b, "one/decoder", false);
    bench_close(&b);
}

/* arm=K takes another arm, and the current one stays the current one. */
static void test_other_arm(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, MODEL "; arm add none; arm add none; import table arm=2 " FOLDER "one");
    assert_string_equal(b.s->arms[0].info.pe, "none");
    assert_string_equal(b.s->arms[1].info.pe, "t5 buckets=32 distance=128");
    assert_string_equal(b.s->arms[2].info.pe, "none");
    assert_int_equal(b.s->current, 1);
    bench_must(&b, "arm 2; table length=160");
    const struct pw_ev_table *t = pw_table_of(b.s, 2);
    assert_non_null(t);
    assert_true(t->bias[0] == right_of("one/decoder")[P - 1]);
    bench_close(&b);
}

static void test_refused(void **state)
{
    static const char *const cases[][2] = {
        {"import table " FOLDER "none", "none: "},
        {"import table " FOLDER "each",
         "2 layers of the decoder have a table of their own; choose one: layer=0..1"},
        {"import table " FOLDER "each layer=2",
         "layer 2 of the decoder has no table of biases; allowed: 0..1"},
        {"import table " PEWTER_SOURCE_DIR "/tests/golden/gguf/llama.gguf",
         "no tensor is named 'dec.blk.0.attn_rel_b.weight'; it must be a T5, mT5 or umT5"},
        {"import table " PEWTER_SOURCE_DIR "/tests/golden/transformers.safetensors",
         "no tensor is named 'decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight'"},
        {"import table " FOLDER "one arm=2", "there is no arm 2; there is only arm 1"},
        {"import weights " FOLDER "one arm=1", "usage: import weights FILE"},
        {"import table " FOLDER "one stack=both", "stack=both: allowed are decoder|encoder"},
        {"import table " FOLDER "one two", "usage: import weights FILE"},
        {"import table", "usage: import weights FILE"},
        {"import attention " FOLDER "one stack=encoder", "usage: import weights FILE"},
        {OFF "; import table " FOLDER "one", "a decoder's table has no buckets for keys after the query"},
        {"model tiny heads=2; import table " FOLDER "one", "the table has 4 heads, arm 1 has 2"},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, MODEL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench_run(&b, cases[i][0]);
        if (b.errors != 1 || strstr(b.error, cases[i][1]) == NULL)
            fail_msg("%s: '%s' does not say '%s'", cases[i][0], b.error, cases[i][1]);
        assert_string_equal(b.s->arms[0].info.pe, "none");
    }
    bench_close(&b);
}

/* The session has the table, so a re-run and a resumed session need no file. */
static void test_recorded(void **state)
{
    char path[4096], folder[4096], line[9000], then[4096];
    struct bench b;
    scratch_path(state, "s.pewter", path);
    scratch_path(state, "t5.safetensors", folder);
    session_copy(FOLDER "one/model.safetensors", folder);
    snprintf(line, sizeof line, MODEL "; import table %s stack=encoder; train 3; digest", folder);
    bench_open_as(&b, (struct pw_lab_config){.threads = 1, .session = path, .from = -1});
    bench_must(&b, line);
    memcpy(then, b.digests, sizeof then);
    bench_close(&b);
    assert_int_equal(unlink(folder), 0);
    bench_open_as(&b, (struct pw_lab_config){.threads = 2, .session = path, .from = -1, .verify = true});
    bench_until_idle(&b);
    const struct pw_verdict *v = pw_lab_verdict(b.lab);
    if (v->end != PW_FOLLOW_EQUAL)
        fail_msg("%s", v->text);
    bench_close(&b);
    bench_open_as(&b, (struct pw_lab_config){.threads = 1, .session = path, .from = -1});
    bench_must(&b, "digest");
    assert_string_equal(b.digests, then);
    bench_must(&b, "table length=160");
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_folders),
        cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_other_arm),
        cmocka_unit_test(test_refused),
        cmocka_unit_test_setup_teardown(test_recorded, session_setup, session_teardown)};
    struct pw_err err;
    if (pw_st_open(&expect, FOLDER "expect.safetensors", &err) != PW_OK) {
        print_error("%s\n", err.msg);
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pw_st_close(&expect);
    return failed;
}
