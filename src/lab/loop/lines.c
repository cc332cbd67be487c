/* lines.c - running a line as commands.
 *
 * Typed lines and lines of a script wait in separate queues (core/script.c). A line is emitted before it runs
 * (session.h), so that no recorded effect lacks its cause. The event of a command contains exactly the text
 * that runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/core/lab_int.h"
#include "lab/looks/looks.h"
#include "lab/loop/loop.h"
#include "lab/recording/session.h"
#include "lab/train/train.h"

void pw_lab_stand(const struct pw_lab *lab, struct pw_event *e)
{
    for (int i = 0; i < PW_MAX_PLACES; i++) {
        const struct pw_replica *a = &lab->replicas[i];
        e->u.command.at[i % PW_MAX_ARMS] = lab->replicas[i % PW_MAX_ARMS].step;
        e->u.command.behind[i % PW_MAX_ARMS] +=
            a->model != NULL && a->step < lab->replicas[i % PW_MAX_ARMS].step;
        e->u.command.training[i / 64] |= (uint64_t)(a->model != NULL && a->training) << i % 64;
        e->u.command.checking[i / 64] |= (uint64_t)(a->model != NULL && a->checking) << i % 64;
    }
    const char *job = pw_lab_job(lab);
    e->u.command.known = true;
    e->u.command.answered = pw_lab_answered(lab);
    snprintf(e->u.command.job, sizeof e->u.command.job, "%s", job != NULL ? job : "");
}

static void tell_command(struct pw_lab *lab, const char *text)
{
    struct pw_event *e = pw_lab_event(PW_EV_COMMAND, NULL);
    pw_text_copy(e->u.command.text, sizeof e->u.command.text, text);
    pw_lab_stand(lab, e);
    pw_lab_emit(lab, e);
}

/* Copy a command to the form in which its event has it. This form is what runs, so the event contains
 * everything that a re-run needs. */
static enum pw_code as_told(char line[PW_COMMAND], const char *text, struct pw_err *err)
{
    size_t n = strlen(text);
    if (n >= PW_COMMAND)
        return pw_fail(err, PW_EUSER, "the command has %zu bytes; at most %d are allowed", n, PW_COMMAND - 1);
    char *blank = pw_text_dup(text);
    for (char *c = blank; (c = strchr(c, '\t')) != NULL;)
        *c = ' ';
    pw_text_copy(line, PW_COMMAND, blank);
    free(blank);
    return PW_OK;
}

/* Complete the answer that is being decoded, or drop it if the command chooses another model to answer: a
 * viewer who goes on through the arms must not wait for those that were passed over. A re-run can complete
 * it, because the record holds only events that occurred, and the next answer replaces it in either case. */
static void end_answer(struct pw_lab *lab, const struct pw_command *cmd, const struct pw_args *args,
                       bool typed)
{
    bool watched = typed && lab->cfg.live && lab->follow == NULL;
    if (watched && cmd->passes_over != NULL && cmd->passes_over(args))
        pw_lab_drop_answer(lab);
    else if (!cmd->beside)
        pw_lab_answer_all(lab);
}

static enum pw_code run_command(struct pw_lab *lab, const char *text, bool typed, struct pw_err *err)
{
    struct pw_args args = {0};
    const struct pw_command *cmd;
    char line[PW_COMMAND];
    enum pw_code code = as_told(line, text, err);
    if (code == PW_OK)
        code = pw_command_parse(lab->cfg.help, line, &args, &cmd, err);
    if (code != PW_OK)
        return code;
    pw_lab_drain(lab);
    end_answer(lab, cmd, &args, typed);
    tell_command(lab, args.text);
    /* `set` has one half in the workbench and one in the lab */
    cmd = pw_command_find(lab->cfg.commands, args.name);
    pw_lab_watch_files(lab, true);
    if (cmd == NULL)
        code = pw_fail(err, PW_EUSER, "'%s' works only in the workbench", args.name);
    else if (lab->follow == NULL || cmd->outside == NULL || !cmd->outside(&args))
        code = cmd->run(lab, &args, err);
    pw_lab_watch_files(lab, false);
    pw_args_fini(&args);
    return code;
}

enum pw_code pw_lab_run_typed(void *arg, const char *text, int line)
{
    (void)line;
    struct pw_lab *lab = arg;
    struct pw_err err;
    bool answering = pw_lab_answering(lab);
    enum pw_code code = run_command(lab, text, true, &err);
    if (code != PW_OK)
        pw_lab_emit_error(lab, err.msg);
    if (code != PW_OK && answering && !pw_lab_answering(lab) && !pw_lab_answered(lab))
        pw_lab_refresh(lab, false); /* the answer was dropped, but no other model was chosen */
    return code;
}

