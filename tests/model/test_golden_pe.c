/* test_golden_pe.c - compares encodings with independent numbers: matrices printed in Kazemnejad et al. 2023,
 * appendix B.2, bucket lists and slopes of their released code, and closed forms evaluated with Python in
 * double precision. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "model/expr/library.h"
#include "model/model.h"
#include "ref_toy.h"

#define LENGTH(a) ((int)(sizeof(a) / sizeof *(a)))

static struct toy toy;

/* The tables of an encoding in a model with these options. The caller frees them. */
static struct pw_pe_tables tables(const char *options, const char *pe, int P)
{
    struct pw_model *m = toy_model(&toy, options, pe, 3, 1);
    struct pw_pe_tables t;
    struct pw_err err = {0};

    if (pw_model_tables(m, P, &t, &err))
        fail_msg("%s", err.msg);
    pw_model_destroy(m);
    return t;
}

/* ---- sinusoidal */

static void test_sinusoidal(void **state)
{
    static const double rows[5][8] = {
        {0, 1, 0, 1, 0, 1, 0, 1},
        {0.8414709848078965, 0.5403023058681397, 0.09983341664682815, 0.9950041652780256,
         0.009999833334166664, 0.9999500004166654, 0.0009999998333333417, 0.9999995000000417},
        {0.9092974268256816, -0.4161468365471424, 0.19866933079506122, 0.9800665778412417,
         0.01999866669333308, 0.999800006666578, 0.0019999986666669333, 0.9999980000006666},
        {0.1411200080598672, -0.9899924966004454, 0.2955202066613396, 0.9553364891256061, 0.02999550020249566,
         0.9995500337489878, 0.002999995500002025, 0.999995500003375},
        {-0.7568024953079284, -0.6536436208636119, 0.38941834230865047, 0.921060994002885,
         0.03998933418663416, 0.999200106660978, 0.003999989333341867, 0.9999920000106668},
    };
    static const struct {
        int at;
        double value;
    } spots[] = {{0, -0.5063656411097587},   {1, 0.8623188722876839},  {2, -0.3975110223265544},
                 {3, 0.917597399260099},     {30, 0.9719821320812102}, {31, 0.2350547487605072},
                 {62, 0.013334819096196418}, {63, 0.9999110873471061}};
    struct pw_pe_tables t = tables("width=8 heads=1", "sinusoidal", 5),
                        s = tables("width=8 heads=1", "sinusoidal layout=split amplitude=2", 5);

    (void)state;
    for (int i = 0; i < 40; i++) {
        toy_near(t.added[i], rows[i / 8][i % 8], 6e-8, "interleaved", i);
        toy_near(s.added[i], 2 * rows[i / 8][i % 8 < 4 ? 2 * (i % 8) : 2 * (i % 8) - 7], 12e-8, "split", i);
    }
    pw_pe_tables_free(&t);
    pw_pe_tables_free(&s);
    t = tables("width=64 context=101", "sinusoidal", 101);
    for (int i = 0; i < LENGTH(spots); i++)
        toy_near(t.added[100 * 64 + spots[i].at], spots[i].value, 6e-8, "d=64, position 100", spots[i].at);
    pw_pe_tables_free(&t);
}

/* ---- ALiBi */

static void test_slopes(void **state)
{
    static const struct {
        int heads, n;
        double slopes[16];
    } lists[] = {
        {1, 1, {0.00390625}},
        {2, 2, {0.0625, 0.00390625}},
        {3, 3, {0.0625, 0.00390625, 0.25}},
        {4, 4, {0.25, 0.0625, 0.015625, 0.00390625}},
        {5, 5, {0.25, 0.0625, 0.015625, 0.00390625, 0.5}},
        {6, 6, {0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125}},
        {7, 7, {0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125, 0.03125}},
        {8, 8, {0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625}},
        {10,
         10,
         {0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625, 0.7071067811865476,
          0.35355339059327384}},
        {12,
         12,
         {0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625, 0.7071067811865476,
          0.35355339059327384, 0.17677669529663695, 0.08838834764831849}},
        {16, 4, {0.7071067811865476, 0.5, 0.35355339059327384, 0.25}},
    };

    (void)state;
    for (int l = 0; l < LENGTH(lists); l++)
        for (int h = 0; h < lists[l].n; h++)
            toy_near(pw_alibi_slope(h, lists[l].heads), lists[l].slopes[h], 1e-15, "slope", h);
    assert_true(pw_alibi_slope(15, 16) == 0x1p-8);
}

