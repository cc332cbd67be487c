/* report.c - prints events as lines of text: results, without intermediate states. */
#include "ui/report.h"
#include "plot/finding_text.h"
#include "plot/names.h"

#include "base/maths.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "ui/report_json.h"

static const struct pw_arm_view *arm_of(const struct pw_snapshot *s, const struct pw_event *e)
{
    return e->arm >= 1 && e->arm <= PW_MAX_ARMS ? &s->arms[e->arm - 1] : NULL;
}

/* Prints the samples per length. A fixed set (data=N) can have fewer at some lengths. */
static void print_samples(FILE *out, const struct pw_ev_eval *v, int task)
{
    int least = INT_MAX, most = 0;
    for (int i = 0; i < v->n; i++)
        if (v->rows[i].task == task && v->rows[i].samples > 0) {
            least = v->rows[i].samples < least ? v->rows[i].samples : least;
            most = v->rows[i].samples > most ? v->rows[i].samples : most;
        }
    if (least < most)
        fprintf(out, "%d to ", least);
    fprintf(out, "%d samples each", most);
}

void pw_report_errors(FILE *out, const struct pw_arm_view *a)
{
    int64_t errors[PW_ERRORS] = {0}, all = 0, failed = 0;
    for (int r = 0; r < a->info.replicas; r++)
        for (int i = 0; i < a->rep[r].eval.n; i++) {
            const struct pw_eval_row *row = &a->rep[r].eval.rows[i];
            for (int k = 0; k < PW_ERRORS; k++) {
                errors[k] += row->errors[k];
                failed += row->errors[k];
            }
            all += row->samples;
        }
    if (failed == 0)
        return;
    fprintf(out, "  first errors:");
    for (int k = 0; k < PW_ERRORS; k++)
        fprintf(out, "%s %lld %s%s", k > 0 ? "," : "", (long long)errors[k], pw_error_name((enum pw_error)k),
                errors[k] != 1 ? "s" : "");
    fprintf(out, " in %lld of %lld answers\n", (long long)failed, (long long)all);
}

/* Prints `of` for every length of a task: ten lengths per line, or five with the range over several replicas.
 */
static void print_lengths(FILE *out, const struct pw_ev_eval *v, const struct pw_arm_view *a, int task,
                          float (*of)(const struct pw_eval_row *row))
{
    int n = 0, reps = a->info.replicas, per_line = reps > 1 ? 5 : 10;
    for (int i = 0; i < v->n; i++) {
        const struct pw_eval_row *r = &v->rows[i];
        if (r->task != task || r->samples == 0)
            continue;
        struct pw_spread x = pw_spread_by(a, task, r->length, of);
        if (n == 0 && reps > 1)
            fprintf(out, ", median (least..greatest) n=%d%s", x.n, pw_batches_text(&a->info));
        fprintf(out, "%s%4d %.3f%s", n++ % per_line == 0 ? "\n " : "  ", r->length, (double)x.median,
                r->seen ? "*" : "");
        if (reps > 1)
            fprintf(out, " (%.3f..%.3f)", (double)x.lo, (double)x.hi);
    }
    fputc('\n', out);
}

static bool has_task(const struct pw_ev_eval *v, int task)
{
    for (int i = 0; i < v->n; i++)
        if (v->rows[i].task == task && v->rows[i].samples > 0)
            return true;
    return false;
}

/* Prints exact match of every length, and the means over trained and longer lengths. For decoded answers, the
 * results of teacher-forced passes follow below. */
