/* export_session.h - the exports that are written from the recorded session: a film, its events, a script. */
#ifndef PW_UI_EXPORT_SESSION_H
#define PW_UI_EXPORT_SESSION_H
#include "ui/app.h"

/* Is this `export cast`, `export events` or `export session`? */
bool pw_export_is_session(const struct pw_args *args);
/* Runs the export as a job of the disk (pw_app_write). Returns errors in arguments; see pw_app_write for
 * later ones. */
enum pw_code pw_export_session(struct pw_app *app, const struct pw_args *args, struct pw_err *err);

#endif
