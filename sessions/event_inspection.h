/* event_inspection.h - the events of the inspected model: prompt, decoded tokens, attention, tables, ablation
 * and patching. A part of event.h, which defines the ownership of the arrays. */
#ifndef PW_EVENT_LOOK_H
#define PW_EVENT_LOOK_H
#include "base/half.h"
#include <stdbool.h>
#include <stdint.h>

#define PW_LABEL      24 /* bytes of a token's label with its NUL, cleaned for display */
#define PW_TOP        5  /* candidates kept per decoded token */
#define PW_LOOK_TOP   20 /* candidates kept for the row under the cursor */
#define PW_LINE       256
#define PW_ENCODING   4608 /* text of an encoding: a formula of 4000 bytes, its options, NUL */
#define PW_MAX_SCORES 11   /* scores of a head */

/* PROMPT: the pinned prompt with its right answer, if known. n 0: no prompt is pinned. */
struct pw_ev_prompt {
    int id;
    char text[PW_LINE * 2];
    int n_prompt, n;          /* tokens of the prompt; of prompt and right answer */
    int *tokens;              /* [n] */
    char (*labels)[PW_LABEL]; /* [n] */
    bool has_answer;          /* a right answer is known */
    bool *edited;             /* [n_prompt] tokens that `edit` replaced; NULL: none */
    bool drawn;               /* not typed: test sample number `sample` of this task and length */
    int task, length;         /* index into struct pw_ev_lab's tasks; the task's length; -1: unknown */
    int64_t sample;
};

/* TOKEN: one decoded token of the answer, with the most probable candidates. */
struct pw_ev_token {
    int prompt; /* id */
    int pos;    /* position in the sequence; the first is n_prompt */
    int token;
    char label[PW_LABEL];
    float prob, logit, entropy; /* entropy of the distribution, in bits */
    int n_top;
    char top_label[PW_TOP][PW_LABEL];
    float top_prob[PW_TOP];
    bool right;            /* equals the right answer's token at this position */
    bool last;             /* decoding ended with this token */
    bool exact;            /* if `last`: the whole answer is right */
    bool ended;            /* if `last`: the answer is complete, not cut off by the length limit */
    bool edited;           /* set by `edit` */
    char target[PW_LABEL]; /* the right answer's token; "" if unknown */
};

/* CURSOR: the token that the step inspector shows. */
struct pw_ev_cursor {
    bool newest; /* the cursor follows the newest token */
    struct pw_ev_token at;
};

/* Inspection of the row before position pos, which predicts the token at pos. Logits come from the forward
 * pass. The parts of a logit are defined in src/model/attribution.h, with norms frozen, and sum to
 * the logit up to rounding. */
struct pw_ev_inspection {
    int prompt, pos;
    float temperature; /* temperature of the probabilities; 1 also for greedy decoding */
    float entropy;     /* bits */
    int vocab;         /* vocabulary size */
    float mean_logit;  /* mean logit over the vocabulary */
    int n;             /* entries of token: the most probable, then `said` and `target` if not among them */
    int said, target;  /* index of the answer's token and of the right token; target -1: unknown */
    struct pw_inspection_token {
        int token, rank; /* 0 is the most probable */
        float prob, logit;
        char label[PW_LABEL];
    } * token; /* [n] */
    int n_parts;
    struct pw_inspection_part {
        char name[16];   /* "embedding", "position", "head 0.3", "MLP 0", "biases" */
        int layer, head; /* -1: none */
    } * parts;           /* [n_parts] in the order of the residual stream */
    double *part, *mean; /* [n_parts,n] of token's logit, [n_parts] of the mean logit */
    double worst;        /* the largest |sum of parts - logit| over the n tokens */
    int layers;
    struct pw_inspection_lens {
        char label[PW_LABEL]; /* the most probable token there */
        float prob, entropy;
    } * lens;           /* [layers + 1] logit lens after each number of layers */
    float *lens_prob;   /* [layers + 1, n] probability of token */
    int32_t *lens_rank; /* [layers + 1, n] rank of token */
};

