/* export.c - the command `export`: write data of the lab to files for other programs. `help export` documents
 * the contents.
 *
 * Values are exact: attention and logits are computed again from the weights, not taken from the screen's
 * data. Every file appears complete or not at all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/json.h"
#include "base/npz.h"
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/export/export_int.h"
#include "lab/looks/looks.h"
#include "lab/scope.h"
#include "lab/train/train.h"

/* Allocate n entries of `size` bytes; n grows with model, prompt and batch. NULL fills err. */
static void *room(size_t n, size_t size, const char *what, struct pw_err *err)
{
    void *p = calloc(n, size);
    if (p == NULL)
        pw_fail(err, PW_ENOMEM, "export %s: out of memory: %zu MiB", what, n * size >> 20);
    return p;
}

static enum pw_code refuse_options(const struct pw_args *args, struct pw_err *err)
{
    for (int i = 0; i < args->n; i++)
        if (args->words[i].key != NULL)
            return pw_fail(err, PW_EUSER, "export %s: no option '%s'", pw_args_word(args, 0),
                           args->words[i].key);
    return PW_OK;
}

/* ---- weights */

struct weights {
    bool moments;
    int replica;
};

static const struct pw_opt weights_opts[] = {{.name = "moments",
                                              .type = PW_OPT_SWITCH,
                                              .offset = offsetof(struct weights, moments),
                                              .def = "off",
                                              .help = "also AdamW's moments, to resume training"},
                                             PW_REPLICA_OPT(struct weights, replica),
                                             {.name = NULL}};

static enum pw_code save_checkpoint(struct pw_lab *lab, const struct pw_replica *arm, const char *path,
                                    bool moments, struct pw_err *err)
{
    struct pw_str task = {0};
    pw_taskset_print(&lab->tasks, &task);
    struct pw_checkpoint_info info = pw_lab_describe(lab, arm, task.s);
    enum pw_code code = pw_checkpoint_save(arm->model, path, &info, moments, err);
    pw_str_fini(&task);
    if (code == PW_OK) {
        struct pw_event *e = pw_lab_event(PW_EV_CHECKPOINT, arm);
        pw_text_copy(e->u.checkpoint.text, sizeof e->u.checkpoint.text, path);
        pw_lab_emit(lab, e);
    }
    return code;
}

static enum pw_code export_weights(struct pw_lab *lab, const char *path, const struct pw_args *args,
                                   struct pw_err *err)
{
    struct weights o;
    struct pw_replica *arm = pw_lab_current(lab);
    pw_opt_defaults(weights_opts, &o);
    enum pw_code code = pw_args_opts(args, weights_opts, &o, err);
    if (code == PW_OK)
        code = pw_scope_replica(lab, &arm, "export weights", o.replica, err);
    if (code == PW_OK && !pw_text_ends(path, ".safetensors"))
        return o.moments ? pw_fail(err, PW_EUSER,
                                   "export weights: moments=on: a folder for transformers has no moments; "
                                   "write a file whose name ends in .safetensors")
                         : pw_lab_export_family(lab, arm, path, err);
    if (code == PW_OK)
        code = save_checkpoint(lab, arm, path, o.moments, err);
    return code;
}

/* ---- attention, logits */

