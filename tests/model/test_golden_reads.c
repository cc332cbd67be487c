/* test_golden_reads.c - compares encodings that read the tokens with independent numbers, from Python in
 * double precision. test_golden_mix.c has those of a mix. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ref_toy.h"

static struct toy toy;

/* ---- fox: f = .9, .8, .5, .95; sums of ln f, from Python. Sums in float have 24 bits. */

struct forgetting {
    const struct pw_backend_ops *ops;
    const float *g, *qkv;
    float *terms, *scores;
    const struct pw_seqs *seqs;
    int H, D;
};

static void compute_forgetting(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    const struct forgetting *x = arg;
    struct pw_attn a = {.heads = x->H, .head_width = x->D, .scale = 1, .causal = true, .terms = x->terms};

    (void)chunk;
    (void)worker;
    x->ops->terms_fwd(c, x->terms, x->g, NULL, NULL, x->H, x->seqs, x->seqs->rows);
    x->ops->scores(c, x->scores, x->qkv, &a, NULL, x->seqs);
}

static void test_forgetting(void **state)
{
    static const double f[] = {0.9, 0.8, 0.5, 0.95};
    static const double rows[][4] = {{0},
                                     {-0.2231435513142097, 0},
                                     {-0.9162907318741549, -0.6931471805599452, 0},
                                     {-0.9675840262617055, -0.7444404749474958, -0.05129329438755059, 0}};
    enum { T = 4, H = 2, D = 4 };
    float g[T * H], terms[T * H], qkv[T * 3 * H * D] = {0}, scores[H * T * T];
    const int start[] = {0, T};
    const struct pw_seqs seqs = {1, start, T, T};
    (void)state;
    for (int i = 0; i < T * H; i++) /* the second head has the gates in reverse */
        g[i] = (float)log(f[i % H ? T - 1 - i / H : i / H] / (1 - f[i % H ? T - 1 - i / H : i / H]));
    struct forgetting x = {toy.ops, g, qkv, terms, scores, &seqs, H, D};
    toy.ops->for_chunks(toy.be, 1, compute_forgetting, &x);
    for (int i = 0; i < T; i++)
        for (int j = 0; j <= i; j++) {
            double reversed = 0;
            for (int l = j + 1; l <= i; l++)
                reversed += log(f[T - 1 - l]);
            toy_near(scores[i * T + j], rows[i][j], 2e-7, "decay", i * T + j);
            toy_near(scores[T * T + i * T + j], reversed, 2e-7, "reversed decay", i * T + j);
        }
}

/* ---- scans: q = sin(1 + 4t + d), k = cos(1 + 4t + d), and e = 0.1 (d+1) (-1)^n (n+1) of cope, from Python.
 * The stick is broken by the scores of cope without its positions. */

enum { SCAN_T = 4, SCAN_D = 4, SCAN_N = 3 };

struct scanned {
    const struct pw_backend_ops *ops;
    struct pw_scan scan;
    const float *qkv;
    float *scores, *probs;
};

static void compute_scan(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    static float z[SCAN_T * SCAN_D];
    const struct scanned *x = arg;
    const int start[] = {0, SCAN_T};
    const struct pw_seqs seqs = {1, start, SCAN_T, SCAN_T};
    struct pw_attn a = {.heads = 1, .head_width = SCAN_D, .scale = 0.5f, .causal = true, .scan = x->scan};
    struct pw_maps maps = {.scores = x->scores, .probs = x->probs};

    (void)chunk;
    (void)worker;
    x->ops->attention_fwd(c, z, NULL, &maps, x->qkv, &a, NULL, &seqs);
}

static void test_scans(void **state)
{
    static const double cope[][4] = {
        {0.21189308071986113},
        {-1.4351244841408728, -0.2837763000219973},
        {0.5134000262095287, 0.31140757905211625, 0.021088463315128897},
        {0.5980053263345421, 1.0465978203216912, -1.235699570857022, -0.04656909564260692}};
    static const double weights[][4] = {
        {1},
        {0.29954503184493564, 0.7004549681550644},
        {0.4486271690877523, 0.36803941586579686, 0.18333341504645084},
        {0.08782764172116128, 0.4653294201369255, 0.3258437683524494, 0.1209991697894639}};
    float qkv[SCAN_T * 3 * SCAN_D] = {0}, e[SCAN_D * SCAN_N], scores[SCAN_T * SCAN_T], probs[SCAN_T * SCAN_T];
    (void)state;
    for (int t = 0; t < SCAN_T; t++)
        for (int d = 0; d < SCAN_D; d++) {
            qkv[t * 3 * SCAN_D + d] = (float)sin(1 + 4 * t + d);
            qkv[(t * 3 + 1) * SCAN_D + d] = (float)cos(1 + 4 * t + d);
        }
    for (int d = 0; d < SCAN_D; d++)
        for (int n = 0; n < SCAN_N; n++)
            e[d * SCAN_N + n] = (float)(0.1 * (d + 1) * (n % 2 ? -1 : 1) * (n + 1));
    struct scanned x = {toy.ops, {.kind = PW_SCAN_CONTEXT, .rows = e, .n = SCAN_N}, qkv, scores, probs};
    toy.ops->for_chunks(toy.be, 1, compute_scan, &x);
    for (int i = 0; i < SCAN_T; i++)
        for (int j = 0; j <= i; j++)
            toy_near(scores[i * SCAN_T + j], cope[i][j], 1e-6, "score of cope", i * SCAN_T + j);
    x.scan = (struct pw_scan){.kind = PW_SCAN_STICK};
    toy.ops->for_chunks(toy.be, 1, compute_scan, &x);
    for (int i = 0; i < SCAN_T; i++)
        for (int j = 0; j <= i; j++)
            toy_near(probs[i * SCAN_T + j], weights[i][j], 3e-7, "weight of a stick", i * SCAN_T + j);
}

