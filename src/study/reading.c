#include "study/reading.h"

#include <stdlib.h>
#include <string.h>

enum pw_code pw_study_reading_open(struct pw_study_reading *x, const char *folder, struct pw_err *err)
{
    *x = (struct pw_study_reading){0};
    enum pw_code code = pw_study_open(&x->s, folder, &x->text, err);
    if (code != PW_OK)
        return code;
    pw_results_init(&x->r, &x->s);
    pw_results_read(&x->r, folder);
    return PW_OK;
}

enum pw_code pw_study_reading_again(struct pw_study_reading *x, const char *folder, struct pw_err *err)
{
    struct pw_study now;
    char *text = NULL;
    enum pw_code code = pw_study_open(&now, folder, &text, err);
    if (code != PW_OK)
        return code;
    bool same = strcmp(text, x->text) == 0;
    pw_study_fini(&now);
    free(text);
    if (same) {
        pw_results_read(&x->r, folder);
        return PW_OK;
    }
    pw_study_reading_close(x);
    return pw_study_reading_open(x, folder, err);
}

void pw_study_reading_close(struct pw_study_reading *x)
{
    if (x->text == NULL)
        return;
    pw_results_fini(&x->r);
    pw_study_fini(&x->s);
    free(x->text);
    *x = (struct pw_study_reading){0};
}
