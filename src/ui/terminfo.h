/* terminfo.h - a terminal description of our own, for true colour.
 *
 * Debian's base system has no entry with 24-bit colours, and those in ncurses-term use the colon form that
 * some emulators misread. The entry is built in memory and handed to ncurses through TERMINFO=hex:..., so
 * nothing has to be installed (terminfo(5), ncurses(3X): "If the value begins with hex: or b64:"). */
#ifndef PW_TERMINFO_H
#define PW_TERMINFO_H
#include "base/text.h"

#define PW_TERMINFO_NAME "pewter-direct"

/* Appends "hex:..." for TERMINFO. The arrays are curses' own (term.h): capability names in the order of the
 * format. */
void pw_terminfo_direct(struct pw_str *out, const char *const *boolnames, const char *const *numnames,
                        const char *const *strnames);

#endif
