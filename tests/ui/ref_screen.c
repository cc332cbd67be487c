/* ref_screen.c - see ref_screen.h. Numbers come from small rational functions and an integer hash, so that
 * they are the same with every compiler and C library. */
#include "ref_screen_int.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

void screen_fold(struct pw_snapshot *s, struct pw_event *e)
{
    e->seq = s->seq + 1;
    e->t_ns = (INT64_C(1790000000) + (int64_t)e->seq / 100) * 1000000000;
    pw_fold(s, e);
    pw_event_free(e);
}

void *screen_array(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (p == NULL)
        abort();
    return p;
}

/* A number in -1..1 that depends only on a and b. */
float screen_noise(uint32_t a, uint32_t b)
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
    else if (kind == PW_EV_PATCH)
        pw_text_copy(e->u.patch.text, sizeof e->u.patch.text, text);
    else
        pw_text_copy(e->u.text, sizeof e->u.text, text);
    screen_fold(s, e);
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
                                  .replicas = s->arms[id - 1].used ? s->arms[id - 1].info.replicas : 1,
                                  .step = s->arms[id - 1].info.step};
    pw_text_copy(e->u.arm.name, sizeof e->u.arm.name, name);
    pw_text_copy(e->u.arm.pe, sizeof e->u.arm.pe, pe);
    pw_text_copy(e->u.arm.model, sizeof e->u.arm.model, "tiny 2x64 4 heads, 102 k");
    e->u.arm.swaps = s->arms[id - 1].used ? s->arms[id - 1].info.swaps + 1 : 0;
    e->u.arm.current = !s->arms[id - 1].used;
    screen_fold(s, e);
}

static void step_of(struct pw_snapshot *s, int arm, int replica, int64_t step, float loss)
{
    struct pw_event *e = pw_event_new(PW_EV_STEP);
    e->arm = arm, e->replica = replica, e->step = step;
    e->u.step = (struct pw_ev_step){.loss = loss,
                                    .accuracy = 1 / (1 + loss * loss),
                                    .lr = 1e-3f,
                                    .grad_norm = 0.3f + loss,
                                    .flops = 1e8 * (double)step * (10 + arm)};
    screen_fold(s, e);
}

void screen_step(struct pw_snapshot *s, int arm, int64_t step, float loss)
{
    step_of(s, arm, 1, step, loss);
}

/* A replica's quality: 1 for the first, a little better or worse for others. */
static float luck(int arm, int replica)
{
    return replica == 1 ? 1 : 1 + 0.25f * screen_noise((uint32_t)arm + 50, (uint32_t)replica);
}

/* Chooses the wrong samples of a row (64 at most), and how and where each is wrong. Some are wrong where the
 * trained answers would have ended, the others anywhere. The same samples are hard for all arms. */
