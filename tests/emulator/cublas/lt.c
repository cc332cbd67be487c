/* lt.c - cuBLASLt's descriptors and calls. What it computes is in product.c. */
#include "tests/emulator/cublas/lt.h"

#include <stdlib.h>
#include <string.h>

enum { WORKSPACE = 32 << 10 }; /* bytes that a product asks for, if allowed */

struct cublasLtContext {
    int unused;
};

__attribute__((constructor)) static void opened(void)
{
    pw_emu.counts.libraries++;
}

static cublasStatus_t create(void **out, size_t size)
{
    *out = calloc(1, size);
    return *out != NULL ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

static cublasStatus_t destroy(void *p)
{
    free(p);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t *h)
{
    cudaError_t e = pw_emu_begin();
    pw_emu_end(cudaSuccess);
    *h = NULL;
    return e != cudaSuccess || pw_emu.no_blas ? CUBLAS_STATUS_NOT_INITIALIZED
                                              : create((void **)h, sizeof **h);
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t h)
{
    return destroy(h);
}

size_t cublasLtGetVersion(void)
{
    return 130000;
}

const char *cublasLtGetStatusName(cublasStatus_t status)
{
    switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED: return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_ARCH_MISMATCH: return "CUBLAS_STATUS_ARCH_MISMATCH";
    case CUBLAS_STATUS_MAPPING_ERROR: return "CUBLAS_STATUS_MAPPING_ERROR";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_INTERNAL_ERROR: return "CUBLAS_STATUS_INTERNAL_ERROR";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
    case CUBLAS_STATUS_LICENSE_ERROR: return "CUBLAS_STATUS_LICENSE_ERROR";
    }
    return "CUBLAS_STATUS_UNKNOWN";
}

const char *cublasLtGetStatusString(cublasStatus_t status)
{
    return cublasLtGetStatusName(status);
}

/* ---- descriptors */

