/* guard.h - what must happen to the terminal even when the program dies.
 *
 * While the screen is ours, a crash first gives the terminal back (modes, cursor, main screen), then shows
 * what was written to standard error meanwhile, and then dies by the same signal as it would have without us;
 * the end for want of memory (base/alloc.h) does the same.
 * Standard error is held back because one stray line of a library would tear the picture. One terminal a
 * process. */
#ifndef PW_GUARD_H
#define PW_GUARD_H
#include "base/text.h"
#include <termios.h>

/* Remembers how to restore the terminal `out` (its modes are `saved`), catches SIGSEGV, SIGABRT, SIGBUS,
 * SIGFPE, SIGILL and SIGQUIT, and diverts standard error if that is a terminal. Don't block those signals in
 * any thread. */
void pw_guard_begin(int out, const struct termios *saved);
/* Undoes all of it and writes to standard error what was held back. */
void pw_guard_end(void);
/* Appends what was written to standard error since the last call. */
void pw_guard_stray(struct pw_str *out);

#endif
