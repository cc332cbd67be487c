/* ref_screen.c - see ref_screen.h. Numbers come from small rational functions and an integer hash, so that
 * they are the same with every compiler and C library. */
#include "ref_screen.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAYERS 2
#define HEADS  4

static void fold(struct pw_snapshot *s, struct pw_event *e)
{
    e->seq = s->seq + 1;
    e->t_ns = (INT64_C(1790000000) + (int64_t)e->seq / 100) * 1000000000;
    pw_fold(s, e);
    pw_event_free(e);
}

static void *array(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p)
        abort();
    return p;
}

/* -1..1, the same for the same two numbers. */
static float noise(uint32_t a, uint32_t b)
{
    uint32_t h = a * 2654435761u ^ (b + 0x9e3779b9u) * 2246822519u;
    h ^= h >> 15, h *= 2654435761u, h ^= h >> 13;
    return (float)(h & 0xffff) / 32767.5f - 1;
}

void screen_note(struct pw_snapshot *s, enum pw_event_kind kind, const char *text)
{
    struct pw_event *e = pw_event_new(kind);
    if (kind == PW_EV_COMMAND)
        pw_text_copy(e->u.command.text, sizeof e->u.command.text, text);
    else
        pw_text_copy(e->u.text, sizeof e->u.text, text);
    fold(s, e);
}

void screen_command(struct pw_snapshot *s, const char *text)
{
    screen_note(s, PW_EV_COMMAND, text);
}

void screen_arm(struct pw_snapshot *s, int id, const char *name, const char *pe)
{
    struct pw_event *e = pw_event_new(PW_EV_ARM);
    e->arm = id;
    e->u.arm = (struct pw_ev_arm){.id = id,
                                  .layers = LAYERS,
                                  .heads = HEADS,
                                  .width = 64,
                                  .context = 128,
                                  .n_params = 102400,
                                  .replicates = s->arms[id - 1].used ? s->arms[id - 1].info.replicates : 1,
                                  .step = s->arms[id - 1].info.step};
    pw_text_copy(e->u.arm.name, sizeof e->u.arm.name, name);
    pw_text_copy(e->u.arm.pe, sizeof e->u.arm.pe, pe);
    pw_text_copy(e->u.arm.model, sizeof e->u.arm.model, "tiny 2x64 4 heads, 102 k");
    e->u.arm.swaps = s->arms[id - 1].used ? s->arms[id - 1].info.swaps + 1 : 0;
    e->u.arm.current = !s->arms[id - 1].used;
    fold(s, e);
}

static void step_of(struct pw_snapshot *s, int arm, int replicate, int64_t step, float loss)
{
    struct pw_event *e = pw_event_new(PW_EV_STEP);
    e->arm = arm, e->replicate = replicate, e->step = step;
    e->u.step = (struct pw_ev_step){.loss = loss,
                                    .accuracy = 1 / (1 + loss * loss),
                                    .lr = 1e-3f,
                                    .grad_norm = 0.3f + loss,
                                    .flops = 1e8 * (double)step * (10 + arm)};
    fold(s, e);
}

void screen_step(struct pw_snapshot *s, int arm, int64_t step, float loss)
{
    step_of(s, arm, 1, step, loss);
}

/* How well a replicate fares: 1 the first, others a little better or worse. */
static float luck(int arm, int replicate)
{
    return replicate == 1 ? 1 : 1 + 0.25f * noise((uint32_t)arm + 50, (uint32_t)replicate);
}

/* Which of a row's samples (64 at most) are wrong, how, and where: some where the trained answers would have
 * ended, the others here and there. The same samples are hard for all arms. */
