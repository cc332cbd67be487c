/* event_json_finding.c - a finding as JSON: its blocks with their values as rows, claims, remarks.
 *
 * A row of a table or map contains its values. A row of a plot contains x, then y for each curve, or y, low
 * and high if there is a band. */
#include <math.h>

#include "base/json.h"
#include "sessions/event_json.h"

static void add_number(cJSON *list, double x)
{
    cJSON_AddItemToArray(list, isfinite(x) ? cJSON_CreateNumber(x) : cJSON_CreateNull());
}

static void add_names(cJSON *o, const char *key, const struct pw_finding *f, const struct pw_block *b, int n,
                      const char *(*name)(const struct pw_finding *, const struct pw_block *, int))
{
    cJSON *list = cJSON_AddArrayToObject(o, key);
    for (int i = 0; i < n; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(name(f, b, i)));
}

static void add_block(cJSON *o, const struct pw_finding *f, const struct pw_block *b)
{
    static const char *const kinds[] = {"table", "plot", "map"};
    int per_row = b->rows > 0 ? b->n_values / b->rows : 0;
    pw_json_str(o, "kind", kinds[b->kind]);
    pw_json_str(o, "title", b->title);
    if (b->kind == PW_BLOCK_PLOT) {
        pw_json_str(o, "x", b->x);
        pw_json_str(o, "y", b->y);
        cJSON_AddBoolToObject(o, "band", b->band);
        pw_json_num(o, "references", b->n_reference);
    }
    if (b->n_labels > 0 && b->kind != PW_BLOCK_PLOT)
        add_names(o, "row_names", f, b, b->rows, pw_finding_row_name);
    if (b->n_labels > 0)
        add_names(o, b->kind == PW_BLOCK_PLOT ? "curves" : "column_names", f, b, b->cols,
                  pw_finding_col_name);
    cJSON *rows = cJSON_AddArrayToObject(o, "rows");
    for (int i = 0; i < b->rows; i++) {
        cJSON *row = cJSON_CreateArray();
        cJSON_AddItemToArray(rows, row);
        for (int k = 0; k < per_row; k++)
            add_number(row, f->values[b->value + i * per_row + k]);
    }
}

void pw_finding_json(cJSON *o, const struct pw_finding *f)
{
    pw_json_str(o, "name", f->name);
    pw_json_str(o, "topic", f->topic);
    pw_json_str(o, "title", f->title);
    cJSON *blocks = cJSON_AddArrayToObject(o, "blocks");
    for (int i = 0; i < f->n_blocks; i++)
        add_block(pw_json_add(blocks), f, &f->blocks[i]);
    cJSON *claims = cJSON_AddArrayToObject(o, "claims");
    for (int i = 0; i < f->n_claims; i++) {
        cJSON *claim = pw_json_add(claims);
        pw_json_str(claim, "verdict", pw_claim_verdicts[f->claims[i].verdict]);
        pw_json_str(claim, "claim", f->claims[i].claim);
        pw_json_str(claim, "found", f->claims[i].found);
    }
    cJSON *remarks = cJSON_AddArrayToObject(o, "remarks");
    for (int i = 0; i < f->n_remarks; i++)
        cJSON_AddItemToArray(remarks, cJSON_CreateString(f->remarks[i].text));
    cJSON *actions = cJSON_AddArrayToObject(o, "actions");
    for (int i = 0; i < f->n_actions; i++) {
        cJSON *action = pw_json_add(actions);
        pw_json_num(action, "block", f->actions[i].block);
        pw_json_num(action, "row", f->actions[i].row);
        pw_json_str(action, "commands", f->actions[i].commands);
    }
}
