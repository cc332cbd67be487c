/* panes.c - the table of panes: a new one is a file in panes/, an entry of enum pw_pane_id and a line here.
 */
#include "ui/plot.h"

const struct pw_pane *const pw_panes[PW_PANES] = {
    [PW_PANE_CURVES] = &pw_pane_curves,
    [PW_PANE_LENGTHS] = &pw_pane_lengths,
    [PW_PANE_ATTENTION] = &pw_pane_attention,
    [PW_PANE_STEP] = &pw_pane_step,
    [PW_PANE_ENCODING] = &pw_pane_encoding,
    [PW_PANE_IO] = &pw_pane_io,
    [PW_PANE_LOG] = &pw_pane_log,
};
