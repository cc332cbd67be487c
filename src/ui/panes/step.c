/* step.c - one decoding step in detail: the candidates for the next token, the contribution of each part of
 * the model, and the prediction after each layer.
 *
 * The cursor is the lab's (next, back), because the lab computes the data of this step. The pane lists its
 * sections in a cycle from the selected page on. Sections that do not fit are left out; v moves the next
 * section to the top. */
#include <stdio.h>
#include <string.h>

#include "ui/panes/step_int.h"

#define COLUMN 46 /* preferred columns of a section if several are placed side by side */

const struct pw_step_section *const pw_step_sections[PW_STEP_PAGES] = {
    [PW_STEP_TOKENS] = &pw_step_tokens,
    [PW_STEP_PARTS] = &pw_step_parts,
    [PW_STEP_LENS] = &pw_step_lens,
    [PW_STEP_HEADS] = &pw_step_heads,
};

static int page_of(const struct pw_ui *ui)
{
    return (ui->step.page % PW_STEP_PAGES + PW_STEP_PAGES) % PW_STEP_PAGES;
}

int pw_step_row(const struct pw_ui *ui, int page, int n)
{
    return pw_within(ui->step.row[page], n);
}

int pw_step_first(int row, int n, int h)
{
    int first = row - h + 1 > 0 ? row - h + 1 : 0;

    return first > n - h && n > h ? n - h : first;
}

struct pw_style pw_step_mark(const struct pw_ui *ui, struct pw_style s, bool here)
{
    if (here && ui->focus == PW_PANE_STEP)
        s.attr |= PW_REVERSE;
    return s;
}

/* ---- drawing */

static const char nothing_decoded[] = "nothing decoded yet";

static void invite(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    char example[PW_LINE];
    const char *lines[] = {nothing_decoded, pw_prompt_example(&ui->snap->lab, example, sizeof example),
                           "then . and , go through its tokens", NULL};
    pw_draw_missing(ui, c, r, lines);
}

/* Draws the decoded token and the right one. */
static void draw_facts(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int y,
                       const struct pw_step_view *v)
{
    const struct pw_ev_token *t = v->t;
    const struct pw_ev_inspection *k = v->look;

    if (t == NULL) {
        pw_draw_text(c, r, y, r.x, pw_style_dim(), "decoding …");
        return;
    }
    struct pw_style ok = pw_style_ok(), bad = pw_style_bad();
    int x = pw_draw_fmt(c, r, y, r.x, pw_style_bold(), "%s %.3f", pw_label(t->label), (double)t->prob) + 2;
    if (t->target[0] == '\0' && ui->snap->prompt.has_answer) {
        x = pw_draw_text(c, r, y, x, bad, ui->look.utf8 ? "✗ right is the end" : "NO: right is the end") + 2;
    } else if (t->target[0] == '\0') {
        x = pw_draw_text(c, r, y, x, pw_style_dim(), "no right answer known") + 2;
    } else if (t->right) {
        x = pw_draw_text(c, r, y, x, ok, ui->look.utf8 ? "✓ right" : "ok: right") + 2;
    } else {
        x = pw_draw_fmt(c, r, y, x, bad, ui->look.utf8 ? "✗ right is %s" : "NO: right is %s",
                        pw_label(t->target));
        if (k != NULL && k->target >= 0)
            x = pw_draw_fmt(c, r, y, x, bad, ", rank %lld", pw_step_rank(k->token[k->target].rank));
        x += 2;
    }
    struct pw_str more = {0};
    int room = r.x + r.w - x;
    pw_str_add(&more, "entropy %.2f bits", (double)t->entropy);
    if (pw_text_cells(more.s) > room) {
        pw_str_clear(&more);
        pw_str_add(&more, "%.2f bits", (double)t->entropy);
    }
    bool fits = pw_text_cells(more.s) <= room; /* numbers are never cut */
    if (k != NULL && k->temperature != 1)
        pw_str_add(&more, "  temperature %g", (double)k->temperature);
    if (fits)
        pw_draw_parts(c, (struct pw_rect){y, x, 1, room}, 1, pw_style_dim(), &more);
    pw_str_fini(&more);
}

