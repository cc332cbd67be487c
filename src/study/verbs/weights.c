/* weights - the weights of a study with `keep weights`, under names by arm and run, for programs that compare
 * models: `reproduce figure4 load=FOLDER`.
 *
 * Run k is the k-th seed: ARM.safetensors is run 1, ARM-2.safetensors run 2. ARM_other-K is the same arm with
 * the next seed (of the last run: the first), which shows what chance alone changes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/folder.h"
#include "study/verbs/verbs_int.h"

struct options {
    char out[1024];
};

static const struct pw_opt table[] = {
    PW_STUDY_TEXT(out, "folder for ARM.safetensors, ARM-2.safetensors and so on"), {.name = NULL}};

/* Appends the arm's encoding without options: "t5"; with the number of the arm, if an arm before has it. */
static void add_name(struct pw_str *out, const struct pw_study *s, int arm)
{
    int n = (int)strcspn(s->arms[arm], " ,");
    bool again = false;
    for (int i = 0; i < arm; i++)
        again = again ||
                ((int)strcspn(s->arms[i], " ,") == n && strncmp(s->arms[i], s->arms[arm], (size_t)n) == 0);
    pw_str_add(out, "%.*s", n, s->arms[arm]);
    if (again)
        pw_str_add(out, "_arm%d", arm + 1);
}

/* A second name of the same file; a symbolic link on another file system. */
static enum pw_code put_link(const char *from, const char *to, struct pw_err *err)
{
    char *full = realpath(from, NULL);
    unlink(to);
    bool done = full != NULL && (link(full, to) == 0 || symlink(full, to) == 0);
    int why = errno;
    free(full);
    return done ? PW_OK : pw_fail(err, PW_EIO, "%.400s: %s", to, strerror(why));
}

/* Links the weights of run `seed` of an arm as run `run`, both from 0. Returns false if the run isn't done.
 */
static bool put_weights(const struct pw_study_reading *x, const char *folder, int task, int arm, int seed,
                        const char *suffix, int run, const char *to, enum pw_code *code, struct pw_err *err)
{
    const struct pw_results *r = &x->r;
    int i = pw_results_at(r, arm, task, seed);
    struct pw_str from = {0}, name = {0};
    if (r->state[i] != PW_CELL_THERE || *code != PW_OK)
        return false;
    pw_study_cell_path(&from, folder, r->cells[i].id, ".safetensors");
    pw_str_add(&name, "%s/", to);
    if (x->s.tasks.n > 1)
        pw_str_add(&name, "task%d/", task + 1);
    add_name(&name, &x->s, arm);
    pw_str_add(&name, "%s", suffix);
    if (run > 0)
        pw_str_add(&name, "-%d", run + 1);
    pw_str_add(&name, ".safetensors");
    *code = pw_folder_make_above(name.s, err);
    if (*code == PW_OK)
        *code = put_link(from.s, name.s, err);
    pw_str_fini(&from);
    pw_str_fini(&name);
    return true;
}

static enum pw_code run(const struct pw_study_call *call, struct pw_err *err)
{
    const struct options *o = call->opts;
    struct pw_study_reading x = {0};
    int n = 0;
    if (o->out[0] == '\0')
        return pw_fail(err, PW_EUSER, "study weights NAME needs out=FOLDER");
    enum pw_code code = pw_study_reading_open(&x, call->folder, err);
    if (code != PW_OK)
        return code;
    if (!x.s.keep_weights)
        code = pw_fail(err, PW_EUSER, "the study has no statement 'keep weights'");
    for (int task = 0; task < x.s.tasks.n; task++)
        for (int arm = 0; arm < x.s.n_arms; arm++)
            for (int seed = 0; seed < x.s.seeds_max; seed++) {
                int next = (seed + 1) % x.s.seeds_max;
                n += put_weights(&x, call->folder, task, arm, seed, "", seed, o->out, &code, err);
                put_weights(&x, call->folder, task, arm, next, "_other", seed, o->out, &code, err);
            }
    if (code == PW_OK)
        fprintf(call->out, "the weights of %d run%s are in %s\n", n, n == 1 ? "" : "s", o->out);
    pw_study_reading_close(&x);
    return code;
}

const struct pw_study_verb pw_study_verb_weights = {
    .name = "weights", .opts = table, .opts_size = sizeof(struct options), .run = run};
