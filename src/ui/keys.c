/* keys.c - the decoder: takes one key at a time from the front of a small buffer.
 *
 * Grammar: ESC [ parameters final (CSI), ESC O final (SS3), ESC character (Alt), the Linux console's ESC [ [
 * final, the old mouse report ESC [ M b x y, else UTF-8. Input that is not a key (answers to queries, focus
 * reports) is discarded. */
#include "ui/keys.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define ESC       27
#define OSC_BYTES 256 /* maximum length of an answer */
#define PASTE_END "\033[201~"
#define PASTE_MAX (1u << 20) /* limits memory if a terminal never sends the end of a paste */

void pw_keys_init(struct pw_keys *k)
{
    memset(k, 0, sizeof *k);
}

void pw_keys_fini(struct pw_keys *k)
{
    pw_str_fini(&k->paste);
    memset(k, 0, sizeof *k);
}

size_t pw_keys_feed(struct pw_keys *k, const char *bytes, size_t n)
{
    size_t room = sizeof k->buf - k->n;
    size_t take = n < room ? n : room;
    memcpy(k->buf + k->n, bytes, take);
    k->n += take;
    return take;
}

static void drop(struct pw_keys *k, size_t n)
{
    k->n -= n;
    memmove(k->buf, k->buf + n, k->n);
}

/* Moves n bytes from the front of the buffer into the key. */
static void take(struct pw_keys *k, struct pw_input *in, int key, size_t n)
{
    in->key = key;
    in->n_raw = n < sizeof in->raw ? n : sizeof in->raw;
    memcpy(in->raw, k->buf, in->n_raw);
    drop(k, n);
}

/* ---- escape sequences */

struct csi {
    char prefix; /* '<', '?', '>' or 0 */
    int n, p[4]; /* parameters; a missing one is 0 */
    char final;
    size_t bytes; /* including ESC [; 0: incomplete */
};

static struct csi csi_parse(const char *s, size_t n)
{
    struct csi c = {0};
    size_t i = 2;
    if (i < n && s[i] >= '<' && s[i] <= '?')
        c.prefix = s[i++];
    for (; i < n; i++) {
        if (s[i] >= '0' && s[i] <= '9') {
            if (c.n == 0)
                c.n = 1;
            int *p = &c.p[c.n - 1];
            if (*p < 100000)
                *p = *p * 10 + (s[i] - '0');
        } else if (s[i] == ';') {
            if (c.n == 0)
                c.n = 1;
            if (c.n < 4)
                c.n++;
        } else if (s[i] >= 0x40 && s[i] <= 0x7e) {
            c.final = s[i];
            c.bytes = i + 1;
            break;
        } else if (s[i] < 0x20 ||
                   s[i] == 0x7f) { /* invalid inside a sequence: the sequence was cut off here */
            c.bytes = i;
            break;
        }
    }
    return c;
}

/* Keys with a number: ESC [ N ~. */
static int tilde_key(int number)
{
    switch (number) {
    case 1:
    case 7: return PW_KEY_HOME;
    case 4:
    case 8: return PW_KEY_END;
    case 5: return PW_KEY_PAGE_UP;
    case 6: return PW_KEY_PAGE_DOWN;
    case 3: return PW_KEY_DELETE;
    default: break;
    }
    /* F1 to F12; the gaps come from the VT220's keyboard */
    static const unsigned char f[] = {11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 23, 24};
    const unsigned char *at = number > 0 && number < 25 ? memchr(f, number, sizeof f) : NULL;
    return at != NULL ? PW_KEY_F1 + (int)(at - f) : 0;
}

/* Keys with a final letter, in both ESC [ X and ESC O X. modifiers: 1 plus the sum of Shift 1, Alt 2, Ctrl 4;
 * 0: not reported. */
static int letter_key(char final, int modifiers)
{
    if (modifiers == 2 && (final == 'C' || final == 'D'))
        return final == 'C' ? PW_KEY_SHIFT_RIGHT : PW_KEY_SHIFT_LEFT;
    switch (final) {
    case 'A': return PW_KEY_UP;
    case 'B': return PW_KEY_DOWN;
    case 'C': return PW_KEY_RIGHT;
    case 'D': return PW_KEY_LEFT;
    case 'H': return PW_KEY_HOME;
    case 'F': return PW_KEY_END;
    case 'P':
    case 'Q':
    case 'R':
    case 'S': return PW_KEY_F1 + (final - 'P');
    case 'Z': return PW_KEY_BACKTAB;
    case 'M': return '\n'; /* Enter of the keypad */
    default: return 0;
    }
}

