/* none.c - no positional encoding (NoPE): the causal mask alone tells a position from another, because token
 * t attends to t tokens and the first layers can count them (Kazemnejad et al. 2023, theorems 1 and 2). */
#include "model/pe.h"

const struct pw_pe pw_pe_none = {
    .name = "none",
    .summary = "no encoding: order comes from the causal mask alone",
    .source = "Haviv et al. 2022; Kazemnejad et al. 2023",
    .aliases = {"nope", "nopos"},
};
