/* lab_int.h - the laboratory from inside: its state, and what commands may do to it. Lab thread only, except
 * where a function says otherwise.
 *
 * A command (src/command/commands/NAME.c) reads its words and calls one or two of the actions below. An
 * action checks everything before it changes anything, so a command that fails leaves the laboratory as it
 * was. */
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

/* What ends an arm's training besides its goal. */
enum pw_until {
    PW_UNTIL_STEP,
    PW_UNTIL_ACC,
    PW_UNTIL_LOSS,
    PW_UNTIL_FLOPS,     /* spent in all */
    PW_UNTIL_MORE_FLOPS /* from where the arm stands */
};

/* Which arm steps next: each in turn, or the one that has spent the fewest operations, so that a small arm
 * need not wait for a large one and the device is shared equally by work. Either is a function of shapes and
 * step counts alone, and an arm's bits depend on neither. */
enum pw_share { PW_SHARE_STEPS, PW_SHARE_FLOPS };

/* Why an arm's weights are not those of one run from the first step on: the first reason. */
enum pw_altered {
    PW_ALTERED_NOT,
    PW_ALTERED_TASK,       /* another task, whose tokens are the same, while it trained */
    PW_ALTERED_OPTIM,      /* another optimiser or schedule while it trained */
    PW_ALTERED_HEADS,      /* a step with heads switched off */
    PW_ALTERED_TUNED,      /* options of its encoding turned while it trained */
    PW_ALTERED_TRANSPLANT, /* what another arm's encoding had learned */
    PW_ALTERED_FILE        /* weights from a file */
};

/* A step is a look at what `until` waits for, and a live evaluation, every so many. */
#define PW_CHECK_EVERY 50

/* A model of the lab. An arm is one or several of them, its replicas: alike in everything but the seed of
 * their initialisation and, with own batches, their training samples; trained in step with each other. The
 * arm's seed is that of replica 1; replica k has seed + k - 1. The chosen one (`inspect replica=R`) answers
 * prompts and is inspected. */
struct pw_arm {
    int id;        /* 1..PW_MAX_ARMS */
    int replicate; /* 1..PW_MAX_REPLICATES */
    struct pw_model *model;
    char preset[16];
    struct pw_config cfg;
    struct pw_optim optim;
    struct pw_pe_use_opts pe;
    uint64_t seed; /* of its initialisation */
    int64_t step;  /* optimiser steps since its weights were drawn */
    int64_t flops; /* operations of its steps since flops_from, 0 unless its weights came from a file */
    int64_t flops_from;
    int swaps;
    enum pw_altered altered;
    int parent; /* id of the arm that it was forked from, 0: none */
    int64_t parent_step;
    bool training;
    int64_t goal;        /* training ends when step reaches it; of a budget of operations: an estimate */
    enum pw_until until; /* or earlier, by this */
    double until_value;
    double seen;                     /* the latest value of what until looks at */
    bool met;                        /* until came true */
    bool budget;                     /* nothing but operations ends it: goal follows them */
    bool due;                        /* the round that has begun waits for its step: train.c */
    int64_t ahead_flops[PW_FLIGHTS]; /* of the steps that its model has begun, by step number: ahead.c */
    bool checking;                   /* it waits for a look at acc, and check is what has been seen so far, */
    int check_of;                    /* of so many samples */
    struct pw_eval_row check;
    double row_s; /* seconds that a row of evaluation took lately; 0: not known */
};

/* Replicate r of arm id lies at (r - 1) * PW_MAX_ARMS + id - 1: the first PW_MAX_ARMS places are the arms,
 * and going through all of them is the fair round of training. */
#define PW_MAX_PLACES (PW_MAX_ARMS * PW_MAX_REPLICATES)
_Static_assert(PW_MAX_PLACES <= 64 * PW_BITS_OF_ALL, "a command's event has a bit for every place");

/* Evaluation by length, a row (replicate, task, length) at a time, so that commands are served in between.
 */
struct pw_eval_plan {
    bool live;                   /* small, for the screen; else the command's */
    int samples;                 /* a length */
    int n, place[PW_MAX_PLACES]; /* which replicates, arm by arm; n 0: no evaluation */
    int at;                      /* index into place */
    double took;                 /* seconds so far */
    int n_rows, row;             /* rows of each replicate, next one */
    struct pw_eval_row *rows;    /* [n_rows], counts filled as they come */
    int n_pairs;
    struct pw_eval_pair *pairs; /* [n_pairs] of the rows, likewise */
    int n_words;
    uint64_t *outcomes;           /* [n_words] of the rows, likewise */
    struct pw_decoding *decoding; /* the row's next samples, where they are decoded; NULL: none */
};

