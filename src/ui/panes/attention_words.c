/* attention_words.c - the attention pane as text: the most attended keys of each query of the shown head, the
 * scores of all heads, the map of another view, and the head's development. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "ui/panes/attention.h"
#include "ui/report.h"

#define MOST_KEYS  3    /* keys listed per query */
#define LEAST_LOOK 0.05 /* smallest listed weight */

/* Returns the key with the largest weight that is not listed yet; -1: none. */
static int next_key(const struct pw_att *w, int q, const bool *told)
{
    int best = -1;

    for (int k = 0; k < w->a->T; k++)
        if (!told[k] && !pw_att_hidden(w->a, q, k) &&
            (best < 0 || pw_att_prob(w, q, k) > pw_att_prob(w, q, best)))
            best = k;
    return best;
}

static void tell_query(FILE *out, const struct pw_att *w, int q)
{
    const struct pw_ev_attention *a = w->a;
    bool *told = pw_alloc((size_t)a->T, sizeof *told);

    fprintf(out, "  %squery %d '%s' attends to", q >= a->n_prompt && a->n_prompt > 0 ? "answer, " : "", q,
            pw_att_label(a, q));
    for (int n = 0; n < MOST_KEYS; n++) {
        int k = next_key(w, q, told);
        if (k < 0 || (n > 0 && (double)pw_att_prob(w, q, k) < LEAST_LOOK))
            break;
        told[k] = true;
        fprintf(out, "%s %d '%s' %.2f", n ? "," : "", k, pw_att_label(a, k), (double)pw_att_prob(w, q, k));
        if (!w->mean && a->positions != NULL)
            fprintf(out, " at %.2f", (double)pw_from_half(a->positions[(size_t)q * a->T + k]));
        if (!w->mean && pw_att_loses(a))
            fprintf(out, " lost %.2f", fabs((double)pw_from_half(a->gate[(size_t)q * a->T + k])));
        if (pw_att_untrained(w, q, k))
            fprintf(out, " (%s never trained)", w->hatch);
    }
    if (a->rests)
        fprintf(out, "; rest %.2f", (double)pw_att_prob(w, q, q));
    for (int i = 0; i < a->n_gold; i++)
        if (a->gold[i].query == q)
            fprintf(out, "; gold %d '%s' %.2f", a->gold[i].key, pw_att_label(a, a->gold[i].key),
                    (double)pw_att_prob(w, q, a->gold[i].key));
    fputc('\n', out);
    free(told);
}

static void print_columns(FILE *out, struct pw_str *text, const char *title)
{
    fprintf(out, "%s:\n", title);
    pw_report_columns(out, pw_str_text(text));
    pw_str_fini(text);
}

static void tell_scores(FILE *out, const struct pw_att *w)
{
    struct pw_str text = {0};

    if (pw_att_n_scores(w->a) == 0)
        return;
    pw_att_copy_scores(w, &text);
    print_columns(out, &text, "kinds of heads; the first row has the scores of uniform attention");
}

/* Prints the map if it is not the probabilities: another view, or the difference to the reference. */
static void tell_map(FILE *out, const struct pw_att *w)
{
    struct pw_str text = {0};
    char title[160];

    if (w->view == PW_VIEW_PROBS && w->ref == NULL)
        return;
    snprintf(title, sizeof title, "%s%s%s, one row per query", pw_att_view_name(w->a, w->view),
             w->ref != NULL ? " less " : "", w->ref != NULL ? w->ref->name : "");
    pw_att_copy_map(w, &text);
    print_columns(out, &text, title);
}

/* Prints the gates of the shown head, token by token. */
static void tell_gates(FILE *out, const struct pw_att *w)
{
    const struct pw_ev_attention *a = w->a;

    if (w->mean || a->gate_values == NULL || w->layer != a->layer)
        return;
    fprintf(out, "%s:",
            pw_att_reflects(a) ? "factor of each token's reflection, 1 to erase a direction, 2 to mirror it"
            : a->gates         ? "gate of each token, the share of what came before that the head keeps"
                               : "gate of each token, the mean over the entries of the head");
    for (int t = 0; t < a->T; t++)
        fprintf(out, "%s %d '%s' %.3f", t > 0 ? "," : "", t, pw_att_label(a, t),
                (double)pw_att_gate(a, w->layer, w->head, t));
    fputc('\n', out);
}

/* Prints the head's development over training from its kept maps. */
static void tell_birth(FILE *out, const struct pw_ui *ui, const struct pw_att *w)
{
    const struct pw_kept *kept = &ui->snap->arms[w->arm - 1].kept;
    struct pw_str text = {0};
    char title[64];

    if (kept->n < 2 || w->mean)
        return;
    pw_str_add(&text, "step");
    for (int k = 0; k < pw_att_n_scores(w->a); k++)
        pw_str_add(&text, "\t%s", w->a->kinds[k].name);
    for (int i = 0; i < kept->n; i++) {
        pw_str_add(&text, "\n%lld", (long long)kept->map[i].step);
        for (int k = 0; k < pw_att_n_scores(w->a); k++)
            pw_str_add(&text, "\t%.4g", (double)pw_att_score(&kept->map[i].a, w->layer, w->head, k));
    }
    snprintf(title, sizeof title, "head " PW_HEAD " over training", w->layer, w->head);
    print_columns(out, &text, title);
}

static void print_attention(FILE *out, const struct pw_ui *ui, const struct pw_att *w)
{
    const struct pw_arm_view *arm = pw_find_arm(ui->snap, w->arm);
    const struct pw_replica_view *rep = pw_att_measured(ui, w);
    struct pw_str of = {0};
    char off[PW_LINE] = "";

    if (rep != NULL)
        pw_heads_text(off, sizeof off, &rep->heads_off);
    if (arm != NULL)
        pw_replica_text(arm, w->replica, &of);
    if (w->arm > 0)
        fprintf(out, "arm %d%s  step %lld: ", w->arm, pw_str_text(&of), (long long)w->step);
    else
        fprintf(out, "file %s: ", w->a->source);
    pw_str_fini(&of);
    if (w->mean)
        fprintf(out, "mean of the %d heads of layer %d", w->a->heads, w->layer);
    else
        fprintf(out, "head " PW_HEAD, w->layer, w->head);
    fprintf(out, ", the keys that each query attends to, with their probabilities%s%s\n",
            off[0] ? "; heads off: " : "", off);
    for (int q = 0; q < w->a->T; q++)
        tell_query(out, w, q);
    tell_map(out, w);
    tell_gates(out, w);
    tell_scores(out, w);
    if (arm != NULL)
        tell_birth(out, ui, w);
}

static void tell_shown(FILE *out, const struct pw_ui *ui)
{
    struct pw_att w;

    if (pw_att_init(&w, ui))
        print_attention(out, ui, &w);
    else
        for (int i = 0; w.why[i] != NULL; i++)
            fprintf(out, "%s\n", w.why[i]);
    pw_att_fini(&w);
}

void pw_att_words(FILE *out, const struct pw_ui *ui)
{
    struct pw_ui other = *ui;

    if (pw_att_shown(ui) == NULL) {
        fputs("no attention yet: type a prompt first; 'inspect layer=L head=H' chooses the head\n", out);
        return;
    }
    tell_shown(out, ui);
    pw_att_change_source(&other);
    if (pw_att_of_file(&other) != pw_att_of_file(ui))
        tell_shown(out, &other);
}