static void go_wrong(struct pw_eval_row *row, uint64_t *outcomes, int arm)
{
    for (int i = 0; i < row->samples; i++) {
        int hard = i * 37 % row->samples; /* in the order of this the samples are right */
        uint32_t at = (uint32_t)(i * 31 + row->length * 7 + arm);
        if (hard < row->exact) {
            *outcomes |= UINT64_C(1) << i;
            continue;
        }
        enum pw_error kind = row->length > 8 && at % 3 == 0 ? PW_ERROR_EARLY
                             : at % 7 == 0                  ? PW_ERROR_LATE
                                                            : PW_ERROR_WRONG;
        row->errors[kind]++;
        row->places[kind == PW_ERROR_EARLY  ? 7 + at / 3 % 2
                    : kind == PW_ERROR_LATE ? (uint32_t)row->length
                                            : at / 3 % (uint32_t)row->length]++;
    }
}

static void eval(struct pw_snapshot *s, int arm, int replicate, int64_t step, int samples, bool live)
{
    /* How well each arm sorts what it has trained, and how far it carries beyond. */
    static const float skill[6] = {0, 0.72f, 0.97f, 1.12f, 1.0f, 0.9f},
                       reach[6] = {0, 0.3f, 0.8f, 1.0f, 0.35f, 0.12f};
    struct pw_event *e = pw_event_new(PW_EV_EVAL);
    float grown = (float)step / (float)(step + 150);
    int n = 0;

    e->arm = arm, e->replicate = replicate, e->step = step;
    e->u.eval.live = live;
    e->u.eval.draw = 7;
    e->u.eval.n_words = 15;
    e->u.eval.rows = array(15, sizeof *e->u.eval.rows);
    e->u.eval.outcomes = array(15, sizeof *e->u.eval.outcomes);
    for (int length = 2; length <= 16; length++) {
        float p = skill[arm] * grown * 1.25f / luck(arm, replicate) - 0.015f * (float)length;
        if (length > 8)
            p -= (float)(length - 8) * 0.13f * (1.15f - reach[arm]);
        p = p < 0 ? 0 : p > 1 ? 1 : p;
        int right = (int)lrintf(p * (float)samples);
        e->u.eval.rows[n] = (struct pw_eval_row){.length = length,
                                                 .samples = samples,
                                                 .exact = right,
                                                 .tokens = samples * (length + 1),
                                                 .tokens_right = samples * length + right,
                                                 .first_word = n};
        go_wrong(&e->u.eval.rows[n], &e->u.eval.outcomes[n], arm);
        n++;
    }
    e->u.eval.n = n;
    fold(s, e);
}

static void train(struct pw_snapshot *s, int replicates)
{
    static const float speed[6] = {0, 260, 120, 90, 100, 150},
                       floors[6] = {0, 0.42f, 0.06f, 0.02f, 0.05f, 0.12f};

    for (int step = 1; step <= 640; step++) {
        for (int i = 0; i < 5 * replicates; i++) {
            int arm = i % 5 + 1, replicate = i / 5 + 1;
            float x = (float)step / (speed[arm] * luck(arm, replicate));
            float loss = floors[arm] + (2.3f - floors[arm]) / (1 + x * x);
            loss *= 1 + 0.12f * noise((uint32_t)i + 1, (uint32_t)step);
            if (arm == 3 && step >= 400) /* swapped here: it has to find its way again */
                loss += 0.9f / (1 + (float)(step - 400) / 12);
            step_of(s, arm, replicate, step, loss);
            if (step % 50 == 0)
                eval(s, arm, replicate, step, 16, true);
        }
        if (step == 399)
            screen_arm(s, 3, "t5", "t5 buckets=8 distance=16");
    }
    for (int i = 0; i < 5 * replicates; i++)
        eval(s, i % 5 + 1, i / 5 + 1, 640, 64, false);
}

/* ---- attention: a head of each well known kind */

