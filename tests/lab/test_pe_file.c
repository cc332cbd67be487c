/* test_pe_file.c - tests `pe file=F.npz`: which arrays it takes, and that an encoding, written as such a
 * file, is the same encoding. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/npz.h"
#include "lab/actions.h"
#include "ref_lab.h"

#define TASK  "task sort lengths=2..4 test=5..6; "
#define MODEL "model tiny context=16 layers=2 width=16 heads=4; optim batch=8; "

enum { L = 2, H = 4, P = 16, D = 4 };

static char folder[] = "/tmp/pewter-pe-file-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/own.npz", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

/* Writes one array of random numbers, or of `all`, with these dimensions (0 ends them). */
static void write_array(const char *name, double all, const int64_t *dims)
{
    struct pw_npz *z;
    struct pw_err err;
    int64_t n = 1;
    int n_dims = 0;
    for (; n_dims < 5 && dims[n_dims] > 0; n_dims++)
        n *= dims[n_dims];
    float *v = malloc((size_t)n * sizeof *v);
    for (int64_t i = 0; i < n; i++)
        v[i] = isnan(all) ? (float)((i * 7919) % 31) / 16 - 1 : (float)all;
    assert_int_equal(pw_npz_open(&z, path, &err), PW_OK);
    pw_npz_f32(z, name, v, n_dims, dims);
    assert_int_equal(pw_npz_close(z, &err), PW_OK);
    free(v);
}

static float number_at(const int64_t i)
{
    return (float)((i * 7919) % 31) / 16 - 1;
}

/* Runs "pe file=PATH REST". */
static void take_file(struct bench *b, const char *rest)
{
    char line[128];
    snprintf(line, sizeof line, "pe file=%s %s", path, rest);
    bench_run(b, line);
}

/* A model trained with a file of an encoding has the bits of one that was trained with the encoding, if the
 * encoding is fixed. */
static void a_file_is_the_encoding(void **state)
{
    static const char *const pes[] = {"alibi",
                                      "sinusoidal",
                                      "expr 'scale = log(i + 2)'",
                                      "expr 'bias = l == 0 ? -d : h * d'",
                                      "expr 'bias = -(i * j) / 10'",
                                      "expr 'bias = -d; mask = d < 6'"};
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    for (size_t i = 0; i < sizeof pes / sizeof *pes; i++) {
        char line[256], before[64];
        snprintf(line, sizeof line, TASK MODEL "pe %s; export table %s; train 5; digest", pes[i], path);
        bench_must(&b, line);
        snprintf(before, sizeof before, "%.60s", strstr(b.digests, "digest"));
        snprintf(line, sizeof line, MODEL "pe file=%s; train 5; digest", path);
        bench_must(&b, line);
        if (strstr(b.digests, before) == NULL)
            fail_msg("%s: trained with its file: %s, not %s", pes[i], b.digests, before);
    }
    bench_close(&b);
}

/* The values of a trained encoding, without its parameters. */
static void a_learned_one_becomes_fixed(void **state)
{
    static const char *const pes[] = {"t5", "clipped", "fire", "expr 'a = learn(1) per head; bias = -a * d'"};
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    for (size_t i = 0; i < sizeof pes / sizeof *pes; i++) {
        char line[256];
        float bias[H * P];
        snprintf(line, sizeof line, TASK MODEL "pe %s; train 5; table length=16; export table %s", pes[i],
                 path);
        bench_must(&b, line);
        memcpy(bias, pw_table_of(b.s, 1)->bias, sizeof bias);
        snprintf(line, sizeof line, "pe file=%s; table length=16; pe file=%s; table length=16", path, path);
        bench_must(&b, line);
        assert_memory_equal(pw_table_of(b.s, 1)->bias, bias, sizeof bias);
        assert_int_equal(pw_table_of(b.s, 1)->n_params, 0);
    }
    bench_close(&b);
}

static void shapes_of_a_bias(void **state)
{
    static const struct {
        int64_t dims[5];
        const char *by;
        int64_t of_head; /* between two heads; 0: all share the numbers */
        int64_t first;   /* number of head 0 at distance 0 of the last query */
        int64_t step;    /* to the next distance */
    } cases[] = {{{P}, "", 0, 0, 1},
                 {{H, P}, "", P, 0, 1},
                 {{H, 2 * P - 1}, "", 2 * P - 1, P - 1, 1},
                 {{H, 2 * P - 1}, "by=distance", 2 * P - 1, 0, 1},
                 {{H, 39}, "by=signed", 39, 19, 1},
                 {{H, P, P}, "", P * P, P * P - 1, -1},
                 {{P, P}, "by=pair", 0, P * P - 1, -1},
                 {{L, H, P}, "", P, 0, 1},
                 {{L, H, P, P}, "", P * P, P * P - 1, -1}};
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, TASK MODEL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_array("bias", NAN, cases[i].dims);
        take_file(&b, cases[i].by);
        if (b.errors > 0)
            fail_msg("case %zu: %s", i, b.error);
        bench_must(&b, "table length=16");
        const struct pw_ev_table *t = pw_table_of(b.s, 1);
        for (int h = 0; h < H; h++)
            for (int d = 0; d < P; d++) {
                float want = number_at(cases[i].first + h * cases[i].of_head + d * cases[i].step);
                if (t->bias[h * P + d] != want)
                    fail_msg("case %zu: head %d, distance %d is %g, not %g", i, h, d,
                             (double)t->bias[h * P + d], (double)want);
            }
    }
    bench_close(&b);
}

