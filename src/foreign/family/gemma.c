/* gemma.c - Gemma 1, 2 and 3 (Gemma Team 2024, 2025): LLaMA's names, gains stored less one, scaled
 * embeddings; from 2 on four norms a block and sliding layers, in 3 norms of q and k and a second base. */
#include <math.h>

#include "foreign/families.h"
#include "foreign/reader.h"

static void read_common(struct pw_reader *r, double base, int most)
{
    pw_read_llama_block(r, 256);
    /* hidden_act of the first configs said gelu and meant the tanh form, as hidden_activation says. */
    pw_read_act(r, "hidden_activation", "gelu_pytorch_tanh");
    pw_read_set(r, "tied", pw_read_bool(r, "tie_word_embeddings", true) ? "on" : "off");
    pw_read_set(r, "embed_scale", "%.9g", sqrt(r->cfg.width));
    pw_read_need(r, !pw_read_bool(r, "attention_bias", false), "attention_bias", "true can't be read");
    r->plus_one = true;
    r->at.most = pw_read_int(r, "max_position_embeddings", most);
    pw_read_rope(r, base, 1);
}

/* Reads a cap: an absent key gives the family's default, null means none. */
static double read_cap(struct pw_reader *r, const char *key, double def)
{
    bool none = cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(r->o, key));
    return pw_read_number(r, key, none ? 0 : def);
}

/* Settings of Gemma 2 and 3. every: one layer in so many has full attention. */
static void read_later(struct pw_reader *r, int every, double cap, double logit_cap)
{
    pw_read_set(r, "post_norm", "on");
    pw_read_set(r, "score_scale", "%.9g", 1 / sqrt(pw_read_number(r, "query_pre_attn_scalar", 256)));
    pw_read_set(r, "logit_cap", "%.9g", read_cap(r, "final_logit_softcapping", logit_cap));
    r->at.score_cap = read_cap(r, "attn_logit_softcapping", cap);
    every = pw_read_int(r, "sliding_window_pattern", every);
    pw_read_need(r, every > 0, "sliding_window_pattern", "must be above 0");
    for (int l = 0; l < PW_MAX_LAYERS && every > 0; l++)
        r->at.sliding[l] = (l + 1) % every != 0;
    pw_read_sliding(r, 4096);
}

static void read_gemma(struct pw_reader *r)
{
    read_common(r, 10000, 8192);
}

static void read_gemma2(struct pw_reader *r)
{
    read_common(r, 10000, 8192);
    read_later(r, 2, 50, 30);
}

static void read_gemma3_text(struct pw_reader *r)
{
    read_common(r, 1000000, 131072);
    pw_read_set(r, "qk_norm", "head");
    pw_read_need(r, !pw_read_bool(r, "use_bidirectional_attention", false), "use_bidirectional_attention",
                 "only causal models can be read");
    read_later(r, 6, 0, 0);
    if (!r->at.has_local) { /* a config without either form of the base of sliding layers */
        r->at.local = (struct pw_rope){.base = 10000, .fraction = 1, .factor = 1, .gain = 1};
        r->at.has_local = true;
    }
}

/* The text part of a model that also reads images. */
static void read_gemma3(struct pw_reader *r)
{
    const cJSON *part = pw_read_part(r, "text_config");
    pw_read_need(r, part != NULL, "text_config", "missing; it must be an object");
    r->o = part;
    read_gemma3_text(r);
}

static const char *const text_prefixes[] = {"language_model.model.", "model.language_model.", "model.", "",
                                            NULL};
static const char *const ignored[] = {"*rotary_emb.inv_freq", "*vision_tower.*", "*multi_modal_projector.*",
                                      NULL};

#define LIKE_LLAMA .rows = pw_llama_rows, .prefixes = pw_llama_prefixes, .ignored = ignored
const struct pw_family pw_family_gemma = {
    .type = "gemma", .model_class = "GemmaForCausalLM", .read = read_gemma, LIKE_LLAMA};
const struct pw_family pw_family_gemma2 = {
    .type = "gemma2", .model_class = "Gemma2ForCausalLM", .read = read_gemma2, LIKE_LLAMA};
const struct pw_family pw_family_gemma3_text = {
    .type = "gemma3_text", .model_class = "Gemma3ForCausalLM", .read = read_gemma3_text, LIKE_LLAMA};
const struct pw_family pw_family_gemma3 = {.type = "gemma3",
                                           .model_class = "Gemma3ForConditionalGeneration",
                                           .read = read_gemma3,
                                           .rows = pw_llama_rows,
                                           .prefixes = text_prefixes,
                                           .ignored = ignored,
                                           .part = "text_config",
                                           .of_part = &pw_family_gemma3_text};
