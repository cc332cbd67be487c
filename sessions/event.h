/* event.h - what happened, as records of plain values.
 *
 * The lab tells everything by events; the fold (fold.h) turns them into what the panes draw. Live and
 * replayed they are the same, so a pane can't know the difference. An event carries effects, not only text:
 * the fold parses nothing. They live in a queue, and in a session as rows of its store (store.h).
 *
 * Ownership: pw_event_new gives a zeroed event; arrays in it belong to it (malloc); pw_event_free frees all.
 */
#ifndef PW_EVENT_H
#define PW_EVENT_H
#include "base/finding.h"
#include "base/half.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PW_MAX_ARMS       8
#define PW_MAX_REPLICATES 10 /* of an arm: initialisations seed, seed + 1, ..., all on the same batches */
#define PW_BITS_OF_ALL    2  /* words with a bit for each replica of each arm */
#define PW_LABEL          24 /* bytes of a token's label, NUL included, cleaned for display */
#define PW_TOP            5  /* candidates kept per decoded token */
#define PW_LOOK_TOP       20 /* and of the row that the cursor stands at */
#define PW_LINE           256
#define PW_COMMAND        4096 /* bytes of a command, with its NUL */
#define PW_REMARK         500  /* bytes of what mark and say tell: a log line has it whole */
#define PW_MAX_SCORES     10   /* of a head */
#define PW_MAX_BLOCKS     67   /* of a model: embedding, up to 64 layers, head, encoding */
#define PW_PLACES         64 /* of an answer's tokens at which first errors are counted; the last takes the rest */
#define PW_MAX_FAILING    50 /* examples in a list */

/* These numbers are on disk: a new kind goes to the end. */
enum pw_event_kind {
    PW_EV_COMMAND,    /* a command line took effect */
    PW_EV_LAB,        /* task, seed, backend: slot */
    PW_EV_ARM,        /* an arm is there now, or changed: slot per arm */
    PW_EV_DROP,       /* an arm is gone */
    PW_EV_STATE,      /* training, paused, idle; where it ends */
    PW_EV_STEP,       /* metrics of one optimiser step of one replicate: series */
    PW_EV_UPDATES,    /* how far a step moved each block of the model, every 10 steps: series */
    PW_EV_DIGEST,     /* 128 bits that stand for a replicate's parameters, every 100 steps: slot */
    PW_EV_EVAL,       /* accuracy by length of one replicate: slot, and a series */
    PW_EV_PROMPT,     /* a prompt was pinned, or with no tokens: none is any more: slot */
    PW_EV_TOKEN,      /* one decoded token of the pinned prompt */
    PW_EV_CURSOR,     /* the step inspector went to a token of the answer: slot */
    PW_EV_LOOK,       /* what led to that token: candidates, parts of their logits, logit lens: slot */
    PW_EV_ATTENTION,  /* maps of the pinned prompt: slot */
    PW_EV_TABLE,      /* the encoding itself: slot */
    PW_EV_JOB,        /* a long command begins, advances, ends: slot */
    PW_EV_CHECKPOINT, /* a file of weights was written, or all that a session needs to go on from here */
    PW_EV_MARK,       /* a remark at a moment of training */
    PW_EV_NOTE,       /* a line of text for the log and for standard output */
    PW_EV_ERROR,      /* a command failed */
    PW_EV_GAP,        /* n step events were dropped because the reader was too slow */
    PW_EV_HEADS,      /* which heads of a replicate are off now: slot */
    PW_EV_PATCH,      /* what activations of a clean prompt bring back in a corrupt one: slot */
    PW_EV_FAILING,    /* examples that an arm got wrong in its last evaluation: slot */
    PW_EV_ASKED,      /* a line was sent; what it says takes effect, as COMMAND, when this is on disk */
    PW_EV_FILE,       /* a file that a command read: the session has a copy of its own */
    PW_EV_SESSION,    /* which session this is and how its recording goes: slot; never recorded itself */
    PW_EV_FINDING,    /* what a probe or a study found: slot per name and topic */
    PW_EV_KINDS
};

enum pw_run_state { PW_RUN_IDLE, PW_RUN_TRAINING, PW_RUN_PAUSED };
enum pw_job_state { PW_JOB_RUNNING, PW_JOB_DONE, PW_JOB_CANCELLED };

