/* state.h - everything in a laboratory that decides what happens next, as data: a text and an image of every
 * model.
 *
 * Saved at any step boundary and restored into a fresh laboratory, it goes on with the same bits and tells
 * the same events: the task, every replicate with its weights, moments, counts and replaced heads, its goal
 * and its place in a round that has begun, the pinned prompt with its answer, edits and cursor, what is
 * looked at and in which replica, the probes that are repeated, the settings. Not part of it: threads and
 * instruction set, which no bit depends on; lines that wait (they are the sender's, and not yet asked for);
 * the series and evaluations of lab->record, which are a fold of the events up to there; measurements of
 * time.
 *
 * A step boundary: no job is under way and no answer is being decoded. These live in slices between two
 * steps, hold memory of models that they compare or replace, and end by themselves, so whoever wants the
 * state waits for their end (or cancels them) instead of saving half of one; an optimiser step that has
 * yielded is no obstacle, because weights change at its end only and it will be computed anew.
 *
 * The text is JSON; numbers are written as text, so that 64 bits and floats keep theirs, and read by option
 * tables with their ranges. It may come from anybody: everything is checked and built before anything
 * changes. */
#ifndef PW_STATE_H
#define PW_STATE_H
#include "base/text.h"
#include "lab/lab_int.h"

/* The models' images, in the order of the text's replicates: arm by arm. */
struct pw_lab_images {
    int n;
    struct {
        void *bytes; /* malloc */
        size_t n;
    } at[PW_MAX_PLACES];
};
void pw_lab_images_fini(struct pw_lab_images *images);

/* Is it a step boundary? */
bool pw_lab_state_ready(const struct pw_lab *lab);

/* Appends the text to json; only when ready. PW_ENOMEM leaves both empty. */
enum pw_code pw_lab_state_save(struct pw_lab *lab, struct pw_str *json, struct pw_lab_images *images,
                               struct pw_err *err);

/* Makes the laboratory what it was; not while an answer is being decoded. get hands over the i-th image
 * (malloc). Jobs that are under way are cancelled; else it tells nothing. On failure the laboratory is as
 * before. */
enum pw_code pw_lab_state_restore(struct pw_lab *lab, const char *json,
                                  enum pw_code (*get)(void *arg, int i, void **bytes, size_t *n,
                                                      struct pw_err *err),
                                  void *arg, struct pw_err *err);

#endif
