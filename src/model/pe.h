/* pe.h - positional encodings: each fills tables, and the kernels know only tables (ARCHITECTURE.md).
 *
 * A new encoding is one file in model/pe/ and one line in pe.c. Its descriptor says which tables it uses;
 * build computes the fixed ones on the host in double precision (base/maths.h); a table of learned entries
 * names its parameter and, where several entries share one, the index map: the backend gathers and scatters.
 * Arithmetic of its own on parameters of its own shapes is an operation of the backend, which fill calls.
 *
 * What is added to the embeddings comes from one table or from two, side by side or summed up. A row is
 * chosen by the position, or by what needs the length l of the whole sequence, which a causal model can't
 * know: pw_pe_uses_length. Where a batch has sequences of several lengths each has its own; when decoding, l
 * is what there is so far. */
#ifndef PW_PE_H
#define PW_PE_H
#include "base/opt.h"
#include "kernels/backend.h"
#include "model/config.h"

#define PW_PE_OPTS_MAX 64
#define PW_PE_ALIASES  6

enum pw_pe_use {
    PW_PE_ADDED = 1,    /* rows added to the embeddings */
    PW_PE_ROTATION = 2, /* rotation of q and k */
    PW_PE_BIAS = 4,     /* bias on the scores by signed distance */
    PW_PE_KEYS = 8,     /* relative keys, for each layer, by clipped distance */
    PW_PE_DENSE = 16,   /* bias on the scores by the positions of query and key */
    PW_PE_BIASES = PW_PE_BIAS | PW_PE_DENSE,
};

/* By what a position of a sequence of l finds its row in a table that is added. */
enum pw_pe_by {
    PW_PE_NO_TABLE,
    PW_PE_BY_POSITION, /* pos */
    PW_PE_BY_REVERSE,  /* l - 1 - pos */
    PW_PE_BY_LENGTH,   /* l - 1: row r is for length r + 1 */
};
enum { PW_PE_ADDS = 2 }; /* tables at most */

/* Fixed tables for P positions, host memory, zeroed before build. Those that the encoding doesn't use are
 * NULL. */
struct pw_pe_tables {
    int P;
    double from, step; /* what is for position r is for from + r * step; distances are times step: tune.c */
    float *add[PW_PE_ADDS]; /* [P,W]; W is C, or C/2 where two stand side by side */
    float *added;           /* [P,C] what of them is added to a sequence of P; not for build */
    float *cosine, *sine;   /* [P,pairs] */
    float *gain;            /* [P] what queries are multiplied by: tune.c, logn */
    float *bias;  /* [H,2P-1], entry P-1+r for distance r = query - key; the causal half has r >= 0 */
    float *dense; /* [H,P,P], entry (h, query, key); 0 where the mask hides the key */
    float *keys;  /* [L,key_rows,D] relative keys, rows as pw_key_row says; learned, whatever P */
    int key_rows, reach;
};

/* A learned tensor "pe.NAME" of an encoding with arithmetic of its own; rows 0: a vector. Its first values
 * are normal with deviation std, or where that is 0 all of this value. */
enum { PW_PE_PARAMS = 6 }; /* of one encoding at most */
struct pw_pe_param {
    const char *name;
    int rows, cols;
    float std, value;
};

/* What such arithmetic has before it: of P positions, on a backend. */
struct pw_pe_use_opts;
struct pw_pe_pass {
    const struct pw_pe_use_opts *use;
    const struct pw_config *cfg;
    const struct pw_backend_ops *ops;
    struct pw_ctx *c;
    int P;
};

struct pw_pe {
    const char *name, *summary;
    const char *source;                     /* paper and equation */
    const char *aliases[PW_PE_ALIASES + 1]; /* other names by which it is found; NULL-terminated */
    const struct pw_opt *opts;              /* of the encoding's own struct, or NULL */
    size_t opts_size;                       /* at most PW_PE_OPTS_MAX */
    unsigned uses;                          /* enum pw_pe_use */
    enum pw_pe_by by[PW_PE_ADDS];           /* ADDED: the tables; the second is often none */
    bool halves;                            /* of the columns each has one; else both have all */

    /* Replaces defaults that depend on the model (t5: 8/16 for contexts up to 256). NULL where there are
     * none. choice: the rule in words, for what the bare name means: "t5 alone is 8/16 up to ..."; NULL: the
     * bare name is the same in all models but those of released code. */
    void (*resolve)(void *opts, const struct pw_config *cfg);
    const char *choice;
    enum pw_code (*check)(const void *opts, const struct pw_config *cfg, struct pw_err *err);
    /* Replaces values that mean "as the model has it" (rotary: dims=0) by what runs, for files that others
     * read. NULL: there are none. */
    void (*settle)(void *opts, const struct pw_config *cfg);
    /* Which rule the same options stand for in this model, where an earlier version had another: a file of
     * weights says it, and one of another rule is refused. 0, and NULL: the first one. */
    int (*rule)(const struct pw_config *cfg);

    /* Rotation: number of pairs and pairing. */
    int (*pairs)(const void *opts, const struct pw_config *cfg);
    enum pw_pairing (*pairing)(const void *opts);

    void (*build)(const void *opts, const struct pw_config *cfg,
                  struct pw_pe_tables *t); /* NULL: nothing fixed */

