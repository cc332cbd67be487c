/* to_config.c - the config.json of a model that is to be written: that of its source, changed until the
 * family reads it as the model's own shape and encoding. So whatever a family reads it can write, and what it
 * can't say is found by reading the result. */
#include <stdio.h>
#include <string.h>

#include "foreign/foreign_int.h"
#include "foreign/from_gguf.h"

/* Keys of the longest sequence; a config has one or several of them. */
static const char *const length_keys[] = {"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len",
                                          "seq_length"};

static void put(cJSON *o, const char *key, cJSON *value)
{
    if (cJSON_HasObjectItem(o, key))
        cJSON_ReplaceItemInObjectCaseSensitive(o, key, value);
    else
        cJSON_AddItemToObject(o, key, value);
}

static void put_number(cJSON *o, const char *key, double x)
{
    put(o, key, cJSON_CreateNumber(x));
}

static void set_length(cJSON *o, int n)
{
    for (size_t i = 0; i < sizeof length_keys / sizeof *length_keys; i++)
        if (cJSON_HasObjectItem(o, length_keys[i]))
            put_number(o, length_keys[i], n);
}

/* ---- what every written config says */

/* GGUF's form of llama3 has a factor for each frequency. transformers has such factors in longrope. */
static void put_factors(cJSON *o, const struct pw_positions *at)
{
    cJSON *scaling = cJSON_CreateObject();
    cJSON_AddStringToObject(scaling, "rope_type", "longrope");
    cJSON_AddNumberToObject(scaling, "factor", 1);
    cJSON_AddNumberToObject(scaling, "attention_factor", 1);
    cJSON_AddNumberToObject(scaling, "original_max_position_embeddings", at->most);
    cJSON_AddItemToObject(scaling, "long_factor", cJSON_CreateDoubleArray(at->rope.longer, at->rope.n_long));
    cJSON_AddItemToObject(scaling, "short_factor", cJSON_CreateDoubleArray(at->rope.longer, at->rope.n_long));
    put(o, "rope_scaling", scaling);
}

/* Returns a copy of the source's config, or of the part with the model, for weights in float32 that have all
 * that was folded into them. */
static cJSON *make_base(const struct pw_foreign *f, const struct pw_family *family,
                        const struct pw_config *cfg)
{
    const cJSON *part =
        f->family->part != NULL ? cJSON_GetObjectItemCaseSensitive(f->config, f->family->part) : NULL;
    cJSON *o = cJSON_Duplicate(part != NULL ? part : f->config, true);
    const char *model_class = family->model_class;
    put(o, "model_type", cJSON_CreateString(family->type));
    if (part != NULL || !cJSON_HasObjectItem(o, "architectures"))
        put(o, "architectures", cJSON_CreateStringArray(&model_class, 1));
    if (cJSON_HasObjectItem(o, "dtype"))
        put(o, "dtype", cJSON_CreateString("float32"));
    if (cJSON_HasObjectItem(o, "torch_dtype") || !cJSON_HasObjectItem(o, "dtype"))
        put(o, "torch_dtype", cJSON_CreateString("float32"));
    if (f->map.inverse_layers) /* map.c has divided q by the number of the layer */
        put(o, "scale_attn_by_inverse_layer_idx", cJSON_CreateFalse());
    cJSON_DeleteItemFromObjectCaseSensitive(o, "quantization_config");
    if (f->gguf) {
        if (f->at.rope.type == PW_ROPE_FACTORED)
            put_factors(o, &f->at);
    }
    if (f->at.kind == PW_AT_LEARNED) /* the model has as many rows as it can read */
        set_length(o, cfg->context);
    return o;
}

/* ---- the encoding */

/* Returns the value of an encoding's option; def: it has none of this name. */
static double option(const struct pw_pe_use_opts *pe, const char *name, double def)
{
    const struct pw_opt *opt = pe->pe->opts != NULL ? pw_opt_find(pe->pe->opts, name) : NULL;
    struct pw_str text = {0};
    double x = def;
    if (opt != NULL) {
        pw_opt_value(opt, pe->o.bytes, &text);
        if (!pw_text_double(pw_str_text(&text), &x))
            x = def;
    }
    pw_str_fini(&text);
    return x;
}

