/* pe.h - positional encodings: an encoding fills tables, and the kernels know only tables (ARCHITECTURE.md).
 *
 * A new encoding is one file in model/pe/ and one line in pe.c. Its descriptor (struct pw_pe) says which
 * tables it uses. build computes the fixed tables on the host in double precision (base/maths.h). A learned
 * table names its parameter; if several entries share a parameter entry, it also gives the index map, and the
 * backend gathers and scatters. An encoding with arithmetic of its own on parameters of its own shapes calls
 * an operation of the backend from fill.
 *
 * Rows added to the embeddings come from one table, or from two that are concatenated or summed. A row is
 * chosen by the position, or by a rule that needs the length l of the whole sequence (pw_pe_uses_length). A
 * causal model cannot know l. In a batch each sequence has its own l; in decoding l is the current length. A
 * rotation can depend on l, too (rows_by_length).
 *
 * Tables are read at position ids. These count the rows of a sequence, unless the encoding reads them from
 * tokens or from chance (ids). Then a batch is planned with its ids, and a decoder keeps the rows before the
 * first id that a new token changes (model/ids.c, decode.c).
 *
 * All functions are pure and can be called from any thread, unless a comment says otherwise. */
#ifndef PW_PE_H
#define PW_PE_H
#include "base/opt.h"
#include "base/text.h"
#include "kernels/backend.h"
#include "model/config.h"

#define PW_PE_OPTS_MAX 72
#define PW_PE_ALIASES  6
#define PW_PE_NAME     32 /* bytes of a formula file's name, with its NUL */

/* The effects of an encoding, as bits. */
enum pw_pe_use {
    PW_PE_ADDED = 1,      /* rows added to the embeddings */
    PW_PE_ROTATION = 2,   /* rotation of q and k */
    PW_PE_BIAS = 4,       /* bias on the scores by signed distance */
    PW_PE_KEYS = 8,       /* relative keys, one table per layer, by clipped distance */
    PW_PE_DENSE = 16,     /* bias on the scores by the positions of query and key */
    PW_PE_GAIN = 32,      /* factor on each query */
    PW_PE_SCORE = 64,     /* function of each finished score */
    PW_PE_TERMS = 128,    /* terms of rows, whose difference is added to the score */
    PW_PE_SCAN = 256,     /* a scan over the keys of a query */
    PW_PE_SLOPES = 512,   /* slopes by distance that each query and key makes of its content */
    PW_PE_MIXES = 1024,   /* bias by distance that the query mixes from a learned bank */
    PW_PE_POLAR = 2048,   /* q and k in polar form, of which the position gives the angles */
    PW_PE_WALK = 4096,    /* products of q and k by a walk over the keys */
    PW_PE_VOTES = 8192,   /* votes of earlier queries on a key, whose sum is subtracted from the score */
    PW_PE_PLANES = 16384, /* q and k turned in learned planes, by the angles of the position */
    PW_PE_BIASES = PW_PE_BIAS | PW_PE_DENSE,
    /* these depend on tokens, so no table has them */
    PW_PE_CONTENT = PW_PE_TERMS | PW_PE_SLOPES | PW_PE_SCAN | PW_PE_MIXES | PW_PE_POLAR | PW_PE_PLANES |
                    PW_PE_WALK | PW_PE_VOTES,
    /* these make q and k of their own, which replace those of qkv in the scores */
    PW_PE_WIDE = PW_PE_POLAR | PW_PE_PLANES,
    /* these read no positions */
    PW_PE_NO_POSITIONS = PW_PE_TERMS | PW_PE_SCAN | PW_PE_WALK | PW_PE_VOTES,
    /* these add the part `gate` to scores */
    PW_PE_GATES = PW_PE_TERMS | PW_PE_VOTES,
};

