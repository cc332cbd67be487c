/* state_fields.c - convert members of a struct to strings of a JSON object and back, by an option table.
 *
 * Most readers parse a JSON number as a double, so numbers are stored as strings. The table provides their
 * ranges and the messages. An object must have every member once and no other one: a state with a missing or
 * additional member describes a lab that never existed. */
#include <cjson/cJSON.h>
#include <string.h>

#include "lab/recording/state_int.h"

bool pw_state_put_text(cJSON *object, const char *name, const char *text)
{
    return object != NULL && cJSON_AddStringToObject(object, name, text) != NULL;
}

bool pw_state_put(cJSON *object, const struct pw_opt *table, const void *from)
{
    struct pw_str text = {0};
    bool ok = true;
    for (; table->name != NULL; table++) {
        pw_str_clear(&text);
        pw_opt_value(table, from, &text);
        ok = ok && pw_state_put_text(object, table->name, pw_str_text(&text));
    }
    pw_str_fini(&text);
    return ok;
}

bool pw_state_put_ints(cJSON *object, const char *name, const int *v, int n)
{
    cJSON *list = n > 0 ? cJSON_CreateIntArray(v, n) : cJSON_CreateArray();
    return cJSON_AddItemToObject(object, name, list);
}

enum pw_code pw_state_get(const cJSON *object, const struct pw_opt *table, void *to, int more,
                          const char *what, struct pw_err *err)
{
    if (!cJSON_IsObject(object))
        return pw_fail(err, PW_EUSER, "%s: is missing", what);
    for (; table->name != NULL; table++) {
        bool left_out = table->def != NULL && !cJSON_HasObjectItem(object, table->name);
        const char *text = left_out ? table->def : pw_state_get_text(object, table->name, what, err);
        more += !left_out;
        if (text == NULL || pw_opt_set(table, to, what, table->name, text, err) != PW_OK)
            return PW_EUSER;
    }
    if (cJSON_GetArraySize(object) != more) /* every member is present, so the count excludes duplicates */
        return pw_fail(err, PW_EUSER, "%s: has %d members; this pewter expects %d", what,
                       cJSON_GetArraySize(object), more);
    return PW_OK;
}

const char *pw_state_get_text(const cJSON *object, const char *name, const char *what, struct pw_err *err)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    if (text == NULL)
        pw_fail(err, PW_EUSER, "%s: '%s' is missing or not a string", what, name);
    return text;
}

enum pw_code pw_state_get_ints(const cJSON *object, const char *name, int *v, int n, int below,
                               const char *what, struct pw_err *err)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, name), *item;
    int k = 0;
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) != n)
        return pw_fail(err, PW_EUSER, "%s: '%s' must be %d numbers", what, name, n);
    cJSON_ArrayForEach(item, list)
    {
        double x = cJSON_IsNumber(item) ? item->valuedouble : -1.0;
        if (!(x >= 0.0 && x < below) || x != (int)x)
            return pw_fail(err, PW_EUSER, "%s: '%s' has a number outside 0..%d", what, name, below - 1);
        v[k++] = (int)x;
    }
    return PW_OK;
}
