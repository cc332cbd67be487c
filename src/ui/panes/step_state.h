/* step_state.h - the state that the step pane keeps between two frames. */
#ifndef PW_STEP_STATE_H
#define PW_STEP_STATE_H
#include <stdbool.h>
#include <stdint.h>

struct pw_step_state {
    int page;          /* the section on top: panes/step_int.h */
    int row[8];        /* cursor of each section; clamped when read */
    int chosen;        /* the token whose logit is decomposed: enum pw_step_chosen */
    bool mean;         /* compare with the mean over the vocabulary, not with the runner-up */
    bool order;        /* parts in the order of the stream, not by size */
    struct {           /* the page with the map of `patch` */
        bool asked;    /* the user opened the page by its key; a new map opens it by itself */
        uint64_t left; /* patch_seq of the map that the user closed */
        int row, col;  /* cursor */
    } patch;
};
#endif