/* Tables that an encoding can compute on the backend from learned parameters. */
enum pw_pe_table {
    PW_TABLE_BIAS,   /* [H,2P-1], or dense [H,P,P] */
    PW_TABLE_GAIN,   /* [H,P] factors on queries */
    PW_TABLE_COSINE, /* [P,pairs] */
    PW_TABLE_SINE,   /* [P,pairs] */
    PW_TABLE_ADDED,  /* [P,C] rows added to the embeddings */
    PW_TABLE_BANK,   /* [M,reach] bank of a mix, for any P; pw_pe_tables has no copy */
    PW_TABLE_PLANES, /* [H,2N,D] unit vectors of planes, for any P */
    PW_TABLE_SCORE,  /* [H,n] learned numbers that the function of scores reads, for any P; no copy either */
    PW_PE_TABLES
};

/* How position pos of a sequence of length l selects a row of an added table. */
enum pw_pe_by {
    PW_PE_NO_TABLE,
    PW_PE_BY_POSITION, /* row pos */
    PW_PE_BY_REVERSE,  /* row l - 1 - pos */
    PW_PE_BY_LENGTH,   /* row l - 1: row r is for length r + 1 */
};
enum { PW_PE_ADDS = 2 }; /* most added tables */

/* Fixed tables for P positions, in host memory, zeroed before build. Tables that the
 * encoding does not use are NULL. A table that differs by layer (by_layer) has one part for each layer, in
 * order; its stride is the number of floats of a part. The stride of a shared table is 0. */
struct pw_pe_tables {
    int P;
    size_t turn_layer, gain_layer, bias_layer; /* strides of cosine and sine, of gain, of bias or dense */
    /* Rows of cosine, sine and gain; P, unless first is given (rows_by_length, [context+1]): then lengths up
     * to P are filled. With rows_by_length and without first, all rows are for length P. */
    int rows;
    const int *first;
    double from, step;      /* row r is for position from + r * step; distances are times step: tune.c */
    float *add[PW_PE_ADDS]; /* [P,W]; W is C, or C/2 if two tables are concatenated */
    float *added;           /* [P,C] sum for a sequence of length P; build leaves it alone */
    /* [rows,pairs]; with key_turns [2*rows,pairs]: rows of queries, then those of keys */
    float *cosine, *sine;
    float *polar_cosine, *polar_sine; /* [P,D] POLAR */
    /* [rows] factor on each query, or with head_gains [H,rows]; logn of tune.c is multiplied in after build
     */
    float *gain;
    float *bias;  /* [H,2P-1], entry P-1+r for distance r = query - key; r >= 0 is the causal half */
    float *dense; /* [H,P,P], entry (h, query, key); 0 where the mask hides the key */
    float *keys;  /* [L,key_rows,D] relative keys, rows as pw_key_row defines; learned, for any P */
    int key_rows, reach;
};

/* A learned tensor "pe.NAME" of an encoding with arithmetic of its own; rows 0: a vector. Initial values are
 * normal with standard deviation std; if std is 0, all are value. */
enum { PW_PE_PARAMS = 26 }; /* most of one encoding */
struct pw_pe_param {
    const char *name;
    int rows, cols;
    float std, value;
    bool decay; /* AdamW's weight decay applies */
    int layers; /* > 0: one such tensor for each layer, one after the other */
};

/* How a walk's rows are made of a layer's normed input. */
struct pw_pe_walk {
    enum pw_walk_kind kind;
    int rank; /* of the product of two matrices that gives the vectors; 0: one matrix */
    int taps; /* rows that its convolution reads; 0: none */
};

/* The arguments of such arithmetic: P positions, on a backend. */
struct pw_pe_use_opts;
struct pw_pe_pass {
    const struct pw_pe_use_opts *use;
    const struct pw_config *cfg;
    const struct pw_backend_ops *ops;
    struct pw_ctx *c;
    int P;
    enum pw_pe_table which; /* the table that is computed */
    int layers;             /* its parts: 1, or one for each layer */
    size_t floats;          /* from one part to the next */
    const struct pw_expr_code *code,
        *there; /* the program that the encoding gave for it: on the host, on the backend */
};

/* A sequence whose position ids depend on its tokens. key: of its random numbers. train: it is part of an
 * optimiser step. */
struct pw_pe_sequence {
    const int *tokens; /* [T] */
    int T;
    bool train;
    uint64_t key;
};