static void print_eval(FILE *out, const struct pw_event *e, const struct pw_snapshot *s,
                       const struct pw_arm_view *a)
{
    const struct pw_ev_eval *v = &e->u.eval;
    int reps = a->info.replicas;
    bool seen = false;
    struct pw_str pe = {0};
    pw_encoding_text(&pe, a->info.pe);
    for (int t = 0; t < s->lab.n_tasks; t++) {
        if (!has_task(v, t))
            continue;
        bool decoded = pw_eval_judge(v, t) == PW_JUDGE_DECODED;
        fprintf(out, "arm %d  %s  step %lld  %s: %s by length, ", e->arm, pw_str_text(&pe),
                (long long)e->step, s->lab.tasks[t].name,
                decoded ? "right answers, decoded," : "exact match");
        print_samples(out, v, t);
        print_lengths(out, v, a, t, pw_eval_exact);
        if (decoded) {
            fputs("  teacher-forced, every token right", out);
            print_lengths(out, v, a, t, pw_eval_taught);
        }
    }
    pw_str_fini(&pe);
    for (int i = 0; i < v->n; i++)
        seen = seen || (v->rows[i].samples > 0 && v->rows[i].seen);
    struct pw_spread in = pw_spread_mean(&s->lab, a, false), beyond = pw_spread_mean(&s->lab, a, true);
    if (in.n > 0)
        fprintf(out, "  trained lengths: mean %.3f", (double)in.median);
    if (in.n > 0 && reps > 1)
        fprintf(out, " (%.3f..%.3f) n=%d", (double)in.lo, (double)in.hi, in.n);
    if (beyond.n > 0)
        fprintf(out, "%s longer ones: mean %.3f", in.n == 0 ? " " : ",", (double)beyond.median);
    if (beyond.n > 0 && reps > 1)
        fprintf(out, " (%.3f..%.3f) n=%d", (double)beyond.lo, (double)beyond.hi, beyond.n);
    fputc('\n', out);
    pw_report_errors(out, a);
    char off[PW_LINE];
    pw_arm_heads_text(off, sizeof off, a);
    if (off[0] != '\0')
        fprintf(out, "  heads off: %s\n", off);
    if (seen)
        fputs("  * seen: so few inputs that training has seen them\n", out);
}

static float row_loss(const struct pw_eval_row *row)
{
    return row->loss > 0 ? row->loss : NAN;
}

/* Prints the loss by position, in eighths of the context. */
static void print_positions(FILE *out, const struct pw_ev_eval *v, const struct pw_eval_row *row)
{
    enum { PARTS = 8 };
    if (row->n_losses < PARTS)
        return;
    fprintf(out, "  by position in contexts of %d:", row->length);
    for (int part = 0; part < PARTS; part++) {
        int from = part * row->n_losses / PARTS, to = (part + 1) * row->n_losses / PARTS;
        double sum = 0;
        for (int k = from; k < to; k++)
            sum += (double)v->losses[row->first_loss + k];
        fprintf(out, "%s %d..%d %.3f", part > 0 ? "," : "", from + 1, to, sum / (to - from));
    }
    fputc('\n', out);
}

/* Prints the loss of running text by context length and, in eighths of the context, by position. */
static void print_losses(FILE *out, const struct pw_event *e, const struct pw_snapshot *s,
                         const struct pw_arm_view *a)
{
    const struct pw_ev_eval *v = &e->u.eval;
    const struct pw_task_view *t = &s->lab.tasks[0];
    struct pw_str pe = {0};
    int n = 0;
    pw_encoding_text(&pe, a->info.pe);
    fprintf(out, "arm %d  %s  step %lld  %s: nats per token (perplexity) by context, ", e->arm,
            pw_str_text(&pe), (long long)e->step, t->name);
    pw_str_fini(&pe);
    print_samples(out, v, 0);
    if (a->info.replicas > 1)
        fprintf(out, ", medians of %d seeds%s", a->info.replicas, pw_batches_text(&a->info));
    bool trained = e->step > 0; /* else the trained lengths are unknown: the model can be one from a file */
    for (int i = 0; i < v->n; i++) {
        double loss = (double)pw_spread_by(a, 0, v->rows[i].length, row_loss).median;
        fprintf(out, "%s%5d%s %.3f (%.2f)", n++ % 5 == 0 ? "\n " : "  ", v->rows[i].length,
                trained && v->rows[i].length > t->train_hi ? "+" : " ", loss, pw_exp(loss));
    }
    if (trained)
        fprintf(out, "\n  +: beyond the trained %d..%d\n", t->train_lo, t->train_hi);
    else
        fputs("\n  not trained here\n", out);
    for (int i = 0; i < v->n && a->info.replicas == 1; i++)
        print_positions(out, v, &v->rows[i]);
}

/* The numbers of an arm arrive replica by replica; all are printed with the last one. The event is not folded
 * yet, so it replaces the snapshot's evaluation of its replica. */
static void eval_event(FILE *out, const struct pw_event *e, const struct pw_snapshot *s)
{
    const struct pw_arm_view *a = arm_of(s, e);
    int r = pw_event_replica(e);
    if (a == NULL || !a->used || r != a->info.replicas)
        return;
    struct pw_arm_view with = *a;
    with.rep[r - 1].eval = e->u.eval;
    if (pw_eval_runs(&e->u.eval))
        print_losses(out, e, s, &with);
    else
        print_eval(out, e, s, &with);
}

