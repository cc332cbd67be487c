/* rows.c - the probe rows: the rows that encodings add to sequences of two lengths, as heat maps (Qiu et al.
 * 2021, Figures 2 and 6: SPE and DPE at lengths 10 and 20).
 *
 * Rows are positions, with the first on top; columns are dimensions. Each encoding has two such maps and a
 * third one that marks the entries that both lengths share. +1: the entry at the same position from the front
 * is equal. -1: the entry at the same position from the end is equal. 0: neither. The paper doesn't state the
 * width of its embeddings. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "probe/own.h"

enum { MOST = 4, LONGEST = 512 };

#define EQUAL 1e-6 /* tolerance; sines are in single precision */

struct options {
    char pes[128];
    int length, other, width;
};

static const struct pw_opt opts[] = {
    {.name = "pes",
     .type = PW_OPT_TEXT,
     .offset = offsetof(struct options, pes),
     .def = "sinusoidal,dpe",
     .size = sizeof((struct options *)0)->pes,
     .help = "up to four added encodings, separated by commas"},
    {"length", PW_OPT_INT, offsetof(struct options, length), "10", 1, LONGEST, NULL, 0,
     "positions in the first map"},
    {"other", PW_OPT_INT, offsetof(struct options, other), "20", 1, LONGEST, NULL, 0,
     "positions in the second map"},
    {"width", PW_OPT_INT, offsetof(struct options, width), "64", 4, 4096, NULL, 0, "width of the embedding"},
    {0},
};

struct state {
    int n;
    char name[MOST][32];
    struct pw_pe_tables at[MOST][2];
};

static enum pw_code begin_rows(struct pw_probing_at *p, struct pw_err *err)
{
    const struct options *o = p->opts;
    struct state *s = p->state = pw_alloc(1, sizeof *s);
    char list[sizeof o->pes], *save = NULL;
    memcpy(list, o->pes, sizeof list);
    for (char *w = strtok_r(list, ",", &save); w != NULL; w = strtok_r(NULL, ",", &save)) {
        const struct pw_pe *pe = pw_pe_find(w);
        struct pw_pe_use_opts use;
        if (pe == NULL) /* pw_pe_parse writes its usual error message */
            return pw_pe_parse(&use, w, &(struct pw_config){.width = o->width}, err);
        if ((pe->uses & PW_PE_ADDED) == 0)
            return pw_fail(err, PW_EUSER, "probe rows: pes=%s: this encoding adds no rows to the embeddings",
                           w);
        if (s->n == MOST)
            return pw_fail(err, PW_EUSER, "probe rows: pes=%s: at most %d encodings are allowed", o->pes,
                           MOST);
        pw_text_copy(s->name[s->n++], sizeof s->name[0], pe->name);
    }
    if (s->n == 0)
        return pw_fail(err, PW_EUSER, "probe rows: pes=%s: name one to %d encodings", o->pes, MOST);
    p->units = s->n;
    return PW_OK;
}

static enum pw_code unit(struct pw_probing_at *p, int i, struct pw_err *err)
{
    const struct options *o = p->opts;
    struct state *s = p->state;
    int longest = o->length > o->other ? o->length : o->other;
    struct pw_config cfg = pw_own_config(1, o->width, 1, 0, longest > 2 ? longest : 2, 4, true);
    struct pw_pe_use_opts use;
    struct pw_model *m = NULL;
    enum pw_code code = pw_own_named(&m, p->in, &cfg, s->name[i], &use, err);
    if (code == PW_OK)
        code = pw_model_tables(m, o->length, &s->at[i][0], err);
    if (code == PW_OK)
        code = pw_model_tables(m, o->other, &s->at[i][1], err);
    pw_model_destroy(m);
    return code;
}

/* Returns true if entry c of the row at position pos of length l is equal in the other length's table. The
 * position is counted from the front or from the end. */
