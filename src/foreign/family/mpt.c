/* mpt.c - MPT (MosaicML 2023): ALiBi, no biases. Its slopes are those of Press et al.: Hugging Face never
 * passes alibi_bias_max to them. */
#include <limits.h>

#include "foreign/families.h"
#include "foreign/reader.h"

/* attn_config is an object of its own. */
static void read_attention(struct pw_reader *r)
{
    const cJSON *whole = r->o, *part = pw_read_part(r, "attn_config");
    r->o = part; /* without it the defaults remain */
    double scale = pw_read_number(r, "softmax_scale", 0);
    if (scale > 0)
        pw_read_set(r, "score_scale", "%.9g", scale);
    double clip = pw_read_number(r, "clip_qkv", 0);
    pw_read_need(r, clip >= 0, "clip_qkv", "must be above 0, or null");
    if (clip > 0)
        pw_read_set(r, "qkv_clip", "%.9g", clip);
    pw_read_need(r, !pw_read_bool(r, "qk_ln", false), "qk_ln", "pewter has no such norm of q and k");
    pw_read_need(r, pw_read_bool(r, "alibi", true), "alibi", "only models with ALiBi can be read");
    pw_read_need(r, !pw_read_bool(r, "prefix_lm", false), "prefix_lm", "only causal models can be read");
    r->o = whole;
}

static void read(struct pw_reader *r)
{
    int width = pw_read_int(r, "d_model", INT_MIN);
    pw_read_set(r, "layers", "%d", pw_read_int(r, "n_layers", INT_MIN));
    pw_read_set(r, "width", "%d", width);
    pw_read_set(r, "heads", "%d", pw_read_int(r, "n_heads", INT_MIN));
    pw_read_set(r, "ffn", "%d", 4 * width); /* Hugging Face ignores expansion_ratio */
    pw_read_set(r, "norm", "layernorm");
    pw_read_eps(r, "layer_norm_epsilon", 1e-5);
    pw_read_set(r, "act", "gelu");
    pw_read_need(r, pw_read_bool(r, "no_bias", true), "no_bias", "only models without biases can be read");
    pw_read_set(r, "tied", pw_read_bool(r, "tie_word_embeddings", true) ? "on" : "off");
    r->at.kind = PW_AT_ALIBI;
    r->at.most = pw_read_int(r, "max_seq_len", INT_MIN);
    read_attention(r);
}

static const struct pw_map_row rows[] = {
    {"embed", "wte", 0, 0},
    {"layers.*.norm1", "blocks.*.norm_1", 0, 0},
    {"layers.*.attn.q", "blocks.*.attn.Wqkv", PW_MAP_THIRD, 0},
    {"layers.*.attn.k", "blocks.*.attn.Wqkv", PW_MAP_THIRD, 1},
    {"layers.*.attn.v", "blocks.*.attn.Wqkv", PW_MAP_THIRD, 2},
    {"layers.*.attn.o", "blocks.*.attn.out_proj", 0, 0},
    {"layers.*.norm2", "blocks.*.norm_2", 0, 0},
    {"layers.*.mlp.up", "blocks.*.ffn.up_proj", 0, 0},
    {"layers.*.mlp.down", "blocks.*.ffn.down_proj", 0, 0},
    {"norm", "norm_f", 0, 0},
    {"head", "lm_head", PW_MAP_ABSOLUTE, 0},
    {0},
};

static const char *const prefixes[] = {"transformer.", "", NULL};

const struct pw_family pw_family_mpt = {
    .type = "mpt", .model_class = "MptForCausalLM", .read = read, .rows = rows, .prefixes = prefixes};
