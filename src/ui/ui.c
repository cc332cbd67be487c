/* ui.c - the whole workbench: panes, hints, message, and the keys that belong to no pane.
 *
 * A key that changes the lab only appends a command line. A recorded session therefore contains commands
 * only, and a replay needs no keys. */
#include "ui/ui.h"

#include <stdio.h>
#include <string.h>

#include "ui/lesson.h"
#include "ui/page.h"
#include "ui/palette.h"
#include "ui/panes/attention.h"
#include "ui/plot.h"
#include "ui/search.h"
#include "ui/status.h"
#include "ui/timeline.h"

void pw_ui_init(struct pw_ui *ui)
{
    *ui = (struct pw_ui){
        .focus = PW_PANE_LENGTHS, .half_of = PW_PANE_LENGTHS, .time = -1, .transport = {.speed = 1}};
    memcpy(ui->recent, pw_panes_at_first, sizeof ui->recent);
    ui->look = (struct pw_abilities){PW_COLORS_TRUE, true, true};
    pw_opt_defaults(pw_split_opts, &ui->split);
    for (int i = 0; i < PW_PANES; i++)
        if (pw_panes[i]->init != NULL)
            pw_panes[i]->init(ui);
}

void pw_ui_fini(struct pw_ui *ui)
{
    pw_str_fini(&ui->page.text);
    for (int i = 0; i < PW_PANES; i++)
        if (pw_panes[i]->fini != NULL)
            pw_panes[i]->fini(ui);
    pw_time_fini(ui);
}

void pw_ui_detach(struct pw_ui *copy)
{
    copy->snap = copy->present = NULL;
    copy->help = false;
    copy->page.text = (struct pw_str){0};
    copy->transport = (struct pw_transport){.speed = 1};
    pw_att_own_reference(copy);
}

/* Moves a pane before another one in the order of focus, unless it already precedes it. */
static void move_before(struct pw_ui *ui, int pane, int other)
{
    int from = 0, to = 0;

    while (ui->recent[from] != pane)
        from++;
    while (ui->recent[to] != other)
        to++;
    if (from <= to)
        return;
    memmove(ui->recent + to + 1, ui->recent + to, sizeof *ui->recent * (size_t)(from - to));
    ui->recent[to] = pane;
}

void pw_ui_focus(struct pw_ui *ui, int pane)
{
    struct pw_layout l;

    move_before(ui, pane, ui->recent[0]);
    ui->focus = pane;
    if (ui->rows > 0)
        pw_ui_layout(ui, ui->rows, ui->cols, &l);
    if (ui->rows == 0 || l.panes[pane].h == 0) /* the pane does not fit: give it half of the screen */
        ui->half_of = pane;
}

void pw_ui_layout(const struct pw_ui *ui, int rows, int cols, struct pw_layout *l)
{
    struct pw_looks looks = {ui->zoom   ? PW_SCREEN_FULL
                             : ui->half ? PW_SCREEN_HALF
                                        : PW_SCREEN_NORMAL,
                             ui->focus, ui->half_of, ui->recent};
    int lesson = pw_lesson_rows(ui, rows, cols);
    pw_layout(l, rows - lesson, cols, &looks, &ui->split);
    if (ui->encoding.typing && l->panes[PW_PANE_ENCODING].h == 0) {
        /* While a formula is typed its curve is on the screen; the user's own layout returns after it. */
        looks.screen = PW_SCREEN_HALF;
        looks.half = PW_PANE_ENCODING;
        pw_layout(l, rows - lesson, cols, &looks, &ui->split);
    }
    int below = l->timeline.h > 0 ? l->timeline.y : l->hints.h > 0 ? l->hints.y : l->prompt.y;
    l->lesson = (struct pw_rect){below, 0, lesson, cols};
    l->timeline.y += lesson;
    l->hints.y += lesson;
    l->prompt.y += lesson;
}

