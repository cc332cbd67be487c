/* test_gguf.c - the tokenizer inside of a GGUF file gives the ids of the tokenizer.json that it was made
 * from (tests/golden/make_gguf_tokens.py); metadata that are wrong are refused by one line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "ref_lines.h"
#include "tokens/tokens.h"

enum { LINES = 1000 };

/* ---- the same ids */

/* A GGUF file, and the tokenizer.json that says the same after some texts of it are replaced. */
struct pair {
    const char *gguf, *json, *replaced[2][2];
};

#define DIGITS "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\",\"individual_digits\":true},{"

static const struct pair pairs[] = {
    {"gpt2", "gpt2", {{NULL, NULL}, {NULL, NULL}}},
    {"smollm",
     "gpt2",
     {{"\"pre_tokenizer\":{", ("\"pre_tokenizer\":" DIGITS)},
      {"true},\"post_processor\"", "true}]},\"post_processor\""}}},
    {"llama3", "llama3", {{NULL, NULL}, {NULL, NULL}}},
    /* GGUF can't say that a token is only found as a whole word. */
    {"qwen2", "qwen2", {{"\"single_word\":true", "\"single_word\":false"}, {NULL, NULL}}},
};

static struct pw_tokens *open_gguf(const char *name)
{
    char path[512];
    struct pw_tokens *t;
    struct pw_err err = {.msg = ""};
    snprintf(path, sizeof path, REF_TOKENIZERS "%s.gguf", name);
    if (pw_tokens_open(&t, path, &err) != PW_OK)
        fail_msg("%s", err.msg);
    return t;
}

static struct pw_tokens *open_json(const struct pair *p)
{
    char path[512], *json;
    size_t n;
    struct pw_str text = {0};
    struct pw_tokens *t;
    struct pw_err err = {.msg = ""};
    snprintf(path, sizeof path, REF_TOKENIZERS "%s.json", p->json);
    assert_int_equal(pw_file_read(path, PW_TOKENS_FILE, &json, &n, &err), PW_OK);
    const char *rest = json;
    for (int i = 0; i < 2 && p->replaced[i][0] != NULL; i++) {
        const char *at = strstr(rest, p->replaced[i][0]);
        assert_non_null(at);
        pw_str_put(&text, rest, (size_t)(at - rest));
        pw_str_put(&text, p->replaced[i][1], strlen(p->replaced[i][1]));
        rest = at + strlen(p->replaced[i][0]);
    }
    pw_str_put(&text, rest, strlen(rest));
    if (pw_tokens_open_text(&t, pw_str_text(&text), text.len, path, &err) != PW_OK)
        fail_msg("%s", err.msg);
    pw_str_fini(&text);
    free(json);
    return t;
}

static void compare_line(const struct pw_tokens *a, const struct pw_tokens *b, const struct pw_str *line,
                         int i)
{
    struct pw_token_list x = {0}, y = {0};
    struct pw_str decoded = {0}, expected = {0};
    struct pw_err err = {.msg = ""};
    assert_int_equal(pw_tokens_encode(a, pw_str_text(line), line->len, &x, &err), PW_OK);
    assert_int_equal(pw_tokens_encode(b, pw_str_text(line), line->len, &y, &err), PW_OK);
    if (x.n != y.n || (x.n > 0 && memcmp(x.ids, y.ids, x.n * sizeof *x.ids) != 0))
        fail_msg("line %d: the ids differ: %s", i, pw_str_text(line));
    for (int special = 0; special < 2; special++) {
        assert_int_equal(pw_tokens_decode(a, x.ids, x.n, special, &decoded, &err), PW_OK);
        assert_int_equal(pw_tokens_decode(b, y.ids, y.n, special, &expected, &err), PW_OK);
    }
    assert_string_equal(pw_str_text(&decoded), pw_str_text(&expected));
    pw_token_list_fini(&x);
    pw_token_list_fini(&y);
    pw_str_fini(&decoded);
    pw_str_fini(&expected);
}

