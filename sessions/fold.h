/* fold.h - fold events into a snapshot, which is all that panes draw.
 *
 * Each event either replaces a slot or appends to a series. So the snapshot at some event holds the last
 * value of every slot, and every series up to that event. The fold parses nothing, computes nothing that
 * can't be recomputed from the events, and keeps no pointer into an event.
 *
 * Members of a snapshot are plain values that any reader may read; the snapshot owns its arrays. One snapshot
 * belongs to one thread at a time. The functions cannot fail. */
#ifndef PW_FOLD_H
#define PW_FOLD_H
#include "base/pyramid.h"
#include "base/text.h"
#include "sessions/event.h"
#include <stddef.h>

/* The metrics of a step; index of a series. */
enum pw_metric { PW_M_LOSS, PW_M_ACCURACY, PW_M_LR, PW_M_GRAD_NORM, PW_METRICS };

/* Metrics of the steps of one replica, one point per step. */
struct pw_series {
    int n, cap;
    int64_t *step;        /* [n] ascending, like flops and ms */
    int64_t *flops;       /* [n] total operations of all steps up to this one */
    int64_t *ms;          /* [n] milliseconds since the first event */
    float *v[PW_METRICS]; /* [n] each */
    struct pw_pyramid pyramid[PW_METRICS];
};

/* Evaluations over training, one point each: means over trained and over longer lengths, of exact match, or
 * of the loss on held-out running text. */
struct pw_track {
    int n, cap;
    int64_t *step, *flops, *ms; /* as in struct pw_series */
    float *in_range,
        *beyond; /* fractions; NaN: running text; beyond also if no longer length was evaluated */
    float *held, *held_beyond; /* nats per token; NaN: no running text, or no longer length */
    int64_t *samples;          /* total samples of all lengths */
};

/* How far steps moved each block of the model: relative update sizes over training. */
struct pw_updates {
    int n, cap, blocks;
    int64_t *step; /* [n] ascending */
    float *ratio;  /* [n,blocks]: see struct pw_ev_updates */
};

/* Measurements of one replica. */
struct pw_replica_view {
    struct pw_series series;
    struct pw_updates updates;
    struct pw_track track;
    struct pw_ev_eval eval; /* the latest evaluation; n = 0: none yet */
    int64_t eval_step;
    uint64_t eval_seq;
    bool eval_off; /* some head was ablated at that time */
    /* The latest evaluation from the other state of the heads, to compare eval with. If eval has ablated
     * heads, this one had every head on, and the other way round. n = 0: none. pw_eval_before returns
     * whether the two may be compared. */
    struct pw_ev_eval eval_before;
    int64_t eval_before_step;
    uint64_t eval_before_seq;
    struct pw_ev_heads heads_off;
    uint64_t heads_off_seq;
    bool heads_changed; /* heads were switched since eval */
    bool has_digest;
    uint64_t digest[2]; /* the latest */
    int64_t digest_step;
};

/* The pinned prompt's attention at one step of an arm (kept.c). */
struct pw_kept_map {
    uint64_t seq; /* of the ATTENTION event */
    int replica;  /* the same for all maps that are kept of an arm */
    int64_t step;
    struct pw_ev_attention a; /* labels, probs, gold and scores; other arrays are NULL */
    size_t bytes;
};

#define PW_MAX_KEPT 64 /* per arm */

/* The kept attention maps of one arm. */
struct pw_kept {
    int n, cap;
    struct pw_kept_map *map; /* [n] steps ascending */
    size_t bytes;
};

/* The learned parameters of an arm's formula at one of its tables (course.c). */
struct pw_course_point {
    uint64_t seq; /* of the TABLE event */
    int64_t step;
    float *v; /* `learned` of the table, as many as the course has */
};

#define PW_MAX_COURSE 96 /* points per arm */

/* The learned parameters of an arm's formula over training. */
struct pw_course {
    int n;
    int replica, values;           /* the same for all points: of the arm, and entries of v */
    struct pw_course_point *point; /* [n], room for PW_MAX_COURSE + 1; steps ascending */
};

