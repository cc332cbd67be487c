#include "ui/report_json.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

#include "base/alloc.h"
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
};

static void num(cJSON *o, const char *key, double x)
{
    cJSON_AddNumberToObject(o, key, x);
}

static void str(cJSON *o, const char *key, const char *s)
{
    cJSON_AddStringToObject(o, key, s);
}

static void floats(cJSON *o, const char *key, const float *x, int n)
{
    if (x != NULL)
        cJSON_AddItemToObject(o, key, cJSON_CreateFloatArray(x, n));
}

static void counts(cJSON *o, const char *key, const int64_t *x, int n)
{
    if (x == NULL)
        return;
    cJSON *list = cJSON_AddArrayToObject(o, key);
    for (int i = 0; i < n; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber((double)x[i]));
}

static void arm(cJSON *o, const struct pw_ev_arm *a)
{
    str(o, "pe", a->pe);
    str(o, "model", a->model);
    cJSON_AddBoolToObject(o, "current", a->current);
    num(o, "replicates", a->replicates);
    num(o, "seed", (double)a->seed);
    num(o, "parameters", (double)a->n_params);
    num(o, "swaps", a->swaps);
    if (a->parent > 0) {
        num(o, "parent", a->parent);
        num(o, "parent_step", (double)a->parent_step);
    }
}

static void eval_pairs(cJSON *row, const struct pw_eval_pair *pairs, int n)
{
    cJSON *list = cJSON_AddArrayToObject(row, "pairs");
    for (int i = 0; i < n; i++) {
        cJSON *pair = cJSON_CreateObject();
        num(pair, "length_a", pairs[i].a);
        num(pair, "length_b", pairs[i].b);
        num(pair, "samples", pairs[i].samples);
        num(pair, "exact", pairs[i].exact);
        num(pair, "tokens", (double)pairs[i].tokens);
        num(pair, "tokens_right", (double)pairs[i].tokens_right);
        cJSON_AddItemToArray(list, pair);
    }
}

/* Not a number, where a block has no parameters, becomes null. */
static void updates(cJSON *o, const struct pw_ev_updates *u)
{
    cJSON *ratio = cJSON_AddObjectToObject(o, "ratio");
    char name[24];
    for (int i = 0; i < u->n; i++) {
        pw_block_name(name, i, u->n);
        num(ratio, name, u->ratio[i]);
    }
}

static void digest(cJSON *o, const uint64_t bits[2])
{
    char text[33];
    pw_digest_text(text, bits);
    str(o, "digest", text);
}

/* How many answers go wrong first in which way, and at which token, up to the last at which one does. */
static void eval_errors(cJSON *row, const struct pw_eval_row *r)
{
    int n = PW_PLACES;
    num(row, "early", r->errors[PW_ERROR_EARLY]);
    num(row, "late", r->errors[PW_ERROR_LATE]);
    num(row, "wrong", r->errors[PW_ERROR_WRONG]);
    while (n > 0 && r->places[n - 1] == 0)
        n--;
    cJSON_AddItemToObject(row, "first_errors", cJSON_CreateIntArray(r->places, n));
}

/* "1101": of each sample whether it is right. */
static void eval_outcomes(cJSON *row, const struct pw_ev_eval *v, const struct pw_eval_row *r)
{
    char *text = pw_alloc((size_t)r->samples + 1, 1);
    for (int i = 0; i < r->samples; i++)
        text[i] = pw_eval_right(v, r, i) ? '1' : '0';
    str(row, "outcomes", text);
    free(text);
}

