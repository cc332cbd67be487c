/* config.h - configuration of a model and settings of its optimiser: option tables, presets, checks. Plain
 * values; all functions are pure and can be called from any thread. */
#ifndef PW_CONFIG_H
#define PW_CONFIG_H
#include "base/err.h"
#include "base/opt.h"
#include "base/text.h"
#include <stdbool.h>

#define PW_MAX_LAYERS  64
#define PW_MAX_BOS     8
#define PW_MAX_CONTEXT 131072

enum { PW_ADAPTER_RANK = 8, PW_ADAPTER_MOST = 256 }; /* default and largest rank of an adapter */

/* Classes of tokens, for positions that read them. A symbol is a letter that tasks use like a digit; LAST is
 * the last token of every prompt. */
enum pw_class { PW_CLASS_WORD, PW_CLASS_DIGIT, PW_CLASS_SEPARATOR, PW_CLASS_SYMBOL, PW_CLASS_LAST };
extern const char *const pw_class_names[]; /* NULL-terminated */

/* A decoder-only Transformer. Letters of shapes: L layers, C width, H heads, D head_width, F ffn. */
struct pw_config {
    int layers, width, heads, head_width, ffn;
    int norm;          /* enum pw_norm: rmsnorm (eps 1e-6), layernorm (eps 1e-5), none */
    int norm_at;       /* enum pw_norm_at */
    int act;           /* index into relu, gelu, gelu_tanh, silu */
    int bias;          /* enum pw_bias: pw_config_bias_qkv and so on */
    bool tied;         /* the head shares the embedding's weights */
    bool scale;        /* scores are multiplied by 1/sqrt(head_width) */
    float logit_scale; /* factor on the normed hidden state before the head */
    int init;          /* enum pw_init */
    bool causal;
    float dropout; /* rate, in training only; forward.c lists the places */
    int context;   /* most positions of a sequence */
    /* Options of published families. Their defaults leave the model as it was before they existed. */
    bool gated;      /* the MLP is down(act(gate(x)) * up(x)): LLaMA, Gemma */
    int kv_heads;    /* K: heads of k and v, a divisor of heads; 0: as many as heads (Ainslie et al. 2023) */
    int parallel;    /* enum pw_parallel */
    int qk_norm;     /* 0 off; 1 head: RMS norm of each q and k head before rotation (Qwen3, Gemma 3) */
    bool post_norm;  /* attention and MLP have a norm of their output, too (Gemma 2); not norm_at=after */
    bool head_bias;  /* the output head has a bias (GPT-J) */
    float norm_eps;  /* 0: the norm's default */
    bool embed_norm; /* norm of the embedding (BLOOM) */
    float embed_scale; /* factor on token embeddings (Gemma) */
    float score_scale; /* factor on scores in place of `scale`; 0: as `scale` says */
    float logit_cap;   /* logits = cap * tanh(logits / cap) (Gemma 2); 0: off */
    float qkv_clip;    /* q, k and v are limited to -clip..clip after their projection (MPT); 0: off */
    int embed_width;   /* E: of token embeddings and rows of the head (OPT-350m); 0: C */
    int adapter;       /* rank of a low-rank adapter of every matrix of the layers; 0: none (adapter.c) */
    int vocab;         /* set by the task, not by an option */
    int trained; /* set by the task for pw_pe_parse: rows of the longest training sample; 0: not known */
    /* [vocab] enum pw_class of each token, also set by the task; it lives until the process ends. NULL: all
     * tokens are words. */
    const unsigned char *classes;
    int n_bos, bos[PW_MAX_BOS]; /* also set by the task, for theorem.c: tokens that prompts begin with */
};

/* The place of a block's norms: before attention and MLP; before the MLP only (Kazemnejad et al. 2023, Eq.
 * 3); after their sums with the stream, x' = norm(x + f(x)), the post-norm of Vaswani et al. 2017. The first
 * two have a norm before the head, too. After the last block of the third the stream is normed already. */
enum pw_norm_at { PW_NORM_AT_BOTH, PW_NORM_AT_FF, PW_NORM_AT_AFTER };

/* Which parts have biases: none; all linear layers and LayerNorms; q, k and v only (Qwen2); MLP and
 * LayerNorms only (GPT-J). The output head has one of its own: head_bias. */
enum pw_bias { PW_BIAS_OFF, PW_BIAS_ON, PW_BIAS_QKV, PW_BIAS_MLP };

/* x' of a block: off: mid = x + attn(norm1 x), x' = mid + mlp(norm2 mid). on: x' = x + attn(norm1 x) +
 * mlp(norm2 x) (GPT-NeoX). shared: the same with norm1 in both places (GPT-J). */
