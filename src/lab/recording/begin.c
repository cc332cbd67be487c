/* begin.c - start to record, as the lab's configuration says: a new session, an old one, or verification. */
#include <stdio.h>
#include <unistd.h>

#include "lab/core/lab_int.h"
#include "lab/recording/session.h"

enum pw_code pw_session_begin(struct pw_lab *lab, struct pw_err *err)
{
    struct pw_session *s = &lab->session;
    const char *name = lab->cfg.session;
    char folder[sizeof s->now.folder];
    enum pw_code code;
    if (name == NULL)
        return PW_OK;
    if (lab->cfg.verify)
        return pw_session_verify(lab, name, lab->cfg.from, err);
    s->unnamed = name[0] == '\0';
    code = s->unnamed ? pw_session_unnamed(folder, sizeof folder, err)
                      : pw_session_folder(folder, sizeof folder, name, err);
    if (code == PW_OK && !s->unnamed && access(folder, F_OK) == 0)
        return pw_session_open(lab, name, lab->cfg.from, err);
    if (code == PW_OK)
        code = pw_session_attach(lab, folder, true, &s->store, err);
    s->made = code == PW_OK;
    if (code == PW_OK || !s->unnamed)
        return code;
    /* Recording that the user did not request is optional: the lab works without it. */
    s->now.how = PW_REC_NONE;
    pw_text_copy(s->now.why, sizeof s->now.why, err->msg);
    return PW_OK;
}
