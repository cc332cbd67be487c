/* test_event_json.c - tests events as JSON: every member of the codec's tables is written, or a rule says
 * otherwise, and no event that can be read from a session breaks the writer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "ref_codec.h"
#include "sessions/event_json_int.h"

/* Finds a path such as "eval.rows.judge" below a table. "*" is any member. */
static bool exists(const struct pw_message *m, const char *path)
{
    size_t n = strcspn(path, ".");
    if (strcmp(path, "*") == 0)
        return m->n > 0;
    for (int i = 0; i < m->n; i++) {
        const char *name = pw_field_name(&m->fields[i]);
        if (strlen(name) != n || strncmp(name, path, n) != 0)
            continue;
        return path[n] == '\0' || (m->fields[i].type == PW_F_STRUCT && exists(m->fields[i].of, path + n + 1));
    }
    return false;
}

static void test_rules(void **state)
{
    (void)state;
    for (const struct pw_json_rule *r = pw_json_rules; r->path != NULL; r++) {
        size_t n = strcspn(r->path, ".");
        bool found = false;
        for (int kind = 0; kind < PW_EV_KINDS; kind++) {
            char name[PW_JSON_KIND];
            pw_event_json_kind(name, (enum pw_event_kind)kind);
            if (strlen(name) == n && strncmp(name, r->path, n) == 0)
                found |= r->path[n] == '\0' || exists(&pw_messages[kind], r->path + n + 1);
        }
        if (!found)
            fail_msg("rule '%s' names no member", r->path);
        for (const struct pw_json_rule *other = pw_json_rules; other < r; other++)
            assert_string_not_equal(other->path, r->path);
    }
}

static bool has_rule(const char *path, const char *name)
{
    char full[96];
    bool found = false;
    snprintf(full, sizeof full, "%s.%s", path, name);
    for (const struct pw_json_rule *r = pw_json_rules; r->path != NULL; r++)
        found |= strcmp(r->path, full) == 0 || strcmp(r->path, path) == 0 ||
                 (strncmp(r->path, path, strlen(path)) == 0 && strcmp(r->path + strlen(path), ".*") == 0);
    return found;
}

/* Members without a rule, in many random events; an array that may be NULL need not be there. */
static void test_members(void **state)
{
    uint64_t rng = 31;
    int seen = 0;
    (void)state;
    for (int kind = 0; kind < PW_EV_KINDS; kind++)
        for (int round = 0; round < 200; round++) {
            const struct pw_message *m = &pw_messages[kind];
            struct pw_event *e = codec_random((enum pw_event_kind)kind, &rng);
            char name[PW_JSON_KIND];
            if (m->check == NULL || m->check((const char *)e + m->at) == NULL) {
                cJSON *o = cJSON_CreateObject();
                pw_event_json(o, e);
                pw_event_json_kind(name, (enum pw_event_kind)kind);
                for (int i = 0; i < m->n; i++) {
                    const struct pw_field *f = &m->fields[i];
                    if (has_rule(name, pw_field_name(f)) || (f->form == PW_FORM_ARRAY && !f->needed))
                        continue;
                    bool there = cJSON_HasObjectItem(o, pw_field_name(f));
                    if (there == pw_field_counts(m, f))
                        fail_msg("%s: %s member '%s'", name, there ? "a" : "no", pw_field_name(f));
                    seen++;
                }
                cJSON_Delete(o);
            }
            pw_event_free(e);
        }
    assert_true(seen > 200 * 50);
}

/* A session may hold an inspection without tokens and a patch without labels. */
static void test_empty(void **state)
{
    (void)state;
    for (int kind = 0; kind < PW_EV_KINDS; kind++) {
        struct pw_event *e = pw_event_new((enum pw_event_kind)kind);
        cJSON *o = cJSON_CreateObject();
        pw_event_json(o, e);
        cJSON_Delete(o);
        pw_event_free(e);
    }
}

static void test_values(void **state)
{
    struct pw_event *e = pw_event_new(PW_EV_STEP);
    cJSON *o = cJSON_CreateObject();
    (void)state;
    e->u.step.loss = 0.5f;
    e->u.step.flops = 3e9;
    pw_event_json(o, e);
    char *text = cJSON_PrintUnformatted(o);
    assert_string_equal(text, "{\"loss\":0.5,\"accuracy\":0,\"lr\":0,\"grad_norm\":0,\"flops\":3000000000}");
    cJSON_free(text);
    cJSON_Delete(o);
    pw_event_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests_name("event_json", tests, NULL, NULL);
}
