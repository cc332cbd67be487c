/* fuzz_safetensors.c - fuzz target of the checkpoint reader: arbitrary bytes are opened as a file and loaded
 * into a model.
 *
 * Random bytes hardly ever pass the check of the header's length. So half of the mutations change the JSON of
 * a valid image, whose numbers matter most, and correct the length.
 *
 * cmake -B build/fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DPEWTER_FUZZ=ON && ninja -C build/fuzz
 * fuzz_safetensors && build/fuzz/tests/fuzz/fuzz_safetensors -max_len=20000 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/checkpoint.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

enum { HEADS = 2, WIDTH = 4, CONTEXT = 4, VOCAB = 3 };

static struct pw_model *model;
static struct pw_source_file files[2] = {{.name = "config.json", .bytes = 1}, {.name = "m", .bytes = 2}};
static char path[] = "m/l";
static const struct pw_source_files source = {.path = path, .files = files, .n = 2};

/* One with all tensors, and one that refers to files for its weights. */
static struct image {
    void *bytes;
    size_t n;
} images[2];

static void must(enum pw_code code)
{
    if (code != PW_OK)
        abort();
}

/* Create a small model, and images with everything that an image can contain. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static char a[] = "a", b[] = "b", c[] = "c", task[] = "sort", *vocab[] = {a, b, c};
    static const float table[CONTEXT * WIDTH / HEADS];
    struct pw_config cfg = {0};
    struct pw_checkpoint_info info = {.vocab = vocab, .n_vocab = VOCAB, .task = task, .seed = 1, .step = 2};
    struct pw_pe_use_opts pe;
    struct pw_backend *be = NULL;
    struct pw_err err;
    const struct pw_backend_ops *ops = pw_backend_cpu();

    (void)argc;
    (void)argv;
    pw_opt_defaults(pw_config_opts, &cfg);
    pw_opt_defaults(pw_optim_opts, &info.optim);
    cfg.layers = 1;
    cfg.heads = HEADS;
    cfg.width = WIDTH;
    cfg.ffn = 2;
    cfg.context = CONTEXT;
    cfg.vocab = VOCAB;
    must(pw_config_check(&cfg, &err));
    must(pw_pe_parse(&pe, "t5 buckets=3 distance=4", &cfg, &err));
    must(ops != NULL ? ops->open(&be, 1, &err) : PW_EUSER);
    must(pw_model_create(&model, ops, be, &cfg, &pe, 1, &err));
    must(pw_model_replace_head(model, 0, 1, 1, table, &err));
    must(pw_checkpoint_whole_image(model, &info, &images[0].bytes, &images[0].n, &err));
    for (int i = 0; i < 2; i++)
        memset(files[i].sha, 'a' + i, 64);
    pw_model_set_source(model, &source);
    must(pw_checkpoint_image(model, &info, &images[1].bytes, &images[1].n, &err));
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pw_checkpoint *c;
    struct pw_err err = {.msg = ""};
    struct pw_source_files own = source;
    enum pw_code code = pw_checkpoint_open_bytes(&c, data, size, "it", &err);

    own.pe = true; /* as the model of an open file */
    pw_model_set_source(model, &own);

    if ((code == PW_OK) != (c != NULL))
        abort();
    if (code == PW_OK)
        code = pw_checkpoint_load(c, model, &err);
    if (code != PW_OK && (err.msg[0] == '\0' || strchr(err.msg, '\n') != NULL))
        abort();
    pw_checkpoint_close(c);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    uint64_t header = 0;
    size_t rest, now;

    const struct image *image = &images[seed / 2 % 2];
    if (size < 8 && max_size >= image->n) {
        memcpy(data, image->bytes, image->n);
        return image->n;
    }
    if (size >= 8)
        memcpy(&header, data, 8);
    if (seed % 2 == 0 || size < 8 || header > size - 8)
        return LLVMFuzzerMutate(data, size, max_size);

    rest = size - 8 - header; /* bytes after the header, which is mutated in place and may grow */
    uint8_t *behind = malloc(rest + 1);
    if (behind == NULL)
        return size;
    memcpy(behind, data + 8 + header, rest);
    now = LLVMFuzzerMutate(data + 8, header, max_size - 8 - rest);
    memcpy(data + 8 + now, behind, rest);
    free(behind);
    header = now;
    memcpy(data, &header, 8);
    return 8 + now + rest;
}
