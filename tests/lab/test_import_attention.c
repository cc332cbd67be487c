/* test_import_attention.c - tests attention imported from a file: its required parts, that it is unchanged,
 * and that it is shown beside the arm's until it is removed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/npz.h"
#include "base/sha256.h"
#include "ref_record.h"

#define FILE_NAME "theirs.npz"

static int setup(void **state)
{
    (void)state;
    char folder[] = "/tmp/pewter-import-XXXXXX";
    return mkdtemp(folder) == NULL ? -1 : chdir(folder);
}

static int teardown(void **state)
{
    char folder[256];
    (void)state;
    remove(FILE_NAME);
    remove("own.npz");
    return getcwd(folder, sizeof folder) == NULL ? -1 : rmdir(folder);
}

/* The content of a file. Each query of head h attends to itself with 1 - 0.1 h, and to key 0 with the
 * rest. */
struct theirs {
    int n_dims;
    int64_t dims[5];
    float change; /* added to the last probability */
    bool sees_all, no_tokens, scores;
    float score; /* the last score */
};

static void write_theirs(const struct theirs *t)
{
    static const char labels[4][8] = {"sort", "é", "é", "\033[1mx"};
    static const int32_t tokens[] = {7, 8, 8, 9};
    struct pw_npz *z;
    struct pw_err err;
    int64_t T = t->dims[t->n_dims - 1], n = 1;
    for (int i = 0; i < t->n_dims; i++)
        n *= t->dims[i];
    float *probs = calloc((size_t)n, sizeof *probs), *scores = calloc((size_t)n, sizeof *scores);
    for (int64_t row = 0; row < n / T; row++) {
        float self = 1 - 0.1f * (float)(row / T);
        probs[row * T] = 1 - self;
        probs[row * T + row % T] += self;
        if (t->sees_all && row % T == 0)
            probs[row * T] = 0.5f, probs[row * T + T - 1] = 0.5f;
        for (int64_t k = 0; k < T; k++)
            scores[row * T + k] = k > row % T ? -INFINITY : (float)row + 0.25f * (float)k;
    }
    probs[n - 1] += t->change;
    scores[n - 1] = t->score;
    assert_int_equal(pw_npz_open(&z, FILE_NAME, &err), PW_OK);
    pw_npz_f32(z, "probs", probs, t->n_dims, t->dims);
    if (!t->no_tokens)
        pw_npz_i32(z, "tokens", tokens, 1, (int64_t[]){4});
    if (t->n_dims == 5)
        pw_npz_texts(z, "labels", labels[0], sizeof labels[0], 4);
    if (t->scores)
        pw_npz_f32(z, "scores", scores, t->n_dims, t->dims);
    assert_int_equal(pw_npz_close(z, &err), PW_OK);
    free(probs);
    free(scores);
}

static void test_comes_through(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    write_theirs(&(struct theirs){.n_dims = 5, .dims = {3, 1, 2, 4, 4}, .scores = true, .score = 5});
    bench_must(&b, "import attention ./" FILE_NAME);
    assert_string_equal(b.note, "attention of ./theirs.npz: layers 0..2, heads 0..1, 4 tokens, with scores");
    const struct pw_ev_attention *a = &b.s->foreign;
    assert_true(b.s->has_foreign && !b.s->has_attention);
    assert_string_equal(a->source, FILE_NAME);
    assert_true(a->layers == 3 && a->heads == 2 && a->T == 4 && !a->sees_all);
    assert_string_equal(a->labels[1], "é");
    assert_string_equal(a->labels[3], "?[1mx"); /* no control character */
    for (int h = 0; h < 6; h++) {
        assert_true(fabsf(pw_from_half(a->probs[h * 16 + 2 * 4 + 2]) - (1 - 0.1f * (float)h)) < 1e-3f);
        assert_true(pw_from_half(a->all_scores[h * 16 + 2 * 4 + 1]) == (float)(4 * h + 2) + 0.25f);
        assert_true(pw_from_half(a->all_scores[h * 16 + 2 * 4 + 3]) == -INFINITY);
        /* "itself" is the third score, and there is no gold pointer; tokens 1 and 2 are equal */
        assert_true(fabsf(a->scores[h * a->n_scores + 2] - (1 - 0.075f * (float)h)) < 1e-3f);
        assert_true(isnan(a->scores[h * a->n_scores + 4]) && isfinite(a->scores[h * a->n_scores + 1]));
    }
    write_theirs(&(struct theirs){.n_dims = 3, .dims = {1, 4, 4}, .sees_all = true});
    bench_must(&b, "import attention " FILE_NAME);
    assert_true(a->layers == 1 && a->heads == 1 && a->sees_all && a->all_scores == NULL);
    assert_string_equal(a->labels[1], "8");
    write_theirs(&(struct theirs){.n_dims = 2, .dims = {4, 4}});
    bench_must(&b, "import attention " FILE_NAME "; prompt sort 3 1; import attention off");
    assert_true(!b.s->has_foreign && b.s->has_attention);
    assert_string_equal(b.note, "imported attention is hidden");
    bench_close(&b);
}

