/* encoding_state.h - the state that the encoding pane keeps between two frames. */
#ifndef PW_ENCODING_STATE_H
#define PW_ENCODING_STATE_H
#include "lab/preview.h"

/* The cursors of the pages. */
enum pw_enc_cursor {
    PW_ENC_DISTANCE, /* from a query to its key; on pages of added rows, the position */
    PW_ENC_HEAD,
    PW_ENC_BUCKET,
    PW_ENC_PAIR,   /* of a rotation */
    PW_ENC_COLUMN, /* of an added row */
    PW_ENC_OTHER,  /* the second position */
    PW_ENC_KEY,    /* a row of the relative keys */
    PW_ENC_ENTRY,  /* an entry of such a row */
    PW_ENC_QUERY,  /* a query whose bias the table contains */
    PW_ENC_PART,   /* a learned parameter's value for a layer and head */
    PW_ENC_PLACE,  /* an entry of a learned table; limited by PART, so it comes after it */
    PW_ENC_CURSORS
};

struct pw_encoding_state {
    int cursor[PW_ENC_CURSORS];
    int page;                 /* index among the pages of the encoding; clamped when read */
    int reference;            /* id of the arm to compare with; 0: none */
    int held[PW_ENC_CURSORS]; /* 1 + the first value shown; 0: a key set the cursor */
    bool typing;              /* the prompt contains a formula, and the pane shows its curve */
    struct pw_preview preview;
};
#endif
