/* test_shortened.c - a file of a model that another program shortens while it is open: reading it fails with
 * one line, and nothing kills the process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "foreign/foreign.h"
#include "foreign/weights.h"
#include "ref_foreign.h"

static void check_line(enum pw_code code, const struct pw_err *err)
{
    assert_int_equal(code, PW_EIO);
    if (strstr(err->msg, ": was shortened while it was read") == NULL || strchr(err->msg, '\n') != NULL)
        fail_msg("%s", err->msg);
}

/* Rows of the tensor at the end of the file can't be read, the digest can't be computed. */
static void check_weights(const char *path, const char *file)
{
    struct pw_weights *w;
    struct pw_source_file files[PW_WEIGHTS_SHARDS];
    struct pw_err err;
    float row[64];
    char digits[65];
    int n, last = 0;
    if (pw_weights_open(&w, path, &err) != PW_OK)
        fail_msg("%s", err.msg);
    const struct pw_weights_tensor *list = pw_weights_list(w, &n);
    for (int i = 0; i < n; i++)
        last = list[i].at > list[last].at ? i : last;
    assert_true(list[last].dims[list[last].n_dims - 1] <= 64);
    assert_int_equal(pw_weights_row(w, &list[last], 0, row, &err), PW_OK);
    pw_weights_close(w);
    assert_int_equal(pw_weights_open(&w, path, &err), PW_OK);
    list = pw_weights_list(w, &n);
    assert_int_equal(truncate(file, 700), 0);
    check_line(pw_weights_row(w, &list[last], 0, row, &err), &err);
    check_line(pw_weights_sha(w, digits, files, &n, &err), &err);
    pw_weights_close(w);
}

static void test_weights(void **state)
{
    struct ref_family x;
    (void)state;
    ref_families_open(&x);
    cJSON *of = ref_family_case(&x, "gpt2");
    ref_family_write(&x, of);
    check_weights(x.folder, ref_family_path(&x, "model.safetensors"));
    cJSON_Delete(of);
    ref_families_close(&x);
}

static void test_model(void **state)
{
    struct ref_family x;
    struct pw_foreign *f;
    struct pw_model *m;
    struct pw_backend *be;
    struct pw_pe_use_opts pe;
    struct pw_str text = {0};
    struct pw_err err;
    (void)state;
    ref_families_open(&x);
    cJSON *of = ref_family_case(&x, "llama");
    ref_family_write(&x, of);
    assert_int_equal(pw_foreign_open(&f, x.folder, true, &err), PW_OK);
    const struct pw_config *cfg = &pw_foreign_info(f)->cfg;
    pw_foreign_pe(f, cfg->context, &text);
    assert_int_equal(pw_pe_parse(&pe, text.s, cfg, &err), PW_OK);
    assert_int_equal(pw_backend_cpu()->open(&be, 1, &err), PW_OK);
    assert_int_equal(truncate(ref_family_path(&x, "model.safetensors"), 700), 0);
    check_line(pw_foreign_model(&m, f, pw_backend_cpu(), be, cfg, &pe, true, 1, &err), &err);
    assert_null(m);
    pw_foreign_close(f);
    pw_backend_cpu()->close(be);
    pw_str_fini(&text);
    cJSON_Delete(of);
    ref_families_close(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_weights), cmocka_unit_test(test_model)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
