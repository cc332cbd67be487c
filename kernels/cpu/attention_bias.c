/* attention_bias.c - the bias of a head's scores, by distance or dense, the head's terms and slopes, and
 * their gradients.
 *
 * If position ids ascend by one, the biases of a query's keys are contiguous in a dense bias. For a bias by
 * distance they become contiguous when the needed range is reversed into scratch. */
#include "kernels/cpu/attention.h"
#include "kernels/cpu/simd.h"

/* Index where this head's bias begins; by distance: the entry of distance 0. */
static size_t bias_zero(const struct pw_head *hd)
{
    size_t P = (size_t)hd->a->table, head = (size_t)hd->h * pw_bias_entries(hd->a->dense, hd->a->table);
    return hd->a->dense ? head : head + P - 1;
}

/* Index of query i's row in a dense bias; the row is indexed by the keys' position ids. */
static size_t dense_row(const struct pw_head *hd, int i)
{
    return bias_zero(hd) + (size_t)hd->pos[i] * (size_t)hd->a->table;
}

static void load_terms(const struct pw_head *hd)
{
    size_t H = (size_t)hd->a->heads;
    const float *terms = hd->a->terms + (size_t)hd->base * H + hd->h;
    for (int j = 0; j < hd->Tp; j++)
        hd->terms[j] = j < hd->T ? terms[(size_t)j * H] : 0.0f;
}

static void load_slopes(const struct pw_head *hd)
{
    size_t H = (size_t)hd->a->heads;
    const float *slopes = hd->a->made->slopes + (size_t)hd->base * 2 * H + H + (size_t)hd->h;
    for (int j = 0; j < hd->Tp; j++) {
        hd->slopes[j] = j < hd->T ? slopes[(size_t)j * 2 * H] : 0.0f;
        hd->place[j] = j < hd->T ? (float)hd->pos[j] : 0.0f;
    }
}

void PW_OP(head_bias_load)(const struct pw_head *hd)
{
    if (hd->slopes != NULL)
        load_slopes(hd);
    if (hd->terms != NULL)
        load_terms(hd);
    if (hd->a->bias == NULL || hd->a->dense || !hd->in_order)
        return;
    const float *zero = hd->a->bias + bias_zero(hd);
    int n = hd->a->causal ? hd->T : 2 * hd->T - 1;
    for (int y = 0; y < n; y++)
        hd->bias[y] = zero[hd->T - 1 - y];
}

const float *PW_OP(head_bias_row)(const struct pw_head *hd, int i, int n)
{
    if (hd->a->bias == NULL)
        return NULL;
    const float *row = hd->a->bias + (hd->a->dense ? dense_row(hd, i) : bias_zero(hd));
    if (hd->in_order)
        return hd->a->dense ? row + hd->pos[0] : hd->bias + (hd->T - 1 - i);
    for (int j = 0; j < n; j++)
        hd->bias[j] = row[hd->a->dense ? hd->pos[j] : hd->pos[i] - hd->pos[j]];
    return hd->bias;
}

static void add_row(float *to, const float *ds, int n)
{
    for (int j = 0; j < n; j += 16)
        v_store_n(to + j, n - j, v_add(v_load_n(to + j, n - j), v_load(ds + j)));
}

/* Add ds [T,Tp] to the gradient of a dense bias, queries ascending. */
static void add_dense(const struct pw_head *hd, float *d_bias, const float *ds)
{
    for (int i = 0; i < hd->T; i++, ds += hd->Tp) {
        float *row = d_bias + dense_row(hd, i);
        int keys = pw_keys_before(hd, i + 1);
        if (hd->in_order)
            add_row(row + hd->pos[0], ds, keys);
        else
            for (int j = 0; j < keys; j++)
                row[hd->pos[j]] += ds[j];
    }
}

/* Add ds [T,Tp] to the gradient of a bias by distance, queries ascending. If ids are in order, the table's
 * range is reversed into scratch, where a query's keys are contiguous. */
static void add_by_distance(const struct pw_head *hd, float *d_bias, const float *ds)
{
    int T = hd->T, n = hd->a->causal ? T : 2 * T - 1;
    float *zero = d_bias + bias_zero(hd), *rev = hd->bias;
    for (int y = 0; hd->in_order && y < n; y++)
        rev[y] = zero[T - 1 - y];
    for (int i = 0; i < T; i++, ds += hd->Tp) {
        int keys = pw_keys_before(hd, i + 1);
        if (hd->in_order)
            add_row(rev + (T - 1 - i), ds, keys);
        else
            for (int j = 0; j < keys; j++)
                zero[hd->pos[i] - hd->pos[j]] += ds[j];
    }
    for (int y = 0; hd->in_order && y < n; y++)
        zero[T - 1 - y] = rev[y];
}

void PW_OP(head_terms_grad)(const struct pw_head *hd, float *d_terms, const float *ds)
{
    size_t H = (size_t)hd->a->heads;
    for (int j = 0; j < hd->Tp; j += 16) {
        v16 sum = v_zero();
        for (int i = hd->a->causal ? j : 0; i < hd->T; i++)
            sum = v_add(sum, v_load(ds + (size_t)i * (size_t)hd->Tp + j));
        v_store(hd->terms + j, v_sub(v_zero(), sum));
    }
    d_terms += (size_t)hd->base * H + hd->h;
    for (int j = 0; j < hd->T; j++)
        d_terms[(size_t)j * H] = hd->terms[j];
}

void PW_OP(head_slopes_grad)(const struct pw_head *hd, float *d_slopes, const float *ds)
{
    size_t H = (size_t)hd->a->heads, Tp = (size_t)hd->Tp;
    float sums[16];
    d_slopes += (size_t)hd->base * 2 * H + (size_t)hd->h;
    for (int i = 0; i < hd->T; i++) {
        v16 sum = v_zero(), here = v_set(hd->place[i]);
        int keys = pw_keys_before(hd, i + 1);
        for (int j = 0; j < keys; j += 16)
            sum = v_fma(v_load(ds + (size_t)i * Tp + j), v_sub(v_load(hd->place + j), here), sum);
        d_slopes[(size_t)i * 2 * H] = v_tree(sum);
    }
    for (int j = 0; j < hd->T; j += 16) {
        v16 sum = v_zero(), there = v_load(hd->place + j);
        for (int i = hd->a->causal ? j : 0; i < hd->T; i++)
            sum = v_fma(v_load(ds + (size_t)i * Tp + j), v_sub(there, v_set(hd->place[i])), sum);
        v_store(sums, sum);
        for (int k = 0; k < 16 && j + k < hd->T; k++)
            d_slopes[(size_t)(j + k) * 2 * H + H] = sums[k];
    }
}

void PW_OP(head_bias_grad)(const struct pw_head *hd, float *d_bias, const float *ds)
{
    if (hd->a->dense)
        add_dense(hd, d_bias, ds);
    else
        add_by_distance(hd, d_bias, ds);
}