struct pw_ev_lab {
    char task[PW_LINE];    /* the canonical command's arguments */
    char backend[PW_LINE]; /* "cpu: 2 threads, avx512" */
    uint64_t seed;
    double epoch; /* as in struct pw_ev_state, when this was told */
    int n_tasks;
    struct pw_task_view {
        char name[16];
        int train_lo, train_hi, test_lo, test_hi; /* lengths */
        int data;                                 /* samples of a fixed training set; 0: a stream */
        char axis[2][32];         /* where a length is a pair, what its two numbers count; else "" */
        int box_lo[2], box_hi[2]; /* and between what they lie in training */
        int n_share;              /* trained lengths whose part of training is known: 0 or the first 128 */
        float share[128];         /* of length train_lo + i; all of them sum to 1 */
        char prompt[128]; /* the arguments of a command `prompt` that the task reads; "": none is known */
    } tasks[8];
};

struct pw_ev_arm {
    int id;              /* 1..8, stays with the arm while it lives */
    bool current;        /* prompts and inspection go here */
    char name[16];       /* the encoding: "t5" */
    char pe[PW_LINE];    /* with its options: "t5 buckets=8 distance=16" */
    char model[PW_LINE]; /* "tiny 2x64 8 heads, 102 k" */
    int replicates;      /* 1.. */
    uint64_t seed;       /* of replicate 1's initialisation; k's is seed + k - 1 */
    int64_t step;        /* optimiser steps done */
    int swaps;           /* how often its encoding was swapped in place */
    int layers, heads, width, context;
    int64_t n_params;
    bool restarted; /* reset or new: series begin again */
    int parent;     /* the arm that it was forked from, at parent_step; 0: none */
    int64_t parent_step;
};

struct pw_ev_state {
    enum pw_run_state run;
    int64_t until;      /* step at which the current arm's training ends, or the last one's; 0: none */
    double steps_per_s; /* optimiser steps, all arms together */
    double eta_s;       /* seconds to go; < 0 unknown */
    double epoch; /* passes of the current arm over its fixed training set; 0: it learns from a stream */
    bool others;  /* who trains are other arms than the current one */
};

struct pw_ev_step {
    float loss, accuracy, lr, grad_norm; /* nats; fraction of scored tokens; ; before clipping */
    double flops;                        /* operations of its steps so far: src/model/flops.c */
};

/* ||p_after - p_before|| / ||p_before|| of each block: 0 the embedding, then the layers, n - 2 final norm and
 * head, n - 1 the encoding's own parameters. NaN: there are none, or all of them were 0. */
struct pw_ev_updates {
    int n; /* layers + 3 */
    float ratio[PW_MAX_BLOCKS];
};

/* How an answer goes wrong first. After its first error greedy decoding is on a way of its own, about which
 * evaluation knows nothing. */
enum pw_error {
    PW_ERROR_EARLY, /* the end mark where the right answer goes on */
    PW_ERROR_LATE,  /* everything right, and then no end mark */
    PW_ERROR_WRONG, /* another token */
    PW_ERRORS
};

/* By what a sample is right. */
enum pw_judge {
    PW_JUDGE_EXACT,   /* by every token of its answer, end mark included, each after the right ones before it
                         (teacher-forced): decoding gets all of them right if and only if this does */
    PW_JUDGE_DECODED, /* by what decoding says, as far as it counts: the answer behind a scratchpad, and else
                         every token. Teacher-forced choices don't tell that */
    PW_JUDGE_TAUGHT   /* by every token, teacher-forced, where decoding may come to something else: the cheap
                         number beside training. Not to be compared */
};

struct pw_eval_row {
    int task; /* index into struct pw_ev_lab's tasks */
    int length, samples;
    int exact; /* samples that are right, as `judge` says */
    int64_t tokens, tokens_right;
    bool seen;               /* so few inputs that training has met them: this measures no generalisation */
    int first_pair, n_pairs; /* in struct pw_ev_eval's pairs; 0 where lengths are single numbers */
    float chance;            /* exact match of a guesser who knows the answers' format */
    int errors[PW_ERRORS];   /* the other samples, by what goes wrong first */
    int places[PW_PLACES];   /* and by where: the answer's token, from 0 */
    int first_word;          /* of its samples in struct pw_ev_eval's outcomes */
    enum pw_judge judge;
    int taught; /* of PW_JUDGE_DECODED: samples of which every token is right, teacher-forced */
};

