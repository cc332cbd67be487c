/* states.h - the states of all panes: a line for each pane that has one.
 *
 * A pane's header NAME_state.h defines struct pw_NAME_state. ui.h embeds each as member NAME, so a copy of
 * struct pw_ui is a copy of the panes' states, and a function that takes a const struct pw_ui cannot change
 * them. */
#ifndef PW_PANE_STATES_H
#define PW_PANE_STATES_H
#include "ui/panes/attention_state.h"
#include "ui/panes/curves_state.h"
#include "ui/panes/encoding_state.h"
#include "ui/panes/findings_state.h"
#include "ui/panes/io_state.h"
#include "ui/panes/lengths_state.h"
#include "ui/panes/log_state.h"
#include "ui/panes/step_state.h"

/* Expands each(NAME) for every state. */
#define PW_PANE_STATES(each)                                                                                 \
    each(attention) each(curves) each(encoding) each(findings) each(io) each(lengths) each(log) each(step)

#endif
