/* cast.h - writes a session as a film of the workbench that replays it: asciicast v2, for asciinema. */
#ifndef PW_CAST_H
#define PW_CAST_H
#include "base/opt.h"
#include "ui/ui.h"

/* The options of `export cast`. */
struct pw_cast_options {
    double speed;
    int width, height; /* columns and rows; 0: those of the screen */
    int64_t from, to;  /* steps of the arm that is current at the end; -1: no limit */
};
extern const struct pw_opt pw_cast_opts[];

/* Writes the film. ui: the view to show; it is borrowed and moves through the moments of p. */
enum pw_code pw_cast_write(const char *path, struct pw_ui *ui, struct pw_player *p,
                           const struct pw_cast_options *o, struct pw_err *err);

#endif
