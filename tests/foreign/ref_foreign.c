/* ref_foreign.c - writes the cases of transformers.safetensors as folders (ref_foreign.h). */
#include "ref_foreign.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/folder.h"
#include "foreign/foreign.h"
#include "model/expr/library.h"

void ref_families_open(struct ref_family *x)
{
    struct pw_err err;
    pw_library_folders(NULL, PEWTER_SOURCE_DIR "/encodings");
    if (pw_st_open(&x->st, PEWTER_SOURCE_DIR "/tests/golden/transformers.safetensors", &err) != PW_OK)
        fail_msg("%s", err.msg);
    snprintf(x->folder, sizeof x->folder, "/tmp/pewter-families-XXXXXX");
    assert_non_null(mkdtemp(x->folder));
}

void ref_families_close(struct ref_family *x)
{
    struct pw_folder list;
    if (pw_folder_list(&list, x->folder, "", NULL) == PW_OK) {
        for (int i = 0; i < list.n; i++)
            unlink(ref_family_path(x, list.names[i]));
        pw_folder_free(&list);
    }
    rmdir(x->folder);
    pw_st_close(&x->st);
}

const char *ref_family_path(const struct ref_family *x, const char *file)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", x->folder, file);
    return path;
}

void ref_families_each(struct ref_family *x, void (*each)(struct ref_family *x, const char *name))
{
    const cJSON *meta = pw_st_metadata(&x->st), *item;
    cJSON_ArrayForEach(item, meta) each(x, item->string);
}

cJSON *ref_family_case(const struct ref_family *x, const char *name)
{
    const char *text = pw_st_meta(&x->st, name);
    if (text == NULL)
        fail_msg("no case %s", name);
    cJSON *of = cJSON_Parse(text);
    assert_non_null(of);
    return of;
}

void ref_family_text(const struct ref_family *x, const char *file, const char *text)
{
    FILE *f = fopen(ref_family_path(x, file), "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

void ref_family_part(const struct ref_family *x, const cJSON *of, const char *file, int part, int parts)
{
    const char *weights = cJSON_GetStringValue(cJSON_GetObjectItem(of, "weights"));
    size_t n = strlen(weights);
    struct pw_st_tensor *list = calloc((size_t)x->st.n + 1, sizeof *list);
    int all = 0, k = 0;
    assert_non_null(list);
    for (int i = 0; i < x->st.n; i++) {
        const struct pw_st_tensor *t = &x->st.tensors[i];
        if (strncmp(t->name, weights, n) != 0 || t->name[n] != ':' || all++ % parts != part)
            continue;
        list[k] = *t;
        list[k++].name = t->name + n + 1;
    }
    cJSON *meta = cJSON_CreateObject();
    struct pw_err err;
    if (pw_st_write(ref_family_path(x, file), list, k, meta, &err) != PW_OK)
        fail_msg("%s", err.msg);
    cJSON_Delete(meta);
    free(list);
}

void ref_family_write(const struct ref_family *x, const cJSON *of)
{
    char *text = cJSON_Print(cJSON_GetObjectItem(of, "config"));
    ref_family_text(x, "config.json", text);
    cJSON_free(text);
    ref_family_part(x, of, "model.safetensors", 0, 1);
}

const void *ref_family_numbers(const struct ref_family *x, const char *name, const char *what, size_t n)
{
    char full[128];
    snprintf(full, sizeof full, "%s/%s", name, what);
    const struct pw_st_tensor *t = pw_st_find(&x->st, full);
    if (t == NULL || t->bytes != n * (t->type == PW_ST_F32 ? 4 : 8))
        fail_msg("no tensor %s of %zu numbers", full, n);
    return t->data;
}

struct pw_model *ref_foreign_load(const char *path, bool digest, int *context, struct pw_backend **be)
{
    const struct pw_backend_ops *ops = pw_backend_cpu();
    struct pw_foreign *f;
    struct pw_model *m = NULL;
    struct pw_pe_use_opts pe;
    struct pw_str text = {0};
    struct pw_err err;
    if (pw_foreign_open(&f, path, digest, &err) != PW_OK)
        fail_msg("%s", err.msg);
    struct pw_config cfg = pw_foreign_info(f)->cfg;
    int own = cfg.context;
    cfg.context = *context;
    *context = own;
    pw_foreign_pe(f, cfg.context, &text);
    if (pw_pe_parse(&pe, text.s, &cfg, &err) != PW_OK)
        fail_msg("%s: %s", text.s, err.msg);
    if (ops->open(be, 1, &err) != PW_OK ||
        pw_foreign_model(&m, f, ops, *be, &cfg, &pe, true, 1, &err) != PW_OK)
        fail_msg("%s", err.msg);
    pw_str_fini(&text);
    pw_foreign_close(f);
    return m;
}