/* The places of the sections, from the selected page on. */
struct flow {
    int n; /* sections with a place */
    struct {
        int page, column, rows;
    } at[PW_STEP_PAGES];
};

/* Places as many sections as fit into columns of h rows, with their preferred or, if `least`, their smallest
 * useful heights. Returns true if all sections with contents have a place. */
static bool place(struct flow *f, const struct pw_ui *ui, const struct pw_step_view *v, int columns, int h,
                  bool least)
{
    int column = 0, left = h;

    f->n = 0;
    for (int i = 0; i < PW_STEP_PAGES; i++) {
        int page = (page_of(ui) + i) % PW_STEP_PAGES, rows = pw_step_sections[page]->rows(ui, v);
        int want = rows + pw_step_sections[page]->extra;
        if (rows == 0)
            continue;
        want = least && want > pw_step_sections[page]->least ? pw_step_sections[page]->least : want;
        if (left < h && left < want)
            column++, left = h;
        if (column == columns || (f->n > 0 && left < want && !least))
            return false;
        want = want < left ? want : left;
        f->at[f->n].page = page, f->at[f->n].column = column, f->at[f->n++].rows = want;
        left -= want + 1;
    }
    return true;
}

/* Gives the remaining rows of each column to its upper sections. */
static void widen(struct flow *f, const struct pw_ui *ui, const struct pw_step_view *v, int columns, int h)
{
    for (int column = 0; column < columns; column++) {
        int left = h + 1;
        for (int i = 0; i < f->n; i++)
            left -= f->at[i].column == column ? f->at[i].rows + 1 : 0;
        for (int i = 0; i < f->n && left > 0; i++) {
            const struct pw_step_section *s = pw_step_sections[f->at[i].page];
            int more = s->rows(ui, v) + s->extra - f->at[i].rows;
            if (f->at[i].column != column || more <= 0)
                continue;
            more = more < left ? more : left;
            f->at[i].rows += more;
            left -= more;
        }
    }
}

static void draw_sections(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r,
                          const struct pw_step_view *v)
{
    int columns = r.w / COLUMN < 1 ? 1 : r.w / COLUMN > 3 ? 3 : r.w / COLUMN;
    int w = (r.w - 2 * (columns - 1)) / columns, y = r.y;
    struct flow f;

    if (!place(&f, ui, v, columns, r.h, false)) {
        place(&f, ui, v, columns, r.h, true);
        widen(&f, ui, v, columns, r.h);
    }
    for (int i = 0; i < f.n; i++) {
        y = i > 0 && f.at[i].column > f.at[i - 1].column ? r.y : y;
        pw_step_sections[f.at[i].page]->draw(
            ui, c, (struct pw_rect){y, r.x + f.at[i].column * (w + 2), f.at[i].rows, w}, v);
        y += f.at[i].rows + 1;
    }
}

static void settle(struct pw_ui *ui, struct pw_rect r)
{
    (void)r;
    pw_step_patch_settle(ui);
}

static void draw_step(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    struct pw_step_view v;
    struct pw_rect all = r;

    if (pw_step_patch_shown(ui)) {
        pw_step_patch_draw(ui, c, r);
        return;
    }
    if (!pw_step_select(ui->snap, &v)) {
        invite(ui, c, r);
        return;
    }
    if (r.h >= 3) {
        int n = pw_step_sequence(ui, c, r, &v, r.h >= 9 ? 2 : 1);
        r.y += n, r.h -= n;
    }
    draw_facts(ui, c, r, r.y, &v);
    r.y += 1 + (r.h >= 16), r.h -= 1 + (r.h >= 16);
    const struct pw_step_section *s = pw_step_sections[page_of(ui)];
    if (v.look == NULL || r.h < 1)
        return;
    if (r.h >= 7 && s->rows(ui, &v) > 0) { /* the row at the cursor as text */
        struct pw_str words = {0};
        s->say(ui, &v, &words);
        r.h -= pw_draw_readout(c, all, &words);
        pw_str_fini(&words);
    }
    if (r.h >= 2)
        draw_sections(ui, c, r, &v);
}

