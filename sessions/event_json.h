/* event_json.h - an event's members as JSON, by the codec's tables.
 *
 * A member appears under its own name, so a new row of a table appears in the output by itself. Rules
 * (event_json_rules.c) say where a member has another name, is omitted, or is written by a function of its
 * own. */
#ifndef PW_EVENT_JSON_H
#define PW_EVENT_JSON_H
#include <cjson/cJSON.h>

#include "sessions/event.h"

enum { PW_JSON_KIND = 24 };
/* Writes the name of a kind of event in JSON: "step". */
void pw_event_json_kind(char out[PW_JSON_KIND], enum pw_event_kind kind);
/* Adds the members of e's payload to o. Numbers that are not finite become null, arrays that are NULL are
 * left out. */
void pw_event_json(cJSON *o, const struct pw_event *e);
/* Adds the members of a finding: event_json_finding.c. */
void pw_finding_json(cJSON *o, const struct pw_finding *f);

#endif
