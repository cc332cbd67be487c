/* lab_int.h - internal interface of the lab: its state, its events, the samples, and waiting lines. Lab
 * thread only, unless a function says otherwise. Each folder has its own headers for its functions on the
 * state. */
#ifndef PW_LAB_INT_H
#define PW_LAB_INT_H
#include "base/clock.h"
#include "kernels/backend.h"
#include "lab/actions.h"
#include "lab/core/job.h"
#include "lab/core/notice.h"
#include "lab/core/queue.h"
#include "lab/core/session_state.h"
#include "lab/core/watch_state.h"
#include "lab/lab.h"
#include "model/checkpoint.h"
#include "model/decode.h"
#include "sessions/fold.h"
#include "tasks/task.h"
#include <pthread.h>
#include <stdatomic.h>

/* Every N steps: test the `until` condition and run a live evaluation. */
#define PW_CHECK_EVERY 50

/* A batch of samples as the model reads it, with its memory, which grows and never shrinks. */
struct pw_samples {
    struct pw_batch b;
    int *start, *tokens, *pos, *rows, *targets;
    int *seq_scored;       /* [n_seqs+1] first scored row of each sequence */
    int *buffer;           /* tokens of one sample */
    struct pw_pair *pairs; /* [n_seqs] length of each sample as a pair */
    uint64_t *chance;      /* [n_seqs] */
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

/* The table of an encoding that is shown. */
struct pw_table_choice {
    int length; /* distances or positions; 0: length of the longest sample */
    int layer;  /* layer of the kernel */
};

struct pw_lines { /* a queue of command texts */
    char **line;
    int n, cap;
};

/* A re-run (recording/follow.c), as the rest of the lab sees it. */
struct pw_rerun {
    /* Take e for comparison; true: e belongs to the re-run now. NULL: no re-run */
    bool (*takes)(struct pw_lab *lab, struct pw_event *e);
    /* the session's copy of a file that a command reads; NULL: none */
    const char *(*file)(struct pw_lab *lab, const char *name);
    /* Does the event of the command that is re-run record the work that was in progress? If not (sessions of
     * pewter 0.1), the command may have read an answer that is not recorded. */
    bool known;
    struct pw_lines script; /* lines that re-run commands added to the script: `demo` */
};

/* The lab. A comment before each group of members says which thread may use it. */
struct pw_lab {
    struct pw_lab_config cfg;
    pthread_t thread;
    int fd;
    atomic_bool yield;           /* a line is waiting: the running step or slice yields */
    atomic_bool interrupt;       /* Ctrl-C, not handled by the loop yet */
    struct pw_progress progress; /* of the lab thread */

    /* shared with the reader, under lock */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool quit, idle;
    bool stored; /* the store has something to report */
    int failures;
    struct pw_lines now, script;
    /* pw_lab_drop_script has no effect. Set while a resumed session stops its old training, so that lines
     * which the user has queued meanwhile are kept. */
    bool keeps_script;
    char place[PW_LINE];   /* place of the script's last command; "": none */
    struct pw_queue queue; /* events for the reader; a mark separates those of a served request */

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
    struct pw_replica replicas[PW_MAX_PLACES]; /* model NULL: free place */
    int current;                               /* id */
    int replica; /* replica of the current arm that answers prompts and is inspected */
    bool paused;
    enum pw_share share;
    int64_t allowed;                            /* rounds of training left to run while paused: `step` */
    const struct pw_listener *const *listeners; /* NULL-terminated */
    struct pw_job jobs[PW_JOBS];                /* the running ones */
    struct pw_watch watches[PW_MAX_WATCHES];    /* [n_watches] watch.c */
    int n_watches;
    struct pw_samples scratch;
    struct pw_samples batches[PW_FLIGHTS]; /* training batches: ahead.c */
    int64_t batch_first[PW_FLIGHTS];       /* first sample of each batch; -1: empty */
    uint64_t batch_seed[PW_FLIGHTS];       /* seed of the samples in each batch */
    /* Steps in flight are being drained (pw_lab_drain), so no further step may start. */
    bool landing;
    struct pw_pin pin;
    /* The latest attention without the inspected head's own maps, and the generation of its model: another
     * head of the same pass needs only its layer. NULL: none */
    struct pw_event *heads;
    int *heads_tokens; /* [T] */
    uint64_t heads_generation;
    struct pw_table_choice table; /* the shown table */
    unsigned table_told; /* bit id: a table of this arm was emitted, and is emitted again when it changes */
    /* generation of the arm's model when its table was last emitted; 0: never */
    uint64_t table_generation[PW_MAX_ARMS + 1];
    bool requested; /* the request at the front of the typed lines (PW_REQUEST) is being served */
    /* Arms whose answers that request still needs, bit id; bit 0: the current arm. */
    unsigned to_answer;
    int table_next; /* round-robin: the last arm whose table was refreshed */
    double table_s; /* seconds that the tables took most recently */
    int last_prompt_id;
    float temperature;        /* of decoding; 0: greedy */
    struct pw_follow *follow; /* follow.c; NULL: live */
    struct pw_rerun rerun;
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
struct pw_event *pw_lab_event(enum pw_event_kind kind, const struct pw_replica *arm);
void pw_lab_emit(struct pw_lab *lab, struct pw_event *e);
void pw_lab_fold(struct pw_lab *lab, const struct pw_event *e); /* folds e into lab->record */
bool pw_lab_keeps(const struct pw_event *e);                    /* does lab->record keep such an event? */
void pw_lab_wake_reader(const struct pw_lab *lab);
void pw_lab_emit_job(struct pw_lab *lab, const char *name, enum pw_job_state state, int64_t done,
                     int64_t total);

/* ---- data.c */
/* Fill a batch with samples first..first+n-1 of a split. The split TEST is that of one task and length.
 * Samples of TRAIN have random positions of their own. */
void pw_samples_fill(struct pw_samples *s, const struct pw_taskset *set, uint64_t seed, enum pw_split split,
                     uint64_t first, int n, int task, int length);
void pw_samples_fini(struct pw_samples *s);
/* Input rows of task `t`'s longest sample at a length. */
int pw_lab_rows_at(const struct pw_lab *lab, int t, int length);
/* The largest distance between two rows of a training sample. */
int pw_lab_trained_distance(const struct pw_lab *lab);
/* The first token of the prompts of task `t`, taken from one sample; and do all prompts begin with it? */
int pw_lab_first_word(const struct pw_lab *lab, int t);
bool pw_lab_first_word_same(const struct pw_lab *lab, int t);

/* Returns the class of each token of the tasks, [vocab.n], for struct pw_config. */
const unsigned char *pw_lab_classes(const struct pw_lab *lab);

/* ---- script.c */
void pw_lines_push(struct pw_lines *q, const char *text);
char *pw_lines_take(struct pw_lines *q); /* the first line, which the caller frees; NULL: none */
void pw_lines_fini(struct pw_lines *q);
/* Callback for pw_commands_split: push a command to the queue arg. */
enum pw_code pw_lines_queue(void *arg, const char *text, int line);
/* First character of a request (fresh.c) in the queue of typed lines. */
#define PW_REQUEST '\002'
void pw_lines_drop_first(struct pw_lines *q);
struct pw_lines *pw_lab_script(struct pw_lab *lab);          /* of the commands that run: typed or re-run */
void pw_lab_emit_error(struct pw_lab *lab, const char *msg); /* emits a failure, and counts it */
/* Handle a failure outside of a command, such as a loss that is not finite: emit it and drop the script. */
void pw_lab_trouble(struct pw_lab *lab, const struct pw_err *err);

#endif
