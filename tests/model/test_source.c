/* test_source.c - tests what an image leaves out: the weights that files of another program give and that no
 * step could change, with their moments, and moments and counts that are all zero. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "model/checkpoint.h"
#include "model/model_int.h"
#include "model/safetensors.h"
#include "model/source.h"
#include "ref_toy.h"

enum { V = 7 };
#define OPTIONS "layers=2 width=12 heads=3 ffn=10 context=16"
#define ADAPTED OPTIONS " adapter=2"
#define SHA     "b179c9523d0e6a0fb179c9523d0e6a0fb179c9523d0e6a0fb179c9523d0e6a0f"

static char path[] = "m/l.gguf";
static struct pw_source_file files[] = {{.name = "", .sha = SHA, .bytes = 14304}};
static const struct pw_source_files source = {.path = path, .files = files, .n = 1, .pe = true};

typedef enum pw_code maker(struct pw_model *m, const struct pw_checkpoint_info *info, void **bytes, size_t *n,
                           struct pw_err *err);

/* Opens an image of m; *bytes is freed by the caller. */
static struct pw_checkpoint *image_of(struct pw_model *m, maker *make, void **bytes, struct pw_st *st)
{
    struct pw_checkpoint_info info = {.optim = toy_optim(""), .seed = 1, .step = 0};
    struct pw_checkpoint *c = NULL;
    struct pw_err err;
    size_t n;
    if (make(m, &info, bytes, &n, &err) != PW_OK || pw_st_open_bytes(st, *bytes, n, "it", &err) != PW_OK ||
        pw_checkpoint_open_bytes(&c, *bytes, n, "it", &err) != PW_OK)
        fail_msg("%s", err.msg);
    return c;
}

static void train_as(struct pw_model *m, enum pw_trains trains)
{
    struct pw_optim o = toy_optim("lr=0.01 warmup=5 steps=40");
    o.trains = trains;
    toy_step(m, &o, 1, 6, 2, 9, V);
}

static void train(struct pw_model *m)
{
    train_as(m, PW_TRAINS_ALL);
}

/* The image of m has so many tensors, and restores the digest in a new model with m's files. */
static void restores(struct toy *t, struct pw_model *m, const char *pe, maker *make, int tensors)
{
    uint64_t then[2], now[2];
    struct pw_st st;
    struct pw_err err;
    void *bytes;
    struct pw_model *other = toy_model(t, pw_model_config(m)->adapter > 0 ? ADAPTED : OPTIONS, pe, V, 1);
    struct pw_checkpoint *c = image_of(m, make, &bytes, &st);
    assert_int_equal(st.n, tensors);
    pw_model_set_source(other, pw_checkpoint_info(c)->source != NULL ? &source : NULL);
    if (pw_checkpoint_load(c, other, &err) != PW_OK)
        fail_msg("%s", err.msg);
    pw_model_digest(m, then);
    pw_model_digest(other, now);
    assert_memory_equal(now, then, sizeof now);
    assert_int_equal(pw_model_source(other) != NULL, pw_checkpoint_info(c)->source != NULL);
    train(m);
    train(other);
    pw_model_digest(m, then);
    pw_model_digest(other, now);
    assert_memory_equal(now, then, sizeof now);
    pw_checkpoint_close(c);
    pw_st_close(&st);
    free(bytes);
    pw_model_destroy(other);
    pw_model_destroy(m);
}

static int n_tensors(const struct pw_model *m, bool pe)
{
    int n;
    if (pe)
        pw_model_pe_params(m, &n);
    else
        pw_model_params(m, &n);
    return n;
}

