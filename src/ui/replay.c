/* replay.c - prints a session as lines of text. */
#include "ui/replay.h"

#include <time.h>

#include "ui/report.h"
#include "ui/report_json.h"

struct printer {
    FILE *out;
    bool json;
    struct pw_snapshot *s;
};

static void print_time(FILE *out, int64_t t_ns)
{
    time_t t = (time_t)(t_ns / 1000000000);
    struct tm tm;
    if (localtime_r(&t, &tm) != NULL)
        fprintf(out, "%02d:%02d:%02d ", tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static bool print(void *arg, struct pw_event *e)
{
    struct printer *p = arg;
    int64_t lines = p->s->n_log;
    if (p->json)
        pw_report_json(p->out, e);
    else if (e->kind == PW_EV_EVAL || e->kind == PW_EV_TOKEN)
        pw_report_event(p->out, e, p->s, false);
    pw_fold(p->s, e);
    if (!p->json && p->s->n_log > lines) {
        const struct pw_log_line *l = &p->s->log[(p->s->n_log - 1) % PW_LOG_LINES];
        print_time(p->out, l->t_ns);
        fprintf(p->out, "%s%s\n",
                l->kind == PW_EV_COMMAND ? ": "
                : l->kind == PW_EV_ERROR ? "! "
                                         : "",
                l->text);
    }
    return ferror(p->out) == 0;
}

enum pw_code pw_replay_events(struct pw_record *r, bool (*each)(void *arg, struct pw_event *e), void *arg,
                              struct pw_str *missing, struct pw_err *err)
{
    struct pw_record_info before, after;
    pw_record_info(r, &before);
    enum pw_code code = pw_record_events(r, 0, UINT64_MAX, each, arg, err);
    pw_record_info(r, &after);
    if (after.damaged > before.damaged)
        pw_str_add(missing, "%d records could not be read: %s", after.damaged - before.damaged, after.damage);
    if (after.unknown > before.unknown)
        pw_str_add(missing, "%s%d values were written by a newer pewter and are left out",
                   missing->len > 0 ? "; " : "", after.unknown - before.unknown);
    return code;
}

enum pw_code pw_replay_print(FILE *out, struct pw_record *r, bool json, struct pw_str *missing,
                             struct pw_err *err)
{
    struct printer p = {out, json, pw_snapshot_new()};
    enum pw_code code = pw_replay_events(r, print, &p, missing, err);
    pw_snapshot_free(p.s);
    return code;
}