/* State of one arm. */
struct pw_arm_view {
    bool used;
    struct pw_ev_arm info;                       /* its `replicas` is 1..PW_MAX_REPLICAS */
    struct pw_replica_view rep[PW_MAX_REPLICAS]; /* replica k is at index k - 1 */
    uint64_t pe_seq;                             /* the event that gave the arm its current encoding */
    int n_marks;
    int64_t marks[32]; /* steps at which the encoding was swapped; the last 32 */
    bool has_table;    /* `table` belongs to the current encoding: see pw_table_of */
    struct pw_ev_table table;
    int table_replica;
    int64_t table_step;
    uint64_t table_seq;
    struct pw_kept kept;
    struct pw_course course;
};

/* Entries of the timeline (ticks.c). */
enum pw_tick_kind { PW_TICK_EVAL, PW_TICK_CHECKPOINT, PW_TICK_SWAP, PW_TICK_MARK };

/* One entry of the timeline. */
struct pw_tick {
    uint64_t seq; /* of the event */
    int64_t step;
    int arm;
    enum pw_tick_kind kind;
    char text[48]; /* "in 98%, beyond 41%"; the file; the encoding; the remark */
    bool live;     /* an evaluation during training: removed first if there are too many */
};

#define PW_MAX_TICKS 512

/* The latest finding of a name and topic. */
struct pw_finding_view {
    struct pw_finding f; /* name "": this entry is free */
    uint64_t f_seq;
    int arm; /* 0: not of one arm */
    int64_t step;
};

#define PW_MAX_FINDINGS 64 /* if there are more, the oldest is replaced */

#define PW_LOG_LINES 256

/* One line of the log. */
struct pw_log_line {
    enum pw_event_kind kind; /* COMMAND, MARK, NOTE, ERROR, CHECKPOINT, GAP, PATCH, FINDING */
    uint64_t seq;            /* of the event */
    uint64_t after;          /* the seq of the event before it, files left out */
    int64_t t_ns;
    char text[PW_LINE * 2];
};

/* The state that panes draw. A slot with arrays has a `_seq` member: the event that set it; 0: none. */
struct pw_snapshot {
    uint64_t seq;     /* of the last event that was folded */
    uint64_t last;    /* the same, files left out */
    int64_t began_ns; /* time of the first event */
    struct pw_ev_session session;
    struct pw_ev_lab lab;
    struct pw_ev_state state;
    struct pw_arm_view arms[PW_MAX_ARMS]; /* index id - 1 */
    int current;                          /* id of the current arm; 0 before the first event */
    int replica;              /* of the current arm, that answers prompts and is inspected: pw_inspected */
    bool has_prompt, decoded; /* decoded: the last token has arrived */
    struct pw_ev_prompt prompt;
    int prompt_arm, prompt_replica;
    int64_t prompt_step;
    uint64_t prompt_seq;
    struct pw_ev_token *tokens; /* tokens of the answer */
    int n_tokens, cap_tokens;
    bool has_cursor; /* false: the cursor stays at the newest token */
    struct pw_ev_cursor cursor;
    bool has_look;
    struct pw_ev_inspection look;
    uint64_t look_seq;
    bool has_attention;
    struct pw_ev_attention attention;
    int attention_arm, attention_replica;
    int64_t attention_step;
    uint64_t attention_seq;
    bool has_foreign; /* attention loaded from a file; separate from the arm's, kept until replaced */
    struct pw_ev_attention foreign;
    uint64_t foreign_seq;
    bool has_patch;
    struct pw_ev_patch patch; /* the latest patching map */
    int patch_arm, patch_replica;
    int64_t patch_step;
    uint64_t patch_seq;
    struct pw_ev_failing failing; /* n 0: not requested, or no failure */
    int failing_arm, failing_replica;
    int64_t failing_step;
    uint64_t failing_seq;
    struct pw_finding_view findings[PW_MAX_FINDINGS]; /* in no order */
    struct pw_tick ticks[PW_MAX_TICKS];               /* [n_ticks] in the order of events */
    int n_ticks;
    struct pw_ev_job job;                 /* name "" before the first job */
    struct pw_log_line log[PW_LOG_LINES]; /* a ring: line i of n_log is log[i % PW_LOG_LINES] */
    int64_t n_log;
    int64_t log_before; /* number of lines that the session already had when it was opened */
    int64_t dropped;    /* step events that were dropped, from GAP events */
};

