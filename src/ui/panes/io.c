/* io.c - the pinned prompt and the model's answer, token by token below the right answer. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "ui/plot.h"

#define HEAD 6  /* columns for the row names */
#define MORE 10 /* columns of "N more …" */

/* Returns the position of the step inspector; -1: the newest, which has no mark. */
static int cursor(const struct pw_snapshot *s)
{
    return s->has_cursor && !s->cursor.newest ? s->cursor.at.pos : -1;
}

/* Returns the columns of one position: the wider of its two labels, at least the three of a probability, and
 * a blank. */
static int width_at(const struct pw_snapshot *s, int pos)
{
    const struct pw_ev_token *t = pw_token_at(s, pos);
    int w = 3, a = pw_text_cells(pw_answer_wanted(s, pos)),
        b = t != NULL ? pw_text_cells(pw_label(t->label)) + t->edited : 0;

    w = a > w ? a : w;
    return (b > w ? b : w) + 1;
}

/* Wraps the prompt's tokens over rows. Returns the row after them. */
static int draw_prompt(const struct pw_snapshot *s, struct pw_canvas *c, struct pw_rect r, int y,
                       int max_rows)
{
    int x = r.x + HEAD, last = y + max_rows - 1;

    pw_draw_text(c, r, y, r.x, pw_style_dim(), "given");
    for (int i = 0; i < s->prompt.n_prompt; i++) {
        const char *label = pw_label(s->prompt.labels[i]);
        int w = pw_text_cells(label);
        if (x + w > r.x + r.w && x > r.x + HEAD) {
            if (y == last) {
                pw_draw_text(c, r, y, r.x + r.w - 1, pw_style_dim(), "…");
                break;
            }
            x = r.x + HEAD, y++;
        }
        x = pw_draw_text(c, r, y, x, pw_style_bold(), label);
        if (s->prompt.edited != NULL && s->prompt.edited[i])
            x = pw_draw_text(c, r, y, x, pw_style_warn(), "*");
        x++;
    }
    return y + 1;
}

/* Describes the answer. Returns 1 if it is right, -1 if wrong, 0 if unknown or unfinished. */
static int verdict(const struct pw_snapshot *s, struct pw_str *out)
{
    const struct pw_ev_token *last = s->n_tokens ? &s->tokens[s->n_tokens - 1] : NULL;
    int wrong = 0;

    for (int i = 0; i < s->n_tokens; i++)
        wrong += !s->tokens[i].right;
    if (last == NULL || !last->last)
        pw_str_add(out, "decoding …");
    else if (!s->prompt.has_answer)
        pw_str_add(out, "no right answer is known for this prompt");
    else if (last->exact && wrong > 0) /* the other tokens are in a scratchpad */
        pw_str_add(out, "right answer, %d of %d tokens differ", wrong, s->n_tokens);
    else if (last->exact)
        pw_str_add(out, "exact match");
    else if (wrong == 0)
        pw_str_add(out, "not ended");
    else
        pw_str_add(out, "%d of %d wrong", wrong, s->n_tokens);
    return last == NULL || !last->last || !s->prompt.has_answer ? 0 : last->exact ? 1 : -1;
}

static void draw_verdict(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int y)
{
    static const char *const signs[2][3] = {{"NO: ", "", "ok: "}, {"✗ ", "", "✓ "}};
    struct pw_str text = {0};
    int right = verdict(ui->snap, &text);
    struct pw_style s = right > 0 ? pw_style_ok() : right < 0 ? pw_style_bad() : pw_style_dim();

    int x = pw_draw_text(c, r, y, r.x + HEAD, s, signs[ui->look.utf8][right + 1]);
    pw_draw_cut(c, r, y, x, s, text.s, r.x + r.w - x);
    pw_str_fini(&text);
}

/* Returns the first position that does not fit into a band of w columns from position `from` on. */
static int band_end(const struct pw_snapshot *s, int from, int end, int w)
{
    int pos = from;

    for (int x = HEAD; pos < end && (pos == from || x + width_at(s, pos) - 1 <= w); pos++)
        x += width_at(s, pos);
    return pos;
}

/* Draws one band of the answer: right answer, decoded tokens, marks, probabilities. Returns the first
 * position that does not fit. */
