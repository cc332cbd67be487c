/* list.c - which arms and replicas there are. */
#include <stdio.h>

#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "model/theorem.h"

int pw_lab_place_of(int id, int replica)
{
    return (replica - 1) * PW_MAX_ARMS + id - 1;
}

struct pw_replica *pw_lab_replica(struct pw_lab *lab, int id, int replica)
{
    if (id < 1 || id > PW_MAX_ARMS || replica < 1 || replica > PW_MAX_REPLICAS)
        return NULL;
    struct pw_replica *a = &lab->replicas[pw_lab_place_of(id, replica)];
    return a->model != NULL ? a : NULL;
}

struct pw_replica *pw_lab_arm(struct pw_lab *lab, int id)
{
    return pw_lab_replica(lab, id, 1);
}

struct pw_replica *pw_lab_current(struct pw_lab *lab)
{
    return &lab->replicas[lab->current - 1];
}

int pw_lab_inspected_place(const struct pw_lab *lab, int id)
{
    int chosen = pw_lab_place_of(id, lab->replica);
    return lab->replicas[chosen].model != NULL ? chosen : pw_lab_place_of(id, 1);
}

struct pw_replica *pw_lab_inspected_of(struct pw_lab *lab, int id)
{
    return pw_lab_arm(lab, id) != NULL ? &lab->replicas[pw_lab_inspected_place(lab, id)] : NULL;
}

struct pw_replica *pw_lab_inspected(struct pw_lab *lab)
{
    return pw_lab_inspected_of(lab, lab->current);
}

int pw_lab_n_arms(const struct pw_lab *lab)
{
    int n = 0;
    for (int i = 0; i < PW_MAX_ARMS; i++)
        n += lab->replicas[i].model != NULL;
    return n;
}

int pw_lab_n_replicas(const struct pw_lab *lab, int id)
{
    int n = 0;
    while (n < PW_MAX_REPLICAS && lab->replicas[pw_lab_place_of(id, n + 1)].model != NULL)
        n++;
    return n;
}

enum pw_code pw_lab_need_arm(struct pw_lab *lab, int id, struct pw_replica **arm, struct pw_err *err)
{
    *arm = pw_lab_arm(lab, id);
    if (*arm != NULL)
        return PW_OK;
    struct pw_str there = {0};
    for (int i = 1; i <= PW_MAX_ARMS; i++)
        if (pw_lab_arm(lab, i) != NULL)
            pw_str_add(&there, "%s%d", there.len > 0 ? ", " : "", i);
    pw_fail(err, PW_EUSER, "there is no arm %d; there %s %s", id,
            pw_lab_n_arms(lab) == 1 ? "is only arm" : "are", pw_str_text(&there));
    pw_str_fini(&there);
    return PW_EUSER;
}

enum pw_code pw_lab_need_replica(struct pw_lab *lab, const struct pw_replica *arm, const char *who,
                                 int replica, struct pw_err *err)
{
    int n = pw_lab_n_replicas(lab, arm->id);
    if (replica <= n)
        return PW_OK;
    if (n > 1)
        return pw_fail(err, PW_EUSER, "%s: replica=%d: arm %d has replicas 1..%d", who, replica, arm->id, n);
    return pw_fail(err, PW_EUSER,
                   "%s: replica=%d: arm %d has one replica; 'race PE,... seeds=N' makes N of each", who,
                   replica, arm->id);
}

int pw_lab_collect(const struct pw_lab *lab, int id_or_0, struct pw_replica *out)
{
    int n = 0;
    for (int id = 1; id <= PW_MAX_ARMS; id++)
        for (int r = 1; (id_or_0 == 0 || id == id_or_0) && r <= pw_lab_n_replicas(lab, id); r++)
            out[n++] = lab->replicas[pw_lab_place_of(id, r)];
    return n;
}

const char *pw_lab_shape(const struct pw_replica *arm)
{
    int theorem = pw_theorem_of(&arm->cfg);
    return theorem == 0 ? arm->preset : theorem == 1 ? "theorem1" : "theorem2";
}

void pw_lab_adapter_text(char dst[32], const struct pw_replica *arm)
{
    dst[0] = '\0';
    if (arm->cfg.adapter > 0)
        snprintf(dst, 32, ", adapter=%d", arm->cfg.adapter);
}

void pw_lab_alter(struct pw_lab *lab, int id, enum pw_altered how)
{
    struct pw_replica *a;
    for (int r = 1; (a = pw_lab_replica(lab, id, r)) != NULL; r++)
        if (a->altered == PW_ALTERED_NOT && (a->step > 0 || how == PW_ALTERED_TRANSPLANT))
            a->altered = how;
}

bool pw_lab_training(const struct pw_lab *lab)
{
    for (int i = 0; i < PW_MAX_PLACES; i++)
        if (lab->replicas[i].model != NULL && lab->replicas[i].training)
            return true;
    return false;
}
