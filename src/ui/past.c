/* past.c - opens the record of the session that a lab is recording, and reads it on.
 *
 * Opening reads the whole session: a second for a million steps. Later the steps since the last look are
 * read, which can be as many. So with a screen another thread does it (disk.h). A player belongs to one
 * thread, and a frame of the past is drawn from it. Therefore the other thread has the player only while the
 * present is shown. A command that needs the player is put off meanwhile (fresh.c).
 *
 * While the past is shown, the other thread reads new events beside the player, and the UI thread adds them.
 * So there, the player may lack the events of the last second. It reads the arrays of the shown moment, too:
 * maps, tables, evaluations. Until then the panes show those of the moment before. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "ui/disk.h"
#include "ui/timeline.h"
#include "ui/ui.h"

#define LATE_S   1.2  /* seconds until a reported step is on disk, at most */
#define MOMENT_S 0.02 /* seconds for which a frame waits for the arrays of its moment */

struct reading {
    struct pw_player *player; /* NULL: to be opened */
    struct pw_ahead *ahead;   /* only to be closed */
    char *folder;
    int arm; /* 0: no step to wait for */
    int64_t step;
};

int64_t pw_time_last_step(struct pw_player *p, uint64_t near, int arm)
{
    uint64_t end = pw_player_step_near(p, near, arm, INT64_MAX);
    return end > 0 ? pw_player_at(p, end)->arms[arm - 1].info.step : -1;
}

static bool is_late(struct pw_player *p, int arm, int64_t step)
{
    return arm > 0 && pw_time_last_step(p, pw_player_last(p), arm) < step;
}

/* A reported step is on disk within a second; waits for it. */
static void catch_up(struct pw_player *p, int arm, int64_t step)
{
    const struct timespec moment = {.tv_nsec = 20 * 1000 * 1000};
    for (int i = 0; i < LATE_S * 50 && is_late(p, arm, step); i++) {
        nanosleep(&moment, NULL);
        pw_player_poll(p);
    }
}

/* ---- on the other thread */

static enum pw_code read_session(void *arg, struct pw_str *said, struct pw_err *err)
{
    struct reading *r = arg;
    (void)said;
    enum pw_code code = PW_OK;
    if (r->player != NULL)
        pw_player_poll(r->player);
    else
        code = pw_player_open(&r->player, r->folder, err);
    if (code == PW_OK)
        catch_up(r->player, r->arm, r->step);
    return code;
}

/* New events, for the player of this folder. */
struct looking {
    struct pw_ahead *ahead;
    char *folder;
    uint64_t from;
};

static enum pw_code read_ahead(void *arg, struct pw_str *said, struct pw_err *err)
{
    struct looking *l = arg;
    (void)said, (void)err;
    pw_ahead_read(l->ahead, l->from);
    return PW_OK;
}

static void free_looking(void *arg)
{
    struct looking *l = arg;
    pw_ahead_destroy(l->ahead);
    free(l->folder);
    free(l);
}

/* Closing releases locks of the database. */
static enum pw_code close_session(void *arg, struct pw_str *said, struct pw_err *err)
{
    struct reading *r = arg;
    (void)said, (void)err;
    pw_player_close(r->player);
    pw_ahead_destroy(r->ahead);
    r->player = NULL;
    r->ahead = NULL;
    return PW_OK;
}

static void free_reading(void *arg)
{
    struct reading *r = arg;
    close_session(r, NULL, NULL);
    free(r->folder);
    free(r);
}

/* ---- on the UI thread */

bool pw_time_reading(const struct pw_ui *ui)
{
    return ui->transport.reading;
}

int pw_time_fd(const struct pw_ui *ui)
{
    return ui->transport.reader != NULL ? pw_disk_fd(ui->transport.reader) : -1;
}

static void hand_over(struct pw_transport *t, struct pw_disk_job job)
{
    if (t->reader == NULL)
        t->reader = pw_disk_open();
    pw_disk_hand(t->reader, &job);
}

void pw_time_drop(struct pw_ui *ui)
{
    struct pw_transport *t = &ui->transport;
    struct reading *r = pw_alloc(1, sizeof *r);
    *r = (struct reading){.player = t->player, .ahead = t->ahead};
    t->player = NULL;
    t->ahead = NULL;
    if (t->reader != NULL)
        hand_over(t, (struct pw_disk_job){.work = close_session, .free = free_reading, .arg = r});
    else
        free_reading(r);
}

void pw_time_look(struct pw_ui *ui)
{
    struct pw_transport *t = &ui->transport;
    if (!t->beside) {
        pw_player_poll(t->player);
        return;
    }
    if (t->looks)
        return;
    struct looking *l = pw_alloc(1, sizeof *l);
    if (t->ahead == NULL)
        t->ahead = pw_ahead_create(t->player, pw_record_path(pw_player_record(t->player)));
    pw_player_ask(t->player, t->ahead);
    *l = (struct looking){t->ahead, pw_text_dup(t->folder), pw_player_last(t->player)};
    t->ahead = NULL;
    t->looks = true;
    hand_over(t, (struct pw_disk_job){.work = read_ahead, .free = free_looking, .arg = l});
}

/* The events of another session are dropped. */
static void take_ahead(struct pw_transport *t, struct looking *l)
{
    t->looks = false;
    if (t->player == NULL || strcmp(l->folder, t->folder) != 0)
        return;
    pw_player_take(t->player, l->ahead);
    t->ahead = l->ahead;
    l->ahead = NULL;
}

bool pw_time_lacks(const struct pw_ui *ui)
{
    return ui->transport.lacks_since > 0;
}

