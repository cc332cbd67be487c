/* study.h - a study: which arms, tasks and seeds are trained, how they are measured, and which comparisons
 * are asked. It is a text of statements, separated by ';' or new lines; '#' begins a comment:
 *
 *   race none,t5(buckets=8),alibi     encodings, each with options in parentheses; or quoted, for a formula
 *   model tiny                        model shapes, as `model` takes them; default tiny
 *   optim steps=800                   settings of the optimiser, as `optim` takes them; default: its defaults
 *   task sort,copy(variant=rsc)       tasks
 *   seeds 10  |  seeds 5..20          runs of each arm and task; 5..20: 5, then more until all is decided
 *   first 101                         the first seed; default 101
 *   eval samples=128                  options of `eval`
 *   ask pairs  |  ask none  |  ask none:alibi,none:t5      comparisons of arms; default pairs
 *   level 0.05                        of all comparisons of a task together
 *   budget time=2h steps=500000       no further seed begins after that; also operations=3e15
 *   keep weights                      each run leaves its weights in cells/ID.safetensors
 *
 * An arm is an encoding with a model and an optimiser; all of them are combined. A cell is one arm, task and
 * seed: a run of pewter without a screen. Its script alone decides its result, so its name is a hash of that
 * script and of the version of pewter: what was computed once is never computed again.
 *
 * A study is plain values. Functions fail with PW_EUSER; the message names the statement. Any thread. */
#ifndef PW_STUDY_H
#define PW_STUDY_H
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

#define PW_STUDY_ITEMS   64  /* entries of a list */
#define PW_STUDY_ARMS    128 /* encodings x models x optimisers */
#define PW_STUDY_SEEDS   1000
#define PW_STUDY_CELLS   20000
#define PW_STUDY_ASKED   2016 /* comparisons: all pairs of 64 arms */
#define PW_STUDY_ID      17   /* bytes of a cell's name, with the NUL */
#define PW_STUDY_LEARNED 0.99 /* exact match in range from which an arm has learned its task */

/* The entries of a list, as the command of the list's name takes them. */
struct pw_study_list {
    char *items[PW_STUDY_ITEMS];
    int n;
};

/* A comparison: does arm a differ from arm b? Indices of arms. */
struct pw_study_ask {
    int a, b;
};

struct pw_study {
    struct pw_study_list races, models, optims, tasks;
    char *eval;               /* options of eval */
    int first;                /* the first seed */
    int seeds_min, seeds_max; /* equal: a fixed number of seeds */
    double level;
    double budget_s;          /* seconds of computing; 0: no limit */
    int64_t budget_steps;     /* training steps; 0: no limit */
    double budget_operations; /* of training, forward and backward; 0: no limit */
    bool keep_weights;
    int n_arms;
    char *arms[PW_STUDY_ARMS]; /* names for tables */
    struct pw_study_ask ask[PW_STUDY_ASKED];
    int n_ask;
};

/* One run. id: 16 hexadecimal digits. */
struct pw_study_cell {
    int arm, task, seed;
    char id[PW_STUDY_ID];
};

/* The width in character cells of the longest name of an arm, at least 8: for the first column of tables. */
int pw_study_arm_width(const struct pw_study *s);

/* Read the text of a study. On failure *s is empty. pw_study_fini frees the members. */
enum pw_code pw_study_read(struct pw_study *s, const char *text, struct pw_err *err);
void pw_study_fini(struct pw_study *s);

/* cell.c: model and optimiser of an arm. optim "": those of the preset. */
const char *pw_study_model_of(const struct pw_study *s, int arm);
const char *pw_study_optim_of(const struct pw_study *s, int arm);
/* The preset to write in front of a model that names none: "tiny ", else "". */
const char *pw_study_preset_of(const char *model);
/* Append the lines that prepare the model of a cell, one command a line; training and measuring
 * follow. `seed` counts from 0. */
void pw_study_cell_setup(const struct pw_study *s, int arm, int task, int seed, struct pw_str *out);
/* Append the lines that measure it after training. */
void pw_study_cell_measure(const struct pw_study *s, struct pw_str *out);
/* The cell with its name. */
struct pw_study_cell pw_study_cell_of(const struct pw_study *s, int arm, int task, int seed);
/* Find a cell by its name; false: the study has none. */
bool pw_study_cell_find(const struct pw_study *s, const char *id, struct pw_study_cell *cell);

#endif
