/* places.h - folders in which the program looks for files of its own and of the user.
 *
 * Any thread may call these functions. */
#ifndef PW_PLACES_H
#define PW_PLACES_H
#include "base/text.h"
#include <stdbool.h>

/* Append the path of the folder `name` (a constant) that belongs to the program: beside it, in share/pewter
 * if it is installed, or in the source tree. Returns false, and appends nothing, if there is none. Only the
 * first call for a name looks at the disk, because a program keeps its place while it runs. */
bool pw_place_own(struct pw_str *path, const char *name);
/* Return the end of a message about something that was not found: "" if the program has its folders,
 * otherwise that it was copied without them, and where they are. Constant. */
const char *pw_place_own_hint(void);

/* Append $XDG_CONFIG_HOME/pewter/NAME, else ~/.config/pewter/NAME, whether it exists or not. Returns false,
 * and appends nothing, if neither variable is set. */
bool pw_place_config(struct pw_str *path, const char *name);
/* The same for $XDG_STATE_HOME/pewter/NAME, else ~/.local/state/pewter/NAME. */
bool pw_place_state(struct pw_str *path, const char *name);

#endif
