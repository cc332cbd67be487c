/* ref_codec.c - see ref_codec.h. The codec's own tables fill the events, so new fields are covered. Another
 * test checks that every member is a field. */
#include "ref_codec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/mix.h"
#include "sessions/paired.h"
#include "ui/ui.h"

uint64_t codec_next(uint64_t *rng) /* splitmix64 */
{
    return pw_mix64(*rng += UINT64_C(0x9e3779b97f4a7c15));
}

static bool is_count(const struct pw_message *m, const struct pw_field *f)
{
    for (int i = 0; i < m->n; i++)
        for (int k = 0; k < 4; k++)
            if (m->fields[i].by[k].member == f->at + 1)
                return true;
    return false;
}

static int64_t number(const struct pw_field *f, bool small, uint64_t *rng)
{
    uint64_t r = codec_next(rng);
    int64_t lo = f->lo, hi = f->hi;
    if (f->type == PW_F_BOOL)
        return (int64_t)(r & 1);
    if (f->type == PW_F_INT)
        lo = lo < INT32_MIN ? INT32_MIN : lo, hi = hi > INT32_MAX ? INT32_MAX : hi;
    if (small)
        lo = lo > 0 ? lo : 0, hi = hi < 5 ? hi : 5;
    else
        r >>= codec_next(rng) % 64; /* numbers of any magnitude */
    uint64_t span = (uint64_t)hi - (uint64_t)lo;
    return (int64_t)((uint64_t)lo + (span == UINT64_MAX ? r : r % (span + 1)));
}

static void text(char *dst, size_t size, uint64_t *rng)
{
    static const char *const signs[] = {"a", "7", " ", "\"", "é", "∆", "\U0001f600"};
    size_t n = codec_next(rng) % size, used = 0;
    dst[0] = '\0';
    for (;;) {
        const char *s = signs[codec_next(rng) % 7];
        if (used + strlen(s) > n)
            return;
        strcpy(dst + used, s);
        used += strlen(s);
    }
}

static void fill(const struct pw_message *m, char *base, uint64_t *rng);

static void fill_one(const struct pw_field *f, char *p, bool small, uint64_t *rng)
{
    if (f->type == PW_F_STRUCT) {
        fill(f->of, p, rng);
    } else if (f->type == PW_F_TEXT) {
        text(p, f->size, rng);
    } else if (f->type == PW_F_STRING) {
        char *s = pw_alloc(1000, 1);
        text(s, 1000, rng);
        memcpy(p, &s, sizeof s);
    } else if (f->type == PW_F_BYTE) {
        pw_store_bits(f->type, p, (uint64_t)number(f, false, rng));
    } else if (f->type <= PW_F_LONG) {
        pw_store_number(f->type, p, number(f, small, rng));
    } else {
        pw_store_bits(f->type, p, codec_next(rng));
    }
}

static size_t count(const struct pw_field *f, const char *base)
{
    size_t n = 1;
    if (f->count != NULL)
        return (size_t)f->count(base);
    for (int i = 0; i < 4 && (f->by[i].member > 0 || f->by[i].add > 0); i++)
        n *= (size_t)(f->by[i].add +
                      (f->by[i].member > 0 ? pw_load_number(PW_F_INT, base + f->by[i].member - 1) : 0));
    return n;
}

static void fill(const struct pw_message *m, char *base, uint64_t *rng)
{
    for (int i = 0; i < m->n; i++) {
        const struct pw_field *f = &m->fields[i];
        char *p = base + f->at;
        if (f->form == PW_FORM_ONE) {
            fill_one(f, p, is_count(m, f), rng);
            continue;
        }
        size_t n = f->form == PW_FORM_LIST ? (size_t)f->most : count(f, base);
        if (f->form == PW_FORM_ARRAY) {
            if (n == 0 || (!f->needed && codec_next(rng) % 8 == 0))
                continue;
            p = pw_alloc(n, f->size);
            memcpy(base + f->at, &p, sizeof p);
        }
        for (size_t k = 0; k < n; k++)
            fill_one(f, p + k * f->size, false, rng);
    }
}

/* Each block has the values and names of its shape. They begin where those of the block before end. */
static void agree_finding(struct pw_finding *f, uint64_t *rng)
{
    int values = 0, labels = 0;
    for (int i = 0; i < f->n_blocks; i++) {
        struct pw_block *b = &f->blocks[i];
        b->rows %= 6, b->cols %= 5;
        b->n_reference = b->cols > 0 ? b->n_reference % b->cols : 0;
        bool plot = b->kind == PW_BLOCK_PLOT;
        b->n_values = b->rows * (plot ? 1 + b->cols * (b->band ? 3 : 1) : b->cols);
        b->n_labels = plot                                              ? b->cols
                      : b->kind == PW_BLOCK_MAP && b->n_labels % 2 == 0 ? 0
                                                                        : b->rows + b->cols;
        b->value = values, b->label = labels;
        values += b->n_values, labels += b->n_labels;
    }
    f->values = pw_grow(f->values, (size_t)values, sizeof *f->values);
    for (int i = 0; i < values; i++)
        f->values[i] = codec_next(rng) % 8 == 0 ? NAN : (double)(int64_t)codec_next(rng) * 1e-18;
    char(*names)[PW_FINDING_LABEL] = pw_alloc((size_t)labels, sizeof *names);
    for (int i = 0; i < labels; i++)
        text(names[i], sizeof *names, rng);
    free(f->labels);
    f->labels = names;
    f->n_values = values, f->n_labels = labels;
}

