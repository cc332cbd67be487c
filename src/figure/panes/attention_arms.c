/* attention_arms.c - one head of several arms: same prompt, layer, head and scale; one map per arm.
 *
 * The snapshot has the complete attention of one arm only. For every arm it keeps probabilities during
 * training (sessions/kept.c). The last ones of these are drawn, so the maps of all arms are of the same kind.
 * The arms' answers differ, so each map has its own tokens along its sides. */
#include "figure/panes/attention.h"
#include <math.h>

#define BAR   64.0  /* points of the colour bar next to the maps */
#define EACH  128.0 /* least width of a map, in points, before the maps wrap into another row */
#define NAME  13.0
#define BELOW 8.0

/* Returns the last attention with the arm's current encoding and the current pinned prompt; NULL: none. */
static const struct pw_ev_attention *last_of(const struct pw_figure_line *l, int64_t *step)
{
    const struct pw_kept *k = &l->arm->kept;
    const struct pw_ev_attention *a = pw_kept_attention(l->snap, l->arm->info.id, INT64_MAX, step);
    bool now = a != NULL && k->map[k->n - 1].seq >= l->arm->pe_seq && l->snap->has_prompt &&
               a->prompt == l->snap->prompt.id;

    return now && a->T > 0 && a->labels != NULL ? a : NULL;
}

static bool has_map(const struct pw_figure *f, const struct pw_figure_line *l)
{
    int64_t step;

    (void)f;
    return last_of(l, &step) != NULL;
}

const struct pw_figure_several pw_figure_maps = {
    .if_asked = true,
    .has = has_map,
    .lacks = "no attention on a pinned prompt (more than 4 MB is not kept)"};

/* Returns the requested head, or else the selected one. */
static struct pw_figure_head head_of(const struct pw_figure *f, int i)
{
    const struct pw_ev_attention *at = f->snap->has_attention ? &f->snap->attention : NULL;
    struct pw_figure_head h = {.view = PW_VIEW_PROBS};
    int64_t step;

    h.a = last_of(&f->line[i], &step);
    h.layer = f->o->layer >= 0 ? f->o->layer : at != NULL ? at->layer : h.a->layer;
    h.head = f->o->head >= 0 ? f->o->head : at != NULL ? at->head : h.a->head;
    return h;
}

/* Returns the number of maps per row, with rows as equal as possible, and in *width the space of one map with
 * labels. */
static int across_of(const struct pw_figure *f, double *width)
{
    int most = (int)((f->box.w - BAR) / EACH), n = f->n_lines;

    most = most < 1 ? 1 : most > n ? n : most;
    int rows = (n + most - 1) / most, across = (n + rows - 1) / rows;
    *width = (f->box.w - BAR) / across - 8;
    return across;
}

/* Returns the smallest side that fits every map; all maps use it. */
static double side_of(const struct pw_figure *f, double width, double *label, double *above)
{
    double side = INFINITY;

    *label = *above = 0;
    for (int i = 0; i < f->n_lines; i++) {
        double its;
        side = fmin(side, pw_figure_head_side(head_of(f, i).a, width, &its));
        *label = fmax(*label, its);
    }
    for (int i = 0; i < f->n_lines; i++)
        *above = fmax(*above, pw_figure_head_above(head_of(f, i).a, side, *label));
    return side;
}

static void print_attention_arms(struct pw_figure *f)
{
    struct pw_figure_head h = head_of(f, 0);
    int64_t step[PW_FIGURE_LINES];
    bool gold = false, answers = false;
    int pool = 1;

    for (int i = 0; i < f->n_lines; i++) {
        const struct pw_ev_attention *a = last_of(&f->line[i], &step[i]);
        struct pw_figure_head its = head_of(f, i);
        struct pw_map m = pw_figure_head_map(f, &its);
        gold |= a->n_gold > 0 && a->gold != NULL;
        answers |= a->n_prompt > 0 && a->n_prompt < a->T;
        pool = pw_map_pool(&m) > pool ? pw_map_pool(&m) : pool;
    }
    pw_str_add(&f->title, "Attention of head " PW_HEAD ": probabilities", h.layer, h.head);
    pw_str_add(&f->caption, "Prompt \"%s\"; arm%s ", f->snap->prompt.text, f->n_lines > 1 ? "s" : "");
    pw_figure_caption_lines(f, step);
    pw_str_add(&f->caption, ". Rows: queries; columns: keys%s. All maps have the same scale.",
               h.a->sees_all ? "" : "; white: hidden");
    if (gold)
        pw_str_add(&f->caption, " Diamonds: where a correct head would look.");
    if (answers)
        pw_str_add(&f->caption, " Dotted: where the answer begins, each arm's own.");
    if (pool > 1)
        pw_str_add(&f->caption, " Each cell is the largest of %d by %d values.", pool, pool);
    pw_str_add(&f->caption, " Values as recorded, in 16 bits.");
    pw_figure_caption_left(f);
}

enum pw_code pw_figure_maps_prepare(struct pw_figure *f, struct pw_err *err)
{
    double width, label, above;

    for (int i = 0; i < f->n_lines; i++) {
        struct pw_figure_head h = head_of(f, i);
        if (h.layer >= h.a->layers || h.head >= h.a->heads)
            return pw_fail(err, PW_EUSER,
                           "export figure: arm %d has layers 0 to %d and heads 0 to %d, and no " PW_HEAD,
                           f->line[i].arm->info.id, h.a->layers - 1, h.a->heads - 1, h.layer, h.head);
    }
    f->asks = pw_figure_prompts;
    int across = across_of(f, &width), rows = (f->n_lines + across - 1) / across;
    double side = side_of(f, width, &label, &above);
    print_attention_arms(f);
    f->box.h = rows * (NAME + above + side + BELOW);
    f->least = rows * 80;
    return PW_OK;
}

void pw_figure_maps_draw(struct pw_figure *f)
{
    double width, label, above;
    int across = across_of(f, &width), rows = (f->n_lines + across - 1) / across;
    double side = side_of(f, width, &label, &above), h = f->box.h / rows;
    struct pw_map m = {0};

    side = fmin(side, h - NAME - above - BELOW);
    for (int i = 0; i < f->n_lines; i++) {
        struct pw_figure_head head = head_of(f, i);
        struct pw_box b = {f->box.x + (i % across) * (width + 8) + label,
                           f->box.y + (i / across) * h + NAME + above, side, side};
        struct pw_str name = {0};
        static const struct pw_font font = {.size = 8, .color = PW_INK};
        m = pw_figure_head_map(f, &head);
        pw_figure_name(f, &f->line[i], &name);
        pw_svg_mark(&f->svg, f->line[i].place, b.x + 3, b.y - above - 5.2, 2.4);
        pw_svg_cut(&f->svg, b.x + 9, b.y - above - 2.5, &font, name.s, width - label - 9);
        pw_str_fini(&name);
        pw_figure_head_draw(f, &head, &m, b);
    }
    double x = f->box.x + (across - 1) * (width + 8) + label + side + 10;
    pw_map_bar(&m, &f->svg, (struct pw_box){x, f->box.y + NAME + above, 8, fmin(110, side)}, false,
               "probability");
}
