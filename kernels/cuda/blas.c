/* blas.c - a cuBLASLt handle with its workspace, the plans made with it, and the products. */
#include "kernels/cuda/blas.h"
#include "base/mix.h"
#include "kernels/cuda/blas_plan.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUCKETS = 256,     /* of the hash table of plans */
    LARGE = 32 << 20,  /* bytes of workspace that NVIDIA recommends from compute capability 9.0 on */
    SMALL = 4 << 20,   /* and before it */
    MOST_ALIGNED = 16, /* bytes: the widest access; an algorithm must not require more */
};

struct pw_blas {
    struct pw_lt lt;
    enum pw_products precision;
    cublasLtHandle_t handle;
    void *workspace[2];     /* the second for PW_PRODUCT_DW, which can run in parallel with the others */
    size_t workspace_bytes; /* of one of them */
    struct pw_lt_plan *plans[BUCKETS];
};

const char *pw_products_name(enum pw_products precision)
{
    static const char *const names[] = {"fp32", "tf32", "bf16"};
    return names[precision];
}

enum pw_products pw_blas_precision(const struct pw_blas *b)
{
    return b->precision;
}

const char *pw_blas_version(void)
{
    static _Thread_local char line[64];
    struct pw_lt lt;
    struct pw_err err;
    if (pw_lt_open(&lt, &err) != PW_OK)
        return "no cuBLASLt";
    snprintf(line, sizeof line, "cuBLASLt %d.%d.%d", lt.version[0], lt.version[1], lt.version[2]);
    pw_lt_close(&lt);
    return line;
}

/* The current device's compute capability, its major number; a large number if the query fails. */
static int major(void)
{
    int device, n;
    cudaError_t e = cudaGetDevice(&device);
    if (e == cudaSuccess)
        e = cudaDeviceGetAttribute(&n, cudaDevAttrComputeCapabilityMajor, device);
    return e == cudaSuccess ? n : INT_MAX;
}

static size_t workspace_bytes(void)
{
    return major() < 9 ? SMALL : LARGE;
}

size_t pw_blas_workspace(void)
{
    return 2 * workspace_bytes();
}

static enum pw_code open_workspace(struct pw_blas *b, struct pw_err *err)
{
    b->workspace_bytes = workspace_bytes();
    cudaError_t e = cudaMalloc(&b->workspace[0], b->workspace_bytes);
    if (e == cudaSuccess)
        e = cudaMalloc(&b->workspace[1], b->workspace_bytes);
    if (e == cudaSuccess)
        return PW_OK;
    return pw_fail(err, e == cudaErrorMemoryAllocation ? PW_ENOMEM : PW_EDEVICE,
                   "cuda: %zu MiB of workspace for products: %s", pw_blas_workspace() >> 20,
                   cudaGetErrorString(e));
}

static enum pw_code open_handle(struct pw_blas *b, struct pw_err *err)
{
    cublasStatus_t status = b->lt.Create(&b->handle);
    if (status == CUBLAS_STATUS_SUCCESS)
        return PW_OK;
    b->handle = NULL;
    return pw_fail(err, PW_EDEVICE, "cuda: cuBLASLt %d.%d.%d gives no handle: %s", b->lt.version[0],
                   b->lt.version[1], b->lt.version[2], b->lt.GetStatusName(status));
}

