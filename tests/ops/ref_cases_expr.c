/* ref_cases_expr.c - cases of formulas: random programs, by distance and dense, with every kind of slot in
 * passes that may have it, forward and backward. */
#include "kernels/expr_code.h"
#include "kernels/expr_maths.h"
#include "tests/ops/ref_cases.h"

#include <string.h>

enum { TABLE = 7, SHORT = 5, MOST = 256, DATA = 6 };
enum { NUMBER, OF_HEAD, ENTRIES, SHARED_ENTRIES, NETWORK, PARAMS = NETWORK + 4 };

struct maker {
    struct ref_call *r;
    struct pw_expr_code code;
    struct pw_expr_slot slot[MOST];
    struct pw_expr_place place[PARAMS];
    int H, units;
};

static struct pw_expr_slot *add_slot(struct maker *m, enum pw_expr_pass pass, enum pw_expr_op op, bool head)
{
    struct pw_expr_span *span = &m->code.pass[pass];
    struct pw_expr_slot *s = &m->slot[m->code.n_slots++];
    s->op = op;
    s->head = head;
    s->arg[0] = s->arg[1] = s->arg[2] = s->unit = -1;
    s->row = span->rows;
    span->rows += head ? m->H : 1;
    span->shared += !head;
    span->n++;
    return s;
}

static struct pw_expr_slot *slot_at(struct maker *m, enum pw_expr_pass pass, int k)
{
    return &m->slot[m->code.pass[pass].first + k];
}

/* A random slot before slot k of the pass that is a number. */
static int before(struct maker *m, enum pw_expr_pass pass, int k)
{
    for (;;) {
        int at = (int)(ref_next(&m->r->s) % (uint64_t)k);
        if (slot_at(m, pass, at)->op != PW_X_HIDDEN)
            return at;
    }
}

static void add_call(struct maker *m, enum pw_expr_pass pass, bool head)
{
    int k = m->code.pass[pass].n,
        f = PICK(&m->r->s, PW_F_ADD, PW_F_SUBTRACT, PW_F_MULTIPLY, PW_F_NEGATE, PW_F_ABOVE, PW_F_MIN,
                 PW_F_MAX, PW_F_CLIP, PW_F_ABS, PW_F_RELU, PW_F_TANH, PW_F_SIN, PW_F_SIGMOID, PW_F_SOFTPLUS,
                 PW_F_ERF, PW_F_DIVIDE, PW_F_FLOOR);
    struct pw_expr_slot *s = add_slot(m, pass, ref_next(&m->r->s) % 6 == 0 ? PW_X_SELECT : PW_X_CALL, head);
    s->from = f;
    for (int i = 0; i < 3; i++) {
        s->arg[i] = before(m, pass, k);
        s->learns = s->learns || slot_at(m, pass, s->arg[i])->learns;
    }
}

static void add_entry(struct maker *m, enum pw_expr_pass pass, bool head)
{
    int k = m->code.pass[pass].n;
    struct pw_expr_slot *s = add_slot(m, pass, ref_next(&m->r->s) % 2 ? PW_X_ENTRY : PW_X_BETWEEN, head);
    s->arg[0] = before(m, pass, k);
    s->param = head ? ENTRIES : SHARED_ENTRIES;
    s->size = head ? TABLE : SHORT;
    s->learns = true;
}

static void add_imports(struct maker *m, enum pw_expr_pass pass, bool head)
{
    struct pw_expr_span *span = &m->code.pass[pass];
    for (int from = 0; from < (int)pass; from++)
        for (int k = 0; k < m->code.pass[from].n; k++) {
            const struct pw_expr_slot *of = slot_at(m, (enum pw_expr_pass)from, k);
            if (of->unit < 0 || of->op == PW_X_IMPORT || of->head != head ||
                (from != 0 && pass != PW_PASS_PAIR))
                continue;
            struct pw_expr_slot *s = add_slot(m, pass, PW_X_IMPORT, head);
            s->from = from;
            s->unit = of->unit;
            s->learns = of->learns;
            s->lane = span->lanes;
            if (s->learns && (from == PW_PASS_ONCE || from == PW_PASS_QUERY))
                span->lanes += head ? m->H : 1;
        }
}

static void add_hidden(struct maker *m, enum pw_expr_pass pass, bool head)
{
    struct pw_expr_span *span = &m->code.pass[pass];
    int k = span->n;
    struct pw_expr_slot *s = add_slot(m, pass, PW_X_HIDDEN, head);
    s->arg[0] = before(m, pass, k);
    s->param = NETWORK;
    s->size = m->units;
    s->vector = span->vectors;
    s->wide = span->wide;
    s->learns = true;
    span->vectors += s->size;
    span->wide += s->size * (head ? m->H : 1);
    span->lane = 0;
}

static void add_output(struct maker *m, enum pw_expr_pass pass)
{
    for (int k = 0; k < m->code.pass[pass].n; k++) {
        const struct pw_expr_slot *hidden = slot_at(m, pass, k);
        if (hidden->op != PW_X_HIDDEN)
            continue;
        struct pw_expr_slot *s = add_slot(m, pass, PW_X_OUT, true);
        s->arg[0] = k;
        s->param = NETWORK;
        s->size = hidden->size;
        s->vector = hidden->vector;
        s->wide = hidden->wide;
        s->learns = true;
        return;
    }
}

static void export_some(struct maker *m, enum pw_expr_pass pass)
{
    struct pw_expr_span *span = &m->code.pass[pass];
    for (int k = 0; k < span->n; k++) {
        struct pw_expr_slot *s = slot_at(m, pass, k);
        if (s->op == PW_X_IMPORT || s->op == PW_X_HIDDEN || ref_next(&m->r->s) % 3 == 0)
            continue;
        s->unit = span->units;
        span->units += s->head ? m->H : 1;
    }
}

