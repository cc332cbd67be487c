/* lesson_pages.c - the steps of a lesson that were shown. The user can go back to them, and forward again.
 *
 * A step shows the moment at which it waited for a key, from the session's record, with its view: pane, page,
 * cursors. No command runs again. If no session is recorded, the panes show the present. */
#include "base/alloc.h"
#include "base/clock.h"
#include "ui/app.h"
#include "ui/lesson.h"
#include <stdlib.h>
#include <string.h>

struct pw_lesson_page {
    char text[sizeof((struct pw_ui *)0)->lesson.text];
    int step;
    int64_t t_ns;      /* CLOCK_REALTIME */
    struct pw_ui view; /* a shallow copy that owns nothing */
};

void pw_lesson_keep(struct pw_app *app)
{
    struct pw_lesson_pages *p = &app->pages;
    p->page = pw_grow(p->page, (size_t)p->n + 1, sizeof *p->page);
    struct pw_lesson_page *page = &p->page[p->n++];
    memcpy(page->text, app->ui.lesson.text, sizeof page->text);
    page->step = app->ui.lesson.step;
    page->t_ns = pw_wall_ns();
    page->view = app->ui;
    p->at = p->n - 1;
}

void pw_lesson_forget(struct pw_app *app)
{
    free(app->pages.page);
    app->pages = (struct pw_lesson_pages){0};
}

static void show_view(struct pw_ui *ui, const struct pw_ui *view)
{
    /* Keeps the present map to compare with; the copy's pointer is possibly freed. */
    struct pw_att_ref *ref = ui->attention.ref;
    ui->focus = view->focus;
    ui->zoom = view->zoom, ui->half = view->half, ui->half_of = view->half_of;
    memcpy(ui->recent, view->recent, sizeof ui->recent);
#define SHOW(name) ui->name = view->name;
    PW_PANE_STATES(SHOW)
#undef SHOW
    ui->attention.ref = ref;
}

bool pw_lesson_turn(struct pw_app *app, int by)
{
    struct pw_lesson_pages *p = &app->pages;
    struct pw_ui *ui = &app->ui;
    struct pw_player *player;
    struct pw_err err;
    if (p->at + by < 0 || p->at + by >= p->n)
        return false;
    if (p->at == p->n - 1) /* keep the user's changes since */
        p->page[p->at].view = *ui;
    p->at += by;
    const struct pw_lesson_page *page = &p->page[p->at];
    memcpy(ui->lesson.text, page->text, sizeof ui->lesson.text);
    ui->lesson.step = page->step;
    show_view(ui, &page->view);
    if (p->at == p->n - 1)
        pw_time_live(ui);
    else if (pw_time_player(ui, &player, &err) == PW_OK && (player != NULL || pw_time_reading(ui)))
        pw_time_go_when_read(ui, page->t_ns);
    else
        pw_app_answer(app, "an earlier step; nothing is recorded, so the panes show the present");
    return true;
}
