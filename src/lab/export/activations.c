/* activations.c - `export activations`: the layers' activations for evaluation samples, token by token, as
 * one file for other programs (probing, PCA).
 *
 * Samples 0..N-1 of a length are those that `eval` uses. Every array has one row per input token, sample
 * after sample, so arrays are aligned and unpadded. Every sample runs through the same forward pass as in
 * training (pw_model_inspect), a few samples in each slice, so that commands are served in between. Then the
 * file is written, one array in each slice. The size of all arrays is known before any of them is allocated.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/npz.h"
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/export/export_int.h"
#include "lab/scope.h"

#define SLICE_S 0.04

enum { TOKENS, TARGETS, SAMPLE, POSITION, PROMPT, COLUMNS }; /* [R] */
enum { Q, K, V, Z, MLP, RESID, SITES };                      /* [L,R,H,D], [L,R,F], [L+1,R,C] */

static const char *const columns[] = {"tokens", "targets", "sample", "position", "prompt"};
static const char *const sites[] = {"q", "k", "v", "z", "mlp", "resid", NULL};

struct dump_opts {
    int samples, length;
    char sites[64], task[16];
    int replica;
};

const struct pw_opt pw_dump_opts[] = {{.name = "samples",
                                       .type = PW_OPT_INT,
                                       .offset = offsetof(struct dump_opts, samples),
                                       .def = "64",
                                       .min = 1,
                                       .max = 100000,
                                       .help = "evaluation samples"},
                                      {.name = "length",
                                       .type = PW_OPT_INT,
                                       .offset = offsetof(struct dump_opts, length),
                                       .min = 1,
                                       .max = PW_MAX_ITEM,
                                       .help = "length of the samples; default: the longest trained"},
                                      {.name = "sites",
                                       .type = PW_OPT_TEXT,
                                       .offset = offsetof(struct dump_opts, sites),
                                       .def = "q,k,v,z,mlp,resid",
                                       .size = sizeof((struct dump_opts *)0)->sites,
                                       .choices = sites,
                                       .help = "activations to export"},
                                      {.name = "task",
                                       .type = PW_OPT_TEXT,
                                       .offset = offsetof(struct dump_opts, task),
                                       .size = sizeof((struct dump_opts *)0)->task,
                                       .help = "task of a mixture; default: the first"},
                                      PW_REPLICA_OPT(struct dump_opts, replica),
                                      {.name = NULL}};

struct pw_dump {
    struct pw_npz *npz;
    char path[PW_LINE];
    int place;           /* of the replica */
    int64_t step;        /* the replica's step when the job began */
    struct pw_samples s; /* all samples; R rows */
    bool wanted[SITES];
    int32_t *column[COLUMNS];
    float *site[SITES]; /* NULL: not requested */
    float *one[SITES];  /* the same arrays for one sample */
    int samples, done;  /* number of samples; how many have run */
    int written;        /* arrays written, of COLUMNS + SITES */
};

/* ---- shapes */

static int layers_of(const struct pw_config *c, int site)
{
    return site == RESID ? c->layers + 1 : c->layers;
}

static size_t width_of(const struct pw_config *c, int site)
{
    return site == RESID ? (size_t)c->width : site == MLP ? (size_t)c->ffn : (size_t)c->heads * c->head_width;
}

/* Bytes of one row in all arrays, columns included. */
static size_t row_bytes(const struct pw_config *c, const bool wanted[SITES])
{
    size_t n = COLUMNS * sizeof(int32_t);
    for (int s = 0; s < SITES; s++)
        n += wanted[s] ? (size_t)layers_of(c, s) * width_of(c, s) * sizeof(float) : 0;
    return n;
}

/* ---- arguments */

static enum pw_code read_sites(const char *list, bool wanted[SITES], struct pw_err *err)
{
    for (const char *at = list;; at++) {
        size_t n = strcspn(at, ",");
        char name[24];
        int s = 0;
        snprintf(name, sizeof name, "%.*s", n < sizeof name ? (int)n : (int)sizeof name - 1, at);
        while (s < SITES && strcmp(sites[s], name) != 0)
            s++;
        if (s == SITES) {
            const char *near = pw_text_nearest(name, sites);
            return pw_fail(err, PW_EUSER, "export activations: no site '%s'%s%s%s: q, k, v, z, mlp, resid",
                           name, near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                           near != NULL ? "'?" : "");
        }
        wanted[s] = true;
        at += n;
        if (*at == '\0')
            return PW_OK;
    }
}

