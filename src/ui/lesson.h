/* lesson.h - lessons: scripts that explain what they show, step by step.
 *
 * A lesson is a file of commands. Its first line, a comment, is its title; what it says between two `wait
 * key` is a step. Those that come with the program lie beside it (folder lessons), or in
 * share/pewter/lessons. */
#ifndef PW_LESSON_H
#define PW_LESSON_H
#include "base/err.h"
#include "ui/ui.h"

#define PW_LESSON_ENDING ".pewter"
#define PW_LESSON_BYTES  65536 /* of a file */

/* Names of the lessons that come with the program, in order; at most max, valid until the next call. */
int pw_lesson_names(const char **names, int max);
/* Appends the path of NAME, or of a file: one with a slash or a dot in its name. PW_EUSER says which lessons
 * there are. */
enum pw_code pw_lesson_path(const char *name, struct pw_str *path, struct pw_err *err);
/* The title of a lesson's text, and how many steps it has. */
void pw_lesson_title(const char *text, char *title, size_t size);
int pw_lesson_steps(const char *text);

/* Rows that the step of ui's lesson takes on a screen, 0: no lesson, or no room for one. */
int pw_lesson_rows(const struct pw_ui *ui, int rows, int cols);
void pw_lesson_draw(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r);

#endif
