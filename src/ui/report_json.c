#include "ui/report_json.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/json.h"
#include "sessions/fold.h"

static const char *const kinds[PW_EV_KINDS] = {
    [PW_EV_COMMAND] = "command",
    [PW_EV_LAB] = "lab",
    [PW_EV_ARM] = "arm",
    [PW_EV_DROP] = "drop",
    [PW_EV_STATE] = "state",
    [PW_EV_STEP] = "step",
    [PW_EV_UPDATES] = "updates",
    [PW_EV_DIGEST] = "digest",
    [PW_EV_EVAL] = "eval",
    [PW_EV_PROMPT] = "prompt",
    [PW_EV_TOKEN] = "token",
    [PW_EV_ATTENTION] = "attention",
    [PW_EV_CURSOR] = "cursor",
    [PW_EV_LOOK] = "look",
    [PW_EV_TABLE] = "table",
    [PW_EV_JOB] = "job",
    [PW_EV_CHECKPOINT] = "checkpoint",
    [PW_EV_MARK] = "mark",
    [PW_EV_NOTE] = "note",
    [PW_EV_ERROR] = "error",
    [PW_EV_GAP] = "gap",
    [PW_EV_HEADS] = "heads",
    [PW_EV_PATCH] = "patch",
    [PW_EV_FAILING] = "failing",
    [PW_EV_ASKED] = "asked",
    [PW_EV_FILE] = "file",
    [PW_EV_SESSION] = "session",
    [PW_EV_FINDING] = "finding",
};

static void arm(cJSON *o, const struct pw_ev_arm *a, int replica)
{
    pw_json_str(o, "pe", a->pe);
    pw_json_str(o, "model", a->model);
    cJSON_AddBoolToObject(o, "current", a->current);
    pw_json_num(o, "replicates", a->replicates);
    pw_json_str(o, "batches", a->own_batches ? "own" : "shared");
    if (a->current)
        pw_json_num(o, "inspected", replica);
    pw_json_num(o, "seed", (double)a->seed);
    pw_json_num(o, "parameters", (double)a->n_params);
    pw_json_num(o, "swaps", a->swaps);
    if (a->parent > 0) {
        pw_json_num(o, "parent", a->parent);
        pw_json_num(o, "parent_step", (double)a->parent_step);
    }
}

static void eval_pairs(cJSON *row, const struct pw_eval_pair *pairs, int n, bool decoded)
{
    cJSON *list = cJSON_AddArrayToObject(row, "pairs");
    for (int i = 0; i < n; i++) {
        cJSON *pair = pw_json_add(list);
        pw_json_num(pair, "length_a", pairs[i].a);
        pw_json_num(pair, "length_b", pairs[i].b);
        pw_json_num(pair, "samples", pairs[i].samples);
        pw_json_num(pair, "exact", pairs[i].exact);
        pw_json_num(pair, "tokens", (double)pairs[i].tokens);
        pw_json_num(pair, "tokens_right", (double)pairs[i].tokens_right);
        if (decoded)
            pw_json_num(pair, "teacher_forced", pairs[i].taught);
    }
}

/* NaN, for a block without parameters, becomes null. */
static void updates(cJSON *o, const struct pw_ev_updates *u)
{
    cJSON *ratio = cJSON_AddObjectToObject(o, "ratio");
    char name[24];
    for (int i = 0; i < u->n; i++) {
        pw_block_name(name, i, u->n);
        pw_json_num(ratio, name, u->ratio[i]);
    }
}

static void digest(cJSON *o, const uint64_t bits[2])
{
    char text[33];
    pw_digest_text(text, bits);
    pw_json_str(o, "digest", text);
}

/* Writes counts of the first errors in answers, by kind and by token, up to the last token with errors. */
static void eval_errors(cJSON *row, const struct pw_eval_row *r)
{
    int n = PW_PLACES;
    pw_json_num(row, "early", r->errors[PW_ERROR_EARLY]);
    pw_json_num(row, "late", r->errors[PW_ERROR_LATE]);
    pw_json_num(row, "wrong", r->errors[PW_ERROR_WRONG]);
    while (n > 0 && r->places[n - 1] == 0)
        n--;
    pw_json_ints(row, "first_errors", r->places, n);
}

