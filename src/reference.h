/* reference.h - the reference pages of commands and encodings. */
#ifndef PW_REFERENCE_H
#define PW_REFERENCE_H
#include "command/command.h"

/* Prints all reference pages as Markdown to standard output. A line "<!-- page FILE -->" begins each page;
 * links are relative to that file. docs/site/build.sh splits the text into files. */
void pw_reference_print(const struct pw_commands *all);

#endif
