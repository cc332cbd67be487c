/* test_past.c - tests the past of a running lab's session: it is the session's record, which a thread of its
 * own opens and reads on. */
#include "ref_viewing.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "ref_recording.h"
#include "ref_slow.h"
#include "ui/keys.h"
#include "ui/timeline.h"

/* A lab continues while its past is shown. The panes show the past; the row and the state show the
 * present. */
static void the_past_of_a_session_is_its_record(void **state)
{
    struct viewing *v = *state;
    struct pw_ui *ui = &v->app.ui;
    struct pw_snapshot *s = v->present;
    pw_time_show(ui, s, 1);
    viewing_refused(v, "goto command", "nothing is recorded here");
    viewing_refused(v, "play", "nothing is recorded here");
    s->current = 1;
    s->arms[0].used = true;
    s->arms[0].info = (struct pw_ev_arm){.id = 1, .replicas = 1, .step = 75};
    s->session.how = PW_REC_ON;
    snprintf(s->session.name, sizeof s->session.name, "r");
    snprintf(s->session.folder, sizeof s->session.folder, "%s", v->session);
    pw_time_show(ui, s, 2);
    viewing_shows(v, "rec r", true);
    viewing_run(v, "goto 30");
    viewing_steps_are(v, 30, 30);
    viewing_shows(v, "viewing step 30 of 75", true);
    s->arms[0].info.step = 80;
    viewing_steps_are(v, 30, 30);
    viewing_shows(v, "viewing step 30 of 80", true);
    assert_string_equal(viewing_press(v, ' '), "play");
    viewing_press(v, PW_KEY_ESCAPE);
    assert_ptr_equal(ui->snap, s);
    assert_int_equal(ui->time, -1);
    viewing_run(v, "goto 30");
    snprintf(s->session.folder, sizeof s->session.folder, "elsewhere"); /* the session was moved */
    pw_time_show(ui, s, 4);
    assert_ptr_equal(ui->snap, s);
    viewing_refused(v, "goto 3", "elsewhere");
    s->session.how = PW_REC_NONE;
    viewing_run(v, "goto 3");
    assert_int_equal(ui->time, 3);
    s->session.how = PW_REC_PAUSED;
    snprintf(s->session.why, sizeof s->session.why, "the disk is full");
    viewing_shows(v, "not recorded: the disk is full", true);
    s->session.how = PW_REC_NONE; /* never recorded, with a reason */
    viewing_shows(v, "not recorded: the disk is full", true);
    s->session.why[0] = '\0'; /* not requested */
    viewing_shows(v, "not recorded", false);
}

/* The lab's snapshot at a step, while it records the session. */
static void set_present(struct viewing *v, int64_t step)
{
    struct pw_snapshot *s = v->present;
    s->current = 1;
    s->arms[0].used = true;
    s->arms[0].info = (struct pw_ev_arm){.id = 1, .replicas = 1, .step = step};
    s->session.how = PW_REC_ON;
    snprintf(s->session.folder, sizeof s->session.folder, "%s", v->session);
    v->app.ui.transport.beside = true;
    pw_time_show(&v->app.ui, s, 1);
}

/* Takes new events that commands in the past have begun to read. */
static void take_looks(struct viewing *v)
{
    struct pollfd p = {.fd = pw_time_fd(&v->app.ui), .events = POLLIN};
    while (v->app.ui.transport.looks) {
        assert_int_equal(poll(&p, 1, 120000), 1);
        pw_time_take(&v->app.ui);
    }
    pw_time_choose(&v->app.ui);
}

/* Waits until the session has been read, and takes a frame's part in it. Other answers may come first. */
static enum pw_code take_player(struct viewing *v)
{
    struct pw_ui *ui = &v->app.ui;
    struct pollfd p = {.fd = pw_time_fd(ui), .events = POLLIN};
    assert_true(pw_time_reading(ui));
    v->app.ui.message[0] = '\0';
    while (pw_time_reading(ui) && !ui->transport.read) {
        assert_int_equal(poll(&p, 1, 120000), 1);
        pw_time_show(ui, v->present, 2);
    }
    return pw_script_go_on(&v->app, &v->err);
}

/* While the disk does not answer, a key that goes back in time moves at once, and so do later keys; commands
 * that need the record wait for it, with the rest of their line or script. */
