/* clipboard.h - text for the clipboard of the user's own terminal, also over ssh: OSC 52. */
#ifndef PW_CLIPBOARD_H
#define PW_CLIPBOARD_H
#include "base/text.h"
#include <stdbool.h>

/* Terminals limit the length; 74994 bytes of base64 is the smallest limit in use (xterm's own buffer is
 * larger). */
#define PW_CLIPBOARD_MAX 56244 /* bytes of text, which become 74992 of base64 */

/* Appends n bytes in base64. */
void pw_base64(const char *bytes, size_t n, struct pw_str *out);
/* Appends the sequence that copies n bytes to the clipboard. Inside tmux the sequence occurs twice: plain for
 * a tmux that handles it (set-clipboard on), and wrapped for a tmux that passes it through (allow-passthrough
 * on). */
void pw_clipboard_sequence(const char *bytes, size_t n, bool tmux, struct pw_str *out);

#endif
