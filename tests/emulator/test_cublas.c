/* test_cublas.c - the product that stands for cuBLASLt's, against sums in double precision, and what it
 * refuses. */
#include "tests/emulator/ref_device.h"

#include <cublasLt.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { WORKSPACE = 64 << 10 };

/* D [m,n] = op(A) op(B), column-major. */
struct shape {
    int m, n, k;
    bool ta, tb;
    cudaDataType type;
    cublasComputeType_t compute;
    cublasLtEpilogue_t epilogue;
    float alpha, beta;
    int batch;
};

struct lt {
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t d;
    cublasLtMatrixLayout_t a, b, c;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t best;
    void *workspace;
    cublasStatus_t status; /* of the heuristic */
};

static void set(struct lt *lt, cublasLtMatmulDescAttributes_t attr, const void *value, size_t size)
{
    assert_int_equal(cublasLtMatmulDescSetAttribute(lt->d, attr, value, size), CUBLAS_STATUS_SUCCESS);
}

static void layout(cublasLtMatrixLayout_t *l, cudaDataType type, int rows, int cols, int batch)
{
    int64_t stride = (int64_t)rows * cols;
    assert_int_equal(cublasLtMatrixLayoutCreate(l, type, (uint64_t)rows, (uint64_t)cols, rows),
                     CUBLAS_STATUS_SUCCESS);
    cublasLtMatrixLayoutSetAttribute(*l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch);
    cublasLtMatrixLayoutSetAttribute(*l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride);
}

static void begin(struct lt *lt, const struct shape *s, const void *bias)
{
    cublasOperation_t ta = s->ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb = s->tb ? CUBLAS_OP_T : CUBLAS_OP_N;
    uint64_t room = WORKSPACE;
    int n;
    assert_int_equal(cublasLtCreate(&lt->handle), CUBLAS_STATUS_SUCCESS);
    assert_int_equal(cublasLtMatmulDescCreate(&lt->d, s->compute, CUDA_R_32F), CUBLAS_STATUS_SUCCESS);
    set(lt, CUBLASLT_MATMUL_DESC_TRANSA, &ta, sizeof ta);
    set(lt, CUBLASLT_MATMUL_DESC_TRANSB, &tb, sizeof tb);
    set(lt, CUBLASLT_MATMUL_DESC_EPILOGUE, &s->epilogue, sizeof s->epilogue);
    set(lt, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
    layout(&lt->a, s->type, s->ta ? s->k : s->m, s->ta ? s->m : s->k, s->batch);
    layout(&lt->b, s->type, s->tb ? s->n : s->k, s->tb ? s->k : s->n, s->batch);
    layout(&lt->c, CUDA_R_32F, s->m, s->n, s->batch);
    cublasLtMatmulPreferenceCreate(&lt->preference);
    cublasLtMatmulPreferenceSetAttribute(lt->preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room,
                                         sizeof room);
    lt->workspace = ref_device(NULL, WORKSPACE);
    lt->status = cublasLtMatmulAlgoGetHeuristic(lt->handle, lt->d, lt->a, lt->b, lt->c, lt->c, lt->preference,
                                                1, &lt->best, &n);
    assert_int_equal(n, lt->status == CUBLAS_STATUS_SUCCESS);
}

static cublasStatus_t multiply(struct lt *lt, const struct shape *s, const void *a, const void *b, void *d)
{
    return cublasLtMatmul(lt->handle, lt->d, &s->alpha, a, lt->a, b, lt->b, &s->beta, d, lt->c, d, lt->c,
                          &lt->best.algo, lt->workspace, WORKSPACE, ref_stream);
}

static void end(struct lt *lt)
{
    cublasLtMatmulPreferenceDestroy(lt->preference);
    cublasLtMatrixLayoutDestroy(lt->a);
    cublasLtMatrixLayoutDestroy(lt->b);
    cublasLtMatrixLayoutDestroy(lt->c);
    cublasLtMatmulDescDestroy(lt->d);
    cublasLtDestroy(lt->handle);
}

/* Multiples of 1/64 below 2: exact in TF32; with 8 bits, exact in bf16, too. */
static float *numbers(int n, uint32_t seed)
{
    float *x = malloc((size_t)n * sizeof *x);
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)((int)(seed >> 24) - 128) / 64.0f;
    }
    return x;
}

static void *as_type(const float *x, int n, cudaDataType type)
{
    uint16_t *half = malloc((size_t)n * sizeof *half);
    for (int i = 0; i < n; i++) {
        uint32_t u;
        memcpy(&u, &x[i], 4);
        half[i] = (uint16_t)(u >> 16);
    }
    void *p = type == CUDA_R_32F ? ref_device(x, (size_t)n * 4) : ref_device(half, (size_t)n * 2);
    free(half);
    return p;
}

