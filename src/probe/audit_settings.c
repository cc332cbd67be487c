/* audit_settings.c - reads settings of an origin (src/foreign/origin.h) for the probe audit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/audit.h"

enum { NAME = 160, MOST = 1 << 20 };

cJSON *pw_audit_origin(const struct pw_model *m)
{
    const char *text = pw_model_origin(m);
    cJSON *o = text != NULL ? cJSON_Parse(text) : NULL;
    if (cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(o, "settings")))
        return o;
    cJSON_Delete(o);
    return NULL;
}

/* Finds the first of several names, with a prefix; a null is no value. */
static const cJSON *find(const cJSON *o, const char *prefix, const char *names)
{
    char name[NAME];
    while (names != NULL && *names != '\0') {
        size_t n = strcspn(names, "|");
        snprintf(name, sizeof name, "%.60s%.*s", prefix, (int)(n < 90 ? n : 90), names);
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, name);
        if (item != NULL && !cJSON_IsNull(item))
            return item;
        names += n + (names[n] == '|');
    }
    return NULL;
}

const cJSON *pw_audit_item(const cJSON *origin, const cJSON *part, const char *hf, const char *gguf)
{
    const cJSON *settings = cJSON_GetObjectItemCaseSensitive(origin, "settings");
    const cJSON *arch = cJSON_GetObjectItemCaseSensitive(settings, "general.architecture"), *item;
    char prefix[NAME];
    if (cJSON_IsString(arch)) {
        snprintf(prefix, sizeof prefix, "%.50s.", arch->valuestring);
        return find(settings, prefix, gguf);
    }
    item = find(part, "", hf);
    return item != NULL ? item : find(settings, "", hf);
}

double pw_audit_number(const cJSON *origin, const cJSON *part, const char *hf, const char *gguf, double def)
{
    const cJSON *item = pw_audit_item(origin, part, hf, gguf);
    if (cJSON_IsBool(item))
        return cJSON_IsTrue(item);
    return cJSON_IsNumber(item) && isfinite(item->valuedouble) ? item->valuedouble : def;
}

int pw_audit_whole(double x)
{
    return x > 0 ? (int)fmin(x, MOST) : 0;
}

int pw_audit_count(const cJSON *origin, const cJSON *part, const char *hf, const char *gguf, int def)
{
    return pw_audit_whole(pw_audit_number(origin, part, hf, gguf, def));
}

const char *pw_audit_word(const cJSON *origin, const cJSON *part, const char *hf, const char *gguf,
                          const char *def)
{
    const cJSON *item = pw_audit_item(origin, part, hf, gguf);
    return cJSON_IsString(item) ? item->valuestring : def;
}

const cJSON *pw_audit_rope(const cJSON *origin, bool sliding)
{
    const cJSON *settings = cJSON_GetObjectItemCaseSensitive(origin, "settings");
    const cJSON *part = find(settings, "", "rope_parameters|rope_scaling");
    const cJSON *full = cJSON_GetObjectItemCaseSensitive(part, "full_attention");
    if (sliding)
        return cJSON_GetObjectItemCaseSensitive(part, "sliding_attention");
    return cJSON_IsObject(full) ? full : cJSON_IsObject(part) ? part : NULL;
}

int pw_audit_window(const struct pw_audit *a)
{
    int window = 0;
    for (int l = 0; a->layer != NULL && l < a->layers; l++)
        window = a->layer[l].window > window ? a->layer[l].window : window;
    return window;
}

void pw_audit_fini(struct pw_audit *a)
{
    free(a->layer);
    a->layer = NULL;
}
