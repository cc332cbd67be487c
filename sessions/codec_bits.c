/* codec_bits.c - convert values of any type to bits, and bits to bytes. The result is little-endian on every
 * host, and every NaN has the same bits. */
#include <math.h>
#include <string.h>

#include "sessions/codec_int.h"

int pw_field_bytes(enum pw_field_type type)
{
    switch (type) {
    case PW_F_BYTE: return 1;
    case PW_F_HALF: return 2;
    case PW_F_FLOAT: return 4;
    case PW_F_DOUBLE:
    case PW_F_BITS: return 8;
    default: return 0;
    }
}

/* ---- values to bits, for every type */

uint64_t pw_float_bits(float x)
{
    uint32_t u = 0x7fc00000;
    if (!isnan(x))
        memcpy(&u, &x, sizeof u);
    return u;
}

uint64_t pw_double_bits(double x)
{
    uint64_t u = UINT64_C(0x7ff8000000000000);
    if (!isnan(x))
        memcpy(&u, &x, sizeof u);
    return u;
}

float pw_bits_float(uint64_t bits)
{
    uint32_t u = (uint32_t)bits;
    float x;
    memcpy(&x, &u, sizeof x);
    return isnan(x) ? NAN : x;
}

double pw_bits_double(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return isnan(x) ? (double)NAN : x;
}

static uint16_t half_bits(uint16_t h)
{
    return (h & 0x7fff) > 0x7c00 ? 0x7e00 : h;
}

uint64_t pw_folded(int64_t v)
{
    return (uint64_t)v << 1 ^ (v < 0 ? ~UINT64_C(0) : 0);
}

int64_t pw_unfolded(uint64_t u)
{
    return (int64_t)(u >> 1 ^ (u & 1 ? ~UINT64_C(0) : 0));
}

int64_t pw_load_number(enum pw_field_type type, const void *p)
{
    bool b;
    int i;
    int64_t v;
    switch (type) {
    case PW_F_BOOL: memcpy(&b, p, sizeof b); return b;
    case PW_F_INT: memcpy(&i, p, sizeof i); return i;
    default: memcpy(&v, p, sizeof v); return v;
    }
}

void pw_store_number(enum pw_field_type type, void *p, int64_t v)
{
    bool b = v != 0;
    int i = (int)v;
    switch (type) {
    case PW_F_BOOL: memcpy(p, &b, sizeof b); break;
    case PW_F_INT: memcpy(p, &i, sizeof i); break;
    default: memcpy(p, &v, sizeof v); break;
    }
}

uint64_t pw_load_bits(enum pw_field_type type, const void *p)
{
    float f;
    double d;
    uint16_t h;
    uint64_t u;
    switch (type) {
    case PW_F_BYTE: return *(const uint8_t *)p;
    case PW_F_HALF: memcpy(&h, p, sizeof h); return half_bits(h);
    case PW_F_FLOAT: memcpy(&f, p, sizeof f); return pw_float_bits(f);
    case PW_F_DOUBLE: memcpy(&d, p, sizeof d); return pw_double_bits(d);
    default: memcpy(&u, p, sizeof u); return u;
    }
}

void pw_store_bits(enum pw_field_type type, void *p, uint64_t bits)
{
    float f;
    double d;
    uint16_t h;
    switch (type) {
    case PW_F_BYTE: *(uint8_t *)p = (uint8_t)bits; break;
    case PW_F_HALF: h = half_bits((uint16_t)bits), memcpy(p, &h, sizeof h); break;
    case PW_F_FLOAT: f = pw_bits_float(bits), memcpy(p, &f, sizeof f); break;
    case PW_F_DOUBLE: d = pw_bits_double(bits), memcpy(p, &d, sizeof d); break;
    default: memcpy(p, &bits, sizeof bits); break;
    }
}

/* ---- bytes */

void pw_put_varint(struct pw_str *out, uint64_t v)
{
    char b[10];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        b[n++] = (char)(v | 0x80);
    b[n++] = (char)v;
    pw_str_put(out, b, n);
}

void pw_put_fixed(struct pw_str *out, uint64_t v, int bytes)
{
    char b[8];
    for (int i = 0; i < bytes; i++)
        b[i] = (char)(v >> 8 * i);
    pw_str_put(out, b, (size_t)bytes);
}

bool pw_get_varint(const unsigned char **at, const unsigned char *end, uint64_t *v)
{
    *v = 0;
    for (int shift = 0; shift < 64 && *at < end; shift += 7) {
        unsigned char b = *(*at)++;
        if (shift == 63 && b > 1)
            return false;
        *v |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80)
            return true;
    }
    return false;
}

bool pw_get_fixed(const unsigned char **at, const unsigned char *end, uint64_t *v, int bytes)
{
    *v = 0;
    if (end - *at < bytes)
        return false;
    for (int i = 0; i < bytes; i++)
        *v |= (uint64_t) * (*at)++ << 8 * i;
    return true;
}
