/* session.c - start and end the recording of a session, put lines on disk before they run, and report the
 * session's state; session.h has the contract. */
#include "lab/recording/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"

/* Called on the store's thread. */
static void wake(void *arg)
{
    struct pw_lab *lab = arg;
    pthread_mutex_lock(&lab->lock);
    lab->stored = true;
    if (atomic_load(&lab->session.waits))
        atomic_store(&lab->yield, true);
    pthread_cond_signal(&lab->wake);
    pthread_mutex_unlock(&lab->lock);
}

/* Fill folders with those that a new session takes over and the working directory. Returns their number; *cwd
 * is freed by the caller. */
static int list_folders(const struct pw_lab *lab, bool create, const char **folders, char **cwd)
{
    int n = 0;
    for (; create && lab->session.folders.path[n] != NULL && n + 1 < PW_SESSION_FOLDERS; n++)
        folders[n] = lab->session.folders.path[n];
    *cwd = getcwd(NULL, 0);
    if (*cwd != NULL && (*cwd)[0] == '/')
        folders[n++] = *cwd;
    return n;
}

struct pw_session_folders pw_session_read_folders(struct pw_record *r)
{
    struct pw_session_folders x = {{NULL}};
    pw_record_folders(r, x.path);
    return x;
}

void pw_session_free_folders(struct pw_session_folders *x)
{
    for (int i = 0; x->path[i] != NULL; i++)
        free(x->path[i]);
    x->path[0] = NULL;
}

enum pw_code pw_session_attach(struct pw_lab *lab, const char *folder, bool create, struct pw_store **store,
                               struct pw_err *err)
{
    char device[PW_LINE];
    const char *folders[PW_SESSION_FOLDERS];
    char *cwd;
    int n = list_folders(lab, create, folders, &cwd);
    pw_lab_place(lab, device, sizeof device);
    struct pw_store_config cfg = {.folder = folder,
                                  .create = create,
                                  .folders = folders,
                                  .n_folders = n,
                                  .env = {.pewter = PEWTER_VERSION,
                                          .bits = lab->ops->portable ? "portable" : "machine",
                                          .device = device,
                                          .isa = lab->ops->isa,
                                          .threads = lab->ops->workers(lab->be),
                                          .kernel_abi = PW_BITS},
                                  .wake = wake,
                                  .wake_arg = lab};
    enum pw_code code = pw_store_open(store, &cfg, err);
    free(cwd);
    return code;
}

enum pw_code pw_session_end(struct pw_lab *lab, const char *exit, struct pw_err *err)
{
    struct pw_session *s = &lab->session;
    bool unused = s->store != NULL && s->made && !s->used;
    enum pw_code code = pw_store_end(s->store, exit, unused ? NULL : err);
    if (unused) {
        pw_session_remove(s->now.folder);
        code = PW_OK;
    }
    s->store = NULL;
    s->told = 0;
    pw_event_free(s->checkpoint);
    s->checkpoint = NULL;
    return code;
}

void pw_session_stop(struct pw_lab *lab, const char *why)
{
    struct pw_session *s = &lab->session;
    pw_session_end(lab, "stopped", NULL);
    s->now.how = PW_REC_NONE;
    pw_text_copy(s->now.why, sizeof s->now.why, why);
    pw_session_emit(lab, false);
    pw_lab_note(lab, "recording has ended: %s", why);
}

/* ---- lines */

void pw_session_ask(struct pw_lab *lab, char *text, bool script)
{
    struct pw_session *s = &lab->session;
    s->line = text;
    s->script = script;
    s->asked = 0;
    s->used = true;
    if (s->store == NULL)
        return;
    struct pw_event *e = pw_lab_event(PW_EV_ASKED, NULL);
    pw_text_copy(e->u.text, sizeof e->u.text, text);
    atomic_store(&s->waits, true);
    pw_lab_emit(lab, e);
    s->asked = lab->seq;
    pw_store_hurry(s->store);
}

