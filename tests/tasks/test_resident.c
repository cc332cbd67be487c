/* test_resident.c - tests how much memory a tokenizer and its vocabulary keep when they have been read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "tasks/task.h"
#include "tests/resident.h"

enum { LETTERS = 16, TOKENS = 40000, DEEPEST = 8 };

/* Writes piece `id`: the words over 16 letters, short ones first. The piece without its last letter is
 * id / 16 - 1. */
static void spell(char piece[DEEPEST], int id)
{
    char turned[DEEPEST];
    int n = 0;
    for (; id >= 0; id = id / LETTERS - 1)
        turned[n++] = (char)('a' + id % LETTERS);
    for (int i = 0; i < n; i++)
        piece[i] = turned[n - 1 - i];
    piece[n] = '\0';
}

/* Writes a tokenizer.json in which every piece of several letters is a merge. */
static void write_json(struct pw_str *out)
{
    char piece[DEEPEST], before[DEEPEST];
    pw_str_add(out, "{\"model\":{\"type\":\"BPE\",\"vocab\":{");
    for (int id = 0; id < TOKENS; id++) {
        spell(piece, id);
        pw_str_add(out, "%s\"%s\":%d", id > 0 ? "," : "", piece, id);
    }
    pw_str_add(out, "},\"merges\":[");
    for (int id = LETTERS; id < TOKENS; id++) {
        spell(before, id / LETTERS - 1);
        pw_str_add(out, "%s[\"%s\",\"%c\"]", id > LETTERS ? "," : "", before, 'a' + id % LETTERS);
    }
    pw_str_add(out, "]}}");
}

/* Texts, offsets, flags, merges, hashes and words take about 100 bytes a token. The tree of the file would
 * take 400 more if its memory stayed with the process. */
static void test_memory_of_a_tokenizer(void **state)
{
    struct pw_vocab v = {.plain = true};
    struct pw_str json = {0};
    struct pw_tokens *t;
    struct pw_err err;
    char piece[DEEPEST];
    size_t n;
    (void)state;
    if (resident() == 0)
        skip();
    write_json(&json);
    size_t before = resident();
    if (pw_tokens_open_text(&t, json.s, json.len, "it", &err) != PW_OK)
        fail_msg("%s", err.msg);
    pw_vocab_add_tokens(&v, t, TOKENS);
    size_t taken = resident() - before, most = (size_t)TOKENS * 130;
    if (taken > most)
        fail_msg("%d tokens take %zu bytes; at most %zu are allowed", TOKENS, taken, most);
    for (int id = 0; id < TOKENS; id++) {
        spell(piece, id);
        assert_int_equal(pw_vocab_find(&v, piece, strlen(piece)), id);
        assert_string_equal(pw_tokens_piece(t, id), piece);
        assert_string_equal(pw_tokens_bytes(t, id, &n), piece);
        assert_int_equal(n, strlen(piece));
    }
    pw_vocab_fini(&v);
    pw_tokens_close(t);
    pw_str_fini(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory_of_a_tokenizer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