/* Writes one digit per sample, 1 if it is right: "1101". */
static void eval_outcomes(cJSON *row, const struct pw_ev_eval *v, const struct pw_eval_row *r)
{
    char *text = pw_alloc((size_t)r->samples + 1, 1);
    for (int i = 0; i < r->samples; i++)
        text[i] = pw_eval_right(v, r, i) ? '1' : '0';
    pw_json_str(row, "outcomes", text);
    free(text);
}

static void eval(cJSON *o, const struct pw_ev_eval *v)
{
    cJSON *rows = cJSON_AddArrayToObject(o, "rows");
    cJSON_AddBoolToObject(o, "live", v->live);
    for (int i = 0; i < v->n; i++) {
        const struct pw_eval_row *r = &v->rows[i];
        cJSON *row = pw_json_add(rows);
        pw_json_num(row, "task", r->task);
        pw_json_num(row, "length", r->length);
        pw_json_num(row, "samples", r->samples);
        pw_json_num(row, "exact", r->exact);
        pw_json_num(row, "tokens", (double)r->tokens);
        pw_json_num(row, "tokens_right", (double)r->tokens_right);
        if (r->judge != PW_JUDGE_EXACT)
            pw_json_str(row, "judged", pw_judge_name(r->judge));
        if (r->judge == PW_JUDGE_DECODED)
            pw_json_num(row, "teacher_forced", r->taught);
        if (r->seen)
            cJSON_AddTrueToObject(row, "seen");
        if (r->n_pairs > 0)
            eval_pairs(row, v->pairs + r->first_pair, r->n_pairs, r->judge == PW_JUDGE_DECODED);
        pw_json_num(row, "chance", r->chance);
        eval_errors(row, r);
        if (!v->live)
            eval_outcomes(row, v, r);
    }
}

static void failing(cJSON *o, const struct pw_ev_failing *v)
{
    pw_json_num(o, "task", v->task);
    pw_json_num(o, "length", v->length);
    pw_json_num(o, "failed", v->failed);
    pw_json_num(o, "samples", v->samples);
    pw_json_num(o, "eval_step", (double)v->eval_step);
    cJSON *list = cJSON_AddArrayToObject(o, "examples");
    for (int i = 0; i < v->n; i++) {
        const struct pw_failing *x = &v->list[i];
        cJSON *one = pw_json_add(list);
        pw_json_num(one, "index", x->index);
        if (x->place >= 0) {
            pw_json_str(one, "error", pw_error_name(x->kind));
            pw_json_num(one, "place", x->place);
            pw_json_str(one, "want", x->want);
            pw_json_str(one, "got", x->got);
        }
        pw_json_str(one, "prompt", x->prompt);
        pw_json_str(one, "right", x->right);
        pw_json_str(one, "model", x->model);
    }
}

static void prompt(cJSON *o, const struct pw_ev_prompt *p)
{
    pw_json_num(o, "id", p->id);
    pw_json_str(o, "text", p->text);
    pw_json_num(o, "n_prompt", p->n_prompt);
    if (p->drawn) {
        pw_json_num(o, "length", p->length);
        pw_json_num(o, "sample", (double)p->sample);
    }
    cJSON *tokens = cJSON_AddArrayToObject(o, "tokens");
    for (int i = 0; i < p->n; i++)
        cJSON_AddItemToArray(tokens, cJSON_CreateString(p->labels[i]));
}

static void token(cJSON *o, const struct pw_ev_token *t)
{
    pw_json_num(o, "prompt", t->prompt);
    pw_json_num(o, "pos", t->pos);
    pw_json_str(o, "token", t->label);
    pw_json_num(o, "prob", t->prob);
    pw_json_num(o, "logit", t->logit);
    pw_json_num(o, "entropy_bits", t->entropy);
    cJSON_AddBoolToObject(o, "right", t->right);
    if (t->target[0] != '\0')
        pw_json_str(o, "target", t->target);
    if (t->edited)
        cJSON_AddTrueToObject(o, "edited");
    if (t->last)
        cJSON_AddBoolToObject(o, "exact", t->exact);
    cJSON *top = cJSON_AddArrayToObject(o, "top");
    for (int i = 0; i < t->n_top; i++) {
        cJSON *one = pw_json_add(top);
        pw_json_str(one, "token", t->top_label[i]);
        pw_json_num(one, "prob", t->top_prob[i]);
    }
}