struct pw_rect pw_ui_inside(const struct pw_layout *l, int pane)
{
    return pw_frame_inside(l->panes[pane]);
}

/* ---- settling: everything that depends on the snapshot or the size, before it is drawn */

/* Returns the area of a page or list that covers the panes. */
static struct pw_rect cover_of(int rows, int cols)
{
    return (struct pw_rect){1, 0, rows - 2, cols};
}

void pw_ui_settle(struct pw_ui *ui, int rows, int cols)
{
    const struct pw_finding_view *list[PW_MAX_FINDINGS];
    struct pw_layout l;

    ui->rows = rows, ui->cols = cols;
    int findings = pw_findings(ui->snap, list);
    if (findings > ui->findings_seen && ui->focus != PW_PANE_ENCODING)
        move_before(ui, PW_PANE_FINDINGS, PW_PANE_ENCODING); /* a new finding comes to the front */
    ui->findings_seen = findings;
    pw_page_settle(ui, cover_of(rows, cols));
    if (ui->help)
        pw_palette_settle(ui, cover_of(rows, cols));
    pw_ui_layout(ui, rows, cols, &l);
    for (int i = 0; i < PW_PANES; i++) {
        struct pw_rect in = pw_ui_inside(&l, i);
        if (in.h > 0 && in.w > 0 && pw_panes[i]->settle != NULL)
            pw_panes[i]->settle(ui, in);
    }
    pw_search_settle(ui, l.panes[ui->focus]);
}

/* ---- hints: "hjkl cursor  [ ] head": two blanks separate items; an item's last word describes its keys */

static int draw_hints(struct pw_canvas *c, struct pw_rect r, int x, int end, const char *hints)
{
    while (*hints) {
        const char *stop = strstr(hints, "  ");
        int n = stop != NULL ? (int)(stop - hints) : (int)strlen(hints);
        char item[64];
        pw_text_copy(item, (size_t)n + 1 < sizeof item ? (size_t)n + 1 : sizeof item, hints);
        if (x + pw_text_cells(item) > end)
            return end; /* only whole items */
        char *what = strrchr(item, ' ');
        if (what != NULL)
            *what++ = '\0';
        x = pw_draw_text(c, r, r.y, x, pw_style_bold(), item);
        if (what != NULL)
            x = pw_draw_text(c, r, r.y, x + 1, pw_style_dim(), what);
        x += 2;
        hints += stop != NULL ? n + 2 : n;
    }
    return x;
}

static void draw_hint_line(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    bool idle = ui->snap->state.run == PW_RUN_IDLE;
    const char *run = ui->transport.playing                    ? "Space stop"
                      : pw_time_in_recording(ui)               ? "Space play"
                      : ui->snap->state.run == PW_RUN_TRAINING ? "Space pause"
                      : idle                                   ? "Space train"
                                                               : "Space resume";
    char always[64];                     /* the keys that lead a beginner to everything else */
    bool text = ui->focus == PW_PANE_IO; /* letters are text in this pane */
    snprintf(always, sizeof always, "%s  : command  ? keys  %s quit", run, text ? "F10" : "q");
    const char *last = always;
    int end = r.x + r.w - 1;

    while (pw_text_cells(last) >= r.w && strstr(last, "  ") != NULL) /* drop the first items until it fits */
        last = strstr(last, "  ") + 2;
    int from = end - pw_text_cells(last);
    if (from > r.x)
        draw_hints(c, r, from, end, last), end = from - 2;
    int x = draw_hints(c, r, r.x + 1, end, pw_panes[ui->focus]->hints);
    if (x > r.x + 1 && x + 11 <= end) /* enough space for an item after it */
        x = pw_draw_text(c, r, r.y, x, pw_style_dim(), "│") + 1;
    draw_hints(c, r, x, end,
               "Tab pane  z zoom  p prompt  < > arm  . token  S-Left past  / find  y copy  u undo");
}

