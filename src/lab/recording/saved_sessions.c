/* saved_sessions.c - the arms of recorded sessions at their last checkpoint. They are described by the
 * headers of the session's files and by the session's last evaluation of each arm. Nothing is opened for
 * writing. */
#include "lab/saved.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/folder.h"
#include "base/sha256.h"
#include "base/text.h"
#include "sessions/record.h"
#include "sessions/store.h"

/* The last checkpoint that contains models; NULL: none. */
static struct pw_event *last_models(struct pw_record *r, uint64_t last)
{
    struct pw_event *e = pw_record_last(r, PW_EV_CHECKPOINT, -1, -1, last);
    while (e != NULL && e->u.checkpoint.n_files == 0) {
        uint64_t before = e->seq - 1;
        pw_event_free(e);
        e = pw_record_last(r, PW_EV_CHECKPOINT, -1, -1, before);
    }
    return e;
}

/* Read the last evaluations up to event `last` of an arm's replicas. */
static void read_accuracy(struct pw_saved *s, struct pw_record *r, uint64_t last)
{
    struct pw_event *lab = pw_record_last(r, PW_EV_LAB, -1, -1, last);
    float in[PW_MAX_REPLICAS], beyond[PW_MAX_REPLICAS];
    int n = 0;
    for (int k = 1; lab != NULL && k <= s->replicas; k++) {
        struct pw_event *e = pw_record_last(r, PW_EV_EVAL, s->arm, k, last);
        if (e != NULL) {
            in[n] = pw_eval_mean(&lab->u.lab, &e->u.eval, -1, false);
            beyond[n++] = pw_eval_mean(&lab->u.lab, &e->u.eval, -1, true);
        }
        pw_event_free(e);
    }
    s->in_range = pw_spread_of(in, n);
    s->beyond = pw_spread_of(beyond, n);
    pw_event_free(lab);
}

/* Add arm `id`, whose first replica is in a file of the session. */
static bool add_arm(struct pw_saved_list *list, struct pw_record *r, const char *folder, const char *name,
                    const struct pw_event *arm, const struct pw_event *models, int file)
{
    struct pw_saved *s = &list->at[list->n];
    struct pw_str path = {0};
    char sha[2 * PW_SHA256 + 1];
    struct pw_err err;
    *s = (struct pw_saved){
        .arm = arm->u.arm.id, .replicas = arm->u.arm.replicas, .own_batches = arm->u.arm.own_batches};
    pw_sha256_text(sha, models->u.checkpoint.files[file]);
    pw_str_add(&path, "%s/%s/files/%s", folder, name, sha);
    bool well =
        pw_checkpoint_open_header(&s->c, path.s, &err) == PW_OK && pw_checkpoint_info(s->c)->has_config;
    pw_str_fini(&path);
    if (!well) {
        pw_checkpoint_close(s->c);
        return false;
    }
    s->name = pw_text_dup(name);
    read_accuracy(s, r, models->seq);
    list->n++;
    return true;
}

static enum pw_code add_session(struct pw_saved_list *list, const char *folder, const char *name,
                                struct pw_err *err)
{
    struct pw_str path = {0};
    struct pw_record *r;
    struct pw_record_info info;
    pw_str_add(&path, "%s/%s", folder, name);
    enum pw_code code = pw_record_open(&r, path.s, err);
    pw_str_fini(&path);
    if (code != PW_OK)
        return code;
    pw_record_info(r, &info);
    struct pw_event *models = last_models(r, info.last);
    int file = 0;
    if (models == NULL)
        code = pw_fail(err, PW_EUSER, "%.100s: has no checkpoint", name);
    for (int id = 1; code == PW_OK && id <= PW_MAX_ARMS; id++) {
        struct pw_event *arm = pw_record_arm(r, id, models->seq);
        int replicas = arm != NULL && arm->u.arm.replicas > 0 ? arm->u.arm.replicas : 1;
        if (arm != NULL && list->n < PW_MOST_SAVED &&
            (file + replicas > models->u.checkpoint.n_files ||
             !add_arm(list, r, folder, name, arm, models, file)))
            code = pw_fail(err, PW_EUSER, "%.100s: the checkpoint of arm %d cannot be read", name, id);
        file += arm != NULL ? replicas : 0;
        pw_event_free(arm);
    }
    pw_event_free(models);
    pw_record_close(r);
    return code;
}

enum pw_code pw_saved_sessions(struct pw_saved_list *list, const char *folder, struct pw_err *err)
{
    struct pw_folder files;
    struct pw_err why;
    char home[PW_LINE * 4];
    enum pw_code code = folder == NULL ? pw_session_home(home, sizeof home, err) : PW_OK;
    if (code != PW_OK)
        return code;
    folder = folder != NULL ? folder : home;
    code = pw_session_files(&files, folder, err);
    for (int i = 0; i < files.n; i++) {
        if (list->n == PW_MOST_SAVED)
            list->unread++;
        else if (add_session(list, folder, files.names[i], &why) != PW_OK && list->other++ == 0)
            pw_text_copy(list->why, sizeof list->why, why.msg);
    }
    pw_folder_free(&files);
    return code;
}
