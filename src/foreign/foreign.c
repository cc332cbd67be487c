/* foreign.c - opens a model of another program: its configuration, its family, and which tensor goes where.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/sha256.h"
#include "foreign/foreign_int.h"
#include "foreign/from_gguf.h"
#include "foreign/literals.h"
#include "foreign/origin.h"

enum { MAX_CONFIG = 4 << 20 };

static enum pw_code fail_family(const char *path, const char *type, struct pw_err *err)
{
    struct pw_str list = {0};
    for (int i = 0; pw_families[i] != NULL; i++)
        pw_str_add(&list, "%s%s", i > 0 ? ", " : "", pw_families[i]->type);
    enum pw_code code =
        pw_fail(err, PW_EUSER, "%.160s: unknown model_type '%.40s'; pewter reads %s", path, type, list.s);
    pw_str_fini(&list);
    return code;
}

void pw_foreign_beside(const char *path, const char *name, struct pw_str *out)
{
    const char *slash = strrchr(path, '/');
    struct stat st;
    if (pw_file_stat(path, &st) && !S_ISDIR(st.st_mode))
        pw_str_add(out, "%.*s%s", slash != NULL ? (int)(slash - path) + 1 : 0, path, name);
    else
        pw_str_add(out, "%s/%s", path, name);
}

/* Reads config.json of a folder, or beside a file. */
static enum pw_code read_json(struct pw_foreign *f, const char *path, cJSON **out, struct pw_str *name,
                              struct pw_err *err)
{
    char *text;
    size_t size;
    pw_foreign_beside(path, "config.json", name);
    enum pw_code code = pw_file_read(name->s, MAX_CONFIG, &text, &size, err);
    if (code != PW_OK)
        return code;
    uint8_t sha[32];
    pw_sha256_of(sha, text, size);
    f->config_file = (struct pw_source_file){.name = "config.json", .bytes = size};
    pw_sha256_text(f->config_file.sha, sha);
    *out = cJSON_ParseWithLength(text, size);
    if (*out != NULL)
        pw_literals_mark(*out, text);
    free(text);
    return cJSON_IsObject(*out) ? PW_OK : pw_fail(err, PW_EUSER, "%.240s: not a JSON object", name->s);
}

enum pw_code pw_foreign_read_config(struct pw_foreign *f, const cJSON *root, const char *what,
                                    const struct pw_family *family, cJSON *asked, struct pw_err *err)
{
    struct pw_reader r = {.o = root, .what = what, .err = err, .asked = asked};
    struct pw_config *cfg = &f->info.cfg;
    pw_opt_defaults(pw_config_opts, &r.cfg);
    family->read(&r);
    const struct pw_rope *rope = &r.at.rope;
    bool listed = rope->type == PW_ROPE_LONGROPE || rope->type == PW_ROPE_FACTORED;
    if (r.code == PW_OK && r.at.kind == PW_AT_ROTARY && listed &&
        (rope->n_long != rope->n_short ||
         rope->n_long != (int)(r.cfg.head_width * rope->fraction + 1e-9) / 2))
        pw_read_need(&r, false, "long_factor",
                     "long_factor and short_factor must have a number for each rotated pair");
    int vocab = pw_read_int(&r, "vocab_size", 0), most = r.at.most;
    pw_read_need(&r, vocab > 0 && vocab <= 1 << 20, "vocab_size", "must be in 1..1048576");
    pw_read_need(&r, most >= 2, "max_position_embeddings", "must be at least 2");
    if (r.code != PW_OK)
        return r.code;
    *cfg = r.cfg;
    cfg->vocab = vocab;
    cfg->context = most < PW_MAX_CONTEXT ? most : PW_MAX_CONTEXT;
    f->info.family = family->type;
    f->family = family;
    f->at = r.at;
    f->map.inverse_layers = r.inverse_layers;
    f->map.zero_biases = r.zero_biases;
    f->map.plus_one = r.plus_one;
    enum pw_code code = pw_config_check(cfg, err);
    if (code != PW_OK)
        pw_err_at(err, what);
    else if (r.at.kind == PW_AT_ROTARY && cfg->head_width * rope->fraction + 1e-9 < 2)
        code = pw_fail(err, PW_EUSER, "%.240s: partial_rotary_factor: less than one pair of a head rotates",
                       what);
    return code;
}

