/* export.c - the workbench's half of `export`. Figures are drawn from the workbench's state; films and texts
 * are written from the session. The lab's own `export` does everything else. */
#include "figure/figure.h"
#include "lab/lab.h"
#include "lab/offer.h"
#include "plot/finding.h"
#include "ui/app.h"
#include "ui/cast.h"
#include "ui/commands/commands.h"
#include "ui/export_session.h"
#include "ui/figures.h"
#include "ui/plot.h"
#include <string.h>

static bool is_about(const struct pw_args *args, const char *what)
{
    const char *word = pw_args_word(args, 0);

    return word != NULL && strcmp(word, what) == 0;
}

static const struct pw_opt finding_opts[] = {
    {.name = "finding",
     .type = PW_OPT_TEXT,
     .def = "",
     .size = PW_FINDING_NAME + PW_FINDING_TOPIC,
     .help = "its name, or \"NAME TOPIC\"; default: the one on the screen, or the newest"},
    {.name = NULL}};

static enum pw_code write_finding(struct pw_app *app, const struct pw_args *args, struct pw_err *err)
{
    const struct pw_finding_view *v;
    char name[PW_FINDING_NAME + PW_FINDING_TOPIC] = "";

    if (pw_args_words(args) != 2)
        return pw_fail(err, PW_EUSER, "usage: export finding FILE.json|csv [finding=NAME]");
    enum pw_code code = pw_args_opts(args, finding_opts, name, err);
    pw_figures_shown(app, name, sizeof name);
    v = code == PW_OK ? pw_watching_finding(app, name) : NULL;
    if (code == PW_OK && v == NULL)
        code = pw_finding_need(app->ui.snap, name, "export finding", &v, err);
    struct pw_disk_job job = {0};
    struct pw_str text = {0};
    if (code == PW_OK)
        code = pw_finding_text(&text, pw_args_word(args, 1), v, err);
    if (code != PW_OK)
        return code;
    pw_disk_add(&job, pw_args_word(args, 1), &text);
    pw_str_add(&job.said, "wrote %s", pw_args_word(args, 1));
    return pw_app_write(app, &job, err);
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    if (pw_export_is_session(args))
        return pw_export_session(ctx, args, err);
    if (is_about(args, "finding"))
        return write_finding(ctx, args, err);
    if (!is_about(args, "figure"))
        return pw_app_hand_on(ctx, args->text, err);
    if (pw_args_words(args) != 2)
        return pw_fail(err, PW_EUSER, "usage: export figure FILE.svg|pdf|png [key=value]");
    return pw_figures_draw(ctx, args, err);
}

static void complete(struct pw_completion *c)
{
    if (c->at == 0)
        pw_complete_offer_all(c, pw_export_names);
}

/* Offers the pages of the pane that pane= names, or of all panes. */
static void offer_pages(struct pw_completion *c)
{
    const char *pane = pw_args_key(c->so_far, "pane"), *names[16];

    for (int i = 1; pw_figure_names[i] != NULL; i++)
        for (int n = pw_figure_pages(i, names, 16), k = 0; k < n; k++)
            if (pane == NULL || strcmp(pane, pw_figure_names[i]) == 0)
                pw_complete_offer(c, "%s", names[k]);
}

static void offer_findings(struct pw_completion *c, const struct pw_snapshot *s)
{
    const struct pw_finding_view *list[PW_MAX_FINDINGS];

    for (int i = 0, n = pw_findings(s, list); i < n; i++)
        pw_complete_offer(c, "%s%s%s", list[i]->f.name, list[i]->f.topic[0] ? " " : "", list[i]->f.topic);
}

/* Offers values; the lab's offers read its snapshot. */
static void values(struct pw_completion *c)
{
    const struct pw_ui *ui = c->seen;
    struct pw_completion k = *c;

    k.seen = ui != NULL ? ui->snap : NULL;
    if (strcmp(c->key, "page") == 0)
        offer_pages(c);
    else if (strcmp(c->key, "finding") == 0 && ui != NULL)
        offer_findings(c, ui->snap);
    else
        pw_offer_export(&k);
}

static const struct pw_opt *opts_for(const struct pw_args *so_far)
{
    static const struct pw_opt none[1]; /* an empty table */
    const char *what = pw_args_word(so_far, 0);
    const struct pw_opt *of_lab = what != NULL ? pw_export_opts(what) : NULL;

    if (what == NULL || is_about(so_far, "figure"))
        return pw_figure_opts;
    if (is_about(so_far, "finding"))
        return finding_opts;
    return is_about(so_far, "cast") ? pw_cast_opts : of_lab != NULL ? of_lab : none;
}

