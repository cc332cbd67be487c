/* event_json.c - follow the codec's tables and write each member as JSON. */
#include "sessions/event_json_int.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/half.h"
#include "base/json.h"

enum { MOST_PATH = 96 };

void pw_event_json_kind(char out[PW_JSON_KIND], enum pw_event_kind kind)
{
    const char *name = pw_messages[kind].name;
    size_t n = 0;
    for (; name[n] != '\0' && n < PW_JSON_KIND - 1; n++)
        out[n] = (char)tolower((unsigned char)name[n]);
    out[n] = '\0';
}

static const struct pw_json_rule *rule_of(const char *path)
{
    for (const struct pw_json_rule *r = pw_json_rules; r->path != NULL; r++)
        if (strcmp(r->path, path) == 0)
            return r;
    return NULL;
}

/* The rule of a member: its own, or that of all others below `path`, or none. */
static struct pw_json_rule member_rule(const char *path, const char *name)
{
    char full[MOST_PATH];
    snprintf(full, sizeof full, "%s.%s", path, name);
    const struct pw_json_rule *r = rule_of(full);
    if (r == NULL) {
        snprintf(full, sizeof full, "%s.*", path);
        r = rule_of(full);
    }
    return r != NULL ? *r : (struct pw_json_rule){0};
}

static double number_at(const struct pw_field *f, const char *at)
{
    switch (f->type) {
    case PW_F_FLOAT: return (double)pw_bits_float(pw_load_bits(f->type, at));
    case PW_F_DOUBLE: return pw_bits_double(pw_load_bits(f->type, at));
    case PW_F_HALF: return (double)pw_from_half((uint16_t)pw_load_bits(f->type, at));
    case PW_F_BITS:
    case PW_F_BYTE: return (double)pw_load_bits(f->type, at);
    default: return (double)pw_load_number(f->type, at);
    }
}

static cJSON *value_json(const char *path, const struct pw_field *f, const char *at)
{
    switch (f->type) {
    case PW_F_STRUCT: {
        cJSON *o = cJSON_CreateObject();
        pw_json_members(o, path, f->of, at);
        return o;
    }
    case PW_F_TEXT:
    case PW_F_STRING: return cJSON_CreateString(pw_field_text(f, at));
    case PW_F_BOOL: return cJSON_CreateBool(pw_load_number(f->type, at) != 0);
    default: return cJSON_CreateNumber(number_at(f, at));
    }
}

static bool is_zero(const struct pw_field *f, const char *at)
{
    return f->type == PW_F_STRUCT                           ? false
           : f->type == PW_F_TEXT || f->type == PW_F_STRING ? pw_field_text(f, at)[0] == '\0'
                                                            : number_at(f, at) == 0;
}

static void add_list(cJSON *o, const char *as, const char *path, const struct pw_field *f, const char *base,
                     bool unless)
{
    const char *at = base + f->at;
    size_t n = pw_field_count(f, base);
    if (f->form == PW_FORM_ARRAY)
        memcpy(&at, base + f->at, sizeof at);
    if (n == SIZE_MAX || (at == NULL && (n > 0 || !f->needed)) || (unless && n == 0))
        return;
    cJSON *list = cJSON_AddArrayToObject(o, as);
    for (size_t i = 0; i < n; i++)
        cJSON_AddItemToArray(list, value_json(path, f, at + i * f->size));
}

void pw_json_members(cJSON *o, const char *path, const struct pw_message *m, const char *base)
{
    for (int i = 0; i < m->n; i++) {
        const struct pw_field *f = &m->fields[i];
        const char *name = pw_field_name(f);
        struct pw_json_rule r = member_rule(path, name);
        const char *as = r.as != NULL ? r.as : name;
        char below[MOST_PATH];
        bool unless = r.when == PW_JSON_UNLESS_ZERO;
        snprintf(below, sizeof below, "%s.%s", path, name);
        if (r.path == NULL && pw_field_counts(m, f))
            continue; /* the array has its length */
        if (r.write != NULL)
            r.write(o, as, base);
        else if (r.when == PW_JSON_INSIDE)
            pw_json_members(o, below, f->of, base + f->at);
        else if (r.when == PW_JSON_NEVER || (unless && f->form == PW_FORM_ONE && is_zero(f, base + f->at)))
            continue;
        else if (f->form == PW_FORM_ONE)
            cJSON_AddItemToObject(o, as, value_json(below, f, base + f->at));
        else
            add_list(o, as, below, f, base, unless);
    }
}

void pw_event_json(cJSON *o, const struct pw_event *e)
{
    const struct pw_message *m = &pw_messages[e->kind];
    char kind[PW_JSON_KIND];
    pw_event_json_kind(kind, e->kind);
    const struct pw_json_rule *r = rule_of(kind);
    if (r != NULL)
        r->write(o, NULL, (const char *)e + m->at);
    else
        pw_json_members(o, kind, m, (const char *)e + m->at);
}
