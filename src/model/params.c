/* params.c - the tensors of a model: names, shapes, offsets in the flat buffer, initial values.
 *
 * Standard deviations of initial values: embeddings 1, matrices fan_in^-1/2. Matrices that write to the
 * residual stream (attn.o, mlp.down) have a further factor 1/sqrt(2L) (GPT-2), so that the stream has the
 * same size at any depth. init=t5 (Raffel et al. 2020, their code) omits this factor and gives q a further
 * head_width^-1/2, in place of the scale on the scores. The values of a tensor depend on (seed, name) alone:
 * two arms with the same seed and different encodings start from the same weights. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "model/model_int.h"

size_t pw_param_count(const struct pw_param *p)
{
    return (size_t)(p->layers > 0 ? p->layers : 1) * (size_t)(p->rows > 0 ? p->rows : 1) * (size_t)p->cols;
}

int pw_param_dims(const struct pw_param *p, int64_t dims[4])
{
    const int all[] = {p->layers, p->rows, p->cols};
    int n = 0;

    for (int i = 0; i < 3; i++)
        if (all[i] > 0)
            dims[n++] = all[i];
    dims[n] = 0;
    return n;
}

/* Appends a tensor and returns its offset. Vectors have rows 0; layers is the number of matrices, or 0 for
 * one. Matrices have weight decay; vectors have none, because gains and biases must not be pulled to zero. */
static size_t add_stack(struct pw_param_layout *lay, const char *name, int layers, int rows, int cols,
                        double std, float value)
{
    struct pw_param *p = &lay->params[lay->n++];

    *p = (struct pw_param){.offset = lay->size,
                           .place = PW_ABSENT,
                           .rows = rows,
                           .cols = cols,
                           .layers = layers,
                           .init_std = (float)std,
                           .init_value = value,
                           .decay = rows > 0};
    snprintf(p->name, sizeof p->name, "%s", name);
    lay->size += pw_param_count(p);
    return p->offset;
}

static size_t add_tensor(struct pw_param_layout *lay, const char *name, int rows, int cols, double std,
                         float value)
{
    return add_stack(lay, name, 0, rows, cols, std, value);
}

static size_t add_in_layer(struct pw_param_layout *lay, int layer, const char *name, int rows, int cols,
                           double std, float value)
{
    char full[sizeof lay->params->name];

    snprintf(full, sizeof full, "layers.%d.%s", layer, name);
    return add_tensor(lay, full, rows, cols, std, value);
}

/* Appends the tensors of a norm of layer l. */
static void add_norm(struct pw_param_layout *lay, const struct pw_config *cfg, int l, const char *name,
                     size_t *weight, size_t *bias)
{
    char full[24];

    snprintf(full, sizeof full, "%s.weight", name);
    *weight = add_in_layer(lay, l, full, 0, cfg->width, 0, 1);
    snprintf(full, sizeof full, "%s.bias", name);
    if (pw_config_bias_norm(cfg))
        *bias = add_in_layer(lay, l, full, 0, cfg->width, 0, 0);
}

