/* inspect_device.c - inspection by rows on a device. Its operations write whole maps only, so those of one
 * layer are copied to the host, and read there as the host's backends hand them out (inspect.c). */
#include <stdlib.h>
#include <string.h>

#include "model/model_int.h"

enum { BLOCK = 16 }; /* queries that a reader gets at once */

/* The maps of one layer on the host, for the caller's reader. */
struct feed {
    struct pw_model *m;
    const struct pw_map_reader *reader;
    float *score, *probs, *content; /* [H,T,T]; content NULL: it equals score */
    int T;
};

/* Any worker can take any head. */
static void feed_head(struct pw_ctx *c, int head, int worker, void *arg)
{
    const struct feed *f = arg;
    const struct pw_map_reader *reader = f->reader;
    size_t T = (size_t)f->T;

    (void)c;
    (void)worker;
    for (int i = 0; i < f->T; i += BLOCK) {
        size_t at = ((size_t)head * T + (size_t)i) * T;
        struct pw_map_rows rows = {.head = head,
                                   .query = i,
                                   .n = f->T - i < BLOCK ? f->T - i : BLOCK,
                                   .keys = f->T,
                                   .stride = T,
                                   .probs = f->probs + at};
        if (reader->wants(reader->arg, head, i, rows.n)) {
            rows.scores = f->score + at;
            rows.content = f->content != NULL ? f->content + at : NULL;
        }
        reader->rows(reader->arg, &rows);
    }
}

static bool feed_layer(void *arg, int layer)
{
    struct feed *f = arg;

    if (f->reader->begin(f->reader->arg, layer))
        f->m->ops->for_chunks(f->m->be, f->m->cfg.heads, feed_head, f);
    return f->reader->end(f->reader->arg, layer);
}

/* Copies row t of every layer: rows [layers,T,n]. */
static void take_row(float *row, const float *rows, size_t layers, int T, int t, size_t n)
{
    for (size_t l = 0; row != NULL && l < layers; l++)
        memcpy(row + l * n, rows + (l * (size_t)T + (size_t)t) * n, n * sizeof *row);
}

enum pw_code pw_inspect_on_device(struct pw_model *m, const int *tokens, int T,
                                  const struct pw_inspection *out, struct pw_err *err)
{
    const struct pw_config *cfg = &m->cfg;
    size_t L = (size_t)cfg->layers, HD = (size_t)cfg->heads * cfg->head_width, V = (size_t)cfg->vocab;
    bool one = out->one_row, acts = pw_model_acts_on_scores(m);
    size_t maps = out->reader != NULL ? (size_t)cfg->heads * T * T : 0;
    size_t resid = one && out->resid != NULL ? (L + 1) * T * cfg->width : 0;
    size_t z = one && out->z != NULL ? L * T * HD : 0, mlp = one && out->mlp != NULL ? L * T * cfg->ffn : 0;
    bool last = out->row == T - 1; /* its logits are computed as those of last_logits are */
    size_t logits = one && out->logits != NULL ? (last ? 1 : T) * V : 0;
    size_t floats = (acts ? 3 : 2) * maps + resid + z + mlp + logits;
    float *mem = malloc(floats * sizeof *mem);
    if (mem == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory: inspecting %d tokens needs %zu MiB", T,
                       floats * sizeof *mem >> 20);

    struct feed f = {m, out->reader, mem, mem + maps, acts ? mem + 2 * maps : NULL, T};
    struct pw_inspection all = *out;
    float *next = mem + (acts ? 3 : 2) * maps;
    all.one_row = false;
    all.reader = NULL;
    if (out->reader != NULL) {
        all.score = f.score;
        all.probs = f.probs;
        all.content = f.content;
        all.each = feed_layer;
        all.arg = &f;
    }
    if (one) {
        all.resid = resid > 0 ? next : NULL;
        all.z = z > 0 ? next + resid : NULL;
        all.mlp = mlp > 0 ? next + resid + z : NULL;
        all.logits = logits > 0 ? next + resid + z + mlp : NULL;
        all.last_logits = last;
    }
    enum pw_code code = pw_model_inspect(m, tokens, T, &all, err);
    if (code == PW_OK && one) {
        take_row(out->resid, all.resid, L + 1, T, out->row, (size_t)cfg->width);
        take_row(out->z, all.z, L, T, out->row, HD);
        take_row(out->mlp, all.mlp, L, T, out->row, (size_t)cfg->ffn);
        take_row(out->logits, all.logits, 1, last ? 1 : T, last ? 0 : out->row, V);
    }
    free(mem);
    return code;
}
