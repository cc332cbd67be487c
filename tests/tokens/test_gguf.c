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
#include "base/sha256.h"
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

/* ---- scores in place of merges */

static void add_line(const struct pw_tokens *t, const struct pw_str *line, struct pw_str *ids,
                     struct pw_str *text)
{
    struct pw_token_list list = {0};
    struct pw_err err = {.msg = ""};
    const char *s = pw_str_text(line);
    if (strstr(s, "<unk>") != NULL || strstr(s, "<s>") != NULL || strstr(s, "</s>") != NULL)
        return;
    assert_int_equal(pw_tokens_encode(t, s, line->len, &list, &err), PW_OK);
    assert_int_equal(pw_tokens_decode(t, list.ids, list.n, true, text, &err), PW_OK);
    for (size_t k = 0; k < list.n; k++)
        pw_str_add(ids, "%s%d", k > 0 ? " " : "", list.ids[k]);
    pw_str_put(ids, "\n", 1);
    pw_str_put(text, "\n", 1);
    pw_token_list_fini(&list);
}

static void check_digest(const struct pw_str *s, const char *expected, const char *what, int block)
{
    uint8_t sha[32];
    char digits[65];
    pw_sha256_of(sha, s->s, s->len);
    pw_sha256_text(digits, sha);
    digits[16] = '\0';
    if (strcmp(digits, expected) != 0)
        fail_msg("block %d: the %s differ", block, what);
}

static void scores_give_the_ids_of_sentencepiece(void **state)
{
    struct ref_lines lines;
    struct pw_str line = {0};
    struct pw_tokens *t = open_gguf("scores");
    char expected[2][17];
    int before = -1;
    FILE *f = fopen(REF_TOKENIZERS "scores.ids", "r");
    (void)state;
    assert_non_null(f);
    ref_lines_init(&lines);
    for (int block = 0; block < LINES / 100; block++) {
        struct pw_str ids = {0}, text = {0};
        for (int i = 0; i < 100; i++) {
            ref_line(&lines, 3, (uint64_t)(block * 100 + i), &line);
            add_line(t, &line, &ids, &text);
        }
        assert_int_equal(fscanf(f, "%16s %16s\n", expected[0], expected[1]), 2);
        check_digest(&ids, expected[0], "ids", block);
        check_digest(&text, expected[1], "texts", block);
        pw_str_fini(&ids);
        pw_str_fini(&text);
    }
    assert_int_equal(pw_tokens_before(t, &before, 1), 1);
    assert_int_equal(before, 1);
    fclose(f);
    pw_tokens_close(t);
    pw_str_fini(&line);
    ref_lines_fini(&lines);
}

/* ---- metadata that are wrong */

/* A line of the metadata. The value's first letter is its type: s a text, i a number, e a fraction, f a flag;
 * in capitals a list, with its items between bars. NULL: the line is left out. */
struct line {
    const char *key, *value;
};
static const struct line good[] = {
    {"model", "sgpt2"},       {"pre", "sgpt-2"},  {"tokens", "Sa|b|ab"},
    {"token_type", "I1|1|1"}, {"merges", "Sa b"},
};
#define LLAMA                                                                                                \
    {                                                                                                        \
        "model", "sllama"                                                                                    \
    }
enum { GOOD = sizeof good / sizeof *good, CHANGES = 5 };

static void put_number(struct pw_str *out, uint64_t x, size_t n)
{
    pw_str_put(out, (const char *)&x, n);
}

static void put_bytes(struct pw_str *out, const char *s, size_t n)
{
    put_number(out, n, 8);
    pw_str_put(out, s, n);
}

static void put_fraction(struct pw_str *out, float x)
{
    pw_str_put(out, (const char *)&x, sizeof x);
}

