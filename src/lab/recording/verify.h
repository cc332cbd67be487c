/* verify.h - compare the events of a re-run with the recorded events, and write the verdict. Lab thread. */
#ifndef PW_VERIFY_H
#define PW_VERIFY_H
#include "lab/follow.h"

/* Are events of this kind compared? Events about time, the process or texts are not. */
bool pw_verify_takes(enum pw_event_kind kind);
/* Do both events describe the same thing, so that `got` is the re-run's counterpart of the recorded `want`?
 */
bool pw_verify_is(const struct pw_event *want, const struct pw_event *got);
/* Do both events have the same bits? An equal event is counted in v. The first difference fills v, and the
 * caller then stops comparing. */
bool pw_verify_same(struct pw_verdict *v, const struct pw_event *want, const struct pw_event *got);
/* Set the verdict: the recorded event `want` does not occur in the re-run. why: the reason, such as "training
 * has ended". */
void pw_verify_missing(struct pw_verdict *v, const struct pw_event *want, const char *why);
/* Compare the lab's models with the models of a CHECKPOINT event that was recorded at the lab's present
 * state. file: see struct pw_follow_opts. If v holds a difference already, the result is appended to its
 * text. */
void pw_verify_models(struct pw_lab *lab, struct pw_verdict *v, const struct pw_event *e,
                      const char *(*file)(void *arg, const uint8_t sha[PW_SHA256]), void *arg);
/* Set the verdict: a command fails that did not fail when it was recorded. */
void pw_verify_failed(struct pw_verdict *v, uint64_t seq, const char *why);
/* Set the verdict of a re-run without differences. seq: number of the last event that was re-run. */
void pw_verify_end(struct pw_verdict *v, enum pw_follow_end end, uint64_t seq);

#endif
