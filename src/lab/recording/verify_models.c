/* verify_models.c - compare the models of a recorded checkpoint with the lab's: every weight, moment and
 * count.
 *
 * A checkpoint's file is an image of a model as the lab writes it (state.h), so equal models give equal
 * files. If they differ, the files show the first tensor and element that differ. */
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/recording/verify.h"
#include "model/safetensors.h"
#include "model/source.h"

static size_t size_of(enum pw_st_type type)
{
    return type == PW_ST_F32 ? sizeof(float) : type == PW_ST_F64 || type == PW_ST_I64 ? sizeof(double) : 1;
}

/* One element of a tensor: as recorded, and now. */
struct place {
    const struct pw_st_tensor *then, *now;
    size_t i;
};

static const void *element(const struct pw_st_tensor *t, size_t i)
{
    return (const char *)t->data + i * size_of(t->type);
}

static void value_text(char dst[64], const struct pw_st_tensor *t, size_t i)
{
    const void *p = element(t, i);
    uint64_t bits = 0;
    float f;
    double d;
    memcpy(&bits, p, size_of(t->type));
    memcpy(&f, p, sizeof f <= size_of(t->type) ? sizeof f : 0);
    if (t->type == PW_ST_F32)
        snprintf(dst, 64, "%.9g (0x%08" PRIx64 ")", (double)f, bits);
    else if (t->type == PW_ST_F64 && (memcpy(&d, p, sizeof d), true))
        snprintf(dst, 64, "%.17g (0x%016" PRIx64 ")", d, bits);
    else
        snprintf(dst, 64, "%" PRId64, (int64_t)bits);
}

/* Return the distance of two floats, infinite if one of them is not finite; 0 for counts. */
static double distance(const struct place *x)
{
    float a, b;
    if (x->then->type != PW_ST_F32)
        return 0.0;
    memcpy(&a, element(x->then, x->i), sizeof a);
    memcpy(&b, element(x->now, x->i), sizeof b);
    double d = fabs((double)a - (double)b);
    return isnan(d) ? HUGE_VAL : d;
}

static void place_text(char what[64], char recorded[64], char now[64], const struct place *x)
{
    snprintf(what, 64, "%.40s [%zu]", x->then->name, x->i);
    value_text(recorded, x->then, x->i);
    value_text(now, x->now, x->i);
}

/* Does a file replace heads of the model? Version 0.1 kept the list of a model whose heads were all restored.
 */
static bool has_heads(const struct pw_st *st)
{
    const struct pw_st_tensor *as = pw_st_find(st, "heads.as");
    for (size_t i = 0; as != NULL && i < as->bytes; i++)
        if (((const char *)as->data)[i] != 0)
            return true;
    return false;
}

/* Find the first difference of the tensors of two files: fill v, and describe it in text. The largest
 * difference is described, too: one step after a single bit of one weight has flipped all weights differ, but
 * that one by far the most. Returns false if there is no difference. */
static bool find(struct pw_verdict *v, struct pw_str *text, const struct pw_st *then, const struct pw_st *now)
{
    struct place first = {0}, most = {0};
    int n_tensors = 0;
    int64_t n_elements = 0;
    double far = 0.0;
    for (int k = 0; k < then->n; k++) {
        const struct pw_st_tensor *a = &then->tensors[k], *b = pw_st_find(now, a->name);
        if (b == NULL && strncmp(a->name, "heads.", 6) == 0 && !has_heads(then))
            continue;
        if (b == NULL || b->type != a->type || b->bytes != a->bytes) {
            pw_str_add(text, "tensor %s is of another shape or type", a->name);
            return true;
        }
        int64_t before = n_elements;
        for (size_t i = 0; i < a->bytes / size_of(a->type); i++) {
            struct place x = {a, b, i};
            if (memcmp(element(a, i), element(b, i), size_of(a->type)) == 0)
                continue;
            if (n_elements++ == 0)
                first = x;
            if (distance(&x) > far) {
                far = distance(&x);
                most = x;
            }
        }
        n_tensors += n_elements > before;
    }
    for (int k = 0; k < now->n && n_elements == 0; k++)
        if (pw_st_find(then, now->tensors[k].name) == NULL) {
            pw_str_add(text, "tensor %s was absent when it was recorded", now->tensors[k].name);
            return true;
        }
    if (n_elements == 0)
        return false;
    place_text(v->what, v->recorded, v->now, &first);
    pw_str_add(
        text, "tensor %s was %s when it was recorded and is %s now; of %d tensors %" PRId64 " element%s",
        v->what, v->recorded, v->now, n_tensors, n_elements, n_elements == 1 ? " differs" : "s differ");
    if (n_elements > 1 && most.then != NULL) {
        char what[64], recorded[64], is[64];
        place_text(what, recorded, is, &most);
        pw_str_add(text, ", the most %s: %s, now %s", what, recorded, is);
    }
    return true;
}

