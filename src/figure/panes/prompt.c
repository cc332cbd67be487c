/* prompt.c - the pinned prompt and the model's answer: one box per token, with its probability as a bar. */
#include "figure/figure_int.h"
#include <math.h>
#include <stdio.h>

#define ROW   44.0 /* of the answer: gold token, decoded token, probability */
#define GIVEN 16.0
#define LEFT  34.0

static const struct pw_font label = {.size = 8, .color = PW_INK, .mono = true, .anchor = PW_MIDDLE};
static const struct pw_font name = {.size = 7.5, .color = 0x5a5a5a};

static double width_at(const struct pw_snapshot *s, int pos)
{
    const struct pw_ev_token *t = pw_token_at(s, pos);
    double w = pos < s->prompt.n_prompt ? pw_svg_width(&label, pw_label(s->prompt.labels[pos]))
                                        : pw_svg_width(&label, pw_answer_wanted(s, pos));

    w = t != NULL ? fmax(w, pw_svg_width(&label, pw_label(t->label))) : w;
    return fmax(w, 12) + 6;
}

static void draw_given(struct pw_figure *f, double x, double y, int pos)
{
    const struct pw_ev_prompt *p = &f->snap->prompt;
    double w = width_at(f->snap, pos) - 3;

    pw_svg_rect(&f->svg, (struct pw_box){x, y, w, 12},
                p->edited != NULL && p->edited[pos] ? 0xf6e3a8 : 0xeceff3, 1);
    pw_svg_text(&f->svg, x + w / 2, y + 9, &label, pw_label(p->labels[pos]));
}

static void draw_token(struct pw_figure *f, double x, double y, int pos)
{
    const struct pw_snapshot *s = f->snap;
    const struct pw_ev_token *t = pw_token_at(s, pos);
    double w = width_at(s, pos) - 3;
    struct pw_font want = label, number = {.size = 6, .color = 0x5a5a5a, .anchor = PW_MIDDLE};

    want.color = 0x5a5a5a;
    pw_svg_text(&f->svg, x + w / 2, y + 8, &want, pw_answer_wanted(s, pos));
    if (t == NULL)
        return;
    bool known = s->prompt.has_answer;
    pw_svg_rect(&f->svg, (struct pw_box){x, y + 11, w, 12},
                t->edited  ? 0xf6e3a8
                : !known   ? 0xeceff3
                : t->right ? 0xcdeede
                           : 0xf8d0c0,
                1);
    pw_svg_text(&f->svg, x + w / 2, y + 20, &label, pw_label(t->label));
    pw_svg_rect(&f->svg, (struct pw_box){x, y + 25, w, 3}, PW_GRID, 1);
    pw_svg_rect(&f->svg, (struct pw_box){x, y + 25, w * fmin(1, fmax(0, (double)t->prob)), 3},
                pw_svg_arm(s->prompt_arm), 1);
    pw_svg_fmt(&f->svg, x + w / 2, y + 35, &number, "%.0f", 100 * (double)t->prob);
}

/* Draws tokens from..end in rows that wrap, and returns the height. Only measures if drawn is false. */
static double flow(struct pw_figure *f, double y, int from, int end, bool given, bool drawn)
{
    double x = f->box.x + LEFT, row = given ? GIVEN : ROW, top = y;

    for (int pos = from; pos < end; pos++) {
        double w = width_at(f->snap, pos);
        if (x + w > f->box.x + f->box.w && x > f->box.x + LEFT)
            x = f->box.x + LEFT, y += row;
        if (drawn && given)
            draw_given(f, x, y, pos);
        else if (drawn)
            draw_token(f, x, y, pos);
        x += w;
    }
    return y + row - top;
}

static enum pw_code prepare(struct pw_figure *f, struct pw_err *err)
{
    const struct pw_snapshot *s = f->snap;
    const struct pw_ev_prompt *p = &s->prompt;
    const struct pw_arm_view *arm = pw_find_arm(s, s->prompt_arm);
    const struct pw_ev_token *last = s->n_tokens > 0 ? &s->tokens[s->n_tokens - 1] : NULL;
    int wrong = 0;

    if (!s->has_prompt || p->labels == NULL)
        return pw_figure_no_prompt(f, err, "no prompt", " first");
    for (int i = 0; i < s->n_tokens; i++)
        wrong += !s->tokens[i].right;
    f->asks = pw_figure_prompts;
    pw_str_add(&f->title, "An answer, token by token");
    if (arm != NULL) {
        pw_str_add(&f->title, ": ");
        pw_figure_arm(f, arm, &f->title);
        pw_replica_text(arm, s->prompt_replica, &f->title);
        pw_str_add(&f->title, ", step %lld", (long long)s->prompt_step);
    }
    pw_str_add(&f->caption,
               "Greedy decoding unless a temperature is set; bars and numbers: the token's probability in "
               "per cent. ");
    if (!p->has_answer)
        pw_str_add(&f->caption, "No right answer is known for this prompt.");
    else if (last == NULL || !last->last)
        pw_str_add(&f->caption, "The answer is not complete.");
    else if (last->exact && wrong > 0)
        pw_str_add(&f->caption, "The answer is right, but %d of its %d tokens differ from the expected one.",
                   wrong, s->n_tokens);
    else if (last->exact)
        pw_str_add(&f->caption, "Exact match.");
    else if (wrong == 0)
        pw_str_add(&f->caption, "Every token is right, but the answer does not end.");
    else
        pw_str_add(
            &f->caption,
            "%d of %d tokens are wrong; after the first wrong one the model continues from its own tokens.",
            wrong, s->n_tokens);
    f->box.h =
        flow(f, 0, 0, p->n_prompt, true, false) + 6 + flow(f, 0, p->n_prompt, pw_answer_end(s), false, false);
    f->least = f->box.h;
    return PW_OK;
}

static void draw_prompt(struct pw_figure *f)
{
    const struct pw_ev_prompt *p = &f->snap->prompt;
    double y = f->box.y + flow(f, f->box.y, 0, p->n_prompt, true, true) + 6;

    pw_svg_text(&f->svg, f->box.x, f->box.y + 9, &name, "given");
    if (p->has_answer)
        pw_svg_text(&f->svg, f->box.x, y + 8, &name, "right");
    pw_svg_text(&f->svg, f->box.x, y + 20, &name, "model");
    pw_svg_text(&f->svg, f->box.x, y + 33, &name, "p, %");
    flow(f, y, p->n_prompt, pw_answer_end(f->snap), false, true);
}

static const struct pw_figure_page pages[] = {{"answer", 0, prepare, draw_prompt, NULL},
                                              {NULL, 0, NULL, NULL, NULL}};

const struct pw_figure_pane pw_figure_prompt = {.name = "prompt", .pages = pages};
