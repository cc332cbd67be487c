/* new - make a study from a text. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/file.h"
#include "study/child.h"
#include "study/verbs/verbs_int.h"

/* Does pewter accept the lines of every arm and task? A mistake should show before hours of training. */
static enum pw_code try_lines(const struct pw_study *s, struct pw_err *err)
{
    for (int task = 0; task < s->tasks.n; task++)
        for (int arm = 0; arm < s->n_arms; arm++) {
            struct pw_str script = {0};
            char why[PW_CHILD_WHY];
            int status;
            pw_study_cell_setup(s, arm, task, 0, &script);
            const char *const args[] = {"--no-session", "--threads", "1", "-c", script.s, NULL};
            enum pw_code code = pw_child_run(args, NULL, NULL, &status, why, err);
            pw_str_fini(&script);
            if (code != PW_OK)
                return code;
            if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
                return pw_fail(err, PW_EUSER, "%.60s with task %.60s: %.300s", s->arms[arm],
                               s->tasks.items[task], strncmp(why, "pewter: ", 8) == 0 ? why + 8 : why);
        }
    return PW_OK;
}

/* The text of a study: a file, if there is one of this name, else the words themselves. */
static enum pw_code text_of(struct pw_str *text, int n, char **words, struct pw_err *err)
{
    char *read = NULL;
    size_t size;
    struct stat st;
    if (n == 1 && stat(words[0], &st) == 0 && S_ISREG(st.st_mode)) {
        enum pw_code code = pw_file_read(words[0], 1 << 20, &read, &size, err);
        if (code == PW_OK)
            pw_str_add(text, "%s", read);
        free(read);
        return code;
    }
    for (int i = 0; i < n; i++)
        pw_str_add(text, "%s%s", i > 0 ? " " : "", words[i]);
    return n > 0 ? PW_OK
                 : pw_fail(err, PW_EUSER, "study new NAME needs the text of the study, or a file with it");
}

static enum pw_code run(const struct pw_study_call *call, struct pw_err *err)
{
    struct pw_str text = {0};
    struct pw_study s = {0};
    enum pw_code code = text_of(&text, call->n, call->words, err);
    if (code == PW_OK)
        code = pw_study_read(&s, pw_str_text(&text), err);
    if (code == PW_OK)
        code = try_lines(&s, err);
    if (code == PW_OK)
        code = pw_study_create(call->folder, text.s, err);
    if (code == PW_OK)
        fprintf(call->out,
                "%s: %d arms, %d tasks, %d comparisons of each task, %d to %d seeds: %d to %d runs\n",
                call->folder, s.n_arms, s.tasks.n, s.n_ask, s.seeds_min, s.seeds_max,
                s.n_arms * s.tasks.n * s.seeds_min, s.n_arms * s.tasks.n * s.seeds_max);
    pw_study_fini(&s);
    pw_str_fini(&text);
    return code;
}

const struct pw_study_verb pw_study_verb_new = {.name = "new", .words = "TEXT or FILE", .run = run};