    /* One learned parameter: pe.NAME [rows, columns], shared by all layers, but of KEYS one for each:
     * [L, rows, columns]. rows 0: none. ADDED: the tables, one below the other, context rows each, columns =
     * W. BIAS: columns = H and the row of distance r is index(r). r is negative only without the causal mask:
     * then the key comes after the query, and its rows are the last ones of the parameter, which ascend with
     * -r as the first ones do with r.
     * KEYS: columns = D, rows and their order as pw_key_rows and pw_key_row (kernels/backend.h) say of this
     * reach. */
    const char *param; /* "table", "bias", "keys"; NULL: none */
    int (*param_rows)(const void *opts, const struct pw_config *cfg);
    float init_std;
    int (*index)(const void *opts, const struct pw_config *cfg, int distance);
    int (*reach)(const void *opts);

    /* Or a DENSE bias that follows from parameters by arithmetic of its own. params: which, and how many.
     * fill makes the bias [H,P,P] of param, which has them one behind the other; fill_bwd adds to d_param and
     * uses up d_bias [L,H,P,P], one for each layer. The backend's memory, any worker. NULL: not so. */
    int (*params)(const void *opts, const struct pw_config *cfg, struct pw_pe_param *out);
    void (*fill)(const struct pw_pe_pass *x, float *bias, const float *param);
    void (*fill_bwd)(const struct pw_pe_pass *x, float *d_param, float *d_bias, const float *param);
};

extern const struct pw_pe *const pw_pes[]; /* NULL-terminated */
/* The encoding with this name or alias, whatever the case of its letters; NULL: there is none. */
const struct pw_pe *pw_pe_find(const char *name);

/* Has it parameters that are trained? */
bool pw_pe_learns(const struct pw_pe *pe);
/* A head's bias on a query and a key by their positions, where the tables have one. */
float pw_pe_bias_at(const struct pw_pe_tables *t, int h, int query, int key);

/* Does a row depend on how long the sequence is? Then training tells a causal model the length of the answer,
 * and when decoding every new token changes what was added to all before it: no key can be kept. */
bool pw_pe_uses_length(const struct pw_pe *pe);
/* The row for position pos of a sequence of l. */
int pw_pe_row(enum pw_pe_by by, int pos, int l);
/* How many tables are added, and their width W in a model of width C. */
int pw_pe_adds(const struct pw_pe *pe);
int pw_pe_add_width(const struct pw_pe *pe, int C);
/* Where learned table k begins in the parameter, in entries. */
size_t pw_pe_add_at(const struct pw_pe *pe, const struct pw_config *cfg, int k);
/* out [l,C] = what is added to a sequence of l, by tables [.,W]. */
void pw_pe_compose(const struct pw_pe *pe, float *out, const float *const tables[PW_PE_ADDS], int l, int C);

/* What can be turned on an encoding without training it anew: tune.c. */
struct pw_pe_tune {
    float offset;      /* of all positions */
    float stretch;     /* of positions and distances; 1/s is linear interpolation by s */
    float gain;        /* on a fixed bias: ALiBi's slopes times this */
    float temperature; /* of q.k, beside the encoding's bias */
    int logn;          /* length from which on q.k grows with the logarithm of the keys; 0: it doesn't */
};
extern const struct pw_opt pw_pe_tune_opts[];

/* An encoding with its options. */
struct pw_pe_use_opts {
    const struct pw_pe *pe;
    struct pw_pe_tune tune;
    union {
        char bytes[PW_PE_OPTS_MAX];
        double align;
    } o;
};

/* Parses "t5", "t5 buckets=8", "t5(buckets=8,distance=16)"; what: for messages. cfg resolves defaults. */
enum pw_code pw_pe_parse(struct pw_pe_use_opts *use, const char *text, const struct pw_config *cfg,
                         struct pw_err *err);
/* "t5 buckets=8 distance=16", options resolved. */
void pw_pe_print(const struct pw_pe_use_opts *use, struct pw_str *out);

/* The same encoding with the options that run, none of which means "as the model has it". */
struct pw_pe_use_opts pw_pe_settled(const struct pw_pe_use_opts *use, const struct pw_config *cfg);
/* And back: options that run as they would by default get their default, so that they follow when the model's
 * shape changes. */
void pw_pe_unsettle(struct pw_pe_use_opts *use, const struct pw_config *cfg);

/* "option=value", which is cut up. */
enum pw_code pw_pe_set_option(struct pw_pe_use_opts *use, char *word, struct pw_err *err);
/* Options of the encoding, or of tune, as "base=500 offset=3", over what use has. On failure it is as before.
 */
enum pw_code pw_pe_turn(struct pw_pe_use_opts *use, const char *text, const struct pw_config *cfg,
                        struct pw_err *err);
/* Checks tune against what the encoding does. */
enum pw_code pw_pe_tune_check(const struct pw_pe_use_opts *use, const struct pw_config *cfg,
                              struct pw_err *err);
/* What the query at a position is multiplied by where logn is set. */
float pw_pe_query_gain(const struct pw_pe_tune *t, int pos);
/* A distance as the encoding's index takes it. */
int pw_pe_stretched(const struct pw_pe_use_opts *use, int distance);

/* T5's bucket of a distance (Raffel et al. 2020; integer form, see pe/t5.c). */
int pw_t5_bucket(int distance, int buckets, int max_distance);
/* ALiBi's slope of head h (from 0) of H (Press et al. 2022; any number of heads). */
double pw_alibi_slope(int h, int H);
/* Rotary's frequency of pair i of a rotated width of dims. */
double pw_rotary_frequency(int i, int dims, double base);

#endif