/* Before the first step there are no moments; version 0.1 wrote them, and its files still load. */
static void test_fresh(void **state)
{
    static const char *const encodings[] = {"alibi", "t5 buckets=4"};
    for (int i = 0; i < 2; i++) {
        struct pw_model *m = toy_model(*state, OPTIONS, encodings[i], V, 1);
        int n = n_tensors(m, false), counts = 3 + i; /* adam.t, met.steps, met.seqs, met.grad */
        restores(*state, m, encodings[i], pw_checkpoint_image, n);
        m = toy_model(*state, OPTIONS, encodings[i], V, 1);
        restores(*state, m, encodings[i], pw_checkpoint_whole_image, 3 * n + counts);
        m = toy_model(*state, OPTIONS, encodings[i], V, 1);
        train(m);
        restores(*state, m, encodings[i], pw_checkpoint_image, 3 * n + counts);
    }
}

/* A model that is as its files give it refers to them. */
static void test_refers(void **state)
{
    struct pw_model *m = toy_model(*state, OPTIONS, "t5 buckets=4", V, 1);
    pw_model_set_source(m, &source);
    restores(*state, m, "t5 buckets=4", pw_checkpoint_image, 0);
    m = toy_model(*state, OPTIONS, "alibi", V, 1);
    pw_model_set_source(m, &source);
    struct pw_config cfg = *pw_model_config(m);
    struct pw_pe_use_opts pe = toy_pe("t5 buckets=4", &cfg);
    toy_swap(&m, &pe, 9, false);
    assert_false(pw_model_source(m)->pe);
    restores(*state, m, "t5 buckets=4", pw_checkpoint_image, n_tensors(m, true));
}

/* Without changed tensors the reference is the text that images had before it could name some. */
static void test_text(void **state)
{
    struct pw_model *m = toy_model(*state, OPTIONS, "alibi", V, 1);
    struct pw_st st;
    void *bytes;
    pw_model_set_source(m, &source);
    struct pw_checkpoint *c = image_of(m, pw_checkpoint_image, &bytes, &st);
    assert_string_equal(pw_st_meta(&st, "pewter.source"),
                        "{\"path\":\"m/l.gguf\",\"pe\":true,\"files\":[{\"name\":\"\",\"sha256\":\"" SHA
                        "\",\"bytes\":14304}]}");
    pw_checkpoint_close(c);
    pw_st_close(&st);
    free(bytes);
    pw_model_destroy(m);
}

/* Every change of a parameter ends the reference; other changes do not. */
static void test_changes(void **state)
{
    struct toy *t = *state;
    struct pw_err err;
    struct pw_model *m = toy_model(t, OPTIONS, "t5 buckets=4", V, 1), *copy;
    pw_model_set_source(m, &source);
    assert_int_equal(pw_model_replace_head(m, 0, 1, 1, NULL, &err), PW_OK);
    assert_true(pw_model_source(m)->pe);
    assert_int_equal(pw_model_clone(&copy, m, t->ops, t->be, &err), PW_OK);
    assert_true(pw_source_same(pw_model_source(copy), &source) && pw_model_source(copy)->pe);
    assert_int_equal(pw_model_transplant(m, copy, &err), PW_OK);
    assert_false(pw_model_source(m)->pe);
    train(m);
    assert_null(pw_model_source(m));
    toy_shake(copy, 1);
    assert_null(pw_model_source(copy));
    pw_model_destroy(m);
    pw_model_destroy(copy);
}

/* Copies parameters and moments. */
static void get_all(struct pw_model *m, float *all)
{
    size_t n = pw_model_size(m);
    pw_model_get(m, all, all + n, all + 2 * n);
}

/* Steps of some tensors keep the reference: the image has these tensors alone, their moments, and four arrays
 * of counts. It restores weights, moments and counts of all tensors, and the image itself. */
