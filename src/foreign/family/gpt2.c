/* gpt2.c - GPT-2 (Radford et al. 2019): learned positions, pre-norm, matrices stored [in,out]. */
#include <limits.h>

#include "foreign/families.h"
#include "foreign/reader.h"

static void read(struct pw_reader *r)
{
    int width = pw_read_int(r, "n_embd", INT_MIN);
    pw_read_set(r, "layers", "%d", pw_read_int(r, "n_layer", INT_MIN));
    pw_read_set(r, "width", "%d", width);
    pw_read_set(r, "heads", "%d", pw_read_int(r, "n_head", INT_MIN));
    pw_read_set(r, "ffn", "%d", pw_read_int(r, "n_inner", 4 * width));
    pw_read_set(r, "norm", "layernorm");
    pw_read_eps(r, "layer_norm_epsilon", 1e-5);
    pw_read_set(r, "bias", "on");
    pw_read_act(r, "activation_function", "gelu_new");
    pw_read_set(r, "tied", pw_read_bool(r, "tie_word_embeddings", true) ? "on" : "off");
    pw_read_set(r, "scale", pw_read_bool(r, "scale_attn_weights", true) ? "on" : "off");
    r->inverse_layers = pw_read_bool(r, "scale_attn_by_inverse_layer_idx", false);
    pw_read_need(r, !pw_read_bool(r, "add_cross_attention", false), "add_cross_attention",
                 "a model that attends to another one can't be read");
    r->at.kind = PW_AT_LEARNED;
    r->at.most = pw_read_int(r, "n_positions", INT_MIN);
}

static const struct pw_map_row rows[] = {
    {"embed", "wte", 0, 0},
    {"pe.table", "wpe", 0, 0},
    {"layers.*.norm1", "h.*.ln_1", 0, 0},
    {"layers.*.attn.q", "h.*.attn.c_attn", PW_MAP_TRANSPOSED | PW_MAP_THIRD, 0},
    {"layers.*.attn.k", "h.*.attn.c_attn", PW_MAP_TRANSPOSED | PW_MAP_THIRD, 1},
    {"layers.*.attn.v", "h.*.attn.c_attn", PW_MAP_TRANSPOSED | PW_MAP_THIRD, 2},
    {"layers.*.attn.o", "h.*.attn.c_proj", PW_MAP_TRANSPOSED, 0},
    {"layers.*.norm2", "h.*.ln_2", 0, 0},
    {"layers.*.mlp.up", "h.*.mlp.c_fc", PW_MAP_TRANSPOSED, 0},
    {"layers.*.mlp.down", "h.*.mlp.c_proj", PW_MAP_TRANSPOSED, 0},
    {"norm", "ln_f", 0, 0},
    {"head", "lm_head", PW_MAP_ABSOLUTE, 0},
    {0},
};

static const char *const prefixes[] = {"transformer.", "", NULL};
static const char *const ignored[] = {"*h.*.attn.bias", "*h.*.attn.masked_bias", NULL}; /* causal masks */

const struct pw_family pw_family_gpt2 = {.type = "gpt2",
                                         .model_class = "GPT2LMHeadModel",
                                         .read = read,
                                         .rows = rows,
                                         .prefixes = prefixes,
                                         .ignored = ignored};
