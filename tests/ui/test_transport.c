/* test_transport.c - tests moving through a session: keys, the timeline's row, the status line and playing.
 * The store writes the session and the player reads it. */
#include "ref_viewing.h"

#include <string.h>

#include "ref_recording.h"
#include "ui/keys.h"
#include "ui/mouse.h"
#include "ui/palette.h"
#include "ui/timeline.h"

static void opened(struct viewing *v)
{
    struct pw_player *p;
    if (pw_player_open(&p, v->session, &v->err) != PW_OK)
        fail_msg("%s", v->err.msg);
    pw_time_open(&v->app.ui, p);
}

/* Help and completion offer no command that a replay refuses. */
static void it_offers_nothing_that_it_refuses(void **state)
{
    struct viewing *v = *state;
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
    opened(v);
    v->app.ui.zoom = true;
    for (size_t i = 0; i < sizeof panes / sizeof *panes; i++) {
        v->app.ui.focus = panes[i].pane;
        viewing_shows(v, panes[i].missing, true);
        viewing_shows(v, "not in the recording up to here", true);
        viewing_shows(v, panes[i].offer, false);
    }
}

static void a_recording_is_gone_through(void **state)
{
    struct viewing *v = *state;
    opened(v);
    viewing_steps_are(v, 60, 60);
    viewing_shows(v, "replay r · step 60", true);
    viewing_shows(v, "▸ end", true);
    viewing_run(v, "goto 30");
    viewing_steps_are(v, 30, 30); /* a step of a race: all arms are at it */
    viewing_shows(v, "replay r · step 30", true);
    viewing_shows(v, "← past", true);
    viewing_run(v, viewing_press(v, '.'));
    viewing_steps_are(v, 31, 31);
    viewing_run(v, viewing_press(v, ','));
    viewing_run(v, viewing_press(v, PW_KEY_LEFT));
    viewing_steps_are(v, 29, 29);
    viewing_run(v, "goto mark");
    assert_string_equal(v->app.ui.message, "mark: half way");
    viewing_steps_are(v, 20, 20);
    viewing_run(v, viewing_press(v, '('));
    assert_string_equal(v->app.ui.message, "train 60");
    viewing_run(v, viewing_press(v, ')'));
    viewing_steps_are(v, 20, 20);
    viewing_run(v, "goto command");
    assert_string_equal(v->app.ui.message, "quit");
    assert_int_equal(v->app.ui.transport.at, 0); /* at the end */
    viewing_run(v, "goto start");
    viewing_steps_are(v, 0, 0);
    viewing_refused(v, "goto -1", "0..");
    viewing_refused(v, "goto command -1", "goto command -1: too few commands before this moment");
    viewing_refused(v, "goto event x", "allowed are");
    viewing_refused(v, "goto mark no", "no mark has 'no'");
    viewing_run(v, "goto 10"); /* no arm exists yet: uses the last arm */
    viewing_steps_are(v, 10, 10);
    viewing_run(v, "goto start");
    viewing_refused(v, "goto 61", "arm 1 had 0..60");
    viewing_refused(v, "goto live 3", "too many words");
    viewing_refused(v, "train", "r.pewter --from STEP` continues from a step of it");
    viewing_run(v, "goto end");
    viewing_steps_are(v, 60, 60);
    assert_string_equal(viewing_press(v, 'L'), "");
    assert_false(pw_time_is_past(&v->app.ui));
}

