/* export_step.c - `export step`: what led to the token at the cursor, in full. */
#include <stdlib.h>

#include "base/file.h"
#include "lab/export_int.h"
#include "lab/lab_int.h"

static cJSON *candidates(const struct pw_ev_look *k)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < k->n; i++) {
        const struct pw_look_token *t = &k->token[i];
        cJSON *o = cJSON_CreateObject();
        cJSON_AddStringToObject(o, "token", t->label);
        cJSON_AddNumberToObject(o, "id", t->token);
        cJSON_AddNumberToObject(o, "rank", t->rank);
        cJSON_AddNumberToObject(o, "prob", t->prob);
        cJSON_AddNumberToObject(o, "logit", t->logit);
        cJSON_AddItemToArray(list, o);
    }
    return list;
}

static cJSON *parts(const struct pw_ev_look *k)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < k->n_parts; i++) {
        cJSON *o = cJSON_CreateObject();
        cJSON_AddStringToObject(o, "part", k->parts[i].name);
        cJSON_AddItemToObject(o, "logit", cJSON_CreateDoubleArray(k->part + (size_t)i * k->n, k->n));
        cJSON_AddNumberToObject(o, "mean", k->mean[i]);
        cJSON_AddItemToArray(list, o);
    }
    return list;
}

static cJSON *lens(const struct pw_ev_look *k)
{
    cJSON *list = cJSON_CreateArray();
    for (int l = 0; l <= k->layers; l++) {
        cJSON *o = cJSON_CreateObject();
        cJSON_AddNumberToObject(o, "layers", l);
        cJSON_AddStringToObject(o, "top", k->lens[l].label);
        cJSON_AddNumberToObject(o, "top_prob", k->lens[l].prob);
        cJSON_AddNumberToObject(o, "entropy_bits", k->lens[l].entropy);
        cJSON_AddItemToObject(o, "prob", cJSON_CreateFloatArray(k->lens_prob + (size_t)l * k->n, k->n));
        cJSON_AddItemToObject(o, "rank", cJSON_CreateIntArray(k->lens_rank + (size_t)l * k->n, k->n));
        cJSON_AddItemToArray(list, o);
    }
    return list;
}

static void write_look(FILE *f, const struct pw_ev_look *k)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "position", k->pos);
    cJSON_AddNumberToObject(o, "temperature", k->temperature);
    cJSON_AddNumberToObject(o, "entropy_bits", k->entropy);
    cJSON_AddNumberToObject(o, "mean_logit", k->mean_logit);
    cJSON_AddNumberToObject(o, "said", k->said);
    if (k->target >= 0)
        cJSON_AddNumberToObject(o, "right", k->target);
    cJSON_AddItemToObject(o, "candidates", candidates(k));
    cJSON_AddItemToObject(o, "parts", parts(k));
    cJSON_AddNumberToObject(o, "worst_sum", k->worst);
    cJSON_AddItemToObject(o, "lens", lens(k));
    pw_export_json(f, o);
}

enum pw_code pw_lab_export_step(struct pw_lab *lab, const char *path, const struct pw_args *args,
                                struct pw_err *err)
{
    struct pw_event *e;
    struct pw_file *file;
    enum pw_code code = pw_args_opts(args, NULL, NULL, err);
    if (code == PW_OK)
        code = pw_lab_need_answer(lab, "export step", err);
    if (code == PW_OK)
        code = pw_lab_look_at(lab, pw_lab_current(lab), pw_lab_cursor(&lab->pin), &e, err);
    if (code != PW_OK)
        return code;
    code = pw_file_create(&file, path, err);
    if (code == PW_OK) {
        write_look(pw_file_stream(file), &e->u.look);
        code = pw_file_commit(file, err);
    }
    pw_event_free(e);
    return code;
}
