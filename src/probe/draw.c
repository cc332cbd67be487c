/* draw.c - see draw.h. */
#include "probe/draw.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/maths.h"

enum { FIRST_TOKEN = 2 /* ids 0 and 1 are padding and end mark */ };

void pw_draw_init(struct pw_rng *rng, const struct pw_probe_in *in, int use, uint64_t index)
{
    pw_rng_init(rng, in->seed, PW_STREAM_PROBE, (uint64_t)use << 32 | index);
}

void pw_draw_tokens(int *tokens, int T, const struct pw_probe_in *in, uint64_t index)
{
    struct pw_rng rng;
    pw_draw_init(&rng, in, 0, index);
    tokens[0] = in->first_word;
    for (int t = 1; t < T; t++)
        tokens[t] = FIRST_TOKEN + (int)pw_rng_below(&rng, (uint32_t)(in->vocab - FIRST_TOKEN));
}

double pw_draw_normal(struct pw_rng *rng)
{
    double u = 1 - pw_rng_unit(rng), v = pw_rng_unit(rng); /* u > 0 */
    return sqrt(-2 * pw_log(u)) * pw_cos(2 * 3.14159265358979323846 * v);
}

void pw_draw_shuffle(struct pw_rng *rng, int *x, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int j = (int)pw_rng_below(rng, (uint32_t)i + 1), was = x[i];
        x[i] = x[j];
        x[j] = was;
    }
}

int pw_draw_trained(const struct pw_probe_in *in, const struct pw_probe_subject *s)
{
    int context = pw_model_config(s->model)->context, T = 0, n_prompt;
    int64_t *rows = pw_alloc(2 * (size_t)context, sizeof *rows);
    int *tokens = pw_alloc((size_t)context, sizeof *tokens);
    if (pw_model_seen(s->model, rows + context, rows) > 0)
        while (T < context && rows[T] > 0)
            T++;
    for (int length = in->lengths.hi; T == 0 && length >= in->lengths.lo; length--)
        if (in->has(in->arg, length))
            T = in->sequence(in->arg, length, 0, tokens, context, &n_prompt);
    free(rows);
    free(tokens);
    return T > 0 ? T : context;
}

enum pw_code pw_draw_length(int *T, const struct pw_probing_at *p, const struct pw_probe_subject *s,
                            int asked, int otherwise, struct pw_err *err)
{
    int context = pw_model_config(s->model)->context;
    *T = asked > 0 ? asked : otherwise;
    if (asked > context)
        return pw_fail(err, PW_EUSER, "probe %s: length=%d: arm %d reads at most %d tokens", p->probe->name,
                       asked, s->arm, context);
    *T = *T > context ? context : *T;
    if (*T < 4)
        return pw_fail(err, PW_EUSER, "probe %s: length %d: at least 4 tokens are needed", p->probe->name,
                       *T);
    return PW_OK;
}
