/* test_tokenizer.c - tests task text with the pieces of a tokenizer: samples, prompts, labels, classes, and
 * what a session records of its file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "tasks/documents.h"
#include "tasks/tokenizer.h"

#define OWN        PEWTER_SOURCE_DIR "/texts/chronicle.txt"
#define TOKENIZERS PEWTER_SOURCE_DIR "/tests/golden/tokenizers/"
#define FROM       "text path=" OWN " lengths=5..20 tokens=" TOKENIZERS

enum { MOST = 200 };

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/pewter-pieces-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void open_set(struct pw_taskset *set, const char *line)
{
    struct pw_err err;
    if (pw_taskset_init(set, line, &err) != PW_OK)
        fail_msg("%s: %s", line, err.msg);
}

static void put_tokens(const struct pw_taskset *set, const int *tokens, int n, struct pw_str *out)
{
    pw_str_clear(out);
    for (int i = 0; i < n; i++)
        pw_vocab_put(&set->vocab, tokens[i], out);
}

/* The tokens of a window are a run of the ids of the whole text, and their bytes a part of it. */
static void windows_are_runs_of_the_text(void **state)
{
    static const char *const names[] = {FROM "gpt2.json", FROM "llama2.json", FROM "gemma.json"};
    char *all;
    size_t size;
    (void)state;
    assert_int_equal(pw_file_read(OWN, 1 << 20, &all, &size, NULL), PW_OK);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        struct pw_taskset set;
        struct pw_str text = {0}, prompt = {0}, answer = {0};
        int tokens[MOST];
        open_set(&set, names[k]);
        assert_int_equal(set.max_tokens, 41);
        for (uint64_t i = 0; i < 300; i++) {
            struct pw_sample x = {.tokens = tokens, .cap = MOST};
            enum pw_split split = i % 3 == 0 ? PW_SPLIT_TEST : PW_SPLIT_TRAIN;
            pw_taskset_sample(&set, 7, split, i, 0, 33, &x);
            assert_int_equal(x.n, x.length + 1);
            assert_int_equal(x.n_prompt, 1);
            put_tokens(&set, x.tokens, x.n, &text);
            assert_non_null(strstr(all, text.s + (text.s[0] == ' ')));
            pw_str_clear(&prompt);
            pw_str_clear(&answer);
            pw_taskset_sample_text(&set, 7, split, i, 0, 33, &prompt, &answer);
            pw_str_put(&prompt, answer.s, answer.len);
            assert_string_equal(prompt.s, text.s);
        }
        pw_str_fini(&text);
        pw_str_fini(&prompt);
        pw_str_fini(&answer);
        pw_taskset_fini(&set);
    }
    free(all);
}

/* The text is encoded as a whole, so that words at the cut are not broken. */
static void ids_are_those_of_the_whole_text(void **state)
{
    struct pw_tokens *t;
    struct pw_token_list list = {0};
    struct pw_documents *d;
    struct pw_err err;
    char *all;
    size_t size;
    (void)state;
    assert_int_equal(pw_tokens_open(&t, TOKENIZERS "qwen2.json", &err), PW_OK);
    assert_int_equal(pw_file_read(OWN, 1 << 20, &all, &size, NULL), PW_OK);
    assert_int_equal(pw_tokens_encode(t, all, size, &list, &err), PW_OK);
    assert_int_equal(pw_documents_open(&d, OWN, OWN, PW_PIECES_TOKENS, t, &err), PW_OK);
    assert_int_equal(d->list[0].tokens, list.n);
    assert_memory_equal(d->list[0].ids, list.ids, list.n * sizeof *list.ids);
    assert_int_equal(pw_documents_tokens(d, PW_PART_HELD), list.n / 10);
    pw_documents_close(d);
    pw_token_list_fini(&list);
    pw_tokens_close(t);
    free(all);
}

