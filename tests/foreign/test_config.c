/* test_config.c - config.json with faults, the lines of encodings, shards, missing and surplus tensors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "foreign/foreign.h"
#include "ref_foreign.h"

static struct ref_family families;

/* Opens the folder; fails with these words in one line, or succeeds if words is NULL. */
static void check_open(const char *words)
{
    struct pw_foreign *f;
    struct pw_err err = {.msg = ""};
    enum pw_code code = pw_foreign_open(&f, families.folder, false, &err);
    if (words == NULL && code != PW_OK)
        fail_msg("%s", err.msg);
    if (words != NULL && (code == PW_OK || f != NULL))
        fail_msg("accepted; '%s' was expected", words);
    if (words != NULL && (strstr(err.msg, words) == NULL || strchr(err.msg, '\n') != NULL))
        fail_msg("'%s' does not say '%s'", err.msg, words);
    pw_foreign_close(f);
}

/* Writes a case with one key of its config replaced by a JSON value; NULL: removed. */
static void write_with(const char *name, const char *key, const char *value)
{
    cJSON *of = ref_family_case(&families, name), *config = cJSON_GetObjectItem(of, "config");
    cJSON_DeleteItemFromObjectCaseSensitive(config, key);
    if (value != NULL)
        cJSON_AddItemToObject(config, key, cJSON_Parse(value));
    ref_family_write(&families, of);
    cJSON_Delete(of);
}

