/* finding_text.h - a finding as plain text: for runs without a screen, and for reports of studies.
 *
 * Any thread. */
#ifndef PW_FINDING_TEXT_H
#define PW_FINDING_TEXT_H
#include <stdio.h>

#include "base/finding.h"

/* Prints the title, tables, plots as tables, remarks, and claims with their verdicts. */
void pw_finding_print(FILE *out, const struct pw_finding *f);

#endif
