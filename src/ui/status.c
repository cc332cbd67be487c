/* status.c - see status.h. */
#include "ui/status.h"

#include <math.h>

#include "ui/plot.h"

/* A part of the status line. If space is short, the least important parts are left out first. */
struct piece {
    int importance; /* 1: shown as long as any part is */
    struct pw_str text;
};

enum { NAME, SESSION, TASK, ARM, ARMS, REPLICA, HEADS, VIEW, STATE, BAR, RATE, ETA, PIECES };

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

static int models(const struct pw_snapshot *s)
{
    int n = 0;
    for (int i = 0; i < PW_MAX_ARMS; i++)
        n += s->arms[i].used ? s->arms[i].info.replicas : 0;
    return n;
}

static void add_rate(const struct pw_snapshot *s, struct piece *p)
{
    const struct pw_ev_state *st = &s->state;
    int decimals = st->steps_per_s < 10;

    if (st->run == PW_RUN_TRAINING && st->steps_per_s > 0)
        pw_str_add(&p[RATE].text, "%s%.*f it/s", models(s) > 1 ? "all " : "", decimals, st->steps_per_s);
    if (st->run == PW_RUN_TRAINING && st->eta_s >= 0 && isfinite(st->eta_s)) {
        char left[32];
        pw_text_duration(left, sizeof left, st->eta_s);
        pw_str_add(&p[ETA].text, "ETA %s", left);
    }
}

/* "reading the model's files, 120 of 538 MB" and a bar. */
static void describe_reading(const struct pw_progress_now *reads, struct piece *p, int bar)
{
    pw_progress_print(reads, &p[STATE].text);
    if (reads->total > 0)
        add_progress(&p[BAR].text, (double)reads->done / (double)reads->total, bar);
}

static void describe_state(const struct pw_snapshot *s, const struct pw_arm_view *arm, struct piece *p,
                           int bar)
{
    const struct pw_ev_state *st = &s->state;
    long long step = arm != NULL ? (long long)arm->info.step : 0;

    if (s->job.name[0] && s->job.state == PW_JOB_RUNNING) {
        pw_str_add(&p[STATE].text, "%s %lld/%lld", s->job.name, (long long)s->job.done,
                   (long long)s->job.total);
        add_progress(&p[BAR].text, s->job.total > 0 ? (double)s->job.done / (double)s->job.total : 0, bar);
        return;
    }
    const char *run = run_names[st->run <= PW_RUN_PAUSED ? st->run : PW_RUN_IDLE];
    if (st->others) {
        pw_str_add(&p[STATE].text, "%s other arms", run);
        add_rate(s, p);
        return;
    }
    pw_str_add(&p[STATE].text, "%s %lld", run, step);
    if (st->run == PW_RUN_IDLE)
        return;
    if (st->until > 0) {
        pw_str_add(&p[STATE].text, "/%lld", (long long)st->until);
        add_progress(&p[BAR].text, (double)step / (double)st->until, bar);
    }
    add_rate(s, p);
}

/* Lists the heads that are off, so that a reduced network is not mistaken for the complete one: "heads off
 * 0.1 1.3". */
static void describe_heads(const struct pw_arm_view *arm, struct pw_str *out)
{
    struct pw_str list = {0};
    int n = 0;

    for (int i = 0; arm != NULL && i < arm->info.layers * arm->info.heads; i++) {
        int l = i / arm->info.heads, h = i % arm->info.heads;
        bool off = false;
        for (int r = 0; r < arm->info.replicas; r++)
            off = off || pw_head_mode(&arm->rep[r], l, h) != PW_ABLATE_NONE;
        n += off;
        if (off)
            pw_str_add(&list, " " PW_HEAD, l, h);
    }
    if (n > 0)
        pw_str_add(out, n > 1 ? "heads off" : "head off");
    if (n > 4)
        pw_str_add(out, " %d", n);
    else
        pw_str_add(out, "%s", pw_str_text(&list));
    if (n > 0 && !pw_arm_heads_alike(arm))
        pw_str_add(out, " in some replicas");
    pw_str_fini(&list);
}

/* Writes "rec NAME", or the reason why the session cannot be recorded. */
static void describe_session(const struct pw_ev_session *s, struct piece *p)
{
    bool failed = s->how == PW_REC_PAUSED || (s->how == PW_REC_NONE && s->why[0] != '\0');
    if (s->how == PW_REC_ON)
        pw_str_add(&p->text, "rec %.24s", s->name);
    if (failed)
        pw_str_add(&p->text, " not recorded: %.60s ", s->why);
    p->importance = failed ? 2 : 9;
}

