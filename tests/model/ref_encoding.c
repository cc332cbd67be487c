/* ref_encoding.c - formulas of encodings; see ref_view.h. */
#include "ref_view.h"

#include <math.h>
#include <stdlib.h>

/* Entry c of the sinusoidal encoding of `place`, of `width` entries. */
static double wave(const struct ref_view *r, int place, int c, int width)
{
    int pair = r->split ? c % (width / 2) : c / 2, sine = r->split ? c < width / 2 : c % 2 == 0;
    double angle = place * pow(r->base, -2.0 * pair / width);

    return r->amplitude * (sine ? sin(angle) : cos(angle));
}

/* The other entry of c's pair. */
static int partner(const struct ref_view *r, int c, int width)
{
    return r->split ? (c + width / 2) % width : c ^ 1;
}

double ref_added(const struct ref_view *r, int pos, int l, int c)
{
    int C = r->cfg->width, half = C / 2, left = c < half, back = l - 1 - pos;

    if (r->wave != NULL)
        return r->wave[c] * sin(pos / 3.0);
    if (ref_is(r, "learned"))
        return r->pe[pos * C + c];
    if (ref_is(r, "learned_reversed"))
        return r->pe[back * C + c];
    if (ref_is(r, "ldpe"))
        return left ? r->pe[pos * half + c] : r->pe[(r->cfg->context + back) * half + c - half];
    if (ref_is(r, "sinusoidal"))
        return wave(r, pos, c, C);
    if (ref_is(r, "rspe"))
        return wave(r, back, c, C);
    if (ref_is(r, "aspe"))
        return wave(r, pos, c, C) + wave(r, back, partner(r, c, C), C);
    if (ref_is(r, "2dspe"))
        return left ? wave(r, pos, c, half) : wave(r, l, c - half, half);
    if (ref_is(r, "dpe"))
        return left ? wave(r, pos, c, half) : wave(r, back, c - half, half);
    return 0;
}

void ref_rotate(const struct ref_view *r, double *x, int layer, int pos)
{
    int dims = r->dims > 0 ? r->dims : r->cfg->head_width;
    bool fixed = r->fixed != NULL && r->fixed->angle != NULL;

    if (!ref_is(r, "rotary") && !fixed && r->turn == NULL)
        return;
    for (int i = 0; i < dims / 2; i++) {
        double angle = fixed             ? r->fixed->angle(layer, pos, i, dims)
                       : r->turn != NULL ? r->turn[i] * pos
                                         : pos * pow(r->base, -2.0 * i / dims);
        double gain = r->grow != NULL ? 1 + r->grow[layer] * i : 1;
        bool half = r->half || fixed || r->turn != NULL;
        double *a = half ? x + i : x + 2 * i, *b = half ? x + i + dims / 2 : x + 2 * i + 1, a0 = *a;
        *a = gain * (a0 * cos(angle) - *b * sin(angle));
        *b = gain * (a0 * sin(angle) + *b * cos(angle));
    }
}

static double fire(const struct ref_view *r, int h, int query, int key)
{
    double L = fabs(*r->fire.factor * r->fire.threshold), c = fabs(*r->fire.c), sum = r->fire.out_bias[h];
    double near = log(c * abs(query - key) + 1) / (log(c * (query > L ? query : L) + 1) + 1e-6);

    for (int k = 0; k < r->fire.hidden; k++) {
        double unit = r->fire.in[k] * near + r->fire.in_bias[k];
        sum += unit > 0 ? r->fire.out[h * r->fire.hidden + k] * unit : 0;
    }
    return sum;
}

double ref_capped(double s, int distance)
{
    return 2 * tanh(s / 2) + 0.1 * distance * s;
}

double ref_bent(const struct ref_view *r, double s, int l, int h, int distance)
{
    double top = 0.5 + exp(r->bend[l * r->cfg->heads + h]);
    return top * tanh(s / top) * (1 + *r->tilt * distance);
}

