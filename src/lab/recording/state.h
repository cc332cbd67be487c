/* state.h - the complete state of a lab as data: a text, and an image of every model.
 *
 * A state that is saved at any step boundary and restored into a fresh lab continues with the same bits and
 * emits the same events. It contains the task, the settings and the watches. It contains every replica, with
 * its weights, moments, counts and ablated heads, its goal, and its place in the current round. It contains
 * the pinned prompt with its answer, edits and cursor, and the inspected layer, head, view and replica. It
 * does not contain: threads and instruction set, which affect no bit; waiting lines, which belong to the
 * sender; the series and evaluations of lab->record, which are a fold of the events up to this point;
 * measurements of time.
 *
 * A step boundary: no job is running and no answer is being decoded. Jobs and answers run in slices between
 * two steps, hold memory of models that they compare or replace, and end by themselves. So the caller waits
 * for their end or cancels them, instead of saving half of one. An optimiser step that has yielded is no
 * obstacle: weights change only at its end, and it will be computed again.
 *
 * The text is JSON. Numbers are written as strings, so that 64-bit integers and floats stay exact, and read
 * by option tables with their ranges. The input is not trusted: everything is checked and built before
 * anything changes. */
#ifndef PW_STATE_H
#define PW_STATE_H
#include "base/text.h"
#include "lab/core/lab_int.h"

/* The images of the models in the order of the text's replicas: arm by arm. */
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

/* Append the text to json. The lab must be at a step boundary. PW_ENOMEM leaves both empty. */
enum pw_code pw_lab_state_save(struct pw_lab *lab, struct pw_str *json, struct pw_lab_images *images,
                               struct pw_err *err);

/* Restore a lab to the saved state; not while an answer is being decoded. get returns the i-th image
 * (malloc). Running jobs are cancelled; no other event is emitted. On failure the lab is unchanged. */
enum pw_code pw_lab_state_restore(struct pw_lab *lab, const char *json,
                                  enum pw_code (*get)(void *arg, int i, void **bytes, size_t *n,
                                                      struct pw_err *err),
                                  void *arg, struct pw_err *err);

#endif
