/* runs - the arms as a table: where they differ, and what came of it. */
#include <stdio.h>
#include <string.h>

#include "lab/lab_int.h"

/* One key of what an arm is: "pe" "t5", "buckets" "8", "lr" "0.001". */
struct trait {
    char key[24], value[48];
};

#define MOST 64

struct row {
    const struct pw_arm *arm;
    int n;
    struct trait t[MOST];
};

static void describe(const struct pw_lab *lab, const struct pw_arm *a, struct row *row)
{
    struct pw_str text = {0};
    row->arm = a;
    row->n = 0;
    pw_str_add(&text, "pe=");
    pw_pe_print(&a->pe, &text);
    pw_str_add(&text, " model=%s", a->preset);
    pw_opt_print(pw_config_opts, &a->cfg, false, &text);
    pw_opt_print(pw_optim_opts, &a->optim, false, &text);
    pw_str_add(&text, " seed=%llu seeds=%d", (unsigned long long)a->seed, pw_lab_replicates(lab, a->id));
    if (a->swaps > 0)
        pw_str_add(&text, " swaps=%d", a->swaps);
    if (a->parent > 0)
        pw_str_add(&text, " fork=%d@%lld", a->parent, (long long)a->parent_step);
    for (const char *word = pw_str_text(&text); *word != '\0' && row->n < MOST;) {
        size_t n = strcspn(word, " "), key = strcspn(word, "=");
        struct trait *t = &row->t[row->n++];
        snprintf(t->key, sizeof t->key, "%.*s", (int)key, word);
        snprintf(t->value, sizeof t->value, "%.*s", (int)(n - key - 1), word + key + 1);
        word += n + strspn(word + n, " ");
    }
    pw_str_fini(&text);
}

static const char *value_of(const struct row *row, const char *key)
{
    for (int i = 0; i < row->n; i++)
        if (strcmp(row->t[i].key, key) == 0)
            return row->t[i].value;
    return NULL;
}

/* The same text, or the same number written otherwise. */
static bool matches(const char *value, const char *wanted)
{
    double a, b;
    if (value == NULL)
        return false;
    return strcmp(value, wanted) == 0 ||
           (pw_text_double(value, &a) && pw_text_double(wanted, &b) && (float)a == (float)b);
}

static bool fits(const struct row *row, const struct pw_args *args)
{
    bool all = true;
    for (int i = 0; i < args->n; i++)
        all = all && matches(value_of(row, args->words[i].key), args->words[i].value);
    return all;
}

/* Fails if no arm has such a key at all. */
static enum pw_code need_key(const struct row *rows, int n, const char *key, struct pw_err *err)
{
    const char *names[PW_MAX_ARMS * MOST + 1];
    int k = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < rows[i].n; j++)
            names[k++] = rows[i].t[j].key;
    names[k] = NULL;
    for (int i = 0; i < k; i++)
        if (strcmp(names[i], key) == 0)
            return PW_OK;
    const char *near = pw_text_nearest(key, names);
    return pw_fail(err, PW_EUSER, "runs: no arm has a key '%.40s'%s%s%s", key,
                   near != NULL ? "; did you mean '" : ": pe, and those of model, optim, pe and seed",
                   near != NULL ? near : "", near != NULL ? "'?" : "");
}

static bool differs(const struct row *rows, int n, const char *key)
{
    const char *first = value_of(&rows[0], key);
    for (int i = 1; i < n; i++) {
        const char *v = value_of(&rows[i], key);
        if ((v == NULL) != (first == NULL) || (v != NULL && strcmp(v, first) != 0))
            return true;
    }
    return false;
}

static const char *percent(char out[16], struct pw_spread x)
{
    snprintf(out, 16, x.n > 0 ? "%.1f%%" : "-", 100.0 * (double)x.median);
    return out;
}

static void tell(struct pw_lab *lab, const struct row *rows, int n)
{
    pw_lab_note(lab, "  arm    step      loss  in range   beyond  n  what differs");
    for (int i = 0; i < n; i++) {
        const struct row *row = &rows[i];
        const struct pw_arm_view *seen = &lab->record->arms[row->arm->id - 1];
        struct pw_spread loss = pw_spread_last(seen, PW_M_LOSS);
        struct pw_str what = {0};
        char number[16] = "-", in[16], beyond[16];
        if (loss.n > 0)
            snprintf(number, sizeof number, "%.4f", (double)loss.median);
        for (int k = 0; k < row->n; k++)
            if (k == 0 ||
                differs(rows, n, row->t[k].key)) /* the encoding in any case: it is the arm's name */
                pw_str_add(&what, " %s=%s", row->t[k].key, row->t[k].value);
        pw_lab_note(lab, "%c %3d %7lld %9s %9s %8s %2d %s", row->arm->id == lab->current ? '*' : ' ',
                    row->arm->id, (long long)row->arm->step, number,
                    percent(in, pw_spread_mean(&lab->record->lab, seen, false)),
                    percent(beyond, pw_spread_mean(&lab->record->lab, seen, true)),
                    pw_lab_replicates(lab, row->arm->id), pw_str_text(&what));
        pw_str_fini(&what);
    }
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct row rows[PW_MAX_ARMS];
    int n = 0, shown = 0;
    if (pw_args_words(args) > 0)
        return pw_fail(err, PW_EUSER, "runs: '%s' is not key=value; usage: runs [key=value]",
                       pw_args_word(args, 0));
    for (int id = 1; id <= PW_MAX_ARMS; id++)
        if (pw_lab_arm(ctx, id) != NULL)
            describe(ctx, pw_lab_arm(ctx, id), &rows[n++]);
    for (int i = 0; i < args->n; i++) {
        enum pw_code code = need_key(rows, n, args->words[i].key, err);
        if (code != PW_OK)
            return code;
    }
    for (int i = 0; i < n; i++)
        if (fits(&rows[i], args))
            rows[shown++] = rows[i];
    if (shown > 0)
        tell(ctx, rows, shown);
    else
        pw_lab_note(ctx, "no arm of %d is like that", n);
    return PW_OK;
}

const struct pw_command pw_cmd_runs = {
    .name = "runs",
    .usage = "runs [key=value]",
    .summary = "the arms as a table: results, and where their settings differ",
    .detail = "runs pe=t5         only the arms that have this; keys are those of model, optim, seed and the "
              "encoding\n"
              "Loss is the last one; exact match the last evaluation's, as a mean over trained lengths and "
              "over longer\n"
              "ones; of n replicates the median.",
    .where = PW_AT_LAB,
    .beside = true,
    .run = run,
};
