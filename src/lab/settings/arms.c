/* arms.c - the models of the lab: which exist, and how they are created and dropped.
 *
 * Every change first builds the new models, and frees the old ones only if that succeeded.
 *
 * Events carry the number of a replica, the fold keeps a series for each, and panes compute median and band
 * while they draw. With own batches replica k trains on the samples of seed + k - 1 in every arm, so arms
 * stay paired by number. `race` sets this for all arms of the lab, so the two ways of drawing batches never
 * mix. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/settings/settings.h"
#include "lab/train/train.h"
#include "model/theorem.h"

/* Parse an encoding for a model with the present training lengths. */
static enum pw_code parse_encoding(const struct pw_lab *lab, struct pw_pe_use_opts *use, const char *text,
                                   const struct pw_config *cfg, struct pw_err *err)
{
    struct pw_config with = *cfg;
    with.trained = pw_lab_trained_distance(lab) + 1;
    return pw_pe_parse(use, text, &with, err);
}

enum pw_code pw_lab_copy_all(struct pw_lab *lab, struct pw_replica *fresh, int *n,
                             const struct pw_replica *arm, const char *pe, bool restart, struct pw_err *err)
{
    struct pw_pe_use_opts use = arm->pe;
    enum pw_code code = pe != NULL ? parse_encoding(lab, &use, pe, &arm->cfg, err) : PW_OK;
    pw_lab_end_checks(lab);
    *n = pw_lab_collect(lab, arm->id, fresh);
    if (code == PW_OK)
        code = pw_lab_check_memory(lab, lab->ops, lab->be, fresh, *n, err);
    for (int i = 0; i < *n && code == PW_OK; i++) {
        struct pw_replica *a = &fresh[i];
        struct pw_model *from = a->model;
        a->model = NULL;
        if (pe != NULL)
            code = pw_model_swap(&a->model, from, &use, a->seed, restart, err);
        else
            code = pw_model_clone(&a->model, from, lab->ops, lab->be, err);
        a->pe = use;
        /* before the first step it counts as the arm's encoding, not as a swap */
        a->swaps += pe != NULL && a->step > 0;
        for (int k = 0; code != PW_OK && k <= i; k++)
            pw_model_destroy(fresh[k].model);
    }
    return code;
}

/* ---- putting models in their places */

static void clear(struct pw_lab *lab, int id)
{
    for (int r = 1; r <= PW_MAX_REPLICAS; r++) {
        struct pw_replica *a = &lab->replicas[pw_lab_place_of(id, r)];
        if (a->model != NULL)
            pw_lab_changes(lab, &(struct pw_notice){.what = PW_CHANGE_MODELS, .arm = id});
        pw_model_destroy(a->model);
        *a = (struct pw_replica){.id = id, .replica = r};
    }
}

static void drop(struct pw_lab *lab, int id)
{
    struct pw_event *e = pw_lab_event(PW_EV_DROP, pw_lab_arm(lab, id));
    clear(lab, id);
    pw_lab_emit(lab, e);
}

static bool any_heads_off(const struct pw_replica *arms, int n, int id)
{
    bool off = false;
    for (int i = 0; i < n; i++)
        off = off || (arms[i].id == id && pw_lab_heads_off(&arms[i]));
    return off;
}

/* The current arm changed, or it has fewer replicas than before: correct lab->replica. */
static void settle_replica(struct pw_lab *lab)
{
    int n = pw_lab_n_replicas(lab, lab->current);
    if (n == 0 || lab->replica <= n)
        return;
    lab->replica = 1;
    if (n > 1)
        pw_lab_note(lab, "arm %d has %d replicas; the first is inspected", lab->current, n);
    else
        pw_lab_note(lab, "arm %d has one replica; it is inspected", lab->current);
}

void pw_lab_put(struct pw_lab *lab, const struct pw_replica *fresh, int n)
{
    for (int i = 0; i < n; i++) {
        int id = fresh[i].id;
        if (fresh[i].replica == 1 && any_heads_off(lab->replicas, PW_MAX_PLACES, id) &&
            !any_heads_off(fresh, n, id))
            pw_lab_note(lab, "arm %d: new weights; all heads are on", id);
        if (fresh[i].replica == 1)
            clear(lab, fresh[i].id);
        lab->replicas[pw_lab_place_of(fresh[i].id, fresh[i].replica)] = fresh[i];
    }
    settle_replica(lab);
}

void pw_lab_put_only(struct pw_lab *lab, const struct pw_replica *fresh, int n)
{
    bool kept[PW_MAX_ARMS + 1] = {false};
    pw_lab_stop(lab, "");
    for (int i = 0; i < n; i++)
        kept[fresh[i].id] = true;
    for (int id = 1; id <= PW_MAX_ARMS; id++)
        if (!kept[id] && pw_lab_arm(lab, id) != NULL)
            drop(lab, id);
    pw_lab_put(lab, fresh, n);
    if (pw_lab_arm(lab, lab->current) == NULL)
        lab->current = fresh[0].id;
    settle_replica(lab);
}

/* ---- commands */

