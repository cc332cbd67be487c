/* lab_int.h - internal interface of the lab: its state, and the actions that commands call. Lab thread only,
 * unless a function says otherwise.
 *
 * A command (src/command/commands/NAME.c) parses its arguments and calls one or two of the actions below. An
 * action checks everything before it changes anything, so a failing command leaves the lab unchanged. */
#ifndef PW_LAB_INT_H
#define PW_LAB_INT_H
#include "base/clock.h"
#include "kernels/backend.h"
#include "lab/lab.h"
#include "lab/queue.h"
#include "lab/session.h"
#include "lab/watch.h"
#include "model/checkpoint.h"
#include "model/decode.h"
#include "model/model.h"
#include "sessions/fold.h"
#include "tasks/task.h"
#include <pthread.h>
#include <stdatomic.h>

struct pw_head_input; /* probe/heads.h */

/* The condition that ends an arm's training, besides its goal. */
enum pw_until {
    PW_UNTIL_STEP,
    PW_UNTIL_ACC,
    PW_UNTIL_LOSS,
    PW_UNTIL_FLOPS,     /* operations in total */
    PW_UNTIL_MORE_FLOPS /* operations from the present step on */
};

/* The order of training: round-robin, or first the arm that has spent the fewest operations. With the second,
 * a small arm need not wait for a large one, and arms share the device equally by work. Both depend on shapes
 * and step counts only, and no arm's bits depend on the choice. */
enum pw_share { PW_SHARE_STEPS, PW_SHARE_FLOPS };

/* The first reason why an arm's weights are not the result of one unchanged run from the first step on. */
enum pw_altered {
    PW_ALTERED_NOT,
    PW_ALTERED_TASK,       /* the task changed during training; its tokens are the same */
    PW_ALTERED_OPTIM,      /* the optimiser or schedule changed during training */
    PW_ALTERED_HEADS,      /* a step ran with ablated heads */
    PW_ALTERED_TUNED,      /* options of the encoding were tuned during training */
    PW_ALTERED_TRANSPLANT, /* received the learned parameters of another arm's encoding */
    PW_ALTERED_FILE        /* weights loaded from a file */
};

/* Every N steps: test the `until` condition and run a live evaluation. */
#define PW_CHECK_EVERY 50

/* One replica: a model of the lab. An arm has one or several replicas. They differ only in the seed of their
 * initialisation and, with own batches, in their training samples. They are trained in step with each other.
 * The arm's seed is that of replica 1; replica k has seed + k - 1. The replica chosen with `inspect
 * replica=R` answers prompts and is inspected. */
struct pw_arm {
    int id;        /* 1..PW_MAX_ARMS */
    int replicate; /* 1..PW_MAX_REPLICATES */
    struct pw_model *model;
    char preset[16];
    struct pw_config cfg;
    struct pw_optim optim;
    struct pw_pe_use_opts pe;
    uint64_t seed; /* of the initialisation */
    int64_t step;  /* optimiser steps since the initialisation */
    /* operations of the steps after step flops_from, which is 0 unless the weights came from a file */
    int64_t flops;
    int64_t flops_from;
    int swaps;
    enum pw_altered altered;
    int parent; /* id of the arm that this one was forked from; 0: none */
    int64_t parent_step;
    bool training;
    int64_t goal;        /* training ends when step reaches it; with a budget of operations: an estimate */
    enum pw_until until; /* a condition that may end training earlier */
    double until_value;
    double seen;                     /* latest value of the quantity that `until` tests */
    bool met;                        /* the `until` condition came true */
    bool budget;                     /* only operations end the training: goal is derived from them */
    bool due;                        /* still has to take its step in the current round: train.c */
    int64_t ahead_flops[PW_FLIGHTS]; /* operations of the steps in flight, by step number: ahead.c */
    bool checking;                   /* acc is being measured for `until`; check has the counts so far */
    int check_of;                    /* number of samples to measure */
    struct pw_eval_row check;
    double row_s; /* seconds that a row of evaluation took most recently; 0: unknown */
};

/* Replica r of arm id lies at (r - 1) * PW_MAX_ARMS + id - 1. So the first PW_MAX_ARMS places are the arms'
 * first replicas, and the order of places is the round-robin order of training. */
