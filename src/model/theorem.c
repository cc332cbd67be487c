/* theorem.c - the weights of two proofs (Kazemnejad et al. 2023, appendix C).
 *
 * Theorem 1. The embedding sets dimension 1 for every token and dimension 2 for <bos> alone (Eq. 17). In the
 * first layer one head has the same key for every token (Eq. 18), so its attention at position t is 1/t on
 * each token (Eq. 25). It writes the mean of dimension 2, u = 1/t, to dimension 3 (Eq. 19, 27). The proof
 * then only states that an MLP can map 1/t to t. This one does:
 *
 *     t = 1 + sum_{k=1}^{T-1} 2k ReLU(1/k - u),        exact at u = 1/t for t <= T,
 *
 * linear in between; for u below 1/T it is 2T - 1 - T(T-1) u, which stays below 2T - 1.
 *
 * Theorem 2. In all further layers every head's query begins with (1, -t) and its key with (i, 1) (Eq. 28,
 * 29), so the score is content - (t - i). Scores must not be scaled.
 *
 * Weights that the proofs leave open are drawn, but neither read nor write the three dimensions. The output
 * head does not read them either, so that t does not dominate the first loss.
 *
 * Errata of the paper: Eq. 29 is headed W_V and is W_K; before Eq. 19 "W_Q will write" must be W_O; the last
 * row of Eq. 17 and 20 repeats e_{d,2}; the sum of Eq. 35 ends at h. The stream already holds 1/t when the
 * MLP adds to it, so the MLP must add t - 1/t.
 *
 * Numerical trap: a product is a chain of float32 additions, and T of them deviate from t by up to 6e-3 at T
 * = 2048. Adding and then subtracting a constant C = 1.5 * 2^23 q rounds the sum to multiples of q. Every
 * integer is such a multiple, so t is exact. */
#include "model/theorem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"

int pw_theorem_of(const struct pw_config *cfg)
{
    return cfg->init == PW_INIT_THEOREM1 ? 1 : cfg->init == PW_INIT_THEOREM2 ? 2 : 0;
}

/* T - 1 knots, then +C and 1, -C, -u. */
int pw_theorem_ffn(int T)
{
    return T + 2;
}

int pw_theorem_T(int ffn)
{
    return ffn - 2;
}

double pw_theorem_count(double u, int T)
{
    double t = 1;
    for (int k = 1; k < T; k++)
        t += 2.0 * k * fmax(1.0 / k - u, 0);
    return t;
}

/* Attention costs the square of the positions. */
int pw_theorem_positions(int T)
{
    return T <= 512 ? 4 * T : 2 * T;
}

enum pw_code pw_theorem_check(const struct pw_config *cfg, struct pw_err *err)
{
    int of = pw_theorem_of(cfg), T = pw_theorem_T(cfg->ffn);
    if (of == 0 || (cfg->norm == PW_NORM_NONE && cfg->act == 0 && !cfg->bias && cfg->causal &&
                    pw_config_plain(cfg) && cfg->width > PW_THEOREM_DIMS && T >= 1 && T <= PW_THEOREM_MOST &&
                    (of == 1 || (!cfg->scale && cfg->layers >= 2 && cfg->head_width >= 2))))
        return PW_OK;
    return pw_fail(
        err, PW_EUSER,
        "init=theorem%d needs norm=none act=relu bias=off causal=on, width from %d, ffn %d..%d%s, and "
        "defaults from gated on; "
        "'construct theorem%d' sets these; init=pewter is the default",
        of, PW_THEOREM_DIMS + 1, pw_theorem_ffn(1), pw_theorem_ffn(PW_THEOREM_MOST),
        of == 2 ? ", scale=off, layers and head_width from 2" : "", of);
}

/* ---- the numbers */

struct matrix {
    float *w;
    int rows, cols;
};

static float *matrix_at(const struct matrix *m, int row, int col)
{
    return m->w + (size_t)row * (size_t)m->cols + col;
}

static void clear_rows(const struct matrix *m, int from, int n)
{
    memset(matrix_at(m, from, 0), 0, (size_t)n * (size_t)m->cols * sizeof *m->w);
}

static void clear_cols(const struct matrix *m, int from, int n)
{
    for (int r = 0; r < m->rows; r++)
        memset(matrix_at(m, r, from), 0, (size_t)n * sizeof *m->w);
}

/* Eq. 17; [V,C], a row per token. */
static void embed(const struct matrix *m, const struct pw_config *cfg)
{
    clear_cols(m, 0, PW_THEOREM_DIMS);
    for (int v = 0; v < m->rows; v++)
        *matrix_at(m, v, 0) = 1;
    for (int i = 0; i < cfg->n_bos; i++)
        *matrix_at(m, cfg->bos[i], 1) = 1;
}

