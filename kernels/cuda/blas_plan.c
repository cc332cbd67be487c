/* blas_plan.c - describes products to cuBLASLt, and chooses their algorithms.
 *
 * The library stores matrices by columns: to it a matrix [r,c] with consecutive rows has c rows and
 * r columns, that is, it is transposed. So every product is computed transposed, with its operands exchanged:
 *
 *   y  [R,out] = x W^T     as  y^T  [out,R]  = W x^T      W seen as [in,out], so transposed; x as [in,R]
 *   dx [R,in] = dy W       as  dx^T [in,R]   = W^T dy^T   W as [in,out]; dy as [out,R]
 *   dw [out,in] = dy^T x   as  dw^T [in,out] = x^T dy     x as [in,R]; dy as [out,R], so transposed
 *
 * The library adds a bias to every column of its matrix, which is every row of ours. If it splits a
 * product, a separate pass adds the parts in float32, in one order. */
#include "kernels/cuda/blas_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The product as the library sees it: m rows and n columns, sums over k. */
struct form {
    int m, n, k;
    cublasOperation_t left, right;
};

static struct form form_of(const struct pw_lt_plan_key *key)
{
    switch ((enum pw_product)key->what) {
    case PW_PRODUCT_Y: return (struct form){key->out, key->R, key->in, CUBLAS_OP_T, CUBLAS_OP_N};
    case PW_PRODUCT_DX: return (struct form){key->in, key->R, key->out, CUBLAS_OP_N, CUBLAS_OP_N};
    case PW_PRODUCT_DW: break;
    }
    return (struct form){key->in, key->out, key->R, CUBLAS_OP_N, CUBLAS_OP_T};
}

/* "y [4096,768] = x W^T over 768, bf16" */
static int name(char *line, size_t size, const struct pw_lt_plan_key *key)
{
    static const char *const whats[] = {"y [%d,%d] = x W^T over %d, %s%s", "dx [%d,%d] = dy W over %d, %s%s",
                                        "dw [%d,%d] = dy^T x over %d, %s%s"};
    struct form f = form_of(key);
    return snprintf(line, size, whats[key->what], f.n, f.m, f.k,
                    pw_products_name((enum pw_products)key->precision), key->rounded ? ", rounded" : "");
}

enum pw_code pw_lt_plan_fail(const struct pw_lt *lt, const struct pw_lt_plan_key *key, cublasStatus_t status,
                             const char *doing, struct pw_err *err)
{
    char product[128];
    name(product, sizeof product, key);
    return pw_fail(err, status == CUBLAS_STATUS_ALLOC_FAILED ? PW_ENOMEM : PW_EDEVICE,
                   "cuda: cuBLASLt %d.%d.%d, %s of %s: %s", lt->version[0], lt->version[1], lt->version[2],
                   doing, product, lt->GetStatusName(status));
}

static cublasStatus_t describe_operation(struct pw_lt_plan *p, const struct pw_lt *lt, const float *bias)
{
    const struct pw_lt_plan_key *key = &p->key;
    struct form f = form_of(key);
    bool tf32 = key->precision == PW_PRODUCTS_TF32;
    cublasLtEpilogue_t epilogue = key->bias ? key->relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS
                                  : key->relu ? CUBLASLT_EPILOGUE_RELU
                                              : CUBLASLT_EPILOGUE_DEFAULT;
    const struct {
        cublasLtMatmulDescAttributes_t attribute;
        const void *value;
        size_t size;
    } set[] = {{CUBLASLT_MATMUL_DESC_TRANSA, &f.left, sizeof f.left},
               {CUBLASLT_MATMUL_DESC_TRANSB, &f.right, sizeof f.right},
               {CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue},
               {CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias}};
    cublasStatus_t status =
        lt->MatmulDescCreate(&p->desc, tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F);
    size_t n = sizeof set / sizeof *set - !key->bias; /* the last one only with a bias */
    for (size_t i = 0; i < n && status == CUBLAS_STATUS_SUCCESS; i++)
        status = lt->MatmulDescSetAttribute(p->desc, set[i].attribute, set[i].value, set[i].size);
    return status;
}

/* rows and columns as the library sees them; the matrix is dense. */
static cublasStatus_t describe_matrix(cublasLtMatrixLayout_t *layout, const struct pw_lt *lt,
                                      cudaDataType_t type, bool transposed, int rows, int columns)
{
    if (transposed)
        return describe_matrix(layout, lt, type, false, columns, rows);
    return lt->MatrixLayoutCreate(layout, type, (uint64_t)rows, (uint64_t)columns, rows);
}

static cublasStatus_t describe_matrices(struct pw_lt_plan *p, const struct pw_lt *lt)
{
    struct form f = form_of(&p->key);
    cudaDataType_t type = p->key.precision == PW_PRODUCTS_BF16 ? CUDA_R_16BF : CUDA_R_32F;
    cublasStatus_t status = describe_matrix(&p->left, lt, type, f.left == CUBLAS_OP_T, f.m, f.k);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = describe_matrix(&p->right, lt, type, f.right == CUBLAS_OP_T, f.k, f.n);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = describe_matrix(&p->to, lt, p->key.rounded ? CUDA_R_16BF : CUDA_R_32F, false, f.m, f.n);
    return status;
}