/* Draws the whole message over as many rows as needed, because the allowed values are usually at its end. */
static void draw_error(struct pw_canvas *c, struct pw_rect r, const char *text)
{
    struct pw_rect none = {0, 0, 0, r.w - 2};
    int rows = pw_draw_wrapped(c, none, 0, pw_style_bad(), text, r.y > 0 ? r.y : 1);
    rows = rows > 0 ? rows : 1;
    struct pw_rect box = {r.y - rows + 1, r.x, rows, r.w}, body = {box.y, r.x + 2, rows, r.w - 2};

    pw_draw_fill(c, box, pw_style_plain(), ' ');
    pw_draw_text(c, box, box.y, box.x, pw_style_bad(), "! ");
    pw_draw_wrapped(c, body, body.y, pw_style_bad(), text, rows);
}

static void draw_message(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    if (ui->message[0] == '\0') {
        if (ui->snap->n_log == 0 && !pw_time_in_recording(ui))
            pw_draw_cut(c, r, r.y, r.x + 1, pw_style_dim(),
                        "type  :  and a command, for example  race none,alibi,t5", r.w - 2);
        return;
    }
    if (ui->message_is_error) {
        draw_error(c, r, ui->message);
    } else {
        pw_draw_cut(c, r, r.y, r.x + 1, pw_style_plain(), ui->message, r.w - 1);
    }
}

/* Shortens "2 t5 8/16, replica 2 of 3" to "2 t5 8/16 r2/3". */
static void abbreviate_replica(struct pw_str *note)
{
    int r, n, used = 0;
    char *at = note->len > 0 ? strstr(note->s, ", replica ") : NULL, brief[32];

    if (at == NULL || sscanf(at, ", replica %d of %d%n", &r, &n, &used) != 2)
        return;
    int len = snprintf(brief, sizeof brief, " r%d/%d", r, n);
    memcpy(at, brief, (size_t)len);
    memmove(at + len, at + used, strlen(at + used) + 1);
    note->len = strlen(note->s);
}

/* Drops parts of a note until it fits. Parts are separated by two blanks; the first ones are the most
 * important. */
static void shorten(struct pw_str *note, int room)
{
    if (pw_text_cells(pw_str_text(note)) > room)
        abbreviate_replica(note);
    while (note->len > 0 && pw_text_cells(note->s) > room) {
        size_t end = note->len;
        while (end > 0 && strncmp(note->s + end, "  ", 2) != 0)
            end--;
        note->s[end] = '\0';
        note->len = end;
    }
}

void pw_ui_draw_pane(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, int id)
{
    struct pw_str title = {0}, right = {0};

    pw_str_add(&title, "%d %s", id + 1, pw_panes[id]->title);
    pw_panes[id]->status(ui, &right);
    int room = r.w - 9 - pw_text_cells(title.s); /* pw_draw_frame needs a column between title and status */
    shorten(&right, room);
    struct pw_rect in = pw_draw_frame(c, r, &ui->look, id == ui->focus, title.s, pw_str_text(&right));
    pw_str_fini(&title);
    pw_str_fini(&right);
    if (in.h <= 0 || in.w <= 0)
        return;
    pw_panes[id]->draw(ui, c, in);
    if (id == ui->focus)
        pw_search_draw(ui, c, r); /* including the frame, so that a search finds its title */
}

void pw_ui_draw(const struct pw_ui *ui, struct pw_canvas *c)
{
    struct pw_layout l;

    pw_canvas_clear(c);
    pw_ramp_use(ui->theme.map, ui->look.colors);
    pw_ui_layout(ui, c->rows, c->cols, &l);
    if (l.status.h > 0)
        pw_status_draw(ui, c, l.status);
    struct pw_rect cover = cover_of(c->rows, c->cols);
    if (ui->page.text.len > 0 && cover.h > 0) {
        pw_page_draw(ui, c, cover);
    } else if (ui->help && cover.h > 0) {
        pw_palette_draw(ui, c, cover);
    } else {
        for (int i = 0; i < PW_PANES; i++)
            if (l.panes[i].h > 0)
                pw_ui_draw_pane(ui, c, l.panes[i], i);
        if (l.lesson.h > 0)
            pw_lesson_draw(ui, c, l.lesson);
        if (l.timeline.h > 0)
            pw_timeline_draw(ui, c, l.timeline);
        if (l.hints.h > 0)
            draw_hint_line(ui, c, l.hints);
    }
    draw_message(ui, c, l.prompt);
    pw_theme_fit_on(c, &ui->look, ui->theme.backdrop);
}