/* Prints running text and how it goes on: the labels of its tokens without blanks between them. */
static void print_continued(FILE *out, const struct pw_ev_token *last, const struct pw_snapshot *s)
{
    double bits = last->prob > 0 ? -pw_log2((double)last->prob) : 0;

    const char *gap = strcmp(s->lab.tasks[0].name, "ids") == 0 ? " " : ""; /* between numbers */
    fputs("prompt     ", out);
    for (int i = 0; i < s->prompt.n_prompt; i++)
        fprintf(out, "%s%s", s->prompt.labels[i], gap);
    fputs("\ncontinued  ", out);
    for (int i = 0; i < s->n_tokens; i++) {
        fprintf(out, "%s%s", s->tokens[i].label, gap);
        bits += s->tokens[i].prob > 0 ? -pw_log2((double)s->tokens[i].prob) : 0;
    }
    fprintf(out, "%s\n", last->label);
    if (s->prompt.has_answer) {
        fputs("the text   ", out);
        for (int i = s->prompt.n_prompt; i < s->prompt.n; i++)
            fprintf(out, "%s%s", s->prompt.labels[i], gap);
        fputc('\n', out);
    }
    fprintf(out, "with %.2f bits per token, by the model\n", bits / (s->n_tokens + 1));
}

static void print_token(FILE *out, const struct pw_event *e, const struct pw_snapshot *s)
{
    const struct pw_ev_token *last = &e->u.token;
    if (!last->last || !s->has_prompt || s->prompt.id != last->prompt)
        return;
    if (s->lab.n_tasks == 1 && s->lab.tasks[0].runs) {
        print_continued(out, last, s);
        return;
    }
    fprintf(out, "prompt  %s\nanswer ", s->prompt.text);
    for (int i = 0; i < s->n_tokens; i++)
        fprintf(out, " %s", s->tokens[i].label);
    fprintf(out, " %s\nwith p ", last->label);
    for (int i = 0; i < s->n_tokens; i++)
        fprintf(out, " %.2f", (double)s->tokens[i].prob);
    fprintf(out, " %.2f\n", (double)last->prob);
    if (!s->prompt.has_answer)
        return;
    if (last->exact) {
        int otherwise = !last->right;
        for (int i = 0; i < s->n_tokens; i++)
            otherwise += !s->tokens[i].right;
        if (otherwise > 0) /* tokens of a scratchpad */
            fprintf(out, "right answer, %d of %d tokens differ\n", otherwise, s->n_tokens + 1);
        else
            fputs("right\n", out);
        return;
    }
    fputs("wrong; right is", out);
    for (int i = s->prompt.n_prompt; i < s->prompt.n; i++)
        fprintf(out, " %s", s->prompt.labels[i]);
    fputc('\n', out);
}

void pw_report_failing(FILE *out, const struct pw_ev_failing *v, int arm, int replica, int64_t step,
                       const struct pw_snapshot *s)
{
    struct pw_str of = {0}, pe = {0};
    pw_replica_text(&s->arms[arm - 1], replica, &of);
    fprintf(out, "arm %d%s  %s  step %lld  %s length %d: %d of %d failed when evaluated at step %lld\n", arm,
            pw_str_text(&of), pw_encoding_text(&pe, s->arms[arm - 1].info.pe), (long long)step,
            s->lab.tasks[v->task].name, v->length, v->failed, v->samples, (long long)v->eval_step);
    pw_str_fini(&pe);
    pw_str_fini(&of);
    for (int i = 0; i < v->n; i++) {
        const struct pw_failing *x = &v->list[i];
        if (x->place < 0)
            fprintf(out, "  #%d  right by now\n", x->index);
        else
            fprintf(out, "  #%d  %s at token %d of %d: %s, right is %s\n", x->index, pw_error_name(x->kind),
                    x->place + 1, x->n_answer, x->got, x->want);
        fprintf(out, "    prompt %s\n    right  %s\n    model  %s\n", x->prompt, x->right, x->model);
    }
}

