/* attention_heads.c - all heads as small maps, a row per layer. */
#include "figure/panes/attention.h"
#include <math.h>

#define GAP   5.0  /* points between two heads */
#define BAR   60.0 /* width of the bar beside them, in points */
#define NAMED 36.0 /* minimum width of a map, in points, for a score beside its name */
/* Limits that keep a figure's file small. All heads together have ALL_VALUES values. Each layer costs
 * LAYER_COSTS of these, because it is an image; each head with a frame and a name costs NAME_COSTS. Above
 * MANY heads a value is a small block of pixels. Above EACH_NAMED heads there are no names. */
#define ALL_VALUES  38000
#define LAYER_COSTS 400
#define NAME_COSTS  100
#define MANY        8
#define EACH_NAMED  144

/* Returns the side of one head's map in points. */
static double small_of(const struct pw_figure *f)
{
    double side = (f->box.w - BAR) / pw_figure_attention_of(f)->heads - GAP;

    return side < 110 ? side : 110;
}

/* Returns true if there is room for a frame and a name per head. */
static bool has_names(const struct pw_ev_attention *a, double side)
{
    return side >= 14 && a->layers * a->heads <= EACH_NAMED;
}

/* The heads of a layer as one matrix with gaps. One image per head would consist mostly of headers. */
struct row {
    const struct pw_ev_attention *a;
    int layer, pool, n, gap; /* pool: values per pixel; n: pixels of a head; gap: pixels between two heads */
};

static float row_value(const void *arg, int row, int col)
{
    const struct row *r = arg;
    int head = col / (r->n + r->gap), at = col % (r->n + r->gap), left = at * r->pool, top = row * r->pool;
    float best = -INFINITY;

    for (int q = top; at < r->n && q < top + r->pool && q < r->a->T; q++)
        for (int k = left; k < left + r->pool && k < r->a->T; k++)
            if (!pw_att_hidden(r->a, q, k))
                best = fmaxf(best, pw_att_prob_of(r->a, r->layer, head, q, k));
    return best;
}

static struct row row_of(const struct pw_ev_attention *a, double side)
{
    int heads = a->layers * a->heads, names = has_names(a, side) ? NAME_COSTS * heads : 0,
        most = (int)sqrt(fmax(ALL_VALUES - LAYER_COSTS * a->layers - names, 0) / heads);
    struct row r = {.a = a};

    most = most < 2 ? 2 : most > 96 ? 96 : most;
    r.pool = (a->T + most - 1) / most;
    r.n = (a->T + r.pool - 1) / r.pool;
    r.gap = (int)ceil(r.n * GAP / side);
    return r;
}

/* Returns the score to print beside names: the first share that is defined for these tokens; -1: none. */
static int score_of(const struct pw_ev_attention *a)
{
    for (int i = 0; i < pw_att_n_scores(a); i++) {
        int k = pw_att_score_at(a, i);
        for (int h = 0; h < a->layers * a->heads && a->kinds[k].unit[0] == '\0'; h++)
            if (isfinite(pw_att_score(a, h / a->heads, h % a->heads, k)))
                return k;
    }
    return -1;
}

enum pw_code pw_figure_heads_prepare(struct pw_figure *f, struct pw_err *err)
{
    enum pw_code code = pw_figure_attention_check(f, err);

    if (code != PW_OK)
        return code;
    const struct pw_ev_attention *a = pw_figure_attention_of(f);
    double side = small_of(f);
    if (side < 8)
        return pw_fail(err, PW_EUSER, "export figure: width=%d is too small for %d heads side by side",
                       f->o->width, a->heads);
    pw_str_add(&f->title, "Attention of all heads");
    bool named = has_names(a, side);
    pw_str_add(&f->caption, "Layers down, heads across%s. ", named ? ", named by layer and head" : "");
    pw_figure_caption_attention(f, side >= NAMED && named);
    int k = score_of(a);
    if (k >= 0 && side >= NAMED && named) {
        pw_str_add(&f->caption, " Beside a name: %s", a->kinds[k].name);
        if (!isnan(a->kinds[k].chance))
            pw_str_add(&f->caption, " (chance %.0f%%)", 100 * (double)a->kinds[k].chance);
        pw_str_add(&f->caption, ".");
    }
    if (row_of(a, side).pool > 1)
        pw_str_add(&f->caption, " Each cell is the largest of %d by %d values.", row_of(a, side).pool,
                   row_of(a, side).pool);
    f->box.h = a->layers * (side + 16);
    f->least = 40 * a->layers;
    return PW_OK;
}

void pw_figure_heads_draw(struct pw_figure *f)
{
    const struct pw_ev_attention *a = pw_figure_attention_of(f);
    static const struct pw_font name = {.size = 7.5, .color = PW_INK};
    double side = fmin(small_of(f), f->box.h / a->layers - 16);
    int k = score_of(a);
    struct row r = row_of(a, side);
    struct pw_map m = {.data = {.rows = r.n,
                                .cols = a->heads * (r.n + r.gap) - r.gap,
                                .value = row_value,
                                .arg = &r,
                                .hi = 1},
                       .map = (enum pw_colormap)f->o->map};
    double cell = fmin(side / r.n, (f->box.w - BAR) / m.data.cols), pitch = cell * (r.n + r.gap);

    side = cell * r.n;
    bool named = has_names(a, side);
    m.block = a->layers * a->heads > MANY ? 4 : 0;
    for (r.layer = 0; r.layer < a->layers; r.layer++) {
        double y = f->box.y + r.layer * (f->box.h / a->layers) + 10;
        pw_map_draw(&m, &f->svg, (struct pw_box){f->box.x, y, cell * m.data.cols, side});
        for (int h = 0; h < a->heads && named; h++) {
            struct pw_box b = {f->box.x + h * pitch, y, side, side};
            float score = pw_att_score(a, r.layer, h, k);
            pw_svg_frame(&f->svg, b, (struct pw_pen){.color = 0x808080, .width = 0.4});
            if (side >= NAMED)
                pw_figure_attention_gold(f, a, b, 3);
            if (side >= NAMED && !isnan(score))
                pw_svg_fmt(&f->svg, b.x, y - 2.5, &name, PW_HEAD " %.0f%%", r.layer, h, 100 * (double)score);
            else
                pw_svg_fmt(&f->svg, b.x, y - 2.5, &name, PW_HEAD, r.layer, h);
        }
    }
    pw_map_bar(&m, &f->svg,
               (struct pw_box){f->box.x + f->box.w - BAR + 10, f->box.y + 10, 8, fmin(110, f->box.h - 16)},
               false, "probability");
}
