#include "ui/report_json.h"

#include "base/json.h"
#include "sessions/event_json.h"
#include "sessions/fold.h"

void pw_report_json(FILE *out, const struct pw_event *e)
{
    char kind[PW_JSON_KIND];
    cJSON *o = cJSON_CreateObject();
    pw_event_json_kind(kind, e->kind);
    pw_json_num(o, "seq", (double)e->seq);
    pw_json_num(o, "time", (double)e->t_ns * 1e-9);
    pw_json_str(o, "kind", kind);
    if (e->arm > 0) {
        pw_json_num(o, "arm", e->arm);
        pw_json_num(o, "step", (double)e->step);
    }
    if (pw_event_of_replica(e->kind) && e->arm > 0)
        pw_json_num(o, "replicate", pw_event_replica(e));
    pw_event_json(o, e);
    if (e->kind == PW_EV_ARM && e->u.arm.current)
        pw_json_num(o, "inspected", pw_event_replica(e));
    pw_json_line(out, o);
}
