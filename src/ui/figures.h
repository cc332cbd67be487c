/* figures.h - `export figure`: obtains data that the snapshot lacks, by computing or reading it, then draws
 * the figure. */
#ifndef PW_UI_FIGURES_H
#define PW_UI_FIGURES_H
#include "ui/app.h"

/* Runs `export figure FILE [key=value]`; args contains the words `figure` and FILE. */
enum pw_code pw_figures_draw(struct pw_app *app, const struct pw_args *args, struct pw_err *err);
/* If name is "", writes the name of the finding on the screen. */
void pw_figures_shown(const struct pw_app *app, char *name, size_t size);

#endif