/* A score of heads, and its value for uniform attention. */
struct pw_score_kind {
    char name[20]; /* "previous token" */
    char unit[12]; /* "bits"; "": a share of attention, 0..1 */
    float chance;  /* NaN: none */
};

/* Gold pointer: a query that must find an answer's token, and the key that decides it. */
struct pw_gold {
    int query, key;
};

/* Attention maps of the pinned prompt. Values are IEEE half precision, as stored and drawn; `export` gives
 * exact ones. */
struct pw_ev_attention {
    int prompt, T, layers, heads;
    int layer, head;          /* the inspected head */
    int view;                 /* enum pw_view */
    char (*labels)[PW_LABEL]; /* [T] */
    int n_prompt;             /* rows before the answer */
    uint16_t *probs;          /* [layers,heads,T,T]; 0 where masked; NULL if they would be too many */
    /* In place of probs: cells of pool x pool pairs, side = ceil(T / pool) of them each way, each with its
     * largest probability; and every pair of the inspected head. pool and side are 0 if probs is there. */
    int pool, side;
    uint16_t *pooled;                 /* [layers,heads,side,side] */
    uint16_t *map;                    /* [T,T] */
    uint16_t *score, *content, *bias; /* [T,T] of the inspected head; where masked -inf, -inf, 0 */

    bool asked;    /* requested by `inspect`; false: emitted with an answer */
    bool sees_all; /* queries also attend to later keys (causal=off) */
    bool adds, rotates,
        /* The encoding's effects: adds rows to the embeddings; rotates or scales q and k; biases scores or
         * adds relative keys. */
        biases;
    bool rests; /* a query's own key has the rest that earlier keys leave (stick-breaking), not a weight */
    /* [T,T] of the inspected head: positions that a scan over the keys counts; 0 where masked. NULL: none. */
    uint16_t *positions;
    /* An encoding with terms or votes of the tokens (struct pw_attn) has gates. gate [T,T]: its part of the
     * inspected head's scores; 0 where masked. Then bias is what remains: content + bias + gate = score.
     * gate_values [heads,T]: of the inspected layer, the share of what came before that head h keeps at token
     * t, 0..1. Without such gates they are the numbers of a walk (struct pw_walk): if it rotates, the factors
     * of reflections, 0..2, otherwise the mean gates of a head's entries. */
    bool gates;
    uint16_t *gate;
    float *gate_values;
    /* [4,T,T] or NULL: the inspected head's content score in four terms, with the stream before its layer
     * split into content and position. Query and key: content-content (cc), content-position (cp), pc, pp; 0
     * where masked. NULL: the stream has no position, or the terms were not requested. */
    uint16_t *terms;
    /* Samples that a position's mean is taken over; 0: the table's row, and the terms are exact. */
    int samples;
    int n_gold;
    struct pw_gold *gold; /* [n_gold] by query, then key */
    int n_scores;
    struct pw_score_kind kinds[PW_MAX_SCORES];
    float *scores; /* [layers,heads,n_scores]; NaN if this prompt does not determine the score */

    /* The file that a foreign model's attention was loaded from; "": the attention of an arm. A file has its
     * own slot, so the arm's attention stays. Without tokens the slot becomes empty. */
    char source[PW_LINE];
    /* [layers,heads,T,T] scores, if the file has them; NULL otherwise, and for an arm */
    uint16_t *all_scores;
};

