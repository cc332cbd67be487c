/* product.c - a matrix product as cuBLASLt's, in plain loops: D = epilogue(alpha op(A) op(B) + beta C).
 *
 * The inputs are rounded as the tensor cores round them (TF32: 10 bits of mantissa, bf16: 7) and summed in
 * float, k ascending. cuBLAS has an order of its own: compare within a tolerance. */
#include "tests/emulator/cublas/lt.h"

#include <stdlib.h>
#include <string.h>

size_t pw_emu_element(cudaDataType type)
{
    return type == CUDA_R_32F ? 4 : type == CUDA_R_16BF ? 2 : 0;
}

static uint64_t inner(const struct pw_emu_layout *l)
{
    return l->order == CUBLASLT_ORDER_COL ? l->rows : l->cols;
}

static bool well_formed(const struct pw_emu_layout *l)
{
    return l->rows > 0 && l->cols > 0 && l->ld >= 0 && (uint64_t)l->ld >= inner(l) && l->batch >= 1;
}

cublasStatus_t pw_emu_product_fits(const struct pw_emu_matmul *d, const struct pw_emu_layout *a,
                                   const struct pw_emu_layout *b, const struct pw_emu_layout *c,
                                   const struct pw_emu_layout *out)
{
    uint64_t m = d->trans_a ? a->cols : a->rows, k = d->trans_a ? a->rows : a->cols;
    uint64_t n = d->trans_b ? b->rows : b->cols, k_b = d->trans_b ? b->cols : b->rows;
    if (!well_formed(a) || !well_formed(b) || !well_formed(c) || !well_formed(out) || k != k_b ||
        out->rows != m || out->cols != n || c->rows != m || c->cols != n || a->batch != out->batch ||
        b->batch != out->batch || c->batch != out->batch)
        return CUBLAS_STATUS_INVALID_VALUE;
    bool known = pw_emu_element(a->type) > 0 && pw_emu_element(c->type) > 0 && a->type == b->type &&
                 c->type == out->type && (a->type == CUDA_R_16BF || out->type == CUDA_R_32F);
    bool summed = d->scale == CUDA_R_32F && (d->compute == CUBLAS_COMPUTE_32F || a->type == CUDA_R_32F);
    bool ends = (d->epilogue & ~(CUBLASLT_EPILOGUE_DEFAULT | CUBLASLT_EPILOGUE_RELU_BIAS)) == 0;
    if (d->epilogue & CUBLASLT_EPILOGUE_BIAS) /* a bias has the type of D */
        ends = ends && d->bias_type == out->type;
    /* Tensor cores of bf16 came with compute capability 8.0, and so did those of TF32. */
    bool device = a->type == CUDA_R_32F || pw_emu_device.major >= 8;
    return known && summed && ends && device ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

/* Bytes from the first to behind the last number. */
static size_t span(const struct pw_emu_layout *l)
{
    uint64_t outer = l->order == CUBLASLT_ORDER_COL ? l->cols : l->rows;
    uint64_t last = (uint64_t)l->stride * (uint64_t)(l->batch - 1) + (uint64_t)l->ld * (outer - 1) + inner(l);
    return (size_t)last * pw_emu_element(l->type);
}

static bool apart(const void *p, size_t n, const void *q, size_t k)
{
    return (const char *)p + n <= (const char *)q || (const char *)q + k <= (const char *)p;
}

static bool in_bounds(const char *name, const void *p, size_t n)
{
    if (pw_emu_is_device(p) && pw_emu_in_bounds(p, n))
        return true;
    pw_emu_report("cublas", "%s of a product, %zu bytes at %p, is not inside of one allocation", name, n, p);
    return false;
}

static bool reads_c(const struct pw_emu_product *p)
{
    return p->d.mode == CUBLASLT_POINTER_MODE_DEVICE || p->host_beta != 0.0f;
}

bool pw_emu_product_in_bounds(const struct pw_emu_product *p)
{
    bool bias = p->d.epilogue & CUBLASLT_EPILOGUE_BIAS;
    if (!in_bounds("A", p->A, span(&p->a)) || !in_bounds("B", p->B, span(&p->b)) ||
        !in_bounds("D", p->D, span(&p->out)) || (reads_c(p) && !in_bounds("C", p->C, span(&p->c))) ||
        (bias && !in_bounds("the bias", p->d.bias, p->out.rows * pw_emu_element(p->d.bias_type))) ||
        (p->workspace_size > 0 && !in_bounds("the workspace", p->workspace, p->workspace_size)))
        return false;
    if (apart(p->D, span(&p->out), p->A, span(&p->a)) && apart(p->D, span(&p->out), p->B, span(&p->b)))
        return true;
    pw_emu_report("cublas", "D of a product overlaps A or B");
    return false;
}

static float get(const void *p, cudaDataType type, size_t i)
{
    uint16_t half;
    uint32_t bits;
    float x;
    if (type == CUDA_R_32F) {
        memcpy(&x, (const char *)p + 4 * i, 4);
        return x;
    }
    memcpy(&half, (const char *)p + 2 * i, 2);
    bits = (uint32_t)half << 16;
    memcpy(&x, &bits, 4);
    return x;
}

/* To the nearest with so many bits less, ties to even; NaN stays NaN. */
static float rounded(float x, int bits)
{
    uint32_t u;
    memcpy(&u, &x, 4);
    if ((u & 0x7fffffffu) > 0x7f800000u)
        return x;
    u += (1u << (bits - 1)) - 1 + (u >> bits & 1);
    u &= ~((1u << bits) - 1);
    memcpy(&x, &u, 4);
    return x;
}

static void put(void *p, cudaDataType type, size_t i, float x)
{
    if (type == CUDA_R_32F) {
        memcpy((char *)p + 4 * i, &x, 4);
        return;
    }
    uint32_t bits;
    x = rounded(x, 16);
    memcpy(&bits, &x, 4);
    uint16_t half = (uint16_t)(bits >> 16);
    memcpy((char *)p + 2 * i, &half, 2);
}

static size_t place(const struct pw_emu_layout *l, size_t row, size_t col)
{
    return l->order == CUBLASLT_ORDER_COL ? row + (size_t)l->ld * col : (size_t)l->ld * row + col;
}

/* op(M) as float, rounded as the unit that multiplies rounds it: out [n_k][n], k outside. */
static float *unpacked(const void *p, const struct pw_emu_layout *l, bool k_is_row,
                       cublasComputeType_t compute)
{
    size_t n_k = k_is_row ? l->rows : l->cols, n = k_is_row ? l->cols : l->rows;
    int lost = compute == CUBLAS_COMPUTE_32F_FAST_TF32   ? 13
               : compute == CUBLAS_COMPUTE_32F_FAST_16BF ? 16
                                                         : 0;
    float *out = pw_emu_memory(NULL, n_k * n * sizeof *out);
    for (size_t k = 0; k < n_k; k++)
        for (size_t i = 0; i < n; i++) {
            float x = get(p, l->type, k_is_row ? place(l, k, i) : place(l, i, k));
            out[k * n + i] = lost > 0 ? rounded(x, lost) : x;
        }
    return out;
}

/* Calls fn for every run of numbers that lies together. */
static void each_run(const struct pw_emu_layout *l, const void *p, void (*fn)(const void *run, size_t n))
{
    uint64_t outer = l->order == CUBLASLT_ORDER_COL ? l->cols : l->rows;
    size_t size = pw_emu_element(l->type);
    for (size_t i = 0; i < outer; i++)
        fn((const char *)p + i * (size_t)l->ld * size, inner(l) * size);
}

static void run_read(const void *run, size_t n)
{
    pw_emu_reads("a product", run, n);
}

static void run_written(const void *run, size_t n)
{
    pw_emu_wrote((void *)run, n);
}

static void one(const struct pw_emu_product *p, float alpha, float beta, size_t which)
{
    const char *A = (const char *)p->A + which * (size_t)p->a.stride * pw_emu_element(p->a.type);
    const char *B = (const char *)p->B + which * (size_t)p->b.stride * pw_emu_element(p->b.type);
    const char *C = (const char *)p->C + which * (size_t)p->c.stride * pw_emu_element(p->c.type);
    char *D = (char *)p->D + which * (size_t)p->out.stride * pw_emu_element(p->out.type);
    size_t m = p->out.rows, n = p->out.cols, n_k = p->d.trans_a ? p->a.rows : p->a.cols;
    each_run(&p->a, A, run_read);
    each_run(&p->b, B, run_read);
    if (beta != 0.0f)
        each_run(&p->c, C, run_read);
    float *a = unpacked(A, &p->a, p->d.trans_a, p->d.compute);
    float *b = unpacked(B, &p->b, !p->d.trans_b, p->d.compute);
    float *column = pw_emu_memory(NULL, m * sizeof *column);
    for (size_t j = 0; j < n; j++) {
        memset(column, 0, m * sizeof *column);
        for (size_t k = 0; k < n_k; k++) {
            float factor = b[k * n + j];
            const float *row = a + k * m;
            for (size_t i = 0; i < m; i++)
                column[i] += row[i] * factor;
        }
        for (size_t i = 0; i < m; i++) {
            float x = alpha * column[i];
            if (beta != 0.0f)
                x += beta * get(C, p->c.type, place(&p->c, i, j));
            if (p->d.epilogue & CUBLASLT_EPILOGUE_BIAS)
                x += get(p->d.bias, p->d.bias_type, i);
            if (p->d.epilogue & CUBLASLT_EPILOGUE_RELU && x < 0.0f)
                x = 0.0f;
            put(D, p->out.type, place(&p->out, i, j), x);
        }
    }
    free(a);
    free(b);
    free(column);
    each_run(&p->out, D, run_written);
}

void pw_emu_product_run(const struct pw_emu_product *p)
{
    bool device = p->d.mode == CUBLASLT_POINTER_MODE_DEVICE;
    float alpha = device ? get(p->alpha, CUDA_R_32F, 0) : p->host_alpha;
    float beta = device ? get(p->beta, CUDA_R_32F, 0) : p->host_beta;
    if (p->workspace_size > 0)
        memset(p->workspace, 0xff, p->workspace_size); /* so that data kept there is lost */
    for (size_t i = 0; i < (size_t)p->out.batch; i++)
        one(p, alpha, beta, i);
}
