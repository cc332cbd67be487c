/* test_alloc.c - tests that training steps and evaluation allocate nothing once shapes as large have
 * occurred.
 *
 * The linker redirects every call of an allocating function in the project's code to the counting wrappers
 * below (CMakeLists.txt: --wrap). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/model.h"

static atomic_long count;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t align, size_t n);
int __real_posix_memalign(void **p, size_t align, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);
int __wrap_posix_memalign(void **p, size_t align, size_t n);

void *__wrap_malloc(size_t n)
{
    count++;
    return __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    count++;
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    count++;
    return __real_realloc(p, n);
}

void *__wrap_aligned_alloc(size_t align, size_t n)
{
    count++;
    return __real_aligned_alloc(align, n);
}

int __wrap_posix_memalign(void **p, size_t align, size_t n)
{
    count++;
    return __real_posix_memalign(p, align, n);
}

enum { SEQS = 16, LONGEST = 24, VOCAB = 13 };

static int start[SEQS + 1], tokens[SEQS * LONGEST], pos[SEQS * LONGEST], rows[SEQS * LONGEST],
    targets[SEQS * LONGEST];

/* A ragged batch with lengths that depend on the step; the first batch is the longest. */
static struct pw_batch batch(int step)
{
    struct pw_batch b = {
        .n_seqs = SEQS, .start = start, .tokens = tokens, .pos = pos, .rows = rows, .targets = targets};
    for (int s = 0; s < SEQS; s++) {
        int n = step == 0 ? LONGEST : 5 + (s * 7 + step * 3) % (LONGEST - 5);
        start[s] = b.n_rows;
        for (int t = 0; t < n; t++) {
            tokens[b.n_rows] = (s + t * step) % VOCAB;
            pos[b.n_rows] = t;
            if (t >= n / 2) {
                rows[b.n_scored] = b.n_rows;
                targets[b.n_scored++] = (s + t) % VOCAB;
            }
            b.n_rows++;
        }
    }
    start[SEQS] = b.n_rows;
    return b;
}

static void test_no_allocation(void **state)
{
    (void)state;
    for (int i = 0; pw_pes[i] != NULL; i++) {
        const struct pw_backend_ops *ops = pw_backend_cpu();
        struct pw_backend *be;
        struct pw_config cfg;
        struct pw_optim optim;
        struct pw_pe_use_opts pe;
        struct pw_model *m;
        struct pw_step_result r;
        struct pw_err err;
        int best[SEQS * LONGEST];
        assert_int_equal(ops->open(&be, 1, &err), PW_OK);
        assert_int_equal(pw_preset("tiny", &cfg, &optim, &err), PW_OK);
        cfg.vocab = VOCAB;
        assert_int_equal(pw_config_check(&cfg, &err), PW_OK);
        assert_int_equal(pw_pe_parse(&pe, pw_pes[i]->name, &cfg, &err), PW_OK);
        assert_int_equal(pw_model_create(&m, ops, be, &cfg, &pe, 1, &err), PW_OK);
        long warm = count;
        for (int step = 0; step < 20; step++) {
            struct pw_batch b = batch(step);
            if (step == 1) /* the longest batch is done */
                warm = count;
            assert_int_equal(pw_model_step(m, &optim, &b, NULL, &r, &err), PW_OK);
            assert_int_equal(pw_model_eval(m, &b, best, NULL, &err), PW_OK);
        }
        assert_int_equal(count, warm);
        assert_true(count > 0);
        pw_model_destroy(m);
        ops->close(be);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_allocation)};
    return cmocka_run_group_tests_name("alloc", tests, NULL, NULL);
}