/* Returns the library's first choice among the algorithms within this workspace and alignment. */
static cublasStatus_t choose(struct pw_lt_plan *p, const struct pw_lt *lt, cublasLtHandle_t handle,
                             size_t workspace)
{
    uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, aligned[4];
    for (int i = 0; i < 4; i++)
        aligned[i] = (uint32_t)p->key.aligned[i];
    const struct {
        cublasLtMatmulPreferenceAttributes_t attribute;
        const void *value;
        size_t size;
    } set[] = {{CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace},
               {CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes, sizeof schemes},
               {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &aligned[0], sizeof *aligned},
               {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &aligned[1], sizeof *aligned},
               {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &aligned[2], sizeof *aligned},
               {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &aligned[3], sizeof *aligned}};
    cublasLtMatmulHeuristicResult_t found = {0};
    cublasLtMatmulPreference_t preference;
    int n = 0;
    cublasStatus_t status = lt->MatmulPreferenceCreate(&preference);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    for (size_t i = 0; i < sizeof set / sizeof *set && status == CUBLAS_STATUS_SUCCESS; i++)
        status = lt->MatmulPreferenceSetAttribute(preference, set[i].attribute, set[i].value, set[i].size);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = lt->MatmulAlgoGetHeuristic(handle, p->desc, p->left, p->right, p->to, p->to, preference, 1,
                                            &found, &n);
    lt->MatmulPreferenceDestroy(preference);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = n > 0 ? found.state : CUBLAS_STATUS_NOT_SUPPORTED;
    p->algo = found.algo;
    return status;
}

bool pw_lt_has_none(cublasStatus_t status)
{
    return status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_ARCH_MISMATCH;
}

enum pw_code pw_lt_plan_create(struct pw_lt_plan **out, const struct pw_lt *lt, cublasLtHandle_t handle,
                               const struct pw_lt_plan_key *key, const float *bias, size_t workspace,
                               struct pw_err *err)
{
    const char *doing = "description";
    struct pw_lt_plan *p = calloc(1, sizeof *p);
    if (p == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory: plans of products");
    p->key = *key;
    cublasStatus_t status = describe_operation(p, lt, bias);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = describe_matrices(p, lt);
    if (status == CUBLAS_STATUS_SUCCESS) {
        doing = "choice of an algorithm";
        status = choose(p, lt, handle, workspace);
    }
    p->none = pw_lt_has_none(status);
    if (status != CUBLAS_STATUS_SUCCESS && !p->none) {
        pw_lt_plan_destroy(p, lt);
        return pw_lt_plan_fail(lt, key, status, doing, err);
    }
    *out = p;
    return PW_OK;
}

void pw_lt_plan_destroy(struct pw_lt_plan *p, const struct pw_lt *lt)
{
    if (p == NULL)
        return;
    if (p->to != NULL)
        lt->MatrixLayoutDestroy(p->to);
    if (p->right != NULL)
        lt->MatrixLayoutDestroy(p->right);
    if (p->left != NULL)
        lt->MatrixLayoutDestroy(p->left);
    if (p->desc != NULL)
        lt->MatmulDescDestroy(p->desc);
    free(p);
}

/* An algorithm's configuration, as the library numbers it. */
struct configuration {
    uint32_t value[9];
};
static const struct {
    cublasLtMatmulAlgoConfigAttributes_t attribute;
    size_t size;
    const char *name;
} members[] = {
    {CUBLASLT_ALGO_CONFIG_ID, 4, "algorithm"},
    {CUBLASLT_ALGO_CONFIG_TILE_ID, 4, "tile"},
    {CUBLASLT_ALGO_CONFIG_STAGES_ID, 4, "stages"},
    {CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 4, "split"},
    {CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, 4, "sums"},
    {CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, 4, "swizzle"},
    {CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, 4, "option"},
    {CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, 2, "inner"},
    {CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, 2, "cluster"},
};
enum { MEMBERS = sizeof members / sizeof *members };

static struct configuration configuration_of(const struct pw_lt_plan *p, const struct pw_lt *lt)
{
    struct configuration c = {{0}};
    for (int i = 0; i < MEMBERS; i++) {
        uint16_t narrow = 0;
        size_t written;
        void *to = members[i].size == sizeof narrow ? (void *)&narrow : (void *)&c.value[i];
        if (lt->MatmulAlgoConfigGetAttribute(&p->algo, members[i].attribute, to, members[i].size, &written) !=
            CUBLAS_STATUS_SUCCESS)
            c.value[i] = 0; /* this version of the library has no such attribute */
        else if (members[i].size == sizeof narrow)
            c.value[i] = narrow;
    }
    return c;
}

void pw_lt_plan_describe(const struct pw_lt_plan *p, const struct pw_lt *lt, char *line, size_t size)
{
    struct configuration c = configuration_of(p, lt);
    size_t n = (size_t)name(line, size, &p->key);
    if (p->none && n < size)
        snprintf(line + n, size - n, ": none, so by pewter's own kernel");
    for (int i = 0; i < MEMBERS && n < size && !p->none; i++)
        n +=
            (size_t)snprintf(line + n, size - n, "%s%s %u", i > 0 ? ", " : ": ", members[i].name, c.value[i]);
}