/* A part of a row: the samples of one pair of its length. */
struct pw_eval_pair {
    int a, b, samples, exact;
    int64_t tokens, tokens_right;
    int taught;
};

struct pw_ev_eval {
    int n;
    struct pw_eval_row *rows; /* by task, then length */
    int n_pairs;
    struct pw_eval_pair *pairs; /* by row */
    bool live;                  /* a small one while training; else asked for by `eval` */
    uint64_t draw;              /* evaluations with the same have the same sample i at each task and length */
    int n_words;
    uint64_t *outcomes; /* bit i of a row's words: its sample i is right, so that arms can be paired */
};

/* Examples of one task and length that failed in an arm's last evaluation, as its weights answer them now. */
struct pw_ev_failing {
    int task, length;
    int failed, samples; /* of the evaluation */
    int64_t eval_step;
    int n; /* the first ones of `failed` */
    struct pw_failing {
        int index; /* of the sample */
        enum pw_error kind;
        int place, n_answer;                /* its first wrong token, from 0, of so many; -1: right by now */
        char want[PW_LABEL], got[PW_LABEL]; /* there */
        char prompt[PW_LINE], right[PW_LINE], model[PW_LINE]; /* the model's up to the first wrong token */
    } * list;                                                 /* [n] */
};

struct pw_ev_prompt {
    int id;
    char text[PW_LINE * 2];
    int n_prompt, n;          /* tokens of the prompt; with the right answer */
    int *tokens;              /* [n] */
    char (*labels)[PW_LABEL]; /* [n] */
    bool has_answer;          /* a right answer is known */
    bool *edited;             /* [n_prompt] what `edit` replaced; NULL: nothing */
    bool drawn;               /* not typed: test sample number `sample` of this task and length */
    int task, length;         /* index into struct pw_ev_lab's tasks, and the task's length; -1: unknown */
    int64_t sample;
};

struct pw_ev_token {
    int prompt; /* id */
    int pos;    /* its position in the sequence, n_prompt is the first */
    int token;
    char label[PW_LABEL];
    float prob, logit, entropy; /* entropy of the distribution in bits */
    int n_top;
    char top_label[PW_TOP][PW_LABEL];
    float top_prob[PW_TOP];
    bool right;            /* equals the right answer's token here */
    bool last;             /* decoding ended with this token */
    bool exact;            /* with last: the whole answer is right */
    bool ended;            /* with last: the answer is complete, not cut off by the length limit */
    bool edited;           /* put there by `edit` */
    char target[PW_LABEL]; /* the right answer's token; "" where none is known */
};

struct pw_ev_cursor {
    bool newest; /* it stays at the newest token */
    struct pw_ev_token at;
};

/* The row before position pos, which predicts the token there. Logits are those of the forward pass; the
 * parts of a logit are src/model/attribution.h's, final norm frozen, and sum up to it but for rounding. */
struct pw_ev_look {
    int prompt, pos;
    float temperature; /* that probabilities are taken at; 1 also where decoding is greedy */
    float entropy;     /* bits */
    int vocab;         /* tokens in all */
    float mean_logit;  /* over them */
    int n;             /* the most probable, then those below if they are not among them */
    int said, target;  /* index of the answer's token and of the right one; target -1: not known */
    struct pw_look_token {
        int token, rank; /* rank: 0 is the most probable */
        float prob, logit;
        char label[PW_LABEL];
    } * token; /* [n] */
    int n_parts;
    struct pw_look_part {
        char name[16];   /* "embedding", "position", "head 0.3", "MLP 0", "biases" */
        int layer, head; /* -1: it has none */
    } * parts;           /* [n_parts] in the order of the stream */
    double *part, *mean; /* [n_parts,n] of token's logit, [n_parts] of the mean over the vocabulary */
    double worst;        /* the largest |sum of parts - logit| of the n */
    int layers;
    struct pw_look_lens {
        char label[PW_LABEL]; /* the most probable token there */
        float prob, entropy;
    } * lens;           /* [layers + 1] after so many layers */
    float *lens_prob;   /* [layers + 1, n] */
    int32_t *lens_rank; /* [layers + 1, n] */
};

