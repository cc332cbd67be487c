/* runs - arms, saved weights and arms of sessions as a table: their differences and results.
 *
 * A row is a list of traits ("pe" "t5", "buckets" "8", "lr" "0.001"), taken from an arm or from the header of
 * a file. Filters and the column of differences use only traits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/actions.h"
#include "lab/encodings.h"
#include "lab/offer.h"
#include "lab/saved.h"

#define MOST     64
#define IMPORTED "imported" /* the model name of weights that came from a file (import.c) */

struct runs_opts {
    char path[1024];
    bool sessions;
};

static const struct pw_opt opts[] = {{.name = "path",
                                      .type = PW_OPT_TEXT,
                                      .offset = offsetof(struct runs_opts, path),
                                      .size = sizeof((struct runs_opts *)0)->path,
                                      .help = "also list the weights and sessions in this folder"},
                                     {.name = "sessions",
                                      .type = PW_OPT_SWITCH,
                                      .offset = offsetof(struct runs_opts, sessions),
                                      .help = "also list the arms of recorded sessions"},
                                     {.name = NULL}};

struct trait {
    char key[24], *value;
};

struct row {
    const struct pw_replica *arm; /* NULL: a file or a session */
    const struct pw_saved *saved;
    int64_t step;
    int n;
    struct trait t[MOST];
};

struct rows {
    struct row *at;
    int n;
};

/* ---- traits */

static void add_trait(struct row *row, const char *key, size_t n_key, const char *value, size_t n)
{
    if (row->n == MOST)
        return;
    struct trait *t = &row->t[row->n++];
    snprintf(t->key, sizeof t->key, "%.*s", (int)n_key, key);
    t->value = memcpy(pw_alloc(n + 1, 1), value, n);
}

/* Add the traits " key=value key=value"; values contain no blanks. */
static void add_traits(struct row *row, const char *text)
{
    for (const char *word = text + strspn(text, " "); *word != '\0';) {
        size_t n = strcspn(word, " "), key = strcspn(word, "=");
        add_trait(row, word, key, word + key + 1, n - key - 1);
        word += n + strspn(word + n, " ");
    }
}

/* A formula has blanks, so it is a trait of its own. */
static void describe_encoding(struct row *row, const struct pw_pe_use_opts *use)
{
    struct pw_str text = {0};
    pw_pe_print(use, &text);
    const char *options = strrchr(text.s, '\'');
    options = options != NULL ? options + 1 : text.s + strcspn(text.s, " ");
    add_trait(row, "pe", 2, use->pe->name, strlen(use->pe->name));
    add_traits(row, options);
    if (options > text.s && options[-1] == '\'' && strcmp(use->pe->name, "expr") == 0)
        add_trait(row, "formula", 7, text.s + 5, (size_t)(options - text.s) - 5);
    pw_str_fini(&text);
}

/* Add the traits that every run has. */
static void describe(struct row *row, const struct pw_pe_use_opts *pe, const char *preset,
                     const struct pw_config *cfg, const struct pw_optim *optim, uint64_t seed, int seeds,
                     bool own_batches, const char *task)
{
    struct pw_str text = {0};
    describe_encoding(row, pe);
    pw_str_add(&text, " model=%s", preset);
    pw_opt_print(pw_config_opts, cfg, false, &text);
    pw_opt_print(pw_optim_opts, optim, false, &text);
    pw_str_add(&text, " seed=%llu seeds=%d batches=%s", (unsigned long long)seed, seeds,
               own_batches ? "own" : "shared");
    add_traits(row, text.s);
    pw_str_fini(&text);
    add_trait(row, "task", 4, task, strlen(task));
}

static void describe_arm(struct pw_lab *lab, const struct pw_replica *a, const char *task, struct row *row)
{
    struct pw_str text = {0};
    *row = (struct row){.arm = a, .step = a->step};
    int n = pw_lab_n_replicas(lab, a->id);
    describe(row, &a->pe, a->preset, &a->cfg, &a->optim, a->seed, n, n > 1 && pw_lab_facts(lab).own_batches,
             task);
    if (a->swaps > 0)
        pw_str_add(&text, " swaps=%d", a->swaps);
    if (a->parent > 0)
        pw_str_add(&text, " fork=%d@%lld", a->parent, (long long)a->parent_step);
    add_traits(row, pw_str_text(&text));
    pw_str_fini(&text);
}

