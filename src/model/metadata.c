/* metadata.c - the metadata pewter.config, pewter.vocab, pewter.task, pewter.optim, pewter.seed, pewter.step.
 * A model from another program's file also has pewter.origin, a resumable file pewter.schedule and
 * pewter.taken, an image pewter.options, and that of a model as a file gives it pewter.source (source.h).
 * Each is a JSON text.
 *
 * pewter.options is "given": the encoding's options have the values that the user gave. Without it they can
 * be those in effect, and a value that equals the one in effect by default is read as the default.
 *
 * Floats are written with the fewest digits that read back to the same value. Options pass through the option
 * tables in both directions, so a file cannot set a value that a command cannot set. */
#include "model/metadata.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model_int.h"

#define FORMULA "formula"
#define RULE    "rule" /* beside an encoding's options: see pe.h */

/* ---- writing */

static bool add_float(cJSON *object, const char *name, float x)
{
    char text[40];

    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)x);
        if (strtof(text, NULL) == x)
            break;
    }
    return cJSON_AddRawToObject(object, name, text) != NULL;
}

/* A choice of on and off is written like a switch, which it may have been in an earlier version. */
static bool add_choice(cJSON *object, const char *name, const char *choice)
{
    bool on = strcmp(choice, "on") == 0, is_switch = on || strcmp(choice, "off") == 0;

    return (is_switch ? cJSON_AddBoolToObject(object, name, on)
                      : cJSON_AddStringToObject(object, name, choice)) != NULL;
}

/* Adds the options except those with the same value in `without` (NULL: adds all). */
static bool add_options(cJSON *object, const struct pw_opt *table, const void *target, const void *without)
{
    bool ok = true;

    for (const struct pw_opt *o = table; o != NULL && o->name != NULL; o++) {
        const void *at = (const char *)target + o->offset;
        if (without != NULL && memcmp(at, (const char *)without + o->offset, sizeof(float)) == 0)
            continue;
        if (pw_opt_left_out(o, target))
            continue;
        switch (o->type) {
        case PW_OPT_INT: ok = cJSON_AddNumberToObject(object, o->name, *(const int *)at) != NULL && ok; break;
        case PW_OPT_DOUBLE:
            ok = cJSON_AddNumberToObject(object, o->name, *(const double *)at) != NULL && ok;
            break;
        case PW_OPT_FLOAT: ok = add_float(object, o->name, *(const float *)at) && ok; break;
        case PW_OPT_SWITCH:
            ok = cJSON_AddBoolToObject(object, o->name, *(const bool *)at) != NULL && ok;
            break;
        case PW_OPT_CHOICE: ok = add_choice(object, o->name, o->choices[*(const int *)at]) && ok; break;
        default: ok = false; /* tables of models and encodings have no other types */
        }
    }
    return ok;
}

/* Moves value into meta as JSON text. */
static bool add_text(cJSON *meta, const char *name, cJSON *value)
{
    char *text = value != NULL ? cJSON_PrintUnformatted(value) : NULL;
    bool ok = text != NULL && cJSON_AddStringToObject(meta, name, text) != NULL;

    cJSON_free(text);
    cJSON_Delete(value);
    return ok;
}

/* Adds a 64-bit integer as text, because cJSON's doubles cannot represent it. */
static bool add_integer(cJSON *meta, const char *name, uint64_t x)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, x);
    return cJSON_AddStringToObject(meta, name, text) != NULL;
}

static bool add_config(cJSON *meta, const struct pw_config *cfg, const struct pw_pe_use_opts *use)
{
    cJSON *config = cJSON_CreateObject(), *pe;
    struct pw_pe_tune as_it_is;
    bool ok = add_options(config, pw_config_opts, cfg, NULL) &&
              cJSON_AddNumberToObject(config, "vocab", cfg->vocab) != NULL;

    pw_opt_defaults(pw_pe_tune_opts, &as_it_is);
    pe = cJSON_AddObjectToObject(config, "pe");
    bool formula = use->pe->print != NULL;
    ok = ok && cJSON_AddStringToObject(pe, "name", formula ? "expr" : use->pe->name) != NULL &&
         add_options(pe, use->pe->opts, use->o.bytes, NULL) &&
         add_options(pe, pw_pe_tune_opts, &use->tune, &as_it_is);
    if (formula) {
        struct pw_str text = {0};
        if (strcmp(use->pe->name, "expr") != 0)
            ok = ok && cJSON_AddStringToObject(pe, "as", use->pe->name) != NULL;
        use->pe->print(use->o.bytes, &text);
        ok = ok && cJSON_AddStringToObject(pe, FORMULA, pw_str_text(&text)) != NULL;
        pw_str_fini(&text);
    }
    if (use->pe->rule != NULL && use->pe->rule(cfg) != 0)
        ok = ok && cJSON_AddNumberToObject(pe, RULE, use->pe->rule(cfg)) != NULL;
    return add_text(meta, "pewter.config", config) && ok;
}

