/* test_hostile.c - tokenizer files and texts that are wrong, or made to harm: each gives one line, and takes
 * no long time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "tokens/tokens.h"

#define MODEL(members)    ("{\"model\":{" members "}}")
#define VOCAB             "\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},\"merges\":[\"a b\"]"
#define WITH(member)      ("{" member ",\"model\":{" VOCAB "}}")
#define SPLIT(expression) WITH("\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":" REGEX(expression))
#define REGEX(expression) "{\"Regex\":\"" expression "\"},\"behavior\":\"Isolated\"}"

/* Processor time, so that a busy machine does not matter. */
static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void refuse(const char *json, size_t n, const char *message)
{
    struct pw_tokens *t;
    struct pw_err err = {.msg = ""};
    enum pw_code code = pw_tokens_open_text(&t, json, n, "it", &err);
    if (code != PW_EUSER || t != NULL || strstr(err.msg, message) == NULL || strchr(err.msg, '\n') != NULL ||
        strncmp(err.msg, "it: ", 4) != 0)
        fail_msg("%.200s: code %d: %s", json, (int)code, err.msg);
}

static void files_are_refused_by_one_line(void **state)
{
    static const struct {
        const char *json, *message;
    } cases[] = {
        {"", "is not valid JSON"},
        {"{", "is not valid JSON"},
        {"[]", "it has no object 'model'"},
        {"{\"model\":3}", "it has no object 'model'"},
        {"{} x", "is not valid JSON"},
        {"{\"a\":\"\xff\"}", "is not valid UTF-8"},
        {"{\"a\":\"\\u0000\"}", "a text of it has a NUL character"},
        {MODEL("\"type\":\"WordPiece\"," VOCAB), "type 'WordPiece' is not supported; allowed is BPE"},
        {MODEL("\"vocab\":{},\"merges\":[]"), "the vocabulary is empty"},
        {MODEL("\"vocab\":[],\"merges\":[]"), "the vocabulary is empty"},
        {MODEL("\"vocab\":{\"a\":0}"), "'merges' must be a list"},
        {MODEL("\"vocab\":{\"a\":0,\"a\":1},\"merges\":[]"), "the piece 'a' is there twice"},
        {MODEL("\"vocab\":{\"a\":0,\"b\":0},\"merges\":[]"), "id 0 has two pieces, 'a' and 'b'"},
        {MODEL("\"vocab\":{\"a\":0,\"b\":4},\"merges\":[]"), "more ids without a piece than with one"},
        {MODEL("\"vocab\":{\"a\":-1},\"merges\":[]"), "must be a number from 0 to 1048575"},
        {MODEL("\"vocab\":{\"a\":0.5},\"merges\":[]"), "must be a number from 0 to 1048575"},
        {MODEL("\"vocab\":{\"a\":1e9},\"merges\":[]"), "must be a number from 0 to 1048575"},
        {MODEL("\"vocab\":{\"a\":\"0\"},\"merges\":[]"), "must be a number from 0 to 1048575"},
        {MODEL("\"vocab\":{\"\":0},\"merges\":[]"), "the piece of id 0 is empty"},
        {MODEL("\"vocab\":{\"a\":0},\"merges\":[\"a b\"]"), "merges: entry 0: 'b' is not in the vocabulary"},
        {MODEL("\"vocab\":{\"b\":0},\"merges\":[\"a b\"]"), "merges: entry 0: 'a' is not in the vocabulary"},
        {MODEL("\"vocab\":{\"a\":0,\"b\":1},\"merges\":[[\"a\",\"b\"]]"), "'ab' is not in the vocabulary"},
        {MODEL("\"vocab\":{\"a\":0},\"merges\":[\"aa\"]"), "merges: entry 0 must be"},
        {MODEL("\"vocab\":{\"a\":0},\"merges\":[\"a a a\"]"), "merges: entry 0 must be"},
        {MODEL("\"vocab\":{\"a\":0},\"merges\":[[\"a\"]]"), "merges: entry 0 must be"},
        {MODEL("\"vocab\":{\"a\":0},\"merges\":[7]"), "merges: entry 0 must be"},
        {MODEL("\"dropout\":0.1," VOCAB), "'dropout' is not supported"},
        {MODEL("\"unk_token\":\"?\"," VOCAB), "the unk_token '?' is not in the vocabulary"},
        {MODEL("\"fuse_unk\":1," VOCAB), "'fuse_unk' must be true or false"},
        {MODEL("\"end_of_word_suffix\":\"</w>\"," VOCAB), "'end_of_word_suffix' is not supported"},
        {WITH("\"added_tokens\":{}"), "'added_tokens' must be a list"},
        {WITH("\"added_tokens\":[{\"id\":1}]"), "'content' must be a text"},
        {WITH("\"added_tokens\":[{\"content\":\"x\"}]"), "must be a number from 0"},
        {WITH("\"added_tokens\":[{\"id\":1,\"content\":\"a\"}]"), "the piece 'a' has two ids, 0 and 1"},
        {WITH("\"added_tokens\":[{\"id\":4,\"content\":\"x\"}]"), "its place in the list gives it 3"},
        {WITH("\"added_tokens\":[{\"id\":0,\"content\":\"x\"}]"), "its place in the list gives it 3"},
        {WITH("\"normalizer\":[]"), "normalizer: must be an object or null"},
        {WITH("\"normalizer\":{\"type\":\"Nmt\"}"), "normalizer: type 'Nmt' is not supported; allowed are"},
        {WITH("\"normalizer\":{\"type\":\"Prepend\"}"), "Prepend: 'prepend' must be a text"},
        {WITH("\"normalizer\":{\"type\":\"Sequence\"}"), "'normalizers' must be a list"},
        {WITH("\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"}"), "'BertPreTokenizer' is not supported"},
        {WITH("\"pre_tokenizer\":{\"type\":\"Punctuation\",\"behavior\":\"x\"}"),
         "'behavior': x: allowed are"},
        {WITH("\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"__\"}"), "must be one character"},
        {WITH("\"decoder\":{\"type\":\"CTC\"}"), "decoder: type 'CTC' is not supported"},
        {WITH("\"post_processor\":{\"type\":\"RobertaProcessing\"}"), "'RobertaProcessing' is not supported"},
        {SPLIT("("), "regular expression '('"},
        {SPLIT(""), "a pattern is empty"},
        {SPLIT("[a"), "a class has no end at '[a'"},
        {SPLIT("[a[b]]"), "classes in classes are not supported"},
        {SPLIT("[a&&b]"), "classes in classes are not supported"},
        {SPLIT("\\\\K"), "this escape is not supported at '\\K'"},
        {SPLIT("\\\\p{Klingon}"), "regular expression '\\p{Klingon}'"},
        {SPLIT("(?<n>a)"), "this kind of group is not supported"},
        {SPLIT("a{2}+"), "a plus behind braces is not supported"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse(cases[i].json, strlen(cases[i].json), cases[i].message);
    refuse("{\"a\":0\0}", 8, "is not valid UTF-8");
}

static void deep_and_long_files_are_refused(void **state)
{
    struct pw_str s = {0};
    (void)state;
    for (int i = 0; i < 100000; i++)
        pw_str_put(&s, "[", 1);
    refuse(s.s, s.len, "or too deep");
    pw_str_clear(&s);
    pw_str_add(&s, "{\"model\":{" VOCAB "},\"normalizer\":");
    for (int i = 0; i < 20; i++)
        pw_str_add(&s, "{\"type\":\"Sequence\",\"normalizers\":[");
    pw_str_add(&s, "{\"type\":\"NFC\"}");
    for (int i = 0; i < 20; i++)
        pw_str_add(&s, "]}");
    pw_str_add(&s, "}");
    refuse(s.s, s.len, "more than 8 sequences in each other");
    pw_str_clear(&s);
    pw_str_add(&s,
               "{\"model\":{" VOCAB "},\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Fuse\"}");
    for (int i = 0; i < 40; i++)
        pw_str_add(&s, ",{\"type\":\"Fuse\"}");
    pw_str_add(&s, "]}}");
    refuse(s.s, s.len, "more than 32 steps");
    pw_str_fini(&s);
}

static struct pw_tokens *open_json(const char *json)
{
    struct pw_tokens *t;
    struct pw_err err = {.msg = ""};
    if (pw_tokens_open_text(&t, json, strlen(json), "it", &err) != PW_OK)
        fail_msg("%s: %s", json, err.msg);
    return t;
}

static void refuse_text(const struct pw_tokens *t, const char *text, size_t n, const char *message)
{
    struct pw_token_list list = {0};
    struct pw_err err = {.msg = ""};
    enum pw_code code = pw_tokens_encode(t, text, n, &list, &err);
    if (code != PW_EUSER || strstr(err.msg, message) == NULL)
        fail_msg("code %d: %s, not %s", (int)code, err.msg, message);
    pw_token_list_fini(&list);
}

static void texts_are_refused_by_one_line(void **state)
{
    struct pw_tokens *t = open_json(MODEL(VOCAB));
    (void)state;
    refuse_text(t, "ab\xff", 3, "byte 2 of the text is not valid UTF-8");
    refuse_text(t, "ab\xe2\x82", 4, "byte 2 of the text is not valid UTF-8");
    refuse_text(t, "ab\xed\xa0\x80", 5, "byte 2 of the text is not valid UTF-8");
    refuse_text(t, "abc", 3, "the tokenizer has no piece for 'c', and no unk_token");
    int ids[] = {0, 3, -1};
    struct pw_str out = {0};
    struct pw_err err;
    assert_int_equal(pw_tokens_decode(t, ids, 2, true, &out, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "there is no id 3; the tokenizer has 0 to 2"));
    assert_int_equal(pw_tokens_decode(t, ids + 2, 1, true, &out, &err), PW_EUSER);
    assert_int_equal(out.len, 0);
    pw_tokens_close(t);
}

/* Expressions that take exponential time, with and without a group that remembers. */
static void exploding_expressions_end(void **state)
{
    static const char *const files[] = {SPLIT("(a|aa)+[cd]"), SPLIT("(a+)+[cd]"), SPLIT("(?:a*)*[cd]"),
                                        SPLIT("(?:a|a)*[cd]")};
    char text[4000];
    (void)state;
    memset(text, 'a', sizeof text);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct pw_tokens *t = open_json(files[i]);
        double begin = seconds();
        refuse_text(t, text, sizeof text, "takes too long at byte 0 of the text");
        assert_true(seconds() - begin < 20);
        pw_tokens_close(t);
    }
}

/* A text of many combining marks takes quadratic time in its normal form. */
static void many_marks_are_refused(void **state)
{
    struct pw_tokens *t = open_json(WITH("\"normalizer\":{\"type\":\"NFC\"}"));
    struct pw_str s = {0};
    (void)state;
    for (int i = 0; i < 100000; i++)
        pw_str_add(&s, i % 2 == 0 ? "\u0327" : "\u0301");
    refuse_text(t, s.s, s.len, "the text has more than 2048 combining marks in a row");
    pw_str_fini(&s);
    pw_tokens_close(t);
}

/* One word of a million characters: every character merges, and every merge makes others possible. */
static void a_long_word_takes_no_quadratic_time(void **state)
{
    struct pw_tokens *t = open_json(MODEL("\"vocab\":{\"a\":0,\"aa\":1,\"aaaa\":2,\"aaaaaaaa\":3},"
                                          "\"merges\":[\"a a\",\"aa aa\",\"aaaa aaaa\"]"));
    struct pw_token_list list = {0};
    struct pw_err err;
    size_t n = 1000003;
    char *text = malloc(n);
    (void)state;
    assert_non_null(text);
    memset(text, 'a', n);
    double begin = seconds();
    assert_int_equal(pw_tokens_encode(t, text, n, &list, &err), PW_OK);
    assert_true(seconds() - begin < 20);
    assert_int_equal(list.n, 125000 + 2);
    assert_int_equal(list.ids[0], 3);
    assert_int_equal(list.ids[125000], 1);
    assert_int_equal(list.ids[125001], 0);
    pw_token_list_fini(&list);
    free(text);
    pw_tokens_close(t);
}

/* Added tokens that take white space, in nothing but white space. */
static void stripping_tokens_take_no_quadratic_time(void **state)
{
    static const char *const files[] = {
        WITH("\"added_tokens\":[{\"id\":3,\"content\":\" \",\"lstrip\":true,\"normalized\":false}]"),
        WITH("\"added_tokens\":[{\"id\":3,\"content\":\" \",\"rstrip\":true,\"normalized\":false}]")};
    size_t n = 1000000;
    char *text = malloc(n);
    (void)state;
    assert_non_null(text);
    memset(text, ' ', n);
    for (int i = 0; i < 2; i++) {
        struct pw_tokens *t = open_json(files[i]);
        struct pw_token_list list = {0};
        struct pw_err err;
        double begin = seconds();
        assert_int_equal(pw_tokens_encode(t, text, n, &list, &err), PW_OK);
        assert_int_equal(list.n, n);
        assert_true(seconds() - begin < 20);
        pw_token_list_fini(&list);
        pw_tokens_close(t);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_refused_by_one_line),
        cmocka_unit_test(deep_and_long_files_are_refused),
        cmocka_unit_test(texts_are_refused_by_one_line),
        cmocka_unit_test(exploding_expressions_end),
        cmocka_unit_test(stripping_tokens_take_no_quadratic_time),
        cmocka_unit_test(many_marks_are_refused),
        cmocka_unit_test(a_long_word_takes_no_quadratic_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
