/* keys.h - bytes from a terminal become keys.
 *
 * Our own decoder instead of curses' one, because the prompt needs the bytes of a key and the panes its
 * meaning, because a paste must never reach readline as keys, and because a decoder without a terminal can be
 * tested byte by byte. It reads what ECMA-48 terminals send in normal and application mode; no terminfo is
 * needed for that. */
#ifndef PW_KEYS_H
#define PW_KEYS_H
#include "base/text.h"
#include "ui/ui.h"
#include <stdbool.h>
#include <stddef.h>

/* Bytes of the longest sequence that is understood; longer ones are thrown away. */
#define PW_KEY_BYTES 32

/* What happened to the button; the wheel only ever presses. MOVE: the pointer, and no button is held. */
enum pw_mouse { PW_MOUSE_PRESS, PW_MOUSE_DRAG, PW_MOUSE_RELEASE, PW_MOUSE_MOVE };
enum pw_button { PW_BUTTON_LEFT, PW_BUTTON_WHEEL_UP, PW_BUTTON_WHEEL_DOWN, PW_BUTTON_OTHER };

struct pw_input {
    int key; /* a code point, a control character (Enter is '\n'), or enum pw_key; 0: nothing that panes know
              */
    char raw[PW_KEY_BYTES]; /* its bytes for readline; none for what is not a key */
    size_t n_raw;
    int y, x, button; /* PW_KEY_MOUSE: the cell, enum pw_button */
    enum pw_mouse mouse;
    uint32_t rgb;      /* PW_KEY_BACKGROUND */
    const char *paste; /* PW_KEY_PASTE: n_paste bytes, valid until the next call */
    size_t n_paste;
};

struct pw_keys {
    char buf[1024];
    size_t n;
    bool skipping; /* inside a sequence that is too long */
    bool pasting;
    struct pw_str paste; /* the text between the brackets */
};

void pw_keys_init(struct pw_keys *k);
void pw_keys_fini(struct pw_keys *k);

/* Takes at most n bytes and returns how many: then call pw_keys_next until it returns false. */
size_t pw_keys_feed(struct pw_keys *k, const char *bytes, size_t n);
/* The next whole key; false when more bytes are needed. */
bool pw_keys_next(struct pw_keys *k, struct pw_input *in);

/* Bytes that may be the beginning of a key: 1 is a lone ESC, a paste doesn't count. The loop gives them a
 * moment and then calls settle, after which pw_keys_next gives them as keys of their own. */
size_t pw_keys_waiting(const struct pw_keys *k);
bool pw_keys_settle(struct pw_keys *k, struct pw_input *in);

#endif
