/* ref_events.c - see ref_codec.h: the events whose bytes test_codec_format.c compares. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "ref_codec.h"

/* Copies an array for an event. */
#define COPY(type, ...) copy((type[]){__VA_ARGS__}, sizeof((type[]){__VA_ARGS__}))
#define LABELS(...)     (void *)copy((char[][PW_LABEL]){__VA_ARGS__}, sizeof((char[][PW_LABEL]){__VA_ARGS__}))

static void *copy(const void *p, size_t n)
{
    void *q = pw_alloc(n, 1);
    memcpy(q, p, n);
    return q;
}

static const struct pw_ev_token a_token = {.prompt = 3,
                                           .pos = 9,
                                           .token = 12,
                                           .label = "4",
                                           .prob = 0.5f,
                                           .logit = 2.25f,
                                           .entropy = 1.5f,
                                           .n_top = 2,
                                           .top_label = {"4", "é"},
                                           .top_prob = {0.5f, 0.25f},
                                           .right = true,
                                           .last = true,
                                           .exact = true,
                                           .ended = true,
                                           .edited = true,
                                           .target = "4"};

static void fill_eval(struct pw_ev_eval *v)
{
    *v = (struct pw_ev_eval){.n = 2, .n_pairs = 1, .live = true, .draw = 77, .n_words = 3};
    v->rows = COPY(struct pw_eval_row,
                   {.task = 0, .length = 3, .samples = 64, .exact = 64, .tokens = 200, .tokens_right = 200},
                   {.task = 1,
                    .length = 5,
                    .samples = 100,
                    .exact = 90,
                    .tokens = 600,
                    .tokens_right = 580,
                    .seen = true,
                    .first_pair = 0,
                    .n_pairs = 1,
                    .chance = 0.125f,
                    .errors = {1, 2, 7},
                    .places = {3, 4, [63] = 3},
                    .first_word = 1,
                    .judge = PW_JUDGE_DECODED,
                    .taught = 80});
    v->pairs = COPY(struct pw_eval_pair, {2, 3, 50, 45, 300, 290, 40});
    v->outcomes = COPY(uint64_t, ~UINT64_C(0), 5, UINT64_C(1) << 35);
}

static void fill_look(struct pw_ev_inspection *k)
{
    *k = (struct pw_ev_inspection){.prompt = 3,
                                   .pos = 9,
                                   .temperature = 1,
                                   .entropy = 1.5f,
                                   .vocab = 30,
                                   .mean_logit = -0.5f,
                                   .n = 2,
                                   .said = 1,
                                   .target = -1,
                                   .n_parts = 2,
                                   .worst = 1e-6,
                                   .layers = 1};
    k->token = COPY(struct pw_inspection_token, {12, 0, 0.5f, 2.25f, "4"}, {5, 1, 0.25f, 1.5f, "9"});
    k->parts = COPY(struct pw_inspection_part, {"head 0.1", 0, 1}, {"embedding", -1, -1});
    k->part = COPY(double, 1, 2, 3, 4);
    k->mean = COPY(double, 0.5, 0.25);
    k->lens = COPY(struct pw_inspection_lens, {"4", 0.5f, 1}, {"9", 0.25f, 2});
    k->lens_prob = COPY(float, 0.5f, 0.25f, 0.125f, 0.0625f);
    k->lens_rank = COPY(int32_t, 0, 1, 2, 200);
}

