/* why_learned.c - encodings that are learned elsewhere as candidates of the probe why: entries that were
 * never trained, learned values of another arm, and another arm's whole encoding.
 *
 * An entry that no training batch has read still has its initial value, which is noise to the rest of the
 * model. The intervention gives it the value of the nearest trained entry: distances, or positions, are
 * clamped to those that were seen. Encodings whose tables are computed from parameters have no such entries.
 *
 * The values of another arm fit only if both arms have the same encoding and shape, as for the command
 * transplant. They belong to a model with other weights. So they recover little unless one arm was forked
 * from the other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/untrained.h"
#include "probe/why.h"

struct pw_why_seen pw_why_unseen(const struct pw_model *m, int tokens)
{
    int context = pw_model_config(m)->context;
    int64_t *pairs = pw_alloc((size_t)context, sizeof *pairs),
            *rows = pw_alloc((size_t)context, sizeof *rows);
    struct pw_why_seen seen = {.steps = pw_model_seen(m, pairs, rows)};
    for (int i = 0; seen.steps > 0 && i < context; i++) {
        if (rows[i] > 0)
            seen.longest = i + 1;
        if (i < tokens && pairs[i] == 0 && seen.distances++ == 0)
            seen.first = i;
        seen.positions += i < tokens && rows[i] == 0;
    }
    free(pairs);
    free(rows);
    return seen;
}

/* ---- entries that were never trained */

static void add_clamped(struct pw_why_state *s, struct pw_model *m)
{
    int n;
    float *values = pw_model_clamp_untrained(m, &n);
    if (n > 0) {
        struct pw_why_candidate *x = pw_why_add(s, PW_WHY_VALUES, "learned values that were never trained");
        pw_text_copy(x->name, sizeof x->name, "untrained clamped");
        pw_text_copy(x->line, sizeof x->line, "fork choose=on; transplant nearest");
        x->values = values;
    } else {
        free(values);
    }
}

/* ---- another arm */

static bool same_shapes(const struct pw_model *a, const struct pw_model *b)
{
    int n, m;
    const struct pw_param *p = pw_model_pe_params(a, &n), *q = pw_model_pe_params(b, &m);
    bool same = n == m && n > 0 && pw_pe_alike(pw_model_pe(a)->pe, pw_model_pe(b)->pe);
    for (int i = 0; same && i < n; i++)
        same = p[i].rows == q[i].rows && p[i].cols == q[i].cols && p[i].layers == q[i].layers;
    return same;
}

/* Copies the learned values of an encoding; NULL if it has none. */
static float *values_of(struct pw_model *m)
{
    int n;
    const struct pw_param *p = pw_model_pe_params(m, &n);
    size_t size = 0;
    for (int i = 0; i < n; i++)
        size += pw_param_count(&p[i]);
    float *values = size > 0 ? pw_alloc(size, sizeof *values) : NULL;
    if (size > 0)
        pw_model_read(m, values, p->offset, size);
    return values;
}

static void add_values_of(struct pw_why_state *s, const struct pw_probe_subject *other)
{
    char text[64];
    struct pw_why_candidate *c =
        pw_why_add(s, PW_WHY_VALUES, "learned values of the encoding, by another arm");
    snprintf(text, sizeof text, "values of arm %d", other->arm);
    pw_text_copy(c->name, sizeof c->name, text);
    snprintf(c->line, sizeof c->line, "fork choose=on; transplant %d", other->arm);
    c->values = values_of(other->model);
}

/* Adds the encoding of another arm, with its learned values, if this model can have it. */
static void add_encoding_of(struct pw_why_state *s, const struct pw_model *m,
                            const struct pw_probe_subject *other)
{
    const struct pw_config *a = pw_model_config(m), *b = pw_model_config(other->model);
    const struct pw_pe_use_opts *theirs = pw_model_pe(other->model);
    struct pw_pe_use_opts use;
    struct pw_str text = {0};
    struct pw_err err;
    bool fits = a->layers == b->layers && a->heads == b->heads && a->width == b->width &&
                a->head_width == b->head_width && a->context == b->context;
    pw_pe_print(theirs, &text);
    if (fits && !pw_why_same_encoding(theirs, pw_model_pe(m)) &&
        pw_pe_parse(&use, pw_str_text(&text), a, &err) == PW_OK) {
        struct pw_why_candidate *c = pw_why_add(s, PW_WHY_SWAP, "encoding of another arm");
        char name[64], move[32] = "";
        snprintf(name, sizeof name, "encoding of arm %d", other->arm);
        pw_text_copy(c->name, sizeof c->name, name);
        c->use = use;
        c->values = values_of(other->model);
        if (c->values != NULL)
            snprintf(move, sizeof move, "; transplant %d", other->arm);
        if (strlen(pw_str_text(&text)) + 32 < sizeof c->line)
            snprintf(c->line, sizeof c->line, "fork %.110s choose=on%s", pw_str_text(&text), move);
    }
    pw_str_fini(&text);
}

void pw_why_add_learned(struct pw_why_state *s, const struct pw_probe_in *in)
{
    add_clamped(s, in->subject[0].model);
    for (int i = 0; i < in->n_others; i++)
        if (same_shapes(in->subject[0].model, in->other[i].model))
            add_values_of(s, &in->other[i]);
        else
            add_encoding_of(s, in->subject[0].model, &in->other[i]);
}
