/* palette.h - the list of all keys and commands that are available now; it narrows while the user types.
 *
 * The list is built from the tables alone (keys of panes, of the workbench, bound keys, commands), so it is
 * always correct. */
#ifndef PW_PALETTE_H
#define PW_PALETTE_H
#include "ui/ui.h"

void pw_palette_open(struct pw_ui *ui);
/* Handles a key while the list is open. Enter stores the choice in ui->press (a key, for the focused pane) or
 * in ui->ask (a command to complete). */
void pw_palette_key(struct pw_ui *ui, int key);
/* Clamps the selection and scrolls to it; r: the area with its frame. */
void pw_palette_settle(struct pw_ui *ui, struct pw_rect r);
void pw_palette_draw(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r);

/* Returns the n-th key of a table's entry such as "h j k l", "PgUp PgDn", "Tab 1-8"; 0 if it has fewer keys.
 */
int pw_palette_nth_key(const char *keys, int n);

/* Keys of the workbench: "key", "what it does", ..., NULL. After a tab are more words to find the row by: "a
 * picture of the screen\tscreenshot svg". pw_help_time_keys come first during a replay. */
extern const char *const pw_help_keys[], *const pw_help_time_keys[];

#endif
