/* export_numbers.c - `export table F.npz`: the numbers of an encoding as arrays that `pe file=F.npz` reads
 * (settings/pe_file.c). Fails if the encoding has a part that such a file can't hold, so that a file always
 * stands for the whole encoding. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/npz.h"
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/export/export_int.h"

/* Returns the reason why the encoding has no such file; NULL: it has one. */
static const char *lacking(const struct pw_replica *arm, const struct pw_pe_tables *t)
{
    const struct pw_pe *pe = arm->pe.pe;
    const void *o = arm->pe.o.bytes;
    bool turns = t->cosine != NULL;
    if (t->keys != NULL)
        return "relative keys";
    if (pe->uses & PW_PE_SCORE)
        return "a function of scores";
    if (pe->uses & PW_PE_TERMS)
        return "terms that it makes from the tokens";
    if (pe->uses & PW_PE_MIXES)
        return "a bias that each token mixes";
    if (pe->uses & PW_PE_POLAR)
        return "a polar form of q and k";
    if (pe->uses & PW_PE_PLANES)
        return "turns in learned planes";
    if (pe->uses & PW_PE_SLOPES)
        return "slopes that it makes from the tokens";
    if (pe->uses & PW_PE_SCAN)
        return "a scan over the keys";
    if (pe->uses & PW_PE_VOTES)
        return "votes of the tokens";
    if (pe->uses & PW_PE_WALK)
        return "a walk over the keys";
    if (arm->pe.tune.temperature != 1)
        return "a temperature";
    if (turns && (pe->pairs(o, &arm->cfg) * 2 != arm->cfg.head_width || pe->pairing(o) != PW_PAIRING_HALF))
        return "pairs that aren't all columns c and c + width/2 of a head";
    if (pw_pe_uses_length(pe))
        return "rows by length";
    return t->bias == NULL && t->dense == NULL && t->gain == NULL && !turns && t->added == NULL
               ? "no numbers: order comes from the causal mask"
               : NULL;
}

/* Writes values [parts,n]: dims are those of a part; with layers in front if there are several. */
static void put_layers(struct pw_npz *z, const char *name, const float *v, int layers, int n_dims,
                       const int64_t *dims)
{
    int64_t all[5] = {layers};
    for (int d = 0; d < n_dims; d++)
        all[d + 1] = dims[d];
    pw_npz_f32(z, name, v, layers > 1 ? n_dims + 1 : n_dims, layers > 1 ? all : all + 1);
}

/* A bias by distance; a causal model has no negative ones. */
static void put_bias(struct pw_npz *z, const struct pw_replica *arm, const struct pw_pe_tables *t)
{
    int layers = t->bias_layer > 0 ? arm->cfg.layers : 1, H = arm->cfg.heads, all = 2 * t->P - 1;
    int n = arm->cfg.causal ? t->P : all;
    float *v = pw_alloc((size_t)layers * H * n, sizeof *v), *to = v;
    for (int i = 0; i < layers * H; i++)
        for (int d = 0; d < n; d++)
            *to++ = t->bias[(size_t)i * all + all - n + d];
    put_layers(z, "bias", v, layers, 2, (int64_t[]){H, n});
    free(v);
}

/* The angles of a rotation. Fails if it also has a gain. */
static enum pw_code put_angles(struct pw_npz *z, const struct pw_replica *arm, const struct pw_pe_tables *t,
                               struct pw_err *err)
{
    int layers = t->turn_layer > 0 ? arm->cfg.layers : 1, pairs = arm->cfg.head_width / 2;
    size_t n = (size_t)layers * t->P * pairs;
    float *v = pw_alloc(n, sizeof *v);
    enum pw_code code = PW_OK;
    for (size_t i = 0; i < n && code == PW_OK; i++) {
        v[i] = (float)atan2((double)t->sine[i], (double)t->cosine[i]);
        if (fabs(hypot((double)t->sine[i], (double)t->cosine[i]) - 1) > 1e-5)
            code = pw_fail(err, PW_EUSER,
                           "export table: %s has a gain; an .npz file can't hold it: allowed is "
                           ".json",
                           arm->pe.pe->name);
    }
    if (code == PW_OK)
        put_layers(z, "angle", v, layers, 2, (int64_t[]){t->P, pairs});
    free(v);
    return code;
}

static enum pw_code put_numbers(struct pw_npz *z, const struct pw_replica *arm, const struct pw_pe_tables *t,
                                struct pw_err *err)
{
    int H = arm->cfg.heads, P = t->P;
    if (t->bias != NULL)
        put_bias(z, arm, t);
    if (t->dense != NULL)
        put_layers(z, "bias", t->dense, t->bias_layer > 0 ? arm->cfg.layers : 1, 3, (int64_t[]){H, P, P});
    if (t->gain != NULL) {
        int64_t dims[] = {H, P};
        int layers = t->gain_layer > 0 ? arm->cfg.layers : 1;
        bool heads = arm->pe.pe->head_gains;
        if (layers > 1 && !heads)
            return pw_fail(err, PW_EUSER,
                           "export table: a factor by layer, but not by head, has no .npz form: "
                           "allowed is .json");
        put_layers(z, "scale", t->gain, layers, heads ? 2 : 1, heads ? dims : dims + 1);
    }
    if (t->added != NULL)
        pw_npz_f32(z, "embed", t->added, 2, (int64_t[]){P, arm->cfg.width});
    return t->cosine != NULL ? put_angles(z, arm, t, err) : PW_OK;
}

enum pw_code pw_lab_export_numbers(const struct pw_replica *arm, const char *path, int length,
                                   struct pw_err *err)
{
    struct pw_pe_tables t = {0};
    struct pw_npz *z;
    enum pw_code code = pw_model_tables(arm->model, length > 0 ? length : arm->cfg.context, &t, err);
    const char *lacks = code == PW_OK ? lacking(arm, &t) : NULL;
    if (lacks != NULL)
        code =
            pw_fail(err, PW_EUSER, "export table: %s has %s, which an .npz file can't hold: allowed is .json",
                    arm->pe.pe->name, lacks);
    if (code == PW_OK)
        code = pw_npz_open(&z, path, err);
    if (code == PW_OK) {
        code = put_numbers(z, arm, &t, err);
        if (code == PW_OK)
            code = pw_npz_close(z, err);
        else
            pw_npz_abandon(z);
    }
    pw_pe_tables_free(&t);
    return code;
}
