/* test_hashing.c - tests the digest that a thread computes. pthread_create is wrapped, because it can fail.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/progress.h"
#include "foreign/hashing.h"
#include "ref_foreign.h"

static bool fails;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    return fails ? EAGAIN : __real_pthread_create(thread, attr, run, arg);
}

struct files {
    struct ref_family x;
    struct pw_weights *w;
};

static void open_files(struct files *f)
{
    struct pw_err err;
    ref_families_open(&f->x);
    cJSON *of = ref_family_case(&f->x, "gpt2");
    ref_family_write(&f->x, of);
    cJSON_Delete(of);
    if (pw_weights_open(&f->w, f->x.folder, &err) != PW_OK)
        fail_msg("%s", err.msg);
}

static void close_files(struct files *f)
{
    pw_weights_close(f->w);
    ref_families_close(&f->x);
}

/* The digest is that of pw_weights_sha, also if there is no thread. */
static void test_same(void **state)
{
    static struct pw_source_file files[PW_WEIGHTS_SHARDS];
    struct files f;
    struct pw_digest d;
    struct pw_err err;
    char sha[65];
    int n;
    (void)state;
    open_files(&f);
    assert_int_equal(pw_weights_sha(f.w, sha, files, &n, &err), PW_OK);
    for (int i = 0; i < 2; i++) {
        fails = i == 1;
        struct pw_hashing *h = pw_hashing_begin(f.w);
        fails = false;
        assert_int_equal(pw_hashing_end(h, &d, &err), PW_OK);
        pw_hashing_close(h);
        assert_string_equal(d.sha, sha);
        assert_int_equal(d.n, n);
        assert_string_equal(d.files[0].sha, files[0].sha);
        assert_int_equal(d.files[0].bytes, pw_weights_bytes(f.w));
        free(d.files);
    }
    close_files(&f);
}

/* The caller can give up while it waits, and without waiting. */
static void test_given_up(void **state)
{
    struct files f;
    struct pw_digest d;
    struct pw_err err;
    struct pw_progress p = {.what = NULL};
    (void)state;
    open_files(&f);
    pw_hashing_close(pw_hashing_begin(f.w));
    struct pw_progress *before = pw_progress_watch(&p);
    for (int i = 0; i < 2; i++) {
        fails = i == 1;
        struct pw_hashing *h = pw_hashing_begin(f.w);
        fails = false;
        atomic_store(&p.cancel, true);
        assert_int_equal(pw_hashing_end(h, &d, &err), PW_ECANCEL);
        assert_null(d.files);
        assert_null(p.what);
        atomic_store(&p.cancel, false);
        assert_int_equal(pw_hashing_end(h, &d, &err), PW_OK); /* it goes on */
        assert_null(p.what);
        free(d.files);
        pw_hashing_close(h);
    }
    pw_progress_watch(before);
    close_files(&f);
}

/* A file that has become shorter. */
static void test_shortened(void **state)
{
    struct files f;
    struct pw_digest d;
    struct pw_err err;
    (void)state;
    open_files(&f);
    assert_int_equal(truncate(ref_family_path(&f.x, "model.safetensors"), 700), 0);
    struct pw_hashing *h = pw_hashing_begin(f.w);
    assert_int_equal(pw_hashing_end(h, &d, &err), PW_EIO);
    assert_non_null(strstr(err.msg, "model.safetensors"));
    assert_null(d.files);
    pw_hashing_close(h);
    close_files(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same), cmocka_unit_test(test_given_up),
                                       cmocka_unit_test(test_shortened)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