cJSON *pw_metadata_make(const struct pw_checkpoint_info *info, const struct pw_model *m, bool resumable,
                        bool settled)
{
    const struct pw_pe_use_opts pe = settled ? pw_pe_settled(&m->pe, &m->cfg) : m->pe;
    cJSON *meta = cJSON_CreateObject(), *optim = cJSON_CreateObject();
    bool ok = add_options(optim, pw_optim_opts, &info->optim, NULL);

    ok = add_text(meta, "pewter.optim", optim) && ok;
    ok = add_config(meta, &m->cfg, &pe) && ok;
    if (info->vocab != NULL)
        ok = add_text(meta, "pewter.vocab",
                      cJSON_CreateStringArray((const char *const *)info->vocab, info->n_vocab)) &&
             ok;
    if (info->task != NULL)
        ok = add_text(meta, "pewter.task", cJSON_CreateString(info->task)) && ok;
    ok = add_integer(meta, "pewter.seed", info->seed) && ok;
    ok = add_integer(meta, "pewter.step", (uint64_t)info->step) && ok;
    if (m->origin != NULL)
        ok = cJSON_AddStringToObject(meta, PW_METADATA_ORIGIN, m->origin) != NULL && ok;
    if (resumable)
        ok = add_integer(meta, "pewter.schedule", (uint64_t)m->schedule) &&
             add_integer(meta, "pewter.taken", (uint64_t)m->steps) && ok;
    if (ok)
        return meta;
    cJSON_Delete(meta);
    return NULL;
}

bool pw_metadata_add_image(cJSON *meta, const struct pw_source_files *s)
{
    return add_text(meta, "pewter.options", cJSON_CreateString("given")) &&
           (s == NULL || add_text(meta, "pewter.source", pw_source_json(s)));
}

/* ---- reading */

/* Writes the value as an option's text to out. */
static bool as_text(const cJSON *item, char *out, size_t size)
{
    if (cJSON_IsBool(item))
        snprintf(out, size, "%s", cJSON_IsTrue(item) ? "on" : "off");
    else if (cJSON_IsNumber(item))
        snprintf(out, size, "%.17g", item->valuedouble);
    else if (cJSON_IsString(item) && strlen(item->valuestring) < size)
        snprintf(out, size, "%s", item->valuestring);
    else
        return false;
    return true;
}

static enum pw_code set_option(const struct pw_opt *table, void *target, const cJSON *item, const char *what,
                               struct pw_err *err)
{
    char text[64];

    if (!as_text(item, text, sizeof text))
        return pw_fail(err, PW_EUSER, "%s: '%.40s' has a value that is not allowed", what, item->string);
    return pw_opt_set(table, target, what, item->string, text, err);
}

static enum pw_code read_optim(struct pw_optim *optim, const cJSON *json, const char *what,
                               struct pw_err *err)
{
    const cJSON *item;
    enum pw_code code = PW_OK;

    for (item = json->child; item != NULL && code == PW_OK; item = item->next)
        code = set_option(pw_optim_opts, optim, item, what, err);
    return code;
}

static enum pw_code check_rule(const struct pw_pe_use_opts *use, const struct pw_config *cfg,
                               const cJSON *json, const char *what, struct pw_err *err)
{
    int ours = use->pe->rule != NULL ? use->pe->rule(cfg) : 0, theirs = json != NULL ? json->valueint : 0;

    if (theirs == ours)
        return PW_OK;
    return pw_fail(err, PW_EUSER,
                   "%s: %s of %s version, which is a different function of the distance in this model; these "
                   "weights cannot be used",
                   what, use->pe->name, theirs < ours ? "an earlier" : "a later");
}