/* Return an empty snapshot; pw_snapshot_free frees it. */
struct pw_snapshot *pw_snapshot_new(void);
void pw_snapshot_free(struct pw_snapshot *s); /* NULL is a no-op */

/* Fold e into s. Arrays of e move to s, and e's payload must not be used afterwards. The caller still frees
 * e. */
void pw_fold(struct pw_snapshot *s, struct pw_event *e);

/* Return the number of the replica of an arm that is inspected: the chosen one, or 1 if the arm has fewer. */
int pw_inspected(const struct pw_snapshot *s, const struct pw_arm_view *arm);
/* Return the measurements of that replica. */
const struct pw_replica_view *pw_inspected_view(const struct pw_snapshot *s, const struct pw_arm_view *arm);

/* Return the latest table of an arm's encoding; NULL if none was emitted since the arm got it. */
const struct pw_ev_table *pw_table_of(const struct pw_snapshot *s, int arm);

/* List all findings, newest first; returns their number. */
int pw_findings(const struct pw_snapshot *s, const struct pw_finding_view *list[PW_MAX_FINDINGS]);
/* Return the finding of this name and topic, or NULL. */
const struct pw_finding_view *pw_finding_of(const struct pw_snapshot *s, const char *name, const char *topic);

/* Return the end (exclusive) of a bucket's distances; INT_MAX if it has none. */
int pw_bucket_end(const struct pw_ev_table *t, int bucket);
/* Is the bucket for keys after the query? */
bool pw_bucket_later(const struct pw_ev_table *t, int bucket);
/* Return the bucket of a distance (query minus key) within the table's length; negative distances are keys
 * after the query. -1 if the table does not say. */
int pw_bucket_of(const struct pw_ev_table *t, int distance);
/* Return the number of (query, key) pairs of a bucket that were seen in training. The result is -1 if the
 * number is unknown. That is so if some of the bucket's distances exceed the table's length, or if pairs
 * before the loading of weights were not counted. */
int64_t pw_bucket_seen(const struct pw_ev_table *t, int bucket);
/* Return the position of the query whose bias the table has by distance; -1 if the bias is the same for all
 * queries. */
int pw_table_bias_query(const struct pw_ev_table *t);
/* Add to the cJSON object o: the query of `bias`, the biases of single queries, the learned tensors, the
 * learned parameters of a formula, and FIRE's scalars. */
struct cJSON;
void pw_table_json(struct cJSON *o, const struct pw_ev_table *t);
/* Does the table contain nothing? Then the order of tokens affects the model through the causal mask only. */
bool pw_table_empty(const struct pw_ev_table *t);
/* Returns where order comes from if it has none, such as "the causal mask alone". */
const char *pw_table_order(const struct pw_ev_table *t);

/* Return an arm's attention on the pinned prompt at the latest kept step that is not after `step`, and that
 * step in *at. NULL if none is kept, or if s is a moment of a replayed session, which keeps only the heads'
 * scores. */
const struct pw_ev_attention *pw_kept_attention(const struct pw_snapshot *s, int arm, int64_t step,
                                                int64_t *at);

/* Return how a head is ablated; PW_ABLATE_NONE if it is not ablated or does not exist. */
enum pw_ablation pw_head_mode(const struct pw_replica_view *rep, int layer, int head);
/* Is any head of the replica ablated? pw_arm_heads_off: of any replica of the arm? */
bool pw_heads_off(const struct pw_replica_view *rep);
bool pw_arm_heads_off(const struct pw_arm_view *a);
/* Were heads of any replica switched since its evaluation? */
bool pw_arm_heads_changed(const struct pw_arm_view *a);
/* Return the evaluation to compare rep's eval with, to see the effect of ablated heads. It has the same
 * weights and encoding, and differs only in the heads that were on. NULL if there is none. */