static float score(int layer, int head, int q, int k, int n_prompt)
{
    int d = q - k;

    switch (layer * HEADS + head) {
    case 0: return d == 1 ? 5.0f : 0.4f * noise((uint32_t)q, (uint32_t)k); /* previous token */
    case 1: return -0.5f * (float)d;                                       /* near */
    case 2: return k == 0 ? 3.5f : 0.0f;                                   /* a sink */
    case 3: return 0;                                                      /* everything alike */
    case 4: return d == 0 ? 3.0f : 0.0f;                                   /* itself */
    case 5:
        return q >= n_prompt - 1 && k > 0 && k < n_prompt - 1 /* the answer looks for its source */
                   ? 6.0f / (1 + 2.2f * (float)abs((k * 5 + 3) % 7 - (q - n_prompt + 1))) -
                         0.2f * (float)(d % 5)
                   : 0.8f * noise((uint32_t)k, (uint32_t)q);
    case 6: return d == 7 ? 4.0f : 0.3f * noise((uint32_t)q, (uint32_t)k + 9); /* a fixed offset */
    default: return 1.5f * noise((uint32_t)q + 40, (uint32_t)k);
    }
}

static float bias(int d)
{
    return 0.9f - 0.35f * (float)(d < 5 ? d : 5) + (d > 9 ? 0.6f : 0);
}

/* The more it has trained, the sharper a head looks. */
static struct pw_event *attention_event(int T, int n_prompt, const char *const *labels, int n_labels,
                                        int64_t step)
{
    static const char *const kinds[][2] = {
        {"previous token", ""}, {"induction", ""},   {"itself", ""}, {"first token", ""},
        {"gold pointers", ""},  {"entropy", "bits"}, {"spread", ""}, {"distance", "positions"}};
    double sharp = (double)step / 640;
    struct pw_event *e = pw_event_new(PW_EV_ATTENTION);
    struct pw_ev_attention *a = &e->u.attention;
    size_t square = (size_t)T * (size_t)T;

    e->arm = 3, e->step = step;
    *a = (struct pw_ev_attention){.prompt = 1,
                                  .T = T,
                                  .layers = LAYERS,
                                  .heads = HEADS,
                                  .layer = 1,
                                  .head = 1,
                                  .n_prompt = n_prompt,
                                  .biases = true};
    a->labels = array((size_t)T, sizeof *a->labels);
    for (int t = 0; t < T; t++)
        pw_text_copy(a->labels[t], PW_LABEL, labels[t % n_labels]);
    a->probs = array(LAYERS * HEADS * square, sizeof *a->probs);
    a->score = array(square, sizeof *a->score);
    a->content = array(square, sizeof *a->content);
    a->bias = array(square, sizeof *a->bias);
    for (int h = 0; h < LAYERS * HEADS; h++)
        for (int q = 0; q < T; q++) {
            double sum = 0;
            for (int k = 0; k <= q; k++)
                sum += exp(sharp * (double)score(h / HEADS, h % HEADS, q, k, n_prompt));
            for (int k = 0; k <= q; k++)
                a->probs[(size_t)h * square + (size_t)q * T + k] =
                    pw_half((float)(exp(sharp * (double)score(h / HEADS, h % HEADS, q, k, n_prompt)) / sum));
        }
    for (int q = 0; q < T; q++)
        for (int k = 0; k < T; k++) {
            size_t at = (size_t)q * T + k;
            a->score[at] = pw_half(k > q ? -INFINITY : score(1, 1, q, k, n_prompt));
            a->content[at] = pw_half(k > q ? -INFINITY : score(1, 1, q, k, n_prompt) - bias(q - k));
            a->bias[at] = pw_half(k > q ? 0 : bias(q - k));
        }
    a->n_scores = 8;
    a->scores = array(LAYERS * HEADS * 8, sizeof *a->scores);
    for (int k = 0; k < 8; k++) {
        pw_text_copy(a->kinds[k].name, sizeof a->kinds[k].name, kinds[k][0]);
        pw_text_copy(a->kinds[k].unit, sizeof a->kinds[k].unit, kinds[k][1]);
        a->kinds[k].chance = k == 5 ? 3.1f : k == 7 ? 6.5f : 0.12f;
        for (int h = 0; h < LAYERS * HEADS; h++) /* each but the last two is one kind more than another */
            a->scores[h * 8 + k] = k == 1 ? NAN : a->kinds[k].chance * (h == k ? 7 : 1 + 0.1f * (float)h);
    }
    a->gold = array((size_t)T, sizeof *a->gold);
    for (int q = n_prompt - 1; q < T && n_prompt > 8; q++)
        a->gold[a->n_gold++] = (struct pw_gold){q, (q * 3) % (n_prompt - 2) + 1};
    return e;
}

