/* test_transport.c - tests moving through a session: keys, the timeline's row, the status line, playing, and
 * the past of a running lab's session. The store writes the session and the player reads it. */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "ref_recording.h"
#include "ui/app.h"
#include "ui/commands/commands.h"
#include "ui/keys.h"
#include "ui/mouse.h"
#include "ui/palette.h"
#include "ui/timeline.h"

struct bench {
    char folder[64], session[96];
    struct pw_app app;
    struct pw_canvas c;
    struct pw_str line;
    struct pw_err err;
    struct pw_snapshot *present; /* of the fabricated lab */
};

/* A disk that does not answer: reading a session first queries which process records it. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    pthread_t screen; /* must never wait for the disk */
    bool stuck;
    int by_screen;
} disk = {.lock = PTHREAD_MUTEX_INITIALIZER, .freed = PTHREAD_COND_INITIALIZER};

/* Takes the place of the C library's. */
int flock(int fd, int how)
{
    pthread_mutex_lock(&disk.lock);
    if (disk.stuck && pthread_equal(pthread_self(), disk.screen))
        disk.by_screen++; /* and goes on, so that the test can say so */
    else
        while (disk.stuck)
            pthread_cond_wait(&disk.freed, &disk.lock);
    pthread_mutex_unlock(&disk.lock);
    return (int)syscall(SYS_flock, fd, how);
}

static void stick(bool stuck)
{
    pthread_mutex_lock(&disk.lock);
    disk.screen = pthread_self();
    disk.stuck = stuck;
    pthread_cond_broadcast(&disk.freed);
    pthread_mutex_unlock(&disk.lock);
}

static const struct pw_command nothing = {
    .name = "train", .usage = "train", .summary = "", .where = PW_AT_LAB};
static const struct pw_command *list[64];
static const struct pw_commands commands = {list};

static int setup(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    static const struct pw_command *const lab[] = {&nothing, NULL};
    pw_commands_join(list, pw_commands_join(list, 0, lab), pw_ui_commands);
    strcpy(b->folder, "/tmp/pewter-transport-XXXXXX");
    if (mkdtemp(b->folder) == NULL)
        return 1;
    snprintf(b->session, sizeof b->session, "%s/r.pewter", b->folder);
    recording_make(b->session);
    b->app.commands = &commands;
    b->app.screen = true;
    pw_ui_init(&b->app.ui);
    b->app.ui.look = (struct pw_abilities){PW_COLORS_TRUE, true};
    b->app.ui.focus = PW_PANE_LOG; /* other panes use some of the keys */
    b->present = pw_snapshot_new();
    pw_canvas_init(&b->c);
    pw_canvas_resize(&b->c, 24, 80);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;
    char text[128];
    snprintf(text, sizeof text, "rm -r %s", b->folder);
    pw_app_end(&b->app);
    pw_canvas_fini(&b->c);
    pw_str_fini(&b->line);
    pw_snapshot_free(b->present);
    free(b);
    return system(text);
}

static void opened(struct bench *b)
{
    struct pw_player *p;
    if (pw_player_open(&p, b->session, &b->err) != PW_OK)
        fail_msg("%s", b->err.msg);
    pw_time_open(&b->app.ui, p);
}

static void run(struct bench *b, const char *line)
{
    b->app.ui.message[0] = '\0';
    if (pw_app_submit(&b->app, line, PW_SEND_NOW, &b->err) != PW_OK)
        fail_msg("%s: %s", line, b->err.msg);
}

static void refused(struct bench *b, const char *line, const char *why)
{
    uint64_t at = b->app.ui.transport.at;
    if (pw_app_submit(&b->app, line, PW_SEND_NOW, &b->err) == PW_OK)
        fail_msg("%s was taken", line);
    if (strstr(b->err.msg, why) == NULL || strchr(b->err.msg, '\n') != NULL)
        fail_msg("%s: '%s' lacks '%s'", line, b->err.msg, why);
    assert_int_equal(b->app.ui.transport.at, at);
}

static const char *press(struct bench *b, int key)
{
    pw_str_clear(&b->line);
    assert_true(pw_ui_key(&b->app.ui, key, &b->line));
    return pw_str_text(&b->line);
}

