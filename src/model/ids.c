/* ids.c - the position ids of a batch, if the encoding reads them from tokens or from chance, or rotates by
 * the length of the sequence.
 *
 * The encoding decides an id on the host, before the batch is staged; tables and kernels are the same for all
 * encodings. The batch's own ids, which count the rows of a sequence, stay the order of rows. With rows by
 * length an id is a row of the rotation's tables. The ids of a sequence ascend by one, so a bias by distance
 * reads the same entries as without. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/model_int.h"

/* Makes room for n rows and n_seqs sequences. */
static enum pw_code fit_ids(struct pw_model *m, int n, int n_seqs, struct pw_err *err)
{
    if (n > m->ids_cap) {
        free(m->ids);
        m->ids = malloc((size_t)n * sizeof *m->ids);
        m->ids_cap = m->ids != NULL ? n : 0;
    }
    if (n_seqs > m->sequences_cap) {
        free(m->sequences);
        m->sequences = malloc((size_t)n_seqs * sizeof *m->sequences);
        m->sequences_cap = m->sequences != NULL ? n_seqs : 0;
    }
    if (n <= m->ids_cap && n_seqs <= m->sequences_cap)
        return PW_OK;
    return pw_fail(err, PW_ENOMEM, "out of memory for the positions of %d tokens", n);
}

void pw_ids_form(struct pw_model *m)
{
    const struct pw_pe *pe = m->pe.pe;
    free(m->first);
    m->first = NULL;
    if (pe->rows_by_length == NULL)
        return;
    m->first = pw_alloc((size_t)m->cfg.context + 1, sizeof *m->first);
    pe->rows_by_length(m->pe.o.bytes, &m->cfg, m->first);
}

int pw_ids_rows(const struct pw_model *m, int P)
{
    int rows = P;
    for (int l = 1; l <= P && m->first != NULL; l++)
        rows = m->first[l] + l > rows ? m->first[l] + l : rows;
    return rows;
}

void pw_ids_by_length(const struct pw_model *m, int T, int *ids)
{
    for (int r = 0; r < T; r++) /* a sequence that is too long is refused later: plan.c */
        ids[r] = r + (T <= m->cfg.context ? m->first[T] : 0);
}

enum pw_code pw_ids_batch(struct pw_model *m, struct pw_batch *out, const struct pw_batch *b, bool train,
                          struct pw_err *err)
{
    const struct pw_pe *pe = m->pe.pe;
    *out = *b;
    if ((pe->ids == NULL && m->first == NULL) || b->order != NULL)
        return PW_OK;
    enum pw_code code = fit_ids(m, b->n_rows, b->n_seqs, err);
    if (code != PW_OK)
        return code;
    out->pos = m->ids;
    out->order = b->pos;
    for (int s = 0; s < b->n_seqs && m->first != NULL; s++)
        pw_ids_by_length(m, b->start[s + 1] - b->start[s], m->ids + b->start[s]);
    if (m->first != NULL)
        return PW_OK;
    for (int s = 0; s < b->n_seqs; s++)
        m->sequences[s] = (struct pw_pe_sequence){.tokens = b->tokens + b->start[s],
                                                  .T = b->start[s + 1] - b->start[s],
                                                  .train = train,
                                                  .key = train && b->chance != NULL ? b->chance[s] : 0};
    pe->ids(m->pe.o.bytes, &m->cfg, m->sequences, b->n_seqs, m->ids);
    return PW_OK;
}

int pw_ids_bound(const int *ids, int n, int least)
{
    for (int r = 0; r < n; r++)
        least = ids[r] >= least ? ids[r] + 1 : least;
    return least;
}

void pw_model_ids(const struct pw_model *m, const int *tokens, int T, int *ids)
{
    const struct pw_pe_sequence s = {.tokens = tokens, .T = T};
    if (m->pe.pe->ids != NULL)
        m->pe.pe->ids(m->pe.o.bytes, &m->cfg, &s, 1, ids);
    for (int t = 0; t < T && m->pe.pe->ids == NULL; t++)
        ids[t] = t;
}

enum pw_code pw_model_added(struct pw_model *m, const int *tokens, int T, float **out, struct pw_err *err)
{
    size_t C = (size_t)m->cfg.width;
    struct pw_pe_tables t = {0};
    int *ids = malloc((size_t)T * sizeof *ids);
    *out = malloc((size_t)T * C * sizeof **out);
    enum pw_code code = ids != NULL && *out != NULL
                            ? PW_OK
                            : pw_fail(err, PW_ENOMEM, "out of memory for the rows of %d tokens", T);
    if (code == PW_OK) {
        pw_model_ids(m, tokens, T, ids);
        code = pw_model_tables(m, pw_ids_bound(ids, T, T), &t, err);
    }
    for (int r = 0; r < T && code == PW_OK; r++)
        memcpy(*out + (size_t)r * C, t.added + (size_t)ids[r] * C, C * sizeof **out);
    pw_pe_tables_free(&t);
    free(ids);
    if (code != PW_OK) {
        free(*out);
        *out = NULL;
    }
    return code;
}

void pw_ids_fini(struct pw_model *m)
{
    free(m->first);
    free(m->ids);
    free(m->sequences);
}
