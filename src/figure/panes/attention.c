/* attention.c - attention on the pinned prompt or of a file: one head, with its tokens along both sides.
 *
 * Hidden pairs (the causal mask) stay white. Diamonds mark the task's gold pointers. Maps are the recorded
 * ones, in 16 bits; `export attention` recomputes them. */
#include "figure/panes/attention.h"
#include <math.h>
#include <stdio.h>

#define MOST_SIDE   340.0 /* points of a map */
#define MOST_VALUES 160   /* rows of an image; larger maps are pooled */

/* ---- one head */

const struct pw_ev_attention *pw_figure_attention_of(const struct pw_figure *f)
{
    return f->kind == PW_ATT_ARM ? &f->snap->attention : &f->snap->foreign;
}

static float value(const void *arg, int q, int k)
{
    const struct pw_figure_head *h = arg;

    if (pw_att_hidden(h->a, q, k))
        return -INFINITY;
    return h->map != NULL ? pw_from_half(h->map[(size_t)q * h->a->T + k])
                          : pw_att_prob_of(h->a, h->layer, h->head, q, k);
}

/* Returns the requested head. The selected head has the view on the screen, other heads have probabilities. A
 * file has no selection: its page determines probabilities or scores. */
static struct pw_figure_head head_of(const struct pw_figure *f)
{
    const struct pw_ev_attention *a = pw_figure_attention_of(f);
    bool arm = f->kind == PW_ATT_ARM;
    struct pw_figure_head h = {a, f->o->layer, f->o->head, PW_VIEW_PROBS, NULL};

    h.layer = h.layer >= 0 ? h.layer : arm ? a->layer : 0;
    h.head = h.head >= 0 ? h.head : arm ? a->head : 0;
    if (arm && h.layer == a->layer && h.head == a->head)
        h.map = pw_att_matrix(a, a->view);
    if (h.map != NULL)
        h.view = a->view;
    if (f->kind == PW_ATT_FILE_SCORES) {
        h.view = PW_VIEW_SCORE;
        h.map = a->all_scores + ((size_t)h.layer * a->heads + h.head) * a->T * a->T;
    }
    return h;
}

struct pw_map pw_figure_head_map(const struct pw_figure *f, const struct pw_figure_head *h)
{
    struct pw_map m = {.data = {.rows = h->a->T,
                                .cols = h->a->T,
                                .value = value,
                                .arg = h,
                                .hi = 1,
                                .is_signed = h->view != PW_VIEW_PROBS},
                       .map = (enum pw_colormap)f->o->map,
                       .most = MOST_VALUES};

    if (!m.data.is_signed)
        return m;
    m.data.hi = 1e-6f;
    for (int q = 0; q < m.data.rows; q++)
        for (int k = 0; k < m.data.cols; k++) {
            float v = value(h, q, k);
            m.data.hi = isfinite(v) && fabsf(v) > m.data.hi ? fabsf(v) : m.data.hi;
        }
    return m;
}

enum pw_code pw_figure_attention_check(struct pw_figure *f, struct pw_err *err)
{
    const struct pw_ev_attention *a = pw_figure_attention_of(f);

    if (f->kind == PW_ATT_ARM && !pw_att_usable(f->snap))
        return pw_figure_no_prompt(f, err, "no prompt's attention", " first");
    if (f->kind != PW_ATT_ARM && !f->snap->has_foreign)
        return pw_figure_nothing(err, "no attention of a file; run 'import attention F.npz' first");
    if (f->kind == PW_ATT_FILE_SCORES && a->all_scores == NULL)
        return pw_figure_nothing(err, "the file has no scores");
    if (f->o->layer >= a->layers || f->o->head >= a->heads)
        return pw_fail(err, PW_EUSER, "export figure: there are layers 0 to %d and heads 0 to %d",
                       a->layers - 1, a->heads - 1);
    f->asks = f->kind == PW_ATT_ARM ? pw_figure_prompts : NULL;
    return PW_OK;
}