static void put_item(struct pw_str *out, char type, const char *s, size_t n)
{
    if (type == 's')
        put_bytes(out, s, n);
    else if (type == 'e')
        put_fraction(out, strtof(s, NULL));
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
    put_number(out, type == 's' ? 8 : type == 'f' ? 7 : type == 'e' ? 6 : 5, 4);
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

/* Builds a file of the good lines, with some of them replaced or added. */
static void build(struct pw_str *out, const struct line *changes)
{
    struct pw_str lines = {0};
    uint64_t n = 0;
    bool used[CHANGES] = {false};
    for (int i = 0; i < GOOD + CHANGES; i++) {
        const struct line *l = i < GOOD ? &good[i] : &changes[i - GOOD];
        if (i >= GOOD && used[i - GOOD])
            continue;
        for (int k = 0; k < CHANGES && i < GOOD; k++)
            if (changes[k].key != NULL && strcmp(changes[k].key, good[i].key) == 0) {
                l = &changes[k];
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
        struct line changes[CHANGES];
        const char *message;
    } cases[] = {
        {{{"model", NULL}}, "the metadata 'tokenizer.ggml.model' is missing"},
        {{{"model", "i3"}}, "tokenizer.ggml.model must be a text of less than 64 bytes"},
        {{{"model", "Sgpt2"}}, "tokenizer.ggml.model must be a text"},
        {{{"model", "sg\npt"}}, "tokenizer.ggml.model must be a text"},
        {{{"model", "s~"}}, "tokenizer.ggml.model must be a text"},
        {{{"model", "sbert"}}, "the tokenizer 'bert' of a GGUF file can't be read; put tokenizer.json"},
        {{{"pre", NULL}}, "the metadata 'tokenizer.ggml.pre' is missing"},
        {{{"pre", "stekken"}}, "'tekken' is not supported; allowed are default, gpt-2, smollm, llama-bpe,"},
        {{{"tokens", NULL}}, "the metadata 'tokenizer.ggml.tokens' is missing"},
        {{{"tokens", "I1|2|3"}}, "tokenizer.ggml.tokens must be a list of 1 to 1048576 texts"},
        {{{"tokens", "sabc"}}, "tokenizer.ggml.tokens must be a list"},
        {{{"tokens", "S"}}, "tokenizer.ggml.tokens must be a list"},
        {{{"tokens", "Sa|b|a"}}, "the piece 'a' is there twice"},
        {{{"tokens", "Sa||ab"}}, "the piece of id 1 is empty"},
        {{{"tokens", "Sa|~|ab"}}, "tokenizer.ggml.tokens: item 1 is not valid UTF-8, or has a NUL"},
        {{{"tokens", "Sa|b@|ab"}}, "tokenizer.ggml.tokens: item 1 is not valid UTF-8, or has a NUL"},
        {{{"token_type", NULL}}, "the metadata 'tokenizer.ggml.token_type' is missing"},
        {{{"token_type", "I1|1"}}, "tokenizer.ggml.token_type has 2 items, tokenizer.ggml.tokens 3"},
        {{{"token_type", "I1|1|1|1"}}, "tokenizer.ggml.token_type has 4 items, tokenizer.ggml.tokens 3"},
        {{{"token_type", "S1|1|1"}}, "tokenizer.ggml.token_type must be a list of 1 to 1048576 numbers"},
        {{{"token_type", "I1|7|1"}}, "item 1 must be a number from 1 to 6"},
        {{{"token_type", "I1|1|-1"}}, "item 2 must be a number from 1 to 6"},
        {{{"merges", NULL}}, "the metadata 'tokenizer.ggml.merges' is missing"},
        {{{"merges", "Sa b|b c"}}, "merges: entry 1: 'c' is not in the vocabulary"},
        {{{"merges", "Sab"}}, "merges: entry 0 must be"},
        {{{"merges", "Sa ~"}}, "tokenizer.ggml.merges: item 0 is not valid UTF-8"},
        {{{"merges", "I1"}}, "tokenizer.ggml.merges must be a list of 1 to 4194304 texts"},
        {{{"add_space_prefix", "f1"}}, "tokenizer.ggml.add_space_prefix must be false"},
        {{{"add_bos_token", "i1"}}, "tokenizer.ggml.add_bos_token must be true or false"},
        {{{"add_bos_token", "f1"}}, "tokenizer.ggml.bos_token_id must be a number from 0 to 2"},
        {{{"add_bos_token", "f1"}, {"bos_token_id", "i3"}}, "bos_token_id must be a number from 0 to 2"},
        {{{"add_bos_token", "f1"}, {"bos_token_id", "i-1"}}, "bos_token_id must be a number from 0 to 2"},
        {{{"add_bos_token", "f1"}, {"bos_token_id", "sab"}}, "bos_token_id must be a number from 0 to 2"},
        {{LLAMA}, "the metadata 'tokenizer.ggml.scores' is missing"},
        {{LLAMA, {"scores", "I1"}}, "tokenizer.ggml.scores has 1 items, tokenizer.ggml.tokens 3"},
        {{LLAMA, {"scores", "Sa"}}, "tokenizer.ggml.scores must be a list of 1 to 1048576 numbers"},
        {{LLAMA, {"scores", "E0|nan|1"}}, "tokenizer.ggml.scores: item 1 must be a finite number"},
        {{LLAMA, {"scores", "E0|-inf|1"}}, "tokenizer.ggml.scores: item 1 must be a finite number"},
        {{LLAMA, {"scores", "E0|1|2"}}, "tokenizer.ggml.bos_token_id must be a number from 0 to 2"},
        {{LLAMA, {"scores", "E0|1|2"}, {"remove_extra_whitespaces", "f1"}},
         "whitespaces is not supported; put"},
        {{LLAMA, {"scores", "E0|1|2"}, {"precompiled_charsmap", "I1"}},
         "precompiled_charsmap is not supported"},
        {{LLAMA, {"scores", "E0|1|2"}, {"token_type", "I1|2|9"}}, "item 2 must be a number from 1 to 6"},
        {{{"pre", "sllama-bpe"}}, "tokenizer.ggml.bos_token_id must be a number from 0 to 2"},
    };
    struct pw_str file = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_tokens *t;
        struct pw_err err = {.msg = ""};
        build(&file, cases[i].changes);
        enum pw_code code = pw_tokens_open_text(&t, file.s, file.len, "it", &err);
        if (code != PW_EUSER || t != NULL || strncmp(err.msg, "it: ", 4) != 0 ||
            strchr(err.msg, '\n') != NULL || strstr(err.msg, cases[i].message) == NULL)
            fail_msg("case %zu (%s): code %d: %s", i, cases[i].message, (int)code, err.msg);
    }
    pw_str_fini(&file);
}

static void a_begin_mark_is_put_before(void **state)
{
    static const struct {
        struct line changes[CHANGES];
        int n;
    } cases[] = {
        {{{0}}, 0}, {{{"bos_token_id", "i2"}}, 0}, {{{"bos_token_id", "i2"}, {"add_bos_token", "f1"}}, 1}};
    struct pw_str file = {0};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct pw_tokens *t;
        struct pw_err err = {.msg = ""};
        int id = -1;
        build(&file, cases[i].changes);
        if (pw_tokens_open_text(&t, file.s, file.len, "it", &err) != PW_OK)
            fail_msg("%s", err.msg);
        assert_int_equal(pw_tokens_before(t, &id, 1), cases[i].n);
        assert_int_equal(id, cases[i].n > 0 ? 2 : -1);
        pw_tokens_close(t);
    }
    pw_str_fini(&file);
}

