/* pe.h - positional encodings: each fills tables, and the kernels know only tables (DESIGN section 4).
 *
 * A new encoding is one file in model/pe/ and one line in pe.c. Its descriptor says which tables it uses;
 * build computes the fixed ones on the host in double precision (base/maths.h); a table of learned entries
 * names its parameter and, where several entries share one, the index map: the backend gathers and scatters.
 */
#ifndef PW_PE_H
#define PW_PE_H
#include "base/opt.h"
#include "kernels/backend.h"
#include "model/config.h"

#define PW_PE_OPTS_MAX 64

enum pw_pe_use {
    PW_PE_ADDED = 1,    /* rows added to the embeddings */
    PW_PE_ROTATION = 2, /* rotation of q and k */
    PW_PE_BIAS = 4,     /* bias on the scores by signed distance */
    PW_PE_KEYS = 8,     /* relative keys, for each layer, by clipped distance */
};

/* Fixed tables for P positions, host memory, zeroed before build. Those that the encoding doesn't use are
 * NULL. */
struct pw_pe_tables {
    int P;
    float *added;         /* [P,C] */
    float *cosine, *sine; /* [P,pairs] */
    float *bias;          /* [H,2P-1], entry P-1+r for distance r = query - key; the causal half has r >= 0 */
    float *keys;          /* [L,key_rows,D], rows as pw_key_row says; learned, and the same for every P */
    int key_rows, reach;
};

struct pw_pe {
    const char *name, *summary;
    const char *source;        /* paper and equation */
    const struct pw_opt *opts; /* of the encoding's own struct, or NULL */
    size_t opts_size;          /* at most PW_PE_OPTS_MAX */
    unsigned uses;             /* enum pw_pe_use */

    /* Replaces defaults that depend on the model (t5: 8/16 for contexts up to 256). NULL where there are
     * none. */
    void (*resolve)(void *opts, const struct pw_config *cfg);
    enum pw_code (*check)(const void *opts, const struct pw_config *cfg, struct pw_err *err);

    /* Rotation: number of pairs and pairing. */
    int (*pairs)(const void *opts, const struct pw_config *cfg);
    enum pw_pairing (*pairing)(const void *opts);

    void (*build)(const void *opts, const struct pw_config *cfg,
                  struct pw_pe_tables *t); /* NULL: nothing fixed */

    /* One learned parameter: pe.NAME [rows, columns], shared by all layers, but of KEYS one for each:
     * [L, rows, columns]. rows 0: none. ADDED: row = position, columns = C. BIAS: columns = H and the row of
     * distance r is index(r); r is negative only without the causal mask. KEYS: columns = D, rows and their
     * order as pw_key_rows and pw_key_row (kernels/backend.h) say of this reach. */
    const char *param; /* "table", "bias", "keys"; NULL: none */
    int (*param_rows)(const void *opts, const struct pw_config *cfg);
    float init_std;
    int (*index)(const void *opts, int distance);
    int (*reach)(const void *opts);
};

extern const struct pw_pe *const pw_pes[]; /* NULL-terminated */
const struct pw_pe *pw_pe_find(const char *name);

/* An encoding with its options. */
struct pw_pe_use_opts {
    const struct pw_pe *pe;
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

/* T5's bucket of a distance (Raffel et al. 2020; integer form, see pe/t5.c). */
int pw_t5_bucket(int distance, int buckets, int max_distance);
/* ALiBi's slope of head h (from 0) of H (Press et al. 2022; any number of heads). */
double pw_alibi_slope(int h, int H);
/* Rotary's frequency of pair i of a rotated width of dims. */
double pw_rotary_frequency(int i, int dims, double base);

#endif
