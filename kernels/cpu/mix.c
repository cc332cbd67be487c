/* mix.c - a bias that the query mixes (struct pw_mix): its rows, and the gradients of weights and bank.
 *
 * The bank has few distances. So the mixed bias of a query is a product of its weights and the bank, from
 * which every key reads the entry of its distance. If position ids ascend by one, the keys of a query use
 * consecutive distances in falling order. So the bank is stored with its last distance first, and rows are
 * copied by whole vectors. Distances that no query of a block has are left out of its products. */
#include "kernels/cpu/mix.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/simd.h"

#include <string.h>

static size_t bank_ld(const struct pw_attn *a)
{
    return (size_t)pw_to_16(a->mix->reach);
}

static size_t weights_ld(const struct pw_attn *a)
{
    return (size_t)pw_to_16(a->mix->mixes);
}

size_t PW_OP(mix_shared_floats)(const struct pw_attn *a, int T, bool backward)
{
    if (a->mix == NULL)
        return 0;
    size_t bank = (size_t)a->mix->mixes * bank_ld(a);
    if (backward)
        return bank + bank_ld(a) * weights_ld(a) + (size_t)T * (bank_ld(a) + weights_ld(a));
    return bank;
}

size_t PW_OP(mix_room_floats)(const struct pw_attn *a, int Tp)
{
    return a->mix != NULL ? PW_BLOCK * (bank_ld(a) + (size_t)Tp + weights_ld(a)) : 0;
}

/* Copy the bank, or its gradient, between [M,reach] and rows with the last distance first, padded by zeros.
 */
static void reverse_bank(const struct pw_attn *a, float *to, const float *bank)
{
    int reach = a->mix->reach, ld = pw_to_16(reach);
    for (int m = 0; m < a->mix->mixes; m++, bank += reach)
        for (int y = 0; y < ld; y++)
            *to++ = y < reach ? bank[reach - 1 - y] : 0.0f;
}

void PW_OP(mix_init)(struct pw_mixing *x, const struct pw_attn *a, int T, bool backward, float *shared)
{
    *x = (struct pw_mixing){0};
    if (a->mix == NULL)
        return;
    int M = a->mix->mixes, reach = a->mix->reach;
    x->ld = (int)bank_ld(a), x->Mp = (int)weights_ld(a);
    x->bank = shared;
    if (!backward) {
        reverse_bank(a, x->bank, a->mix->bank);
        return;
    }
    x->down = x->bank + (size_t)M * (size_t)x->ld;
    x->by_distance = x->down + (size_t)x->ld * (size_t)x->Mp;
    x->scaled = x->by_distance + (size_t)T * (size_t)x->ld;
    reverse_bank(a, x->bank, a->mix->d_bank);
    for (int y = 0; y < x->ld; y++)
        for (int m = 0; m < x->Mp; m++)
            x->down[y * x->Mp + m] = y < reach && m < M ? a->mix->bank[m * reach + reach - 1 - y] : 0.0f;
}

void PW_OP(mix_room)(struct pw_mixing *x, int Tp, float *room)
{
    x->dots = room;
    x->rows = x->dots + PW_BLOCK * (size_t)x->ld;
    x->scaled = x->rows + PW_BLOCK * (size_t)Tp;
}

/* The first column of the reversed bank that queries before `end` read; a multiple of 16. */
static int first_column(const struct pw_head *hd, int end)
{
    int first = hd->a->mix->reach - end;
    return hd->in_order && first > 0 ? first / 16 * 16 : 0;
}

/* The gain of query i; NULL: there is none. pos are the ids of the sequence. */
static const float *gain_of(const struct pw_head *hd, int i)
{
    const struct pw_turn *t = hd->a->turn;
    return t != NULL && t->gain != NULL ? t->gain + (size_t)hd->h * (size_t)t->gain_head + hd->pos[i] : NULL;
}

/* Return the weights of queries i .. i+m-1 times their gains, and their stride. row: the row of query i among
 * the weights' rows. Without gains they are the weights themselves, else they are in room [m,Mp]. */
static const float *weights_of(const struct pw_mixing *x, const struct pw_head *hd, float *room,
                               size_t *stride, int row, int i, int m)
{
    const struct pw_mix *mix = hd->a->mix;
    size_t M = (size_t)mix->mixes, apart = (size_t)hd->a->heads * M;
    const float *weights = mix->weights + (size_t)row * apart + (size_t)hd->h * M;
    *stride = apart;
    if (hd->a->turn == NULL || hd->a->turn->gain == NULL)
        return weights;
    *stride = (size_t)x->Mp;
    for (int r = 0; r < m; r++)
        for (size_t k = 0; k < M; k++)
            room[(size_t)r * *stride + k] = weights[(size_t)r * apart + k] * *gain_of(hd, i + r);
    return room;
}