void pw_lab_run(struct pw_lab *lab, const char *text)
{
    struct pw_err err;
    struct pw_lines *script = pw_lab_script(lab);
    char *line = script->n > 0 && strcmp(script->line[0], text) == 0 ? pw_lines_take(script) : NULL;
    if (run_command(lab, text, false, &err) != PW_OK) {
        pw_lab_emit_error(lab, err.msg);
        if (line != NULL)
            pw_lab_drop_script(lab);
    }
    free(line);
}

void pw_lab_then(struct pw_lab *lab, const char *line)
{
    struct pw_err err;
    if (run_command(lab, line, false, &err) != PW_OK)
        pw_lab_emit_error(lab, err.msg);
}

void pw_lab_emit_waiting(struct pw_lab *lab)
{
    pthread_mutex_lock(&lab->lock);
    int n = 0;
    char *first = NULL;
    for (int i = 0; i < lab->script.n; i++)
        if (lab->script.line[i][0] != PW_PLACE && n++ == 0)
            first = pw_text_dup(lab->script.line[i]);
    pthread_mutex_unlock(&lab->lock);
    struct pw_str text = {0};
    pw_str_add(&text, "not run, because pewter ended: '%s'", n > 0 ? first : "");
    if (n > 1)
        pw_str_add(&text, " and %d more", n - 1);
    if (n > 0)
        pw_lab_note(lab, "%s", text.s);
    pw_str_fini(&text);
    free(first);
}

void pw_lab_resume_script(struct pw_lab *lab, struct pw_lines *first, bool resume)
{
    pthread_mutex_lock(&lab->lock);
    for (int i = 0; resume && i < lab->script.n; i++)
        pw_lines_push(first, lab->script.line[i]);
    struct pw_lines old = resume ? lab->script : *first;
    if (resume)
        lab->script = *first;
    pthread_mutex_unlock(&lab->lock);
    pw_lines_fini(&old);
}

enum pw_code pw_lab_insert_script(struct pw_lab *lab, const char *text, struct pw_err *err)
{
    struct pw_lines first = {0}, *script = pw_lab_script(lab);
    enum pw_code code = pw_commands_split(text, pw_lines_queue, &first, err);
    pthread_mutex_lock(&lab->lock);
    for (int i = 0; code == PW_OK && i < script->n; i++)
        pw_lines_push(&first, script->line[i]);
    struct pw_lines old = code == PW_OK ? *script : first;
    if (code == PW_OK)
        *script = first;
    pthread_mutex_unlock(&lab->lock);
    pw_lines_fini(&old);
    return code;
}

/* Take the next line. A script's line also sets lab->place to its file and line number; a typed line clears
 * it. */
static char *take_command(struct pw_lab *lab, bool script)
{
    if (!script && lab->now.n > 0 && lab->now.line[0][0] == PW_REQUEST)
        return NULL;
    char *line = pw_lines_take(script ? &lab->script : &lab->now);
    while (script && line != NULL && *line == PW_PLACE) {
        pw_text_copy(lab->place, sizeof lab->place, line + 1);
        free(line);
        line = pw_lines_take(&lab->script);
    }
    if (line != NULL && !script)
        lab->place[0] = '\0';
    return line;
}

bool pw_lab_ask(struct pw_lab *lab, bool script)
{
    if (lab->session.line != NULL)
        return false;
    pthread_mutex_lock(&lab->lock);
    char *line = take_command(lab, script);
    pthread_mutex_unlock(&lab->lock);
    if (line != NULL)
        pw_session_ask(lab, line, script);
    return line != NULL;
}

bool pw_lab_serve_line(struct pw_lab *lab)
{
    pw_lab_ask(lab, false);
    if (!pw_session_ready(lab))
        return false;
    struct pw_err err;
    err.msg[0] = '\0';
    char *line = lab->session.line;
    lab->session.line = NULL;
    if (lab->session.script) {
        if (run_command(lab, line, false, &err) != PW_OK)
            pw_lab_trouble(lab, &err);
    } else if (pw_commands_split(line, pw_lab_run_typed, lab, &err) != PW_OK && err.msg[0] != '\0') {
        /* the line could not be split; the failure of a command has been emitted already */
        pw_lab_emit_error(lab, err.msg);
    }
    free(line);
    return true;
}
