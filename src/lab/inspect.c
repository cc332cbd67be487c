/* inspect.c - what the workbench looks at while it trains. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/lab_int.h"

void pw_lab_refresh(struct pw_lab *lab, bool table)
{
    struct pw_arm *arm = pw_lab_current(lab);
    struct pw_err err;
    struct pw_event *e;
    if (!lab->cfg.live)
        return;
    if (pw_lab_answer_again(lab, &err) != PW_OK)
        pw_lab_trouble(lab, &err);
    if (table && pw_lab_table(lab, arm, 0, &e, &err) == PW_OK)
        pw_lab_emit(lab, e);
}
