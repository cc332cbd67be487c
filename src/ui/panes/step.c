/* step.c - one step of decoding under the magnifier: what the model thought of saying next.
 *
 * The cursor goes through the decoded tokens; each keeps its most probable candidates. */
#include <string.h>

#include "ui/plot.h"

/* The decoded token that is looked at: the cursor's, or with follow the newest. */
static const struct pw_ev_token *looked_at(struct pw_ui *ui)
{
    const struct pw_snapshot *s = ui->snap;

    if (ui->step.follow || ui->step.token >= s->n_tokens)
        ui->step.token = s->n_tokens - 1;
    if (ui->step.token < 0)
        ui->step.token = 0;
    return &s->tokens[ui->step.token].t;
}

static void draw_candidates(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                            const struct pw_ev_token *t)
{
    int label_w = 1, n = t->n_top < PW_TOP ? t->n_top : PW_TOP;

    for (int i = 0; i < n; i++) {
        int w = pw_text_cells(pw_label(t->top_label[i]));
        label_w = w > label_w ? w : label_w;
    }
    label_w = label_w < 10 ? label_w : 10;
    struct pw_style bar = pw_style_arm(ui, ui->snap->prompt_arm);
    for (int i = 0; i < n; i++) {
        int y = r.y + i, x = r.x + 2;
        bool chosen = strcmp(t->top_label[i], t->label) == 0;
        pw_draw_text(c, r, y, r.x, chosen ? pw_style_bold() : pw_style_dim(), chosen ? "▸" : " ");
        pw_draw_cut(c, r, y, x, chosen ? pw_style_bold() : pw_style_plain(), pw_label(t->top_label[i]),
                    label_w);
        x += label_w + 1;
        pw_draw_fmt(c, r, y, x, pw_style_plain(), "%.3f", (double)t->top_prob[i]);
        x += 6;
        int w = r.x + r.w - x < 40 ? r.x + r.w - x : 40;
        pw_draw_bar(c, r, y, x, bar, w, (double)t->top_prob[i]);
    }
}

static void invite(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    char example[128];
    const char *lines[] = {"nothing decoded yet", pw_prompt_example(&ui->snap->lab, example, sizeof example),
                           "then . and , go through its tokens", NULL};
    pw_draw_invitation(c, r, lines);
}

static void draw(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    if (ui->patch.shown && ui->snap->has_patch) {
        pw_step_patch_draw(ui, c, r);
        return;
    }
    if (!ui->snap->has_prompt || ui->snap->n_tokens == 0) {
        invite(ui, c, r);
        return;
    }
    const struct pw_ev_token *t = looked_at(ui);
    struct pw_rect table = {r.y + 2, r.x, r.h - 2, r.w};

    pw_draw_fmt(c, r, r.y, r.x, pw_style_dim(), "entropy %.2f bits", (double)t->entropy);
    if (table.h > 0)
        draw_candidates(ui, c, table, t);
}

static void status(const struct pw_ui *ui, struct pw_str *out)
{
    const struct pw_snapshot *s = ui->snap;

    if (ui->patch.shown && s->has_patch)
        pw_str_add(out, "patched %s  %s step %lld", s->patch.kind == PW_PATCH_RESID ? "stream" : "heads",
                   pw_arm_mark(ui, s->patch_arm), (long long)s->patch_step);
    else if (s->has_prompt && s->n_tokens > 0)
        pw_str_add(out, "token %d of %d",
                   (ui->step.follow || ui->step.token >= s->n_tokens ? s->n_tokens : ui->step.token + 1),
                   s->n_tokens);
}

static void move(struct pw_ui *ui, int by)
{
    looked_at(ui);
    ui->step.token += by;
    ui->step.follow = ui->step.token >= ui->snap->n_tokens - 1;
}

static bool key(struct pw_ui *ui, int k, struct pw_str *line)
{
    (void)line;
    if (k == 'P' && ui->snap->has_patch) {
        ui->patch.shown = !ui->patch.shown;
        return true;
    }
    if (ui->patch.shown && ui->snap->has_patch)
        return pw_step_patch_key(ui, k);
    if (ui->snap->n_tokens == 0)
        return false;
    switch (k) {
    case '.':
    case 'l':
    case PW_KEY_RIGHT: move(ui, 1); return true;
    case ',':
    case 'h':
    case PW_KEY_LEFT: move(ui, -1); return true;
    case 'g':
    case PW_KEY_HOME: move(ui, -ui->snap->n_tokens); return true;
    case 'G':
    case PW_KEY_END: move(ui, ui->snap->n_tokens); return true;
    default: return false;
    }
}

static const char *const keys[] = {
    ". ,", "next and previous token of the answer", "g G", "first and last token",
    "P",   "what 'patch' brought back, and back",   NULL};

const struct pw_pane pw_pane_step = {"step", "Step", ". next  , back", status, draw, key, keys};
