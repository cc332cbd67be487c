#include "bench/batch.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/rng.h"

enum pw_code bench_batches_of_task(struct bench_batches *out, const char *task, int batch, int n,
                                   struct pw_err *err)
{
    struct pw_taskset set;
    enum pw_code code = pw_taskset_init(&set, task, err);

    if (code != PW_OK)
        return code;
    *out = (struct bench_batches){.n = n, .vocab = set.vocab.n, .longest = set.max_tokens - 1};
    out->samples = pw_alloc((size_t)n, sizeof *out->samples);
    for (int i = 0; i < n; i++)
        pw_samples_fill(&out->samples[i], &set, 1, PW_SPLIT_TRAIN, (uint64_t)i * batch, batch, 0, 0);
    pw_taskset_fini(&set);
    return PW_OK;
}

static void fill(struct pw_samples *s, struct pw_rng *rng, int positions, int vocab, int batch)
{
    int n = batch * positions;
    s->start = pw_alloc((size_t)batch + 1, sizeof *s->start);
    s->seq_scored = pw_alloc((size_t)batch + 1, sizeof *s->seq_scored);
    s->tokens = pw_alloc((size_t)n, sizeof *s->tokens);
    s->pos = pw_alloc((size_t)n, sizeof *s->pos);
    s->rows = pw_alloc((size_t)n, sizeof *s->rows);
    s->targets = pw_alloc((size_t)n, sizeof *s->targets);
    for (int i = 0; i <= batch; i++)
        s->start[i] = s->seq_scored[i] = i * positions;
    for (int r = 0; r < n; r++) {
        s->pos[r] = r % positions;
        s->rows[r] = r;
        s->tokens[r] = s->pos[r] == 0 ? (int)pw_rng_below(rng, (uint32_t)vocab) : s->targets[r - 1];
        s->targets[r] = (int)pw_rng_below(rng, (uint32_t)vocab);
    }
    s->b = (struct pw_batch){.n_seqs = batch,
                             .n_rows = n,
                             .n_scored = n,
                             .start = s->start,
                             .tokens = s->tokens,
                             .pos = s->pos,
                             .rows = s->rows,
                             .targets = s->targets};
}

void bench_batches_random(struct bench_batches *out, int positions, int vocab, int batch, int n)
{
    struct pw_rng rng;

    *out = (struct bench_batches){.n = n, .vocab = vocab, .longest = positions};
    out->samples = pw_alloc((size_t)n, sizeof *out->samples);
    pw_rng_init(&rng, 1, PW_STREAM_TRAIN, 0);
    for (int i = 0; i < n; i++)
        fill(&out->samples[i], &rng, positions, vocab, batch);
}

void bench_batches_fini(struct bench_batches *b)
{
    for (int i = 0; i < b->n; i++)
        pw_samples_fini(&b->samples[i]);
    free(b->samples);
}

void bench_batch_print(FILE *out, const struct pw_samples *s)
{
    fputc('[', out);
    for (int i = 0; i < s->b.n_seqs; i++) {
        int end = i + 1 < s->b.n_seqs ? s->seq_scored[i + 1] : s->b.n_scored;
        fprintf(out, "%s[%d, %d]", i > 0 ? ", " : "", s->start[i + 1] - s->start[i], end - s->seq_scored[i]);
    }
    fputc(']', out);
}
