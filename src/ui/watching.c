#include "ui/watching.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "study/reading.h"
#include "study/report.h"
#include "ui/app.h"

#define EVERY_S 2.0

/* The disk's thread uses `reading` and `fresh`, the UI thread `shown`. They hand the rest over by the job. */
struct pw_watched {
    char name[PW_FINDING_NAME];
    char folder[PW_STUDY_PATH];
    bool dropped; /* while it was being read */
    struct pw_study_reading reading;
    struct pw_watching_list {
        int n;
        struct pw_finding_view *view; /* [n] owned */
        struct pw_str by;             /* the commands that make them */
    } fresh, shown;
};

static void free_list(struct pw_watching_list *list)
{
    for (int i = 0; i < list->n; i++)
        pw_finding_fini(&list->view[i].f);
    free(list->view);
    pw_str_fini(&list->by);
    *list = (struct pw_watching_list){0};
}

static void free_watched(void *arg)
{
    struct pw_watched *x = arg;
    free_list(&x->fresh);
    free_list(&x->shown);
    pw_study_reading_close(&x->reading);
    free(x);
}

static void hide(struct pw_app *app)
{
    app->watching = (struct pw_watching){0};
    app->ui.findings.watched = NULL;
    app->ui.findings.n_watched = 0;
}

/* ---- a reading, on the disk's thread */

/* The first task comes first, as the newest finding; a count of cells by their state is a remark. */
static void make_findings(struct pw_watched *x)
{
    const struct pw_results *r = &x->reading.r;
    struct pw_study_report report;
    pw_study_report_init(&report, r, x->name, x->reading.text);
    free_list(&x->fresh);
    pw_study_commands(&x->fresh.by, &report);
    x->fresh.n = report.n;
    x->fresh.view = pw_alloc((size_t)report.n, sizeof *x->fresh.view);
    for (int i = 0; i < report.n; i++) {
        struct pw_finding *f = &x->fresh.view[i].f;
        *f = report.findings[i];
        char queued[32] = "";
        if (x->reading.q.n > 0)
            snprintf(queued, sizeof queued, "%d queued, ", r->queued);
        pw_finding_remark(
            f, "%d of at most %d runs done, %d running, %s%d failed; %lld steps, %.0f s of computing",
            r->there, r->n, r->running, queued, r->broken, (long long)r->steps, r->seconds);
        if (x->reading.q.silent[0] != '\0')
            pw_finding_remark(f, "jobs as recorded: %s", x->reading.q.silent);
    }
    report.n = 0; /* the findings belong to x now */
    pw_study_report_fini(&report);
}

static enum pw_code read_study(void *arg, struct pw_str *said, struct pw_err *err)
{
    struct pw_watched *x = arg;
    (void)said;
    enum pw_code code = x->reading.text != NULL ? pw_study_reading_again(&x->reading, x->folder, err)
                                                : pw_study_reading_open(&x->reading, x->folder, err);
    if (code == PW_OK)
        make_findings(x);
    return code;
}

static enum pw_code show(struct pw_app *app, void *arg, struct pw_err *err)
{
    struct pw_watched *x = arg;
    (void)err;
    if (x->dropped) {
        free_watched(x);
        return PW_OK;
    }
    struct pw_watching_list before = x->shown;
    x->shown = x->fresh;
    x->fresh = before;
    if (x != app->watching.study) { /* the first reading */
        pw_watching_end(app);
        app->watching.study = x;
        pw_ui_focus(&app->ui, PW_PANE_FINDINGS);
    }
    app->ui.findings.watched = x->shown.view;
    app->ui.findings.n_watched = x->shown.n;
    app->watching.next = pw_now() + EVERY_S;
    return PW_OK;
}

/* There is no such folder, or its text is wrong. The job frees the study; another one is still watched. */
static void fail(struct pw_app *app, void *arg)
{
    if (arg == app->watching.study)
        hide(app);
}

static struct pw_disk_job job_of(struct pw_watched *x)
{
    return (struct pw_disk_job){
        .work = read_study, .done = show, .failed = fail, .free = free_watched, .arg = x};
}

/* ---- begin and end */

enum pw_code pw_watching_begin(struct pw_app *app, const char *name, struct pw_err *err)
{
    struct pw_watched *x = pw_alloc(1, sizeof *x);
    x->reading.asks = true;
    enum pw_code code = pw_study_folder(x->folder, name, err);
    if (code != PW_OK) {
        free(x);
        return code;
    }
    pw_text_copy(x->name, sizeof x->name, pw_study_title(name));
    struct pw_disk_job job = job_of(x);
    return pw_app_write(app, &job, err);
}

void pw_watching_end(struct pw_app *app)
{
    struct pw_watched *x = app->watching.study;
    bool is_read = x != NULL && app->watching.next == 0.0;
    hide(app);
    if (is_read)
        x->dropped = true; /* the job frees it */
    else if (x != NULL)
        free_watched(x);
}

void pw_watching_look(struct pw_app *app)
{
    if (app->watching.next == 0.0 || pw_now() < app->watching.next || app->disk == NULL)
        return;
    struct pw_disk_job job = job_of(app->watching.study);
    app->watching.next = 0.0;
    pw_disk_hand(app->disk, &job);
}

double pw_watching_wakes(const struct pw_app *app)
{
    return app->disk != NULL ? app->watching.next : 0.0;
}

const char *pw_watching_name(const struct pw_app *app)
{
    return app->watching.study != NULL ? app->watching.study->name : NULL;
}

const struct pw_finding_view *pw_watching_finding(const struct pw_app *app, const char *text)
{
    const struct pw_findings_state *s = &app->ui.findings;
    for (int i = 0; i < s->n_watched; i++) {
        char full[PW_FINDING_NAME + PW_FINDING_TOPIC];
        snprintf(full, sizeof full, "%s %s", s->watched[i].f.name, s->watched[i].f.topic);
        if (text[0] == '\0' || strcmp(text, full) == 0)
            return &s->watched[i];
    }
    return NULL;
}

const char *pw_watching_commands(const struct pw_app *app)
{
    return app->watching.study != NULL ? pw_str_text(&app->watching.study->shown.by) : "";
}
