/* inspect.c - what the workbench looks at while it trains. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/lab_int.h"

void pw_lab_refresh(struct pw_lab *lab, bool table)
{
    struct pw_err err;
    if (!lab->cfg.live)
        return;
    if (pw_lab_answer_again(lab, &err) != PW_OK)
        pw_lab_trouble(lab, &err);
    if (table)
        pw_lab_tell_tables(lab);
}