double pw_time_due(const struct pw_ui *ui)
{
    return ui->transport.lacks_since + (pw_time_lacks(ui) ? MOMENT_S : 0);
}

void pw_time_complete(struct pw_ui *ui)
{
    struct pw_transport *t = &ui->transport;
    bool lacks = t->at > 0 && pw_player_lacks(t->player);
    t->lacks_since = !lacks ? 0 : t->lacks_since > 0 ? t->lacks_since : pw_now();
    if (lacks)
        pw_time_look(ui);
}

static void start_reading(struct pw_ui *ui, int arm, int64_t step)
{
    struct pw_transport *t = &ui->transport;
    struct reading *r = pw_alloc(1, sizeof *r);
    t->back = t->at;
    t->at = 0;
    t->playing = false;
    if (t->player != NULL)
        pw_time_choose(ui); /* the present */
    *r = (struct reading){.player = t->player,
                          .folder = pw_text_dup(pw_time_end(ui)->session.folder),
                          .arm = arm,
                          .step = step};
    t->player = NULL;
    t->reading = true;
    hand_over(t, (struct pw_disk_job){.work = read_session, .free = free_reading, .arg = r});
}

/* Moves to where a key went meanwhile. */
static void go_there(struct pw_ui *ui)
{
    struct pw_transport *t = &ui->transport;
    int64_t place = ui->time, t_ns = t->goes_ns;
    bool goes = t->goes;
    t->goes = false;
    t->goes_ns = 0;
    if (t_ns > 0) {
        pw_time_to_event(ui, pw_player_by_time(t->player, t_ns));
    } else if (goes && pw_time_awaits(ui, place)) {
        t->goes = true;
    } else if (goes) {
        ui->time = -1;
        pw_timeline_go(ui, place);
    }
}

static void take_player(struct pw_ui *ui, struct reading *r, enum pw_code code, const struct pw_err *why)
{
    struct pw_transport *t = &ui->transport;
    t->reading = false;
    t->failed = code == PW_OK ? (struct pw_err){0} : *why;
    if (code == PW_OK && strcmp(r->folder, pw_time_end(ui)->session.folder) == 0) {
        t->read = true;
        t->waited = r->arm > 0;
        t->player = r->player;
        pw_player_defer(t->player);
        r->player = NULL;
        pw_text_copy(t->folder, sizeof t->folder, r->folder);
        t->at = t->back;
        go_there(ui);
    } else { /* it can't be read, or the session was renamed meanwhile */
        if (code != PW_OK && (t->goes || t->goes_ns > 0)) {
            pw_text_copy(ui->message, sizeof ui->message, t->failed.msg);
            ui->message_is_error = true;
            t->failed.msg[0] = '\0';
        }
        pw_time_live(ui);
    }
}

void pw_time_take(struct pw_ui *ui)
{
    struct pw_transport *t = &ui->transport;
    struct pw_disk_job job;
    enum pw_code code;
    struct pw_err why = {0};
    while (t->reader != NULL && pw_disk_result(t->reader, &job, &code, &why)) {
        if (job.work == read_ahead)
            take_ahead(t, job.arg);
        else if (job.work == read_session)
            take_player(ui, job.arg, code, &why);
        pw_disk_job_fini(&job);
    }
}

void pw_time_go_when_read(struct pw_ui *ui, int64_t t_ns)
{
    struct pw_transport *t = &ui->transport;
    t->goes_ns = t_ns;
    t->goes = t_ns == 0;
    if (!t->reading)
        go_there(ui);
}

enum pw_code pw_time_player(struct pw_ui *ui, struct pw_player **p, struct pw_err *err)
{
    struct pw_transport *t = &ui->transport;
    const struct pw_ev_session *s = &pw_time_end(ui)->session;
    bool recorded = s->how != PW_REC_NONE && s->folder[0];
    *p = NULL;
    if (t->reading)
        return PW_OK;
    if (t->failed.msg[0]) {
        enum pw_code code = pw_fail(err, PW_EUSER, "%s", t->failed.msg);
        t->failed.msg[0] = '\0';
        return code;
    }
    if (t->beside && !t->alone && t->at == 0 && !t->read && (recorded || t->player != NULL)) {
        start_reading(ui, 0, 0);
        return PW_OK;
    }
    if (t->player == NULL && recorded) {
        enum pw_code code = pw_player_open(&t->player, s->folder, err);
        if (code != PW_OK)
            return code;
        pw_text_copy(t->folder, sizeof t->folder, s->folder);
    } else if (t->player != NULL && !t->read) {
        pw_time_look(ui);
        pw_time_choose(ui);
    }
    *p = t->player;
    return PW_OK;
}

/* If no arm exists yet at the current moment, the arm of the end is used. */
int pw_time_arm(const struct pw_ui *ui)
{
    struct pw_player *p = ui->transport.player;
    bool here = ui->transport.at > 0 && ui->snap->current > 0;
    return here ? ui->snap->current : pw_player_at(p, pw_player_last(p))->current;
}

bool pw_time_awaits(struct pw_ui *ui, int64_t step)
{
    struct pw_transport *t = &ui->transport;
    int arm = pw_time_arm(ui);
    bool told = !t->alone && arm > 0 && step <= pw_time_end(ui)->arms[arm - 1].info.step;
    bool late = told && is_late(t->player, arm, step);
    pw_time_choose(ui);
    if (late && t->beside && !t->waited)
        start_reading(ui, arm, step);
    else if (late && !t->beside) {
        catch_up(t->player, arm, step);
        pw_time_choose(ui);
    }
    return t->reading;
}