/* Omits the maps; `export attention` writes them. */
static void attention(cJSON *o, const struct pw_ev_attention *a)
{
    if (a->source[0] != '\0')
        pw_json_str(o, "source", a->source);
    else
        pw_json_num(o, "prompt", a->prompt);
    pw_json_num(o, "layer", a->layer);
    pw_json_num(o, "head", a->head);
    pw_json_num(o, "T", a->T);
    cJSON *gold = cJSON_AddArrayToObject(o, "gold");
    for (int i = 0; i < a->n_gold; i++)
        cJSON_AddItemToArray(gold, cJSON_CreateIntArray((int[]){a->gold[i].query, a->gold[i].key}, 2));
    cJSON *chance = cJSON_AddObjectToObject(o, "chance"), *heads = cJSON_AddArrayToObject(o, "heads");
    for (int k = 0; k < a->n_scores; k++)
        pw_json_num(chance, a->kinds[k].name, a->kinds[k].chance);
    for (int h = 0; a->scores != NULL && h < a->layers * a->heads; h++) {
        cJSON *head = pw_json_add(heads);
        pw_json_num(head, "layer", h / a->heads);
        pw_json_num(head, "head", h % a->heads);
        for (int k = 0; k < a->n_scores; k++)
            pw_json_num(head, a->kinds[k].name, a->scores[h * a->n_scores + k]);
    }
}

/* Omits the logits' parts and the lens; `export step` writes them. */
static void look(cJSON *o, const struct pw_ev_look *k)
{
    pw_json_num(o, "prompt", k->prompt);
    pw_json_num(o, "pos", k->pos);
    pw_json_str(o, "token", k->token[k->said].label);
    pw_json_num(o, "logit", k->token[k->said].logit);
    if (k->target >= 0)
        pw_json_str(o, "target", k->token[k->target].label);
    pw_json_num(o, "entropy_bits", k->entropy);
    pw_json_num(o, "worst_sum", k->worst);
}

static void table(cJSON *o, const struct pw_ev_table *t)
{
    pw_json_str(o, "pe", t->pe);
    pw_json_num(o, "length", t->length);
    pw_json_ints(o, "bucket", t->bucket, t->length);
    if (t->later > 0)
        pw_json_num(o, "later_buckets", t->later);
    pw_json_floats(o, "bias", t->bias, t->heads * t->length);
    pw_json_floats(o, "slopes", t->slopes, t->heads);
    pw_json_floats(o, "frequencies", t->frequencies, t->pairs);
    pw_json_floats(o, "added", t->added, t->length * t->width);
    if (t->added != NULL)
        cJSON_AddBoolToObject(o, "by_length", t->by_length);
    pw_json_num(o, "met_from", (double)t->met_from);
    pw_json_counts(o, "met", t->met, t->length);
    pw_json_counts(o, "rows", t->rows, t->length);
    pw_json_floats(o, "bucket_bias", t->bucket_bias, t->n_buckets * t->heads);
    pw_json_floats(o, "grad", t->grad, t->bucket != NULL ? t->n_buckets * t->heads : t->length);
    pw_json_num(o, "layer", t->layer);
    pw_json_num(o, "samples", t->n_kernel);
    if (t->keys != NULL)
        pw_json_num(o, "key_from", t->key_from);
    pw_json_floats(o, "keys", t->keys, t->n_keys * t->key_width);
    pw_json_counts(o, "key_met", t->key_met, t->n_keys);
    pw_json_floats(o, "key_grad", t->key_grad, t->n_keys);
    pw_table_json(o, t);
    pw_json_floats(o, "kernel", t->kernel, t->heads * t->length);
    pw_json_floats(o, "score", t->score, t->heads * t->length);
}

