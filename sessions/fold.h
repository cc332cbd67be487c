/* fold.h - events become a snapshot, and panes draw only snapshots.
 *
 * Each kind of event either replaces a slot or appends to a series, so the snapshot at a moment is the last
 * value of every slot and the series up to there. The fold parses nothing, computes nothing that can't be
 * redone from the events, and keeps no pointer into an event. Plain values: a reader may look at every
 * member. */
#ifndef PW_FOLD_H
#define PW_FOLD_H
#include "base/pyramid.h"
#include "base/text.h"
#include "sessions/event.h"
#include <stddef.h>

enum pw_metric { PW_M_LOSS, PW_M_ACCURACY, PW_M_LR, PW_M_GRAD_NORM, PW_METRICS };

struct pw_series {
    int n, cap;
    int64_t *step;        /* [n] ascending, like the next two */
    int64_t *flops;       /* [n] operations of all steps up to there */
    int64_t *ms;          /* [n] when, since the first event */
    float *v[PW_METRICS]; /* [n] each */
    struct pw_pyramid pyramid[PW_METRICS];
};

/* Exact match over training, one point an evaluation: the mean over trained and over longer lengths. */
struct pw_track {
    int n, cap;
    int64_t *step, *flops, *ms; /* as in the series */
    float *in_range, *beyond;   /* fractions; beyond NaN where nothing longer was evaluated */
};

/* How far steps moved the blocks of the model. */
struct pw_updates {
    int n, cap, blocks;
    int64_t *step; /* [n] ascending */
    float *ratio;  /* [n,blocks]: event.h */
};

/* What was measured of one replicate. */
struct pw_replicate_view {
    struct pw_series series;
    struct pw_updates updates;
    struct pw_track track;
    struct pw_ev_eval eval; /* the latest; n = 0: none yet */
    int64_t eval_step;
    uint64_t eval_seq;
    bool eval_off; /* some head was off then */
    /* The latest one with every head working, if some were off since; or with all of them on again the latest
     * with some off. n = 0: none. Whether eval may be compared with it: pw_eval_before */
    struct pw_ev_eval eval_before;
    int64_t eval_before_step;
    uint64_t eval_before_seq;
    struct pw_ev_heads heads_off;
    uint64_t heads_off_seq;
    bool heads_changed; /* since eval */
    bool has_digest;
    uint64_t digest[2]; /* the latest */
    int64_t digest_step;
};

/* The pinned prompt's attention as it was at steps of an arm: kept.c. */
struct pw_kept_map {
    uint64_t seq; /* of the event that told it */
    int64_t step;
    struct pw_ev_attention a; /* labels, probs, gold and scores; of the rest what isn't an array */
    size_t bytes;
};

#define PW_MAX_KEPT 64 /* of an arm */

struct pw_kept {
    int n, cap;
    struct pw_kept_map *map; /* [n] steps ascending */
    size_t bytes;
};

struct pw_arm_view {
    bool used;
    struct pw_ev_arm info;                           /* replicates is 1..PW_MAX_REPLICATES */
    struct pw_replicate_view rep[PW_MAX_REPLICATES]; /* replicate k at k - 1 */
    uint64_t pe_seq;                                 /* the event since which it has its encoding */
    int n_marks;
    int64_t marks[32]; /* steps at which its encoding was swapped; the last 32 */
    bool has_table;    /* of the encoding that it has now: pw_table_of */
    struct pw_ev_table table;
    int64_t table_step;
    uint64_t table_seq;
    struct pw_kept kept;
};

/* What the timeline shows: ticks.c. */
enum pw_tick_kind { PW_TICK_EVAL, PW_TICK_CHECKPOINT, PW_TICK_SWAP, PW_TICK_MARK };

struct pw_tick {
    uint64_t seq; /* of the event */
    int64_t step;
    int arm;
    enum pw_tick_kind kind;
    char text[48]; /* "in 98%, beyond 41%"; the file; the encoding; the remark */
    bool live;     /* an evaluation beside training: the first to go */
};

#define PW_MAX_TICKS 512

/* What was found last of a name and topic. */
struct pw_finding_view {
    struct pw_finding f; /* name "": the place is free */
    uint64_t f_seq;
    int arm; /* 0: of no arm alone */
    int64_t step;
};

#define PW_MAX_FINDINGS 64 /* the one that was told longest ago makes room */

