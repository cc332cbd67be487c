/* io_state.h - the state that the prompt pane keeps between two frames. */
#ifndef PW_IO_STATE_H
#define PW_IO_STATE_H

struct pw_io_state {
    int top; /* the first band of the answer shown */
};
#endif