/* A mouse report: bits 0-1 button (3: none), 2-4 modifiers, 5 motion, 6 wheel. */
static void take_mouse(struct pw_keys *k, struct pw_input *in, int code, int x, int y, bool press, size_t n)
{
    drop(k, n);
    bool motion = code & 32, wheel = code & 64;
    if (x < 1 || y < 1 || (wheel && (!press || motion)))
        return;
    in->key = PW_KEY_MOUSE;
    in->x = x - 1;
    in->y = y - 1;
    in->mouse = !press                      ? PW_MOUSE_RELEASE
                : motion && (code & 3) == 3 ? PW_MOUSE_MOVE
                : motion                    ? PW_MOUSE_DRAG
                                            : PW_MOUSE_PRESS;
    if (wheel)
        in->button = (code & 3) == 0   ? PW_BUTTON_WHEEL_UP
                     : (code & 3) == 1 ? PW_BUTTON_WHEEL_DOWN
                                       : PW_BUTTON_OTHER;
    else
        in->button = (code & 3) == 0 ? PW_BUTTON_LEFT : PW_BUTTON_OTHER;
}

/* Decodes ESC [ ... at the front; returns false if it is incomplete. */
static bool next_csi(struct pw_keys *k, struct pw_input *in)
{
    const unsigned char *b = (const unsigned char *)k->buf;
    if (k->n >= 3 && b[2] == 'M') { /* the old mouse report: three bytes follow, each plus 32 */
        if (k->n < 6)
            return false;
        int code = b[3] - 32;
        bool press = (code & 3) != 3 || code & 32; /* the old report does not say which button was released */
        take_mouse(k, in, press ? code : code & ~3, b[4] - 32, b[5] - 32, press, 6);
        return true;
    }
    if (k->n >= 3 && b[2] == '[') { /* Linux console: ESC [ [ A to E are F1 to F5 */
        if (k->n < 4)
            return false;
        take(k, in, b[3] >= 'A' && b[3] <= 'E' ? PW_KEY_F1 + (b[3] - 'A') : 0, 4);
        return true;
    }
    struct csi c = csi_parse(k->buf, k->n);
    if (c.bytes == 0) {
        if (k->n < PW_KEY_BYTES)
            return false;
        drop(k, k->n);
        k->skipping = true;
        return true;
    }
    if (c.prefix == '<' && (c.final == 'M' || c.final == 'm')) {
        take_mouse(k, in, c.p[0], c.p[1], c.p[2], c.final == 'M', c.bytes);
    } else if (c.prefix == 0 && c.final == '~' && c.p[0] == 200) {
        drop(k, c.bytes);
        k->pasting = true;
        pw_str_clear(&k->paste);
    } else if (c.prefix == 0 && c.final == '~' && c.p[0] != 201 && c.bytes <= PW_KEY_BYTES) {
        take(k, in, tilde_key(c.p[0]), c.bytes);
    } else if (c.prefix == 0 && c.final && strchr("ABCDEFGHPQSZ", c.final) != NULL &&
               c.bytes <= PW_KEY_BYTES) {
        take(k, in, letter_key(c.final, c.p[1]), c.bytes);
    } else {
        drop(k, c.bytes);
    }
    return true;
}

/* Parses "ffff" with 1 to 4 digits as a byte, and moves s after it; -1: no digits. */
static long channel(const char **s)
{
    long value = 0;
    int n = 0;
    for (; n < 4 && isxdigit((unsigned char)**s); n++, ++*s)
        value = value * 16 + (isdigit((unsigned char)**s) ? **s - '0' : (**s | 32) - 'a' + 10);
    return n ? value * 255 / ((1L << 4 * n) - 1) : -1;
}

/* Decodes ESC ] ... at the front, an answer that ends with BEL or ESC \. pewter only asks for the
 * background's colour: "11;rgb:ffff/ffff/ffff". Returns false if the answer is incomplete. */
