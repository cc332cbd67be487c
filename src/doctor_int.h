/* doctor_int.h - the parts of doctor. Main thread. */
#ifndef PW_DOCTOR_INT_H
#define PW_DOCTOR_INT_H
#include "base/text.h"
#include "command/command.h"
#include <stdbool.h>

enum { PW_DOCTOR_LINES = 24 };

/* The collected lines. Values are owned. */
struct pw_doctor {
    struct {
        const char *name; /* constant */
        struct pw_str value;
        bool problem; /* it needs a repair: some feature that every user needs fails */
    } line[PW_DOCTOR_LINES];
    int n;
};

/* Appends a line. */
void pw_doctor_add(struct pw_doctor *d, bool problem, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* doctor_folders.c: appends the lines about sessions, studies, settings and the program's own files.
 * commands: all, to check the file of settings. */
void pw_doctor_folders(struct pw_doctor *d, const struct pw_commands *commands);

#endif