static void describe_task(const struct pw_ev_lab *lab, struct pw_str *out)
{
    for (int i = 0; i < lab->n_tasks && i < 8; i++)
        pw_str_add(out, "%s%s %d..%d", i ? ", " : "", lab->tasks[i].name, lab->tasks[i].train_lo,
                   lab->tasks[i].train_hi);
}

void pw_status_draw(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_snapshot *s = ui->snap;
    const struct pw_arm_view *arm = pw_find_arm(s, s->current);
    struct pw_style bar = {PW_DEFAULT, PW_DEFAULT, PW_REVERSE};
    struct pw_style strong = {PW_DEFAULT, PW_DEFAULT, PW_REVERSE | PW_BOLD};
    struct pw_style past = pw_style_warn(); /* not reversed, so that it differs from the bar, also in mono */
    struct piece p[PIECES] = {
        [NAME] = {7, {0}},  [TASK] = {6, {0}},  [ARM] = {2, {0}},     [ARMS] = {8, {0}},
        [STATE] = {1, {0}}, [BAR] = {3, {0}},   [RATE] = {5, {0}},    [ETA] = {4, {0}},
        [VIEW] = {1, {0}},  [HEADS] = {3, {0}}, [REPLICA] = {2, {0}},
    };
    struct pw_str view = {0};
    int n_arms = 0;

    for (int i = 0; i < PW_MAX_ARMS; i++)
        n_arms += s->arms[i].used;
    pw_str_add(&p[NAME].text, "pewter");
    describe_task(&s->lab, &p[TASK].text);
    if (arm != NULL)
        pw_arm_title(ui, arm, &p[ARM].text);
    if (n_arms > 1)
        pw_str_add(&p[ARMS].text, "of %d", n_arms);
    if (arm != NULL && pw_inspected(s, arm) > 1) /* the first one is the default */
        pw_str_add(&p[REPLICA].text, "replica %d of %d", pw_inspected(s, arm), arm->info.replicas);
    describe_session(&pw_time_end(ui)->session, &p[SESSION]);
    if (pw_time_is_past(ui) || ui->transport.alone) {
        pw_time_describe(ui, &view);
        pw_str_add(&p[VIEW].text, " %s ", view.s);
        pw_str_fini(&view);
    }
    describe_heads(arm, &p[HEADS].text);
    int width = r.w >= 100 ? 9 : 5;
    if (ui->reads.what != NULL)
        describe_reading(&ui->reads, p, width);
    else if (!ui->transport.alone)
        describe_state(pw_time_end(ui), pw_find_arm(pw_time_end(ui), pw_time_end(ui)->current), p, width);
    if (ui->no_machine) {
        pw_str_clear(&p[RATE].text);
        pw_str_clear(&p[ETA].text);
    }

    pw_draw_fill(c, r, bar, ' ');
    for (;;) { /* leave out the least important piece until the rest fits */
        int total = 1, least = 0;
        for (int i = 0; i < PIECES; i++)
            if (p[i].text.len > 0) {
                total += pw_text_cells(p[i].text.s) + (i == ARMS ? 1 : 2);
                if (p[least].text.len == 0 || p[i].importance > p[least].importance)
                    least = i;
            }
        if (total - 2 < r.w || p[least].importance <= 1)
            break;
        pw_str_clear(&p[least].text);
        if (least == SESSION && p[least].importance < 9) { /* unless a reason is shown */
            pw_str_add(&p[least].text, " not recorded ");
            p[least].importance = 1;
        }
    }
    int x = r.x + 1;
    for (int i = 0; i < PIECES; i++)
        if (p[i].text.len > 0) {
            if (i == ARMS)
                x--;
            bool alarm = i == VIEW || (i == SESSION && p[i].importance < 9);
            struct pw_style style = alarm ? past : i == NAME || i == ARM || i == STATE ? strong : bar;
            x = pw_draw_text(c, r, r.y, x, style, p[i].text.s) + 2;
        }
    int from = r.x + r.w - 1 - pw_text_cells(s->lab.backend);
    if (from > x && !ui->no_machine)
        pw_draw_text(c, r, r.y, from, bar, s->lab.backend);
    for (int i = 0; i < PIECES; i++)
        pw_str_fini(&p[i].text);
}
