/* test_audit.c - the probe audit on models of every family, as their files ask for them and turned. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/probe.h"
#include "ref_gguf.h"

static struct ref_family families;

/* Runs the probe on a model. */
static void audit(struct pw_finding *f, struct pw_model *m)
{
    struct pw_probe_subject subject = {.arm = 1, .replica = 1, .model = m};
    struct pw_probe_in in = {.n = 1, .subject = &subject, .topic = "1"};
    struct pw_probing_at at = {.probe = pw_probe_find("audit"), .in = &in};
    struct pw_err err;
    memset(f, 0, sizeof *f);
    assert_int_equal(at.probe->begin(&at, &err), PW_OK);
    for (int i = 0; i < at.units; i++)
        if (at.probe->unit(&at, i, &err) != PW_OK)
            fail_msg("%s", err.msg);
    assert_int_equal(at.probe->end(&at, f, &err), PW_OK);
    pw_probe_fini(&at);
    assert_null(pw_finding_check(f));
}

/* Fails, with the rows that differ, unless these are the only ones ("" or "base of first pairs; every
 * frequency").
 */
static void check_differs(const char *what, const struct pw_finding *f, const char *rows)
{
    struct pw_str said = {0};
    for (int b = 0; b < f->n_blocks; b++) {
        const struct pw_block *t = &f->blocks[b];
        for (int r = 0; r < t->rows && t->kind == PW_BLOCK_TABLE; r++)
            if (t->cols != 4 || pw_finding_cell(f, t, r, 3) == 0)
                pw_str_add(&said, "%s%s", said.len > 0 ? "; " : "", pw_finding_row_name(f, t, r));
    }
    if (strcmp(pw_str_text(&said), rows) != 0)
        fail_msg("%s: these rows differ: '%s', not '%s'", what, pw_str_text(&said), rows);
    pw_str_fini(&said);
}

/* Is there a remark with these words? */
static bool has_remark(const struct pw_finding *f, const char *words)
{
    for (int i = 0; i < f->n_remarks; i++)
        if (strstr(f->remarks[i].text, words) != NULL)
            return true;
    return false;
}

static double cell(const struct pw_finding *f, int block, const char *row, int col)
{
    const struct pw_block *b = &f->blocks[block];
    for (int r = 0; r < b->rows; r++)
        if (strcmp(pw_finding_row_name(f, b, r), row) == 0)
            return pw_finding_cell(f, b, r, col);
    fail_msg("%s: no row '%s'", b->title, row);
    return 0;
}

/* Audits a case, with another encoding if pe is not NULL. */
static void audit_case(struct pw_finding *f, const char *name, int context, const char *pe)
{
    cJSON *of = ref_family_case(&families, name);
    struct pw_backend *be;
    struct pw_pe_use_opts use;
    struct pw_err err;
    ref_family_write(&families, of);
    struct pw_model *m = ref_foreign_load(families.folder, false, &context, &be), *other = NULL;
    if (pe != NULL) {
        if (pw_pe_parse(&use, pe, pw_model_config(m), &err) != PW_OK ||
            pw_model_swap(&other, m, &use, 1, false, &err) != PW_OK)
            fail_msg("%s", err.msg);
        pw_model_destroy(m);
        m = other;
    }
    audit(f, m);
    pw_model_destroy(m);
    pw_backend_cpu()->close(be);
    cJSON_Delete(of);
}

static void check_case(struct ref_family *x, const char *name)
{
    static const int contexts[] = {64, 12};
    (void)x;
    for (int i = 0; i < 2; i++) {
        struct pw_finding f;
        audit_case(&f, name, contexts[i], NULL);
        assert_true(f.n_blocks > 0);
        check_differs(name, &f, "");
        assert_true(has_remark(&f, "every value agrees with config.json"));
        assert_false(has_remark(&f, "differs from"));
        pw_finding_fini(&f);
    }
}

static void test_families(void **state)
{
    (void)state;
    ref_families_each(&families, check_case);
}

static void test_gguf(void **state)
{
    static const char *const files[] = {"llama", "smollm3", "gpt2",  "qwen3", "gptneox",
                                        "bloom", "mpt",     "gemma", "gemma3"};
    (void)state;
    for (int i = 0; i < 9; i++) {
        char path[256];
        int context = 64;
        struct pw_backend *be;
        struct pw_finding f;
        snprintf(path, sizeof path, PEWTER_SOURCE_DIR "/tests/golden/gguf/%s.gguf", files[i]);
        struct pw_model *m = ref_foreign_load(path, false, &context, &be);
        audit(&f, m);
        check_differs(files[i], &f, "");
        assert_true(has_remark(&f, "every value agrees with the GGUF file"));
        assert_int_equal(has_remark(&f, "side by side"), i <= 1);
        pw_finding_fini(&f);
        pw_model_destroy(m);
        pw_backend_cpu()->close(be);
    }
}

