/* origin.c - what a file says about positions, as a JSON text (origin.h). */
#include "foreign/origin.h"

#include <stdio.h>
#include <string.h>

#include "foreign/from_gguf.h"

enum { MOST_ITEMS = 512, KEY = 128, MOST_TEXT = 1 << 16 };

/* The lists and objects of a config.json that are kept: they say something about positions, or where a text
 * ends. */
static const char *const parts[] = {"rope_parameters", "rope_scaling", "layer_types", "no_rope_layers",
                                    "attn_config",     "eos_token_id", NULL};

static bool is_part(const cJSON *item)
{
    for (int i = 0; parts[i] != NULL; i++)
        if (strcmp(parts[i], item->string) == 0)
            return true;
    return false;
}

/* Copies the values of a config; those of text_config, the text part of a model that also reads images,
 * replace the outer ones. */
static void copy_config(cJSON *to, const cJSON *from, bool inner)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, from)
    {
        bool composed = cJSON_IsObject(item) || cJSON_IsArray(item);
        if (!inner && cJSON_IsObject(item) && strcmp(item->string, "text_config") == 0)
            continue;
        if (composed && !is_part(item))
            continue;
        if (inner)
            cJSON_DeleteItemFromObjectCaseSensitive(to, item->string);
        cJSON_AddItemToObject(to, item->string, cJSON_Duplicate(item, true));
    }
    if (!inner)
        copy_config(to, cJSON_GetObjectItemCaseSensitive(from, "text_config"), true);
}

/* Copies numbers and texts whose keys begin with the architecture's name, and the first entries of lists of
 * numbers. */
static void copy_gguf(cJSON *to, const struct pw_gguf *g)
{
    char arch[KEY] = "", text[KEY];
    uint64_t n;
    const char *name = pw_gguf_text(pw_gguf_find(g, "general.architecture"), &n);
    if (name != NULL)
        snprintf(arch, sizeof arch, "%.*s", (int)(n < sizeof arch ? n : sizeof arch - 1), name);
    cJSON_AddStringToObject(to, "general.architecture", arch);
    for (int i = 0, k = 0; i < g->n_values && k < MOST_ITEMS; i++) {
        const struct pw_gguf_value *v = &g->values[i];
        double x;
        if (strncmp(v->key, arch, strlen(arch)) != 0 || v->key[strlen(arch)] != '.' || strlen(v->key) >= KEY)
            continue;
        k++;
        if (v->n > 0 && pw_gguf_number(v, 0, &x)) {
            cJSON_AddNumberToObject(to, v->key, x);
        } else if ((name = pw_gguf_text(v, &n)) != NULL) {
            snprintf(text, sizeof text, "%.*s", (int)(n < sizeof text ? n : sizeof text - 1), name);
            cJSON_AddStringToObject(to, v->key, text);
        }
    }
}

cJSON *pw_origin_begin(struct pw_weights *w, const cJSON *config)
{
    const struct pw_gguf *g = pw_weights_gguf(w);
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "format", g != NULL ? "gguf" : "config.json");
    cJSON *settings = cJSON_AddObjectToObject(o, "settings");
    if (g != NULL) {
        copy_gguf(settings, g);
        static const char *const lists[][2] = {{"factors", "rope_freqs.weight"},
                                               {"long_factor", "rope_factors_long.weight"},
                                               {"short_factor", "rope_factors_short.weight"}};
        struct pw_err err; /* the loader has read them before, and would have failed */
        for (int i = 0; i < 3; i++)
            pw_gguf_factors(o, lists[i][0], w, lists[i][1], &err);
        cJSON_AddItemToObject(o, "config", cJSON_Duplicate(config, true));
    } else {
        copy_config(settings, config, false);
    }
    return o;
}

char *pw_origin_text(const cJSON *begun, const struct pw_placing *m, int D)
{
    cJSON *o = cJSON_Duplicate(begun, true);
    for (int i = 0; m->rows[i].ours != NULL; i++)
        if (strcmp(m->rows[i].ours, "pe.table") == 0 && (m->rows[i].how & PW_MAP_FROM_2) != 0)
            cJSON_AddNumberToObject(o, "table_from", 2);
    if (m->inverse_layers)
        cJSON_AddBoolToObject(o, "inverse_layers", true);
    cJSON *rows = m->permuted ? cJSON_AddArrayToObject(o, "rows") : NULL;
    for (int r = 0; rows != NULL && r < D; r++)
        cJSON_AddItemToArray(rows, cJSON_CreateNumber(pw_map_row_in_head(m, r, D)));
    char *text = cJSON_PrintUnformatted(o);
    cJSON_Delete(o);
    if (text == NULL || strlen(text) <= MOST_TEXT)
        return text;
    cJSON_free(text); /* a checkpoint's header would not hold it */
    return NULL;
}
