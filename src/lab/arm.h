/* arm.h - one replica of an arm, as commands read it. Lab thread. */
#ifndef PW_ARM_H
#define PW_ARM_H
#include "model/model.h"
#include "sessions/event.h"

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
    PW_ALTERED_TRANSPLANT, /* learned parameters of the encoding were replaced */
    PW_ALTERED_FILE,       /* weights loaded from a file */
    PW_ALTERED_TABLE       /* the encoding's table loaded from a file */
};

/* One replica: a model of the lab. An arm has one or several replicas. They differ only in the seed of their
 * initialisation and, with own batches, in their training samples. They are trained in step with each other.
 * The arm's seed is that of replica 1; replica k has seed + k - 1. The replica chosen with `inspect
 * replica=R` answers prompts and is inspected. */
struct pw_replica {
    int id;      /* 1..PW_MAX_ARMS */
    int replica; /* 1..PW_MAX_REPLICAS */
    struct pw_model *model;
    char preset[16];
    char source[1024]; /* the file or folder of another program that the model came from; "": none */
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
    int weight_bytes; /* of a model from another program's file, while it has each weight once; 0: another
                         model */
    int parent;       /* id of the arm that this one was forked from; 0: none */
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
#define PW_MAX_PLACES (PW_MAX_ARMS * PW_MAX_REPLICAS)
_Static_assert(PW_MAX_PLACES <= 64 * PW_BITS_OF_ALL, "a command's event has a bit for every place");

#endif
