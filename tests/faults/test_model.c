/* test_model.c - tests a model without memory. Every allocation of the backend and of the host fails once, or
 * all from some call on. Each time the call must return a code and one line, and leave the model unchanged.
 *
 * The linker sends the allocating calls of our own code through the wrappers below (CMakeLists.txt: --wrap).
 * The backend's allocations use its table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/decode.h"
#include "model/model.h"

enum { VOCAB = 7, SEQS = 9, LONGEST = 70 };

/* ---- failing allocations */

static long left;  /* calls until one fails; < 0: none fails */
static bool stays; /* all later calls fail, too */
static bool failed;
static int held; /* number of the backend's live blocks */

static bool fails(void)
{
    if (left < 0)
        return false;
    if (left > 0) {
        left--;
        return false;
    }
    failed = true;
    if (!stays)
        left = -1;
    return true;
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    return fails() ? NULL : __real_realloc(p, n);
}

static const struct pw_backend_ops *cpu;

static void *alloc(struct pw_backend *be, size_t bytes)
{
    void *p = fails() ? NULL : cpu->alloc(be, bytes);
    held += p != NULL;
    return p;
}

static void release(struct pw_backend *be, void *p)
{
    held -= p != NULL;
    cpu->free(be, p);
}

/* ---- a model and its operations */

static struct pw_backend_ops ops;
static struct pw_backend *be;
static struct pw_config cfg;
static struct pw_optim optim;
static struct pw_pe_use_opts pe[3];
static int with; /* index of the configuration in use */
static int start[SEQS + 1], tokens[SEQS * LONGEST], pos[SEQS * LONGEST], rows[SEQS * LONGEST],
    targets[SEQS * LONGEST];

/* A batch of n sequences of T tokens. Every row is scored. */
static struct pw_batch batch(int n, int T)
{
    for (int s = 0; s <= n; s++)
        start[s] = s * T;
    for (int r = 0; r < n * T; r++) {
        tokens[r] = (r * r + 3) % VOCAB;
        pos[r] = r % T;
        rows[r] = r;
        targets[r] = (r + 1) % VOCAB;
    }
    return (struct pw_batch){.n_seqs = n,
                             .n_rows = n * T,
                             .n_scored = n * T,
                             .start = start,
                             .tokens = tokens,
                             .pos = pos,
                             .rows = rows,
                             .targets = targets};
}

/* A step with a larger batch than before, so that all buffers grow: tables, staging, workers' memory,
 * slots. */
static enum pw_code step(struct pw_model *m, struct pw_err *err)
{
    struct pw_batch b = batch(SEQS, LONGEST);
    struct pw_step_result r;
    return pw_model_step(m, &optim, &b, NULL, &r, err);
}

static enum pw_code eval(struct pw_model *m, struct pw_err *err)
{
    static int best[SEQS * LONGEST];
    struct pw_batch b = batch(SEQS, LONGEST);
    return pw_model_eval(m, &b, best, NULL, err);
}

static enum pw_code inspect(struct pw_model *m, struct pw_err *err)
{
    static float x[5][2 * 4 * LONGEST * LONGEST], logits[LONGEST * VOCAB];
    struct pw_inspection in = {
        .content = x[0], .bias = x[1], .score = x[2], .probs = x[3], .resid = x[4], .logits = logits};
    batch(1, LONGEST);
    return pw_model_inspect(m, tokens, LONGEST, &in, err);
}

static enum pw_code decode(struct pw_model *m, struct pw_err *err)
{
    struct pw_decoder *d;
    float logits[VOCAB];
    enum pw_code code = pw_decoder_create(&d, m, LONGEST, err);
    for (int i = 0; i < LONGEST && code == PW_OK; i++)
        code = pw_decoder_feed(d, tokens, 1, logits, err);
    pw_decoder_destroy(d);
    return code;
}

static enum pw_code copy(struct pw_model *m, struct pw_err *err)
{
    struct pw_model *other;
    enum pw_code code = pw_model_clone(&other, m, &ops, be, err);
    pw_model_destroy(other);
    return code;
}

static enum pw_code swap(struct pw_model *m, struct pw_err *err)
{
    struct pw_model *other;
    enum pw_code code = pw_model_swap(&other, m, &pe[1], 5, true, err);
    pw_model_destroy(other);
    return code;
}

static enum pw_code adapt(struct pw_model *m, struct pw_err *err)
{
    struct pw_model *other;
    enum pw_code code = pw_model_adapt(&other, m, 3, err);
    pw_model_destroy(other);
    return code;
}

