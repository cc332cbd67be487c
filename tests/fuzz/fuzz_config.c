/* fuzz_config.c - fuzz target of config.json: every family reads arbitrary JSON. An accepted config has an
 * encoding that can be parsed, unless it says in one line why not. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "foreign/reader.h"
#include "model/pe.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

static void check_line(enum pw_code code, const struct pw_err *err)
{
    if (code != PW_OK && (err->msg[0] == '\0' || strchr(err->msg, '\n') != NULL))
        abort();
}

/* Reads the encoding of an accepted config. */
static void check_encoding(struct pw_reader *r, struct pw_err *err)
{
    struct pw_pe_use_opts pe;
    struct pw_str text = {0};
    if (pw_config_check(&r->cfg, err) == PW_OK) {
        pw_positions_text(&r->at, &r->cfg, &text);
        check_line(pw_pe_parse(&pe, text.s, &r->cfg, err), err);
    }
    pw_str_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cJSON *root = cJSON_ParseWithLength((const char *)data, size);
    const char *type = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "model_type"));
    for (int i = 0; pw_families[i] != NULL && cJSON_IsObject(root); i++) {
        struct pw_err err = {.msg = ""};
        struct pw_reader r = {.o = root, .what = "it", .err = &err};
        if (type != NULL && pw_family_find(type) != NULL && pw_family_find(type) != pw_families[i])
            continue;
        pw_opt_defaults(pw_config_opts, &r.cfg);
        pw_families[i]->read(&r);
        check_line(r.code, &err);
        if (r.code == PW_OK)
            check_encoding(&r, &err);
    }
    cJSON_Delete(root);
    return 0;
}
