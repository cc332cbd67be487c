/* probe.h - the interface of probes. A probe measures models in short units of work and returns one finding.
 *
 * A new probe is one file in src/probe and one line in probe.c. The lab calls begin, then unit(0), unit(1),
 * ..., then end. It supplies the probe with models (arms and, on request, their untrained twins) and with
 * sequences of the task. The lab serves commands between units. A unit should therefore take a few
 * milliseconds at the presets' sizes: one or two forward passes.
 *
 * A probe changes no model. Its numbers are recorded, and verification of a session compares them bit by bit.
 * Elementary functions must therefore come from base/maths.h.
 *
 * Thread: the lab thread. Errors: each callback returns a code and fills err. */
#ifndef PW_PROBE_H
#define PW_PROBE_H
#include "base/finding.h"
#include "base/opt.h"
#include "model/model.h"

#define PW_PROBE_OPTS_MAX 256

/* The inputs that a probe asks for, as bits. */
enum pw_probe_takes {
    PW_PROBE_ARM = 1,         /* one arm: the current one, or arm=K */
    PW_PROBE_ARMS = 2,        /* the named arms, or all; every replica of each */
    PW_PROBE_CONTROL = 4,     /* also the untrained twin of each model, as a control */
    PW_PROBE_PROMPT = 8,      /* the pinned prompt; without one the probe is refused */
    PW_PROBE_ANY_PROMPT = 16, /* the pinned prompt, if there is one */
    PW_PROBE_ANSWERS = 32,    /* it counts right answers; refused for running text, which has none */
    PW_PROBE_OTHERS = 64,     /* the first replicas of the arms that are not measured, to read in begin */
};

/* A model to measure. The lab owns the model and its control. */
struct pw_probe_subject {
    char name[64]; /* for tables: "1 none", "2 t5 buckets=8 distance=16", "1 none, 2": replica 2 */
    int arm, replica;
    uint64_t seed; /* of the model's initialisation */
    int64_t step;  /* optimiser steps that the arm has taken */
    int parent;    /* the arm that this one was forked from; 0: none */
    int swaps;     /* number of encoding swaps while the arm trained */
    struct pw_model *model;
    struct pw_model *control; /* the model before its first step; NULL: not requested */
};

/* The input of a probe. The lab owns all of it. It stays valid and unchanged until fini. */
struct pw_probe_in {
    int n; /* subjects; 0: the probe takes none */
    const struct pw_probe_subject *subject;
    /* With PW_PROBE_OTHERS: the other arms, without controls. Their models are valid in begin only. */
    int n_others;
    const struct pw_probe_subject *other;
    const char *topic;             /* topic of the finding: the arms, as "2" or "1 2 3"; "": no arm */
    const char *who;               /* the caller's name in messages: "probe distance", "compare" */
    uint64_t seed;                 /* the lab's seed */
    bool own_batches;              /* replicas of an arm were trained on different batches */
    int vocab;                     /* size of the vocabulary; ids 0 and 1 are padding and end mark */
    int first_word;                /* the token that starts every prompt of the task: its <bos> */
    struct pw_range lengths, test; /* trained and test lengths of the first task */
    /* Writes test sample `index` of a length of the first task to tokens [cap]: the prompt, then the right
     * answer without the end mark. Returns the number of tokens, and in *n_prompt how many belong to the
     * prompt. Returns 0 if the sample is longer than cap. */
    int (*sequence)(void *arg, int length, int64_t index, int *tokens, int cap, int *n_prompt);
    /* Writes the gold pointers of that sample as (query, key), ascending by query, to gold [cap], and returns
     * their number: a query is the row that predicts a token of the answer. NULL: the task is not known. */
    int (*pointers)(void *arg, int length, int64_t index, int (*gold)[2], int cap);
    bool (*has)(void *arg, int length); /* true: the first task has samples of this length */
    /* samples returns samples first..first+n-1 of a length of the first task, in the order that `eval` uses.
     * The batch is valid until the next call. scored [n+1] holds the first scored row of each sample.
     * n_samples returns the number of distinct samples, at most `most`. word writes the text of a token. arg
     * is the first argument of all of these functions. */
    const struct pw_batch *(*samples)(void *arg, int length, int64_t first, int n, const int **scored);
    int (*n_samples)(void *arg, int length, int most);
    void (*word)(void *arg, int token, char out[PW_FINDING_LABEL]);
    void *arg;
    /* The pinned prompt, with PW_PROBE_PROMPT or PW_PROBE_ANY_PROMPT: its tokens, then those of its right
     * answer without the end mark. T = 0: there is no pinned prompt. */
    int T, n_prompt;
    const int *tokens; /* [T] */
    /* The backend, for models that the probe creates itself. */
    const struct pw_backend_ops *ops;
    struct pw_backend *be;
};

struct pw_probe;

/* One measurement that is running. */
struct pw_probing_at {
    const struct pw_probe *probe;
    const struct pw_probe_in *in; /* unchanged from begin to fini */
    const void *opts;
    int units;   /* number of units, set by begin; 0: all work is done in end */
    void *state; /* owned by the probe, freed by fini */
};

/* The descriptor of a probe. Constant. */
struct pw_probe {
    const char *name, *summary, *source; /* source: paper and equation */
    const char *detail;                  /* further lines for help; or NULL */
    const struct pw_opt *opts;           /* or NULL */
    size_t opts_size;                    /* at most PW_PROBE_OPTS_MAX */
    unsigned takes;                      /* flags of enum pw_probe_takes */
    /* begin checks options and models, allocates state and sets units. NULL: the probe has nothing to check,
     * no state and no units. unit runs unit i = 0..units-1. */
    enum pw_code (*begin)(struct pw_probing_at *p, struct pw_err *err);
    enum pw_code (*unit)(struct pw_probing_at *p, int i, struct pw_err *err);
    /* Fills a zero-initialised finding. Calls pw_finding_init first. */
    enum pw_code (*end)(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err);
    /* Frees state, which is not NULL. pw_probe_fini calls it, even if begin fails. NULL: no state. */
    void (*fini)(struct pw_probing_at *p);
};

extern const struct pw_probe *const pw_probes[]; /* NULL-terminated; probe.c */
/* Returns the probe of this name, or NULL. */
const struct pw_probe *pw_probe_find(const char *name);
/* Returns true if the causal mask is the subject's only source of order (NoPE). trained: also require that
 * the model has taken a step. */
bool pw_probe_nope(const struct pw_probe_subject *s, bool trained);
/* Frees the state of a measurement, if it has any. */
void pw_probe_fini(struct pw_probing_at *p);
/* Adds the remark that the arm is one model, so that nothing is claimed, and the study that trains several.
 */
void pw_probe_remark_one(struct pw_finding *f, const char *study);
/* Options of probe distance, shared with the command compare. */
extern const struct pw_opt pw_distance_options[];
/* Options of probe why, shared with the command why. The first one is the length. */
extern const struct pw_opt pw_why_settings[];

#endif
