/* why.h - private to the probe why. why.c runs passes; why_candidates.c, why_learned.c and why_formula.c list
 * what is changed, why_change.c changes the copy, why_gold.c and why_pattern.c measure and
 * replace attention patterns, why_stats.c has the statistics, and why_report.c builds the finding. Lab
 * thread. */
#ifndef PW_PROBE_WHY_H
#define PW_PROBE_WHY_H
#include "probe/probe.h"

enum {
    PW_WHY_LENGTHS = 8, /* most shorter lengths that are measured beside the one that was asked for */
    PW_WHY_ERRORS = 3,  /* kinds of a first error: enum pw_why_error */
    PW_WHY_END_MARK = 1 /* token: probe.h */
};

/* The probe's options. */
struct pw_why_options {
    int length, samples;
};

/* The part of the copied model that a candidate changes. */
enum pw_why_kind {
    PW_WHY_NOTHING,
    PW_WHY_TUNE,    /* options of the encoding: use */
    PW_WHY_VALUES,  /* learned values of the encoding: values */
    PW_WHY_SWAP,    /* another encoding: use, and its learned values unless NULL: values */
    PW_WHY_END,     /* the end mark is given at the right place, and nowhere else */
    PW_WHY_RESTORE, /* a replaced head computes its own output again */
    PW_WHY_ABLATE,  /* a head outputs zeros */
    PW_WHY_PATTERN, /* a head, or all heads, attend as those of another arm: other */
    PW_WHY_GOLD,    /* a head attends to the task's gold pointers */
};

/* One change that is tested, and how it answers each sample. */
struct pw_why_candidate {
    enum pw_why_kind kind;
    char cause[48];              /* the cause that it tests: "score temperature" */
    char name[PW_FINDING_LABEL]; /* of its row: "temperature=0.5" */
    char line[160];              /* the commands that make an arm with this change; "": there are none */
    bool undo;                   /* sets back what was changed since the model was made */
    struct pw_pe_use_opts use;   /* TUNE, SWAP */
    int head;                    /* RESTORE, ABLATE, PATTERN, GOLD: layer * heads + head; -1: all */
    int other;                   /* PATTERN: index into the state's other arms */
    float *values;               /* VALUES, SWAP: all parameters of the encoding; owned */
    bool refused;                /* the model can't have it at this length */
};

/* Samples first..first+n-1 of a length, answered with a candidate. */
struct pw_why_pass {
    int candidate, length, first, n;
    int unit;       /* the first of its units */
    uint8_t *right; /* [n] */
};

/* Another arm. The copy of its model is owned. */
struct pw_why_other {
    int arm;
    struct pw_model *model;
};

enum pw_why_error { PW_WHY_EARLY, PW_WHY_LATE, PW_WHY_WRONG };

/* The probe's state. It owns its arrays and `copy`. */
struct pw_why_state {
    int n; /* number of candidates; 0 is the model as it is */
    struct pw_why_candidate *list;
    /* Passes: the length as it is, shorter lengths as it is, a pass for each candidate, attention on gold
     * pointers at the length and at the reference, then two on further samples: as it is, and with the best
     * candidate. */
    int n_passes, n_shorter;
    struct pw_why_pass *passes;
    int tokens;    /* of the longest of some samples, as the model reads them */
    bool ends;     /* answers end with an end mark */
    int works;     /* 1: so few samples fail that nothing is tested; -1: not known yet */
    int best;      /* candidate of the last pass; 0: none is significant; -1: not known yet */
    int place_cap; /* places that are counted */
    int *first;    /* [samples of the first pass] token of the first error; -1: none */
    int *place;    /* [place_cap] failing samples whose first error is at this token of the answer */
    int error[PW_WHY_ERRORS];
    int reference;            /* the longest shorter length that works, else the best one; 0: there is none */
    struct pw_why_gold *gold; /* [L H]; NULL: the task has no gold pointers at the length */
    int n_others;
    struct pw_why_other *other; /* [n_others] arms whose attention patterns are tested */
    struct pw_model *copy;
    int changed; /* candidate whose change the copy has; -1: there is no copy */
};

/* Positions and distances of a sequence that training did not contain. */
struct pw_why_seen {
    int64_t steps; /* counted steps; 0: training was not counted, and the rest is 0 */
    int longest;   /* positions of the longest counted sequence */
    int positions; /* never seen, of those that the sequence has */
    int distances; /* never seen */
    int first;     /* the smallest distance never seen */
};

/* Attention of a head on gold pointers: the sum over queries that have some, and their number. */
enum { PW_WHY_WORKS, PW_WHY_FAILS, PW_WHY_AT_ERROR, PW_WHY_PLACES };
struct pw_why_gold {
    double mass[PW_WHY_PLACES]; /* at a length that works, at the length, there at the first wrong token */
    int queries[PW_WHY_PLACES];
};

/* The effect of a candidate. */
struct pw_why_effect {
    int fixed, broken, right; /* samples: wrong to right, right to wrong, right in all */
    double p, adjusted;       /* McNemar, and after Holm's correction over all candidates */
};

