/* probe.h - a probe: a measurement of models, as a number of short units of work and a finding.
 *
 * A new probe is one file in probe/ and one line in probe.c. The lab gives it models (arms and, where it asks
 * for them, untrained twins), sequences of the task, and time: it calls unit(0), unit(1), ... and serves
 * commands in between, so a unit should take a few milliseconds (a forward pass or two) at the presets'
 * sizes. A probe changes no model. Its numbers are recorded and compared bit by bit when a session is
 * verified: elementary functions come from base/maths.h. Lab thread. */
#ifndef PW_PROBE_H
#define PW_PROBE_H
#include "base/finding.h"
#include "base/opt.h"
#include "model/model.h"

#define PW_PROBE_OPTS_MAX 256

enum pw_probe_takes {
    PW_PROBE_ARM = 1,         /* one arm: the current one, or arm=K */
    PW_PROBE_ARMS = 2,        /* those that are named, or all; every replicate of each */
    PW_PROBE_CONTROL = 4,     /* and the untrained twin of each, as control */
    PW_PROBE_PROMPT = 8,      /* the pinned prompt, which there must be */
    PW_PROBE_ANY_PROMPT = 16, /* the pinned prompt, if there is one */
};

/* A model to look at. */
struct pw_probe_subject {
    char name[64]; /* for tables: "1 none", "2 t5 buckets=8 distance=16", "1 none, replicate 2" */
    int arm, replicate;
    uint64_t seed; /* of its initialisation */
    int64_t step;  /* that its arm stands at */
    int parent;    /* the arm that it was forked from, 0: none */
    int swaps;     /* of its encoding, while it trained */
    struct pw_model *model;
    struct pw_model *control; /* as it was before the first step; NULL: not asked for */
};

/* What the lab gives. */
struct pw_probe_in {
    int n; /* subjects; 0: the probe takes none */
    const struct pw_probe_subject *subject;
    const char *topic;             /* of the finding: the arms, as "2" or "1 2 3"; "" without */
    const char *who;               /* asks, for messages: "probe distance", "compare" */
    uint64_t seed;                 /* the lab's */
    bool own_batches;              /* replicates of an arm learned from other batches each */
    int vocab;                     /* 0 and 1 are padding and end mark */
    int first_word;                /* the token that prompts of the task begin with, its <bos> */
    struct pw_range lengths, test; /* of the first task */
    /* Test sample `index` of a length of the first task: prompt and right answer without the end mark.
     * Returns T and how many of them are the prompt's; 0: longer than cap. */
    int (*sequence)(void *arg, int length, int64_t index, int *tokens, int cap, int *n_prompt);
    bool (*has)(void *arg, int length); /* are there samples of it? */
    /* Samples first..first+n-1 that `eval` takes of a length of the first task, as a batch that lives until
     * the next call; scored [n+1]: where the scored rows of each begin. How many different ones there are, at
     * most `most`. */
    const struct pw_batch *(*samples)(void *arg, int length, int64_t first, int n, const int **scored);
    int (*n_samples)(void *arg, int length, int most);
    void (*word)(void *arg, int token, char out[PW_FINDING_LABEL]);
    void *arg;
    /* With PW_PROBE_PROMPT, PW_PROBE_ANY_PROMPT: its tokens and those of its right answer (no end mark); T 0:
     * there is none. */
    int T, n_prompt;
    const int *tokens; /* [T] */
    /* For models of a probe's own. */
    const struct pw_backend_ops *ops;
    struct pw_backend *be;
};

struct pw_probe;

/* One measurement under way. */
struct pw_probing_at {
    const struct pw_probe *probe;
    const struct pw_probe_in *in; /* stays the same */
    const void *opts;
    int units;   /* set by begin; 0: everything is done in end */
    void *state; /* the probe's own */
};

struct pw_probe {
    const char *name, *summary, *source; /* source: paper and equation */
    const char *detail;                  /* more lines for help; NULL */
    const struct pw_opt *opts;           /* or NULL */
    size_t opts_size;                    /* at most PW_PROBE_OPTS_MAX */
    unsigned takes;                      /* enum pw_probe_takes */
    /* Checks everything, allocates state and sets units. On failure fini is called all the same. NULL: there
     * is nothing to check or to hold, and no units. */
    enum pw_code (*begin)(struct pw_probing_at *p, struct pw_err *err);
    enum pw_code (*unit)(struct pw_probing_at *p, int i, struct pw_err *err);
    /* Fills an initialised-to-zero finding, by pw_finding_init first. */
    enum pw_code (*end)(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err);
    void (*fini)(struct pw_probing_at *p); /* frees state, which may be NULL; NULL: there is never any */
};

extern const struct pw_probe *const pw_probes[]; /* NULL-terminated; probe.c */
const struct pw_probe *pw_probe_find(const char *name);
/* Has the subject nothing but the causal mask to tell order by (NoPE)? trained: and has it been trained? */
bool pw_probe_nope(const struct pw_probe_subject *s, bool trained);
extern const struct pw_opt pw_distance_options[]; /* of probe distance: the command compare has them, too */

#endif