static void add_layer(struct pw_param_layout *lay, const struct pw_config *cfg, int l)
{
    struct pw_layer_at *at = &lay->layer[l];
    int C = cfg->width, HD = cfg->heads * cfg->head_width, F = cfg->ffn;
    int KD = pw_config_kv_heads(cfg) * cfg->head_width;
    bool norms = cfg->norm != PW_NORM_NONE;
    bool t5 = cfg->init == PW_INIT_T5;
    double deep = t5 ? 1 : sqrt(2.0 * cfg->layers), query = t5 ? sqrt(cfg->head_width) : 1;

    memset(at, 0xff, sizeof *at); /* PW_ABSENT */
    bool after = cfg->norm_at == PW_NORM_AT_AFTER;
    if (pw_config_norm_attn(cfg) != PW_NORM_NONE || after)
        add_norm(lay, cfg, l, "norm1", after ? &at->post1 : &at->norm1,
                 after ? &at->post1_bias : &at->norm1_bias);
    at->qkv = add_in_layer(lay, l, "attn.q.weight", HD, C, 1 / sqrt(C) / query, 0);
    add_in_layer(lay, l, "attn.k.weight", KD, C, 1 / sqrt(C), 0);
    add_in_layer(lay, l, "attn.v.weight", KD, C, 1 / sqrt(C), 0);
    if (pw_config_bias_qkv(cfg)) {
        at->qkv_bias = add_in_layer(lay, l, "attn.q.bias", 0, HD, 0, 0);
        add_in_layer(lay, l, "attn.k.bias", 0, KD, 0, 0);
        add_in_layer(lay, l, "attn.v.bias", 0, KD, 0, 0);
    }
    if (cfg->qk_norm) {
        at->q_norm = add_in_layer(lay, l, "attn.q_norm.weight", 0, cfg->head_width, 0, 1);
        at->k_norm = add_in_layer(lay, l, "attn.k_norm.weight", 0, cfg->head_width, 0, 1);
    }
    at->o = add_in_layer(lay, l, "attn.o.weight", C, HD, 1 / sqrt(HD) / deep, 0);
    if (pw_config_bias_o(cfg))
        at->o_bias = add_in_layer(lay, l, "attn.o.bias", 0, C, 0, 0);
    if (cfg->post_norm)
        add_norm(lay, cfg, l, "norm1_post", &at->post1, &at->post1_bias);
    if (norms && cfg->parallel != PW_PARALLEL_SHARED)
        add_norm(lay, cfg, l, "norm2", after ? &at->post2 : &at->norm2,
                 after ? &at->post2_bias : &at->norm2_bias);
    at->up = lay->size;
    if (cfg->gated)
        add_in_layer(lay, l, "mlp.gate.weight", F, C, 1 / sqrt(C), 0);
    add_in_layer(lay, l, "mlp.up.weight", F, C, 1 / sqrt(C), 0);
    if (pw_config_bias_mlp(cfg)) {
        at->up_bias = lay->size;
        if (cfg->gated)
            add_in_layer(lay, l, "mlp.gate.bias", 0, F, 0, 0);
        add_in_layer(lay, l, "mlp.up.bias", 0, F, 0, 0);
    }
    at->down = add_in_layer(lay, l, "mlp.down.weight", C, F, 1 / sqrt(F) / deep, 0);
    if (pw_config_bias_mlp(cfg))
        at->down_bias = add_in_layer(lay, l, "mlp.down.bias", 0, C, 0, 0);
    if (cfg->post_norm)
        add_norm(lay, cfg, l, "norm2_post", &at->post2, &at->post2_bias);
}

/* Appends the tensors of an encoding with arithmetic of its own. */
static void add_own(struct pw_param_layout *lay, const struct pw_config *cfg,
                    const struct pw_pe_use_opts *use)
{
    struct pw_pe_param list[PW_PE_PARAMS];
    int n = use->pe->params(use->o.bytes, cfg, list);
    char name[sizeof lay->params->name];

    assert(n >= 1 && n <= PW_PE_PARAMS);
    lay->pe = lay->size;
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "pe.%s", list[i].name);
        add_stack(lay, name, list[i].layers, list[i].rows, list[i].cols, (double)list[i].std, list[i].value);
        lay->params[lay->n - 1].pe = true;
        lay->params[lay->n - 1].decay = list[i].decay;
    }
}

/* Appends A and B of each matrix of layer l (adapter.c). B = 0, so that a new adapter changes nothing. */
static void add_adapter(struct pw_param_layout *lay, const struct pw_config *cfg, int l)
{
    static const char *const names[PW_MATS] = {"attn.qkv", "attn.o", "mlp.up", "mlp.down"};
    struct pw_layer_at *at = &lay->layer[l];
    char full[24];

    for (int k = 0; k < PW_MATS; k++) {
        struct pw_shape s = pw_mat_shape(cfg, k);
        snprintf(full, sizeof full, "%s.adapter_a", names[k]);
        at->adapter_a[k] = add_in_layer(lay, l, full, cfg->adapter, s.in, 1 / sqrt(s.in), 0);
        snprintf(full, sizeof full, "%s.adapter_b", names[k]);
        at->adapter_b[k] = add_in_layer(lay, l, full, s.out, cfg->adapter, 0, 0);
        lay->params[lay->n - 2].adapter = lay->params[lay->n - 1].adapter = true;
    }
}

static void add_pe(struct pw_param_layout *lay, const struct pw_config *cfg, const struct pw_pe_use_opts *use)
{
    const struct pw_pe *pe = use->pe;
    int rows = pe->param != NULL ? pe->param_rows(use->o.bytes, cfg) : 0;
    bool bias = pe->uses & PW_PE_BIAS, keys = pe->uses & PW_PE_KEYS;
    int cols = keys ? cfg->head_width : bias ? cfg->heads : pw_pe_add_width(pe, cfg->width);
    double std = bias && cfg->init == PW_INIT_T5 ? 1 / sqrt(cfg->width) : pe->init_std;
    char name[sizeof lay->params->name];

    lay->core = lay->size;
    lay->n_core = lay->n;
    lay->pe = PW_ABSENT;
    if (pe->params != NULL)
        add_own(lay, cfg, use);
    if (rows == 0)
        return;
    assert(keys ? pe->reach != NULL : bias ? pe->index != NULL : rows == pw_pe_adds(pe) * cfg->context);
    if (keys)
        std = sqrt(2.0 / (rows + cols)); /* Glorot and Bengio 2010, normal */
    snprintf(name, sizeof name, "pe.%s", pe->param);
    lay->pe = add_stack(lay, name, keys ? cfg->layers : 0, rows, cols, std, 0);
    lay->params[lay->n - 1].pe = true;
    lay->params[lay->n - 1].decay = !bias; /* no decay: it is a bias, although it has rows */
}

