/* test_library.c - tests formula files: found by name, with options, in races and forks, saved, refused with
 * one line, and no longer needed by what was made with them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/expr/library.h"
#include "ref_record.h"

#define SMALL   "model tiny width=32 layers=2 heads=4; optim batch=4; "
#define TEXT(s) s, sizeof(s) - 1
#define OWN     PEWTER_SOURCE_DIR "/encodings"

static char folder[] = "/tmp/pewter-library-XXXXXX";

static void write_bytes(const char *name, const char *bytes, size_t n)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void write_text(const char *name, const char *text)
{
    write_bytes(name, text, strlen(text));
}

static void remove_file(const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(unlink(path), 0);
}

static const char mine[] = "# title: mine\n# paper: none\n"
                           "a = option(1, 0.5..100)  # scale of the distance\n"
                           "most = option(8, 1..64)\n"
                           "bias = -a * min(d, most)\n";

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    pw_library_folders(folder, OWN);
    write_text("mine.pe", mine);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove_file("mine.pe");
    assert_int_equal(rmdir(folder), 0);
    pw_library_folders(NULL, NULL);
    return 0;
}

static void expect_pe(struct bench *b, int arm, const char *want)
{
    struct pw_str shown = {0};
    assert_string_equal(pw_encoding_text(&shown, b->s->arms[arm - 1].info.pe), want);
    pw_str_fini(&shown);
}

/* The files with the bits of built-in encodings. */
static void test_bits(void **state)
{
    static const char *const same[][2] = {
        {"alibi", "alibi_formula"},
        {"rotary", "rotary_formula"},
        {"rotary", "p_rope fraction=1"},
        {"rotary", "rope_yarn factor=1"},
        {"none", "p_rope fraction=0"},
        {"sinusoidal amplitude=1", "sinusoidal_formula"},
        {"rotary stretch=0.5", "rope_pi factor=2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        char said[2][256];
        for (int k = 0; k < 2; k++) {
            struct bench b;
            char line[256];
            bench_open(&b, 1 + k, false);
            snprintf(line, sizeof line, SMALL "pe %s; train 20; digest", same[i][k]);
            bench_must(&b, line);
            const char *life = strstr(digest_line(b.digests, 0), "  step");
            assert_non_null(life);
            snprintf(said[k], sizeof said[k], "%s", life);
            bench_close(&b);
        }
        if (!same_line(said[0], said[1]))
            fail_msg("%s: %s%s: %s", same[i][0], said[0], same[i][1], said[1]);
    }
}

struct every {
    struct bench b;
    int trained;
    struct pw_str refused;
};

static void train_file(void *arg, const char *name)
{
    struct every *e = arg;
    char line[200];
    snprintf(line, sizeof line, "pe %s; train 2; prompt sort 3 1; table", name);
    bench_run(&e->b, line);
    if (e->b.errors > 0)
        pw_str_add(&e->refused, "%s ", name);
    e->trained += e->b.errors == 0;
}

/* Every file is trained, decoded and shown. */
static void test_every_file(void **state)
{
    struct every e = {.trained = 0};
    (void)state;
    bench_open(&e.b, 2, false);
    bench_must(&e.b, SMALL "model layers=4");
    pw_library_list(train_file, &e);
    bench_close(&e.b);
    assert_string_equal(pw_str_text(&e.refused), "");
    assert_true(e.trained >= 27);
    pw_str_fini(&e.refused);
}

static void test_options(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, SMALL "pe MINE most=4; train 3; digest");
    expect_pe(&b, 1, "mine a=1 most=4");
    assert_string_equal(b.s->arms[0].info.name, "mine");
    assert_non_null(strstr(b.s->arms[0].info.pe, "as=mine"));
    bench_must(&b, "tune a=2 stretch=0.5");
    expect_pe(&b, 1, "mine a=2 most=4 stretch=0.5");
    bench_must(&b, "tune off");
    expect_pe(&b, 1, "mine a=2 most=4");
    bench_must(&b, "race mine,mine(a=2,most=3),t5 seeds=2; arm 2; fork mine a=3 stretch=2; arm add mine a=4");
    expect_pe(&b, 1, "mine a=1 most=8");
    expect_pe(&b, 2, "mine a=2 most=3");
    expect_pe(&b, 4, "mine a=3 most=8 stretch=2");
    expect_pe(&b, 5, "mine a=4 most=8");
    bench_must(
        &b, "race expr('a = option(2, 0..9); bias = -a * d',a=3),expr(\"bias = -3 * d\"); train 4; digest");
    const char *first = strstr(digest_line(b.digests, 0), "  step"),
               *second = strstr(digest_line(b.digests, 1), "  step");
    assert_true(first != NULL && second != NULL && same_line(first, second));
    bench_must(&b, "pe arm=2 restart=off expr bias = -2 * d");
    bench_must(&b,
               "race t5_formula,t5_formula(distance=32),kerple_log; train 3; transplant 2; tune distance=64");
    expect_pe(&b, 1, "t5_formula buckets=8 distance=64");
    bench_run(&b, "tune buckets=16");
    assert_non_null(strstr(b.error, "this changes the number of parameters"));
    bench_run(&b, "transplant 3");
    assert_non_null(strstr(b.error, "both must have the same encoding"));
    bench_close(&b);
}

