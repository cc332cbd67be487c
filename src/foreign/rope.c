/* rope.c - reads the rotary settings of a config: rope_theta with rope_scaling (up to transformers 4), or
 * rope_parameters, which may be nested by layer type (transformers 5). */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/maths.h"
#include "foreign/from_gguf.h"
#include "foreign/reader.h"

static const char *const types[] = {"default",  "linear", "dynamic",      "yarn",
                                    "longrope", "llama3", "proportional", PW_ROPE_OF_GGUF};

static enum pw_rope_type type_of(struct pw_reader *r)
{
    const char *name = pw_read_text(r, "rope_type", pw_read_text(r, "type", "default"));
    if (strcmp(name, "su") == 0) /* the first name of longrope */
        return PW_ROPE_LONGROPE;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i], name) == 0)
            return (enum pw_rope_type)i;
    pw_read_need(r, false, "rope_type",
                 "unknown; pewter has default, linear, dynamic, yarn, longrope, llama3 and proportional");
    return PW_ROPE_DEFAULT;
}

/* Reads a list of factors; returns its length. */
static int read_factors(struct pw_reader *r, const char *key, double *out)
{
    const cJSON *list = pw_read_part(r, key), *item;
    int n = 0;
    cJSON_ArrayForEach(item, list)
    {
        bool ok = cJSON_IsNumber(item) && item->valuedouble > 0 && n < PW_ROPE_FACTORS;
        pw_read_need(r, ok, key, "must be at most 128 numbers above 0");
        if (!ok)
            return 0;
        out[n++] = item->valuedouble;
    }
    pw_read_need(r, n > 0, key, "must be a list of numbers");
    return n;
}

/* YaRN's factor on cos and sin, for a context `s` times as long (Peng et al. 2023, Eq. 22). */
static double mscale(double s, double by)
{
    return s <= 1 ? 1 : 0.1 * by * pw_log(s) + 1;
}

static double yarn_gain(struct pw_reader *r, double factor)
{
    double top = pw_read_number(r, "mscale", 0), bottom = pw_read_number(r, "mscale_all_dim", 0);
    double gain = top > 0 && bottom > 0 ? mscale(factor, top) / mscale(factor, bottom) : mscale(factor, 1);
    return pw_read_number(r, "attention_factor", gain);
}

static double longrope_gain(struct pw_reader *r, double factor, double trained)
{
    double gain = factor > 1 ? sqrt(1 + pw_log(factor) / pw_log(trained)) : 1;
    return pw_read_number(r, "attention_factor", gain);
}

/* Reads one set of frequencies from r->o. */
static void read_one(struct pw_reader *r, struct pw_rope *rope, double base, double fraction, double trained)
{
    double most = r->at.most;
    *rope = (struct pw_rope){.type = type_of(r), .factor = 1, .gain = 1, .truncate = true};
    rope->base = pw_read_number(r, "rope_theta", base);
    rope->fraction = pw_read_number(r, "partial_rotary_factor", fraction);
    rope->trained = pw_read_number(r, "original_max_position_embeddings", trained > 0 ? trained : most);
    pw_read_need(r, rope->base > 1, "rope_theta", "must be above 1");
    pw_read_need(r, rope->fraction > 0 && rope->fraction <= 1, "partial_rotary_factor", "must be in 0..1");
    pw_read_need(r, rope->trained >= 2, "original_max_position_embeddings", "must be at least 2");
    bool longrope = rope->type == PW_ROPE_LONGROPE, free = longrope || rope->type == PW_ROPE_PROPORTIONAL;
    if (rope->type == PW_ROPE_FACTORED)
        rope->n_long = rope->n_short = read_factors(r, "long_factor", rope->longer);
    if (rope->type == PW_ROPE_DEFAULT)
        return;
    double other = longrope ? most / rope->trained : 1;
    rope->factor = pw_read_number(r, "factor", free ? other : NAN);
    pw_read_need(r, rope->factor > 0, "factor", "must be above 0");
    if (longrope) {
        rope->n_long = read_factors(r, "long_factor", rope->longer);
        rope->n_short = read_factors(r, "short_factor", rope->shorter);
        rope->gain = longrope_gain(r, rope->factor, rope->trained);
    } else if (rope->type == PW_ROPE_YARN) {
        rope->fast = pw_read_number(r, "beta_fast", 32);
        rope->slow = pw_read_number(r, "beta_slow", 1);
        rope->truncate = pw_read_bool(r, "truncate", true);
        rope->gain = yarn_gain(r, rope->factor);
        pw_read_need(r, rope->fast > 0 && rope->slow > 0, "beta_fast",
                     "beta_fast and beta_slow must be above 0");
    } else if (rope->type == PW_ROPE_LLAMA3) {
        rope->low = pw_read_number(r, "low_freq_factor", NAN);
        rope->high = pw_read_number(r, "high_freq_factor", NAN);
        pw_read_need(r, rope->low > 0 && rope->high > rope->low, "low_freq_factor",
                     "must be above 0 and below high_freq_factor");
    }
}

void pw_read_rope(struct pw_reader *r, double base, double fraction)
{
    const cJSON *whole = r->o, *part = pw_read_part(r, "rope_parameters"), *local;
    double trained = pw_read_number(r, "original_max_position_embeddings", 0);
    double other = pw_read_number(r, "rope_local_base_freq", 0); /* Gemma 3, former form */
    r->at.kind = PW_AT_ROTARY;
    base = pw_read_number(r, "rope_theta", base);
    fraction = pw_read_number(r, "partial_rotary_factor", fraction);
    if (part == NULL)
        part = pw_read_part(r, "rope_scaling");
    const cJSON *full = cJSON_GetObjectItemCaseSensitive(part, "full_attention");
    local = cJSON_GetObjectItemCaseSensitive(part, "sliding_attention");
    r->o = cJSON_IsObject(full) ? full : part; /* without a part the defaults remain */
    read_one(r, &r->at.rope, base, fraction, trained);
    if (cJSON_IsObject(local) || other > 0) {
        r->o = cJSON_IsObject(local) ? local : NULL;
        read_one(r, &r->at.local, other > 0 ? other : base, fraction, trained);
        r->at.has_local = true;
    }
    r->o = whole;
}

void pw_read_sliding(struct pw_reader *r, int def)
{
    const cJSON *list = pw_read_part(r, "layer_types"), *item;
    int l = 0;
    r->at.window = pw_read_int(r, "sliding_window", cJSON_HasObjectItem(r->o, "sliding_window") ? 0 : def);
    cJSON_ArrayForEach(item, list)
    {
        const char *name = cJSON_IsString(item) ? item->valuestring : "";
        bool sliding = strcmp(name, "sliding_attention") == 0;
        pw_read_need(r, sliding || strcmp(name, "full_attention") == 0, "layer_types",
                     "must name full_attention or sliding_attention for each layer");
        if (l < PW_MAX_LAYERS)
            r->at.sliding[l] = sliding;
        l++;
    }
    pw_read_need(r, list == NULL || l >= r->cfg.layers, "layer_types", "must have an entry for each layer");
}