/* What a number of a head says, and what a head that looks at everything alike would have. */
struct pw_score_kind {
    char name[20]; /* "previous token" */
    char unit[12]; /* "bits"; "": a share of the attention, 0..1 */
    float chance;  /* NaN: there is none */
};

/* Where a correct head looks: a query that has to find an answer's token, and a key that decides it. */
struct pw_gold {
    int query, key;
};

/* Values are IEEE half precision, as recorded and as drawn; exact ones come from `export`. */
struct pw_ev_attention {
    int prompt, T, layers, heads;
    int layer, head;                  /* the one that is looked at */
    int view;                         /* enum pw_view */
    char (*labels)[PW_LABEL];         /* [T] */
    int n_prompt;                     /* rows before the answer */
    uint16_t *probs;                  /* [layers,heads,T,T]; hidden 0 */
    uint16_t *score, *content, *bias; /* [T,T] of the head that is looked at; hidden -inf, -inf, 0 */

    bool asked;    /* by `inspect`; else told beside an answer */
    bool sees_all; /* queries see later keys, too (causal=off) */
    bool adds, rotates,
        biases; /* what the encoding does: rows to the embeddings, q and k, scores (or keys) */
    /* The head's content in four terms, by the stream before its layer as content plus position: of query and
     * key the content (cc), content and position (cp), pc, pp; hidden 0. NULL: there is no position in the
     * stream, or nobody asked. [4,T,T] */
    uint16_t *terms;
    int samples; /* of which a position is the mean; 0: it is the table's row, and the terms are exact */
    int n_gold;
    struct pw_gold *gold; /* [n_gold] by query, then key */
    int n_scores;
    struct pw_score_kind kinds[PW_MAX_SCORES];
    float *scores; /* [layers,heads,n_scores]; NaN where this prompt can't tell */

    char source[PW_LINE]; /* the file that it is from, of a model of somebody else's; "": an arm's. A slot of
                             its own: the arm's stays. Without tokens: there is none any more */
    uint16_t *all_scores; /* [layers,heads,T,T] of a file that has them; NULL: of an arm, and else */
};

enum pw_view {
    PW_VIEW_PROBS,
    PW_VIEW_SCORE,
    PW_VIEW_CONTENT,
    PW_VIEW_BIAS,
    PW_VIEW_CC, /* the terms, from here on */
    PW_VIEW_CP,
    PW_VIEW_PC,
    PW_VIEW_PP,
    PW_VIEWS
};
extern const char *const pw_view_names[]; /* as `inspect` calls them: "probs", ..., NULL */

/* A learned tensor of an encoding that makes its table of several by arithmetic of its own. */
struct pw_table_tensor {
    char name[48];  /* as in files of weights */
    int rows, cols; /* rows 0: a vector */
    float norm;     /* root of the sum of squares */
    float grad;     /* mean size of the gradient over its entries and n_grad steps; NaN: none was looked at */
};

#define PW_TABLE_QUERIES 12 /* whose bias is told, at most */

