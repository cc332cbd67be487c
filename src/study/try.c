/* try.c - small models are built with the lines of the cell itself. Building a large one takes seconds, so
 * large ones are tested by the command `check`, which reads the same options and builds nothing. */
#include "study/try.h"

#include <math.h>
#include <string.h>
#include <sys/wait.h>

#include "base/json.h"
#include "study/child.h"

static bool begins(const char *text, const char *word)
{
    size_t n = strlen(word);
    return strncmp(text, word, n) == 0 && strchr(" =", text[n]) != NULL; /* strchr finds the NUL, too */
}

/* A model from a file has no preset, which `check` needs. */
static bool from_file(const char *model)
{
    return begins(model, "from") || strstr(model, " from=") != NULL;
}

static bool is_small(const char *model)
{
    return begins(model, "tiny") || begins(model, "small") || strcspn(model, " ") > strcspn(model, "=");
}

static void add_option(struct pw_str *out, const char *key, const char *prefix, const char *text)
{
    struct pw_str value = {0};
    pw_str_add(&value, "%s%s", prefix, text);
    pw_str_add(out, " %s=", key);
    pw_str_quote(out, pw_str_text(&value));
    pw_str_fini(&value);
}

/* Appends a line such as: check "t5 with task sort" task="sort" model="paper" race="t5" */
static void add_check(struct pw_str *out, const struct pw_study *s, int arm, int task, bool cost)
{
    struct pw_str name = {0};
    const char *model = pw_study_model_of(s, arm), *optim = pw_study_optim_of(s, arm);
    pw_str_add(&name, "%.60s with task %.60s", s->arms[arm], s->tasks.items[task]);
    pw_str_add(out, "check ");
    pw_str_quote(out, name.s);
    add_option(out, "task", "", s->tasks.items[task]);
    add_option(out, "model", pw_study_preset_of(model), model);
    if (optim[0] != '\0')
        add_option(out, "optim", "", optim);
    add_option(out, "race", "", s->races.items[arm % s->races.n]);
    pw_str_add(out, " cost=%s\n", cost ? "on" : "off");
    pw_str_fini(&name);
}

enum pw_code pw_study_ask(const char *script, int threads, const char *place,
                          void (*each)(void *arg, const char *line), void *arg, struct pw_err *err)
{
    char text[PW_CHILD_WHY], *why = text, number[12];
    int status;
    snprintf(number, sizeof number, "%d", threads);
    const char *const args[] = {"--no-session", "--threads", number, "--json", "-c", script, NULL};
    enum pw_code code = pw_child_run(args, each, arg, &status, text, err);
    if (code != PW_OK || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
        return code;
    why += strncmp(why, "check: ", 7) == 0 ? 7 : 0;
    return pw_fail(err, PW_EUSER, "%s%.300s", place, why);
}

static enum pw_code try_lines(const struct pw_study *s, int arm, int task, struct pw_err *err)
{
    struct pw_str script = {0};
    char place[160];
    pw_study_cell_setup(s, arm, task, 0, &script);
    snprintf(place, sizeof place, "%.60s with task %.60s: ", s->arms[arm], s->tasks.items[task]);
    enum pw_code code = pw_study_ask(script.s, 1, place, NULL, NULL, err);
    pw_str_fini(&script);
    return code;
}

enum pw_code pw_study_try(const struct pw_study *s, struct pw_err *err)
{
    enum pw_code code = PW_OK;
    for (int task = 0; task < s->tasks.n && code == PW_OK; task++) {
        struct pw_str checks = {0};
        for (int arm = 0; arm < s->n_arms && code == PW_OK; arm++) {
            const char *model = pw_study_model_of(s, arm);
            if (from_file(model) || is_small(model))
                code = try_lines(s, arm, task, err);
            else
                add_check(&checks, s, arm, task, false);
        }
        if (code == PW_OK && checks.len > 0)
            code = pw_study_ask(checks.s, 1, "", NULL, NULL, err);
        pw_str_fini(&checks);
    }
    return code;
}

/* ---- work */

struct counting {
    struct pw_study_work *work[PW_STUDY_ARMS]; /* in the order of the lines */
    int n, at;
};

static double number_at(const cJSON *row, int i)
{
    const cJSON *x = cJSON_GetArrayItem(row, i);
    return cJSON_IsNumber(x) ? x->valuedouble : NAN;
}

/* A finding of `check`: its only table has one row, with the columns of struct pw_study_work. */
static void take_finding(void *arg, const char *line)
{
    struct counting *c = arg;
    if (strstr(line, "\"kind\":\"finding\"") == NULL || c->at == c->n)
        return;
    cJSON *o = cJSON_Parse(line);
    const cJSON *block = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(o, "blocks"), 0);
    const cJSON *row = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(block, "rows"), 0);
    *c->work[c->at++] = (struct pw_study_work){.parameters = number_at(row, 0),
                                               .operations = number_at(row, 1),
                                               .bytes = number_at(row, 2),
                                               .steps = number_at(row, 3)};
    cJSON_Delete(o);
}

enum pw_code pw_study_work_of(const struct pw_study *s, int task, struct pw_study_work *work,
                              struct pw_err *err)
{
    struct counting c = {.n = 0};
    struct pw_str checks = {0};
    enum pw_code code = PW_OK;
    for (int arm = 0; arm < s->n_arms; arm++) {
        work[arm] = (struct pw_study_work){0};
        if (from_file(pw_study_model_of(s, arm)))
            continue;
        add_check(&checks, s, arm, task, true);
        c.work[c.n++] = &work[arm];
    }
    if (c.n > 0)
        code = pw_study_ask(checks.s, 1, "", take_finding, &c, err);
    pw_str_fini(&checks);
    if (code == PW_OK && c.at < c.n)
        code = pw_fail(err, PW_EUSER, "task %.60s: its work can't be counted", s->tasks.items[task]);
    return code;
}
