/* ref_table.c - tables of encodings for the fabricated lab. */
#include "ref_screen_int.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* Training counts for at most 11 rows: 1000 sequences of 5, 7, 9 and 11 rows each. */
static void met_of(struct pw_ev_table *t)
{
    t->met = screen_array((size_t)t->length, sizeof *t->met);
    t->rows = screen_array((size_t)t->length, sizeof *t->rows);
    for (int rows = 5; rows <= 11; rows += 2)
        for (int d = 0; d < rows && d < t->length; d++) {
            t->met[d] += INT64_C(1000) * (rows - d);
            t->rows[d] += 1000;
        }
    t->trained = 10;
}

/* The mean score of all distances in the samples, and the encoding's own part of it. */
static void kernel_of(struct pw_ev_table *t, bool own)
{
    t->layers = LAYERS, t->n_kernel = 16;
    t->score = screen_array(HEADS * (size_t)t->length, sizeof(float));
    if (own)
        t->kernel = screen_array(HEADS * (size_t)t->length, sizeof(float));
    for (int h = 0; h < HEADS; h++)
        for (int d = 0; d < t->length; d++) {
            size_t i = (size_t)h * (size_t)t->length + (size_t)d;
            float part =
                t->bias != NULL ? t->bias[i] : 0.8f / (1 + (float)(d * (h + 1))) - 0.1f * (float)(d % 6);
            if (own)
                t->kernel[i] = part;
            t->score[i] = d > 10 ? NAN : part + 0.3f * screen_noise((uint32_t)d + 5, (uint32_t)h);
        }
}

static void buckets_of(struct pw_ev_table *t)
{
    static const int from[] = {0, 1, 2, 3, 4, 6, 8, 12, INT_MAX}; /* T5 8/16 */

    t->n_buckets = 8;
    t->bucket = screen_array(32, sizeof(int));
    t->bucket_from = screen_array(9, sizeof(int));
    memcpy(t->bucket_from, from, sizeof from);
    t->bucket_bias = screen_array(8 * HEADS, sizeof(float));
    t->grad = screen_array(8 * HEADS, sizeof(float));
    t->n_grad = 64;
    t->bias = screen_array(HEADS * 32, sizeof(float));
    for (int b = 0; b < 8; b++)
        for (int h = 0; h < HEADS; h++) {
            t->bucket_bias[b * HEADS + h] = 1.4f * screen_noise((uint32_t)h + 3, (uint32_t)b);
            t->grad[b * HEADS + h] = b < 7 ? 0.002f / (float)(b + h + 1) : 0;
        }
    for (int d = 0; d < 32; d++) {
        while (d >= from[t->bucket[d] + 1])
            t->bucket[d]++;
        for (int h = 0; h < HEADS; h++)
            t->bias[h * 32 + d] = t->bucket_bias[t->bucket[d] * HEADS + h];
    }
}

static void rows_of(struct pw_ev_table *t)
{
    t->added = screen_array(32 * 64, sizeof(float));
    t->grad = screen_array(32, sizeof(float));
    t->n_grad = 64;
    for (uint32_t p = 0; p < 32; p++) {
        t->grad[p] = p > 10 ? 0 : 0.001f / (float)(p + 1);
        for (uint32_t i = 0; i < 64; i++)
            t->added[p * 64 + i] =
                p > 10 ? 0.02f * screen_noise(p, i)
                       : 0.2f * screen_noise(i, 77) * (float)((int)(p * (i % 7 + 1)) % 13 - 6) / 6;
    }
}

/* With at most 11 rows, the last of 13 keys was never read. */
static void keys_of(struct pw_ev_table *t)
{
    t->n_keys = 13, t->key_width = 16, t->n_grad = 64;
    t->keys = screen_array(13 * 16, sizeof(float));
    t->key_met = screen_array(13, sizeof *t->key_met);
    t->key_grad = screen_array(13, sizeof(float));
    for (uint32_t r = 0; r < 13; r++) {
        t->key_met[r] = t->met[r];
        t->key_grad[r] = r > 10 ? 0 : 0.002f / (float)(r + 1);
        for (uint32_t i = 0; i < 16; i++)
            t->keys[r * 16 + i] = 0.25f * screen_noise(r, i + 3) + (r > 10 ? 0 : 0.05f * (float)(i % 5));
    }
}

/* A function of u = ln(d / 2 + 1) / ln(max(i,6) / 2 + 1), for queries 0 to 31; L = |0.75 x 8|. */
static void queries_of(struct pw_ev_table *t)
{
    static const int queries[] = {1, 4, 6, 10, 15, 20, 26, 31};
    static const struct pw_table_tensor tensors[] = {{"pe.c", 0, 1, 0.5f, 0.0031f},
                                                     {"pe.L_multiplier", 0, 1, 0.75f, 0},
                                                     {"pe.mlp.0.weight", 32, 1, 2.8f, 0.00042f},
                                                     {"pe.mlp.2.bias", 0, HEADS, 0.25f, NAN}};

    t->fire_c = -0.5f, t->fire_factor = 0.75f, t->fire_threshold = 8, t->fire_step = 1;
    t->n_queries = 8, t->n_tensors = 4, t->n_grad = 64;
    t->queries = screen_array(8, sizeof(int));
    memcpy(t->queries, queries, sizeof queries);
    t->tensors = screen_array(4, sizeof *t->tensors);
    memcpy(t->tensors, tensors, sizeof tensors);
    t->query_bias = screen_array(HEADS * 8 * 32, sizeof(float));
    t->bias = screen_array(HEADS * 32, sizeof(float));
    for (int h = 0; h < HEADS; h++)
        for (int k = 0; k < 8; k++)
            for (int d = 0; d < 32; d++) {
                double y = queries[k] > 6 ? queries[k] : 6, u = log(d / 2.0 + 1) / log(y / 2.0 + 1);
                float *to = &t->query_bias[(h * 8 + k) * 32 + d];
                *to = d > queries[k] ? NAN : (float)(0.5 * h - 0.8 + (h + 1) * sin(3 * u) / 3);
                if (k == 7)
                    t->bias[h * 32 + d] = *to;
            }
}

