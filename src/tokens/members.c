/* members.c - members of the file's objects, each with its type checked. */
#include <math.h>

#include "tokens/tokens_int.h"

const cJSON *pw_tok_json_get(const cJSON *o, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
    return v == NULL || cJSON_IsNull(v) ? NULL : v;
}

enum pw_code pw_tok_json_bool(const cJSON *o, const char *at, const char *key, bool otherwise, bool *out,
                              struct pw_err *err)
{
    const cJSON *v = pw_tok_json_get(o, key);
    *out = v == NULL ? otherwise : cJSON_IsTrue(v);
    return v == NULL || cJSON_IsBool(v) ? PW_OK
                                        : pw_fail(err, PW_EUSER, "%s: '%s' must be true or false", at, key);
}

enum pw_code pw_tok_json_text(const cJSON *o, const char *at, const char *key, bool needed, const char **out,
                              struct pw_err *err)
{
    const cJSON *v = pw_tok_json_get(o, key);
    *out = NULL;
    if (v == NULL && !needed)
        return PW_OK;
    if (!cJSON_IsString(v))
        return pw_fail(err, PW_EUSER, "%s: '%s' must be a text", at, key);
    *out = v->valuestring;
    return PW_OK;
}

bool pw_tok_json_whole(const cJSON *number, int most, int *out)
{
    if (!cJSON_IsNumber(number))
        return false;
    double x = number->valuedouble;
    if (!(x >= 0) || x > most || floor(x) < x)
        return false;
    *out = (int)x;
    return true;
}

enum pw_code pw_tok_json_int(const cJSON *o, const char *at, const char *key, int most, int *out,
                             struct pw_err *err)
{
    return pw_tok_json_whole(cJSON_GetObjectItemCaseSensitive(o, key), most, out)
               ? PW_OK
               : pw_fail(err, PW_EUSER, "%s: '%s' must be a number from 0 to %d", at, key, most);
}
