/* fuzz_origin.c - fuzz target of the texts that a checkpoint has of a model of another program: pewter.source
 * names its files, and pewter.origin is what the file says about positions, which `probe audit` reads.
 *
 * A source that is accepted comes back from its own JSON. Any origin can be audited. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/source.h"
#include "probe/audit.h"

enum { CONTEXT = 8 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct pw_model *model;

static void must(enum pw_code code)
{
    if (code != PW_OK)
        abort();
}

/* Creates a small model that rotates, whose rows an origin can name. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct pw_config cfg = {0};
    struct pw_pe_use_opts pe;
    struct pw_backend *be = NULL;
    struct pw_err err;
    const struct pw_backend_ops *ops = pw_backend_cpu();
    (void)argc;
    (void)argv;
    pw_opt_defaults(pw_config_opts, &cfg);
    cfg.layers = 2;
    cfg.heads = 2;
    cfg.width = 8;
    cfg.ffn = 2;
    cfg.context = CONTEXT;
    cfg.vocab = 3;
    must(pw_config_check(&cfg, &err));
    must(pw_pe_parse(&pe, "rotary", &cfg, &err));
    must(ops->open(&be, 1, &err));
    must(pw_model_create(&model, ops, be, &cfg, &pe, 1, &err));
    return 0;
}

static void check_line(const struct pw_err *err)
{
    if (err->msg[0] == '\0' || strchr(err->msg, '\n') != NULL)
        abort();
}

static void check_source(const cJSON *json)
{
    struct pw_source_files *s, *again;
    struct pw_err err = {.msg = ""};
    if (pw_source_read(&s, json, "it", &err) != PW_OK) {
        check_line(&err);
        return;
    }
    cJSON *own = pw_source_json(s);
    must(pw_source_read(&again, own, "it", &err));
    if (!pw_source_same(s, again) || strcmp(s->path, again->path) != 0 || s->pe != again->pe)
        abort();
    cJSON_Delete(own);
    pw_source_free(s);
    pw_source_free(again);
}

static void check_origin(const char *text)
{
    const struct pw_config *cfg = pw_model_config(model);
    struct pw_audit asks = {0}, runs = {0};
    struct pw_finding f;
    struct pw_err err = {.msg = ""};
    pw_model_set_origin(model, text);
    cJSON *origin = pw_audit_origin(model);
    if (origin == NULL)
        return;
    pw_audit_asks(&asks, origin, cfg);
    pw_finding_init(&f, "audit", "", "it");
    if (asks.layer != NULL)
        pw_audit_traps(&f, &asks, origin, cfg);
    if (pw_audit_runs(&runs, model, origin, pw_audit_window(&asks), &err) != PW_OK)
        check_line(&err);
    pw_finding_fini(&f);
    pw_audit_fini(&asks);
    pw_audit_fini(&runs);
    cJSON_Delete(origin);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cJSON *json = cJSON_ParseWithLength((const char *)data, size);
    check_source(json);
    if (cJSON_IsObject(json)) {
        char *text = cJSON_PrintUnformatted(json);
        check_origin(text);
        cJSON_free(text);
    }
    cJSON_Delete(json);
    return 0;
}
