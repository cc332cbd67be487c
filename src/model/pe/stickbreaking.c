/* stickbreaking.c - attention that breaks a stick instead of a softmax (Tan et al. 2025, "Stick-breaking
 * Attention", Eq. 2). A query starts with a stick of length 1 and walks back over the keys; each key takes
 * the share sigmoid(s) of what is left:
 *
 *     weight(i,j) = sigmoid(s_ij) * product over l = j+1..i-1 of (1 - sigmoid(s_il))     for j < i
 *
 * with s the scaled product of q and k. So of two equal keys the later one takes more, and no position is
 * needed. A query does not read its own key; its own value gets what is left at the end, as in the authors'
 * tests (shawntan/stickbreaking-attention). So the weights of a row have the sum 1, and the first token has
 * its own value.
 *
 * There are no parameters and no options. Products of the shares, and not sums of logarithms, give the
 * weights: a product loses at most one bit for each key, and underflow only makes a tiny weight 0. */
#include "model/pe.h"

const struct pw_pe pw_pe_stickbreaking = {
    .name = "stickbreaking",
    .summary = "each key takes a share of what later keys leave of the attention; no softmax",
    .source = "Tan et al. 2025, Eq. 2",
    .aliases = {"stick_breaking", "stick"},
    .uses = PW_PE_SCAN,
    .scan = PW_SCAN_STICK,
    .needs_mask = true,
};
