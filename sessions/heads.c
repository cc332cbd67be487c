/* heads.c - queries about the ablated heads of an arm.
 *
 * Replicas differ in their initialisation, and a head's number says nothing about what it has learned. So
 * each replica has its own set of ablated heads, and texts name the replicas if their sets differ. */
#include <stdio.h>
#include <string.h>

#include "sessions/fold.h"

enum pw_ablation pw_head_mode(const struct pw_replica_view *rep, int layer, int head)
{
    const struct pw_ev_heads *off = &rep->heads_off;
    if (off->mode == NULL || layer < 0 || layer >= off->layers || head < 0 || head >= off->heads)
        return PW_ABLATE_NONE;
    return (enum pw_ablation)off->mode[layer * off->heads + head];
}

bool pw_heads_off(const struct pw_replica_view *rep)
{
    const struct pw_ev_heads *off = &rep->heads_off;
    for (int i = 0; off->mode != NULL && i < off->layers * off->heads; i++)
        if (off->mode[i] != PW_ABLATE_NONE)
            return true;
    return false;
}

bool pw_arm_heads_off(const struct pw_arm_view *a)
{
    for (int r = 0; r < a->info.replicas; r++)
        if (pw_heads_off(&a->rep[r]))
            return true;
    return false;
}

bool pw_arm_heads_changed(const struct pw_arm_view *a)
{
    for (int r = 0; r < a->info.replicas; r++)
        if (a->rep[r].heads_changed)
            return true;
    return false;
}

const struct pw_ev_eval *pw_eval_before(const struct pw_arm_view *a, const struct pw_replica_view *rep)
{
    bool same = rep->eval_before_step == rep->eval_step && rep->eval_step == a->info.step &&
                rep->eval_before_seq >= a->pe_seq;
    return rep->eval_before.n > 0 && same ? &rep->eval_before : NULL;
}

/* Is every ablated head of a ablated in the same way in b? */
static bool among(const struct pw_replica_view *a, const struct pw_replica_view *b)
{
    const struct pw_ev_heads *off = &a->heads_off;
    for (int i = 0; off->mode != NULL && i < off->layers * off->heads; i++)
        if (off->mode[i] != PW_ABLATE_NONE &&
            pw_head_mode(b, i / off->heads, i % off->heads) != (enum pw_ablation)off->mode[i])
            return false;
    return true;
}

bool pw_arm_heads_alike(const struct pw_arm_view *a)
{
    for (int r = 1; r < a->info.replicas; r++)
        if (!among(&a->rep[r], &a->rep[0]) || !among(&a->rep[0], &a->rep[r]))
            return false;
    return true;
}

void pw_arm_heads_text(char *dst, size_t size, const struct pw_arm_view *a)
{
    size_t used = 0;
    if (pw_arm_heads_alike(a)) {
        pw_heads_text(dst, size, &a->rep[0].heads_off);
        return;
    }
    dst[0] = '\0';
    for (int r = 0; r < a->info.replicas && used < size; r++) {
        char one[96];
        pw_heads_text(one, sizeof one, &a->rep[r].heads_off);
        if (one[0] != '\0')
            used += (size_t)snprintf(dst + used, size - used, "%s%s in replica %d", used > 0 ? "; " : "", one,
                                     r + 1);
    }
}
