/* test_ids.c - tests positions that are read from tokens and from chance: the draws, and that training,
 * evaluation, decoding and inspection have the same positions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "model/checkpoint.h"
#include "model/decode.h"
#include "model/expr/library.h"
#include "model/model_int.h"
#include "ref_ids.h"
#include "ref_toy.h"

static void ids_of(int *ids, const char *pe, const char *text, bool train, uint64_t key)
{
    struct pw_pe_use_opts use;
    struct pw_err err;
    if (pw_pe_read(&use, pe, &err) != PW_OK)
        fail_msg("%s: %s", pe, err.msg);
    ref_ids(ids, &use, text, train, key);
}

/* Under the causal mask a token of the answer changes no earlier position; the prompt is one piece. */
static void test_answers(void **state)
{
    static const char *const pes[] = {"abacus", "coupling", "randomized"};
    static const char text[] = "ab 321+54=86120+3";
    int whole[64], part[64];
    (void)state;
    for (int k = 0; k < 6; k++) {
        ids_of(whole, pes[k / 2], text, k % 2 == 1, 7);
        for (int T = 10; text[T] != '\0'; T++) {
            char cut[32];
            snprintf(cut, sizeof cut, "%.*s", T, text);
            ids_of(part, pes[k / 2], cut, k % 2 == 1, 7);
            assert_memory_equal(part, whole, (size_t)T * sizeof *part);
        }
    }
}

/* Ruoss et al. 2023: all subsets are equally likely, so the largest of 8 numbers below 32 is 31 in 8 / 32 of
 * the draws, and every number is drawn in as many. */
static void test_sample(void **state)
{
    enum { DRAWS = 8000 };
    static const char pe[] = "expr \"position = sample(i, 8, 32); embed = position(i)\"";
    int count[32] = {0}, first[8], ids[10];
    (void)state;
    for (uint64_t key = 1; key <= DRAWS; key++) {
        ids_of(ids, pe, "0123456789", true, key);
        for (int t = 0; t < 8; t++) {
            assert_true(ids[t] > (t > 0 ? ids[t - 1] : -1) && ids[t] < 32);
            count[ids[t]]++;
        }
        assert_true(ids[8] == 31 && ids[9] == 31); /* beyond the subset */
        if (key == 1)
            memcpy(first, ids, sizeof first);
    }
    for (int v = 0; v < 32; v++) /* four standard deviations of a share of 1/4 */
        if (abs(count[v] - DRAWS / 4) > 4 * 39)
            fail_msg("%d was drawn %d times of %d", v, count[v], DRAWS);
    ids_of(ids, pe, "01234567", true, 1);
    assert_memory_equal(ids, first, sizeof first);
}

/* The shift of training: of all digits, as the paper's code has it, and up to `most`. */
static void test_shift(void **state)
{
    int ids[10], plain[10], seen[4] = {0};
    (void)state;
    ids_of(plain, "abacus", "321+54=861", false, 0);
    for (uint64_t key = 0; key < 400; key++) {
        ids_of(ids, "abacus most=3 L=10", "321+54=861", true, key);
        assert_true(ids[0] >= 1 && ids[0] <= 4 && ids[3] == 0 && ids[6] == 0);
        for (int t = 1; t < 10; t++)
            assert_true(ids[t] == 0 || ids[t] == ids[0] - 1 + plain[t]);
        seen[ids[0] - 1]++;
    }
    for (int k = 0; k < 4; k++) /* four standard deviations of a share of 1/4 */
        assert_true(abs(seen[k] - 100) < 35);
}

/* ---- in a model */

/* Vocabulary of the models: six digits, a separator, the end of prompts and two words. */
enum { VOCAB = 10, CONTEXT = 64 };
static const unsigned char classes[VOCAB] = {1, 1, 1, 1, 1, 1, PW_CLASS_SEPARATOR, PW_CLASS_LAST};

#define SHAPE "layers=2 width=16 heads=4 ffn=20 context=64 "
#define TOLD                                                                                                 \
    "position = index(i) > 0 ? 20 - index(i) + training * floor(uniform(0, 3)) : 2 * run(i) + prompt; "

