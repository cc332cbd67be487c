/* lesson.h - lessons: scripts that explain the screen step by step.
 *
 * A lesson is a file of commands. Its first line is a comment with the title. The text between two `wait key`
 * commands is a step. The program's own lessons are in the folder lessons beside the program, or in
 * share/pewter/lessons. */
#ifndef PW_LESSON_H
#define PW_LESSON_H
#include "base/err.h"
#include "base/folder.h"
#include "ui/ui.h"

#define PW_LESSON_ENDING ".pewter"
#define PW_LESSON_BYTES  65536 /* maximum size of a file */

/* Lists the names of the program's own lessons, in order; pw_folder_free frees them. On a thread with
 * pw_recall_begin they are those that were read last. */
void pw_lesson_names(struct pw_folder *names);
/* Appends the path of lesson NAME, or of a file if the name contains a slash or a dot. The message of
 * PW_EUSER lists the lessons. Reads the disk. */
enum pw_code pw_lesson_path(const char *name, struct pw_str *path, struct pw_err *err);
/* The title of a lesson's text, and its number of steps. */
void pw_lesson_title(const char *text, char *title, size_t size);
int pw_lesson_steps(const char *text);

/* Returns the rows for the current step of ui's lesson; 0 without a lesson or without room. */
int pw_lesson_rows(const struct pw_ui *ui, int rows, int cols);
/* Draws the current step into r: its title, its text and the keys. */
void pw_lesson_draw(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r);

#endif