static void ids_are_those_of_tokenizer_json(void **state)
{
    struct ref_lines lines;
    struct pw_str line = {0};
    (void)state;
    ref_lines_init(&lines);
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        struct pw_tokens *a = open_gguf(pairs[k].gguf), *b = open_json(&pairs[k]);
        int before[2] = {-1, -1}, expected[2] = {-1, -1};
        assert_int_equal(pw_tokens_count(a), pw_tokens_count(b));
        assert_int_equal(pw_tokens_before(a, before, 2), pw_tokens_before(b, expected, 2));
        assert_memory_equal(before, expected, sizeof before);
        for (int id = 0; id < pw_tokens_count(a); id++) {
            assert_string_equal(pw_tokens_piece(a, id), pw_tokens_piece(b, id));
            assert_int_equal(pw_tokens_special(a, id), pw_tokens_special(b, id));
        }
        for (int i = 0; i < LINES; i++) {
            ref_line(&lines, 3, (uint64_t)i, &line);
            compare_line(a, b, &line, i);
        }
        pw_tokens_close(a);
        pw_tokens_close(b);
    }
    pw_str_fini(&line);
    ref_lines_fini(&lines);
}

/* ---- metadata that are wrong */

/* A line of the metadata. The value's first letter is its type: s a text, i a number, f a flag; in capitals
 * a list, with its items between bars. NULL: the line is left out. */
struct line {
    const char *key, *value;
};
static const struct line good[] = {
    {"model", "sgpt2"},       {"pre", "sgpt-2"},  {"tokens", "Sa|b|ab"},
    {"token_type", "I1|1|1"}, {"merges", "Sa b"},
};
enum { GOOD = sizeof good / sizeof *good };

static void put_number(struct pw_str *out, uint64_t x, size_t n)
{
    pw_str_put(out, (const char *)&x, n);
}

static void put_bytes(struct pw_str *out, const char *s, size_t n)
{
    put_number(out, n, 8);
    pw_str_put(out, s, n);
}

static void put_item(struct pw_str *out, char type, const char *s, size_t n)
{
    if (type == 's')
        put_bytes(out, s, n);
    else
        put_number(out, (uint64_t)strtol(s, NULL, 10), type == 'f' ? 1 : 4);
}

/* Appends a line; "@" in a text stands for a NUL, "~" for a byte that is not UTF-8. */
static void put_line(struct pw_str *out, const struct line *l)
{
    char key[64], value[256], *at = value + 1;
    snprintf(key, sizeof key, "tokenizer.ggml.%s", l->key);
    snprintf(value, sizeof value, "%s", l->value);
    for (char *c = value; *c != '\0'; c++)
        *c = (char)(*c == '~' ? '\xff' : *c);
    bool list = value[0] < 'a';
    char type = (char)(value[0] | 32);
    uint64_t n = *at != '\0';
    for (const char *c = at; *c != '\0'; c++)
        n += *c == '|';
    put_bytes(out, key, strlen(key));
    if (list)
        put_number(out, 9, 4);
    put_number(out, type == 's' ? 8 : type == 'f' ? 7 : 5, 4);
    if (list)
        put_number(out, n, 8);
    for (; n > 0; n--) {
        size_t size = strcspn(at, "|");
        char *nul = memchr(at, '@', size);
        if (nul != NULL)
            *nul = '\0';
        put_item(out, type, at, size);
        at += size + 1;
    }
}

