/* figures.h - `export figure`: what the line asks for beside the snapshot is computed or read, then drawn. */
#ifndef PW_UI_FIGURES_H
#define PW_UI_FIGURES_H
#include "ui/app.h"

/* `export figure FILE [key=value]`; the two words are there. */
enum pw_code pw_figures_draw(struct pw_app *app, const struct pw_args *args, struct pw_err *err);
/* Where a line names no finding, the one on the screen. */
void pw_figures_shown(const struct pw_app *app, char *name, size_t size);

#endif