enum pw_code pw_layout_init(struct pw_param_layout *lay, const struct pw_config *cfg,
                            const struct pw_pe_use_opts *pe, struct pw_err *err)
{
    enum { PER_LAYER = 26 + 2 * PW_MATS, OTHERS = 9 + PW_PE_PARAMS };
    bool last = pw_config_norm_mlp(cfg) != PW_NORM_NONE, projects = cfg->embed_width > 0;
    int C = cfg->width, E = pw_config_embed_width(cfg);

    *lay = (struct pw_param_layout){.norm = PW_ABSENT,
                                    .norm_bias = PW_ABSENT,
                                    .embed_norm = PW_ABSENT,
                                    .embed_norm_bias = PW_ABSENT,
                                    .embed_in = PW_ABSENT,
                                    .head_in = PW_ABSENT,
                                    .head_bias = PW_ABSENT};
    lay->params = calloc((size_t)(cfg->layers * PER_LAYER + OTHERS), sizeof *lay->params);
    lay->layer = calloc((size_t)cfg->layers, sizeof *lay->layer);
    if (lay->params == NULL || lay->layer == NULL) {
        pw_layout_fini(lay);
        return pw_fail(err, PW_ENOMEM, "out of memory");
    }
    lay->embed = add_tensor(lay, "embed.weight", cfg->vocab, E, 1, 0);
    if (projects)
        lay->embed_in = add_tensor(lay, "embed_in.weight", C, E, 1 / sqrt(E), 0);
    if (cfg->embed_norm)
        lay->embed_norm = add_tensor(lay, "embed_norm.weight", 0, C, 0, 1);
    if (cfg->embed_norm && pw_config_bias_norm(cfg))
        lay->embed_norm_bias = add_tensor(lay, "embed_norm.bias", 0, C, 0, 0);
    for (int l = 0; l < cfg->layers; l++)
        add_layer(lay, cfg, l);
    if (last)
        lay->norm = add_tensor(lay, "norm.weight", 0, C, 0, 1);
    if (last && pw_config_bias_norm(cfg))
        lay->norm_bias = add_tensor(lay, "norm.bias", 0, C, 0, 0);
    if (projects)
        lay->head_in = add_tensor(lay, "head_in.weight", E, C, 1 / sqrt(C), 0);
    lay->head = cfg->tied ? lay->embed : add_tensor(lay, "head.weight", cfg->vocab, E, 1 / sqrt(E), 0);
    if (cfg->head_bias)
        lay->head_bias = add_tensor(lay, "head.bias", 0, cfg->vocab, 0, 0);
    for (int l = 0; l < cfg->layers && cfg->adapter > 0; l++)
        add_adapter(lay, cfg, l);
    add_pe(lay, cfg, pe);
    assert(lay->n <= cfg->layers * PER_LAYER + OTHERS);
    return PW_OK;
}

void pw_layout_fini(struct pw_param_layout *lay)
{
    free(lay->params);
    free(lay->layer);
    *lay = (struct pw_param_layout){0};
}

bool pw_param_trains(const struct pw_param *p, enum pw_trains trains)
{
    return trains == PW_TRAINS_ALL || p->pe ||
           (trains == PW_TRAINS_NORMS && strstr(p->name, "norm") != NULL) ||
           (trains == PW_TRAINS_ADAPTER && p->adapter);
}

/* FNV-1a, 64 bits. It must never change, because the initial values of every model depend on it. */
static uint64_t hash_name(const char *name)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 0x100000001b3u;
    return h;
}

void pw_param_init(const struct pw_param *p, float *out, uint64_t seed, size_t first, size_t n)
{
    struct pw_rng rng;

    assert(first % 2 == 0);
    pw_rng_init(&rng, seed, PW_STREAM_INIT, hash_name(p->name));
    pw_rng_skip(&rng, (uint32_t)(first / 2)); /* a block of the generator yields two normal numbers */
    for (size_t i = 0; i < n; i++)
        out[i] = p->init_std > 0 ? (float)(p->init_std * pw_rng_normal(&rng)) : p->init_value;
}

static int by_name(const void *a, const void *b, void *params)
{
    const struct pw_param *p = params;

    return strcmp(p[*(const int *)a].name, p[*(const int *)b].name);
}

int *pw_param_order(const struct pw_param *p, int n)
{
    int *order = pw_alloc((size_t)n, sizeof *order);

    for (int i = 0; i < n; i++)
        order[i] = i;
    qsort_r(order, (size_t)n, sizeof *order, by_name, (void *)(uintptr_t)p);
    return order;
}
