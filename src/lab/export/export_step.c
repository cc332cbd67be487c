/* export_step.c - `export step`: the complete data that produced the token at the cursor. */
#include "base/file.h"
#include "base/json.h"
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/export/export_int.h"
#include "lab/looks/looks.h"

static void add_candidates(cJSON *o, const struct pw_ev_inspection *k)
{
    cJSON *list = cJSON_AddArrayToObject(o, "candidates");
    for (int i = 0; i < k->n; i++) {
        const struct pw_inspection_token *t = &k->token[i];
        cJSON *one = pw_json_add(list);
        pw_json_str(one, "token", t->label);
        pw_json_num(one, "id", t->token);
        pw_json_num(one, "rank", t->rank);
        pw_json_num(one, "prob", t->prob);
        pw_json_num(one, "logit", t->logit);
    }
}

static void add_parts(cJSON *o, const struct pw_ev_inspection *k)
{
    cJSON *list = cJSON_AddArrayToObject(o, "parts");
    for (int i = 0; i < k->n_parts; i++) {
        cJSON *one = pw_json_add(list);
        pw_json_str(one, "part", k->parts[i].name);
        cJSON_AddItemToObject(one, "logit", cJSON_CreateDoubleArray(k->part + (size_t)i * k->n, k->n));
        pw_json_num(one, "mean", k->mean[i]);
    }
}

static void add_lens(cJSON *o, const struct pw_ev_inspection *k)
{
    cJSON *list = cJSON_AddArrayToObject(o, "lens");
    for (int l = 0; l <= k->layers; l++) {
        cJSON *one = pw_json_add(list);
        pw_json_num(one, "layers", l);
        pw_json_str(one, "top", k->lens[l].label);
        pw_json_num(one, "top_prob", k->lens[l].prob);
        pw_json_num(one, "entropy_bits", k->lens[l].entropy);
        pw_json_floats(one, "prob", k->lens_prob + (size_t)l * k->n, k->n);
        pw_json_ints(one, "rank", k->lens_rank + (size_t)l * k->n, k->n);
    }
}

static void write_look(FILE *f, const struct pw_ev_inspection *k)
{
    cJSON *o = cJSON_CreateObject();
    pw_json_num(o, "position", k->pos);
    pw_json_num(o, "temperature", k->temperature);
    pw_json_num(o, "entropy_bits", k->entropy);
    pw_json_num(o, "mean_logit", k->mean_logit);
    pw_json_num(o, "said", k->said);
    if (k->target >= 0)
        pw_json_num(o, "right", k->target);
    add_candidates(o, k);
    add_parts(o, k);
    pw_json_num(o, "worst_sum", k->worst);
    add_lens(o, k);
    pw_json_line(f, o);
}

enum pw_code pw_lab_export_step(struct pw_lab *lab, const char *path, const struct pw_args *args,
                                struct pw_err *err)
{
    struct pw_event *e;
    struct pw_file *file;
    (void)args;
    enum pw_code code = pw_lab_need_answer(lab, "export step", err);
    if (code == PW_OK)
        code = pw_lab_inspect(lab, pw_lab_inspected(lab), pw_lab_cursor(&lab->pin), &e, err);
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