void screen_set_view(struct pw_snapshot *s, int layer, int head, enum pw_view view)
{
    s->attention.layer = layer, s->attention.head = head, s->attention.view = view;
}

static void pin(struct pw_snapshot *s, const char *text, const char *const *labels, int n, int n_prompt)
{
    struct pw_event *e = pw_event_new(PW_EV_PROMPT);

    e->arm = 3, e->step = 640;
    e->u.prompt = (struct pw_ev_prompt){.id = 1, .n = n, .n_prompt = n_prompt, .has_answer = true};
    pw_text_copy(e->u.prompt.text, sizeof e->u.prompt.text, text);
    e->u.prompt.tokens = array((size_t)n, sizeof(int));
    e->u.prompt.labels = array((size_t)n, sizeof *e->u.prompt.labels);
    for (int i = 0; i < n; i++)
        pw_text_copy(e->u.prompt.labels[i], PW_LABEL, labels[i]);
    fold(s, e);
}

static void decode(struct pw_snapshot *s, int pos, const char *label, float prob, bool right, bool last)
{
    static const char *const others[PW_TOP] = {" 4", " 3", " 9", "</s>", " 2"};
    struct pw_event *e = pw_event_new(PW_EV_TOKEN);
    struct pw_ev_token *t = &e->u.token;
    float left = 1 - prob;

    e->arm = 3, e->step = 640;
    *t = (struct pw_ev_token){.prompt = 1,
                              .pos = pos,
                              .prob = prob,
                              .entropy = 3 * left,
                              .n_top = PW_TOP,
                              .right = right,
                              .last = last,
                              .ended = last};
    pw_text_copy(t->label, PW_LABEL, label);
    pw_text_copy(t->target, PW_LABEL, s->prompt.labels[pos]);
    pw_text_copy(t->top_label[0], PW_LABEL, label);
    t->top_prob[0] = prob;
    for (int i = 1; i < PW_TOP; i++) {
        left *= 0.6f;
        pw_text_copy(t->top_label[i], PW_LABEL, others[i]);
        t->top_prob[i] = left;
    }
    fold(s, e);
}

/* The cursor stands at a token. */
static void point(struct pw_snapshot *s, int pos)
{
    struct pw_event *e = pw_event_new(PW_EV_CURSOR);

    e->arm = 3, e->step = 640;
    e->u.cursor.at = s->tokens[pos - s->prompt.n_prompt];
    fold(s, e);
}