#define PW_MAX_PLACES (PW_MAX_ARMS * PW_MAX_REPLICATES)
_Static_assert(PW_MAX_PLACES <= 64 * PW_BITS_OF_ALL, "a command's event has a bit for every place");

/* Evaluation by length. A slice evaluates one row (replica, task, length), so that commands are served
 * between rows. */
struct pw_eval_plan {
    /* small evaluation for the screen during training; false: started by a command */
    bool live;
    int samples;                 /* per length */
    int n, place[PW_MAX_PLACES]; /* places of the replicas, arm by arm; n 0: no evaluation */
    int at;                      /* index into place */
    double took;                 /* seconds so far */
    int n_rows, row;             /* rows per replica; the next row */
    struct pw_eval_row *rows;    /* [n_rows] counts of the rows finished so far */
    int n_pairs;
    struct pw_eval_pair *pairs; /* [n_pairs] of the same rows */
    int n_words;
    uint64_t *outcomes;           /* [n_words] of the same rows */
    struct pw_decoding *decoding; /* decoding of the row's next samples; NULL: none */
};

struct pw_decoding; /* eval_decode.c */

/* A batch of samples as the model reads it, with its memory, which grows and never shrinks. */
struct pw_samples {
    struct pw_batch b;
    int *start, *tokens, *pos, *rows, *targets;
    int *seq_scored;       /* [n_seqs+1] first scored row of each sequence */
    int *buffer;           /* tokens of one sample */
    struct pw_pair *pairs; /* [n_seqs] length of each sample as a pair */
    int cap_seqs, cap_rows, cap_buffer;
};

struct pw_pin { /* the pinned prompt */
    int id;     /* 0: none */
    int arm;
    int replica; /* of that arm; the replica that answers */
    char text[PW_LINE * 2];
    struct pw_sample sample; /* prompt and, if known, the right answer */
    int64_t index;           /* index of the sample in the test split; -1: typed */
    int cap;                 /* capacity of the next three, which are indexed by position */
    int *tokens;             /* prompt and decoded answer */
    bool *edited;            /* set by the command `edit` */
    struct pw_ev_token *said;
    int n;
    int kept; /* number of given tokens, which are not decoded: the prompt, and the answer up to an edit */
    int more; /* tokens that `next` decoded beyond the limit */
    int at;   /* cursor: the inspected position of the answer; 0: the newest */
    struct pw_decoder *decoder; /* NULL: decoding has ended */
    /* generation of the model when it decoded the answer, 0: no model; then the settings of decoding */
    uint64_t generation;
    float temperature;
    int limit;             /* number of tokens at which decoding ends */
    bool stop_at_wrong;    /* decoding ends at the first wrong token */
    double began;          /* seconds */
    int layer, head, view; /* the inspected ones */
};

struct pw_table_look { /* which table of an encoding is shown */
    int length;        /* distances or positions; 0: length of the longest sample */
    int layer;         /* layer of the kernel */
};

struct pw_lines { /* a queue of command texts */
    char **line;
    int n, cap;
};

struct pw_lab {
    struct pw_lab_config cfg;
    pthread_t thread;
    int fd;
    atomic_bool yield;     /* a line is waiting: the running step or slice yields */
    atomic_bool interrupt; /* Ctrl-C, not handled by the loop yet */

    /* shared with the reader, under lock */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool quit, idle;
    bool stored; /* the store has something to report */
    int failures;
    struct pw_lines now, script;
    char place[PW_LINE];   /* place of the script's last command; "": none */
    struct pw_queue queue; /* a mark is where a request was served */

    /* owned by the reader */
    struct pw_snapshot *snap;
    bool seen_idle;
    int seen_failures;
    uint64_t seen_requests; /* requests served */