/* Describe a file as the model that `import` would load: one model. */
static void describe_file(const struct pw_saved *saved, struct row *row)
{
    const struct pw_checkpoint_info *info = pw_checkpoint_info(saved->c);
    *row = (struct row){.step = info->step, .saved = saved};
    describe(row, &info->pe, IMPORTED, &info->config, &info->optim, info->seed,
             saved->arm > 0 && saved->replicas > 0 ? saved->replicas : 1, saved->own_batches,
             info->task != NULL ? info->task : "");
    if (saved->arm > 0) {
        struct pw_str name = {0};
        pw_str_add(&name, "%.*s arm %d", (int)strcspn(saved->name, "."), saved->name, saved->arm);
        add_trait(row, "session", 7, name.s, name.len);
        pw_str_fini(&name);
    } else
        add_trait(row, "file", 4, saved->name, strlen(saved->name));
}

static void collect(struct pw_lab *lab, const struct pw_saved_list *saved, struct rows *rows)
{
    struct pw_str task = {0};
    pw_taskset_print(pw_lab_facts(lab).tasks, &task);
    rows->n = 0;
    rows->at = pw_alloc((size_t)(PW_MAX_ARMS + saved->n), sizeof *rows->at);
    for (int id = 1; id <= PW_MAX_ARMS; id++)
        if (pw_lab_arm(lab, id) != NULL)
            describe_arm(lab, pw_lab_arm(lab, id), pw_str_text(&task), &rows->at[rows->n++]);
    for (int i = 0; i < saved->n; i++)
        describe_file(&saved->at[i], &rows->at[rows->n++]);
    pw_str_fini(&task);
}

static void clear_row(struct row *row)
{
    for (int i = 0; i < row->n; i++)
        free(row->t[i].value);
}

/* ---- filters */

static const char *value_of(const struct row *row, const char *key)
{
    for (int i = 0; i < row->n; i++)
        if (strcmp(row->t[i].key, key) == 0)
            return row->t[i].value;
    return NULL;
}

/* Is it one of the tasks of "sort,copy(variant=rsc) lengths=2..8"? */
static bool is_among(const char *tasks, const char *wanted)
{
    size_t n = strlen(wanted);
    for (const char *at = tasks;; at++) {
        if (strncmp(at, wanted, n) == 0 && strchr(" ,(", at[n]) != NULL)
            return true;
        at += strcspn(at, " ,(");
        at += *at == '(' ? strcspn(at, ")") : 0;
        at += *at == ')';
        if (*at != ',')
            return false;
    }
}

/* Is it the same text, an alias of the same encoding, or the same number in another notation? */
static bool matches(const struct row *row, const char *key, const char *wanted)
{
    const char *value = value_of(row, key);
    const struct pw_pe *pe = strcmp(key, "pe") == 0 ? pw_pe_find(wanted) : NULL;
    double a, b;
    if (value == NULL)
        return false;
    if (pe != NULL)
        wanted = pe->name;
    return strcmp(value, wanted) == 0 || (strcmp(key, "task") == 0 && is_among(value, wanted)) ||
           (pw_text_double(value, &a) && pw_text_double(wanted, &b) && (float)a == (float)b);
}

/* Does the row have all of the keys, and one of the encodings if any are named? */
static bool fits(const struct row *row, const struct pw_args *args)
{
    bool all = true, named = pw_args_words(args) == 0;
    for (int i = 0; i < args->n; i++) {
        const struct pw_word *w = &args->words[i];
        if (w->key == NULL)
            named = named || matches(row, "pe", w->value);
        else if (pw_opt_find(opts, w->key) == NULL)
            all = all && matches(row, w->key, w->value);
    }
    return all && named;
}

/* Fails if no row has this key. */
static enum pw_code need_key(const struct rows *rows, const char *key, struct pw_err *err)
{
    const char *names[MOST + 1], *near = NULL;
    for (int i = 0; i < rows->n; i++) {
        const struct row *row = &rows->at[i];
        int k = 0;
        if (value_of(row, key) != NULL)
            return PW_OK;
        for (; k < row->n; k++)
            names[k] = row->t[k].key;
        names[k] = NULL;
        near = near != NULL ? near : pw_text_nearest(key, names);
    }
    return pw_fail(err, PW_EUSER, "runs: no key '%.40s'%s%s%s", key,
                   near != NULL ? "; did you mean '" : ": pe, task, and those of model, optim, pe and seed",
                   near != NULL ? near : "", near != NULL ? "'?" : "");
}

