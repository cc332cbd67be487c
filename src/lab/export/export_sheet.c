/* export_sheet.c - measurements as rows: one row per step, block or length, for every replica of every arm.
 *
 * Columns that few sheets need exist only in these. If lengths are pairs: length_a and length_b, and a row
 * for every pair. Of running text: its loss in nats per token and its perplexity, and no exact match. If
 * inputs are few: whether they were seen in training (seen). If answers were decoded, or should have been:
 * what `exact` is (judged), and its teacher-forced value. If an arm has several replicas: the seed of each
 * initialisation, and with own batches the seed of its samples. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/maths.h"
#include "lab/export/export_int.h"

#define N_LENGTHS 9  /* columns of every sheet by length */
#define N_ERRORS  10 /* columns of every sheet of errors, before the columns by place */
#define MOST      (N_ERRORS + PW_PLACES)

/* Column names and one row of values: a text or, if it is NULL, a number; NaN: none. */
struct sheet {
    FILE *f;
    bool json;
    const char *const *names;
    int n;
    const char *texts[MOST];
    double numbers[MOST];                             /* NaN: unknown, written as an empty field */
    bool pairs, seen, losses, judged, seeds, batches; /* does the sheet have these columns? */
    /* separate from numbers, because a double can't hold every seed */
    uint64_t seed, batch_seed;
};

static void begin_sheet(const struct sheet *s)
{
    for (int i = 0; !s->json && i < s->n; i++)
        fprintf(s->f, "%s%s", i > 0 ? "," : "", s->names[i]);
    if (!s->json)
        fprintf(s->f, "%s%s\n", s->seeds ? ",seed" : "", s->batches ? ",batch_seed" : "");
}

static void end_row(const struct sheet *s)
{
    cJSON *o = s->json ? cJSON_CreateObject() : NULL;
    char seed[24] = "", batches[24] = "";
    if (s->seeds)
        snprintf(seed, sizeof seed, "%" PRIu64, s->seed);
    if (s->batches)
        snprintf(batches, sizeof batches, "%" PRIu64, s->batch_seed);
    for (int i = 0; i < s->n; i++) {
        bool number = s->texts[i] == NULL;
        if (!s->json && i > 0)
            fputc(',', s->f);
        if (s->json && !number)
            pw_json_str(o, s->names[i], s->texts[i]);
        else if (s->json) /* NaN becomes null */
            pw_json_num(o, s->names[i], s->numbers[i]);
        else if (!number)
            fputs(s->texts[i], s->f);
        else if (!isnan(s->numbers[i]))
            fprintf(s->f, "%.9g", s->numbers[i]);
    }
    if (s->json) {
        if (s->seeds)
            cJSON_AddRawToObject(o, "seed", seed);
        if (s->batches)
            cJSON_AddRawToObject(o, "batch_seed", batches);
        pw_json_line(s->f, o);
    } else
        fprintf(s->f, "%s%s%s%s\n", s->seeds ? "," : "", seed, s->batches ? "," : "", batches);
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
        s->numbers[7] = (double)v->flops[k];
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
        if (isnan(t->in_range[k])) /* running text has no exact match */
            continue;
        s->numbers[2] = (double)t->step[k];
        s->numbers[3] = t->in_range[k];
        s->numbers[4] = t->beyond[k];
        end_row(s);
    }
}