/* Do these samples exist and fit the model, and do their arrays fit into memory and into the file? */
static enum pw_code check(const struct pw_lab *lab, const struct pw_config *c, const struct dump_opts *o,
                          int task, const bool wanted[SITES], struct pw_err *err)
{
    const struct pw_task_use *use = &lab->tasks.use[task];
    struct pw_range limits = use->task->length_limits;
    if (o->length < limits.lo || o->length > limits.hi)
        return pw_fail(err, PW_EUSER, "export activations: length=%d: %s has lengths %d..%d", o->length,
                       use->task->name, limits.lo, limits.hi);
    if (!pw_task_has(use, o->length))
        return pw_fail(err, PW_EUSER, "export activations: length=%d: there are no samples of this length",
                       o->length);
    int rows = pw_lab_rows_at(lab, task, o->length);
    if (rows > c->context)
        return pw_fail(err, PW_EUSER, "export activations: length %d takes %d positions, the model has %d",
                       o->length, rows, c->context);
    size_t each = (size_t)rows * row_bytes(c, wanted), need = each * (size_t)o->samples,
           room = pw_lab_memory();
    bool file = room > UINT32_MAX;
    room = file ? UINT32_MAX : room;
    if (need <= room)
        return PW_OK;
    return pw_fail(err, PW_EUSER,
                   "export activations: up to %.2f GB, and %s %.2f GB: %zu samples would fit, or fewer sites",
                   1e-9 * (double)need, file ? "an .npz holds" : "free are", 1e-9 * (double)room,
                   room / each);
}

/* ---- the job */

static void free_dump(void *state)
{
    struct pw_dump *d = state;
    pw_npz_abandon(d->npz);
    pw_samples_fini(&d->s);
    for (int i = 0; i < COLUMNS; i++)
        free(d->column[i]);
    for (int s = 0; s < SITES; s++) {
        free(d->site[s]);
        free(d->one[s]);
    }
    free(d);
}

static int64_t progress(const void *state, int64_t *total)
{
    const struct pw_dump *d = state;
    *total = d->samples;
    return d->done;
}

/* Allocate R rows. */
static enum pw_code take_memory(struct pw_dump *d, const struct pw_config *c, int longest, struct pw_err *err)
{
    size_t R = (size_t)d->s.b.n_rows;
    bool all = true;
    for (int i = 0; i < COLUMNS; i++)
        all = (d->column[i] = malloc(R * sizeof(int32_t))) != NULL && all;
    for (int s = 0; s < SITES; s++) {
        size_t row = (size_t)layers_of(c, s) * width_of(c, s) * sizeof(float);
        if (d->wanted[s]) {
            all = (d->site[s] = malloc(R * row)) != NULL && all;
            all = (d->one[s] = malloc((size_t)longest * row)) != NULL && all;
        }
    }
    return all ? PW_OK : pw_fail(err, PW_ENOMEM, "export activations: out of memory");
}

/* A row belongs to the prompt up to the first scored row, which is the prompt's last token. */
static void fill_columns(struct pw_dump *d)
{
    const struct pw_samples *s = &d->s;
    for (int i = 0; i < s->b.n_seqs; i++) {
        int k = s->seq_scored[i], last = s->rows[k];
        for (int r = s->start[i]; r < s->start[i + 1]; r++) {
            bool scored = k < s->seq_scored[i + 1] && s->rows[k] == r;
            d->column[TOKENS][r] = s->tokens[r];
            d->column[TARGETS][r] = scored ? s->targets[k++] : -1;
            d->column[SAMPLE][r] = i;
            d->column[POSITION][r] = s->pos[r];
            d->column[PROMPT][r] = r <= last;
        }
    }
}

static void run_slice(struct pw_lab *lab);

enum pw_code pw_lab_dump(struct pw_lab *lab, const char *path, const struct pw_args *args, struct pw_err *err)
{
    struct pw_replica *arm = pw_lab_current(lab);
    struct dump_opts o = {0};
    bool wanted[SITES] = {false};
    int task = 0;
    const struct pw_dump *before = pw_job_state(lab, PW_JOB_ACTIVATIONS);
    pw_opt_defaults(pw_dump_opts, &o);
    if (before != NULL)
        return pw_fail(err, PW_EUSER, "export activations: %s is still being written", before->path);
    enum pw_code code = pw_args_opts(args, pw_dump_opts, &o, err);
    if (code == PW_OK)
        code = pw_scope_replica(lab, &arm, "export activations", o.replica, err);
    if (code == PW_OK)
        code = read_sites(o.sites, wanted, err);
    if (code == PW_OK)
        code = pw_lab_find_task(lab, "export activations", o.task, &task, err);
    if (code != PW_OK)
        return code;
    if (o.length == 0)
        o.length = pw_task_train(&lab->tasks.use[task]).hi;
    code = check(lab, &arm->cfg, &o, task, wanted, err);
    if (code != PW_OK)
        return code;
    struct pw_dump *d = pw_alloc(1, sizeof *d);
    pw_text_copy(d->path, sizeof d->path, path);
    memcpy(d->wanted, wanted, sizeof wanted);
    d->place = (int)(arm - lab->replicas);
    d->step = arm->step;
    d->samples = o.samples;
    pw_samples_fill(&d->s, &lab->tasks, lab->seed, PW_SPLIT_TEST, 0, o.samples, task, o.length);
    code = take_memory(d, &arm->cfg, pw_lab_rows_at(lab, task, o.length), err);
    if (code == PW_OK)
        code = pw_npz_open(&d->npz, path, err);
    if (code != PW_OK) {
        free_dump(d);
        return code;
    }
    fill_columns(d);
    pw_job_begin(lab, PW_JOB_ACTIVATIONS,
                 &(struct pw_job){.name = "activations",
                                  .cancelled = "export activations; no file was written",
                                  .reads = PW_CHANGE_MODELS | PW_CHANGE_RESULTS | PW_CHANGE_TASK,
                                  .state = d,
                                  .free_state = free_dump,
                                  .progress = progress,
                                  .slice = run_slice});
    return PW_OK;
}