static void check(const struct shape *s)
{
    int n_a = s->m * s->k * s->batch, n_b = s->k * s->n * s->batch, n_d = s->m * s->n * s->batch;
    float *a = numbers(n_a, 1), *b = numbers(n_b, 2), *old = numbers(n_d, 3), *bias = numbers(s->m, 4);
    float *got = malloc((size_t)n_d * sizeof *got);
    void *on_a = as_type(a, n_a, s->type), *on_b = as_type(b, n_b, s->type);
    float *on_d = ref_device(old, (size_t)n_d * 4), *on_bias = ref_device(bias, (size_t)s->m * 4);
    struct lt lt;
    begin(&lt, s, on_bias);
    assert_int_equal(lt.status, CUBLAS_STATUS_SUCCESS);
    assert_int_equal(multiply(&lt, s, on_a, on_b, on_d), CUBLAS_STATUS_SUCCESS);
    end(&lt); /* descriptors are not needed any more, whenever it runs */
    ref_fetch(got, on_d, (size_t)n_d * 4);
    for (int z = 0; z < s->batch; z++)
        for (int j = 0; j < s->n; j++)
            for (int i = 0; i < s->m; i++) {
                double sum = 0.0;
                for (int k = 0; k < s->k; k++) {
                    double x = a[z * s->m * s->k + (s->ta ? k + s->k * i : i + s->m * k)];
                    double y = b[z * s->k * s->n + (s->tb ? j + s->n * k : k + s->k * j)];
                    sum += x * y;
                }
                int at = z * s->m * s->n + i + s->m * j;
                sum = s->alpha * sum + s->beta * (double)old[at];
                if (s->epilogue & CUBLASLT_EPILOGUE_BIAS)
                    sum += bias[i];
                if (s->epilogue & CUBLASLT_EPILOGUE_RELU && sum < 0.0)
                    sum = 0.0;
                if (!(fabs(got[at] - sum) <= 1e-5 * (1.0 + fabs(sum))))
                    fail_msg("%d x %d x %d: D[%d,%d] is %g, %g is due", s->m, s->n, s->k, i, j,
                             (double)got[at], sum);
            }
    free(a), free(b), free(old), free(bias), free(got);
}

static const struct shape plain = {
    7, 5, 9, false, false, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUBLASLT_EPILOGUE_DEFAULT, 1.0f, 0.0f, 1};

static void products(void **state)
{
    (void)state;
    for (int deferred = 0; deferred < 2; deferred++)
        for (int bits = 0; bits < 64; bits++) {
            struct shape s = plain;
            pw_emu_set_deferred(deferred);
            s.ta = bits & 1;
            s.tb = bits & 2;
            s.type = bits & 4 ? CUDA_R_16BF : CUDA_R_32F;
            s.compute = bits & 8 && !(bits & 4) ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
            s.epilogue = bits & 16 ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
            s.alpha = bits & 32 ? 0.5f : 1.0f;
            s.beta = bits & 32 ? -2.0f : 0.0f;
            s.batch = bits & 32 ? 3 : 1;
            check(&s);
        }
    pw_emu_set_deferred(false);
}

/* TF32 drops all but 10 bits of the mantissa. */
static void tf32_rounds(void **state)
{
    (void)state;
    const float x = 1.0f + 0x1p-12f, one = 1.0f;
    struct shape s = plain;
    s.m = s.n = s.k = 1;
    float *a = ref_device(&x, sizeof x), *b = ref_device(&one, sizeof one), *d = ref_device(NULL, 4), got;
    for (int tf32 = 0; tf32 < 2; tf32++) {
        struct lt lt;
        s.compute = tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
        begin(&lt, &s, NULL);
        assert_int_equal(multiply(&lt, &s, a, b, d), CUBLAS_STATUS_SUCCESS);
        end(&lt);
        ref_fetch(&got, d, sizeof got);
        assert_true(got == (tf32 ? 1.0f : x));
    }
}

static void refusals(void **state)
{
    (void)state;
    float *a = ref_device(NULL, 7 * 9 * 4), *b = ref_device(NULL, 9 * 5 * 4),
          *d = ref_device(NULL, 7 * 5 * 4);
    struct lt lt;
    pw_emu_collect(true);
    begin(&lt, &plain, NULL);
    assert_int_equal(multiply(&lt, &plain, a, b, d + 1), CUBLAS_STATUS_INVALID_VALUE);
    ref_assert_found("C is promised to be aligned to 256 bytes");
    assert_int_equal(multiply(&lt, &plain, b, b, d), CUBLAS_STATUS_INVALID_VALUE);
    ref_assert_found("A of a product, 252 bytes");
    assert_int_equal(multiply(&lt, &plain, a, a, a), CUBLAS_STATUS_INVALID_VALUE);
    ref_assert_found("D of a product overlaps A or B");
    lt.workspace = (char *)lt.workspace + 16;
    assert_int_equal(multiply(&lt, &plain, a, b, d), CUBLAS_STATUS_INVALID_VALUE);
    ref_assert_found("the workspace of a product");
    end(&lt);

    struct shape s = plain;
    s.type = CUDA_R_16BF;
    pw_emu_set_device(NULL, 7, 5);
    begin(&lt, &s, NULL);
    assert_int_equal(lt.status, CUBLAS_STATUS_NOT_SUPPORTED);
    end(&lt);
    pw_emu_set_blas(false);
    assert_int_equal(cublasLtCreate(&lt.handle), CUBLAS_STATUS_NOT_INITIALIZED);
    assert_int_equal(pw_emu_findings(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(products, ref_setup, ref_teardown),
        cmocka_unit_test_setup_teardown(tf32_rounds, ref_setup, ref_teardown),
        cmocka_unit_test_setup_teardown(refusals, ref_setup, ref_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