/* Write one row of counts: of a length or, if pair is not NULL, of one of its pairs. */
static void length_row(const struct pw_snapshot *record, const struct pw_eval_row *row,
                       const struct pw_eval_pair *pair, struct sheet *s)
{
    int samples = pair != NULL ? pair->samples : row->samples;
    int exact = pair != NULL ? pair->exact : row->exact, taught = pair != NULL ? pair->taught : row->taught;
    int64_t tokens = pair != NULL ? pair->tokens : row->tokens;
    int64_t right = pair != NULL ? pair->tokens_right : row->tokens_right;
    double *extra = &s->numbers[N_LENGTHS];
    if (samples == 0)
        return;
    s->texts[2] = record->lab.tasks[row->task].name;
    s->numbers[3] = row->length;
    s->numbers[4] = samples;
    s->numbers[5] = (double)exact / samples;
    pw_eval_wilson(exact, samples, &s->numbers[6], &s->numbers[7]);
    s->numbers[8] = (double)right / (double)tokens;
    if (s->pairs) {
        *extra++ = pair != NULL ? pair->a : (double)NAN;
        *extra++ = pair != NULL ? pair->b : (double)NAN;
    }
    if (s->seen)
        *extra++ = row->seen;
    if (s->losses) {
        *extra++ = row->loss > 0 ? (double)row->loss : (double)NAN;
        *extra++ = row->loss > 0 ? pw_exp((double)row->loss) : (double)NAN;
    }
    if (row->loss > 0)
        s->numbers[5] = s->numbers[6] = s->numbers[7] = (double)NAN; /* no sample is right or wrong */
    if (s->judged) {
        s->texts[extra - s->numbers] = pw_judge_name(row->judge);
        *++extra = row->judge == PW_JUDGE_DECODED ? (double)taught / samples : (double)exact / samples;
    }
    end_row(s);
}

static void length_rows(const struct pw_snapshot *record, const struct pw_arm_view *a, int r, struct sheet *s)
{
    const struct pw_ev_eval *v = &a->rep[r].eval;
    for (int k = 0; k < v->n; k++) {
        const struct pw_eval_row *row = &v->rows[k];
        if (row->n_pairs == 0)
            length_row(record, row, NULL, s);
        for (int i = row->first_pair; i < row->first_pair + row->n_pairs; i++)
            length_row(record, row, &v->pairs[i], s);
    }
}

static void error_rows(const struct pw_snapshot *record, const struct pw_arm_view *a, int r, struct sheet *s)
{
    const struct pw_ev_eval *v = &a->rep[r].eval;
    for (int k = 0; k < v->n; k++) {
        const struct pw_eval_row *row = &v->rows[k];
        double samples = row->samples;
        if (row->samples == 0)
            continue;
        s->texts[2] = record->lab.tasks[row->task].name;
        s->numbers[3] = row->length;
        s->numbers[4] = samples;
        s->numbers[5] = row->exact / samples;
        s->numbers[6] = (row->exact + row->errors[PW_ERROR_LATE]) / samples;
        for (int i = 0; i < PW_ERRORS; i++)
            s->numbers[7 + i] = row->errors[i] / samples;
        for (int i = N_ERRORS; i < s->n; i++)
            s->numbers[i] = row->places[i - N_ERRORS] / samples;
        end_row(s);
    }
}

/* Write a sheet; s: its columns. This function writes the columns of seeds. */
static enum pw_code write_sheet(const struct pw_snapshot *record, const char *path, struct sheet s,
                                void (*rows)(const struct pw_snapshot *, const struct pw_arm_view *, int,
                                             struct sheet *),
                                struct pw_err *err)
{
    struct pw_file *file;
    enum pw_code code = pw_file_create(&file, path, err);
    if (code != PW_OK)
        return code;
    s.f = pw_file_stream(file);
    s.json = strcmp(strrchr(path, '.'), ".jsonl") == 0;
    for (int i = 0; i < PW_MAX_ARMS; i++) {
        s.seeds = s.seeds || (record->arms[i].used && record->arms[i].info.replicas > 1);
        s.batches = s.batches || (record->arms[i].used && record->arms[i].info.own_batches);
    }
    begin_sheet(&s);
    for (int i = 0; i < PW_MAX_ARMS; i++) {
        const struct pw_arm_view *a = &record->arms[i];
        for (int r = 0; a->used && r < a->info.replicas; r++) {
            s.numbers[0] = i + 1;
            s.texts[1] = a->info.pe;
            s.seed = a->info.seed + (uint64_t)r;
            s.batch_seed = record->lab.seed + (a->info.own_batches ? (uint64_t)r : 0);
            rows(record, a, r, &s);
        }
    }
    return pw_file_commit(file, err);
}

