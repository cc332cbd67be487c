/* keys.h - decodes bytes from a terminal into keys.
 *
 * pewter has its own decoder instead of the one of curses for three reasons. The prompt needs the bytes of a
 * key and the panes its meaning. A paste must never reach readline as keys. A decoder without a terminal can
 * be tested byte by byte. It decodes the sequences of ECMA-48 terminals in normal and application mode, which
 * need no terminfo. */
#ifndef PW_KEYS_H
#define PW_KEYS_H
#include "base/text.h"
#include "ui/ui.h"
#include <stdbool.h>
#include <stddef.h>

/* Bytes of the longest sequence that is decoded; longer ones are discarded. */
#define PW_KEY_BYTES 32

/* The action of the mouse button. The wheel only sends PRESS. MOVE: the pointer moved with no button held. */
enum pw_mouse { PW_MOUSE_PRESS, PW_MOUSE_DRAG, PW_MOUSE_RELEASE, PW_MOUSE_MOVE };
enum pw_button { PW_BUTTON_LEFT, PW_BUTTON_WHEEL_UP, PW_BUTTON_WHEEL_DOWN, PW_BUTTON_OTHER };

/* One decoded input: a key, a paste, a mouse action, or an answer of the terminal. */
struct pw_input {
    int key; /* a code point, a control character (Enter is '\n'), or enum pw_key; 0: no key for panes */
    char raw[PW_KEY_BYTES]; /* the key's bytes for readline; empty if the input is not a key */
    size_t n_raw;
    int y, x, button; /* PW_KEY_MOUSE: the cell, and enum pw_button */
    enum pw_mouse mouse;
    uint32_t rgb;      /* PW_KEY_BACKGROUND */
    const char *paste; /* PW_KEY_PASTE: n_paste bytes, valid until the next call */
    size_t n_paste;
};

/* A decoder: bytes that are not decoded yet. */
struct pw_keys {
    char buf[1024];
    size_t n;
    bool skipping; /* inside a sequence that is too long */
    bool pasting;
    struct pw_str paste; /* the text between the paste brackets */
};

/* pw_keys_init starts with an empty buffer; pw_keys_fini frees the paste. */
void pw_keys_init(struct pw_keys *k);
void pw_keys_fini(struct pw_keys *k);

/* Takes at most n bytes and returns how many it took. Then call pw_keys_next until it returns false. */
size_t pw_keys_feed(struct pw_keys *k, const char *bytes, size_t n);
/* Sets *in to the next whole key; returns false if more bytes are needed. */
bool pw_keys_next(struct pw_keys *k, struct pw_input *in);

/* pw_keys_waiting returns how many bytes are possibly the beginning of a key: 1 is a lone ESC, a paste counts
 * 0. The loop waits a moment for the rest and then calls pw_keys_settle. After that, pw_keys_next returns
 * these bytes as separate keys. */
size_t pw_keys_waiting(const struct pw_keys *k);
bool pw_keys_settle(struct pw_keys *k, struct pw_input *in);

#endif