/* Each learned parameter has a value, the last one the rest. A table has entries if they fit. */
static void agree_params(struct pw_ev_table *t)
{
    t->n_params = t->n_params < t->n_learned ? t->n_params : t->n_learned;
    t->n_learned = t->n_params > 0 ? t->n_learned : 0;
    for (int i = 0; i < t->n_params; i++) {
        struct pw_table_param *p = &t->params[i];
        bool last = i + 1 == t->n_params;
        p->layers = 1, p->heads = last ? t->n_learned - i : 1;
        p->part = i;
        p->size = 1 + p->size % 5;
        p->entry = last && p->heads * p->size <= t->n_entries ? 0 : -1;
    }
}

/* Makes fields agree: the tables can't express relations between them. */
static void agree(struct pw_event *e, uint64_t *rng)
{
    struct pw_ev_eval *v = &e->u.eval;
    struct pw_ev_attention *a = &e->u.attention;
    struct pw_ev_table *t = &e->u.table;
    struct pw_ev_inspection *k = &e->u.look;
    switch (e->kind) {
    case PW_EV_EVAL:
        for (int i = 0; i < v->n_pairs; i++) {
            struct pw_eval_pair *p = &v->pairs[i];
            p->samples %= 10, p->exact %= p->samples + 1, p->taught %= p->samples + 1;
            p->tokens_right /= 2, p->tokens = 2 * p->tokens_right;
        }
        if (v->n_sampled < 64 * v->n) {
            free(v->sampled);
            v->sampled = NULL;
            v->n_sampled = 0;
        }
        for (int i = 0, left = v->n_pairs; i < v->n; i++) {
            struct pw_eval_row *r = &v->rows[i];
            r->task = i / 3, r->length = 1 + i % 3 + (int)(codec_next(rng) % 2) * (i % 3 == 2);
            r->samples = v->n_words > i ? 64 : 0;
            r->exact = r->taught = r->samples / 2;
            r->errors[0] = r->errors[1] = r->errors[2] = r->samples / 6;
            r->tokens_right /= 2, r->tokens = 2 * r->tokens_right;
            r->first_word = i < v->n_words ? i : v->n_words;
            r->n_losses = i < v->n_losses ? 1 : 0;
            r->first_loss = i < v->n_losses ? i : 0;
            r->first_sampled = 64 * i;
            r->first_pair = v->n_pairs - left;
            r->n_pairs = r->samples > 0 && left > 0 ? 1 : 0;
            left -= r->n_pairs;
        }
        break;
    case PW_EV_PROMPT:
        if (e->u.prompt.n_prompt > e->u.prompt.n) { /* edited has n_prompt entries */
            free(e->u.prompt.edited);
            e->u.prompt.edited = NULL;
            e->u.prompt.n_prompt = e->u.prompt.n;
        }
        break;
    case PW_EV_LOOK:
        k->said = k->n > 0 ? k->said % k->n : 0;
        k->target = k->n > 0 && k->target >= 0 ? k->target % k->n : -1;
        break;
    case PW_EV_ATTENTION:
        a->layer = a->layers > 0 ? a->layer % a->layers : 0;
        a->head = a->heads > 0 ? a->head % a->heads : 0;
        for (int i = 0; i < a->n_gold && a->T > 0; i++)
            a->gold[i].query %= a->T, a->gold[i].key %= a->T;
        a->n_gold = a->T > 0 ? a->n_gold : 0;
        a->pool = a->side > 0 ? 1 + a->T / a->side : 0;
        break;
    case PW_EV_TABLE:
        if (t->n_buckets > 0) {
            free(t->added);
            t->added = NULL;
        }
        t->layer = t->layers > 0 ? t->layer % t->layers : 0;
        for (int i = 0; i < t->length && t->bucket != NULL; i++)
            t->bucket[i] = t->n_buckets > 0 ? t->bucket[i] % t->n_buckets : 0;
        if (t->n_buckets == 0) {
            free(t->bucket);
            t->bucket = NULL;
        }
        for (int b = 0; b <= t->n_buckets && t->bucket_from != NULL; b++)
            t->bucket_from[b] = b == t->n_buckets ? INT32_MAX : b * (int)(codec_next(rng) % 2 + 3);
        for (int b = 0; b < t->n_buckets && t->bucket_from != NULL; b++)
            if (t->bucket_from[b + 1] < t->bucket_from[b])
                t->bucket_from[b + 1] = t->bucket_from[b];
        t->n_queries = t->n_queries < t->length ? t->n_queries : t->length; /* ascending, within the table */
        for (int q = 0; q < t->n_queries; q++)
            t->queries[q] = q + t->length - t->n_queries;
        agree_params(t);
        break;
    case PW_EV_FINDING: agree_finding(&e->u.finding, rng); break;
    default: break;
    }
}