bool pw_session_ready(struct pw_lab *lab)
{
    struct pw_session *s = &lab->session;
    if (s->line == NULL || (s->store != NULL && !pw_store_has(s->store, s->asked)))
        return false;
    if (s->store != NULL && !s->first && s->now.how == PW_REC_ON)
        return false;
    atomic_store(&s->waits, false);
    s->commands++;
    return true;
}

/* ---- state of the session */

void pw_session_emit(struct pw_lab *lab, bool fresh)
{
    struct pw_session *s = &lab->session;
    struct pw_event *e = pw_lab_event(PW_EV_SESSION, NULL);
    if (s->store != NULL)
        pw_store_status(s->store, &s->now);
    if (s->store != NULL && !s->unnamed)
        pw_session_name(s->now.name, sizeof s->now.name, s->now.folder);
    e->u.session = s->now;
    e->u.session.fresh = fresh;
    s->t_told = pw_now();
    pw_lab_emit(lab, e);
}

enum pw_code pw_session_none(struct pw_lab *lab, const char *what, struct pw_err *err)
{
    const char *why = lab->session.now.why;
    return pw_fail(err, PW_EUSER, "%s: nothing is recorded%s%s", what,
                   why[0] != '\0' ? ": " : "; the workbench records, and headless --session NAME", why);
}

/* Does the lab record in the session in this folder? */
static bool is_open(const struct pw_lab *lab, const char *folder)
{
    const struct pw_session *s = &lab->session;
    struct stat here, there;
    return s->store != NULL && stat(s->now.folder, &here) == 0 && stat(folder, &there) == 0 &&
           here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

enum pw_code pw_session_checkpoint(struct pw_lab *lab, const char *text, struct pw_err *err)
{
    struct pw_session *s = &lab->session;
    if (s->store == NULL)
        return pw_session_none(lab, "checkpoint", err);
    s->wanted = s->keep = true;
    pw_text_copy(s->text, sizeof s->text, text);
    return PW_OK;
}

enum pw_code pw_session_save(struct pw_lab *lab, const char *name, struct pw_err *err)
{
    struct pw_session *s = &lab->session;
    char folder[sizeof s->now.folder], before[sizeof s->now.name];
    if (s->store == NULL)
        return pw_session_none(lab, "save", err);
    pw_text_copy(before, sizeof before, s->unnamed ? "" : s->now.name);
    enum pw_code code = pw_session_folder(folder, sizeof folder, name, err);
    bool same = code == PW_OK && is_open(lab, folder);
    if (code == PW_OK && !same)
        code = pw_store_move(s->store, folder, err);
    if (code != PW_OK)
        return code;
    s->unnamed = false;
    pw_session_emit(lab, false);
    if (same) /* like `save` without a name */
        return pw_session_checkpoint(lab, "saved", err);
    const char *but = s->now.how == PW_REC_PAUSED ? "; recording is still paused" : "";
    if (before[0] != '\0')
        pw_lab_note(lab, "%s is now %s%s", before, s->now.name, but);
    else
        pw_lab_note(lab, "saved as %s%s", s->now.name, but);
    return PW_OK;
}

enum pw_code pw_session_delete_typed(struct pw_lab *lab, const char *typed, struct pw_err *err)
{
    char folder[sizeof lab->session.now.folder], name[PW_LINE];
    struct pw_err why;
    enum pw_code code = pw_session_folder(folder, sizeof folder, typed, err);
    if (code != PW_OK)
        return code;
    pw_session_name(name, sizeof name, folder);
    if (is_open(lab, folder))
        return pw_fail(
            err, PW_EUSER,
            "delete: %s is the open session; open another one, or quit and run 'pewter session delete %s'",
            name, name);
    code = pw_session_delete(folder, &why);
    if (code != PW_OK)
        return pw_fail(err, code, "delete: %s: %s", name, why.msg);
    pw_lab_note(lab, "deleted %s", name);
    return PW_OK;
}
