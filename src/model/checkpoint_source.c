/* checkpoint_source.c - files that a model refers to, as JSON: see source.h. */
#include "model/source.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "base/text.h"
#include "model/model.h"

static bool add_file(cJSON *files, const struct pw_source_file *f)
{
    cJSON *item = cJSON_CreateObject();
    bool ok = cJSON_AddItemToArray(files, item) && cJSON_AddStringToObject(item, "name", f->name) != NULL;
    return ok && cJSON_AddStringToObject(item, "sha256", f->sha) != NULL &&
           cJSON_AddNumberToObject(item, "bytes", (double)f->bytes) != NULL;
}

cJSON *pw_source_json(const struct pw_source_files *s)
{
    cJSON *json = cJSON_CreateObject();
    bool ok = cJSON_AddStringToObject(json, "path", s->path) != NULL &&
              cJSON_AddBoolToObject(json, "pe", s->pe) != NULL;
    cJSON *own = s->n_own > 0 ? cJSON_AddArrayToObject(json, "own") : NULL;
    for (int i = 0; i < s->n_own; i++)
        ok = ok && cJSON_AddItemToArray(own, cJSON_CreateString(s->own[i]));
    cJSON *files = cJSON_AddArrayToObject(json, "files");
    for (int i = 0; i < s->n; i++)
        ok = ok && add_file(files, &s->files[i]);
    if (ok)
        return json;
    cJSON_Delete(json);
    return NULL;
}

static bool is_text(const cJSON *item, size_t most)
{
    const char *text = cJSON_GetStringValue(item);
    return text != NULL && strlen(text) < most && pw_utf8_valid(text, strlen(text));
}

/* A name with a slash could lead out of the folder. */
static bool read_file(struct pw_source_file *f, const cJSON *json)
{
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(json, "name");
    const cJSON *sha = cJSON_GetObjectItemCaseSensitive(json, "sha256");
    const cJSON *bytes = cJSON_GetObjectItemCaseSensitive(json, "bytes");
    uint8_t digest[32];
    if (!is_text(name, sizeof f->name) || strchr(name->valuestring, '/') != NULL ||
        name->valuestring[0] == '.' || !cJSON_IsString(sha) || !pw_sha256_read(digest, sha->valuestring) ||
        !cJSON_IsNumber(bytes) || !(bytes->valuedouble >= 1 && bytes->valuedouble <= 0x1p53))
        return false;
    pw_text_copy(f->name, sizeof f->name, name->valuestring);
    pw_sha256_text(f->sha, digest);
    f->bytes = (uint64_t)bytes->valuedouble;
    return true;
}

/* Reads the names of the tensors that the files don't have. */
static enum pw_code read_own(struct pw_source_files *s, const cJSON *own, const char *what,
                             struct pw_err *err)
{
    const cJSON *item;
    int n = cJSON_GetArraySize(own);

    if (own != NULL && (!cJSON_IsArray(own) || n < 1 || n > PW_SOURCE_OWN))
        return pw_fail(err, PW_EUSER, "%s: own must be an array of 1..%d names", what, PW_SOURCE_OWN);
    s->own = pw_alloc((size_t)n + 1, sizeof *s->own);
    cJSON_ArrayForEach(item, own)
    {
        if (!is_text(item, sizeof((struct pw_param *)0)->name))
            return pw_fail(err, PW_EUSER, "%s: own must have names of tensors", what);
        for (int i = 0; i < s->n_own; i++)
            if (strcmp(s->own[i], item->valuestring) == 0)
                return pw_fail(err, PW_EUSER, "%s: own has '%s' twice", what, item->valuestring);
        s->own[s->n_own++] = pw_text_dup(item->valuestring);
    }
    return PW_OK;
}

enum pw_code pw_source_read(struct pw_source_files **out, const cJSON *json, const char *what,
                            struct pw_err *err)
{
    const cJSON *path = cJSON_GetObjectItemCaseSensitive(json, "path");
    const cJSON *pe = cJSON_GetObjectItemCaseSensitive(json, "pe"), *item;
    const cJSON *files = cJSON_GetObjectItemCaseSensitive(json, "files");
    int n = cJSON_GetArraySize(files);
    *out = NULL;
    if (!cJSON_IsObject(json) || !is_text(path, PW_SOURCE_PATH) || path->valuestring[0] == '\0' ||
        !cJSON_IsBool(pe) || !cJSON_IsArray(files) || n < 1 || n > PW_SOURCE_FILES)
        return pw_fail(err, PW_EUSER, "%s must have a path, pe, and 1..%d files", what, PW_SOURCE_FILES);
    struct pw_source_files *s = pw_alloc(1, sizeof *s);
    *s = (struct pw_source_files){.path = pw_text_dup(path->valuestring), .pe = cJSON_IsTrue(pe)};
    s->files = pw_alloc((size_t)n, sizeof *s->files);
    cJSON_ArrayForEach(item, files)
    {
        if (!read_file(&s->files[s->n++], item)) {
            pw_source_free(s);
            return pw_fail(err, PW_EUSER, "%s: a file must have a name, a sha256 and a size", what);
        }
    }
    enum pw_code code = read_own(s, cJSON_GetObjectItemCaseSensitive(json, "own"), what, err);
    if (code == PW_OK)
        *out = s;
    else
        pw_source_free(s);
    return code;
}
