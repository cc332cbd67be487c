/* attribution.h - a logit taken apart: what each part of the model adds to it directly, and what the stream
 * would say after each layer.
 *
 * The residual stream is a sum: embedding, the added table's row, every head's output through its columns of
 * W_o, every MLP's output, biases. The final norm is the only thing between it and the logits that is not
 * linear; with its statistics frozen at what they are in this row the logits are a sum over the same parts
 * ("direct logit attribution": Elhage et al. 2021). What a part does by way of later layers is not in it.
 *
 * Both work on what pw_model_inspect has told of a sequence, with the weights that the model has now: nothing
 * may change it in between. */
#ifndef PW_ATTRIBUTION_H
#define PW_ATTRIBUTION_H
#include "model/model.h"

enum pw_part_kind {
    PW_PART_EMBED,
    PW_PART_POSITION, /* the row of the added table, where the encoding has one */
    PW_PART_HEAD,
    PW_PART_MLP,
    PW_PART_BIAS /* those of W_o and of the MLPs, and the final norm's, together */
};

struct pw_part {
    int kind, layer, head; /* enum pw_part_kind; layer and head where it has them */
};

/* The parts of this model in the order of the stream, biases last; returns how many. NULL only counts. */
int pw_model_parts(const struct pw_model *m, struct pw_part *parts);

/* What row t of T adds to the logits of n tokens: part [parts,n], and to the mean over the vocabulary: mean
 * [parts]. in: resid, z and mlp of the sequence. */
enum pw_code pw_model_attribute(struct pw_model *m, const struct pw_inspection *in, const int *tokens, int T,
                                int t, const int *ids, int n, double *part, double *mean, struct pw_err *err);

/* Logit lens (nostalgebraist 2020): out [L+1,V], what final norm and head make of row t of in->resid
 * [L+1,T,C] after l layers. The last one is the model's logits, up to rounding. */
enum pw_code pw_model_lens(struct pw_model *m, const struct pw_inspection *in, int T, int t, double *out,
                           struct pw_err *err);

#endif