static void range(cJSON *o, const char *key, int lo, int hi)
{
    pw_json_ints(o, key, (int[]){lo, hi}, 2);
}

static void lab(cJSON *o, const struct pw_ev_lab *l)
{
    pw_json_str(o, "task", l->task);
    pw_json_str(o, "backend", l->backend);
    pw_json_num(o, "seed", (double)l->seed);
    if (l->epoch > 0.0)
        pw_json_num(o, "epoch", l->epoch);
    cJSON *tasks = cJSON_AddArrayToObject(o, "tasks");
    for (int i = 0; i < l->n_tasks; i++) {
        const struct pw_task_view *t = &l->tasks[i];
        cJSON *task = pw_json_add(tasks);
        pw_json_str(task, "name", t->name);
        range(task, "train", t->train_lo, t->train_hi);
        range(task, "test", t->test_lo, t->test_hi);
        if (t->data > 0)
            pw_json_num(task, "data", t->data);
        if (t->n_share > 0)
            pw_json_floats(task, "share", t->share, t->n_share);
        if (t->axis[0][0] != '\0') {
            pw_json_str(task, "length_a", t->axis[0]);
            pw_json_str(task, "length_b", t->axis[1]);
            range(task, "train_a", t->box_lo[0], t->box_hi[0]);
            range(task, "train_b", t->box_lo[1], t->box_hi[1]);
        }
    }
}

static void session(cJSON *o, const struct pw_ev_session *v)
{
    static const char *const how[] = {"none", "on", "paused", "read"};
    pw_json_str(o, "name", v->name);
    pw_json_str(o, "recording", how[v->how]);
    pw_json_str(o, "why", v->why);
    pw_json_num(o, "saved", (double)v->saved);
    pw_json_num(o, "bytes", (double)v->bytes);
    pw_json_num(o, "checkpoints", v->checkpoints);
}

static void heads(cJSON *o, const struct pw_ev_heads *h)
{
    cJSON *off = cJSON_AddArrayToObject(o, "off");
    pw_json_num(o, "layers", h->layers);
    pw_json_num(o, "heads", h->heads);
    for (int i = 0; h->mode != NULL && i < h->layers * h->heads; i++) {
        if (h->mode[i] == PW_ABLATE_NONE)
            continue;
        cJSON *one = pw_json_add(off);
        pw_json_num(one, "layer", i / h->heads);
        pw_json_num(one, "head", i % h->heads);
        pw_json_str(one, "mode", pw_ablation_names[h->mode[i]]);
    }
}

static void labels(cJSON *o, const char *key, char (*text)[PW_LABEL], int n)
{
    cJSON *list = cJSON_AddArrayToObject(o, key);
    for (int i = 0; i < n; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(text[i]));
}

static void patch(cJSON *o, const struct pw_ev_patch *p)
{
    pw_json_str(o, "what", p->kind == PW_PATCH_RESID ? "resid" : "heads");
    if (p->layer >= 0)
        pw_json_num(o, "layer", p->layer);
    if (p->head >= 0)
        pw_json_num(o, "head", p->head);
    if (p->pos >= 0)
        pw_json_num(o, "pos", p->pos);
    labels(o, "clean", p->clean, p->T);
    labels(o, "corrupt", p->corrupt, p->T);
    pw_json_str(o, "clean_token", p->clean_token);
    pw_json_str(o, "corrupt_token", p->corrupt_token);
    cJSON_AddBoolToObject(o, "greedy", p->greedy);
    pw_json_num(o, "m_clean", p->m_clean);
    pw_json_num(o, "m_corrupt", p->m_corrupt);
    pw_json_matrix(o, "recovery", p->recovery, p->rows, p->cols);
}

/* Returns true if events of this kind concern one replica of their arm. */
static bool of_replica(enum pw_event_kind kind)
{
    switch (kind) {
    case PW_EV_STEP:
    case PW_EV_UPDATES:
    case PW_EV_DIGEST:
    case PW_EV_EVAL:
    case PW_EV_HEADS:
    case PW_EV_FAILING:
    case PW_EV_PROMPT:
    case PW_EV_TOKEN:
    case PW_EV_CURSOR:
    case PW_EV_LOOK:
    case PW_EV_ATTENTION:
    case PW_EV_TABLE:
    case PW_EV_PATCH: return true;
    default: return false;
    }
}

