/* report_json.h - one event as one JSON object on one line. */
#ifndef PW_REPORT_JSON_H
#define PW_REPORT_JSON_H
#include <stdio.h>

#include "sessions/event.h"

/* Prints an event. The keys are seq, time (seconds since 1970), kind, arm and step if they apply, and the
 * event's members (sessions/event_json.h). Numbers that are not finite become null. */
void pw_report_json(FILE *out, const struct pw_event *e);

#endif