static enum pw_code export_attention(struct pw_lab *lab, const char *path, const struct pw_args *args,
                                     struct pw_err *err)
{
    const struct pw_replica *arm = pw_lab_inspected(lab);
    (void)args;
    const struct pw_config *c = &arm->cfg;
    int T = pw_lab_shown(lab, arm);
    size_t map = (size_t)c->layers * c->heads * T * T, logits = (size_t)T * c->vocab;
    size_t resid = (size_t)(c->layers + 1) * T * c->width;
    bool gates = arm->pe.pe->uses & PW_PE_TERMS;
    size_t terms = gates ? (size_t)c->layers * T * c->heads : 0;
    int columns = pw_model_walk_columns(arm->model);
    size_t walk = (size_t)c->layers * T * columns;
    float *all = pw_lab_maps((size_t)c->layers * c->heads, T, logits + resid + terms + walk, err);
    if (all == NULL)
        return PW_ENOMEM;
    struct pw_inspection in = {.probs = all,
                               .score = all + map,
                               .content = all + 2 * map,
                               .bias = all + 3 * map,
                               .logits = all + 4 * map,
                               .resid = all + 4 * map + logits,
                               .terms = gates ? all + 4 * map + logits + resid : NULL,
                               .walk = columns > 0 ? all + 4 * map + logits + resid + terms : NULL};
    struct pw_npz *z;
    enum pw_code code = pw_model_inspect(arm->model, lab->pin.tokens, T, &in, err);
    if (code == PW_OK)
        code = pw_npz_open(&z, path, err);
    if (code == PW_OK) {
        int64_t t[] = {T}, m[] = {c->layers, c->heads, T, T}, v[] = {T, c->vocab},
                r[] = {c->layers + 1, T, c->width};
        char(*labels)[PW_LABEL] = pw_lab_labels(lab, lab->pin.tokens, T);
        pw_npz_i32(z, "tokens", lab->pin.tokens, 1, t);
        pw_npz_texts(z, "labels", labels[0], PW_LABEL, T);
        free(labels);
        pw_npz_f32(z, "probs", in.probs, 4, m);
        pw_npz_f32(z, "score", in.score, 4, m);
        pw_npz_f32(z, "content", in.content, 4, m);
        pw_npz_f32(z, "bias", in.bias, 4, m);
        pw_npz_f32(z, "logits", in.logits, 2, v);
        pw_npz_f32(z, "resid", in.resid, 3, r);
        if (gates)
            pw_npz_f32(z, "terms", in.terms, 3, (const int64_t[]){c->layers, T, c->heads});
        if (columns > 0)
            pw_npz_f32(z, "walk", in.walk, 3, (const int64_t[]){c->layers, T, columns});
        code = pw_npz_close(z, err);
    }
    free(all);
    return code;
}

static enum pw_code export_logits(struct pw_lab *lab, const char *path, const struct pw_args *args,
                                  struct pw_err *err)
{
    const struct pw_replica *arm = pw_lab_inspected(lab);
    (void)args;
    int T = pw_lab_shown(lab, arm), V = arm->cfg.vocab;
    float *logits = room((size_t)T * V, sizeof *logits, "logits", err);
    if (logits == NULL)
        return PW_ENOMEM;
    struct pw_npz *z;
    enum pw_code code =
        pw_model_inspect(arm->model, lab->pin.tokens, T, &(struct pw_inspection){.logits = logits}, err);
    if (code == PW_OK)
        code = pw_npz_open(&z, path, err);
    if (code == PW_OK) {
        pw_npz_i32(z, "tokens", lab->pin.tokens, 1, (int64_t[]){T});
        pw_npz_f32(z, "logits", logits, 2, (int64_t[]){T, V});
        code = pw_npz_close(z, err);
    }
    free(logits);
    return code;
}

/* ---- exports of one model whose only option is the replica */

struct one_model {
    int replica;
};

static const struct pw_opt replica_opts[] = {PW_REPLICA_OPT(struct one_model, replica), {.name = NULL}};

/* Make *arm the replica of the current arm that the options choose. who: the command, for messages. */
static enum pw_code take_replica(struct pw_lab *lab, struct pw_replica **arm, const char *who,
                                 const struct pw_args *args, struct pw_err *err)
{
    struct one_model o;
    *arm = pw_lab_current(lab);
    pw_opt_defaults(replica_opts, &o);
    enum pw_code code = pw_args_opts(args, replica_opts, &o, err);
    return code == PW_OK ? pw_scope_replica(lab, arm, who, o.replica, err) : code;
}

/* Run `run`, which reads the pinned prompt, for the requested replica. A replica that is not inspected
 * answers the prompt for this file only. */
