/* ref_cases.c - the table of cases: families of operations, each with its tolerance against double
 * precision. */
#include "tests/ops/ref_cases.h"

/* cuda has no walk. */
static bool needs_walk(const struct pw_backend_ops *ops)
{
    return ops->walk_fwd != NULL;
}

const struct ref_case ref_cases[] = {
    {"linear", ref_case_linear, true, 2e-5, NULL},
    {"norm", ref_case_norm, false, 2e-5, NULL},
    {"embed", ref_case_embed, false, 2e-5, NULL},
    {"rotate", ref_case_rotate, false, 1e-6, NULL},
    {"turn back", ref_case_turn_bwd, false, 2e-5, NULL},
    {"attention", ref_case_attention, false, 2e-5, NULL},
    {"attention wide", ref_case_attention_wide, false, 2e-5, NULL},
    {"gather", ref_case_gather, false, 1e-6, NULL},
    {"fire", ref_case_fire, false, 2e-5, NULL},
    {"expr", ref_case_expr, false, 0.0, NULL},
    {"loss", ref_case_loss, false, 2e-6, NULL},
    {"add", ref_case_add, false, 1e-6, NULL},
    {"optimiser", ref_case_optimiser, true, 5e-6, NULL},
    {"digest", ref_case_digest, true, 0.0, NULL},
    {"cached", ref_case_cached, false, 2e-5, NULL},
    {"cached wide", ref_case_cached_wide, false, 2e-5, NULL},
    {"dropout", ref_case_dropout, false, 1e-6, NULL},
    {"gate", ref_case_gate, false, 2e-6, NULL},
    {"heads", ref_case_heads, false, 2e-5, NULL},
    {"cap", ref_case_cap, false, 5e-6, NULL},
    {"put", ref_case_put, false, 0.0, NULL},
    {"terms", ref_case_terms, false, 2e-6, NULL},
    {"attention terms", ref_case_attention_terms, false, 2e-5, NULL},
    {"cached terms", ref_case_cached_terms, false, 2e-5, NULL},
    {"attention mix", ref_case_attention_mix, false, 2e-5, NULL},
    {"cached mix", ref_case_cached_mix, false, 2e-5, NULL},
    {"slopes", ref_case_slopes, false, 2e-5, NULL},
    {"attention slopes", ref_case_attention_slopes, false, 5e-4, NULL}, /* of distances up to 70 */
    {"cached slopes", ref_case_cached_slopes, false, 5e-5, NULL},
    {"polar", ref_case_polar, false, 2e-5, NULL},
    {"planes", ref_case_planes, false, 5e-5, NULL},
    {"attention made", ref_case_attention_made, false, 2e-5, NULL},
    {"cached made", ref_case_cached_made, false, 2e-5, NULL},
    {"reflect", ref_case_reflect, false, 2e-5, needs_walk},
    {"attention reflect", ref_case_attention_reflect, false, 5e-5, needs_walk},
    {"cached reflect", ref_case_cached_reflect, false, 5e-5, needs_walk},
    {"scale", ref_case_scale, false, 2e-5, needs_walk},
    {"attention scale", ref_case_attention_scale, false, 5e-5, needs_walk},
    {"cached scale", ref_case_cached_scale, false, 5e-5, needs_walk},
    {NULL, NULL, false, 0.0, NULL},
};

static bool needs_select(const struct pw_backend_ops *ops)
{
    return ops->selects || ops == &ref_plain || ops == &ref_double;
}

const struct ref_case ref_scan_cases[] = {
    {"stick", ref_case_stick, false, 2e-5, NULL},
    {"cached stick", ref_case_cached_stick, false, 2e-5, NULL},
    {"context", ref_case_context, false, 5e-4, NULL},
    {"cached context", ref_case_cached_context, false, 2e-4, NULL},
    {"select", ref_case_select, false, 5e-4, needs_select},
    {"cached select", ref_case_cached_select, false, 2e-4, needs_select},
    {NULL, NULL, false, 0.0, NULL},
};
