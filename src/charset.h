/* charset.h - selects the locale of the process, and the character set that follows from it. Main thread,
 * before any other thread starts. */
#ifndef PW_CHARSET_H
#define PW_CHARSET_H
#include <stdbool.h>

/* The selected locale. Texts point into the environment or are constant. */
struct pw_charset {
    const char
        *variable;      /* the variable that names the locale: LC_ALL, LC_CTYPE or LANG; "" if none is set */
    const char *wanted; /* its value; "" if none is set */
    bool installed;     /* that locale exists on this machine */
    bool utf8;          /* the process has UTF-8 */
    bool replaced;      /* C.UTF-8 is used in place of a UTF-8 locale that is not installed */
};

/* Sets the locale from the environment, numbers excepted: their form is the same in every locale. */
void pw_charset_begin(struct pw_charset *out);

#endif
