/* library.h - formula files: encodings by name, one text file NAME.pe each.
 *
 * A file is a head of lines "# key: value" (title, paper, look: what to look at), and a formula (expr.h).
 * The project's files are in the folder encodings beside the program (base/places.h), the user's in
 * $XDG_CONFIG_HOME/pewter/encodings. A built-in encoding takes precedence over a file, and the user's file
 * over the project's. Case does not matter.
 *
 * A session keeps a copy of each file that a command read, under the name "encodings/NAME.pe", and an
 * arm's text holds the whole formula. So a session can be re-run, resumed and opened on a machine without the
 * file.
 *
 * Any thread may call these functions. */
#ifndef PW_LIBRARY_H
#define PW_LIBRARY_H
#include "model/pe.h"

#define PW_LIBRARY_NAMES "a name has 1 to 31 letters, digits and _, and begins with a letter"

enum { PW_LIBRARY_BYTES = 16384 /* most bytes of a file */ };

/* A file that was read. Each text is NULL if the head does not have it; pw_library_free frees them. */
struct pw_library_file {
    char name[PW_PE_NAME];
    char *title, *paper, *look;
    char *formula; /* with its comments; lines are numbered as in the file */
};

/* Can a file have this name? */
bool pw_library_may_name(const char *name);
/* Returns true if the name is that of a built-in encoding or a word of the command pe. */
bool pw_library_is_taken(const char *name);
/* Is there a file of this name? In a re-run, which reads copies in place of files: may there be one? */
bool pw_library_has(const char *name);
/* Returns true if pw_library_read finds this name among the project's files. */
bool pw_library_is_own(const char *name);
/* Calls each with the names of all files, sorted. */
void pw_library_list(void (*each)(void *arg, const char *name), void *arg);
/* Reads a file. Fails with one line if it is missing, too large, not text or not readable. */
enum pw_code pw_library_read(struct pw_library_file *f, const char *name, struct pw_err *err);
void pw_library_free(struct pw_library_file *f);
/* Reads text as a file's content. */
enum pw_code pw_library_scan(struct pw_library_file *f, const char *text, size_t size, struct pw_err *err);

/* Sets the encoding of *use to the formula of a file, with the defaults of its options. */
enum pw_code pw_library_use(struct pw_pe_use_opts *use, const char *name, struct pw_err *err);
/* Does the same with a file that was already read. */
enum pw_code pw_library_use_file(struct pw_pe_use_opts *use, const struct pw_library_file *f,
                                 struct pw_err *err);

/* Writes the formula of *use to the user's folder, with the values of its options as defaults. title NULL:
 * the file's title is its name. Appends the path. Fails if the name is not allowed or taken by a built-in
 * encoding, if the file exists and replace is false, or if *use is no formula. */
enum pw_code pw_library_save(const struct pw_pe_use_opts *use, const char *name, const char *title,
                             bool replace, struct pw_str *path, struct pw_err *err);

/* For tests: sets the user's and the project's folder; NULL: the usual one. The texts are borrowed. */
void pw_library_folders(const char *user, const char *own);

#endif