static void a_prompt_is_encoded_text(void **state)
{
    static const char *const names[] = {FROM "gpt2.json", FROM "llama2.json"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct pw_taskset set;
        struct pw_tokens *t;
        struct pw_token_list list = {0};
        struct pw_str text = {0};
        struct pw_err err;
        int tokens[MOST];
        struct pw_sample x = {.tokens = tokens, .cap = MOST};
        open_set(&set, names[k]);
        assert_int_equal(pw_tokens_open(&t, strstr(names[k], "tokens=") + 7, &err), PW_OK);
        assert_int_equal(pw_tokens_encode(t, "In the year\n1066 ✓", 20, &list, &err), PW_OK);
        assert_int_equal(pw_taskset_prompt(&set, "In the year↵1066 ✓", MOST, &x, &err), PW_OK);
        assert_int_equal(x.n, list.n);
        assert_int_equal(x.n_prompt, list.n);
        for (int i = 0; i < x.n; i++)
            assert_int_equal(x.tokens[i], list.ids[i]);
        put_tokens(&set, x.tokens, x.n, &text);
        assert_string_equal(text.s + (text.s[0] == ' '), "In the year\n1066 ✓");
        assert_int_equal(pw_taskset_prompt(&set, "In the year↵1066 ✓", 3, &x, &err), PW_EUSER);
        assert_non_null(strstr(err.msg, "tokens; at most 3 are allowed"));
        pw_str_clear(&text);
        pw_taskset_example(&set, 0, &text);
        assert_int_equal(pw_taskset_prompt(&set, text.s, MOST, &x, &err), PW_OK);
        pw_str_fini(&text);
        pw_token_list_fini(&list);
        pw_tokens_close(t);
        pw_taskset_fini(&set);
    }
}

static int token_of(const struct pw_taskset *set, const char *label)
{
    int token = pw_vocab_find(&set->vocab, label, strlen(label));
    if (token < 0)
        fail_msg("no token '%s'", label);
    return token;
}

static void labels_and_classes(void **state)
{
    static const struct {
        const char *label;
        enum pw_token_class class;
    } cases[] = {
        {"7", PW_TOKEN_DIGIT},     {"·the", PW_TOKEN_WORD},
        {"e", PW_TOKEN_SYMBOL},    {"·a", PW_TOKEN_SYMBOL},
        {"·", PW_TOKEN_SEPARATOR}, {"↵", PW_TOKEN_SEPARATOR},
        {".", PW_TOKEN_SEPARATOR}, {"#481", PW_TOKEN_WORD},
        {"<0xC3>", PW_TOKEN_WORD}, {"<|endoftext|>", PW_TOKEN_WORD},
        {"1", PW_TOKEN_DIGIT},     {"<0x7F>", PW_TOKEN_SEPARATOR},
    };
    struct pw_taskset set;
    (void)state;
    open_set(&set, FROM "gpt2.json vocab=482"); /* a model with two more tokens than its tokenizer */
    assert_int_equal(set.vocab.n, 482);
    unsigned char *classes = malloc((size_t)set.vocab.n);
    assert_non_null(classes);
    pw_taskset_classes(&set, classes);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (classes[token_of(&set, cases[i].label)] != cases[i].class)
            fail_msg("'%s' has class %d", cases[i].label, classes[token_of(&set, cases[i].label)]);
    free(classes);
    for (int id = 0; id < set.vocab.n; id++) {
        const char *word = set.vocab.words[id];
        assert_true(pw_utf8_valid(word, strlen(word)) && strlen(word) < 40);
        assert_int_equal(token_of(&set, word), id);
    }
    pw_taskset_fini(&set);
    open_set(&set, FROM "llama2.json");
    assert_int_equal(set.vocab.n, 640);
    assert_int_equal(token_of(&set, "</s>"), 2);
    pw_taskset_fini(&set);
}

/* ---- what a session records */

static struct pw_str recorded;

static void keep_recorded(void *arg, const char *path, const char *data, size_t size)
{
    (void)arg;
    (void)path;
    pw_str_clear(&recorded);
    pw_str_put(&recorded, data, size);
}

static const char *instead(void *arg, const char *path)
{
    (void)path;
    return arg;
}

static void put_file(const char *path, const char *data, size_t n)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    fclose(f);
}

