/* report_show.c - what a pane shows, in words and tables: for readers of lines, such as a screen reader's. */
#include "ui/report.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "sessions/paired.h"
#include "ui/plot.h"

#define MOST_POINTS 10   /* of a curve */
#define MOST_KEYS   3    /* that a query looks at */
#define LEAST_LOOK  0.05 /* weight of a key worth a word */
#define MOST_LINES  20   /* of the log */

static void print_name(FILE *out, const struct pw_arm_view *a)
{
    struct pw_str name = {0};
    pw_arm_name(a, &name);
    fprintf(out, "arm %s", name.s);
    pw_str_fini(&name);
}

/* The last evaluation; NaN stands for lengths that it left out. */
static void print_match(FILE *out, const struct pw_track *t)
{
    double in_range = (double)t->in_range[t->n - 1], beyond = (double)t->beyond[t->n - 1];
    const char *between = ":";
    fprintf(out, "; exact match at step %lld", (long long)t->step[t->n - 1]);
    if (!isnan(in_range))
        fprintf(out, ": %.3f of trained lengths", in_range), between = ",";
    if (!isnan(beyond))
        fprintf(out, "%s %.3f of longer ones", between, beyond);
}

/* Some points of each arm's loss, the first and the last among them, and what its evaluations said. */
static void show_curves(FILE *out, const struct pw_snapshot *s)
{
    for (int i = 0; i < PW_MAX_ARMS; i++) {
        const struct pw_arm_view *a = &s->arms[i];
        const struct pw_series *r = &a->rep[0].series;
        const struct pw_track *t = &a->rep[0].track;
        if (!a->used)
            continue;
        print_name(out, a);
        fputs(r->n == 0 ? ": not trained yet" : ": loss", out);
        int n = r->n < MOST_POINTS ? r->n : MOST_POINTS;
        for (int k = 0; k < n; k++) {
            int at = n > 1 ? (int)((int64_t)k * (r->n - 1) / (n - 1)) : 0;
            fprintf(out, "%s %.4f at step %lld", k ? "," : "", (double)r->v[PW_M_LOSS][at],
                    (long long)r->step[at]);
        }
        if (t->n > 0)
            print_match(out, t);
        fputc('\n', out);
    }
}

/* Which arm is best beyond the trained lengths, or why none is called so. */
static void show_verdict(FILE *out, const struct pw_snapshot *s, int task)
{
    struct pw_paired x;
    struct pw_str verdict = {0};
    pw_paired_find(&x, s, (1u << PW_MAX_ARMS) - 1, task, s->lab.tasks[task].train_hi + 1, INT_MAX);
    if (x.n > 0) {
        pw_paired_verdict(&x, s, &verdict);
        fprintf(out, "longer than trained, arms on the same samples: %s\n", pw_str_text(&verdict));
    }
    pw_str_fini(&verdict);
}

/* What belongs to an arm's column and isn't exact match by length. */
static void show_errors(FILE *out, const struct pw_arm_view *a)
{
    char off[PW_LINE];
    pw_arm_heads_text(off, sizeof off, a);
    if (a->rep[0].eval.n == 0)
        return;
    print_name(out, a);
    fprintf(out, ", evaluated at step %lld%s%s\n", (long long)a->rep[0].eval_step,
            off[0] ? ", heads off: " : "", off);
    pw_report_errors(out, a);
}

/* A row a length, a column an arm. */
static void show_lengths(FILE *out, const struct pw_snapshot *s)
{
    for (int t = 0; t < s->lab.n_tasks && t < 8; t++) {
        const struct pw_task_view *task = &s->lab.tasks[t];
        int lo = task->train_lo, hi = task->test_hi > task->train_hi ? task->test_hi : task->train_hi,
            rows = 0;
        for (int length = lo; length <= hi; length++) {
            bool any = false;
            for (int i = 0; i < PW_MAX_ARMS; i++)
                any = any || (s->arms[i].used && pw_eval_find(&s->arms[i].rep[0].eval, t, length));
            if (!any)
                continue;
            if (rows++ == 0) {
                fprintf(out, "%s: exact match by length, trained %d to %d\nlength", task->name,
                        task->train_lo, task->train_hi);
                for (int i = 0; i < PW_MAX_ARMS; i++)
                    if (s->arms[i].used)
                        fprintf(out, "  %d %-8.8s", i + 1, s->arms[i].info.name);
                fputc('\n', out);
            }
            fprintf(out, "%6d", length);
            for (int i = 0; i < PW_MAX_ARMS; i++) {
                struct pw_spread x =
                    s->arms[i].used ? pw_spread_at(&s->arms[i], t, length) : (struct pw_spread){0};
                if (x.n > 0)
                    fprintf(out, "  %10.3f", (double)x.median);
                else if (s->arms[i].used)
                    fprintf(out, "  %10s", "-");
            }
            fputs(length > task->train_hi ? "  beyond training\n" : "\n", out);
        }
        if (rows == 0)
            fprintf(out, "%s: nothing evaluated yet; 'eval' does it\n", task->name);
        else
            show_verdict(out, s, t);
    }
    for (int i = 0; i < PW_MAX_ARMS; i++)
        if (s->arms[i].used)
            show_errors(out, &s->arms[i]);
}