/* Prints a step through the answer. */
static void print_cursor(FILE *out, const struct pw_ev_token *t, bool has_answer)
{
    fprintf(out, "position %d  %s  p %.3f  logit %.3f  entropy %.3f bits  ", t->pos, t->label,
            (double)t->prob, (double)t->logit, (double)t->entropy);
    if (t->edited)
        fputs("edited, ", out);
    if (t->target[0] == '\0')
        fputs(has_answer ? "wrong; the right answer has ended\n" : "no right answer is known\n", out);
    else if (t->right)
        fputs("right\n", out);
    else
        fprintf(out, "wrong; right is %s\n", t->target);
}

/* Prints "-" for NaN. */
static void print_number(FILE *out, float x)
{
    if (isnan(x))
        fprintf(out, " %7s", "-");
    else
        fprintf(out, " %7.3f", (double)x);
}

/* Prints the head's scores, each next to the score of a head with uniform attention. */
static void print_head(FILE *out, const struct pw_event *e, const struct pw_snapshot *s)
{
    const struct pw_ev_attention *a = &e->u.attention;
    const float *v = a->scores + ((size_t)a->layer * a->heads + a->head) * (size_t)a->n_scores;
    const struct pw_arm_view *arm = pw_find_arm(s, e->arm);
    struct pw_str of = {0};
    if (arm != NULL)
        pw_replica_text(arm, e->replica, &of);
    if (a->source[0] != '\0')
        fputs(a->source, out);
    else
        fprintf(out, "arm %d%s  step %lld", e->arm, pw_str_text(&of), (long long)e->step);
    pw_str_fini(&of);
    fprintf(out, "  head " PW_HEAD ", %d tokens\n  %-16s %7s %7s\n", a->layer, a->head, a->T, "", "head",
            "chance");
    for (int k = 0; k < a->n_scores; k++) {
        const struct pw_score_kind *kind = &a->kinds[k];
        fprintf(out, "  %-16s", kind->name);
        print_number(out, v[k]);
        print_number(out, kind->chance);
        fprintf(out, "%s%s\n", kind->unit[0] != '\0' ? " " : "", kind->unit);
    }
}

/* Prints a position with its token, and the clean prompt's token if it differs: "3  5, was 9". */
static void print_position(FILE *out, const struct pw_ev_patch *p, int t)
{
    bool same = strcmp(p->clean[t], p->corrupt[t]) == 0;
    char what[2 * PW_LABEL + 16];
    snprintf(what, sizeof what, same ? "%s" : "%s for %s", p->clean[t], p->corrupt[t]);
    fprintf(out, "\n  %4d  %-14s", t, what);
}

/* Prints the recovery: for the residual stream one row per position and one column per layer, for heads one
 * row per layer. */
static void print_patch(FILE *out, const struct pw_ev_patch *p)
{
    bool resid = p->kind == PW_PATCH_RESID;
    int rows = resid ? p->cols : p->rows, cols = resid ? p->rows : p->cols;
    fprintf(out, "%s\n", p->text);
    if (rows * cols <= 1)
        return;
    if (resid)
        fprintf(out,
                "  recovery by position and the layer that the stream goes into (%d: out of the last)\n%22s",
                cols - 1, "");
    else
        fprintf(out, "  recovery by layer and head\n%11s", "");
    for (int k = 0; k < cols; k++)
        fprintf(out, " %6d", k);
    for (int i = 0; i < rows; i++) {
        if (resid)
            print_position(out, p, i);
        else
            fprintf(out, "\n  layer %3d", i);
        for (int k = 0; k < cols; k++)
            fprintf(out, " %6.3f", (double)p->recovery[resid ? k * p->cols + i : i * p->cols + k]);
    }
    fputc('\n', out);
}

/* Prints the step of every arm at the end of training. */
static void print_end(FILE *out, const struct pw_snapshot *s)
{
    for (int i = 0; i < PW_MAX_ARMS; i++) {
        const struct pw_arm_view *a = &s->arms[i];
        int n = a->rep[0].series.n;
        if (!a->used || n == 0)
            continue;
        struct pw_spread loss = pw_spread_last(a, PW_M_LOSS), right = pw_spread_last(a, PW_M_ACCURACY);
        struct pw_str pe = {0};
        fprintf(out, "arm %d  %s  step %lld: loss %.4f", i + 1, pw_encoding_text(&pe, a->info.pe),
                (long long)a->rep[0].series.step[n - 1], (double)loss.median);
        pw_str_fini(&pe);
        if (a->info.replicas > 1)
            fprintf(out, " (%.4f..%.4f) n=%d%s", (double)loss.lo, (double)loss.hi, loss.n,
                    pw_batches_text(&a->info));
        fprintf(out, ", token accuracy %.3f", (double)right.median);
        if (a->info.replicas > 1)
            fprintf(out, " (%.3f..%.3f) n=%d", (double)right.lo, (double)right.hi, right.n);
        fputc('\n', out);
    }
}

