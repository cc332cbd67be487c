/* json.c - thin wrappers around cJSON. */
#include "base/json.h"

#include <stdlib.h>

void pw_json_num(cJSON *o, const char *key, double x)
{
    cJSON_AddNumberToObject(o, key, x);
}

void pw_json_str(cJSON *o, const char *key, const char *s)
{
    cJSON_AddStringToObject(o, key, s);
}

void pw_json_ints(cJSON *o, const char *key, const int *x, int n)
{
    if (x != NULL)
        cJSON_AddItemToObject(o, key, cJSON_CreateIntArray(x, n));
}

void pw_json_counts(cJSON *o, const char *key, const int64_t *x, int n)
{
    if (x == NULL)
        return;
    cJSON *list = cJSON_AddArrayToObject(o, key);
    for (int i = 0; i < n; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber((double)x[i]));
}

void pw_json_floats(cJSON *o, const char *key, const float *x, int n)
{
    if (x != NULL)
        cJSON_AddItemToObject(o, key, cJSON_CreateFloatArray(x, n));
}

void pw_json_matrix(cJSON *o, const char *key, const float *x, int rows, int cols)
{
    if (x == NULL)
        return;
    cJSON *list = cJSON_AddArrayToObject(o, key);
    for (int i = 0; i < rows; i++)
        cJSON_AddItemToArray(list, cJSON_CreateFloatArray(x + (size_t)i * cols, cols));
}

cJSON *pw_json_add(cJSON *list)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddItemToArray(list, o);
    return o;
}

void pw_json_line(FILE *f, cJSON *o)
{
    char *text = cJSON_PrintUnformatted(o);
    fprintf(f, "%s\n", text);
    free(text);
    cJSON_Delete(o);
}