/* Builds a file of the good lines, with two of them replaced or added. */
static void build(struct pw_str *out, const struct line *first, const struct line *second)
{
    const struct line *changes[] = {first, second};
    struct pw_str lines = {0};
    uint64_t n = 0;
    bool used[2] = {false, false};
    for (int i = 0; i < GOOD + 2; i++) {
        const struct line *l = i < GOOD ? &good[i] : changes[i - GOOD];
        if (i >= GOOD && used[i - GOOD])
            continue;
        for (int k = 0; k < 2 && i < GOOD; k++)
            if (changes[k]->key != NULL && strcmp(changes[k]->key, l->key) == 0) {
                l = changes[k];
                used[k] = true;
            }
        if (l->key == NULL || l->value == NULL)
            continue;
        put_line(&lines, l);
        n++;
    }
    pw_str_clear(out);
    pw_str_put(out, "GGUF", 4);
    put_number(out, 3, 4);
    put_number(out, 0, 8);
    put_number(out, n, 8);
    pw_str_put(out, lines.s, lines.len);
    pw_str_fini(&lines);
}

static void wrong_metadata_are_refused_by_one_line(void **state)
{
    static const struct {
        struct line first, second;
        const char *message;
    } cases[] = {
        {{"model", NULL}, {0}, "the metadata 'tokenizer.ggml.model' is missing"},
        {{"model", "i3"}, {0}, "tokenizer.ggml.model must be a text of less than 64 bytes"},
        {{"model", "Sgpt2"}, {0}, "tokenizer.ggml.model must be a text"},
        {{"model", "sg\npt"}, {0}, "tokenizer.ggml.model must be a text"},
        {{"model", "s~"}, {0}, "tokenizer.ggml.model must be a text"},
        {{"model", "sllama"}, {0}, "the tokenizer 'llama' of a GGUF file can't be read; put tokenizer.json"},
        {{"pre", NULL}, {0}, "the metadata 'tokenizer.ggml.pre' is missing"},
        {{"pre", "stekken"},
         {0},
         "'tekken' is not supported; allowed are default, gpt-2, smollm, llama-bpe,"},
        {{"tokens", NULL}, {0}, "the metadata 'tokenizer.ggml.tokens' is missing"},
        {{"tokens", "I1|2|3"}, {0}, "tokenizer.ggml.tokens must be a list of 1 to 1048576 texts"},
        {{"tokens", "sabc"}, {0}, "tokenizer.ggml.tokens must be a list"},
        {{"tokens", "S"}, {0}, "tokenizer.ggml.tokens must be a list"},
        {{"tokens", "Sa|b|a"}, {0}, "the piece 'a' is there twice"},
        {{"tokens", "Sa||ab"}, {0}, "the piece of id 1 is empty"},
        {{"tokens", "Sa|~|ab"}, {0}, "tokenizer.ggml.tokens: item 1 is not valid UTF-8, or has a NUL"},
        {{"tokens", "Sa|b@|ab"}, {0}, "tokenizer.ggml.tokens: item 1 is not valid UTF-8, or has a NUL"},
        {{"token_type", NULL}, {0}, "the metadata 'tokenizer.ggml.token_type' is missing"},
        {{"token_type", "I1|1"}, {0}, "tokenizer.ggml.token_type has 2 items, tokenizer.ggml.tokens 3"},
        {{"token_type", "I1|1|1|1"}, {0}, "tokenizer.ggml.token_type has 4 items, tokenizer.ggml.tokens 3"},
        {{"token_type", "S1|1|1"}, {0}, "tokenizer.ggml.token_type must be a list of 1 to 1048576 numbers"},
        {{"token_type", "I1|7|1"}, {0}, "item 1 must be a number from 1 to 6"},
        {{"token_type", "I1|1|-1"}, {0}, "item 2 must be a number from 1 to 6"},
        {{"merges", NULL}, {0}, "the metadata 'tokenizer.ggml.merges' is missing"},
        {{"merges", "Sa b|b c"}, {0}, "merges: entry 1: 'c' is not in the vocabulary"},
        {{"merges", "Sab"}, {0}, "merges: entry 0 must be"},
        {{"merges", "Sa ~"}, {0}, "tokenizer.ggml.merges: item 0 is not valid UTF-8"},
        {{"merges", "I1"}, {0}, "tokenizer.ggml.merges must be a list of 1 to 4194304 texts"},
        {{"add_space_prefix", "f1"}, {0}, "tokenizer.ggml.add_space_prefix must be false"},
        {{"add_bos_token", "i1"}, {0}, "tokenizer.ggml.add_bos_token must be true or false"},
        {{"add_bos_token", "f1"}, {0}, "tokenizer.ggml.bos_token_id must be a number from 0 to 2"},
        {{"add_bos_token", "f1"}, {"bos_token_id", "i3"}, "bos_token_id must be a number from 0 to 2"},
        {{"add_bos_token", "f1"}, {"bos_token_id", "i-1"}, "bos_token_id must be a number from 0 to 2"},
        {{"add_bos_token", "f1"}, {"bos_token_id", "sab"}, "bos_token_id must be a number from 0 to 2"},
        {{"pre", "sllama-bpe"}, {0}, "tokenizer.ggml.bos_token_id must be a number from 0 to 2"},
    };
    struct pw_str file = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_tokens *t;
        struct pw_err err = {.msg = ""};
        build(&file, &cases[i].first, &cases[i].second);
        enum pw_code code = pw_tokens_open_text(&t, file.s, file.len, "it", &err);
        if (code != PW_EUSER || t != NULL || strncmp(err.msg, "it: ", 4) != 0 ||
            strchr(err.msg, '\n') != NULL || strstr(err.msg, cases[i].message) == NULL)
            fail_msg("case %zu (%s): code %d: %s", i, cases[i].message, (int)code, err.msg);
    }
    pw_str_fini(&file);
}

