/* ref_gguf.c - writes GGUF files (ref_gguf.h). */
#include "ref_gguf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/gguf.h"
#include "foreign/weights.h"

enum { ALIGNMENT = 32, VERSION = 3, F32 = 0 };

static void put_u32(struct pw_str *s, uint32_t x)
{
    pw_str_put(s, (const char *)&x, sizeof x);
}

static void put_u64(struct pw_str *s, uint64_t x)
{
    pw_str_put(s, (const char *)&x, sizeof x);
}

static void put_text(struct pw_str *s, const char *text)
{
    put_u64(s, strlen(text));
    pw_str_put(s, text, strlen(text));
}

static void begin_value(struct ref_gguf *g, const char *key, enum pw_gguf_type type)
{
    put_text(&g->values, key);
    put_u32(&g->values, (uint32_t)type);
    g->n_values++;
}

void ref_gguf_text(struct ref_gguf *g, const char *key, const char *text)
{
    begin_value(g, key, PW_GGUF_STRING);
    put_text(&g->values, text);
}

void ref_gguf_u32(struct ref_gguf *g, const char *key, uint32_t x)
{
    begin_value(g, key, PW_GGUF_U32);
    put_u32(&g->values, x);
}

void ref_gguf_f32(struct ref_gguf *g, const char *key, float x)
{
    begin_value(g, key, PW_GGUF_F32);
    pw_str_put(&g->values, (const char *)&x, sizeof x);
}

static void pad(struct pw_str *s)
{
    while (s->len % ALIGNMENT != 0)
        pw_str_put(s, "", 1);
}

void ref_gguf_tensor(struct ref_gguf *g, const char *name, int64_t rows, int64_t cols, const float *values)
{
    put_text(&g->infos, name);
    put_u32(&g->infos, rows > 0 ? 2 : 1);
    put_u64(&g->infos, (uint64_t)cols);
    if (rows > 0)
        put_u64(&g->infos, (uint64_t)rows);
    put_u32(&g->infos, F32);
    put_u64(&g->infos, g->data.len);
    pw_str_put(&g->data, (const char *)values, (size_t)((rows > 0 ? rows : 1) * cols) * sizeof *values);
    pad(&g->data);
    g->n_tensors++;
}

void ref_gguf_write(struct ref_gguf *g, const char *path)
{
    struct pw_str all = {0};
    pw_str_add(&all, "GGUF");
    put_u32(&all, VERSION);
    put_u64(&all, g->n_tensors);
    put_u64(&all, g->n_values);
    pw_str_put(&all, pw_str_text(&g->values), g->values.len);
    pw_str_put(&all, pw_str_text(&g->infos), g->infos.len);
    pad(&all);
    pw_str_put(&all, pw_str_text(&g->data), g->data.len);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(all.s, 1, all.len, f), all.len);
    assert_int_equal(fclose(f), 0);
    pw_str_fini(&all);
    pw_str_fini(&g->values);
    pw_str_fini(&g->infos);
    pw_str_fini(&g->data);
    *g = (struct ref_gguf){0};
}

/* ---- a case as a file */

static int number_of(const cJSON *config, const char *key)
{
    const cJSON *item = cJSON_GetObjectItem(config, key);
    assert_true(cJSON_IsNumber(item));
    return item->valueint;
}

/* Names in a layer and outside, of transformers and of GGUF. */
static const char *const names[][2] = {
    {"self_attn.q_proj.", "attn_q."},
    {"self_attn.k_proj.", "attn_k."},
    {"self_attn.v_proj.", "attn_v."},
    {"self_attn.o_proj.", "attn_output."},
    {"mlp.gate_proj.", "ffn_gate."},
    {"mlp.up_proj.", "ffn_up."},
    {"mlp.down_proj.", "ffn_down."},
    {"input_layernorm.", "attn_norm."},
    {"post_attention_layernorm.", "ffn_norm."},
    {"embed_tokens.", "token_embd."},
    {"lm_head.", "output."},
    {"norm.", "output_norm."},
};

static void put_name(struct pw_str *out, const char *theirs)
{
    int layer, read = 0;
    if (strncmp(theirs, "model.", 6) == 0)
        theirs += 6;
    if (sscanf(theirs, "layers.%d.%n", &layer, &read) == 1 && read > 0) {
        pw_str_add(out, "blk.%d.", layer);
        theirs += read;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i][0]);
        if (strncmp(names[i][0], theirs, n) == 0) {
            pw_str_add(out, "%s%s", names[i][1], theirs + n);
            return;
        }
    }
    fail_msg("no name in GGUF for %s", theirs);
}

static void add_tensor(struct ref_gguf *g, struct pw_weights *w, const struct pw_weights_tensor *t, int D)
{
    bool vector = t->n_dims == 1;
    int64_t rows = vector ? 1 : t->dims[0], cols = t->dims[t->n_dims - 1];
    bool turns = strstr(t->name, "q_proj") != NULL || strstr(t->name, "k_proj") != NULL;
    float *values = malloc((size_t)(rows * cols) * sizeof *values);
    struct pw_str name = {0};
    struct pw_err err;
    assert_non_null(values);
    for (int64_t r = 0; r < rows; r++) {
        int64_t in = r % D, to = turns ? r - in + in % (D / 2) * 2 + in / (D / 2) : r;
        assert_int_equal(pw_weights_row(w, t, r, values + to * cols, &err), PW_OK);
    }
    put_name(&name, t->name);
    ref_gguf_tensor(g, name.s, vector ? 0 : rows, cols, values);
    pw_str_fini(&name);
    free(values);
}

void ref_gguf_llama(struct ref_gguf *g, const struct ref_family *x, const char *name)
{
    static const char *const keys[][2] = {{"llama.block_count", "num_hidden_layers"},
                                          {"llama.context_length", "max_position_embeddings"},
                                          {"llama.embedding_length", "hidden_size"},
                                          {"llama.feed_forward_length", "intermediate_size"},
                                          {"llama.attention.head_count", "num_attention_heads"},
                                          {"llama.attention.head_count_kv", "num_key_value_heads"},
                                          {"llama.rope.dimension_count", "head_dim"}};
    cJSON *of = ref_family_case(x, name);
    const cJSON *config = cJSON_GetObjectItem(of, "config");
    struct pw_weights *w;
    struct pw_err err;
    int n;
    ref_gguf_text(g, "general.architecture", "llama");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        ref_gguf_u32(g, keys[i][0], (uint32_t)number_of(config, keys[i][1]));
    ref_gguf_f32(g, "llama.attention.layer_norm_rms_epsilon", 1e-6f);
    ref_family_write(x, of);
    assert_int_equal(pw_weights_open(&w, x->folder, &err), PW_OK);
    const struct pw_weights_tensor *list = pw_weights_list(w, &n);
    for (int i = 0; i < n; i++)
        add_tensor(g, w, &list[i], number_of(config, "head_dim"));
    pw_weights_close(w);
    cJSON_Delete(of);
}