/* Reads {"name": "t5", "buckets": 8} as "t5 buckets=8". given: the options have the values that the user
 * gave, not those in effect. */
static enum pw_code read_pe(struct pw_checkpoint_info *info, const cJSON *json, bool given, const char *what,
                            struct pw_err *err)
{
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "name"));
    struct pw_str text = {0};
    enum pw_code code = PW_OK;
    char value[64];

    if (name == NULL)
        return pw_fail(err, PW_EUSER, "%s: 'pe' must name an encoding", what);
    const char *formula = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, FORMULA));
    if (formula == NULL && pw_pe_find(name) == NULL) /* weights never read formula files */
        return pw_fail(err, PW_EUSER, "%s: no encoding '%.40s'", what, name);
    pw_str_add(&text, formula != NULL ? "%s '%s'" : "%s", name, formula);
    for (const cJSON *item = json->child; item != NULL && code == PW_OK; item = item->next) {
        if (strcmp(item->string, "name") == 0 || strcmp(item->string, RULE) == 0 ||
            strcmp(item->string, FORMULA) == 0)
            continue;
        if (as_text(item, value, sizeof value))
            pw_str_add(&text, " %s=%s", item->string, value);
        else
            code = pw_fail(err, PW_EUSER, "%s: '%.40s' has a value that is not allowed", what, item->string);
    }
    if (code == PW_OK)
        code = pw_pe_parse(&info->pe, pw_str_text(&text), &info->config, err);
    if (code == PW_OK)
        code = check_rule(&info->pe, &info->config, cJSON_GetObjectItemCaseSensitive(json, RULE), what, err);
    if (code == PW_OK && !given)
        pw_pe_unsettle(&info->pe, &info->config);
    pw_str_fini(&text);
    return code;
}

static enum pw_code read_config(struct pw_checkpoint_info *info, const cJSON *json, bool given,
                                const char *what, struct pw_err *err)
{
    const cJSON *vocab = cJSON_GetObjectItemCaseSensitive(json, "vocab");
    const cJSON *pe = cJSON_GetObjectItemCaseSensitive(json, "pe");
    enum pw_code code = PW_OK;

    pw_opt_defaults(pw_config_opts, &info->config);
    for (const cJSON *item = json->child; item != NULL && code == PW_OK; item = item->next)
        if (item != vocab && item != pe)
            code = set_option(pw_config_opts, &info->config, item, what, err);
    if (code)
        return code;
    if (!cJSON_IsNumber(vocab) || !(vocab->valuedouble >= 1 && vocab->valuedouble <= 1 << 24) ||
        vocab->valuedouble != vocab->valueint)
        return pw_fail(err, PW_EUSER, "%s: vocab must be an integer of at least 1", what);
    info->config.vocab = vocab->valueint;
    code = pw_config_check(&info->config, err);
    if (code == PW_OK)
        code = read_pe(info, pe, given, what, err);
    info->has_config = code == PW_OK;
    return code;
}

static enum pw_code read_vocab(struct pw_checkpoint_info *info, const cJSON *json, const char *what,
                               struct pw_err *err)
{
    const cJSON *item;
    int n = cJSON_GetArraySize(json);

    if (!cJSON_IsArray(json) || n < 1)
        return pw_fail(err, PW_EUSER, "%s must be an array of strings", what);
    info->vocab = calloc((size_t)n, sizeof *info->vocab);
    if (info->vocab == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory");
    cJSON_ArrayForEach(item, json)
    {
        if (!cJSON_IsString(item) || !pw_utf8_valid(item->valuestring, strlen(item->valuestring)))
            return pw_fail(err, PW_EUSER, "%s must be an array of strings in UTF-8", what);
        info->vocab[info->n_vocab] = strdup(item->valuestring);
        if (info->vocab[info->n_vocab++] == NULL)
            return pw_fail(err, PW_ENOMEM, "out of memory");
    }
    return PW_OK;
}

static enum pw_code read_task(struct pw_checkpoint_info *info, const cJSON *json, const char *what,
                              struct pw_err *err)
{
    if (!cJSON_IsString(json))
        return pw_fail(err, PW_EUSER, "%s must be a string", what);
    info->task = strdup(json->valuestring);
    return info->task != NULL ? PW_OK : pw_fail(err, PW_ENOMEM, "out of memory");
}

/* Parses the metadata KEY as JSON; *json stays NULL if the file does not have it. */
static enum pw_code parse(cJSON **json, const struct pw_st *st, const char *key, const char *what,
                          struct pw_err *err)
{
    const char *text = pw_st_meta(st, key);

