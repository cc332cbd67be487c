/* stored.c - packs as the only copy of a matrix: elements of 16 bits, and reading rows back.
 *
 * A panel has element k of its 32 rows side by side (linear.c). So a row is one element of each 32, in as
 * many cache lines as it has elements, which neighbouring rows share. */
#include "kernels/cpu/stored.h"

#include <string.h>

#include "base/half.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/simd.h"

void PW_OP(widen)(float *dst, const uint16_t *src, enum pw_stored stored, int n)
{
    if (stored == PW_STORED_BF16)
        for (int i = 0; i < n; i += 16)
            v_store(dst + i, v_from_bf16(src + i));
    else
        for (int i = 0; i < n; i += 16)
            v_store(dst + i, v_from_f16(src + i));
}

V_INLINE void row_times(float *c, const float *a, const uint16_t *panel, bool bf16, int K, int n)
{
    v16 s = v_zero(), t = v_zero();
    for (int k = 0; k < K; k++, panel += PW_PANEL) {
        v16 ak = v_set(a[k]);
        s = v_fma(ak, bf16 ? v_from_bf16(panel) : v_from_f16(panel), s);
        t = v_fma(ak, bf16 ? v_from_bf16(panel + 16) : v_from_f16(panel + 16), t);
    }
    v_store_n(c, n, s);
    v_store_n(c + 16, n - 16, t);
}

void PW_OP(row_times)(float *c, const float *a, const uint16_t *panel, enum pw_stored stored, int K, int n)
{
    if (stored == PW_STORED_BF16)
        row_times(c, a, panel, true, K, n);
    else
        row_times(c, a, panel, false, K, n);
}

void PW_OP(narrow)(uint16_t *dst, const float *src, enum pw_stored stored, int n)
{
    if (stored == PW_STORED_F16)
        for (int i = 0; i < n; i += 16)
            v_to_f16(dst + i, v_load(src + i));
    else
        for (int i = 0; i < n; i++) {
            uint32_t bits;
            memcpy(&bits, src + i, sizeof bits);
            dst[i] = (uint16_t)(bits >> 16);
        }
}

/* Columns from .. to-1 of row `row`. */
static void unpack_row(float *out, const struct pw_mat *m, size_t row, size_t from, size_t to)
{
    size_t at = row / PW_PANEL * PW_PANEL * (size_t)m->in + row % PW_PANEL;
    if (m->stored == PW_STORED_F32) {
        for (size_t k = from; k < to; k++)
            *out++ = m->pack[at + k * PW_PANEL];
        return;
    }
    const uint16_t *narrow = (const uint16_t *)m->pack + at;
    if (m->stored == PW_STORED_BF16)
        for (size_t k = from; k < to; k++) {
            uint32_t bits = (uint32_t)narrow[k * PW_PANEL] << 16;
            memcpy(out++, &bits, sizeof bits);
        }
    else
        for (size_t k = from; k < to; k++)
            *out++ = pw_from_half(narrow[k * PW_PANEL]);
}

void PW_OP(unpack)(float *out, const struct pw_mat *m, size_t first, size_t n)
{
    size_t in = (size_t)m->in;
    while (n > 0) {
        size_t from = first % in, most = in - from, some = n < most ? n : most;
        unpack_row(out, m, first / in, from, from + some);
        out += some;
        first += some;
        n -= some;
    }
}

void PW_OP(unpack_rows)(struct pw_ctx *c, float *x, const struct pw_mat *m, const int *ids, int R)
{
    (void)c;
    for (int r = 0; r < R; r++)
        unpack_row(x + (size_t)r * (size_t)m->in, m, (size_t)ids[r], 0, (size_t)m->in);
}
