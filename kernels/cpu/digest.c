/* digest.c - a hash of the weights. It consists of sums modulo 2^64, so the order of additions does not
 * matter, and all workers add to the same two numbers. */
#include "base/mix.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/ops.h"

#include <stdatomic.h>
#include <string.h>

enum { PIECE = 1 << 15 }; /* floats */

struct job {
    const float *x;
    size_t n;
    uint64_t first;
    _Atomic uint64_t sums[2];
};

static void digest_piece(void *arg, int item, int worker)
{
    struct job *j = arg;
    size_t i = (size_t)item * PIECE, end = j->n - i < PIECE ? j->n : i + PIECE;
    uint64_t sums[2] = {0, 0};
    (void)worker;
    for (; i < end; i++) {
        uint32_t bits;
        memcpy(&bits, j->x + i, sizeof bits);
        sums[0] += pw_mix64(bits ^ pw_mix64(2 * (j->first + i)));
        sums[1] += pw_mix64(bits ^ pw_mix64(2 * (j->first + i) + 1));
    }
    atomic_fetch_add(&j->sums[0], sums[0]);
    atomic_fetch_add(&j->sums[1], sums[1]);
}

void PW_OP(digest)(struct pw_backend *be, uint64_t *sums, const float *x, size_t n, uint64_t first)
{
    struct job j = {.x = x, .n = n, .first = first};
    pw_pool_run(be->pool, (int)((n + PIECE - 1) / PIECE), digest_piece, &j);
    sums[0] += j.sums[0];
    sums[1] += j.sums[1];
}