enum pw_code pw_lab_race(struct pw_lab *lab, char *const *pes, int n, int seeds, bool own_batches,
                         struct pw_err *err)
{
    struct pw_replica fresh[PW_MAX_PLACES], settings[PW_MAX_PLACES];
    if (n > PW_MAX_ARMS)
        return pw_fail(err, PW_EUSER, "%d encodings; at most %d arms are allowed", n, PW_MAX_ARMS);
    for (int i = 0; i < n * seeds; i++) {
        struct pw_replica *a = &settings[i];
        *a = *pw_lab_current(lab);
        a->id = i / seeds + 1;
        a->replica = i % seeds + 1;
        a->seed = lab->seed + (uint64_t)a->replica - 1;
        if (a->replica > 1)
            a->pe = settings[i - 1].pe;
        enum pw_code code =
            a->replica > 1 ? PW_OK : parse_encoding(lab, &a->pe, pes[i / seeds], &a->cfg, err);
        if (code != PW_OK)
            return code;
    }
    enum pw_code code = pw_lab_build_all(lab, fresh, settings, n * seeds, err);
    if (code != PW_OK)
        return code;
    lab->replica = 1;
    pw_lab_put_only(lab, fresh, n * seeds);
    lab->own_batches = own_batches;
    lab->current = 1;
    pw_lab_emit_all(lab, true);
    pw_lab_changed(lab, &(struct pw_notice){.what = PW_CHANGE_MODELS});
    return PW_OK;
}

static enum pw_code find_place(struct pw_lab *lab, int *id, struct pw_err *err)
{
    for (*id = 1; *id <= PW_MAX_ARMS; (*id)++)
        if (pw_lab_arm(lab, *id) == NULL)
            return PW_OK;
    return pw_fail(err, PW_EUSER, "there are %d arms, the limit; 'arm drop N' makes room", PW_MAX_ARMS);
}

enum pw_code pw_lab_add_arm(struct pw_lab *lab, const char *pe, int *id, struct pw_err *err)
{
    struct pw_replica fresh[PW_MAX_PLACES], settings[PW_MAX_PLACES];
    enum pw_code code = find_place(lab, id, err);
    int n = pw_lab_collect(lab, lab->current, settings);
    for (int i = 0; i < n && code == PW_OK; i++) {
        settings[i].id = *id;
        settings[i].seed = lab->seed + (uint64_t)i;
        if (i == 0)
            code = parse_encoding(lab, &settings[i].pe, pe, &settings[i].cfg, err);
        else
            settings[i].pe = settings[0].pe;
    }
    if (code == PW_OK)
        code = pw_lab_build_all(lab, fresh, settings, n, err);
    if (code != PW_OK)
        return code;
    pw_lab_put(lab, fresh, n);
    pw_lab_emit_arm(lab, pw_lab_arm(lab, *id), true);
    pw_lab_emit_state(lab);
    return PW_OK;
}

enum pw_code pw_lab_fork(struct pw_lab *lab, const char *pe, bool restart, int *id, struct pw_err *err)
{
    const struct pw_replica *from = pw_lab_current(lab);
    struct pw_replica fresh[PW_MAX_PLACES];
    int n;
    enum pw_code code = find_place(lab, id, err);
    if (code == PW_OK)
        code = pw_lab_copy_all(lab, fresh, &n, from, pe, restart, err);
    if (code != PW_OK)
        return code;
    for (int i = 0; i < n; i++) {
        fresh[i].id = *id;
        fresh[i].parent = from->id;
        fresh[i].parent_step = from->step;
    }
    pw_lab_put(lab, fresh, n);
    struct pw_replica before = fresh[0]; /* a copy, so that the swap appears in the arm's history */
    before.pe = from->pe;
    before.swaps = from->swaps;
    pw_lab_emit_arm(lab, &before, true);
    if (pe != NULL)
        pw_lab_emit_arm(lab, &fresh[0], false);
    pw_lab_emit_state(lab);
    return PW_OK;
}

enum pw_code pw_lab_drop_arm(struct pw_lab *lab, int id, struct pw_err *err)
{
    struct pw_replica *arm;
    enum pw_code code = pw_lab_need_arm(lab, id, &arm, err);
    if (code != PW_OK)
        return code;
    if (pw_lab_n_arms(lab) == 1)
        return pw_fail(err, PW_EUSER, "arm %d is the only arm; the last arm cannot be dropped", id);
    pw_lab_changes(lab, &(struct pw_notice){.what = PW_CHANGE_ARMS, .arm = id});
    drop(lab, id);
    if (lab->current == id) /* the next lower arm, else the first */
        for (lab->current = id - 1; pw_lab_arm(lab, lab->current) == NULL;)
            lab->current = lab->current > 1 ? lab->current - 1 : PW_MAX_ARMS;
    return pw_lab_choose_arm(lab, lab->current, err);
}

enum pw_code pw_lab_choose_next(struct pw_lab *lab, int by, struct pw_err *err)
{
    int id = lab->current;
    do
        id = (id - 1 + by + PW_MAX_ARMS) % PW_MAX_ARMS + 1;
    while (pw_lab_arm(lab, id) == NULL);
    return pw_lab_choose_arm(lab, id, err);
}

enum pw_code pw_lab_choose_arm(struct pw_lab *lab, int id, struct pw_err *err)
{
    struct pw_replica *arm;
    enum pw_code code = pw_lab_need_arm(lab, id, &arm, err);
    if (code != PW_OK)
        return code;
    lab->current = id;
    settle_replica(lab);
    pw_lab_emit_arm(lab, arm, false);
    pw_lab_emit_state(lab);
    pw_lab_changed(lab, &(struct pw_notice){.what = PW_CHANGE_CURRENT, .arm = id});
    return PW_OK;
}