/* ---- selection: q = sin(1 + 4t + d + 2h), k = cos(1 + t + d + h), from Python. The last query has lost
 * votes of several tokens; head 1 loses what head 0 decides. */

enum { SELECT_T = 6, SELECT_D = 3, SELECT_H = 2 };

static void compute_selection(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    static float z[SELECT_T * SELECT_H * SELECT_D];
    const struct scanned *x = arg;
    const int start[] = {0, SELECT_T};
    const struct pw_seqs seqs = {1, start, SELECT_T, SELECT_T};
    struct pw_attn a = {
        .heads = SELECT_H, .head_width = SELECT_D, .scale = 2.0f, .causal = true, .scan = x->scan};
    struct pw_maps maps = {.scores = x->scores};

    (void)chunk;
    (void)worker;
    x->ops->attention_fwd(c, z, NULL, &maps, x->qkv, &a, NULL, &seqs);
}

static void test_selection(void **state)
{
    static const double want[SELECT_H][2][SELECT_T] = {
        {{-1.6580019617431758, -5.2026275283010195, -1.7580086453772235, 1.261490812044721},
         {2.586964531365458, -3.7051650279641937, -5.095413510049392, -3.8423867762879436,
          -0.8182773353005859, 1.8395679193398211}},
        {{1.2856364667993745, -3.4980365259251784, -2.8596581756282724, -1.6335477532375093},
         {2.6703572097019306, -1.3483320642071166, -2.6320016186578834, -3.537245489601366,
          -2.951952145067436, -0.7712322067263432}}};
    static const int rows[2] = {3, 5};
    float qkv[SELECT_T][3][SELECT_H][SELECT_D] = {0}, scores[SELECT_H][SELECT_T][SELECT_T];
    (void)state;
    for (int t = 0; t < SELECT_T; t++)
        for (int h = 0; h < SELECT_H; h++)
            for (int d = 0; d < SELECT_D; d++) {
                qkv[t][0][h][d] = (float)sin(1 + 4 * t + d + 2 * h);
                qkv[t][1][h][d] = (float)cos(1 + t + d + h);
            }
    struct scanned x = {toy.ops, {.kind = PW_SCAN_SELECT}, qkv[0][0][0], scores[0][0], NULL};
    toy.ops->for_chunks(toy.be, 1, compute_selection, &x);
    for (int h = 0; h < SELECT_H; h++)
        for (int n = 0; n < 2; n++)
            for (int j = 0; j <= rows[n]; j++)
                toy_near(scores[h][rows[n]][j], want[h][n][j], 3e-6, "score of selection",
                         (h * 2 + n) * SELECT_T + j);
}

/* ---- walks: golden numbers of path at T = 3, D = 2. wall: f_t = (0.5, 0.25), (0.8, 0.1), (0.9, 0.4) with
 * the same q and k, from Python. */

enum { WALK_T = 3, WALK_D = 2 };

struct walked {
    const struct pw_backend_ops *ops;
    struct pw_walk walk;
    const float *qkv;
    float *scores;
};

static void compute_walk(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    const struct walked *x = arg;
    const int start[] = {0, WALK_T};
    const struct pw_seqs seqs = {1, start, WALK_T, WALK_T};
    struct pw_attn a = {.heads = 1, .head_width = WALK_D, .scale = 1, .causal = true, .walk = &x->walk};

    (void)chunk;
    (void)worker;
    x->ops->scores(c, x->scores, x->qkv, &a, NULL, &seqs);
}

static void test_walks(void **state)
{
    static const float qkv[] = {1,  2,    0.5f, 1,  0, 0, /* q, k, v of the first row */
                                -1, 0.5f, 2,    -1, 0, 0, 0.25f, 3, 1, 1, 0, 0};
    static const float w[] = {1, 0, 0.6f, 0.8f, 0, 1}, beta[] = {0.5f, 1.5f, 2};
    static const float f[] = {0.5f, 0.25f, 0.8f, 0.1f, 0.9f, 0.4f};
    static const double path[][3] = {{2.5}, {0.33, -2.5}, {0.8375, 3.5, 3.25}};
    static const double wall[][3] = {{2.5}, {-0.35, -2.5}, {0.21, -0.75, 3.25}};
    float scores[WALK_T * WALK_T];
    struct walked x = {toy.ops, {PW_WALK_REFLECT, w, beta, NULL, NULL}, qkv, scores};
    (void)state;
    toy.ops->for_chunks(toy.be, 1, compute_walk, &x);
    for (int i = 0; i < WALK_T; i++)
        for (int j = 0; j <= i; j++)
            toy_near(scores[i * WALK_T + j], path[i][j], 1e-6, "score of path", i * WALK_T + j);
    x.walk = (struct pw_walk){PW_WALK_SCALE, f, NULL, NULL, NULL};
    toy.ops->for_chunks(toy.be, 1, compute_walk, &x);
    for (int i = 0; i < WALK_T; i++)
        for (int j = 0; j <= i; j++)
            toy_near(scores[i * WALK_T + j], wall[i][j], 1e-6, "score of wall", i * WALK_T + j);
}

static int setup(void **state)
{
    (void)state;
    toy = toy_open(1);
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
        cmocka_unit_test(test_forgetting),
        cmocka_unit_test(test_scans),
        cmocka_unit_test(test_selection),
        cmocka_unit_test(test_walks),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
