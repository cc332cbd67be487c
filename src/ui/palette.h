/* palette.h - what can be done now: keys and commands in one list that narrows as one types.
 *
 * Made from the tables alone (the panes' keys, the workbench's, the bound ones, the commands), so it can't
 * say what isn't so. */
#ifndef PW_PALETTE_H
#define PW_PALETTE_H
#include "ui/ui.h"

void pw_palette_open(struct pw_ui *ui);
/* A key while it is open. Enter leaves the choice in ui->press (a key, of the pane that has the focus then)
 * or ui->ask (a command to be typed on). */
void pw_palette_key(struct pw_ui *ui, int key);
void pw_palette_draw(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r);

/* The n-th key of what a table calls "h j k l", "PgUp PgDn", "Tab 1-8"; 0: it has not so many. */
int pw_palette_nth_key(const char *keys, int n);

/* Keys of the workbench: "key", "what it does", ..., NULL; behind a tab stand more words by which a row is
 * found, "a picture of the screen\tscreenshot svg". The others come first where a recording is looked at. */
extern const char *const pw_help_keys[], *const pw_help_time_keys[];

#endif
