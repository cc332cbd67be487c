/* attention_file.c - attention that was imported from a file, shown instead of the arm's own.
 *
 * A new file is shown at once, and `i` switches between both. The snapshot contains all heads of the file, so
 * the workbench stores which one is shown, not the lab. To compare both, `c` sets the shown map as the
 * reference, then `i` shows the other map minus the reference. */
#include <string.h>

#include "ui/panes/attention.h"

bool pw_att_of_file(const struct pw_ui *ui)
{
    const struct pw_snapshot *s = ui->snap;

    return s->has_foreign && (ui->attention.file.left != s->foreign_seq || !pw_att_usable(s));
}

const struct pw_ev_attention *pw_att_shown(const struct pw_ui *ui)
{
    const struct pw_snapshot *s = ui->snap;

    return pw_att_of_file(ui) ? &s->foreign : pw_att_usable(s) ? &s->attention : NULL;
}

void pw_att_change_source(struct pw_ui *ui)
{
    ui->attention.file.left = pw_att_of_file(ui) ? ui->snap->foreign_seq : 0;
}

void pw_att_find_file(struct pw_att *w, const struct pw_ui *ui)
{
    const struct pw_ev_attention *a = &ui->snap->foreign;

    *w = (struct pw_att){.a = a, .mean = ui->attention.mean};
    w->layer = pw_within(ui->attention.file.layer, a->layers);
    w->head = pw_within(ui->attention.file.head, a->heads);
    w->view = ui->attention.file.score && a->all_scores != NULL && !w->mean ? PW_VIEW_SCORE : PW_VIEW_PROBS;
}

void pw_att_move_file(struct pw_ui *ui, const char *what, int by)
{
    struct pw_att w;

    pw_att_find_file(&w, ui);
    if (strcmp(what, "layer") == 0)
        ui->attention.file.layer = (w.layer + by + w.a->layers) % w.a->layers;
    else if (strcmp(what, "head") == 0)
        ui->attention.file.head = (w.head + by + w.a->heads) % w.a->heads;
    else
        ui->attention.file.score = w.view != PW_VIEW_SCORE;
}