enum pw_code pw_export_curves(const struct pw_snapshot *record, const char *path, struct pw_err *err)
{
    static const char *const names[] = {"arm", "pe", "step", "loss", "accuracy", "lr", "grad_norm", "flops"};
    return write_sheet(record, path, (struct sheet){.names = names, .n = 8}, curve_rows, err);
}

enum pw_code pw_export_updates(const struct pw_snapshot *record, const char *path, struct pw_err *err)
{
    static const char *const names[] = {"arm", "pe", "step", "block", "ratio"};
    return write_sheet(record, path, (struct sheet){.names = names, .n = 5}, update_rows, err);
}

enum pw_code pw_export_track(const struct pw_snapshot *record, const char *path, struct pw_err *err)
{
    static const char *const names[] = {"arm", "pe", "step", "exact", "exact_beyond"};
    return write_sheet(record, path, (struct sheet){.names = names, .n = 5}, track_rows, err);
}

enum pw_code pw_export_lengths(const struct pw_snapshot *record, const char *path, struct pw_err *err)
{
    const char *names[N_LENGTHS + 7] = {"arm",   "pe",        "task",       "length",        "samples",
                                        "exact", "exact_low", "exact_high", "token_accuracy"};
    struct sheet s = {.names = names, .n = N_LENGTHS};
    bool any = false;
    for (int i = 0; i < PW_MAX_ARMS; i++)
        for (int r = 0; record->arms[i].used && r < record->arms[i].info.replicas; r++) {
            const struct pw_ev_eval *v = &record->arms[i].rep[r].eval;
            any = any || v->n > 0;
            s.pairs = s.pairs || v->n_pairs > 0;
            for (int k = 0; k < v->n; k++) {
                s.seen = s.seen || v->rows[k].seen;
                s.judged = s.judged || v->rows[k].judge != PW_JUDGE_EXACT;
                s.losses = s.losses || v->rows[k].loss > 0;
            }
        }
    if (!any)
        return pw_fail(err, PW_EUSER, "export lengths: there is no evaluation yet; run 'eval' first");
    if (s.pairs) {
        names[s.n++] = "length_a";
        names[s.n++] = "length_b";
    }
    if (s.seen)
        names[s.n++] = "seen";
    if (s.losses) {
        names[s.n++] = "loss";
        names[s.n++] = "perplexity";
    }
    if (s.judged) {
        names[s.n++] = "judged";
        names[s.n++] = "teacher_forced";
    }
    return write_sheet(record, path, s, length_rows, err);
}

enum pw_code pw_export_errors(const struct pw_snapshot *record, const char *path, struct pw_err *err)
{
    const char *names[MOST] = {"arm",   "pe",     "task",  "length", "samples",
                               "exact", "forced", "early", "late",   "wrong"};
    char places[PW_PLACES][24];
    struct sheet s = {.names = names, .n = N_ERRORS};
    bool any = false;
    int most = 0; /* largest place of a first error */
    for (int i = 0; i < PW_MAX_ARMS; i++)
        for (int r = 0; record->arms[i].used && r < record->arms[i].info.replicas; r++) {
            const struct pw_ev_eval *v = &record->arms[i].rep[r].eval;
            any = any || v->n > 0;
            for (int k = 0; k < v->n; k++)
                if (v->rows[k].loss > 0)
                    return pw_fail(
                        err, PW_EUSER,
                        "export errors: text has no right and wrong answers; 'export lengths' writes "
                        "its loss");
            for (int k = 0; k < v->n; k++)
                for (int p = most; p < PW_PLACES; p++)
                    most = v->rows[k].places[p] > 0 ? p + 1 : most;
        }
    if (!any)
        return pw_fail(err, PW_EUSER, "export errors: there is no evaluation yet; run 'eval' first");
    for (int p = 0; p < most; p++) {
        snprintf(places[p], sizeof places[p], "first_error_%d", p + 1);
        names[s.n++] = places[p];
    }
    return write_sheet(record, path, s, error_rows, err);
}