static const struct {
    const char *options, *pe;
} models[] = {
    {SHAPE, "abacus L=14"},
    {SHAPE "dropout=0.1", "coupling L=14"},
    {SHAPE, "randomized room=3"},
    {SHAPE, "expr \"" TOLD "bias = -slopes()[h] * abs(d)\""},
    {SHAPE, "expr \"" TOLD "bias = -0.1 * d * position(i); mask = d > -4 - l\""},
    {SHAPE, "expr \"" TOLD "T = learn(normal(0.5), 40) per head; bias = T[d + 20]\""},
    {SHAPE, "expr \"" TOLD "T = learn(normal(0.5), 40) per head, layer; bias = T(d + position(j) / 2)\""},
    {SHAPE "causal=off", "expr \"" TOLD "a = learn(1) per head; bias = -a * log1p(abs(d))\""},
    {SHAPE,
     "expr \"" TOLD "score = s - 0.1 * abs(position(i) - position(j)); angle = position(i) / (p + 1)\""},
};
enum { MODELS = sizeof models / sizeof *models };

static struct pw_model *make_model(struct toy *toy, int k)
{
    struct pw_config cfg = toy_config(models[k].options, VOCAB);
    cfg.classes = classes;
    struct pw_pe_use_opts use = toy_pe(models[k].pe, &cfg);
    struct pw_model *m;
    struct pw_err err;
    if (pw_model_create(&m, toy->ops, toy->be, &cfg, &use, 1, &err) != PW_OK)
        fail_msg("%s: %s", models[k].pe, err.msg);
    toy_shake(m, 3);
    return m;
}

static void must(enum pw_code code, const struct pw_err *err)
{
    if (code != PW_OK)
        fail_msg("%s", err->msg);
}

/* A word, digits, a separator, digits, the end of the prompt and digits. */
static int write_prompt(int *tokens, int first, int second, int answer)
{
    int T = 0;
    tokens[T++] = 8;
    for (int i = 0; i < first; i++)
        tokens[T++] = i % 6;
    tokens[T++] = 6;
    for (int i = 0; i < second; i++)
        tokens[T++] = (i + 2) % 6;
    tokens[T++] = 7;
    for (int i = 0; i < answer; i++)
        tokens[T++] = (i + 4) % 6;
    return T;
}

/* Logits of every row by inspection, by decoding in pieces, and of the loss by evaluation, have the same
 * bits. */
static void test_same(void **state)
{
    enum { T = 14 };
    (void)state;
    for (int k = 0; k < MODELS; k++) {
        struct toy toy = toy_open(2);
        struct pw_model *m = make_model(&toy, k);
        struct pw_decoder *d;
        struct pw_err err;
        int tokens[32], pos[T], best[T], n = write_prompt(tokens, 4, 3, 4), ids[T];
        float logits[T * VOCAB], part[T * VOCAB], one[VOCAB], loss[T];
        assert_int_equal(n, T);
        for (int t = 0; t < T; t++)
            pos[t] = t;
        must(pw_model_inspect(m, tokens, T, &(struct pw_inspection){.logits = logits}, &err), &err);
        struct pw_batch b = {.n_seqs = 1,
                             .n_rows = T,
                             .n_scored = T,
                             .start = (const int[]){0, T},
                             .tokens = tokens,
                             .pos = pos,
                             .rows = pos,
                             .targets = tokens};
        must(pw_model_eval(m, &b, best, loss, &err), &err);
        for (int t = 0; t < T; t++)
            for (int v = 0; v < VOCAB; v++)
                assert_true(logits[t * VOCAB + v] <= logits[t * VOCAB + best[t]]);
        must(pw_decoder_create(&d, m, T, &err), &err);
        for (int round = 0; round < 2; round++) { /* first the prompt in one piece, then token by token */
            for (int at = 0, more; at < T; at += more) {
                more = round == 0 && at == 0 ? 10 : 1;
                must(pw_decoder_feed(d, tokens + at, more, one, &err), &err);
                must(pw_model_inspect(m, tokens, at + more, &(struct pw_inspection){.logits = part}, &err),
                     &err);
                assert_memory_equal(one, part + (at + more - 1) * VOCAB, sizeof one);
                if (at + more > 9 && m->cfg.causal) /* the prompt is complete */
                    assert_memory_equal(part, logits, (size_t)(at + more) * VOCAB * sizeof *part);
            }
            pw_decoder_rewind(d, 0);
        }
        pw_model_ids(m, tokens, T, ids);
        assert_true(ids[0] >= 0 && ids[T - 1] < CONTEXT);
        pw_decoder_destroy(d);
        pw_model_destroy(m);
        toy_close(&toy);
    }
}

