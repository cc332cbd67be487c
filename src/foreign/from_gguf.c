/* from_gguf.c - a GGUF file as a config.json and rows of tensors. The converter of llama.cpp has split fused
 * tensors, transposed GPT-2's, added 1 to Gemma's gains, and put the rows of q and k of LLaMA and SmolLM3 in
 * the order of interleaved pairs. */
#include "foreign/from_gguf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/maths.h"

const char *const pw_gguf_ignored[] = {"rope_freqs.weight", "rope_factors_long.weight",
                                       "rope_factors_short.weight", NULL};

const struct pw_map_row pw_gguf_rows[] = {
    {"embed", "token_embd", 0, 0},
    {"pe.table", "position_embd", 0, 0},
    {"embed_norm", "token_embd_norm", 0, 0},
    {"layers.*.norm1", "blk.*.attn_norm", 0, 0},
    {"layers.*.attn.q", "blk.*.attn_q", PW_MAP_ROTATED, 0},
    {"layers.*.attn.k", "blk.*.attn_k", PW_MAP_ROTATED, 0},
    {"layers.*.attn.v", "blk.*.attn_v", 0, 0},
    {"layers.*.attn.q", "blk.*.attn_qkv", PW_MAP_THIRD | PW_MAP_ROTATED, 0},
    {"layers.*.attn.k", "blk.*.attn_qkv", PW_MAP_THIRD | PW_MAP_ROTATED, 1},
    {"layers.*.attn.v", "blk.*.attn_qkv", PW_MAP_THIRD, 2},
    {"layers.*.attn.o", "blk.*.attn_output", 0, 0},
    {"layers.*.attn.q_norm", "blk.*.attn_q_norm", PW_MAP_ROTATED, 0},
    {"layers.*.attn.k_norm", "blk.*.attn_k_norm", PW_MAP_ROTATED, 0},
    {"layers.*.norm1_post", "blk.*.post_attention_norm", 0, 0},
    {"layers.*.norm2", "blk.*.ffn_norm", 0, 0},
    {"layers.*.norm2_post", "blk.*.post_ffw_norm", 0, 0},
    {"layers.*.mlp.gate", "blk.*.ffn_gate", 0, 0},
    {"layers.*.mlp.up", "blk.*.ffn_up", 0, 0},
    {"layers.*.mlp.down", "blk.*.ffn_down", 0, 0},
    {"norm", "output_norm", 0, 0},
    {"head", "output", 0, 0},
    {0},
};

/* Architectures, and the families that read their configs. */
static const char *const architectures[][2] = {
    {"llama", "llama"},        {"qwen2", "qwen2"}, {"qwen3", "qwen3"},
    {"smollm3", "smollm3"},    {"gemma", "gemma"}, {"gemma2", "gemma2"},
    {"gemma3", "gemma3_text"}, {"gpt2", "gpt2"},   {"gptneox", "gpt_neox"},
    {"bloom", "bloom"},        {"mpt", "mpt"},
};

/* A line of metadata behind "ARCHITECTURE.", and its keys in configs. Keys of other families are ignored. */
static const struct {
    const char *key, *names[4];
} numbers[] = {
    {"block_count", {"num_hidden_layers", "n_layer", "n_layers"}},
    {"context_length", {"max_position_embeddings", "n_positions", "max_seq_len", "seq_length"}},
    {"embedding_length", {"hidden_size", "n_embd", "d_model"}},
    {"feed_forward_length", {"intermediate_size", "n_inner"}},
    {"attention.head_count", {"num_attention_heads", "n_head", "n_heads"}},
    {"attention.head_count_kv", {"num_key_value_heads"}},
    {"attention.key_length", {"head_dim"}},
    {"attention.layer_norm_rms_epsilon", {"rms_norm_eps"}},
    {"attention.layer_norm_epsilon", {"layer_norm_epsilon", "layer_norm_eps"}},
    {"attention.sliding_window", {"sliding_window"}},
    {"attn_logit_softcapping", {"attn_logit_softcapping"}},
    {"final_logit_softcapping", {"final_logit_softcapping"}},
    {"rope.freq_base", {"rope_theta", "rotary_emb_base"}},
};

