#include "study/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/json.h"
#include "study/place.h"

#define FORMAT   1
#define FILE_MAX (1 << 20)

void pw_result_fini(struct pw_result *r)
{
    free(r->rows);
    r->rows = NULL;
    r->n = 0;
}

/* ---- from the output of a run */

static double number(const cJSON *o, const char *key)
{
    const cJSON *x = cJSON_GetObjectItemCaseSensitive(o, key);
    return cJSON_IsNumber(x) ? x->valuedouble : NAN;
}

/* A count; -1 if it is none. 2^53: the largest that JSON has exactly. */
static int64_t count(const cJSON *o, const char *key)
{
    double x = number(o, key);
    return x >= 0.0 && x <= 9007199254740992.0 && x == floor(x) ? (int64_t)x : -1;
}

/* Reads rows of an evaluation or a result. Returns false if one is no row, or there are too many. */
static bool read_rows(struct pw_result *r, const cJSON *rows)
{
    const cJSON *o;
    int n = cJSON_GetArraySize(rows); /* 0 if it is no array */
    pw_result_fini(r);
    if (n < 1 || n > PW_RESULT_LENGTHS)
        return false;
    r->rows = pw_alloc((size_t)n, sizeof *r->rows);
    cJSON_ArrayForEach(o, rows)
    {
        struct pw_result_row *row = &r->rows[r->n++];
        *row = (struct pw_result_row){.length = (int)fmin(number(o, "length"), 1e9),
                                      .trained = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "trained")),
                                      .samples = count(o, "samples"),
                                      .exact = count(o, "exact"),
                                      .early = count(o, "early"),
                                      .late = count(o, "late"),
                                      .wrong = count(o, "wrong"),
                                      .loss = number(o, "loss")};
        if (row->length < 1 || row->samples < 1 || row->exact < 0 || row->exact > row->samples ||
            row->early < 0 || row->late < 0 || row->wrong < 0)
            return false;
    }
    return true;
}

static void read_event(struct pw_result_reader *reader, const cJSON *o)
{
    struct pw_result *r = reader->r;
    const char *kind = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, "kind"));
    const cJSON *list;
    if (kind == NULL)
        return;
    if (strcmp(kind, "lab") == 0) {
        list = cJSON_GetObjectItemCaseSensitive(
            cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(o, "tasks"), 0), "train");
        if (cJSON_GetArraySize(list) == 2) {
            reader->trained_min = cJSON_GetArrayItem(list, 0)->valueint;
            reader->trained_max = cJSON_GetArrayItem(list, 1)->valueint;
        }
    } else if (strcmp(kind, "eval") == 0) {
        r->steps = count(o, "step");
        if (!read_rows(r, cJSON_GetObjectItemCaseSensitive(o, "rows")))
            pw_result_fini(r);
        for (int i = 0; i < r->n; i++)
            r->rows[i].trained =
                r->rows[i].length >= reader->trained_min && r->rows[i].length <= reader->trained_max;
    } else {
        const char *digest = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, "digest"));
        if (digest != NULL)
            pw_text_copy(r->digest, sizeof r->digest, digest);
    }
}

/* Most lines are steps, so they are not parsed as JSON. */
bool pw_result_step(const char *line, const char *member, double *value)
{
    char key[24];
    snprintf(key, sizeof key, "\"%s\":", member);
    const char *at = strstr(line, key);
    if (at == NULL || strstr(line, "\"kind\":\"step\"") == NULL)
        return false;
    *value = strtod(at + strlen(key), NULL);
    return true;
}

void pw_result_line(struct pw_result_reader *reader, const char *line)
{
    if (pw_result_step(line, "flops", &reader->r->operations)) /* of all steps, also of earlier processes */
        return;
    static const char *const kinds[] = {"\"kind\":\"lab\"", "\"kind\":\"eval\"", "\"kind\":\"digest\""};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strstr(line, kinds[i]) != NULL) {
            cJSON *o = cJSON_Parse(line);
            read_event(reader, o);
            cJSON_Delete(o);
            return;
        }
}