void pw_report_event(FILE *out, const struct pw_event *e, const struct pw_snapshot *s, bool json)
{
    if (json)
        pw_report_json(out, e);
    switch (e->kind) {
    case PW_EV_ERROR: fprintf(stderr, "pewter: %s\n", e->u.text); break;
    case PW_EV_NOTE:
        if (!json)
            fprintf(out, "%s\n", e->u.text);
        break;
    case PW_EV_MARK:
        if (!json)
            fprintf(out, "mark: %s\n", e->u.text);
        break;
    case PW_EV_ATTENTION:
        if (!json && e->u.attention.asked && e->u.attention.T > 0)
            print_head(out, e, s);
        break;
    case PW_EV_EVAL:
        if (!json && !e->u.eval.live)
            eval_event(out, e, s);
        break;
    case PW_EV_TOKEN:
        if (!json)
            print_token(out, e, s);
        break;
    case PW_EV_FAILING:
        if (!json && arm_of(s, e) != NULL)
            pw_report_failing(out, &e->u.failing, e->arm, e->replica, e->step, s);
        break;
    case PW_EV_CURSOR:
        if (!json)
            print_cursor(out, &e->u.cursor.at, s->prompt.has_answer);
        break;
    case PW_EV_TABLE:
        if (!json)
            pw_report_table(out, &e->u.table, e->arm, e->replica, s);
        break;
    case PW_EV_PATCH:
        if (!json)
            print_patch(out, &e->u.patch);
        break;
    case PW_EV_FINDING:
        if (!json)
            pw_finding_print(out, &e->u.finding);
        break;
    case PW_EV_STATE:
        if (!json && s->state.run != PW_RUN_IDLE && e->u.state.run == PW_RUN_IDLE)
            print_end(out, s);
        break;
    default: break;
    }
}

static void arm_change(FILE *out, const struct pw_ev_arm *a, int replica, const struct pw_snapshot *s)
{
    const struct pw_arm_view *before = a->id >= 1 && a->id <= PW_MAX_ARMS ? &s->arms[a->id - 1] : NULL;
    if (before == NULL)
        return;
    struct pw_str now = {0}, was = {0};
    pw_encoding_text(&now, a->pe);
    if (!before->used || before->info.swaps > a->swaps)
        fprintf(out, "arm %d: %s, %s\n", a->id, pw_str_text(&now), a->model);
    else if (strcmp(before->info.pe, a->pe) != 0)
        fprintf(out, "arm %d: %s, before: %s; all other weights are kept\n", a->id, pw_str_text(&now),
                pw_encoding_text(&was, before->info.pe));
    else if (a->current && s->current != a->id)
        fprintf(out, "arm %d, %s, is the current arm\n", a->id, pw_str_text(&now));
    else if (a->current && s->replica != replica)
        fprintf(out, "arm %d: replica %d of %d is inspected\n", a->id, replica, a->replicas);
    pw_str_fini(&was);
    pw_str_fini(&now);
}

static void state_change(FILE *out, const struct pw_ev_state *now, const struct pw_ev_state *before)
{
    if (now->run == before->run)
        return;
    if (now->run == PW_RUN_TRAINING && now->until > 0)
        fprintf(out, "training, to step %lld\n", (long long)now->until);
    else if (now->run == PW_RUN_TRAINING)
        fputs("training\n", out);
}

void pw_report_change(FILE *out, const struct pw_event *e, const struct pw_snapshot *s)
{
    switch (e->kind) {
    case PW_EV_ARM: arm_change(out, &e->u.arm, pw_event_replica(e), s); break;
    case PW_EV_DROP: fprintf(out, "arm %d was dropped\n", e->arm); break;
    case PW_EV_STATE: state_change(out, &e->u.state, &s->state); break;
    case PW_EV_CHECKPOINT: fprintf(out, "weights written: %s\n", e->u.checkpoint.text); break;
    case PW_EV_GAP:
        fprintf(out, "%lld steps were not printed: too many at once\n", (long long)e->u.gap);
        break;
    default: break;
    }
}
