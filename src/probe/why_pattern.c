/* why_pattern.c - attention patterns of another arm in the probe why: do heads fail because they read the
 * wrong tokens?
 *
 * A pattern does not depend on the basis of the residual stream, so it has a meaning in every model. Both
 * models read the same tokens. Layer by layer, the output of the heads becomes z = P V with the pattern P of
 * the other arm's head and the values V of this model, which follow from the layers already changed. W_o and
 * the MLPs stay.
 *
 * All heads are changed at once. If one arm was forked from the other, their heads correspond, and each is
 * also changed alone. A pattern depends on the tokens, so no command makes an arm of this change. */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/argmax.h"
#include "base/text.h"
#include "probe/pattern.h"
#include "probe/why.h"

/* Heads of a model whose patterns are replaced; numbers in the maps of a sequence. */
enum { MOST_HEADS = 64, MOST_FLOATS = 1 << 26 };

static bool maps_fit(const struct pw_config *c, int T)
{
    int heads = c->layers * c->heads;
    return heads <= MOST_HEADS && (int64_t)heads * T * T <= MOST_FLOATS;
}

static void add_pattern(struct pw_why_state *s, int other, int layer, int head, int H)
{
    struct pw_why_candidate *c =
        pw_why_add(s, PW_WHY_PATTERN,
                   head < 0 ? "attention patterns, by another arm" : "pattern of a head, by another arm");
    char name[64];
    c->other = other;
    if (head < 0)
        snprintf(name, sizeof name, "patterns of arm %d", s->other[other].arm);
    else
        snprintf(name, sizeof name, "head %d.%d of arm %d", layer, head, s->other[other].arm);
    c->head = head < 0 ? -1 : layer * H + head;
    pw_text_copy(c->name, sizeof c->name, name);
}

enum pw_code pw_why_add_patterns(struct pw_why_state *s, const struct pw_probe_in *in, struct pw_err *err)
{
    const struct pw_config *c = pw_model_config(in->subject[0].model);
    s->other = pw_alloc((size_t)in->n_others + 1, sizeof *s->other);
    for (int i = 0; i < in->n_others; i++) {
        const struct pw_probe_subject *x = &in->other[i];
        const struct pw_config *o = pw_model_config(x->model);
        if (!maps_fit(c, s->tokens) || o->layers != c->layers || o->heads != c->heads ||
            o->vocab != c->vocab || o->context < s->tokens)
            continue;
        int k = s->n_others++;
        s->other[k].arm = x->arm;
        enum pw_code code = pw_model_clone(&s->other[k].model, x->model, in->ops, in->be, err);
        if (code != PW_OK)
            return code;
        add_pattern(s, k, 0, -1, c->heads);
        bool related = x->parent == in->subject[0].arm || in->subject[0].parent == x->arm;
        for (int h = 0; related && h < c->layers * c->heads; h++)
            add_pattern(s, k, h / c->heads, h % c->heads, c->heads);
    }
    return PW_OK;
}

/* ---- answers */

/* One sequence in both models, and the outputs that are replaced so far. */
struct patterned {
    const int *tokens;
    int T, n;                 /* tokens; patches */
    struct pw_patch *patches; /* [L H] */
    float *probs;             /* [L,H,T,T] of the other arm */
    float *v;                 /* [L,T,H,D] of the changed model */
    float *z;                 /* [n,T,D] */
    float *logits;            /* [T,V] */
};

static bool take_memory(struct patterned *x, const struct pw_config *c)
{
    size_t heads = (size_t)c->layers * (size_t)c->heads, T = (size_t)x->T, D = (size_t)c->head_width;
    x->patches = pw_alloc(heads, sizeof *x->patches);
    x->probs = malloc(heads * T * T * sizeof *x->probs);
    x->v = malloc(heads * T * D * sizeof *x->v);
    x->z = malloc(heads * T * D * sizeof *x->z);
    x->logits = malloc(T * (size_t)c->vocab * sizeof *x->logits);
    return x->probs != NULL && x->v != NULL && x->z != NULL && x->logits != NULL;
}

static void free_memory(struct patterned *x)
{
    free(x->patches);
    free(x->probs);
    free(x->v);
    free(x->z);
    free(x->logits);
}

/* Replaces a head's output, or that of all heads of the layer (-1). Earlier layers are changed already. */
static enum pw_code patch_layer(struct patterned *x, struct pw_model *m, int layer, int head,
                                struct pw_err *err)
{
    const struct pw_config *c = pw_model_config(m);
    size_t T = (size_t)x->T, rows = T * (size_t)c->head_width;
    enum pw_code code =
        pw_model_inspect(m, x->tokens, x->T,
                         &(struct pw_inspection){.v = x->v, .patches = x->patches, .n_patches = x->n}, err);
    for (int h = 0; code == PW_OK && h < c->heads; h++) {
        if (head >= 0 && h != head)
            continue;
        float *z = x->z + (size_t)x->n * rows;
        pw_pattern_apply(z, x->probs + (size_t)(layer * c->heads + h) * T * T,
                         x->v + (size_t)layer * rows * (size_t)c->heads, x->T, h, c);
        x->patches[x->n++] = (struct pw_patch){.layer = layer, .head = h, .from = 0, .to = x->T, .source = z};
    }
    return code;
}

enum pw_code pw_why_answer_pattern(const struct pw_why_state *s, const struct pw_why_candidate *c,
                                   const struct pw_batch *b, const int *scored, int seq, int *choices,
                                   struct pw_err *err)
{
    const struct pw_config *cfg = pw_model_config(s->copy);
    int from = b->start[seq], H = cfg->heads, V = cfg->vocab;
    struct patterned x = {.tokens = b->tokens + from, .T = b->start[seq + 1] - from};
    enum pw_code code = PW_OK;
    if (!take_memory(&x, cfg))
        code = pw_fail(err, PW_ENOMEM, "probe why: out of memory for attention of %d tokens", x.T);
    if (code == PW_OK)
        code = pw_model_inspect(s->other[c->other].model, x.tokens, x.T,
                                &(struct pw_inspection){.probs = x.probs}, err);
    for (int l = 0; code == PW_OK && l < cfg->layers; l++)
        if (c->head < 0 || c->head / H == l)
            code = patch_layer(&x, s->copy, l, c->head < 0 ? -1 : c->head % H, err);
    if (code == PW_OK)
        code = pw_model_inspect(
            s->copy, x.tokens, x.T,
            &(struct pw_inspection){.logits = x.logits, .patches = x.patches, .n_patches = x.n}, err);
    for (int t = scored[seq]; code == PW_OK && t < scored[seq + 1]; t++)
        choices[t] = pw_argmax(x.logits + (size_t)(b->rows[t] - from) * (size_t)V, V);
    free_memory(&x);
    return code;
}