void pw_ui_frame(struct pw_ui *ui, struct pw_canvas *c)
{
    pw_ui_settle(ui, c->rows, c->cols);
    pw_ui_draw(ui, c);
}

/* ---- keys */

static void focus(struct pw_ui *ui, int id)
{
    if (ui->focus == id)
        ui->zoom = !ui->zoom;
    pw_ui_focus(ui, id);
}

void pw_ui_message(struct pw_ui *ui, const char *text)
{
    pw_text_copy(ui->message, sizeof ui->message, text);
    ui->message_is_error = false;
}

/* Switches between normal, half and full screen in a cycle. */
static void next_screen(struct pw_ui *ui, int direction)
{
    int screen = ui->zoom ? PW_SCREEN_FULL : ui->half ? PW_SCREEN_HALF : PW_SCREEN_NORMAL;
    screen = (screen + direction + 3) % 3;
    ui->zoom = screen == PW_SCREEN_FULL;
    ui->half = screen == PW_SCREEN_HALF;
    ui->half_of = ui->focus;
}

/* Leaves the innermost state: first the message, then the past, the search, the zoom. */
static void escape(struct pw_ui *ui)
{
    ui->message[0] = '\0';
    if (pw_time_is_past(ui) && !ui->transport.alone)
        pw_time_live(ui);
    else if (ui->find.text[0])
        pw_search_begin(ui, "");
    else if (ui->zoom)
        ui->zoom = false;
    else if (ui->half)
        ui->half = false;
    else if (ui->focus == PW_PANE_IO) /* letters are text there, so Escape is the way out */
        pw_ui_focus(ui, ui->recent[1]);
}

static void ask(struct pw_ui *ui, const char *text)
{
    pw_text_copy(ui->ask, sizeof ui->ask, text);
}

void pw_ui_ask_prompt(struct pw_ui *ui, const char *typed)
{
    const struct pw_ev_lab *lab = &ui->snap->lab;
    bool word = lab->n_tasks > 0 && (unsigned char)typed[0] < 'A'; /* a letter can start a task's word */

    snprintf(ui->ask, sizeof ui->ask, "prompt %s%s%s", word ? lab->tasks[0].name : "", word ? " " : "",
             typed);
    pw_prompt_example(lab, ui->ask_note, sizeof ui->ask_note);
}

/* Handles keys that change the view. */
static bool view_key(struct pw_ui *ui, int key)
{
    switch (key) {
    case '\t': pw_ui_focus(ui, (ui->focus + 1) % PW_PANES); return true;
    case PW_KEY_BACKTAB: pw_ui_focus(ui, (ui->focus + PW_PANES - 1) % PW_PANES); return true;
    case 'z': ui->zoom = !ui->zoom; return true;
    case '+': next_screen(ui, 1); return true;
    case '_': next_screen(ui, -1); return true;
    case '0':
        pw_opt_defaults(pw_split_opts, &ui->split);
        ui->zoom = ui->half = false;
        return true;
    case PW_KEY_ESCAPE: escape(ui); return true;
    case '?':
    case PW_KEY_F1: pw_palette_open(ui); return true;
    case PW_KEY_SHIFT_LEFT: pw_timeline_move(ui, -1); return true;
    case PW_KEY_SHIFT_RIGHT: pw_timeline_move(ui, 1); return true;
    case 'L': pw_time_live(ui); return true;
    case 'n': pw_search_next(ui, 1); return true;
    case 'N': pw_search_next(ui, -1); return true;
    case '/': ask(ui, "find "); return true;
    case '&': ask(ui, "filter "); return true;
    case '=': ask(ui, "mark "); return true;
    case 'p': pw_ui_ask_prompt(ui, ""); return true;
    default: return false;
    }
}