/* What led to it: 14 candidates, the second of which is right, and parts that sum up to their logits. */
static void look(struct pw_snapshot *s, int pos)
{
    enum { N = 14, PARTS = 2 + LAYERS * (HEADS + 1) };
    static const char *const labels[N] = {" 4", " 5", " 9", " 3", "</s>", " 2",   " 1",
                                          " 8", " 6", " 7", " 0", " >",   "sort", "<pad>"};
    struct pw_event *e = pw_event_new(PW_EV_LOOK);
    struct pw_ev_look *k = &e->u.look;

    e->arm = 3, e->step = 640;
    *k = (struct pw_ev_look){.prompt = 1,
                             .pos = pos,
                             .temperature = 1,
                             .entropy = 1.62f,
                             .vocab = N,
                             .n = N,
                             .target = 1,
                             .n_parts = PARTS,
                             .layers = LAYERS,
                             .worst = 4e-7};
    k->token = array(N, sizeof *k->token);
    k->parts = array(PARTS, sizeof *k->parts);
    k->part = array(PARTS * N, sizeof *k->part);
    k->mean = array(PARTS, sizeof *k->mean);
    k->lens = array(LAYERS + 1, sizeof *k->lens);
    k->lens_prob = array((LAYERS + 1) * N, sizeof *k->lens_prob);
    k->lens_rank = array((LAYERS + 1) * N, sizeof *k->lens_rank);
    for (int i = 0; i < PARTS; i++) {
        struct pw_look_part *p = &k->parts[i];
        int l = (i - 1) / (HEADS + 1), h = (i - 1) % (HEADS + 1);
        *p = (struct pw_look_part){"embedding", -1, -1};
        if (i == PARTS - 1)
            snprintf(p->name, sizeof p->name, "biases");
        else if (i > 0 && h == HEADS)
            snprintf(p->name, sizeof p->name, "MLP %d", p->layer = l);
        else if (i > 0)
            snprintf(p->name, sizeof p->name, "head %d.%d", p->layer = l, p->head = h);
    }
    for (int j = 0; j < N; j++) {
        float logit = 6.25f - 0.375f * (float)j - (j > 1 ? 1.5f : 0),
              p = j == 0 ? 0.46f : 0.4f / (float)(j + j * j / 3);
        double left = (double)logit;
        k->token[j] = (struct pw_look_token){.token = N - 1 - j, .rank = j, .prob = p, .logit = logit};
        pw_text_copy(k->token[j].label, PW_LABEL, labels[j]);
        k->mean_logit += logit / N;
        for (int i = 0; i < PARTS; i++) {
            double add = i == PARTS - 1 ? left : (double)noise((uint32_t)i + 7, (uint32_t)j);
            k->part[i * N + j] = add;
            k->mean[i] += add / N;
            left -= add;
        }
        for (int l = 0; l <= LAYERS; l++) {
            k->lens_prob[l * N + j] = l == LAYERS ? p : 0.05f * (float)(j + l);
            k->lens_rank[l * N + j] = l == LAYERS ? j : N - 1 - j;
        }
    }
    for (int l = 0; l <= LAYERS; l++) {
        k->lens[l] = (struct pw_look_lens){.prob = l == LAYERS ? 0.46f : 0.3f, .entropy = 3.5f - (float)l};
        pw_text_copy(k->lens[l].label, PW_LABEL, l == LAYERS ? " 4" : " 9");
    }
    fold(s, e);
}

void screen_set_prompt(struct pw_snapshot *s, int T, const char *const *labels, int n_labels)
{
    int n_prompt = T / 2 + 1;
    const char **all = array((size_t)T, sizeof *all);

    for (int t = 0; t < T; t++)
        all[t] = labels[t % n_labels];
    pin(s, "made up", all, T, n_prompt < T ? n_prompt : T);
    free(all);
    fold(s, attention_event(T, n_prompt, labels, n_labels, 640));
}

static void pin_sort(struct pw_snapshot *s)
{
    static const char *const tokens[] = {"sort", " 3", " 1", " 4", " 1", " 5", " 9", " 2",  " >",
                                         " 1",   " 1", " 2", " 3", " 4", " 5", " 9", "</s>"};
    pin(s, "sort 3 1 4 1 5 9 2", tokens, 17, 9);
    decode(s, 9, " 1", 0.998f, true, false);
    decode(s, 10, " 1", 0.941f, true, false);
    decode(s, 11, " 2", 0.97f, true, false);
    decode(s, 12, " 3", 0.88f, true, false);
    decode(s, 13, " 4", 0.83f, true, false);
    decode(s, 14, " 4", 0.46f, false, false);
    decode(s, 15, " 9", 0.91f, true, false);
    decode(s, 16, "</s>", 0.62f, true, true);
    point(s, 14);
    look(s, 14);
    for (int64_t step = 0; step <= 640; step += 160)
        fold(s, attention_event(16, 9, tokens, 16, step));
}

/* ---- tables */

