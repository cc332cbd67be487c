/* foreign.c - take a model of another program into an arm. Its vocabulary is that of its tokenizer, so a lab
 * with another one changes to the task ids. */
#include "foreign/foreign.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/settings/settings.h"

#define TEXT_LENGTH 64 /* trained context of the text that is set, in tokens */

/* Fills the settings of the arm. context 0: the model's own. */
static enum pw_code settle(const struct pw_foreign *f, struct pw_replica *settings, int context,
                           struct pw_err *err)
{
    const struct pw_foreign_info *info = pw_foreign_info(f);
    struct pw_str text = {0};
    settings->cfg = info->cfg;
    if (context > 0)
        settings->cfg.context = context;
    /* Weights of another program are trained on gently if at all, and memory for large steps is not asked
     * for. */
    settings->optim.batch = 1;
    settings->optim.lr = 1e-5f;
    pw_lab_fit_optim(&settings->cfg, &settings->optim);
    snprintf(settings->preset, sizeof settings->preset, "%s", info->family);
    pw_foreign_pe(f, settings->cfg.context, &text);
    enum pw_code code = pw_pe_parse(&settings->pe, text.s, &settings->cfg, err);
    pw_str_fini(&text);
    return code;
}

/* Appends the path of the model's tokenizer: tokenizer.json in its folder, or its GGUF file. */
static void name_tokenizer(const char *path, struct pw_str *out)
{
    if (pw_text_ends(path, ".gguf"))
        pw_str_add(out, "%s", path);
    else
        pw_foreign_beside(path, "tokenizer.json", out);
}

/* Makes the task of pewter's own text in the model's tokens. Its evaluations reach twice the trained length,
 * so the length is half of what the model reads. Fails if there is no tokenizer that can be read. */
static enum pw_code make_text(const struct pw_foreign_info *info, const char *path, int context,
                              struct pw_taskset *other, struct pw_err *err)
{
    struct pw_str tokenizer = {0}, text = {0};
    int length = context > 2 * TEXT_LENGTH ? TEXT_LENGTH : (context - 1) / 2;
    name_tokenizer(path, &tokenizer);
    pw_str_add(&text, "text tokens=");
    pw_str_quote(&text, tokenizer.s);
    pw_str_add(&text, " lengths=%d vocab=%d", length > 1 ? length : 1, info->cfg.vocab);
    enum pw_code code = pw_taskset_init(other, text.s, err);
    pw_str_fini(&tokenizer);
    pw_str_fini(&text);
    return code;
}

/* Finds another task if the lab's vocabulary is not the model's: running text if the model's tokenizer is
 * there, or numbers. Else *other stays empty. */
static enum pw_code find_task(struct pw_lab *lab, const struct pw_foreign_info *info, const char *path,
                              int context, struct pw_taskset *other, struct pw_err *err)
{
    char text[64];
    struct pw_err why;
    if (lab->tasks.vocab.plain && lab->tasks.vocab.n == info->cfg.vocab)
        return PW_OK;
    if (pw_lab_n_arms(lab) > 1)
        return pw_fail(err, PW_EUSER,
                       "model: the file's vocabulary has %d tokens, the task's %d: run 'task ids vocab=%d' "
                       "first (it applies to all arms), or drop the other arms",
                       info->cfg.vocab, lab->tasks.vocab.n, info->cfg.vocab);
    if (make_text(info, path, context, other, &why) == PW_OK)
        return PW_OK;
    pw_lab_note(lab, "tokens are numbers: %s", why.msg);
    snprintf(text, sizeof text, "ids vocab=%d", info->cfg.vocab);
    return pw_taskset_init(other, text, err);
}

/* A count of bytes or parameters in decimal units: "134.5 M". */
static void count_text(char dst[32], double n)
{
    static const char *const units[] = {"", "k", "M", "G"};
    int k = 0;
    for (; k < 3 && n >= 1000; k++)
        n /= 1000;
    snprintf(dst, 32, k > 0 ? "%.1f %s" : "%.0f %s", n, units[k]);
}

