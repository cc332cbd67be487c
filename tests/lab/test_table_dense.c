/* test_table_dense.c - tests the table of a bias that depends on both positions. Computes it from the
 * parameters, by the paper's formula in double precision. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "lab/actions.h"
#include "ref_lab.h"

#define TASK  "sort lengths=2..5 test=6..8"
#define MODEL "model tiny context=32 layers=1 width=16 heads=2; optim batch=8; "

/* FIRE's bias of distance d from query i, by the paper's formula. p has in order: c, factor, w1 [K], b1 [K],
 * w2 [H,K], b2 [H]. */
static double fire_of(const float *p, int K, int H, int h, double threshold, double i, double d)
{
    double c = fabs((double)p[0]), L = fabs((double)p[1] * threshold);
    double u = log(c * d + 1) / log(c * fmax(i, L) + 1);
    const float *w1 = p + 2, *b1 = w1 + K, *w2 = b1 + K, *b2 = w2 + H * K;
    double sum = (double)b2[h];
    for (int k = 0; k < K; k++)
        sum += (double)w2[h * K + k] * fmax(0, (double)w1[k] * u + (double)b1[k]);
    return sum;
}

/* Checks the last table event against the formula; positions are from + step * i. */
static void check_fire(struct bench *b, int K, double threshold, double from, double step)
{
    const struct pw_ev_table *t = pw_table_of(b->s, 1);
    struct pw_model *m = pw_lab_arm(b->lab, 1)->model;
    int n, N = t->length, H = t->heads;
    const struct pw_param *p = pw_model_params(m, &n);
    float own[2 + 4 * 64 + 2];
    double L, mean = 0;
    bool at_L = false;
    while (p[n - 1].pe)
        n--;
    pw_model_read(m, own, p[n].offset, pw_model_size(m) - p[n].offset);
    L = fabs((double)own[1] * threshold);
    assert_true(t->fire_c == own[0] && t->fire_factor == own[1] && (double)t->fire_threshold == threshold);
    assert_in_range(t->n_queries, N < 12 ? 1 : 11, 12);
    assert_int_equal(t->queries[t->n_queries - 1], N - 1);
    assert_int_equal(pw_table_bias_query(t), N - 1);
    assert_null(t->slopes);
    for (int k = 0; k < t->n_queries; k++) {
        double i = from + step * t->queries[k];
        at_L = at_L || (i >= L && i - step < L);
        assert_true(k == 0 || t->queries[k] > t->queries[k - 1]);
        for (int h = 0; h < H; h++)
            for (int d = 0; d < N; d++) {
                float v = t->query_bias[(h * t->n_queries + k) * N + d];
                if (d > t->queries[k])
                    assert_true(isnan(v));
                else
                    assert_true(fabs((double)v - fire_of(own, K, H, h, threshold, i, step * d)) < 2e-5);
                if (k == t->n_queries - 1)
                    assert_true(t->bias[h * N + d] == v);
            }
    }
    assert_true(at_L || L <= from || L > from + step * (N - 1));
    for (int i = 3; i < N; i++)
        mean += fire_of(own, K, H, 1, threshold, from + step * i, step * 3) / (N - 3);
    assert_true(N <= 3 || fabs(mean - (double)t->kernel[N + 3]) < 2e-5);
}

static void a_bias_by_both_positions(void **state)
{
    static const int lengths[] = {1, 2, 3, 11, 12, 13, 20, 25, 32};
    struct bench b;
    char line[64];
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "task " TASK "; " MODEL "pe fire threshold=6 hidden=16; table length=20");
    const struct pw_ev_table *t = pw_table_of(b.s, 1);
    assert_int_equal(t->n_tensors, 6);
    assert_int_equal(t->n_grad, 0);
    assert_true(isnan(t->tensors[0].grad));
    check_fire(&b, 16, 6, 0, 1);
    bench_must(&b, "train 11; table");
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        snprintf(line, sizeof line, "table length=%d", lengths[i]);
        bench_must(&b, line);
        check_fire(&b, 16, 6, 0, 1);
    }
    bench_must(&b, "tune stretch=0.25; table"); /* a stretch at which no position equals L */
    check_fire(&b, 16, 6, 0, 0.25);
    bench_must(&b, "tune stretch=0.5 offset=2; table");
    check_fire(&b, 16, 6, 2, 0.5);
    bench_must(&b, "tune off; tune threshold=15; table");
    check_fire(&b, 16, 15, 0, 1);
    bench_must(&b, "tune threshold=90; table"); /* beyond all positions */
    check_fire(&b, 16, 90, 0, 1);
    bench_must(&b, "pe t5; table"); /* the same bias for every query */
    t = pw_table_of(b.s, 1);
    assert_int_equal(pw_table_bias_query(t), -1);
    assert_true(t->n_queries == 0 && t->n_tensors == 0 && t->fire_threshold == 0);
    bench_close(&b);
}

