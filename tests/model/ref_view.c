/* ref_view.c - see ref_view.h. */
#include "ref_view.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Finds a weight of layer l and its bias. */
static void find(const struct ref_model *r, int l, const char *name, const double **weight,
                 const double **bias)
{
    char full[64];

    snprintf(full, sizeof full, "layers.%d.%s.weight", l, name);
    *weight = ref_tensor(r, full);
    snprintf(full, sizeof full, "layers.%d.%s.bias", l, name);
    *bias = ref_tensor(r, full);
}

/* Replaces the matrices of a layer by those with adapters. */
static void adapt(const struct ref_model *r, struct ref_layer *y)
{
    const struct pw_config *cfg = r->cfg;
    int C = cfg->width, HD = cfg->heads * cfg->head_width, F = cfg->ffn, l = y->number;
    int KD = (cfg->kv_heads > 0 ? cfg->kv_heads : cfg->heads) * cfg->head_width;

    y->q = y->adapted[0] = ref_adapted(r, l, "attn.qkv", y->q, HD + 2 * KD, C);
    y->k = y->q + HD * C;
    y->v = y->k + KD * C;
    y->o = y->adapted[1] = ref_adapted(r, l, "attn.o", y->o, C, HD);
    if (y->gate != NULL) {
        y->gate = y->adapted[2] = ref_adapted(r, l, "mlp.up", y->gate, 2 * F, C);
        y->up = y->gate + F * C;
    } else {
        y->up = y->adapted[2] = ref_adapted(r, l, "mlp.up", y->up, F, C);
    }
    y->down = y->adapted[3] = ref_adapted(r, l, "mlp.down", y->down, C, F);
}

/* The value of `key` in "name key=value key=value". */
static double option(const char *text, const char *key)
{
    char find[40];
    const char *at;

    snprintf(find, sizeof find, " %s=", key);
    at = strstr(text, find);
    return at != NULL ? atof(at + strlen(find)) : 0;
}

