/* saved.h - the weights that `export weights` wrote into a folder, by what their headers say. */
#ifndef PW_SAVED_H
#define PW_SAVED_H
#include "model/checkpoint.h"

struct pw_saved {
    char *name; /* of the file, without the folder */
    struct pw_checkpoint *c;
};

struct pw_saved_list {
    struct pw_saved *at; /* [n] by name */
    int n;
    int other;     /* .safetensors files that are broken or not of pewter */
    char why[400]; /* what is wrong with the first of them */
    int unread;    /* more than PW_MOST_SAVED */
};

#define PW_MOST_SAVED 1000

/* Only headers are read, and only of files named *.safetensors in the folder itself. */
enum pw_code pw_saved_list(struct pw_saved_list *list, const char *folder, struct pw_err *err);
void pw_saved_free(struct pw_saved_list *list); /* {0} is a no-op */

#endif