static void fill_attention(struct pw_ev_attention *a)
{
    *a = (struct pw_ev_attention){.prompt = 3,
                                  .T = 2,
                                  .layers = 1,
                                  .heads = 2,
                                  .layer = 0,
                                  .head = 1,
                                  .view = PW_VIEW_CP,
                                  .n_prompt = 1,
                                  .asked = true,
                                  .sees_all = true,
                                  .adds = true,
                                  .rotates = true,
                                  .biases = true,
                                  .gates = true,
                                  .samples = 64,
                                  .n_gold = 1,
                                  .n_scores = 2,
                                  .kinds = {{"gold", "", 0.5f}, {"entropy", "bits", NAN}},
                                  .source = "theirs.npz"};
    a->labels = LABELS("sort", "3");
    a->probs = COPY(uint16_t, 0x3c00, 0, 0x3800, 0x3800, 0x3c00, 0, 0x3400, 0x3a00);
    a->score = COPY(uint16_t, 1, 0xfc00, 2, 3);
    a->content = COPY(uint16_t, 4, 0xfc00, 5, 6);
    a->bias = COPY(uint16_t, 7, 0, 8, 9);
    a->gate = COPY(uint16_t, 0, 0, 10, 0);
    a->gate_values = COPY(float, 0.5f, 0.25f, 0.75f, 1);
    a->terms = COPY(uint16_t, 1, 0, 2, 3, 4, 0, 5, 6, 7, 0, 8, 9, 10, 0, 11, 12);
    a->gold = COPY(struct pw_gold, {1, 0});
    a->scores = COPY(float, 0.5f, 1, 0.25f, NAN);
    a->all_scores = COPY(uint16_t, 1, 0xfc00, 2, 3, 4, 0xfc00, 5, 6);
    a->pool = 2, a->side = 1;
    a->pooled = COPY(uint16_t, 0x3c00, 0x3a00);
    a->map = COPY(uint16_t, 0x3c00, 0, 0x3800, 0x3800);
    a->rests = true;
    a->positions = COPY(uint16_t, 0x3c00, 0, 0x4000, 0x3c00);
}

static void fill_table(struct pw_ev_table *t)
{
    *t = (struct pw_ev_table){.pe = "t5 buckets=2",
                              .length = 3,
                              .heads = 1,
                              .width = 2,
                              .pairs = 1,
                              .n_buckets = 2,
                              .trained = 2,
                              .met_from = 40,
                              .n_grad = 10,
                              .layer = 1,
                              .layers = 2,
                              .n_kernel = 16};
    t->bucket = COPY(int, 0, 1, 1);
    t->bucket_from = COPY(int, 0, 1, INT32_MAX);
    t->bucket_bias = COPY(float, 0.5f, -0.5f);
    t->bias = COPY(float, 0.5f, -0.5f, -0.5f);
    t->slopes = COPY(float, 0.25f);
    t->frequencies = COPY(float, 1);
    t->met = COPY(int64_t, 300, 200, 100);
    t->rows = COPY(int64_t, 30, 20, 10);
    t->grad = COPY(float, 0.125f, 0);
    t->kernel = COPY(float, 1, 2, 3);
    t->score = COPY(float, 4, 5, NAN);
    t->n_keys = 2, t->key_width = 1, t->key_from = -1;
    t->keys = COPY(float, 0.75f, -0.75f);
    t->key_met = COPY(int64_t, 50, 60);
    t->key_grad = COPY(float, 0.5f, 0.25f);
    t->parts = COPY(float, 6, 7);
    t->n_queries = 2, t->n_tensors = 2;
    t->queries = COPY(int, 0, 2);
    t->query_bias = COPY(float, 1, NAN, NAN, 3, 2, 1);
    t->tensors = COPY(struct pw_table_tensor, {"pe.c", 0, 1, 0.1f, NAN}, {"pe.w", 2, 1, 0.5f, 0.25f});
    t->fire_c = 0.5f, t->fire_factor = 0.75f, t->fire_threshold = 16, t->fire_from = 3, t->fire_step = 0.5f;
    t->by_layer = true;
    memcpy(t->order, "the tokens", sizeof "the tokens");
    t->n_params = 2, t->params_left = 1, t->param_steps = 7, t->n_learned = 3, t->n_entries = 2;
    t->params = COPY(struct pw_table_param, {"a", 2, 1, 1, 0, -1, 0}, {"T", 1, 1, 2, 2, 0, PW_ALONG_PAIRS});
    t->learned = COPY(float, 1.5f, -1.5f, 0.25f);
    t->learned_grads = COPY(float, 0.125f, 0, NAN);
    t->entries = COPY(float, 0.25f, -0.25f);
    t->entry_grads = COPY(float, 1, 2);
}

