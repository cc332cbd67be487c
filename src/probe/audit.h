/* audit.h - private to the probe audit: what an encoding does in each layer, as numbers. Once as the model
 * runs it (audit_runs.c), once as the model's file asks for it (audit_asks.c). Both are in the terms of the
 * file: rows of a head are counted as its tensors have them. Lab thread. */
#ifndef PW_AUDIT_H
#define PW_AUDIT_H
#include <cjson/cJSON.h>

#include "probe/probe.h"

enum { PW_AUDIT_PAIRS = 512, PW_AUDIT_HEADS = 512 };

/* One layer. NaN: it has no such value. */
struct pw_audit_layer {
    int n;                                             /* pairs of rows that rotate */
    double w[PW_AUDIT_PAIRS];                          /* their frequencies, in radians per token */
    int first[PW_AUDIT_PAIRS], second[PW_AUDIT_PAIRS]; /* the rows of a pair */
    int pair[PW_AUDIT_PAIRS];                          /* runs: number of the pair in the model */
    double gain;                                       /* factor on rotated q and k */
    double offset; /* position of the first token; of a learned table, its row in the file */
    int n_slopes;  /* heads whose bias falls by a slope per token of distance */
    double slope[PW_AUDIT_HEADS];
    int window;     /* keys that a query sees at most; 0: all of the context */
    double scale;   /* factor on q.k */
    double cap;     /* scores are at most this; 0: no cap */
    double base;    /* of the file, without its scaling; NaN: no rotation */
    int dims;       /* of its formula: pair c has base^(-2c/dims) */
    char text[200]; /* of the file: what it asks for, in words */
};

struct pw_audit {
    int layers, heads, head_width;
    struct pw_audit_layer *layer; /* [layers] */
    bool bent;                    /* runs: some angle is not proportional to the position */
    bool other;                   /* runs: it also has parts for which there is no row */
    /* asks: the file */
    bool gguf;
    char family[32]; /* by Hugging Face's names */
};

/* The origin of a model (src/foreign/origin.h), parsed. NULL: the model is from no file. The caller deletes
 * it.
 */
cJSON *pw_audit_origin(const struct pw_model *m);

/* Computes what the settings of an origin ask for in a model of this shape and context, by the formulas of
 * the papers and of transformers, in double precision. It uses no code of src/foreign and no encoding. */
void pw_audit_asks(struct pw_audit *a, const cJSON *origin, const struct pw_config *cfg);
/* Measures the model: tables of its encoding, functions of scores, and scores of one token. window: the
 * largest one that is looked for. origin NULL: rows are pewter's. */
enum pw_code pw_audit_runs(struct pw_audit *a, struct pw_model *m, const cJSON *origin, int window,
                           struct pw_err *err);
int pw_audit_window(const struct pw_audit *a); /* the largest window of its layers; 0: none has one */
/* Frees what pw_audit_asks and pw_audit_runs have allocated. */
void pw_audit_fini(struct pw_audit *a);

/* Adds a remark for each known trap that applies to the file. */
void pw_audit_traps(struct pw_finding *f, const struct pw_audit *asks, const cJSON *origin,
                    const struct pw_config *cfg);

/* Settings of an origin. hf, gguf: names in config.json and in GGUF behind "ARCHITECTURE.", alternatives
 * separated by |; NULL: none. part: another object to look in first; NULL: none. */
const cJSON *pw_audit_item(const cJSON *origin, const cJSON *part, const char *hf, const char *gguf);
double pw_audit_number(const cJSON *origin, const cJSON *part, const char *hf, const char *gguf, double def);
/* The same as a whole number from 0 on; larger ones than 2^20 are 2^20. */
int pw_audit_count(const cJSON *origin, const cJSON *part, const char *hf, const char *gguf, int def);
int pw_audit_whole(double x); /* limits x in the same way */
const char *pw_audit_word(const cJSON *origin, const cJSON *part, const char *hf, const char *gguf,
                          const char *def);
/* Returns the object of rotary settings in config.json; NULL: none. */
const cJSON *pw_audit_rope(const cJSON *origin, bool sliding);

#endif