static enum pw_code read_family(struct pw_foreign *f, const cJSON *root, const char *what, struct pw_err *err)
{
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(root, "model_type");
    const char *name = cJSON_IsString(type) ? type->valuestring : "";
    const struct pw_family *family = pw_family_find(name);
    if (family == NULL)
        return fail_family(what, name, err);
    f->map.permuted = f->gguf && pw_gguf_permutes(name);
    f->map.rows = f->gguf ? pw_gguf_rows : family->rows;
    f->map.ignored = f->gguf ? pw_gguf_ignored : family->ignored;
    enum pw_code code = pw_foreign_read_config(f, root, what, family, NULL, err);
    f->map.plus_one = f->map.plus_one && !f->gguf;
    if (code == PW_OK && f->map.permuted && f->at.kind == PW_AT_ROTARY && f->at.rope.fraction < 1)
        code = pw_fail(err, PW_EUSER, "%.240s: rope.dimension_count: only whole heads can rotate in '%s'",
                       what, name);
    return code;
}

static enum pw_code find_prefix(struct pw_foreign *f, struct pw_err *err)
{
    static const char *const none[] = {"", NULL};
    return pw_map_prefix(&f->map, f->gguf ? none : f->family->prefixes, err);
}

/* Sets *pe to the model's encoding. */
static enum pw_code own_encoding(const struct pw_foreign *f, const struct pw_config *cfg,
                                 struct pw_pe_use_opts *pe, struct pw_err *err)
{
    struct pw_str text = {0};
    pw_positions_text(&f->at, cfg, &text);
    enum pw_code code = pw_pe_parse(pe, text.s, cfg, err);
    if (code != PW_OK)
        pw_err_at(err, f->path);
    pw_str_fini(&text);
    return code;
}

/* Does the model have a matrix as the file has it, in 16 bits? */
static bool keeps_16(const struct pw_foreign *f, const struct pw_param *p, const struct pw_weights_tensor *t,
                     enum pw_number_type *type)
{
    if (p->rows == 0 || p->pe)
        return true;
    if (t == NULL || f->map.inverse_layers || (t->type != PW_NUMBER_F16 && t->type != PW_NUMBER_BF16))
        return false;
    bool same = *type == PW_NUMBER_F32 || *type == t->type;
    *type = t->type;
    return same;
}

/* Lists the parameters that a model of this shape would have, and finds the tensor of each. */
static enum pw_code check_tensors(struct pw_foreign *f, struct pw_err *err)
{
    struct pw_pe_use_opts pe;
    struct pw_param *list = NULL;
    enum pw_number_type type = PW_NUMBER_F32;
    int n = 0;
    enum pw_code code = own_encoding(f, &f->info.cfg, &pe, err);
    bool all_16 = true;
    if (code == PW_OK)
        code = pw_model_list(&list, &n, &f->info.cfg, &pe, err);
    for (int i = 0; i < n && code == PW_OK; i++) {
        struct pw_weights_tensor *t;
        const struct pw_map_row *row;
        code = pw_map_find(&f->map, &list[i], &t, &row, err);
        f->info.parameters += t != NULL ? pw_param_count(&list[i]) : 0;
        all_16 = all_16 && code == PW_OK && keeps_16(f, &list[i], t, &type);
    }
    f->info.weight_bytes = all_16 ? 2 : 4;
    free(list);
    return code == PW_OK ? pw_map_surplus(&f->map, err) : code;
}

/* Compares the line that stands for the weights with the recorded one in a re-run, else records it. */
static enum pw_code witness(struct pw_foreign *f, struct pw_err *err)
{
    char line[160], *then;
    size_t size;
    snprintf(line, sizeof line, "pewter: weights of %zu bytes, sha256 %s\n", f->info.bytes, f->info.sha);
    if (!pw_file_copies()) {
        pw_file_note(f->path, line, strlen(line));
        return PW_OK;
    }
    enum pw_code code = pw_file_read_as(f->path, f->path, sizeof line, &then, &size, err);
    if (code == PW_OK && strcmp(then, line) != 0)
        code = pw_fail(err, PW_EUSER, "%.240s: has changed since the session read it: its SHA-256 differs",
                       f->path);
    free(then);
    return code;
}

enum pw_code pw_foreign_digest(struct pw_foreign *f, struct pw_err *err)
{
    struct pw_digest d;
    struct pw_source_files *s = &f->source;
    if (f->hashing == NULL)
        return PW_OK;
    enum pw_code code = pw_hashing_end(f->hashing, &d, err);
    if (code != PW_OK)
        return code;
    pw_hashing_close(f->hashing);
    f->hashing = NULL;
    pw_text_copy(f->info.sha, sizeof f->info.sha, d.sha);
    *s = (struct pw_source_files){.path = f->path, .files = d.files, .n = d.n, .pe = true};
    if (f->config_file.bytes > 0)
        s->files[s->n++] = f->config_file;
    f->info.source = s;
    return witness(f, err);
}

