/* amx.c - the matrix unit: packs operands into blocks, and multiplies two panels.
 *
 * Two left and two right tiles give four products, which is the most that eight tile registers allow. Each
 * loaded tile is used twice, and four independent sums hide the unit's latency of about 50 cycles. */
#include "kernels/cpu/amx.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/simd.h"

size_t pw_amx_panel(int K)
{
    return (size_t)(K + PW_AMX_SIDE - 1) / PW_AMX_SIDE * PW_AMX_BLOCK;
}

/* Round to bf16: low into the lower half, high into the upper half. */
V_INLINE __m512i round2(v16 low, v16 high)
{
    return (__m512i)_mm512_cvtne2ps_pbh(high, low);
}

/* Up to 32 columns of one row. */
V_INLINE v16 line(const float *row, int n)
{
    return _mm512_castsi512_ps(round2(v_load_n(row, n), v_load_n(row + 16, n - 16)));
}

/* Up to 16 columns of two rows, in pairs: (a0,b0), (a1,b1), ... */
V_INLINE v16 pairs(const float *row, size_t stride, int rows, int n)
{
    static const uint16_t order[32] = {0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                                       8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    v16 a = rows > 0 ? v_load_n(row, n) : v_zero(), b = rows > 1 ? v_load_n(row + stride, n) : v_zero();
    return _mm512_castsi512_ps(_mm512_permutexvar_epi16(_mm512_loadu_si512(order), round2(a, b)));
}

/* Pack one block from the upper left corner of the remaining part of src, rows x columns. */
V_INLINE void pack_block(float *block, const float *src, size_t stride, int rows, int columns,
                         enum pw_amx_form form)
{
    for (int at = 0; at < PW_AMX_SIDE; at += 16, block += PW_AMX_TILE) {
        v16 t[16];
        if (form == PW_LEFT_ROWS && rows <= at)
            return;
        V_UNROLL
        for (int l = 0; l < 16; l++)
            if (form == PW_RIGHT_COLUMNS || form == PW_LEFT_COLUMNS)
                t[l] = pairs(src + at + (size_t)(2 * l) * stride, stride, rows - 2 * l, columns - at);
            else
                t[l] = at + l < rows ? line(src + (size_t)(at + l) * stride, columns) : v_zero();
        if (form == PW_RIGHT_ROWS || form == PW_LEFT_COLUMNS)
            v_transpose(t);
        V_UNROLL
        for (int l = 0; l < 16; l++)
            v_store(block + 16 * l, t[l]);
    }
}

/* `form` is a constant after inlining, and so is the shape of whole blocks. */
V_INLINE void pack(float *panel, const float *src, size_t stride, int n, int K, enum pw_amx_form form)
{
    bool down = form == PW_RIGHT_COLUMNS || form == PW_LEFT_COLUMNS;
    for (int k = 0; k < K; k += PW_AMX_SIDE, panel += PW_AMX_BLOCK) {
        const float *from = down ? src + (size_t)k * stride : src + k;
        if (n == PW_AMX_SIDE && K - k >= PW_AMX_SIDE)
            pack_block(panel, from, stride, PW_AMX_SIDE, PW_AMX_SIDE, form);
        else
            pack_block(panel, from, stride, down ? K - k : n, down ? n : K - k, form);
    }
}

void pw_amx_pack(float *panel, const float *src, size_t stride, int n, int K, enum pw_amx_form form)
{
    switch (form) {
    case PW_LEFT_ROWS: pack(panel, src, stride, n, K, PW_LEFT_ROWS); break;
    case PW_RIGHT_ROWS: pack(panel, src, stride, n, K, PW_RIGHT_ROWS); break;
    case PW_RIGHT_COLUMNS: pack(panel, src, stride, n, K, PW_RIGHT_COLUMNS); break;
    case PW_LEFT_COLUMNS: pack(panel, src, stride, n, K, PW_LEFT_COLUMNS); break;
    }
}

/* Tiles 0 to 3 hold the sums, 4 and 5 left, 6 and 7 right. two: 32 rows; wide: 32 columns. */
V_INLINE void product(bool two, bool wide, int K, const float *left, const float *right, float *c,
                      const float *from, size_t ldc)
{
    size_t stride = ldc * sizeof *c, below = 16 * ldc;
    if (from != NULL) {
        _tile_loadd(0, from, stride);
        if (wide)
            _tile_loadd(1, from + 16, stride);
        if (two)
            _tile_loadd(2, from + below, stride);
        if (two && wide)
            _tile_loadd(3, from + below + 16, stride);
    } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }
    for (int k = 0; k < K; k += PW_AMX_SIDE, left += PW_AMX_BLOCK, right += PW_AMX_BLOCK) {
        _tile_loadd(4, left, PW_AMX_STRIDE);
        _tile_loadd(6, right, PW_AMX_STRIDE);
        _tile_dpbf16ps(0, 4, 6);
        if (wide) {
            _tile_loadd(7, right + PW_AMX_TILE, PW_AMX_STRIDE);
            _tile_dpbf16ps(1, 4, 7);
        }
        if (two) {
            _tile_loadd(5, left + PW_AMX_TILE, PW_AMX_STRIDE);
            _tile_dpbf16ps(2, 5, 6);
        }
        if (two && wide)
            _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, c, stride);
    if (wide)
        _tile_stored(1, c + 16, stride);
    if (two)
        _tile_stored(2, c + below, stride);
    if (two && wide)
        _tile_stored(3, c + below + 16, stride);
}

void pw_amx_product(int m, int n, int K, const float *left, const float *right, float *c, const float *from,
                    size_t ldc)
{
    bool two = m > 16, wide = n > 16;
    if (two && wide)
        product(true, true, K, left, right, c, from, ldc);
    else if (wide)
        product(false, true, K, left, right, c, from, ldc);
    else if (two)
        product(true, false, K, left, right, c, from, ldc);
    else
        product(false, false, K, left, right, c, from, ldc);
}

/* The tile shape is state of a thread. It is set for each chunk and released after it, so that the kernel
 * need not save tiles of a sleeping worker. */
struct chunks {
    void (*fn)(struct pw_ctx *ctx, int chunk, int worker, void *arg);
    void *arg;
};

static void run_chunk(struct pw_ctx *ctx, int chunk, int worker, void *arg)
{
    static const struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } shape = {1, 0, {0}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};
    const struct chunks *k = arg;
    _tile_loadconfig(&shape);
    k->fn(ctx, chunk, worker, k->arg);
    _tile_release();
}

void pw_for_chunks_amx(struct pw_backend *be, int n,
                       void (*fn)(struct pw_ctx *ctx, int chunk, int worker, void *arg), void *arg)
{
    struct chunks k = {fn, arg};
    pw_cpu_for_chunks(be, n, run_chunk, &k);
}
