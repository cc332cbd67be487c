/* report_json.h - one event as one JSON object on one line. */
#ifndef PW_REPORT_JSON_H
#define PW_REPORT_JSON_H
#include <cjson/cJSON.h>
#include <stdio.h>

#include "sessions/event.h"

/* Prints an event. The keys are seq, time (seconds since 1970), kind, arm and step if they apply, and the
 * event's members under their names in sessions/event.h. Numbers that are not finite become null. */
void pw_report_json(FILE *out, const struct pw_event *e);

/* Adds the members of a finding: report_json_finding.c. */
void pw_report_json_finding(cJSON *o, const struct pw_finding *f);

#endif