void pw_report_json(FILE *out, const struct pw_event *e)
{
    static const char *const runs[] = {"idle", "training", "paused"}, *const jobs[] = {"running", "done",
                                                                                       "cancelled"};
    cJSON *o = cJSON_CreateObject();
    pw_json_num(o, "seq", (double)e->seq);
    pw_json_num(o, "time", (double)e->t_ns * 1e-9);
    pw_json_str(o, "kind", kinds[e->kind]);
    if (e->arm > 0) {
        pw_json_num(o, "arm", e->arm);
        pw_json_num(o, "step", (double)e->step);
    }
    if (of_replica(e->kind) && e->arm > 0)
        pw_json_num(o, "replicate", pw_event_replica(e));
    switch (e->kind) {
    case PW_EV_COMMAND: pw_json_str(o, "text", e->u.command.text); break;
    case PW_EV_LAB: lab(o, &e->u.lab); break;
    case PW_EV_ARM: arm(o, &e->u.arm, pw_event_replica(e)); break;
    case PW_EV_STATE:
        pw_json_str(o, "run", runs[e->u.state.run]);
        pw_json_num(o, "until", (double)e->u.state.until);
        pw_json_num(o, "steps_per_s", e->u.state.steps_per_s);
        if (e->u.state.epoch > 0.0)
            pw_json_num(o, "epoch", e->u.state.epoch);
        break;
    case PW_EV_STEP:
        pw_json_num(o, "loss", e->u.step.loss);
        pw_json_num(o, "accuracy", e->u.step.accuracy);
        pw_json_num(o, "lr", e->u.step.lr);
        pw_json_num(o, "grad_norm", e->u.step.grad_norm);
        pw_json_num(o, "flops", e->u.step.flops);
        break;
    case PW_EV_UPDATES: updates(o, &e->u.updates); break;
    case PW_EV_DIGEST: digest(o, e->u.digest); break;
    case PW_EV_EVAL: eval(o, &e->u.eval); break;
    case PW_EV_FAILING: failing(o, &e->u.failing); break;
    case PW_EV_PROMPT: prompt(o, &e->u.prompt); break;
    case PW_EV_TOKEN: token(o, &e->u.token); break;
    case PW_EV_CURSOR: token(o, &e->u.cursor.at); break;
    case PW_EV_LOOK: look(o, &e->u.look); break;
    case PW_EV_ATTENTION: attention(o, &e->u.attention); break;
    case PW_EV_TABLE: table(o, &e->u.table); break;
    case PW_EV_JOB:
        pw_json_str(o, "name", e->u.job.name);
        pw_json_str(o, "state", jobs[e->u.job.state]);
        pw_json_num(o, "done", (double)e->u.job.done);
        pw_json_num(o, "total", (double)e->u.job.total);
        break;
    case PW_EV_CHECKPOINT: pw_json_str(o, "text", e->u.checkpoint.text); break;
    case PW_EV_FILE:
        pw_json_str(o, "name", e->u.file.name);
        pw_json_num(o, "bytes", (double)e->u.file.bytes);
        break;
    case PW_EV_SESSION: session(o, &e->u.session); break;
    case PW_EV_ASKED:
    case PW_EV_MARK:
    case PW_EV_NOTE:
    case PW_EV_ERROR: pw_json_str(o, "text", e->u.text); break;
    case PW_EV_HEADS: heads(o, &e->u.heads); break;
    case PW_EV_PATCH: patch(o, &e->u.patch); break;
    case PW_EV_FINDING: pw_report_json_finding(o, &e->u.finding); break;
    case PW_EV_GAP: pw_json_num(o, "dropped", (double)e->u.gap); break;
    case PW_EV_DROP:
    case PW_EV_KINDS: break;
    }
    pw_json_line(out, o);
}
