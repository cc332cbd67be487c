#include "study/ready.h"

#include <string.h>

#include "base/text.h"

enum pw_code pw_study_ready_find(const struct pw_study_ready **r, const char *name, struct pw_err *err)
{
    struct pw_str names = {0};
    for (*r = pw_study_readies; (*r)->name != NULL; (*r)++) {
        if (strcmp((*r)->name, name) == 0) {
            pw_str_fini(&names);
            return PW_OK;
        }
        pw_str_add(&names, "%s%s", names.len > 0 ? ", " : "", (*r)->name);
    }
    enum pw_code code =
        pw_fail(err, PW_EUSER, "no ready study '%.60s'; there are %s", name, pw_str_text(&names));
    pw_str_fini(&names);
    return code;
}

int pw_study_ready_title(const struct pw_study_ready *r, const char **line)
{
    *line = r->text + strspn(r->text, "# ");
    return (int)strcspn(*line, "\n");
}
