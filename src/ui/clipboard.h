/* clipboard.h - text for the clipboard of the terminal that the user sits at, also over ssh: OSC 52. */
#ifndef PW_CLIPBOARD_H
#define PW_CLIPBOARD_H
#include "base/text.h"
#include <stdbool.h>

/* Terminals give up at some length; 74994 bytes of base64 is the least limit in use (xterm's own buffer is
 * larger). */
#define PW_CLIPBOARD_MAX 56244 /* bytes of text: 74992 of base64 */

void pw_base64(const char *bytes, size_t n, struct pw_str *out);
/* Appends the sequence that puts n bytes into the clipboard. Inside tmux it comes twice: as it is, for a tmux
 * that takes it (set-clipboard on), and wrapped, for one that hands it through (allow-passthrough on). */
void pw_clipboard_sequence(const char *bytes, size_t n, bool tmux, struct pw_str *out);

#endif
