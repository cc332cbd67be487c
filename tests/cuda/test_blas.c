/* test_blas.c - tests products by cuBLASLt: values in every precision and shape, one plan a shape, and the
 * text for the record. Tests every way in which the library can be missing or fail, each with one line.
 *
 * The emulator provides the library. Failures come from dlopen and dlsym, which this program wraps. */
#include "kernels/cuda/blas.h"
#include "kernels/cuda/launch.h"
#include "tests/cuda/ref_device.h"
#include "tests/emulator/emulator.h"
#include "tests/ops/ref.h"

#include <cublasLt.h>
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* ---- the wrapped loader */

static struct {
    bool no_library;
    const char *function;   /* the replaced function */
    void (*instead)(void);  /* NULL: the function is missing */
    cublasStatus_t product; /* result of no_product */
} fault;

void *__real_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags);
void *__real_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name);

void *__wrap_dlopen(const char *name, int flags)
{
    return __real_dlopen(fault.no_library ? "libpewter_no_such.so" : name, flags);
}

void *__wrap_dlsym(void *library, const char *name)
{
    if (fault.function == NULL || strcmp(name, fault.function) != 0)
        return __real_dlsym(library, name);
    void *found;
    memcpy(&found, &fault.instead, sizeof found);
    return found;
}

static size_t old_version(void)
{
    return 111103;
}

static cublasStatus_t no_handle(cublasLtHandle_t *h)
{
    *h = NULL;
    return CUBLAS_STATUS_NOT_INITIALIZED;
}