/* ---- why_candidates.c */
/* Lists the candidates of the subject's model for sequences of `tokens` tokens. */
enum pw_code pw_why_list(struct pw_why_state *s, const struct pw_probe_in *in, struct pw_err *err);
/* Are both the same encoding with the same settings? */
bool pw_why_same_encoding(const struct pw_pe_use_opts *a, const struct pw_pe_use_opts *b);
/* Adds a candidate and returns it, valid until the next call. */
struct pw_why_candidate *pw_why_add(struct pw_why_state *s, enum pw_why_kind kind, const char *cause);

/* ---- why_learned.c */
/* Counts the positions and distances of a sequence of `tokens` tokens that training did not contain. */
struct pw_why_seen pw_why_unseen(const struct pw_model *m, int tokens);
/* Adds: learned values that were never trained become those of the nearest trained ones; learned values of
 * other arms; the whole encodings of other arms. */
void pw_why_add_learned(struct pw_why_state *s, const struct pw_probe_in *in);

/* ---- why_formula.c */
/* Adds the encoding as a formula that does not read distances or positions beyond those seen in training. */
void pw_why_add_formulas(struct pw_why_state *s, const struct pw_model *m);

/* ---- why_change.c */
/* Makes s->copy the subject's model with this candidate. *refused: the model can't have it. */
enum pw_code pw_why_change(struct pw_why_state *s, const struct pw_probe_in *in, int candidate,
                           struct pw_err *err);
/* Answers b, samples first, first+1, ... of a length, with the candidate that the copy has: choices
 * [n_scored]. scored [n_seqs+1] as in probe.h. */
enum pw_code pw_why_answer(struct pw_why_state *s, const struct pw_probe_in *in, int length, int64_t first,
                           const struct pw_batch *b, const int *scored, int *choices, struct pw_err *err);

/* ---- why_gold.c */
/* Returns true if the first sample of this length has gold pointers. */
bool pw_why_has_gold(const struct pw_probe_in *in, int length);
/* Adds the attention of a sample to s->gold. place: token of its first error, -1: none. works: it belongs to
 * the reference. */
enum pw_code pw_why_measure_gold(struct pw_why_state *s, const struct pw_probe_in *in, int length,
                                 int64_t index, int place, bool works, struct pw_err *err);
/* Answers a sample with a head whose pattern is the gold pointers: choices [tokens of the answer], with the
 * end mark. */
enum pw_code pw_why_answer_gold(struct pw_model *m, const struct pw_probe_in *in, int head, int length,
                                int64_t index, int *choices, struct pw_err *err);

/* ---- why_pattern.c */
/* Adds the attention patterns of other arms whose models have as many layers and heads, and copies these
 * models. */
enum pw_code pw_why_add_patterns(struct pw_why_state *s, const struct pw_probe_in *in, struct pw_err *err);
/* Answers sequence seq of b with such a candidate; its choices are written. scored as in probe.h. */
enum pw_code pw_why_answer_pattern(const struct pw_why_state *s, const struct pw_why_candidate *c,
                                   const struct pw_batch *b, const int *scored, int seq, int *choices,
                                   struct pw_err *err);

/* ---- why_stats.c */
/* Compares two answers [n] of the same samples. The p-values are left at 1. */
struct pw_why_effect pw_why_compare(const uint8_t *before, const uint8_t *after, int n);
/* Returns the effects of all candidates, [s->n], entry 0 unused; the caller frees them. */
struct pw_why_effect *pw_why_effects(const struct pw_why_state *s);
/* Returns true if the candidate uses the right answer: its end, or where it is read. Its effect shows where
 * the model fails, but no model could have the change. */
bool pw_why_is_oracle(const struct pw_why_candidate *c);
/* Ranks the candidates that were tested, best first: order [s->n - 1]. Returns their number. */
int pw_why_rank(int *order, const struct pw_why_state *s, const struct pw_why_effect *effect);
/* Returns true if a candidate recovers exact match significantly. */
bool pw_why_significant(const struct pw_why_effect *e);
/* Returns true if it also recovers at least half of the exact match that is missing, and is no oracle. */
bool pw_why_is_cause(const struct pw_why_state *s, int candidate, const struct pw_why_effect *e);
/* Returns the first significant candidate of a ranking, one that is no oracle if possible; 0: there is none.
 */
int pw_why_best(const struct pw_why_state *s, const int *order, int n, const struct pw_why_effect *effect);
/* Writes the 95 % interval of the difference of two paired proportions, (fixed - broken) / n (Newcombe 1998,
 * "Improved confidence intervals for the difference between binomial proportions based on paired data",
 * method 10). both: samples that are right before and after; n >= 1. */
void pw_why_interval(int both, int fixed, int broken, int n, double *low, double *high);

/* ---- why_report.c */
/* Builds the finding. The state of p is a struct pw_why_state. */
void pw_why_report(struct pw_probing_at *p, struct pw_finding *f);

#endif
