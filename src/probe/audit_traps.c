/* audit_traps.c - traps of positions in checkpoints that are known from issues of other programs, as remarks
 * of the probe audit. A trap is named only where the file has what it is about. */
#include <math.h>
#include <string.h>

#include "probe/audit.h"

/* The state of one list of traps. */
struct traps {
    struct pw_finding *f;
    const struct pw_audit *asks;
    const cJSON *o;
    const struct pw_config *cfg;
    const cJSON *rope; /* rotary settings of config.json; NULL: none */
};

static bool is_family(const struct traps *x, const char *name)
{
    return strncmp(x->asks->family, name, strlen(name)) == 0;
}

static bool scales_as(const struct traps *x, const char *name)
{
    const char *type = pw_audit_word(x->o, x->rope, "rope_type|type", "rope.scaling.type", "default");
    return strcmp(type, name) == 0;
}

static void name_scalings(const struct traps *x)
{
    double most = pw_audit_number(x->o, NULL, "max_position_embeddings", "context_length", 0);
    double trained = pw_audit_number(x->o, x->rope, "original_max_position_embeddings",
                                     "rope.scaling.original_context_length", most);
    double factor = pw_audit_number(x->o, x->rope, "factor", "rope.scaling.factor", 1);
    if (x->rope != NULL && cJSON_HasObjectItem(x->rope, "type"))
        pw_finding_remark(x->f,
                          "trap: the scaling is named by 'type', the older key; a reader that supports only "
                          "'rope_type' does not scale");
    if (scales_as(x, "linear"))
        pw_finding_remark(x->f,
                          "trap: linear scaling slows all pairs at every length; dynamic scaling changes the "
                          "base, and only beyond max_position_embeddings");
    if (scales_as(x, "dynamic"))
        pw_finding_remark(
            x->f,
            "trap: dynamic scaling changes the base, and only beyond %.0f positions; here the context "
            "is %d. Read as linear it would slow all pairs at every length",
            most, x->cfg->context);
    if (scales_as(x, "longrope") || scales_as(x, "su") || cJSON_HasObjectItem(x->o, "long_factor"))
        pw_finding_remark(
            x->f,
            "trap: longrope has two lists of factors; beyond %.0f positions the long one applies, for "
            "all positions. Here the context is %d, so the %s one runs",
            trained, x->cfg->context, x->cfg->context > trained ? "long" : "short");
    if (scales_as(x, "yarn") && trained > 0 && fabs(most / trained - factor) > 1e-6 * factor)
        pw_finding_remark(
            x->f,
            "trap: yarn has factor=%g, but the lengths have the ratio %g; transformers 4.52 takes the "
            "ratio, transformers 5 the factor, as here",
            factor, most / trained);
    if (scales_as(x, "yarn"))
        pw_finding_remark(x->f,
                          "trap: yarn also multiplies cos and sin, by 0.1 ln(factor) + 1 unless "
                          "attention_factor or mscale say otherwise; readers that leave it out have flatter "
                          "scores");
    if (scales_as(x, "llama3") || cJSON_HasObjectItem(x->o, "factors"))
        pw_finding_remark(x->f,
                          "trap: llama3 slows long waves only%s; read as default it fails beyond the trained "
                          "length, read as linear at once",
                          x->asks->gguf ? ", and in GGUF it is the tensor rope_freqs, which no metadata names"
                                        : "");
}

static void name_rotations(const struct traps *x)
{
    const struct pw_audit_layer *y = &x->asks->layer[0];
    if (x->asks->gguf && (is_family(x, "llama") || is_family(x, "mistral") || is_family(x, "smollm3")))
        pw_finding_remark(x->f,
                          "trap: GGUF has the rows of q and k of llama in the order of pairs side by side "
                          "(2c, 2c+1); config.json's weights have pairs (c, c + D/2)");
    if (is_family(x, "gptj"))
        pw_finding_remark(x->f,
                          "trap: GPT-J pairs rows side by side (2c, 2c+1); most families pair (c, c + n/2)");
    if (y->n > 0 && y->dims < x->cfg->head_width)
        pw_finding_remark(
            x->f,
            "trap: only the first %d of %d rows of a head rotate, and their frequencies are those of a "
            "width of %d",
            y->dims, x->cfg->head_width, y->dims);
    if (is_family(x, "gemma3"))
        pw_finding_remark(x->f,
                          "trap: Gemma 3 has two bases: sliding layers have the smaller one, and the scaling "
                          "belongs to layers with full attention only");
    if (is_family(x, "smollm3"))
        pw_finding_remark(
            x->f, "trap: in no_rope_layers a 1 marks a layer that does rotate, a 0 one that does not");
}

static void name_windows(const struct traps *x)
{
    int window = pw_audit_window(x->asks);
    if (window > 0)
        pw_finding_remark(
            x->f,
            "trap: a window of %d has %d keys with the query itself, so distances 0 to %d; some "
            "readers allow one more",
            window, window, window - 1);
    if (is_family(x, "qwen") && pw_audit_item(x->o, NULL, "sliding_window", NULL) != NULL &&
        pw_audit_number(x->o, NULL, "use_sliding_window", NULL, 0) == 0)
        pw_finding_remark(
            x->f, "trap: sliding_window is set, but use_sliding_window is false, so no layer has one");
}

static void name_others(const struct traps *x)
{
    int H = x->cfg->heads;
    if (is_family(x, "opt"))
        pw_finding_remark(x->f, "trap: OPT's table of positions begins at row 2: position p reads row p + 2");
    if (is_family(x, "mpt"))
        pw_finding_remark(
            x->f, "trap: Hugging Face passes alibi_bias_max to nothing, so the slopes are those of 8, "
                  "whatever attn_config says");
    if (is_family(x, "bloom"))
        pw_finding_remark(
            x->f, "trap: BLOOM's code adds slope * (key's position); under the softmax that is ALiBi");
    if (x->asks->layer[0].n_slopes > 0 && (H & (H - 1)) != 0)
        pw_finding_remark(
            x->f,
            "trap: %d heads are no power of two: the slopes of the largest power of two below come "
            "first, then every other one of twice as many; 2^(-8h/H) for all heads is another sequence",
            H);
}

void pw_audit_traps(struct pw_finding *f, const struct pw_audit *asks, const cJSON *origin,
                    const struct pw_config *cfg)
{
    struct traps x = {f, asks, origin, cfg, pw_audit_rope(origin, false)};
    if (asks->layer[0].n > 0 || !isnan(asks->layer[asks->layers - 1].base)) {
        name_scalings(&x);
        name_rotations(&x);
        name_windows(&x);
    }
    name_others(&x);
}
