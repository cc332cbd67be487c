/* opt.c - OPT (Zhang et al. 2022): learned positions from row 2 on, ReLU. The model of 350 M parameters norms
 * the sums of stream and branch, has no final norm, and an embedding narrower than the stream. */
#include <limits.h>

#include "foreign/families.h"
#include "foreign/reader.h"

static void read(struct pw_reader *r)
{
    pw_read_set(r, "layers", "%d", pw_read_int(r, "num_hidden_layers", INT_MIN));
    pw_read_heads(r, 0);
    pw_read_set(r, "ffn", "%d", pw_read_int(r, "ffn_dim", INT_MIN));
    pw_read_set(r, "norm", "layernorm");
    pw_read_act(r, "activation_function", "relu");
    pw_read_set(r, "bias", "on");
    pw_read_set(r, "tied", pw_read_bool(r, "tie_word_embeddings", true) ? "on" : "off");
    bool after = !pw_read_bool(r, "do_layer_norm_before", true);
    pw_read_set(r, "norm_at", after ? "after" : "both");
    pw_read_need(r, after || !pw_read_bool(r, "_remove_final_layer_norm", false), "_remove_final_layer_norm",
                 "true: a model without its final norm can't be read");
    int embed = pw_read_int(r, "word_embed_proj_dim", r->cfg.width);
    pw_read_need(r, embed > 0, "word_embed_proj_dim", "must be above 0");
    if (embed != r->cfg.width)
        pw_read_set(r, "embed_width", "%d", embed);
    pw_read_need(r, pw_read_bool(r, "enable_bias", true), "enable_bias", "false can't be read");
    pw_read_need(r, pw_read_bool(r, "layer_norm_elementwise_affine", true), "layer_norm_elementwise_affine",
                 "false can't be read");
    r->at.kind = PW_AT_LEARNED;
    r->at.most = pw_read_int(r, "max_position_embeddings", INT_MIN);
}

static const struct pw_map_row rows[] = {
    {"embed", "embed_tokens", 0, 0},
    {"embed_in", "project_in", 0, 0},
    {"pe.table", "embed_positions", PW_MAP_FROM_2, 0},
    {"layers.*.norm1", "layers.*.self_attn_layer_norm", 0, 0},
    {"layers.*.attn.q", "layers.*.self_attn.q_proj", 0, 0},
    {"layers.*.attn.k", "layers.*.self_attn.k_proj", 0, 0},
    {"layers.*.attn.v", "layers.*.self_attn.v_proj", 0, 0},
    {"layers.*.attn.o", "layers.*.self_attn.out_proj", 0, 0},
    {"layers.*.norm2", "layers.*.final_layer_norm", 0, 0},
    {"layers.*.mlp.up", "layers.*.fc1", 0, 0},
    {"layers.*.mlp.down", "layers.*.fc2", 0, 0},
    {"norm", "final_layer_norm", 0, 0},
    {"head_in", "project_out", 0, 0},
    {"head", "lm_head", PW_MAP_ABSOLUTE, 0},
    {0},
};

static const char *const prefixes[] = {"model.decoder.", "decoder.", "", NULL};

const struct pw_family pw_family_opt = {
    .type = "opt", .model_class = "OPTForCausalLM", .read = read, .rows = rows, .prefixes = prefixes};