/* A GGUF file with longrope: both lists, and the factor on cos and sin. */
static void test_gguf_longrope(void **state)
{
    static const float longer[] = {1.5f, 4}, shorter[] = {1, 1.25f};
    (void)state;
    for (int context = 12; context <= 64; context += 52) {
        struct ref_gguf g = {0};
        struct pw_backend *be;
        struct pw_finding f;
        int own = context;
        ref_gguf_llama(&g, &families, "llama_longrope");
        ref_gguf_u32(&g, "llama.rope.scaling.original_context_length", 16);
        ref_gguf_f32(&g, "llama.rope.scaling.attn_factor", 1.25f);
        ref_gguf_tensor(&g, "rope_factors_long.weight", 0, 2, longer);
        ref_gguf_tensor(&g, "rope_factors_short.weight", 0, 2, shorter);
        const char *path = ref_family_path(&families, "made.gguf");
        ref_gguf_write(&g, path);
        struct pw_model *m = ref_foreign_load(path, false, &own, &be);
        audit(&f, m);
        check_differs("longrope", &f, "");
        assert_true(has_remark(&f, context == 64 ? "so the long one runs" : "so the short one runs"));
        pw_finding_fini(&f);
        pw_model_destroy(m);
        pw_backend_cpu()->close(be);
    }
}

/* A GGUF file with yarn: attn_factor multiplies yarn's own factor on cos and sin. */
static void test_gguf_yarn(void **state)
{
    struct ref_gguf g = {0};
    struct pw_backend *be;
    struct pw_finding f;
    int context = 64;
    (void)state;
    ref_gguf_llama(&g, &families, "llama_yarn");
    ref_gguf_text(&g, "llama.rope.scaling.type", "yarn");
    ref_gguf_u32(&g, "llama.rope.scaling.original_context_length", 16);
    ref_gguf_f32(&g, "llama.rope.scaling.factor", 4);
    ref_gguf_f32(&g, "llama.rope.scaling.yarn_beta_fast", 4);
    ref_gguf_f32(&g, "llama.rope.scaling.attn_factor", 1.25f);
    ref_gguf_write(&g, ref_family_path(&families, "made.gguf"));
    struct pw_model *m = ref_foreign_load(ref_family_path(&families, "made.gguf"), false, &context, &be);
    audit(&f, m);
    check_differs("yarn", &f, "");
    pw_finding_fini(&f);
    pw_model_destroy(m);
    pw_backend_cpu()->close(be);
}

/* Lengths beyond the trained one, where dynamic scaling and longrope change. */
static void test_longer(void **state)
{
    static const char *const names[] = {"llama_dynamic", "llama_longrope", "llama_yarn", "llama_linear"};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct pw_finding f;
        audit_case(&f, names[i], 256, NULL);
        check_differs(names[i], &f, "");
        if (i == 0) /* base * (4 * 256/64 - 3)^(4/2) */
            assert_true(fabs(cell(&f, 0, "base of first pairs", 1) / (10000.0 * 13 * 13) - 1) < 1e-9);
        pw_finding_fini(&f);
    }
}