static enum pw_code export_of_prompt(struct pw_lab *lab,
                                     enum pw_code (*run)(struct pw_lab *, const char *,
                                                         const struct pw_args *, struct pw_err *),
                                     const char *path, const struct pw_args *args, struct pw_err *err)
{
    struct pw_replica *arm;
    struct pw_lent own;
    char who[40];
    snprintf(who, sizeof who, "export %.24s", pw_args_word(args, 0));
    enum pw_code code = take_replica(lab, &arm, who, args, err);
    if (code == PW_OK)
        code = pw_lab_need_pin(lab, who, err);
    if (code != PW_OK || arm->replica == lab->replica)
        return code == PW_OK ? run(lab, path, args, err) : code;
    code = pw_lab_lend(lab, &own, arm->replica, err);
    if (code == PW_OK) {
        code = run(lab, path, args, err);
        pw_lab_take_back(lab, &own);
    }
    return code;
}

/* ---- table */

struct table {
    int length, replica;
};

static const struct pw_opt table_opts[] = {{.name = "length",
                                            .type = PW_OPT_INT,
                                            .offset = offsetof(struct table, length),
                                            .def = "0",
                                            .min = 0,
                                            .max = PW_MAX_CONTEXT,
                                            .help = "number of distances or positions"},
                                           PW_REPLICA_OPT(struct table, replica),
                                           {.name = NULL}};

static enum pw_code export_table(struct pw_lab *lab, const char *path, const struct pw_args *args,
                                 struct pw_err *err)
{
    struct table o;
    struct pw_replica *arm = pw_lab_current(lab);
    struct pw_event *e;
    struct pw_file *file;
    pw_opt_defaults(table_opts, &o);
    enum pw_code code = pw_args_opts(args, table_opts, &o, err);
    if (code == PW_OK)
        code = pw_scope_replica(lab, &arm, "export table", o.replica, err);
    if (code == PW_OK && pw_text_ends(path, ".npz"))
        return pw_lab_export_numbers(arm, path, o.length, err);
    if (code == PW_OK)
        code = pw_lab_table(lab, arm, (struct pw_table_choice){o.length, pw_lab_table_choice(lab, arm).layer},
                            true, &e, err);
    if (code != PW_OK)
        return code;
    code = pw_file_create(&file, path, err);
    if (code == PW_OK) {
        const struct pw_ev_table *t = &e->u.table;
        cJSON *j = cJSON_CreateObject(), *options = cJSON_CreateObject();
        const struct pw_pe_use_opts use = pw_pe_settled(&arm->pe, &arm->cfg);
        struct pw_str text = {0};
        pw_json_str(j, "pe", arm->pe.pe->name);
        for (const struct pw_opt *p = arm->pe.pe->opts; p != NULL && p->name != NULL; p++) {
            const struct pw_opt one[] = {*p, {.name = NULL}};
            pw_str_clear(&text);
            pw_opt_print(one, use.o.bytes, false, &text);
            const char *value = strchr(pw_str_text(&text), '=');
            double number;
            if (value != NULL && pw_text_double(value + 1, &number))
                pw_json_num(options, p->name, number);
            else if (value != NULL)
                pw_json_str(options, p->name, value + 1);
        }
        pw_str_fini(&text);
        cJSON_AddItemToObject(j, "options", options);
        pw_json_num(j, "heads", t->heads);
        pw_json_num(j, "width", t->width);
        pw_json_num(j, "length", t->length);
        pw_json_ints(j, "bucket", t->bucket, t->length);
        if (t->later > 0) {
            int *later = pw_alloc((size_t)t->length, sizeof *later);
            for (int d = 0; d < t->length; d++) /* at distance 0 no key is later than the query */
                later[d] = d > 0 ? pw_bucket_of(t, -d) : t->bucket[0];
            pw_json_ints(j, "bucket_of_later_keys", later, t->length);
            free(later);
        }
        pw_json_matrix(j, "bucket_bias", t->bucket_bias, t->n_buckets, t->heads);
        pw_json_matrix(j, "bias", t->bias, t->heads, t->length);
        pw_json_floats(j, "slopes", t->slopes, t->heads);
        pw_json_floats(j, "frequencies", t->frequencies, t->pairs);
        pw_json_matrix(j, "added", t->added, t->length, t->width);
        if (t->added != NULL)
            cJSON_AddBoolToObject(j, "by_length", t->by_length);
        pw_json_counts(j, "met", t->met, t->length);
        if (t->bucket != NULL)
            pw_json_matrix(j, "grad", t->grad, t->n_buckets, t->heads);
        else
            pw_json_floats(j, "grad", t->grad, t->length);
        pw_json_num(j, "layer", t->layer);
        if (t->by_layer)
            cJSON_AddBoolToObject(j, "by_layer", true);
        if (t->keys != NULL)
            pw_json_num(j, "key_from", t->key_from);
        pw_json_matrix(j, "keys", t->keys, t->n_keys, t->key_width);
        pw_json_counts(j, "key_met", t->key_met, t->n_keys);
        pw_json_floats(j, "key_grad", t->key_grad, t->n_keys);
        pw_table_json(j, t);
        pw_json_matrix(j, "kernel", t->kernel, t->heads, t->length);
        pw_json_line(pw_file_stream(file), j);
        code = pw_file_commit(file, err);
    }
    pw_event_free(e);
    return code;
}