static enum pw_code number_of(const struct pw_gguf *g, const char *path, const char *arch, const char *key,
                              double *out, bool *found, struct pw_err *err)
{
    char name[128];
    snprintf(name, sizeof name, "%s.%s", arch, key);
    const struct pw_gguf_value *v = pw_gguf_find(g, name);
    *found = v != NULL;
    if (v == NULL)
        return PW_OK;
    if (!pw_gguf_number(v, 0, out))
        return pw_fail(err, PW_EUSER, "%.200s: %s: must be a number", path, name);
    for (uint64_t i = 1; i < v->n; i++) { /* a number for each layer */
        double other = *out;
        pw_gguf_number(v, i, &other);
        if (other != *out)
            return pw_fail(err, PW_EUSER, "%.200s: %s: layers of different shapes can't be read", path, name);
    }
    return PW_OK;
}

/* Copies a string of the metadata; "" without one. */
static void text_of(const struct pw_gguf *g, const char *key, char *dst, size_t size)
{
    uint64_t n;
    const char *text = pw_gguf_text(pw_gguf_find(g, key), &n);
    dst[0] = '\0';
    if (text != NULL)
        snprintf(dst, size, "%.*s", (int)(n < size ? n : size - 1), text);
}

static enum pw_code add_numbers(cJSON *o, const struct pw_gguf *g, const char *path, const char *arch,
                                struct pw_err *err)
{
    enum pw_code code = PW_OK;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && code == PW_OK; i++) {
        double x = 0;
        bool found;
        code = number_of(g, path, arch, numbers[i].key, &x, &found, err);
        for (int k = 0; k < 4 && numbers[i].names[k] != NULL && found && code == PW_OK; k++)
            cJSON_AddNumberToObject(o, numbers[i].names[k], x);
    }
    return code;
}

/* Adds the width of a head if the file leaves it out, because its default differs between families, and the
 * share of a head that rotates. */
static enum pw_code add_share(cJSON *o, const struct pw_gguf *g, const char *path, const char *arch,
                              struct pw_err *err)
{
    double dims = 0, head = 0;
    bool has_dims;
    enum pw_code code = number_of(g, path, arch, "rope.dimension_count", &dims, &has_dims, err);
    const cJSON *width = cJSON_GetObjectItemCaseSensitive(o, "hidden_size");
    const cJSON *heads = cJSON_GetObjectItemCaseSensitive(o, "num_attention_heads");
    const cJSON *given = cJSON_GetObjectItemCaseSensitive(o, "head_dim");
    if (given != NULL)
        head = given->valuedouble;
    else if (width != NULL && heads != NULL && heads->valuedouble > 0)
        head = width->valuedouble / heads->valuedouble;
    if (given == NULL && head >= 1 && head == floor(head))
        cJSON_AddNumberToObject(o, "head_dim", head);
    if (code == PW_OK && has_dims && head > 0) {
        cJSON_AddNumberToObject(o, "partial_rotary_factor", dims / head);
        cJSON_AddNumberToObject(o, "rotary_pct", dims / head);
    }
    return code;
}

enum pw_code pw_gguf_factors(cJSON *to, const char *key, struct pw_weights *w, const char *name,
                             struct pw_err *err)
{
    const struct pw_weights_tensor *t = pw_weights_find(w, name);
    float values[PW_ROPE_FACTORS];
    if (t == NULL)
        return PW_OK;
    if (!t->readable || t->n_dims != 1 || t->dims[0] > PW_ROPE_FACTORS)
        return pw_fail(err, PW_EUSER, "tensor '%s' must be a vector of at most %d numbers", name,
                       PW_ROPE_FACTORS);
    enum pw_code code = pw_weights_row(w, t, 0, values, err);
    if (code == PW_OK)
        cJSON_AddItemToObject(to, key, cJSON_CreateFloatArray(values, (int)t->dims[0]));
    return code;
}

/* Adds rope_scaling. llama3 is the tensor rope_freqs here, longrope two more tensors. llama.cpp's converter
 * writes no type for them. */