static bool next_osc(struct pw_keys *k, struct pw_input *in)
{
    size_t n = 2;
    while (n < k->n && k->buf[n] != '\a' && k->buf[n] != ESC)
        n++;
    size_t end = n + (n < k->n && k->buf[n] == ESC ? 2 : 1);
    if (end > k->n && k->n < OSC_BYTES)
        return false;
    char text[OSC_BYTES];
    const char *s = text + strlen("11;rgb:");
    size_t len = n - 2 < sizeof text - 1 ? n - 2 : sizeof text - 1;
    memcpy(text, k->buf + 2, len);
    text[len] = '\0';
    drop(k, end < k->n ? end : k->n);
    if (strncmp(text, "11;rgb:", strlen("11;rgb:")) != 0)
        return true;
    long rgb[3];
    for (int i = 0; i < 3; i++) {
        rgb[i] = channel(&s);
        if (rgb[i] < 0 || *s++ != (i < 2 ? '/' : '\0'))
            return true;
    }
    in->key = PW_KEY_BACKGROUND;
    in->rgb = PW_RGB(rgb[0], rgb[1], rgb[2]);
    return true;
}

static bool next_escape(struct pw_keys *k, struct pw_input *in)
{
    if (k->n < 2)
        return false;
    unsigned char second = (unsigned char)k->buf[1];
    if (second == '[')
        return next_csi(k, in);
    if (second == ']')
        return next_osc(k, in);
    if (second == 'O') {
        if (k->n < 3)
            return false;
        take(k, in, letter_key(k->buf[2], 0), 3);
        return true;
    }
    if (second == ESC) { /* the first ESC was a lone key */
        take(k, in, ESC, 1);
        return true;
    }
    uint32_t cp;
    if (second >= 0xc0 && !pw_utf8_valid(k->buf + 1, k->n - 1) && k->n < 5)
        return false; /* Alt and a character of several bytes */
    take(k, in, 0, 1 + pw_utf8_next(k->buf + 1, k->n - 1, &cp));
    return true;
}

/* Drops the rest of a sequence that was too long, up to its last byte. */
static bool skip(struct pw_keys *k)
{
    size_t n = 0;
    while (n < k->n && k->skipping) {
        char c = k->buf[n];
        bool inside = c >= ' ' && c < 0x40;
        k->skipping = inside;
        n += inside || (c >= 0x40 && c < 0x7f);
    }
    drop(k, n);
    return !k->skipping;
}

/* ---- pastes and characters */

static bool next_paste(struct pw_keys *k, struct pw_input *in)
{
    const size_t mark = sizeof PASTE_END - 1;
    const char *end = memmem(k->buf, k->n, PASTE_END, mark);
    /* Without the end mark, everything except a possible beginning of it is text. */
    size_t text = end != NULL ? (size_t)(end - k->buf) : k->n >= mark ? k->n - (mark - 1) : 0;
    if (k->paste.len + text <= PASTE_MAX)
        pw_str_put(&k->paste, k->buf, text);
    drop(k, text);
    if (end == NULL)
        return false;
    drop(k, mark);
    k->pasting = false;
    in->key = PW_KEY_PASTE;
    in->paste = pw_str_text(&k->paste);
    in->n_paste = k->paste.len;
    return true;
}

/* Returns the length of a UTF-8 character by its first byte. */
static size_t utf8_bytes(unsigned char first)
{
    return first < 0xc2 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 1;
}

static bool next_character(struct pw_keys *k, struct pw_input *in, bool settle)
{
    uint32_t cp;
    if (!settle && k->n < utf8_bytes((unsigned char)k->buf[0]))
        return false;
    size_t n = pw_utf8_next(k->buf, k->n, &cp);
    take(k, in, cp == '\r' ? '\n' : (int)cp, n);
    return true;
}

bool pw_keys_next(struct pw_keys *k, struct pw_input *in)
{
    for (;;) { /* until an input is not discarded */
        memset(in, 0, sizeof *in);
        bool whole = k->pasting       ? next_paste(k, in)
                     : k->n == 0      ? false
                     : k->skipping    ? skip(k)
                     : *k->buf == ESC ? next_escape(k, in)
                                      : next_character(k, in, false);
        if (in->key || in->n_raw)
            return true;
        if (!whole)
            return false;
    }
}

size_t pw_keys_waiting(const struct pw_keys *k)
{
    return k->pasting ? 0 : k->n;
}

bool pw_keys_settle(struct pw_keys *k, struct pw_input *in)
{
    memset(in, 0, sizeof *in);
    if (k->pasting || k->n == 0)
        return false;
    if (*k->buf == ESC && k->n > 1 && k->buf[1] == ']') { /* an answer that was cut off is not text */
        drop(k, k->n);
        return false;
    }
    if (*k->buf == ESC)
        take(k, in, ESC, 1);
    else
        next_character(k, in, true);
    return true;
}
