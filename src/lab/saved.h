/* saved.h - what was trained on other days, by what headers say: weights that `export weights` wrote into a
 * folder, and the arms of the sessions that are kept there. */
#ifndef PW_SAVED_H
#define PW_SAVED_H
#include "model/checkpoint.h"
#include "sessions/fold.h"

struct pw_saved {
    char *name; /* of the file or session, without the folder */
    struct pw_checkpoint *c;
    /* Of a session: */
    int arm, replicates;               /* arm 0: a file */
    bool own_batches;                  /* of each replicate */
    struct pw_spread in_range, beyond; /* mean exact match when it was last evaluated; n 0: it wasn't */
};

struct pw_saved_list {
    struct pw_saved *at; /* [n] by name */
    int n;
    int other;     /* .safetensors files and sessions that are broken or not of pewter */
    char why[400]; /* what is wrong with the first of them */
    int unread;    /* more than PW_MOST_SAVED */
};

#define PW_MOST_SAVED 1000

/* Only headers are read, and only of files named *.safetensors in the folder itself. */
enum pw_code pw_saved_list(struct pw_saved_list *list, const char *folder, struct pw_err *err);
/* Adds those of the sessions NAME.pewter in a folder, as they stood at their last checkpoint. */
enum pw_code pw_saved_sessions(struct pw_saved_list *list, const char *folder, struct pw_err *err);
void pw_saved_free(struct pw_saved_list *list); /* {0} is a no-op */

#endif
