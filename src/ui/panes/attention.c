/* attention.c - the heads on the pinned prompt: one as a map with a cursor that reads out numbers, or all as
 * small maps. They show the present or, with the time cursor, a kept moment of training.
 *
 * attention.h lists the files of the parts. A change of the inspected head is an `inspect` line for the lab.
 * A change of the drawing alone stays in the workbench's state. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ui/panes/attention.h"

static int strongest(const struct pw_att *w, int q)
{
    int best = 0;

    for (int k = 1; k < w->a->T; k++)
        if (pw_att_prob(w, q, k) > pw_att_prob(w, q, best))
            best = k;
    return best;
}

static void place_cursor(struct pw_ui *ui, const struct pw_att *w)
{
    if (ui->attention.follow) {
        ui->attention.query = w->T - 1;
        ui->attention.key = strongest(w, w->T - 1);
    }
    ui->attention.query = pw_within(ui->attention.query, w->T);
    ui->attention.key = pw_within(ui->attention.key, w->T);
}

/* ---- the whole pane */

static const char no_prompt[] = "no prompt to look at yet";

/* Without attention: shows the command that produces it. */
static void invite(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    char example[PW_LINE];
    const char *lines[] = {no_prompt, pw_prompt_example(&ui->snap->lab, example, sizeof example),
                           "its heads then show here; [ ] and { } choose", NULL};

    pw_draw_missing(ui, c, r, lines);
}

/* Returns true if the list of scores takes the map's place, because they do not fit next to each other. */
static bool only_list(const struct pw_ui *ui, struct pw_rect r)
{
    return ui->attention.list && r.w < 64;
}

/* Returns the map's part of r; the readout takes the rest. */
static struct pw_rect map_part(const struct pw_ui *ui, const struct pw_att *w, struct pw_rect r)
{
    int lines = r.h < 3 ? 0 : r.h < 12 ? 1 : pw_att_draw_readout(ui, w, NULL, r);

    r.h -= lines > 3 ? 3 : lines;
    return r;
}

static void draw_shown(const struct pw_ui *ui, const struct pw_att *w, struct pw_canvas *c, struct pw_rect r)
{
    if (ui->attention.overview) {
        pw_att_draw_heads(ui, w, c, r);
        return;
    }
    if (only_list(ui, r)) {
        int taken = pw_att_draw_scores(ui, w, c, r) + 1;
        pw_att_draw_profile(ui, w, c, (struct pw_rect){r.y + taken, r.x, r.h - taken, r.w});
        return;
    }
    struct pw_rect map = map_part(ui, w, r);
    pw_att_draw_map(ui, w, c, map);
    if (map.h < r.h)
        pw_att_draw_readout(ui, w, c, (struct pw_rect){r.y + map.h, r.x, r.h - map.h, r.w});
}

static void settle(struct pw_ui *ui, struct pw_rect r)
{
    struct pw_att w;

    if (pw_att_shown(ui) == NULL)
        return;
    bool there = pw_att_init(&w, ui);
    if (there && (ui->attention.overview || only_list(ui, r))) {
        pw_att_keep_long(ui, &w, 1);
    } else if (there) {
        place_cursor(ui, &w);
        pw_att_settle_map(ui, &w, map_part(ui, &w, r));
    }
    pw_att_fini(&w);
}

static void draw_attention(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    struct pw_att w;

    if (pw_att_shown(ui) == NULL) {
        invite(ui, c, r);
        return;
    }
    if (pw_att_init(&w, ui))
        draw_shown(ui, &w, c, r);
    else
        pw_draw_invitation(c, r, w.why);
    pw_att_fini(&w);
}

static void status(const struct pw_ui *ui, struct pw_str *out)
{
    struct pw_att w;

    if (pw_att_shown(ui) == NULL)
        return;
    bool found = pw_att_find(&w, ui);
    const struct pw_arm_view *arm = pw_find_arm(ui->snap, w.arm);
    if (ui->attention.overview)
        pw_str_add(out, "all heads");
    else if (w.mean)
        pw_str_add(out, "layer %d mean of %d heads", w.layer, w.a != NULL ? w.a->heads : 0);
    else
        pw_str_add(out, "head " PW_HEAD "%s %s", w.layer, w.head,
                   pw_att_off(ui, &w, w.layer, w.head) ? " (off)" : "", pw_view_names[w.view]);
    if (arm != NULL) {
        pw_str_add(out, "  ");
        pw_arm_title(ui, arm, out);
        pw_replica_text(arm, w.replica, out);
    }
    if (w.arm == 0)
        pw_str_add(out, "  file %s", w.a->source);
    else if (found)
        pw_str_add(out, "  step %lld%s", (long long)w.step, w.past ? ", kept" : "");
}

