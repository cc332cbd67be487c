/* reading.c - a study with its results, for the verbs that look at them. */
#include <stdlib.h>

#include "study/verbs/verbs_int.h"

enum pw_code pw_study_reading_open(struct pw_study_reading *x, const char *folder, struct pw_err *err)
{
    enum pw_code code = pw_study_open(&x->s, folder, &x->text, err);
    if (code != PW_OK)
        return code;
    pw_results_init(&x->r, &x->s);
    pw_results_read(&x->r, folder);
    return PW_OK;
}

void pw_study_reading_close(struct pw_study_reading *x)
{
    pw_results_fini(&x->r);
    pw_study_fini(&x->s);
    free(x->text);
}