/* ---- files */

enum pw_code pw_result_write(const char *folder, const struct pw_result *r, struct pw_err *err)
{
    struct pw_str path = {0};
    struct pw_file *f;
    pw_study_cell_path(&path, folder, r->id, ".json");
    enum pw_code code = pw_file_create(&f, path.s, err);
    pw_str_fini(&path);
    if (code != PW_OK)
        return code;
    cJSON *o = cJSON_CreateObject(), *rows;
    pw_json_num(o, "format", FORMAT);
    pw_json_str(o, "id", r->id);
    pw_json_str(o, "pewter", PEWTER_VERSION);
    pw_json_str(o, "digest", r->digest);
    pw_json_num(o, "steps", (double)r->steps);
    pw_json_num(o, "operations", r->operations);
    pw_json_num(o, "seconds", r->seconds);
    rows = cJSON_AddArrayToObject(o, "rows");
    for (int i = 0; i < r->n; i++) {
        const struct pw_result_row *row = &r->rows[i];
        cJSON *x = pw_json_add(rows);
        pw_json_num(x, "length", row->length);
        cJSON_AddBoolToObject(x, "trained", row->trained);
        pw_json_num(x, "samples", (double)row->samples);
        pw_json_num(x, "exact", (double)row->exact);
        pw_json_num(x, "early", (double)row->early);
        pw_json_num(x, "late", (double)row->late);
        pw_json_num(x, "wrong", (double)row->wrong);
        if (!isnan(row->loss))
            pw_json_num(x, "loss", row->loss);
    }
    pw_json_line(pw_file_stream(f), o);
    return pw_file_commit(f, err);
}

static bool parse(struct pw_result *r, const char *text, const char *id)
{
    cJSON *o = cJSON_Parse(text);
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, "id"));
    const char *digest = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, "digest"));
    double operations = number(o, "operations");
    *r = (struct pw_result){.steps = count(o, "steps"), .seconds = number(o, "seconds")};
    r->operations = operations > 0.0 ? operations : 0.0;
    bool good = number(o, "format") == FORMAT && name != NULL && strcmp(name, id) == 0 && digest != NULL &&
                r->steps >= 0 && r->seconds >= 0.0 &&
                read_rows(r, cJSON_GetObjectItemCaseSensitive(o, "rows"));
    pw_text_copy(r->id, sizeof r->id, id);
    pw_text_copy(r->digest, sizeof r->digest, digest != NULL ? digest : "");
    cJSON_Delete(o);
    return good;
}

enum pw_code pw_result_read(struct pw_result *r, const char *folder, const char *id, struct pw_err *err)
{
    struct pw_str path = {0};
    char *text = NULL;
    size_t size;
    pw_study_cell_path(&path, folder, id, ".json");
    enum pw_code code = pw_file_read(path.s, FILE_MAX, &text, &size, err);
    if (code == PW_OK && !parse(r, text, id)) {
        pw_result_fini(r);
        code = pw_fail(err, PW_EUSER, "%.400s is no result of this cell; delete it, and the cell runs again",
                       path.s);
    }
    free(text);
    pw_str_fini(&path);
    return code;
}

/* ---- measures */

bool pw_result_is_loss(const struct pw_result *r)
{
    return r->n > 0 && !isnan(r->rows[0].loss);
}

double pw_result_mean(const struct pw_result *r, bool trained)
{
    double sum = 0.0;
    int n = 0;
    for (int i = 0; i < r->n; i++) {
        const struct pw_result_row *row = &r->rows[i];
        if (row->trained != trained)
            continue;
        sum += pw_result_is_loss(r) ? -row->loss : (double)row->exact / (double)row->samples;
        n++;
    }
    return n > 0 ? sum / n : NAN;
}