const struct pw_ev_eval *pw_eval_before(const struct pw_arm_view *a, const struct pw_replica_view *rep);
/* Are the same heads ablated in all replicas? */
bool pw_arm_heads_alike(const struct pw_arm_view *a);
/* Append the short name of an encoding, from the text in struct pw_ev_arm's pe: "t5 8/16", "rotary dims=4",
 * "alibi gain=2", "kerple a=2" for a formula from a file, "expr bias = -m*d" for another. */
void pw_encoding_name(struct pw_str *out, const char *pe);
/* Append the text with all options, for a line of its own. A formula from a file is its name with its
 * options; another one is cut after 100 bytes. Returns out's text. */
const char *pw_encoding_text(struct pw_str *out, const char *pe);
/* Write the ablated heads of an arm: "L0H1 zero, L1H3 mean", or if replicas differ "L0H1 zero in replica
 * 2". "" if there are none. Cut to size. */
void pw_arm_heads_text(char *dst, size_t size, const struct pw_arm_view *a);

/* Return the mean exact match over the rows of a task (-1: of all tasks) within the trained lengths, or
 * beyond them. NaN if there is no such row. */
float pw_eval_mean(const struct pw_ev_lab *lab, const struct pw_ev_eval *e, int task, bool beyond);
/* The evaluation is of running text: its rows have a loss, in nats per token, and no exact match.
 * pw_eval_loss returns its mean over the trained lengths, or over all longer ones; NaN: none. */
bool pw_eval_runs(const struct pw_ev_eval *e);
float pw_eval_loss(const struct pw_ev_lab *lab, const struct pw_ev_eval *e, bool beyond);

/* Return ", own batches" if the replicas of an arm differ in their batches, too; else "". */
const char *pw_batches_text(const struct pw_ev_arm *info);
bool pw_any_own_batches(const struct pw_snapshot *s); /* of any arm */

/* Summary of a value over the replicas of an arm. */
struct pw_spread {
    int n;                /* number of replicas that have the value */
    float median, lo, hi; /* NaN if n is 0 */
};
/* Summarise the finite ones of n values; reorders v. */
struct pw_spread pw_spread_of(float *v, int n);
/* Exact match at a length of a task, from the latest evaluation of each replica. */
struct pw_spread pw_spread_at(const struct pw_arm_view *arm, int task, int length);
/* Like pw_spread_at, for the value that `of` computes from a row. A replica without the row counts as NaN. */
struct pw_spread pw_spread_by(const struct pw_arm_view *arm, int task, int length,
                              float (*of)(const struct pw_eval_row *row));
/* The latest value of a metric; and pw_eval_mean of the latest evaluations. */
struct pw_spread pw_spread_last(const struct pw_arm_view *arm, enum pw_metric metric);
struct pw_spread pw_spread_mean(const struct pw_ev_lab *lab, const struct pw_arm_view *arm, bool beyond);

/* Return the row of a task and length, or NULL. */
const struct pw_eval_row *pw_eval_find(const struct pw_ev_eval *e, int task, int length);

/* Return how the rows of a task (-1: of the first) are judged; PW_JUDGE_EXACT if there are none. */
enum pw_judge pw_eval_judge(const struct pw_ev_eval *e, int task);
/* Fraction of samples that are right, and fraction with every token right when teacher-forced. NaN if there
 * are no samples. */
float pw_eval_exact(const struct pw_eval_row *row);
float pw_eval_taught(const struct pw_eval_row *row);

/* Is sample i of a row right? False also if the outcome is unknown. */
bool pw_eval_right(const struct pw_ev_eval *e, const struct pw_eval_row *row, int i);
/* Return the first failing sample of a row, starting at `from`; -1 if there is none. */
int pw_eval_failing(const struct pw_ev_eval *e, const struct pw_eval_row *row, int from);
/* Fraction of samples that are right except perhaps for a missing end mark. That is the exact match if the
 * answer is forced to end at the right place. An answer that stops early does not count. */
float pw_eval_forced(const struct pw_eval_row *row);

/* Wilson's 95 % confidence interval for k of n samples right, as fractions; n > 0. */
void pw_eval_wilson(int k, int n, double *low, double *high);

#endif