enum pw_code pw_foreign_open(struct pw_foreign **out, const char *path, bool digest, struct pw_err *err)
{
    struct pw_foreign *f = pw_alloc(1, sizeof *f);
    struct pw_str name = {0};
    *out = NULL;
    struct stat st;
    f->path = pw_text_dup(path);
    f->map.path = f->path;
    enum pw_code code = PW_OK;
    if (!pw_file_stat(path, &st))
        code = pw_fail(err, PW_EUSER, "%.240s: %s", path,
                       pw_file_copies() ? "is missing, and the session has no copy of it"
                                        : "there is no such file or folder");
    if (code == PW_OK)
        code = pw_weights_open(&f->map.weights, path, err);
    if (code == PW_OK)
        f->info.bytes = pw_weights_bytes(f->map.weights);
    f->gguf = code == PW_OK && pw_weights_gguf(f->map.weights) != NULL;
    if (f->gguf) {
        pw_str_add(&name, "%s", path);
        code = pw_gguf_config(f->map.weights, path, &f->config, err);
    } else if (code == PW_OK) {
        code = read_json(f, path, &f->config, &name, err);
    }
    if (code == PW_OK)
        code = read_family(f, f->config, name.s, err);
    if (code == PW_OK)
        code = find_prefix(f, err);
    if (code == PW_OK)
        code = check_tensors(f, err);
    if (code == PW_OK && digest)
        f->hashing = pw_hashing_begin(f->map.weights);
    if (code == PW_OK)
        f->origin = pw_origin_begin(f->map.weights, f->config);
    pw_str_fini(&name);
    if (code == PW_OK)
        *out = f;
    else
        pw_foreign_close(f);
    return code;
}

enum pw_code pw_foreign_recall(struct pw_foreign **out, const char *path, const char *origin,
                               struct pw_err *err)
{
    struct pw_foreign *f = pw_alloc(1, sizeof *f);
    cJSON *root = origin != NULL ? cJSON_Parse(origin) : NULL;
    const cJSON *format = cJSON_GetObjectItemCaseSensitive(root, "format");
    *out = NULL;
    f->path = pw_text_dup(path);
    f->map.path = f->path;
    f->gguf = cJSON_IsString(format) && strcmp(format->valuestring, "gguf") == 0;
    f->config = cJSON_DetachItemFromObjectCaseSensitive(root, f->gguf ? "config" : "settings");
    cJSON_Delete(root);
    enum pw_code code =
        f->config != NULL
            ? read_family(f, f->config, path, err)
            : pw_fail(err, PW_EUSER, "%.240s: is missing, and the model has no copy of its settings", path);
    if (code == PW_OK)
        *out = f;
    else
        pw_foreign_close(f);
    return code;
}

void pw_foreign_close(struct pw_foreign *f)
{
    if (f == NULL)
        return;
    pw_hashing_close(f->hashing);
    pw_weights_close(f->map.weights);
    free(f->source.files);
    cJSON_Delete(f->origin);
    cJSON_Delete(f->config);
    free(f->path);
    free(f);
}

const struct pw_foreign_info *pw_foreign_info(const struct pw_foreign *f)
{
    return &f->info;
}

void pw_foreign_pe(const struct pw_foreign *f, int context, struct pw_str *out)
{
    struct pw_config cfg = f->info.cfg;
    cfg.context = context;
    pw_positions_text(&f->at, &cfg, out);
}

/* The arguments of fill. */
struct filling {
    const struct pw_foreign *f;
    const struct pw_config *cfg;
    bool own_pe;
};

static enum pw_code fill(void *arg, const struct pw_param *p, float *out, bool *filled, struct pw_err *err)
{
    const struct filling *x = arg;
    struct pw_weights_tensor *t;
    const struct pw_map_row *row = NULL;
    *filled = false;
    if (p->adapter || (p->pe && !x->own_pe))
        return PW_OK;
    enum pw_code code = pw_map_find(&x->f->map, p, &t, &row, err);
    *filled = t != NULL || !p->pe;
    if (code == PW_OK && *filled)
        code = pw_map_values(&x->f->map, p, x->cfg, t, row, out, err);
    return code;
}

enum pw_code pw_foreign_model(struct pw_model **out, struct pw_foreign *f, const struct pw_backend_ops *ops,
                              struct pw_backend *be, const struct pw_config *cfg,
                              const struct pw_pe_use_opts *pe, bool own_pe, uint64_t seed, struct pw_err *err)
{
    struct filling x = {.f = f, .cfg = cfg, .own_pe = own_pe};
    enum pw_code code = pw_model_create_from(out, ops, be, cfg, pe, seed, fill, &x, err);
    if (code == PW_OK && (code = pw_foreign_digest(f, err)) != PW_OK) {
        pw_model_destroy(*out);
        *out = NULL;
    }
    if (code == PW_OK) {
        pw_model_set_source(*out, f->info.source);
        char *origin = pw_origin_text(f->origin, &f->map, cfg->head_width);
        pw_model_set_origin(*out, origin);
        cJSON_free(origin);
    }
    return code;
}
