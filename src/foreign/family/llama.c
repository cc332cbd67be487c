/* llama.c - LLaMA (Touvron et al. 2023) and families that differ in few settings: Mistral's window, Qwen2's
 * biases, Qwen3's norms of q and k, SmolLM3's layers without rotation. */
#include <limits.h>
#include <math.h>

#include "foreign/families.h"
#include "foreign/reader.h"

void pw_read_llama_block(struct pw_reader *r, int head)
{
    pw_read_set(r, "layers", "%d", pw_read_int(r, "num_hidden_layers", INT_MIN));
    pw_read_heads(r, head);
    pw_read_set(r, "ffn", "%d", pw_read_int(r, "intermediate_size", INT_MIN));
    pw_read_set(r, "norm", "rmsnorm");
    pw_read_eps(r, "rms_norm_eps", 1e-6);
    pw_read_set(r, "gated", "on");
}

/* Settings of all these families. head: as for pw_read_heads. most: the default of the longest context. */
static void read_common(struct pw_reader *r, double base, int head, int most)
{
    pw_read_llama_block(r, head);
    pw_read_act(r, "hidden_act", "silu");
    pw_read_set(r, "tied", pw_read_bool(r, "tie_word_embeddings", false) ? "on" : "off");
    r->at.most = pw_read_int(r, "max_position_embeddings", most);
    pw_read_rope(r, base, 1);
}

/* Biases of attention, and of the MLP; if only one has them, those of the other are zero. */
static void read_biases(struct pw_reader *r)
{
    if (!pw_read_bool(r, "attention_bias", false) && !pw_read_bool(r, "mlp_bias", false))
        return;
    pw_read_set(r, "bias", "on");
    r->zero_biases = true;
}

static void all_slide(struct pw_reader *r)
{
    if (pw_read_part(r, "layer_types") == NULL)
        for (int l = 0; l < PW_MAX_LAYERS; l++)
            r->at.sliding[l] = true;
}

static void read_llama(struct pw_reader *r)
{
    read_common(r, 10000, 0, 2048);
    read_biases(r);
}

static void read_mistral(struct pw_reader *r)
{
    read_common(r, 10000, 0, 131072);
    all_slide(r);
    pw_read_sliding(r, 4096);
}

/* Qwen: layers from max_window_layers on slide, if use_sliding_window is set. */
static void read_window(struct pw_reader *r)
{
    if (!pw_read_bool(r, "use_sliding_window", false))
        return;
    int first = pw_read_int(r, "max_window_layers", 28);
    for (int l = first; l < PW_MAX_LAYERS; l++)
        r->at.sliding[l] = true;
    pw_read_sliding(r, 4096);
}

static void read_qwen2(struct pw_reader *r)
{
    read_common(r, 10000, 0, 32768);
    pw_read_set(r, "bias", "qkv");
    read_window(r);
}

static void read_qwen3(struct pw_reader *r)
{
    read_common(r, 10000, 128, 32768);
    pw_read_set(r, "qk_norm", "head");
    read_biases(r);
    read_window(r);
}

static void read_smollm3(struct pw_reader *r)
{
    const cJSON *list = pw_read_part(r, "no_rope_layers"), *item;
    int every = pw_read_int(r, "no_rope_layer_interval", 4), l = 0;
    read_common(r, 2000000, 0, 32768);
    read_biases(r);
    pw_read_set(r, "tied", pw_read_bool(r, "tie_word_embeddings", true) ? "on" : "off");
    pw_read_need(r, every > 0, "no_rope_layer_interval", "must be above 0");
    for (int i = 0; i < PW_MAX_LAYERS && list == NULL && every > 0; i++)
        r->at.open[i] = (i + 1) % every == 0;
    cJSON_ArrayForEach(item, list)
    {
        pw_read_need(r, cJSON_IsNumber(item), "no_rope_layers", "must be a list of 0 and 1");
        if (l < PW_MAX_LAYERS)
            r->at.open[l] = item->valuedouble == 0;
        l++;
    }
    pw_read_need(r, list == NULL || l >= r->cfg.layers, "no_rope_layers",
                 "must have an entry for each layer");
    if (pw_read_bool(r, "use_sliding_window", false)) {
        for (int i = 0; i < PW_MAX_LAYERS; i++)
            r->at.sliding[i] = r->at.open[i];
        pw_read_sliding(r, 4096);
    }
}

const struct pw_map_row pw_llama_rows[] = {
    {"embed", "embed_tokens", 0, 0},
    {"layers.*.norm1", "layers.*.input_layernorm", PW_MAP_GAIN, 0},
    {"layers.*.attn.q", "layers.*.self_attn.q_proj", PW_MAP_ROTATED, 0},
    {"layers.*.attn.k", "layers.*.self_attn.k_proj", PW_MAP_ROTATED, 0},
    {"layers.*.attn.v", "layers.*.self_attn.v_proj", 0, 0},
    {"layers.*.attn.o", "layers.*.self_attn.o_proj", 0, 0},
    {"layers.*.attn.q_norm", "layers.*.self_attn.q_norm", PW_MAP_GAIN | PW_MAP_ROTATED, 0},
    {"layers.*.attn.k_norm", "layers.*.self_attn.k_norm", PW_MAP_GAIN | PW_MAP_ROTATED, 0},
    {"layers.*.norm1_post", "layers.*.post_attention_layernorm", PW_MAP_GAIN, 0},
    {"layers.*.norm2", "layers.*.pre_feedforward_layernorm", PW_MAP_GAIN | PW_MAP_POST, 0},
    {"layers.*.norm2", "layers.*.post_attention_layernorm", PW_MAP_GAIN, 0},
    {"layers.*.norm2_post", "layers.*.post_feedforward_layernorm", PW_MAP_GAIN, 0},
    {"layers.*.mlp.gate", "layers.*.mlp.gate_proj", 0, 0},
    {"layers.*.mlp.up", "layers.*.mlp.up_proj", 0, 0},
    {"layers.*.mlp.down", "layers.*.mlp.down_proj", 0, 0},
    {"norm", "norm", PW_MAP_GAIN, 0},
    {"head", "lm_head", PW_MAP_ABSOLUTE, 0},
    {0},
};

const char *const pw_llama_prefixes[] = {"model.", "", NULL};
static const char *const ignored[] = {"*rotary_emb.inv_freq", NULL};

#define LIKE_LLAMA .rows = pw_llama_rows, .prefixes = pw_llama_prefixes, .ignored = ignored
const struct pw_family pw_family_llama = {
    .type = "llama", .model_class = "LlamaForCausalLM", .read = read_llama, .mlp_bias = true, LIKE_LLAMA};
const struct pw_family pw_family_mistral = {
    .type = "mistral", .model_class = "MistralForCausalLM", .read = read_mistral, LIKE_LLAMA};
const struct pw_family pw_family_qwen2 = {
    .type = "qwen2", .model_class = "Qwen2ForCausalLM", .read = read_qwen2, LIKE_LLAMA};
const struct pw_family pw_family_qwen3 = {
    .type = "qwen3", .model_class = "Qwen3ForCausalLM", .read = read_qwen3, LIKE_LLAMA};
const struct pw_family pw_family_smollm3 = {.type = "smollm3",
                                            .model_class = "SmolLM3ForCausalLM",
                                            .read = read_smollm3,
                                            .mlp_bias = true,
                                            LIKE_LLAMA};