static struct pw_batch *make_batch(uint64_t seed, uint64_t *chance, int n)
{
    struct pw_batch *b = toy_batch(seed, n, 12, 14, VOCAB);
    for (int s = 0; s < n; s++) {
        chance[s] = 100 * seed + (uint64_t)s;
        write_prompt((int *)(uintptr_t)b->tokens + b->start[s], 3 + s % 3, 2,
                     b->start[s + 1] - b->start[s] - 8 - s % 3);
    }
    b->chance = chance;
    return b;
}

static void train(uint64_t digest[2], int k, int threads, int chunk_rows)
{
    struct toy toy = toy_open(threads);
    struct pw_model *m = make_model(&toy, k);
    struct pw_optim o = toy_optim("lr=0.01 warmup=5 steps=30");
    struct pw_err err;
    uint64_t chance[11];
    m->chunk_rows = chunk_rows;
    for (int i = 0; i < 30; i++) {
        struct pw_step_result result;
        struct pw_batch *b = make_batch((uint64_t)i, chance, 11);
        must(pw_model_step(m, &o, b, NULL, &result, &err), &err);
        toy_batch_free(b);
    }
    pw_model_digest(m, digest);
    pw_model_destroy(m);
    toy_close(&toy);
}

/* The bits depend on neither threads nor chunks, and so do the draws. */
static void test_threads(void **state)
{
    (void)state;
    for (int k = 0; k < MODELS; k++) {
        uint64_t first[2], digest[2];
        train(first, k, 1, 0);
        for (int threads = 2; threads <= 8; threads += 3) {
            train(digest, k, threads, threads == 5 ? 17 : 0);
            assert_memory_equal(first, digest, sizeof first);
        }
    }
}

/* A draw is of its sequence: other sequences of the batch change nothing, and another key does. */
static void test_keys(void **state)
{
    struct toy toy = toy_open(1);
    struct pw_model *m = make_model(&toy, 0);
    uint64_t chance[4], other[4];
    struct pw_batch *b = make_batch(1, chance, 4), own;
    struct pw_err err;
    int kept[64];
    (void)state;
    must(pw_ids_batch(m, &own, b, true, &err), &err);
    memcpy(kept, own.pos, (size_t)b->n_rows * sizeof *kept);
    memcpy(other, chance, sizeof other);
    other[2] = 77;
    b->chance = other;
    must(pw_ids_batch(m, &own, b, true, &err), &err);
    for (int s = 0; s < 4; s++) {
        size_t at = (size_t)b->start[s], n = (size_t)(b->start[s + 1] - b->start[s]);
        assert_true((memcmp(kept + at, own.pos + at, n * sizeof *kept) == 0) == (s != 2));
    }
    must(pw_ids_batch(m, &own, b, false, &err), &err); /* outside of training no key counts */
    for (int r = 0; r < b->n_rows; r++)
        assert_true(own.pos[r] < 14);
    toy_batch_free(b);
    pw_model_destroy(m);
    toy_close(&toy);
}

/* ---- what reads ids */

/* The bias of a pair is the table's at both ids, also where the key has the later position; the row added to
 * a token is that of its id. */