/* Encodings of pewter, their rope_type, and the keys of their options. */
static const struct {
    const char *name, *type;
    const char *options[5][2];
} scalings[] = {
    {"rotary", "default", {{0}}},
    {"rope_pi", "linear", {{"factor", "factor"}}},
    {"rope_dynamic", "dynamic", {{"factor", "factor"}}},
    {"rope_yarn",
     "yarn",
     {{"factor", "factor"},
      {"trained", "original_max_position_embeddings"},
      {"fast", "beta_fast"},
      {"slow", "beta_slow"}}},
    {"rope_llama3",
     "llama3",
     {{"factor", "factor"},
      {"trained", "original_max_position_embeddings"},
      {"low", "low_freq_factor"},
      {"high", "high_freq_factor"}}},
    {"proportional_rope", "proportional", {{"fraction", "partial_rotary_factor"}}},
};

/* Changes the rotary settings to those of pe, in the form that the config has. Returns false if pe is no
 * encoding that transformers has, or the config has two sets of frequencies. */
static bool put_rope(cJSON *o, const struct pw_pe_use_opts *pe)
{
    size_t k = 0, n = sizeof scalings / sizeof *scalings;
    const cJSON *old = cJSON_GetObjectItemCaseSensitive(o, "rope_parameters"), *share;
    bool nested =
        cJSON_HasObjectItem(old, "full_attention") || cJSON_HasObjectItem(o, "rope_local_base_freq");
    double base = option(pe, "base", 0);
    while (k < n && strcmp(scalings[k].name, pe->pe->name) != 0)
        k++;
    if (k == n || nested || base <= 0)
        return false;
    cJSON *now = cJSON_CreateObject();
    cJSON_AddStringToObject(now, "rope_type", scalings[k].type);
    share = cJSON_GetObjectItemCaseSensitive(old, "partial_rotary_factor");
    if (share != NULL)
        cJSON_AddItemToObject(now, "partial_rotary_factor", cJSON_Duplicate(share, true));
    for (int i = 0; i < 5 && scalings[k].options[i][0] != NULL; i++)
        put_number(now, scalings[k].options[i][1], option(pe, scalings[k].options[i][0], 0));
    if (strcmp(scalings[k].type, "dynamic") == 0)
        set_length(o, (int)option(pe, "trained", 0));
    if (cJSON_IsObject(old)) {
        put_number(now, "rope_theta", base);
        put(o, "rope_parameters", now);
        return true;
    }
    put_number(o, "rope_theta", base);
    if (cJSON_HasObjectItem(o, "rotary_emb_base"))
        put_number(o, "rotary_emb_base", base);
    put(o, "rope_scaling", now);
    return true;
}

/* Appends the encoding without its name, which says nothing about what it computes. */
static void print_unnamed(struct pw_pe_use_opts pe, const struct pw_config *cfg, struct pw_str *out)
{
    struct pw_err err;
    pe = pw_pe_settled(&pe, cfg);
    if (pe.pe->print != NULL)
        pw_pe_formula_name(&pe, "x", &err);
    pw_pe_print(&pe, out);
}

/* Is the encoding that `at` says for this configuration pe? */
static bool is_encoding(const struct pw_positions *at, const struct pw_config *cfg,
                        const struct pw_pe_use_opts *pe)
{
    struct pw_str text = {0}, a = {0}, b = {0};
    struct pw_pe_use_opts own;
    struct pw_err err;
    pw_positions_text(at, cfg, &text);
    bool same = pw_pe_parse(&own, text.s, cfg, &err) == PW_OK;
    if (same) {
        print_unnamed(own, cfg, &a);
        print_unnamed(*pe, cfg, &b);
        same = strcmp(a.s, b.s) == 0;
    }
    pw_str_fini(&text);
    pw_str_fini(&a);
    pw_str_fini(&b);
    return same;
}

/* ---- the shape */

/* Fails if an option of the model differs from the source's. The context may differ, and options that act in
 * training only. */