static void eval(cJSON *o, const struct pw_ev_eval *v)
{
    cJSON *rows = cJSON_AddArrayToObject(o, "rows");
    cJSON_AddBoolToObject(o, "live", v->live);
    for (int i = 0; i < v->n; i++) {
        const struct pw_eval_row *r = &v->rows[i];
        cJSON *row = cJSON_CreateObject();
        num(row, "task", r->task);
        num(row, "length", r->length);
        num(row, "samples", r->samples);
        num(row, "exact", r->exact);
        num(row, "tokens", (double)r->tokens);
        num(row, "tokens_right", (double)r->tokens_right);
        if (r->seen)
            cJSON_AddTrueToObject(row, "seen");
        if (r->n_pairs > 0)
            eval_pairs(row, v->pairs + r->first_pair, r->n_pairs);
        num(row, "chance", r->chance);
        eval_errors(row, r);
        if (!v->live)
            eval_outcomes(row, v, r);
        cJSON_AddItemToArray(rows, row);
    }
}

static void failing(cJSON *o, const struct pw_ev_failing *v)
{
    num(o, "task", v->task);
    num(o, "length", v->length);
    num(o, "failed", v->failed);
    num(o, "samples", v->samples);
    num(o, "eval_step", (double)v->eval_step);
    cJSON *list = cJSON_AddArrayToObject(o, "examples");
    for (int i = 0; i < v->n; i++) {
        const struct pw_failing *x = &v->list[i];
        cJSON *one = cJSON_CreateObject();
        num(one, "index", x->index);
        if (x->place >= 0) {
            str(one, "error", pw_error_name(x->kind));
            num(one, "place", x->place);
            str(one, "want", x->want);
            str(one, "got", x->got);
        }
        str(one, "prompt", x->prompt);
        str(one, "right", x->right);
        str(one, "model", x->model);
        cJSON_AddItemToArray(list, one);
    }
}

static void prompt(cJSON *o, const struct pw_ev_prompt *p)
{
    num(o, "id", p->id);
    str(o, "text", p->text);
    num(o, "n_prompt", p->n_prompt);
    if (p->drawn) {
        num(o, "length", p->length);
        num(o, "sample", (double)p->sample);
    }
    cJSON *tokens = cJSON_AddArrayToObject(o, "tokens");
    for (int i = 0; i < p->n; i++)
        cJSON_AddItemToArray(tokens, cJSON_CreateString(p->labels[i]));
}

static void token(cJSON *o, const struct pw_ev_token *t)
{
    num(o, "prompt", t->prompt);
    num(o, "pos", t->pos);
    str(o, "token", t->label);
    num(o, "prob", t->prob);
    num(o, "logit", t->logit);
    num(o, "entropy_bits", t->entropy);
    cJSON_AddBoolToObject(o, "right", t->right);
    if (t->target[0] != '\0')
        str(o, "target", t->target);
    if (t->edited)
        cJSON_AddTrueToObject(o, "edited");
    if (t->last)
        cJSON_AddBoolToObject(o, "exact", t->exact);
    cJSON *top = cJSON_AddArrayToObject(o, "top");
    for (int i = 0; i < t->n_top; i++) {
        cJSON *one = cJSON_CreateObject();
        str(one, "token", t->top_label[i]);
        num(one, "prob", t->top_prob[i]);
        cJSON_AddItemToArray(top, one);
    }
}

/* The maps themselves: export attention. */
static void attention(cJSON *o, const struct pw_ev_attention *a)
{
    num(o, "prompt", a->prompt);
    num(o, "layer", a->layer);
    num(o, "head", a->head);
    num(o, "T", a->T);
    cJSON *gold = cJSON_AddArrayToObject(o, "gold");
    for (int i = 0; i < a->n_gold; i++)
        cJSON_AddItemToArray(gold, cJSON_CreateIntArray((int[]){a->gold[i].query, a->gold[i].key}, 2));
    cJSON *chance = cJSON_AddObjectToObject(o, "chance"), *heads = cJSON_AddArrayToObject(o, "heads");
    for (int k = 0; k < a->n_scores; k++)
        num(chance, a->kinds[k].name, a->kinds[k].chance);
    for (int h = 0; a->scores != NULL && h < a->layers * a->heads; h++) {
        cJSON *head = cJSON_CreateObject();
        num(head, "layer", h / a->heads);
        num(head, "head", h % a->heads);
        for (int k = 0; k < a->n_scores; k++)
            num(head, a->kinds[k].name, a->scores[h * a->n_scores + k]);
        cJSON_AddItemToArray(heads, head);
    }
}

