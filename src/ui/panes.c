/* panes.c - the table of panes. A new pane is a file in panes/, an entry of enum pw_pane_id and a line here.
 */
#include <string.h>

#include "ui/plot.h"

const struct pw_pane *const pw_panes[PW_PANES] = {
    [PW_PANE_CURVES] = &pw_pane_curves,
    [PW_PANE_LENGTHS] = &pw_pane_lengths,
    [PW_PANE_ATTENTION] = &pw_pane_attention,
    [PW_PANE_STEP] = &pw_pane_step,
    [PW_PANE_ENCODING] = &pw_pane_encoding,
    [PW_PANE_IO] = &pw_pane_io,
    [PW_PANE_LOG] = &pw_pane_log,
    [PW_PANE_FINDINGS] = &pw_pane_findings,
};

const char *const pw_pane_names[PW_PANES + 1] = {
    [PW_PANE_CURVES] = "curves", [PW_PANE_LENGTHS] = "lengths",   [PW_PANE_ATTENTION] = "attention",
    [PW_PANE_STEP] = "step",     [PW_PANE_ENCODING] = "encoding", [PW_PANE_IO] = "prompt",
    [PW_PANE_LOG] = "log",       [PW_PANE_FINDINGS] = "findings",
};

enum pw_code pw_ui_find_pane(const char *what, const char *name, int *id, struct pw_err *err)
{
    struct pw_str names = {0};
    for (int i = 0; i < PW_PANES; i++) {
        if (strcmp(pw_panes[i]->name, name) == 0) {
            pw_str_fini(&names);
            *id = i;
            return PW_OK;
        }
        pw_str_add(&names, "%s%s", i ? ", " : "", pw_panes[i]->name);
    }
    enum pw_code code = pw_fail(err, PW_EUSER, "%s: no pane '%s'; there are %s", what, name, names.s);
    pw_str_fini(&names);
    return code;
}

void pw_ui_complete_pane(struct pw_completion *c)
{
    if (c->at == 0)
        pw_complete_offer_all(c, pw_pane_names);
}
