/* reader.h - private to src/foreign: how a family reads its config.json, what it says about positions, and
 * where its tensors go. Any thread, one at a time for a reader. */
#ifndef PW_READER_H
#define PW_READER_H
#include "base/err.h"
#include "base/text.h"
#include "model/config.h"
#include <cjson/cJSON.h>
#include <stdbool.h>

enum { PW_ROPE_FACTORS = 128 }; /* most pairs of a table of factors */

/* Scalings of rotary frequencies, by their names in rope_type. */
enum pw_rope_type {
    PW_ROPE_DEFAULT,
    PW_ROPE_LINEAR,
    PW_ROPE_DYNAMIC,
    PW_ROPE_YARN,
    PW_ROPE_LONGROPE,
    PW_ROPE_LLAMA3,
    PW_ROPE_PROPORTIONAL,
    PW_ROPE_FACTORED /* each frequency divided by a factor of the file: GGUF's form of llama3 */
};

/* One set of rotary frequencies. */
struct pw_rope {
    enum pw_rope_type type;
    double base, factor, fraction; /* fraction of a head's entries that rotate */
    double trained;                /* original_max_position_embeddings */
    double low, high;              /* llama3 */
    double fast, slow, gain;       /* yarn; gain: on cos and sin */
    bool truncate;
    int n_long, n_short; /* longrope, factored: entries of the lists; 0: absent */
    double longer[PW_ROPE_FACTORS], shorter[PW_ROPE_FACTORS];
};

enum pw_position_kind { PW_AT_NONE, PW_AT_LEARNED, PW_AT_ROTARY, PW_AT_ALIBI };

/* The positional encoding of a config. */
struct pw_positions {
    enum pw_position_kind kind;
    bool interleaved;
    int most;             /* max_position_embeddings */
    struct pw_rope rope;  /* of layers with full attention */
    struct pw_rope local; /* of sliding layers, if they have another */
    bool has_local;
    int window;                  /* keys that a sliding layer sees; 0: no such layers */
    bool sliding[PW_MAX_LAYERS]; /* layers with that window */
    bool open[PW_MAX_LAYERS];    /* layers without rotation */
    double score_cap;            /* cap * tanh(score / cap); 0: off */
};

struct pw_map_row;

/* The state of reading a config. Readers return values even after a failure; the first failure stays in code
 * and err. */
struct pw_reader {
    const cJSON *o;   /* the object that keys are looked up in */
    const char *what; /* the file, for messages */
    struct pw_err *err;
    enum pw_code code;
    struct pw_config cfg;
    struct pw_positions at;
    bool inverse_layers; /* scores of layer l are divided by l + 1 */
    bool zero_biases;    /* a bias that the file lacks is zero */
    bool plus_one;       /* gains are stored less one */
    cJSON *asked;        /* an object that receives each key that was looked up; NULL: not wanted */
};

/* ---- reader.c. An absent key, and null, give the default. NAN, INT_MIN or NULL as default: the key is
 * required. */
double pw_read_number(struct pw_reader *r, const char *key, double def);
int pw_read_int(struct pw_reader *r, const char *key, int def);
bool pw_read_bool(struct pw_reader *r, const char *key, bool def);
const char *pw_read_text(struct pw_reader *r, const char *key, const char *def);
/* Returns an object or array; NULL: absent. */
const cJSON *pw_read_part(struct pw_reader *r, const char *key);
/* Fails unless ok: "FILE: KEY=VALUE: why". */
void pw_read_need(struct pw_reader *r, bool ok, const char *key, const char *why);
/* Sets an option of the model as the command `model` would. */
void pw_read_set(struct pw_reader *r, const char *option, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Sets the activation from one of Hugging Face's names. */
void pw_read_act(struct pw_reader *r, const char *key, const char *def);
/* Sets norm_eps, unless it is the default of the norm, which must be set before. */
void pw_read_eps(struct pw_reader *r, const char *key, double def);
/* llama.c: sets layers, heads, the gated MLP and its width, and RMS norms. head: as for pw_read_heads. */
void pw_read_llama_block(struct pw_reader *r, int head);
/* Sets heads, kv_heads and head_width from HF's keys. head: the default of head_dim; 0: width / heads. */
void pw_read_heads(struct pw_reader *r, int head);

/* ---- rope.c */
/* Reads rope_parameters, or rope_theta and rope_scaling, nested by layer type or not. base, fraction: the
 * defaults. */
void pw_read_rope(struct pw_reader *r, double base, double fraction);
/* Reads sliding_window, whose null means none, and layer_types. */
void pw_read_sliding(struct pw_reader *r, int def);

/* ---- encode.c */
/* Appends the encoding as arguments of the command pe, for a model of this shape and context. */
void pw_positions_text(const struct pw_positions *at, const struct pw_config *cfg, struct pw_str *out);

/* ---- families */
enum {
    PW_MAP_TRANSPOSED = 1, /* [in,out] in the file */
    PW_MAP_THIRD = 2,      /* one of q, k, v, one below the other in one tensor */
    PW_MAP_BY_HEAD = 4,    /* one of q, k, v of each head, head by head in one tensor */
    PW_MAP_FROM_2 = 8,     /* without the first two rows */
    PW_MAP_ABSOLUTE = 16,  /* the name has no prefix */
    PW_MAP_GAIN = 32,      /* 1 + w if the family stores gains less one */
    PW_MAP_ROTATED = 64,   /* rows of heads that rotate: q, k and their norms */
    PW_MAP_POST = 128      /* only in models with norms of the outputs of attention and MLP */
};

/* Where a tensor of pewter is in the file. `*` stands for the number of the layer; the ending, .weight or
 * .bias, is the same on both sides. part: 0 q, 1 k, 2 v of a fused tensor. */
struct pw_map_row {
    const char *ours, *theirs;
    int how, part;
};

/* A family of models. The rows serve reading and writing: of several with the same `ours`, reading takes the
 * first whose tensor is there, writing the first. */
struct pw_family {
    const char *type;        /* model_type of config.json */
    const char *model_class; /* of transformers, for `architectures` of a written config.json */
    void (*read)(struct pw_reader *r);
    const struct pw_map_row *rows; /* terminated by a NULL name */
    const char *const *prefixes;   /* of names, NULL-terminated; the first that fits counts, or is written */
    const char *const *ignored;    /* patterns of names with * that go into no model; NULL: none */
    /* The key of the config that holds the model, and the family that reads this part alone and is written.
     * NULL: the config is all the model's. */
    const char *part;
    const struct pw_family *of_part;
    bool mlp_bias; /* its config can say that the MLP has biases */
};
extern const struct pw_family *const pw_families[]; /* NULL-terminated */
const struct pw_family *pw_family_find(const char *type);
extern const struct pw_map_row pw_llama_rows[], pw_gguf_rows[];
extern const char *const pw_llama_prefixes[];

#endif
