/* audit_asks.c - the encoding of each layer that a model's file asks for, computed from config.json or GGUF's
 * metadata alone.
 *
 * The formulas are those of the papers as transformers 5 computes them (modeling_rope_utils.py), and of
 * llama.cpp for GGUF. Pair c of n rotated rows has the frequency w = base^(-2c/n). Each scaling changes it:
 *
 *   linear    w / factor
 *
 *   dynamic   beyond `most` positions base * (factor * length / most - factor + 1)^(n/(n-2)) replaces base
 *
 *   yarn      (1 - g) w + g w / factor; g rises from 0 to 1 between the pairs with beta_fast and beta_slow
 *             turns in the trained length
 *
 *   longrope  w / short factor, and beyond the trained length w / long factor; GGUF has them as tensors
 *
 *   llama3    w for short waves, w / factor for long ones, a mixture in between
 *
 * The formulas are written a second time here, apart from src/foreign and the encodings. A check that shared
 * their code would share their faults. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "base/text.h"
#include "probe/audit.h"

#define TURN 6.283185307179586

/* How a family differs, by the name of its config. */
struct family {
    const char *name, *gguf; /* GGUF's architecture; NULL: none */
    enum { ROTARY, LEARNED, SLOPES } kind;
    double base, fraction; /* defaults of its rotation */
    bool interleaved, gguf_interleaved;
};

static const struct family families[] = {
    {"llama", "llama", ROTARY, 10000, 1, false, true},
    {"mistral", NULL, ROTARY, 10000, 1, false, true},
    {"qwen2", "qwen2", ROTARY, 10000, 1, false, false},
    {"qwen3", "qwen3", ROTARY, 10000, 1, false, false},
    {"smollm3", "smollm3", ROTARY, 2000000, 1, false, true},
    {"gemma", "gemma", ROTARY, 10000, 1, false, false},
    {"gemma2", "gemma2", ROTARY, 10000, 1, false, false},
    {"gemma3_text", "gemma3", ROTARY, 1000000, 1, false, false},
    {"gemma3", NULL, ROTARY, 1000000, 1, false, false},
    {"gpt_neox", "gptneox", ROTARY, 10000, 0.25, false, false},
    {"gptj", NULL, ROTARY, 10000, 1, true, true},
    {"gpt2", "gpt2", LEARNED, 0, 0, false, false},
    {"opt", NULL, LEARNED, 0, 0, false, false},
    {"bloom", "bloom", SLOPES, 0, 0, false, false},
    {"mpt", "mpt", SLOPES, 0, 0, false, false},
};

/* The state of one computation. */
struct asking {
    const cJSON *o;
    const struct pw_config *cfg;
    const struct family *family;
    bool gguf;
    double most; /* positions that the file states */
};

static const struct family *find_family(const cJSON *o, bool gguf)
{
    const cJSON *settings = cJSON_GetObjectItemCaseSensitive(o, "settings");
    const cJSON *type =
        cJSON_GetObjectItemCaseSensitive(settings, gguf ? "general.architecture" : "model_type");
    for (size_t i = 0; cJSON_IsString(type) && i < sizeof families / sizeof *families; i++) {
        const char *name = gguf ? families[i].gguf : families[i].name;
        if (name != NULL && strcmp(name, type->valuestring) == 0)
            return &families[i];
    }
    return NULL;
}

/* ---- frequencies */

