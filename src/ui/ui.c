/* ui.c - the workbench as a whole: status line, panes, hints, message; and the keys that belong to no pane.
 *
 * A key that changes the laboratory appends a command line and nothing else, so that a recorded session knows
 * commands only and a replay needs no keys. */
#include "ui/ui.h"

#include <math.h>
#include <string.h>

#include "ui/lesson.h"
#include "ui/plot.h"

#define ESCAPE 27

void pw_ui_init(struct pw_ui *ui)
{
    *ui = (struct pw_ui){.focus = PW_PANE_LENGTHS};
    ui->look = (struct pw_look){PW_COLORS_TRUE, true};
    ui->curves.metric = PW_M_LOSS;
    ui->curves.log = true; /* arms differ most where the loss is small */
    ui->attention.follow = true;
    ui->step.follow = true;
    ui->encoding.distance = 1;
}

/* ---- status line */

/* A piece of the status line. What matters least goes first when there is no room. */
struct piece {
    int importance; /* 1: shown as long as anything is */
    struct pw_str text;
};

enum { NAME, TASK, ARM, ARMS, STATE, BAR, RATE, ETA, PIECES };

static const char *const run_names[] = {
    [PW_RUN_IDLE] = "idle", [PW_RUN_TRAINING] = "TRAIN", [PW_RUN_PAUSED] = "PAUSED"};

/* "████▌     64%" */
static void add_progress(struct pw_str *out, double fraction, int width)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    fraction = fraction > 0 ? (fraction < 1 ? fraction : 1) : 0;
    int filled = (int)(fraction * width * 8);

    for (int i = 0; i < filled / 8; i++)
        pw_str_add(out, "█");
    pw_str_add(out, "%s", eighths[filled % 8]);
    for (int i = (filled + 7) / 8; i < width; i++)
        pw_str_add(out, " ");
    pw_str_add(out, " %d%%", (int)(fraction * 100));
}

static void describe_state(const struct pw_snapshot *s, const struct pw_arm_view *arm, struct piece *p,
                           int bar)
{
    const struct pw_ev_state *st = &s->state;
    long long step = arm ? (long long)arm->info.step : 0;

    if (s->job.name[0] && s->job.state == PW_JOB_RUNNING) {
        pw_str_add(&p[STATE].text, "%s %lld/%lld", s->job.name, (long long)s->job.done,
                   (long long)s->job.total);
        add_progress(&p[BAR].text, s->job.total > 0 ? (double)s->job.done / (double)s->job.total : 0, bar);
        return;
    }
    pw_str_add(&p[STATE].text, "%s %lld", run_names[st->run <= PW_RUN_PAUSED ? st->run : PW_RUN_IDLE], step);
    if (st->run == PW_RUN_IDLE)
        return;
    if (st->until > 0) {
        pw_str_add(&p[STATE].text, "/%lld", (long long)st->until);
        add_progress(&p[BAR].text, (double)step / (double)st->until, bar);
    }
    if (st->run == PW_RUN_TRAINING && st->steps_per_s > 0)
        pw_str_add(&p[RATE].text, st->steps_per_s < 10 ? "%.1f it/s" : "%.0f it/s", st->steps_per_s);
    if (st->run == PW_RUN_TRAINING && st->eta_s >= 0 && isfinite(st->eta_s)) {
        char left[32];
        pw_text_duration(left, sizeof left, st->eta_s);
        pw_str_add(&p[ETA].text, "ETA %s", left);
    }
}

static void describe_task(const struct pw_ev_lab *lab, struct pw_str *out)
{
    for (int i = 0; i < lab->n_tasks && i < 8; i++)
        pw_str_add(out, "%s%s %d..%d", i ? ", " : "", lab->tasks[i].name, lab->tasks[i].train_lo,
                   lab->tasks[i].train_hi);
}

