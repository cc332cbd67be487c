/* bindings.h - keys by name, and the command lines that the user bound to keys.
 *
 * A bound key has precedence over the keys of panes and of the workbench. */
#ifndef PW_BINDINGS_H
#define PW_BINDINGS_H
#include "base/err.h"
#include "base/text.h"
#include "command/command.h"
#include "sessions/event.h"
#include <stdbool.h>

#define PW_MAX_BINDINGS 48
#define PW_KEY_NAME     16

struct pw_binding {
    int key;
    char line[PW_LINE];
};

struct pw_bindings {
    int n;
    struct pw_binding list[PW_MAX_BINDINGS];
};

/* Returns the key of a name as the help writes it: one character, Space, Enter, Tab, S-Tab, Esc, Up, PgDn,
 * S-Left, F1, Ctrl-R ... Returns 0 for an unknown name. */
int pw_key_named(const char *name);
/* Fails with a message that lists the names of keys. what: the command, for the message. */
enum pw_code pw_key_unknown(const char *what, const char *name, struct pw_err *err);
/* Writes the name of a key; "" if it has none. */
void pw_key_name(int key, char name[PW_KEY_NAME]);
/* Offers the keys whose names are words for completion. */
void pw_key_offer(struct pw_completion *c);

/* Returns the line of a key, or NULL. */
const char *pw_bindings_find(const struct pw_bindings *b, int key);
/* PW_EUSER: the key is reserved (':', Esc, Ctrl-C, Ctrl-Z), the table is full, or line is too long or has a
 * line end. */
enum pw_code pw_bindings_set(struct pw_bindings *b, int key, const char *line, struct pw_err *err);
/* Returns false if the key is not bound. */
bool pw_bindings_remove(struct pw_bindings *b, int key);
/* Appends `bind KEY "LINE"` lines that restore the same bindings. */
void pw_bindings_print(const struct pw_bindings *b, struct pw_str *out);

#endif
