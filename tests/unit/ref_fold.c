/* ref_fold.c - see ref_fold.h. */
#include "ref_fold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fold_and_free(struct pw_snapshot *s, struct pw_event *e)
{
    pw_fold(s, e);
    pw_event_free(e);
}

void put_text(struct pw_snapshot *s, enum pw_event_kind kind, const char *text)
{
    struct pw_event *e = pw_event_new(kind);
    if (kind == PW_EV_COMMAND)
        snprintf(e->u.command.text, sizeof e->u.command.text, "%s", text);
    else
        snprintf(e->u.text, sizeof e->u.text, "%s", text);
    fold_and_free(s, e);
}

void put_arm(struct pw_snapshot *s, int id, bool current, bool restarted, int64_t step, int swaps)
{
    struct pw_event *e = pw_event_new(PW_EV_ARM);
    e->arm = id;
    e->step = step;
    e->u.arm = (struct pw_ev_arm){
        .id = id, .current = current, .restarted = restarted, .step = step, .swaps = swaps, .name = "t5"};
    fold_and_free(s, e);
}

void put_step(struct pw_snapshot *s, int arm, int64_t step, float loss)
{
    struct pw_event *e = pw_event_new(PW_EV_STEP);
    e->arm = arm;
    e->step = step;
    e->u.step = (struct pw_ev_step){
        .loss = loss, .accuracy = 0.5f, .lr = 1e-3f, .grad_norm = 2, .flops = 3e9 * (double)step};
    fold_and_free(s, e);
}

void put_lab(struct pw_snapshot *s)
{
    struct pw_event *e = pw_event_new(PW_EV_LAB);
    e->u.lab.n_tasks = 1;
    e->u.lab.tasks[0] =
        (struct pw_task_view){.name = "sort", .train_lo = 2, .train_hi = 4, .test_lo = 5, .test_hi = 8};
    fold_and_free(s, e);
}

void put_eval(struct pw_snapshot *s, int arm, int64_t step, int rows)
{
    static const struct pw_eval_row all[] = {
        {.length = 2, .samples = 10, .exact = 10, .tokens = 30, .tokens_right = 30},
        {.length = 3,
         .samples = 10,
         .exact = 5,
         .tokens = 40,
         .tokens_right = 30,
         .seen = true,
         .n_pairs = 2},
        {.length = 8, .samples = 10, .tokens = 90, .tokens_right = 3},
        {.task = 7, .length = 3, .samples = 10, .exact = 10, .tokens = 9, .tokens_right = 9}, /* of no task */
    };
    struct pw_event *e = pw_event_new(PW_EV_EVAL);
    e->arm = arm;
    e->step = step;
    e->u.eval.n = rows;
    e->u.eval.rows = malloc(sizeof all);
    memcpy(e->u.eval.rows, all, sizeof all);
    e->u.eval.n_pairs = 2; /* the pairs of length 3 */
    e->u.eval.pairs = malloc(2 * sizeof *e->u.eval.pairs);
    e->u.eval.pairs[0] = (struct pw_eval_pair){.a = 3, .b = 1, .samples = 5, .exact = rows};
    e->u.eval.pairs[1] = (struct pw_eval_pair){.a = 3, .b = 2, .samples = 5, .exact = 5 - rows};
    fold_and_free(s, e);
}

void put_prompt(struct pw_snapshot *s, int id, int n)
{
    struct pw_event *e = pw_event_new(PW_EV_PROMPT);
    e->arm = 1;
    e->step = 3;
    e->u.prompt.id = id;
    e->u.prompt.n_prompt = e->u.prompt.n = n;
    e->u.prompt.tokens = calloc((size_t)n, sizeof *e->u.prompt.tokens);
    e->u.prompt.labels = calloc((size_t)n, sizeof *e->u.prompt.labels);
    fold_and_free(s, e);
}

void put_token(struct pw_snapshot *s, int prompt, int pos, bool last)
{
    struct pw_event *e = pw_event_new(PW_EV_TOKEN);
    e->u.token = (struct pw_ev_token){.prompt = prompt, .pos = pos, .token = pos * 2, .last = last};
    fold_and_free(s, e);
}

void put_attention(struct pw_snapshot *s, int T)
{
    struct pw_event *e = pw_event_new(PW_EV_ATTENTION);
    size_t map = (size_t)T * (size_t)T;
    e->arm = 1;
    e->u.attention = (struct pw_ev_attention){.T = T, .layers = 1, .heads = 2};
    e->u.attention.labels = calloc((size_t)T, sizeof *e->u.attention.labels);
    e->u.attention.probs = malloc(2 * map * sizeof(uint16_t));
    for (size_t i = 0; i < 2 * map; i++)
        e->u.attention.probs[i] = (uint16_t)(i + map);
    e->u.attention.score = calloc(map, sizeof(uint16_t));
    e->u.attention.content = calloc(map, sizeof(uint16_t));
    e->u.attention.bias = calloc(map, sizeof(uint16_t));
    fold_and_free(s, e);
}

void put_table(struct pw_snapshot *s, int length)
{
    struct pw_event *e = pw_event_new(PW_EV_TABLE);
    e->arm = 2;
    e->step = 9;
    e->u.table.length = length;
    e->u.table.bucket = calloc((size_t)length, sizeof *e->u.table.bucket);
    e->u.table.slopes = calloc(8, sizeof *e->u.table.slopes);
    fold_and_free(s, e);
}