/* The bias for 4 heads and 5 tokens: -slope times the distance. */
static void test_alibi_bias(void **state)
{
    static const double by_distance[4][5] = {
        {0, -0.25, -0.5, -0.75, -1},
        {0, -0.0625, -0.125, -0.1875, -0.25},
        {0, -0.015625, -0.03125, -0.046875, -0.0625},
        {0, -0.00390625, -0.0078125, -0.01171875, -0.015625},
    };
    /* softmax of the last row, without content, 4 tokens: heads 0 and 7 of 8 */
    static const double probs[2][4] = {{0.101536324, 0.167405097, 0.276004345, 0.455054234},
                                       {0.248537069, 0.249509816, 0.250486370, 0.251466745}};
    struct pw_pe_tables t = tables("width=8 heads=4", "alibi", 5);

    (void)state;
    for (int h = 0; h < 4; h++)
        for (int r = 0; r < 5; r++)
            assert_true(t.bias[h * 9 + 4 + r] == (float)by_distance[h][r]);
    pw_pe_tables_free(&t);
    t = tables("width=8 heads=8", "alibi", 4);
    for (int k = 0; k < 2; k++) {
        const float *bias = t.bias + (k == 0 ? 0 : 7) * 7 + 3;
        double sum = 0;
        for (int r = 0; r < 4; r++)
            sum += exp(bias[r]);
        for (int j = 0; j < 4; j++)
            toy_near(exp(bias[3 - j]) / sum, probs[k][j], 1e-9, "probability", j);
    }
    pw_pe_tables_free(&t);
}

/* ---- T5 */

/* The two matrices that the paper prints as an example of the bucket function with B = 5 and D = 6:
 * distances, and their buckets. */
