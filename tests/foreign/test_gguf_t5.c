/* test_gguf_t5.c - T5's tables of biases in GGUF files are those of the folder; tests/lab/test_import_table.c
 * compares the folder with transformers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "foreign/foreign.h"
#include "ref_gguf.h"

#define FOLDER PEWTER_SOURCE_DIR "/tests/golden/t5/"

static struct ref_family families; /* for its temporary folder */

static struct pw_t5_table read_table(const char *path, bool encoder, int layer)
{
    struct pw_t5_table t;
    struct pw_err err;
    if (pw_t5_table_read(&t, path, encoder, layer, &err) != PW_OK)
        fail_msg("%s", err.msg);
    return t;
}

static void add_table(struct ref_gguf *g, const char *folder, bool encoder, int layer)
{
    char name[64];
    struct pw_t5_table t = read_table(folder, encoder, layer);
    snprintf(name, sizeof name, "%s.blk.%d.attn_rel_b.weight", encoder ? "enc" : "dec", layer);
    ref_gguf_tensor(g, name, t.buckets, t.heads, t.values);
    pw_t5_table_fini(&t);
}

static const char *write_file(struct ref_gguf *g, int buckets)
{
    const char *path = ref_family_path(&families, "t5.gguf");
    ref_gguf_text(g, "general.architecture", "t5");
    ref_gguf_u32(g, "t5.attention.relative_buckets_count", (uint32_t)buckets);
    ref_gguf_write(g, path);
    return path;
}

static void check_same(const char *path, const char *folder, bool encoder, int layer)
{
    struct pw_t5_table a = read_table(path, encoder, layer), b = read_table(folder, encoder, layer);
    assert_int_equal(a.buckets, b.buckets);
    assert_int_equal(a.heads, b.heads);
    assert_int_equal(a.layer, b.layer);
    assert_int_equal(a.distance, 128);
    assert_memory_equal(a.values, b.values, (size_t)a.buckets * (size_t)a.heads * sizeof *a.values);
    pw_t5_table_fini(&a);
    pw_t5_table_fini(&b);
}

static void tables_are_those_of_the_folder(void **state)
{
    struct ref_gguf g = {0};
    const char *path;
    (void)state;
    for (int encoder = 0; encoder < 2; encoder++)
        add_table(&g, FOLDER "one", encoder == 1, 0);
    path = write_file(&g, 32);
    check_same(path, FOLDER "one", false, -1);
    check_same(path, FOLDER "one", true, 0);
    for (int i = 0; i < 4; i++)
        add_table(&g, FOLDER "each", i % 2 == 1, i / 2);
    path = write_file(&g, 12);
    for (int i = 0; i < 4; i++)
        check_same(path, FOLDER "each", i % 2 == 1, i / 2);
}

static void check_refused(const char *path, bool encoder, int layer, const char *words)
{
    struct pw_t5_table t;
    struct pw_err err = {.msg = ""};
    assert_int_equal(pw_t5_table_read(&t, path, encoder, layer, &err), PW_EUSER);
    assert_null(t.values);
    if (strstr(err.msg, words) == NULL || strchr(err.msg, '\n') != NULL)
        fail_msg("'%s' does not say '%s'", err.msg, words);
}

static void faults_are_refused_by_one_line(void **state)
{
    struct ref_gguf g = {0};
    const char *path;
    (void)state;
    add_table(&g, FOLDER "one", true, 0);
    path = write_file(&g, 16);
    check_refused(path, true, -1, "t5.attention.relative_buckets_count=16, but the table has 32 rows");
    check_refused(path, false, -1, "the decoder has no table of biases, the encoder has: stack=encoder");
    check_refused(path, true, 1, "layer 1 of the encoder has no table of biases; allowed: 0..0");
    add_table(&g, FOLDER "each", false, 0);
    add_table(&g, FOLDER "each", false, 1);
    path = write_file(&g, 12);
    check_refused(path, false, -1,
                  "2 layers of the decoder have a table of their own; choose one: layer=0..1");
    path = write_file(&g, 12);
    check_refused(path, false, -1, "no tensor");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_those_of_the_folder),
        cmocka_unit_test(faults_are_refused_by_one_line),
    };

    ref_families_open(&families);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ref_families_close(&families);
    return failed;
}
