/* version.h - the version of the program. Main thread. */
#ifndef PW_VERSION_H
#define PW_VERSION_H

extern const char pw_commit[]; /* of the sources, "28d0d2b8", with "+" if they were changed; "": not known */

/* Prints the version with its commit, and the backends, one line each, to standard output. */
void pw_version_print(void);

#endif