/* A changed encoding differs in the right rows, and nowhere else. */
static void test_turned(void **state)
{
    static const struct {
        const char *name, *pe, *rows;
    } cases[] = {
        {"llama", "rotary base=9000",
         "last frequency; every frequency; base of first pairs; last pair slowed by"},
        {"llama", "rotary offset=3", "first position"},
        {"llama", "rotary temperature=2", "factor on q.k"},
        {"llama", "rotary pairing=interleaved", "partner of row 0"},
        {"gptj", "rotary dims=4 pairing=half", "partner of row 0"},
        {"gpt_neox", "rotary dims=4 pairing=half", ""},
        {"llama_linear", "rotary",
         "first frequency; last frequency; every frequency; first pair slowed by; last pair "
         "slowed by"},
        {"llama_yarn", "rope_yarn factor=4 trained=16", ""},
        {"llama_yarn", "rope_yarn factor=2 trained=16",
         "last frequency; every frequency; base of first pairs; last "
         "pair slowed by; factor on cos, sin"},
        {"bloom", "alibi gain=2", "slope of head 0; slope of last head; every slope"},
        {"mistral", "rotary", "keys in the window"},
        {"llama", "none",
         "rotated dimensions; first frequency; last frequency; every frequency; base of first "
         "pairs; first pair slowed by; last pair slowed by; partner of row 0; factor on cos, sin; "
         "first position"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_finding f;
        audit_case(&f, cases[i].name, 32, cases[i].pe);
        check_differs(cases[i].pe, &f, cases[i].rows);
        pw_finding_fini(&f);
    }
}

/* The rows of a learned table are shifted in place. */
static void test_shifted(void **state)
{
    cJSON *of = ref_family_case(&families, "opt");
    struct pw_backend *be;
    struct pw_finding f;
    struct pw_err err;
    int context = 64;
    (void)state;
    ref_family_write(&families, of);
    struct pw_model *m = ref_foreign_load(families.folder, false, &context, &be);
    struct pw_pe_use_opts use = *pw_model_pe(m);
    assert_int_equal(pw_pe_turn(&use, "offset=3", pw_model_config(m), &err), PW_OK);
    pw_model_tune(m, &use);
    audit(&f, m);
    check_differs("opt", &f, "first position");
    assert_true(cell(&f, 0, "first position", 0) == 5);
    assert_true(cell(&f, 0, "first position", 1) == 2);
    pw_finding_fini(&f);
    pw_model_destroy(m);
    pw_backend_cpu()->close(be);
    cJSON_Delete(of);
}

/* Without its scaling a partly rotated model pairs the rows that it had with it. */
static void test_partial(void **state)
{
    struct pw_finding f;
    (void)state;
    audit_case(&f, "gpt_neox_yarn", 32, "rotary base=500 dims=4 pairing=half");
    assert_true(cell(&f, 0, "partner of row 0", 3) == 1);
    assert_false(has_remark(&f, "partner of row 0"));
    assert_true(has_remark(&f, "last pair"));
    pw_finding_fini(&f);
}

static void test_groups(void **state)
{
    struct pw_finding f;
    (void)state;
    audit_case(&f, "gemma3_text", 64, NULL);
    assert_true(strncmp(f.blocks[0].title, "layer 0: the file asks for rotary, base 100,", 44) == 0);
    assert_non_null(strstr(f.blocks[0].title, ", window 6"));
    assert_true(strncmp(f.blocks[2].title, "layer 1: the file asks for rotary, base 1000000,", 48) == 0);
    assert_non_null(strstr(f.blocks[2].title, "linear scaling factor=8"));
    assert_true(has_remark(&f, "Gemma 3 has two bases"));
    pw_finding_fini(&f);
    audit_case(&f, "llama", 64, NULL);
    assert_true(strncmp(f.blocks[0].title, "layers 0-1: ", 12) == 0);
    assert_int_equal(f.n_blocks, 2);
    pw_finding_fini(&f);
}

static void test_traps(void **state)
{
    static const char *const traps[][2] = {
        {"gpt_neox", "only the first 4 of 8 rows of a head rotate"},
        {"gptj", "GPT-J pairs rows side by side"},
        {"opt", "begins at row 2"},
        {"opt_350m", "begins at row 2"},
        {"bloom", "3 heads are no power of two"},
        {"mpt", "alibi_bias_max"},
        {"llama_linear", "linear scaling slows all pairs"},
        {"llama_dynamic", "only beyond 64 positions"},
        {"llama_longrope", "so the long one runs"},
        {"llama_yarn", "yarn also multiplies"},
        {"llama_llama3", "llama3 slows long waves only"},
        {"smollm3", "a 1 marks a layer that does rotate"},
        {"mistral", "a window of 6 has 6 keys"},
    };
    struct pw_finding f;
    (void)state;
    for (size_t i = 0; i < sizeof traps / sizeof *traps; i++) {
        audit_case(&f, traps[i][0], 64, NULL);
        if (!has_remark(&f, traps[i][1]))
            fail_msg("%s: no remark '%s'", traps[i][0], traps[i][1]);
        pw_finding_fini(&f);
    }
    audit_case(&f, "llama", 64, NULL);
    assert_false(has_remark(&f, "trap"));
    pw_finding_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_families),      cmocka_unit_test(test_gguf),
        cmocka_unit_test(test_gguf_longrope), cmocka_unit_test(test_gguf_yarn),
        cmocka_unit_test(test_longer),        cmocka_unit_test(test_turned),
        cmocka_unit_test(test_shifted),       cmocka_unit_test(test_partial),
        cmocka_unit_test(test_groups),        cmocka_unit_test(test_traps),
    };

    ref_families_open(&families);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ref_families_close(&families);
    return failed;
}