static void draw_status(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_snapshot *s = ui->snap;
    const struct pw_arm_view *arm = pw_find_arm(s, s->current);
    struct pw_style bar = {PW_DEFAULT, PW_DEFAULT, PW_REVERSE};
    struct pw_style strong = {PW_DEFAULT, PW_DEFAULT, PW_REVERSE | PW_BOLD};
    struct piece p[PIECES] = {
        [NAME] = {7, {0}},  [TASK] = {6, {0}}, [ARM] = {2, {0}},  [ARMS] = {8, {0}},
        [STATE] = {1, {0}}, [BAR] = {3, {0}},  [RATE] = {5, {0}}, [ETA] = {4, {0}},
    };
    int n_arms = 0;

    for (int i = 0; i < PW_MAX_ARMS; i++)
        n_arms += s->arms[i].used;
    pw_str_add(&p[NAME].text, "pewter");
    describe_task(&s->lab, &p[TASK].text);
    if (arm) {
        pw_str_add(&p[ARM].text, "%s ", pw_arm_mark(ui, s->current));
        pw_arm_name(arm, &p[ARM].text);
    }
    if (n_arms > 1)
        pw_str_add(&p[ARMS].text, "of %d", n_arms);
    describe_state(s, arm, p, r.w >= 100 ? 9 : 5);

    pw_draw_fill(c, r, bar, ' ');
    for (;;) { /* leave out the least important piece until the rest fits */
        int width = 1, least = 0;
        for (int i = 0; i < PIECES; i++)
            if (p[i].text.len > 0) {
                width += pw_text_cells(p[i].text.s) + (i == ARMS ? 1 : 2);
                if (p[least].text.len == 0 || p[i].importance > p[least].importance)
                    least = i;
            }
        if (width - 2 < r.w || p[least].importance <= 1)
            break;
        pw_str_clear(&p[least].text);
    }
    int x = r.x + 1;
    for (int i = 0; i < PIECES; i++)
        if (p[i].text.len > 0) {
            if (i == ARMS)
                x--;
            x = pw_draw_text(c, r, r.y, x, i == NAME || i == ARM || i == STATE ? strong : bar, p[i].text.s) +
                2;
        }
    int from = r.x + r.w - 1 - pw_text_cells(s->lab.backend);
    if (from > x)
        pw_draw_text(c, r, r.y, from, bar, s->lab.backend);
    for (int i = 0; i < PIECES; i++)
        pw_str_fini(&p[i].text);
}

/* ---- hints: "hjkl cursor  [ ] head": items two blanks apart, the last word of each says what its keys do */

static int draw_hints(struct pw_canvas *c, struct pw_rect r, int x, int end, const char *hints)
{
    while (*hints) {
        const char *stop = strstr(hints, "  ");
        int n = stop ? (int)(stop - hints) : (int)strlen(hints);
        char item[64];
        pw_text_copy(item, (size_t)n + 1 < sizeof item ? (size_t)n + 1 : sizeof item, hints);
        if (x + pw_text_cells(item) > end)
            return end; /* whole items only */
        char *what = strrchr(item, ' ');
        if (what)
            *what++ = '\0';
        x = pw_draw_text(c, r, r.y, x, pw_style_bold(), item);
        if (what)
            x = pw_draw_text(c, r, r.y, x + 1, pw_style_dim(), what);
        x += 2;
        hints += stop ? n + 2 : n;
    }
    return x;
}

static void draw_hint_line(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    static const char always[] = "? keys  q quit";
    bool idle = ui->snap->state.run == PW_RUN_IDLE;
    const char *run = ui->snap->state.run == PW_RUN_TRAINING ? "Space pause"
                      : idle                                 ? "Space train"
                                                             : "Space resume";
    int end = r.x + r.w - 1;
    int from = end - pw_text_cells(always);

    if (from > r.x)
        draw_hints(c, r, from, end, always), end = from - 2;
    int x = draw_hints(c, r, r.x + 1, end, pw_panes[ui->focus]->hints);
    if (x > r.x + 1 && x + 11 <= end) /* with room for what follows */
        x = pw_draw_text(c, r, r.y, x, pw_style_dim(), "│") + 1;
    x = draw_hints(c, r, x, end, ": command");
    x = draw_hints(c, r, x, end, run);
    draw_hints(c, r, x, end, "Tab pane  z zoom  . step  < > arm");
}

static void draw_message(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    if (ui->message[0] == '\0') {
        if (ui->snap->n_log == 0)
            pw_draw_cut(c, r, r.y, r.x + 1, pw_style_dim(),
                        "type  :  and a command, for example  race none,alibi,t5", r.w - 2);
        return;
    }
    if (ui->message_is_error) {
        int x = pw_draw_text(c, r, r.y, r.x, pw_style_bad(), "! ");
        pw_draw_cut(c, r, r.y, x, pw_style_bad(), ui->message, r.x + r.w - x);
    } else {
        pw_draw_cut(c, r, r.y, r.x + 1, pw_style_plain(), ui->message, r.w - 1);
    }
}

/* Parts of a note are two blanks apart, and the front ones matter most: drops parts until it fits. */
static void shorten(struct pw_str *note, int room)
{
    while (note->len > 0 && pw_text_cells(note->s) > room) {
        size_t end = note->len;
        while (end > 0 && strncmp(note->s + end, "  ", 2) != 0)
            end--;
        note->s[end] = '\0';
        note->len = end;
    }
}

static void draw_pane(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int id)
{
    struct pw_str title = {0}, right = {0};

    pw_str_add(&title, "%d %s", id + 1, pw_panes[id]->title);
    pw_panes[id]->status(ui, &right);
    int room = r.w - 8 - pw_text_cells(title.s);
    shorten(&right, room);
    struct pw_rect in = pw_draw_frame(c, r, &ui->look, id == ui->focus, title.s, pw_str_text(&right));
    pw_str_fini(&title);
    pw_str_fini(&right);
    if (in.h > 0 && in.w > 0)
        pw_panes[id]->draw(ui, c, in);
}