/* Is it a built-in encoding, or that of a row? */
static bool has_encoding(const struct rows *rows, const char *name)
{
    for (int i = 0; i < rows->n; i++)
        if (matches(&rows->at[i], "pe", name))
            return true;
    return pw_pe_find(name) != NULL;
}

static enum pw_code check(struct pw_lab *lab, const struct rows *rows, const struct pw_args *args,
                          struct pw_err *err)
{
    enum pw_code code = PW_OK;
    for (int i = 0; i < args->n && code == PW_OK; i++) {
        const struct pw_word *w = &args->words[i];
        struct pw_pe_use_opts unknown;
        if (w->key != NULL)
            code = pw_opt_find(opts, w->key) != NULL ? PW_OK : need_key(rows, w->key, err);
        else if (!has_encoding(rows, w->value)) /* the message of the encoding's parser */
            code = pw_pe_parse(&unknown, w->value, &pw_lab_current(lab)->cfg, err);
    }
    return code;
}

/* ---- the table */

static bool differs(const struct rows *rows, const char *key)
{
    const char *first = value_of(&rows->at[0], key);
    for (int i = 1; i < rows->n; i++) {
        const char *v = value_of(&rows->at[i], key);
        if ((v == NULL) != (first == NULL) || (v != NULL && strcmp(v, first) != 0))
            return true;
    }
    return false;
}

/* A mean and spread over replicas. If some replicas lack the value, also the number that have it. */
static const char *over(char out[24], struct pw_spread x, int n, const char *format, double factor)
{
    int end = snprintf(out, 24, x.n > 0 ? format : "-", factor * (double)x.median);
    if (x.n > 0 && x.n < n)
        snprintf(out + end, 24 - (size_t)end, " n=%d", x.n);
    return out;
}

/* Always shown: the encoding, which is the arm's name; a file's own name; own batches, which give the column
 * n its meaning; the shape, unless a preset's name implies it. */
static bool is_shown(const struct row *row, int k)
{
    static const char *const shape[] = {"layers", "width", "heads"};
    const char *key = row->t[k].key, *model = value_of(row, "model");
    for (int i = 0; i < 3 && model != NULL && strcmp(model, IMPORTED) == 0; i++)
        if (strcmp(key, shape[i]) == 0)
            return true;
    return k == 0 || strcmp(key, "file") == 0 || strcmp(key, "session") == 0 ||
           (strcmp(key, "batches") == 0 && strcmp(row->t[k].value, "own") == 0);
}

static void tell_row(struct pw_lab *lab, const struct rows *rows, const struct row *row)
{
    struct pw_str line = {0};
    const struct pw_replica *a = row->arm;
    struct pw_lab_facts now = pw_lab_facts(lab);
    if (a != NULL) {
        const struct pw_arm_view *seen = &now.record->arms[a->id - 1];
        char work[24] = "-", loss[24], in[24], beyond[24];
        int n = pw_lab_n_replicas(lab, a->id);
        if (a->flops > 0)
            snprintf(work, sizeof work, "%.2e", (double)a->flops);
        pw_str_add(&line, "%c %3d %7lld %8s %9s %9s %8s %2d ", a->id == now.current ? '*' : ' ', a->id,
                   (long long)row->step, work, over(loss, pw_spread_last(seen, PW_M_LOSS), n, "%.4f", 1.0),
                   over(in, pw_spread_mean(&now.record->lab, seen, false), n, "%.1f%%", 100.0),
                   over(beyond, pw_spread_mean(&now.record->lab, seen, true), n, "%.1f%%", 100.0), n);
    } else {
        const struct pw_saved *x = row->saved;
        char in[24], beyond[24];
        int n = x->arm > 0 && x->replicas > 0 ? x->replicas : 1;
        pw_str_add(&line, "    - %7lld %8s %9s %9s %8s %2d ", (long long)row->step, "-", "-",
                   over(in, x->in_range, n, "%.1f%%", 100.0), over(beyond, x->beyond, n, "%.1f%%", 100.0), n);
    }
    for (int k = 0; k < row->n; k++) {
        const struct trait *t = &row->t[k];
        if (is_shown(row, k) || differs(rows, t->key))
            pw_str_add(&line, strchr(t->value, ' ') != NULL ? " %s=\"%s\"" : " %s=%s", t->key, t->value);
    }
    pw_lab_note(lab, "%s", line.s);
    pw_str_fini(&line);
}

