/* why_gold.c - gold pointers in the probe why: how much attention each head has on the tokens that a correct
 * head reads, and what is recovered if a head attends to them.
 *
 * The intervention replaces the output of one head at each query that has gold pointers by the mean of the
 * head's own values at these keys, z = P V with P uniform over the pointers. Other queries keep their output.
 * It tests whether the pattern is what fails: the values, W_o and all other heads stay. The attention is
 * measured where it matters: at a length that works, at the length in question, and there at the first wrong
 * token of each failing sample. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/argmax.h"
#include "probe/why.h"

enum { MOST_PAIRS = 1024 }; /* pointers of a sample; the rest is not counted */

/* One sample with its pointers, ascending by query. */
struct sample {
    int T, n_prompt, n;
    int *tokens, (*gold)[2];
};

static struct sample take_sample(const struct pw_probe_in *in, int length, int64_t index)
{
    int context = pw_model_config(in->subject[0].model)->context;
    struct sample x = {.tokens = pw_alloc((size_t)context, sizeof(int)),
                       .gold = pw_alloc(MOST_PAIRS, sizeof *x.gold)};
    x.T = in->sequence(in->arg, length, index, x.tokens, context, &x.n_prompt);
    x.n = x.T > 0 ? in->pointers(in->arg, length, index, x.gold, MOST_PAIRS) : 0;
    while (x.n > 0 && x.gold[x.n - 1][0] >= x.T)
        x.n--;
    return x;
}

static void free_sample(struct sample *x)
{
    free(x->tokens);
    free(x->gold);
}

bool pw_why_has_gold(const struct pw_probe_in *in, int length)
{
    if (in->pointers == NULL)
        return false;
    struct sample x = take_sample(in, length, 0);
    bool any = x.n > 0;
    free_sample(&x);
    return any;
}

/* ---- the attention on gold pointers */

struct measuring {
    struct pw_why_state *s;
    const struct sample *x;
    const float *probs; /* [H,T,T] of the layer */
    int H, wrong;       /* the query that predicts the first wrong token; -1: none */
    bool works;         /* the sample is of the length that works */
};

static bool add_layer(void *arg, int layer)
{
    struct measuring *m = arg;
    const struct sample *x = m->x;
    for (int h = 0; h < m->H; h++) {
        struct pw_why_gold *g = &m->s->gold[layer * m->H + h];
        for (int i = 0; i < x->n; i++) {
            int query = x->gold[i][0];
            double p = (double)m->probs[((size_t)h * x->T + query) * x->T + x->gold[i][1]];
            bool first = i == 0 || x->gold[i - 1][0] != query;
            int where = m->works ? PW_WHY_WORKS : PW_WHY_FAILS;
            g->mass[where] += p;
            g->queries[where] += first;
            if (!m->works && query == m->wrong) {
                g->mass[PW_WHY_AT_ERROR] += p;
                g->queries[PW_WHY_AT_ERROR] += first;
            }
        }
    }
    return true;
}

enum pw_code pw_why_measure_gold(struct pw_why_state *s, const struct pw_probe_in *in, int length,
                                 int64_t index, int place, bool works, struct pw_err *err)
{
    struct pw_model *m = in->subject[0].model;
    int H = pw_model_config(m)->heads;
    struct sample x = take_sample(in, length, index);
    float *probs = malloc((size_t)H * x.T * x.T * sizeof *probs + 1);
    struct measuring measuring = {.s = s,
                                  .x = &x,
                                  .probs = probs,
                                  .H = H,
                                  .wrong = place >= 0 ? x.n_prompt - 1 + place : -1,
                                  .works = works};
    enum pw_code code = PW_OK;
    if (probs == NULL)
        code = pw_fail(err, PW_ENOMEM, "%s: out of memory for attention of %d tokens", in->who, x.T);
    else if (x.n > 0)
        code = pw_model_inspect(m, x.tokens, x.T,
                                &(struct pw_inspection){.probs = probs, .each = add_layer, .arg = &measuring},
                                err);
    free(probs);
    free_sample(&x);
    return code;
}

/* ---- a head that attends to them */

/* Rows of z of a head [T,D] at queries with pointers become the mean of the values at their keys. v and z
 * [L,T,H,D]; out [T,D]. */
static void point_head(float *out, const struct sample *x, const float *v, const float *z, int layer, int h,
                       int H, int D)
{
    const float *V = v + (size_t)layer * x->T * H * D + (size_t)h * D;
    const float *Z = z + (size_t)layer * x->T * H * D + (size_t)h * D;
    for (int t = 0; t < x->T; t++)
        memcpy(out + (size_t)t * D, Z + (size_t)t * H * D, (size_t)D * sizeof *out);
    for (int i = 0, n; i < x->n; i += n) {
        int query = x->gold[i][0];
        for (n = 1; i + n < x->n && x->gold[i + n][0] == query;)
            n++;
        for (int d = 0; d < D; d++) {
            double sum = 0;
            for (int k = i; k < i + n; k++)
                sum += (double)V[(size_t)x->gold[k][1] * H * D + d];
            out[(size_t)query * D + d] = (float)(sum / n);
        }
    }
}

enum pw_code pw_why_answer_gold(struct pw_model *m, const struct pw_probe_in *in, int head, int length,
                                int64_t index, int *choices, struct pw_err *err)
{
    const struct pw_config *c = pw_model_config(m);
    struct sample x = take_sample(in, length, index);
    int H = c->heads, D = c->head_width, V = c->vocab;
    size_t rows = (size_t)x.T, all = (size_t)c->layers * rows * H * D;
    float *v = malloc(2 * all * sizeof *v + 1), *out = malloc(rows * D * sizeof *out + 1);
    float *logits = malloc(rows * V * sizeof *logits + 1);
    struct pw_patch patch = {.layer = head / H, .head = head % H, .from = 0, .to = x.T, .source = out};
    enum pw_code code = PW_OK;
    if (v == NULL || out == NULL || logits == NULL)
        code = pw_fail(err, PW_ENOMEM, "%s: out of memory for values of %d tokens", in->who, x.T);
    if (code == PW_OK)
        code = pw_model_inspect(m, x.tokens, x.T, &(struct pw_inspection){.v = v, .z = v + all}, err);
    if (code == PW_OK) {
        point_head(out, &x, v, v + all, head / H, head % H, H, D);
        code = pw_model_inspect(m, x.tokens, x.T,
                                &(struct pw_inspection){.logits = logits, .patches = &patch, .n_patches = 1},
                                err);
    }
    for (int t = x.n_prompt - 1; code == PW_OK && t < x.T; t++)
        choices[t - x.n_prompt + 1] = pw_argmax(logits + (size_t)t * V, V);
    free(v);
    free(out);
    free(logits);
    free_sample(&x);
    return code;
}
