/* err.c - fill struct pw_err.
 *
 * The message is formatted in a separate buffer and then copied, because an argument may be the old message
 * itself ("%s", err->msg). The copy also replaces control characters and broken UTF-8 that a user typed, and
 * cuts text that is too long. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

enum pw_code pw_fail(struct pw_err *err, enum pw_code code, const char *fmt, ...)
{
    char line[2 * sizeof err->msg];
    va_list ap;

    if (err == NULL)
        return code;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    pw_text_copy(err->msg, sizeof err->msg, line);
    err->code = code;
    return code;
}

void pw_err_at(struct pw_err *err, const char *place)
{
    if (err != NULL && *place != '\0')
        pw_fail(err, err->code, "%s: %s", place, err->msg);
}