static enum pw_code add_rope(cJSON *o, struct pw_weights *w, const struct pw_gguf *g, const char *path,
                             const char *arch, struct pw_err *err)
{
    char type[32], key[96];
    double factor = 1, trained = 0, gain = 1;
    bool has_factor, has_trained, has_gain;
    bool factors = pw_weights_find(w, "rope_freqs.weight") != NULL;
    bool lists = pw_weights_find(w, "rope_factors_long.weight") != NULL ||
                 pw_weights_find(w, "rope_factors_short.weight") != NULL;
    snprintf(key, sizeof key, "%s.rope.scaling.type", arch);
    text_of(g, key, type, sizeof type);
    enum pw_code code = number_of(g, path, arch, "rope.scaling.factor", &factor, &has_factor, err);
    if (code == PW_OK)
        code = number_of(g, path, arch, "rope.scaling.original_context_length", &trained, &has_trained, err);
    if (code == PW_OK)
        code = number_of(g, path, arch, "rope.scaling.attn_factor", &gain, &has_gain, err);
    if (code != PW_OK)
        return code;
    bool untyped = type[0] == '\0' || strcmp(type, "none") == 0;
    if ((factors && lists) || (factors && !untyped) || (lists && !untyped && strcmp(type, "longrope") != 0))
        return pw_fail(err, PW_EUSER, "%.160s: %s: '%s' beside the tensor %s can't be read", path, key,
                       untyped ? "none" : type,
                       !factors ? "rope_factors_long"
                       : lists  ? "rope_freqs and rope_factors_long"
                                : "rope_freqs");
    bool yarn = strcmp(type, "yarn") == 0;
    if (gain != 1 && !lists && !yarn)
        return pw_fail(err, PW_EUSER,
                       "%.160s: %s.rope.scaling.attn_factor=%g: must be 1 without yarn or longrope", path,
                       arch, gain);
    if (untyped && !factors && !lists)
        return PW_OK;
    cJSON *scaling = cJSON_AddObjectToObject(o, "rope_scaling");
    cJSON_AddStringToObject(scaling, "rope_type", factors ? PW_ROPE_OF_GGUF : lists ? "longrope" : type);
    cJSON_AddNumberToObject(scaling, "factor", factor);
    if (has_trained)
        cJSON_AddNumberToObject(scaling, "original_max_position_embeddings", trained);
    if (yarn && gain != 1) /* llama.cpp multiplies the factor of YaRN's paper */
        gain *= factor > 1 ? 0.1 * pw_log(factor) + 1 : 1;
    if (lists || gain != 1)
        cJSON_AddNumberToObject(scaling, "attention_factor", gain);
    static const char *const betas[][2] = {{"rope.scaling.yarn_beta_fast", "beta_fast"},
                                           {"rope.scaling.yarn_beta_slow", "beta_slow"}};
    for (int i = 0; i < 2 && code == PW_OK; i++) {
        double x;
        bool found;
        code = number_of(g, path, arch, betas[i][0], &x, &found, err);
        if (code == PW_OK && found)
            cJSON_AddNumberToObject(scaling, betas[i][1], x);
    }
    if (code == PW_OK)
        code = pw_gguf_factors(scaling, "long_factor", w,
                               factors ? "rope_freqs.weight" : "rope_factors_long.weight", err);
    return code == PW_OK ? pw_gguf_factors(scaling, "short_factor", w, "rope_factors_short.weight", err)
                         : code;
}

/* Gemma's query_pre_attn_scalar, which GGUF does not have: the head's width, except in the two models of 27
 * B, which llama.cpp, too, tells by their layers. */
static void add_gemma(cJSON *o, const char *arch)
{
    const cJSON *head = cJSON_GetObjectItemCaseSensitive(o, "head_dim");
    const cJSON *layers = cJSON_GetObjectItemCaseSensitive(o, "num_hidden_layers");
    const cJSON *width = cJSON_GetObjectItemCaseSensitive(o, "hidden_size");
    const cJSON *heads = cJSON_GetObjectItemCaseSensitive(o, "num_attention_heads");
    if (strncmp(arch, "gemma", 5) != 0 || head == NULL || layers == NULL || width == NULL || heads == NULL)
        return;
    bool large = (strcmp(arch, "gemma2") == 0 && layers->valuedouble == 46) ||
                 (strcmp(arch, "gemma3") == 0 && layers->valuedouble == 62);
    cJSON_AddNumberToObject(o, "query_pre_attn_scalar",
                            large && heads->valuedouble > 0 ? width->valuedouble / heads->valuedouble
                                                            : head->valuedouble);
}

