/* fuzz_tokenizer.c - fuzz target of tokenizers: arbitrary bytes are opened as a tokenizer.json or GGUF, which
 * then encodes and decodes a text; and arbitrary bytes are a text for a tokenizer that has every kind of
 * step.
 *
 * The first byte chooses: a digit is a text, all else belongs to the file. A text must come back as the bytes
 * of its ids if the tokenizer changes nothing.
 *
 * Arbitrary changes hardly ever leave valid JSON. So three mutations of four put another value in the place
 * of a text or a number, one of them in a valid file.
 *
 * cmake -B build/fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DPEWTER_FUZZ=ON && ninja -C build/fuzz
 * fuzz_tokenizer && build/fuzz/tests/fuzz/fuzz_tokenizer -max_len=20000 tests/golden/tokenizers */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tokens/tokens.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

enum { FILES = 4 };

static struct pw_tokens *known[FILES];
static char *file; /* a valid one, with every kind of step */
static size_t file_bytes;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char *const names[FILES] = {"gpt2", "llama2", "metaspace", "mixed"};
    struct pw_err err = {.msg = ""};
    (void)argc;
    (void)argv;
    for (int i = 0; i < FILES; i++) {
        char path[512];
        snprintf(path, sizeof path, PEWTER_SOURCE_DIR "/tests/golden/tokenizers/%s.json", names[i]);
        if (pw_tokens_open(&known[i], path, &err) != PW_OK) {
            fprintf(stderr, "%s\n", err.msg);
            exit(2);
        }
    }
    if (pw_file_read(PEWTER_SOURCE_DIR "/tests/fuzz/tokenizer.json", 1 << 20, &file, &file_bytes, &err) !=
        PW_OK) {
        fprintf(stderr, "%s\n", err.msg);
        exit(2);
    }
    return 0;
}

static void check_failure(enum pw_code code, const struct pw_err *err)
{
    if (code != PW_OK && (err->msg[0] == '\0' || strchr(err->msg, '\n') != NULL))
        abort();
}

/* Encodes and decodes a text. exact: the bytes of the ids are the text. */
static void use_tokenizer(const struct pw_tokens *t, const char *text, size_t n, bool exact)
{
    struct pw_token_list list = {0};
    struct pw_str out = {0}, bytes = {0};
    struct pw_err err = {.msg = ""};
    enum pw_code code = pw_tokens_encode(t, text, n, &list, &err);
    check_failure(code, &err);
    for (size_t i = 0; i < list.n; i++) {
        size_t size;
        if (list.ids[i] < 0 || list.ids[i] >= pw_tokens_count(t))
            abort();
        const char *s = pw_tokens_bytes(t, list.ids[i], &size);
        pw_str_put(&bytes, s, size);
    }
    if (code == PW_OK && exact && (bytes.len != n || memcmp(pw_str_text(&bytes), text, n) != 0))
        abort();
    code = pw_tokens_decode(t, list.ids, list.n, n % 2 == 0, &out, &err);
    check_failure(code, &err);
    if (!pw_utf8_valid(pw_str_text(&out), out.len))
        abort();
    pw_str_fini(&out);
    pw_str_fini(&bytes);
    pw_token_list_fini(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char text[] = " The naïve 猫, 12345\n\n  don't <s>\t\u0301🙂 aab";
    struct pw_tokens *t;
    struct pw_err err = {.msg = ""};
    if (size > 0 && data[0] >= '0' && data[0] < '0' + FILES) {
        use_tokenizer(known[data[0] - '0'], (const char *)data + 1, size - 1, data[0] == '0');
        return 0;
    }
    enum pw_code code = pw_tokens_open_text(&t, (const char *)data, size, "it", &err);
    check_failure(code, &err);
    if ((code == PW_OK) != (t != NULL))
        abort();
    for (int id = 0; t != NULL && id < pw_tokens_count(t); id++) {
        char label[PW_TOKENS_LABEL];
        pw_tokens_label(t, id, label);
        if (strlen(label) == 0 || strlen(label) >= sizeof label || !pw_utf8_valid(label, strlen(label)))
            abort();
    }
    if (t != NULL)
        use_tokenizer(t, text, sizeof text - 1, false);
    pw_tokens_close(t);
    return 0;
}

/* Finds a text or a number that begins at or behind byte `at`, and its end. */
static bool find_value(const uint8_t *data, size_t size, size_t at, size_t *from, size_t *to)
{
    while (at < size && data[at] != '"' && !(data[at] >= '0' && data[at] <= '9'))
        at++;
    *from = at;
    if (at == size)
        return false;
    if (data[at] != '"') {
        while (at < size && data[at] >= '0' && data[at] <= '9')
            at++;
    } else {
        for (at++; at < size && data[at] != '"'; at++)
            at += data[at] == '\\';
        at++;
    }
    *to = at < size ? at : size;
    return true;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    static const char *const values[] = {"0",
                                         "1",
                                         "7",
                                         "9",
                                         "true",
                                         "null",
                                         "\"a\"",
                                         "\"ab\"",
                                         "\"_\"",
                                         "\"?\"",
                                         "\"<0x61>\"",
                                         "\"Split\"",
                                         "\"ByteLevel\"",
                                         "\"Metaspace\"",
                                         "\"Sequence\"",
                                         "\"Replace\"",
                                         "\"Strip\"",
                                         "\"Fuse\"",
                                         "\"NFD\"",
                                         "\"Removed\"",
                                         "\"MergedWithPrevious\"",
                                         "\"first\"",
                                         "\"never\"",
                                         "\"Regex\"",
                                         "\"String\"",
                                         "\"\\\\s*\"",
                                         "\"(?i:a)|\\\\p{L}+\"",
                                         "\"a*\"",
                                         "\"(a|a)*[bc]\"",
                                         "\"(?<=a)\\\\W\"",
                                         "\".$\"",
                                         "\"\\u00e9\\ud83d\\ude00\"",
                                         "\" \""};
    size_t from, to;
    if (seed % 4 == 3 && file_bytes <= max_size) { /* begin again */
        memcpy(data, file, file_bytes);
        size = file_bytes;
    }
    if (seed % 4 == 0 || size == 0 || !find_value(data, size, seed / 4 % size, &from, &to))
        return LLVMFuzzerMutate(data, size, max_size);
    const char *value = values[seed / 4 / 1000 % (sizeof values / sizeof *values)];
    size_t n = strlen(value);
    if (size - (to - from) + n > max_size)
        return size;
    memmove(data + from + n, data + to, size - to);
    memcpy(data + from, value, n);
    return size - (to - from) + n;
}