struct ref_view ref_look(const struct ref_model *r)
{
    struct ref_view v = {.whole = r,
                         .cfg = r->cfg,
                         .embed = ref_tensor(r, "embed.weight"),
                         .norm = ref_tensor(r, "norm.weight")};
    const double *none; /* norms of heads have no biases */
    v.rate = r->training ? r->cfg->dropout : 0;
    v.key = r->key;
    v.fixed = r->fixed;
    v.norm_bias = ref_tensor(r, "norm.bias");
    v.embed_norm = ref_tensor(r, "embed_norm.weight");
    v.embed_norm_bias = ref_tensor(r, "embed_norm.bias");
    v.head_bias = ref_tensor(r, "head.bias");
    v.embed_in = ref_tensor(r, "embed_in.weight");
    v.head_in = ref_tensor(r, "head_in.weight");
    v.head = r->cfg->tied ? v.embed : ref_tensor(r, "head.weight");
    assert(r->cfg->layers <= 8);
    for (int l = 0; l < r->cfg->layers; l++) {
        struct ref_layer *y = &v.layer[l];
        y->number = l;
        find(r, l, "norm1", &y->norm1, &y->norm1_bias);
        find(r, l, "attn.q", &y->q, &y->q_bias);
        find(r, l, "attn.k", &y->k, &y->k_bias);
        find(r, l, "attn.v", &y->v, &y->v_bias);
        find(r, l, "attn.o", &y->o, &y->o_bias);
        find(r, l, "norm2", &y->norm2, &y->norm2_bias);
        find(r, l, "mlp.up", &y->up, &y->up_bias);
        find(r, l, "mlp.down", &y->down, &y->down_bias);
        find(r, l, "mlp.gate", &y->gate, &y->gate_bias);
        find(r, l, "attn.q_norm", &y->q_norm, &none);
        find(r, l, "attn.k_norm", &y->k_norm, &none);
        find(r, l, "norm1_post", &y->post1, &y->post1_bias);
        find(r, l, "norm2_post", &y->post2, &y->post2_bias);
        if (r->cfg->adapter > 0)
            adapt(r, y);
    }
    sscanf(r->pe, "%23s", v.name);
    v.pe = ref_tensor(r, "pe.bias");
    if (v.pe == NULL)
        v.pe = ref_tensor(r, "pe.keys");
    if (v.pe == NULL)
        v.pe = ref_tensor(r, "pe.table");
    v.fire.c = ref_tensor(r, "pe.c");
    v.fire.factor = ref_tensor(r, "pe.L_multiplier");
    v.fire.in = ref_tensor(r, "pe.mlp.0.weight");
    v.fire.in_bias = ref_tensor(r, "pe.mlp.0.bias");
    v.fire.out = ref_tensor(r, "pe.mlp.2.weight");
    v.fire.out_bias = ref_tensor(r, "pe.mlp.2.bias");
    v.fire.hidden = (int)option(r->pe, "hidden");
    v.fire.threshold = (int)option(r->pe, "threshold");
    v.gate = ref_tensor(r, "pe.fgate_proj.weight");
    v.gate_bias = ref_tensor(r, "pe.fgate_proj.bias");
    v.mix = ref_tensor(r, "pe.r_proj.weight");
    v.bank = ref_tensor(r, "pe.rel_logits_proj.proj");
    v.mixes = (int)option(r->pe, "mixes");
    v.reach = (int)option(r->pe, "reach");
    v.curve = ref_tensor(r, "pe.curve");
    if (v.curve != NULL)
        v.mixes = 3;
    if (r->fixed != NULL && r->fixed->mix != NULL)
        v.mixes = r->fixed->mixes;
    v.alpha = option(r->pe, "alpha");
    v.floor = option(r->pe, "floor");
    v.contexts = ref_tensor(r, "pe.pos_emb");
    v.npos = (int)option(r->pe, "npos");
    const char *counted = strstr(r->pe, "scan = context(");
    if (counted != NULL)
        v.npos = atoi(counted + strlen("scan = context("));
    v.stick = ref_is(&v, "stickbreaking") || strstr(r->pe, "scan = stick") != NULL;
    v.omega = ref_tensor(r, "pe.omega");
    v.of_q = ref_tensor(r, "pe.v");
    v.of_k = ref_tensor(r, "pe.u");
    v.phase = ref_tensor(r, "pe.learned_bias");
    v.from = strstr(r->pe, "offset") != NULL ? option(r->pe, "offset") : 0;
    v.step = strstr(r->pe, "stretch") != NULL ? option(r->pe, "stretch") : 1;
    v.steeper = (strstr(r->pe, "gain") != NULL ? option(r->pe, "gain") : 1) *
                (strstr(r->pe, "stretch") != NULL ? option(r->pe, "stretch") : 1);
    v.wave = ref_tensor(r, "pe.wave");
    v.turn = ref_tensor(r, "pe.turn");
    v.grow = ref_tensor(r, "pe.grow");
    v.sharp = ref_tensor(r, "pe.sharp");
    v.bend = ref_tensor(r, "pe.bend");
    v.tilt = ref_tensor(r, "pe.tilt");
    v.capped = strstr(r->pe, "score = 2 * tanh(s / 2) + 0.1 * d * s") != NULL;
    v.base = option(r->pe, "base");
    v.amplitude = option(r->pe, "amplitude");
    v.dims = (int)option(r->pe, "dims");
    v.buckets = (int)option(r->pe, "buckets");
    v.distance = (int)option(r->pe, "distance");
    v.logn = (int)option(r->pe, "logn");
    v.split = strstr(r->pe, "layout=split") != NULL;
    v.half = strstr(r->pe, "pairing=half") != NULL;
    return v;
}

int ref_is(const struct ref_view *r, const char *name)
{
    return strcmp(r->name, name) == 0;
}