static void test_printed_matrices(void **state)
{
    static const int distances[10][10] = {
        {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {2, 1, 0, 0, 0, 0, 0, 0, 0, 0},
        {3, 2, 1, 0, 0, 0, 0, 0, 0, 0}, {4, 3, 2, 1, 0, 0, 0, 0, 0, 0}, {5, 4, 3, 2, 1, 0, 0, 0, 0, 0},
        {6, 5, 4, 3, 2, 1, 0, 0, 0, 0}, {7, 6, 5, 4, 3, 2, 1, 0, 0, 0}, {8, 7, 6, 5, 4, 3, 2, 1, 0, 0},
        {9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
    };
    static const int buckets[10][10] = {
        {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {2, 1, 0, 0, 0, 0, 0, 0, 0, 0},
        {3, 2, 1, 0, 0, 0, 0, 0, 0, 0}, {3, 3, 2, 1, 0, 0, 0, 0, 0, 0}, {4, 3, 3, 2, 1, 0, 0, 0, 0, 0},
        {4, 4, 3, 3, 2, 1, 0, 0, 0, 0}, {4, 4, 4, 3, 3, 2, 1, 0, 0, 0}, {4, 4, 4, 4, 3, 3, 2, 1, 0, 0},
        {4, 4, 4, 4, 4, 3, 3, 2, 1, 0},
    };

    (void)state;
    for (int i = 0; i < 10; i++) {
        for (int j = 0; j < 10; j++) {
            assert_int_equal(distances[i][j], i > j ? i - j : 0);
            assert_int_equal(pw_t5_bucket(i - j, 5, 6), buckets[i][j]);
            assert_int_equal(pw_t5_bucket(distances[i][j], 5, 6), buckets[i][j]);
        }
    }
}

/* First distance of every bucket, from the released code. */
static void test_bucket_lists(void **state)
{
    static const struct {
        int buckets, distance, first[32];
    } lists[] = {
        {32, 128, {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                   16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113}},
        {32, 64, {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                  16, 18, 20, 21, 23, 25, 27, 30, 32, 35, 39, 42, 46, 50, 54, 59}},
        {16, 64, {0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 14, 18, 23, 30, 39, 50}},
        {16, 128, {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91}},
        {8, 32, {0, 1, 2, 3, 4, 7, 12, 20}},
        {8, 20, {0, 1, 2, 3, 4, 6, 9, 14}},
        {10, 20, {0, 1, 2, 3, 4, 5, 7, 9, 12, 16}},
        {6, 12, {0, 1, 2, 3, 5, 8}},
        {7, 20, {0, 1, 2, 3, 5, 8, 13}},
        {5, 6, {0, 1, 2, 3, 5}},
        {4, 8, {0, 1, 2, 4}},
        {3, 8, {0, 1, 3}},
        {2, 4, {0, 1}},
    };

    (void)state;
    for (int l = 0; l < LENGTH(lists); l++) {
        int bucket = 0;
        for (int n = 0; n < 300; n++) {
            while (bucket + 1 < lists[l].buckets && n >= lists[l].first[bucket + 1])
                bucket++;
            if (pw_t5_bucket(n, lists[l].buckets, lists[l].distance) != bucket)
                fail_msg("B=%d D=%d: distance %d is in bucket %d, not %d", lists[l].buckets,
                         lists[l].distance, n, pw_t5_bucket(n, lists[l].buckets, lists[l].distance), bucket);
        }
    }
    assert_int_equal(pw_t5_bucket(10000, 32, 128), 31);
    assert_int_equal(pw_t5_bucket(-3, 32, 128), 0);
    /* Cases where the floor of a quotient in double precision is one too small. */
    assert_int_equal(pw_t5_bucket(8, 9, 128), 5);
    assert_int_equal(pw_t5_bucket(10, 10, 160), 6);
    assert_int_equal(pw_t5_bucket(12, 17, 27), 11);
}

/* Compares with the logarithmic formula everywhere except at the bucket edges, where rounding decides. */
static void test_bucket_formula(void **state)
{
    (void)state;
    for (int B = 2; B <= 128; B += B < 12 ? 1 : 13) {
        for (int D = B / 2 + 1; D < 600; D = D * 5 / 3 + 1) {
            int E = B / 2;
            for (int n = E; n < D; n++) {
                double x = log((double)n / E) / log((double)D / E) * (B - E);
                if (fabs(x - round(x)) > 1e-9)
                    assert_int_equal(pw_t5_bucket(n, B, D), E + (int)floor(x));
            }
        }
    }
}

/* ---- shaw */

/* Shaw et al. 2018, section 3.2: clip(j - i, -k, k) + k for k = 2 and five positions. This program counts i -
 * j. */
static void test_clipped(void **state)
{
    static const int printed[5][5] = {
        {2, 3, 4, 4, 4}, {1, 2, 3, 4, 4}, {0, 1, 2, 3, 4}, {0, 0, 1, 2, 3}, {0, 0, 0, 1, 2}};
    const struct pw_attn both = {.reach = 2}, causal = {.reach = 2, .causal = true};
    struct pw_pe_tables t = tables("width=8 heads=2 layers=3", "shaw distance=2", 5),
                        s = tables("width=8 heads=2 layers=3 causal=off", "shaw distance=2", 5);

    (void)state;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            assert_int_equal(pw_key_row(&both, i - j), 4 - printed[i][j]);
            if (j <= i)
                assert_int_equal(pw_key_row(&causal, i - j), 2 - printed[i][j]);
        }
    assert_int_equal(t.key_rows, 3);
    assert_int_equal(s.key_rows, 5);
    assert_int_equal(t.reach, 2);
    pw_pe_tables_free(&t);
    pw_pe_tables_free(&s);
}

/* Initial keys have Glorot's standard deviation, and differ between layers. */
static void test_first_keys(void **state)
{
    struct pw_pe_tables t = tables("width=64 heads=2 layers=2", "shaw distance=31", 5);
    const int n = 32 * 32;
    double sum = 0, product = 0;

    (void)state;
    for (int i = 0; i < n; i++) {
        sum += (double)t.keys[i] * (double)t.keys[i];
        product += (double)t.keys[i] * (double)t.keys[n + i];
    }
    toy_near(sqrt(sum / n), sqrt(2.0 / 64), 0.01, "deviation", 0);
    toy_near(product / sum, 0, 0.1, "correlation of two layers", 0);
    pw_pe_tables_free(&t);
}

/* ---- rotary */

/* x [8] is rotated for a position by the model's tables and the backend's operation. */
struct turn {
    const char *pe;
    int pos;
    float x[8 * 3]; /* a row of q, k, v for one head */
};

static void turn_row(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    struct turn *t = arg;
    struct pw_config cfg = toy_config("width=8 heads=1 context=1001", 3);
    struct pw_pe_use_opts use = toy_pe(t->pe, &cfg);
    struct pw_pe_tables table = tables("width=8 heads=1 context=1001", t->pe, t->pos + 1);

    (void)chunk;
    (void)worker;
    struct pw_turn by = {.cosine = table.cosine,
                         .sine = table.sine,
                         .keys_at = use.pe->key_turns ? table.P : 0,
                         .pairs = use.pe->pairs(use.o.bytes, &cfg),
                         .pairing = use.pe->pairing(use.o.bytes)};
    toy.ops->rotate(c, t->x, &by, &t->pos, 1, 8, 1);
    pw_pe_tables_free(&table);
}

/* The query gain by the logarithm of the number of keys: max(1, ln n / ln N). */
static void test_logn(void **state)
{
    static const struct {
        int keys;
        double gain;
    } want[] = {{1, 1}, {512, 1}, {1024, 1.1111111111111112}, {8192, 1.4444444444444444}};
    const struct pw_pe_tune tune = {.logn = 512};
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_true(fabs((double)pw_pe_query_gain(&tune, want[i].keys - 1) - want[i].gain) < 1e-7);
    assert_true(pw_pe_query_gain(&tune, 512) > 1);
}

/* Writes the rotated q [8] and k [8]. */
static void turn(const char *pe, int pos, const float q[8], const float k[8], float out_q[8], float out_k[8])
{
    struct turn t = {.pe = pe, .pos = pos};

    memcpy(t.x, q, 8 * sizeof *q);
    memcpy(t.x + 8, k, 8 * sizeof *k);
    toy.ops->for_chunks(toy.be, 1, turn_row, &t);
    memcpy(out_q, t.x, 8 * sizeof *q);
    memcpy(out_k, t.x + 8, 8 * sizeof *k);
}

static const float q8[8] = {1, 2, 3, 4, 5, 6, 7, 8}, k8[8] = {0.5f, -1, 2, 0.25f, -0.75f, 1.5f, -2, 1};

static void test_rotation(void **state)
{
    static const struct {
        const char *pe;
        int pos;
        double expected[8];
    } turns[] = {
        {"rotary pairing=interleaved",
         1,
         {-1.1426396637476532, 1.9220755965441758, 2.5856788292467643, 4.279516911052587, 4.939751002078327,
          6.049699169170825, 6.991996501333625, 8.006995998833666}},
        {"rotary pairing=interleaved",
         3,
         {-1.27223251272018, -1.8388649851410237, 1.6839286407314598, 4.707906576486443, 4.8177771675299645,
          6.147277703506405, 6.975968536023609, 8.020963968527013}},
        {"rotary pairing=interleaved",
         100,
         {1.8750501545072011, 1.2182721034656092, -0.3411301436718781, -4.988349448973919, -2.34731437950668,
          7.4491687592483204, 6.166361823771553, 8.658867238752002}},
        {"rotary",
         1,
         {-3.667052618171343, 1.3910078306750822, 2.9298511679108294, 3.9919980013335, 3.542982514148595,
          6.169691824961809, 7.029649502919158, 8.003995999333666}},
        {"rotary",
         3,
         {-1.6955925368997815, 0.13755173828317457, 2.7886815998294936, 3.975982036013484,
          -4.8088424749423595, 6.323059348076315, 7.086836736850401, 8.011963982027009}},
        {"rotary",
         100,
         {3.3941470778364775, 1.5859836071833138, -4.2693899760508565, 3.181349327937477, 3.8052287203286603,
          -6.122471396237454, 6.306529095500666, 8.359366988811518}},
        {"rotary dims=4 pairing=interleaved",
         3,
         {-1.27223251272018, -1.8388649851410237, 2.8786681004369807, 4.088186635603438, 5, 6, 7, 8}},
        {"rotary dims=4",
         3,
         {-1.413352520780047, 1.879118066687993, -2.828857481741469, 4.058191135400943, 5, 6, 7, 8}},
    };
    float q[8], k[8];

    (void)state;
    for (int i = 0; i < LENGTH(turns); i++) {
        turn(turns[i].pe, turns[i].pos, q8, k8, q, k);
        for (int d = 0; d < 8; d++)
            toy_near(q[d], turns[i].expected[d], 2e-6, turns[i].pe, d);
    }
}

/* The product of a rotated query and key must depend on the distance alone; xPos (Sun et al. 2022). */
static void test_rotary_scores(void **state)
{
    static const struct {
        const char *pe;
        int query, key;
        double expected;
    } scores[] = {
        {"rotary", 0, 0, 4.75},
        {"rotary", 5, 2, 12.51552208857674},
        {"rotary", 103, 100, 12.515522088576734},
        {"rotary", 2, 5, 9.301258447161587},
        {"rotary", 1000, 0, 21.10250800418007},
        {"rotary pairing=interleaved", 5, 2, 5.42419323045739},
        {"rotary pairing=interleaved", 103, 100, 5.42419323045739},
        {"rotary pairing=interleaved", 2, 5, 9.4158244614263},
        {"xpos", 5, 2, 5.38734443187374},
        {"xpos", 515, 3, -1.17931795502004},
    };
    float q[8], k[8], unused[8];

    (void)state;
    for (int i = 0; i < LENGTH(scores); i++) {
        double sum = 0;
        turn(scores[i].pe, scores[i].query, q8, k8, q, unused);
        turn(scores[i].pe, scores[i].key, q8, k8, unused, k);
        for (int d = 0; d < 8; d++)
            sum += (double)q[d] * k[d];
        toy_near(sum, scores[i].expected, 1e-5, scores[i].pe, i);
    }
}

static void test_frequencies(void **state)
{
    static const double of8[] = {1, 0.1, 0.01, 0.001};
    static const double of16[] = {1,    0.31622776601683794,   0.1,   0.03162277660168379,
                                  0.01, 0.0031622776601683794, 0.001, 0.00031622776601683794};

    (void)state;
    for (int i = 0; i < 4; i++)
        toy_near(pw_rotary_frequency(i, 8, 10000), of8[i], 1e-15, "frequency of 8", i);
    for (int i = 0; i < 8; i++)
        toy_near(pw_rotary_frequency(i, 16, 10000), of16[i], 1e-15, "frequency of 16", i);
}

static int setup(void **state)
{
    (void)state;
    toy = toy_open(1);
    pw_library_folders("/nonexistent", PEWTER_SOURCE_DIR "/encodings");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    toy_close(&toy);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logn),
        cmocka_unit_test(test_sinusoidal),
        cmocka_unit_test(test_slopes),
        cmocka_unit_test(test_alibi_bias),
        cmocka_unit_test(test_printed_matrices),
        cmocka_unit_test(test_bucket_lists),
        cmocka_unit_test(test_bucket_formula),
        cmocka_unit_test(test_rotation),
        cmocka_unit_test(test_rotary_scores),
        cmocka_unit_test(test_frequencies),
        cmocka_unit_test(test_clipped),
        cmocka_unit_test(test_first_keys),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