/* ---- keys */

/* Moves to another head, layer or view. The step is relative to the lab's state, which can be ahead of the
 * screen if keys arrive fast. */
static void choose(struct pw_ui *ui, struct pw_str *line, const char *what, int by)
{
    if (pw_att_shown(ui) == NULL)
        return;
    if (strcmp(what, "layer") != 0)
        ui->attention.mean = false;
    if (pw_att_of_file(ui))
        pw_att_move_file(ui, what, by);
    else
        pw_str_add(line, "inspect %s=%+d", what, by);
}

static void move(struct pw_ui *ui, int d_query, int d_key)
{
    struct pw_att w;

    if (pw_att_shown(ui) == NULL)
        return;
    if (pw_att_init(&w, ui)) {
        place_cursor(ui, &w); /* the position that following reached */
        ui->attention.follow = false;
        ui->attention.query += d_query;
        ui->attention.key += d_key;
        place_cursor(ui, &w);
    }
    pw_att_fini(&w);
}

/* Moves the cursor; in the overview, arrows select heads. */
static void arrow(struct pw_ui *ui, struct pw_str *line, int down, int right)
{
    if (ui->attention.overview)
        choose(ui, line, down ? "layer" : "head", down ? down : right);
    else
        move(ui, down, right);
}

static bool move_key(struct pw_ui *ui, int k, struct pw_str *line)
{
    switch (k) {
    case 'j':
    case PW_KEY_DOWN: arrow(ui, line, 1, 0); return true;
    case 'k':
    case PW_KEY_UP: arrow(ui, line, -1, 0); return true;
    case 'l':
    case PW_KEY_RIGHT: arrow(ui, line, 0, 1); return true;
    case 'h':
    case PW_KEY_LEFT: arrow(ui, line, 0, -1); return true;
    case PW_KEY_PAGE_DOWN: move(ui, 10, 0); return true;
    case PW_KEY_PAGE_UP: move(ui, -10, 0); return true;
    case 'g':
    case PW_KEY_HOME: move(ui, -(1 << 20), 0); return true;
    case 'G':
    case PW_KEY_END: move(ui, 1 << 20, 0); return true;
    case '[': choose(ui, line, "head", -1); return true;
    case ']': choose(ui, line, "head", 1); return true;
    case '{': choose(ui, line, "layer", -1); return true;
    case '}': choose(ui, line, "layer", 1); return true;
    case 'v': choose(ui, line, "view", 1); return true;
    case 'V': choose(ui, line, "view", -1); return true;
    default: return false;
    }
}

static void next_score(struct pw_ui *ui)
{
    const struct pw_ev_attention *a = pw_att_shown(ui);

    ui->attention.score = a != NULL ? pw_att_next_score(ui, a) : 0;
}

/* Switches the inspected head off, or on again. */
static void switch_head(struct pw_ui *ui, struct pw_str *line)
{
    const struct pw_ev_attention *a = &ui->snap->attention;
    struct pw_att w = {.arm = ui->snap->attention_arm, .replica = ui->snap->attention_replica};

    if (pw_att_usable(ui->snap) && pw_att_measured(ui, &w) != NULL && !pw_att_of_file(ui))
        pw_str_add(line, "%s L%dH%d arm=%d", pw_att_off(ui, &w, a->layer, a->head) ? "restore" : "ablate",
                   a->layer, a->head, w.arm);
    else if (pw_att_of_file(ui))
        pw_ui_message(ui, "a head of a file can't be switched off");
    else
        pw_ui_message(ui, no_prompt);
}

static void toggle(bool *on)
{
    *on = !*on;
}