/* Set a query's row of the bias, for its first `cols` keys, from its dots with the reversed bank. */
static void fill_row(const struct pw_head *hd, float *row, const float *dots, int i, int cols)
{
    int reach = hd->a->mix->reach, begin = i - reach + 1; /* the key that dots[0] belongs to */
    memset(row, 0, (size_t)cols * sizeof *row);
    if (!hd->in_order) {
        for (int j = 0; j < pw_keys_before(hd, i + 1); j++) {
            int d = hd->pos[i] - hd->pos[j];
            row[j] = d >= 0 && d < reach ? dots[reach - 1 - d] : 0.0f;
        }
        return;
    }
    for (int j = begin > 0 ? begin : 0; j <= i; j += 16)
        v_store_n(row + j, i + 1 - j, v_load_n(dots + (j - begin), i + 1 - j));
}

void PW_OP(mix_rows)(const struct pw_mixing *x, const struct pw_head *hd, int row, int i, int m, int cols)
{
    const struct pw_mix *mix = hd->a->mix;
    size_t ld = (size_t)x->ld, stride;
    const float *weights = weights_of(x, hd, x->scaled, &stride, row, i, m);
    int from = first_column(hd, i + m);
    pw_product(m, mix->reach - from, mix->mixes, weights, stride, 1, x->bank + from, ld, x->dots + from, ld,
               false);
    for (int r = 0; r < m; r++)
        fill_row(hd, x->rows + (size_t)r * (size_t)hd->Tp, x->dots + (size_t)r * ld, i + r, cols);
}

/* Set the sums of dS of query i by distance, last distance first, from column `from` on. */
static void sum_by_distance(const struct pw_head *hd, float *sums, const float *ds, int from, int ld, int i)
{
    int reach = hd->a->mix->reach, begin = i - reach + 1;
    memset(sums + from, 0, (size_t)(ld - from) * sizeof *sums);
    if (!hd->in_order) {
        for (int j = 0; j < pw_keys_before(hd, i + 1); j++) {
            int d = hd->pos[i] - hd->pos[j];
            if (d >= 0 && d < reach)
                sums[reach - 1 - d] += ds[j];
        }
        return;
    }
    for (int j = begin > 0 ? begin : 0; j <= i; j += 16) /* + 0: like a sum, which is never -0 */
        v_store_n(sums + (j - begin), i + 1 - j, v_add(v_zero(), v_load_n(ds + j, i + 1 - j)));
}

void PW_OP(mix_dweights)(const struct pw_mixing *x, const struct pw_head *hd, const float *ds, int i, int m)
{
    const struct pw_mix *mix = hd->a->mix;
    size_t ld = (size_t)x->ld, M = (size_t)mix->mixes, apart = (size_t)hd->a->heads * M;
    int all = first_column(hd, hd->T), from = first_column(hd, i + m);
    float *sums = x->by_distance + (size_t)i * ld;
    float *to = mix->d_weights + ((size_t)(hd->base + i) * (size_t)hd->a->heads + (size_t)hd->h) * M;
    for (int r = 0; r < m; r++)
        sum_by_distance(hd, sums + (size_t)r * ld, ds + (size_t)r * (size_t)hd->Tp, all, x->ld, i + r);
    pw_product(m, mix->mixes, mix->reach - from, sums + from, ld, 1, x->down + (size_t)from * (size_t)x->Mp,
               (size_t)x->Mp, to, apart, false);
    for (int r = 0; r < m && hd->a->turn != NULL && hd->a->turn->gain != NULL; r++)
        for (size_t k = 0; k < M; k++)
            to[(size_t)r * apart + k] *= *gain_of(hd, i + r);
}

void PW_OP(mix_dbank)(const struct pw_mixing *x, const struct pw_head *hd)
{
    const struct pw_mix *mix = hd->a->mix;
    size_t ld = (size_t)x->ld, stride;
    const float *weights = weights_of(x, hd, x->scaled, &stride, hd->base, 0, hd->T);
    int from = first_column(hd, hd->T);
    pw_product(mix->mixes, mix->reach - from, hd->T, weights, 1, stride, x->by_distance + from, ld,
               x->bank + from, ld, true);
}

void PW_OP(mix_store_dbank)(const struct pw_mixing *x, const struct pw_attn *a)
{
    const struct pw_mix *mix = a->mix;
    for (int m = 0; m < mix->mixes; m++)
        for (int d = 0; d < mix->reach; d++)
            mix->d_bank[m * mix->reach + d] =
                x->bank[(size_t)m * (size_t)x->ld + (size_t)(mix->reach - 1 - d)];
}