static void shows(struct bench *b, const char *what, bool shown)
{
    struct pw_str text = {0};
    pw_ui_frame(&b->app.ui, &b->c);
    pw_canvas_text(&b->c, &text);
    if ((strstr(text.s, what) != NULL) != shown)
        fail_msg("'%s' is %s\n%s", what, shown ? "missing" : "there", text.s);
    pw_str_fini(&text);
}

/* Checks the steps of both arms at the shown moment. */
static void steps_are(struct bench *b, int64_t none, int64_t alibi)
{
    const struct pw_snapshot *s = b->app.ui.snap;
    assert_int_equal(s->arms[0].info.step, none);
    assert_int_equal(s->arms[1].info.step, alibi);
    assert_int_equal(s->arms[0].rep[0].series.n, none);
}

/* ---- */

/* Help and completion offer no command that a replay refuses. */
static void it_offers_nothing_that_it_refuses(void **state)
{
    struct bench *b = *state;
    static const struct {
        int pane;
        const char *missing, *offer;
    } panes[] = {
        {PW_PANE_LENGTHS, "no evaluation yet", ":eval"},
        {PW_PANE_ATTENTION, "no prompt to look at yet", ":prompt"},
        {PW_PANE_STEP, "nothing decoded yet", ":prompt"},
        {PW_PANE_IO, "no prompt yet", ":prompt"},
        {PW_PANE_FINDINGS, "nothing measured yet", ":probe"},
        {PW_PANE_ENCODING, "the encoding's own numbers", ":table"},
    };
    opened(b);
    b->app.ui.zoom = true;
    for (size_t i = 0; i < sizeof panes / sizeof *panes; i++) {
        b->app.ui.focus = panes[i].pane;
        shows(b, panes[i].missing, true);
        shows(b, "not in the recording up to here", true);
        shows(b, panes[i].offer, false);
    }
}

static void a_recording_is_gone_through(void **state)
{
    struct bench *b = *state;
    opened(b);
    steps_are(b, 60, 60);
    shows(b, "replay r · step 60", true);
    shows(b, "▸ end", true);
    run(b, "goto 30");
    steps_are(b, 30, 30); /* a step of a race: all arms are at it */
    shows(b, "replay r · step 30", true);
    shows(b, "← past", true);
    run(b, press(b, '.'));
    steps_are(b, 31, 31);
    run(b, press(b, ','));
    run(b, press(b, PW_KEY_LEFT));
    steps_are(b, 29, 29);
    run(b, "goto mark");
    assert_string_equal(b->app.ui.message, "mark: half way");
    steps_are(b, 20, 20);
    run(b, press(b, '('));
    assert_string_equal(b->app.ui.message, "train 60");
    run(b, press(b, ')'));
    steps_are(b, 20, 20);
    run(b, "goto command");
    assert_string_equal(b->app.ui.message, "quit");
    assert_int_equal(b->app.ui.transport.at, 0); /* at the end */
    run(b, "goto start");
    steps_are(b, 0, 0);
    refused(b, "goto -1", "0..");
    refused(b, "goto command -1", "goto command -1: too few commands before this moment");
    refused(b, "goto event x", "allowed are");
    refused(b, "goto mark no", "no mark has 'no'");
    run(b, "goto 10"); /* no arm exists yet: uses the last arm */
    steps_are(b, 10, 10);
    run(b, "goto start");
    refused(b, "goto 61", "arm 1 had 0..60");
    refused(b, "goto live 3", "too many words");
    refused(b, "train", "r.pewter --from STEP` continues from a step of it");
    run(b, "goto end");
    steps_are(b, 60, 60);
    assert_string_equal(press(b, 'L'), "");
    assert_false(pw_time_is_past(&b->app.ui));
}