/* Run the next sample through the model, and copy its rows to their places in every layer. */
static enum pw_code run_sample(struct pw_dump *d, const struct pw_replica *arm, struct pw_err *err)
{
    int first = d->s.start[d->done], T = d->s.start[d->done + 1] - first;
    struct pw_inspection in = {.q = d->one[Q],
                               .k = d->one[K],
                               .v = d->one[V],
                               .z = d->one[Z],
                               .mlp = d->one[MLP],
                               .resid = d->one[RESID]};
    enum pw_code code = pw_model_inspect(arm->model, d->s.tokens + first, T, &in, err);
    for (int s = 0; s < SITES && code == PW_OK; s++) {
        size_t w = width_of(&arm->cfg, s), R = (size_t)d->s.b.n_rows;
        for (int l = 0; d->wanted[s] && l < layers_of(&arm->cfg, s); l++)
            memcpy(d->site[s] + ((size_t)l * R + first) * w, d->one[s] + (size_t)l * T * w,
                   (size_t)T * w * sizeof(float));
    }
    d->done++;
    return code;
}

static void write_array(struct pw_dump *d, const struct pw_config *c)
{
    int i = d->written++, s = i - COLUMNS;
    int64_t R = d->s.b.n_rows;
    if (i < COLUMNS) {
        pw_npz_i32(d->npz, columns[i], d->column[i], 1, &R);
    } else if (d->wanted[s]) {
        int64_t heads[] = {c->layers, R, c->heads, c->head_width};
        int64_t wide[] = {layers_of(c, s), R, (int64_t)width_of(c, s)};
        pw_npz_f32(d->npz, sites[s], d->site[s], s < MLP ? 4 : 3, s < MLP ? heads : wide);
        free(d->site[s]);
        d->site[s] = NULL;
    }
}

static enum pw_code finish(struct pw_lab *lab, struct pw_dump *d, struct pw_err *err)
{
    struct pw_npz *npz = d->npz;
    d->npz = NULL; /* close frees it even on failure */
    enum pw_code code = pw_npz_close(npz, err);
    if (code != PW_OK)
        return code;
    pw_job_tell(lab, PW_JOB_ACTIVATIONS, PW_JOB_DONE);
    pw_lab_note(lab, "wrote %s", d->path);
    pw_job_end(lab, PW_JOB_ACTIVATIONS);
    return PW_OK;
}

/* At the end this writes one array to disk a slice. */
static void run_slice(struct pw_lab *lab)
{
    struct pw_dump *d = pw_job_state(lab, PW_JOB_ACTIVATIONS);
    const struct pw_replica *arm = &lab->replicas[d->place];
    struct pw_err err;
    enum pw_code code = PW_OK;
    double end = pw_now() + SLICE_S;
    if (arm->step != d->step) { /* `step` ran in between: the remaining rows would belong to another model */
        pw_job_cancel(lab, PW_JOB_ACTIVATIONS);
        return;
    }
    if (d->done == d->samples && d->written < COLUMNS + SITES) {
        write_array(d, &arm->cfg);
    } else if (d->done == d->samples) {
        code = finish(lab, d, &err);
    } else {
        while (code == PW_OK && d->done < d->samples && pw_now() < end)
            code = run_sample(d, arm, &err);
        if (code == PW_OK)
            pw_job_tell(lab, PW_JOB_ACTIVATIONS, PW_JOB_RUNNING);
    }
    if (code != PW_OK)
        pw_job_fail(lab, PW_JOB_ACTIVATIONS, &err);
}