static void add_pass(struct maker *m, enum pw_expr_pass pass, bool last)
{
    struct pw_expr_span *span = &m->code.pass[pass];
    struct pw_expr_slot *s;
    span->first = m->code.n_slots;
    span->lane = span->lanes = m->code.nets;
    add_slot(m, pass, PW_X_NUMBER, false)->value = 0.37;
    add_imports(m, pass, false);
    if (pass != PW_PASS_ONCE && pass != PW_PASS_PAIR)
        add_slot(m, pass, ref_next(&m->r->s) % 4 ? PW_X_AT : PW_X_COUNT, false);
    if (pass == PW_PASS_ONCE)
        add_slot(m, pass, PW_X_PARAM, false)->learns = true;
    if (ref_next(&m->r->s) % 2)
        add_entry(m, pass, false);
    for (int n = PICK(&m->r->s, 0, 1, 3); n > 0; n--)
        add_call(m, pass, false);
    if (ref_next(&m->r->s) % 2)
        add_hidden(m, pass, false);
    add_imports(m, pass, true);
    add_slot(m, pass, PW_X_HEAD, true);
    s = add_slot(m, pass, ref_next(&m->r->s) % 2 ? PW_X_BUCKET : PW_X_SLOPE, true);
    s->arg[0] = before(m, pass, span->n - 1);
    s->size = DATA;
    if (pass == PW_PASS_ONCE) {
        s = add_slot(m, pass, PW_X_PARAM, true);
        s->param = OF_HEAD;
        s->learns = true;
    }
    add_entry(m, pass, true);
    if (ref_next(&m->r->s) % 4 == 0)
        add_hidden(m, pass, true);
    add_output(m, pass);
    for (int n = PICK(&m->r->s, 1, 2, 4); n > 0; n--)
        add_call(m, pass, true);
    if (!last)
        export_some(m, pass);
    m->code.root = span->n - 1;
    for (int k = 0; k < span->n; k++)
        span->learns = span->learns || slot_at(m, pass, k)->learns;
}

static void place_params(struct maker *m, int layers)
{
    const int size[PARAMS] = {1, 1, TABLE, SHORT, m->units, m->units, m->units, 1};
    const bool head[PARAMS] = {false, true, true, false, false, false, true, true};
    for (int q = 0; q < PARAMS; q++) {
        struct pw_expr_place *p = &m->place[q];
        *p = (struct pw_expr_place){.offset = m->code.params, .size = size[q], .lane = -1};
        p->head = head[q] ? size[q] : 0;
        p->floats = size[q] * (head[q] ? m->H : 1);
        p->layer = q % 2 == 0 ? p->floats : 0;
        m->code.params += p->floats * (p->layer > 0 ? layers : 1);
        if (q < NETWORK)
            continue;
        p->lane = m->code.nets;
        m->code.nets += p->floats;
    }
}

void ref_case_expr(struct ref_call *r)
{
    static struct maker m; /* large */
    static _Alignas(16) char all[sizeof m.code + sizeof m.slot + sizeof m.place + 8 + DATA * sizeof(double)];
    int P = PICK(&r->s, 1, 2, 15, 16, 17, 33, 40), L = PICK(&r->s, 1, 2, 3), layers = 3;
    m = (struct maker){.r = r, .H = PICK(&r->s, 1, 2, 3, 8), .units = PICK(&r->s, 1, 5, 17)};
    m.code.heads = m.H;
    m.code.dense = ref_next(&r->s) % 2;
    m.code.n_params = PARAMS;
    m.code.n_data = DATA;
    place_params(&m, layers);
    for (int p = 0; p < (m.code.dense ? PW_PASSES : 2); p++)
        add_pass(&m, (enum pw_expr_pass)p, p == (int)pw_expr_last(&m.code));
    size_t slots = (size_t)m.code.n_slots * sizeof *m.slot;
    size_t before_data = (sizeof m.code + slots + sizeof m.place + 7) / 8 * 8;
    double data[DATA] = {1, 2, 3, 5, 9, 20};
    m.code.bytes = before_data + sizeof data;
    memset(all, 0, sizeof all);
    memcpy(all, &m.code, sizeof m.code);
    memcpy(all + sizeof m.code, m.slot, slots);
    memcpy(all + sizeof m.code + slots, m.place, sizeof m.place);
    memcpy(all + before_data, data, sizeof data);
    struct pw_expr_use x = {.code = (const struct pw_expr_code *)(const void *)all,
                            .there = ref_copy(r, all, m.code.bytes),
                            .from = (float)PICK(&r->s, 0, 0, 7),
                            .step = PICK(&r->s, 0, 1) ? 1.0f : 0.3f,
                            .layer = PICK(&r->s, 0, 1, 2),
                            .causal = ref_next(&r->s) % 4 != 0};
    if (!m.code.dense && x.causal && ref_next(&r->s) % 2) {
        bool columns = ref_next(&r->s) % 2;
        x.head = columns ? 1 : P;
        x.place = columns ? m.H : 1;
    }
    size_t entries = pw_expr_entries(&x, m.H, P);
    float *param = ref_input(r, (size_t)m.code.params, 0.7f),
          *d_bias = ref_input(r, (size_t)L * entries, 0.1f);
    float *bias = ref_output(r, entries), *d_param = ref_output(r, (size_t)m.code.params);
    r->ops->expr_fwd(r->c, bias, param, &x, m.H, P);
    r->ops->expr_bwd(r->c, d_param, d_bias, param, &x, L, m.H, P);
}