static enum pw_code check_shape(const struct pw_foreign *f, const struct pw_config *cfg, struct pw_err *err)
{
    struct pw_str theirs = {0}, ours = {0};
    enum pw_code code = PW_OK;
    if (cfg->vocab != f->info.cfg.vocab)
        code = pw_fail(err, PW_EUSER, "the model has %d tokens, '%.200s' %d", cfg->vocab, f->path,
                       f->info.cfg.vocab);
    for (const struct pw_opt *o = pw_config_opts; o->name != NULL && code == PW_OK; o++) {
        if (strcmp(o->name, "context") == 0 || strcmp(o->name, "dropout") == 0 ||
            strcmp(o->name, "init") == 0 || strcmp(o->name, "adapter") == 0)
            continue;
        pw_str_clear(&theirs);
        pw_str_clear(&ours);
        pw_opt_value(o, &f->info.cfg, &theirs);
        pw_opt_value(o, cfg, &ours);
        if (strcmp(theirs.s, ours.s) != 0)
            code = pw_fail(err, PW_EUSER, "the model has %s=%s, its source '%.200s' %s=%s", o->name, ours.s,
                           f->path, o->name, theirs.s);
    }
    pw_str_fini(&theirs);
    pw_str_fini(&ours);
    return code;
}

static enum pw_code fail_encoding(const struct pw_foreign *f, const struct pw_config *cfg,
                                  const struct pw_pe_use_opts *pe, struct pw_err *err)
{
    struct pw_str ours = {0}, theirs = {0};
    pw_pe_print(pe, &ours);
    pw_positions_text(&f->at, cfg, &theirs);
    enum pw_code code = pw_fail(err, PW_EUSER,
                                "a config of %s can't express the encoding '%.120s'; the one that it came "
                                "with is '%.160s'",
                                f->info.family, ours.s, theirs.s);
    pw_str_fini(&ours);
    pw_str_fini(&theirs);
    return code;
}

/* Removes the keys of other families, which a config from GGUF has. */
static void remove_others(cJSON *o, const cJSON *asked)
{
    static const char *const kept[] = {"model_type",   "architectures", "torch_dtype",
                                       "bos_token_id", "eos_token_id",  "pad_token_id"};
    cJSON *next;
    for (cJSON *item = o->child; item != NULL; item = next) {
        bool keep = cJSON_HasObjectItem(asked, item->string);
        next = item->next;
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
            keep = keep || strcmp(item->string, kept[i]) == 0;
        if (!keep)
            cJSON_Delete(cJSON_DetachItemViaPointer(o, item));
    }
}

/* Tries one config: that of the source with these changes. *to->config is NULL if it does not fit. */
static void try_config(struct pw_foreign *to, const struct pw_foreign *f, const struct pw_family *family,
                       const struct pw_config *cfg, const struct pw_pe_use_opts *pe, bool longer, bool other)
{
    struct pw_err err;
    cJSON *asked = cJSON_CreateObject();
    *to = (struct pw_foreign){.path = f->path, .config = make_base(f, family, cfg)};
    if (longer)
        set_length(to->config, cfg->context);
    bool fits = !other || put_rope(to->config, pe);
    if (fits && pw_foreign_read_config(to, to->config, f->path, family, asked, &err) == PW_OK &&
        is_encoding(&to->at, cfg, pe)) {
        to->info.cfg.context = cfg->context;
        to->map.rows = family->rows;
        to->map.prefix = family->prefixes[0];
        if (f->gguf)
            remove_others(to->config, asked);
    } else {
        cJSON_Delete(to->config);
        to->config = NULL;
    }
    cJSON_Delete(asked);
}

enum pw_code pw_foreign_make_config(struct pw_foreign *to, const struct pw_foreign *f,
                                    const struct pw_config *cfg, const struct pw_pe_use_opts *pe,
                                    struct pw_err *err)
{
    const struct pw_family *family = f->family->of_part != NULL ? f->family->of_part : f->family;
    enum pw_code code = check_shape(f, cfg, err);
    /* transformers has no other frequencies where pairs are interleaved: GPT-J's base is fixed. */
    bool may_change = f->at.kind == PW_AT_ROTARY && !f->at.interleaved;
    /* A model that was opened with a longer context says so, unless that changes its frequencies. */
    bool may_grow = f->at.kind != PW_AT_LEARNED && cfg->context > f->at.most;
    *to = (struct pw_foreign){0};
    for (int k = 0; k < 4 && to->config == NULL && code == PW_OK; k++) {
        bool other = k >= 2, longer = k % 2 == 0;
        if ((!other || may_change) && (!longer || may_grow))
            try_config(to, f, family, cfg, pe, longer, other);
    }
    return code == PW_OK && to->config == NULL ? fail_encoding(f, cfg, pe, err) : code;
}
