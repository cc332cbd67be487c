/* event.h - events: records of plain values that describe everything that happens in the lab.
 *
 * The lab emits events, and the fold (fold.h) turns them into the snapshot that panes draw. Live and replayed
 * events are the same, so a pane can't tell them apart. An event carries the effects of a command, not only
 * its text, so the fold parses nothing. Events travel through a queue, and a session stores them as rows
 * (store.h). The events of the inspected model are in event_inspection.h.
 *
 * Ownership: pw_event_new returns a zeroed event. Arrays in it belong to it (malloc); pw_event_free frees
 * everything. One event belongs to one thread at a time. */
#ifndef PW_EVENT_H
#define PW_EVENT_H
#include "base/finding.h"
#include "sessions/event_inspection.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PW_MAX_ARMS 8
/* Replicas of an arm: initialisations seed, seed + 1, ... */
#define PW_MAX_REPLICAS 10
#define PW_BITS_OF_ALL  2    /* words that hold one bit for each replica of each arm */
#define PW_COMMAND      4096 /* bytes of a command, with its NUL */
#define PW_REMARK       500  /* bytes of a text of mark or say, so that a log line holds it whole */
#define PW_MAX_BLOCKS   67   /* blocks of a model: embedding, up to 64 layers, head, encoding */
/* Answer positions at which first errors are counted; the last entry counts all later positions. */
#define PW_PLACES      64
#define PW_MAX_FAILING 50 /* examples in a list */

/* Kinds of events. The numbers are stored on disk, so a new kind is appended at the end. */
enum pw_event_kind {
    PW_EV_COMMAND,    /* a command took effect */
    PW_EV_LAB,        /* task, seed, backend: slot */
    PW_EV_ARM,        /* an arm was created or changed: slot per arm */
    PW_EV_DROP,       /* an arm was dropped */
    PW_EV_STATE,      /* training, paused or idle, and the goal: slot */
    PW_EV_STEP,       /* metrics of one optimiser step of one replica: series */
    PW_EV_UPDATES,    /* relative update size of each block, every 10 steps: series */
    PW_EV_DIGEST,     /* 128-bit hash of a replica's parameters, every 100 steps: slot */
    PW_EV_EVAL,       /* accuracy by length of one replica: slot, and a series */
    PW_EV_PROMPT,     /* a prompt was pinned, or unpinned (no tokens): slot */
    PW_EV_TOKEN,      /* one decoded token of the pinned prompt */
    PW_EV_CURSOR,     /* the step inspector moved to a token of the answer: slot */
    PW_EV_LOOK,       /* inspection of that token: candidates, parts of their logits, logit lens: slot */
    PW_EV_ATTENTION,  /* attention maps of the pinned prompt: slot */
    PW_EV_TABLE,      /* the encoding's tables: slot */
    PW_EV_JOB,        /* a job started, advanced or ended: slot */
    PW_EV_CHECKPOINT, /* a file of weights was written, or the full state from which a session can resume */
    PW_EV_MARK,       /* a remark at a point of training */
    PW_EV_NOTE,       /* a line of text for the log and for standard output */
    PW_EV_ERROR,      /* a command failed */
    PW_EV_GAP,        /* n step events were dropped because the reader was too slow */
    PW_EV_HEADS,      /* ablated heads of a replica: slot */
    PW_EV_PATCH,      /* result of activation patching: slot */
    PW_EV_FAILING,    /* examples that an arm got wrong in its last evaluation: slot */
    PW_EV_ASKED,      /* a line was received; its commands take effect, as COMMAND, after this is on disk */
    PW_EV_FILE,       /* a command read a file; the session keeps a copy */
    PW_EV_SESSION,    /* which session this is, and the state of its recording: slot; never stored */
    PW_EV_FINDING,    /* the finding of a probe or a study: slot per name and topic */
    PW_EV_KINDS
};

enum pw_run_state { PW_RUN_IDLE, PW_RUN_TRAINING, PW_RUN_PAUSED };
enum pw_job_state { PW_JOB_RUNNING, PW_JOB_DONE, PW_JOB_CANCELLED };