enum pw_code pw_blas_open(struct pw_blas **out, enum pw_products precision, struct pw_err *err)
{
    struct pw_blas *b = calloc(1, sizeof *b);
    if (b == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory: plans of products");
    b->precision = precision == PW_PRODUCTS_TF32 && major() < 8 ? PW_PRODUCTS_FP32 : precision;
    enum pw_code code = pw_lt_open(&b->lt, err);
    if (code == PW_OK)
        code = open_workspace(b, err);
    if (code == PW_OK)
        code = open_handle(b, err);
    if (code != PW_OK) {
        pw_blas_close(b);
        return code;
    }
    *out = b;
    return PW_OK;
}

void pw_blas_close(struct pw_blas *b)
{
    if (b == NULL)
        return;
    for (int i = 0; i < BUCKETS; i++)
        for (struct pw_lt_plan *p = b->plans[i], *next; p != NULL; p = next) {
            next = p->next;
            pw_lt_plan_destroy(p, &b->lt);
        }
    if (b->handle != NULL)
        b->lt.Destroy(b->handle);
    cudaFree(b->workspace[0]);
    cudaFree(b->workspace[1]);
    pw_lt_close(&b->lt);
    free(b);
}

static int alignment(const void *p)
{
    int bytes = MOST_ALIGNED;
    while ((uintptr_t)p % (uintptr_t)bytes != 0)
        bytes /= 2;
    return bytes;
}

static int bucket_of(const struct pw_lt_plan_key *key)
{
    int member[sizeof *key / sizeof(int)];
    uint64_t h = 0;
    memcpy(member, key, sizeof member);
    for (size_t i = 0; i < sizeof member / sizeof *member; i++)
        h = pw_mix64(h ^ (uint64_t)member[i]);
    return (int)(h % BUCKETS);
}

/* Returns the plan for key; makes it if there is none. */
static enum pw_code find_plan(struct pw_blas *b, struct pw_lt_plan **plan, const struct pw_lt_plan_key *key,
                              const float *bias, struct pw_err *err)
{
    struct pw_lt_plan **bucket = &b->plans[bucket_of(key)];
    for (struct pw_lt_plan *p = *bucket; p != NULL; p = p->next)
        if (memcmp(&p->key, key, sizeof *key) == 0) {
            *plan = p;
            return PW_OK;
        }
    enum pw_code code = pw_lt_plan_create(plan, &b->lt, b->handle, key, bias, b->workspace_bytes, err);
    if (code == PW_OK) {
        (*plan)->next = *bucket;
        *bucket = *plan;
    }
    return code;
}

static enum pw_code no_algorithm(struct pw_err *err)
{
    return pw_fail(err, PW_EUSER, "cuda: cuBLASLt has no algorithm for this product");
}

enum pw_code pw_blas_product(struct pw_blas *b, cudaStream_t s, enum pw_product what, void *to, bool rounded,
                             const void *left, const void *right, const float *onto, const float *bias,
                             bool relu, int R, int in, int out, struct pw_err *err)
{
    static const float one = 1.0f, zero = 0.0f;
    const void *old =
        onto != NULL ? onto : to; /* checked by the library, though not read if its factor is 0 */
    struct pw_lt_plan_key key = {
        .what = (int)what, .precision = (int)b->precision, .R = R, .in = in, .out = out};
    key.onto = onto != NULL;
    key.bias = bias != NULL;
    key.relu = relu;
    key.rounded = rounded;
    const void *const pointers[] = {left, right, old, to, bias};
    for (int i = 0; i < 5; i++)
        key.aligned[i] = alignment(pointers[i]);
    struct pw_lt_plan *p;
    enum pw_code code = find_plan(b, &p, &key, bias, err);
    if (code != PW_OK)
        return code;
    if (p->none)
        return no_algorithm(err);
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    if (bias != NULL)
        status = b->lt.MatmulDescSetAttribute(p->desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = b->lt.Matmul(b->handle, p->desc, &one, left, p->left, right, p->right,
                              onto != NULL ? &one : &zero, old, p->to, to, p->to, &p->algo,
                              b->workspace[what == PW_PRODUCT_DW], b->workspace_bytes, s);
    p->none = pw_lt_has_none(status); /* the heuristic had accepted it */
    if (p->none)
        return no_algorithm(err);
    return status == CUBLAS_STATUS_SUCCESS ? PW_OK : pw_lt_plan_fail(&b->lt, &key, status, "launch", err);
}

bool pw_blas_describe_plan(const struct pw_blas *b, int i, char *line, size_t size)
{
    for (int k = 0; k < BUCKETS; k++)
        for (const struct pw_lt_plan *p = b->plans[k]; p != NULL; p = p->next)
            if (i-- == 0) {
                pw_lt_plan_describe(p, &b->lt, line, size);
                return true;
            }
    return false;
}