static int draw_band(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int y, int from, int end,
                     int rows)
{
    const struct pw_snapshot *s = ui->snap;
    int x = r.x + HEAD, row = y, pos = from;

    end = band_end(s, from, end, r.w);
    int want_y = s->prompt.has_answer ? row++ : -1, got_y = row++;
    int mark_y = s->prompt.has_answer && row - y < rows ? row++ : -1, prob_y = row - y < rows ? row : -1;

    if (want_y >= 0)
        pw_draw_text(c, r, want_y, r.x, pw_style_dim(), "right");
    pw_draw_text(c, r, got_y, r.x, pw_style_dim(), "model");
    if (prob_y >= 0)
        pw_draw_text(c, r, prob_y, r.x, pw_style_dim(), "p %");
    for (; pos < end; pos++) {
        const struct pw_ev_token *t = pw_token_at(s, pos);
        int w = width_at(s, pos);
        if (want_y >= 0)
            pw_draw_cut(c, r, want_y, x, pw_style_dim(), pw_answer_wanted(s, pos), w - 1);
        if (t != NULL) {
            struct pw_style plain = pw_style_bold();
            struct pw_style st = !s->prompt.has_answer ? plain : t->right ? pw_style_ok() : pw_style_bad();
            struct pw_style label = st;
            label.attr |= pos == cursor(s) ? PW_REVERSE : 0;
            int after = pw_draw_cut(c, r, got_y, x, label, pw_label(t->label), w - 1);
            if (t->edited)
                pw_draw_text(c, r, got_y, after, pw_style_warn(), "*");
            if (mark_y >= 0)
                pw_draw_text(c, r, mark_y, x, st,
                             ui->look.utf8 ? (t->right ? "✓" : "✗") : (t->right ? "ok" : "NO"));
            if (prob_y >= 0)
                pw_draw_fmt(c, r, prob_y, x, pw_style_dim(), "%.0f", (double)t->prob * 100);
        }
        x += w;
    }
    return pos;
}

static void invite(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    char example[PW_LINE];
    const char *lines[] = {"no prompt yet", pw_prompt_example(&ui->snap->lab, example, sizeof example),
                           "the answer appears token by token", NULL};
    pw_draw_missing(ui, c, r, lines);
}

/* The place of the answer: bands below each other, of which the first `most` can be at the top. */
struct bands {
    int y, rows, shown, most;
};

/* Draws the prompt and returns the place of the answer below it. */
static struct bands lay_out(const struct pw_snapshot *s, struct pw_canvas *c, struct pw_rect r)
{
    int y = draw_prompt(s, c, r, r.y, r.h >= 12 ? 3 : r.h >= 8 ? 2 : 1), end = pw_answer_end(s);
    int left = r.y + r.h - y, n = 0;
    int want = s->prompt.has_answer ? 4 : 2; /* rows of a band */
    struct bands b = {.y = y + (left > want + 1), .rows = left > want ? want : left - 1};

    b.shown = b.rows > 0 ? (r.y + r.h - 1 - b.y) / b.rows : 0;
    for (int at = s->prompt.n_prompt; at < end; n++)
        at = band_end(s, at, end, r.w);
    b.most = n - b.shown + 1;
    return b;
}

static void settle(struct pw_ui *ui, struct pw_rect r)
{
    struct pw_canvas nowhere = {0};

    if (ui->snap->has_prompt)
        ui->io.top = pw_within(ui->io.top, lay_out(ui->snap, &nowhere, r).most);
}

static void draw_io(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_snapshot *s = ui->snap;

    if (!s->has_prompt) {
        invite(ui, c, r);
        return;
    }
    struct bands b = lay_out(s, c, r);
    int y = b.y, pos = s->prompt.n_prompt, end = pw_answer_end(s);
    for (int i = 0; i < ui->io.top && pos < end; i++)
        pos = band_end(s, pos, end, r.w);
    for (int i = 0; i < b.shown && pos < end; i++, y += b.rows)
        pos = draw_band(ui, c, r, y, pos, end, b.rows);
    if (pos < end) {
        pw_draw_fmt(c, r, y, r.x + r.w - MORE, pw_style_dim(), "%d more …", end - pos);
        r.w -= MORE + 1;
    }
    draw_verdict(ui, c, r, y);
}

static void status(const struct pw_ui *ui, struct pw_str *out)
{
    const struct pw_snapshot *s = ui->snap;
    const struct pw_arm_view *a = pw_find_arm(s, s->prompt_arm);

    if (!s->has_prompt)
        return;
    if (a != NULL) {
        pw_arm_title(ui, a, out);
        pw_replica_text(a, s->prompt_replica, out);
        pw_str_add(out, "  ");
    }
    if (s->prompt.drawn)
        pw_str_add(out, "sample %lld of length %d  ", (long long)s->prompt.sample, s->prompt.length);
    pw_str_add(out, "step %lld", (long long)s->prompt_step);
    if (ui->time >= 0 && ui->time < s->prompt_step)
        pw_str_add(out, ", not %lld", (long long)ui->time); /* earlier answers are not kept */
}

/* Opens a prompt that starts with this letter or digit. `p` inserts the task's word, unless a task's word
 * begins with p. */
static bool type(struct pw_ui *ui, int k)
{
    const struct pw_ev_lab *lab = &ui->snap->lab;
    bool letter = (k >= 'a' && k <= 'z') || (k >= 'A' && k <= 'Z') || (k >= 0x80 && k < PW_KEY_UP);
    bool ready = k == 'p';
    char typed[5] = "";

    if (!letter && !(k >= '0' && k <= '9'))
        return false;
    if (ui->find.text[0] && (k == 'n' || k == 'N')) /* during a search, these keys move to the next match */
        return false;
    for (int i = 0; i < lab->n_tasks; i++)
        ready = ready && lab->tasks[i].name[0] != 'p';
    if (!ready)
        typed[pw_utf8_put(typed, (uint32_t)k)] = '\0';
    pw_ui_ask_prompt(ui, typed);
    return true;
}

