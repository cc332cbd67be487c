/* terminfo.h - pewter's own terminal description for true colour.
 *
 * Debian's base system has no entry with 24-bit colours, and some emulators misread the colon form in the
 * entries of ncurses-term. So the entry is built in memory and passed to ncurses through TERMINFO=hex:...
 * Nothing has to be installed (terminfo(5), ncurses(3X): "If the value begins with hex: or b64:"). */
#ifndef PW_TERMINFO_H
#define PW_TERMINFO_H
#include "base/text.h"

#define PW_TERMINFO_NAME "pewter-direct"

/* Appends "hex:..." for TERMINFO. The arrays are those of curses (term.h): capability names in the order of
 * the format. */
void pw_terminfo_direct(struct pw_str *out, const char *const *boolnames, const char *const *numnames,
                        const char *const *strnames);

#endif
