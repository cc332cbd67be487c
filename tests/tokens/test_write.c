/* test_write.c - the tokenizer.json that is written from a GGUF file gives the same ids. That transformers
 * reads it with these ids is checked by tests/golden/check_weights.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "ref_lines.h"
#include "tokens/tokens.h"

enum { LINES = 1000 };

static char folder[] = "/tmp/pewter-tokens-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"tokenizer.json", "tokenizer_config.json"};
    char path[64];
    (void)state;
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

static struct pw_tokens *open_path(const char *path)
{
    struct pw_tokens *t;
    struct pw_err err = {.msg = ""};
    if (pw_tokens_open(&t, path, &err) != PW_OK)
        fail_msg("%s", err.msg);
    return t;
}

static void compare_lines(const struct pw_tokens *a, const struct pw_tokens *b, const char *name)
{
    struct ref_lines lines;
    struct pw_str line = {0};
    struct pw_err err = {.msg = ""};
    ref_lines_init(&lines);
    for (int i = 0; i < LINES; i++) {
        struct pw_token_list x = {0}, y = {0};
        ref_line(&lines, 5, (uint64_t)i, &line);
        assert_int_equal(pw_tokens_encode(a, pw_str_text(&line), line.len, &x, &err), PW_OK);
        assert_int_equal(pw_tokens_encode(b, pw_str_text(&line), line.len, &y, &err), PW_OK);
        if (x.n != y.n || (x.n > 0 && memcmp(x.ids, y.ids, x.n * sizeof *x.ids) != 0))
            fail_msg("%s: line %d: the ids differ: %s", name, i, pw_str_text(&line));
        pw_token_list_fini(&x);
        pw_token_list_fini(&y);
    }
    pw_str_fini(&line);
    ref_lines_fini(&lines);
}

static void ids_are_those_of_the_gguf_file(void **state)
{
    static const char *const names[] = {"gpt2", "smollm", "llama3", "qwen2", "scores"};
    char gguf[512], json[64];
    struct pw_err err = {.msg = ""};
    (void)state;
    snprintf(json, sizeof json, "%s/tokenizer.json", folder);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        snprintf(gguf, sizeof gguf, REF_TOKENIZERS "%s.gguf", names[k]);
        if (pw_tokens_write(gguf, folder, &err) != PW_OK)
            fail_msg("%s", err.msg);
        struct pw_tokens *a = open_path(gguf), *b = open_path(json);
        int before[2] = {-1, -1}, expected[2] = {-1, -1};
        assert_int_equal(pw_tokens_count(b), pw_tokens_count(a));
        assert_int_equal(pw_tokens_before(b, before, 2), pw_tokens_before(a, expected, 2));
        assert_memory_equal(before, expected, sizeof before);
        for (int id = 0; id < pw_tokens_count(a); id++)
            assert_int_equal(pw_tokens_special(b, id), pw_tokens_special(a, id));
        compare_lines(a, b, names[k]);
        pw_tokens_close(a);
        pw_tokens_close(b);
    }
}

static void the_config_names_begin_and_class(void **state)
{
    char path[64], *text;
    size_t n;
    struct pw_err err = {.msg = ""};
    (void)state;
    assert_int_equal(pw_tokens_write(REF_TOKENIZERS "llama3.gguf", folder, &err), PW_OK);
    snprintf(path, sizeof path, "%s/tokenizer_config.json", folder);
    assert_int_equal(pw_file_read(path, 1 << 20, &text, &n, &err), PW_OK);
    assert_non_null(strstr(text, "\"tokenizer_class\":\"PreTrainedTokenizerFast\""));
    assert_non_null(strstr(text, "\"bos_token\":\"<|begin_of_text|>\""));
    assert_null(strstr(text, "eos_token"));
    free(text);
}

static void a_tokenizer_that_cant_be_read_is_refused(void **state)
{
    struct pw_err err = {.msg = ""};
    (void)state;
    assert_int_equal(pw_tokens_write(PEWTER_SOURCE_DIR "/tests/golden/gguf/llama.gguf", folder, &err),
                     PW_EUSER);
    assert_non_null(strstr(err.msg, "llama.gguf: the metadata 'tokenizer.ggml.model' is missing"));
    assert_int_equal(pw_tokens_write(REF_TOKENIZERS "llama3.gguf", "/nonexistent", &err), PW_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_those_of_the_gguf_file),
        cmocka_unit_test(the_config_names_begin_and_class),
        cmocka_unit_test(a_tokenizer_that_cant_be_read_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