struct pw_decoding; /* eval_decode.c */

/* A batch of samples as the model takes them, and the memory it lives in (grown, never shrunk). */
struct pw_samples {
    struct pw_batch b;
    int *start, *tokens, *pos, *rows, *targets;
    int *seq_scored;       /* [n_seqs+1] first scored row of each sequence */
    int *buffer;           /* one sample's tokens */
    struct pw_pair *pairs; /* [n_seqs] each one's length as a pair */
    int cap_seqs, cap_rows, cap_buffer;
};

struct pw_pin { /* the pinned prompt */
    int id;     /* 0: none */
    int arm;
    int replica; /* of that arm, whose answer it is */
    char text[PW_LINE * 2];
    struct pw_sample sample; /* prompt and, where known, the right answer */
    int64_t index;           /* it is this sample of the test split; -1: typed */
    int cap;                 /* of the three below, by position */
    int *tokens;             /* prompt and what is decoded */
    bool *edited;            /* put there by `edit` */
    struct pw_ev_token *said;
    int n;
    int kept; /* tokens that are given, not decoded: the prompt's, and the answer's up to an edit */
    int more; /* tokens that `next` went beyond the limit */
    int at;   /* position of the answer that is looked at; 0: the newest */
    struct pw_decoder *decoder; /* NULL: the answer is there */
    uint64_t generation;        /* of the model that decoded it, then (0: of none), and how */
    float temperature;
    int limit;             /* tokens at which decoding ends */
    bool stop_at_wrong;    /* decoding ends with the first wrong token */
    double began;          /* seconds */
    int layer, head, view; /* what is looked at */
};

struct pw_table_look { /* which table of an encoding */
    int length;        /* distances or positions; 0: as long as the longest sample */
    int layer;         /* of the kernel */
};

struct pw_lines { /* a queue of command texts */
    char **line;
    int n, cap;
};

struct pw_lab {
    struct pw_lab_config cfg;
    pthread_t thread;
    int fd;
    atomic_bool yield;     /* somebody waits: the step or slice that runs stops where it is */
    atomic_bool interrupt; /* Ctrl-C, not yet seen by the loop */

    /* shared with the reader, under lock */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool quit, idle;
    bool stored; /* the store has news */
    int failures;
    struct pw_lines now, script;
    char place[PW_LINE];   /* of the script's command that ran last; "": nowhere */
    struct pw_queue queue; /* a mark: there a request was served */

    /* the reader's own */
    struct pw_snapshot *snap;
    bool seen_idle;
    int seen_failures;
    uint64_t seen_requests; /* that were served */

    /* the lab thread's own */
    struct pw_session session;
    const struct pw_backend_ops *ops;
    struct pw_backend *be;
    int unit;    /* that the backend was opened with: threads, or the device */
    int threads; /* of the cpu, where that computes */
    uint64_t seq;
    uint64_t seed;
    bool own_batches; /* of each replicate, by its number: pw_lab_batch_seed; else all share theirs */
    struct pw_taskset tasks;
    struct pw_arm arms[PW_MAX_PLACES]; /* model NULL: free */
    int current;                       /* id */
    int replica;                       /* of the current arm, that answers prompts and is inspected */
    bool paused;
    enum pw_share share;
    int64_t allowed;                         /* rounds of training that go on although it is paused: `step` */
    struct pw_eval_plan eval;                /* n 0: none */
    struct pw_dump *dump;                    /* activations.c; NULL: none */
    struct pw_writing *writing;              /* export_data.c; NULL: none */
    struct pw_ablating *ablating;            /* ablate.c; NULL: none */
    struct pw_patching *patching;            /* patch.c; NULL: none */
    struct pw_probing *probing;              /* probe.c; NULL: none */
    struct pw_watch watches[PW_MAX_WATCHES]; /* [n_watches] watch.c */
    int n_watches;
    struct pw_samples scratch;
    struct pw_samples batches[PW_FLIGHTS]; /* of training: ahead.c */
    int64_t batch_first[PW_FLIGHTS];       /* first sample of what is in them; -1: nothing */
    uint64_t batch_seed[PW_FLIGHTS];       /* of these samples */
    bool landing;                          /* no step is begun that nobody waits for */
    struct pw_pin pin;
    struct pw_table_look table; /* what is looked at */
    unsigned table_told;        /* bit id: the arm's table was told once, and stays up to date */
    uint64_t table_generation[PW_MAX_ARMS + 1]; /* of the arm's model, when it was told last; 0: never */
    bool requested;                             /* the first request of the typed lines has begun */
    unsigned to_answer;                         /* arms that it still waits for, bit id; bit 0: the current */
    int table_next;                             /* the last one that had its turn */
    double table_s;                             /* how long they took lately */
    int last_prompt_id;
    float temperature;              /* of decoding; 0: greedy */
    struct pw_follow *follow;       /* follow.c; NULL: live */
    struct pw_verdict verdict;      /* verify_session.c */
    struct pw_snapshot *record;     /* series and evaluations, for export and for `until` */
    double t_state, t_live, rate_t; /* when last told or measured, seconds */
    double look_s;                  /* how long the latest answer took */
    double eval_s, t_eval; /* how long the latest evaluation beside training took, and when it ended */
    int64_t rate_steps;
    double rate;
    int64_t steps_done; /* of all arms since the start */
};

