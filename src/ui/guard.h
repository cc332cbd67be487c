/* guard.h - restores the terminal even if the program crashes.
 *
 * While the workbench owns the screen, a crash first restores the terminal (modes, cursor, main screen). Then
 * it shows the text that was written to standard error meanwhile, and dies by the original signal. The end
 * for lack of memory (base/alloc.h) does the same. Standard error is captured because one stray line of a
 * library would damage the screen. A process has one guarded terminal. */
#ifndef PW_GUARD_H
#define PW_GUARD_H
#include "base/text.h"
#include <termios.h>

/* Stores how to restore the terminal `out` (its modes are `saved`) and catches signals that
 * end a process by default: SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT and others (guard.c). Captures
 * standard error if that is a terminal. These signals must not be blocked in any thread. */
void pw_guard_begin(int out, const struct termios *saved);
/* Undoes all of it and writes the captured text to standard error. */
void pw_guard_end(void);
/* Appends the text that was written to standard error since the last call. */
void pw_guard_stray(struct pw_str *out);

#endif