/* Eq. 18: keys read dimension 1, values dimension 2, in the first head's rows of [H*D,C]. */
static void first_keys(const struct matrix *m, int D)
{
    clear_rows(m, 0, D);
    for (int r = 0; r < D; r++)
        *matrix_at(m, r, 0) = 1;
}

static void first_values(const struct matrix *m, int D)
{
    clear_rows(m, 0, D);
    *matrix_at(m, 0, 1) = 1;
}

/* Eq. 19: [C,H*D]. */
static void first_out(const struct matrix *m, int D)
{
    clear_cols(m, 0, D);
    clear_rows(m, 0, PW_THEOREM_DIMS);
    *matrix_at(m, 2, 0) = 1;
}

/* The counting MLP: [F,C] and [C,F]. Unit k - 1 is ReLU(1/k - u). */
static void count_up(const struct matrix *m)
{
    int T = pw_theorem_T(m->rows);
    clear_rows(m, 0, m->rows);
    for (int k = 1; k < T; k++) {
        *matrix_at(m, k - 1, 0) = 1.0F / (float)k;
        *matrix_at(m, k - 1, 2) = -1;
    }
    *matrix_at(m, T - 1, 0) = *matrix_at(m, T, 0) = 1;
    *matrix_at(m, T + 1, 2) = 1;
}

static void count_down(const struct matrix *m)
{
    int T = pw_theorem_T(m->cols);
    float q = 1.0F / (1 << 16); /* twice the largest error of the chain, for T up to PW_THEOREM_MOST */
    while (q * (1 << 25) < (float)T * (float)T)
        q *= 2;
    float C = 1.5F * (1 << 23) * q;
    clear_rows(m, 0, m->rows);
    for (int k = 1; k < T; k++)
        *matrix_at(m, 2, k - 1) = 2 * (float)k;
    *matrix_at(m, 2, T - 1) = C + 1;
    *matrix_at(m, 2, T) = -C;
    *matrix_at(m, 2, T + 1) = -1; /* the residual */
}

/* Eq. 28 and 29: rows 1 and 2 of each head read these dimensions with these weights. */
static void relative(const struct matrix *m, int D, int dim1, int dim2, float weight2)
{
    for (int r = 0; r < m->rows; r += D) {
        clear_rows(m, r, 2);
        *matrix_at(m, r, dim1) = 1;
        *matrix_at(m, r + 1, dim2) = weight2;
    }
}

static void first_layer(const struct matrix *m, const char *name, const struct pw_config *cfg)
{
    if (strcmp(name, "attn.k.weight") == 0)
        first_keys(m, cfg->head_width);
    else if (strcmp(name, "attn.v.weight") == 0)
        first_values(m, cfg->head_width);
    else if (strcmp(name, "attn.o.weight") == 0)
        first_out(m, cfg->head_width);
    else if (strcmp(name, "mlp.up.weight") == 0)
        count_up(m);
    else if (strcmp(name, "mlp.down.weight") == 0)
        count_down(m);
}

static void later_layer(const struct matrix *m, const char *name, const struct pw_config *cfg)
{
    if (strcmp(name, "attn.o.weight") == 0 || strcmp(name, "mlp.down.weight") == 0)
        clear_rows(m, 0, PW_THEOREM_DIMS);
    else
        clear_cols(m, 0, PW_THEOREM_DIMS);
    if (pw_theorem_of(cfg) == 2 && strcmp(name, "attn.q.weight") == 0)
        relative(m, cfg->head_width, 0, 2, -1);
    else if (pw_theorem_of(cfg) == 2 && strcmp(name, "attn.k.weight") == 0)
        relative(m, cfg->head_width, 2, 0, 1);
}

void pw_theorem_write(float *p, const struct pw_param *tensors, int n, const struct pw_config *cfg)
{
    for (const struct pw_param *t = tensors; t < tensors + n; t++) {
        const struct matrix m = {p + t->offset, t->rows, t->cols};
        int layer, end = 0;
        if (sscanf(t->name, "layers.%d.%n", &layer, &end) == 1 && end > 0)
            (layer == 0 ? first_layer : later_layer)(&m, t->name + end, cfg);
        else if (strcmp(t->name, "embed.weight") == 0)
            embed(&m, cfg);
        else if (strcmp(t->name, "head.weight") == 0)
            clear_cols(&m, 0, PW_THEOREM_DIMS);
    }
}
