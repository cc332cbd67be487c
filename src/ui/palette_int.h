/* palette_int.h - the entries of the list behind `?`. */
#ifndef PW_PALETTE_INT_H
#define PW_PALETTE_INT_H
#include "ui/palette.h"

enum { PW_PALETTE_MAX = 256, PW_PALETTE_WHAT = 160 };

struct pw_palette_entry {
    const char *heading;
    const char *keys;
    char what[PW_PALETTE_WHAT];       /* what the key or command does, without the words it is found by */
    const struct pw_command *command; /* NULL: keys */
    int pane;                         /* that the keys are of; -1: everywhere */
};

struct pw_palette_list {
    const struct pw_ui *ui;
    int n;
    struct pw_palette_entry entries[PW_PALETTE_MAX];
    char names[PW_MAX_BINDINGS][PW_KEY_NAME]; /* of bound keys */
};

/* The entries that have every word of the filter: first the one that is called so, then those that are about
 * it, then commands whose help mentions it. */
void pw_palette_collect(struct pw_palette_list *l, const struct pw_ui *ui);

#endif