static void own_restores(struct toy *t, const char *options, const char *pe, enum pw_trains first,
                         enum pw_trains second, int own)
{
    static float then[3 * 4096], now[3 * 4096];
    struct pw_model *m = toy_model(t, options, pe, V, 1), *other = toy_model(t, options, pe, V, 1);
    struct pw_st st, again;
    struct pw_err err;
    void *bytes, *same;
    assert_true(pw_model_size(m) <= 4096);
    pw_model_set_source(m, &source);
    pw_model_set_source(other, &source);
    train_as(m, first);
    train_as(m, second);
    assert_non_null(pw_model_source(m));
    struct pw_checkpoint *c = image_of(m, pw_checkpoint_image, &bytes, &st);
    int counts = strcmp(pe, "alibi") == 0 ? 3 : 4; /* adam.t, met.steps, met.seqs, met.grad */
    assert_int_equal(st.n, 3 * own + counts);
    if (pw_checkpoint_load(c, other, &err) != PW_OK)
        fail_msg("%s", err.msg);
    get_all(m, then);
    get_all(other, now);
    assert_memory_equal(then, now, 3 * pw_model_size(m) * sizeof *then);
    pw_checkpoint_close(c);
    c = image_of(other, pw_checkpoint_image, &same, &again);
    assert_int_equal(again.n, st.n);
    assert_string_equal(pw_st_meta(&again, "pewter.source"), pw_st_meta(&st, "pewter.source"));
    train(m);
    train(other);
    get_all(m, then);
    get_all(other, now);
    assert_memory_equal(then, now, 3 * pw_model_size(m) * sizeof *then);
    assert_null(pw_model_source(m));
    pw_checkpoint_close(c);
    pw_st_close(&again);
    pw_st_close(&st);
    free(bytes);
    free(same);
    pw_model_destroy(other);
    pw_model_destroy(m);
}

static void test_own(void **state)
{
    enum { NORMS = 5, ADAPTERS = 2 * 2 * PW_MATS };
    own_restores(*state, OPTIONS, "t5 buckets=4", PW_TRAINS_ENCODING, PW_TRAINS_ENCODING, 1);
    own_restores(*state, OPTIONS, "alibi", PW_TRAINS_NORMS, PW_TRAINS_NORMS, NORMS);
    own_restores(*state, OPTIONS, "t5 buckets=4", PW_TRAINS_ENCODING, PW_TRAINS_NORMS, NORMS + 1);
    own_restores(*state, ADAPTED, "alibi", PW_TRAINS_ADAPTER, PW_TRAINS_ADAPTER, ADAPTERS);
    own_restores(*state, ADAPTED, "t5 buckets=4", PW_TRAINS_NORMS, PW_TRAINS_ADAPTER, NORMS + 1 + ADAPTERS);
    own_restores(*state, ADAPTED, "t5 buckets=4", PW_TRAINS_ADAPTER, PW_TRAINS_NORMS, NORMS + 1 + ADAPTERS);
}

/* An adapter is never in the files, also before the first step. */
static void test_new_adapter(void **state)
{
    struct pw_model *m = toy_model(*state, OPTIONS, "alibi", V, 1), *next;
    struct pw_err err;
    pw_model_set_source(m, &source);
    assert_int_equal(pw_model_adapt(&next, m, 2, &err), PW_OK);
    pw_model_destroy(m);
    restores(*state, next, "alibi", pw_checkpoint_image, 2 * 2 * PW_MATS);
}

static enum pw_code draw(void *arg, const struct pw_param *p, float *out, bool *filled, struct pw_err *err)
{
    (void)arg, (void)p, (void)out, (void)err;
    *filled = false;
    return PW_OK;
}

/* A model of a file has its matrices in their packs alone. An image can bring one of them. */
static void test_packed(void **state)
{
    struct toy *t = *state;
    char name[] = "layers.0.attn.o.weight", *names[] = {name};
    struct pw_source_files owns = source;
    struct pw_config cfg = toy_config(OPTIONS, V);
    struct pw_pe_use_opts pe = toy_pe("alibi", &cfg);
    struct pw_model *m = toy_model(t, OPTIONS, "alibi", V, 1), *other;
    uint64_t then[2], now[2];
    struct pw_err err;
    struct pw_st st;
    void *bytes;
    float changed[12 * 12] = {1, 2, 3};
    size_t at = m->lay.layer[0].o;
    owns.own = names;
    owns.n_own = 1;
    pw_model_get(m, m->host, NULL, NULL);
    memcpy(m->host + at, changed, sizeof changed);
    pw_model_put(m, m->host, NULL, NULL);
    pw_model_set_source(m, &owns);
    struct pw_checkpoint *c = image_of(m, pw_checkpoint_image, &bytes, &st);
    assert_int_equal(st.n, 1);
    assert_int_equal(pw_model_create_from(&other, t->ops, t->be, &cfg, &pe, 1, draw, NULL, &err), PW_OK);
    assert_true(other->packed);
    pw_model_set_source(other, &source);
    if (pw_checkpoint_load(c, other, &err) != PW_OK)
        fail_msg("%s", err.msg);
    pw_model_digest(m, then);
    pw_model_digest(other, now);
    assert_memory_equal(now, then, sizeof now);
    pw_checkpoint_close(c);
    pw_st_close(&st);
    free(bytes);
    pw_model_destroy(other);
    pw_model_destroy(m);
}

