/* verbs.h - the verbs of `study`: new, run, status, stop, report, add, gather, cell, list.
 *
 * `pewter study VERB ...` and the workbench's command `study` both call pw_study_verb. Main thread for `run`
 * and `cell`, which start processes; any thread for the others. */
#ifndef PW_STUDY_VERBS_H
#define PW_STUDY_VERBS_H
#include <stdio.h>

#include "base/err.h"

/* Run the verb of words [n], for example {"status", "NAME"}. Prints to out.
 * Fails with PW_EUSER for wrong words; PW_ECANCEL: stopped by a signal. */
enum pw_code pw_study_verb(int n, char **words, FILE *out, struct pw_err *err);
/* The name of verb i = 0, 1, ... that a user may type; NULL past the last. Any thread. */
const char *pw_study_verb_name(int i);
/* Fail like it for wrong words, and do nothing else. Any thread. */
enum pw_code pw_study_verb_check(int n, char **words, struct pw_err *err);

#endif