/* What training of 11 rows at most met: 1000 sequences of 5, 7, 9 and 11 rows each. */
static void met_of(struct pw_ev_table *t)
{
    t->met = array((size_t)t->length, sizeof *t->met);
    t->rows = array((size_t)t->length, sizeof *t->rows);
    for (int rows = 5; rows <= 11; rows += 2)
        for (int d = 0; d < rows && d < t->length; d++) {
            t->met[d] += INT64_C(1000) * (rows - d);
            t->rows[d] += 1000;
        }
    t->trained = 10;
}

/* The mean score wherever the samples had pairs, and the encoding's own part of it. */
static void kernel_of(struct pw_ev_table *t, bool own)
{
    t->layers = LAYERS, t->n_kernel = 16;
    t->score = array(HEADS * (size_t)t->length, sizeof(float));
    if (own)
        t->kernel = array(HEADS * (size_t)t->length, sizeof(float));
    for (int h = 0; h < HEADS; h++)
        for (int d = 0; d < t->length; d++) {
            size_t i = (size_t)h * (size_t)t->length + (size_t)d;
            float part = t->bias ? t->bias[i] : 0.8f / (1 + (float)(d * (h + 1))) - 0.1f * (float)(d % 6);
            if (own)
                t->kernel[i] = part;
            t->score[i] = d > 10 ? NAN : part + 0.3f * noise((uint32_t)d + 5, (uint32_t)h);
        }
}

static void buckets_of(struct pw_ev_table *t)
{
    static const int from[] = {0, 1, 2, 3, 4, 6, 8, 12, INT_MAX}; /* T5 8/16 */

    t->n_buckets = 8;
    t->bucket = array(32, sizeof(int));
    t->bucket_from = array(9, sizeof(int));
    memcpy(t->bucket_from, from, sizeof from);
    t->bucket_bias = array(8 * HEADS, sizeof(float));
    t->grad = array(8 * HEADS, sizeof(float));
    t->n_grad = 64;
    t->bias = array(HEADS * 32, sizeof(float));
    for (int b = 0; b < 8; b++)
        for (int h = 0; h < HEADS; h++) {
            t->bucket_bias[b * HEADS + h] = 1.4f * noise((uint32_t)h + 3, (uint32_t)b);
            t->grad[b * HEADS + h] = b < 7 ? 0.002f / (float)(b + h + 1) : 0;
        }
    for (int d = 0; d < 32; d++) {
        while (d >= from[t->bucket[d] + 1])
            t->bucket[d]++;
        for (int h = 0; h < HEADS; h++)
            t->bias[h * 32 + d] = t->bucket_bias[t->bucket[d] * HEADS + h];
    }
}

static void rows_of(struct pw_ev_table *t)
{
    t->added = array(32 * 64, sizeof(float));
    t->grad = array(32, sizeof(float));
    t->n_grad = 64;
    for (uint32_t p = 0; p < 32; p++) {
        t->grad[p] = p > 10 ? 0 : 0.001f / (float)(p + 1);
        for (uint32_t i = 0; i < 64; i++)
            t->added[p * 64 + i] = p > 10
                                       ? 0.02f * noise(p, i)
                                       : 0.2f * noise(i, 77) * (float)((int)(p * (i % 7 + 1)) % 13 - 6) / 6;
    }
}