static void show_attention(FILE *out, const struct pw_snapshot *s)
{
    const struct pw_ev_attention *a = &s->attention;
    if (!s->has_attention || a->head < 0 || a->head >= a->heads || a->layer < 0 || a->layer >= a->layers) {
        fputs("no attention yet: type a prompt first; 'inspect layer=L head=H' chooses the head\n", out);
        return;
    }
    const uint16_t *map =
        a->probs + ((size_t)a->layer * a->heads + a->head) * (size_t)a->T * a->T; /* [T,T] */
    fprintf(out, "arm %d  step %lld: head %d.%d, what each query looks at (weight of 1)\n", s->attention_arm,
            (long long)s->attention_step, a->layer, a->head);
    for (int q = 0; q < a->T; q++) {
        bool told[PW_LINE] = {false};
        fprintf(out, "  %squery %d '%s' looks at", q >= a->n_prompt ? "answer, " : "", q,
                pw_label(a->labels[q]));
        for (int n = 0; n < MOST_KEYS; n++) {
            int best = -1;
            for (int k = 0; k <= q && k < PW_LINE; k++)
                if (!told[k] && (best < 0 || pw_from_half(map[(size_t)q * a->T + k]) >
                                                 pw_from_half(map[(size_t)q * a->T + best])))
                    best = k;
            if (best < 0 || (n > 0 && pw_from_half(map[(size_t)q * a->T + best]) < LEAST_LOOK))
                break;
            told[best] = true;
            fprintf(out, "%s %d '%s' %.2f", n ? "," : "", best, pw_label(a->labels[best]),
                    (double)pw_from_half(map[(size_t)q * a->T + best]));
        }
        fputc('\n', out);
    }
}

/* Of every decoded token the candidates that it was chosen from. */
static void show_step(FILE *out, const struct pw_snapshot *s)
{
    if (!s->has_prompt || s->n_tokens == 0) {
        fputs("no answer yet: type a prompt first\n", out);
        return;
    }
    fprintf(out, "arm %d  step %lld: %s\n", s->prompt_arm, (long long)s->prompt_step, s->prompt.text);
    for (int i = 0; i < s->n_tokens; i++) {
        const struct pw_ev_token *t = &s->tokens[i];
        fprintf(out, "  token %d, '%s'%s: candidates", i + 1, pw_label(t->label),
                !s->prompt.has_answer ? ""
                : t->right            ? ", right"
                                      : ", wrong");
        for (int k = 0; k < t->n_top && k < PW_TOP; k++)
            fprintf(out, "%s '%s' %.3f", k ? "," : "", pw_label(t->top_label[k]), (double)t->top_prob[k]);
        fprintf(out, "; entropy %.2f bits\n", (double)t->entropy);
    }
}

static void show_prompt(FILE *out, const struct pw_snapshot *s)
{
    if (!s->has_prompt) {
        fputs("no prompt yet\n", out);
        return;
    }
    fprintf(out, "prompt  %s\nanswer ", s->prompt.text);
    for (int i = 0; i < s->n_tokens; i++)
        fprintf(out, " %s%s", pw_label(s->tokens[i].label),
                s->prompt.has_answer && !s->tokens[i].right ? " (wrong)" : "");
    fputs(s->decoded ? "\n" : " ...\n", out);
}

static void show_log(FILE *out, const struct pw_snapshot *s)
{
    int64_t first = s->n_log > MOST_LINES ? s->n_log - MOST_LINES : 0;
    for (int64_t i = first; i < s->n_log; i++) {
        const struct pw_log_line *l = &s->log[i % PW_LOG_LINES];
        fprintf(out, "%s%s\n",
                l->kind == PW_EV_COMMAND ? "command: "
                : l->kind == PW_EV_ERROR ? "failed: "
                                         : "",
                l->text);
    }
}

static void show_encoding(FILE *out, const struct pw_snapshot *s)
{
    const struct pw_ev_table *t = pw_table_of(s, s->current);
    if (t != NULL)
        pw_report_table(out, t, s->current);
    else
        fputs("no table yet: 'table' reads the current arm's encoding\n", out);
}

void pw_report_show(FILE *out, const struct pw_snapshot *s, int pane)
{
    static void (*const shows[PW_PANES])(FILE *, const struct pw_snapshot *) = {
        [PW_PANE_CURVES] = show_curves,
        [PW_PANE_LENGTHS] = show_lengths,
        [PW_PANE_ATTENTION] = show_attention,
        [PW_PANE_STEP] = show_step,
        [PW_PANE_ENCODING] = show_encoding,
        [PW_PANE_IO] = show_prompt,
        [PW_PANE_LOG] = show_log,
    };
    shows[pane](out, s);
}
