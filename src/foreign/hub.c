/* hub.c - finds a model by its name in the cache of Hugging Face's programs on this disk. The cache has a
 * folder models--ORG--NAME for each model; its refs/main names the commit that was fetched last, and
 * snapshots/COMMIT has the files. Nothing is fetched. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/text.h"
#include "foreign/foreign.h"

enum { PLACES = 4, MAX_REF = 128 };

/* Is text NAME or ORG/NAME, as models are named there? */
static bool is_name(const char *text)
{
    int slashes = 0;
    bool begins = true;
    if (pw_text_ends(text, ".gguf") || pw_text_ends(text, ".safetensors"))
        return false;
    for (const char *c = text; *c != '\0'; c++) {
        bool word = isalnum((unsigned char)*c) || *c == '_';
        if (*c == '/') {
            slashes++;
            if (begins)
                return false;
        } else if (!word && (begins || (*c != '-' && *c != '.'))) {
            return false;
        }
        begins = *c == '/';
    }
    return !begins && slashes <= 1;
}

/* Lists the folders of caches in the order in which Hugging Face's programs look. Returns their number. */
static int list_places(struct pw_str out[PLACES])
{
    static const struct {
        const char *variable, *below;
    } places[PLACES] = {{"HF_HUB_CACHE", ""},
                        {"HF_HOME", "/hub"},
                        {"XDG_CACHE_HOME", "/huggingface/hub"},
                        {"HOME", "/.cache/huggingface/hub"}};
    int n = 0;
    for (int i = 0; i < PLACES; i++) {
        const char *value = getenv(places[i].variable);
        if (value != NULL && value[0] != '\0')
            pw_str_add(&out[n++], "%s%s", value, places[i].below);
    }
    return n;
}

/* Appends the commit that refs/main names, or the only one that there is. */
static bool find_commit(const char *model, struct pw_str *commit)
{
    struct pw_str path = {0};
    struct pw_folder list;
    struct pw_err err;
    char *text;
    size_t got, size;
    pw_str_add(&path, "%s/refs/main", model);
    if (pw_file_read_head(path.s, MAX_REF, &text, &got, &size, &err) == PW_OK) {
        pw_str_add(commit, "%.*s", (int)strcspn(text, " \r\n/"), text);
        free(text);
    }
    pw_str_clear(&path);
    pw_str_add(&path, "%s/snapshots", model);
    if (commit->len == 0 && pw_folder_list(&list, path.s, "", &err) == PW_OK) {
        int n = 0, which = 0;
        for (int i = 0; i < list.n; i++)
            if (list.names[i][0] != '.') {
                which = i;
                n++;
            }
        if (n == 1)
            pw_str_add(commit, "%s", list.names[which]);
        pw_folder_free(&list);
    }
    pw_str_fini(&path);
    return commit->len > 0;
}

/* Appends the file's name if the folder has one GGUF file and no safetensors. */
static void choose_gguf(struct pw_str *path)
{
    struct pw_folder gguf, others;
    struct pw_err err;
    if (pw_folder_list(&gguf, path->s, ".gguf", &err) != PW_OK)
        return;
    if (gguf.n == 1 && pw_folder_list(&others, path->s, ".safetensors", &err) == PW_OK) {
        if (others.n == 0)
            pw_str_add(path, "/%s", gguf.names[0]);
        pw_folder_free(&others);
    }
    pw_folder_free(&gguf);
}

/* Looks in one cache. *out stays empty if it has no model of this name. */
static enum pw_code look_in(const char *place, const char *name, struct pw_str *out, struct pw_err *err)
{
    struct pw_str model = {0}, commit = {0};
    const char *slash = strchr(name, '/');
    enum pw_code code = PW_OK;
    pw_str_add(&model, "%s/models--%.*s%s%s", place, slash != NULL ? (int)(slash - name) : (int)strlen(name),
               name, slash != NULL ? "--" : "", slash != NULL ? slash + 1 : "");
    if (access(model.s, F_OK) == 0) {
        bool found = find_commit(model.s, &commit);
        pw_str_add(out, "%s/snapshots/%s", model.s, pw_str_text(&commit));
        if (!found)
            code = pw_fail(err, PW_EUSER, "%.200s: '%.200s' has no refs/main, and not one snapshot", name,
                           model.s);
        else if (access(out->s, F_OK) != 0)
            code = pw_fail(err, PW_EUSER, "%.200s: refs/main of '%.200s' names %.64s, which snapshots lacks",
                           name, model.s, commit.s);
        else
            choose_gguf(out);
    }
    pw_str_fini(&model);
    pw_str_fini(&commit);
    return code;
}

enum pw_code pw_foreign_find(const char *name, struct pw_str *out, struct pw_err *err)
{
    struct pw_str places[PLACES] = {{0}}, all = {0};
    enum pw_code code = PW_OK;
    struct stat st;
    if (pw_file_stat(name, &st) || !is_name(name)) {
        pw_str_add(out, "%s", name); /* opening it says what is wrong */
        return PW_OK;
    }
    int n = list_places(places);
    for (int i = 0; i < n; i++) {
        pw_str_add(&all, "%s%s", i > 0 ? ", " : "", places[i].s);
        if (code == PW_OK && out->len == 0)
            code = look_in(places[i].s, name, out, err);
        pw_str_fini(&places[i]);
    }
    if (code == PW_OK && out->len == 0 && pw_file_copies()) /* a folder that was there, in a re-run */
        pw_str_add(out, "%s", name);
    else if (code == PW_OK && out->len == 0)
        code =
            pw_fail(err, PW_EUSER,
                    "%.100s: there is no such file or folder, and no model of this name in the Hugging Face "
                    "cache (%.300s)",
                    name, all.len > 0 ? all.s : "HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME and HOME are unset");
    pw_str_fini(&all);
    return code;
}
