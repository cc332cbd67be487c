/* export_sheet.c - what was measured, as rows: one a step, a block or a length, of every replicate of every
 * arm.
 *
 * Where an arm has several replicates, a last column tells them apart: the seed of each one's initialisation.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "lab/export_int.h"

#define MOST 16

/* Column names, and a row of what stands under them: a text, or where that is NULL a number, NaN for none. */
struct sheet {
    FILE *f;
    bool json;
    const char *const *names;
    int n;
    const char *texts[MOST];
    double numbers[MOST];
    bool seeds;    /* is there a column of seeds? */
    uint64_t seed; /* apart, because not every one is a double */
};

static void begin(struct sheet *s, const char *const *names, int n)
{
    s->names = names;
    s->n = n;
    for (int i = 0; !s->json && i < n; i++)
        fprintf(s->f, "%s%s", i > 0 ? "," : "", names[i]);
    if (!s->json)
        fputs(s->seeds ? ",seed\n" : "\n", s->f);
}

static void end_row(const struct sheet *s)
{
    cJSON *o = s->json ? cJSON_CreateObject() : NULL;
    char seed[24];
    snprintf(seed, sizeof seed, "%" PRIu64, s->seed);
    for (int i = 0; i < s->n; i++) {
        if (s->json && s->texts[i] != NULL)
            cJSON_AddStringToObject(o, s->names[i], s->texts[i]);
        else if (s->json)
            cJSON_AddNumberToObject(o, s->names[i], s->numbers[i]);
        else if (s->texts[i] != NULL)
            fprintf(s->f, "%s%s", i > 0 ? "," : "", s->texts[i]);
        else if (isnan(s->numbers[i]))
            fputs(i > 0 ? "," : "", s->f);
        else
            fprintf(s->f, "%s%.9g", i > 0 ? "," : "", s->numbers[i]);
    }
    if (s->json) {
        if (s->seeds)
            cJSON_AddRawToObject(o, "seed", seed);
        pw_export_json(s->f, o);
    } else
        fprintf(s->f, "%s%s\n", s->seeds ? "," : "", s->seeds ? seed : "");
}

static void curve_rows(const struct pw_snapshot *record, const struct pw_arm_view *a, int r, struct sheet *s)
{
    const struct pw_series *v = &a->rep[r].series;
    (void)record;
    for (int k = 0; k < v->n; k++) {
        s->numbers[2] = (double)v->step[k];
        s->numbers[3] = v->v[PW_M_LOSS][k];
        s->numbers[4] = v->v[PW_M_ACCURACY][k];
        s->numbers[5] = v->v[PW_M_LR][k];
        s->numbers[6] = v->v[PW_M_GRAD_NORM][k];
        s->numbers[7] = v->flops[k];
        end_row(s);
    }
}

static void update_rows(const struct pw_snapshot *record, const struct pw_arm_view *a, int r, struct sheet *s)
{
    const struct pw_updates *u = &a->rep[r].updates;
    char name[24];
    (void)record;
    s->texts[3] = name;
    for (int k = 0; k < u->n; k++)
        for (int b = 0; b < u->blocks; b++) {
            pw_block_name(name, b, u->blocks);
            s->numbers[2] = (double)u->step[k];
            s->numbers[4] = u->ratio[(size_t)k * u->blocks + b];
            if (!isnan(s->numbers[4])) /* a block without parameters has no rows */
                end_row(s);
        }
}

static void track_rows(const struct pw_snapshot *record, const struct pw_arm_view *a, int r, struct sheet *s)
{
    const struct pw_track *t = &a->rep[r].track;
    (void)record;
    for (int k = 0; k < t->n; k++) {
        s->numbers[2] = (double)t->step[k];
        s->numbers[3] = t->in_range[k];
        s->numbers[4] = t->beyond[k];
        end_row(s);
    }
}

static void length_rows(const struct pw_snapshot *record, const struct pw_arm_view *a, int r, struct sheet *s)
{
    const struct pw_ev_eval *v = &a->rep[r].eval;
    for (int k = 0; k < v->n; k++) {
        const struct pw_eval_row *row = &v->rows[k];
        if (row->samples == 0)
            continue;
        s->texts[2] = record->lab.tasks[row->task].name;
        s->numbers[3] = row->length;
        s->numbers[4] = row->samples;
        s->numbers[5] = (double)row->exact / row->samples;
        pw_eval_wilson(row->exact, row->samples, &s->numbers[6], &s->numbers[7]);
        s->numbers[8] = (double)row->tokens_right / (double)row->tokens;
        end_row(s);
    }
}

static enum pw_code
write_sheet(const struct pw_snapshot *record, const char *path, const char *const *names, int n,
            void (*rows)(const struct pw_snapshot *, const struct pw_arm_view *, int, struct sheet *),
            struct pw_err *err)
{
    struct pw_file *file;
    enum pw_code code = pw_file_create(&file, path, err);
    if (code != PW_OK)
        return code;
    struct sheet s = {.f = pw_file_stream(file), .json = strcmp(strrchr(path, '.'), ".jsonl") == 0};
    for (int i = 0; i < PW_MAX_ARMS; i++)
        s.seeds = s.seeds || (record->arms[i].used && record->arms[i].info.replicates > 1);
    begin(&s, names, n);
    for (int i = 0; i < PW_MAX_ARMS; i++) {
        const struct pw_arm_view *a = &record->arms[i];
        for (int r = 0; a->used && r < a->info.replicates; r++) {
            s.numbers[0] = i + 1;
            s.texts[1] = a->info.pe;
            s.seed = a->info.seed + (uint64_t)r;
            rows(record, a, r, &s);
        }
    }
    return pw_file_commit(file, err);
}

enum pw_code pw_export_curves(const struct pw_snapshot *record, const char *path, struct pw_err *err)
{
    static const char *const names[] = {"arm", "pe", "step", "loss", "accuracy", "lr", "grad_norm", "flops"};
    return write_sheet(record, path, names, 8, curve_rows, err);
}

enum pw_code pw_export_updates(const struct pw_snapshot *record, const char *path, struct pw_err *err)
{
    static const char *const names[] = {"arm", "pe", "step", "block", "ratio"};
    return write_sheet(record, path, names, 5, update_rows, err);
}

enum pw_code pw_export_track(const struct pw_snapshot *record, const char *path, struct pw_err *err)
{
    static const char *const names[] = {"arm", "pe", "step", "exact", "exact_beyond"};
    return write_sheet(record, path, names, 5, track_rows, err);
}

enum pw_code pw_export_lengths(const struct pw_snapshot *record, const char *path, struct pw_err *err)
{
    static const char *const names[] = {"arm",   "pe",        "task",       "length",        "samples",
                                        "exact", "exact_low", "exact_high", "token_accuracy"};
    bool any = false;
    for (int i = 0; i < PW_MAX_ARMS; i++)
        any = any || (record->arms[i].used && record->arms[i].rep[0].eval.n > 0);
    if (!any)
        return pw_fail(err, PW_EUSER, "export lengths: nothing was evaluated yet; run 'eval' first");
    return write_sheet(record, path, names, 9, length_rows, err);
}
