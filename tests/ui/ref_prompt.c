/* ref_prompt.c - the pinned prompt of the fabricated lab: its attention, its answer, and the contributions to
 * a token. */
#include "ref_screen_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- attention: a head of each well-known kind */

static float score(int layer, int head, int q, int k, int n_prompt)
{
    int d = q - k;

    switch (layer * HEADS + head) {
    case 0: return d == 1 ? 5.0f : 0.4f * screen_noise((uint32_t)q, (uint32_t)k); /* previous token */
    case 1: return -0.5f * (float)d;                                              /* near keys */
    case 2: return k == 0 ? 3.5f : 0.0f;                                          /* attention sink */
    case 3: return 0;                                                             /* uniform */
    case 4: return d == 0 ? 3.0f : 0.0f;                                          /* the query itself */
    case 5:
        return q >= n_prompt - 1 && k > 0 && k < n_prompt - 1 /* from the answer to its source */
                   ? 6.0f / (1 + 2.2f * (float)abs((k * 5 + 3) % 7 - (q - n_prompt + 1))) -
                         0.2f * (float)(d % 5)
                   : 0.8f * screen_noise((uint32_t)k, (uint32_t)q);
    case 6: return d == 7 ? 4.0f : 0.3f * screen_noise((uint32_t)q, (uint32_t)k + 9); /* a fixed offset */
    default: return 1.5f * screen_noise((uint32_t)q + 40, (uint32_t)k);
    }
}

static float bias(int d)
{
    return 0.9f - 0.35f * (float)(d < 5 ? d : 5) + (d > 9 ? 0.6f : 0);
}

/* A head's attention gets sharper with the number of training steps. */
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
    a->labels = screen_array((size_t)T, sizeof *a->labels);
    for (int t = 0; t < T; t++)
        pw_text_copy(a->labels[t], PW_LABEL, labels[t % n_labels]);
    a->probs = screen_array(LAYERS * HEADS * square, sizeof *a->probs);
    a->score = screen_array(square, sizeof *a->score);
    a->content = screen_array(square, sizeof *a->content);
    a->bias = screen_array(square, sizeof *a->bias);
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
    a->scores = screen_array(LAYERS * HEADS * 8, sizeof *a->scores);
    for (int k = 0; k < 8; k++) {
        pw_text_copy(a->kinds[k].name, sizeof a->kinds[k].name, kinds[k][0]);
        pw_text_copy(a->kinds[k].unit, sizeof a->kinds[k].unit, kinds[k][1]);
        a->kinds[k].chance = k == 5 ? 3.1f : k == 7 ? 6.5f : 0.12f;
        for (int h = 0; h < LAYERS * HEADS; h++) /* all but the last two heads have a kind */
            a->scores[h * 8 + k] = k == 1 ? NAN : a->kinds[k].chance * (h == k ? 7 : 1 + 0.1f * (float)h);
    }
    a->gold = screen_array((size_t)T, sizeof *a->gold);
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
    e->u.prompt.tokens = screen_array((size_t)n, sizeof(int));
    e->u.prompt.labels = screen_array((size_t)n, sizeof *e->u.prompt.labels);
    for (int i = 0; i < n; i++)
        pw_text_copy(e->u.prompt.labels[i], PW_LABEL, labels[i]);
    screen_fold(s, e);
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
    screen_fold(s, e);
}

/* Sets the cursor to a token. */
static void point(struct pw_snapshot *s, int pos)
{
    struct pw_event *e = pw_event_new(PW_EV_CURSOR);

    e->arm = 3, e->step = 640;
    e->u.cursor.at = s->tokens[pos - s->prompt.n_prompt];
    screen_fold(s, e);
}

/* The inspection of a token: 14 candidates, the second of which is right, and parts that sum up to their
 * logits. */
static void look(struct pw_snapshot *s, int pos)
{
    enum { N = 14, PARTS = 2 + LAYERS * (HEADS + 1) };
    static const char *const labels[N] = {" 4", " 5", " 9", " 3", "</s>", " 2",   " 1",
                                          " 8", " 6", " 7", " 0", " >",   "sort", "<pad>"};
    struct pw_event *e = pw_event_new(PW_EV_LOOK);
    struct pw_ev_inspection *k = &e->u.look;

    e->arm = 3, e->step = 640;
    *k = (struct pw_ev_inspection){.prompt = 1,
                                   .pos = pos,
                                   .temperature = 1,
                                   .entropy = 1.62f,
                                   .vocab = N,
                                   .n = N,
                                   .target = 1,
                                   .n_parts = PARTS,
                                   .layers = LAYERS,
                                   .worst = 4e-7};
    k->token = screen_array(N, sizeof *k->token);
    k->parts = screen_array(PARTS, sizeof *k->parts);
    k->part = screen_array(PARTS * N, sizeof *k->part);
    k->mean = screen_array(PARTS, sizeof *k->mean);
    k->lens = screen_array(LAYERS + 1, sizeof *k->lens);
    k->lens_prob = screen_array((LAYERS + 1) * N, sizeof *k->lens_prob);
    k->lens_rank = screen_array((LAYERS + 1) * N, sizeof *k->lens_rank);
    for (int i = 0; i < PARTS; i++) {
        struct pw_inspection_part *p = &k->parts[i];
        int l = (i - 1) / (HEADS + 1), h = (i - 1) % (HEADS + 1);
        *p = (struct pw_inspection_part){"embedding", -1, -1};
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
        k->token[j] = (struct pw_inspection_token){.token = N - 1 - j, .rank = j, .prob = p, .logit = logit};
        pw_text_copy(k->token[j].label, PW_LABEL, labels[j]);
        k->mean_logit += logit / N;
        for (int i = 0; i < PARTS; i++) {
            double add = i == PARTS - 1 ? left : (double)screen_noise((uint32_t)i + 7, (uint32_t)j);
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
        k->lens[l] =
            (struct pw_inspection_lens){.prob = l == LAYERS ? 0.46f : 0.3f, .entropy = 3.5f - (float)l};
        pw_text_copy(k->lens[l].label, PW_LABEL, l == LAYERS ? " 4" : " 9");
    }
    screen_fold(s, e);
}

void screen_set_prompt(struct pw_snapshot *s, int T, const char *const *labels, int n_labels)
{
    int n_prompt = T / 2 + 1;
    const char **all = screen_array((size_t)T, sizeof *all);

    for (int t = 0; t < T; t++)
        all[t] = labels[t % n_labels];
    pin(s, "made up", all, T, n_prompt < T ? n_prompt : T);
    free(all);
    screen_fold(s, attention_event(T, n_prompt, labels, n_labels, 640));
}

void screen_import(struct pw_snapshot *s, int T, const char *const *labels, int n_labels)
{
    struct pw_event *e = attention_event(T, 0, labels, n_labels, 0);
    struct pw_ev_attention *a = &e->u.attention;
    size_t n = (size_t)LAYERS * HEADS * T * T;

    e->arm = 0;
    free(a->score), free(a->content), free(a->bias);
    a->score = a->content = a->bias = NULL;
    a->n_gold = 0, a->biases = false;
    pw_text_copy(a->source, sizeof a->source, "theirs.npz");
    a->all_scores = screen_array(n, sizeof *a->all_scores);
    for (size_t i = 0; i < n; i++)
        a->all_scores[i] = pw_half(1 + (float)(i / (size_t)(T * T)));
    screen_fold(s, e);
}

void screen_pin_sort(struct pw_snapshot *s)
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
        screen_fold(s, attention_event(16, 9, tokens, 16, step));
}