static void fill_patch(struct pw_ev_patch *p)
{
    *p = (struct pw_ev_patch){.kind = PW_PATCH_HEADS,
                              .layer = 1,
                              .head = 2,
                              .pos = -1,
                              .rows = 1,
                              .cols = 2,
                              .T = 2,
                              .n_prompt = 1,
                              .clean_token = "7",
                              .corrupt_token = "8",
                              .greedy = true,
                              .m_clean = 3,
                              .m_corrupt = -2,
                              .text = "head 1.1 brings back 0.75"};
    p->recovery = COPY(float, 0.25f, 0.75f);
    p->clean = LABELS("a", "b");
    p->corrupt = LABELS("a", "c");
}

static void fill_checkpoint(struct pw_ev_checkpoint *c)
{
    *c = (struct pw_ev_checkpoint){.text = "at step 500", .as_of = 1234, .n_files = 1, .bytes = 1 << 20};
    c->state = pw_text_dup("{\"seed\":1}");
    c->files = (void *)copy((uint8_t[PW_SHA256]){1, 2, 255}, PW_SHA256);
}

/* Has a block of each kind, a claim, a remark and the commands of a row. */
static void fill_finding(struct pw_finding *f)
{
    *f = (struct pw_finding){.name = "dispersion",
                             .topic = "2",
                             .title = "entropy, arm 2 alibi",
                             .n_blocks = 3,
                             .n_values = 10,
                             .n_labels = 6,
                             .n_claims = 1,
                             .n_remarks = 1,
                             .n_actions = 1};
    f->blocks = COPY(struct pw_block,
                     {.kind = PW_BLOCK_TABLE,
                      .title = "slope",
                      .y = "nats",
                      .rows = 1,
                      .cols = 2,
                      .decimals = -1,
                      .n_values = 2,
                      .n_labels = 3},
                     {.kind = PW_BLOCK_PLOT,
                      .title = "by length",
                      .x = "ln n",
                      .y = "nats",
                      .rows = 1,
                      .cols = 1,
                      .decimals = 3,
                      .band = true,
                      .log_x = true,
                      .log_y = true,
                      .n_reference = 1,
                      .n_values = 4,
                      .value = 2,
                      .n_labels = 1,
                      .label = 3},
                     {.kind = PW_BLOCK_MAP,
                      .title = "map",
                      .rows = 2,
                      .cols = 2,
                      .low = -0.5f,
                      .high = 1,
                      .n_values = 4,
                      .value = 6,
                      .label = 4});
    f->values = COPY(double, 0.5, NAN, 1, 2, 1.5, 2.5, 0, -0.5, 0.25, 1);
    f->labels = LABELS("head 0", "head 1?", "layer 0", "\xc3\xa9", "", "b");
    f->claims = COPY(struct pw_claim, {PW_CLAIM_INCONCLUSIVE, "it keeps its grip", "0.5, below 0.8"});
    f->remarks = COPY(struct pw_remark, {"Eq. 12 as printed"});
    f->actions = COPY(struct pw_action, {2, 1, "arm 1; fork; tune distance=20"});
}

