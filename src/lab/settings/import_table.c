/* import_table.c - `import table`: T5's biases, which an arm takes as the table of `pe t5`.
 *
 * The decoder's table counts distances as a causal model does. The encoder's table has half of its buckets
 * for keys after the query. An arm with causal=off takes it as it is. A causal arm never reads the later
 * half, so it takes the rows of the earlier half, which are those of `pe t5` with half of the buckets. */
#include <stdio.h>

#include "foreign/foreign.h"
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/settings/settings.h"

/* Compares the table with the arm. *buckets: how many of its rows the arm takes. */
static enum pw_code check_table(const struct pw_replica *arm, const struct pw_t5_table *t, const char *path,
                                int *buckets, struct pw_err *err)
{
    *buckets = t->encoder && arm->cfg.causal ? t->buckets / 2 : t->buckets;
    if (t->heads != arm->cfg.heads)
        return pw_fail(err, PW_EUSER, "%.200s: the table has %d heads, arm %d has %d", path, t->heads,
                       arm->id, arm->cfg.heads);
    if (t->encoder && t->buckets % 2 != 0)
        return pw_fail(err, PW_EUSER, "%.200s: %d buckets; an encoder's table has an even number", path,
                       t->buckets);
    if (!t->encoder && !arm->cfg.causal)
        return pw_fail(
            err, PW_EUSER,
            "%.200s: a decoder's table has no buckets for keys after the query, which arm %d reads "
            "(causal=off); import stack=encoder",
            path, arm->id);
    return PW_OK;
}

/* Builds the arm's replicas with the table: all, or none. */
static enum pw_code build_with(struct pw_lab *lab, const struct pw_replica *arm, const struct pw_t5_table *t,
                               int buckets, struct pw_replica *fresh, int *n, struct pw_err *err)
{
    char pe[64];
    snprintf(pe, sizeof pe, "t5 buckets=%d distance=%d", buckets, t->distance);
    enum pw_code code = pw_lab_copy_all(lab, fresh, n, arm, pe, true, err);
    if (code != PW_OK)
        return code;
    for (int i = 0; i < *n && code == PW_OK; i++) {
        code = pw_model_put_encoding(fresh[i].model, t->values, err);
        if (fresh[i].altered == PW_ALTERED_NOT)
            fresh[i].altered = PW_ALTERED_TABLE;
    }
    for (int i = 0; i < *n && code != PW_OK; i++)
        pw_model_destroy(fresh[i].model);
    return code;
}

static void note_table(struct pw_lab *lab, const struct pw_replica *arm, const struct pw_t5_table *t,
                       const char *path, int buckets)
{
    struct pw_str pe = {0};
    pw_pe_print(&arm->pe, &pe);
    pw_lab_note(lab, "arm %d: %s with the biases of the %s in %s (layer %d, %d heads)%s", arm->id, pe.s,
                t->encoder ? "encoder" : "decoder", path, t->layer, t->heads,
                buckets < t->buckets ? "; the arm is causal, so the half for later keys is left out" : "");
    pw_str_fini(&pe);
}

enum pw_code pw_lab_import_table(struct pw_lab *lab, struct pw_replica *arm, const char *path,
                                 enum pw_t5_stack stack, int layer, struct pw_err *err)
{
    struct pw_replica fresh[PW_MAX_PLACES];
    struct pw_t5_table t;
    int n, buckets;
    enum pw_code code = pw_t5_table_read(&t, path, stack == PW_T5_ENCODER, layer, err);
    if (code == PW_OK)
        code = check_table(arm, &t, path, &buckets, err);
    if (code == PW_OK)
        code = build_with(lab, arm, &t, buckets, fresh, &n, err);
    if (code == PW_OK) {
        pw_lab_put(lab, fresh, n);
        pw_lab_emit_arm(lab, arm, false);
        pw_lab_changed(lab, &(struct pw_notice){.what = PW_CHANGE_MODELS, .arm = arm->id});
        note_table(lab, arm, &t, path, buckets);
    }
    pw_t5_table_fini(&t);
    return code;
}
