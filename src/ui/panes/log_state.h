/* log_state.h - the state that the log pane keeps between two frames. */
#ifndef PW_LOG_STATE_H
#define PW_LOG_STATE_H

struct pw_log_state {
    int up;          /* lines scrolled back from the end */
    char filter[64]; /* only lines with this text are shown; "": all */
};
#endif