/* The descriptor of an encoding. Constant. */
struct pw_pe {
    const char *name, *summary;
    const char *source;                     /* paper and equation */
    const char *aliases[PW_PE_ALIASES + 1]; /* further names; NULL-terminated */
    const struct pw_opt *opts;              /* of the encoding's own options struct, or NULL */
    size_t opts_size;                       /* at most PW_PE_OPTS_MAX */
    unsigned uses;                          /* enum pw_pe_use */
    unsigned by_layer;            /* enum pw_pe_use: tables that differ by layer; not ADDED, not KEYS */
    bool head_gains;              /* GAIN: each head has gains of its own */
    bool needs_mask;              /* pw_pe_check refuses a model without the causal mask */
    bool key_turns;               /* ROTATION: keys are rotated by rows of their own; not if computed */
    enum pw_pe_by by[PW_PE_ADDS]; /* ADDED: rule of each table; often only the first is used */
    bool halves; /* tables are concatenated: each has half of the columns; otherwise summed */

    /* Replaces defaults that depend on the model (t5: 8/16 for contexts up to 256). NULL: no such defaults.
     * choice: the rule in words, for the help of the bare name: "t5 alone is 8/16 up to ..."; NULL: the bare
     * name means the same in all models except those of released code. */
    void (*resolve)(void *opts, const struct pw_config *cfg);
    const char *choice;
    /* Checks options against each other and against the model; NULL: no checks. */
    enum pw_code (*check)(const void *opts, const struct pw_config *cfg, struct pw_err *err);
    /* Checks the fixed tables for positions from + r * step, r below the context, if tune changes them. NULL:
     * all positions are allowed. */
    enum pw_code (*check_at)(const void *opts, const struct pw_config *cfg, double from, double step,
                             struct pw_err *err);
    /* Replaces values that mean "as the model has it" (rotary: dims=0) by the values in effect, for files
     * that other programs read. NULL: no such values. */
    void (*settle)(void *opts, const struct pw_config *cfg);
    /* Returns the edition of the rule that these options stand for in this model, if an earlier version of
     * pewter had another rule. A weights file stores it, and a file of another edition is refused. NULL or 0:
     * the first edition. */
    int (*rule)(const struct pw_config *cfg);

    /* Appends the text of options that are no table of options: a formula's. NULL: there is none. */
    void (*print)(const void *opts, struct pw_str *out);

    /* Rotation: number of pairs, and which columns form a pair. */
    int (*pairs)(const void *opts, const struct pw_config *cfg);
    enum pw_pairing (*pairing)(const void *opts);

    /* Writes the position ids of n sequences, one after the other, each 0..context-1: an encoding that reads
     * them from tokens or from chance. Under the causal mask an id does not depend on later tokens of the
     * answer. NULL: ids are those of the batch. */
    void (*ids)(const void *opts, const struct pw_config *cfg, const struct pw_pe_sequence *s, int n,
                int *ids);

    /* ROTATION whose rows depend on the length l of the sequence, with those of GAIN. Writes first
     * [context+1]: a sequence of l tokens reads rows first[l]..first[l]+l-1; first[1] is 0. Returns the
     * number of rows. Not with computed tables but a bank and a score's numbers, a dense bias, or scores that
     * read positions. NULL: the row is the position. */
    int (*rows_by_length)(const void *opts, const struct pw_config *cfg, int *first);

    /* Fills the fixed tables; NULL: there are none. */
    void (*build)(const void *opts, const struct pw_config *cfg, struct pw_pe_tables *t);

    /* SCORE: writes the function of scores of each layer, [L], for position ids that stand for from + id *
     * step. It does not fail for options that check accepts. */
    void (*score)(const void *opts, const struct pw_config *cfg, double from, double step,
                  struct pw_score *out);
    int numbers; /* SCORE in `computed`: the learned numbers of a head that this function reads */