/* The parts of the logits and the lens: export step. */
static void look(cJSON *o, const struct pw_ev_look *k)
{
    num(o, "prompt", k->prompt);
    num(o, "pos", k->pos);
    str(o, "token", k->token[k->said].label);
    num(o, "logit", k->token[k->said].logit);
    if (k->target >= 0)
        str(o, "target", k->token[k->target].label);
    num(o, "entropy_bits", k->entropy);
    num(o, "worst_sum", k->worst);
}

static void table(cJSON *o, const struct pw_ev_table *t)
{
    str(o, "pe", t->pe);
    num(o, "length", t->length);
    if (t->bucket != NULL)
        cJSON_AddItemToObject(o, "bucket", cJSON_CreateIntArray(t->bucket, t->length));
    floats(o, "bias", t->bias, t->heads * t->length);
    floats(o, "slopes", t->slopes, t->heads);
    floats(o, "frequencies", t->frequencies, t->pairs);
    floats(o, "added", t->added, t->length * t->width);
    num(o, "met_from", (double)t->met_from);
    counts(o, "met", t->met, t->length);
    counts(o, "rows", t->rows, t->length);
    floats(o, "bucket_bias", t->bucket_bias, t->n_buckets * t->heads);
    floats(o, "grad", t->grad, t->bucket != NULL ? t->n_buckets * t->heads : t->length);
    num(o, "layer", t->layer);
    num(o, "samples", t->n_kernel);
    floats(o, "kernel", t->kernel, t->heads * t->length);
    floats(o, "score", t->score, t->heads * t->length);
}

static void range(cJSON *o, const char *key, int lo, int hi)
{
    cJSON_AddItemToObject(o, key, cJSON_CreateIntArray((int[]){lo, hi}, 2));
}

static void lab(cJSON *o, const struct pw_ev_lab *l)
{
    str(o, "task", l->task);
    str(o, "backend", l->backend);
    num(o, "seed", (double)l->seed);
    if (l->epoch > 0.0)
        num(o, "epoch", l->epoch);
    cJSON *tasks = cJSON_AddArrayToObject(o, "tasks");
    for (int i = 0; i < l->n_tasks; i++) {
        const struct pw_task_view *t = &l->tasks[i];
        cJSON *task = cJSON_CreateObject();
        str(task, "name", t->name);
        range(task, "train", t->train_lo, t->train_hi);
        range(task, "test", t->test_lo, t->test_hi);
        if (t->data > 0)
            num(task, "data", t->data);
        if (t->n_share > 0)
            floats(task, "share", t->share, t->n_share);
        if (t->axis[0][0] != '\0') {
            str(task, "length_a", t->axis[0]);
            str(task, "length_b", t->axis[1]);
            range(task, "train_a", t->box_lo[0], t->box_hi[0]);
            range(task, "train_b", t->box_lo[1], t->box_hi[1]);
        }
        cJSON_AddItemToArray(tasks, task);
    }
}

static void session(cJSON *o, const struct pw_ev_session *v)
{
    static const char *const how[] = {"none", "on", "paused", "read"};
    str(o, "name", v->name);
    str(o, "recording", how[v->how]);
    str(o, "why", v->why);
    num(o, "saved", (double)v->saved);
    num(o, "bytes", (double)v->bytes);
    num(o, "checkpoints", v->checkpoints);
}