static void test_tables(void **state)
{
    enum { T = 14, H = 4, L = 2, C = 16 };
    (void)state;
    for (int k = 0; k < MODELS; k++) {
        struct toy toy = toy_open(1);
        struct pw_model *m = make_model(&toy, k);
        struct pw_pe_tables all;
        struct pw_err err;
        int tokens[32], ids[T], later = 0;
        float bias[L * H * T * T], resid[(L + 1) * T * C], plain[VOCAB * C], *added;
        write_prompt(tokens, 4, 3, 4);
        pw_model_ids(m, tokens, T, ids);
        must(pw_model_inspect(m, tokens, T, &(struct pw_inspection){.bias = bias, .resid = resid}, &err),
             &err);
        must(pw_model_tables(m, CONTEXT, &all, &err), &err);
        for (int l = 0; l < L && (all.bias != NULL || all.dense != NULL) && all.cosine == NULL; l++) {
            struct pw_pe_tables t = pw_pe_tables_at(&all, l);
            for (int h = 0; h < H; h++)
                for (int i = 0; i < T; i++)
                    for (int j = 0; j < (m->cfg.causal ? i + 1 : T); j++) {
                        float got = bias[((l * H + h) * T + i) * T + j];
                        float want = pw_pe_bias_at(&t, h, ids[i], ids[j]);
                        if (!(got == want || fabsf(got - want) < 1e-5f))
                            fail_msg("%s: bias %g, not %g, at %d, %d", models[k].pe, (double)got,
                                     (double)want, ids[i], ids[j]);
                        later += ids[j] > ids[i];
                    }
            assert_true(later > 0);
        }
        pw_model_read(m, plain, m->lay.embed, VOCAB * C);
        if (all.added != NULL) {
            must(pw_model_added(m, tokens, T, &added, &err), &err);
            for (int e = 0; e < T * C; e++)
                assert_true(fabsf(resid[e] - plain[tokens[e / C] * C + e % C] - added[e]) < 1e-5f);
            free(added);
        }
        pw_pe_tables_free(&all);
        pw_model_destroy(m);
        toy_close(&toy);
    }
}

/* A replaced head and a patch are by the row in the sequence, not by its id. */
static void test_rows(void **state)
{
    enum { T = 14, H = 4, D = 4, C = 16, L = 2 };
    struct toy toy = toy_open(1);
    struct pw_model *m = make_model(&toy, 3);
    struct pw_err err;
    int tokens[32];
    float table[CONTEXT * D], z[L * T * H * D], source[T * C], resid[(L + 1) * T * C];
    (void)state;
    write_prompt(tokens, 4, 3, 4);
    for (int e = 0; e < CONTEXT * D; e++)
        table[e] = (float)e;
    for (int e = 0; e < T * C; e++)
        source[e] = (float)(e % 97);
    struct pw_patch patch = {.layer = 1, .head = -1, .from = 2, .to = T, .source = source};
    must(pw_model_replace_head(m, 0, 1, 1, table, &err), &err);
    struct pw_inspection in = {.z = z, .resid = resid, .patches = &patch, .n_patches = 1};
    must(pw_model_inspect(m, tokens, T, &in, &err), &err);
    for (int t = 0; t < T; t++)
        assert_memory_equal(z + (t * H + 1) * D, table + t * D, D * sizeof *z);
    assert_memory_equal(resid + (T + 2) * C, source + 2 * C, (T - 2) * C * sizeof *resid);
    pw_model_destroy(m);
    toy_close(&toy);
}

static double loss_of(struct pw_model *m, const struct pw_batch *b, float *grad)
{
    struct pw_err err;
    double loss;
    must(pw_model_gradient(m, b, grad, &loss, &err), &err);
    return loss;
}

/* The gradients of learned biases against differences of the loss, for about a hundred entries of each model.
 */
