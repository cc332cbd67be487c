/* event_json_views.c - kinds of events whose JSON is a view of their members, with what `export` writes left
 * out. */
#include <stdlib.h>

#include "base/json.h"
#include "sessions/event_json_int.h"

/* NaN, for a block without parameters, becomes null. */
void pw_json_updates(cJSON *o, const char *as, const void *base)
{
    const struct pw_ev_updates *u = base;
    cJSON *ratio = cJSON_AddObjectToObject(o, "ratio");
    char name[24];
    (void)as;
    for (int i = 0; i < u->n; i++) {
        pw_block_name(name, i, u->n);
        pw_json_num(ratio, name, u->ratio[i]);
    }
}

/* Omits the maps; `export attention` writes them. */
void pw_json_attention(cJSON *o, const char *as, const void *base)
{
    const struct pw_ev_attention *a = base;
    (void)as;
    if (a->source[0] != '\0')
        pw_json_str(o, "source", a->source);
    else
        pw_json_num(o, "prompt", a->prompt);
    pw_json_num(o, "layer", a->layer);
    pw_json_num(o, "head", a->head);
    pw_json_num(o, "T", a->T);
    cJSON *gold = cJSON_AddArrayToObject(o, "gold");
    for (int i = 0; i < a->n_gold; i++)
        cJSON_AddItemToArray(gold, cJSON_CreateIntArray((int[]){a->gold[i].query, a->gold[i].key}, 2));
    cJSON *gates = a->gate_values != NULL ? cJSON_AddArrayToObject(o, "gates") : NULL;
    for (int h = 0; gates != NULL && h < a->heads; h++) /* of the inspected layer */
        cJSON_AddItemToArray(gates, cJSON_CreateFloatArray(a->gate_values + (size_t)h * a->T, a->T));
    cJSON *chance = cJSON_AddObjectToObject(o, "chance"), *heads = cJSON_AddArrayToObject(o, "heads");
    for (int k = 0; k < a->n_scores; k++)
        pw_json_num(chance, a->kinds[k].name, a->kinds[k].chance);
    for (int h = 0; a->scores != NULL && h < a->layers * a->heads; h++) {
        cJSON *head = pw_json_add(heads);
        pw_json_num(head, "layer", h / a->heads);
        pw_json_num(head, "head", h % a->heads);
        for (int k = 0; k < a->n_scores; k++)
            pw_json_num(head, a->kinds[k].name, a->scores[h * a->n_scores + k]);
    }
}

/* Omits the logits' parts and the lens; `export step` writes them. */
void pw_json_look(cJSON *o, const char *as, const void *base)
{
    const struct pw_ev_inspection *k = base;
    (void)as;
    pw_json_num(o, "prompt", k->prompt);
    pw_json_num(o, "pos", k->pos);
    if (k->n > 0) {
        pw_json_str(o, "token", k->token[k->said].label);
        pw_json_num(o, "logit", k->token[k->said].logit);
    }
    if (k->n > 0 && k->target >= 0)
        pw_json_str(o, "target", k->token[k->target].label);
    pw_json_num(o, "entropy_bits", k->entropy);
    pw_json_num(o, "worst_sum", k->worst);
}

void pw_json_heads(cJSON *o, const char *as, const void *base)
{
    const struct pw_ev_heads *h = base;
    (void)as;
    cJSON *off = cJSON_AddArrayToObject(o, "off");
    pw_json_num(o, "layers", h->layers);
    pw_json_num(o, "heads", h->heads);
    for (int i = 0; h->mode != NULL && i < h->layers * h->heads; i++) {
        if (h->mode[i] == PW_ABLATE_NONE)
            continue;
        cJSON *one = pw_json_add(off);
        pw_json_num(one, "layer", i / h->heads);
        pw_json_num(one, "head", i % h->heads);
        pw_json_str(one, "mode", pw_ablation_names[h->mode[i]]);
    }
}

static void add_labels(cJSON *o, const char *key, char (*text)[PW_LABEL], int n)
{
    cJSON *list = cJSON_AddArrayToObject(o, key);
    for (int i = 0; text != NULL && i < n; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(text[i]));
}

void pw_json_patch(cJSON *o, const char *as, const void *base)
{
    const struct pw_ev_patch *p = base;
    (void)as;
    pw_json_str(o, "what", p->kind == PW_PATCH_RESID ? "resid" : "heads");
    if (p->layer >= 0)
        pw_json_num(o, "layer", p->layer);
    if (p->head >= 0)
        pw_json_num(o, "head", p->head);
    if (p->pos >= 0)
        pw_json_num(o, "pos", p->pos);
    add_labels(o, "clean", p->clean, p->T);
    add_labels(o, "corrupt", p->corrupt, p->T);
    pw_json_str(o, "clean_token", p->clean_token);
    pw_json_str(o, "corrupt_token", p->corrupt_token);
    cJSON_AddBoolToObject(o, "greedy", p->greedy);
    pw_json_num(o, "m_clean", p->m_clean);
    pw_json_num(o, "m_corrupt", p->m_corrupt);
    pw_json_matrix(o, "recovery", p->recovery, p->rows, p->cols);
}