void pw_figure_caption_attention(struct pw_figure *f, bool gold)
{
    const struct pw_ev_attention *a = pw_figure_attention_of(f);
    const struct pw_arm_view *arm = pw_find_arm(f->snap, f->snap->attention_arm);

    if (f->kind != PW_ATT_ARM) {
        pw_str_add(&f->caption, "Of an imported model, from the file %s, %d tokens", a->source, a->T);
    } else {
        if (arm != NULL) {
            pw_str_add(&f->caption, "Arm ");
            pw_figure_arm(f, arm, &f->caption);
            pw_replica_text(arm, f->snap->attention_replica, &f->caption);
            pw_str_add(&f->caption, " at step %lld, ", (long long)f->snap->attention_step);
        }
        pw_str_add(&f->caption, "prompt \"%s\"", f->snap->prompt.text);
    }
    pw_str_add(&f->caption, ". Rows: queries; columns: keys%s.", a->sees_all ? "" : "; white: hidden");
    if (pw_att_pool(a) > 1)
        pw_str_add(&f->caption, " Other heads than " PW_HEAD ": the largest of %d x %d pairs.", a->layer,
                   a->head, a->pool, a->pool);
    if (gold && a->n_gold > 0 && a->gold != NULL)
        pw_str_add(&f->caption, " Diamonds: where a correct head would look.");
}

static double longest_label(const struct pw_ev_attention *a, const struct pw_font *f)
{
    double most = 0;

    for (int t = 0; t < a->T; t++) {
        double w = pw_svg_width(f, pw_att_label(a, t));
        most = w > most ? w : most;
    }
    return most < 60 ? most : 60;
}

static struct pw_font label_font(const struct pw_ev_attention *a, double side)
{
    double size = side / a->T * 0.85;

    return (struct pw_font){.size = size < 4.5 ? 4.5
                                    : size > 8 ? 8
                                               : (double)(int)(size * 2) / 2,
                            .color = PW_INK};
}

/* Space at the right of the map for the colour bar and the head's scores. */
#define BESIDE 128.0

double pw_figure_head_side(const struct pw_ev_attention *a, double width, double *label)
{
    double side = width;

    for (int i = 0; i < 2; i++) { /* the font size depends on the side, and the side on the labels */
        struct pw_font font = label_font(a, side);
        *label = longest_label(a, &font) + 5;
        side = fmin(width - *label, MOST_SIDE);
    }
    return side;
}

double pw_figure_head_above(const struct pw_ev_attention *a, double side, double label)
{
    struct pw_font font = label_font(a, side);

    return label - 5 <= side / a->T * 0.95 ? font.size + 5 : label;
}

static enum pw_code prepare(struct pw_figure *f, struct pw_err *err)
{
    if (f->n_lines > 0)
        return pw_figure_maps_prepare(f, err);

    double label;
    enum pw_code code = pw_figure_attention_check(f, err);

    if (code != PW_OK)
        return code;
    struct pw_figure_head h = head_of(f);
    struct pw_map m = pw_figure_head_map(f, &h);
    pw_str_add(&f->title, "Attention of head " PW_HEAD ": %s", h.layer, h.head,
               pw_att_view_name(h.a, h.view));
    pw_figure_caption_attention(f, true);
    if (h.a->n_prompt > 0 && h.a->n_prompt < h.a->T)
        pw_str_add(&f->caption, " Dotted: where the answer begins.");
    if (pw_map_pool(&m) > 1)
        pw_str_add(&f->caption, " Each cell is the largest of %d by %d values.", pw_map_pool(&m),
                   pw_map_pool(&m));
    pw_str_add(&f->caption, " Values as recorded, in 16 bits.");
    double side = pw_figure_head_side(h.a, f->box.w - BESIDE, &label);
    f->box.h = side + pw_figure_head_above(h.a, side, label) + 8;
    f->least = 150;
    return PW_OK;
}

static void draw_labels(struct pw_figure *f, const struct pw_ev_attention *a, struct pw_box b)
{
    struct pw_font font = label_font(a, b.h), up = font;
    double cell = b.w / a->T, down = b.h / a->T;
    int every = (int)ceil(font.size / (cell < down ? cell : down) * 0.98);

    up.turned = true;
    for (int t = 0; t<a->T; t += every> 0 ? every : 1) {
        const char *text = pw_att_label(a, t);
        double w = pw_svg_width(&font, text);
        struct pw_font row = font, above = w > cell * 0.95 ? up : font;
        row.anchor = PW_END;
        row.color = above.color = t >= a->n_prompt && a->n_prompt > 0 ? 0x0072b2 : PW_INK;
        pw_svg_cut(&f->svg, b.x - 3, b.y + (t + 0.5) * down + font.size * 0.35, &row, text, 60);
        if (!above.turned)
            above.anchor = PW_MIDDLE;
        pw_svg_cut(&f->svg, b.x + (t + 0.5) * cell + (above.turned ? font.size * 0.35 : 0), b.y - 3, &above,
                   text, 60);
    }
}