    /* One learned parameter pe.NAME [rows, columns], shared by all layers. rows 0: no parameter. ADDED: the
     * tables one below the other, context rows each, columns = W. BIAS: columns = H; the row of distance r is
     * index(r). r is negative only without the causal mask, where the key follows the query; its rows are the
     * last rows of the parameter and ascend with -r as the first rows do with r. KEYS: one matrix per layer,
     * [L, rows, columns], columns = D; pw_key_rows and pw_key_row (kernels/backend.h) define rows and their
     * order for this reach. */
    const char *param; /* "table", "bias", "keys"; NULL: none */
    int (*param_rows)(const void *opts, const struct pw_config *cfg);
    float init_std;
    int (*index)(const void *opts, const struct pw_config *cfg, int distance);
    int (*reach)(const void *opts, const struct pw_config *cfg);

    /* Alternatively, tables computed from parameters by arithmetic of the encoding's own: those of the uses
     * in `computed`; both of ROTATION together. params lists the parameters and returns their number. fill
     * computes table x->which, its parts one after the other, from param, which holds the parameters one
     * after the other. fill_bwd adds to d_param; it overwrites d_table, the gradients of the L layers one
     * after the other, or of ADDED the one gradient. All arrays are in the backend's memory; any worker can
     * call. NULL: not such an encoding. With TERMS, MIXES, SLOPES, SCAN, WALK and POLAR params has what the
     * member for them says, and fill is NULL without a use in `computed`; with POLAR it is the phases
     * [L,H,D]. */
    unsigned computed;
    int (*params)(const void *opts, const struct pw_config *cfg, struct pw_pe_param *out);
    void (*fill)(const struct pw_pe_pass *x, float *table, const float *param);
    void (*fill_bwd)(const struct pw_pe_pass *x, float *d_param, float *d_table, const float *param);
    /* TERMS: writes the function of each layer, [L], of which the terms are sums (terms_fwd); NULL: ln
     * sigmoid. It takes a projection of each layer's normed input, the one that q, k and v read. The weight
     * [L,H,C] and bias [L,H] of the projection are the last two parameters of params. Not with SCORE. */
    void (*gate)(const void *opts, const struct pw_config *cfg, double from, double step,
                 struct pw_score *out);
    /* MIXES: the number M of functions of the distance in the bank, which has `reach` distances. The only two
     * parameters of params are the weight [L,H*M,C] of a projection of each layer's normed input, which makes
     * the query's weights, and the bank [L,M,reach]. With MIXES in `computed` fill makes the bank, and the
     * weight is the last parameter. */
    int (*mixes)(const void *opts);
    /* PLANES: returns their number N in a head, and in `fall` the logarithm of the ratio of two initial
     * frequencies. params has [L,H,N] log_factor, and then [L,H*N,D] of the first vectors, and of the second.
     */
    int (*planes)(const void *opts, const struct pw_config *cfg, double *fall);
    /* GAIN: do these options have a gain that is not 1? NULL: yes. */
    bool (*gains)(const void *opts);
    /* SLOPES: which parts have slopes. params has [L,H] omega, and then for each part, queries first, the
     * directions [L,H,D]. */
    void (*slopes)(const void *opts, bool *query, bool *key);
    /* SCAN and VOTES: its kind. Not with other uses that act on scores, but GAIN and, with STICK, ROTATION.
     * CONTEXT: scan_rows returns n of struct pw_scan, and the last parameter of params is the table [L,D,n].
     */
    enum pw_scan_kind scan;
    int (*scan_rows)(const void *opts);
    /* WALK: how its rows are made. params has in this order, each once for each layer: [rank,C] and
     * [HD,rank], or [HD,C] if rank is 0; the bias [HD] if SCALE; the convolution [HD,taps] if taps > 0; and
     * if REFLECT the factor's [H,C] and [H]. Not with other uses that act on scores. */
    struct pw_pe_walk (*walk)(const void *opts, const struct pw_config *cfg);
    /* Makes the program that fill and fill_bwd pass to the backend for a table (kernels/expr_code.h); the
     * caller frees it. NULL: there is none. */
    enum pw_code (*code)(const void *opts, const struct pw_config *cfg, enum pw_pe_table which,
                         struct pw_expr_code **out, struct pw_err *err);
};

/* Writes the two parameters of a projection for TERMS (params): names and first values of fox, biases `open`.
 */