/* ---- batch */

/* Export the batch of the replica's next step. */
static enum pw_code export_batch(struct pw_lab *lab, const char *path, const struct pw_args *args,
                                 struct pw_err *err)
{
    struct pw_replica *arm;
    enum pw_code code = take_replica(lab, &arm, "export batch", args, err);
    if (code != PW_OK)
        return code;
    struct pw_samples s = {0};
    int B = arm->optim.batch, T = 0;
    pw_samples_fill(&s, &lab->tasks, pw_lab_batch_seed(lab, arm->replica), PW_SPLIT_TRAIN,
                    (uint64_t)(arm->step * B), B, 0, 0);
    for (int i = 0; i < B; i++)
        T = s.start[i + 1] - s.start[i] > T ? s.start[i + 1] - s.start[i] : T;
    int32_t *tokens = room((size_t)B * T, 2 * sizeof *tokens, "batch", err);
    int32_t *targets = tokens != NULL ? tokens + (size_t)B * T : NULL;
    code = tokens != NULL ? PW_OK : PW_ENOMEM;
    for (int i = 0, k = 0; i < B && code == PW_OK; i++)
        for (int t = 0; t < T; t++) {
            int row = s.start[i] + t, at = i * T + t;
            bool inside = row < s.start[i + 1], scored = inside && k < s.b.n_scored && s.rows[k] == row;
            tokens[at] = inside ? s.tokens[row] : PW_PAD;
            targets[at] = scored ? s.targets[k++] : -1;
        }
    struct pw_npz *z;
    if (code == PW_OK)
        code = pw_npz_open(&z, path, err);
    if (code == PW_OK) {
        pw_npz_i32(z, "tokens", tokens, 2, (int64_t[]){B, T});
        pw_npz_i32(z, "targets", targets, 2, (int64_t[]){B, T});
        code = pw_npz_close(z, err);
    }
    free(tokens);
    pw_samples_fini(&s);
    return code;
}

/* ---- the table */

static enum pw_code export_sheet(const struct pw_lab *lab,
                                 enum pw_code (*sheet)(const struct pw_snapshot *, const char *,
                                                       struct pw_err *),
                                 const char *path, const struct pw_args *args, struct pw_err *err)
{
    enum pw_code code = refuse_options(args, err);
    return code == PW_OK ? sheet(lab->record, path, err) : code;
}

