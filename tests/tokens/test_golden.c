/* test_golden.c - ids and decoded text of 5,000 hard lines are those of the library tokenizers, for every
 * family.
 *
 * tests/golden/make_tokenizers.py made the vocabularies and the digests of its results, a block of lines
 * each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/sha256.h"
#include "ref_lines.h"
#include "tokens/tokens.h"

enum { LINES = 5000, BLOCK = 100, SHOWN = 5, DIGITS = 16 };

static struct ref_lines lines;

/* Ids and texts of a block; the texts without and with special tokens. */
struct block {
    struct pw_str ids, plain, whole;
};

static void encode_line(const struct pw_tokens *t, int i, struct block *b)
{
    struct pw_str line = {0};
    struct pw_token_list list = {0};
    struct pw_err err = {.msg = ""};
    ref_line(&lines, 1, (uint64_t)i, &line);
    if (pw_tokens_encode(t, pw_str_text(&line), line.len, &list, &err) != PW_OK ||
        pw_tokens_decode(t, list.ids, list.n, false, &b->plain, &err) != PW_OK ||
        pw_tokens_decode(t, list.ids, list.n, true, &b->whole, &err) != PW_OK)
        fail_msg("line %d: %s", i, err.msg);
    for (size_t k = 0; k < list.n; k++)
        pw_str_add(&b->ids, "%s%d", k > 0 ? " " : "", list.ids[k]);
    pw_str_put(&b->ids, "\n", 1);
    pw_str_put(&b->plain, "\n", 1);
    pw_str_put(&b->whole, "\n", 1);
    pw_token_list_fini(&list);
    pw_str_fini(&line);
}

static void check_digest(const struct pw_str *s, const char *expected, int block, const char *what)
{
    uint8_t sha[32];
    char digits[65];
    pw_sha256_of(sha, s->s, s->len);
    pw_sha256_text(digits, sha);
    digits[DIGITS] = '\0';
    if (strcmp(digits, expected) != 0)
        fail_msg("lines %d to %d: the %s differ", block * BLOCK, (block + 1) * BLOCK - 1, what);
}

/* Compares the first lines id by id, so that a failure shows more than a digest. */
static void check_shown(FILE *f, const struct pw_str *ids)
{
    static char line[1 << 16];
    const char *at = ids->s;
    for (int i = 0; i < SHOWN; i++) {
        assert_non_null(fgets(line, sizeof line, f));
        size_t n = strcspn(at, "\n") + 1;
        if (strlen(line) != n || strncmp(line, at, n) != 0)
            fail_msg("line %d: ids %.*s, expected %s", i, (int)n - 1, at, line);
        at += n;
    }
}

static void check_family(void **state)
{
    const char *name = *state;
    char path[512], digests[3][DIGITS + 1];
    struct pw_tokens *t;
    struct pw_err err = {.msg = ""};
    snprintf(path, sizeof path, REF_TOKENIZERS "%s.json", name);
    if (pw_tokens_open(&t, path, &err) != PW_OK)
        fail_msg("%s", err.msg);
    snprintf(path, sizeof path, REF_TOKENIZERS "%s.ids", name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    for (int block = 0; block < LINES / BLOCK; block++) {
        struct block b = {{0}, {0}, {0}};
        for (int i = 0; i < BLOCK; i++)
            encode_line(t, block * BLOCK + i, &b);
        assert_int_equal(fscanf(f, "%16s %16s %16s\n", digests[0], digests[1], digests[2]), 3);
        if (block == 0)
            check_shown(f, &b.ids);
        check_digest(&b.ids, digests[0], block, "ids");
        check_digest(&b.plain, digests[1], block, "texts");
        check_digest(&b.whole, digests[2], block, "texts with special tokens");
        pw_str_fini(&b.ids);
        pw_str_fini(&b.plain);
        pw_str_fini(&b.whole);
    }
    fclose(f);
    pw_tokens_close(t);
}

static int load_lines(void **state)
{
    (void)state;
    ref_lines_init(&lines);
    return 0;
}

static int free_lines(void **state)
{
    (void)state;
    ref_lines_fini(&lines);
    return 0;
}

int main(void)
{
    static char gpt2[] = "gpt2", neox[] = "neox", llama3[] = "llama3", qwen2[] = "qwen2", llama2[] = "llama2",
                gemma[] = "gemma", metaspace[] = "metaspace", mixed[] = "mixed";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(check_family, gpt2),      cmocka_unit_test_prestate(check_family, neox),
        cmocka_unit_test_prestate(check_family, llama3),    cmocka_unit_test_prestate(check_family, qwen2),
        cmocka_unit_test_prestate(check_family, llama2),    cmocka_unit_test_prestate(check_family, gemma),
        cmocka_unit_test_prestate(check_family, metaspace), cmocka_unit_test_prestate(check_family, mixed),
    };
    return cmocka_run_group_tests(tests, load_lines, free_lines);
}
