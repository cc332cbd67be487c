/* test_activations.c - reads the archive of `export activations` back. Its samples must be those of `eval`,
 * and its arrays aligned. Its numbers must equal those of `export attention` and of the weights, bit for bit.
 * Scores follow from q and k, heads' outputs from probabilities and v, the residual stream from z and mlp. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "model/safetensors.h"
#include "ref_lab.h"
#include "tasks/task.h"

static char dir[] = "/tmp/pewter_activations_XXXXXX";
static char acts_path[64], attention_path[64], weights_path[64];

/* ---- an .npz, parsed by the structure of its entries */

struct array {
    int n_dims;
    long dims[4];
    void *data; /* allocated by malloc; 4 bytes an element */
};

static uint32_t get(const unsigned char *p, int bytes)
{
    uint32_t v = 0;
    for (int i = bytes - 1; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

/* Loads an array. n_dims 0: the archive doesn't have it. */
static struct array load(const char *path, const char *name)
{
    struct array a = {0};
    struct pw_err err;
    char *file, full[32];
    size_t size, want = (size_t)snprintf(full, sizeof full, "%s.npy", name), n = 1;
    assert_int_equal(pw_file_read(path, 1 << 26, &file, &size, &err), PW_OK);
    const unsigned char *p = (const unsigned char *)file;
    while (get(p, 4) == 0x04034b50 && (get(p + 26, 2) != want || memcmp(p + 30, full, want) != 0))
        p += 30 + get(p + 26, 2) + get(p + 18, 4);
    if (get(p, 4) == 0x04034b50) {
        const unsigned char *npy = p + 30 + want;
        const char *shape = strstr((const char *)npy + 10, "'shape': (") + 10;
        for (char *end; *shape != ')' && a.n_dims < 4; shape = end + strspn(end, ", ")) {
            a.dims[a.n_dims] = strtol(shape, &end, 10);
            n *= (size_t)a.dims[a.n_dims++];
        }
        a.data = malloc(4 * n);
        assert_int_equal(get(p + 18, 4), 10 + get(npy + 8, 2) + 4 * n);
        memcpy(a.data, npy + 10 + get(npy + 8, 2), 4 * n);
    }
    free(file);
    return a;
}

static struct array load_shaped(const char *path, const char *name, int n_dims, long d0, long d1, long d2,
                                long d3)
{
    struct array a = load(path, name);
    const long dims[] = {d0, d1, d2, d3};
    assert_int_equal(a.n_dims, n_dims);
    for (int i = 0; i < n_dims; i++)
        assert_int_equal(a.dims[i], dims[i]);
    return a;
}

/* ---- numbers */

enum { L = 2, H = 4, D = 4, C = 16, F = 24, N = 3 };
#define MODEL "model layers=2 width=16 heads=4 ffn=24; "

static const float *weight(const struct pw_st *st, int layer, const char *name)
{
    char full[64];
    snprintf(full, sizeof full, "layers.%d.%s.weight", layer, name);
    const struct pw_st_tensor *t = pw_st_find(st, full);
    assert_non_null(t);
    return t->data;
}

/* x + W h, summed in the order that kernels/backend.h specifies. */
static float branch(const float *w, const float *h, int n, float x)
{
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum = fmaf(h[i], w[i], sum);
    return sum + x;
}

struct acts {
    int R;
    const float *q, *k, *v, *z, *mlp, *resid;
};

/* Checks one layer of the sample whose first row is `first`, over the T rows that it shares with the pinned
 * prompt. The attention maps have P of them. */
static void check_layer(const struct acts *a, const struct pw_st *st, const float *scores, const float *probs,
                        int l, int first, int T, int P)
{
    const float *wo = weight(st, l, "attn.o"), *down = weight(st, l, "mlp.down");
    for (int t = 0; t < T; t++) {
        size_t row = (size_t)l * a->R + first + t;
        float mid[C];
        for (int h = 0; h < H; h++) {
            const float *q = a->q + (row * H + h) * D, *score = scores + (((size_t)l * H + h) * P + t) * P;
            const float *prob = probs + (((size_t)l * H + h) * P + t) * P;
            float z[D] = {0};
            for (int j = 0; j <= t; j++) {
                size_t key = (row - t + j) * H + h;
                float dot = 0;
                for (int d = 0; d < D; d++) {
                    dot = fmaf(q[d], a->k[key * D + d], dot);
                    z[d] = fmaf(prob[j], a->v[key * D + d], z[d]);
                }
                assert_true(dot * 0.5f == score[j]); /* 1/sqrt(D) */
            }
            assert_memory_equal(z, a->z + (row * H + h) * D, sizeof z);
        }
        for (int c = 0; c < C; c++)
            mid[c] = branch(wo + (size_t)c * H * D, a->z + row * H * D, H * D, a->resid[row * C + c]);
        for (int c = 0; c < C; c++)
            assert_true(branch(down + (size_t)c * F, a->mlp + row * F, F, mid[c]) ==
                        a->resid[(row + a->R) * C + c]);
    }
}

static void check_numbers(struct bench *b, const char *pe, const char *task)
{
    char line[512];
    struct pw_taskset set;
    struct pw_st st;
    struct pw_err err;
    snprintf(line, sizeof line,
             "task %s; " MODEL
             "pe %s; train 30; export weights %s; export activations %s samples=%d length=4",
             task, pe, weights_path, acts_path, N);
    bench_must(b, line);
    assert_int_equal(pw_taskset_init(&set, task, &err), PW_OK);
    assert_int_equal(pw_st_open(&st, weights_path, &err), PW_OK);
    struct array tokens = load(acts_path, "tokens");
    assert_int_equal(tokens.n_dims, 1);
    long R = tokens.dims[0];
    struct array q = load_shaped(acts_path, "q", 4, L, R, H, D),
                 k = load_shaped(acts_path, "k", 4, L, R, H, D),
                 v = load_shaped(acts_path, "v", 4, L, R, H, D),
                 z = load_shaped(acts_path, "z", 4, L, R, H, D),
                 mlp = load_shaped(acts_path, "mlp", 3, L, R, F, 0),
                 resid = load_shaped(acts_path, "resid", 3, L + 1, R, C, 0),
                 targets = load_shaped(acts_path, "targets", 1, R, 0, 0, 0),
                 sample = load_shaped(acts_path, "sample", 1, R, 0, 0, 0),
                 position = load_shaped(acts_path, "position", 1, R, 0, 0, 0),
                 prompt = load_shaped(acts_path, "prompt", 1, R, 0, 0, 0);
    struct acts a = {(int)R, q.data, k.data, v.data, z.data, mlp.data, resid.data};
    int row = 0;
    for (int i = 0; i < N; i++) {
        int buffer[256], T = 0;
        struct pw_sample x = {.tokens = buffer, .cap = 256};
        struct pw_str text = {0}, answer = {0};
        pw_taskset_sample(&set, 0, PW_SPLIT_TEST, (uint64_t)i, 0, 4, &x);
        for (int t = 0; t + 1 < x.n; t++) {
            int r = row + t;
            assert_int_equal(((int32_t *)tokens.data)[r], x.tokens[t]);
            assert_int_equal(((int32_t *)sample.data)[r], i);
            assert_int_equal(((int32_t *)position.data)[r], t);
            assert_int_equal(((int32_t *)prompt.data)[r], t < x.n_prompt);
            assert_int_equal(((int32_t *)targets.data)[r], t + 1 < x.n_prompt ? -1 : x.tokens[t + 1]);
        }
        pw_taskset_sample_text(&set, 0, PW_SPLIT_TEST, (uint64_t)i, 0, 4, &text, &answer);
        snprintf(line, sizeof line, "prompt \"%s\"; export attention %s", pw_str_text(&text), attention_path);
        bench_must(b, line);
        struct array pinned = load(attention_path, "tokens");
        int P = (int)pinned.dims[0];
        while (T < P && T + 1 < x.n && ((int32_t *)pinned.data)[T] == x.tokens[T])
            T++;
        assert_true(T >= x.n_prompt);
        struct array score = load_shaped(attention_path, strcmp(pe, "rotary") == 0 ? "score" : "content", 4,
                                         L, H, P, P),
                     probs = load_shaped(attention_path, "probs", 4, L, H, P, P),
                     stream = load_shaped(attention_path, "resid", 3, L + 1, P, C, 0);
        for (int l = 0; l <= L; l++)
            assert_memory_equal(a.resid + ((size_t)l * R + row) * C, (float *)stream.data + (size_t)l * P * C,
                                (size_t)T * C * sizeof(float));
        for (int l = 0; l < L; l++)
            check_layer(&a, &st, score.data, probs.data, l, row, T, P);
        free(pinned.data);
        free(score.data);
        free(probs.data);
        free(stream.data);
        pw_str_fini(&text);
        pw_str_fini(&answer);
        row += x.n - 1;
    }
    assert_int_equal(row, R);
    void *all[] = {tokens.data, targets.data, sample.data, position.data, prompt.data, q.data,
                   k.data,      v.data,       z.data,      mlp.data,      resid.data};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    pw_st_close(&st);
    pw_taskset_fini(&set);
}

static void test_numbers(void **state)
{
    static const char *const encodings[] = {"rotary", "t5", "learned", "none"};
    struct bench b;
    (void)state;
    for (int i = 0; i < 4; i++) {
        bench_open(&b, i % 3 + 1, i == 2);
        check_numbers(&b, encodings[i], i % 2 == 0 ? "sort" : "lego lengths=2..4");
        bench_close(&b);
    }
}

/* ---- the job */

static void test_choice(void **state)
{
    char line[512];
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    snprintf(line, sizeof line,
             "task sort,copy; " MODEL
             "train 3; export activations %s samples=2 length=3 sites=mlp,v task=copy; mark later",
             acts_path);
    bench_must(&b, line);
    assert_string_equal(b.note, "mark: later"); /* a script waits for the job */
    assert_int_equal(b.s->job.state, PW_JOB_DONE);
    assert_string_equal(b.s->job.name, "activations");
    struct array v = load(acts_path, "v"), q = load(acts_path, "q"), mlp = load(acts_path, "mlp");
    assert_int_equal(q.n_dims, 0);
    assert_int_equal(v.n_dims, 4);
    assert_int_equal(mlp.n_dims, 3);
    free(v.data);
    free(mlp.data);
    unlink(acts_path);

    static const char *const bad[][2] = {
        {"sites=q,w", "no site 'w'"},
        {"sites=residd", "did you mean 'resid'"},
        {"sites=q,,k", "no site ''"},
        {"samples=0", "samples=0: allowed are 1..100000"},
        {"length=500", "has lengths 1..256"},
        {"length=120", "the model has 128"},
        {"task=lego", "no task 'lego': sort, copy"},
        {"site=q", "did you mean 'sites'"},
        {"samples=100000 length=60", "an .npz holds 4.29 GB"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(line, sizeof line, "export activations %s %s", acts_path, bad[i][0]);
        bench_run(&b, line);
        if (b.errors != 1 || strstr(b.error, bad[i][1]) == NULL)
            fail_msg("%s says '%s'", line, b.error);
        assert_int_not_equal(access(acts_path, F_OK), 0);
    }
    bench_run(&b, "export activations /nonexistent/x.npz");
    assert_int_equal(b.errors, 1);
    bench_must(&b, "train 1");
    bench_close(&b);
}

/* A change of the model cancels the job, and no file is written. */
static void test_cancel(void **state)
{
    char line[256];
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "train 2");
    for (int i = 0; i < 3; i++) {
        static const char *const ends[] = {"stop", "pe t5", NULL};
        b.note[0] = '\0';
        snprintf(line, sizeof line, "export activations %s samples=8000 length=8", acts_path);
        pw_lab_send(b.lab, line, PW_SEND_NOW);
        do { /* until it runs */
            bench_look(&b, 10000);
            assert_false(pw_lab_idle(b.lab)); /* the job ended before it was seen */
        } while (b.s->job.state != PW_JOB_RUNNING || b.s->job.done == 0);
        if (ends[i] != NULL)
            pw_lab_send(b.lab, ends[i], PW_SEND_NOW);
        else
            pw_lab_interrupt(b.lab);
        bench_must(&b, "digest");
        assert_int_equal(b.s->job.state, PW_JOB_CANCELLED);
        assert_int_not_equal(access(acts_path, F_OK), 0);
    }
    bench_close(&b);
    assert_int_equal(rmdir(dir), -1); /* only the other test's files are left */
    unlink(attention_path);
    unlink(weights_path);
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers), cmocka_unit_test(test_choice),
                                       cmocka_unit_test(test_cancel)};
    if (mkdtemp(dir) == NULL)
        return 1;
    snprintf(acts_path, sizeof acts_path, "%s/a.npz", dir);
    snprintf(attention_path, sizeof attention_path, "%s/t.npz", dir);
    snprintf(weights_path, sizeof weights_path, "%s/w.safetensors", dir);
    return cmocka_run_group_tests_name("activations", tests, NULL, NULL);
}
