/* config.h - what a model is (its configuration) and how it is trained (its optimiser's settings). */
#ifndef PW_CONFIG_H
#define PW_CONFIG_H
#include "base/err.h"
#include "base/opt.h"
#include "base/text.h"
#include <stdbool.h>

#define PW_MAX_LAYERS 64
#define PW_MAX_BOS    8

/* Pre-norm decoder-only Transformer. Symbols of shapes: L layers, C width, H heads, D head_width, F ffn. */
struct pw_config {
    int layers, width, heads, head_width, ffn;
    int norm;          /* enum pw_norm: rmsnorm (eps 1e-6), layernorm (eps 1e-5), none */
    int norm_at;       /* 0 both, 1 ff: before the MLP only (seed 003, Eq. 3) */
    int act;           /* index into relu, gelu, gelu_tanh */
    bool bias;         /* of the linear layers, and of LayerNorm */
    bool tied;         /* the head is the embedding */
    bool scale;        /* scores times 1/sqrt(head_width) */
    float logit_scale; /* factor on the normed hidden state before the head */
    int init;          /* enum pw_init */
    bool causal;
    float dropout;              /* in training only: forward.c says where */
    int context;                /* positions the model can take */
    int vocab;                  /* set by the task, not by an option; */
    int n_bos, bos[PW_MAX_BOS]; /* likewise, for theorem.c: the tokens that prompts begin with */
};

/* params.c; theorem.c */
enum pw_init { PW_INIT_PEWTER, PW_INIT_T5, PW_INIT_THEOREM1, PW_INIT_THEOREM2 };

enum pw_schedule { PW_SCHEDULE_CONSTANT, PW_SCHEDULE_LINEAR, PW_SCHEDULE_COSINE };

/* AdamW with warm-up, decay, clipping. */
struct pw_optim {
    float lr, beta1, beta2, eps, decay; /* decay: on matrices, embeddings included */
    bool decay_gains;                   /* and on the gains of norms */
    float clip;                         /* global gradient norm; 0: off */
    int warmup, steps; /* optimiser steps; the schedule ends at `steps` and stays at its floor */
    int schedule;      /* enum pw_schedule */
    float floor;       /* of the learning rate, as a fraction of lr */
    int batch;         /* sequences */
};

extern const struct pw_opt pw_config_opts[]; /* of struct pw_config */
extern const struct pw_opt pw_optim_opts[];  /* of struct pw_optim */

/* Presets: tiny, small, medium (reference/small-scale.md section 7) and paper, the model of Kazemnejad et al.
 * 2023. NULL-terminated names for help and completion. */
extern const char *const pw_preset_names[];
enum pw_code pw_preset(const char *name, struct pw_config *cfg, struct pw_optim *opt, struct pw_err *err);

/* Relations between the options (width a multiple of heads when head_width follows it, and so on). head_width
 * = 0, ffn = 0 and logit_scale = 0 mean width/heads, 4*width and width^-0.5 and are replaced here. */
enum pw_code pw_config_check(struct pw_config *cfg, struct pw_err *err);

/* Is it a model of the released code of Kazemnejad et al. 2023, as the preset paper: scores that are not
 * scaled (scale=off) and T5's first values (init=t5)? There encodings are by default what that code makes of
 * them. */
bool pw_config_released(const struct pw_config *cfg);

/* A new width: head_width, ffn and logit_scale become 0 again where they are what 0 stands for. */
void pw_config_unset_width(struct pw_config *cfg);

/* Learning rate of step t (1 is the first). */
float pw_optim_lr(const struct pw_optim *o, long t);

#endif
