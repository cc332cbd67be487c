/* ref_cases_rows.c - cases of rows that are looked up, added, rotated or replaced by index. */
#include "tests/ops/ref_cases.h"

#include <math.h>
#include <stdlib.h>

/* Sometimes one id occurs in a long chain: more rows than any implementation scans at a time. */
void ref_case_embed(struct ref_call *r)
{
    bool many = ref_next(&r->s) % 16 == 0;
    int R = many ? 1100 : ref_pick_rows(&r->s), C = ref_pick_width(&r->s), V = many ? PICK(&r->s, 1, 7) : 13;
    int P = 40, tables = (int)(ref_next(&r->s) % 3);
    bool halves = tables == 2 && ref_next(&r->s) % 2, learned = ref_next(&r->s) % 4 != 0;
    C = halves ? 2 * C : C;
    size_t n = (size_t)R * (size_t)C, nv = (size_t)V * (size_t)C, np = (size_t)P * (size_t)C;
    int *ids = ref_ids(r, R, 0, V), *one = ref_ids(r, R, 0, P), *two = ref_ids(r, R, 0, P);
    float *table = ref_input(r, nv, 1.0f), *added = ref_input(r, np, 1.0f), *more = ref_input(r, np, 1.0f);
    float *dx = ref_input(r, n, 1.0f);
    float *x = ref_output(r, n), *own = ref_output(r, n), *dt = ref_output(r, nv), *da = ref_output(r, np),
          *dm = ref_output(r, np);
    struct pw_added a = {tables, halves, {added, more}, {one, two}, ref_next(&r->s) % 2 ? 1.0f : 1.7f};
    r->ops->embed_fwd(r->c, x, table, ids, &a, R, C);
    r->ops->embed_bwd(r->c, dt, learned ? (float *const[]){da, dm} : NULL, dx, ids, &a, R, C);
    r->ops->embed_fwd(r->c, own, own, NULL, &a, R, C); /* in place, without a table of tokens */
    if (learned)
        r->ops->embed_bwd(r->c, NULL, (float *const[]){da, dm}, dx, NULL, &a, R, C);
}

struct pw_turn ref_angles(struct ref_call *r, int P, int H, int D)
{
    float *gain = ref_input(r, (size_t)(H * P), 2.0f);
    bool scaled = ref_next(&r->s) % 2;
    int pairs = ref_next(&r->s) % 2 ? D / 2 : !scaled + (int)(ref_next(&r->s) % (uint64_t)(D / 2));
    int keys_at = ref_next(&r->s) % 4 == 0 ? P : 0;
    size_t n = (size_t)(P + keys_at) * (size_t)pairs;
    float *both = ref_random(&r->s, 2 * n, 3.0f);
    for (size_t i = 0; i < n; i++) {
        float angle = both[i];
        both[i] = cosf(angle);
        both[n + i] = sinf(angle);
    }
    float *co = ref_copy(r, both, n * sizeof *both), *si = ref_copy(r, both + n, n * sizeof *both);
    free(both);
    return (struct pw_turn){co,
                            si,
                            keys_at,
                            pairs,
                            ref_next(&r->s) % 2 ? PW_PAIRING_HALF : PW_PAIRING_INTERLEAVED,
                            scaled ? gain : NULL,
                            ref_next(&r->s) % 2 ? P : 0,
                            ref_next(&r->s) % 5 == 0};
}

void ref_case_rotate(struct ref_call *r)
{
    int R = ref_pick_rows(&r->s), H = PICK(&r->s, 1, 2, 3, 8);
    int D = PICK(&r->s, 2, 4, 8, 10, 16, 24, 34, 64), P = 50;
    struct pw_turn t = ref_angles(r, P, H, D);
    int *pos = ref_ids(r, R, 0, P);
    r->ops->rotate(r->c, ref_output(r, (size_t)(R * 3 * H * D)), &t, pos, H, D, R);
}

void ref_case_turn_bwd(struct ref_call *r)
{
    int R = ref_pick_rows(&r->s), H = PICK(&r->s, 1, 2, 3, 8);
    int D = PICK(&r->s, 2, 4, 8, 10, 16, 24, 34, 64), P = 50;
    struct pw_turn t = ref_angles(r, P, H, D);
    int *pos = ref_ids(r, R, 0, P);
    float *qkv = ref_input(r, (size_t)(R * 3 * H * D), 1.0f);
    struct pw_turn_grad d = {.gain =
                                 t.gain != NULL && t.gain_head > 0 ? ref_output(r, (size_t)(H * P)) : NULL};
    if (ref_next(&r->s) % 2) {
        d.cosine = ref_output(r, (size_t)(t.pairs * (P + t.keys_at)));
        d.sine = ref_output(r, (size_t)(t.pairs * (P + t.keys_at)));
    }
    r->ops->turn_bwd(r->c, ref_output(r, (size_t)(R * 3 * H * D)), &d, qkv, &t, pos, H, D, R);
}

void ref_case_gather(struct ref_call *r)
{
    int H = PICK(&r->s, 1, 2, 3, 8, 12), n = PICK(&r->s, 1, 2, 15, 16, 17, 139, 515), rows = 9,
        L = PICK(&r->s, 1, 1, 3);
    int R = ref_pick_rows(&r->s), C = ref_pick_width(&r->s), N = 0, scored[121];
    size_t nt = (size_t)(H * n), np = (size_t)(rows * H), nx = (size_t)R * (size_t)C;
    int *index = ref_ids(r, n, -1, rows);
    for (int i = 0; i < R; i++)
        if (ref_next(&r->s) % 2)
            scored[N++] = i;
    if (R > 0 && ref_next(&r->s) % 2)
        scored[N++] = -1;
    size_t ny = (size_t)N * (size_t)C;
    int *picked = ref_copy(r, scored, (size_t)N * sizeof *scored);
    float *param = ref_input(r, np, 1.0f), *d_out = ref_input(r, (size_t)L * nt, 0.1f),
          *x = ref_input(r, nx, 1.0f);
    float *table = ref_output(r, nt), *dp = ref_output(r, np), *y = ref_output(r, ny);
    float *dx = ref_output(r, nx);
    r->ops->gather_bias_fwd(r->c, table, param, index, H, n);
    r->ops->gather_bias_bwd(r->c, dp, d_out, index, L, H, n);
    r->ops->gather_rows(r->c, y, x, picked, N, C);
    r->ops->scatter_rows(r->c, dx, y, picked, N, R, C);
}

/* Two heads of one tensor. The second call has a table; if there is only one head, it overwrites the first
 * call's result. */
void ref_case_put(struct ref_call *r)
{
    int R = ref_pick_rows(&r->s), H = PICK(&r->s, 1, 2, 3, 8), D = PICK(&r->s, 1, 2, 15, 16, 17, 64), P = 7;
    size_t n = (size_t)R * (size_t)H * (size_t)D;
    int *pos = ref_ids(r, R, 0, P);
    float *table = ref_input(r, (size_t)P * (size_t)D, 1.0f), *z = ref_output(r, n);
    r->ops->put_head(r->c, z, NULL, NULL, 0, H, D, R);
    r->ops->put_head(r->c, z, table, pos, H - 1, H, D, R);
}
