/* short.c - a fuzzer without coverage, for any compiler. It runs a fixed number of inputs, derived from valid
 * ones by pseudorandom mutations. The inputs are the same in every run. libFuzzer, with the same targets,
 * searches longer and uses coverage. Both report a failure as an abort or a sanitizer's message.
 *
 * usage: fuzz_short_NAME RUNS [FILE...]
 * The pool of inputs starts with the empty input and the files. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { POOL = 64, MOST = 1 << 18 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
/* Optional functions of a target. */
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);
__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

static struct {
    uint8_t *data;
    size_t size;
} pool[POOL];
static int n_pool;
static uint64_t state = 0x9e3779b97f4a7c15u;

static uint64_t draw(uint64_t below)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1du % below;
}

static void keep(const uint8_t *data, size_t size)
{
    int at = n_pool < POOL ? n_pool++ : (int)draw(POOL);
    free(pool[at].data);
    pool[at].data = pw_alloc(size + 1, 1);
    memcpy(pool[at].data, data, size);
    pool[at].size = size;
}

static void read_file(const char *path)
{
    static uint8_t bytes[MOST];
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        perror(path);
        exit(2);
    }
    keep(bytes, fread(bytes, 1, sizeof bytes, f));
    fclose(f);
}

/* Repeat a part of the input elsewhere, or remove it. */
static size_t move(uint8_t *data, size_t size, size_t most)
{
    size_t from = (size_t)draw(size), n = (size_t)draw(size - from < 64 ? size - from : 64) + 1;
    size_t to = (size_t)draw(size + 1);
    if (draw(2) == 0 || size + n > most) {
        memmove(data + from, data + from + n, size - from - n);
        return size - n;
    }
    uint8_t copy[64];
    memcpy(copy, data + from, n);
    memmove(data + to + n, data + to, size - to);
    memcpy(data + to, copy, n);
    return size + n;
}

/* Apply one random change. A target's own mutator calls this, too. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most)
{
    static const char *const words[] = {"0",    "-1", "99999999999999999999", "nan", "1e308", "=", "\"", ";",
                                        "\xff", "("};
    const char *word = words[draw(sizeof words / sizeof *words)];
    size_t n = strlen(word);
    switch (size > 0 ? draw(5) : 0) {
    case 0:
        if (size + n > most)
            return size;
        size_t at = (size_t)draw(size + 1);
        memmove(data + at + n, data + at, size - at);
        memcpy(data + at, word, n);
        return size + n;
    case 1: data[draw(size)] ^= (uint8_t)(1u << draw(8)); return size;
    case 2: data[draw(size)] = (uint8_t)draw(256); return size;
    case 3: return 1 + (size_t)draw(size);
    default: return move(data, size, most);
    }
}

int main(int argc, char **argv)
{
    static uint8_t data[MOST];
    long runs = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    if (runs < 1) {
        fprintf(stderr, "usage: %s RUNS [FILE...]\n", argv[0]);
        return 2;
    }
    if (LLVMFuzzerInitialize != NULL)
        LLVMFuzzerInitialize(&argc, &argv);
    keep(data, 0);
    for (int i = 2; i < argc; i++)
        read_file(argv[i]);
    for (long run = 0; run < runs; run++) {
        int from = (int)draw((uint64_t)n_pool);
        size_t size = pool[from].size;
        memcpy(data, pool[from].data, size);
        for (uint64_t changes = 1 + draw(4); changes > 0; changes--)
            size = LLVMFuzzerCustomMutator != NULL
                       ? LLVMFuzzerCustomMutator(data, size, MOST, (unsigned)draw(1u << 31))
                       : LLVMFuzzerMutate(data, size, MOST);
        /* exact size, so that ASan detects reads beyond the end */
        uint8_t *exact = pw_alloc(size + (size == 0), 1);
        memcpy(exact, data, size);
        LLVMFuzzerTestOneInput(exact, size);
        free(exact);
        if (draw(8) == 0)
            keep(data, size);
    }
    for (int i = 0; i < n_pool; i++)
        free(pool[i].data);
    printf("%ld runs\n", runs);
    return 0;
}