/* Before memory is taken. */
static void note_size(struct pw_lab *lab, const struct pw_foreign_info *info, const char *path)
{
    char parameters[32], weights[32], files[32];
    int bytes = pw_model_one_copy(lab->ops) ? info->weight_bytes : (int)sizeof(float);
    count_text(parameters, (double)info->parameters);
    count_text(weights, (double)info->parameters * bytes);
    count_text(files, (double)info->bytes);
    pw_lab_note(lab, "%s: %s, %s parameters, %sB of weights%s; files of %sB", path, info->family, parameters,
                weights, bytes == 2 ? " (16 bits, as in the file)" : "", files);
}

/* Puts the model in its place. old: the task that ids has replaced, or NULL. */
static void put(struct pw_lab *lab, struct pw_taskset *old, const struct pw_replica *fresh)
{
    bool others = pw_lab_n_replicas(lab, fresh->id) > 1;
    struct pw_str pe = {0};
    if (old != NULL) {
        pw_lab_put_task(lab, old, fresh, 1);
        struct pw_str task = {0};
        pw_taskset_print(&lab->tasks, &task);
        pw_lab_note(lab, "the task is now '%s'", task.s);
        pw_str_fini(&task);
    } else {
        pw_lab_put(lab, fresh, 1);
        pw_lab_emit_arm(lab, pw_lab_arm(lab, fresh->id), true);
        pw_lab_emit_state(lab);
    }
    pw_lab_changed(lab, &(struct pw_notice){.what = PW_CHANGE_MODELS, .arm = fresh->id});
    pw_pe_print(&fresh->pe, &pe);
    pw_lab_note(lab, "arm %d: %d layers, width %d, context %d, encoding %s; optim batch=1 lr=1e-05%s",
                fresh->id, fresh->cfg.layers, fresh->cfg.width, fresh->cfg.context, pe.s,
                others ? "; the file holds one model, so the other replicas were dropped" : "");
    pw_str_fini(&pe);
}

static enum pw_code import(struct pw_lab *lab, struct pw_replica *arm, struct pw_foreign *f, const char *path,
                           int context, struct pw_err *err)
{
    const struct pw_foreign_info *info = pw_foreign_info(f);
    struct pw_replica settings = *arm, fresh;
    struct pw_taskset old = lab->tasks, other = {0};
    settings.replica = 1;
    snprintf(settings.source, sizeof settings.source, "%s", path);
    note_size(lab, info, path);
    enum pw_code code = settle(f, &settings, context, err);
    if (code == PW_OK)
        code = find_task(lab, info, path, settings.cfg.context, &other, err);
    if (other.n > 0)
        lab->tasks = other; /* the model is built for its vocabulary */
    if (code == PW_OK)
        code = pw_lab_build_foreign(lab, &fresh, &settings, f, true, err);
    if (code == PW_OK) {
        pw_lab_note(lab, "%s: sha256 %.16s", path, info->sha);
        put(lab, other.n > 0 ? &old : NULL, &fresh);
    } else if (other.n > 0) {
        lab->tasks = old;
        pw_taskset_fini(&other);
    }
    return code;
}

enum pw_code pw_lab_import_model(struct pw_lab *lab, struct pw_replica *arm, const char *path, int context,
                                 struct pw_err *err)
{
    struct pw_foreign *f = NULL;
    struct pw_str found = {0};
    enum pw_code code = pw_foreign_find(path, &found, err);
    if (code == PW_OK)
        code = pw_foreign_open(&f, found.s, true, err);
    if (code == PW_OK)
        code = import(lab, arm, f, found.s, context, err);
    pw_foreign_close(f);
    pw_str_fini(&found);
    pw_alloc_trim(); /* headers, rows and words have used many small blocks */
    return code;
}