/* The encoding's tables. Arrays NULL where it has none. */
struct pw_ev_table {
    char pe[PW_LINE];
    int length; /* N */
    int heads, width, pairs;
    int *bucket; /* [N] by distance, of keys that are not after the query */
    int n_buckets;
    /* [n_buckets+1] bucket b takes distances from[b]..from[b+1]-1; INT_MAX: no end. Without the causal mask
     * the last `later` buckets are for keys after the query, by the sizes of their distances; the last one
     * before them has no end either (pw_bucket_end). */
    int *bucket_from;
    int later;
    float *bucket_bias; /* [n_buckets,heads] as learned, buckets beyond N included */
    float *bias;        /* [heads,N] by distance; of which query: pw_table_bias_query */
    float *slopes;      /* [heads] */
    float *frequencies; /* [pairs] radians a position */
    float *added;       /* [N,width] */
    bool by_length;     /* these rows are those of a sequence of N: of another one they would be others */
    int trained;        /* largest distance met in training; 0: nothing trained */
    int64_t *met;       /* [N] by distance: pairs of query and key that training had, since step met_from */
    int64_t *rows; /* [N] by position: rows that it had there; by_length: that were given what stands there */
    int64_t met_from;
    /* Mean size of the gradient since then, over n_grad steps (every tenth): [n_buckets,heads] of a bucket's
     * biases, or [N] of a learned row, its mean over the width. NULL: none learned, or no step yet. */
    float *grad;
    int64_t n_grad;
    /* By distance, of one layer: what the encoding itself puts into the scores, and the mean of the whole
     * score over n_kernel validation samples (NaN: none had the distance). src/probe/kernel.c says how. NULL:
     * it has no part that can be told from content there; not measured. */
    int layer, layers, n_kernel;
    float *kernel, *score; /* [heads,N] */
    float *parts; /* [heads,pairs,2] of rotated pairs the means a, b: a cos(d theta) + b sin(d theta) */
    /* Relative keys of that layer: row r is added to keys at distance key_from + r (query - key), the first
     * and the last row also to those beyond. Of each row the pairs that training met since met_from, and the
     * mean size of its gradient over n_grad steps and the width; NULL where no step was looked at. */
    int n_keys, key_width, key_from;
    float *keys;      /* [n_keys,key_width] */
    int64_t *key_met; /* [n_keys] */
    float *key_grad;  /* [n_keys] */
    /* A bias that depends on both positions, of some queries, ascending; the last one is at N-1, and that is
     * whose bias is told above. n_queries 0: the bias is the same for all queries. */
    int n_queries;
    int *queries;      /* [n_queries] positions */
    float *query_bias; /* [heads,n_queries,N] by distance; NaN where no key is so far before the query */
    int n_tensors;
    struct pw_table_tensor *tensors; /* [n_tensors]; of one table that is a parameter: none */
    /* FIRE: the bias is f(u), u = ln(c d + 1) / ln(c max(i,L) + 1) of distance d from query i, both as tune
     * makes them: from + step * i and step * d. L = |factor * threshold|. threshold 0: it isn't FIRE. */
    float fire_c, fire_factor, fire_threshold, fire_from, fire_step;
};

/* What stands in for a head's output. */
enum pw_ablation { PW_ABLATE_NONE, PW_ABLATE_ZERO, PW_ABLATE_MEAN, PW_ABLATE_RESAMPLE };
extern const char *const pw_ablation_names[]; /* "on", "zero", ..., NULL */

/* Of one replicate: the head of the same number in another one is another head. */
struct pw_ev_heads {
    int layers, heads;
    uint8_t *mode; /* [layers,heads] enum pw_ablation; NULL: every head works */
};

enum pw_patch_kind { PW_PATCH_RESID, PW_PATCH_HEADS };

/* Activation patching: the corrupt prompt with activations of the clean one put in. What is measured is
 * m = logit(clean's token) - logit(corrupt's token) at the last position, and recovery =
 * (m_patched - m_corrupt) / (m_clean - m_corrupt): 0 nothing came back, 1 all of it. */
struct pw_ev_patch {
    enum pw_patch_kind kind;
    int layer, head, pos; /* what was put in alone; -1: each in turn, or (pos of heads) all at once */
    int rows, cols;       /* resid: layers + 1 (row l: into layer l), T; heads: layers, heads; else 1, 1 */
    float *recovery;      /* [rows,cols] */
    int T, n_prompt;
    char (*clean)[PW_LABEL], (*corrupt)[PW_LABEL];       /* [T] */
    char clean_token[PW_LABEL], corrupt_token[PW_LABEL]; /* the right ones after these */
    bool greedy; /* of a prompt no right answer is known, so they are the model's own */
    float m_clean, m_corrupt;
    char text[PW_LINE * 2]; /* the result in one line */
};

struct pw_ev_job {
    char name[32];
    enum pw_job_state state;
    int64_t done, total;
};

#define PW_SHA256 32 /* bytes */

struct pw_ev_checkpoint {
    char text[PW_LINE * 2]; /* one line: the file, or what is in it */
    uint64_t as_of;         /* the state of the lab after the event of this number; 0: weights alone */
    char *state;            /* that state: src/lab/state.h; NULL: weights alone */
    int n_files;
    uint8_t (*files)[PW_SHA256]; /* [n_files] the models, in the order of the state's replicates */
    int64_t bytes;               /* of all files */
    bool keep;                   /* somebody wants it kept: the budget takes others */
};