struct pw_event *codec_full(enum pw_event_kind kind)
{
    struct pw_event *e = pw_event_new(kind);
    switch (kind) {
    case PW_EV_COMMAND:
        strcpy(e->u.command.text, "train 1000");
        e->u.command.at[0] = 500, e->u.command.at[7] = 499, e->u.command.behind[7] = 2;
        e->u.command.known = e->u.command.answered = true;
        e->u.command.training[0] = 0x8001, e->u.command.checking[0] = 0x8000;
        e->u.command.training[1] = 0x101, e->u.command.checking[1] = 0x100;
        strcpy(e->u.command.job, "eval");
        break;
    case PW_EV_LAB:
        e->u.lab = (struct pw_ev_lab){
            .task = "sort", .backend = "cpu: 2 threads", .seed = 7, .epoch = 1.5, .n_tasks = 1};
        e->u.lab.tasks[0] = (struct pw_task_view){.name = "sort",
                                                  .train_lo = 1,
                                                  .train_hi = 2,
                                                  .test_lo = 3,
                                                  .test_hi = 8,
                                                  .data = 5000,
                                                  .axis = {"a", "b"},
                                                  .box_lo = {1, 2},
                                                  .box_hi = {3, 4},
                                                  .n_share = 2,
                                                  .share = {0.75f, 0.25f},
                                                  .prompt = "sort 2 1"};
        break;
    case PW_EV_ARM:
        e->u.arm = (struct pw_ev_arm){.id = 2,
                                      .current = true,
                                      .name = "t5",
                                      .pe = "t5 buckets=8",
                                      .model = "tiny 2x64",
                                      .replicas = 3,
                                      .seed = 1,
                                      .step = 500,
                                      .swaps = 1,
                                      .layers = 2,
                                      .heads = 8,
                                      .width = 64,
                                      .context = 128,
                                      .n_params = 102000,
                                      .restarted = true,
                                      .parent = 1,
                                      .parent_step = 400};
        break;
    case PW_EV_STATE: e->u.state = (struct pw_ev_state){PW_RUN_PAUSED, 1000, 412.5, -1, 2.5, true}; break;
    case PW_EV_STEP: e->u.step = (struct pw_ev_step){2.5f, 0.125f, 0.001f, INFINITY, 123456789}; break;
    case PW_EV_UPDATES: e->u.updates = (struct pw_ev_updates){3, {0.5f, 0, NAN}}; break;
    case PW_EV_DIGEST: e->u.digest[0] = 0x0123456789abcdef, e->u.digest[1] = 7; break;
    case PW_EV_EVAL: fill_eval(&e->u.eval); break;
    case PW_EV_PROMPT:
        e->u.prompt = (struct pw_ev_prompt){.id = 3,
                                            .text = "sort 3 1",
                                            .n_prompt = 2,
                                            .n = 3,
                                            .has_answer = true,
                                            .drawn = true,
                                            .task = -1,
                                            .length = 2,
                                            .sample = 17};
        e->u.prompt.tokens = COPY(int, 4, 3, 1);
        e->u.prompt.labels = LABELS("sort", "3", "");
        e->u.prompt.edited = COPY(bool, false, true);
        break;
    case PW_EV_TOKEN: e->u.token = a_token; break;
    case PW_EV_CURSOR: e->u.cursor = (struct pw_ev_cursor){true, a_token}; break;
    case PW_EV_LOOK: fill_look(&e->u.look); break;
    case PW_EV_ATTENTION: fill_attention(&e->u.attention); break;
    case PW_EV_TABLE: fill_table(&e->u.table); break;
    case PW_EV_JOB: e->u.job = (struct pw_ev_job){"eval", PW_JOB_CANCELLED, 5, 9}; break;
    case PW_EV_CHECKPOINT: fill_checkpoint(&e->u.checkpoint); break;
    case PW_EV_DROP: break;
    case PW_EV_MARK:
    case PW_EV_NOTE:
    case PW_EV_ERROR:
    case PW_EV_ASKED: strcpy(e->u.text, "né"); break;
    case PW_EV_GAP: e->u.gap = 300; break;
    case PW_EV_HEADS: e->u.heads = (struct pw_ev_heads){1, 4, COPY(uint8_t, 0, 1, 2, 3)}; break;
    case PW_EV_PATCH: fill_patch(&e->u.patch); break;
    case PW_EV_FAILING:
        e->u.failing = (struct pw_ev_failing){1, 12, 3, 256, 500, 1, NULL};
        e->u.failing.list = copy(&(struct pw_failing){17, PW_ERROR_LATE, -1, 4, "4", "9", "sort 4", "4", "9"},
                                 sizeof(struct pw_failing));
        break;
    case PW_EV_FILE: e->u.file = (struct pw_ev_file){"data.txt", {9, 8, [31] = 7}, 4096}; break;
    case PW_EV_SESSION:
        e->u.session = (struct pw_ev_session){"a", "b/a.pewter", PW_REC_PAUSED, "full", true, 99, 4096, 3};
        break;
    case PW_EV_FINDING: fill_finding(&e->u.finding); break;
    case PW_EV_KINDS: break;
    }
    return e;
}

/* The second table: learned rows have no buckets. */
struct pw_event *codec_full_rows(void)
{
    struct pw_event *e = pw_event_new(PW_EV_TABLE);
    e->u.table = (struct pw_ev_table){
        .pe = "ldpe", .length = 2, .heads = 1, .width = 2, .n_grad = 3, .by_length = true};
    e->u.table.added = COPY(float, 1, 2, 3, 4);
    e->u.table.grad = COPY(float, 0.5f, 0.25f);
    return e;
}
