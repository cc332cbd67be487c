/* ready - list the studies that come with the program. */
#include "study/ready.h"
#include "study/verbs/verbs_int.h"

static enum pw_code run(const struct pw_study_call *call, struct pw_err *err)
{
    (void)err;
    for (const struct pw_study_ready *r = pw_study_readies; r->name != NULL; r++) {
        const char *title;
        int n = pw_study_ready_title(r, &title);
        fprintf(call->out, "%-12s  %.*s\n", r->name, n, title);
    }
    fprintf(call->out, "'study new NAME ready=%s' makes one; scale=paper has the paper's size\n",
            pw_study_readies[0].name);
    return PW_OK;
}

const struct pw_study_verb pw_study_verb_ready = {.name = "ready", .nameless = true, .run = run};
