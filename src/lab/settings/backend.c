/* backend.c - the lab's backend, and moving all models to another one.
 *
 * Weights and moments are float32 on every backend, so models move with all their bits. Their later bits
 * depend on the arithmetic. Class portable has the same bits everywhere, so its backend concerns this machine
 * only and is not part of the experiment. Any other arithmetic is part of the experiment. */
#include <stdio.h>
#include <string.h>

#include "base/pool.h"
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/looks/looks.h"
#include "lab/loop/loop.h"
#include "lab/train/train.h"

/* ---- moving */

/* Models that can't be copied because their device is lost are lost too. */
static enum pw_code lost(const struct pw_lab *lab, enum pw_code code, struct pw_err *err)
{
    if (code != PW_EDEVICE || lab->ops->host)
        return code;
    struct pw_err why = *err;
    return pw_fail(err, code, "%.250s; with --backend cpu the session continues from its last checkpoint",
                   why.msg);
}

/* Move every model to a new backend; close the old one only if all have moved. An answer stays valid if its
 * model has the same bits and the new backend would decode the same answer. */
static enum pw_code move(struct pw_lab *lab, const struct pw_backend_ops *ops, int unit, struct pw_err *err)
{
    struct pw_backend *be = NULL;
    struct pw_model *moved[PW_MAX_PLACES] = {0};
    char was[16], is[16], place[PW_LINE];
    pw_lab_arithmetic(was, lab->ops);
    pw_lab_arithmetic(is, ops);
    bool same = strcmp(was, is) == 0, stands = pw_lab_answer_stands(lab) && same;
    pw_lab_end_checks(lab);
    enum pw_code code = ops->open(&be, unit, err);
    if (code != PW_OK)
        return code;
    if (ops->memory != NULL) {
        struct pw_replica all[PW_MAX_PLACES];
        code = pw_lab_check_memory(lab, ops, be, all, pw_lab_collect(lab, 0, all), err);
    }
    for (int i = 0; i < PW_MAX_PLACES && code == PW_OK; i++)
        if (lab->replicas[i].model != NULL)
            code = pw_model_clone(&moved[i], lab->replicas[i].model, ops, be, err);
    if (code == PW_OK)
        pw_lab_changes(lab, &(struct pw_notice){.what = PW_CHANGE_BACKEND | (same ? 0u : PW_CHANGE_BITS)});
    for (int i = 0; i < PW_MAX_PLACES; i++) {
        struct pw_model **old = code == PW_OK ? &lab->replicas[i].model : &moved[i];
        pw_model_destroy(*old);
        *old = code == PW_OK ? moved[i] : NULL;
    }
    if (code != PW_OK) {
        ops->close(be);
        return lost(lab, code, err);
    }
    lab->ops->close(lab->be);
    lab->ops = ops;
    lab->be = be;
    lab->unit = unit;
    if (stands)
        lab->pin.generation = pw_model_generation(pw_lab_answerer(lab)->model);
    pw_lab_emit_lab(lab);
    pw_lab_place(lab, place, sizeof place);
    pw_lab_note(lab, "%s", place);
    return PW_OK;
}

/* Fails unless the cpu computes: only the cpu has this option. */
static enum pw_code need_cpu(const struct pw_lab *lab, const char *key, struct pw_err *err)
{
    if (lab->ops->host)
        return PW_OK;
    return pw_fail(err, PW_EUSER,
                   "set %s: only for the cpu backend, the current one is %s; 'backend cpu' switches to it",
                   key, lab->ops->name);
}

enum pw_code pw_lab_set_threads(struct pw_lab *lab, int threads, struct pw_err *err)
{
    enum pw_code code = need_cpu(lab, "threads", err);
    if (code == PW_OK)
        code = move(lab, lab->ops, threads, err);
    if (code == PW_OK)
        lab->threads = threads;
    return code;
}

enum pw_code pw_lab_set_isa(struct pw_lab *lab, const char *isa, struct pw_err *err)
{
    if (need_cpu(lab, "isa", err) != PW_OK)
        return PW_EUSER;
    const struct pw_backend_ops *ops = pw_backend_cpu_precision(isa, lab->ops->precision, err);
    return ops != NULL ? move(lab, ops, lab->unit, err) : PW_EUSER;
}