void pw_ui_layout(struct pw_layout *l, const struct pw_ui *ui, int rows, int cols)
{
    int lesson = pw_lesson_rows(ui, rows, cols);

    pw_layout(l, rows - lesson, cols, ui->focus, ui->zoom);
    l->lesson = (struct pw_rect){(l->hints.h > 0 ? l->hints.y : l->prompt.y), 0, lesson, cols};
    l->hints.y += lesson;
    l->prompt.y += lesson;
}

void pw_ui_draw(struct pw_ui *ui, struct pw_canvas *c)
{
    struct pw_layout l;

    pw_canvas_clear(c);
    pw_ramp_use(ui->theme.map, ui->look.colors);
    pw_ui_layout(&l, ui, c->rows, c->cols);
    if (l.status.h > 0)
        draw_status(ui, c, l.status);
    if (ui->help && c->rows > 2) {
        pw_help_draw(ui, c, (struct pw_rect){1, 0, c->rows - 2, c->cols});
    } else {
        for (int i = 0; i < PW_PANES; i++)
            if (l.panes[i].h > 0)
                draw_pane(ui, c, l.panes[i], i);
        if (l.lesson.h > 0)
            pw_lesson_draw(ui, c, l.lesson);
        if (l.hints.h > 0)
            draw_hint_line(ui, c, l.hints);
    }
    draw_message(ui, c, l.prompt);
    pw_theme_fit(c, &ui->look, ui->theme.backdrop);
}

/* ---- keys */

static void focus(struct pw_ui *ui, int id)
{
    if (ui->focus == id)
        ui->zoom = !ui->zoom;
    ui->focus = id;
}

/* The next arm that is there, going up or down and round the end. */
static void other_arm(const struct pw_ui *ui, int direction, struct pw_str *line)
{
    int i = ui->snap->current - 1;

    for (int k = 0; k < PW_MAX_ARMS; k++) {
        i = (i + direction + PW_MAX_ARMS) % PW_MAX_ARMS;
        if (ui->snap->arms[i].used && i + 1 != ui->snap->current) {
            pw_str_add(line, "arm %d", i + 1);
            return;
        }
    }
}

static void say(struct pw_ui *ui, const char *text)
{
    pw_text_copy(ui->message, sizeof ui->message, text);
    ui->message_is_error = false;
}

static bool help_key(struct pw_ui *ui, int key)
{
    switch (key) {
    case ESCAPE:
    case 'q':
    case '?':
    case PW_KEY_F1: ui->help = false; return true;
    case 'j':
    case PW_KEY_DOWN: ui->help_top++; return true;
    case 'k':
    case PW_KEY_UP: ui->help_top--; return true;
    case ' ':
    case PW_KEY_PAGE_DOWN: ui->help_top += 10; return true;
    case PW_KEY_PAGE_UP: ui->help_top -= 10; return true;
    case 'g':
    case PW_KEY_HOME: ui->help_top = 0; return true;
    case 'G':
    case PW_KEY_END: ui->help_top = 1 << 20; return true;
    default: return false;
    }
}

bool pw_ui_key(struct pw_ui *ui, int key, struct pw_str *line)
{
    static const char *const run_lines[] = {
        [PW_RUN_IDLE] = "train", [PW_RUN_TRAINING] = "pause", [PW_RUN_PAUSED] = "resume"};

    if (ui->help)
        return help_key(ui, key);
    if (pw_panes[ui->focus]->key(ui, key, line))
        return true;
    if (key >= '1' && key < '1' + PW_PANES) {
        focus(ui, key - '1');
        return true;
    }
    switch (key) {
    case '\t': ui->focus = (ui->focus + 1) % PW_PANES; return true;
    case PW_KEY_BACKTAB: ui->focus = (ui->focus + PW_PANES - 1) % PW_PANES; return true;
    case 'z': ui->zoom = !ui->zoom; return true;
    case ESCAPE:
        ui->message[0] = '\0';
        ui->zoom = false;
        return true;
    case '?':
    case PW_KEY_F1:
        ui->help = true;
        ui->help_top = 0;
        return true;
    case ' ':
        if (ui->snap->state.run <= PW_RUN_PAUSED)
            pw_str_add(line, "%s", run_lines[ui->snap->state.run]);
        return true;
    case '.': pw_str_add(line, "step"); return true;
    case '>': other_arm(ui, 1, line); return true;
    case '<': other_arm(ui, -1, line); return true;
    case 'p': {
        char text[128];
        say(ui, pw_prompt_example(&ui->snap->lab, text, sizeof text));
        return true;
    }
    case 'q': pw_str_add(line, "quit"); return true;
    default: return false;
    }
}