    /* owned by the lab thread */
    struct pw_session session;
    const struct pw_backend_ops *ops;
    struct pw_backend *be;
    int unit;    /* argument that the backend was opened with: threads or device number */
    int threads; /* of the cpu backend */
    uint64_t seq;
    uint64_t seed;
    /* each replica has its own batches, by its number: pw_lab_batch_seed; false: all share theirs */
    bool own_batches;
    struct pw_taskset tasks;
    struct pw_arm arms[PW_MAX_PLACES]; /* model NULL: free place */
    int current;                       /* id */
    int replica;                       /* replica of the current arm that answers prompts and is inspected */
    bool paused;
    enum pw_share share;
    int64_t allowed;                         /* rounds of training left to run while paused: `step` */
    struct pw_eval_plan eval;                /* n 0: none */
    struct pw_dump *dump;                    /* activations.c; NULL: none */
    struct pw_writing *writing;              /* export_data.c; NULL: none */
    struct pw_ablating *ablating;            /* ablate.c; NULL: none */
    struct pw_patching *patching;            /* patch.c; NULL: none */
    struct pw_probing *probing;              /* probe.c; NULL: none */
    struct pw_watch watches[PW_MAX_WATCHES]; /* [n_watches] watch.c */
    int n_watches;
    struct pw_samples scratch;
    struct pw_samples batches[PW_FLIGHTS]; /* training batches: ahead.c */
    int64_t batch_first[PW_FLIGHTS];       /* first sample of each batch; -1: empty */
    uint64_t batch_seed[PW_FLIGHTS];       /* seed of the samples in each batch */
    /* start no step beyond those that were asked for, while steps are drained */
    bool landing;
    struct pw_pin pin;
    struct pw_table_look table; /* the shown table */
    unsigned table_told;        /* bit id: the arm's table was emitted, and is kept up to date */
    /* generation of the arm's model when its table was last emitted; 0: never */
    uint64_t table_generation[PW_MAX_ARMS + 1];
    bool requested; /* the request at the front of the typed lines has begun */
    /* arms whose answers the request waits for, bit id; bit 0: the current arm */
    unsigned to_answer;
    int table_next; /* round-robin: the last arm whose table was refreshed */
    double table_s; /* seconds that the tables took most recently */
    int last_prompt_id;
    float temperature;         /* of decoding; 0: greedy */
    struct pw_follow *follow;  /* follow.c; NULL: live */
    struct pw_verdict verdict; /* verify_session.c */
    /* the lab's own snapshot, by the same fold as the reader's: series and evaluations, for export and
     * `until` */
    struct pw_snapshot *record;
    double t_state, t_live, rate_t; /* seconds: when last emitted or measured */
    double look_s;                  /* seconds that the latest answer took */
    double eval_s, t_eval;          /* seconds that the latest live evaluation took, and when it ended */
    int64_t rate_steps;
    double rate;
    int64_t steps_done; /* of all arms since the start of the process */
};