struct pw_event *codec_random(enum pw_event_kind kind, uint64_t *rng)
{
    struct pw_event *e = pw_event_new(kind);
    fill(&pw_messages[kind], (char *)e + pw_messages[kind].at, rng);
    agree(e, rng);
    return e;
}

/* ---- a reader of snapshots */

static void fold(struct pw_snapshot *s, struct pw_event *e)
{
    e->seq = s->seq + 1;
    pw_fold(s, e);
    pw_event_free(e);
}

struct pw_snapshot *codec_snapshot(void)
{
    struct pw_snapshot *s = pw_snapshot_new();
    uint64_t rng = 1;
    struct pw_event *e = pw_event_new(PW_EV_LAB);
    e->u.lab.n_tasks = 2;
    for (int i = 0; i < 2; i++)
        e->u.lab.tasks[i] =
            (struct pw_task_view){.name = "sort", .train_lo = 1, .train_hi = 4, .test_lo = 5, .test_hi = 8};
    fold(s, e);
    for (int id = 1; id <= 2; id++) {
        e = pw_event_new(PW_EV_ARM);
        e->u.arm = (struct pw_ev_arm){
            .id = id, .current = id == 1, .name = "t5", .pe = "t5", .replicas = 2, .layers = 2, .heads = 4};
        fold(s, e);
        e = codec_random(PW_EV_EVAL, &rng);
        e->arm = id;
        fold(s, e);
    }
    e = pw_event_new(PW_EV_PROMPT);
    e->arm = 1;
    e->u.prompt = (struct pw_ev_prompt){.id = 3, .n_prompt = 1, .n = 2};
    e->u.prompt.tokens = pw_alloc(2, sizeof(int));
    e->u.prompt.labels = pw_alloc(2, PW_LABEL);
    fold(s, e);
    return s;
}

void codec_look(struct pw_snapshot *s, struct pw_event *e)
{
    char line[PW_LINE];
    volatile double sum = 0; /* volatile: the compiler must not remove the computation */
    struct pw_paired *x = pw_alloc(1, sizeof *x);
    if (e->kind == PW_EV_HEADS)
        pw_heads_text(line, sizeof line, &e->u.heads);
    if (e->kind == PW_EV_ATTENTION)
        e->u.attention.prompt = s->prompt.id; /* so that the fold keeps it */
    pw_fold(s, e);
    for (int id = 1; id <= PW_MAX_ARMS; id++) {
        const struct pw_arm_view *arm = &s->arms[id - 1];
        const struct pw_ev_table *t = pw_table_of(s, id);
        int64_t at;
        for (int b = 0; t != NULL && b < t->n_buckets && b < 8; b++)
            sum += (double)pw_bucket_seen(t, b);
        sum += pw_kept_attention(s, id, 100, &at) != NULL;
        sum += (double)pw_head_mode(&arm->rep[0], 1, 1);
        pw_arm_heads_text(line, sizeof line, arm);
        for (int i = 0; i < arm->rep[0].eval.n && i < 8; i++) {
            const struct pw_ev_eval *v = &arm->rep[0].eval;
            const struct pw_eval_row *r = &v->rows[i];
            sum += pw_eval_right(v, r, r->samples - 1) + pw_eval_failing(v, r, 0);
            for (int p = 0; p < r->n_pairs && p < 8; p++)
                sum += v->pairs[r->first_pair + p].exact;
        }
    }
    pw_paired_find(x, s, 3, 0, 0, 100);
    (void)sum;
    free(x);
}

void codec_draw(const struct pw_snapshot *s, uint64_t which)
{
    static const char keys[] = "vVjklhGgmaswxoertn[]{}";
    struct pw_canvas c;
    struct pw_ui ui;
    pw_ui_init(&ui);
    ui.snap = s;
    ui.look = (struct pw_abilities){which & 1 ? PW_COLORS_TRUE : PW_COLORS_MONO, which & 2, false};
    pw_canvas_init(&c);
    pw_canvas_resize(&c, which & 4 ? 24 : 60, which & 8 ? 80 : 200);
    for (int i = 0; i < PW_PANES; i++) {
        struct pw_str line = {0}, text = {0};
        for (int k = 0; k < 4; k++) {
            ui.focus = i;
            ui.zoom = which & 16;
            pw_ui_frame(&ui, &c);
            pw_panes[i]->key(&ui, keys[codec_next(&which) % (sizeof keys - 1)], &line);
        }
        if (pw_panes[i]->copy != NULL)
            pw_panes[i]->copy(&ui, &text);
        pw_str_fini(&line);
        pw_str_fini(&text);
    }
    pw_canvas_fini(&c);
    pw_ui_fini(&ui);
}
