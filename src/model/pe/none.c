/* none.c - no positional encoding (NoPE). Only the causal mask distinguishes positions: token t attends to t
 * tokens, and the first layers can count them (Kazemnejad et al. 2023, theorems 1 and 2). */
#include "model/pe.h"

const struct pw_pe pw_pe_none = {
    .name = "none",
    .summary = "no encoding: order comes from the causal mask alone",
    .source = "Haviv et al. 2022; Kazemnejad et al. 2023",
    .aliases = {"nope", "nopos", "drope"}, /* DroPE drops the rotation of a trained model */
};