/* ---- events.c: emit events. pw_lab_emit takes ownership of e and assigns its number. */
struct pw_event *pw_lab_event(enum pw_event_kind kind, const struct pw_arm *arm);
void pw_lab_emit(struct pw_lab *lab, struct pw_event *e);
void pw_lab_fold(struct pw_lab *lab, const struct pw_event *e); /* folds e into lab->record */
bool pw_lab_keeps(const struct pw_event *e);                    /* does lab->record keep such an event? */
void pw_lab_wake_reader(const struct pw_lab *lab);
void pw_lab_end_request(struct pw_lab *lab); /* the request at the front of the typed lines was served */
void pw_lab_note(struct pw_lab *lab, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Emit each line of text as a note. */
void pw_lab_note_lines(struct pw_lab *lab, const char *text);
/* Fails if the text of `mark` or `say` is too long for one event. */
enum pw_code pw_lab_check_remark(const struct pw_lab *lab, const struct pw_command *cmd,
                                 const struct pw_args *args, struct pw_err *err);
void pw_lab_tell_lab(struct pw_lab *lab);
void pw_lab_tell_arm(struct pw_lab *lab, const struct pw_arm *arm, bool restarted);
void pw_lab_tell_state(struct pw_lab *lab);
void pw_lab_tell_job(struct pw_lab *lab, const char *name, enum pw_job_state state, int64_t done,
                     int64_t total);
/* Emit the digest of a replica's parameters; it is also written to text unless that is NULL. */
void pw_lab_tell_digest(struct pw_lab *lab, const struct pw_arm *arm, char text[33]);

/* ---- data.c */
/* Fill a batch with samples first..first+n-1 of a split. The split TEST is that of one task and length. */
void pw_samples_fill(struct pw_samples *s, const struct pw_taskset *set, uint64_t seed, enum pw_split split,
                     uint64_t first, int n, int task, int length);
void pw_samples_fini(struct pw_samples *s);
/* Input rows of task `t`'s longest sample at a length. */
int pw_lab_rows_at(const struct pw_lab *lab, int t, int length);
/* The first token of the prompts of task `t`, taken from one sample; and do all prompts begin with it? */
int pw_lab_first_word(const struct pw_lab *lab, int t);
bool pw_lab_first_word_same(const struct pw_lab *lab, int t);
/* Find a task of the lab by name. what: the command, for messages. */
enum pw_code pw_lab_find_task(const struct pw_lab *lab, const char *what, const char *name, int *task,
                              struct pw_err *err);

/* ---- train.c */
struct pw_goal {
    int arm;             /* the arm to train; 0: all */
    int64_t n;           /* number of further steps; 0: until the condition is true */
    enum pw_until until; /* the condition */
    double value;
    /* only replicas 1..replicate take the last of the n steps; in the others it stays due. 0: all take it */
    int replicate;
};
enum pw_code pw_lab_train(struct pw_lab *lab, const struct pw_goal *goal, struct pw_err *err);
void pw_lab_set_share(struct pw_lab *lab, enum pw_share share);
void pw_lab_pause(struct pw_lab *lab, bool paused);
void pw_lab_step(struct pw_lab *lab, int64_t n);       /* train n rounds while paused */
void pw_lab_stop(struct pw_lab *lab, const char *why); /* ends training and the job; why "": no note */
bool pw_lab_training(const struct pw_lab *lab);
/* Run the next step, or a part of it until a line is waiting; or measure a slice of acc for `until`. */
void pw_lab_train_step(struct pw_lab *lab);

/* ---- ahead.c */
/* Seed of the training samples of replicas with this number: the lab's seed. With own batches it is the lab's
 * seed + replicate - 1, even if the arm's initialisation has its own seed. */
uint64_t pw_lab_batch_seed(const struct pw_lab *lab, int replicate);
/* The samples of an arm's step number `step`, counted from 0. */
const struct pw_batch *pw_lab_batch(struct pw_lab *lab, const struct pw_arm *a, int64_t step);
void pw_lab_forget_batches(struct pw_lab *lab); /* the samples have changed */
void pw_lab_free_batches(struct pw_lab *lab);
bool pw_lab_always_looked_at(int64_t step);
/* Run the arm's next step; on a device also start some of the following steps. PW_EYIELD: see
 * pw_model_start. */
enum pw_code pw_lab_step_ahead(struct pw_lab *lab, struct pw_arm *a, struct pw_step_result *r,
                               struct pw_err *err);
struct pw_arm *pw_lab_flying(struct pw_lab *lab); /* an arm with steps in flight; NULL: none */
/* Drain: complete and report all steps in flight. Call it before a model is read. */
void pw_lab_land(struct pw_lab *lab);
/* pw_lab_end_checks completes the measurements of acc that have begun. Call it before a model changes, so
 * that their progress does not affect the result. Their values count when training continues. */
bool pw_lab_checks(const struct pw_lab *lab); /* is an `until` condition being measured? */
void pw_lab_end_checks(struct pw_lab *lab);

/* ---- fresh.c */
/* Begin or end the request at the front of the typed lines. Returns false if there is none, or if an answer
 * must be decoded first. */
bool pw_lab_serve_request(struct pw_lab *lab);

/* ---- lines.c */
void pw_lines_push(struct pw_lines *q, const char *text);
void pw_lines_fini(struct pw_lines *q);
/* Callback for pw_commands_split: push a command to the queue arg. */
enum pw_code pw_lines_queue(void *arg, const char *text, int line);
/* First character of a request (fresh.c) in the queue of typed lines. */
#define PW_REQUEST '\002'
void pw_lines_drop_first(struct pw_lines *q);
/* Take the next waiting line, unless a line is being served. Returns false if no line waits, or if a request
 * is next. */
bool pw_lab_ask(struct pw_lab *lab, bool script);
/* Run the line that was taken, once it is recorded. A script's lines were split into commands when they were
 * queued. */
bool pw_lab_serve_line(struct pw_lab *lab);
/* Run one command; arg is the lab. A failure is emitted. */
enum pw_code pw_lab_run_typed(void *arg, const char *text, int line);
void pw_lab_drop_script(struct pw_lab *lab);
/* Put the commands of text in front of the rest of the script. */
enum pw_code pw_lab_insert_script(struct pw_lab *lab, const char *text, struct pw_err *err);
/* Handle a failure outside of a command, such as a loss that is not finite: emit it and drop the script. */
void pw_lab_trouble(struct pw_lab *lab, const struct pw_err *err);
/* Write every arm's progress into the event of a command. */
void pw_lab_stand(const struct pw_lab *lab, struct pw_event *e);
/* Run one command as it was recorded; a failure is emitted. */
void pw_lab_run(struct pw_lab *lab, const char *text);

/* ---- lab.c */
/* Cancel every job, and live evaluation. */
void pw_lab_cancel_jobs(struct pw_lab *lab);
/* Cancel the jobs that would measure partly the old and partly the new model. A command that changes a model
 * in place calls it. */
void pw_lab_end_measuring(struct pw_lab *lab);
/* Cancel the job of this name, or (NULL) the running one. Returns false if there is none. */
bool pw_lab_cancel(struct pw_lab *lab, const char *name);
const char *pw_lab_job(const struct pw_lab *lab); /* name of the running job; NULL: none */
/* an answer is being decoded or a job is running, live evaluation included */
bool pw_lab_busy(const struct pw_lab *lab);
/* Run the next slice of the job or answer. Returns false if there is none. */
bool pw_lab_slice(struct pw_lab *lab);
/* Like pw_lab_slice, else a step of training. Returns false if there is nothing to do or training is
 * paused. */
bool pw_lab_work(struct pw_lab *lab);
/* Like pw_lab_work, but an answer that is being decoded is not continued. */
bool pw_lab_work_beside(struct pw_lab *lab);
bool pw_lab_quits(struct pw_lab *lab); /* the owner is closing the lab */

/* ---- files.c: while on, whole files that this thread reads are recorded, or are taken from the session that
 * is re-run */
void pw_lab_watch_files(struct pw_lab *lab, bool on);

/* ---- follow.c: re-running a session */
void pw_follow_go_on(struct pw_lab *lab); /* one turn of the loop */
/* takes e for comparison; true: e belongs to the re-run now */
bool pw_follow_takes(struct pw_lab *lab, struct pw_event *e);
void pw_follow_end(struct pw_lab *lab, enum pw_follow_end end); /* no-op unless a session is being re-run */
/* the session's copy of the file; NULL: none */
const char *pw_follow_file(struct pw_lab *lab, const char *name);
/* Returns false while a command is re-run whose event does not record the work in progress: it may have read
 * an answer that is not recorded. */
bool pw_follow_knows(const struct pw_lab *lab);
struct pw_lines *pw_follow_script(struct pw_lab *lab); /* the script that the re-run commands belong to */
void pw_lab_tell_waiting(
    struct pw_lab *lab); /* for the log when a session ends: names the waiting lines, which will not run */
/* Put the rest of a re-run script in front of the waiting script, or drop it. Takes ownership of first's
 * lines. */
void pw_lab_resume_script(struct pw_lab *lab, struct pw_lines *first, bool resume);

#include "lab/arms.h"
#include "lab/evals.h"
#include "lab/looks.h"

/* ---- export.c, export_step.c, import.c, import_attention.c */
enum pw_code pw_lab_export_step(struct pw_lab *lab, const char *path, const struct pw_args *args,
                                struct pw_err *err);
enum pw_code pw_lab_export(struct pw_lab *lab, const char *what, const char *path, const struct pw_args *args,
                           struct pw_err *err);
enum pw_code pw_lab_import_weights(struct pw_lab *lab, const char *path, struct pw_err *err);
/* Emit the attention in an .npz file; it replaces the attention of an earlier file. */
enum pw_code pw_lab_import_attention(struct pw_lab *lab, const char *path, struct pw_err *err);
void pw_lab_forget_attention(struct pw_lab *lab); /* of the imported file */
/* Describe an arm's origin for its checkpoint. task: text of pw_taskset_print. */
struct pw_checkpoint_info pw_lab_describe(const struct pw_lab *lab, const struct pw_arm *arm, char *task);
bool pw_lab_same_words(const struct pw_vocab *v, const struct pw_checkpoint_info *info);

#endif