/* A file is found by its name in any letters; the one of the very name comes first. A path is no name. */
static void test_letters(void **state)
{
    struct bench b;
    (void)state;
    write_text("Alike.pe", "bias = -2 * d\n");
    bench_open(&b, 1, false);
    bench_must(&b, SMALL "pe alike");
    expect_pe(&b, 1, "alike");
    assert_non_null(strstr(b.s->arms[0].info.pe, "-2"));
    write_text("alike.pe", "bias = -3 * d\n");
    bench_must(&b, "pe none; pe ALIKE");
    assert_non_null(strstr(b.s->arms[0].info.pe, "-3"));
    bench_run(&b, "pe ../alike");
    assert_non_null(strstr(b.error, "../alike"));
    bench_close(&b);
    remove_file("Alike.pe");
    remove_file("alike.pe");
}

static void test_refused(void **state)
{
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"pe mine a=0.2", "mine: a=0.2: allowed are 0.5..100"},
        {"pe mine most=3.5", "mine: most=3.5: allowed are whole numbers 1..64"},
        {"pe mine b=1", "mine: no option 'b'; there are a most"},
        {"pe mien", "no encoding 'mien'; did you mean 'mine'?"},
        {"pe expr 'bias = d", "unclosed quote"},
        {"pe expr bias = -d arm=2", "expr: column 11: ';' or the end was expected, not 'arm'"},
        {"pe expr 'bias = -d' as=t5", "as=t5: this name has another meaning"},
        {"pe expr 'bias = -d' as=a-b",
         "as=a-b: a name has 1 to 31 letters, digits and _, and begins with a letter"},
        {"pe expr 'a = option(1, 3..2); bias = a'", "expr: column 12: option 'a': the range 3..2 is empty"},
        {"pe expr 'a = option(9, 1..2); bias = a'", "expr: column 12: option 'a': 9 is not in 1..2"},
        {"pe expr 'a = option(d, 1..2); bias = a'",
         "expr: column 12: option(default, low..high): the default is a number"},
        {"pe expr 'a = option(1, 1..2); bias = d'", "expr: column 1: nothing uses the option 'a'"},
        {"pe expr 'stretch = option(1, 1..2); bias = d'",
         "expr: column 1: option 'stretch': this key has another meaning; choose another name"},
        {"pe none; pe save x", "pe save: 'none' is a built-in encoding; only a formula can be saved"},
        {"pe mine; pe save T5", "pe save: 'T5' has a meaning already; choose another name"},
        {"pe mine; pe save ../x",
         "pe save: '../x': a name has 1 to 31 letters, digits and _, and begins with a letter"},
        {"pe save", "usage: pe save NAME [title=TEXT] [replace=on] [arm=K]"},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, SMALL "pe alibi; train 3; digest");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench_run(&b, cases[i].line);
        if (strstr(b.error, cases[i].message) == NULL)
            fail_msg("%s: %s", cases[i].line, b.error);
    }
    bench_run(&b, "pe mine; pe save mine");
    assert_non_null(strstr(b.error, "mine.pe exists; replace=on replaces it"));
    bench_close(&b);
}