/* The row shows all events in order. A click moves to the event there, and stations are ticks. */
static void the_row_is_clicked(void **state)
{
    struct bench *b = *state;
    struct pw_ui *ui = &b->app.ui;
    struct pw_rect r = {0, 0, 1, 80};
    opened(b);
    assert_int_equal(pw_timeline_last(ui), (int64_t)pw_player_last(ui->transport.player));
    int64_t before = 0, place;
    for (int x = 12; run(b, "goto start"), (place = pw_timeline_at(ui, r, x)) >= 0; x++) {
        pw_timeline_go(ui, place);
        assert_int_equal(pw_timeline_now(ui), place);
        assert_true(place >= before);
        before = place;
    }
    assert_true(before > 60);
    press(b, 'L');
    press(b, PW_KEY_SHIFT_LEFT);
    assert_string_equal(ui->message, "step 20: mark half way");
    steps_are(b, 20, 20);
    press(b, PW_KEY_SHIFT_LEFT);
    steps_are(b, 0, 0);
    press(b, PW_KEY_SHIFT_RIGHT);
    press(b, PW_KEY_SHIFT_RIGHT);
    assert_false(pw_time_is_past(ui));
}

/* Playing has the recorded pace times the speed; a pause of an hour takes a second. */
static void it_plays(void **state)
{
    struct bench *b = *state;
    struct pw_ui *ui = &b->app.ui;
    struct pw_transport *t = &ui->transport;
    opened(b);
    assert_string_equal(press(b, ' '), "play");
    run(b, "play");
    shows(b, "1x", true);
    shows(b, "▸ play", true);
    assert_string_equal(press(b, ' '), "play off");
    double now = t->since;
    pw_time_show(ui, NULL, now += 1.05);
    steps_are(b, 10, 10);
    assert_true(pw_time_wakes(ui, now) <= now);
    run(b, press(b, '>'));
    assert_true(t->speed == 2);
    now = t->since;
    pw_time_show(ui, NULL, now += 0.45);
    assert_in_range(ui->snap->arms[0].info.step, 18, 19);
    for (int i = 0; i < 25; i++) /* the hour */
        pw_time_show(ui, NULL, now += 0.1);
    assert_true(ui->snap->arms[0].info.step > MARK_AT);
    run(b, "play off");
    int64_t stays = ui->snap->arms[0].info.step;
    pw_time_show(ui, NULL, now += 1);
    assert_int_equal(ui->snap->arms[0].info.step, stays);
    run(b, "goto mark");
    run(b, "play speed=recorded");
    shows(b, "as recorded", true);
    now = t->since;
    for (int i = 0; i < 40; i++)
        pw_time_show(ui, NULL, now += 0.1);
    steps_are(b, MARK_AT, MARK_AT); /* here it takes an hour */
    run(b, "play speed=1000");
    now = t->since;
    for (int i = 0; i < 40; i++)
        pw_time_show(ui, NULL, now += 0.1);
    assert_false(t->playing); /* the end */
    steps_are(b, 60, 60);
    refused(b, "play speed=0", "1..1000, recorded");
    refused(b, "play speed=x", "1..1000, recorded");
    refused(b, "play speed=", "1..1000, recorded");
    refused(b, "play pace=3", "no option 'pace'; there are speed");
    refused(b, "play on", "off, faster, slower");
}

/* The keys in its list have the listed effects. */
static void its_keys_are_listed(void **state)
{
    struct bench *b = *state;
    opened(b);
    for (const char *const *k = pw_help_time_keys; k[0] != NULL; k += 2)
        for (int n = 0, key; (key = pw_palette_nth_key(k[0], n)) != 0; n++) {
            assert_true(key > 0);
            assert_string_not_equal(press(b, key), "");
            assert_int_equal(pw_app_check(&b->app, pw_str_text(&b->line), &b->err), PW_OK);
        }
    press(b, '?');
    shows(b, "In a recording", true);
}

/* A lab continues while its past is shown. The panes show the past; the row and the state show the
 * present. */
