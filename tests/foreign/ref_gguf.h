/* ref_gguf.h - writes GGUF files, so that tests need none in the repository. */
#ifndef PW_REF_GGUF_H
#define PW_REF_GGUF_H
#include <stdint.h>

#include "base/text.h"
#include "ref_foreign.h"

/* A file that is being made; {0} begins. */
struct ref_gguf {
    struct pw_str values, infos, data;
    uint64_t n_values, n_tensors;
};

void ref_gguf_text(struct ref_gguf *g, const char *key, const char *text);
void ref_gguf_u32(struct ref_gguf *g, const char *key, uint32_t x);
void ref_gguf_f32(struct ref_gguf *g, const char *key, float x);
/* Adds a tensor [rows,cols] in F32; rows 0: a vector. */
void ref_gguf_tensor(struct ref_gguf *g, const char *name, int64_t rows, int64_t cols, const float *values);
/* Writes the file, and frees what was added. */
void ref_gguf_write(struct ref_gguf *g, const char *path);

/* Adds a case with the family llama, as llama.cpp's converter writes it: shape, base and weights, with pairs
 * of q and k side by side. */
void ref_gguf_llama(struct ref_gguf *g, const struct ref_family *x, const char *name);

#endif