static double entry(const cJSON *list, int i)
{
    const cJSON *item = cJSON_GetArrayItem(list, i);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

/* The pair, as a real number, that turns `turns` times within `length` positions. */
static double pair_of(double turns, double length, double base, int n)
{
    return n * pw_log(length / (TURN * turns)) / (2 * pw_log(base));
}

static void ask_yarn(const struct asking *x, const cJSON *part, struct pw_audit_layer *y, double factor,
                     double trained)
{
    double low = pair_of(pw_audit_number(x->o, part, "beta_fast", "rope.scaling.yarn_beta_fast", 32), trained,
                         y->base, y->dims);
    double high = pair_of(pw_audit_number(x->o, part, "beta_slow", "rope.scaling.yarn_beta_slow", 1), trained,
                          y->base, y->dims);
    bool whole = pw_audit_number(x->o, part, "truncate", NULL, 1) != 0;
    low = fmax(whole ? floor(low) : low, 0);
    high = fmin(whole ? ceil(high) : high, y->dims - 1);
    for (int c = 0; c < y->n; c++) {
        double g = fmin(fmax((c - low) / (high > low ? high - low : 0.001), 0), 1);
        y->w[c] = (1 - g) * y->w[c] + g * y->w[c] / factor;
    }
    double once = factor > 1 ? 0.1 * pw_log(factor) + 1 : 1,
           top = pw_audit_number(x->o, part, "mscale", NULL, 0),
           all = pw_audit_number(x->o, part, "mscale_all_dim", NULL, 0);
    y->gain = once;
    if (top > 0 && all > 0 && factor > 1)
        y->gain = (0.1 * top * pw_log(factor) + 1) / (0.1 * all * pw_log(factor) + 1);
    if (x->gguf) /* llama.cpp multiplies */
        y->gain = once * pw_audit_number(x->o, NULL, NULL, "rope.scaling.attn_factor", 1);
    else
        y->gain = pw_audit_number(x->o, part, "attention_factor", NULL, y->gain);
}

static void ask_llama3(const struct asking *x, const cJSON *part, struct pw_audit_layer *y, double factor,
                       double trained)
{
    double low = pw_audit_number(x->o, part, "low_freq_factor", NULL, 1),
           high = pw_audit_number(x->o, part, "high_freq_factor", NULL, 4);
    for (int c = 0; c < y->n; c++) {
        double wave = TURN / y->w[c], t = (trained / wave - low) / (high - low);
        if (wave > trained / low)
            y->w[c] /= factor;
        else if (wave >= trained / high)
            y->w[c] = (1 - t) * y->w[c] / factor + t * y->w[c];
    }
}

static void ask_longrope(const struct asking *x, const cJSON *part, struct pw_audit_layer *y, double factor,
                         double trained)
{
    const char *key = x->cfg->context > trained ? "long_factor" : "short_factor";
    const cJSON *list =
        x->gguf ? cJSON_GetObjectItemCaseSensitive(x->o, key) : pw_audit_item(x->o, part, key, NULL);
    for (int c = 0; c < y->n; c++)
        y->w[c] /= entry(list, c);
    y->gain = factor > 1 && !x->gguf ? sqrt(1 + pw_log(factor) / pw_log(trained)) : 1;
    y->gain = pw_audit_number(x->o, part, "attention_factor", "rope.scaling.attn_factor", y->gain);
}

/* Dynamic scaling changes the base with the length, once it is beyond the positions of the config. */
static void ask_dynamic(const struct asking *x, struct pw_audit_layer *y, double factor)
{
    double length = x->cfg->context, n = y->dims;
    if (length <= x->most || n <= 2)
        return;
    double base = y->base * pw_pow(factor * length / x->most - (factor - 1), n / (n - 2));
    for (int c = 0; c < y->n; c++)
        y->w[c] = pw_pow(base, -2.0 * c / n);
}

static bool starts(const struct asking *x, const char *name)
{
    return strncmp(x->family->name, name, strlen(name)) == 0;
}

/* Fills a layer's rotation. part: the object of its settings; bare: no scaling applies. */
static void ask_rotation(const struct asking *x, const cJSON *part, double base, bool bare,
                         struct pw_audit_layer *y)
{
    int D = x->cfg->head_width;
    const char *type = pw_audit_word(x->o, part, "rope_type|type", "rope.scaling.type", "default"),
               *named = bare                                       ? "default"
                        : cJSON_HasObjectItem(x->o, "long_factor") ? "longrope" /* of GGUF */
                        : strcmp(type, "none") == 0                ? "default"
                        : strcmp(type, "su") == 0                  ? "longrope"
                                                                   : type;
    bool share = strcmp(named, "proportional") == 0;
    double fraction =
        pw_audit_number(x->o, part, "partial_rotary_factor|rotary_pct", NULL, x->family->fraction);
    double dims =
        x->gguf ? pw_audit_number(x->o, NULL, NULL, "rope.dimension_count", D)
                : pw_audit_number(x->o, NULL, "rotary_dim", NULL, starts(x, "gptj") ? 64 : D * fraction);
    bool side = x->gguf ? x->family->gguf_interleaved : x->family->interleaved;
    y->base = base;
    y->dims = share ? D : pw_audit_whole(dims + 1e-9) / 2 * 2;
    y->n = share ? pw_audit_whole(fraction * (D / 2) + 1e-9) : y->dims / 2;
    y->n = y->n < PW_AUDIT_PAIRS ? y->n : PW_AUDIT_PAIRS;
    for (int c = 0; c < y->n; c++) {
        y->w[c] = pw_pow(base, -2.0 * c / y->dims);
        y->first[c] = side ? 2 * c : c;
        y->second[c] = side ? 2 * c + 1 : c + y->dims / 2;
    }
    double trained = pw_audit_number(x->o, part, "original_max_position_embeddings",
                                     "rope.scaling.original_context_length", x->most),
           other = strcmp(named, "longrope") == 0 ? x->most / trained : 1;
    double factor = pw_audit_number(x->o, part, "factor", "rope.scaling.factor", other);
    const cJSON *factors = cJSON_GetObjectItemCaseSensitive(x->o, "factors");
    if (strcmp(named, "linear") == 0 || share)
        for (int c = 0; c < y->n; c++)
            y->w[c] /= factor;
    else if (strcmp(named, "dynamic") == 0)
        ask_dynamic(x, y, factor);
    else if (strcmp(named, "yarn") == 0)
        ask_yarn(x, part, y, factor, trained);
    else if (strcmp(named, "llama3") == 0)
        ask_llama3(x, part, y, factor, trained);
    else if (strcmp(named, "longrope") == 0)
        ask_longrope(x, part, y, factor, trained);
    for (int c = 0; factors != NULL && c < y->n; c++)
        y->w[c] /= entry(factors, c);
    int n = snprintf(y->text, sizeof y->text, "rotary, base %.10g, %s pairs", base,
                     side ? "interleaved" : "half-split");
    if (strcmp(named, "default") != 0)
        snprintf(y->text + n, sizeof y->text - (size_t)n, ", %.16s scaling factor=%.6g trained=%.6g", named,
                 factor, trained);
    else if (factors != NULL)
        snprintf(y->text + n, sizeof y->text - (size_t)n, ", a factor of the file for each pair");
}

/* ---- layers */

/* Does layer l rotate nothing? SmolLM3's list has 1 where a layer rotates. */
static bool is_open(const struct asking *x, int l)
{
    const cJSON *list = pw_audit_item(x->o, NULL, "no_rope_layers", NULL);
    if (!starts(x, "smollm3"))
        return false;
    if (cJSON_IsArray(list))
        return entry(list, l) == 0;
    int every = pw_audit_count(x->o, NULL, "no_rope_layer_interval", NULL, 4);
    return every > 0 && (l + 1) % every == 0;
}

/* Does layer l see a window only? */
static bool is_sliding(const struct asking *x, int l)
{
    const cJSON *list = pw_audit_item(x->o, NULL, "layer_types", NULL), *item = cJSON_GetArrayItem(list, l);
    bool qwen = starts(x, "qwen"), smol = starts(x, "smollm3");
    if ((qwen || smol) && pw_audit_number(x->o, NULL, "use_sliding_window", NULL, 0) == 0)
        return false;
    if (cJSON_IsArray(list))
        return cJSON_IsString(item) && strcmp(item->valuestring, "sliding_attention") == 0;
    if (qwen)
        return l >= pw_audit_count(x->o, NULL, "max_window_layers", NULL, 28);
    if (smol)
        return is_open(x, l);
    if (starts(x, "gemma2") || starts(x, "gemma3")) {
        int every = pw_audit_count(x->o, NULL, "sliding_window_pattern", NULL, starts(x, "gemma2") ? 2 : 6);
        return every > 0 && (l + 1) % every != 0;
    }
    return starts(x, "mistral") || (x->gguf && starts(x, "llama") &&
                                    pw_audit_item(x->o, NULL, NULL, "attention.sliding_window") != NULL);
}

/* The width of the window; 0 if it hides nothing within the context. */
static int window_of(const struct asking *x)
{
    const cJSON *settings = cJSON_GetObjectItemCaseSensitive(x->o, "settings");
    bool null = cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(settings, "sliding_window"));
    double w = pw_audit_number(x->o, NULL, "sliding_window", "attention.sliding_window", null ? 0 : 4096);
    return w > 0 && w < x->cfg->context ? (int)w : 0;
}