/* The quantity of the inspected head that the attention pane shows. */
enum pw_view {
    PW_VIEW_PROBS,
    PW_VIEW_SCORE,
    PW_VIEW_CONTENT,
    PW_VIEW_BIAS,
    PW_VIEW_CC, /* this and the next three are the terms */
    PW_VIEW_CP,
    PW_VIEW_PC,
    PW_VIEW_PP,
    PW_VIEW_GATE, /* after the others, because sessions hold these numbers */
    PW_VIEWS
};
/* Is the view one of the four terms of the content? */
static inline bool pw_view_of_terms(int view)
{
    return view >= PW_VIEW_CC && view <= PW_VIEW_PP;
}
extern const char *const pw_view_names[]; /* names used by `inspect`: "probs", ..., NULL */

/* A learned tensor of an encoding that computes its table from several tensors. */
struct pw_table_tensor {
    char name[48];  /* as in weight files */
    int rows, cols; /* rows 0: a vector */
    float norm;     /* Euclidean norm */
    float grad;     /* mean |gradient| over its entries and n_grad steps; NaN: none sampled */
};

/* A learned parameter of a formula. Its parts are its copies for the layers and heads, [layers,heads]; a part
 * is a number or a table. */
struct pw_table_param {
    char name[32];     /* as in the formula */
    int layers, heads; /* 1: all layers, or heads, share it */
    int size;          /* entries of a part; 1: a number */
    int part;          /* its first part, an index of `learned` */
    int entry;         /* its first entry, an index of `entries`; -1: a number, or too many to be emitted */
    int along; /* its parts have entries of each channel, pair or function of a mix, enum pw_param_along */
};
enum pw_param_along { PW_ALONG_NOTHING, PW_ALONG_CHANNELS, PW_ALONG_PAIRS, PW_ALONG_MIXES };

#define PW_TABLE_QUERIES 12   /* most queries whose bias an event holds */
#define PW_TABLE_PARAMS  24   /* most parameters of a formula */
#define PW_TABLE_PARTS   512  /* most parts of all parameters that an event holds */
#define PW_TABLE_ENTRIES 8192 /* most entries of all tables that an event holds */