static bool key(struct pw_ui *ui, int k, struct pw_str *line)
{
    switch (k) {
    case '\r':
    case '\n':
        toggle(&ui->attention.overview);
        if (pw_att_shown(ui) == NULL)
            pw_ui_message(ui, no_prompt);
        return true;
    case 'a': toggle(&ui->attention.mean); return true;
    case 'x': toggle(&ui->attention.first_hidden); return true;
    case 'X': switch_head(ui, line); return true;
    case 'H': toggle(&ui->attention.no_hatch); return true;
    case 'o': toggle(&ui->attention.no_gold); return true;
    case 's':
        ui->attention.list = ui->attention.overview || !ui->attention.list; /* the list is next to one head */
        ui->attention.overview = false;
        return true;
    case 'w': toggle(&ui->attention.scroll); return true;
    case 'f': toggle(&ui->attention.follow); return true;
    case 'r': ui->attention.scale = (ui->attention.scale + 1) % PW_ATT_SCALES; return true;
    case 'm': next_score(ui); return true;
    case 'i':
        pw_att_change_source(ui);
        if (!ui->snap->has_foreign)
            pw_ui_message(ui, "no attention of a file yet");
        return true;
    case 'c':
    case 'd': /* the same keys as in the encoding pane */
        if (ui->attention.ref != NULL)
            pw_att_forget(ui);
        else if (pw_att_shown(ui) != NULL)
            pw_att_reference(ui);
        return true;
    default: return move_key(ui, k, line);
    }
}

/* Selects the head or the pair drawn at that cell. */
static bool click(struct pw_ui *ui, int y, int x, struct pw_rect inside, struct pw_str *line)
{
    struct pw_att w;
    int first, second;
    bool hit = false;

    if (pw_att_shown(ui) == NULL)
        return false;
    if (!pw_att_init(&w, ui)) {
        pw_att_fini(&w);
        return false;
    }
    place_cursor(ui, &w);
    if (ui->attention.overview) {
        hit = pw_att_head_at(ui, &w, inside, y, x, &first, &second);
        if (hit && line != NULL && pw_att_of_file(ui))
            ui->attention.file.layer = first, ui->attention.file.head = second;
        else if (hit && line != NULL)
            pw_str_add(line, "inspect layer=%d head=%d", first, second);
    } else if (!only_list(ui, inside)) {
        hit = pw_att_pair_at(ui, &w, map_part(ui, &w, inside), y, x, &first, &second);
        if (hit)
            ui->attention.query = first, ui->attention.key = second, ui->attention.follow = false;
    }
    pw_att_fini(&w);
    return hit;
}

/* Copies the map as shown; from the overview, all scores. */
static void copy(const struct pw_ui *ui, struct pw_str *out)
{
    struct pw_att w;

    if (pw_att_shown(ui) == NULL)
        return;
    bool there = pw_att_init(&w, ui);
    if (there && ui->attention.overview)
        pw_att_copy_scores(&w, out);
    else if (there)
        pw_att_copy_map(&w, out);
    pw_att_fini(&w);
}

static const char *const keys[] = {
    "Enter",
    "all heads at once, and back to one",
    "h j k l",
    "cursor: key to the left and right, query down and up; in the overview head and layer",
    "g G",
    "first and last query",
    "[ ]",
    "previous and next head",
    "{ }",
    "previous and next layer",
    "v V",
    "next and previous view: probabilities, scores, content, positional bias, gate, the content's four terms",
    "a",
    "mean over the heads of the layer",
    "X",
    "switch the head off (ablate), or on again",
    "x",
    "leave the first position out and renormalise the rest",
    "r",
    "scale: one for all, by row, log",
    "c d",
    "compare other heads, arms and moments with the present view; again: end the comparison",
    "i",
    "attention that was imported from a file, or the arm's",
    "s",
    "kind of head: its scores against chance",
    "m",
    "another score in the overview",
    "o",
    "mark the task's gold pointers, or not",
    "H",
    "hatch distances never seen in training, or not",
    "w",
    "long sequences: fit them, or scroll with one row per token",
    "f",
    "follow: stay at the last query's strongest key",
    NULL};

static const char *page(const struct pw_ui *ui)
{
    struct pw_att w;

    if (!pw_att_of_file(ui))
        return ui->attention.overview ? "heads" : "map";
    pw_att_find_file(&w, ui);
    return ui->attention.overview ? "file_heads" : w.view == PW_VIEW_SCORE ? "file_scores" : "file";
}

static void fini(struct pw_ui *ui)
{
    pw_att_forget(ui);
    pw_att_forget_long(ui);
}

static void init(struct pw_ui *ui)
{
    ui->attention = (struct pw_attention_state){.follow = true};
}

const struct pw_pane pw_pane_attention = {
    .name = "attention",
    .title = "Attention",
    .hints = "Enter heads  [ ] head  s kind  X off  v view  hjkl cursor  { } layer",
    .status = status,
    .draw = draw_attention,
    .init = init,
    .fini = fini,
    .settle = settle,
    .key = key,
    .keys = keys,
    .shows = PW_SHOWS_ANSWER,
    .click = click,
    .copy = copy,
    .page = page,
    .words = pw_att_words,
};