static double scale_of(const struct asking *x, int l)
{
    double D = x->cfg->head_width, layer = 1;
    if (starts(x, "gemma2") || starts(x, "gemma3")) {
        bool large = x->gguf && x->cfg->layers == (starts(x, "gemma2") ? 46 : 62); /* the models of 27 B */
        double whole = large ? (double)x->cfg->width / x->cfg->heads : D;
        return 1 / sqrt(x->gguf ? whole : pw_audit_number(x->o, NULL, "query_pre_attn_scalar", NULL, 256));
    }
    if (starts(x, "mpt")) {
        double s =
            pw_audit_number(x->o, pw_audit_item(x->o, NULL, "attn_config", NULL), "softmax_scale", NULL, 0);
        return s > 0 ? s : 1 / sqrt(D);
    }
    if (pw_audit_number(x->o, NULL, "scale_attn_by_inverse_layer_idx", NULL, 0) != 0)
        layer = l + 1;
    if (starts(x, "gpt2") && pw_audit_number(x->o, NULL, "scale_attn_weights", NULL, 1) == 0)
        return 1 / layer;
    return 1 / (sqrt(D) * layer);
}

/* ALiBi's slopes for any number of heads: those of the largest power of two P within it, then every other one
 * of 2 P (Press et al. 2022, their code). */