void pw_pe_gate_params(struct pw_pe_param out[2], const struct pw_config *cfg, float open);
/* The table of n contextual positions: name and first values of cope. */
struct pw_pe_param pw_pe_context_param(const struct pw_config *cfg, int n);
/* The parameter of a projection for M MIXES: name and first values of inkling. */
struct pw_pe_param pw_pe_mix_param(const struct pw_config *cfg, int M);

extern const struct pw_pe *const pw_pes[]; /* NULL-terminated */
/* Checks an encoding's options against each other and against the model (check, needs_mask), and its tune
 * settings. */
enum pw_code pw_pe_check(const struct pw_pe_use_opts *use, const struct pw_config *cfg, struct pw_err *err);
/* Finds an encoding by name or alias, case-insensitively; NULL if there is none. */
const struct pw_pe *pw_pe_find(const char *name);

/* Are both the same encoding, perhaps with other options? Formulas have a descriptor for each set of values.
 */
bool pw_pe_alike(const struct pw_pe *a, const struct pw_pe *b);
/* Returns true if queries have gains, of the encoding or of tune's logn. */
bool pw_pe_gains(const struct pw_pe_use_opts *use);
/* Returns true if the encoding has trained parameters. */
bool pw_pe_learns(const struct pw_pe *pe);
/* Returns the uses (enum pw_pe_use) to which a table belongs. */
unsigned pw_pe_use_of(enum pw_pe_table which);
/* Returns true if the encoding computes this table from learned parameters. */
bool pw_pe_computes(const struct pw_pe *pe, enum pw_pe_table which);
/* Returns true if the rows that it adds to embeddings are trained parameters. */
bool pw_pe_learns_rows(const struct pw_pe *pe);
/* Returns the tables of one layer: the same memory, without strides. Only `t` itself is freed. */
struct pw_pe_tables pw_pe_tables_at(const struct pw_pe_tables *t, int layer);
/* Returns the bias of head h on a query and a key at these positions, in layer 0 unless t is of one layer.
 * The tables must have a bias. */
float pw_pe_bias_at(const struct pw_pe_tables *t, int h, int query, int key);

/* Returns true if an added row, or a rotation, depends on the sequence length. Training then reveals the
 * answer's length to a causal model. In decoding a new token can change the rows of all earlier ones. */
bool pw_pe_uses_length(const struct pw_pe *pe);
/* Returns true if an added row does: then every new token changes earlier rows, and no key can be cached. */
bool pw_pe_adds_by_length(const struct pw_pe *pe);
/* Returns the row for position pos of a sequence of length l. */
int pw_pe_row(enum pw_pe_by by, int pos, int l);
/* The number of added tables, and their width W in a model of width C. */
int pw_pe_adds(const struct pw_pe *pe);
int pw_pe_add_width(const struct pw_pe *pe, int C);
/* Returns where learned table k begins in the parameter, in entries. */
size_t pw_pe_add_at(const struct pw_pe *pe, const struct pw_config *cfg, int k);
/* Writes out [l,C], the rows added to a sequence of length l, from tables [.,W]. */
void pw_pe_compose(const struct pw_pe *pe, float *out, const float *const tables[PW_PE_ADDS], int l, int C);

/* Settings that change a trained encoding in place: tune.c. */
struct pw_pe_tune {
    float offset;      /* added to all positions */
    float stretch;     /* factor on positions and distances; 1/s is linear interpolation by s */
    float gain;        /* factor on a fixed bias or on slopes: alibi, grape */
    float temperature; /* divides q.k, not the encoding's bias */
    int logn;          /* from this length on q.k grows with the log of the number of keys; 0: off */
};
extern const struct pw_opt pw_pe_tune_opts[];

/* An encoding together with its options. */
struct pw_pe_use_opts {
    const struct pw_pe *pe;
    struct pw_pe_tune tune;
    union {
        char bytes[PW_PE_OPTS_MAX];
        double align;
    } o;
};

/* Parses "t5", "t5 buckets=8" or "t5(buckets=8,distance=16)" into *use; cfg resolves defaults. A name that is
 * no built-in encoding is looked for among the formula files (model/expr/library.h). "expr 'FORMULA' a=2
 * as=NAME" is a formula, its options, and the name under which it is shown. A bad name or value is PW_EUSER
 * with one line of message, and *use is unchanged. */
