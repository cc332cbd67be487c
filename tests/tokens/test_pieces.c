/* test_pieces.c - tests labels, bytes and spellings of ids, and the tokens that a file puts before a text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ref_lines.h"
#include "tokens/tokens.h"

static struct pw_tokens *open_family(const char *name)
{
    char path[512];
    struct pw_tokens *t;
    struct pw_err err;
    snprintf(path, sizeof path, REF_TOKENIZERS "%s.json", name);
    if (pw_tokens_open(&t, path, &err) != PW_OK)
        fail_msg("%s", err.msg);
    return t;
}

static void check_piece(const struct pw_tokens *t, const char *piece, const char *bytes, const char *label)
{
    char got[PW_TOKENS_LABEL];
    size_t n;
    int id = pw_tokens_find(t, piece);
    if (id < 0)
        fail_msg("no piece '%s'", piece);
    const char *s = pw_tokens_bytes(t, id, &n);
    assert_int_equal(n, strlen(bytes));
    assert_memory_equal(s, bytes, n);
    pw_tokens_label(t, id, got);
    assert_string_equal(got, label);
    assert_string_equal(pw_tokens_piece(t, id), piece);
}

static void pieces_have_bytes_and_labels(void **state)
{
    struct pw_tokens *t = open_family("gpt2");
    (void)state;
    check_piece(t, "Ġthe", " the", "·the");
    check_piece(t, "Ċ", "\n", "↵");
    check_piece(t, "ĉ", "\t", "⇥");
    check_piece(t, "â", "\xe2", "<0xE2>");
    pw_tokens_close(t);
    t = open_family("llama2");
    check_piece(t, "▁the", " the", "·the");
    check_piece(t, "<0xE2>", "\xe2", "<0xE2>");
    check_piece(t, "<0x0A>", "\n", "<0x0A>"); /* and a piece of the line's end would be ↵ */
    check_piece(t, "</s>", "</s>", "</s>");
    assert_true(pw_tokens_special(t, pw_tokens_find(t, "</s>")));
    assert_false(pw_tokens_special(t, pw_tokens_find(t, "▁the")));
    assert_int_equal(pw_tokens_find(t, "no such piece"), -1);
    pw_tokens_close(t);
    t = open_family("neox");
    check_piece(t, "            ", "            ", "··········…");
    pw_tokens_close(t);
}

static void a_nul_is_a_byte_like_others(void **state)
{
    struct pw_tokens *t = open_family("gpt2");
    struct pw_token_list list = {0};
    struct pw_str out = {0};
    struct pw_err err;
    char label[PW_TOKENS_LABEL];
    (void)state;
    assert_int_equal(pw_tokens_encode(t, "a\0b", 3, &list, &err), PW_OK);
    assert_int_equal(pw_tokens_decode(t, list.ids, list.n, true, &out, &err), PW_OK);
    assert_int_equal(out.len, 3);
    assert_memory_equal(out.s, "a\0b", 3);
    pw_tokens_label(t, pw_tokens_find(t, "Ā"), label);
    assert_string_equal(label, "<0x00>");
    pw_str_fini(&out);
    pw_token_list_fini(&list);
    pw_tokens_close(t);
}

static void tokens_before_a_text(void **state)
{
    static const struct {
        const char *family;
        int n;
        const char *piece;
    } cases[] = {{"gpt2", 0, NULL}, {"llama2", 1, "<s>"}, {"llama3", 1, "<|begin_of_text|>"}};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct pw_tokens *t = open_family(cases[i].family);
        int ids[2] = {-1, -1};
        assert_int_equal(pw_tokens_before(t, ids, 2), cases[i].n);
        if (cases[i].n > 0)
            assert_string_equal(pw_tokens_piece(t, ids[0]), cases[i].piece);
        assert_int_equal(ids[1], -1);
        pw_tokens_close(t);
    }
}

/* An id without a piece decodes to nothing and has a label of its own. */
static void ids_without_a_piece(void **state)
{
    static const char json[] = "{\"model\":{\"vocab\":{\"a\":0,\"b\":2},\"merges\":[]}}";
    struct pw_tokens *t;
    struct pw_str out = {0};
    struct pw_err err;
    char label[PW_TOKENS_LABEL];
    size_t n;
    const int ids[] = {0, 1, 2};
    (void)state;
    assert_int_equal(pw_tokens_open_text(&t, json, strlen(json), "it", &err), PW_OK);
    assert_int_equal(pw_tokens_count(t), 3);
    assert_null(pw_tokens_piece(t, 1));
    pw_tokens_bytes(t, 1, &n);
    assert_int_equal(n, 0);
    pw_tokens_label(t, 1, label);
    assert_string_equal(label, "<unused 1>");
    assert_int_equal(pw_tokens_decode(t, ids, 3, true, &out, &err), PW_OK);
    assert_string_equal(out.s, "a b"); /* without a decoder pieces are joined by spaces, as in tokenizers */
    pw_str_fini(&out);
    pw_tokens_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_have_bytes_and_labels),
        cmocka_unit_test(a_nul_is_a_byte_like_others),
        cmocka_unit_test(tokens_before_a_text),
        cmocka_unit_test(ids_without_a_piece),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
