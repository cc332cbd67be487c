/* transport.c - selects the moment of a session to show, and plays. */
#include "ui/transport.h"

#include <string.h>
#include <time.h>

#include "ui/disk.h"
#include "ui/plot.h"
#include "ui/timeline.h"

#define FOLLOW_S 0.25 /* seconds between two polls for new events while another process records, ... */
#define IDLE_S   1.0  /* ... and while none does */
#define PAUSE_S  1.0  /* seconds on the screen; the rest of a longer pause is skipped */
#define NAME_MAX 24   /* bytes; names are ASCII */

/* Closes the player and shows the present. */
static void close_player(struct pw_ui *ui)
{
    struct pw_transport *t = &ui->transport;
    pw_time_drop(ui);
    *t = (struct pw_transport){
        .speed = 1, .beside = t->beside, .reader = t->reader, .reading = t->reading, .looks = t->looks};
    ui->present = NULL;
}

void pw_time_fini(struct pw_ui *ui)
{
    pw_disk_close(ui->transport.reader);
    ui->transport.reader = NULL;
    close_player(ui);
}

const struct pw_snapshot *pw_time_end(const struct pw_ui *ui)
{
    return ui->present != NULL ? ui->present : ui->snap;
}

bool pw_time_in_recording(const struct pw_ui *ui)
{
    return ui->transport.alone || ui->present != NULL;
}

bool pw_time_is_past(const struct pw_ui *ui)
{
    return ui->present != NULL || ui->time >= 0;
}

void pw_time_choose(struct pw_ui *ui)
{
    struct pw_transport *t = &ui->transport;
    const struct pw_snapshot *end = t->alone ? pw_player_at(t->player, UINT64_MAX) : pw_time_end(ui);
    ui->present = t->at > 0 ? end : NULL;
    ui->snap = t->at > 0 ? pw_player_at(t->player, t->at) : end;
    pw_time_complete(ui);
}

void pw_time_open(struct pw_ui *ui, struct pw_player *player)
{
    ui->transport = (struct pw_transport){.player = player, .alone = true, .speed = 1};
    pw_time_choose(ui);
}

void pw_time_live(struct pw_ui *ui)
{
    ui->time = -1;
    ui->transport.playing = ui->transport.goes = false;
    ui->transport.at = ui->transport.back = 0;
    ui->transport.goes_ns = 0;
    if (ui->transport.player != NULL)
        pw_time_choose(ui);
}

void pw_time_to_event(struct pw_ui *ui, uint64_t seq)
{
    struct pw_transport *t = &ui->transport;
    t->at = seq < pw_player_last(t->player) ? seq : 0;
    t->played = (double)pw_player_time(t->player, seq) * 1e-9;
    pw_time_choose(ui);
}

/* ---- playing */

/* Moves to the moment of the session that corresponds to `now`. */
static void play_on(struct pw_ui *ui, double now)
{
    struct pw_transport *t = &ui->transport;
    double passed = now - t->since, speed = t->speed > 0 ? t->speed : 1;
    t->since = now;
    t->played += passed * speed;
    uint64_t seq = pw_player_by_time(t->player, (int64_t)(t->played * 1e9));
    double next = (double)pw_player_time(t->player, seq + 1) * 1e-9;
    if (t->speed > 0 && next - t->played > PAUSE_S * speed)
        t->played = next - PAUSE_S * speed;
    t->at = seq > t->at ? seq : t->at;
    if (t->at >= pw_player_last(t->player))
        pw_time_live(ui);
}

static double look_again(const struct pw_ui *ui)
{
    return ui->transport.polled + (ui->snap->session.why[0] ? FOLLOW_S : IDLE_S);
}

void pw_time_show(struct pw_ui *ui, const struct pw_snapshot *present, double now)
{
    struct pw_transport *t = &ui->transport;
    if (present != NULL && t->player != NULL && strcmp(t->folder, present->session.folder) != 0)
        close_player(ui); /* The session was renamed or replaced; discard the player with its positions. */
    if (present != NULL)
        *(ui->present != NULL ? &ui->present : &ui->snap) = present;
    pw_time_take(ui);
    if (t->player == NULL)
        return;
    /* also while the past of a lab is shown, so that there is never much to read at once */
    if ((t->alone || t->at > 0) && now >= look_again(ui)) {
        t->polled = now;
        pw_time_look(ui);
    }
    if (t->playing)
        play_on(ui, now);
    pw_time_choose(ui);
}

double pw_time_wakes(const struct pw_ui *ui, double now)
{
    const struct pw_transport *t = &ui->transport;
    return t->playing ? now : t->alone ? look_again(ui) : 0;
}