#define PW_LOG_LINES 256

struct pw_log_line {
    enum pw_event_kind kind; /* COMMAND, MARK, NOTE, ERROR, CHECKPOINT, GAP, PATCH, FINDING */
    uint64_t seq;            /* of the event */
    int64_t t_ns;
    char text[PW_LINE * 2];
};

/* A slot with arrays has a `_seq` beside it: the event that told what is in it; 0: none. */
struct pw_snapshot {
    uint64_t seq;     /* of the last event folded in */
    int64_t began_ns; /* of the first one */
    struct pw_ev_session session;
    struct pw_ev_lab lab;
    struct pw_ev_state state;
    struct pw_arm_view arms[PW_MAX_ARMS]; /* index id - 1 */
    int current;                          /* id of the current arm; 0 before the first event */
    bool has_prompt, decoded;             /* decoded: the last token has arrived */
    struct pw_ev_prompt prompt;
    int prompt_arm;
    int64_t prompt_step;
    uint64_t prompt_seq;
    struct pw_ev_token *tokens; /* decoded ones */
    int n_tokens, cap_tokens;
    bool has_cursor; /* else it stands at the newest token */
    struct pw_ev_cursor cursor;
    bool has_look;
    struct pw_ev_look look;
    uint64_t look_seq;
    bool has_attention;
    struct pw_ev_attention attention;
    int attention_arm;
    int64_t attention_step;
    uint64_t attention_seq;
    bool has_foreign; /* attention of a file, whole: beside the arm's, until another takes its place */
    struct pw_ev_attention foreign;
    uint64_t foreign_seq;
    bool has_patch;
    struct pw_ev_patch patch; /* the latest map */
    int patch_arm;
    int64_t patch_step;
    uint64_t patch_seq;
    struct pw_ev_failing failing; /* n 0: nothing was asked for, or nothing failed */
    int failing_arm;
    int64_t failing_step;
    uint64_t failing_seq;
    struct pw_finding_view findings[PW_MAX_FINDINGS]; /* in no order */
    struct pw_tick ticks[PW_MAX_TICKS];               /* [n_ticks] in the order of happening */
    int n_ticks;
    struct pw_ev_job job;                 /* name "" before the first */
    struct pw_log_line log[PW_LOG_LINES]; /* a ring: line i of n_log is log[i % PW_LOG_LINES] */
    int64_t n_log;
    int64_t log_before; /* lines that were on record when the session was opened: no news */
    int64_t dropped;    /* step events that went missing, by GAP */
};

struct pw_snapshot *pw_snapshot_new(void);
void pw_snapshot_free(struct pw_snapshot *s); /* NULL is a no-op */

/* Folds e into s. Where e has arrays they move to s and e's payload is of no use any more: free e afterwards
 * all the same. */
void pw_fold(struct pw_snapshot *s, struct pw_event *e);

/* The latest table of an arm's encoding; NULL: none was told since it has that encoding. */
const struct pw_ev_table *pw_table_of(const struct pw_snapshot *s, int arm);

/* The findings that there are, the newest first; returns how many. */
int pw_findings(const struct pw_snapshot *s, const struct pw_finding_view *list[PW_MAX_FINDINGS]);
/* The finding of this name and topic; NULL: there is none. */
const struct pw_finding_view *pw_finding_of(const struct pw_snapshot *s, const char *name, const char *topic);

/* Behind the last distance of a bucket; INT_MAX: it has no end. */
int pw_bucket_end(const struct pw_ev_table *t, int bucket);
/* Is it for keys after the query? */
bool pw_bucket_later(const struct pw_ev_table *t, int bucket);
/* The bucket of a distance between query and key, within the table's length; negative: the key comes after
 * the query. -1: the table doesn't say. */
int pw_bucket_of(const struct pw_ev_table *t, int distance);
/* Pairs of a bucket that training had; -1: not known, as some of its distances lie beyond those that the
 * table has, or none was counted of what training met before the weights were loaded. */
int64_t pw_bucket_met(const struct pw_ev_table *t, int bucket);
/* The position of the query whose bias the table has by distance; -1: it is the same for all queries. */
int pw_table_bias_query(const struct pw_ev_table *t);
/* Adds to an object (cJSON) that, of a bias by both positions the queries' own, tensors and FIRE's scalars.
 */