enum pw_parallel { PW_PARALLEL_OFF, PW_PARALLEL_ON, PW_PARALLEL_SHARED };

/* Rules of the initial values: params.c and theorem.c. */
enum pw_init { PW_INIT_PEWTER, PW_INIT_T5, PW_INIT_THEOREM1, PW_INIT_THEOREM2 };

/* The learning rate after the warm-up: constant, or falling to the floor along a line or a cosine. */
enum pw_schedule { PW_SCHEDULE_CONSTANT, PW_SCHEDULE_LINEAR, PW_SCHEDULE_COSINE };

/* The parameters that steps change: all; the encoding's and those of norms; the encoding's; the encoding's
 * and those of adapters. */
enum pw_trains { PW_TRAINS_ALL, PW_TRAINS_NORMS, PW_TRAINS_ENCODING, PW_TRAINS_ADAPTER };

/* AdamW with warm-up, a learning rate schedule and clipping. */
struct pw_optim {
    float lr, beta1, beta2, eps, decay; /* decay: on matrices, embeddings included */
    bool decay_gains;                   /* decay also acts on the gains of norms */
    float clip;                         /* global gradient norm; 0: off */
    /* In optimiser steps. After `steps` the rate stays at its floor, unless the schedule is constant. */
    int warmup, steps;
    int schedule; /* enum pw_schedule */
    float floor;  /* of the learning rate, as a fraction of lr */
    int batch;    /* sequences */
    int trains; /* enum pw_trains; the other parameters have no gradient, so the clipped norm leaves them out
                 */
    int rank;   /* of the adapter that trains=adapter adds; 0: that of the present one, or PW_ADAPTER_RANK */
};

extern const struct pw_opt pw_config_opts[]; /* of struct pw_config */
extern const struct pw_opt pw_optim_opts[];  /* of struct pw_optim */

/* Presets: tiny, small, medium and paper, the model of Kazemnejad et al. 2023. pw_preset_names is
 * NULL-terminated, for help and completion. pw_preset fills *cfg and *opt; an unknown name is PW_EUSER. */
extern const char *const pw_preset_names[];
enum pw_code pw_preset(const char *name, struct pw_config *cfg, struct pw_optim *opt, struct pw_err *err);

/* Checks relations between the options, for example that width is a multiple of heads if head_width follows
 * from it. Replaces the values that mean "derived": head_width = 0 by width/heads, ffn = 0 by 4*width,
 * logit_scale = 0 by width^-0.5; and embed_width = width by 0. */
enum pw_code pw_config_check(struct pw_config *cfg, struct pw_err *err);

/* Return true if the q, k and v, the output of attention, the MLP, or LayerNorm have biases. */
bool pw_config_bias_qkv(const struct pw_config *cfg);
bool pw_config_bias_o(const struct pw_config *cfg);
bool pw_config_bias_mlp(const struct pw_config *cfg);
bool pw_config_bias_norm(const struct pw_config *cfg);

/* Return enum pw_norm: the norm before attention, and that before the MLP and before the head. */
int pw_config_norm_attn(const struct pw_config *cfg);
int pw_config_norm_mlp(const struct pw_config *cfg);
/* Returns true if a norm follows attention and MLP: of their outputs, or of their sums with the stream. */
bool pw_config_norm_after(const struct pw_config *cfg);

/* Returns true if all options of published families, from `gated` on without `adapter`, have their defaults.
 */
bool pw_config_plain(const struct pw_config *cfg);

/* Returns the factor on q.k. */
float pw_config_score_scale(const struct pw_config *cfg);

/* Returns E. Where it is not C, matrices project token embeddings to C, and the head's input to E. */
int pw_config_embed_width(const struct pw_config *cfg);

/* Returns the number of heads of k and v. */
int pw_config_kv_heads(const struct pw_config *cfg);

/* Returns a copy of classes [n] that lives until the process ends; equal ones are one copy. */
const unsigned char *pw_classes_keep(const unsigned char *classes, int n);

/* Returns true for a model of the released code of Kazemnejad et al. 2023, like the preset paper:
 * unscaled scores (scale=off) and T5's initial values (init=t5). In such a model encodings
 * default to that code's variants. */
bool pw_config_released(const struct pw_config *cfg);

/* Prepares for a new width: resets head_width, ffn and logit_scale to 0 ("derived") if they have their
 * derived values. */
void pw_config_unset_width(struct pw_config *cfg);

/* Returns the learning rate of step t; t counts from 1. */
float pw_optim_lr(const struct pw_optim *o, long t);

#endif
