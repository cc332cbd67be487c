/* saved.h - saved models, as described by file headers: weights that `export weights` wrote into a folder,
 * and the arms of the recorded sessions in a folder. */
#ifndef PW_SAVED_H
#define PW_SAVED_H
#include "model/checkpoint.h"
#include "sessions/fold.h"

/* One saved model. The list owns it. */
struct pw_saved {
    char *name; /* of the file or session, without folder */
    struct pw_checkpoint *c;
    /* Only for sessions: */
    int arm, replicas;                 /* arm 0: a file */
    bool own_batches;                  /* each replica has its own batches */
    struct pw_spread in_range, beyond; /* mean exact match of the last evaluation; n 0: none */
};

/* The saved models of a folder; pw_saved_free frees it. */
struct pw_saved_list {
    struct pw_saved *at; /* [n] sorted by name */
    int n;
    int other;     /* number of .safetensors files and sessions that are broken or not written by pewter */
    char why[400]; /* what is wrong with the first of these */
    int unread;    /* number of entries beyond PW_MOST_SAVED */
};

#define PW_MOST_SAVED 1000

/* Reads only headers, and only of files *.safetensors directly in the folder. */
enum pw_code pw_saved_list(struct pw_saved_list *list, const char *folder, struct pw_err *err);
/* Add the arms of the sessions NAME.pewter in a folder (NULL: the user's folder), at their last checkpoint.
 */
enum pw_code pw_saved_sessions(struct pw_saved_list *list, const char *folder, struct pw_err *err);
void pw_saved_free(struct pw_saved_list *list); /* {0} is a no-op */

#endif