/* Replaces a text in an image by one of the same length; only the first time, or everywhere. */
static void replace(void *bytes, size_t n, const char *text, const char *by, bool all)
{
    char *at = memmem(bytes, n, text, strlen(text));
    assert_int_equal(strlen(text), strlen(by));
    assert_non_null(at);
    for (; at != NULL; at = memmem(bytes, n, text, strlen(text))) {
        memcpy(at, by, strlen(by));
        if (!all)
            return;
    }
}

/* Images whose tensors are not those that `own` names are refused, and the model stays as it was. */
static void test_lies(void **state)
{
    static const struct {
        const char *text, *by, *says;
        bool all;
    } lies[] = {
        /* in the list of tensors, in the list of names, in both */
        {"\"norm.weight\":", "\"norx.weight\":", "tensor 'norm.weight' is missing", false},
        {"\"adam.m.norm.weight\":", "\"adam.m.norx.weight\":", "tensor 'adam.m.norm.weight' is missing",
         false},
        {"\\\"norm.weight\\\"", "\\\"norx.weight\\\"",
         "own has 'norx.weight', which is no weight of this model", false},
        {"layers.1.norm2.weight", "layers.1.norm1.weight", "twice", true},
        {"norm.weight", "norx.weight", "own has", true},
    };
    struct pw_model *m = toy_model(*state, OPTIONS, "alibi", V, 1);
    struct pw_model *other = toy_model(*state, OPTIONS, "alibi", V, 1);
    struct pw_checkpoint_info info = {.optim = toy_optim(""), .seed = 1, .step = 1};
    uint64_t then[2], now[2];
    struct pw_err err;
    void *bytes;
    size_t n;
    pw_model_set_source(m, &source);
    pw_model_set_source(other, &source);
    train_as(m, PW_TRAINS_NORMS);
    pw_model_digest(other, then);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct pw_checkpoint *c;
        assert_int_equal(pw_checkpoint_image(m, &info, &bytes, &n, &err), PW_OK);
        replace(bytes, n, lies[i].text, lies[i].by, lies[i].all);
        enum pw_code code = pw_checkpoint_open_bytes(&c, bytes, n, "it", &err);
        if (code == PW_OK)
            code = pw_checkpoint_load(c, other, &err);
        if (code != PW_EUSER || strstr(err.msg, lies[i].says) == NULL)
            fail_msg("%zu: '%s', not '%s'", i, code == PW_OK ? "" : err.msg, lies[i].says);
        pw_checkpoint_close(c);
        free(bytes);
        pw_model_digest(other, now);
        assert_memory_equal(then, now, sizeof now);
        assert_int_equal(pw_model_source(other)->n_own, 0);
    }
    /* one of a model whose norms have changed can't keep them */
    struct pw_st st;
    struct pw_model *fresh = toy_model(*state, OPTIONS, "alibi", V, 1);
    pw_model_set_source(fresh, &source);
    struct pw_checkpoint *c = image_of(fresh, pw_checkpoint_image, &bytes, &st);
    assert_int_equal(pw_checkpoint_load(c, m, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "has no weights"));
    pw_checkpoint_close(c);
    pw_st_close(&st);
    free(bytes);
    pw_model_destroy(fresh);
    pw_model_destroy(other);
    pw_model_destroy(m);
}