const struct pw_command pw_ui_cmd_export = {
    .name = "export",
    .search = "save write dump figure plot heatmap pdf svg png csv json npz numpy tensorboard gif video",
    .usage = "export WHAT FILE [key=value]",
    .example = "export weights sort.safetensors",
    .summary = "write a file; its extension chooses the format",
    .detail =
        "  figure F.svg|pdf|png [pane=...]     a pane as a figure for a paper, with the commands that made "
        "it. Pages of curves:\n"
        "                                      loss exact accuracy grad_norm lr; lengths: curve grid errors "
        "tests failing loss;\n"
        "                                      attention: map heads, and of an imported one file file_heads "
        "file_scores; step:\n"
        "                                      all tokens contributions lens patch; encoding: slopes bias "
        "buckets matrix\n"
        "                                      frequencies decay rows cosine keys queries kernel, and "
        "difference to that of\n"
        "                                      reference=K; findings: all, or a block by its number, of the "
        "newest or\n"
        "                                      finding=\"NAME TOPIC\". Attention, step and encoding are the "
        "current arm's, or\n"
        "                                      those of arms=; missing data are computed first. sessions= "
        "adds recorded arms\n"
        "  finding F.json|csv [finding=NAME]   a finding of a probe or a study: tables, points of curves, "
        "maps, claims\n"
        "                                      with their verdicts; \"NAME TOPIC\" chooses among several\n"
        "  cast F.cast [speed=N] [width=W] [height=H] [from=STEP] [to=STEP]\n"
        "                                      the session as the workbench replays it, for asciinema\n"
        "  events F.jsonl                      the session as JSON, one event per line\n"
        "  session F.pewter                    the session as a script: each command at its step\n"
        "  weights F.safetensors [moments=on]  the current arm; AdamW's moments are needed to resume "
        "training\n"
        "  weights FOLDER/                     an arm of 'model from=' for transformers\n"
        "  attention F.npz                     tokens, labels, probs, score, content, bias [L,H,T,T], "
        "logits, resid\n"
        "  logits F.npz                        tokens [T] and logits [T,V] of the pinned prompt\n"
        "  step F.json                         the token at the cursor: candidates, parts of their logits, "
        "logit lens\n"
        "  curves F.csv|jsonl                  loss, accuracy, lr, grad_norm, flops of every step of every "
        "model\n"
        "  track F.csv|jsonl                   exact match at every evaluation, trained and longer lengths\n"
        "  updates F.csv|jsonl                 |change| / |weights| of each block, every 10 steps\n"
        "  tensorboard FOLDER                  these three for TensorBoard, one run per model\n"
        "  lengths F.csv|jsonl                 the last evaluation of every model, with Wilson's 95 % "
        "interval;\n"
        "                                      one row per pair if lengths are pairs (length_a, length_b); "
        "if answers\n"
        "                                      were decoded: judged, teacher_forced (every token right); "
        "text: loss\n"
        "  errors F.csv|jsonl                  fractions of the samples of these evaluations: exact; forced: "
        "exact except\n"
        "                                      for the end mark; the first error (early: end mark too soon, "
        "late: all\n"
        "                                      right but no end mark, wrong: another token) and its token in "
        "the\n"
        "                                      answer (first_error_1, ...)\n"
        "  formula F.py|tex|pe [layer=L]       an arm's formula: FlexAttention, LaTeX, text ('help pe')\n"
        "  table F.json|npz [length=N]         the current arm's encoding ('help table'); .npz: for 'pe "
        "file='\n"
        "  data F.jsonl [split=train|valid|test|all] [n=N]   samples as text; a fixed set completely. "
        "split=all\n"
        "                                      without n=: every input of the trained and tested lengths "
        "once, in\n"
        "                                      the task's order, with its split\n"
        "  batch F.npz [replica=R]             the current arm's next training batch: tokens, targets [B,T]\n"
        "  activations F.npz [samples=N] [length=L] [sites=q,k,v,z,mlp,resid] [task=NAME]\n"
        "      for the evaluation samples of a length, with R tokens in all: tokens, targets (-1: not "
        "scored),\n"
        "      sample, position, prompt (1: part of the prompt) [R]; q, k (rotated where the encoding "
        "rotates,\n"
        "      unscaled), v, z (heads' outputs before W_o) [L,R,H,D], mlp (after the activation) [L,R,F], "
        "resid\n"
        "      (0: the embedding) [L+1,R,C]\n"
        "Exports of one model accept replica=R; default: the inspected one",
    .where = PW_AT_UI,
    .opts = pw_figure_opts, /* for help, which has no words to choose by */
    .opts_for = opts_for,
    .file_at = 2,
    .complete = complete,
    .values = values,
    .outside = pw_command_outside,
    .run = run,
};