static void the_past_of_a_session_is_its_record(void **state)
{
    struct bench *b = *state;
    struct pw_ui *ui = &b->app.ui;
    struct pw_snapshot *s = b->present;
    pw_time_show(ui, s, 1);
    refused(b, "goto command", "nothing is recorded here");
    refused(b, "play", "nothing is recorded here");
    s->current = 1;
    s->arms[0].used = true;
    s->arms[0].info = (struct pw_ev_arm){.id = 1, .replicas = 1, .step = 75};
    s->session.how = PW_REC_ON;
    snprintf(s->session.name, sizeof s->session.name, "r");
    snprintf(s->session.folder, sizeof s->session.folder, "%s", b->session);
    pw_time_show(ui, s, 2);
    shows(b, "rec r", true);
    run(b, "goto 30");
    steps_are(b, 30, 30);
    shows(b, "viewing step 30 of 75", true);
    s->arms[0].info.step = 80;
    steps_are(b, 30, 30);
    shows(b, "viewing step 30 of 80", true);
    assert_string_equal(press(b, ' '), "play");
    press(b, PW_KEY_ESCAPE);
    assert_ptr_equal(ui->snap, s);
    assert_int_equal(ui->time, -1);
    run(b, "goto 30");
    snprintf(s->session.folder, sizeof s->session.folder, "elsewhere"); /* the session was moved */
    pw_time_show(ui, s, 4);
    assert_ptr_equal(ui->snap, s);
    refused(b, "goto 3", "elsewhere");
    s->session.how = PW_REC_NONE;
    run(b, "goto 3");
    assert_int_equal(ui->time, 3);
    s->session.how = PW_REC_PAUSED;
    snprintf(s->session.why, sizeof s->session.why, "the disk is full");
    shows(b, "not recorded: the disk is full", true);
    s->session.how = PW_REC_NONE; /* never recorded, with a reason */
    shows(b, "not recorded: the disk is full", true);
    s->session.why[0] = '\0'; /* not requested */
    shows(b, "not recorded", false);
}

/* The lab's snapshot at a step, while it records the session. */
static void set_present(struct bench *b, int64_t step)
{
    struct pw_snapshot *s = b->present;
    s->current = 1;
    s->arms[0].used = true;
    s->arms[0].info = (struct pw_ev_arm){.id = 1, .replicas = 1, .step = step};
    s->session.how = PW_REC_ON;
    snprintf(s->session.folder, sizeof s->session.folder, "%s", b->session);
    b->app.ui.transport.beside = true;
    pw_time_show(&b->app.ui, s, 1);
}

/* Waits until the session has been read, and takes a frame's part in it. */
static enum pw_code take_player(struct bench *b)
{
    struct pollfd p = {.fd = pw_time_fd(&b->app.ui), .events = POLLIN};
    assert_true(pw_time_reading(&b->app.ui));
    assert_int_equal(poll(&p, 1, 120000), 1);
    b->app.ui.message[0] = '\0';
    pw_time_show(&b->app.ui, b->present, 2);
    return pw_script_go_on(&b->app, &b->err);
}

/* While the disk does not answer, a key that goes back in time moves at once, and so do later keys; commands
 * that need the record wait for it, with the rest of their line or script. */