enum pw_code pw_lab_set_precision(struct pw_lab *lab, const char *precision, struct pw_err *err)
{
    int unit;
    const struct pw_backend_ops *ops =
        lab->ops->host ? pw_backend_cpu_precision(lab->ops->isa, precision, err)
                       : pw_backend_find(lab->ops->name, lab->ops->mode, precision, &unit, err);
    return ops != NULL ? move(lab, ops, lab->unit, err) : PW_EUSER;
}

/* ---- choosing */

/* `auto`: cuda if it opens, else the cpu. The resolved command is recorded, because another machine would
 * resolve it differently. */
static enum pw_code choose(struct pw_lab *lab, const char *mode, const char *precision)
{
    struct pw_backend *be;
    struct pw_err err;
    int unit;
    char line[64] = "backend cpu";
    const struct pw_backend_ops *ops = pw_backend_find("cuda", mode, precision, &unit, &err);
    if (ops != NULL && ops->open(&be, unit, &err) == PW_OK) {
        snprintf(line, sizeof line, "backend cuda:%d mode=%s precision=%s", unit, ops->mode, ops->precision);
        pw_lab_note(lab, "auto chooses cuda; there is %s", ops->device(be));
        ops->close(be);
    } else {
        pw_lab_note(lab, "auto chooses the cpu; %s", err.msg);
    }
    return pw_lab_run_typed(lab, line, 1);
}

enum pw_code pw_lab_set_backend(struct pw_lab *lab, const char *name, const char *mode, const char *precision,
                                struct pw_err *err)
{
    int unit;
    bool same_bits = strncmp(name, "cuda", 4) == 0 ? mode != NULL && strcmp(mode, "ref") == 0
                                                   : precision == NULL || strcmp(precision, "fp32") == 0;
    if (strcmp(name, "auto") == 0)
        return choose(lab, mode, precision);
    if (lab->follow != NULL && same_bits) { /* the recorded device does not matter for a re-run */
        if (lab->ops->portable)
            return PW_OK;
        name = "cpu";
        mode = precision = NULL;
    }
    const struct pw_backend_ops *ops = pw_backend_find(name, mode, precision, &unit, err);
    if (ops == NULL)
        return PW_EUSER;
    return move(lab, ops, ops->host ? lab->threads : unit, err);
}

/* ---- listing devices */

static void list_cpu(struct pw_lab *lab)
{
    struct pw_err err;
    const struct pw_backend_ops *cpu = pw_backend_cpu(),
                                *bf16 = pw_backend_cpu_precision("auto", "bf16", &err);
    pw_lab_note(lab, "cpu     %d processors, %s: fp32%s", pw_pool_processors(), cpu->isa,
                bf16 != NULL ? ", bf16" : "");
}

static void list_device(struct pw_lab *lab, int n, const struct pw_device *d)
{
    if (d->why_not[0] != '\0')
        pw_lab_note(lab, "cuda:%d  %s: cannot be used: %s", n, d->name, d->why_not);
    else
        pw_lab_note(lab, "cuda:%d  %s, %.1f of %.1f GB free", n, d->name, 1e-9 * (double)d->free,
                    1e-9 * (double)d->total);
}

void pw_lab_list_devices(struct pw_lab *lab)
{
    struct pw_device d;
    struct pw_err err;
    char path[PW_LINE * 4];
    const struct pw_backend_plugin *p = pw_backend_plugin_of("cuda", path, sizeof path, &err);
    int n = 0;
    list_cpu(lab);
    if (p == NULL) {
        pw_lab_note(lab, "%s", err.msg);
        return;
    }
    while (p->tables[0]->device_at(&d, n, &err) == PW_OK)
        list_device(lab, n++, &d);
    if (n == 0)
        pw_lab_note(lab, "cuda    %s (%s)", err.msg, path);
    else
        pw_lab_note(lab, "        by %s: %s", path, d.libraries);
}
