/* updates.c - how far the last step moved each block of the model, relative to its weights.
 *
 * The optimiser sums squares per tensor while it updates (kernels/backend.h). A block adds its tensors in the
 * order of the flat buffer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/model_int.h"

static int block_of(const struct pw_param *p, int layers)
{
    if (p->pe)
        return layers + 2;
    if (strncmp(p->name, "layers.", 7) == 0)
        return 1 + atoi(p->name + 7);
    return strncmp(p->name, "embed", 5) == 0 ? 0 : layers + 1;
}

void pw_model_updates(const struct pw_model *m, float *ratio)
{
    int L = m->cfg.layers;
    double moved[PW_MAX_LAYERS + 3] = {0}, before[PW_MAX_LAYERS + 3] = {0};

    for (int i = 0; i < m->lay.n; i++) {
        int b = block_of(&m->lay.params[i], L);
        moved[b] += m->moved[2 * i];
        before[b] += m->moved[2 * i + 1];
    }
    for (int b = 0; b < L + 3; b++)
        ratio[b] = before[b] > 0 ? (float)sqrt(moved[b] / before[b]) : NAN;
}