static bool key(struct pw_ui *ui, int k, struct pw_str *line)
{
    switch (k) {
    case PW_KEY_DOWN: ui->io.top += ui->io.top < INT_MAX - 1; return true;
    case PW_KEY_UP: ui->io.top -= ui->io.top > 0; return true;
    case PW_KEY_HOME: ui->io.top = 0; return true;
    case PW_KEY_END: ui->io.top = INT_MAX - 1; return true;
    case '\n':
        if (!ui->snap->has_prompt)
            return false;
        pw_str_add(line, "prompt \"%s\"", ui->snap->prompt.text);
        return true;
    case ']': pw_str_add(line, "sample"); return true; /* the next sample */
    case '[': pw_str_add(line, "sample index=-1"); return true;
    case '}': pw_str_add(line, "sample length=+1"); return true;
    case '{': pw_str_add(line, "sample length=-1"); return true;
    default: return type(ui, k);
    }
}

/* Copies one line per position: first the prompt, then the right token and the decoded one. */
static void copy(const struct pw_ui *ui, struct pw_str *out)
{
    const struct pw_snapshot *s = ui->snap;

    if (!s->has_prompt)
        return;
    pw_str_add(out, "position\tpart\tright\tmodel\tprobability\tlogit\tentropy_bits\tedited\n");
    for (int pos = 0; pos < pw_answer_end(s); pos++) {
        const struct pw_ev_token *t = pw_token_at(s, pos);
        bool given = pos < s->prompt.n_prompt;
        pw_str_add(out, "%d\t%s\t%s\t", pos, given ? "given" : "answer",
                   given ? pw_label(s->prompt.labels[pos]) : pw_answer_wanted(s, pos));
        if (t != NULL)
            pw_str_add(out, "%s\t%.6g\t%.6g\t%.6g\t%s\n", pw_label(t->label), (double)t->prob,
                       (double)t->logit, (double)t->entropy, t->edited ? "yes" : "no");
        else
            pw_str_add(out, "\t\t\t\t\n");
    }
}

static void add_tokens(struct pw_str *out, const char *name, const struct pw_snapshot *s, int from, int end)
{
    pw_str_add(out, "%s", name);
    for (int i = from; i < end; i++)
        pw_str_add(out, " %s%s", pw_label(s->prompt.labels[i]),
                   i < s->prompt.n_prompt && s->prompt.edited != NULL && s->prompt.edited[i] ? " (edited)"
                                                                                             : "");
    pw_str_add(out, "\n");
}

static void words(FILE *out, const struct pw_ui *ui)
{
    const struct pw_snapshot *s = ui->snap;
    const struct pw_arm_view *a = pw_find_arm(s, s->prompt_arm);
    struct pw_str text = {0};

    if (!s->has_prompt) {
        fputs("no prompt yet\n", out);
        return;
    }
    if (a != NULL)
        pw_replica_text(a, s->prompt_replica, &text);
    fprintf(out, "arm %d%s  step %lld", s->prompt_arm, pw_str_text(&text), (long long)s->prompt_step);
    pw_str_clear(&text);
    if (s->prompt.drawn)
        fprintf(out, ", test sample %lld of length %d", (long long)s->prompt.sample, s->prompt.length);
    fprintf(out, "\nprompt  %s\n", s->prompt.text);
    add_tokens(&text, "given  ", s, 0, s->prompt.n_prompt);
    if (s->prompt.has_answer)
        add_tokens(&text, "right  ", s, s->prompt.n_prompt, s->prompt.n);
    pw_str_add(&text, "answer ");
    for (int i = 0; i < s->n_tokens; i++) {
        const struct pw_ev_token *t = &s->tokens[i];
        pw_str_add(&text, " %s%s%s", pw_label(t->label), t->edited ? " (edited)" : "",
                   s->prompt.has_answer && !t->right ? " (wrong)" : "");
    }
    pw_str_add(&text, "\nwith p ");
    for (int i = 0; i < s->n_tokens; i++)
        pw_str_add(&text, " %.2f", (double)s->tokens[i].prob);
    pw_str_add(&text, "\n");
    verdict(s, &text);
    fprintf(out, "%s\n", text.s);
    pw_str_fini(&text);
}

static const char *const keys[] = {
    "a-z 0-9",  "type a prompt in the command line; Tab and Esc leave the pane",
    "Enter",    "the same prompt again, with the weights as they are now",
    "] [",      "next and previous test sample as prompt",
    "} {",      "a longer and a shorter test sample",
    "Down Up",  "scroll a long answer down and up",
    "Home End", "beginning and end of a long answer",
    NULL};

const struct pw_pane pw_pane_io = {
    .name = "prompt",
    .title = "Prompt",
    .hints = "letters prompt  [ ] sample  { } length  Enter again  Esc leave",
    .status = status,
    .draw = draw_io,
    .settle = settle,
    .key = key,
    .copy = copy,
    .keys = keys,
    .shows = PW_SHOWS_ANSWER,
    .words = words,
};