enum pw_code pw_time_play(struct pw_ui *ui, double now, struct pw_err *err)
{
    struct pw_transport *t = &ui->transport;
    struct pw_player *p;
    enum pw_code code = pw_time_player(ui, &p, err);
    if (code != PW_OK || t->reading)
        return code;
    if (p == NULL)
        return pw_fail(err, PW_EUSER, "play: nothing is recorded here");
    if (pw_player_last(p) == 0)
        return pw_fail(err, PW_EUSER, "play: the recording is empty");
    if (t->at == 0)
        pw_time_to_event(ui, pw_player_seek(p, 0, 1, PW_EV_KINDS, ""));
    t->played = (double)pw_player_time(p, t->at) * 1e-9;
    t->since = now;
    t->playing = t->at > 0;
    return PW_OK;
}

void pw_time_pause(struct pw_ui *ui)
{
    ui->transport.playing = false;
}

/* ---- steps */

enum pw_code pw_time_to_step(struct pw_ui *ui, int64_t step, struct pw_err *err)
{
    struct pw_transport *t = &ui->transport;
    bool here = t->at > 0 && ui->snap->current > 0;
    int arm = pw_time_arm(ui);
    uint64_t near = here ? t->at : pw_player_last(t->player);
    uint64_t seq = pw_player_step_near(t->player, near, arm, step);
    int64_t most = pw_time_last_step(t->player, near, arm);
    pw_time_choose(ui);
    if (most < 0)
        return pw_fail(err, PW_EUSER, "goto: there is no arm");
    /* The disk may be behind the lab: the range is the lab's. */
    int64_t live = here || t->alone || arm == 0 ? -1 : pw_time_end(ui)->arms[arm - 1].info.step;
    if (step < 0 || (step > most && step > live))
        return pw_fail(err, PW_EUSER, "goto: step %lld: arm %d had 0..%lld", (long long)step, arm,
                       (long long)(live > most ? live : most));
    if (step > most)
        return pw_fail(err, PW_EUSER, "goto: step %lld: not on disk yet; try again", (long long)step);
    if (seq == 0)
        return pw_fail(err, PW_EUSER, "goto: step %lld: arm %d was added later", (long long)step, arm);
    pw_time_to_event(ui, seq);
    return PW_OK;
}

/* ---- words */

static void add_time(const struct pw_ui *ui, struct pw_str *out)
{
    const struct pw_transport *t = &ui->transport;
    uint64_t seq = t->at > 0 ? t->at : pw_player_last(t->player);
    time_t seconds = (time_t)(pw_player_time(t->player, seq) / 1000000000);
    struct tm tm;
    if (!ui->no_machine && seq > 0 && localtime_r(&seconds, &tm) != NULL)
        pw_str_add(out, " · %02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
}

void pw_time_name(struct pw_str *out, const char *name)
{
    const char *slash = strrchr(name, '/');
    name = slash != NULL ? slash + 1 : name;
    static const char ending[] = ".pewter"; /* literal, because src/ui does not include the store's header */
    size_t n = strlen(name), m = strlen(ending);
    n -= n > m && pw_text_ends(name, ending) ? m : 0;
    pw_str_add(out, "%.*s%s", n > NAME_MAX ? NAME_MAX : (int)n, name, n > NAME_MAX ? "…" : "");
}

void pw_time_describe(const struct pw_ui *ui, struct pw_str *out)
{
    const struct pw_transport *t = &ui->transport;
    const struct pw_arm_view *arm = pw_find_arm(ui->snap, ui->snap->current);
    if (t->alone) {
        const struct pw_ev_session *s = &ui->snap->session;
        bool followed = s->why[0] && !ui->no_machine;
        pw_str_add(out, followed ? "follow " : "replay ");
        pw_time_name(out, s->name);
        if (followed)
            pw_str_add(out, " (%s)", s->why);
        if (arm != NULL)
            pw_str_add(out, " · step %lld", (long long)arm->info.step);
    } else {
        pw_str_add(out, "viewing step %lld of %lld", (long long)pw_timeline_now(ui),
                   (long long)pw_timeline_last(ui));
    }
    if (t->player != NULL && (t->alone || t->at > 0))
        add_time(ui, out);
    if (pw_time_lacks(ui))
        pw_str_add(out, " · reading");
    if (t->playing && t->speed > 0)
        pw_str_add(out, " · %gx", t->speed);
    else if (t->playing)
        pw_str_add(out, " · as recorded");
}
