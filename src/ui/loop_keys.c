/* loop_keys.c - interprets a key: a line to run, the prompt, or a change of the view. */
#include <string.h>

#include "ui/loop.h"
#include "ui/mouse.h"
#include "ui/panes/encoding_preview.h"
#include "ui/plot.h"
#include "ui/search.h"

#define TWICE_S 1.0 /* seconds within which two Ctrl-C offer to quit */

static void offer_to_quit(struct pw_loop *l)
{
    pw_line_open(l->line, "quit", "Enter or y leaves pewter, Esc or n stays");
    l->offered = true;
}

void pw_loop_interrupt(struct pw_loop *l)
{
    double t = pw_now();
    if (t - l->interrupted < TWICE_S) {
        offer_to_quit(l);
        l->interrupted = 0;
    } else {
        pw_time_pause(&l->app.ui);
        if (l->app.lab != NULL)
            pw_lab_interrupt(l->app.lab);
        if (l->app.todo.waiting || l->app.ui.snap->job.state == PW_JOB_RUNNING)
            pw_script_end(&l->app);
        pw_app_answer(&l->app, "interrupted; Ctrl-C again offers to quit");
        l->interrupted = t;
    }
}

void pw_loop_suspend(struct pw_loop *l)
{
    pw_term_suspend(l->term);
    l->waiting_since = 0;
    pw_loop_draw_at_once(l);
}

/* Runs the line of a key or a click. */
static void run_line(struct pw_loop *l, const struct pw_str *text)
{
    if (text->len == 0)
        return;
    bool training = pw_time_end(&l->app.ui)->state.run == PW_RUN_TRAINING && l->app.lab != NULL;
    if (training && strcmp(text->s, "quit") == 0)
        offer_to_quit(l); /* a stray key must not end an hour of training */
    else
        pw_loop_submit(l, text->s, PW_SEND_NOW);
}

/* Shows the curve of a formula in the open prompt, and its error. */
static void show_formula(struct pw_loop *l)
{
    struct pw_ui *ui = &l->app.ui;
    const struct pw_preview *p = &ui->encoding.preview;
    pw_encoding_type(ui, pw_line_is_open(l->line) ? pw_line_text(l->line) : NULL);
    pw_text_copy(l->note, sizeof l->note, p->why);
    struct pw_line_remark remark = {.from = p->from, .to = p->to};
    if (ui->encoding.typing)
        remark.hint = l->note[0] != '\0' ? "Esc cancels" : "Enter swaps it in, Esc cancels";
    if (l->note[0] != '\0')
        remark.why = l->note;
    pw_line_remark(l->line, &remark);
}

/* Opens the prompt if a key or a click asked for it. */
static void open_prompt(struct pw_loop *l)
{
    struct pw_ui *ui = &l->app.ui;
    if (ui->ask[0]) {
        struct pw_str begin = {0};
        bool edit = pw_preview_asked(ui->ask, ui->snap, &begin);
        pw_text_copy(l->note, sizeof l->note, ui->ask_note);
        pw_line_open(l->line, edit ? begin.s : ui->ask, l->note[0] ? l->note : NULL);
        pw_str_fini(&begin);
        l->offered = false;
        if (ui->ask_note[0] == '\0')
            show_formula(l);
    }
    ui->ask[0] = ui->ask_note[0] = '\0';
}

static void mouse(struct pw_loop *l, const struct pw_input *in)
{
    struct pw_str text = {0};
    bool dragging = pw_ui_mouse(&l->app.ui, in, &text);
    run_line(l, &text);
    if (!dragging)
        pw_undo_note(&l->app); /* a border was released */
    open_prompt(l);
    pw_str_fini(&text);
}

static void pane_key(struct pw_loop *l, int key)
{
    struct pw_str text = {0};
    struct pw_proportions before = l->app.ui.split;
    pw_ui_key(&l->app.ui, key, &text);
    run_line(l, &text);
    if (memcmp(&before, &l->app.ui.split, sizeof before) != 0)
        pw_undo_note(&l->app); /* `0` resets borders; changes by a line are stored with the line */
    pw_str_fini(&text);
}

