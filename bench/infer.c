#include "bench/infer.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "model/decode.h"

enum pw_code bench_decode(struct pw_model *m, const int *tokens, int T, double *ms, struct pw_err *err)
{
    float *logits = pw_alloc((size_t)pw_model_config(m)->vocab, sizeof *logits);
    struct pw_decoder *d;
    enum pw_code code = pw_decoder_create(&d, m, T, err);
    double begin = pw_now();
    for (int i = 0; i < T && code == PW_OK; i++)
        code = pw_decoder_feed(d, tokens + i, 1, logits, err);
    *ms = 1e3 * (pw_now() - begin) / T;
    pw_decoder_destroy(d);
    free(logits);
    return code;
}

enum pw_code bench_inspect(struct pw_model *m, const int *tokens, int T, double *ms, struct pw_err *err)
{
    const struct pw_config *cfg = pw_model_config(m);
    size_t maps = (size_t)cfg->layers * cfg->heads * T * T,
           resid = (size_t)(cfg->layers + 1) * T * cfg->width;
    size_t all_floats = 4 * maps + resid + (size_t)T * cfg->vocab;
    float *all = pw_alloc(all_floats, sizeof *all);
    struct pw_inspection out = {.content = all,
                                .bias = all + maps,
                                .score = all + 2 * maps,
                                .probs = all + 3 * maps,
                                .resid = all + 4 * maps,
                                .logits = all + 4 * maps + resid};
    memset(all, 0, all_floats * sizeof *all); /* maps the pages now, outside the timed region */
    double begin = pw_now();
    enum pw_code code = pw_model_inspect(m, tokens, T, &out, err);
    *ms = 1e3 * (pw_now() - begin);
    free(all);
    return code;
}