/* An exported file is imported again, and is equal. */
static void test_round_trip(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "task sort lengths=2..4; pe t5; train 5; prompt sort 3 1 2; inspect layer=1 head=2");
    bench_must(&b, "export attention own.npz; import attention own.npz");
    const struct pw_ev_attention *a = &b.s->attention, *f = &b.s->foreign;
    size_t head = (size_t)a->T * a->T;
    assert_true(f->T == a->T && f->layers == a->layers && f->heads == a->heads);
    assert_memory_equal(f->labels, a->labels, (size_t)a->T * sizeof *a->labels);
    assert_memory_equal(f->probs, a->probs, a->layers * a->heads * head * sizeof *a->probs);
    assert_memory_equal(f->all_scores + (a->heads + 2) * head, a->score, head * sizeof *a->score);
    bench_close(&b);
}

/* One clear line, and the state is unchanged. */
static void test_refused(void **state)
{
    static const struct {
        struct theirs file;
        const char *says;
    } cases[] = {
        {{.n_dims = 2, .dims = {4, 4}, .change = NAN}, "probs of head 0.0, query 3, key 3 is nan"},
        {{.n_dims = 4, .dims = {2, 3, 4, 4}, .change = -1}, "probs of head 1.2, query 3, key 3 is -0.5"},
        {{.n_dims = 4, .dims = {2, 3, 4, 4}, .change = 0.1f}, "probs of head 1.2, query 3 sum to 1.1;"},
        {{.n_dims = 2, .dims = {4, 4}, .change = 1},
         "probs of head 0.0, query 3, key 3 is 2; allowed are 0..1"},
        {{.n_dims = 2, .dims = {3, 4}}, "probs is [3,4]; it must be numbers [layers,heads,T,T]"},
        {{.n_dims = 5, .dims = {2, 2, 1, 4, 4}}, "probs is [2,2,1,4,4]; it must"},
        {{.n_dims = 2, .dims = {3, 3}}, "4 tokens for the 3 rows of probs"},
        {{.n_dims = 2, .dims = {4, 4}, .no_tokens = true}, "there is no array 'tokens'"},
        {{.n_dims = 4, .dims = {65, 1, 4, 4}}, "at most 64 layers, 1024 heads"},
        {{.n_dims = 2, .dims = {4, 4}, .scores = true, .score = NAN},
         "scores of head 0.0, query 3, key 3 is nan"},
        {{.n_dims = 2, .dims = {4, 4}, .scores = true, .score = 1e5f}, "allowed are -65504..65504"},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    write_theirs(&(struct theirs){.n_dims = 2, .dims = {4, 4}});
    bench_must(&b, "import attention " FILE_NAME);
    uint64_t seq = b.s->foreign_seq;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_theirs(&cases[i].file);
        bench_run(&b, "import attention " FILE_NAME);
        if (strncmp(b.error, FILE_NAME ": ", strlen(FILE_NAME) + 2) != 0 ||
            strstr(b.error, cases[i].says) == NULL)
            fail_msg("'%s' doesn't say '%s'", b.error, cases[i].says);
        assert_true(b.s->has_foreign && b.s->foreign_seq == seq);
    }
    bench_run(&b, "import attention nowhere.npz");
    assert_non_null(strstr(b.error, "nowhere.npz: cannot open"));
    bench_run(&b, "import attention");
    assert_non_null(strstr(b.error, "usage: import weights FILE"));
    bench_close(&b);
}

/* A re-run with the session's copy of the file is equal; another file is detected. */
static void test_followed(void **state)
{
    struct bench b;
    struct record r;
    (void)state;
    write_theirs(&(struct theirs){.n_dims = 4, .dims = {1, 2, 4, 4}, .scores = true, .score = 1});
    record_open(&b, &r, 1, false);
    bench_must(&b, "train 3; import attention " FILE_NAME "; train 3; import attention off");
    bench_close(&b);
    int told = record_find(&r, PW_EV_FILE, NULL);
    char copy[65];
    assert_true(told >= 0);
    pw_sha256_text(copy, r.e[told]->u.file.sha);
    assert_int_equal(rename(FILE_NAME, copy), 0);
    r.files = ".";
    record_must(&r, 1);
    write_theirs(&(struct theirs){.n_dims = 4, .dims = {1, 2, 4, 4}, .scores = true, .score = 2});
    assert_int_equal(rename(FILE_NAME, copy), 0);
    record_follow(&r, 1);
    assert_int_equal(r.v.end, PW_FOLLOW_DIFFERENT);
    assert_string_equal(r.v.what, "all scores [31]");
    record_free(&r);
    remove(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_comes_through, setup, teardown),
        cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_followed, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