double ref_bias(const struct ref_view *r, int layer, int h, int query, int key)
{
    int H = r->cfg->heads, P = 1, distance = query - key;

    if (r->fixed != NULL && r->fixed->bias != NULL)
        return r->fixed->bias(layer, h, query, key);
    if (ref_is(r, "fire"))
        return fire(r, h, query, key);
    if (ref_is(r, "alibi")) {
        while (2 * P <= H)
            P *= 2;
        return -abs(distance) * pow(2, h < P ? -8.0 * (h + 1) / P : -4.0 * (2 * (h - P) + 1) / P);
    }
    if (ref_is(r, "t5")) {
        int B = r->cfg->causal ? r->buckets : r->buckets / 2, E = B / 2, n = abs(distance), bucket = n;
        if (n >= E)
            bucket = E + (int)floor(log((double)n / E) / log((double)r->distance / E) * (B - E) + 1e-9);
        if (bucket > B - 1)
            bucket = B - 1;
        return r->pe[(distance < 0 ? B + bucket : bucket) * H + h];
    }
    if (ref_is(r, "clipped")) {
        int k = r->distance, n = abs(distance) < k ? abs(distance) : k;
        return r->pe[(distance < 0 ? k + n : n) * H + h];
    }
    return 0;
}

double ref_relative(const struct ref_view *r, int l, int distance, int d)
{
    int k = r->distance, low = r->cfg->causal ? 0 : -k, rows = k - low + 1;
    int clipped = distance < low ? low : distance > k ? k : distance;

    return ref_is(r, "shaw") ? r->pe[(l * rows + clipped - low) * r->cfg->head_width + d] : 0;
}

static double softplus(double x)
{
    return log(1 + exp(x));
}

double ref_slope_of(const struct ref_view *r, const double *u, const double *x, int l, int h)
{
    int H = r->cfg->heads, D = r->cfg->head_width;
    double dot = 0, square = 0;

    if (u == NULL)
        return 0;
    u += (l * H + h) * D;
    for (int d = 0; d < D; d++) {
        dot += u[d] * x[d];
        square += u[d] * u[d];
    }
    return softplus(r->omega[l * H + h]) * pw_alibi_slope(h, H) * r->steeper *
           softplus(dot / sqrt(square * D));
}

double ref_stick(double *p, int i, double top)
{
    double left = 1;

    for (int j = i - 1; j >= 0; j--) {
        double e = p[j] * exp(top);
        p[j] = left * e / (1 + e);
        left /= 1 + e;
    }
    p[i] = left;
    return 1;
}

double ref_contextual(const struct ref_view *r, double *p, const double *q, int l, int i)
{
    int D = r->cfg->head_width, n = r->npos;
    const double *e = r->contexts + (size_t)l * D * n;
    double sum = 0, top = -INFINITY;

    for (int j = i; j >= 0; j--) {
        sum += 1 / (1 + exp(-p[j]));
        double at = fmin(sum, n - 1);
        int f = (int)floor(at), c = (int)ceil(at);
        for (int d = 0; d < D; d++)
            p[j] += q[d] * (e[d * n + f] * (1 - at + f) + e[d * n + c] * (at - f));
        top = fmax(top, p[j]);
    }
    return top;
}

double ref_select_keys(double *p, const double *lost, double *next, bool votes, int i)
{
    double top = -INFINITY;

    for (int j = 0; j <= i; j++) {
        if (votes)
            next[j] = lost[j] + (j > 0 && j < i ? fmax(p[j], 0) : 0);
        p[j] -= lost[j];
        top = fmax(top, p[j]);
    }
    return top;
}

double ref_polar(const struct ref_view *r, double q, double k, int l, int h, int d, int query, int key)
{
    int H = r->cfg->heads, D = r->cfg->head_width;
    double turn = pow(r->base, -(double)d / D), phase = r->phase[(l * H + h) * D + d];
    double i = (r->from + query * r->step) * turn, j = (r->from + key * r->step) * turn;

    phase = phase > 0 ? 0 : phase < -2 * acos(-1) ? -2 * acos(-1) : phase;
    return softplus(q) * softplus(k) * (cos(i) * cos(j + phase) + sin(i) * sin(j + phase));
}

double ref_mix_of(const struct ref_view *r, int l, int m, int d)
{
    if (d < 0)
        return 0;
    if (r->fixed != NULL && r->fixed->mix != NULL)
        return r->fixed->mix(l, m, d);
    if (r->curve != NULL)
        return d < 6 ? (m + 1) * sin(r->curve[(l * 3 + m) * 4 + (d < 3 ? d : 3)]) / (d + 1) : 0;
    return d < r->reach ? r->bank[(l * r->mixes + m) * r->reach + d] : 0;
}

double ref_gate_of(const struct ref_view *r, int l, int h, double g)
{
    if (r->fixed != NULL && r->fixed->gate != NULL)
        return r->fixed->gate(l, h, g);
    return r->wave != NULL ? -exp(g / 2) : -log(1 + exp(-g));
}
