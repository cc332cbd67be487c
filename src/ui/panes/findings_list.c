/* findings_list.c - the findings of the pane: those of a watched study, then those of the session. */
#include <string.h>

#include "ui/panes/findings.h"

int pw_fnd_list(const struct pw_ui *ui, const struct pw_finding_view *list[PW_FND_LIST])
{
    const struct pw_finding_view *own[PW_MAX_FINDINGS];
    int n = 0, n_own = pw_findings(ui->snap, own);

    for (int i = 0; i < ui->findings.n_watched && n < PW_FND_LIST - PW_MAX_FINDINGS; i++)
        list[n++] = &ui->findings.watched[i];
    for (int i = 0; i < n_own; i++)
        list[n++] = own[i];
    return n;
}

const struct pw_finding_view *pw_fnd_shown(const struct pw_ui *ui)
{
    const struct pw_finding_view *list[PW_FND_LIST];
    const struct pw_findings_state *s = &ui->findings;
    int n = pw_fnd_list(ui, list);

    for (int i = 0; i < n; i++)
        if (s->name[0] != '\0' && strcmp(list[i]->f.name, s->name) == 0 &&
            strcmp(list[i]->f.topic, s->topic) == 0)
            return list[i];
    return n > 0 ? list[0] : NULL;
}
