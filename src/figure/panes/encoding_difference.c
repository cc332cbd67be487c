/* encoding_difference.c - the difference between the scores by distance of two encodings. */
#include "figure/panes/encoding.h"
#include <math.h>

#define KEYS 16.0 /* points of the legend */

static const struct pw_arm_view *other_of(const struct pw_figure *f)
{
    return pw_find_arm(f->snap, f->o->reference);
}

static enum pw_code check(const struct pw_figure *f, struct pw_err *err)
{
    const struct pw_arm_view *other = other_of(f);

    if (pw_figure_table(f) == NULL)
        return pw_figure_nothing(err, "the encoding's table is missing; run 'table' first");
    if (other == NULL)
        return pw_figure_nothing(err, "no arm to compare the encoding with; reference=K names one");
    if (other == f->arm)
        return pw_fail(err, PW_EUSER, "export figure: reference=%d is the arm itself; arm=K chooses another",
                       f->o->reference);
    if (pw_table_drawn(f->snap, other->info.id) == NULL)
        return pw_figure_nothing(err, "the other encoding's table is missing; run 'table arm=K' first");
    return PW_OK;
}

/* Call only after check has passed. */
static void find(const struct pw_figure *f, struct pw_enc_pair *p)
{
    pw_enc_pair_init(p, pw_figure_table(f), pw_table_of(f->snap, f->o->reference));
}

static void print_encoding_difference(struct pw_figure *f, const struct pw_enc_pair *p)
{
    const char *what = p->kernels ? "kernel" : "mean score";
    struct pw_str own = {0}, first = {0}, second = {0};
    struct pw_str a = {0}, b = {0};

    pw_replica_text(f->arm, f->arm->table_replica, &first);
    pw_replica_text(other_of(f), other_of(f)->table_replica, &second);
    pw_str_add(&f->title, "%s by distance: ", p->kernels ? "Kernel" : "Mean score");
    pw_figure_arm(f, f->arm, &f->title);
    pw_str_add(&f->title, " minus ");
    pw_figure_arm(f, other_of(f), &f->title);
    pw_str_add(
        &f->caption,
        "The %s of %s%s at step %lld, layer %d, minus that of %s%s at step %lld, layer %d; for each head "
        "relative to its value at distance 0. Below, head by head: solid the first, dashed the second.",
        what, pw_encoding_text(&a, p->a->pe), pw_str_text(&first), (long long)f->arm->table_step, p->a->layer,
        pw_encoding_text(&b, p->b->pe), pw_str_text(&second), (long long)other_of(f)->table_step,
        p->b->layer);
    pw_str_fini(&a);
    pw_str_fini(&b);
    pw_str_fini(&first);
    pw_str_fini(&second);
    if (p->a->trained > 0)
        pw_str_add(&f->caption, " The first has seen distances up to %d%s in training.", p->a->trained,
                   p->a->trained + 1 < p->length ? " (dotted line)" : "");
    pw_enc_pair_parameters(p, &own);
    pw_str_add(&f->caption, " %c%s.", own.s[0] - 'a' + 'A', own.s + 1);
    pw_str_fini(&own);
}

enum pw_code pw_figure_difference_prepare(struct pw_figure *f, struct pw_err *err)
{
    struct pw_enc_pair p;
    enum pw_code code = check(f, err);

    if (code != PW_OK)
        return code;
    find(f, &p);
    if (p.minus != NULL) {
        f->asks = pw_figure_tables;
        print_encoding_difference(f, &p);
        double plots = pw_figure_apart_height(&p.common, 84), map = pw_figure_strips_height(&p.common);
        f->box.h = map + KEYS + plots;
        f->least = map + KEYS + fmin(plots, pw_figure_apart_height(&p.common, 60));
    } else {
        code = pw_figure_nothing(
            err, "the score by distance was not measured in both arms; run 'table arm=K' first");
    }
    pw_enc_pair_fini(&p);
    return code;
}

void pw_figure_difference_draw(struct pw_figure *f)
{
    const struct pw_arm_view *other = other_of(f);
    struct pw_enc_pair p;

    find(f, &p);
    struct pw_box b = pw_figure_strips(f, &p.common, p.minus, "difference");
    struct pw_figure_line first = pw_figure_line_of(f, f->arm), second = pw_figure_line_of(f, other);
    double w = pw_figure_key(f, b.x + 40, b.y + 6, &first, "");
    pw_figure_key(f, b.x + 40 + w + 20, b.y + 6, &second, " (dashed)");
    b.y += KEYS, b.h -= KEYS;
    pw_figure_apart(f, &p.common, p.from, p.to,
                    (struct pw_pen){.color = pw_svg_arm(other->info.id), .width = 1.2, .dash = "3 2"}, b);
    pw_enc_pair_fini(&p);
}