static void heads(cJSON *o, const struct pw_ev_heads *h)
{
    cJSON *off = cJSON_AddArrayToObject(o, "off");
    num(o, "layers", h->layers);
    num(o, "heads", h->heads);
    for (int i = 0; h->mode != NULL && i < h->layers * h->heads; i++) {
        if (h->mode[i] == PW_ABLATE_NONE)
            continue;
        cJSON *one = cJSON_CreateObject();
        num(one, "layer", i / h->heads);
        num(one, "head", i % h->heads);
        str(one, "mode", pw_ablation_names[h->mode[i]]);
        cJSON_AddItemToArray(off, one);
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
    str(o, "what", p->kind == PW_PATCH_RESID ? "resid" : "heads");
    if (p->layer >= 0)
        num(o, "layer", p->layer);
    if (p->head >= 0)
        num(o, "head", p->head);
    if (p->pos >= 0)
        num(o, "pos", p->pos);
    labels(o, "clean", p->clean, p->T);
    labels(o, "corrupt", p->corrupt, p->T);
    str(o, "clean_token", p->clean_token);
    str(o, "corrupt_token", p->corrupt_token);
    cJSON_AddBoolToObject(o, "greedy", p->greedy);
    num(o, "m_clean", p->m_clean);
    num(o, "m_corrupt", p->m_corrupt);
    cJSON *map = cJSON_AddArrayToObject(o, "recovery");
    for (int r = 0; r < p->rows; r++)
        cJSON_AddItemToArray(map, cJSON_CreateFloatArray(p->recovery + (size_t)r * p->cols, p->cols));
}

void pw_report_json(FILE *out, const struct pw_event *e)
{
    static const char *const runs[] = {"idle", "training", "paused"}, *const jobs[] = {"running", "done",
                                                                                       "cancelled"};
    cJSON *o = cJSON_CreateObject();
    num(o, "seq", (double)e->seq);
    num(o, "time", (double)e->t_ns * 1e-9);
    str(o, "kind", kinds[e->kind]);
    if (e->arm > 0) {
        num(o, "arm", e->arm);
        num(o, "step", (double)e->step);
    }
    if (e->kind == PW_EV_STEP || e->kind == PW_EV_UPDATES || e->kind == PW_EV_DIGEST ||
        e->kind == PW_EV_EVAL || e->kind == PW_EV_HEADS)
        num(o, "replicate", e->replicate > 1 ? e->replicate : 1);
    switch (e->kind) {
    case PW_EV_COMMAND: str(o, "text", e->u.command.text); break;
    case PW_EV_LAB: lab(o, &e->u.lab); break;
    case PW_EV_ARM: arm(o, &e->u.arm); break;
    case PW_EV_STATE:
        str(o, "run", runs[e->u.state.run]);
        num(o, "until", (double)e->u.state.until);
        num(o, "steps_per_s", e->u.state.steps_per_s);
        if (e->u.state.epoch > 0.0)
            num(o, "epoch", e->u.state.epoch);
        break;
    case PW_EV_STEP:
        num(o, "loss", e->u.step.loss);
        num(o, "accuracy", e->u.step.accuracy);
        num(o, "lr", e->u.step.lr);
        num(o, "grad_norm", e->u.step.grad_norm);
        num(o, "flops", e->u.step.flops);
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
        str(o, "name", e->u.job.name);
        str(o, "state", jobs[e->u.job.state]);
        num(o, "done", (double)e->u.job.done);
        num(o, "total", (double)e->u.job.total);
        break;
    case PW_EV_CHECKPOINT: str(o, "text", e->u.checkpoint.text); break;
    case PW_EV_FILE:
        str(o, "name", e->u.file.name);
        num(o, "bytes", (double)e->u.file.bytes);
        break;
    case PW_EV_SESSION: session(o, &e->u.session); break;
    case PW_EV_ASKED:
    case PW_EV_MARK:
    case PW_EV_NOTE:
    case PW_EV_ERROR: str(o, "text", e->u.text); break;
    case PW_EV_HEADS: heads(o, &e->u.heads); break;
    case PW_EV_PATCH: patch(o, &e->u.patch); break;
    case PW_EV_GAP: num(o, "dropped", (double)e->u.gap); break;
    case PW_EV_DROP:
    case PW_EV_KINDS: break;
    }
    char *text = cJSON_PrintUnformatted(o);
    fprintf(out, "%s\n", text);
    free(text);
    cJSON_Delete(o);
}