static void one_line_for_each_fault(void **state)
{
    static const struct {
        const char *name;
        double all;
        int64_t dims[5];
        const char *rest, *says;
    } cases[] = {
        {"bias", NAN, {3, P}, "", "own.npz: bias is [3,16]; allowed are [P], [H,P] by distance"},
        {"bias", NAN, {3, H, P}, "", "with L=2 layers, H=4 heads"},
        {"bias", NAN, {H, 16}, "by=signed", "bias is [4,16]"},
        {"bias", NAN, {H, P}, "by=pair", "bias is [4,16]"},
        {"bias", NAN, {1, L, H, P, P}, "", "in at most 4 dimensions"},
        {"bias", INFINITY, {H, P}, "", "expr: bias is not finite at d=0, head 0"},
        {"bias", -INFINITY, {H, P}, "", "sees no key"},
        {"scale", NAN, {H, H, P}, "", "scale is [4,4,16]; allowed are [P], [H,P] and [L,H,P]"},
        {"angle", NAN, {P, 3}, "", "angle is [16,3]; allowed are [P,2] and [L,P,2]"},
        {"embed", NAN, {P, 3}, "", "embed is [16,3]; allowed are [P,16]"},
        {"slopes", NAN, {H}, "", "has none of the arrays bias, scale, angle and embed"},
        {"bias", NAN, {H, P}, "by=row", "by=row"},
        {"bias", NAN, {H, P}, "L=3", "no option"},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, TASK MODEL "pe alibi");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_array(cases[i].name, cases[i].all, cases[i].dims);
        take_file(&b, cases[i].rest);
        if (b.errors != 1 || strstr(b.error, cases[i].says) == NULL)
            fail_msg("case %zu: '%s' is not in '%s'", i, cases[i].says, b.error);
        assert_string_equal(b.s->arms[0].info.pe, "alibi");
    }
    bench_run(&b, "pe file=own.npy");
    assert_non_null(strstr(b.error, "allowed are .npz files"));
    bench_run(&b, "pe file=own.npz alibi");
    assert_non_null(strstr(b.error, "no name or formula beside it"));
    bench_run(&b, "pe expr 'bias = data_0123456789abcdef[h, d]'");
    assert_non_null(strstr(b.error, "column 8: the numbers data_0123456789abcdef were not read"));
    bench_run(&b, "pe file=/nonexistent/own.npz");
    assert_int_equal(b.errors, 1);
    bench_close(&b);
}

/* Numbers can be read by a formula of one's own; their name is that of their content. */
static void numbers_in_a_formula(void **state)
{
    struct bench b;
    char pe[PW_ENCODING], line[PW_ENCODING + 100], *name;
    (void)state;
    bench_open(&b, 1, false);
    write_array("bias", NAN, (int64_t[]){H, P, 0});
    bench_must(&b, TASK MODEL);
    take_file(&b, "");
    snprintf(pe, sizeof pe, "%s", b.s->arms[0].info.pe);
    assert_non_null(strstr(pe, "[h, d]' as=own"));
    name = strstr(pe, "data_");
    name[21] = '\0';
    snprintf(line, sizeof line, "pe expr 'bias = 2 * %s[H - 1 - h, d + 1]'; table length=16", name);
    bench_must(&b, line);
    assert_true(pw_table_of(b.s, 1)->bias[3] == 2 * number_at(3 * P + 4));
    assert_true(pw_table_of(b.s, 1)->bias[P - 1] == 2 * number_at(3 * P + P - 1)); /* clamped */
    snprintf(line, sizeof line, "pe expr 'bias = %s[h]'", name);
    bench_run(&b, line);
    assert_non_null(strstr(b.error, "',' was expected between indices"));
    snprintf(line, sizeof line, "pe expr 'bias = %s[h, d, 1]'", name);
    bench_run(&b, line);
    assert_non_null(strstr(b.error, "has 2 indices"));
    snprintf(line, sizeof line, "pe expr 'a = learn(1); bias = a * %s[h, d]'", name);
    bench_run(&b, line);
    assert_non_null(strstr(b.error, "it can't read the numbers of a file"));
    snprintf(line, sizeof line, "pe expr 'score = s + %s[h, i]'", name);
    bench_run(&b, line);
    assert_non_null(strstr(b.error, "no numbers of a file here"));
    bench_run(&b, "pe save mine");
    assert_non_null(strstr(b.error, "its numbers are of a file"));
    bench_close(&b);
}

/* A file with fewer positions than the model is allowed, and said. */
static void short_files_are_said(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, TASK MODEL);
    write_array("bias", NAN, (int64_t[]){H, 9, 0});
    take_file(&b, "");
    assert_int_equal(b.errors, 0);
    assert_true(b.notes >= 2);
    bench_must(&b, "table length=16");
    assert_true(pw_table_of(b.s, 1)->bias[15] == number_at(8));
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_the_encoding), cmocka_unit_test(a_learned_one_becomes_fixed),
        cmocka_unit_test(shapes_of_a_bias),       cmocka_unit_test(one_line_for_each_fault),
        cmocka_unit_test(numbers_in_a_formula),   cmocka_unit_test(short_files_are_said),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
