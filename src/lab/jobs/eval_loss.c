/* eval_loss.c - evaluation of running text: the mean cross entropy of every predicted token, by length and by
 * position.
 *
 * A row's loss is the mean over all tokens of its windows, as in the tables of papers on length
 * extrapolation. The first tokens of a window have little context, so a longer context lowers the mean until
 * an encoding gives out. The loss by position shows where: the k-th value has k + 1 tokens of context.
 * Two rows have it, the longest trained and the longest of all, because all rows would take as much room as
 * they have tokens.
 *
 * Sums are in double precision and in the order of samples and positions, so they do not depend on how
 * samples are divided into passes. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/core/lab_int.h"
#include "lab/jobs/evals.h"

/* Return true if a row has its loss by position: the longest trained one, and the longest one. */
static bool has_places(const struct pw_eval_row *rows, int n, int i, int trained)
{
    return i == n - 1 || (rows[i].length <= trained && rows[i + 1].length > trained);
}

void pw_losses_begin(struct pw_losses *l, struct pw_eval_row *rows, int n, int most, int trained)
{
    *l = (struct pw_losses){.n_rows = n, .rows = pw_alloc((size_t)n, sizeof *l->rows)};
    for (int i = 0; i < n; i++) {
        rows[i].first_loss = l->n;
        rows[i].n_losses = has_places(rows, n, i, trained) ? rows[i].length : 0;
        rows[i].first_sampled = i * most;
        l->n += rows[i].n_losses;
    }
    l->n_sampled = n * most;
    l->places = pw_alloc((size_t)l->n, sizeof *l->places);
    l->sampled = pw_alloc((size_t)l->n_sampled, sizeof *l->sampled);
}

void pw_losses_add(struct pw_losses *l, struct pw_eval_row *rows, int at, const struct pw_samples *s,
                   const int *best, const float *loss)
{
    struct pw_eval_row *row = &rows[at];
    for (int i = 0; i < s->b.n_seqs; i++) {
        int from = s->seq_scored[i], n = s->seq_scored[i + 1] - from;
        double sum = 0.0;
        for (int k = 0; k < n; k++) {
            sum += (double)loss[from + k];
            row->tokens_right += best[from + k] == s->targets[from + k];
            if (k < row->n_losses)
                l->places[row->first_loss + k] += (double)loss[from + k];
        }
        l->rows[at] += sum;
        l->sampled[row->first_sampled + row->samples++] = (float)(sum / n);
        row->tokens += n;
    }
}

void pw_losses_end(struct pw_losses *l, struct pw_ev_eval *out)
{
    out->n_losses = l->n;
    out->losses = pw_alloc((size_t)l->n, sizeof *out->losses);
    out->n_sampled = l->n_sampled;
    out->sampled = pw_copy(l->sampled, (size_t)l->n_sampled, sizeof *l->sampled);
    for (int i = 0; i < l->n_rows; i++) {
        struct pw_eval_row *row = &out->rows[i];
        row->loss = (float)(l->rows[i] / (double)row->tokens);
        if (!(row->loss > 0)) /* zero, or not a number: a positive loss is what marks running text */
            row->loss = row->loss == 0 ? FLT_MIN : INFINITY;
        for (int k = 0; k < row->n_losses; k++)
            out->losses[row->first_loss + k] = (float)(l->places[row->first_loss + k] / row->samples);
    }
    memset(l->rows, 0, (size_t)l->n_rows * sizeof *l->rows);
    memset(l->places, 0, (size_t)l->n * sizeof *l->places);
    memset(l->sampled, 0, (size_t)l->n_sampled * sizeof *l->sampled);
}

void pw_losses_fini(struct pw_losses *l)
{
    free(l->rows);
    free(l->places);
    free(l->sampled);
    *l = (struct pw_losses){0};
}