static cublasStatus_t take(void *member, size_t size, const void *value, size_t given)
{
    if (value == NULL || given != size)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(member, value, size);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *d, cublasComputeType_t compute,
                                        cudaDataType_t scale)
{
    cublasStatus_t status = create((void **)d, sizeof **d);
    if (status == CUBLAS_STATUS_SUCCESS)
        **d = (struct pw_emu_matmul){.compute = compute,
                                     .scale = scale,
                                     .epilogue = CUBLASLT_EPILOGUE_DEFAULT,
                                     .bias_type = CUDA_R_32F};
    return status;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t d)
{
    return destroy(d);
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t d, cublasLtMatmulDescAttributes_t attr,
                                              const void *value, size_t size)
{
    switch (attr) {
    case CUBLASLT_MATMUL_DESC_POINTER_MODE: return take(&d->mode, sizeof d->mode, value, size);
    case CUBLASLT_MATMUL_DESC_TRANSA: return take(&d->trans_a, sizeof d->trans_a, value, size);
    case CUBLASLT_MATMUL_DESC_TRANSB: return take(&d->trans_b, sizeof d->trans_b, value, size);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return take(&d->epilogue, sizeof d->epilogue, value, size);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return take(&d->bias, sizeof d->bias, value, size);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: return take(&d->bias_type, sizeof d->bias_type, value, size);
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE: break; /* set where it is made */
    }
    return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *l, cudaDataType type, uint64_t rows,
                                          uint64_t cols, int64_t ld)
{
    cublasStatus_t status = create((void **)l, sizeof **l);
    if (status == CUBLAS_STATUS_SUCCESS)
        **l = (struct pw_emu_layout){.type = type, .rows = rows, .cols = cols, .ld = ld, .batch = 1};
    return status;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t l)
{
    return destroy(l);
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t l,
                                                cublasLtMatrixLayoutAttribute_t attr, const void *value,
                                                size_t size)
{
    switch (attr) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE: return take(&l->type, sizeof l->type, value, size);
    case CUBLASLT_MATRIX_LAYOUT_ORDER: return take(&l->order, sizeof l->order, value, size);
    case CUBLASLT_MATRIX_LAYOUT_ROWS: return take(&l->rows, sizeof l->rows, value, size);
    case CUBLASLT_MATRIX_LAYOUT_COLS: return take(&l->cols, sizeof l->cols, value, size);
    case CUBLASLT_MATRIX_LAYOUT_LD: return take(&l->ld, sizeof l->ld, value, size);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return take(&l->batch, sizeof l->batch, value, size);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: return take(&l->stride, sizeof l->stride, value, size);
    }
    return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *p)
{
    cublasStatus_t status = create((void **)p, sizeof **p);
    for (int i = 0; status == CUBLAS_STATUS_SUCCESS && i < 4; i++)
        (*p)->align[i] = 256;
    return status;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p)
{
    return destroy(p);
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t p,
                                                    cublasLtMatmulPreferenceAttributes_t attr,
                                                    const void *value, size_t size)
{
    uint32_t ignored;
    switch (attr) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
        return take(&p->workspace, sizeof p->workspace, value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
        return take(&p->align[0], sizeof p->align[0], value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
        return take(&p->align[1], sizeof p->align[1], value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
        return take(&p->align[2], sizeof p->align[2], value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
        return take(&p->align[3], sizeof p->align[3], value, size);
    case CUBLASLT_MATMUL_PREF_SEARCH_MODE: /* there is one algorithm, and it splits no sums */
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK: return take(&ignored, sizeof ignored, value, size);
    }
    return CUBLAS_STATUS_INVALID_VALUE;
}

/* ---- algorithms */

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t h, cublasLtMatmulDesc_t d,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t out,
                                              cublasLtMatmulPreference_t p, int asked,
                                              cublasLtMatmulHeuristicResult_t results[], int *n)
{
    *n = 0;
    if (h == NULL || p == NULL || asked < 1)
        return CUBLAS_STATUS_INVALID_VALUE;
    cublasStatus_t status = pw_emu_product_fits(d, a, b, c, out);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    struct pw_emu_algo algo = {.magic = PW_EMU_ALGO, .workspace = p->workspace < WORKSPACE ? 0 : WORKSPACE};
    memcpy(algo.align, p->align, sizeof algo.align);
    results[0] = (cublasLtMatmulHeuristicResult_t){
        .workspaceSize = algo.workspace, .state = CUBLAS_STATUS_SUCCESS, .wavesCount = 1.0f};
    memcpy(&results[0].algo, &algo, sizeof algo);
    *n = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t *algo,
                                                    cublasLtMatmulAlgoConfigAttributes_t attr, void *value,
                                                    size_t size, size_t *written)
{
    uint32_t number = attr == CUBLASLT_ALGO_CONFIG_SPLITK_NUM ? 1 : 0;
    size_t due = attr >= CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID ? sizeof(uint16_t) : sizeof number;
    if (algo == NULL || value == NULL || size != due)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(value, &number, size);
    if (written != NULL)
        *written = size;
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- the product */

struct product_op {
    struct pw_emu_op op;
    struct pw_emu_product product;
};

static cudaError_t product_run(struct pw_emu_op *op)
{
    const struct pw_emu_product *p = &((struct product_op *)op)->product;
    if (!pw_emu_product_in_bounds(p))
        return cudaErrorIllegalAddress;
    pw_emu_product_run(p);
    return cudaSuccess;
}

static bool promises_kept(const struct pw_emu_product *p, const struct pw_emu_algo *algo)
{
    const void *const pointers[4] = {p->A, p->B, p->C, p->D};
    for (int i = 0; i < 4; i++)
        if (algo->align[i] > 0 && (uintptr_t)pointers[i] % algo->align[i] != 0) {
            pw_emu_report("cublas", "%c is promised to be aligned to %u bytes, but isn't", "ABCD"[i],
                          algo -> align[i]);
            return false;
        }
    if (p->workspace_size < algo->workspace || (algo->workspace > 0 && (uintptr_t)p->workspace % 16 != 0)) {
        pw_emu_report("cublas",
                      "the algorithm needs %llu bytes of workspace aligned to 16, and has %zu at %p",
                      (unsigned long long)algo->workspace, p->workspace_size, p->workspace);
        return false;
    }
    return true;
}

static cublasStatus_t multiply(struct pw_emu_product *p, const cublasLtMatmulAlgo_t *algo, cudaStream_t s)
{
    cublasStatus_t status = pw_emu_product_fits(&p->d, &p->a, &p->b, &p->c, &p->out);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    struct pw_emu_algo promised = {.magic = PW_EMU_ALGO};
    if (algo != NULL)
        memcpy(&promised, algo, sizeof promised);
    if (promised.magic != PW_EMU_ALGO || !promises_kept(p, &promised) || !pw_emu_product_in_bounds(p))
        return CUBLAS_STATUS_INVALID_VALUE;
    struct product_op *op = pw_emu_op_new(sizeof *op, "a product", product_run, NULL);
    op->op.alone = p->workspace_size > 0 ? p->workspace : NULL;
    op->product = *p;
    return pw_emu_enqueue(s, &op->op) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t h, cublasLtMatmulDesc_t d, const void *alpha, const void *A,
                              cublasLtMatrixLayout_t a, const void *B, cublasLtMatrixLayout_t b,
                              const void *beta, const void *C, cublasLtMatrixLayout_t c, void *D,
                              cublasLtMatrixLayout_t out, const cublasLtMatmulAlgo_t *algo, void *workspace,
                              size_t workspace_size, cudaStream_t s)
{
    if (h == NULL || d == NULL || a == NULL || b == NULL || c == NULL || out == NULL || alpha == NULL ||
        beta == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    struct pw_emu_product p = {.d = *d,
                               .alpha = alpha,
                               .beta = beta,
                               .A = A,
                               .B = B,
                               .C = C,
                               .D = D,
                               .a = *a,
                               .b = *b,
                               .c = *c,
                               .out = *out,
                               .workspace = workspace,
                               .workspace_size = workspace_size};
    if (d->mode == CUBLASLT_POINTER_MODE_HOST) {
        p.host_alpha = *(const float *)alpha; /* read now, whenever it runs */
        p.host_beta = *(const float *)beta;
    }
    cublasStatus_t status = CUBLAS_STATUS_EXECUTION_FAILED;
    if (pw_emu_begin() == cudaSuccess)
        status = multiply(&p, algo, s);
    pw_emu_end(cudaSuccess);
    return status;
}