/* The encoding's tables. An array is NULL if the encoding has no such table. */
struct pw_ev_table {
    char pe[PW_ENCODING];
    int length; /* N */
    int heads, width, pairs;
    int *bucket; /* [N] bucket by distance, for keys that are not after the query */
    int n_buckets;
    /* [n_buckets+1]: bucket b covers distances from[b]..from[b+1]-1; INT_MAX: no end. Without the causal mask
     * the last `later` buckets are for keys after the query, by absolute distance. The last bucket before
     * these has no end either (pw_bucket_end). */
    int *bucket_from;
    int later;
    float *bucket_bias; /* [n_buckets,heads] learned values, including buckets beyond N */
    /* [heads,N] by distance; for the query that pw_table_bias_query gives. NaN: a mask hides the key. */
    float *bias;
    float *slopes;       /* [heads] */
    float *frequencies;  /* [pairs] radians per position */
    float *added;        /* [N,width] */
    char order[PW_LINE]; /* where order comes from without a table; "": from the causal mask alone */
    bool by_length;      /* the rows depend on the sequence length; these are for length N */
    int trained;         /* largest distance seen in training; 0: not trained */
    int64_t *met;        /* [N] by distance: (query, key) pairs seen in training since step met_from */
    /* [N] by position: rows seen in training at that position; if by_length, rows that received the vector
     * shown. */
    int64_t *rows;
    int64_t met_from;
    /* Mean |gradient| since met_from, over n_grad steps (every tenth step): [n_buckets,heads] for the biases
     * of buckets, or [N] for learned rows, averaged over the width. NULL: nothing is learned, or no step was
     * sampled yet. */
    float *grad;
    int64_t n_grad;
    /* By distance, for one layer. kernel: the encoding's own contribution to the scores. score: the mean
     * total score over n_kernel validation samples (NaN: no sample had the distance). Both are defined in
     * src/probe/kernel.c. NULL: not measured, or the encoding's contribution in this layer can't be separated
     * from content. */
    int layer, layers, n_kernel;
    bool by_layer;         /* the tables differ by layer; these are of `layer` */
    float *kernel, *score; /* [heads,N] */
    /* [heads,pairs,2] for rotated pairs: coefficients a, b of a cos(d theta) + b sin(d theta), each the mean
     * over all pairs of query and key in the samples. */
    float *parts;
    /* Relative keys of that layer. Row r is added to keys at distance key_from + r (query minus key); the
     * first and the last row also serve all distances beyond. For each row: the pairs seen in training since
     * met_from, and the mean |gradient| over n_grad steps and the width (NULL if no step was sampled). */
    int n_keys, key_width, key_from;
    float *keys;      /* [n_keys,key_width] */
    int64_t *key_met; /* [n_keys] */
    float *key_grad;  /* [n_keys] */
    /* A bias that depends on both positions, for some queries in ascending order. The last query is at N-1;
     * `bias` above belongs to it. n_queries 0: the bias is the same for all queries. */
    int n_queries;
    int *queries;      /* [n_queries] positions */
    float *query_bias; /* [heads,n_queries,N] by distance; NaN if the query sees no key that far before it */
    int n_tensors;
    struct pw_table_tensor *tensors; /* [n_tensors]; none if the table itself is the only parameter */
    /* FIRE (Li et al. 2023): the bias is f(u), u = ln(c d + 1) / ln(c max(i,L) + 1), for distance d from
     * query i. `tune` rescales both: i stands for from + step * i, and d for step * d. L = |factor *
     * threshold|. threshold 0: the encoding is not FIRE. */
    float fire_c, fire_factor, fire_threshold, fire_from, fire_step;
    /* The learned parameters of a formula, in the order of its text. Gradients are means of |gradient| over
     * param_steps steps, as n_grad counts them; NULL: no step was sampled. */
    int n_params, params_left;     /* params_left: parameters that had no room */
    struct pw_table_param *params; /* [n_params] */
    int64_t param_steps;
    int n_learned;
    float *learned; /* [n_learned] by part: the number; of a table the root mean square of its entries */
    float *learned_grads; /* [n_learned] by part; of a table the mean over its entries */
    int n_entries;
    float *entries, *entry_grads; /* [n_entries] of tables */
};

/* Kinds of ablation: what replaces a head's output. */
enum pw_ablation { PW_ABLATE_NONE, PW_ABLATE_ZERO, PW_ABLATE_MEAN, PW_ABLATE_RESAMPLE };
extern const char *const pw_ablation_names[]; /* "on", "zero", ..., NULL */

/* Ablated heads of one replica. A head's number has no common meaning across replicas. */
struct pw_ev_heads {
    int layers, heads;
    uint8_t *mode; /* [layers,heads] enum pw_ablation; NULL: no head is ablated */
};

enum pw_patch_kind { PW_PATCH_RESID, PW_PATCH_HEADS };

/* Activation patching: the corrupt prompt is run with activations of the clean prompt. The metric is m =
 * logit(clean's token) - logit(corrupt's token) at the last position. recovery = (m_patched - m_corrupt) /
 * (m_clean - m_corrupt): 0 no effect, 1 full recovery. */
struct pw_ev_patch {
    enum pw_patch_kind kind;
    /* The one activation that was patched; -1: each in turn, or (pos of heads) all at once. */
    int layer, head, pos;
    /* resid: layers + 1 (row l: input of layer l), T; heads: layers, heads; else 1, 1 */
    int rows, cols;
    float *recovery; /* [rows,cols] */
    int T, n_prompt;
    char (*clean)[PW_LABEL], (*corrupt)[PW_LABEL];       /* [T] */
    char clean_token[PW_LABEL], corrupt_token[PW_LABEL]; /* the right next token of each prompt */
    bool greedy; /* true: these tokens are the model's own, because no right answer is known */
    float m_clean, m_corrupt;
    char text[PW_LINE * 2]; /* the result in one line */
};

#endif
