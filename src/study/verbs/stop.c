/* stop - end the processes of `study run`. */
#include "study/run.h"
#include "study/slurm.h"
#include "study/verbs/verbs_int.h"

static enum pw_code run(const struct pw_study_call *call, struct pw_err *err)
{
    long pid;
    enum pw_code code = pw_study_stop(call->folder, &pid, err);
    if (code == PW_OK)
        code = pw_slurm_stop(call->folder, call->out, err);
    if (code == PW_OK && pid > 0)
        fprintf(call->out, "process %ld ends; 'study run' continues\n", pid);
    else if (code == PW_OK)
        fprintf(call->out, "no process runs this study here\n");
    return code;
}

const struct pw_study_verb pw_study_verb_stop = {.name = "stop", .run = run};