/* Describe the first entry of the metadata (metadata.c) that differs, if there is one. */
static void find_metadata(struct pw_str *text, const struct pw_st *then, const struct pw_st *now)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, pw_st_metadata(then))
    {
        const char *recorded = cJSON_GetStringValue(item), *is = pw_st_meta(now, item->string);
        if (text->len == 0 && recorded != NULL && (is == NULL || strcmp(recorded, is) != 0))
            pw_str_add(text, "%s was %s when it was recorded and is %s now", item->string, recorded,
                       is != NULL ? is : "absent");
    }
    cJSON_ArrayForEach(item, pw_st_metadata(now))
    {
        if (text->len == 0 && pw_st_meta(then, item->string) == NULL)
            pw_str_add(text, "%s was absent when it was recorded", item->string);
    }
}

/* An image of today, or as version 0.1 wrote it. */
typedef enum pw_code image_maker(struct pw_model *m, const struct pw_checkpoint_info *info, void **bytes,
                                 size_t *n, struct pw_err *err);

/* Compare a model with its file, whose bytes differ. text: their first difference; it stays empty if they
 * differ only in an empty list of replaced heads. */
static enum pw_code compare(struct pw_lab *lab, struct pw_verdict *v, struct pw_str *text,
                            const struct pw_replica *arm, const char *path, char *task, struct pw_err *err)
{
    struct pw_checkpoint_info info = pw_lab_describe(lab, arm, task);
    struct pw_st then = {0}, now = {0};
    void *image = NULL;
    size_t n;
    enum pw_code code = pw_st_open(&then, path, err);
    bool refers = code == PW_OK && pw_st_meta(&then, "pewter.source") != NULL;
    bool whole = code == PW_OK && pw_st_meta(&then, "pewter.options") == NULL;
    image_maker *make = whole ? pw_checkpoint_whole_image : pw_checkpoint_image;
    if (code == PW_OK)
        code = make(arm->model, &info, &image, &n, err);
    if (code == PW_OK)
        code = pw_st_open_bytes(&now, image, n, "the model", err);
    if (refers && pw_model_source(arm->model) == NULL)
        pw_str_add(text, "the weights were those of a file when it was recorded, and are not now");
    else if (code == PW_OK && !find(v, text, &then, &now))
        find_metadata(text, &then, &now);
    pw_st_close(&then);
    pw_st_close(&now);
    free(image);
    return code;
}

static bool same_image(const struct pw_lab *lab, const struct pw_replica *arm, const uint8_t sha[PW_SHA256],
                       char *task, image_maker *make)
{
    struct pw_checkpoint_info info = pw_lab_describe(lab, arm, task);
    uint8_t mine[PW_SHA256];
    void *image;
    size_t n;
    if (make(arm->model, &info, &image, &n, NULL) != PW_OK)
        return true; /* no memory for the comparison */
    pw_sha256_of(mine, image, n);
    free(image);
    return memcmp(mine, sha, sizeof mine) == 0;
}

/* Write the difference into the verdict: as its first difference, or appended to the one that is there. */
static void write_difference(struct pw_verdict *v, const struct pw_event *e, const struct pw_replica *arm,
                             const char *text)
{
    size_t used = strlen(v->text);
    bool first = v->end != PW_FOLLOW_DIFFERENT;
    if (first) {
        v->end = PW_FOLLOW_DIFFERENT;
        v->seq = e->seq;
        v->kind = e->kind;
        v->arm = arm->id;
        v->replica = arm->replica;
        v->step = arm->step;
        used = 0;
    }
    snprintf(v->text + used, sizeof v->text - used, "%sarm %d, replica %d, step %lld: checkpoint: %s",
             first ? "" : "; ", arm->id, arm->replica, (long long)arm->step, text);
}

void pw_verify_models(struct pw_lab *lab, struct pw_verdict *v, const struct pw_event *e,
                      const char *(*file)(void *arg, const uint8_t sha[PW_SHA256]), void *arg)
{
    const struct pw_ev_checkpoint *c = &e->u.checkpoint;
    struct pw_replica arms[PW_MAX_PLACES];
    struct pw_str task = {0}, old = {0}, text = {0};
    struct pw_err err;
    int n = pw_lab_collect(lab, 0, arms);
    pw_taskset_print(&lab->tasks, &task);
    pw_opt_old_names(&old, task.s); /* in files of older sessions */
    for (int i = 0; i < n && n == c->n_files; i++) {
        bool renamed = strcmp(task.s, pw_str_text(&old)) != 0;
        if (same_image(lab, &arms[i], c->files[i], task.s, pw_checkpoint_image) ||
            same_image(lab, &arms[i], c->files[i], task.s, pw_checkpoint_whole_image) ||
            (renamed && same_image(lab, &arms[i], c->files[i], old.s, pw_checkpoint_whole_image))) {
            v->models++;
            continue;
        }
        const char *path = file != NULL ? file(arg, c->files[i]) : NULL;
        if (path == NULL)
            pw_str_add(&text, "the model differs; the session no longer has a copy of it");
        else if (compare(lab, v, &text, &arms[i], path, task.s, &err) != PW_OK)
            pw_str_add(&text, "the model differs; %s", err.msg);
        if (text.len == 0) {
            v->models++;
            continue;
        }
        write_difference(v, e, &arms[i], text.s);
        break;
    }
    pw_str_fini(&task);
    pw_str_fini(&old);
    pw_str_fini(&text);
}
