/* ref_fold.h - fabricated events for tests of the fold. Each function makes an event and folds it. */
#ifndef PW_REF_FOLD_H
#define PW_REF_FOLD_H
#include "sessions/fold.h"

void fold_and_free(struct pw_snapshot *s, struct pw_event *e);
void put_text(struct pw_snapshot *s, enum pw_event_kind kind, const char *text);
void put_arm(struct pw_snapshot *s, int id, bool current, bool restarted, int64_t step, int swaps);
void put_step(struct pw_snapshot *s, int arm, int64_t step, float loss);
/* One task "sort", trained on lengths 2..4. */
void put_lab(struct pw_snapshot *s);
/* Folds the first `rows` of four rows: exact match 1 at length 2, .5 at 3, 0 at 8, and a task that doesn't
 * exist. */
void put_eval(struct pw_snapshot *s, int arm, int64_t step, int rows);
void put_prompt(struct pw_snapshot *s, int id, int n);
void put_token(struct pw_snapshot *s, int prompt, int pos, bool last);
void put_attention(struct pw_snapshot *s, int T);
void put_table(struct pw_snapshot *s, int length);

#endif