struct cJSON;
void pw_table_json(struct cJSON *o, const struct pw_ev_table *t);
/* Nothing in it acts: order enters through the causal mask alone. */
bool pw_table_empty(const struct pw_ev_table *t);

/* The pinned prompt's attention in an arm at the latest kept step that is not after `step`; *at is that step.
 * NULL: none is kept, or this is a moment of a recording, which has the scores of those that were. */
const struct pw_ev_attention *pw_kept_attention(const struct pw_snapshot *s, int arm, int64_t step,
                                                int64_t *at);

/* What stands in for a head; PW_ABLATE_NONE where it works, or isn't one. */
enum pw_ablation pw_head_mode(const struct pw_replicate_view *rep, int layer, int head);
/* Is any head off? Of any replicate? */
bool pw_heads_off(const struct pw_replicate_view *rep);
bool pw_arm_heads_off(const struct pw_arm_view *a);
/* Were heads of any switched since its evaluation? */
bool pw_arm_heads_changed(const struct pw_arm_view *a);
/* What eval is compared with to see what heads do: of the weights and the encoding that the arm still has,
 * but for heads that were on or off. NULL: none is known. */
const struct pw_ev_eval *pw_eval_before(const struct pw_arm_view *a, const struct pw_replicate_view *rep);
/* Are the same heads off in all replicates? */
bool pw_arm_heads_alike(const struct pw_arm_view *a);
/* "t5 8/16", "rotary dims=4", "alibi gain=2": an encoding as it runs, of the text that pw_ev_arm's pe has. */
void pw_encoding_name(struct pw_str *out, const char *pe);
/* The heads of an arm that are off: "L0H1 zero, L1H3 mean"; where replicates differ "L0H1 zero in replicate
 * 2";
 * "" when every head works. As far as they fit. */
void pw_arm_heads_text(char *dst, size_t size, const struct pw_arm_view *a);

/* Evaluation rows of an arm that lie within the trained lengths (or beyond) of a task (-1: of all), as a mean
 * of exact match; NaN if none. */
float pw_eval_mean(const struct pw_ev_lab *lab, const struct pw_ev_eval *e, int task, bool beyond);

/* A value over an arm's replicates. */
struct pw_spread {
    int n;                /* replicates that have it */
    float median, lo, hi; /* of them; NaN where n is 0 */
};
/* Of those of n values that are finite; puts v into another order. */
struct pw_spread pw_spread_of(float *v, int n);
/* Exact match at a length of a task, by each replicate's latest evaluation. */
struct pw_spread pw_spread_at(const struct pw_arm_view *arm, int task, int length);
/* The same of what `of` says of a row, NaN where nothing. */
struct pw_spread pw_spread_by(const struct pw_arm_view *arm, int task, int length,
                              float (*of)(const struct pw_eval_row *row));
/* The latest value of a metric, and pw_eval_mean. */
struct pw_spread pw_spread_last(const struct pw_arm_view *arm, enum pw_metric metric);
struct pw_spread pw_spread_mean(const struct pw_ev_lab *lab, const struct pw_arm_view *arm, bool beyond);

/* The row of a task and length; NULL if there is none. */
const struct pw_eval_row *pw_eval_find(const struct pw_ev_eval *e, int task, int length);

/* What the rows of a task (-1: the first) are judged by. */
enum pw_judge pw_eval_judge(const struct pw_ev_eval *e, int task);
/* Fractions of samples that are right, and that have every token right, teacher-forced; NaN: none. */
float pw_eval_exact(const struct pw_eval_row *row);
float pw_eval_taught(const struct pw_eval_row *row);

/* Is sample i of a row right? False where its outcome isn't known. */
bool pw_eval_right(const struct pw_ev_eval *e, const struct pw_eval_row *row, int i);
/* The first failing sample of a row from `from` on; -1: there is none. */
int pw_eval_failing(const struct pw_ev_eval *e, const struct pw_eval_row *row, int from);
/* Fraction of samples that are right but perhaps for the end mark: exact match when the answer is made to end
 * where it should. An answer that stops early is not among them. */
float pw_eval_forced(const struct pw_eval_row *row);

/* Wilson's 95 % interval for k right of n samples, as fractions; n > 0. */
void pw_eval_wilson(int k, int n, double *low, double *high);

#endif
