/* charset.c - see charset.h.
 *
 * ssh passes LANG=en_US.UTF-8 to machines where that locale was never generated, and macOS passes
 * LC_CTYPE=UTF-8, which Linux lacks. setlocale then leaves everything at ASCII without a message, although
 * the terminal shows UTF-8. So a missing locale whose name asks for UTF-8 is replaced by C.UTF-8, for
 * characters only. */
#include "charset.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SUBSTITUTE "C.UTF-8"

/* Finds the variable that decides about characters, as setlocale does (POSIX: LC_ALL, LC_CTYPE, LANG). */
static void find_variable(struct pw_charset *out)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    out->variable = out->wanted = "";
    for (size_t i = 0; i < sizeof names / sizeof *names && out->variable[0] == '\0'; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && value[0] != '\0') {
            out->variable = names[i];
            out->wanted = value;
        }
    }
}

/* Does a locale's name ask for UTF-8: en_US.UTF-8, de_DE.utf8@euro, UTF-8? */
static bool asks_utf8(const char *name)
{
    const char *dot = strchr(name, '.');
    const char *set = dot != NULL ? dot + 1 : name;
    size_t n = strcspn(set, "@");
    return (n == 5 && strncasecmp(set, "utf-8", n) == 0) || (n == 4 && strncasecmp(set, "utf8", n) == 0);
}

void pw_charset_begin(struct pw_charset *out)
{
    *out = (struct pw_charset){.installed = true};
    find_variable(out);
    if (setlocale(LC_ALL, "") == NULL) /* one missing category is enough to fail; characters alone may work */
        out->installed = setlocale(LC_CTYPE, "") != NULL;
    if (!out->installed && asks_utf8(out->wanted))
        out->replaced = setlocale(LC_CTYPE, SUBSTITUTE) != NULL;
    setlocale(LC_NUMERIC, "C");
    out->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0 && MB_CUR_MAX > 1;
}
