/* attribution.h - direct logit attribution (Elhage et al. 2021) and the logit lens (nostalgebraist 2020).
 *
 * The residual stream is a sum: embedding, row of the added table, output of every head through its columns
 * of W_o, output of every MLP, biases. Only the final norm between stream and logits is not linear. With its
 * statistics frozen at their values in this row, a logit is a sum over the same parts. The effect of a part
 * through later layers is not included. Norms of the embedding and of outputs are frozen in the same way, and
 * a cap is frozen as a factor on each logit. With norm_at=after the stream is normed after each branch. A
 * part then passes every norm behind it, each frozen at its sum.
 *
 * pw_model_attribute and pw_model_lens combine the result of pw_model_inspect with the model's current
 * weights, so the model must not change in between. Thread: the owner of the model. Results are in double
 * precision. They can fail without memory or with the device. */
#ifndef PW_ATTRIBUTION_H
#define PW_ATTRIBUTION_H
#include "model/model.h"

/* The kinds of parts of the residual stream. */
enum pw_part_kind {
    PW_PART_EMBED,
    PW_PART_POSITION, /* the row of the added table, if the encoding has one */
    PW_PART_HEAD,
    PW_PART_MLP,
    PW_PART_BIAS /* biases of W_o, of the MLPs, of norms in the stream and of the head, together */
};

/* One part of the residual stream. */
struct pw_part {
    int kind, layer, head; /* enum pw_part_kind; layer and head for kinds that have them */
};

/* Writes the parts of this model in the order of the stream, biases last; returns their number. With parts ==
 * NULL it only counts. */
int pw_model_parts(const struct pw_model *m, struct pw_part *parts);

/* Splits the logits of row t (of T) over the parts. ids [n]: tokens of the vocabulary; part [parts,n]: each
 * part's share of their logits; mean [parts]: its share of the mean over the vocabulary. in must hold resid,
 * z and mlp of the sequence, or of row t (one_row); tokens [T]. */
enum pw_code pw_model_attribute(struct pw_model *m, const struct pw_inspection *in, const int *tokens, int T,
                                int t, const int *ids, int n, double *part, double *mean, struct pw_err *err);

/* Logit lens: applies the final norm, if there is one, and the head to row t of in->resid [L+1,T,C] after
 * `from` layers and after each of the next ones. out [n,V], rounded. After all L layers these are the model's
 * logits, up to rounding. */
enum pw_code pw_model_lens(struct pw_model *m, const struct pw_inspection *in, int T, int t, int from, int n,
                           float *out, struct pw_err *err);

#endif