static void go_wrong(struct pw_eval_row *row, uint64_t *outcomes, int arm)
{
    for (int i = 0; i < row->samples; i++) {
        int hard = i * 37 % row->samples; /* samples are right in this order */
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

static void eval(struct pw_snapshot *s, int arm, int replica, int64_t step, int samples, bool live)
{
    /* Each arm's accuracy on trained lengths, and how far it generalises. */
    static const float skill[6] = {0, 0.72f, 0.97f, 1.12f, 1.0f, 0.9f},
                       reach[6] = {0, 0.3f, 0.8f, 1.0f, 0.35f, 0.12f};
    struct pw_event *e = pw_event_new(PW_EV_EVAL);
    float grown = (float)step / (float)(step + 150);
    int n = 0;

    e->arm = arm, e->replica = replica, e->step = step;
    e->u.eval.live = live;
    e->u.eval.draw = 7;
    e->u.eval.n_words = 15;
    e->u.eval.rows = screen_array(15, sizeof *e->u.eval.rows);
    e->u.eval.outcomes = screen_array(15, sizeof *e->u.eval.outcomes);
    for (int length = 2; length <= 16; length++) {
        float p = skill[arm] * grown * 1.25f / luck(arm, replica) - 0.015f * (float)length;
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
    screen_fold(s, e);
}

static void train(struct pw_snapshot *s, int replicas)
{
    static const float speed[6] = {0, 260, 120, 90, 100, 150},
                       floors[6] = {0, 0.42f, 0.06f, 0.02f, 0.05f, 0.12f};

    for (int step = 1; step <= 640; step++) {
        for (int i = 0; i < 5 * replicas; i++) {
            int arm = i % 5 + 1, replica = i / 5 + 1;
            float x = (float)step / (speed[arm] * luck(arm, replica));
            float loss = floors[arm] + (2.3f - floors[arm]) / (1 + x * x);
            loss *= 1 + 0.12f * screen_noise((uint32_t)i + 1, (uint32_t)step);
            if (arm == 3 && step >= 400) /* swapped at 400: it has to recover */
                loss += 0.9f / (1 + (float)(step - 400) / 12);
            step_of(s, arm, replica, step, loss);
            if (step % 50 == 0)
                eval(s, arm, replica, step, 16, true);
        }
        if (step == 399)
            screen_arm(s, 3, "t5", "t5 buckets=8 distance=16");
    }
    for (int i = 0; i < 5 * replicas; i++)
        eval(s, i % 5 + 1, i / 5 + 1, 640, 64, false);
}

/* ---- lengths that are pairs, examples with wrong answers */

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
    screen_fold(s, e);
    for (int arm = 1; arm <= 5; arm++) {
        e = pw_event_new(PW_EV_EVAL);
        struct pw_ev_eval *v = &e->u.eval;
        e->arm = arm, e->step = 640;
        *v = (struct pw_ev_eval){.draw = 9, .n_words = 7};
        v->rows = screen_array(7, sizeof *v->rows);
        v->pairs = screen_array(64, sizeof *v->pairs);
        v->outcomes = screen_array(7, sizeof *v->outcomes);
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
        screen_fold(s, e);
    }
}

void screen_set_failing(struct pw_snapshot *s, int n)
{
    struct pw_event *e = pw_event_new(PW_EV_FAILING);
    struct pw_ev_failing *f = &e->u.failing;
    e->arm = 3, e->step = 700;
    *f = (struct pw_ev_failing){.length = 12, .failed = n + 3, .samples = 64, .eval_step = 640, .n = n};
    f->list = screen_array((size_t)n, sizeof *f->list);
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
    screen_fold(s, e);
}

/* ---- the whole race */

struct pw_snapshot *screen_race(void)
{
    return screen_race_of(1);
}

struct pw_snapshot *screen_race_of(int replicas)
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
                              .prompt = "sort 3 1 4 1 5",
                              .n_share = 7,
                              .share = {0.5f, 0.25f, 0.125f, 0.0625f, 0.03125f, 0.02f, 0.01f}};
    pw_text_copy(e->u.lab.task, sizeof e->u.lab.task, "sort lengths=2..8 test=9..16");
    pw_text_copy(e->u.lab.backend, sizeof e->u.lab.backend, "cpu: 2 threads, avx512");
    screen_fold(s, e);
    screen_command(s, "race none,alibi,t5,rotary,learned");
    screen_arm(s, 1, "none", "none");
    screen_arm(s, 2, "alibi", "alibi");
    screen_arm(s, 3, "t5", "t5 buckets=8 distance=16");
    screen_arm(s, 4, "rotary", "rotary base=10000");
    screen_arm(s, 5, "learned", "learned");
    screen_command(s, "train 1000");
    for (int i = 0; i < 5; i++)
        s->arms[i].info.replicas = replicas;
    train(s, replicas);
    screen_command(s, "arm 3");
    e = pw_event_new(PW_EV_ARM); /* makes it the current arm */
    e->arm = 3;
    e->u.arm = s->arms[2].info;
    e->u.arm.current = true;
    screen_fold(s, e);
    screen_note(s, PW_EV_CHECKPOINT, "wrote race.safetensors, 1.2 MB");
    screen_note(s, PW_EV_ERROR, "pe: no encoding 'rotry'; did you mean 'rotary'?");
    screen_command(s, "prompt sort 3 1 4 1 5 9 2");
    screen_pin_sort(s);
    screen_note(s, PW_EV_NOTE, "1 1 2 3 4 4 9: one of 8 tokens is wrong, the right answer is 1 1 2 3 4 5 9");
    screen_set_table(s, SCREEN_T5);
    for (int d = 0; d <= 17; d++) /* every distance on this screen was seen in training */
        s->arms[2].table.met[d] += 500, s->arms[2].table.rows[d] += 500;
    s->arms[2].table.trained = 17;
    e = pw_event_new(PW_EV_STATE);
    e->u.state = (struct pw_ev_state){PW_RUN_TRAINING, 1000, 412, 4.4, 0, false};
    screen_fold(s, e);
    return s;
}

void screen_point(struct pw_replica_view *rep, float value)
{
    struct pw_ev_step v = {.loss = value, .accuracy = value, .lr = value, .grad_norm = value};
    struct pw_series *r = &rep->series;
    int64_t step = r->n > 0 ? r->step[r->n - 1] + 1 : 1;
    v.flops = 1e9 * (double)step;
    pw_series_add(r, step, 10 * (double)step, &v);
}

struct pw_ui screen_ui(const struct pw_snapshot *s, enum pw_colors colors, bool utf8)
{
    struct pw_ui ui;

    pw_ui_init(&ui);
    ui.snap = s;
    ui.look = (struct pw_abilities){colors, utf8, false};
    return ui;
}

void screen_line(struct pw_ui *ui, const char *keys, const char *want)
{
    struct pw_str line = {0};
    struct pw_canvas c;

    pw_canvas_init(&c);
    pw_canvas_resize(&c, 30, 100);
    for (; *keys; keys++) {
        pw_str_clear(&line);
        assert_true(pw_ui_key(ui, *keys, &line));
        pw_ui_frame(ui, &c);
    }
    assert_string_equal(pw_str_text(&line), want);
    pw_str_fini(&line);
    pw_canvas_fini(&c);
}