static void ask_slopes(struct pw_audit_layer *y, int heads)
{
    int P = 1;
    while (2 * P <= heads)
        P *= 2;
    y->n_slopes = heads < PW_AUDIT_HEADS ? heads : PW_AUDIT_HEADS;
    for (int h = 0; h < y->n_slopes; h++)
        y->slope[h] = h < P ? pw_pow(2, -8.0 * (h + 1) / P) : pw_pow(2, -4.0 * (2 * (h - P) + 1) / P);
    snprintf(y->text, sizeof y->text, "alibi, %d heads", heads);
}

static void ask_layer(const struct asking *x, int l, struct pw_audit_layer *y)
{
    bool sliding = x->family->kind == ROTARY && is_sliding(x, l), gemma3 = starts(x, "gemma3");
    const cJSON *part = pw_audit_rope(x->o, false), *near = pw_audit_rope(x->o, true);
    y->gain = 1;
    y->base = y->offset = NAN;
    y->scale = scale_of(x, l);
    y->window = sliding ? window_of(x) : 0;
    const cJSON *cap = pw_audit_item(x->o, NULL, "attn_logit_softcapping", "attn_logit_softcapping");
    y->cap = pw_audit_number(x->o, NULL, "attn_logit_softcapping", "attn_logit_softcapping",
                             starts(x, "gemma2") && !cJSON_IsNull(cap) ? 50 : 0);
    if (!starts(x, "gemma2") && !gemma3)
        y->cap = 0;
    if (x->family->kind == SLOPES) {
        ask_slopes(y, x->cfg->heads);
    } else if (x->family->kind == LEARNED) {
        y->offset = starts(x, "opt") ? 2 : 0;
        snprintf(y->text, sizeof y->text, "a learned row for each position");
    } else if (is_open(x, l)) {
        snprintf(y->text, sizeof y->text, "no rotation");
    } else {
        double base =
            pw_audit_number(x->o, part, "rope_theta|rotary_emb_base", "rope.freq_base", x->family->base);
        static const cJSON plain = {.type = cJSON_Object};
        y->offset = 0;
        if (sliding && gemma3 && near != NULL)
            base = pw_audit_number(x->o, near, "rope_theta", NULL, base);
        else if (sliding && gemma3)
            base = pw_audit_number(x->o, NULL, "rope_local_base_freq", "rope.freq_base_swa", 10000);
        bool local = sliding && gemma3;
        ask_rotation(x, !local ? part : near != NULL ? near : &plain, base, local && near == NULL, y);
    }
    if (y->window > 0)
        snprintf(y->text + strlen(y->text), sizeof y->text - strlen(y->text), ", window %d", y->window);
}

void pw_audit_asks(struct pw_audit *a, const cJSON *origin, const struct pw_config *cfg)
{
    const cJSON *format = cJSON_GetObjectItemCaseSensitive(origin, "format");
    struct asking x = {.o = origin, .cfg = cfg};
    x.gguf = cJSON_IsString(format) && strcmp(format->valuestring, "gguf") == 0;
    x.family = find_family(origin, x.gguf);
    x.most = pw_audit_number(origin, NULL, "max_position_embeddings|n_positions|max_seq_len|seq_length",
                             "context_length", cfg->context);
    *a = (struct pw_audit){
        .layers = cfg->layers, .heads = cfg->heads, .head_width = cfg->head_width, .gguf = x.gguf};
    if (x.family == NULL)
        return;
    pw_text_copy(a->family, sizeof a->family, x.family->name);
    a->layer = pw_alloc((size_t)cfg->layers, sizeof *a->layer);
    for (int l = 0; l < cfg->layers; l++)
        ask_layer(&x, l, &a->layer[l]);
}