    *json = text != NULL ? cJSON_Parse(text) : NULL;
    return text != NULL && *json == NULL ? pw_fail(err, PW_EUSER, "%s is not JSON", what) : PW_OK;
}

static enum pw_code read_integer(uint64_t *out, const struct pw_st *st, const char *key, uint64_t most,
                                 const char *path, struct pw_err *err)
{
    const char *text = pw_st_meta(st, key);
    size_t digits = text != NULL ? strspn(text, "0123456789") : 0;
    char max[24];

    if (text == NULL)
        return PW_OK;
    snprintf(max, sizeof max, "%" PRIu64, most);
    if (digits == 0 || text[digits] != '\0' || digits > strlen(max) ||
        (digits == strlen(max) && strcmp(text, max) > 0))
        return pw_fail(err, PW_EUSER, "%s: %s must be an integer in 0..%s", path, key, max);
    *out = strtoull(text, NULL, 10);
    return PW_OK;
}

/* Reads a step count; without the key *out becomes `step`. */
static enum pw_code read_steps(int64_t *out, int64_t step, const struct pw_st *st, const char *key,
                               const char *path, struct pw_err *err)
{
    uint64_t n = (uint64_t)step;
    enum pw_code code = read_integer(&n, st, key, PW_MOST_STEPS, path, err);

    *out = (int64_t)n;
    return code;
}

static enum pw_code read_all(const struct pw_st *st, struct pw_checkpoint_info *info,
                             struct pw_metadata_counts *counts, const char *path, struct pw_err *err)
{
    static const char *const keys[] = {"pewter.config", "pewter.vocab", "pewter.task", "pewter.optim",
                                       "pewter.source"};
    bool given = pw_st_meta(st, "pewter.options") != NULL;
    enum pw_code code;

    for (int i = 0; i < 5; i++) {
        char what[300];
        cJSON *json;
        snprintf(what, sizeof what, "%.240s: %s", path, keys[i]);
        code = parse(&json, st, keys[i], what, err);
        if (code == PW_OK && json != NULL)
            code = i == 0   ? read_config(info, json, given, what, err)
                   : i == 1 ? read_vocab(info, json, what, err)
                   : i == 2 ? read_task(info, json, what, err)
                   : i == 3 ? read_optim(&info->optim, json, what, err)
                            : pw_source_read(&info->source, json, what, err);
        cJSON_Delete(json);
        if (code)
            return code;
    }
    code = read_integer(&info->seed, st, "pewter.seed", UINT64_MAX, path, err);
    if (code == PW_OK)
        code = read_steps(&info->step, 0, st, "pewter.step", path, err);
    if (code == PW_OK)
        code = read_steps(&counts->schedule, info->step, st, "pewter.schedule", path, err);
    if (code == PW_OK)
        code = read_steps(&counts->taken, info->step, st, "pewter.taken", path, err);
    if (code == PW_OK && info->has_config && info->vocab != NULL && info->n_vocab != info->config.vocab)
        return pw_fail(err, PW_EUSER, "%s: pewter.vocab has %d words, pewter.config says %d", path,
                       info->n_vocab, info->config.vocab);
    return code;
}

enum pw_code pw_metadata_read(const struct pw_st *st, struct pw_checkpoint_info *info,
                              struct pw_metadata_counts *counts, const char *path, struct pw_err *err)
{
    enum pw_code code;

    *info = (struct pw_checkpoint_info){0};
    pw_opt_defaults(pw_optim_opts, &info->optim);
    code = read_all(st, info, counts, path, err);
    if (code)
        pw_metadata_fini(info);
    return code;
}

void pw_metadata_fini(struct pw_checkpoint_info *info)
{
    for (int i = 0; i < info->n_vocab; i++)
        free(info->vocab[i]);
    free(info->vocab);
    free(info->task);
    pw_source_free(info->source);
    *info = (struct pw_checkpoint_info){0};
}