static const struct {
    const char *name, *endings; /* NULL: a folder; the ending / stands for one as well */
    enum pw_code (*run)(struct pw_lab *, const char *, const struct pw_args *, struct pw_err *);
    enum pw_code (*sheet)(const struct pw_snapshot *, const char *, struct pw_err *); /* export_sheet.c */
    const struct pw_opt *opts;                                                        /* NULL: none */
    bool job;    /* runs as a job, which reports when the file is complete */
    bool prompt; /* reads the pinned prompt */
} kinds[] = {
    {"weights", ".safetensors /", export_weights, NULL, weights_opts, false, false},
    {"attention", ".npz", export_attention, NULL, replica_opts, false, true},
    {"logits", ".npz", export_logits, NULL, replica_opts, false, true},
    {"step", ".json", pw_lab_export_step, NULL, replica_opts, false, true},
    {"curves", ".csv .jsonl", NULL, pw_export_curves, NULL, false, false},
    {"track", ".csv .jsonl", NULL, pw_export_track, NULL, false, false},
    {"updates", ".csv .jsonl", NULL, pw_export_updates, NULL, false, false},
    {"tensorboard", NULL, NULL, pw_export_tensorboard, NULL, false, false},
    {"lengths", ".csv .jsonl", NULL, pw_export_lengths, NULL, false, false},
    {"errors", ".csv .jsonl", NULL, pw_export_errors, NULL, false, false},
    {"formula", ".py .tex .pe", pw_lab_export_formula, NULL, pw_formula_opts, false, false},
    {"table", ".json .npz", export_table, NULL, table_opts, false, false},
    {"data", ".jsonl", pw_lab_write_data, NULL, pw_data_opts, true, false},
    {"batch", ".npz", export_batch, NULL, replica_opts, false, false},
    {"activations", ".npz", pw_lab_dump, NULL, pw_dump_opts, true, false},
};

const char *const pw_export_names[] = {"weights", "attention",   "logits",      "step",   "curves",  "track",
                                       "updates", "tensorboard", "lengths",     "errors", "formula", "table",
                                       "data",    "batch",       "activations", "figure", "cast",    "events",
                                       "session", "finding",     NULL};

const struct pw_opt *pw_export_opts(const char *what)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, what) == 0)
            return kinds[i].opts;
    return NULL;
}

static bool ends_in(const char *path, const char *endings)
{
    const char *dot = strrchr(path, '.'), *at = dot != NULL ? strstr(endings, dot) : NULL;
    size_t n = dot != NULL ? strlen(dot) : 0;
    if (pw_text_ends(endings, "/") && pw_export_is_folder(path))
        return true;
    return at != NULL && n >= 2 && (at[n] == '\0' || at[n] == ' ');
}

enum pw_code pw_lab_export(struct pw_lab *lab, const char *what, const char *path, const struct pw_args *args,
                           struct pw_err *err)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].name, what) != 0)
            continue;
        if (kinds[i].endings != NULL && !ends_in(path, kinds[i].endings))
            return pw_fail(err, PW_EUSER, "export %s: '%s': the file name must end in %.*s%s", what, path,
                           (int)strcspn(kinds[i].endings, "/"), kinds[i].endings,
                           pw_text_ends(kinds[i].endings, "/") ? "or, of a folder, in /" : "");
        enum pw_code code = kinds[i].prompt        ? export_of_prompt(lab, kinds[i].run, path, args, err)
                            : kinds[i].run != NULL ? kinds[i].run(lab, path, args, err)
                                                   : export_sheet(lab, kinds[i].sheet, path, args, err);
        if (code == PW_OK && !kinds[i].job)
            pw_lab_note(lab, "wrote %s", path);
        return code;
    }
    struct pw_str all = {0};
    for (int i = 0; pw_export_names[i] != NULL; i++)
        pw_str_add(&all, "%s%s", i > 0 ? ", " : "", pw_export_names[i]);
    const char *near = pw_text_nearest(what, pw_export_names);
    enum pw_code code = pw_fail(err, PW_EUSER, "export: cannot export '%s'%s%s%s: %s", what,
                                near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                                near != NULL ? "'?" : "", pw_str_text(&all));
    pw_str_fini(&all);
    return code;
}
