/* test_vocab.c - tests the vocabulary: ids, longest-match tokenisation, and messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tasks/task.h"

static void fill(struct pw_vocab *v, const char *const *words)
{
    *v = (struct pw_vocab){0};
    pw_vocab_add(v, "<pad>");
    pw_vocab_add(v, "</s>");
    for (; *words != NULL; words++)
        pw_vocab_add(v, *words);
}

static void ids_stand_in_the_order_of_adding(void **state)
{
    struct pw_vocab v = {0};
    (void)state;
    assert_int_equal(pw_vocab_find(&v, "x", 1), -1);
    for (int i = 0; i < 1000; i++) {
        char word[16];
        snprintf(word, sizeof word, "w%d", i);
        assert_int_equal(pw_vocab_add(&v, word), i);
    }
    for (int i = 0; i < 1000; i++) {
        char word[16];
        snprintf(word, sizeof word, "w%d", i);
        assert_int_equal(pw_vocab_add(&v, word), i); /* the same word, the same id */
        assert_int_equal(pw_vocab_find(&v, word, strlen(word)), i);
        assert_string_equal(v.words[i], word);
    }
    assert_int_equal(v.n, 1000);
    assert_int_equal(pw_vocab_find(&v, "w1000", 5), -1);
    assert_int_equal(pw_vocab_find(&v, "w1000", 4), 100); /* "w100" */
    assert_int_equal(pw_vocab_find(&v, "", 0), -1);
    pw_vocab_fini(&v);
    assert_int_equal(v.n, 0);
}

/* A prefix whose hash slots hold longer words must not be found. */
static void prefixes_are_not_words(void **state)
{
    struct pw_vocab v = {0};
    (void)state;
    for (int i = 0; i < 1000; i++) {
        char word[16];
        snprintf(word, sizeof word, "aaaaaaaa%04d", i);
        pw_vocab_add(&v, word);
    }
    for (size_t n = 1; n < 12; n++)
        assert_int_equal(pw_vocab_find(&v, "aaaaaaaa0000", n), -1);
    assert_int_equal(pw_vocab_find(&v, "aaaaaaaa0000", 12), 0);
    pw_vocab_fini(&v);
}

static void the_longest_token_wins(void **state)
{
    static const char *const words[] = {"a",  "ab",  "abc",      " a",        "b", "c",
                                        "cd", " ab", "\xc3\xa9", "\xc3\xa9t", NULL};
    struct {
        const char *text, *cut;
    } cases[] = {
        {"abc", "abc"},
        {"abcd", "abc,?"}, /* greedy: the alternative "ab" + "cd" is not tried */
        {"abab", "ab,ab"},
        {"ababc", "ab,abc"},
        {"a ab a", "a, ab, a"},
        {"bcd", "b,cd"},
        {"\xc3\xa9t\xc3\xa9", "\xc3\xa9t,\xc3\xa9"},
        {"", ""},
    };
    struct pw_vocab v;
    (void)state;
    fill(&v, words);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int tokens[16];
        struct pw_err err;
        struct pw_str got = {0};
        int n = pw_vocab_cut(&v, cases[i].text, tokens, 16, &err);
        if (n < 0) {
            assert_non_null(strchr(cases[i].cut, '?'));
            continue;
        }
        for (int k = 0; k < n; k++)
            pw_str_add(&got, "%s%s", k > 0 ? "," : "", v.words[tokens[k]]);
        assert_string_equal(pw_str_text(&got), cases[i].cut);
        assert_int_equal(pw_vocab_cut(&v, cases[i].text, NULL, 16, NULL), n);
        pw_str_fini(&got);
    }
    pw_vocab_fini(&v);
}

static void unknown_pieces_and_long_texts_are_named(void **state)
{
    static const char *const words[] = {"sort", " 1", " 2", NULL};
    struct pw_vocab v;
    struct pw_err err;
    int tokens[4] = {-7, -7, -7, -7};
    (void)state;
    fill(&v, words);
    assert_int_equal(pw_vocab_cut(&v, "sort 1 3 1", tokens, 4, &err), -1);
    assert_string_equal(err.msg, "no token ' 3'; tokens are 'sort' ' 1' ' 2'");
    /* Neither the padding nor the end mark can be typed. */
    assert_int_equal(pw_vocab_cut(&v, "sort</s>", tokens, 4, &err), -1);
    assert_string_equal(err.msg, "no token '</s>'; tokens are 'sort' ' 1' ' 2'");
    assert_int_equal(pw_vocab_cut(&v, "<pad>", tokens, 4, &err), -1);
    /* The message must show a shortened piece as valid UTF-8 without control characters, for any position of
     * the cut. */
    for (int lead = 0; lead < 3; lead++) {
        struct pw_str text = {0};
        pw_str_add(&text, "\x1b[1m%.*s", lead, "mm");
        for (int i = 0; i < 30; i++)
            pw_str_add(&text, "\xc3\xa9");
        assert_int_equal(pw_vocab_cut(&v, text.s, tokens, 4, &err), -1);
        assert_true(pw_utf8_valid(err.msg, strlen(err.msg)));
        assert_null(strstr(err.msg, "\xa9?")); /* no half character at the end */
        assert_null(strchr(err.msg, '\x1b'));
        pw_str_fini(&text);
    }

    tokens[3] = -7;
    assert_int_equal(pw_vocab_cut(&v, "sort 1 2 1 2", tokens, 3, &err), -1);
    assert_string_equal(err.msg, "the text has 5 tokens; at most 3 are allowed");
    assert_int_equal(tokens[3], -7); /* nothing is written behind the buffer */
    assert_int_equal(pw_vocab_cut(&v, "sort 1 2", tokens, 3, &err), 3);
    pw_vocab_fini(&v);
}

static void same_means_the_same_words_in_the_same_order(void **state)
{
    static const char *const one[] = {"a", "b", NULL}, *const two[] = {"b", "a", NULL},
                             *const three[] = {"a", NULL};
    struct pw_vocab a, b, c, d;
    (void)state;
    fill(&a, one);
    fill(&b, one);
    fill(&c, two);
    fill(&d, three);
    assert_true(pw_vocab_same(&a, &b));
    assert_false(pw_vocab_same(&a, &c));
    assert_false(pw_vocab_same(&a, &d));
    pw_vocab_fini(&a);
    pw_vocab_fini(&b);
    pw_vocab_fini(&c);
    pw_vocab_fini(&d);
}

static void symbols_are_digits_then_letters(void **state)
{
    const char *all = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    (void)state;
    for (int i = 0; i < PW_MAX_SYMBOLS; i++) {
        assert_int_equal(pw_symbol(i)[0], all[i]);
        assert_int_equal(pw_symbol(i)[1], '\0');
        assert_int_equal(pw_symbol_index(all + i, 1), i);
    }
    assert_int_equal(pw_symbol_index("-", 1), -1);
    assert_int_equal(pw_symbol_index("ab", 2), -1);
    assert_int_equal(pw_symbol_index("", 0), -1);
    assert_int_equal(pw_symbol_index("\xc3", 1), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_stand_in_the_order_of_adding),
        cmocka_unit_test(prefixes_are_not_words),
        cmocka_unit_test(the_longest_token_wins),
        cmocka_unit_test(unknown_pieces_and_long_texts_are_named),
        cmocka_unit_test(same_means_the_same_words_in_the_same_order),
        cmocka_unit_test(symbols_are_digits_then_letters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