static void print_runs(struct pw_lab *lab, const struct rows *rows, int all,
                       const struct pw_saved_list *saved)
{
    if (rows->n > 0)
        pw_lab_note(lab, "  arm    step     FLOP      loss  in range   beyond  n  what differs");
    else
        pw_lab_note(lab, "no %s of %d matches", saved->n > 0 ? "run" : "arm", all);
    for (int i = 0; i < rows->n; i++)
        tell_row(lab, rows, &rows->at[i]);
    if (saved->other > 0)
        pw_lab_note(lab, "%d cannot be read: %s", saved->other, saved->why);
    if (saved->unread > 0)
        pw_lab_note(lab, "%d more were not read", saved->unread);
}

/* List the saved weights and sessions that the arguments ask for. */
static enum pw_code list_saved(const struct pw_args *args, struct pw_saved_list *saved, struct pw_err *err)
{
    struct runs_opts o = {.path = ""};
    enum pw_code code = PW_OK;
    for (int i = 0; i < args->n && code == PW_OK; i++)
        if (args->words[i].key != NULL && pw_opt_find(opts, args->words[i].key) != NULL)
            code = pw_opt_set(opts, &o, "runs", args->words[i].key, args->words[i].value, err);
    if (code == PW_OK && o.path[0] != '\0')
        code = pw_saved_list(saved, o.path, err);
    else if (code == PW_OK && o.sessions)
        saved->at = pw_alloc(PW_MOST_SAVED, sizeof *saved->at);
    if (code == PW_OK && o.path[0] != '\0')
        code = pw_saved_sessions(saved, o.path, err);
    return code == PW_OK && o.sessions ? pw_saved_sessions(saved, NULL, err) : code;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_saved_list saved = {0};
    struct rows rows;
    enum pw_code code = list_saved(args, &saved, err);
    if (code != PW_OK) {
        pw_saved_free(&saved);
        return code;
    }
    collect(ctx, &saved, &rows);
    code = check(ctx, &rows, args, err);
    int all = rows.n;
    rows.n = 0;
    for (int i = 0; i < all; i++) { /* move matching rows to the front */
        if (code == PW_OK && fits(&rows.at[i], args))
            rows.at[rows.n++] = rows.at[i];
        else
            clear_row(&rows.at[i]);
    }
    if (code == PW_OK)
        print_runs(ctx, &rows, all, &saved);
    for (int i = 0; i < rows.n; i++)
        clear_row(&rows.at[i]);
    free(rows.at);
    pw_saved_free(&saved);
    return code;
}

static const struct pw_opt *const tables[] = {pw_config_opts, pw_optim_opts};

static void complete(struct pw_completion *c)
{
    pw_offer_encodings(c); /* any number of them */
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        for (const struct pw_opt *o = tables[i]; o->name != NULL; o++)
            pw_complete_offer(c, "%s=", o->name);
    pw_complete_offer(c, "task=");
    pw_complete_offer(c, "seed=");
    pw_complete_offer(c, "batches=");
}

static void values(struct pw_completion *c)
{
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        const struct pw_opt *o = pw_opt_find(tables[i], c->key);
        if (o != NULL && o->choices != NULL)
            pw_complete_offer_all(c, o->choices);
        else if (o != NULL && o->type == PW_OPT_SWITCH)
            pw_complete_offer_all(c, (const char *const[]){"on", "off", NULL});
    }
    pw_offer_values(c);
}

const struct pw_command pw_cmd_runs = {
    .name = "runs",
    .search = "results compare list",
    .usage = "runs [PE] [key=value] [path=FOLDER] [sessions=on]",
    .example = "runs lr=0.001",
    .summary = "list the arms in a table: results and differing settings",
    .detail = "runs t5 lr=0.001   only arms with this encoding and value; keys: those of model, optim, task, "
              "seed and\n"
              "                   the encoding, and batches=own or shared\n"
              "runs path=weights  also the weights that 'export weights' wrote into a folder, and the arms "
              "of sessions\n"
              "                   there, at their last checkpoint\n"
              "runs sessions=on   also the arms of recorded sessions ('sessions' lists them)\n"
              "FLOP counts the operations of one replica's steps. Loss is the last step's; exact match is "
              "the last\n"
              "evaluation's, a mean over trained lengths and over longer ones. For n replicas: the median.",
    .where = PW_AT_LAB,
    .opts = opts,
    .complete = complete,
    .beside = true,
    .values = values,
    /* it prints a list that includes files, so a re-run skips it */
    .outside = pw_command_outside,
    .run = run,
};