static bool shares(const struct state *s, int i, int l, int other, int width, int pos, int c, bool from_end)
{
    int there = from_end ? other - l + pos : pos;
    return there >= 0 && there < other &&
           fabs((double)s->at[i][0].added[pos * width + c] - (double)s->at[i][1].added[there * width + c]) <=
               EQUAL;
}

static void draw_map(struct pw_finding *f, const struct state *s, int i, int which, int l, int width)
{
    char title[PW_FINDING_TEXT];
    const float *added = s->at[i][which].added;
    float most = 1;
    for (int k = 0; k < l * width; k++)
        most = fabsf(added[k]) > most ? fabsf(added[k]) : most;
    snprintf(title, sizeof title, "%s, length %d: position by dimension", s->name[i], l);
    int map = pw_finding_map(f, title, l, width, -most, most, false);
    for (int pos = 0; pos < l; pos++)
        for (int c = 0; c < width; c++)
            pw_finding_put(f, map, pos, c, (double)added[pos * width + c]);
}

/* The number of columns that both lengths share in the first row from the front (or in the last row from the
 * end). */
static int count(const struct state *s, int i, const struct options *o, bool from_end)
{
    int n = 0, pos = from_end ? o->length - 1 : 0;
    for (int c = 0; c < o->width; c++)
        n += shares(s, i, o->length, o->other, o->width, pos, c, from_end);
    return n;
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct state *s = p->state;
    char topic[PW_FINDING_TOPIC];
    (void)err;
    snprintf(topic, sizeof topic, "%d %d", o->length, o->other);
    pw_finding_init(f, "rows", topic, "rows that %.80s add to sequences of %d and %d positions, width %d",
                    o->pes, o->length, o->other, o->width);
    for (int i = 0; i < s->n; i++) {
        char title[PW_FINDING_TEXT];
        draw_map(f, s, i, 0, o->length, o->width);
        draw_map(f, s, i, 1, o->other, o->width);
        snprintf(title, sizeof title,
                 "%s, length %d: +1: equal to length %d from the front, -1: from the end", s->name[i],
                 o->length, o->other);
        int map = pw_finding_map(f, title, o->length, o->width, -1, 1, false);
        for (int pos = 0; pos < o->length; pos++)
            for (int c = 0; c < o->width; c++)
                pw_finding_put(f, map, pos, c,
                               shares(s, i, o->length, o->other, o->width, pos, c, false)  ? 1
                               : shares(s, i, o->length, o->other, o->width, pos, c, true) ? -1
                                                                                           : 0);
        int front = count(s, i, o, false), back = count(s, i, o, true);
        if (strcmp(s->name[i], "sinusoidal") == 0)
            pw_finding_claim(
                f, front == o->width && back < o->width / 2 ? PW_CLAIM_REPRODUCED : PW_CLAIM_CONTRADICTED,
                "Qiu et al. 2021, appendix G: the first rows of SPE are equal at all lengths, the last rows "
                "aren't",
                "the first row shares %d of %d columns with the other length, the last row %d", front,
                o->width, back);
        if (strcmp(s->name[i], "dpe") == 0)
            pw_finding_claim(f,
                             front >= o->width / 2 && back >= o->width / 2 ? PW_CLAIM_REPRODUCED
                                                                           : PW_CLAIM_CONTRADICTED,
                             "Qiu et al. 2021, appendix G: two lengths share half of the columns of DPE from "
                             "the front, and half from the end",
                             "the first row shares %d of %d columns with the other length, the last row %d",
                             front, o->width, back);
    }
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    struct state *s = p->state;
    for (int i = 0; i < s->n; i++)
        for (int k = 0; k < 2; k++)
            pw_pe_tables_free(&s->at[i][k]);
    free(s);
}

const struct pw_probe pw_probe_rows = {
    .name = "rows",
    .summary = "rows that encodings add to sequences of two lengths, as heat maps",
    .source = "Qiu et al. 2021, Figures 2 and 6",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .begin = begin_rows,
    .unit = unit,
    .end = end,
    .fini = fini,
};