/* Tokens with a meaning. Without null the family's default would hold. */
static void add_tokens(cJSON *o, const struct pw_gguf *g)
{
    static const char *const keys[][2] = {{"bos_token_id", "tokenizer.ggml.bos_token_id"},
                                          {"eos_token_id", "tokenizer.ggml.eos_token_id"},
                                          {"pad_token_id", "tokenizer.ggml.padding_token_id"}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct pw_gguf_value *v = pw_gguf_find(g, keys[i][1]);
        double x;
        bool found = v != NULL && pw_gguf_number(v, 0, &x);
        cJSON_AddItemToObject(o, keys[i][0], found ? cJSON_CreateNumber(x) : cJSON_CreateNull());
    }
}

/* Settings that GGUF shows by which tensors there are, or only by the architecture's name. */
static void add_signs(cJSON *o, struct pw_weights *w, const char *arch, const struct pw_gguf *g)
{
    const struct pw_weights_tensor *embed = pw_weights_find(w, "token_embd.weight");
    bool bias = pw_weights_find(w, "blk.0.attn_q.bias") != NULL;
    char key[96];
    double x;
    cJSON_AddBoolToObject(o, "tie_word_embeddings", pw_weights_find(w, "output.weight") == NULL);
    if (embed != NULL && embed->n_dims == 2)
        cJSON_AddNumberToObject(o, "vocab_size", (double)embed->dims[0]);
    if (strcmp(arch, "qwen2") != 0)
        cJSON_AddBoolToObject(o, "attention_bias", bias || strcmp(arch, "gptneox") == 0);
    snprintf(key, sizeof key, "%s.use_parallel_residual", arch);
    const struct pw_gguf_value *v = pw_gguf_find(g, key);
    if (v != NULL && pw_gguf_number(v, 0, &x))
        cJSON_AddBoolToObject(o, "use_parallel_residual", x != 0);
    snprintf(key, sizeof key, "%s.attention.clamp_kqv", arch);
    v = pw_gguf_find(g, key);
    if (v != NULL && pw_gguf_number(v, 0, &x) && x != 0) /* MPT */
        cJSON_AddNumberToObject(cJSON_AddObjectToObject(o, "attn_config"), "clip_qkv", x);
    add_gemma(o, arch);
    if (strcmp(arch, "llama") == 0 && cJSON_GetObjectItemCaseSensitive(o, "sliding_window") != NULL)
        cJSON_ReplaceItemInObject(o, "model_type", cJSON_CreateString("mistral"));
}

enum pw_code pw_gguf_config(struct pw_weights *w, const char *path, cJSON **out, struct pw_err *err)
{
    const struct pw_gguf *g = pw_weights_gguf(w);
    char arch[32];
    const char *family = NULL;
    struct pw_str list = {0};
    text_of(g, "general.architecture", arch, sizeof arch);
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++) {
        pw_str_add(&list, "%s%s", i > 0 ? ", " : "", architectures[i][0]);
        if (strcmp(architectures[i][0], arch) == 0)
            family = architectures[i][1];
    }
    enum pw_code code = PW_OK;
    if (family == NULL)
        code = pw_fail(err, PW_EUSER, "%.160s: unknown general.architecture '%s'; pewter reads %s", path,
                       arch, list.s);
    pw_str_fini(&list);
    if (code != PW_OK)
        return code;
    *out = cJSON_CreateObject();
    cJSON_AddStringToObject(*out, "model_type", family);
    code = add_numbers(*out, g, path, arch, err);
    if (code == PW_OK)
        code = add_share(*out, g, path, arch, err);
    if (code == PW_OK)
        code = add_rope(*out, w, g, path, arch, err);
    if (code == PW_OK)
        add_signs(*out, w, arch, g);
    add_tokens(*out, g);
    return code;
}

bool pw_gguf_permutes(const char *model_type)
{
    return strcmp(model_type, "llama") == 0 || strcmp(model_type, "mistral") == 0 ||
           strcmp(model_type, "smollm3") == 0;
}
