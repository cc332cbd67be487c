/* gpt_neox.c - GPT-NeoX and Pythia (Black et al. 2022): attention and MLP side by side, a part of each head
 * rotates, q, k and v fused head by head. */
#include <limits.h>

#include "foreign/families.h"
#include "foreign/reader.h"

static void read(struct pw_reader *r)
{
    pw_read_set(r, "layers", "%d", pw_read_int(r, "num_hidden_layers", INT_MIN));
    pw_read_heads(r, 0);
    pw_read_set(r, "ffn", "%d", pw_read_int(r, "intermediate_size", INT_MIN));
    pw_read_set(r, "norm", "layernorm");
    pw_read_eps(r, "layer_norm_eps", 1e-5);
    pw_read_set(r, "bias", pw_read_bool(r, "attention_bias", true) ? "on" : "mlp");
    pw_read_set(r, "parallel", pw_read_bool(r, "use_parallel_residual", true) ? "on" : "off");
    pw_read_act(r, "hidden_act", "gelu");
    pw_read_set(r, "tied", pw_read_bool(r, "tie_word_embeddings", false) ? "on" : "off");
    r->at.most = pw_read_int(r, "max_position_embeddings", INT_MIN);
    pw_read_rope(r, pw_read_number(r, "rotary_emb_base", 10000), pw_read_number(r, "rotary_pct", 0.25));
}

static const struct pw_map_row rows[] = {
    {"embed", "embed_in", 0, 0},
    {"layers.*.norm1", "layers.*.input_layernorm", 0, 0},
    {"layers.*.attn.q", "layers.*.attention.query_key_value", PW_MAP_BY_HEAD | PW_MAP_ROTATED, 0},
    {"layers.*.attn.k", "layers.*.attention.query_key_value", PW_MAP_BY_HEAD | PW_MAP_ROTATED, 1},
    {"layers.*.attn.v", "layers.*.attention.query_key_value", PW_MAP_BY_HEAD, 2},
    {"layers.*.attn.o", "layers.*.attention.dense", 0, 0},
    {"layers.*.norm2", "layers.*.post_attention_layernorm", 0, 0},
    {"layers.*.mlp.up", "layers.*.mlp.dense_h_to_4h", 0, 0},
    {"layers.*.mlp.down", "layers.*.mlp.dense_4h_to_h", 0, 0},
    {"norm", "final_layer_norm", 0, 0},
    {"head", "embed_out", PW_MAP_ABSOLUTE, 0},
    {"head", "lm_head", PW_MAP_ABSOLUTE, 0},
    {0},
};

static const char *const prefixes[] = {"gpt_neox.", "", NULL};
static const char *const ignored[] = {"*layers.*.attention.bias", "*layers.*.attention.masked_bias",
                                      "*rotary_emb.inv_freq", NULL};

const struct pw_family pw_family_gpt_neox = {.type = "gpt_neox",
                                             .model_class = "GPTNeoXForCausalLM",
                                             .read = read,
                                             .rows = rows,
                                             .prefixes = prefixes,
                                             .ignored = ignored};