static void no_key_waits_for_the_record(void **state)
{
    struct viewing *v = *state;
    struct pw_ui *ui = &v->app.ui;
    struct pw_snapshot *s = v->present;
    set_present(v, 60);
    s->n_ticks = 1;
    s->ticks[0] = (struct pw_tick){.kind = PW_TICK_EVAL, .arm = 1, .step = 40};
    slow_stick(true);
    viewing_press(v, PW_KEY_SHIFT_LEFT);
    viewing_shows(v, "viewing step 40 of 60", true);
    viewing_press(v, PW_KEY_SHIFT_LEFT);
    viewing_shows(v, "viewing step 0 of 60", true);
    viewing_press(v, PW_KEY_SHIFT_RIGHT);
    viewing_press(v, '4');
    assert_int_equal(ui->focus, 3);
    assert_ptr_equal(ui->snap, s);
    assert_int_equal(slow_by_screen(), 0);
    slow_stick(false);
    assert_int_equal(take_player(v), PW_OK);
    viewing_steps_are(v, 40, 40); /* the record of the step that the keys chose */
    assert_int_equal(ui->time, -1);
    viewing_run(v, "goto 30"); /* from the past there is no wait */
    viewing_steps_are(v, 30, 30);
    take_looks(v);

    viewing_run(v, "goto live"); /* the present: read on */
    slow_stick(true);
    viewing_run(v, "goto 20; set fps=3");
    viewing_run(v, "goto -5");
    assert_ptr_equal(ui->snap, s);
    assert_int_not_equal(v->app.settings.fps, 3);
    slow_stick(false);
    assert_int_equal(take_player(v), PW_OK);
    assert_int_equal(v->app.settings.fps, 3);
    viewing_steps_are(v, 15, 15);

    pw_time_live(ui);
    viewing_run(v, "wait 0; goto 20; set fps=4"); /* a script */
    while (!pw_time_reading(ui))
        assert_int_equal(pw_script_go_on(&v->app, &v->err), PW_OK);
    assert_int_equal(v->app.settings.fps, 3);
    assert_int_equal(take_player(v), PW_OK);
    assert_int_equal(v->app.settings.fps, 4);
    viewing_steps_are(v, 20, 20);
    pw_script_end(&v->app);

    pw_time_live(ui);
    viewing_run(v, "play");
    assert_int_equal(take_player(v), PW_OK);
    assert_true(ui->transport.playing);

    snprintf(s->session.folder, sizeof s->session.folder, "elsewhere"); /* the session was moved */
    pw_time_show(ui, s, 4);
    assert_ptr_equal(ui->snap, s);
    viewing_run(v, "goto 3; set fps=5");
    assert_int_equal(take_player(v), PW_EUSER);
    assert_non_null(strstr(v->err.msg, "elsewhere"));
    assert_int_equal(v->app.settings.fps, 4);
    viewing_press(v, PW_KEY_SHIFT_LEFT);
    assert_int_equal(take_player(v), PW_OK);
    assert_true(ui->message_is_error);
    assert_non_null(strstr(ui->message, "elsewhere"));
    assert_int_equal(ui->time, -1);
    viewing_press(v, PW_KEY_SHIFT_LEFT); /* the program ends while it is being read */
}

/* A step that the lab has reported is possibly not on disk yet. */
static void no_line_waits_for_the_latest_step(void **state)
{
    struct viewing *v = *state;
    struct pw_ui *ui = &v->app.ui;
    set_present(v, 75);
    viewing_run(v, "goto 30");
    assert_int_equal(take_player(v), PW_OK);
    viewing_steps_are(v, 30, 30);
    viewing_run(v, "goto 70");
    assert_ptr_equal(ui->snap, v->present);
    assert_int_equal(take_player(v), PW_EUSER);
    assert_non_null(strstr(v->err.msg, "goto: step 70: arm 1 had 0..60"));
    viewing_steps_are(v, 30, 30); /* where it was */
    pw_time_live(ui);
    viewing_run(v, "goto 70");
    assert_int_equal(take_player(v), PW_OK); /* with the session read on, it waits for the step */
    assert_int_equal(take_player(v), PW_EUSER);
    assert_non_null(strstr(v->err.msg, "goto: step 70: not on disk yet; try again"));
    viewing_run(v, "goto 30");
    assert_int_equal(take_player(v), PW_OK);
    viewing_run(v, "goto +40");
    recording_extend(v->session, 75);
    while (take_player(v) != PW_OK) /* it took longer than a command waits */
        viewing_run(v, "goto 70");
    viewing_steps_are(v, 70, 70);
    pw_time_live(ui);
    set_present(v, 80);
    v->present->n_ticks = 1;
    v->present->ticks[0] = (struct pw_tick){.kind = PW_TICK_EVAL, .arm = 1, .step = 78};
    viewing_press(v, PW_KEY_SHIFT_LEFT); /* so is that of a key */
    assert_int_equal(take_player(v), PW_OK);
    assert_true(pw_time_reading(ui));
    viewing_shows(v, "viewing step 78 of 80", true);
    assert_int_equal(take_player(v), PW_OK);
    assert_int_equal(ui->time, -1);
    set_present(v, 75);
    viewing_run(v, "goto -1"); /* of the present */
    assert_int_equal(take_player(v), PW_OK);
    viewing_steps_are(v, 74, 74);
}

/* Adds steps, and the lock of a process that records, which a reader of new events queries. */
static void record_on(const struct viewing *v, int step)
{
    char path[128];
    recording_extend(v->session, step);
    snprintf(path, sizeof path, "%s/lock", v->session);
    FILE *f = fopen(path, "a");
    assert_non_null(f);
    fclose(f);
}