void pw_figure_attention_gold(struct pw_figure *f, const struct pw_ev_attention *a, struct pw_box b,
                              double most)
{
    double w = b.w / a->T, h = b.h / a->T, r = fmin(fmin(w, h) * 0.35, most);

    for (int i = 0; a->gold != NULL && i < a->n_gold; i++) {
        struct pw_path p;
        double x = b.x + (a->gold[i].key + 0.5) * w, y = b.y + (a->gold[i].query + 0.5) * h;
        if (a->gold[i].key >= a->T || a->gold[i].query >= a->T || a->gold[i].key < 0 || a->gold[i].query < 0)
            continue;
        pw_path_begin(&p, &f->svg, (struct pw_pen){.color = 0xff40ff, .width = r > 2 ? 1 : 0.7});
        pw_path_to(&p, x, y - r);
        pw_path_to(&p, x + r, y);
        pw_path_to(&p, x, y + r);
        pw_path_to(&p, x - r, y);
        pw_path_to(&p, x, y - r);
        pw_path_end(&p);
    }
}

/* Draws the head's scores, each next to its chance level. */
static void draw_scores(struct pw_figure *f, const struct pw_figure_head *h, double x, double y)
{
    static const struct pw_font font = {.size = 7.5, .color = PW_INK}, dim = {.size = 7, .color = 0x5a5a5a};

    for (int i = 0; i < pw_att_n_scores(h->a) && y + 10 < f->box.y + f->box.h; i++) {
        int k = pw_att_score_at(h->a, i);
        const struct pw_score_kind *kind = &h->a->kinds[k];
        float v = pw_att_score(h->a, h->layer, h->head, k);
        bool share = kind->unit[0] == '\0';
        if (isnan(v))
            continue;
        pw_svg_fmt(&f->svg, x, y, &font, share ? "%s %.0f%%" : "%s %.2f %s", kind->name,
                   (double)v * (share ? 100 : 1), kind->unit);
        if (!isnan(kind->chance))
            pw_svg_fmt(&f->svg, x, y += 8.5, &dim, share ? "chance %.0f%%" : "chance %.2f",
                       (double)kind->chance * (share ? 100 : 1));
        y += 11.5;
    }
}

void pw_figure_head_draw(struct pw_figure *f, const struct pw_figure_head *h, const struct pw_map *m,
                         struct pw_box b)
{
    const struct pw_ev_attention *a = h->a;

    pw_map_draw(m, &f->svg, b);
    pw_svg_frame(&f->svg, b, (struct pw_pen){.color = 0x808080, .width = 0.5});
    draw_labels(f, a, b);
    if (a->n_prompt > 0 && a->n_prompt < a->T) {
        double at = b.w * a->n_prompt / a->T;
        struct pw_pen pen = {.color = 0x404040, .width = 0.7, .dash = "1 2"};
        pw_svg_line(&f->svg, b.x, b.y + at, b.x + b.w, b.y + at, pen);
        pw_svg_line(&f->svg, b.x + at, b.y, b.x + at, b.y + b.h, pen);
    }
    pw_figure_attention_gold(f, a, b, 4);
}

static void draw_attention(struct pw_figure *f)
{
    if (f->n_lines > 0) {
        pw_figure_maps_draw(f);
        return;
    }

    struct pw_figure_head h = head_of(f);
    struct pw_map m = pw_figure_head_map(f, &h);
    double label, side = pw_figure_head_side(h.a, f->box.w - BESIDE, &label),
                  head = pw_figure_head_above(h.a, side, label);

    side = fmin(side, f->box.h - head - 8);
    struct pw_box b = {f->box.x + label, f->box.y + head, side, side};
    pw_figure_head_draw(f, &h, &m, b);
    double bar = fmin(110, side);
    pw_map_bar(&m, &f->svg, (struct pw_box){b.x + side + 10, b.y, 8, bar}, false,
               pw_att_view_name(h.a, h.view));
    draw_scores(f, &h, b.x + side + 10, b.y + bar + 20);
}

static const struct pw_figure_page pages[] = {
    {"map", PW_ATT_ARM, prepare, draw_attention, &pw_figure_maps},
    {"heads", PW_ATT_ARM, pw_figure_heads_prepare, pw_figure_heads_draw, NULL},
    {"file", PW_ATT_FILE, prepare, draw_attention, NULL},
    {"file_heads", PW_ATT_FILE, pw_figure_heads_prepare, pw_figure_heads_draw, NULL},
    {"file_scores", PW_ATT_FILE_SCORES, prepare, draw_attention, NULL},
    {NULL, 0, NULL, NULL, NULL},
};

const struct pw_figure_pane pw_figure_attention = {.name = "attention", .pages = pages};