static void test_faults(void **state)
{
    static const struct {
        const char *name, *key, *value, *words;
    } faults[] = {
        {"llama", "model_type", "\"mamba\"", "unknown model_type 'mamba'; pewter reads bloom, gemma, "},
        {"llama", "model_type", "7", "unknown model_type ''"},
        {"llama", "num_hidden_layers", NULL, "num_hidden_layers: missing; it must be a number"},
        {"llama", "num_hidden_layers", "\"2\"", "num_hidden_layers: must be a number"},
        {"llama", "num_hidden_layers", "2.5", "num_hidden_layers: must be a whole number"},
        {"llama", "num_hidden_layers", "-1", "num_hidden_layers: must be a whole number"},
        {"llama", "num_hidden_layers", "1e300", "num_hidden_layers: must be a whole number"},
        {"llama", "num_hidden_layers", "5000", "layers=5000: allowed are 1.."},
        {"llama", "num_hidden_layers", "3", "tensor 'model.layers.2.input_layernorm.weight' is missing"},
        {"llama", "num_hidden_layers", "1", "has the tensor 'model.layers.1."},
        {"llama", "num_attention_heads", "0", "heads and width must be above 0"},
        {"llama", "num_key_value_heads", "3", "multiple of kv_heads"},
        {"llama", "hidden_act", "\"mish\"", "hidden_act: unknown activation; pewter has relu"},
        {"llama", "intermediate_size", "21", "has the shape [20,16]; the config needs [21,16]"},
        {"llama", "vocab_size", "41", "has the shape [40,16]; the config needs [41,16]"},
        {"llama", "vocab_size", "0", "vocab_size: must be in 1..1048576"},
        {"llama", "max_position_embeddings", "1", "max_position_embeddings: must be at least 2"},
        {"llama", "rms_norm_eps", "0", "rms_norm_eps: must be above 0"},
        {"llama", "rope_parameters", "{\"rope_type\":\"mrope\"}", "rope_type: unknown; pewter has default"},
        {"llama", "rope_parameters", "{\"rope_type\":\"yarn\"}", "factor: missing"},
        {"llama", "rope_parameters", "{\"rope_type\":\"linear\",\"factor\":-2}", "factor: must be above 0"},
        {"llama", "rope_parameters", "[]", NULL},
        {"llama", "rope_parameters", "7", "rope_parameters: must be an object or a list"},
        {"llama", "rope_parameters",
         "{\"rope_type\":\"longrope\",\"long_factor\":[1],\"short_factor\":[1,2]}",
         "must have a number for each rotated pair"},
        {"llama", "rope_parameters", "{\"rope_theta\":0}", "rope_theta: must be above 1"},
        {"llama", "partial_rotary_factor", "0.1",
         "partial_rotary_factor: less than one pair of a head rotates"},
        {"llama", "tie_word_embeddings", "1", "tie_word_embeddings: must be true or false"},
        {"llama", "attention_bias", "true", NULL}, /* biases that are missing are zero */
        {"mistral", "layer_types", "[\"sliding_attention\"]",
         "layer_types: must have an entry for each layer"},
        {"mistral", "layer_types", "[1,2]", "layer_types: must name"},
        {"gpt2", "n_inner", "12", "tensor 'transformer.h.0.mlp.c_fc.weight' has the shape [16,64]"},
        {"gpt2", "add_cross_attention", "true", "attends to another one"},
        {"gpt2", "n_positions", "65", "has the shape [64,16]; the config needs [65,16]"},
        {"opt", "do_layer_norm_before", "false",
         "has the tensor 'model.decoder.final_layer_norm.bias', for which"},
        {"opt", "_remove_final_layer_norm", "true", "without its final norm can't be read"},
        {"opt_350m", "do_layer_norm_before", "true",
         "tensor 'model.decoder.final_layer_norm.weight' is missing"},
        {"opt_350m", "_remove_final_layer_norm", "true", NULL}, /* there is none */
        {"opt_350m", "word_embed_proj_dim", "null",
         "tensor 'model.decoder.embed_tokens.weight' has the shape [40,6]; the config needs [40,16]"},
        {"opt", "max_position_embeddings", "66", "has the shape [66,16]; the config needs [68,16]"},
        {"opt", "word_embed_proj_dim", "8", "has the shape [40,16]; the config needs [40,8]"},
        {"opt", "word_embed_proj_dim", "0", "word_embed_proj_dim: must be above 0"},
        {"opt", "word_embed_proj_dim", "8193", "embed_width=8193: allowed are 0..8192"},
        {"bloom", "apply_residual_connection_post_layernorm", "true", "before the norm only"},
        {"mpt", "attn_config", "{\"clip_qkv\":-8}", "clip_qkv: must be above 0, or null"},
        {"mpt", "no_bias", "false", "only models without biases"},
        {"smollm3", "no_rope_layers", "[1]", "no_rope_layers: must have an entry for each layer"},
        {"gptj", "rotary_dim", "3", "rotary_dim: must be even"},
        {"gptj", "rotary_dim", NULL, "rotary_dim: must be even, up to the head's width"}, /* 64 */
        {"qwen3", "head_dim", NULL, "the config needs [512,"},
        {"gemma", "head_dim", NULL, "the config needs [512,"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        write_with(faults[i].name, faults[i].key, faults[i].value);
        check_open(faults[i].words);
    }
}

static void test_texts(void **state)
{
    static const char *const faults[][2] = {
        {"", "not a JSON object"},
        {"[]", "not a JSON object"},
        {"{", "not a JSON object"},
        {"{}", "unknown model_type ''"},
        {"{\"model_type\":\"gpt2\"}", "n_embd: missing"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        write_with("gpt2", "x", NULL);
        ref_family_text(&families, "config.json", faults[i][0]);
        check_open(faults[i][1]);
    }
    unlink(ref_family_path(&families, "config.json"));
    check_open("config.json: cannot open");
}

static void test_encodings(void **state)
{
    static const struct {
        const char *name, *start;
    } lines[] = {
        {"gpt2", "learned"},
        {"bloom", "alibi"},
        {"llama", "rotary base=10000 dims=4 pairing=half"},
        {"llama_dynamic", "rotary base=10000 dims=4 pairing=half"},
        {"gptj", "rotary base=10000 dims=4 pairing=interleaved"},
        {"gpt_neox", "rotary base=10000 dims=4 pairing=half"},
        {"gpt_neox_yarn",
         "expr 'rotary_dim = 4; v_all = 500 ** (-2 * p / 4); r_all = clip((p - 0) / 1, 0, 1); w_all = (1 - "
         "r_all) * v_all "
         "+ r_all * v_all / 4; angle = i * w_all; gain = 1.1386294361119891' as=rope_yarn_set"},
        {"llama_linear", "rope_pi base=10000 factor=4"},
        {"llama_yarn", "rope_yarn base=10000 factor=4 trained=16 fast=32 slow=1"},
        {"llama_llama3", "rope_llama3 base=10000 factor=8 trained=16 low=1 high=4"},
        {"llama_proportional", "proportional_rope base=10000 fraction=0.5"},
        {"llama_yarn_set", "expr '"},
        {"smollm3", "expr 'v_all = 2000000 ** (-2 * p / 4); w_all = v_all; open = (l + 1) % 2 == 0; angle = "
                    "open ? 0 : i * w_all' as=rope_open"},
        {"mistral", "expr 'v_all = 10000 ** (-2 * p / 4); w_all = v_all; near = 1; angle = i * w_all; mask = "
                    "d < 6' as=rope_window"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct pw_foreign *f;
        struct pw_err err;
        struct pw_str text = {0};
        write_with(lines[i].name, "x", NULL);
        if (pw_foreign_open(&f, families.folder, false, &err) != PW_OK)
            fail_msg("%s", err.msg);
        pw_foreign_pe(f, 64, &text);
        if (strncmp(text.s, lines[i].start, strlen(lines[i].start)) != 0)
            fail_msg("%s: %s", lines[i].name, text.s);
        pw_str_fini(&text);
        pw_foreign_close(f);
    }
}

/* Where transformers has a default for a missing key, null means none. */
static void test_caps(void **state)
{
    static const double logit_caps[] = {30, 0, 7};
    static const char *const values[][2] = {
        {NULL, "score = 50 * tanh(s / 50)"}, {"null", ""}, {"7", "score = 7 *"}};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct pw_foreign *f;
        struct pw_str text = {0};
        write_with("gemma2", "attn_logit_softcapping", values[i][0]);
        assert_int_equal(pw_foreign_open(&f, families.folder, false, NULL), PW_OK);
        pw_foreign_pe(f, 64, &text);
        assert_true(values[i][1][0] != '\0' ? strstr(text.s, values[i][1]) != NULL
                                            : strstr(text.s, "tanh") == NULL);
        pw_str_fini(&text);
        pw_foreign_close(f);
        write_with("gemma2", "final_logit_softcapping", values[i][0]);
        assert_int_equal(pw_foreign_open(&f, families.folder, false, NULL), PW_OK);
        assert_true((double)pw_foreign_info(f)->cfg.logit_cap == logit_caps[i]);
        pw_foreign_close(f);
    }
}

static void test_shards(void **state)
{
    cJSON *of = ref_family_case(&families, "qwen2");
    (void)state;
    ref_family_write(&families, of);
    unlink(ref_family_path(&families, "model.safetensors"));
    check_open("no model.safetensors and no model.safetensors.index.json");
    ref_family_text(&families, "model.safetensors.index.json",
                    "{\"weight_map\":{\"a\":\"part-1.safetensors\",\"b\":\"part-2.safetensors\"}}");
    ref_family_part(&families, of, "part-1.safetensors", 0, 2);
    check_open("part-2.safetensors: the file 2 of 2 of this model is missing");
    ref_family_part(&families, of, "part-2.safetensors", 1, 2);
    check_open(NULL);
    ref_family_part(&families, of, "part-2.safetensors", 0, 2);
    check_open("two files have the tensor");
    static const char *const indices[][2] = {
        {"[]", "weight_map"},
        {"{\"weight_map\":{}}", "weight_map"},
        {"{\"weight_map\":{\"a\":1}}", "must map names to files"},
        {"{\"weight_map\":{\"a\":\"../x\"}}", "is not the name of a file beside it"},
    };
    for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) {
        ref_family_text(&families, "model.safetensors.index.json", indices[i][0]);
        check_open(indices[i][1]);
    }
    unlink(ref_family_path(&families, "model.safetensors.index.json"));
    cJSON_Delete(of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults), cmocka_unit_test(test_texts),
                                       cmocka_unit_test(test_encodings), cmocka_unit_test(test_caps),
                                       cmocka_unit_test(test_shards)};

    ref_families_open(&families);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ref_families_close(&families);
    return failed;
}
