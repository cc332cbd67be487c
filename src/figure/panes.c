/* panes.c - the table of figures: one per pane of the workbench, in panes/. */
#include "figure/figure_int.h"

/* clang-format off */
const struct pw_figure_pane *const pw_figure_panes[] = {
    &pw_figure_curves,
    &pw_figure_lengths,
    &pw_figure_attention,
    &pw_figure_step,
    &pw_figure_encoding,
    &pw_figure_prompt,
    &pw_figure_log,
    &pw_figure_findings,
    NULL,
};
/* clang-format on */
