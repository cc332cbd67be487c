/* study.c - experiments over arms, tasks and seeds, which run in processes of their own and outlive the
 * workbench. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "study/child.h"
#include "study/place.h"
#include "study/verbs/verbs.h"
#include "ui/app.h"
#include "ui/commands/commands.h"

#define WORDS 40

/* The words of the command, without quotes. */
struct words {
    int n;
    char *word[WORDS], *text;
};

static void free_words(void *arg)
{
    struct words *w = arg;
    free(w->text);
    free(w);
}

/* Splits at blanks outside of quotes, in place. */
static enum pw_code split(struct words *w, const char *rest, struct pw_err *err)
{
    char *to = w->text = pw_text_dup(rest);
    for (const char *c = rest; *c != '\0';) {
        char quote = '\0';
        c += strspn(c, " \t");
        if (*c == '\0')
            break;
        if (w->n == WORDS)
            return pw_fail(err, PW_EUSER, "study: more than %d words; put the text of a study in quotes",
                           WORDS);
        w->word[w->n++] = to;
        for (; *c != '\0' && (quote != '\0' || strchr(" \t", *c) == NULL); c++)
            if (quote == '\0' && (*c == '"' || *c == '\''))
                quote = *c;
            else if (*c == quote)
                quote = '\0';
            else
                *to++ = *c;
        if (quote != '\0')
            return pw_fail(err, PW_EUSER, "study: a quote is not closed");
        c += *c != '\0';
        *to++ = '\0'; /* at most where the blank was */
    }
    return PW_OK;
}

/* ---- verbs that answer at once, on the disk's thread */

static enum pw_code answer(void *arg, struct pw_str *said, struct pw_err *err)
{
    struct words *w = arg;
    char *text = NULL;
    size_t n;
    (void)said;
    FILE *out = open_memstream(&text, &n);
    enum pw_code code = pw_study_verb(w->n, w->word, out, err);
    fclose(out);
    free(w->text);
    w->text = text;
    return code;
}

static enum pw_code show(struct pw_app *app, void *arg, struct pw_err *err)
{
    struct words *w = arg;
    char *end = strchr(w->text, '\n');
    (void)err;
    if (end == NULL) {
        pw_app_answer(app, "no studies; 'help study' says how to make one");
    } else if (end[1] == '\0') {
        *end = '\0';
        pw_app_answer(app, "%s", w->text);
    } else {
        pw_app_page(app, "Study", w->text);
    }
    free_words(w);
    return PW_OK;
}

/* ---- `study run`: a process of its own, which outlives the workbench */

static void print_line(void *arg, const char *line)
{
    fputs(line, arg);
    fflush(arg);
}

/* The words for a process. */
static void name_words(const char *args[WORDS + 2], const struct words *w)
{
    args[0] = "study";
    for (int i = 0; i < w->n; i++)
        args[i + 1] = w->word[i];
    args[w->n + 1] = NULL;
}

/* Starts the process, on the disk's thread. */
static enum pw_code leave_run(void *arg, struct pw_str *said, struct pw_err *err)
{
    const struct words *w = arg;
    const char *args[WORDS + 2];
    char folder[PW_STUDY_PATH], path[PW_STUDY_PATH + 16];
    (void)said;
    enum pw_code code = pw_study_folder(folder, w->word[1], err);
    if (code != PW_OK)
        return code;
    if (access(folder, F_OK) != 0)
        return pw_fail(err, PW_EUSER, "study run: no study '%s'; 'study list' lists them", w->word[1]);
    name_words(args, w);
    snprintf(path, sizeof path, "%s/run.log", folder);
    return pw_child_leave(args, path, err);
}

static enum pw_code watch_run(struct pw_app *app, void *arg, struct pw_err *err)
{
    const struct words *w = arg;
    pw_app_answer(app, "study %s runs beside the workbench and after it; the findings pane shows it",
                  w->word[1]);
    enum pw_code code = pw_watching_begin(app, w->word[1], err);
    free_words(arg);
    return code;
}

/* With a screen it runs beside it; without a screen the script waits. Takes ownership of w. */
static enum pw_code start_run(struct pw_app *app, struct words *w, struct pw_err *err)
{
    const char *args[WORDS + 2];
    char why[PW_CHILD_WHY] = "";
    int status = 0;
    enum pw_code code = pw_study_verb_check(w->n, w->word, err); /* later words go to a file */
    if (code == PW_OK && app->screen) {
        struct pw_disk_job job = {
            .work = leave_run, .done = watch_run, .free = free_words, .arg = w, .orders = true};
        return pw_app_write(app, &job, err);
    }
    name_words(args, w);
    if (code == PW_OK)
        code = pw_child_run(args, print_line, stdout, &status, why, err);
    free_words(w);
    return code != PW_OK || status == 0 ? code : pw_fail(err, PW_EUSER, "study run: %s", why);
}

