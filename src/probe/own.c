/* own.c - see own.h. */
#include "probe/own.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct pw_config pw_own_config(int layers, int width, int heads, int head_width, int T, int vocab,
                               bool causal)
{
    struct pw_config cfg;
    pw_opt_defaults(pw_config_opts, &cfg);
    cfg.layers = layers;
    cfg.width = width;
    cfg.heads = heads;
    cfg.head_width = head_width;
    cfg.ffn = width;
    cfg.causal = causal;
    cfg.context = T;
    cfg.vocab = vocab;
    return cfg;
}

static const struct pw_param *find(const struct pw_model *m, const char *name)
{
    int n;
    const struct pw_param *p = pw_model_params(m, &n);
    for (int i = 0; i < n; i++)
        if (strcmp(p[i].name, name) == 0)
            return &p[i];
    assert(0 && "a parameter of that name");
    return NULL;
}

void pw_own_put(struct pw_model *m, const char *name, const float *values)
{
    const struct pw_param *p = find(m, name);
    float *all = pw_alloc(pw_model_size(m), sizeof *all);
    pw_model_get(m, all, NULL, NULL);
    memcpy(all + p->offset, values, pw_param_count(p) * sizeof *values);
    pw_model_put(m, all, NULL, NULL);
    free(all);
}

enum pw_code pw_own_model(struct pw_model **m, const struct pw_probe_in *in, const struct pw_config *cfg,
                          const struct pw_pe_use_opts *pe, uint64_t number, struct pw_err *err)
{
    struct pw_config checked = *cfg;
    struct pw_pe_use_opts none;
    enum pw_code code = pw_config_check(&checked, err);
    if (code == PW_OK && pe == NULL)
        code = pw_pe_parse(&none, "none", &checked, err);
    else if (code == PW_OK)
        code = pw_pe_check(pe, &checked, err);
    if (code == PW_OK)
        code = pw_model_create(m, in->ops, in->be, &checked, pe != NULL ? pe : &none, in->seed + number, err);
    return code;
}

enum pw_code pw_own_named(struct pw_model **m, const struct pw_probe_in *in, struct pw_config *cfg,
                          const char *pe, struct pw_pe_use_opts *use, struct pw_err *err)
{
    enum pw_code code = pw_config_check(cfg, err);
    if (code == PW_OK)
        code = pw_pe_parse(use, pe, cfg, err);
    return code == PW_OK ? pw_own_model(m, in, cfg, use, 1, err) : code;
}

void pw_own_get(struct pw_model *m, const char *name, float *values)
{
    const struct pw_param *p = find(m, name);
    pw_model_read(m, values, p->offset, pw_param_count(p));
}

enum pw_code pw_own_average(struct pw_model **m, const struct pw_probe_in *in, int width, int T, int vocab,
                            struct pw_err *err)
{
    struct pw_config cfg = pw_own_config(1, width, 1, width, T, vocab, true);
    cfg.norm = PW_NORM_NONE;
    cfg.ffn = 1; /* only the attention output is used */
    enum pw_code code = pw_own_model(m, in, &cfg, NULL, 0, err);
    if (code != PW_OK)
        return code;
    float *w = pw_alloc((size_t)width * width, sizeof *w);
    pw_own_put(*m, "layers.0.attn.q.weight", w);
    for (int c = 0; c < width; c++)
        w[(size_t)c * width + c] = 1;
    pw_own_put(*m, "layers.0.attn.v.weight", w);
    free(w);
    return PW_OK;
}
