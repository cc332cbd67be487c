/* attention_state.h - the state that the attention pane keeps between two frames. */
#ifndef PW_ATTENTION_STATE_H
#define PW_ATTENTION_STATE_H
#include <stdbool.h>
#include <stdint.h>

struct pw_attention_state {
    int query, key;      /* cursor */
    bool follow;         /* keep the cursor at the last row */
    bool overview;       /* all heads as small maps; else one */
    bool mean;           /* the mean over the heads of the layer */
    bool first_hidden;   /* the first position is left out, the rest renormalised */
    bool no_hatch;       /* no hatching of distances that were not seen in training */
    bool no_gold;        /* gold pointers are not marked */
    bool list;           /* the head's scores, instead of the map if the pane is narrow */
    bool scroll;         /* one token per row, instead of pooling */
    int scale;           /* enum pw_att_scale */
    int score;           /* of the overview, in display order */
    int top, left;       /* the first query and key shown when scrolling */
    struct {             /* attention from a file; a new file is shown before the arm's own attention */
        uint64_t left;   /* foreign_seq of the file that the user left for the arm's own attention */
        int layer, head; /* the map shown; clamped when read */
        bool score;      /* its scores, instead of probabilities */
    } file;
    struct pw_att_ref *ref; /* owned: the map to compare with; NULL: none */
};
#endif