/* Every bad file is one line; the arm stays as it was. */
static void test_hostile(void **state)
{
    static char large[20000];
    static const struct {
        const char *bytes;
        size_t n;
        const char *message;
    } cases[] = {
        {"", 0, "bad.pe: line 1, column 1: the formula defines nothing"},
        {TEXT("# title: x\n\nbias = lgo(d)\n"), "bad.pe: line 3, column 8: nothing has the name 'lgo'"},
        {TEXT("# title: x\r\nbias = -d\r\nmask = \r\n"),
         "bad.pe: line 3, column 9: the expression is not complete"},
        {TEXT("bias = -d\0"), "bad.pe: has NUL bytes; it must be text"},
        {TEXT("\x7f"
              "ELF\x02\x01"),
         "bad.pe: line 1, column 1: '?' has no meaning in a formula"},
        {TEXT("# title: \xff\xfe\nbias = d"), "bad.pe: not valid UTF-8 text"},
        {TEXT("bias = d # \xc3\xa4\n; angle = \xc3\xa4"), "bad.pe: line 2, column 11"},
    };
    struct bench b;
    char path[200], other[200];
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, SMALL "pe alibi");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_bytes("bad.pe", cases[i].bytes, cases[i].n);
        bench_run(&b, "pe bad");
        if (strstr(b.error, cases[i].message) == NULL || strchr(b.error, '\n') != NULL)
            fail_msg("file %zu: %s", i, b.error);
    }
    memset(large, '#', sizeof large);
    write_bytes("bad.pe", large, sizeof large);
    bench_run(&b, "pe bad");
    assert_non_null(strstr(b.error, "bad.pe: has 20000 bytes; the limit is 16384"));
    memset(large, ' ', 5000);
    memcpy(large + 4990, "bias = -d\n", 10);
    write_bytes("bad.pe", large, 5000);
    bench_run(&b, "pe bad");
    assert_non_null(strstr(b.error, "bad.pe: a formula has at most 4000 characters"));
    remove_file("bad.pe");
    snprintf(path, sizeof path, "%s/bad.pe", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    bench_run(&b, "pe bad");
    assert_non_null(strstr(b.error, "is a directory, not a file"));
    assert_int_equal(rmdir(path), 0);
    snprintf(other, sizeof other, "%s/loop.pe", folder);
    assert_int_equal(symlink(other, path), 0);
    assert_int_equal(symlink(path, other), 0);
    bench_run(&b, "pe bad");
    assert_non_null(strstr(b.error, "cannot open: Too many levels of symbolic links"));
    assert_int_equal(unlink(path) | unlink(other), 0);
    assert_int_equal(symlink("/dev/zero", path), 0);
    bench_run(&b, "pe bad");
    assert_non_null(strstr(b.error, "is a device or a pipe, not a file"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    bench_run(&b, "pe bad");
    assert_non_null(strstr(b.error, "is a device or a pipe, not a file"));
    assert_int_equal(unlink(path), 0);
    if (geteuid() != 0) { /* root reads all */
        write_text("bad.pe", mine);
        assert_int_equal(chmod(path, 0), 0);
        bench_run(&b, "pe bad");
        assert_non_null(strstr(b.error, "cannot open: Permission denied"));
        assert_int_equal(unlink(path), 0);
    }
    expect_pe(&b, 1, "alibi");
    bench_close(&b);
}

/* The user's files come before the project's, built-in encodings before both. */
static void test_order(void **state)
{
    struct bench b;
    (void)state;
    write_text("rope_pi.pe", "bias = -7 * d\n");
    write_text("t5.pe", "bias = -7 * d\n");
    write_text("no-name.pe", "bias = -7 * d\n");
    bench_open(&b, 1, false);
    bench_must(&b, SMALL "pe rope_pi");
    expect_pe(&b, 1, "rope_pi");
    bench_must(&b, "pe t5");
    expect_pe(&b, 1, "t5 buckets=8 distance=16");
    bench_run(&b, "pe no-name");
    assert_non_null(strstr(b.error, "no encoding 'no-name'"));
    remove_file("rope_pi.pe");
    remove_file("t5.pe");
    remove_file("no-name.pe");
    bench_must(&b, "pe rope_pi");
    expect_pe(&b, 1, "rope_pi base=10000 factor=2");
    bench_close(&b);
}

/* A saved formula is the same encoding under another name. */
static void test_save(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, SMALL "pe mine a=2.5 most=3; train 4; digest");
    struct bench before = b;
    bench_must(&b, "pe save Other title=\"; two words\"");
    expect_pe(&b, 1, "other a=2.5 most=3"); /* the arm has the name, and its weights */
    bench_must(&b, "digest");
    assert_string_equal(strstr(before.digests, "  step"), strstr(b.digests, "  step"));
    bench_must(&b, "reset; pe other; train 4; digest");
    expect_pe(&b, 1, "other a=2.5 most=3");
    assert_string_equal(strstr(before.digests, "  step"), strstr(b.digests, "  step"));
    bench_must(&b, "pe expr bias = -d; pe save other replace=on; pe other");
    expect_pe(&b, 1, "other");
    bench_close(&b);
    remove_file("other.pe");
}

/* A re-run names the arm as the session did, and writes no file. */
static void test_save_recorded(void **state)
{
    struct bench b;
    struct record r;
    (void)state;
    record_open(&b, &r, 2, false);
    bench_must(&b, SMALL
               "pe expr 'a = learn(1) per head; bias = -a * d'; train 4; fork; arm 2; pe save kept; train 4; "
               "digest; pe name again arm=1; pe name again arm=1; table");
    expect_pe(&b, 1, "again");
    expect_pe(&b, 2, "kept");
    bench_close(&b);
    remove_file("kept.pe");
    record_must(&r, 1);
    record_free(&r);
    assert_false(pw_library_has("kept"));
}

/* A session is re-run, and weights are read, where no file is. */
static void test_without_files(void **state)
{
    struct bench b;
    struct record r;
    char line[512], copies[] = "/tmp/pewter-library-copies-XXXXXX", hex[65];
    (void)state;
    assert_non_null(mkdtemp(copies));
    record_open(&b, &r, 2, false);
    snprintf(line, sizeof line,
             SMALL "race mine,Mine(a=2); train 6; tune a=3; train 2; arm 2; pe mine most=2; train 2; digest; "
                   "export weights %s/w.safetensors",
             folder);
    bench_must(&b, line);
    bench_close(&b);
    int files = 0;
    for (int i = 0; i < r.n; i++)
        if (r.e[i]->kind == PW_EV_FILE) {
            assert_string_equal(r.e[i]->u.file.name, "encodings/mine.pe");
            for (int k = 0; k < 32; k++)
                snprintf(hex + 2 * k, 3, "%02x", r.e[i]->u.file.sha[k]);
            files++;
        }
    assert_int_equal(files, 3);
    snprintf(line, sizeof line, "%s/%s", copies, hex);
    FILE *f = fopen(line, "wb");
    assert_non_null(f);
    fputs(mine, f);
    assert_int_equal(fclose(f), 0);
    pw_library_folders("/nonexistent", "/nonexistent");
    r.files = copies;
    record_must(&r, 1);
    bench_open(&b, 1, false);
    snprintf(line, sizeof line, SMALL "pe none; import weights %s/w.safetensors; train 1", folder);
    bench_must(&b, line);
    expect_pe(&b, 1, "mine a=1 most=2");
    bench_close(&b);
    record_free(&r);
    pw_library_folders(folder, OWN);
    snprintf(line, sizeof line, "%s/%s", copies, hex);
    unlink(line);
    rmdir(copies);
    remove_file("w.safetensors");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),          cmocka_unit_test(test_every_file),
        cmocka_unit_test(test_options),       cmocka_unit_test(test_refused),
        cmocka_unit_test(test_hostile),       cmocka_unit_test(test_order),
        cmocka_unit_test(test_save),          cmocka_unit_test(test_save_recorded),
        cmocka_unit_test(test_without_files), cmocka_unit_test(test_letters),
    };
    return cmocka_run_group_tests_name("library", tests, set_up, tear_down);
}