/* LAB: the tasks, the seed and the backend of training. Some members describe the tasks for panes. */
struct pw_ev_lab {
    char task[PW_LINE];    /* arguments of the canonical `task` command */
    char backend[PW_LINE]; /* "cpu: 2 threads, avx512" */
    uint64_t seed;
    double epoch; /* as in struct pw_ev_state, at the time of this event */
    int n_tasks;
    struct pw_task_view {
        char name[16];
        int train_lo, train_hi, test_lo, test_hi; /* lengths */
        int data;                                 /* samples of a fixed training set; 0: a stream */
        char axis[2][32];         /* names of the two numbers if a length is a pair; else "" */
        int box_lo[2], box_hi[2]; /* ranges of the two numbers in training */
        int n_share;              /* trained lengths with a known share of training: 0, or the first 128 */
        float share[128];         /* share of length train_lo + i; the shares of all lengths sum to 1 */
        char prompt[128];         /* arguments of a `prompt` command that the task accepts; "": none known */
        bool runs;                /* running text: tokens are bytes or characters, and have no answers */
    } tasks[8];
};

/* ARM: an arm's encoding, model and progress. */
struct pw_ev_arm {
    int id;               /* 1..8, constant while the arm exists */
    bool current;         /* prompts and inspection refer to this arm, to the replica in the event's header */
    char name[32];        /* the encoding: "t5" */
    char pe[PW_ENCODING]; /* with its options: "t5 buckets=8 distance=16" */
    char model[PW_LINE];  /* "tiny 2x64 8 heads, 102 k" */
    int replicas;         /* number of replicas, at least 1 */
    uint64_t seed;        /* initialisation seed of replica 1; replica k has seed + k - 1 */
    int64_t step;         /* optimiser steps done */
    int swaps;            /* how often the encoding was swapped in place */
    int layers, heads, width, context;
    int64_t n_params;
    bool restarted; /* new or reset: series start again */
    int parent;     /* the arm that it was forked from, at parent_step; 0: none */
    int64_t parent_step;
    bool own_batches; /* replica k trains on the samples of the lab's seed + k - 1; else all on one order */
};

/* STATE: whether the lab trains, how far and how fast. */
struct pw_ev_state {
    enum pw_run_state run;
    /* Goal: the current arm's last step; if it does not train, the largest goal of all arms; 0: none. */
    int64_t until;
    double steps_per_s; /* optimiser steps per second, all arms together */
    double eta_s;       /* estimated seconds left; < 0: unknown */
    double epoch;       /* passes of the current arm over its fixed training set; 0: trains on a stream */
    bool others;        /* only arms other than the current one are training */
};

/* STEP: metrics of one optimiser step. */
struct pw_ev_step {
    float loss, accuracy, lr, grad_norm; /* nats; fraction of scored tokens; learning rate; before clipping */
    /* Total floating-point operations of its steps (src/model/flops.c). */
    double flops;
};

/* Relative update ||p_after - p_before|| / ||p_before|| of each block. Block 0 is the embedding, then come
 * the layers; block n - 2 is the final norm and head, block n - 1 the encoding's own parameters. NaN: the
 * block has no parameters, or all of them were 0. */
struct pw_ev_updates {
    int n; /* layers + 3 */
    float ratio[PW_MAX_BLOCKS];
};

/* The first error of an answer. After the first error greedy decoding takes its own path, and evaluation does
 * not follow it. */
enum pw_error {
    PW_ERROR_EARLY, /* the end mark, where the right answer continues */
    PW_ERROR_LATE,  /* all tokens right, but no end mark */
    PW_ERROR_WRONG, /* a wrong token */
    PW_ERRORS
};

/* The criterion by which a sample counts as right. */
enum pw_judge {
    /* Teacher-forced: every token of the answer, end mark included, is predicted given the right tokens
     * before it. Greedy decoding gets the whole answer right if and only if this holds. */
    PW_JUDGE_EXACT,
    /* By greedy decoding: the answer after a scratchpad must be right, or else every token. Teacher-forced
     * predictions can't tell that. */
    PW_JUDGE_DECODED,
    /* Teacher-forced on a task where decoding may give another result. It is the cheap number during
     * training, and not comparable with the others. */
    PW_JUDGE_TAUGHT
};