static enum pw_code tables(struct pw_model *m, struct pw_err *err)
{
    struct pw_pe_tables t = {0};
    enum pw_code code = pw_model_tables(m, LONGEST, &t, err);
    pw_pe_tables_free(&t);
    return code;
}

/* Creates a model and trains it by a small step. */
static struct pw_model *create(void)
{
    struct pw_batch b = batch(2, 5);
    struct pw_step_result r;
    struct pw_err err;
    struct pw_model *m;
    assert_int_equal(pw_model_create(&m, &ops, be, &cfg, &pe[with], 1, &err), PW_OK);
    assert_int_equal(pw_model_step(m, &optim, &b, NULL, &r, &err), PW_OK);
    return m;
}

struct image {
    float *values;
    int64_t steps, t;
    const struct pw_pe *pe;
};

static struct image take(struct pw_model *m)
{
    size_t n = pw_model_size(m);
    struct image im = {.values = __real_malloc(3 * n * sizeof(float)),
                       .steps = pw_model_step_count(m),
                       .pe = pw_model_pe(m)->pe};
    int n_params;
    const struct pw_param *p = pw_model_params(m, &n_params);
    assert_non_null(im.values);
    pw_model_get(m, im.values, im.values + n, im.values + 2 * n);
    for (int i = 0; i < n_params; i++)
        im.t += p[i].t;
    return im;
}

static void check_line(enum pw_code code, const struct pw_err *err)
{
    assert_int_equal(code, PW_ENOMEM);
    assert_int_equal(err->code, PW_ENOMEM);
    assert_non_null(strstr(err->msg, "out of memory"));
    assert_null(strchr(err->msg, '\n'));
}

/* ---- every allocation in turn */

static void exhaust(enum pw_code (*act)(struct pw_model *, struct pw_err *))
{
    for (int twice = 0; twice < 2; twice++)
        for (long n = 0;; n++) {
            struct pw_model *m = create();
            struct image before = take(m), after;
            struct pw_err err = {0};
            failed = false;
            stays = twice == 1;
            left = n;
            enum pw_code code = act(m, &err);
            left = -1;
            if (failed) {
                check_line(code, &err);
                after = take(m);
                assert_memory_equal(before.values, after.values, 3 * pw_model_size(m) * sizeof(float));
                assert_true(before.steps == after.steps && before.t == after.t && before.pe == after.pe);
                free(after.values);
                code = act(m, &err); /* with memory it must succeed */
            }
            assert_int_equal(code, PW_OK);
            free(before.values);
            pw_model_destroy(m);
            assert_int_equal(held, 0);
            if (!failed) {
                assert_true(n > 0); /* it must have allocated */
                break;
            }
        }
}

static void test_use(void **state)
{
    (void)state;
    for (with = 0; with < 3; with++) {
        exhaust(step);
        exhaust(eval);
        exhaust(inspect);
        exhaust(decode);
        exhaust(copy);
        exhaust(swap);
        exhaust(adapt);
        exhaust(tables);
    }
}

static void test_create(void **state)
{
    (void)state;
    for (int twice = 0; twice < 2; twice++)
        for (long n = 0;; n++) {
            struct pw_model *m;
            struct pw_err err;
            failed = false;
            stays = twice == 1;
            left = n;
            enum pw_code code = pw_model_create(&m, &ops, be, &cfg, &pe[0], 1, &err);
            left = -1;
            if (!failed) {
                assert_int_equal(code, PW_OK);
                pw_model_destroy(m);
                break;
            }
            check_line(code, &err);
            assert_null(m);
            assert_int_equal(held, 0);
        }
}

static int open_backend(void **state)
{
    struct pw_err err;
    (void)state;
    left = -1;
    cpu = pw_backend_cpu();
    ops = *cpu;
    ops.alloc = alloc;
    ops.free = release;
    pw_opt_defaults(pw_config_opts, &cfg);
    pw_opt_defaults(pw_optim_opts, &optim);
    cfg.layers = 2;
    cfg.width = 16;
    cfg.heads = 4;
    cfg.context = 128;
    cfg.tied = true;
    cfg.vocab = VOCAB;
    return ops.open(&be, 2, &err) || pw_config_check(&cfg, &err) ||
           pw_pe_parse(&pe[0], "t5 buckets=6 distance=8", &cfg, &err) ||
           pw_pe_parse(&pe[1], "dpe", &cfg, &err) || pw_pe_parse(&pe[2], "shaw distance=5", &cfg, &err);
}

static int close_backend(void **state)
{
    (void)state;
    ops.close(be);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_create), cmocka_unit_test(test_use)};
    return cmocka_run_group_tests(tests, open_backend, close_backend);
}