static void test_gradient(void **state)
{
    const float h = 0.003f;
    (void)state;
    for (int k = 0; k < MODELS; k++) {
        struct toy toy = toy_open(1);
        struct pw_model *m = make_model(&toy, k);
        size_t size = pw_model_size(m), moved = 0;
        float *p = calloc(3 * size, sizeof *p), *grad = p + size, *other = grad + size;
        uint64_t chance[7];
        struct pw_batch *b = make_batch(3, chance, 7);
        assert_non_null(p);
        pw_model_get(m, p, NULL, NULL);
        loss_of(m, b, grad);
        double largest = 0;
        for (size_t e = m->lay.core; e < size; e++)
            largest = fmax(largest, fabs((double)grad[e]));
        for (size_t e = m->lay.core; e < size; e += 1 + (size - m->lay.core) / 97) {
            double side[2];
            float was = p[e];
            for (int s = 0; s < 2; s++) {
                p[e] = s == 0 ? was + h : was - h;
                pw_model_put(m, p, NULL, NULL);
                side[s] = loss_of(m, b, other);
            }
            p[e] = was;
            double want = (side[0] - side[1]) / (2 * (double)h);
            if (fabs(want - (double)grad[e]) > 2e-2 * (fabs(want) + largest))
                fail_msg("%s: entry %zu: gradient %g, difference quotient %g", models[k].pe, e - m->lay.core,
                         (double)grad[e], want);
            moved += fabs(want) > 1e-3;
        }
        assert_true(m->lay.core == size || moved > 0);
        toy_batch_free(b);
        free(p);
        pw_model_destroy(m);
        toy_close(&toy);
    }
}

/* Training counts ids and their distances, and an image keeps the counts. */
static void test_seen(void **state)
{
    struct toy toy = toy_open(2);
    struct pw_model *m = make_model(&toy, 1), *copy = make_model(&toy, 1);
    struct pw_optim o = toy_optim("");
    struct pw_step_result result;
    struct pw_checkpoint *c;
    struct pw_err err;
    uint64_t chance[5];
    int64_t rows[CONTEXT] = {0}, pairs[CONTEXT] = {0}, got[2][CONTEXT];
    void *bytes;
    size_t n;
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct pw_batch *b = make_batch((uint64_t)i, chance, 5), own;
        must(pw_ids_batch(m, &own, b, true, &err), &err);
        for (int s = 0; s < b->n_seqs; s++)
            for (int x = b->start[s]; x < b->start[s + 1]; x++) {
                rows[own.pos[x]]++;
                for (int y = b->start[s]; y <= x; y++)
                    pairs[abs(own.pos[x] - own.pos[y])]++;
            }
        must(pw_model_step(m, &o, b, NULL, &result, &err), &err);
        toy_batch_free(b);
    }
    assert_int_equal(pw_model_seen(m, got[0], got[1]), 3);
    assert_memory_equal(got[0], pairs, sizeof pairs);
    assert_memory_equal(got[1], rows, sizeof rows);
    struct pw_checkpoint_info info = {.optim = o, .seed = 1, .step = 3};
    must(pw_checkpoint_image(m, &info, &bytes, &n, &err), &err);
    must(pw_checkpoint_open_bytes(&c, bytes, n, "it", &err), &err);
    must(pw_checkpoint_load(c, copy, &err), &err);
    assert_int_equal(pw_model_seen(copy, got[0], got[1]), 3);
    assert_memory_equal(got[0], pairs, sizeof pairs);
    assert_memory_equal(got[1], rows, sizeof rows);
    pw_checkpoint_close(c);
    free(bytes);
    pw_model_destroy(m);
    pw_model_destroy(copy);
    toy_close(&toy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers), cmocka_unit_test(test_sample),   cmocka_unit_test(test_shift),
        cmocka_unit_test(test_same),    cmocka_unit_test(test_threads),  cmocka_unit_test(test_keys),
        cmocka_unit_test(test_tables),  cmocka_unit_test(test_gradient), cmocka_unit_test(test_rows),
        cmocka_unit_test(test_seen),
    };
    pw_library_folders("/nonexistent", PEWTER_SOURCE_DIR "/encodings");
    return cmocka_run_group_tests_name("ids", tests, NULL, NULL);
}