/* Result of an evaluation at one length of one task, over `samples` samples. */
struct pw_eval_row {
    int task; /* index into struct pw_ev_lab's tasks */
    int length, samples;
    int exact; /* samples that are right by `judge` */
    int64_t tokens, tokens_right;
    /* There are so few inputs of this length that training has seen them, so the row does not measure
     * generalisation. */
    bool seen;
    int first_pair, n_pairs; /* range in struct pw_ev_eval's pairs; 0 if lengths are single numbers */
    float chance;            /* exact match of guessing at random in the answer's format */
    int errors[PW_ERRORS];   /* failing samples by kind of first error */
    int places[PW_PLACES];   /* failing samples by position of the first error in the answer, from 0 */
    int first_word;          /* start of its samples in struct pw_ev_eval's outcomes */
    enum pw_judge judge;
    int taught; /* PW_JUDGE_DECODED only: samples with every token right when teacher-forced */
    /* Running text: no sample is right or wrong, and `exact` is 0. */
    float loss;               /* mean cross entropy of its tokens, in nats; 0: not running text */
    int first_loss, n_losses; /* its loss by position, in struct pw_ev_eval's losses; 0 unless it is the
                                 longest row, or the longest trained one */
    int first_sampled;        /* start of its samples in struct pw_ev_eval's sampled */
};

/* Part of a row: the samples of one pair (a, b), if a length is a pair of numbers. */
struct pw_eval_pair {
    int a, b, samples, exact;
    int64_t tokens, tokens_right;
    int taught;
};

/* EVAL: an evaluation of one replica. */
struct pw_ev_eval {
    int n;
    struct pw_eval_row *rows; /* by task, then length */
    int n_pairs;
    struct pw_eval_pair *pairs; /* by row */
    bool live;                  /* small evaluation during training; false: requested by `eval` */
    /* Evaluations with equal `draw` have the same sample i at each task and length. */
    uint64_t draw;
    int n_words;
    uint64_t *outcomes; /* one bit per sample, from each row's first_word: 1 if right; used to pair arms */
    /* Running text, in nats per token. */
    int n_losses;
    float *losses; /* means by position, from each row's first_loss */
    int n_sampled;
    float *sampled; /* means by sample, from each row's first_sampled; used to pair arms */
};

/* Examples of one task and length that failed in an arm's last evaluation, with the current weights'
 * answers. */
struct pw_ev_failing {
    int task, length;
    int failed, samples; /* of the evaluation */
    int64_t eval_step;
    int n; /* number of examples listed, the first of `failed` */
    struct pw_failing {
        int index; /* of the sample */
        enum pw_error kind;
        /* Position of its first wrong token, from 0, of n_answer; -1: right now. */
        int place, n_answer;
        char want[PW_LABEL], got[PW_LABEL]; /* token at `place`: the right one and the model's */
        char prompt[PW_LINE], right[PW_LINE], model[PW_LINE]; /* `model` ends at the first wrong token */
    } * list;                                                 /* [n] */
};

/* JOB: progress of a job, `done` of `total` units. */
struct pw_ev_job {
    char name[32];
    enum pw_job_state state;
    int64_t done, total;
};

#define PW_SHA256 32 /* bytes */

/* CHECKPOINT: saved weights, or a saved state of the lab. */
struct pw_ev_checkpoint {
    char text[PW_LINE * 2]; /* one line: the file, or its content */
    uint64_t as_of;         /* number of the last event included in the state; 0: weights only */
    char *state;            /* the state (src/lab/recording/state.h); NULL: weights only */
    int n_files;
    uint8_t (*files)[PW_SHA256]; /* [n_files] the models, in the order of the state's replicas */
    int64_t bytes;               /* of all files */
    bool keep;                   /* pinned by the user: the disk budget does not remove it */
};

/* FILE: a file that a command read, by name and content. */
struct pw_ev_file {
    char name[PW_LINE]; /* as written in the command before this event */
    uint8_t sha[PW_SHA256];
    int64_t bytes;
};

/* State of a session's recording. */
enum pw_recording {
    PW_REC_NONE,   /* nothing is recorded */
    PW_REC_ON,     /* everything up to `saved` is on disk */
    PW_REC_PAUSED, /* writing fails because of `why`; events that are lost are counted */
    PW_REC_READ,   /* read-only: a replayed session, which another process may be recording */
};