static void tell_patched(const struct pw_ui *ui, struct pw_str *out)
{
    const struct pw_snapshot *s = ui->snap;
    const struct pw_arm_view *arm = pw_find_arm(s, s->patch_arm);

    pw_str_add(out, "patched %s  %s", s->patch.kind == PW_PATCH_RESID ? "stream" : "heads",
               pw_arm_mark(ui, s->patch_arm));
    if (arm != NULL)
        pw_replica_text(arm, s->patch_replica, out);
    pw_str_add(out, " step %lld", (long long)s->patch_step);
}

static void status(const struct pw_ui *ui, struct pw_str *out)
{
    const struct pw_snapshot *s = ui->snap;
    const struct pw_arm_view *arm = pw_find_arm(s, s->prompt_arm);
    struct pw_step_view v;

    if (pw_step_patch_shown(ui) && s->has_patch)
        tell_patched(ui, out);
    if (pw_step_patch_shown(ui) || !pw_step_select(s, &v))
        return;
    if (ui->time >= 0 && ui->time < s->prompt_step)
        pw_str_add(out, "live, not step %lld  ", (long long)ui->time); /* earlier weights are not kept */
    pw_str_add(out, "%s  token %d of %d", pw_step_sections[page_of(ui)]->name, v.pos - s->prompt.n_prompt + 1,
               s->n_tokens);
    if (arm != NULL) {
        pw_str_add(out, "  ");
        pw_arm_title(ui, arm, out);
        pw_replica_text(arm, s->prompt_replica, out);
    }
}

static void copy(const struct pw_ui *ui, struct pw_str *out)
{
    struct pw_step_view v;

    if (pw_step_patch_shown(ui))
        pw_step_patch_copy(ui, out);
    else if (pw_step_select(ui->snap, &v) && v.look != NULL)
        pw_step_sections[page_of(ui)]->copy(ui, &v, out);
}

/* ---- keys */

/* Moves by `by` tokens of the answer. */
static void go(struct pw_str *line, int by)
{
    if (by == 1 || by == -1)
        pw_str_add(line, "%s", by > 0 ? "next" : "back");
    else if (by != 0)
        pw_str_add(line, "%s %d", by > 0 ? "next" : "back", by > 0 ? by : -by);
}

/* Returns the position of the first wrong token, or of the last one. */
static int first_wrong(const struct pw_snapshot *s)
{
    for (int i = 0; i < s->n_tokens; i++)
        if (!s->tokens[i].right && s->tokens[i].target[0])
            return s->tokens[i].pos;
    return s->prompt.n_prompt + s->n_tokens - 1;
}

static void turn(struct pw_ui *ui, int by)
{
    ui->step.page = page_of(ui) + by + PW_STEP_PAGES;
    ui->step.page = page_of(ui);
    pw_step_patch_leave(ui);
}

static void move(struct pw_ui *ui, const struct pw_step_view *v, int by)
{
    int page = page_of(ui), n = v->look != NULL ? pw_step_sections[page]->rows(ui, v) : 0;

    ui->step.row[page] = pw_step_row(ui, page, n) + by;
    ui->step.row[page] = pw_step_row(ui, page, n);
}