/* Tensors are listed with name, shape and size, and the mean count in seen.c of their floats. */
static void what_a_bias_is_made_of(void **state)
{
    static const struct {
        const char *name;
        int rows, cols;
    } want[] = {{"pe.c", 0, 1},           {"pe.L_multiplier", 0, 1},  {"pe.mlp.0.weight", 16, 1},
                {"pe.mlp.0.bias", 0, 16}, {"pe.mlp.2.weight", 2, 16}, {"pe.mlp.2.bias", 0, 2}};
    struct bench b;
    float grad[2 + 4 * 16 + 2], own[2 + 4 * 16 + 2];
    int at = 0;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "task " TASK "; " MODEL "pe fire hidden=16; train 21; table");
    const struct pw_ev_table *t = pw_table_of(b.s, 1);
    const struct pw_model *m = pw_lab_arm(b.lab, 1)->model;
    assert_int_equal(pw_model_pe_gradient(m, grad), 3);
    assert_int_equal(t->n_grad, 3);
    pw_model_read(pw_lab_arm(b.lab, 1)->model, own, pw_model_size(m) - 68, 68);
    assert_int_equal(t->n_tensors, 6);
    for (int i = 0; i < 6; i++) {
        int n = (want[i].rows > 0 ? want[i].rows : 1) * want[i].cols;
        double squares = 0, mean = 0;
        for (int k = 0; k < n; k++)
            squares += pow((double)own[at + k], 2), mean += (double)grad[at + k] / n;
        assert_string_equal(t->tensors[i].name, want[i].name);
        assert_true(t->tensors[i].rows == want[i].rows && t->tensors[i].cols == want[i].cols);
        assert_true(fabs((double)t->tensors[i].norm - sqrt(squares)) < 1e-6 * sqrt(squares));
        assert_true(fabs((double)t->tensors[i].grad - mean) <= 1e-6 * mean);
        assert_true(mean > 0 || i == 5); /* b2 has no effect on the softmax */
        at += n;
    }
    assert_int_equal(at, 68);
    bench_close(&b);
}

static double number_at(const cJSON *o, const char *key)
{
    const cJSON *x = cJSON_GetObjectItem(o, key);
    assert_true(cJSON_IsNumber(x));
    return x->valuedouble;
}

static void a_bias_by_both_positions_is_exported(void **state)
{
    char path[] = "/tmp/pewter_table_XXXXXX.json", line[256], *text;
    struct bench b;
    struct pw_err err;
    size_t n;
    (void)state;
    close(mkstemps(path, 5));
    bench_open(&b, 1, false);
    snprintf(line, sizeof line,
             "task " TASK "; " MODEL
             "pe fire threshold=6; train 2; table length=20; export table %s length=20",
             path);
    bench_must(&b, line);
    const struct pw_ev_table *t = pw_table_of(b.s, 1);
    assert_int_equal(pw_file_read(path, 1 << 20, &text, &n, &err), PW_OK);
    cJSON *o = cJSON_ParseWithLength(text, n), *fire = cJSON_GetObjectItem(o, "fire");
    assert_true(number_at(o, "bias_query") == 19);
    assert_true((float)number_at(fire, "c") == t->fire_c && number_at(fire, "threshold") == 6);
    assert_true(fabs(number_at(fire, "L") - 6 * fabs(number_at(fire, "factor"))) < 1e-12);
    cJSON *queries = cJSON_GetObjectItem(o, "queries"), *bias = cJSON_GetObjectItem(o, "query_bias");
    assert_int_equal(cJSON_GetArraySize(queries), t->n_queries);
    assert_int_equal(cJSON_GetArraySize(bias), 2);
    cJSON *of_head = cJSON_GetArrayItem(bias, 1), *row = cJSON_GetArrayItem(of_head, 3);
    assert_int_equal(cJSON_GetArraySize(of_head), t->n_queries);
    assert_int_equal(cJSON_GetArraySize(row), 20);
    for (int d = 0; d < 20; d++) {
        const cJSON *v = cJSON_GetArrayItem(row, d);
        if (d > t->queries[3])
            assert_true(cJSON_IsNull(v));
        else
            assert_true((float)v->valuedouble == t->query_bias[(t->n_queries + 3) * 20 + d]);
    }
    cJSON *tensor = cJSON_GetArrayItem(cJSON_GetObjectItem(o, "tensors"), 2);
    assert_string_equal(cJSON_GetObjectItem(tensor, "name")->valuestring, "pe.mlp.0.weight");
    assert_true((float)number_at(tensor, "grad") == t->tensors[2].grad);
    cJSON_Delete(o);
    free(text);
    bench_close(&b);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bias_by_both_positions),
        cmocka_unit_test(what_a_bias_is_made_of),
        cmocka_unit_test(a_bias_by_both_positions_is_exported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