static void screen_key(struct pw_loop *l, const struct pw_input *in)
{
    struct pw_ui *ui = &l->app.ui;
    bool over = ui->lesson.over; /* the lesson ended with the last key */
    ui->lesson.over = false;
    switch (in->key) {
    case 0: return;
    case ':': pw_line_open(l->line, "", NULL); return;
    case PW_CTRL('C'): pw_loop_interrupt(l); return;
    case '\n':
    case ' ':
    case 127:
    case 'q':
    case PW_KEY_ESCAPE:
        if (pw_script_press(&l->app, in->key))
            return;
        if (over && in->key == 'q') { /* the key was meant for the lesson */
            pw_app_answer(&l->app, "the lesson has ended; q again quits pewter");
            return;
        }
        pane_key(l, in->key);
        break;
    case PW_CTRL('L'): pw_term_redraw(l->term); return;
    case PW_KEY_PASTE: /* a command from elsewhere: show it before it runs */
        pw_line_open(l->line, "", NULL);
        pw_line_paste(l->line, in->paste, in->n_paste);
        return;
    default: pane_key(l, in->key); break;
    }
    open_prompt(l);
    if (ui->press) {
        struct pw_input chosen = {.key = ui->press};
        ui->press = 0;
        if (chosen.key == PW_CTRL('Z'))
            pw_loop_suspend(l);
        else
            screen_key(l, &chosen);
    }
}

/* Maps the answer to "quit?" to a key of the prompt: y and n as in other programs. */
static struct pw_input answer(const struct pw_input *in)
{
    switch (in->key) {
    case 'y':
    case 'Y': return (struct pw_input){.key = '\n', .raw = "\r", .n_raw = 1};
    case 'n':
    case 'N': return (struct pw_input){.key = PW_KEY_ESCAPE, .raw = "\033", .n_raw = 1};
    default: return *in;
    }
}

/* Runs an accepted line. `pe expr` without a formula opens the prompt again, to edit one. */
static void run_typed(struct pw_loop *l)
{
    struct pw_str line = {0}, begin = {0};
    if (pw_preview_asked(pw_line_text(l->line), l->app.ui.snap, &begin)) {
        pw_line_open(l->line, begin.s, NULL);
        show_formula(l);
    } else {
        pw_str_add(&line, "%s", pw_line_text(l->line));
        pw_preview_close(&line);
        pw_news_typed(&l->news, pw_str_text(&line));
        pw_loop_submit(l, pw_str_text(&line), PW_SEND_NOW);
    }
    pw_str_fini(&line);
    pw_str_fini(&begin);
}

/* Does Enter end a formula that would be refused? The prompt then stays as it is, with the error above it. */
static bool ends_refused(const struct pw_loop *l, const struct pw_input *in)
{
    const struct pw_encoding_state *e = &l->app.ui.encoding;
    struct pw_str begin = {0};
    bool refused = in->key == '\n' && e->typing && e->preview.refused &&
                   !pw_preview_asked(pw_line_text(l->line), l->app.ui.snap, &begin);
    pw_str_fini(&begin);
    return refused;
}

static void prompt_key(struct pw_loop *l, const struct pw_input *in)
{
    enum pw_line_state state = PW_LINE_OPEN;
    if (l->offered && in->key == 'q')
        return;
    struct pw_input answered = answer(in);
    if (l->offered)
        in = &answered;
    l->offered = false;
    if (ends_refused(l, in))
        return;
    if (in->key == PW_KEY_PASTE)
        pw_line_paste(l->line, in->paste, in->n_paste);
    else if (in->n_raw > 0)
        state = pw_line_key(l->line, in->raw, in->n_raw);
    pw_search_try(&l->app.ui, state == PW_LINE_OPEN ? pw_line_text(l->line) : NULL);
    show_formula(l);
    if (state == PW_LINE_ACCEPTED) {
        pw_str_clear(&l->app.ui.page.text); /* the answer to an earlier line, which was read */
        run_typed(l);
    }
}

/* Input acts on the screen as it is now: on its present size and snapshot, whether or not they were drawn. */
static void settle(struct pw_loop *l)
{
    int rows, cols;

    pw_term_size(l->term, &rows, &cols);
    pw_ui_settle(&l->app.ui, rows, cols);
}

void pw_loop_key(struct pw_loop *l, const struct pw_input *in)
{
    settle(l);
    if (in->key == PW_KEY_MOUSE && in->mouse == PW_MOUSE_MOVE) {
        /* Drawn with the next frame, because there can be hundreds of moves. */
        l->dirty = pw_ui_hover(&l->app.ui, in) || l->dirty;
        return;
    }
    if (in->key == PW_KEY_BACKGROUND)
        l->behind = pw_theme_behind(in->rgb);
    else if (in->key == PW_CTRL('Z'))
        pw_loop_suspend(l);
    else if (in->key == PW_KEY_MOUSE)
        mouse(l, in);
    else if (pw_line_is_open(l->line))
        prompt_key(l, in);
    else
        screen_key(l, in);
    pw_loop_draw_at_once(l);
}
