/* fuzz_gguf.c - fuzz target of the GGUF header reader, and of its metadata as a config. An accepted file has
 * all of its tensors' rows inside. Mutations begin with the small models of tests/golden/gguf. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/gguf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count_bytes(void *arg, const char *text, size_t n)
{
    size_t *sum = arg;
    for (size_t i = 0; i < n; i++)
        *sum += (unsigned char)text[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pw_gguf g;
    struct pw_err err = {.msg = ""};
    char *copy = malloc(size + 1); /* of this size, so that a sanitizer sees reads beyond it */
    float row[256];
    size_t sum = 0;

    if (copy == NULL)
        return 0;
    memcpy(copy, data, size);
    enum pw_code code = pw_gguf_open(&g, copy, size, "it", &err);
    if (code != PW_OK && (err.msg[0] == '\0' || strchr(err.msg, '\n') != NULL))
        abort();
    for (int i = 0; i < g.n_values; i++) {
        double x;
        pw_gguf_strings(&g.values[i], count_bytes, &sum);
        for (uint64_t k = 0; k < g.values[i].n && k < 64; k++)
            (void)pw_gguf_number(&g.values[i], k, &x);
    }
    for (int i = 0; i < g.n_tensors; i++) {
        const struct pw_number *t = &pw_numbers[g.tensors[i].type];
        pw_number_read(g.tensors[i].type, g.tensors[i].data, t->values, row);
        pw_number_read(g.tensors[i].type, (const char *)g.tensors[i].data + g.tensors[i].bytes - t->bytes,
                       t->values, row);
    }
    pw_gguf_close(&g);
    free(copy);
    return 0;
}
