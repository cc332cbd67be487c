/* preview.h - a formula that is being typed: is it valid, and how does it act by distance?
 *
 * These functions read a line of the prompt and the reader's snapshot. They run on the reader's thread,
 * access no lab and change no arm, so every key can call them. */
#ifndef PW_PREVIEW_H
#define PW_PREVIEW_H
#include "command/command.h"
#include "sessions/fold.h"

/* The state of a formula that is being typed. */
struct pw_preview {
    int arm;           /* the arm that the line is about */
    char why[PW_LINE]; /* why the formula is invalid, one line; "": it is valid */
    bool refused;      /* the line would fail: not a formula, or not one that the model can have */
    size_t from, to;   /* bytes of the line that the error is about; equal: none */
    /* The curve of the last valid formula: heads, length, trained, and kernel [heads,length]; length 0: there
     * was none. `shows` names its values: "bias", and positions that are no indices. The preview owns the
     * array. */
    struct pw_ev_table curve;
    char shows[96];
};

/* Reads a line. Returns false if its first command is not `pe` with a formula, or if there is no arm; then *p
 * is empty. If the formula is invalid, the curve remains that of the formula before. *p is zeroed before the
 * first call; pw_preview_fini frees its array and zeroes it. */
bool pw_preview_read(struct pw_preview *p, const char *line, const struct pw_snapshot *s);
void pw_preview_fini(struct pw_preview *p);

/* Does the line ask for the editor: `pe expr` without a formula? Then appends the line that the editor begins
 * with: the same, an open quote, and the formula that the arm has now, if it has one. */
bool pw_preview_asked(const char *line, const struct pw_snapshot *s, struct pw_str *begin);
/* Appends the quote that an edited formula lacks at its end. */
void pw_preview_close(struct pw_str *line);

/* Returns the byte at which the formula of the line begins; PW_NO_FORMULA if the line has none. */
#define PW_NO_FORMULA SIZE_MAX
size_t pw_preview_begin(const char *line);

/* Completion inside a formula: calls add with each variable, function, stage and name of the formula that
 * begins with the word that ends at byte `point`. Returns where that word begins; PW_NO_FORMULA if the point
 * is not in a formula. */
size_t pw_preview_complete(const char *line, size_t point, void (*add)(void *arg, const char *candidate),
                           void *arg);

#endif
