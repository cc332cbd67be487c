/* doctor.h - `pewter doctor`: what the program finds on this machine, as one screen for a bug report. Main
 * thread. */
#ifndef PW_DOCTOR_H
#define PW_DOCTOR_H
#include "charset.h"
#include "command/command.h"

/* Prints at most 24 lines "name: value" of at most 80 columns to standard output; a line about a problem
 * begins with "! ". json: one JSON object for each line instead, with the whole value. commands: all, to
 * check the user's file of settings. Writes no file and makes no folder. Returns the exit status: 1 if there
 * is a problem. */
int pw_doctor_print(const struct pw_charset *charset, const struct pw_commands *commands, bool json);

#endif
