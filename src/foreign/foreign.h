/* foreign.h - models of other programs: Hugging Face's folders (config.json and safetensors) and GGUF files,
 * read into a model of pewter with its encoding, and written again.
 *
 * One thread at a time may use an open model. Failures are PW_EUSER or PW_EIO with one line that names the
 * file, or PW_ENOMEM. */
#ifndef PW_FOREIGN_H
#define PW_FOREIGN_H
#include "model/model.h"
#include "model/source.h"

struct pw_foreign;

/* An open model in short. Texts belong to the open model. */
struct pw_foreign_info {
    const char *family; /* model_type of its config: "llama" */
    /* Its shape and vocabulary; context is the longest that it was made for. Checked. */
    struct pw_config cfg;
    size_t parameters; /* numbers in the tensors of the file that the model takes */
    /* Bytes of a weight in memory where a model has one copy (pw_model_one_copy): 2 if the file has all
     * matrices in one form of 16 bits, else 4. */
    int weight_bytes;
    size_t bytes; /* of all files with weights */
    char sha[65]; /* pw_weights_sha; "": not computed */
    /* All files, config.json included; NULL: without sha. */
    const struct pw_source_files *source;
};

/* Appends the path of a model: `name` itself if that is there or is no name of a model. NAME and ORG/NAME
 * mean the files of that model in Hugging Face's cache on this disk: the folder of its commit, or its only
 * GGUF file. Caches are $HF_HUB_CACHE, $HF_HOME/hub, $XDG_CACHE_HOME/huggingface/hub and
 * ~/.cache/huggingface/hub, in this order. Fails with one line that lists where it looked. Any thread. */
enum pw_code pw_foreign_find(const char *name, struct pw_str *out, struct pw_err *err);

/* Appends the path of a file that belongs to the model at `path`: in this folder, or beside this file. */
void pw_foreign_beside(const char *path, const char *name, struct pw_str *out);

/* Opens PATH: a folder with config.json and weights, a .safetensors file with config.json beside it, or a
 * .gguf file. It reads the configuration, and checks names and shapes of all tensors, but no weights.
 *
 * digest: also begin to compute info's sha and source, which reads all files, in a thread of its own.
 */
enum pw_code pw_foreign_open(struct pw_foreign **out, const char *path, bool digest, struct pw_err *err);
/* Waits for the digest, and notes it as a file that was read (pw_file_note). A re-run of a session compares
 * it, and fails if the file is missing or has changed. A no-op after the first success, and without a digest.
 */
enum pw_code pw_foreign_digest(struct pw_foreign *f, struct pw_err *err);
/* Makes one without tensors for pw_foreign_write, from what a model keeps of its file (pw_model_origin; NULL
 * fails), when the file at `path` is gone. */
enum pw_code pw_foreign_recall(struct pw_foreign **out, const char *path, const char *origin,
                               struct pw_err *err);
void pw_foreign_close(struct pw_foreign *f); /* NULL is a no-op */
const struct pw_foreign_info *pw_foreign_info(const struct pw_foreign *f);

/* Appends the encoding as arguments of the command pe, for a context of at most info's with learned
 * positions. */
void pw_foreign_pe(const struct pw_foreign *f, int context, struct pw_str *out);

/* Checks that cfg, which is info's with another context, and pe fit to the tensors. Then creates a model with
 * them, one tensor after the other, so that besides the model only the largest tensor takes memory. Tensors
 * of pe that the file does not have, those of another encoding, are drawn from seed; and without own_pe all
 * of pe's. The model keeps what the file says about positions as its origin, and if the file was opened with
 * a digest its source (pw_model_source): pw_foreign_digest has then been called. */
enum pw_code pw_foreign_model(struct pw_model **out, struct pw_foreign *f, const struct pw_backend_ops *ops,
                              struct pw_backend *be, const struct pw_config *cfg,
                              const struct pw_pe_use_opts *pe, bool own_pe, uint64_t seed,
                              struct pw_err *err);

/* Writes m, which has the shape of the open model, as a folder that transformers loads: config.json,
 * model.safetensors in float32 with the family's names, and the tokenizer files of a source folder. Reading
 * the folder gives the same parameters bit for bit (a gain below 1/2 that the family stores less one: to
 * rounding). The folder is created if it is missing; each file appears complete or not at all. Besides the
 * model, memory for the largest tensor is taken.
 *
 * The encoding of m may differ from the source's if the family's config can say it: another base, linear,
 * dynamic, yarn, llama3. Otherwise, and if the folder is the source's, the code is PW_EUSER. m must have no
 * step in flight. */
enum pw_code pw_foreign_write(const struct pw_foreign *source, struct pw_model *m, const char *folder,
                              struct pw_err *err);

/* ---- t5_table.c
 *
 * The table of biases by distance of a T5 model, without the model. With `encoder` the second half of the
 * rows is for keys after the query, and each half counts distances as `pe t5` does with half of the buckets.
 */
struct pw_t5_table {
    int buckets, heads;
    int distance; /* relative_attention_max_distance */
    int layer;    /* whose table it is; T5 has one, which all layers share */
    bool encoder;
    float *values; /* [buckets,heads], finite */
};

/* Reads the table from the safetensors or the GGUF file `name`: a folder, a file, or a model in Hugging
 * Face's cache (see pw_foreign_find). config.json, in the folder or beside the file, may be missing, and GGUF
 * has none; its values are then T5's. layer: -1 if there must be only one table, as in T5 and mT5; umT5 has
 * one for each layer. Notes the table itself as a file that was read (pw_file_note), so that a re-run of a
 * session needs no file. The caller frees out with pw_t5_table_fini; on failure it is empty. */
enum pw_code pw_t5_table_read(struct pw_t5_table *out, const char *name, bool encoder, int layer,
                              struct pw_err *err);
void pw_t5_table_fini(struct pw_t5_table *t);

#endif