enum pw_code pw_pe_parse(struct pw_pe_use_opts *use, const char *text, const struct pw_config *cfg,
                         struct pw_err *err);
/* The same, but asks no model: unset defaults of a model stay open, and no value is checked against it. */
enum pw_code pw_pe_read(struct pw_pe_use_opts *use, const char *text, struct pw_err *err);
/* Sets the encoding of *use to "expr", which the formula in text defines (model/expr/expr.h). Fails if it is
 * no formula, with the column. Its other options are unchanged. */
enum pw_code pw_pe_formula(struct pw_pe_use_opts *use, const char *text, struct pw_err *err);
/* Sets the name under which a formula is shown. */
enum pw_code pw_pe_formula_name(struct pw_pe_use_opts *use, const char *name, struct pw_err *err);
/* Builds the formula for the values of its options, after one was set. Other encodings are unchanged. */
enum pw_code pw_pe_formula_settle(struct pw_pe_use_opts *use, struct pw_err *err);
/* Appends "t5 buckets=8 distance=16", options resolved. A formula from a file is written in full, so the text
 * can be parsed where the file is not: "expr 'FORMULA' a=2 as=kerple". */
void pw_pe_print(const struct pw_pe_use_opts *use, struct pw_str *out);
/* Returns the trained length that a formula uses as L; 0: it is no formula, or does not read L. */
int pw_pe_trained(const struct pw_pe_use_opts *use);

/* A learned parameter of a formula: layers x heads copies (1: all share it) of `size` numbers, one after the
 * other in the model's parameters, those of a layer together. A copy may have numbers of each channel, pair
 * or function of a mix, one after the other. */
struct pw_pe_formula_param {
    const char *name;
    int layers, heads, size;
    bool channels, pairs, mixes; /* at most one is true */
};
/* Lists the learned parameters of a formula in the order of the model's parameters; returns their number, 0
 * if the encoding is no formula. */
int pw_pe_formula_params(const struct pw_pe_use_opts *use, const struct pw_config *cfg,
                         struct pw_pe_formula_param out[PW_PE_PARAMS]);

/* Returns the same encoding with every option at the value in effect, none at "as the model has it". */
struct pw_pe_use_opts pw_pe_settled(const struct pw_pe_use_opts *use, const struct pw_config *cfg);
/* The inverse: an option whose value equals its default in effect is set to the default again, so that it
 * follows when the model's shape changes. */
void pw_pe_unsettle(struct pw_pe_use_opts *use, const struct pw_config *cfg);

/* Sets one option from "option=value"; word is modified. */
enum pw_code pw_pe_set_option(struct pw_pe_use_opts *use, char *word, struct pw_err *err);
/* Applies "base=500 offset=3", options of the encoding or of tune, to *use, and checks the result. On failure
 * *use is unchanged. */
enum pw_code pw_pe_turn(struct pw_pe_use_opts *use, const char *text, const struct pw_config *cfg,
                        struct pw_err *err);
/* Checks that the tune settings make sense for the encoding: part of pw_pe_check. */
enum pw_code pw_pe_tune_check(const struct pw_pe_use_opts *use, const struct pw_config *cfg,
                              struct pw_err *err);
/* Returns the factor on the query at a position if logn is set. */
float pw_pe_query_gain(const struct pw_pe_tune *t, int pos);
/* Returns the stretched distance that the encoding's index takes. */
int pw_pe_stretched(const struct pw_pe_use_opts *use, int distance);

/* T5's bucket of a distance (Raffel et al. 2020), in the integer form of pe/t5.c. */
int pw_t5_bucket(int distance, int buckets, int max_distance);
/* ALiBi's slope of head h (from 0) of H (Press et al. 2022), for any number of heads. */
double pw_alibi_slope(int h, int H);
/* Rotary's frequency of pair i in a rotated width of dims (Su et al. 2021), in radians per position. */
double pw_rotary_frequency(int i, int dims, double base);

#endif
