/* clipboard.c - ESC ] 52 ; c ; BASE64 BEL. */
#include "ui/clipboard.h"
#include <stdint.h>

void pw_base64(const char *bytes, size_t n, struct pw_str *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = (const unsigned char *)bytes;
    for (size_t i = 0; i < n; i += 3) {
        uint32_t three =
            (uint32_t)b[i] << 16 | (i + 1 < n ? (uint32_t)b[i + 1] << 8 : 0) | (i + 2 < n ? b[i + 2] : 0);
        char four[4] = {digits[three >> 18], digits[three >> 12 & 63],
                        i + 1 < n ? digits[three >> 6 & 63] : '=', i + 2 < n ? digits[three & 63] : '='};
        pw_str_put(out, four, sizeof four);
    }
}

void pw_clipboard_sequence(const char *bytes, size_t n, bool tmux, struct pw_str *out)
{
    struct pw_str text = {0};
    pw_base64(bytes, n, &text);
    pw_str_add(out, "\033]52;c;%s\a", pw_str_text(&text));
    if (tmux) /* inside the wrapping an ESC is doubled */
        pw_str_add(out, "\033Ptmux;\033\033]52;c;%s\a\033\\", pw_str_text(&text));
    pw_str_fini(&text);
}