void screen_set_table(struct pw_snapshot *s, enum screen_table kind)
{
    static const char *const names[] = {
        "", "none", "t5 buckets=8 distance=16", "alibi", "rotary base=10000", "learned"};
    static const int arms[] = {0, 1, 3, 2, 4, 5};
    static const float frequencies[8] = {1, 0.316f, 0.1f, 0.0316f, 0.01f, 0.00316f, 0.001f, 0.000316f};
    if (kind == SCREEN_AS_IS)
        return;
    struct pw_event *e = pw_event_new(PW_EV_TABLE);
    struct pw_ev_table *t = &e->u.table;

    e->arm = arms[kind], e->step = 640;
    *t = (struct pw_ev_table){.length = 32, .heads = HEADS, .width = 64};
    pw_text_copy(t->pe, sizeof t->pe, names[kind]);
    met_of(t);
    if (kind == SCREEN_T5) {
        buckets_of(t);
    } else if (kind == SCREEN_ALIBI) {
        t->slopes = array(HEADS, sizeof(float));
        t->bias = array(HEADS * 32, sizeof(float));
        for (int h = 0; h < HEADS; h++) {
            t->slopes[h] = 1.0f / (float)(4 << 2 * h);
            for (int d = 0; d < 32; d++)
                t->bias[h * 32 + d] = -t->slopes[h] * (float)d;
        }
    } else if (kind == SCREEN_ROTARY) {
        t->pairs = 8;
        t->frequencies = array(8, sizeof(float));
        memcpy(t->frequencies, frequencies, sizeof frequencies);
        t->parts = array(2 * HEADS * 8, sizeof(float));
        for (uint32_t i = 0; i < 2 * HEADS * 8; i++)
            t->parts[i] = noise(i, 9);
    } else if (kind == SCREEN_LEARNED) {
        rows_of(t);
    }
    kernel_of(t, kind != SCREEN_NONE);
    fold(s, e);
    e = pw_event_new(PW_EV_ARM);
    e->arm = arms[kind];
    e->u.arm = s->arms[arms[kind] - 1].info;
    e->u.arm.current = true;
    fold(s, e);
}

/* ---- lengths that are pairs, examples that went wrong */

void screen_set_pairs(struct pw_snapshot *s)
{
    struct pw_event *e = pw_event_new(PW_EV_LAB);
    e->u.lab = s->lab;
    e->u.lab.tasks[0] = (struct pw_task_view){.name = "addition",
                                              .train_lo = 2,
                                              .train_hi = 5,
                                              .test_lo = 6,
                                              .test_hi = 8,
                                              .axis = {"digits of the first number", "digits of the second"},
                                              .box_lo = {1, 1},
                                              .box_hi = {5, 5}};
    fold(s, e);
    for (int arm = 1; arm <= 5; arm++) {
        e = pw_event_new(PW_EV_EVAL);
        struct pw_ev_eval *v = &e->u.eval;
        e->arm = arm, e->step = 640;
        *v = (struct pw_ev_eval){.draw = 9, .n_words = 7};
        v->rows = array(7, sizeof *v->rows);
        v->pairs = array(64, sizeof *v->pairs);
        v->outcomes = array(7, sizeof *v->outcomes);
        for (int length = 2; length <= 8; length++) {
            struct pw_eval_row *row = &v->rows[v->n];
            *row = (struct pw_eval_row){.length = length,
                                        .samples = 60,
                                        .first_pair = v->n_pairs,
                                        .first_word = v->n,
                                        .chance = 0.1f};
            for (int k = 1; k < 2 * length; k++) { /* the larger of both is the length */
                int a = k < length ? k : length, b = k < length ? length : 2 * length - k;
                float p = 1.1f - 0.02f * (float)(a + b) - (a > 5 ? 0.2f * (float)(a - 5) : 0) -
                          (b > 5 ? 0.1f * (float)(b - 5) : 0) - (arm == 3 ? 0 : 0.08f);
                p = p < 0 ? 0 : p > 1 ? 1 : p;
                v->pairs[v->n_pairs++] = (struct pw_eval_pair){.a = a,
                                                               .b = b,
                                                               .samples = 4,
                                                               .exact = (int)lrintf(4 * p),
                                                               .tokens = 20,
                                                               .tokens_right = 19};
                row->exact += (int)lrintf(4 * p) * 60 / (4 * (2 * length - 1));
            }
            row->n_pairs = v->n_pairs - row->first_pair;
            go_wrong(row, &v->outcomes[v->n++], arm);
        }
        fold(s, e);
    }
}

