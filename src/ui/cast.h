/* cast.h - a recording as a film of the workbench that plays it: asciicast v2, as asciinema reads it. */
#ifndef PW_CAST_H
#define PW_CAST_H
#include "base/opt.h"
#include "ui/ui.h"

struct pw_cast_options {
    double speed;
    int width, height; /* 0: the screen's */
    int64_t from, to;  /* steps of the arm that is the current one at the end; -1: all there is */
};
extern const struct pw_opt pw_cast_opts[];

/* ui: the workbench as it is to look; it is borrowed, and goes through the moments of p. */
enum pw_code pw_cast_write(const char *path, struct pw_ui *ui, struct pw_player *p,
                           const struct pw_cast_options *o, struct pw_err *err);

#endif