/* Builds a model with scores for these pieces, and expects its refusal. */
static void refuse_pieces(const char *tokens, const char *types, const char *scores, const char *message)
{
    const struct line changes[CHANGES] = {
        LLAMA, {"tokens", tokens}, {"token_type", types}, {"scores", scores}, {"bos_token_id", "i0"}};
    struct pw_str file = {0};
    struct pw_tokens *t;
    struct pw_err err = {.msg = ""};
    build(&file, changes);
    assert_int_equal(pw_tokens_open_text(&t, file.s, file.len, "it", &err), PW_EUSER);
    assert_null(t);
    if (strstr(err.msg, message) == NULL || strchr(err.msg, '\n') != NULL)
        fail_msg("%s: %s", message, err.msg);
    pw_str_fini(&file);
}

static void wrong_pieces_with_scores_are_refused(void **state)
{
    (void)state;
    refuse_pieces("Sa|b|ab|ba", "I1|1|1|1", "E0|0|5|5", "the pieces of ids 2 and 3 have the same score");
    refuse_pieces("Sa|b", "I1|1", "E0|0|0", "tokenizer.ggml.scores has 3 items, tokenizer.ggml.tokens 2");
    refuse_pieces("Sa|\xe2\x96\x81\xe2\x96\x81", "I1|4", "E0|0", "item 1 is user-defined and has a space");
}

static void truncated_files_are_refused(void **state)
{
    static const struct line none[CHANGES] = {{0}};
    struct pw_str file = {0};
    (void)state;
    build(&file, none);
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
        cmocka_unit_test(scores_give_the_ids_of_sentencepiece),
        cmocka_unit_test(wrong_pieces_with_scores_are_refused),
        cmocka_unit_test(wrong_metadata_are_refused_by_one_line),
        cmocka_unit_test(a_begin_mark_is_put_before),
        cmocka_unit_test(truncated_files_are_refused),
        cmocka_unit_test(a_path_decides_the_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