struct pw_ev_file {
    char name[PW_LINE]; /* as the command before this event said it */
    uint8_t sha[PW_SHA256];
    int64_t bytes;
};

enum pw_recording {
    PW_REC_NONE,   /* nothing is recorded */
    PW_REC_ON,     /* up to `saved` it is on disk */
    PW_REC_PAUSED, /* not all of it can be, because of `why`; events that are lost are counted */
    PW_REC_READ,   /* somebody else records, or nobody: this is a recording that is looked at */
};

struct pw_ev_session {
    char name[PW_LINE]; /* as `open` takes it; "" while it has none */
    char folder[PW_LINE * 4];
    enum pw_recording how;
    char why[PW_LINE]; /* of PW_REC_READ: who records it, "" nobody */
    bool fresh;      /* another session than before: what was folded so far is not this one's, what is on disk
                        up to `saved` is */
    uint64_t saved;  /* the last event on disk */
    int64_t bytes;   /* that it takes there */
    int checkpoints; /* that are kept */
};

struct pw_event {
    enum pw_event_kind kind;
    uint64_t seq;  /* 1, 2, 3, ... in the order of happening */
    int64_t t_ns;  /* CLOCK_REALTIME */
    int arm;       /* id, 0: the lab */
    int replicate; /* of the arm, by STEP, UPDATES, DIGEST, EVAL and HEADS; 0 is read as 1, which answers
                      prompts */
    int64_t step;  /* completed steps of that arm */
    int older;     /* of a recorded one: how many editions of the codec's tables have come since; else 0 */
    union {
        struct {
            char text[PW_COMMAND];
            int64_t at[PW_MAX_ARMS]; /* completed steps of each arm when it took effect */
            int behind[PW_MAX_ARMS]; /* so many of its replicates, the last ones, had taken one fewer */
            /* What else was in progress at that moment. A replica's bit is that of its place, arm - 1 +
             * PW_MAX_ARMS * (replica - 1): place % 64 of word place / 64. */
            bool known;    /* the next four are; recordings of version 0.1 have none of them */
            bool answered; /* the pinned prompt's answer was that of the current arm's weights */
            uint64_t training[PW_BITS_OF_ALL]; /* replicas whose training had not ended */
            uint64_t checking[PW_BITS_OF_ALL]; /* of these, whose `until` condition was being measured */
            char job[12];                      /* the long command that was running; "": none */
        } command;
        struct pw_ev_lab lab;
        struct pw_ev_arm arm;
        struct pw_ev_state state;
        struct pw_ev_step step;
        struct pw_ev_updates updates;
        uint64_t digest[2];
        struct pw_ev_eval eval;
        struct pw_ev_failing failing;
        struct pw_ev_prompt prompt;
        struct pw_ev_token token;
        struct pw_ev_cursor cursor;
        struct pw_ev_look look;
        struct pw_ev_attention attention;
        struct pw_ev_table table;
        struct pw_ev_job job;
        struct pw_ev_heads heads;
        struct pw_ev_patch patch;
        struct pw_finding finding;
        struct pw_ev_checkpoint checkpoint;
        struct pw_ev_file file;
        struct pw_ev_session session;
        char text[PW_LINE * 2]; /* MARK, NOTE, ERROR, ASKED: one line; of a CHECKPOINT, too */
        int64_t gap;
    } u;
};

struct pw_event *pw_event_new(enum pw_event_kind kind);
void pw_event_clear(struct pw_event *e); /* frees its arrays and zeroes its payload; kind and counters stay */
void pw_event_free(struct pw_event *e);  /* NULL is a no-op */

/* "exact", "decoded", "teacher-forced". */
const char *pw_judge_name(enum pw_judge judge);
/* "early stop", "late stop", "wrong token". */
const char *pw_error_name(enum pw_error kind);
/* The name of block i of n as in the names of weights: embed, layers.0, ..., head, pe. */
void pw_block_name(char dst[24], int i, int n);
/* The heads that are off, as far as they fit: "L0H1 zero, L1H3 mean"; "" when every head works. */
void pw_heads_text(char *dst, size_t size, const struct pw_ev_heads *e);
/* A digest as it is written: 32 digits. */
void pw_digest_text(char dst[33], const uint64_t digest[2]);

#endif
