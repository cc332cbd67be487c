/* attention_state.h - the state that the attention pane keeps between two frames. */
#ifndef PW_ATTENTION_STATE_H
#define PW_ATTENTION_STATE_H
#include <stdbool.h>
#include <stdint.h>

/* The identity of a map: two maps with equal keys have the same values. */
struct pw_att_map_key {
    int64_t began_ns, step; /* of the snapshot's first event; of a kept map of the past, -1: the latest */
    uint64_t seq, table;    /* the events of the attention, and of the table that says what training saw */
    uint64_t ref;           /* id of the reference; 0: none */
    int T, layer, head, view;
    bool mean, first_hidden;
};

/* Data of all pairs of a long map, computed once for its frames (attention_long.c). */
struct pw_att_long {
    struct pw_att_map_key key;
    int scale, pool, side; /* pool <= 1: no pixels, and side is 0; else side is ceil(T / pool) */
    float top;             /* as in struct pw_att */
    float *row_top;        /* [T] 0: not known */
    float *received;       /* [T] the mean value of a key over the queries that see it; -inf: none does */
    float *cells;          /* [side,side] the value of each pixel, as it is drawn */
    bool *unseen;          /* [side,side] no pair of the pixel was seen in training */
};

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
    struct pw_att_ref *ref;     /* owned: the map to compare with; NULL: none */
    uint64_t last_ref;          /* id of the latest reference */
    struct pw_att_long *kept;   /* owned; NULL: none. settle keeps it, so that a frame reads no pairs */
    struct pw_att_long *before; /* owned; NULL: none. The one before kept */
};
#endif