/* The learned parameters of a formula after `step` steps: a number of each head, and a table of 16 entries of
 * each head and layer. */
static void params_of(struct pw_ev_table *t, int step)
{
    static const struct pw_table_param params[] = {{"a", 1, HEADS, 1, 0, -1, 0},
                                                   {"T", LAYERS, HEADS, 16, 4, 0, 0}};
    float done = sqrtf((float)step / 640);

    t->n_params = 2, t->param_steps = step / 10;
    t->n_learned = HEADS + LAYERS * HEADS, t->n_entries = LAYERS * HEADS * 16;
    t->params = screen_array(2, sizeof *t->params);
    memcpy(t->params, params, sizeof params);
    t->learned = screen_array((size_t)t->n_learned, sizeof(float));
    t->learned_grads = screen_array((size_t)t->n_learned, sizeof(float));
    t->entries = screen_array((size_t)t->n_entries, sizeof(float));
    t->entry_grads = screen_array((size_t)t->n_entries, sizeof(float));
    for (int i = 0; i < t->n_learned; i++) {
        t->learned[i] =
            i < HEADS ? 1 + done * (0.5f - 0.3f * (float)i) : 0.1f + 0.05f * done * (float)(i % 3);
        t->learned_grads[i] = 0.001f / (float)(i + 1);
    }
    for (int i = 0; i < t->n_entries; i++) {
        t->entries[i] = (0.1f + 0.1f * done) * screen_noise((uint32_t)i + 3, 5);
        t->entry_grads[i] = 0.0001f * (float)(i % 16);
    }
    t->bias = screen_array(HEADS * 32, sizeof(float));
    for (int i = 0; i < HEADS * 32; i++)
        t->bias[i] =
            t->entries[i / 32 * 16 + (i % 32 < 16 ? i % 32 : 15)] - t->learned[i / 32] * (float)(i % 32);
}

/* Folds the tables of the arm's earlier steps. */
static void params_before(struct pw_snapshot *s, int arm)
{
    for (int step = 0; step < 640; step += 40) {
        struct pw_event *e = pw_event_new(PW_EV_TABLE);
        e->arm = arm, e->step = step;
        e->u.table = (struct pw_ev_table){.length = 32, .heads = HEADS, .width = 64};
        params_of(&e->u.table, step);
        screen_fold(s, e);
    }
}

void screen_set_table(struct pw_snapshot *s, enum screen_table kind)
{
    static const char *const names[] = {"",
                                        "none",
                                        "t5 buckets=8 distance=16",
                                        "alibi",
                                        "rotary base=10000",
                                        "learned",
                                        "shaw distance=12",
                                        "fire hidden=32 threshold=8",
                                        ("expr 'a = learn(1) per head; T = learn(normal(0.1), 16) per head, "
                                         "layer; bias = T[d] - a * d'")};
    static const int arms[] = {0, 1, 3, 2, 4, 5, 5, 5, 5};
    static const float frequencies[8] = {1, 0.316f, 0.1f, 0.0316f, 0.01f, 0.00316f, 0.001f, 0.000316f};
    if (kind == SCREEN_AS_IS)
        return;
    struct pw_event *e = pw_event_new(PW_EV_TABLE);
    struct pw_ev_table *t = &e->u.table;

    e->arm = arms[kind], e->step = 640;
    *t = (struct pw_ev_table){.length = 32, .heads = HEADS, .width = 64};
    pw_text_copy(t->pe, sizeof t->pe, names[kind]);
    met_of(t);
    if (kind == SCREEN_T5) {
        buckets_of(t);
    } else if (kind == SCREEN_ALIBI) {
        t->slopes = screen_array(HEADS, sizeof(float));
        t->bias = screen_array(HEADS * 32, sizeof(float));
        for (int h = 0; h < HEADS; h++) {
            t->slopes[h] = 1.0f / (float)(4 << 2 * h);
            for (int d = 0; d < 32; d++)
                t->bias[h * 32 + d] = -t->slopes[h] * (float)d;
        }
    } else if (kind == SCREEN_ROTARY) {
        t->pairs = 8;
        t->frequencies = screen_array(8, sizeof(float));
        memcpy(t->frequencies, frequencies, sizeof frequencies);
        t->parts = screen_array(2 * HEADS * 8, sizeof(float));
        for (uint32_t i = 0; i < 2 * HEADS * 8; i++)
            t->parts[i] = screen_noise(i, 9);
    } else if (kind == SCREEN_LEARNED) {
        rows_of(t);
    } else if (kind == SCREEN_SHAW) {
        keys_of(t);
    } else if (kind == SCREEN_FIRE) {
        queries_of(t);
    } else if (kind == SCREEN_FORMULA) {
        params_before(s, arms[kind]);
        params_of(t, 640);
    }
    kernel_of(t, kind != SCREEN_NONE);
    screen_fold(s, e);
    e = pw_event_new(PW_EV_ARM);
    e->arm = arms[kind];
    e->u.arm = s->arms[arms[kind] - 1].info;
    e->u.arm.current = true;
    screen_fold(s, e);
}
