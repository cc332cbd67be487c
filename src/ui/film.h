/* film.h - an animated picture of the screen: one SVG file with CSS animation that repeats for ever.
 *
 * The file has no script, so it plays wherever a browser shows it as an image. Durations are given by the
 * caller and no clock is read, so equal frames give equal bytes.
 *
 * The caller owns the film. One thread at a time. Nothing can fail. */
#ifndef PW_FILM_H
#define PW_FILM_H
#include "ui/canvas.h"

struct pw_film;
struct pw_film *pw_film_create(int rows, int cols, bool light);
void pw_film_destroy(struct pw_film *film); /* NULL is a no-op */
/* Returns the canvas of the next frame; draw into it, then call pw_film_shot. */
struct pw_canvas *pw_film_canvas(struct pw_film *film);
/* Appends the canvas as a frame that is shown for ms > 0 milliseconds. */
void pw_film_shot(struct pw_film *film, int ms);
/* The duration so far in milliseconds. */
int64_t pw_film_duration(const struct pw_film *film);
/* Appends the SVG file to out. The film has at least one frame. */
void pw_film_svg(const struct pw_film *film, struct pw_str *out);

#endif
