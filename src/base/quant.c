/* quant.c - dequantises the block formats of GGUF (ggml-quants): a block is a scale, perhaps a minimum, and
 * integers of 4 to 8 bits. The K formats have blocks of 256 with scales of their own for every 16 or 32. */
#include "base/quant.h"

#include <string.h>

#include "base/half.h"

const struct pw_number pw_numbers[PW_NUMBER_TYPES] = {
    [PW_NUMBER_F32] = {"F32", 0, 1, 4},        [PW_NUMBER_F16] = {"F16", 1, 1, 2},
    [PW_NUMBER_BF16] = {"BF16", 30, 1, 2},     [PW_NUMBER_Q4_0] = {"Q4_0", 2, 32, 18},
    [PW_NUMBER_Q4_1] = {"Q4_1", 3, 32, 20},    [PW_NUMBER_Q8_0] = {"Q8_0", 8, 32, 34},
    [PW_NUMBER_Q4_K] = {"Q4_K", 12, 256, 144}, [PW_NUMBER_Q5_K] = {"Q5_K", 13, 256, 176},
    [PW_NUMBER_Q6_K] = {"Q6_K", 14, 256, 210},
};

static float half_at(const uint8_t *p)
{
    return pw_from_half((uint16_t)(p[0] | p[1] << 8));
}

static void read_bf16(const uint8_t *p, int64_t n, float *out)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t u = (uint32_t)(p[2 * i] | p[2 * i + 1] << 8) << 16;
        memcpy(out + i, &u, sizeof u);
    }
}

/* By way of aligned numbers. */
static void read_f16(const uint8_t *p, int64_t n, float *out)
{
    enum { PART = 256 };
    uint16_t half[PART];
    for (int64_t i = 0; i < n; i += PART) {
        size_t some = (size_t)(n - i < PART ? n - i : PART);
        memcpy(half, p + 2 * i, some * sizeof *half);
        pw_from_halves(out + i, half, some);
    }
}

/* The low halves of 16 bytes are values 0..15, the high halves 16..31. */
static void read_q4(const uint8_t *quants, float scale, float at_zero, int zero, float *out)
{
    for (int i = 0; i < 16; i++) {
        out[i] = scale * (float)((quants[i] & 15) - zero) + at_zero;
        out[i + 16] = scale * (float)((quants[i] >> 4) - zero) + at_zero;
    }
}

static void read_q8_0(const uint8_t *p, float *out)
{
    float scale = half_at(p);
    for (int i = 0; i < 32; i++)
        out[i] = scale * (float)(int8_t)p[2 + i];
}

/* Reads scale and minimum of group g from 12 bytes of six bits each. */
static void scale_of_group(const uint8_t *p, int g, int *scale, int *least)
{
    if (g < 4) {
        *scale = p[g] & 63;
        *least = p[g + 4] & 63;
    } else {
        *scale = (p[g + 4] & 15) | (p[g - 4] >> 6) << 4;
        *least = p[g + 4] >> 4 | (p[g] >> 6) << 4;
    }
}

/* Q4_K and Q5_K: eight groups of 32. high NULL: four bits; otherwise bit g of each byte is the fifth. */
static void read_k45(const uint8_t *p, const uint8_t *high, const uint8_t *quants, float *out)
{
    float d = half_at(p), d_least = half_at(p + 2);
    for (int g = 0; g < 8; g++) {
        int scale, least;
        scale_of_group(p + 4, g, &scale, &least);
        float s = d * (float)scale, m = d_least * (float)least;
        for (int i = 0; i < 32; i++) {
            int q = quants[g / 2 * 32 + i] >> (g % 2 * 4) & 15;
            if (high != NULL)
                q += (high[i] >> g & 1) << 4;
            out[g * 32 + i] = s * (float)q - m;
        }
    }
}

/* 128 bytes of low halves, 64 of two further bits, 16 scales, then the scale of the scales. */
static void read_q6_k(const uint8_t *p, float *out)
{
    float d = half_at(p + 208);
    for (int i = 0; i < 256; i++) {
        int part = i / 128, at = i % 128; /* each half has four rows of 32 */
        int low = p[part * 64 + at % 64] >> (at / 64 * 4) & 15;
        int high = p[128 + part * 32 + at % 32] >> (at / 32 * 2) & 3;
        float scale = d * (float)(int8_t)p[192 + i / 16];
        out[i] = scale * (float)((low | high << 4) - 32);
    }
}

static void read_block(enum pw_number_type type, const uint8_t *p, float *out)
{
    switch (type) {
    case PW_NUMBER_F32: memcpy(out, p, sizeof *out); break;
    case PW_NUMBER_F16:
    case PW_NUMBER_BF16: break; /* not in blocks */
    case PW_NUMBER_Q4_0: read_q4(p + 2, half_at(p), 0, 8, out); break;
    case PW_NUMBER_Q4_1: read_q4(p + 4, half_at(p), half_at(p + 2), 0, out); break;
    case PW_NUMBER_Q8_0: read_q8_0(p, out); break;
    case PW_NUMBER_Q4_K: read_k45(p, NULL, p + 16, out); break;
    case PW_NUMBER_Q5_K: read_k45(p, p + 16, p + 48, out); break;
    case PW_NUMBER_Q6_K: read_q6_k(p, out); break;
    case PW_NUMBER_TYPES: break;
    }
}

void pw_number_read(enum pw_number_type type, const void *data, int64_t n, float *out)
{
    const struct pw_number *t = &pw_numbers[type];
    const uint8_t *p = data;

    if (type == PW_NUMBER_F32) {
        memcpy(out, data, (size_t)n * sizeof *out);
        return;
    }
    if (type == PW_NUMBER_F16 || type == PW_NUMBER_BF16) { /* a matrix of them is read at once */
        (type == PW_NUMBER_F16 ? read_f16 : read_bf16)(p, n, out);
        return;
    }
    for (int64_t i = 0; i < n; i += t->values, p += t->bytes)
        read_block(type, p, out + i);
}
