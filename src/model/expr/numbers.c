/* numbers.c - arrays of numbers that formulas read, by a hash of their content. */
#include "model/expr/numbers.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/mix.h"
#include "model/expr/expr_int.h"
#include "model/expr/formula.h"

static const struct pw_numbers *kept;
static size_t kept_numbers;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

/* Writes the name: the same on every machine, because it hashes values and not bytes of memory. */
static void name_numbers(char name[24], const float *v, size_t n, const int *dims, int n_dims)
{
    uint64_t h = (uint64_t)n_dims;
    for (int k = 0; k < n_dims; k++)
        h = pw_mix64(h + UINT64_C(0x9e3779b97f4a7c15)) ^ (uint64_t)dims[k];
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &v[i], sizeof bits);
        h = pw_mix64(h + UINT64_C(0x9e3779b97f4a7c15)) ^ bits;
    }
    snprintf(name, 24, PW_NUMBERS_PREFIX "%016" PRIx64, pw_mix64(h));
}

static const struct pw_numbers *find_locked(const char *name, int length)
{
    const struct pw_numbers *x = kept;
    while (x != NULL && ((int)strlen(x->name) != length || memcmp(x->name, name, (size_t)length) != 0))
        x = x->next;
    return x;
}

const struct pw_numbers *pw_numbers_find(const char *name, int length)
{
    pthread_mutex_lock(&kept_lock);
    const struct pw_numbers *x = find_locked(name, length);
    pthread_mutex_unlock(&kept_lock);
    return x;
}

bool pw_numbers_names(const char *word, int length)
{
    int prefix = (int)strlen(PW_NUMBERS_PREFIX);
    if (length != prefix + 16 || memcmp(word, PW_NUMBERS_PREFIX, (size_t)prefix) != 0)
        return false;
    for (int i = prefix; i < length; i++)
        if (strchr("0123456789abcdef", word[i]) == NULL)
            return false;
    return true;
}

/* Adds an array that is not kept yet. */
static enum pw_code add_locked(const struct pw_numbers **out, const char *name, const float *v, size_t n,
                               const int *dims, int n_dims, struct pw_err *err)
{
    if (kept_numbers + n > PW_NUMBERS_MOST)
        return pw_fail(err, PW_EUSER, "%zu numbers, and %zu were read before: at most %d in all", n,
                       kept_numbers, PW_NUMBERS_MOST);
    float *copy = malloc(n * sizeof *copy);
    if (copy == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory for %zu numbers", n);
    memcpy(copy, v, n * sizeof *copy);
    struct pw_numbers *x = pw_alloc(1, sizeof *x);
    *x = (struct pw_numbers){.n_dims = n_dims, .n = n, .v = copy, .next = kept};
    memcpy(x->name, name, sizeof x->name);
    memcpy(x->dims, dims, (size_t)n_dims * sizeof *dims);
    kept_numbers += n;
    *out = kept = x;
    return PW_OK;
}

enum pw_code pw_numbers_keep(const struct pw_numbers **out, const float *v, const int *dims, int n_dims,
                             struct pw_err *err)
{
    size_t n = 1;
    char name[24];
    for (int k = 0; k < n_dims; k++)
        if (n_dims > PW_NUMBERS_DIMS || dims[k] < 1 || (n *= (size_t)dims[k]) > PW_NUMBERS_MOST)
            return pw_fail(err, PW_EUSER, "1..%d numbers in at most %d dimensions are allowed",
                           PW_NUMBERS_MOST, PW_NUMBERS_DIMS);
    name_numbers(name, v, n, dims, n_dims);
    pthread_mutex_lock(&kept_lock);
    const struct pw_numbers *x = find_locked(name, (int)strlen(name));
    enum pw_code code = PW_OK;
    if (x == NULL)
        code = add_locked(&x, name, v, n, dims, n_dims, err);
    else if (x->n_dims != n_dims || memcmp(x->dims, dims, (size_t)n_dims * sizeof *dims) != 0 ||
             memcmp(x->v, v, n * sizeof *v) != 0)
        code = pw_fail(err, PW_EUSER, "these numbers have the hash of others: change one of them");
    pthread_mutex_unlock(&kept_lock);
    *out = code == PW_OK ? x : NULL;
    return code;
}

int pw_pe_numbers(const struct pw_pe_use_opts *use, const struct pw_numbers *out[PW_PE_NUMBERS])
{
    if (use->pe->print == NULL)
        return 0;
    const struct pw_expr *x = pw_formula_of(use->o.bytes)->x;
    memcpy(out, x->numbers, (size_t)x->n_numbers * sizeof(const struct pw_numbers *));
    return x->n_numbers;
}