static cublasStatus_t no_algorithm(cublasLtHandle_t h, cublasLtMatmulDesc_t d, cublasLtMatrixLayout_t a,
                                   cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                                   cublasLtMatrixLayout_t out, cublasLtMatmulPreference_t p, int asked,
                                   cublasLtMatmulHeuristicResult_t results[], int *n)
{
    (void)h, (void)d, (void)a, (void)b, (void)c, (void)out, (void)p, (void)asked, (void)results;
    *n = 0;
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t no_memory(cublasLtMatrixLayout_t *l, cudaDataType type, uint64_t rows, uint64_t cols,
                                int64_t ld)
{
    (void)type, (void)rows, (void)cols, (void)ld;
    *l = NULL;
    return CUBLAS_STATUS_ALLOC_FAILED;
}

static cublasStatus_t no_product(cublasLtHandle_t h, cublasLtMatmulDesc_t d, const void *alpha, const void *A,
                                 cublasLtMatrixLayout_t a, const void *B, cublasLtMatrixLayout_t b,
                                 const void *beta, const void *C, cublasLtMatrixLayout_t c, void *D,
                                 cublasLtMatrixLayout_t out, const cublasLtMatmulAlgo_t *algo,
                                 void *workspace, size_t workspace_size, cudaStream_t s)
{
    (void)h, (void)d, (void)alpha, (void)A, (void)a, (void)B, (void)b, (void)beta, (void)C, (void)c, (void)D;
    (void)out, (void)algo, (void)workspace, (void)workspace_size, (void)s;
    return fault.product;
}

/* ---- values */

static struct pw_blas *open_blas(enum pw_products precision)
{
    struct pw_err err;
    struct pw_blas *b = NULL;
    if (pw_blas_open(&b, precision, &err) != PW_OK)
        fail_msg("%s", err.msg);
    return b;
}

/* One product: to has m rows, n columns and sums over k. The flags of transposed operands follow. */
struct product {
    enum pw_product what;
    int R, in, out;
    size_t m, n, k, n_left, n_right, skew;
    float *left, *right, *onto, *bias, *to; /* bias and onto may be NULL */
    bool relu, in_place, rounded;           /* rounded: to is bf16, without bias and onto */
};

/* For bf16 the numbers are exact: multiples of 1/32, below 8. */
static float *random_numbers(uint64_t *s, size_t n, enum pw_products precision)
{
    float *x = ref_random(s, n, 1.0f);
    for (size_t i = 0; i < n && precision == PW_PRODUCTS_BF16; i++)
        x[i] = ldexpf(rintf(ldexpf(x[i], 5)), -5);
    return x;
}

static struct product draw(uint64_t *s, enum pw_products precision)
{
    static const int sizes[] = {1, 2, 3, 8, 16, 17, 33, 64, 100};
    enum { N = sizeof sizes / sizeof *sizes };
    uint64_t with = ref_next(s);
    struct product p = {.what = (enum pw_product)(with % 3),
                        .R = sizes[ref_next(s) % N],
                        .in = sizes[ref_next(s) % N],
                        .out = sizes[ref_next(s) % N],
                        .skew = with >> 8 & 3};
    size_t R = (size_t)p.R, in = (size_t)p.in, out = (size_t)p.out;
    p.m = p.what == PW_PRODUCT_DW ? out : R;
    p.n = p.what == PW_PRODUCT_Y ? out : in;
    p.k = p.what == PW_PRODUCT_Y ? in : p.what == PW_PRODUCT_DX ? out : R;
    p.n_left = p.what == PW_PRODUCT_DW ? R * in : out * in;
    p.n_right = p.what == PW_PRODUCT_Y ? R * in : R * out;
    p.left = random_numbers(s, p.n_left, precision);
    p.right = random_numbers(s, p.n_right, precision);
    p.to = ref_random(s, p.m * p.n, 1.0f);
    p.in_place = with & 16;
    p.onto = with & 32 ? ref_random(s, p.m * p.n, 1.0f) : NULL;
    p.bias = with & 64 ? ref_random(s, p.n, 1.0f) : NULL;
    p.relu = with & 128;
    p.rounded = precision == PW_PRODUCTS_BF16 && p.bias == NULL && p.onto == NULL;
    return p;
}

/* Factor k of output (i, j). */
static double factors(const struct product *p, size_t i, size_t j, size_t k)
{
    size_t in = (size_t)p->in, out = (size_t)p->out;
    switch (p->what) {
    case PW_PRODUCT_Y: return (double)p->right[i * in + k] * (double)p->left[j * in + k];
    case PW_PRODUCT_DX: return (double)p->right[i * out + k] * (double)p->left[k * in + j];
    case PW_PRODUCT_DW: break;
    }
    return (double)p->right[k * out + i] * (double)p->left[k * in + j];
}

static const void *operand(enum pw_products precision, const float *x, size_t n, size_t skew)
{
    float *floats = device_floats(x, n, skew);
    if (precision != PW_PRODUCTS_BF16)
        return floats;
    uint16_t *words = (uint16_t *)device_floats(NULL, n / 2 + 1, skew);
    DEVICE(pw_cuda_to_bf16(NULL, words, floats, n));
    return words;
}

static void check(struct pw_blas *b, const struct product *p, uint64_t seed)
{
    enum pw_products precision = pw_blas_precision(b);
    const void *left = operand(precision, p->left, p->n_left, p->skew);
    const void *right = operand(precision, p->right, p->n_right, p->skew);
    size_t n_to = p->m * p->n;
    float *to = p->rounded ? device_floats(NULL, (n_to + 1) / 2, p->skew)
                           : device_floats(p->in_place && p->onto ? p->onto : p->to, n_to, p->skew);
    const float *onto = p->onto ? p->in_place ? to : device_floats(p->onto, p->m * p->n, p->skew) : NULL;
    const float *bias = p->bias ? device_floats(p->bias, p->n, p->skew) : NULL;
    struct pw_err err;
    if (pw_blas_product(b, NULL, p->what, to, p->rounded, left, right, onto, bias, p->relu, p->R, p->in,
                        p->out, &err) != PW_OK)
        fail_msg("%s", err.msg);
    float *got = malloc((n_to + 1) * sizeof *got);
    assert_non_null(got);
    device_read(got, to);
    if (p->rounded) {
        float *wide = device_floats(NULL, n_to, 0);
        DEVICE(pw_cuda_of_bf16(NULL, wide, (const uint16_t *)to, n_to));
        device_read(got, wide);
    }
    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++) {
            double want =
                (p->onto ? (double)p->onto[i * p->n + j] : 0.0) + (p->bias ? (double)p->bias[j] : 0.0);
            double size = fabs(want) + 1.0, x = (double)got[i * p->n + j];
            for (size_t k = 0; k < p->k; k++) {
                want += factors(p, i, j, k);
                size += fabs(factors(p, i, j, k));
            }
            want = p->relu && want < 0.0 ? 0.0 : want;
            double off = size * (precision == PW_PRODUCTS_TF32 ? 0x1p-10 : 0x1p-20);
            if (!(fabs(x - want) <= off + (p->rounded ? fabs(want) * 0x1p-8 : 0.0)))
                fail_msg("product %d, seed %d: number %zu,%zu is %.9g, should be %.9g", (int)p->what,
                         (int)seed, i, j, x, want);
        }
    free(got);
    device_free();
}

static void drop(struct product *p)
{
    free(p->left);
    free(p->right);
    free(p->onto);
    free(p->bias);
    free(p->to);
}

static void test_values(void **state)
{
    (void)state;
    for (int precision = PW_PRODUCTS_FP32; precision <= PW_PRODUCTS_BF16; precision++) {
        struct pw_blas *b = open_blas((enum pw_products)precision);
        for (uint64_t seed = 1; seed <= 80; seed++) {
            uint64_t s = seed * 0x9e3779b97f4a7c15u;
            struct product p = draw(&s, (enum pw_products)precision);
            check(b, &p, seed);
            drop(&p);
        }
        pw_blas_close(b);
    }
}