static void a_begin_mark_is_put_before(void **state)
{
    static const struct line yes = {"add_bos_token", "f1"}, mark = {"bos_token_id", "i2"}, none = {0};
    const struct {
        const struct line *first, *second;
        int n;
    } cases[] = {{&none, &none, 0}, {&none, &mark, 0}, {&yes, &mark, 1}};
    struct pw_str file = {0};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct pw_tokens *t;
        struct pw_err err = {.msg = ""};
        int id = -1;
        build(&file, cases[i].first, cases[i].second);
        if (pw_tokens_open_text(&t, file.s, file.len, "it", &err) != PW_OK)
            fail_msg("%s", err.msg);
        assert_int_equal(pw_tokens_before(t, &id, 1), cases[i].n);
        assert_int_equal(id, cases[i].n > 0 ? 2 : -1);
        pw_tokens_close(t);
    }
    pw_str_fini(&file);
}

static void truncated_files_are_refused(void **state)
{
    static const struct line none = {0};
    struct pw_str file = {0};
    (void)state;
    build(&file, &none, &none);
    for (size_t n = 0; n < file.len; n++) {
        struct pw_tokens *t;
        struct pw_err err = {.msg = ""};
        char *part = malloc(n + 1); /* of this size, so that a sanitizer sees reads beyond it */
        assert_non_null(part);
        memcpy(part, file.s, n);
        assert_int_equal(pw_tokens_open_text(&t, part, n, "it", &err), PW_EUSER);
        assert_null(t);
        free(part);
    }
    pw_str_fini(&file);
}

static void a_path_decides_the_format(void **state)
{
    struct pw_tokens *t;
    struct pw_err err = {.msg = ""};
    (void)state;
    assert_int_equal(pw_tokens_open(&t, "/nonexistent/it.gguf", &err), PW_EIO);
    assert_null(t);
    assert_int_equal(pw_tokens_open(&t, PEWTER_SOURCE_DIR "/tests/golden/gguf/llama.gguf", &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "llama.gguf: the metadata 'tokenizer.ggml.model' is missing"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_those_of_tokenizer_json),
        cmocka_unit_test(wrong_metadata_are_refused_by_one_line),
        cmocka_unit_test(a_begin_mark_is_put_before),
        cmocka_unit_test(truncated_files_are_refused),
        cmocka_unit_test(a_path_decides_the_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
