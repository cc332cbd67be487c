/* bloom.c - BLOOM (BigScience 2022): ALiBi, a norm of the embedding, q, k and v fused head by head. */
#include <limits.h>

#include "foreign/families.h"
#include "foreign/reader.h"

enum { CONTEXT = 2048 }; /* trained length of all BLOOM models, whose configs do not state it */

static void read(struct pw_reader *r)
{
    int width = pw_read_int(r, "n_embed", pw_read_int(r, "hidden_size", INT_MIN));
    pw_read_set(r, "layers", "%d", pw_read_int(r, "n_layer", pw_read_int(r, "num_hidden_layers", 2)));
    pw_read_set(r, "width", "%d", width);
    pw_read_set(r, "heads", "%d", pw_read_int(r, "n_head", pw_read_int(r, "num_attention_heads", 8)));
    pw_read_set(r, "norm", "layernorm");
    pw_read_eps(r, "layer_norm_epsilon", 1e-5);
    pw_read_set(r, "embed_norm", "on");
    pw_read_set(r, "bias", "on");
    pw_read_set(r, "act", "gelu_tanh");
    pw_read_set(r, "tied", pw_read_bool(r, "tie_word_embeddings", true) ? "on" : "off");
    pw_read_need(r, !pw_read_bool(r, "apply_residual_connection_post_layernorm", false),
                 "apply_residual_connection_post_layernorm",
                 "pewter adds to the stream before the norm only");
    r->at.kind = PW_AT_ALIBI;
    r->at.most = pw_read_int(r, "seq_length", CONTEXT);
}

static const struct pw_map_row rows[] = {
    {"embed", "word_embeddings", 0, 0},
    {"embed_norm", "word_embeddings_layernorm", 0, 0},
    {"layers.*.norm1", "h.*.input_layernorm", 0, 0},
    {"layers.*.attn.q", "h.*.self_attention.query_key_value", PW_MAP_BY_HEAD, 0},
    {"layers.*.attn.k", "h.*.self_attention.query_key_value", PW_MAP_BY_HEAD, 1},
    {"layers.*.attn.v", "h.*.self_attention.query_key_value", PW_MAP_BY_HEAD, 2},
    {"layers.*.attn.o", "h.*.self_attention.dense", 0, 0},
    {"layers.*.norm2", "h.*.post_attention_layernorm", 0, 0},
    {"layers.*.mlp.up", "h.*.mlp.dense_h_to_4h", 0, 0},
    {"layers.*.mlp.down", "h.*.mlp.dense_4h_to_h", 0, 0},
    {"norm", "ln_f", 0, 0},
    {"head", "lm_head", PW_MAP_ABSOLUTE, 0},
    {0},
};

static const char *const prefixes[] = {"transformer.", "", NULL};

const struct pw_family pw_family_bloom = {
    .type = "bloom", .model_class = "BloomForCausalLM", .read = read, .rows = rows, .prefixes = prefixes};