/* A large file leaves one line, with which a re-run compares; a small one a copy, which is enough. */
static void a_session_has_the_tokenizer_or_its_digest(void **state)
{
    char path[128], copy[128], digits[65], *json;
    size_t size;
    struct pw_tokens *t;
    struct pw_err err;
    struct pw_str large = {0};
    (void)state;
    snprintf(path, sizeof path, "%s/t.json", folder);
    snprintf(copy, sizeof copy, "%s/copy", folder);
    assert_int_equal(pw_file_read(TOKENIZERS "gpt2.json", 1 << 20, &json, &size, NULL), PW_OK);
    for (int big = 0; big < 2; big++) {
        pw_str_clear(&large);
        pw_str_put(&large, json, size);
        while (big == 1 && large.len <= PW_DOCUMENTS_COPY)
            pw_str_add(&large, "%80s\n", "");
        put_file(path, large.s, large.len);
        pw_file_watch((struct pw_file_watch){.read = keep_recorded});
        assert_int_equal(pw_tokenizer_open(&t, path, digits, &err), PW_OK);
        pw_tokens_close(t);
        assert_true(big == 0 ? recorded.len == size : recorded.len < 200);
        put_file(copy, recorded.s, recorded.len);
        pw_file_watch((struct pw_file_watch){.instead = instead, .arg = copy});
        assert_int_equal(pw_tokenizer_open(&t, path, digits, &err), PW_OK);
        pw_tokens_close(t);
        pw_str_add(&large, " ");
        put_file(path, large.s, large.len);
        assert_int_equal(pw_tokenizer_open(&t, path, digits, &err), big == 0 ? PW_OK : PW_EUSER);
        assert_true(big == 0 || strstr(err.msg, "t.json: the tokenizer has changed since") != NULL);
        pw_tokens_close(t);
        unlink(path);
        assert_int_equal(pw_tokenizer_open(&t, path, digits, &err), big == 0 ? PW_OK : PW_EUSER);
        assert_true(big == 0 || strstr(err.msg, "t.json: the tokenizer is missing") != NULL);
        pw_tokens_close(t);
        pw_file_watch((struct pw_file_watch){0});
    }
    pw_str_fini(&recorded);
    pw_str_fini(&large);
    free(json);
}

static void bad_tokenizers_are_named(void **state)
{
    static const struct {
        const char *content, *message;
    } cases[] = {
        {"", "t.json: is not valid JSON"},
        {"{\"model\":{\"type\":\"Unigram\",\"vocab\":{\"a\":0},\"merges\":[]}}",
         "type 'Unigram' is not supported"},
        {"{\"model\":{\"vocab\":{\"a\":0},\"merges\":[]}}",
         "the tokenizer has no piece for 'I', and no unk_token"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[512], path[128];
        struct pw_taskset set;
        struct pw_err err = {.msg = ""};
        snprintf(path, sizeof path, "%s/t.json", folder);
        put_file(path, cases[i].content, strlen(cases[i].content));
        snprintf(line, sizeof line, "text path=" OWN " tokens=%s", path);
        if (pw_taskset_init(&set, line, &err) != PW_EUSER || strstr(err.msg, cases[i].message) == NULL)
            fail_msg("%s: %s", cases[i].content, err.msg);
        assert_int_equal(strncmp(err.msg, "text: ", 6), 0);
    }
    struct pw_taskset set;
    struct pw_err err;
    assert_int_equal(pw_taskset_init(&set, FROM "gpt2.json vocab=479", &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "vocab=479: "));
    assert_non_null(strstr(err.msg, " has 480 tokens"));
    assert_int_equal(pw_taskset_init(&set, "text vocab=479", &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "vocab=479: tokens=bytes has its own number of tokens"));
    assert_int_equal(pw_taskset_init(&set, FROM "gpt2.json tokenizer=0123456789abcdef", &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "is not the tokenizer that tokenizer=0123456789abcdef names"));
    struct pw_str line = {0};
    open_set(&set, FROM "gpt2.json");
    pw_taskset_print(&set, &line); /* names both files by their digests */
    pw_taskset_fini(&set);
    assert_non_null(strstr(line.s, " tokenizer="));
    open_set(&set, line.s);
    pw_taskset_fini(&set);
    pw_str_fini(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_are_runs_of_the_text),
        cmocka_unit_test(ids_are_those_of_the_whole_text),
        cmocka_unit_test(a_prompt_is_encoded_text),
        cmocka_unit_test(labels_and_classes),
        cmocka_unit_test(a_session_has_the_tokenizer_or_its_digest),
        cmocka_unit_test(bad_tokenizers_are_named),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
