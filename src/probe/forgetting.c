/* forgetting.c - see forgetting.h */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "probe/forgetting.h"

/* Does the encoding forget? */
static bool forgets(const struct pw_forgetting *k)
{
    return k->read.terms != NULL || k->read.walk != NULL;
}

void pw_forgetting_init(struct pw_forgetting *k, const struct pw_model *m, int T, int reach)
{
    const struct pw_config *c = pw_model_config(m);
    const struct pw_pe_use_opts *pe = pw_model_pe(m);
    size_t rows = (size_t)c->layers * T;

    *k = (struct pw_forgetting){
        .T = T, .reach = reach, .layers = c->layers, .heads = c->heads, .width = c->head_width};
    if (pe->pe->uses & PW_PE_TERMS)
        k->read.terms = pw_alloc(rows * c->heads, sizeof *k->read.terms);
    else if (pe->pe->uses & PW_PE_WALK && pe->pe->walk(pe->o.bytes, c).kind == PW_WALK_SCALE)
        k->read.walk = pw_alloc(rows * pw_model_walk_columns(m), sizeof *k->read.walk);
    for (int i = 0; i < PW_FORGETTING_SIDES && forgets(k); i++)
        k->share[i] = pw_alloc((size_t)c->layers * c->heads * (reach + 1), sizeof *k->share[i]);
}

void pw_forgetting_fini(struct pw_forgetting *k)
{
    free(k->read.terms);
    free(k->read.walk);
    for (int i = 0; i < PW_FORGETTING_SIDES; i++)
        free(k->share[i]);
    *k = (struct pw_forgetting){0};
}

/* Adds the shares of query t. term [T,heads] begins at the head's column. */
static void add_terms(double *share, const struct pw_forgetting *k, const float *term, int t, double weight)
{
    for (int r = 0; r <= k->reach; r++)
        share[r] +=
            weight * pw_exp((double)term[(size_t)t * k->heads] - (double)term[(size_t)(t - r) * k->heads]);
}

/* The same from gates [T,heads,width]: the gate of token t - r doesn't act on token t - r itself. */
static void add_walk(double *share, const struct pw_forgetting *k, const float *gate, int t, double weight)
{
    size_t row = (size_t)k->heads * k->width;

    for (int c = 0; c < k->width; c++) {
        double left = weight / k->width;
        for (int r = 0; r <= k->reach; r++) {
            share[r] += left;
            left *= (double)gate[(size_t)(t - r) * row + c];
        }
    }
}

void pw_forgetting_add(struct pw_forgetting *k, int side, double weight)
{
    for (int n = 0; n < k->layers * k->heads && forgets(k); n++) {
        double *share = k->share[side] + (size_t)n * (k->reach + 1);
        size_t rows = (size_t)(n / k->heads) * k->T * k->heads;
        int head = n % k->heads;
        for (int t = k->reach + 1; t < k->T; t++)
            if (k->read.terms != NULL)
                add_terms(share, k, k->read.terms + rows + head, t, weight);
            else
                add_walk(share, k, k->read.walk + (rows + head) * k->width, t, weight);
    }
}

void pw_forgetting_report(const struct pw_forgetting *k, struct pw_finding *f, const char *encoding)
{
    int H = k->heads, n = k->reach + 1;

    for (int l = 0; l < k->layers && forgets(k); l++) {
        char title[96];
        snprintf(title, sizeof title, "layer %d: share of a token that forgetting keeps, by distance", l);
        int b = pw_finding_plot(f, title, "distance r", "share", n, H + 1, false);
        for (int h = 0; h < H; h++)
            pw_finding_name(f, b, h, "head %d", h);
        pw_finding_name(f, b, H, "untrained, mean");
        for (int r = 0; r < n; r++) {
            double mean = 0;
            pw_finding_x(f, b, r, r);
            for (int h = 0; h < H; h++) {
                size_t at = (size_t)(l * H + h) * n + r;
                pw_finding_y(f, b, r, h, k->share[PW_FORGETTING_ARM][at]);
                mean += k->share[PW_FORGETTING_UNTRAINED][at] / H;
            }
            pw_finding_y(f, b, r, H, mean);
        }
    }
    if (forgets(k))
        pw_finding_remark(f,
                          "%s forgets by the tokens between key and query, not by their distance: its curve "
                          "is the mean over random tokens%s",
                          encoding, k->read.walk != NULL ? " and the channels of the head" : "");
}