/* ---- `study watch` */

static enum pw_code watch(struct pw_app *app, const struct words *w, struct pw_err *err)
{
    const char *now = pw_watching_name(app);
    if (w->n > 2)
        return pw_fail(err, PW_EUSER, "usage: study watch [NAME]");
    if (w->n == 2)
        return pw_watching_begin(app, w->word[1], err);
    if (now == NULL)
        return pw_fail(err, PW_EUSER, "study watch: no study is watched; 'study list' lists them");
    pw_app_answer(app, "the findings of study %s are removed from the pane", now);
    pw_watching_end(app);
    return PW_OK;
}

/* Does `study run` only submit jobs, which takes seconds? Then the answer is a page, like that of a verb. */
static bool submits(const struct words *w)
{
    for (int i = 2; i < w->n; i++)
        if (strcmp(w->word[i], "on=slurm") == 0)
            return true;
    return false;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_app *app = ctx;
    struct words *w = pw_alloc(1, sizeof *w);
    enum pw_code code = split(w, args->rest, err);
    bool runs = code == PW_OK && w->n > 0 && strcmp(w->word[0], "run") == 0 && !submits(w);
    if (runs)
        return start_run(app, w, err);
    if (code == PW_OK && w->n > 0 && strcmp(w->word[0], "watch") == 0) {
        code = watch(app, w, err);
        free_words(w);
        return code;
    }
    if (code == PW_OK && w->n == 0)
        w->word[w->n++] = (char[]){"list"};
    if (code != PW_OK) {
        free_words(w);
        return code;
    }
    struct pw_disk_job job = {.work = answer, .done = show, .free = free_words, .arg = w};
    return pw_app_write(app, &job, err);
}

static void complete(struct pw_completion *c)
{
    if (c->at != 0)
        return;
    for (int i = 0; pw_study_verb_name(i) != NULL; i++)
        pw_complete_offer(c, "%s", pw_study_verb_name(i));
    pw_complete_offer(c, "watch");
}

const struct pw_command pw_ui_cmd_study = {
    .name = "study",
    .search = "experiment sweep seeds grid cluster slurm",
    .usage = "study new|size|run|status|watch|stop|report|gather|weights|add NAME ... | study ready | study "
             "list",
    .example = "study list",
    .summary = "train arms over tasks and seeds, and compare them with tests that hold",
    .detail =
        "  study new NAME \"race none,t5,alibi; task sort,copy(variant=rsc); seeds 10\"   make it; or from a "
        "FILE\n"
        "  study new NAME ready=table [scale=paper]   make one that comes with pewter; `study ready` lists "
        "them\n"
        "  study size NAME [measure=on] [rate=TFLOPS]   how many operations it is, and hours\n"
        "  study run NAME [jobs=K] [threads=N]   compute what is missing, also after any interruption\n"
        "  study run NAME on=slurm [partition=P] [gpus=N] [time=LIMIT] [threads=N] [cells=K] [account=A]   "
        "the same as jobs of a cluster; a cell asked to end before its limit continues later\n"
        "  study status NAME   what is done, what runs, what failed, and the verdicts so far\n"
        "  study watch NAME   shows its findings in the findings pane, and reads them again every two "
        "seconds\n"
        "  study report NAME [out=FOLDER]   tables, tests and commands; a page, pictures and CSV into the "
        "folder\n"
        "  study gather NAME [out=FILE]   all results in one SQLite file\n"
        "  study weights NAME out=FOLDER   the weights of its runs, after `keep weights`\n"
        "  study add NAME seeds=5   up to 5 more seeds\n"
        "  study stop NAME   end its processes, and cancel its jobs; `study run` continues with the same "
        "bits\n"
        "The text of a study has the statements race, model, optim, task, seeds, first, eval, ask, level, "
        "budget "
        "and keep. `seeds 5..20` begins with 5 and goes on until every asked comparison is decided. "
        "A statement behind `toy:` or `paper:` is kept at this scale only.\n"
        "Each run (one arm, task and seed) is a process of its own at low priority. What is done is never "
        "computed again. `pewter study ...` does the same in a shell.",
    .where = PW_AT_UI,
    .raw = true,
    .complete = complete,
    .run = run,
};
