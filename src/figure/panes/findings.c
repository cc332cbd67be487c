/* findings.c - the finding of a probe or a study: one block, or all blocks in one column. The caption lists
 * the claims with their verdicts, and the remarks. */
#include "figure/panes/findings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TITLE_H 13.0 /* height of a block's title */
#define BETWEEN 8.0
#define LEAST   0.4 /* least height of plots and maps, as a fraction of their preferred height */

static const char *const asks[] = {"probe", "judge", "prompt", "sample", NULL};

static bool is_drawn(const struct pw_block *b)
{
    return b->rows > 0 && b->cols > 0;
}

/* Returns true if block i is number `page` (from 1) of the blocks with contents, or page is 0. */
static bool is_on(const struct pw_finding *f, int i, int page)
{
    int n = 0;

    for (int k = 0; k <= i; k++)
        n += is_drawn(&f->blocks[k]);
    return is_drawn(&f->blocks[i]) && (page == 0 || page == n);
}

/* Writes the title, and the claims with their verdicts and numbers into the caption. */
static void print_findings(struct pw_figure *f, const struct pw_finding *v)
{
    pw_str_add(&f->title, "%s%s%s", v->name, v->topic[0] ? " " : "", v->topic);
    pw_str_add(&f->caption, "%s.", v->title);
    for (int i = 0; i < v->n_claims; i++)
        pw_str_add(&f->caption, " %s %s: %s (%s).", pw_verdict_views[v->claims[i].verdict].sign,
                   pw_claim_verdicts[v->claims[i].verdict], v->claims[i].claim, v->claims[i].found);
    for (int i = 0; i < v->n_remarks; i++) {
        const char *text = v->remarks[i].text;
        size_t n = strlen(text);
        pw_str_add(&f->caption, " %s%s", text, n > 0 && text[n - 1] == '.' ? "" : ".");
    }
}

static enum pw_code prepare(struct pw_figure *f, struct pw_err *err)
{
    const struct pw_finding_view *view;
    double fixed = 0, free_h = 0;
    int blocks = 0;
    enum pw_code code = pw_finding_need(f->snap, f->o->finding, "export figure", &view, err);

    if (code != PW_OK)
        return code;
    const struct pw_finding *v = &view->f;
    f->asks = asks;
    f->narrowest = 220;
    print_findings(f, v);
    for (int i = 0; i < v->n_blocks; i++) {
        const struct pw_block_of k = {v, &v->blocks[i]};
        blocks += is_drawn(k.b);
        if (!is_on(v, i, f->kind))
            continue;
        struct pw_block_height h = pw_figure_block_height(&k, f->box.w);
        fixed += h.fixed + TITLE_H + BETWEEN, free_h += h.free;
        if (k.b->kind == PW_BLOCK_TABLE && k.b->rows > PW_FINDING_ROWS)
            pw_str_add(&f->caption, " Of %d rows, the first %d are shown.", k.b->rows, PW_FINDING_ROWS);
    }
    if (f->kind > blocks)
        return pw_fail(err, PW_EUSER,
                       "export figure: nothing to draw yet: %s has %d block%s; page=%d or page=all",
                       pw_str_text(&f->title), blocks, blocks == 1 ? "" : "s", blocks > 0 ? blocks : 1);
    f->box.h = fixed + free_h;
    f->least = fixed + LEAST * free_h;
    return PW_OK;
}

static void draw_findings(struct pw_figure *f)
{
    static const struct pw_font name = {.size = 8.5, .color = PW_INK, .bold = true};
    const struct pw_finding *v = &pw_finding_named(f->snap, f->o->finding)->f; /* prepare checked it */
    struct pw_box b = f->box;
    double fixed = 0, free_h = 0;

    for (int i = 0; i < v->n_blocks; i++) {
        const struct pw_block_of k = {v, &v->blocks[i]};
        if (!is_on(v, i, f->kind))
            continue;
        struct pw_block_height h = pw_figure_block_height(&k, b.w);
        fixed += h.fixed + TITLE_H + BETWEEN, free_h += h.free;
    }
    double stretch = free_h > 0 ? (b.h - fixed) / free_h : 1;
    for (int i = 0; i < v->n_blocks; i++) {
        const struct pw_block_of k = {v, &v->blocks[i]};
        if (!is_on(v, i, f->kind))
            continue;
        struct pw_block_height h = pw_figure_block_height(&k, b.w);
        pw_svg_cut(&f->svg, b.x, b.y + 9, &name, k.b->title, b.w);
        b.y += TITLE_H, b.h = h.fixed + h.free * stretch;
        pw_figure_block(f, &k, b, stretch);
        b.y += b.h + BETWEEN;
    }
}

static const struct pw_figure_page pages[] = {
    {"all", 0, prepare, draw_findings, NULL},
    {"1", 1, prepare, draw_findings, NULL},
    {"2", 2, prepare, draw_findings, NULL},
    {"3", 3, prepare, draw_findings, NULL},
    {"4", 4, prepare, draw_findings, NULL},
    {"5", 5, prepare, draw_findings, NULL},
    {"6", 6, prepare, draw_findings, NULL},
    {"7", 7, prepare, draw_findings, NULL},
    {"8", 8, prepare, draw_findings, NULL},
    {"9", 9, prepare, draw_findings, NULL},
    {NULL, 0, NULL, NULL, NULL},
};

const struct pw_figure_pane pw_figure_findings = {.name = "findings", .pages = pages};