/* New events of the session are read while its past is shown, and no frame and no key waits for them. */
static void no_frame_of_the_past_waits_for_new_events(void **state)
{
    struct viewing *v = *state;
    struct pw_ui *ui = &v->app.ui;
    set_present(v, 60);
    viewing_run(v, "goto 30");
    assert_int_equal(take_player(v), PW_OK);
    record_on(v, 75);
    slow_stick(true);
    set_present(v, 75);
    pw_time_show(ui, v->present, 100);
    viewing_run(v, viewing_press(v, '.'));
    pw_time_show(ui, v->present, 200);
    viewing_steps_are(v, 31, 31);
    viewing_shows(v, "viewing step 31 of 75", true);
    assert_int_equal(slow_by_screen(), 0);
    slow_stick(false);
    take_looks(v);
    pw_time_show(ui, v->present, 200.1);
    viewing_steps_are(v, 31, 31);
    viewing_run(v, "goto 70");
    assert_false(pw_time_reading(ui)); /* it has been read */
    viewing_steps_are(v, 70, 70);

    pw_time_show(ui, v->present, 300); /* another session comes while events of this one are read */
    snprintf(v->present->session.folder, sizeof v->present->session.folder, "elsewhere");
    pw_time_show(ui, v->present, 400);
    take_looks(v);
    assert_ptr_equal(ui->snap, v->present);
}

/* So it is where a recording is shown that another process continues. */
static void no_frame_of_a_replay_waits_for_new_events(void **state)
{
    struct viewing *v = *state;
    struct pw_ui *ui = &v->app.ui;
    struct pw_player *p;
    assert_int_equal(pw_player_open(&p, v->session, &v->err), PW_OK);
    pw_time_open(ui, p);
    ui->transport.beside = true;
    record_on(v, 75);
    slow_stick(true);
    pw_time_show(ui, NULL, 100);
    viewing_steps_are(v, 60, 60);
    assert_int_equal(slow_by_screen(), 0);
    slow_stick(false);
    take_looks(v);
    viewing_steps_are(v, 75, 75);
}

static int samples_shown(const struct viewing *v)
{
    const struct pw_ev_eval *e = &v->app.ui.snap->arms[0].rep[0].eval;
    return e->n == 1 ? e->rows[0].samples : 0;
}

/* A moment is shown at once, with the evaluation that was shown before it. Commands that draw wait for its
 * own. */
static void no_frame_waits_for_the_arrays_of_its_moment(void **state)
{
    struct viewing *v = *state;
    struct pw_ui *ui = &v->app.ui;
    struct pw_player *p;
    const uint64_t first = recording_evaluate(v->session, 11), second = recording_evaluate(v->session, 22),
                   third = recording_evaluate(v->session, 33);
    assert_int_equal(pw_player_open(&p, v->session, &v->err), PW_OK);
    pw_time_open(ui, p);
    ui->transport.beside = true;
    pw_player_defer(p);
    assert_int_equal(samples_shown(v), 33);
    slow_stick(true);
    pw_time_to_event(ui, first);
    assert_int_equal(ui->snap->seq, first);
    assert_int_equal(samples_shown(v), 33); /* at first that of the end */
    assert_true(pw_time_due(ui) > 0);
    viewing_shows(v, "· reading", true);
    viewing_run(v, "copy; set fps=7");
    viewing_run(v, "goto event 1");
    assert_int_equal(ui->snap->seq, second);
    assert_int_equal(slow_by_screen(), 0);
    assert_int_not_equal(v->app.settings.fps, 7);
    slow_stick(false);
    take_looks(v); /* the one of the first moment, which is not shown any more, then that of the second */
    assert_int_equal(samples_shown(v), 11);
    assert_true(pw_time_lacks(ui));
    take_looks(v);
    assert_int_equal(samples_shown(v), 22);
    assert_false(pw_time_lacks(ui));
    viewing_shows(v, "· reading", false);
    assert_int_equal(pw_script_go_on(&v->app, &v->err), PW_OK);
    assert_int_equal(v->app.settings.fps, 7);
    pw_time_to_event(ui, third);
    assert_int_equal(samples_shown(v), 33);
    assert_false(pw_time_lacks(ui)); /* it is in memory */
}

/* Also after a failure: the end of the workbench waits for its files. */
static int unstick(void **state)
{
    slow_stick(false);
    return viewing_teardown(state);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, viewing_setup, unstick)
    const struct CMUnitTest tests[] = {
        TEST(the_past_of_a_session_is_its_record),       TEST(no_key_waits_for_the_record),
        TEST(no_line_waits_for_the_latest_step),         TEST(no_frame_of_the_past_waits_for_new_events),
        TEST(no_frame_of_a_replay_waits_for_new_events), TEST(no_frame_waits_for_the_arrays_of_its_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
