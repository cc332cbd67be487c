/* verify.h - is what the lab tells now what was told when it was recorded? Lab thread. */
#ifndef PW_VERIFY_H
#define PW_VERIFY_H
#include "lab/follow.h"

/* Are events of this kind compared at all? Not those about the time, the process, or in words. */
bool pw_verify_takes(enum pw_event_kind kind);
/* Are both about the same: is `got` what came of what was recorded as `want`? */
bool pw_verify_is(const struct pw_event *want, const struct pw_event *got);
/* Have they the same bits? Counts it in v; the first difference fills v and ends it. */
bool pw_verify_same(struct pw_verdict *v, const struct pw_event *want, const struct pw_event *got);
/* What was recorded as `want` doesn't come; why: "training has ended". */
void pw_verify_missing(struct pw_verdict *v, const struct pw_event *want, const char *why);
/* The lab's models against those of a CHECKPOINT event that was taken where the lab stands; file: as in
 * struct pw_follow_opts. A verdict that is there already gets more words. */
void pw_verify_models(struct pw_lab *lab, struct pw_verdict *v, const struct pw_event *e,
                      const char *(*file)(void *arg, const uint8_t sha[PW_SHA256]), void *arg);
/* A command fails that did not fail when it was recorded. */
void pw_verify_failed(struct pw_verdict *v, uint64_t seq, const char *why);
/* The verdict where there was no difference; seq: of the last event that has come. */
void pw_verify_end(struct pw_verdict *v, enum pw_follow_end end, uint64_t seq);

#endif
