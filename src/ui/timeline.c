/* timeline.c - "▸ live ├───┿━━◆━━━●──────┤ 1240/5000": the heavy part is trained, the light part is still to
 * come. */
#include "ui/timeline.h"

#include <stdio.h>
#include <string.h>

#include "ui/plot.h"

#define LABEL    8 /* columns before the axis */
#define LEAST    8 /* minimum columns of a useful axis */
#define TEXT_MAX 40

/* The axis: its inner columns, and the step or event at its right end. */
struct axis {
    int x, w;
    int64_t end;
};

int64_t pw_timeline_last(const struct pw_ui *ui)
{
    const struct pw_snapshot *end = pw_time_end(ui);
    const struct pw_arm_view *arm = pw_find_arm(end, end->current);
    if (ui->transport.alone)
        return (int64_t)end->seq;
    return arm != NULL && arm->info.step > 0 ? arm->info.step : 0;
}

int64_t pw_timeline_now(const struct pw_ui *ui)
{
    int64_t last = pw_timeline_last(ui), now = ui->time >= 0 ? ui->time : last;
    if (ui->transport.alone) {
        now = (int64_t)ui->snap->seq;
    } else if (ui->present != NULL) {
        const struct pw_arm_view *then = pw_find_arm(ui->snap, ui->present->current);
        now = then != NULL ? then->info.step : 0;
    }
    return now < last ? now : last;
}

static int64_t end_of(const struct pw_ui *ui)
{
    const struct pw_ev_state *state = &pw_time_end(ui)->state;
    int64_t last = pw_timeline_last(ui);
    bool ours = state->run != PW_RUN_IDLE && !state->others;
    return !ui->transport.alone && ours && state->until > last ? state->until : last;
}

static int column(const struct axis *a, int64_t step)
{
    double share = a->end > 0 ? (double)step / (double)a->end : 0;
    return a->x + (int)(share * (a->w - 1) + 0.5);
}

static int64_t place_of(const struct pw_ui *ui, const struct pw_tick *t)
{
    return ui->transport.alone ? (int64_t)t->seq : t->step;
}

static bool is_ours(const struct pw_ui *ui, const struct pw_tick *t)
{
    bool of_axis = ui->transport.alone || t->arm == pw_time_end(ui)->current;
    return of_axis && place_of(ui, t) >= 0 && place_of(ui, t) <= pw_timeline_last(ui);
}

/* Returns the tick that a column shows: the rarest kind, and the newest of that kind. */
static const struct pw_tick *tick_at(const struct pw_ui *ui, const struct axis *a, int x)
{
    const struct pw_tick *best = NULL;
    for (int i = 0; i < pw_time_end(ui)->n_ticks; i++) {
        const struct pw_tick *t = &pw_time_end(ui)->ticks[i];
        if (is_ours(ui, t) && column(a, place_of(ui, t)) == x && (best == NULL || t->kind >= best->kind))
            best = t;
    }
    return best;
}

/* Returns the tick at the current moment: the rarest kind if there are several; NULL: none. */
static const struct pw_tick *tick_now(const struct pw_ui *ui)
{
    const struct pw_tick *at = NULL;
    for (int i = 0; i < pw_time_end(ui)->n_ticks; i++) {
        const struct pw_tick *t = &pw_time_end(ui)->ticks[i];
        if (is_ours(ui, t) && place_of(ui, t) == pw_timeline_now(ui) && (at == NULL || t->kind >= at->kind))
            at = t;
    }
    return at;
}

static const char *const kinds[] = {"evaluated: ", "saved ", "swap to ", "mark "};

/* Appends the text at the right: "1240/5000", or the description of the current moment. */
static void describe(const struct pw_ui *ui, struct pw_str *out)
{
    int64_t last = pw_timeline_last(ui), end = end_of(ui);

    if (!pw_time_is_past(ui)) {
        pw_str_add(out, "%s%lld", ui->transport.alone ? "event " : "", (long long)last);
        if (end > last)
            pw_str_add(out, "/%lld", (long long)end);
        return;
    }
    pw_str_add(out, "%s%lld of %lld", ui->transport.alone ? "event " : "", (long long)pw_timeline_now(ui),
               (long long)last);
    const struct pw_tick *at = tick_now(ui);
    if (at != NULL)
        pw_str_add(out, "  %s%.*s", kinds[at->kind & 3], TEXT_MAX, at->text);
}

static struct axis axis_of(const struct pw_ui *ui, struct pw_rect r, const char *text)
{
    int right = pw_text_cells(text);
    right = right > r.w / 2 ? r.w / 2 : right;
    struct axis a = {r.x + LABEL + 1, r.w - LABEL - 2 - right - 2, end_of(ui)};
    return a;
}

static void draw_ticks(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, const struct axis *a)
{
    static const uint32_t glyphs[2][4] = {{'|', 'S', '*', '^'}, {0x253f, 0x25c6, 0x21bb, 0x25b2}};
    const struct pw_style styles[] = {pw_style_plain(), pw_style_ok(), pw_style_warn(), pw_style_bold()};

    /* By kind, the rarest last, because the last one drawn in a column is visible. */
    for (int kind = PW_TICK_EVAL; kind <= PW_TICK_MARK; kind++)
        for (int i = 0; i < pw_time_end(ui)->n_ticks; i++) {
            const struct pw_tick *t = &pw_time_end(ui)->ticks[i];
            if (is_ours(ui, t) && (int)t->kind == kind)
                pw_draw_cell(c, r, r.y, column(a, place_of(ui, t)), styles[kind],
                             glyphs[ui->look.utf8][kind]);
        }
}

