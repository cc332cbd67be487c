#include "lab/scope.h"

#include <string.h>

#include "lab/actions.h"

const struct pw_opt pw_scope_opts[] = {PW_ARM_OPT(0), {.name = NULL}};

const char *const pw_scope_inspected[] = {"inspected", NULL};

enum pw_code pw_scope_replica(struct pw_lab *lab, struct pw_replica **arm, const char *who, int replica_or_0,
                              struct pw_err *err)
{
    enum pw_code code = pw_lab_need_replica(lab, *arm, who, replica_or_0, err);
    if (code == PW_OK)
        *arm = replica_or_0 > 0 ? pw_lab_replica(lab, (*arm)->id, replica_or_0)
                                : pw_lab_inspected_of(lab, (*arm)->id);
    return code;
}

enum pw_code pw_scope_take(struct pw_lab *lab, const struct pw_args *args, struct pw_args *rest, int *id,
                           struct pw_err *err)
{
    struct pw_replica *arm;
    *id = 0;
    *rest = *args;
    rest->n = 0;
    for (int i = 0; i < args->n; i++) {
        const struct pw_word *w = &args->words[i];
        if (w->key == NULL || strcmp(w->key, pw_scope_opts[0].name) != 0) {
            rest->words[rest->n++] = *w;
            continue;
        }
        enum pw_code code = pw_opt_set(pw_scope_opts, id, args->name, w->key, w->value, err);
        if (code == PW_OK)
            code = pw_lab_need_arm(lab, *id, &arm, err);
        if (code != PW_OK)
            return code;
    }
    return PW_OK;
}

enum pw_code pw_scope_arm(struct pw_lab *lab, const struct pw_args *args, struct pw_args *rest,
                          struct pw_replica **arm, struct pw_err *err)
{
    int id;
    enum pw_code code = pw_scope_take(lab, args, rest, &id, err);
    if (code == PW_OK)
        *arm = id != 0 ? pw_lab_arm(lab, id) : pw_lab_current(lab);
    return code;
}

enum pw_code pw_scope_run(struct pw_lab *lab, const struct pw_args *args,
                          enum pw_code (*run_on)(struct pw_lab *lab, struct pw_replica *arm,
                                                 const struct pw_args *rest, struct pw_err *err),
                          struct pw_err *err)
{
    struct pw_args rest;
    struct pw_replica *arm;
    enum pw_code code = pw_scope_arm(lab, args, &rest, &arm, err);
    return code == PW_OK ? run_on(lab, arm, &rest, err) : code;
}