/* ---- plans */

/* W, x and y are in a, which has 5000 floats. */
static struct pw_err multiply(struct pw_blas *b, float *a, int R, int in, int out)
{
    struct pw_err err = {PW_OK, ""};
    pw_blas_product(b, NULL, PW_PRODUCT_Y, a + 2048, false, a, a + 1024, NULL, NULL, false, R, in, out, &err);
    return err;
}

static int plans_of(const struct pw_blas *b)
{
    char line[256];
    int n = 0;
    while (pw_blas_describe_plan(b, n, line, sizeof line))
        n++;
    return n;
}

/* A shape has one plan for all its products; another alignment has another one. */
static void test_plans(void **state)
{
    char plan[256];
    struct pw_blas *b = open_blas(PW_PRODUCTS_FP32);
    float *x = device_floats(NULL, 5000, 0);
    (void)state;
    DEVICE(cudaMemset(x, 0, 5000 * sizeof *x));
    assert_int_equal(plans_of(b), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(multiply(b, x, 20, 30, 34).code, PW_OK);
    assert_int_equal(plans_of(b), 1);
    assert_true(pw_blas_describe_plan(b, 0, plan, sizeof plan));
    assert_string_equal(plan,
                        "y [20,34] = x W^T over 30, fp32: algorithm 0, tile 0, stages 0, split 1, sums 0, "
                        "swizzle 0, option 0, inner 0, cluster 0");
    assert_int_equal(multiply(b, x + 1, 20, 30, 34).code, PW_OK);
    assert_int_equal(multiply(b, x, 21, 30, 34).code, PW_OK);
    assert_int_equal(plans_of(b), 3);
    assert_int_equal(multiply(b, x, 20, 30, 34).code, PW_OK);
    assert_int_equal(plans_of(b), 3);
    DEVICE(cudaDeviceSynchronize());
    pw_blas_close(b);
    device_free();
}

/* Captured products run twice, also of a new shape: the bits of the eager product. */
static void test_captured(void **state)
{
    enum { R = 33, IN = 20, OUT = 17 };
    struct pw_blas *b = open_blas(PW_PRODUCTS_FP32);
    uint64_t seed = 7;
    float *host = ref_random(&seed, (R + OUT) * IN, 1.0f), want[R * OUT];
    float *x = device_floats(host, R * IN, 0), *w = device_floats(host + R * IN, OUT * IN, 0);
    float *eager = device_floats(NULL, R * OUT, 0), *later = device_floats(NULL, R * OUT, 0);
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    struct pw_err err;
    (void)state;
    DEVICE(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    DEVICE(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    assert_int_equal(
        pw_blas_product(b, s, PW_PRODUCT_Y, later, false, w, x, NULL, NULL, false, R, IN, OUT, &err), PW_OK);
    DEVICE(cudaStreamEndCapture(s, &graph));
    DEVICE(cudaGraphInstantiate(&exec, graph, 0));
    assert_int_equal(
        pw_blas_product(b, s, PW_PRODUCT_Y, eager, false, w, x, NULL, NULL, false, R, IN, OUT, &err), PW_OK);
    for (int i = 0; i < 2; i++) {
        DEVICE(cudaGraphLaunch(exec, s));
        DEVICE(cudaStreamSynchronize(s));
        device_read(want, eager);
        device_expect_bits("captured", 0, want, later);
        DEVICE(cudaMemset(later, 0xff, sizeof want));
    }
    DEVICE(cudaGraphExecDestroy(exec));
    DEVICE(cudaGraphDestroy(graph));
    DEVICE(cudaStreamDestroy(s));
    pw_blas_close(b);
    device_free();
    free(host);
}

/* ---- faults */

static void refused(enum pw_code code, const char *line)
{
    struct pw_err err;
    struct pw_blas *b = NULL;
    assert_int_equal(pw_blas_open(&b, PW_PRODUCTS_BF16, &err), code);
    assert_null(b);
    if (strstr(err.msg, line) == NULL)
        fail_msg("'%s' doesn't say '%s'", err.msg, line);
    memset(&fault, 0, sizeof fault);
    pw_blas_close(open_blas(PW_PRODUCTS_BF16)); /* as before the faults */
}

static void test_missing_library(void **state)
{
    (void)state;
    assert_string_equal(pw_blas_version(), "cuBLASLt 13.0.0");
    fault.no_library = true;
    assert_string_equal(pw_blas_version(), "no cuBLASLt");
    refused(PW_EUSER,
            "cuda: mode=fast needs cuBLASLt 12 or 13, mode=ref doesn't: libpewter_no_such.so: cannot "
            "open shared object file: No such file or directory");
}

static void test_other_library(void **state)
{
    (void)state;
    fault.function = "cublasLtMatmul";
    refused(PW_EUSER, "mode=ref doesn't: this one has no function cublasLtMatmul");
    fault.function = "cublasLtGetVersion";
    fault.instead = (void (*)(void))old_version;
    refused(PW_EUSER, "mode=ref doesn't: this is 11.11.3");
    fault.function = "cublasLtCreate";
    fault.instead = (void (*)(void))no_handle;
    refused(PW_EDEVICE, "cuda: cuBLASLt 13.0.0 gives no handle: CUBLAS_STATUS_NOT_INITIALIZED");
}

static void test_no_memory(void **state)
{
    (void)state;
    for (int n = 1; n <= 2; n++) {
        pw_emu_fail_malloc(n);
        refused(PW_ENOMEM, "cuda: 8 MiB of workspace for products: out of memory");
    }
}

static void fails(const char *function, void (*instead)(void), enum pw_code code, const char *line)
{
    fault.function = function;
    fault.instead = instead;
    struct pw_blas *b = open_blas(PW_PRODUCTS_FP32);
    float *x = device_floats(NULL, 5000, 0);
    struct pw_err err = multiply(b, x, 20, 30, 34);
    assert_int_equal(err.code, code);
    assert_string_equal(err.msg, line);
    pw_blas_close(b);
    device_free();
    memset(&fault, 0, sizeof fault);
}

static void test_failing_products(void **state)
{
    (void)state;
    fails(
        "cublasLtMatrixLayoutCreate", (void (*)(void))no_memory, PW_ENOMEM,
        "cuda: cuBLASLt 13.0.0, description of y [20,34] = x W^T over 30, fp32: CUBLAS_STATUS_ALLOC_FAILED");
    fault.product = CUBLAS_STATUS_EXECUTION_FAILED;
    fails("cublasLtMatmul", (void (*)(void))no_product, PW_EDEVICE,
          "cuda: cuBLASLt 13.0.0, launch of y [20,34] = x W^T over 30, fp32: CUBLAS_STATUS_EXECUTION_FAILED");
}

/* Devices before compute capability 8.0 have no such units. */
static void test_old_device(void **state)
{
    (void)state;
    for (int major = 7; major <= 8; major++) {
        char line[256];
        pw_emu_set_device(NULL, major, 5);
        struct pw_blas *b = open_blas(PW_PRODUCTS_TF32);
        float *x = device_floats(NULL, 5000, 0);
        assert_int_equal(multiply(b, x, 20, 30, 34).code, PW_OK);
        assert_int_equal(pw_blas_precision(b), major == 7 ? PW_PRODUCTS_FP32 : PW_PRODUCTS_TF32);
        assert_true(pw_blas_describe_plan(b, 0, line, sizeof line));
        assert_non_null(strstr(line, major == 7 ? "over 30, fp32: " : "over 30, tf32: "));
        pw_blas_close(b);
        device_free();
    }
    pw_emu_set_device(NULL, 8, 6);
}

/* Detected at the choice or at the launch, and not an error of the device. */
static void test_no_algorithm(void **state)
{
    static const struct {
        const char *function;
        void (*instead)(void);
        cublasStatus_t product;
    } at[] = {{"cublasLtMatmulAlgoGetHeuristic", (void (*)(void))no_algorithm, CUBLAS_STATUS_SUCCESS},
              {"cublasLtMatmul", (void (*)(void))no_product, CUBLAS_STATUS_NOT_SUPPORTED},
              {"cublasLtMatmul", (void (*)(void))no_product, CUBLAS_STATUS_ARCH_MISMATCH}};
    (void)state;
    for (int i = 0; i < 3; i++) {
        char line[256];
        fault.function = at[i].function;
        fault.instead = at[i].instead;
        fault.product = at[i].product;
        struct pw_blas *b = open_blas(PW_PRODUCTS_FP32);
        float *x = device_floats(NULL, 5000, 0);
        for (int again = 0; again < 2; again++)
            assert_int_equal(multiply(b, x, 20, 30, 34).code, PW_EUSER);
        assert_true(pw_blas_describe_plan(b, 0, line, sizeof line));
        assert_string_equal(line, "y [20,34] = x W^T over 30, fp32: none, so by pewter's own kernel");
        pw_blas_close(b);
        device_free();
        memset(&fault, 0, sizeof fault);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),           cmocka_unit_test(test_plans),
        cmocka_unit_test(test_captured),         cmocka_unit_test(test_missing_library),
        cmocka_unit_test(test_other_library),    cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_failing_products), cmocka_unit_test(test_no_algorithm),
        cmocka_unit_test(test_old_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