/* The row shows all events in order. A click moves to the event there, and stations are ticks. */
static void the_row_is_clicked(void **state)
{
    struct viewing *v = *state;
    struct pw_ui *ui = &v->app.ui;
    struct pw_rect r = {0, 0, 1, 80};
    opened(v);
    assert_int_equal(pw_timeline_last(ui), (int64_t)pw_player_last(ui->transport.player));
    int64_t before = 0, place;
    for (int x = 12; viewing_run(v, "goto start"), (place = pw_timeline_at(ui, r, x)) >= 0; x++) {
        pw_timeline_go(ui, place);
        assert_int_equal(pw_timeline_now(ui), place);
        assert_true(place >= before);
        before = place;
    }
    assert_true(before > 60);
    viewing_press(v, 'L');
    viewing_press(v, PW_KEY_SHIFT_LEFT);
    assert_string_equal(ui->message, "step 20: mark half way");
    viewing_steps_are(v, 20, 20);
    viewing_press(v, PW_KEY_SHIFT_LEFT);
    viewing_steps_are(v, 0, 0);
    viewing_press(v, PW_KEY_SHIFT_RIGHT);
    viewing_press(v, PW_KEY_SHIFT_RIGHT);
    assert_false(pw_time_is_past(ui));
}

/* Playing has the recorded pace times the speed; a pause of an hour takes a second. */
static void it_plays(void **state)
{
    struct viewing *v = *state;
    struct pw_ui *ui = &v->app.ui;
    struct pw_transport *t = &ui->transport;
    opened(v);
    assert_string_equal(viewing_press(v, ' '), "play");
    viewing_run(v, "play");
    viewing_shows(v, "1x", true);
    viewing_shows(v, "▸ play", true);
    assert_string_equal(viewing_press(v, ' '), "play off");
    double now = t->since;
    pw_time_show(ui, NULL, now += 1.05);
    viewing_steps_are(v, 10, 10);
    assert_true(pw_time_wakes(ui, now) <= now);
    viewing_run(v, viewing_press(v, '>'));
    assert_true(t->speed == 2);
    now = t->since;
    pw_time_show(ui, NULL, now += 0.45);
    assert_in_range(ui->snap->arms[0].info.step, 18, 19);
    for (int i = 0; i < 25; i++) /* the hour */
        pw_time_show(ui, NULL, now += 0.1);
    assert_true(ui->snap->arms[0].info.step > MARK_AT);
    viewing_run(v, "play off");
    int64_t stays = ui->snap->arms[0].info.step;
    pw_time_show(ui, NULL, now += 1);
    assert_int_equal(ui->snap->arms[0].info.step, stays);
    viewing_run(v, "goto mark");
    viewing_run(v, "play speed=recorded");
    viewing_shows(v, "as recorded", true);
    now = t->since;
    for (int i = 0; i < 40; i++)
        pw_time_show(ui, NULL, now += 0.1);
    viewing_steps_are(v, MARK_AT, MARK_AT); /* here it takes an hour */
    viewing_run(v, "play speed=1000");
    now = t->since;
    for (int i = 0; i < 40; i++)
        pw_time_show(ui, NULL, now += 0.1);
    assert_false(t->playing); /* the end */
    viewing_steps_are(v, 60, 60);
    viewing_refused(v, "play speed=0", "1..1000, recorded");
    viewing_refused(v, "play speed=x", "1..1000, recorded");
    viewing_refused(v, "play speed=", "1..1000, recorded");
    viewing_refused(v, "play pace=3", "no option 'pace'; there are speed");
    viewing_refused(v, "play on", "off, faster, slower");
}

/* The keys in its list have the listed effects. */
static void its_keys_are_listed(void **state)
{
    struct viewing *v = *state;
    opened(v);
    for (const char *const *k = pw_help_time_keys; k[0] != NULL; k += 2)
        for (int n = 0, key; (key = pw_palette_nth_key(k[0], n)) != 0; n++) {
            assert_true(key > 0);
            assert_string_not_equal(viewing_press(v, key), "");
            assert_int_equal(pw_app_check(&v->app, pw_str_text(&v->line), &v->err), PW_OK);
        }
    viewing_press(v, '?');
    viewing_shows(v, "In a recording", true);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, viewing_setup, viewing_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_recording_is_gone_through), TEST(it_offers_nothing_that_it_refuses),
        TEST(the_row_is_clicked),          TEST(it_plays),
        TEST(its_keys_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