/* SESSION: the current session and its recording. */
struct pw_ev_session {
    char name[PW_LINE]; /* name that `open` accepts; "" if unnamed */
    char folder[PW_LINE * 4];
    enum pw_recording how;
    char why[PW_LINE]; /* PW_REC_PAUSED: the reason. PW_REC_READ: the process that records; "": none */
    /* Another session than before: discard what was folded so far. Events up to `saved` are on disk. */
    bool fresh;
    uint64_t saved;  /* the last event on disk */
    int64_t bytes;   /* bytes on disk */
    int checkpoints; /* checkpoints kept */
};

/* One event: a header, and the payload of its kind. On the heap it has room for that payload only, so `*a =
 * *b` is wrong: use pw_event_copy or pw_event_move. */
struct pw_event {
    enum pw_event_kind kind;
    uint64_t seq; /* 1, 2, 3, ... in order of emission */
    int64_t t_ns; /* CLOCK_REALTIME */
    int arm;      /* id; 0: the lab */
    /* The replica of the arm that was measured; 0 is read as 1. ARM, of the current arm: the replica that is
     * inspected. */
    int replica;
    int64_t step; /* steps that the arm has completed */
    /* Recorded event: number of editions of the codec's tables since it was written. Otherwise 0. */
    int older;
    union {
        struct {
            char text[PW_COMMAND];
            int64_t at[PW_MAX_ARMS]; /* completed steps of each arm when the command took effect */
            /* Number of its replicas, the last ones, that had completed one step less. */
            int behind[PW_MAX_ARMS];
            /* Work in progress at that moment. The bit of a replica is that of its place, arm - 1 +
             * PW_MAX_ARMS * (replica - 1): bit place % 64 of word place / 64. */
            bool known;    /* the next four are set; sessions of version 0.1 have none of them */
            bool answered; /* the pinned prompt's answer came from the current arm's current weights */
            uint64_t training[PW_BITS_OF_ALL]; /* replicas whose training had not ended */
            /* Of these, replicas whose `until` condition was being measured. */
            uint64_t checking[PW_BITS_OF_ALL];
            char job[12]; /* the job that was running; "": none */
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
        struct pw_ev_inspection look;
        struct pw_ev_attention attention;
        struct pw_ev_table table;
        struct pw_ev_job job;
        struct pw_ev_heads heads;
        struct pw_ev_patch patch;
        struct pw_finding finding;
        struct pw_ev_checkpoint checkpoint;
        struct pw_ev_file file;
        struct pw_ev_session session;
        /* MARK, NOTE, ERROR, ASKED: one line; for CHECKPOINT it aliases checkpoint.text */
        char text[PW_LINE * 2];
        int64_t gap;
    } u;
};

/* ---- memory: event_memory.c */
/* Return a zeroed event of a kind. */
struct pw_event *pw_event_new(enum pw_event_kind kind);
/* Free the event's arrays and zero its payload; kind and counters remain. */
void pw_event_clear(struct pw_event *e);
void pw_event_free(struct pw_event *e); /* NULL is a no-op */
/* Return a copy with arrays of its own. An array that is too large to be recorded is left out. */
struct pw_event *pw_event_copy(const struct pw_event *e);
/* Return a new event with from's payload and arrays; zero from's payload. */
struct pw_event *pw_event_move(struct pw_event *from);
/* Return the bytes of memory that the event takes, arrays included. */
size_t pw_event_bytes(const struct pw_event *e);

/* Return the number of the event's replica: 1 where the event has none. */
int pw_event_replica(const struct pw_event *e);
/* Do events of this kind describe one replica: a result of its training, or of its inspection? */
bool pw_event_of_replica(enum pw_event_kind kind);

/* Return "exact", "decoded" or "teacher-forced". */
const char *pw_judge_name(enum pw_judge judge);
/* Return "early stop", "late stop" or "wrong token". */
const char *pw_error_name(enum pw_error kind);
/* Write the name of block i of n as in the names of weights: embed, layers.0, ..., head, pe. */
void pw_block_name(char dst[24], int i, int n);
/* Write the ablated heads: "L0H1 zero, L1H3 mean"; "" if there are none. Cut to size. */
void pw_heads_text(char *dst, size_t size, const struct pw_ev_heads *e);
/* Write a digest as 32 hexadecimal digits. */
void pw_digest_text(char dst[33], const uint64_t digest[2]);

#endif
