/* lengths_state.h - the state that the lengths pane keeps between two frames. */
#ifndef PW_LENGTHS_STATE_H
#define PW_LENGTHS_STATE_H
#include <stdbool.h>

struct pw_lengths_state {
    int cursor; /* row; read it with pw_lengths_cursor */
    int task;   /* index in a mixture */
    int page;   /* enum pw_lengths_page */
    int place;  /* errors: the token of the answer under the cursor */
    int a, b;   /* grid: the pair under the cursor */
    int top;    /* tests: the first row shown */
    int chosen; /* failing: the selected example */
    bool alone; /* tests: only at the cursor's length, not over all lengths beyond training */
    int held;   /* 1 + the first row shown, after the pointer set the cursor; 0: a key set it */
};
#endif
