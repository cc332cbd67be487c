/* encoding_preview.h - a formula that is typed at the prompt, in the encoding pane. */
#ifndef PW_ENCODING_PREVIEW_H
#define PW_ENCODING_PREVIEW_H
#include "ui/ui.h"

/* Reads the line of the open prompt, after each key; NULL: the prompt was closed. If the line contains a
 * formula, the encoding pane shows its curve until the prompt is closed. */
void pw_encoding_type(struct pw_ui *ui, const char *line);

#endif