void screen_set_failing(struct pw_snapshot *s, int n)
{
    struct pw_event *e = pw_event_new(PW_EV_FAILING);
    struct pw_ev_failing *f = &e->u.failing;
    e->arm = 3, e->step = 700;
    *f = (struct pw_ev_failing){.length = 12, .failed = n + 3, .samples = 64, .eval_step = 640, .n = n};
    f->list = array((size_t)n, sizeof *f->list);
    for (int i = 0; i < n; i++) {
        f->list[i] = (struct pw_failing){.index = 3 * i,
                                         .kind = (enum pw_error)(i % PW_ERRORS),
                                         .place = i % 5 == 4 ? -1 : i % 13,
                                         .n_answer = 13};
        pw_text_copy(f->list[i].want, PW_LABEL, "4");
        pw_text_copy(f->list[i].got, PW_LABEL, i % PW_ERRORS == PW_ERROR_EARLY ? "</s>" : "9");
        pw_text_copy(f->list[i].prompt, PW_LINE, "sort 4 1 7 9 0 2 4 4 8 1 6 3 >");
        pw_text_copy(f->list[i].right, PW_LINE, "0 1 1 2 3 4 4 4 6 7 8 9</s>");
        pw_text_copy(f->list[i].model, PW_LINE, "0 1 1 9");
    }
    fold(s, e);
}

/* ---- all of it */

struct pw_snapshot *screen_race(void)
{
    return screen_race_of(1);
}

struct pw_snapshot *screen_race_of(int replicates)
{
    struct pw_snapshot *s = pw_snapshot_new();
    struct pw_event *e = pw_event_new(PW_EV_LAB);

    e->u.lab.n_tasks = 1;
    e->u.lab.tasks[0] =
        (struct pw_task_view){.name = "sort",
                              .train_lo = 2,
                              .train_hi = 8,
                              .test_lo = 9,
                              .test_hi = 16,
                              .n_share = 7,
                              .share = {0.5f, 0.25f, 0.125f, 0.0625f, 0.03125f, 0.02f, 0.01f}};
    pw_text_copy(e->u.lab.task, sizeof e->u.lab.task, "sort lengths=2..8 test=9..16");
    pw_text_copy(e->u.lab.backend, sizeof e->u.lab.backend, "cpu: 2 threads, avx512");
    fold(s, e);
    screen_command(s, "race none,alibi,t5,rotary,learned");
    screen_arm(s, 1, "none", "none");
    screen_arm(s, 2, "alibi", "alibi");
    screen_arm(s, 3, "t5", "t5 buckets=8 distance=16");
    screen_arm(s, 4, "rotary", "rotary base=10000");
    screen_arm(s, 5, "learned", "learned");
    screen_command(s, "train 1000");
    for (int i = 0; i < 5; i++)
        s->arms[i].info.replicates = replicates;
    train(s, replicates);
    screen_command(s, "arm 3");
    e = pw_event_new(PW_EV_ARM); /* becomes the current one */
    e->arm = 3;
    e->u.arm = s->arms[2].info;
    e->u.arm.current = true;
    fold(s, e);
    screen_note(s, PW_EV_CHECKPOINT, "wrote race.safetensors, 1.2 MB");
    screen_note(s, PW_EV_ERROR, "pe: no encoding 'rotry'; did you mean 'rotary'?");
    screen_command(s, "prompt sort 3 1 4 1 5 9 2");
    pin_sort(s);
    screen_note(s, PW_EV_NOTE, "1 1 2 3 4 4 9: one of 8 tokens is wrong, the right answer is 1 1 2 3 4 5 9");
    screen_set_table(s, SCREEN_T5);
    for (int d = 0; d <= 17; d++) /* nothing on this screen lies beyond training */
        s->arms[2].table.met[d] += 500, s->arms[2].table.rows[d] += 500;
    s->arms[2].table.trained = 17;
    e = pw_event_new(PW_EV_STATE);
    e->u.state = (struct pw_ev_state){PW_RUN_TRAINING, 1000, 412, 4.4, 0};
    fold(s, e);
    return s;
}

struct pw_ui screen_ui(const struct pw_snapshot *s, enum pw_colors colors, bool utf8)
{
    struct pw_ui ui;

    pw_ui_init(&ui);
    ui.snap = s;
    ui.look = (struct pw_look){colors, utf8};
    return ui;
}
