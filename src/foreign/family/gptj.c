/* gptj.c - GPT-J (Wang and Komatsuzaki 2021): one norm for attention and MLP, interleaved rotary pairs. */
#include <limits.h>

#include "foreign/families.h"
#include "foreign/reader.h"

static void read(struct pw_reader *r)
{
    int width = pw_read_int(r, "n_embd", INT_MIN), heads = pw_read_int(r, "n_head", INT_MIN);
    int head = heads > 0 ? width / heads : 0, dims = pw_read_int(r, "rotary_dim", 64);
    pw_read_set(r, "layers", "%d", pw_read_int(r, "n_layer", INT_MIN));
    pw_read_set(r, "width", "%d", width);
    pw_read_set(r, "heads", "%d", heads);
    pw_read_set(r, "ffn", "%d", pw_read_int(r, "n_inner", 4 * width));
    pw_read_set(r, "norm", "layernorm");
    pw_read_eps(r, "layer_norm_epsilon", 1e-5);
    pw_read_set(r, "bias", "mlp");
    pw_read_set(r, "parallel", "shared");
    pw_read_act(r, "activation_function", "gelu_new");
    bool tied = pw_read_bool(r, "tie_word_embeddings", false);
    pw_read_set(r, "tied", tied ? "on" : "off");
    pw_read_set(r, "head_bias", "on");
    pw_read_need(r, dims > 0 && dims <= head && dims % 2 == 0, "rotary_dim",
                 "must be even, up to the head's width");
    r->at.most = pw_read_int(r, "n_positions", INT_MIN);
    pw_read_rope(r, 10000, 1);
    r->at.rope.fraction = head > 0 ? (double)dims / head : 1;
    r->at.interleaved = true;
}

static const struct pw_map_row rows[] = {
    {"embed", "wte", 0, 0},
    {"layers.*.norm1", "h.*.ln_1", 0, 0},
    {"layers.*.attn.q", "h.*.attn.q_proj", 0, 0},
    {"layers.*.attn.k", "h.*.attn.k_proj", 0, 0},
    {"layers.*.attn.v", "h.*.attn.v_proj", 0, 0},
    {"layers.*.attn.o", "h.*.attn.out_proj", 0, 0},
    {"layers.*.mlp.up", "h.*.mlp.fc_in", 0, 0},
    {"layers.*.mlp.down", "h.*.mlp.fc_out", 0, 0},
    {"norm", "ln_f", 0, 0},
    {"head", "lm_head", PW_MAP_ABSOLUTE, 0},
    {0},
};

static const char *const prefixes[] = {"transformer.", "", NULL};
static const char *const ignored[] = {"*h.*.attn.bias", "*h.*.attn.masked_bias", "*h.*.attn.embed_positions",
                                      NULL};

const struct pw_family pw_family_gptj = {.type = "gptj",
                                         .model_class = "GPTJForCausalLM",
                                         .read = read,
                                         .rows = rows,
                                         .prefixes = prefixes,
                                         .ignored = ignored};
