#include "study/reading.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define QUEUE_S 30.0

/* Asks the scheduler, if wanted and if its last answer is old. The results are read next: a cell that ends in
 * between is then there, not missing. */
static enum pw_code ask_queue(struct pw_study_reading *x, const char *folder, struct pw_err *err)
{
    if (!x->asks || (x->asked > 0 && pw_now() < x->asked + QUEUE_S))
        return PW_OK;
    pw_slurm_fini(&x->q);
    enum pw_code code = pw_slurm_read(&x->q, folder, err);
    if (code == PW_OK)
        pw_slurm_ask(&x->q, false);
    x->asked = pw_now();
    return code;
}

static void read_results(struct pw_study_reading *x, const char *folder)
{
    pw_results_read(&x->r, folder);
    pw_slurm_mark(&x->q, &x->r);
}

enum pw_code pw_study_reading_open(struct pw_study_reading *x, const char *folder, struct pw_err *err)
{
    enum pw_code code = ask_queue(x, folder, err);
    if (code == PW_OK)
        code = pw_study_open(&x->s, folder, &x->text, err);
    if (code != PW_OK) {
        pw_study_reading_close(x);
        return code;
    }
    pw_results_init(&x->r, &x->s);
    read_results(x, folder);
    return PW_OK;
}

enum pw_code pw_study_reading_again(struct pw_study_reading *x, const char *folder, struct pw_err *err)
{
    struct pw_study now;
    char *text = NULL;
    enum pw_code code = ask_queue(x, folder, err);
    if (code == PW_OK)
        code = pw_study_open(&now, folder, &text, err);
    if (code != PW_OK)
        return code;
    bool same = strcmp(text, x->text) == 0;
    pw_study_fini(&now);
    free(text);
    if (same) {
        read_results(x, folder);
        return PW_OK;
    }
    pw_study_reading_close(x);
    return pw_study_reading_open(x, folder, err);
}

void pw_study_reading_close(struct pw_study_reading *x)
{
    if (x->text != NULL) {
        pw_results_fini(&x->r);
        pw_study_fini(&x->s);
    }
    free(x->text);
    pw_slurm_fini(&x->q);
    *x = (struct pw_study_reading){.asks = x->asks};
}
