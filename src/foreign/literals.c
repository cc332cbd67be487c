/* literals.c - keeps apart 3 and 3.0 in a config.json that is written again: transformers refuses a whole
 * number where it expects another one, and the other way round, and cJSON has one type for both. A number
 * that is not written as a whole one keeps its text as valuestring, which cJSON copies and frees. */
#include "foreign/literals.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Finds the next number outside of strings; returns its length, 0: there is none. */
static size_t next_number(const char **at)
{
    bool inside = false;
    for (; **at != '\0'; (*at)++) {
        if (inside && **at == '\\' && (*at)[1] != '\0')
            (*at)++;
        else if (**at == '"')
            inside = !inside;
        else if (!inside && strchr("-0123456789", **at) != NULL)
            return strspn(*at, "-+.eE0123456789");
    }
    return 0;
}

static void keep_text(cJSON *item, const char *text, size_t n)
{
    item->valuestring = cJSON_malloc(n + 1);
    if (item->valuestring == NULL)
        return;
    memcpy(item->valuestring, text, n);
    item->valuestring[n] = '\0';
}

static void mark(cJSON *item, const char **at)
{
    if (cJSON_IsNumber(item)) {
        size_t n = next_number(at);
        if (strcspn(*at, ".eE") < n)
            keep_text(item, *at, n);
        *at += n;
    }
    for (cJSON *child = item->child; child != NULL; child = child->next)
        mark(child, at);
}

void pw_literals_mark(cJSON *root, const char *text)
{
    mark(root, &text);
}

void pw_literals_print(cJSON *root, const char *const *keys)
{
    for (cJSON *item = root->child; item != NULL; item = item->next) {
        char text[40];
        bool wanted = false;
        for (int i = 0; keys[i] != NULL && item->string != NULL; i++)
            wanted = wanted || strcmp(keys[i], item->string) == 0;
        if (cJSON_IsNumber(item) && item->valuestring == NULL && wanted &&
            item->valuedouble == item->valueint) {
            int n = snprintf(text, sizeof text, "%d.0", item->valueint);
            keep_text(item, text, (size_t)n);
        }
        if (cJSON_IsNumber(item) && item->valuestring != NULL)
            item->type = cJSON_Raw;
        pw_literals_print(item, keys);
    }
}