static bool key(struct pw_ui *ui, int k, struct pw_str *line)
{
    const struct pw_snapshot *s = ui->snap;
    struct pw_step_view v;

    if (k == 'P') {
        if (pw_step_patch_shown(ui))
            pw_step_patch_leave(ui);
        else
            ui->step.patch.asked = true;
        return true;
    }
    if (pw_step_patch_shown(ui) && pw_step_patch_key(ui, k))
        return true;
    bool known = pw_step_select(s, &v);
    if (!known)
        return false;
    int newest = s->prompt.n_prompt + s->n_tokens - 1;
    bool ended = s->n_tokens > 0 && s->tokens[s->n_tokens - 1].ended;
    switch (k) {
    case 'l':
    case PW_KEY_RIGHT: go(line, 1); return true;
    case 'h':
    case PW_KEY_LEFT: go(line, -1); return true;
    case 'g':
    case PW_KEY_HOME: go(line, s->prompt.n_prompt - v.pos); return true;
    case 'G':
    case PW_KEY_END: go(line, newest - v.pos); return true;
    case 'a': go(line, ended ? newest - v.pos : 1000); return true;
    case 'w': go(line, first_wrong(s) - v.pos); return true;
    case 'j':
    case PW_KEY_DOWN: move(ui, &v, 1); return true;
    case 'k':
    case PW_KEY_UP: move(ui, &v, -1); return true;
    case PW_KEY_PAGE_DOWN: move(ui, &v, 10); return true;
    case PW_KEY_PAGE_UP: move(ui, &v, -10); return true;
    case 'v': turn(ui, 1); return true;
    case 'V': turn(ui, -1); return true;
    case 'r': ui->step.mean = !ui->step.mean; return true;
    case 't': ui->step.chosen = (ui->step.chosen + 1) % PW_STEP_CHOICES; return true;
    case 'o': ui->step.order = !ui->step.order; return true;
    case 'e': snprintf(ui->ask, sizeof ui->ask, "edit %d ", v.pos); return true;
    case 'T': snprintf(ui->ask, sizeof ui->ask, "set temperature "); return true;
    case '\n': pw_str_add(line, "prompt \"%s\"", s->prompt.text); return true;
    default: return false;
    }
}

/* Moves the cursor to the clicked token of the answer. */
static bool click(struct pw_ui *ui, int y, int x, struct pw_rect inside, struct pw_str *line)
{
    struct pw_step_view v;

    if (pw_step_patch_shown(ui))
        return pw_step_patch_click(ui, y, x, inside);
    if (y != inside.y || inside.h < 3 || !pw_step_select(ui->snap, &v))
        return false;
    int pos = pw_step_hit(ui, &v, inside, x);
    if (pos >= ui->snap->prompt.n_prompt && line != NULL)
        go(line, pos - v.pos);
    return true;
}

static const char *const keys[] = {
    ". ,   l h", "next and previous token of the answer; at its end, decoding continues",
    "g G",       "first and last token",
    "w",         "the first wrong token",
    "a",         "decode to the end",
    "v V",       "next and previous page: next token, contributions, lens, attention",
    "j k",       "row; its values are shown at the bottom",
    "t",         "whose logit is decomposed: the chosen token, the right one, the row of the table",
    "r",         "against the runner-up, or the mean over the vocabulary",
    "o",         "contributions by size, or in the stream's order",
    "e",         "edit: put another token here, and decode from it",
    "T",         "temperature of decoding",
    "P",         "results of activation patching, and back",
    "Enter",     "the same prompt again, without edits",
    NULL};

static const char *page(const struct pw_ui *ui)
{
    return pw_step_patch_shown(ui) ? "patch" : "all";
}

const struct pw_pane pw_pane_step = {
    .name = "step",
    .title = "Step",
    .hints = ". next  , back  v page  jk row  e edit  t chosen  r against",
    .status = status,
    .draw = draw_step,
    .settle = settle,
    .key = key,
    .keys = keys,
    .shows = PW_SHOWS_ANSWER,
    .click = click,
    .copy = copy,
    .page = page,
    .words = pw_step_words,
};
