/* curves_state.h - the state that the curves pane keeps between two frames. */
#ifndef PW_CURVES_STATE_H
#define PW_CURVES_STATE_H
#include <stdbool.h>
#include <stdint.h>

struct pw_curves_state {
    int metric; /* enum pw_metric, or PW_METRICS for exact match */
    bool log;
    int smooth;     /* 0: moving mean, 1: over a wider window, 2: every point */
    int axis;       /* enum pw_curves_axis: what x is */
    int zoom;       /* how many times the x range was halved */
    int64_t cursor; /* on the x axis; -1: none, the view follows the right end */
    double x0, x1;  /* the window on the x axis; it stays in place while the cursor is inside */
    bool passing;   /* the cursor follows the pointer and ends with it */
};
#endif