/* Handles keys that move through a recorded session while the view is in the past. */
static bool time_key(const struct pw_ui *ui, int key, struct pw_str *line)
{
    switch (key) {
    case ' ': pw_str_add(line, ui->transport.playing ? "play off" : "play"); return true;
    case '.':
    case PW_KEY_RIGHT: pw_str_add(line, "goto +1"); return true;
    case ',':
    case PW_KEY_LEFT: pw_str_add(line, "goto -1"); return true;
    case ')': pw_str_add(line, "goto event 1"); return true;
    case '(': pw_str_add(line, "goto event -1"); return true;
    case '>': pw_str_add(line, "play faster"); return true;
    case '<': pw_str_add(line, "play slower"); return true;
    default: return false;
    }
}

/* Selects another replica of the current arm, if it has several. */
static void choose_replica(struct pw_ui *ui, struct pw_str *line, int by)
{
    const struct pw_arm_view *arm = pw_find_arm(ui->snap, ui->snap->current);

    if (arm != NULL && arm->info.replicas > 1)
        pw_str_add(line, "inspect replica=%+d", by);
    else
        pw_ui_message(ui, "this arm has one replica; `race PE,... seeds=N` makes N of each");
}

/* Handles keys that are commands. Relative changes use relative commands (arm next), because the screen can
 * lag behind keys that arrive fast. */
static bool command_key(struct pw_ui *ui, int key, struct pw_str *line)
{
    static const char *const run_lines[] = {
        [PW_RUN_IDLE] = "train", [PW_RUN_TRAINING] = "pause", [PW_RUN_PAUSED] = "resume"};

    if (pw_time_in_recording(ui) && time_key(ui, key, line))
        return true;
    switch (key) {
    case ' ':
        if (ui->snap->state.run <= PW_RUN_PAUSED)
            pw_str_add(line, "%s", run_lines[ui->snap->state.run]);
        return true;
    case '.': pw_str_add(line, "next"); return true;
    case ',': pw_str_add(line, "back"); return true;
    case 'S': pw_str_add(line, "step"); return true;
    case '>': pw_str_add(line, "arm next"); return true;
    case '<': pw_str_add(line, "arm prev"); return true;
    case ')': choose_replica(ui, line, 1); return true;
    case '(': choose_replica(ui, line, -1); return true;
    case 'u': pw_str_add(line, "undo"); return true;
    case PW_CTRL('R'): pw_str_add(line, "redo"); return true;
    case 'y': pw_str_add(line, "copy"); return true;
    case 'Y': pw_str_add(line, "screenshot"); return true;
    case 'q':
    case PW_KEY_F1 + 9: pw_str_add(line, "quit"); return true;
    case 'Q': pw_str_add(line, "quit now"); return true;
    default: return false;
    }
}

bool pw_ui_key(struct pw_ui *ui, int key, struct pw_str *line)
{
    if (ui->page.text.len > 0) {
        pw_page_key(ui, key);
        return true;
    }
    if (ui->help) {
        pw_palette_key(ui, key);
        return true;
    }
    const char *bound = pw_bindings_find(&ui->bindings, key);
    if (bound != NULL) {
        pw_str_add(line, "%s", bound);
        return true;
    }
    if (pw_panes[ui->focus]->key(ui, key, line))
        return true;
    if (key >= '1' && key < '1' + PW_PANES) {
        focus(ui, key - '1');
        return true;
    }
    return view_key(ui, key) || command_key(ui, key, line);
}