void pw_timeline_draw(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    bool live = !pw_time_is_past(ui), plays = ui->transport.playing;
    const char *word = plays                                              ? "▸ play"
                       : !live                                            ? "← past"
                       : ui->transport.alone && !ui->snap->session.why[0] ? "▸ end"
                                                                          : "▸ live";
    struct pw_style cursor = live ? pw_style_bold() : pw_style_warn();
    struct pw_str text = {0};

    describe(ui, &text);
    struct axis a = axis_of(ui, r, text.s);
    cursor.attr |= PW_BOLD | (live ? 0 : PW_REVERSE);
    pw_draw_text(c, r, r.y, r.x + 1, live ? pw_style_plain() : cursor, word);
    if (a.w >= LEAST) {
        int last = column(&a, pw_timeline_last(ui));
        for (int x = a.x; x < a.x + a.w; x++)
            pw_draw_cell(c, r, r.y, x, pw_style_dim(), x < last ? 0x2501 : 0x2500);
        pw_draw_cell(c, r, r.y, a.x - 1, pw_style_dim(), 0x251c);
        pw_draw_cell(c, r, r.y, a.x + a.w, pw_style_dim(), 0x2524);
        draw_ticks(ui, c, r, &a);
        pw_draw_cell(c, r, r.y, column(&a, pw_timeline_now(ui)), cursor, 0x25cf);
    }
    int x = a.w >= LEAST ? a.x + a.w + 2 : r.x + LABEL;
    pw_draw_cut(c, r, r.y, x, live ? pw_style_plain() : cursor, text.s, r.x + r.w - x);
    pw_str_fini(&text);
}

int64_t pw_timeline_at(const struct pw_ui *ui, struct pw_rect r, int x)
{
    struct pw_str text = {0};
    describe(ui, &text);
    struct axis a = axis_of(ui, r, text.s);
    pw_str_fini(&text);
    if (a.w < LEAST || x < a.x - 1) /* on the word "live" */
        return -1;
    const struct pw_tick *t = tick_at(ui, &a, x);
    x = x < a.x ? a.x : x;
    int64_t place =
        t != NULL ? place_of(ui, t) : (int64_t)((double)(x - a.x) / (a.w - 1) * (double)a.end + 0.5);
    return place >= pw_timeline_last(ui) ? -1 : place;
}

void pw_timeline_go(struct pw_ui *ui, int64_t place)
{
    struct pw_player *p;
    struct pw_err err = {0};
    enum pw_code code = place < 0 ? PW_OK : pw_time_player(ui, &p, &err);
    if (place < 0) {
        pw_time_live(ui);
    } else if (code == PW_OK && p == NULL) {
        ui->time = place; /* shows the data that the snapshot keeps */
        if (pw_time_reading(ui))
            pw_time_go_when_read(ui, 0);
    } else if (code == PW_OK) {
        ui->transport.playing = false;
        uint64_t seq = (uint64_t)place;
        if (!ui->transport.alone)
            seq = pw_player_step(p, pw_time_end(ui)->current, place);
        pw_time_to_event(ui, seq > 0 ? seq : 1);
    } else {
        pw_text_copy(ui->message, sizeof ui->message, err.msg);
        ui->message_is_error = true;
    }
}

/* Takes `step` as the next stop if it is nearer in that direction. */
static void nearer(int64_t *next, int64_t step, int64_t now, int direction)
{
    if (direction > 0 ? step > now && step < *next : step < now && step > *next)
        *next = step;
}

void pw_timeline_move(struct pw_ui *ui, int direction)
{
    const struct pw_snapshot *end = pw_time_end(ui);
    const struct pw_arm_view *arm = ui->transport.alone ? NULL : pw_find_arm(end, end->current);
    int64_t now = pw_timeline_now(ui), next = direction > 0 ? INT64_MAX : 0;

    for (int i = 0; i < end->n_ticks; i++)
        if (is_ours(ui, &end->ticks[i]))
            nearer(&next, place_of(ui, &end->ticks[i]), now, direction);
    /* A kept attention map can show how a head emerges between two evaluations. */
    for (int i = 0; arm != NULL && i < arm->kept.n; i++)
        nearer(&next, arm->kept.map[i].step, now, direction);
    ui->message[0] = '\0';
    ui->message_is_error = false;
    pw_timeline_go(ui, next < pw_timeline_last(ui) ? next : -1);
    const struct pw_tick *at = pw_time_is_past(ui) ? tick_now(ui) : NULL;
    if (at != NULL) /* the full text, because the timeline's row possibly cut it */
        snprintf(ui->message, sizeof ui->message, "step %lld: %s%s", (long long)at->step, kinds[at->kind & 3],
                 at->text);
}

const struct pw_tick *pw_timeline_mark(const struct pw_ui *ui, const char *text)
{
    const struct pw_tick *before = NULL, *newest = NULL;
    int64_t now = ui->time < 0 ? INT64_MAX : ui->time;

    for (int i = 0; i < pw_time_end(ui)->n_ticks; i++) {
        const struct pw_tick *t = &pw_time_end(ui)->ticks[i];
        if (t->kind != PW_TICK_MARK || !is_ours(ui, t) || strcasestr(t->text, text) == NULL)
            continue;
        newest = t;
        if (t->step < now)
            before = t;
    }
    return before != NULL ? before : newest;
}