static void no_key_waits_for_the_record(void **state)
{
    struct bench *b = *state;
    struct pw_ui *ui = &b->app.ui;
    struct pw_snapshot *s = b->present;
    set_present(b, 60);
    s->n_ticks = 1;
    s->ticks[0] = (struct pw_tick){.kind = PW_TICK_EVAL, .arm = 1, .step = 40};
    stick(true);
    press(b, PW_KEY_SHIFT_LEFT);
    shows(b, "viewing step 40 of 60", true);
    press(b, PW_KEY_SHIFT_LEFT);
    shows(b, "viewing step 0 of 60", true);
    press(b, PW_KEY_SHIFT_RIGHT);
    press(b, '4');
    assert_int_equal(ui->focus, 3);
    assert_ptr_equal(ui->snap, s);
    assert_int_equal(disk.by_screen, 0);
    stick(false);
    assert_int_equal(take_player(b), PW_OK);
    steps_are(b, 40, 40); /* the record of the step that the keys chose */
    assert_int_equal(ui->time, -1);
    run(b, "goto 30"); /* from the past there is no wait */
    steps_are(b, 30, 30);

    run(b, "goto live"); /* the present: read on */
    stick(true);
    run(b, "goto 20; set fps=3");
    run(b, "goto -5");
    assert_ptr_equal(ui->snap, s);
    assert_int_not_equal(b->app.settings.fps, 3);
    stick(false);
    assert_int_equal(take_player(b), PW_OK);
    assert_int_equal(b->app.settings.fps, 3);
    steps_are(b, 15, 15);

    pw_time_live(ui);
    run(b, "wait 0; goto 20; set fps=4"); /* a script */
    while (!pw_time_reading(ui))
        assert_int_equal(pw_script_go_on(&b->app, &b->err), PW_OK);
    assert_int_equal(b->app.settings.fps, 3);
    assert_int_equal(take_player(b), PW_OK);
    assert_int_equal(b->app.settings.fps, 4);
    steps_are(b, 20, 20);
    pw_script_end(&b->app);

    pw_time_live(ui);
    run(b, "play");
    assert_int_equal(take_player(b), PW_OK);
    assert_true(ui->transport.playing);

    snprintf(s->session.folder, sizeof s->session.folder, "elsewhere"); /* the session was moved */
    pw_time_show(ui, s, 4);
    assert_ptr_equal(ui->snap, s);
    run(b, "goto 3; set fps=5");
    assert_int_equal(take_player(b), PW_EUSER);
    assert_non_null(strstr(b->err.msg, "elsewhere"));
    assert_int_equal(b->app.settings.fps, 4);
    press(b, PW_KEY_SHIFT_LEFT);
    assert_int_equal(take_player(b), PW_OK);
    assert_true(ui->message_is_error);
    assert_non_null(strstr(ui->message, "elsewhere"));
    assert_int_equal(ui->time, -1);
    press(b, PW_KEY_SHIFT_LEFT); /* the program ends while it is being read */
}

/* A step that the lab has reported is possibly not on disk yet. */
static void no_line_waits_for_the_latest_step(void **state)
{
    struct bench *b = *state;
    struct pw_ui *ui = &b->app.ui;
    set_present(b, 75);
    run(b, "goto 30");
    assert_int_equal(take_player(b), PW_OK);
    steps_are(b, 30, 30);
    run(b, "goto 70");
    assert_ptr_equal(ui->snap, b->present);
    assert_int_equal(take_player(b), PW_EUSER);
    assert_non_null(strstr(b->err.msg, "goto: step 70: arm 1 had 0..60"));
    steps_are(b, 30, 30); /* where it was */
    pw_time_live(ui);
    run(b, "goto 70");
    assert_int_equal(take_player(b), PW_OK); /* with the session read on, it waits for the step */
    assert_int_equal(take_player(b), PW_EUSER);
    assert_non_null(strstr(b->err.msg, "goto: step 70: not on disk yet; try again"));
    run(b, "goto 30");
    assert_int_equal(take_player(b), PW_OK);
    run(b, "goto +40");
    recording_extend(b->session, 75);
    while (take_player(b) != PW_OK) /* it took longer than a command waits */
        run(b, "goto 70");
    steps_are(b, 70, 70);
    pw_time_live(ui);
    set_present(b, 80);
    b->present->n_ticks = 1;
    b->present->ticks[0] = (struct pw_tick){.kind = PW_TICK_EVAL, .arm = 1, .step = 78};
    press(b, PW_KEY_SHIFT_LEFT); /* so is that of a key */
    assert_int_equal(take_player(b), PW_OK);
    assert_true(pw_time_reading(ui));
    shows(b, "viewing step 78 of 80", true);
    assert_int_equal(take_player(b), PW_OK);
    assert_int_equal(ui->time, -1);
    set_present(b, 75);
    run(b, "goto -1"); /* of the present */
    assert_int_equal(take_player(b), PW_OK);
    steps_are(b, 74, 74);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_recording_is_gone_through), TEST(it_offers_nothing_that_it_refuses),
        TEST(the_row_is_clicked),          TEST(it_plays),
        TEST(its_keys_are_listed),         TEST(the_past_of_a_session_is_its_record),
        TEST(no_key_waits_for_the_record), TEST(no_line_waits_for_the_latest_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
