/* reader.c - reads values of a config.json, and sets options of a model from them. */
#include "foreign/reader.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernels/backend.h"

/* Returns the item of a key; NULL if it is absent or null. */
static const cJSON *item_of(const struct pw_reader *r, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(r->o, key);
    if (r->asked != NULL && !cJSON_HasObjectItem(r->asked, key))
        cJSON_AddTrueToObject(r->asked, key);
    return item == NULL || cJSON_IsNull(item) ? NULL : item;
}

static void fail(struct pw_reader *r, const char *key, const char *why)
{
    if (r->code == PW_OK)
        r->code = pw_fail(r->err, PW_EUSER, "%.200s: %s: %s", r->what, key, why);
}

double pw_read_number(struct pw_reader *r, const char *key, double def)
{
    const cJSON *item = item_of(r, key);
    if (item == NULL && isnan(def))
        fail(r, key, "missing; it must be a number");
    if (item == NULL)
        return isnan(def) ? 0 : def;
    if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble)) {
        fail(r, key, "must be a number");
        return isnan(def) ? 0 : def;
    }
    return item->valuedouble;
}

int pw_read_int(struct pw_reader *r, const char *key, int def)
{
    double x = pw_read_number(r, key, def == INT_MIN ? (double)NAN : (double)def);
    if (x >= 0 && x <= INT_MAX && x == floor(x))
        return (int)x;
    if (x != def)
        fail(r, key, "must be a whole number");
    return def == INT_MIN ? 0 : def;
}

bool pw_read_bool(struct pw_reader *r, const char *key, bool def)
{
    const cJSON *item = item_of(r, key);
    if (item != NULL && !cJSON_IsBool(item))
        fail(r, key, "must be true or false");
    return item != NULL ? cJSON_IsTrue(item) : def;
}

const char *pw_read_text(struct pw_reader *r, const char *key, const char *def)
{
    const cJSON *item = item_of(r, key);
    if ((item == NULL && def == NULL) || (item != NULL && !cJSON_IsString(item)))
        fail(r, key, item == NULL ? "missing; it must be a string" : "must be a string");
    return cJSON_IsString(item) ? item->valuestring : def != NULL ? def : "";
}

const cJSON *pw_read_part(struct pw_reader *r, const char *key)
{
    const cJSON *item = item_of(r, key);
    if (item != NULL && !cJSON_IsObject(item) && !cJSON_IsArray(item))
        fail(r, key, "must be an object or a list");
    return cJSON_IsObject(item) || cJSON_IsArray(item) ? item : NULL;
}

void pw_read_need(struct pw_reader *r, bool ok, const char *key, const char *why)
{
    if (!ok)
        fail(r, key, why);
}

void pw_read_set(struct pw_reader *r, const char *option, const char *fmt, ...)
{
    char value[64], what[300];
    va_list args;
    va_start(args, fmt);
    vsnprintf(value, sizeof value, fmt, args);
    va_end(args);
    snprintf(what, sizeof what, "%.200s: model", r->what);
    if (r->code == PW_OK)
        r->code = pw_opt_set(pw_config_opts, &r->cfg, what, option, value, r->err);
}

void pw_read_act(struct pw_reader *r, const char *key, const char *def)
{
    static const char *const names[][2] = {
        {"relu", "relu"},          {"gelu", "gelu"},           {"gelu_python", "gelu"},
        {"gelu_new", "gelu_tanh"}, {"gelu_fast", "gelu_tanh"}, {"gelu_pytorch_tanh", "gelu_tanh"},
        {"silu", "silu"},          {"swish", "silu"},
    };
    const char *name = pw_read_text(r, key, def);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i][0], name) == 0) {
            pw_read_set(r, "act", "%s", names[i][1]);
            return;
        }
    }
    fail(r, key, "unknown activation; pewter has relu, gelu, gelu_new, gelu_pytorch_tanh and silu");
}

void pw_read_eps(struct pw_reader *r, const char *key, double def)
{
    double x = pw_read_number(r, key, def), usual = r->cfg.norm == PW_NORM_LAYER ? 1e-5 : 1e-6;
    pw_read_need(r, x > 0, key, "must be above 0");
    if (fabs(x - usual) > 1e-9 * usual)
        pw_read_set(r, "norm_eps", "%.9g", x);
}

void pw_read_heads(struct pw_reader *r, int head)
{
    int heads = pw_read_int(r, "num_attention_heads", INT_MIN),
        width = pw_read_int(r, "hidden_size", INT_MIN);
    int kv = pw_read_int(r, "num_key_value_heads", heads);
    pw_read_need(r, heads > 0 && width > 0, "num_attention_heads", "heads and width must be above 0");
    head = pw_read_int(r, "head_dim", head > 0 || heads <= 0 ? head : width / heads);
    pw_read_set(r, "width", "%d", width);
    pw_read_set(r, "heads", "%d", heads);
    pw_read_set(r, "head_width", "%d", head);
    if (kv != heads)
        pw_read_set(r, "kv_heads", "%d", kv);
}