/* A model that is not of these files refuses the image, and stays as it was. */
static void test_other_model(void **state)
{
    struct pw_model *m = toy_model(*state, OPTIONS, "none", V, 1);
    struct pw_source_files other = source;
    struct pw_source_file file = files[0];
    struct pw_st st;
    struct pw_err err;
    void *bytes;
    pw_model_set_source(m, &source);
    struct pw_checkpoint *c = image_of(m, pw_checkpoint_image, &bytes, &st);
    pw_model_set_source(m, NULL);
    assert_int_equal(pw_checkpoint_load(c, m, &err), PW_EUSER);
    assert_non_null(
        strstr(err.msg, "has no weights: it is part of a session, and refers to those of m/l.gguf"));
    file.sha[0] = 'c';
    other.files = &file;
    pw_model_set_source(m, &other);
    assert_int_equal(pw_checkpoint_load(c, m, &err), PW_EUSER);
    assert_string_equal(pw_model_source(m)->files[0].sha, file.sha);
    pw_checkpoint_close(c);
    pw_st_close(&st);
    free(bytes);
    pw_model_destroy(m);
}

/* A forged reference is refused. */
static void test_forged(void **state)
{
#define FILES(name, sha, bytes)                                                                              \
    ("{\"path\":\"m\",\"pe\":true,\"files\":[{\"name\":" name ",\"sha256\":\"" sha "\",\"bytes\":" bytes     \
     "}]}")
#define OWN(own)                                                                                             \
    ("{\"path\":\"m\",\"pe\":true,\"own\":" own ",\"files\":[{\"name\":\"a\",\"sha256\":\"" SHA              \
     "\",\"bytes\":1}]}")
    static const char *const forged[] = {
        "7",
        "{\"path\":\"m\",\"pe\":true,\"files\":[]}",
        ("{\"path\":\"\",\"pe\":true,\"files\":[{\"name\":\"a\",\"sha256\":\"" SHA "\",\"bytes\":1}]}"),
        ("{\"path\":\"m\",\"pe\":1,\"files\":[{\"name\":\"a\",\"sha256\":\"" SHA "\",\"bytes\":1}]}"),
        FILES("\"a/b\"", SHA, "1"),
        FILES("\"..\"", SHA, "1"),
        FILES("7", SHA, "1"),
        FILES("\"a\"", "b179", "1"),
        FILES("\"a\"", SHA, "-1"),
        FILES("\"a\"", SHA, "1e30"),
        FILES("\"a\"", SHA, "\"1\""),
        OWN("7"),
        OWN("[]"),
        OWN("[7]"),
        OWN("[\"norm.weight\",\"norm.weight\"]"),
        OWN("[\"a name of a tensor that is longer than any name of a tensor\"]")};
    struct pw_source_files *s;
    struct pw_err err;
    (void)state;
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        cJSON *json = cJSON_Parse(forged[i]);
        assert_non_null(json);
        assert_int_equal(pw_source_read(&s, json, "it: pewter.source", &err), PW_EUSER);
        assert_null(s);
        assert_memory_equal(err.msg, "it: pewter.source", 17);
        cJSON_Delete(json);
    }
    cJSON *json = cJSON_Parse(FILES("\"a\"", SHA, "1"));
    assert_int_equal(pw_source_read(&s, json, "it", &err), PW_OK);
    assert_string_equal(s->files[0].sha, SHA);
    pw_source_free(s);
    cJSON_Delete(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fresh),       cmocka_unit_test(test_refers),
                                       cmocka_unit_test(test_text),        cmocka_unit_test(test_changes),
                                       cmocka_unit_test(test_other_model), cmocka_unit_test(test_own),
                                       cmocka_unit_test(test_new_adapter), cmocka_unit_test(test_lies),
                                       cmocka_unit_test(test_packed),      cmocka_unit_test(test_forged)};
    return cmocka_run_group_tests(tests, toy_setup, toy_teardown);
}
