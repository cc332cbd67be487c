/* reproduce.c - runs a study of a paper: its script, its verdict, its figure.
 *
 * The script's lines run as if the user had typed them, so a session records them like other lines. */
#include "reproduce/repro.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figure/figure.h"
#include "ui/app.h"
#include "ui/commands/commands.h"

/* The option of reproduce itself; all others belong to the study. */
struct own {
    char figure[256];
};

static const char *const no_figure[] = {"off", NULL};
static const struct pw_opt own_opts[] = {
    {.name = "figure",
     .type = PW_OPT_TEXT,
     .offset = offsetof(struct own, figure),
     .size = sizeof((struct own *)0)->figure,
     .def = "",
     .choices = no_figure,
     .help = "file of the figure (.svg, .pdf, .png); default: NAME.svg; off: none"},
    {.name = NULL}};

/* Returns the verdict of a study in this lab, if any. */
static const char *state_of(const struct pw_repro *study, const struct pw_snapshot *s)
{
    const struct pw_finding_view *found[PW_MAX_FINDINGS];
    int n = pw_findings(s, found);
    for (int i = 0; i < n; i++) { /* newest first */
        const struct pw_finding *f = &found[i]->f;
        char whole[PW_FINDING_NAME + PW_FINDING_TOPIC];
        snprintf(whole, sizeof whole, "%s %s", f->name, f->topic);
        enum pw_claim_verdict verdict = pw_finding_verdict(f);
        if ((strcmp(f->name, study->finding) == 0 || strcmp(whole, study->finding) == 0) &&
            verdict < PW_CLAIM_VERDICTS)
            return pw_claim_verdicts[verdict];
    }
    return "not run here yet";
}

static void list(const struct pw_snapshot *s, struct pw_str *out)
{
    for (int i = 0; pw_repros[i] != NULL; i++)
        pw_str_add(out, "%-13s %s: %s\n%-13s %s\n", pw_repros[i]->name, pw_repros[i]->document,
                   state_of(pw_repros[i], s), "", pw_repros[i]->summary);
    pw_str_add(out, "\nnot reproduced:\n");
    for (int i = 0; pw_repros_left[i] != NULL; i++)
        pw_str_add(out, "  %s\n", pw_repros_left[i]);
}

/* Separates the options of reproduce itself from args; rest gets the study's. */
static enum pw_code split_args(const struct pw_args *args, struct pw_args *rest, struct own *own,
                               struct pw_err *err)
{
    enum pw_code code = PW_OK;
    *rest = *args;
    rest->n = 0;
    pw_opt_defaults(own_opts, own);
    for (int i = 0; code == PW_OK && i < args->n; i++) {
        const struct pw_word *w = &args->words[i];
        if (w->key != NULL && strcmp(w->key, own_opts[0].name) == 0)
            code = pw_opt_set(own_opts, own, args->name, w->key, w->value, err);
        else
            rest->words[rest->n++] = *w;
    }
    return code;
}

static enum pw_code write_script(const struct pw_repro *study, const struct pw_args *rest,
                                 const struct own *own, struct pw_str *out, struct pw_err *err)
{
    union {
        char bytes[PW_REPRO_OPTS_MAX];
        double align;
    } opts;
    if (study->opts != NULL)
        pw_opt_defaults(study->opts, opts.bytes);
    enum pw_code code = pw_args_opts(rest, study->opts, opts.bytes, err);
    if (code == PW_OK && study->check != NULL)
        code = study->check(opts.bytes, err);
    if (code == PW_OK && own->figure[0] != '\0' && strcmp(own->figure, "off") != 0)
        code = pw_figure_ending("reproduce", own->figure, err); /* now, not after hours */
    if (code != PW_OK)
        return code;
    pw_repro_script(study, opts.bytes, out);
    if (pw_repro_has_verdict(study)) {
        pw_str_add(out, "judge %s", study->name);
        if (study->opts != NULL)
            pw_opt_print(study->opts, opts.bytes, false, out);
        pw_str_add(out, "\n");
    }
    if (strcmp(own->figure, "off") == 0)
        return PW_OK;
    pw_str_add(out, "export figure ");
    if (own->figure[0] != '\0')
        pw_str_quote(out, own->figure);
    else
        pw_str_add(out, "%s.svg", study->name);
    pw_str_add(out, " pane=findings page=all finding=");
    pw_str_quote(out, study->finding);
    pw_str_add(out, "\n");
    return PW_OK;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_app *app = ctx;
    const struct pw_repro *study;
    const char *name = pw_args_word(args, 0);
    struct pw_str text = {0};
    struct pw_args rest;
    struct own own;
    enum pw_code code = pw_args_limit(&pw_ui_cmd_reproduce, args, 0, 1, err);
    if (code == PW_OK && name == NULL)
        code = pw_args_opts(args, NULL, NULL, err); /* options need a study */
    if (code == PW_OK && (name == NULL || strcmp(name, "--list") == 0)) {
        list(app->ui.snap, &text);
        pw_app_page(app, "Studies", pw_str_text(&text));
        pw_str_fini(&text);
        return code;
    }
    if (code == PW_OK)
        code = pw_repro_find(&study, name, err);
    if (code == PW_OK)
        code = split_args(args, &rest, &own, err);
    if (code == PW_OK)
        code = write_script(study, &rest, &own, &text, err);
    if (code == PW_OK)
        code = pw_script_insert(app, NULL, pw_str_text(&text), err);
    if (code == PW_OK && app->screen)
        pw_ui_focus(&app->ui, PW_PANE_FINDINGS);
    pw_str_fini(&text);
    return code;
}

static const struct pw_opt *opts_for(const struct pw_args *so_far)
{
    return pw_repro_opts(pw_args_word(so_far, 0));
}

static void complete(struct pw_completion *c)
{
    for (int i = 0; c->at == 0 && pw_repros[i] != NULL; i++)
        pw_complete_offer(c, "%s", pw_repros[i]->name);
    if (c->at == 0)
        pw_complete_offer(c, "--list");
}

static bool describe_choice(const char *word, struct pw_str *out)
{
    const struct pw_repro *s;
    if (pw_repro_find(&s, word, NULL) != PW_OK)
        return false;
    pw_str_add(out, "reproduce %s: %s\n%s\n%s%s%s", s->name, s->summary, s->document,
               s->detail != NULL ? "\n" : "", s->detail != NULL ? s->detail : "",
               s->detail != NULL ? "\n" : "");
    return true;
}

const struct pw_command pw_ui_cmd_reproduce = {
    .name = "reproduce",
    .search = "paper study",
    .usage = "reproduce STUDY [key=value] [figure=FILE|off] | reproduce --list",
    .example = "reproduce theorem1",
    .summary = "reproduce a table, figure or claim of a paper: numbers, a verdict, a figure",
    .detail = "A study is a script of ordinary commands; `reproduce --list` lists the studies and what is "
              "left out.\n"
              "It changes the lab (task, arms, weights) and ends with a verdict: reproduced, same order at "
              "toy scale,\n"
              "inconclusive, or contradicted. Texts have the paper's form and pewter's own vocabulary.",
    .where = PW_AT_UI,
    .also = own_opts,
    .opts_for = opts_for,
    .about = describe_choice,
    .complete = complete,
    .run = run,
};