/* ---- events.c: tell what happened. emit takes e, and gives it its number. */
struct pw_event *pw_lab_event(enum pw_event_kind kind, const struct pw_arm *arm);
void pw_lab_emit(struct pw_lab *lab, struct pw_event *e);
void pw_lab_fold(struct pw_lab *lab, const struct pw_event *e); /* into the lab's own record */
bool pw_lab_keeps(const struct pw_event *e);                    /* in its own record */
void pw_lab_wake_reader(const struct pw_lab *lab);
void pw_lab_end_request(struct pw_lab *lab); /* the first of the typed lines is a request, and was served */
void pw_lab_note(struct pw_lab *lab, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Each line of text as a note. */
void pw_lab_note_lines(struct pw_lab *lab, const char *text);
/* Fails where the text of `mark` or `say` is too long to be told whole. */
enum pw_code pw_lab_check_remark(const struct pw_lab *lab, const struct pw_command *cmd,
                                 const struct pw_args *args, struct pw_err *err);
void *pw_eval_copy(const void *p, int n, size_t size); /* of n rows, pairs or modes, for an event; malloc */
void pw_lab_tell_lab(struct pw_lab *lab);
void pw_lab_tell_arm(struct pw_lab *lab, const struct pw_arm *arm, bool restarted);
void pw_lab_tell_state(struct pw_lab *lab);
void pw_lab_tell_job(struct pw_lab *lab, const char *name, enum pw_job_state state, int64_t done,
                     int64_t total);
/* The digest of a replicate's parameters; text gets it too, where it isn't NULL. */
void pw_lab_tell_digest(struct pw_lab *lab, const struct pw_arm *arm, char text[33]);

/* ---- arms.c: which models there are */
struct pw_arm *pw_lab_arm(struct pw_lab *lab, int id); /* its first replicate; NULL if there is none */
struct pw_arm *pw_lab_current(struct pw_lab *lab);     /* its first replica, which stands for it */
struct pw_arm *pw_lab_replicate(struct pw_lab *lab, int id, int replicate); /* NULL if there is none */
int pw_lab_n_arms(const struct pw_lab *lab);
int pw_lab_replicates(const struct pw_lab *lab, int id);
/* "no arm 7; there are 1, 2, 3" */
enum pw_code pw_lab_need_arm(struct pw_lab *lab, int id, struct pw_arm **arm, struct pw_err *err);
/* Fails if the arm doesn't have that replica; who: the command, for messages. 0, all of them, it has. */
enum pw_code pw_lab_need_replica(struct pw_lab *lab, const struct pw_arm *arm, const char *who, int replica,
                                 struct pw_err *err);
const char *pw_lab_shape(const struct pw_arm *arm); /* its preset, or the theorem whose proof it began as */
/* n fresh arms of the current one's model, each with `seeds` replicates; all others go. own_batches: what
 * replicates of an arm train on differs, too, as long as there are these arms or what is made of them. */
enum pw_code pw_lab_race(struct pw_lab *lab, char *const *pes, int n, int seeds, bool own_batches,
                         struct pw_err *err);
/* With as many replicates as the current arm. */
enum pw_code pw_lab_add_arm(struct pw_lab *lab, const char *pe, int *id, struct pw_err *err);
/* A copy of the current arm in the first free place: weights, moments, step, schedule, and whether it trains;
 * with pe (NULL: none) its encoding is swapped as pw_lab_set_pe does. */
enum pw_code pw_lab_fork(struct pw_lab *lab, const char *pe, bool restart, int *id, struct pw_err *err);
enum pw_code pw_lab_drop_arm(struct pw_lab *lab, int id, struct pw_err *err);
enum pw_code pw_lab_choose_arm(struct pw_lab *lab, int id, struct pw_err *err);
/* The next one that there is, or with by = -1 the one before, round the end. */
enum pw_code pw_lab_choose_next(struct pw_lab *lab, int by, struct pw_err *err);
void pw_lab_tell_all(struct pw_lab *lab, bool restarted);

/* What changes models makes new ones first, in no place yet, and then puts them where the old ones are. */

/* The replicates of an arm (0: of all) as they are, arm by arm; returns how many. out: PW_MAX_PLACES. */
int pw_lab_collect(const struct pw_lab *lab, int id_or_0, struct pw_arm *out);
/* A fresh model of these settings. */
enum pw_code pw_lab_build_arm(struct pw_lab *lab, struct pw_arm *fresh, const struct pw_arm *settings,
                              struct pw_err *err);
/* The same for n of them: all or none. */
enum pw_code pw_lab_build_all(struct pw_lab *lab, struct pw_arm *fresh, const struct pw_arm *settings, int n,
                              struct pw_err *err);
/* Copies of an arm's replicates with everything that they have been through, their encoding swapped for pe
 * where that is not NULL: all or none. */
enum pw_code pw_lab_copy_all(struct pw_lab *lab, struct pw_arm *fresh, int *n, const struct pw_arm *arm,
                             const char *pe, bool restart, struct pw_err *err);
/* Gives n replicates (whole arms, arm by arm) their places; what their arms were before goes. */
void pw_lab_put(struct pw_lab *lab, const struct pw_arm *fresh, int n);
/* The same after a change that concerns all: training ends, and arms that are not among them go. */
void pw_lab_put_only(struct pw_lab *lab, const struct pw_arm *fresh, int n);

/* ---- arms_set.c: what they are; an arm's replicates all change together */
enum pw_code pw_lab_set_task(struct pw_lab *lab, const char *text, struct pw_err *err);
/* lab->tasks is another than the old one, which goes, and its tokens may be others: then n replicates that
 * speak them get their places, and arms that are not among them go. */
void pw_lab_put_task(struct pw_lab *lab, struct pw_taskset *old, const struct pw_arm *fresh, int n);
enum pw_code pw_lab_set_model(struct pw_lab *lab, struct pw_arm *arm, const char *preset,
                              const struct pw_config *cfg, const struct pw_optim *optim, struct pw_err *err);
/* Begins one arm anew, of n replicates, with settings of another shape. */
enum pw_code pw_lab_reshape(struct pw_lab *lab, const struct pw_arm *settings, int n, struct pw_err *err);
enum pw_code pw_lab_set_seed(struct pw_lab *lab, uint64_t seed, int arm_or_0, struct pw_err *err);
/* Notes what altered an arm and its replicates; before the first step it is simply the arm's setting. */
void pw_lab_alter(struct pw_lab *lab, int id, enum pw_altered how);
/* Turns options of an arm's encoding, "base=500 offset=3", or with text NULL undoes what is turned of
 * tune.c's; all weights stay. An arm that was evaluated is evaluated again. */
enum pw_code pw_lab_tune(struct pw_lab *lab, struct pw_arm *arm, const char *text, struct pw_err *err);
/* Gives an arm the parameters of another arm's encoding, which must be the same one, of the same shape. */
enum pw_code pw_lab_transplant(struct pw_lab *lab, struct pw_arm *arm, int from, struct pw_err *err);
enum pw_code pw_lab_set_pe(struct pw_lab *lab, struct pw_arm *arm, const char *text, bool restart,
                           struct pw_err *err);
/* Notes about an encoding that was chosen by name: which settings the bare name has here, and the next. */
void pw_lab_note_encoding(struct pw_lab *lab, const struct pw_arm *arm);
/* A note where a causal model has an encoding that needs to know how long the sequence will be. */
void pw_lab_warn_of_length(struct pw_lab *lab, const struct pw_arm *arm);
/* From the next step on; a larger batch is refused where there is no memory for it. */
enum pw_code pw_lab_set_optim(struct pw_lab *lab, const struct pw_arm *arm, const struct pw_optim *optim,
                              struct pw_err *err);
enum pw_code pw_lab_reset(struct pw_lab *lab, int arm_or_0, struct pw_err *err);
/* Does the longest sample that this lab trains on or tests fit into the model? Prompts and evaluation check
 * their own lengths; training data must fit before anything is built. for_task: it is the task that is new.
 */
enum pw_code pw_lab_check_context(const struct pw_taskset *set, const struct pw_config *cfg, bool for_task,
                                  struct pw_err *err);
/* Of context=fit (0) makes as many positions as the longest sample of the task takes, and no fewer than
 * `least`, the preset's. */
void pw_lab_fit_context(const struct pw_taskset *set, struct pw_config *cfg, int least);

/* ---- construct.c: an arm whose first values are a proof's (model/theorem.h) */
struct pw_construction {
    int T;                           /* positions that it counts */
    int layers, head_width, context; /* 0: as many as the proof needs; width / heads; what is worth a look */
    int width, heads;
    uint64_t seed; /* of what the proof leaves open */
};
/* The proof's <bos> is the word that all prompts of a task begin with: is there one? Other models don't ask.
 */
enum pw_code pw_lab_check_bos(const struct pw_lab *lab, const struct pw_config *cfg, struct pw_err *err);
enum pw_code pw_lab_construct(struct pw_lab *lab, struct pw_arm *arm, int theorem,
                              const struct pw_construction *of, struct pw_err *err);

/* ---- backend.c: what computes. Every model moves, with all its bits, or none. */
/* "auto", "cpu", "cuda", "cuda:N"; mode and precision may be NULL: the usual ones. */
enum pw_code pw_lab_set_backend(struct pw_lab *lab, const char *name, const char *mode, const char *precision,
                                struct pw_err *err);
/* The cpu with so many threads (0: all processors). */
enum pw_code pw_lab_set_threads(struct pw_lab *lab, int threads, struct pw_err *err);
/* Other kernels of the cpu: auto, scalar, avx2, avx512; refused where the processor lacks them. */
enum pw_code pw_lab_set_isa(struct pw_lab *lab, const char *isa, struct pw_err *err);
enum pw_code pw_lab_set_precision(struct pw_lab *lab, const char *precision, struct pw_err *err);
/* What decides the bits: "fp32", class portable, whoever computes; else of class machine "bf16", or of cuda's
 * mode fast "cuda-tf32". */
void pw_lab_arithmetic(char dst[16], const struct pw_backend_ops *ops);
/* Opens a backend that has it, beside the lab's own. unit: what it was told. */
enum pw_code pw_lab_open_arithmetic(const struct pw_lab *lab, const char *arithmetic,
                                    const struct pw_backend_ops **ops, struct pw_backend **be, int *unit,
                                    struct pw_err *err);
/* Where it computes, for the record: "cuda: NVIDIA H200, fast tf32, class machine; CUDA 13.0, driver 13.0,
 * ..."
 */
void pw_lab_place(const struct pw_lab *lab, char *dst, size_t size);
void pw_lab_list_devices(struct pw_lab *lab); /* as notes */

/* ---- memory.c */
/* Bytes that the system could hand out, less a reserve; SIZE_MAX where it doesn't say. */
size_t pw_lab_memory(void);
/* Would n more models of these settings fit into the memory of a backend, the system's or a device's? Refused
 * with what would. */
enum pw_code pw_lab_check_memory(const struct pw_lab *lab, const struct pw_backend_ops *ops,
                                 struct pw_backend *be, const struct pw_arm *settings, int n,
                                 struct pw_err *err);
/* Would the steps of these replicates, which are all that there are, with other settings or longer samples
 * than so many tokens, find the memory that their models don't hold yet? Refused with a batch of arm id (0:
 * of all) that would; settings are changed then. */
enum pw_code pw_lab_check_steps(const struct pw_lab *lab, struct pw_arm *settings, int n, int id, int tokens,
                                struct pw_err *err);
/* A step of arm failed with err. Where that was for want of a device's memory, err says what would fit. */
void pw_lab_say_what_fits(const struct pw_lab *lab, const struct pw_arm *arm, struct pw_err *err);

/* Room for what inspection tells of T tokens: four maps of every head, and `more` floats. NULL fills err,
 * also where the system would hand out memory that it doesn't have. The caller frees. */
float *pw_lab_maps(const struct pw_config *cfg, int T, size_t more, struct pw_err *err);

/* ---- data.c */
/* Samples first..first+n-1 of a split (TEST: of one task and length) as a batch. */
void pw_samples_fill(struct pw_samples *s, const struct pw_taskset *set, uint64_t seed, enum pw_split split,
                     uint64_t first, int n, int task, int length);
void pw_samples_fini(struct pw_samples *s);
/* Input rows of the longest sample of task `t` at a length. */
int pw_lab_rows_at(const struct pw_lab *lab, int t, int length);
/* The token that prompts of task `t` begin with, by one of its samples; and do others begin with it, too? */
int pw_lab_first_word(const struct pw_lab *lab, int t);
bool pw_lab_first_word_same(const struct pw_lab *lab, int t);
/* A task of the lab by name; what names the command, for messages. */
enum pw_code pw_lab_find_task(const struct pw_lab *lab, const char *what, const char *name, int *task,
                              struct pw_err *err);

/* ---- train.c */
struct pw_goal {
    int arm;             /* that trains; 0: all */
    int64_t n;           /* so many more steps; 0: as many as it takes, ... */
    enum pw_until until; /* ... until that */
    double value;
    int replicate; /* with a step, the last one that takes it, and those behind it are due; 0: all */
};
enum pw_code pw_lab_train(struct pw_lab *lab, const struct pw_goal *goal, struct pw_err *err);
void pw_lab_set_share(struct pw_lab *lab, enum pw_share share);
void pw_lab_pause(struct pw_lab *lab, bool paused);
void pw_lab_step(struct pw_lab *lab, int64_t n);       /* n rounds although it is paused */
void pw_lab_stop(struct pw_lab *lab, const char *why); /* ends training and the job; "" says nothing */
bool pw_lab_training(const struct pw_lab *lab);
/* The next step, or what of it there is time for before somebody waits; or a slice of looking at acc. */
void pw_lab_train_step(struct pw_lab *lab);

/* ---- ahead.c */
/* The seed of the samples that replicates of this number train on: the lab's, with own batches the lab's +
 * replicate - 1, also where an arm's initialisation has a seed of its own. */
uint64_t pw_lab_batch_seed(const struct pw_lab *lab, int replicate);
/* The samples of an arm's step number `step`, from 0. */
const struct pw_batch *pw_lab_batch(struct pw_lab *lab, const struct pw_arm *a, int64_t step);
void pw_lab_forget_batches(struct pw_lab *lab); /* they are others now */
void pw_lab_free_batches(struct pw_lab *lab);
bool pw_lab_always_looked_at(int64_t step);
/* The arm's next step, and on a device the beginning of some after it. PW_EYIELD as pw_model_start. */
enum pw_code pw_lab_step_ahead(struct pw_lab *lab, struct pw_arm *a, struct pw_step_result *r,
                               struct pw_err *err);
struct pw_arm *pw_lab_flying(struct pw_lab *lab); /* one whose model has steps under way; NULL: none */
/* Ends and tells of all steps under way: whoever looks at a model comes after it. */
void pw_lab_land(struct pw_lab *lab);
/* Before anything changes what a model would answer: looks at acc that have begun come to their end, so that
 * it doesn't matter how far they had come. What they saw counts when training goes on. */
bool pw_lab_checks(const struct pw_lab *lab); /* is an `until` condition being measured? */
void pw_lab_end_checks(struct pw_lab *lab);

/* ---- fresh.c */
/* Begins or ends the request that is next among the typed lines; false: none is, or an answer comes first. */
bool pw_lab_serve_request(struct pw_lab *lab);

/* ---- lines.c */
void pw_lines_push(struct pw_lines *q, const char *text);
void pw_lines_fini(struct pw_lines *q);
/* For pw_commands_split: into the queue arg. */
enum pw_code pw_lines_queue(void *arg, const char *text, int line);
/* In the queue of typed lines, a text that begins so is none: it is a request (fresh.c). */
#define PW_REQUEST '\002'
void pw_lines_drop_first(struct pw_lines *q);
/* Takes the next line that waits, unless one is on its way already; false: there is none, or a request is
 * next. */
bool pw_lab_ask(struct pw_lab *lab, bool script);
/* Runs the line that is on its way, once it is on record. A script's was split into commands when it came. */
bool pw_lab_serve_line(struct pw_lab *lab);
/* One command; arg is the lab. Its failure is told. */
enum pw_code pw_lab_run_typed(void *arg, const char *text, int line);
void pw_lab_drop_script(struct pw_lab *lab);
/* Puts text's commands before what is left of the script. */
enum pw_code pw_lab_insert_script(struct pw_lab *lab, const char *text, struct pw_err *err);
/* A failure outside of a command (a loss that is not finite): tells it, drops the script. */
void pw_lab_trouble(struct pw_lab *lab, const struct pw_err *err);
/* How far every arm has come, as the event of a command says it. */
void pw_lab_stand(const struct pw_lab *lab, struct pw_event *e);
/* One command as it was recorded; its failure is told. */
void pw_lab_run(struct pw_lab *lab, const char *text);

/* ---- lab.c */
/* Every long command that is under way, and evaluation beside training. */
void pw_lab_cancel_jobs(struct pw_lab *lab);
/* Those of them that would measure one half of the old model and one half of the new one: a command that
 * changes a model in place calls it. */
void pw_lab_end_measuring(struct pw_lab *lab);
/* Ends the long command of this name, or (NULL) the one under way; false: there is none. */
bool pw_lab_cancel(struct pw_lab *lab, const char *name);
const char *pw_lab_job(const struct pw_lab *lab); /* the long command that runs; NULL: none does */
bool pw_lab_busy(const struct pw_lab *lab);       /* an answer or a job is under way, also beside training */
/* The next slice of it; false: none is under way. */
bool pw_lab_slice(struct pw_lab *lab);
/* The same or, where none is, of training; false: nothing is under way, or it is paused. */
bool pw_lab_work(struct pw_lab *lab);
/* The same, but an answer that is being decoded stays where it is. */
bool pw_lab_work_beside(struct pw_lab *lab);
bool pw_lab_quits(struct pw_lab *lab); /* who opened it leaves */

/* ---- files.c: from now on this thread's reading of whole files is told, or taken from the recording */
void pw_lab_watch_files(struct pw_lab *lab, bool on);

/* ---- follow.c: doing again what a recording says */
void pw_follow_go_on(struct pw_lab *lab);                         /* the loop's next turn */
bool pw_follow_takes(struct pw_lab *lab, struct pw_event *e);     /* for comparison: e is gone */
void pw_follow_end(struct pw_lab *lab, enum pw_follow_end end);   /* if it follows */
const char *pw_follow_file(struct pw_lab *lab, const char *name); /* the recording's copy of it; NULL: none */
/* False while a command is re-run of which the recording doesn't say what was in progress: what it looked at
 * may have been an answer that is not on record. */
bool pw_follow_knows(const struct pw_lab *lab);
struct pw_lines *pw_follow_script(struct pw_lab *lab); /* the script that commands belong to */
void pw_lab_tell_waiting(
    struct pw_lab *lab); /* for the log of a session that is left: who waits will not run */
/* What is left of a followed script goes before the waiting one, or nowhere. Takes first's lines. */
void pw_lab_resume_script(struct pw_lab *lab, struct pw_lines *first, bool resume);

#include "lab/evals.h"
#include "lab/looks.h"

/* ---- export.c, export_step.c, import.c, import_attention.c */
enum pw_code pw_lab_export_step(struct pw_lab *lab, const char *path, const struct pw_args *args,
                                struct pw_err *err);
enum pw_code pw_lab_export(struct pw_lab *lab, const char *what, const char *path, const struct pw_args *args,
                           struct pw_err *err);
enum pw_code pw_lab_import_weights(struct pw_lab *lab, const char *path, struct pw_err *err);
/* Tells the attention in an .npz file, which takes the place of the one before. */
enum pw_code pw_lab_import_attention(struct pw_lab *lab, const char *path, struct pw_err *err);
void pw_lab_forget_attention(struct pw_lab *lab); /* of the file */
/* What a checkpoint of an arm says about its origin; task: pw_taskset_print's text. */
struct pw_checkpoint_info pw_lab_describe(const struct pw_lab *lab, const struct pw_arm *arm, char *task);
bool pw_lab_same_words(const struct pw_vocab *v, const struct pw_checkpoint_info *info);

#endif
