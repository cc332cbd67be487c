/* palette_int.h - the entries of the list that `?` opens. */
#ifndef PW_PALETTE_INT_H
#define PW_PALETTE_INT_H
#include "ui/palette.h"

enum { PW_PALETTE_MAX = 256, PW_PALETTE_WHAT = 160 };

/* One entry. Texts are borrowed, except `what`. */
struct pw_palette_entry {
    const char *heading;
    const char *keys;
    char what[PW_PALETTE_WHAT];       /* the effect of the key or command, without the words for the search */
    const struct pw_command *command; /* NULL: the entry is about keys */
    int pane;                         /* the pane of the keys; -1: they work everywhere */
};

/* The entries that match the filter. */
struct pw_palette_list {
    const struct pw_ui *ui;
    int n;
    struct pw_palette_entry entries[PW_PALETTE_MAX];
    char names[PW_MAX_BINDINGS][PW_KEY_NAME]; /* of bound keys */
};

/* Collects the entries that contain every word of the filter. The order is: an entry with that name, entries
 * about it, commands whose help mentions it. */
void pw_palette_collect(struct pw_palette_list *l, const struct pw_ui *ui);

#endif
