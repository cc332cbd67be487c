/* formula_code.c - the program of a learned table for a backend (kernels/expr_code.h). Each node of the
 * formula belongs to the pass of the positions that it depends on. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "kernels/expr_code.h"
#include "kernels/expr_maths.h"
#include "model/expr/expr_int.h"
#include "model/expr/formula.h"

/* The dependencies of a node, as bits. */
enum { ON_DISTANCE = 1, ON_QUERY = 2, ON_KEY = 4, ON_POSITIONS = 7, ON_HEAD = 8, ON_PARAM = 16 };

struct compiler {
    const struct pw_expr *x;
    int heads; /* columns of the table: heads, channels or pairs */
    bool needed[PW_EXPR_NODES];
    unsigned char on[PW_EXPR_NODES];
    int unit[PW_EXPR_NODES];                              /* of an exported node; -1 */
    int slot_of[PW_EXPR_NODES], hidden_of[PW_EXPR_NODES]; /* in the pass that is emitted; -1 */
    struct pw_expr_code head;
    struct pw_expr_place place[PW_EXPR_PARAMS];
    struct pw_expr_slot *slots;
    int cap_slots;
    double *data;
};

static unsigned depends_on(const struct compiler *c, const struct pw_node *node)
{
    unsigned on = 0;
    for (int i = 0; i < 3; i++)
        if (node->arg[i] >= 0)
            on |= c->on[node->arg[i]];
    switch (node->op) {
    case PW_NODE_VAR:
        return node->index == PW_VAR_DISTANCE ? ON_DISTANCE
               : node->index == PW_VAR_I      ? ON_QUERY
               : node->index == PW_VAR_J      ? ON_KEY
               : node->index == PW_VAR_N      ? ON_DISTANCE
               : node->index == PW_VAR_HEAD   ? ON_HEAD
                                              : 0;
    case PW_NODE_PARAM:
    case PW_NODE_ENTRY:
    case PW_NODE_BETWEEN:
        return on | ON_PARAM | (c->x->param[node->index].axis != PW_AXIS_NONE ? ON_HEAD : 0);
    case PW_NODE_NETWORK: return on | ON_PARAM | ON_HEAD;
    default: return on;
    }
}

static enum pw_expr_pass pass_of(const struct compiler *c, int k)
{
    switch (c->on[k] & ON_POSITIONS) {
    case 0: return PW_PASS_ONCE;
    case ON_DISTANCE: return PW_PASS_DISTANCE;
    case ON_QUERY: return PW_PASS_QUERY;
    case ON_KEY: return PW_PASS_KEY;
    default: return PW_PASS_PAIR;
    }
}

static bool is_number(const struct compiler *c, int k)
{
    return c->x->node[k].op == PW_NODE_NUMBER;
}

static bool of_head(const struct compiler *c, int k)
{
    return c->on[k] & ON_HEAD;
}

/* ---- slots */

static struct pw_expr_slot *add_slot(struct compiler *c, enum pw_expr_pass pass, enum pw_expr_op op,
                                     bool head)
{
    struct pw_expr_span *span = &c->head.pass[pass];
    if (c->head.n_slots == c->cap_slots) {
        c->cap_slots = 2 * c->cap_slots + 64;
        c->slots = pw_grow(c->slots, (size_t)c->cap_slots, sizeof *c->slots);
    }
    struct pw_expr_slot *s = &c->slots[c->head.n_slots++];
    memset(s, 0, sizeof *s); /* padding too: programs are copied and compared as bytes */
    s->op = op;
    s->head = head;
    s->arg[0] = s->arg[1] = s->arg[2] = s->unit = -1;
    s->row = span->rows;
    span->rows += head ? c->heads : 1;
    span->shared += !head;
    span->n++;
    return s;
}

static int last_slot(const struct compiler *c, enum pw_expr_pass pass)
{
    return c->head.pass[pass].n - 1;
}

static void emit_import(struct compiler *c, enum pw_expr_pass pass, int k)
{
    struct pw_expr_span *span = &c->head.pass[pass];
    struct pw_expr_slot *s = add_slot(c, pass, is_number(c, k) ? PW_X_NUMBER : PW_X_IMPORT, of_head(c, k));
    c->slot_of[k] = last_slot(c, pass);
    if (is_number(c, k)) {
        s->value = c->x->node[k].value;
        return;
    }
    s->learns = c->on[k] & ON_PARAM;
    s->from = (int)pass_of(c, k);
    s->unit = c->unit[k];
    s->lane = span->lanes;
    if (s->learns && (s->from == PW_PASS_ONCE || s->from == PW_PASS_QUERY))
        span->lanes += s->head ? c->heads : 1;
}

static void emit_hidden(struct compiler *c, enum pw_expr_pass pass, int k)
{
    const struct pw_node *node = &c->x->node[k];
    struct pw_expr_span *span = &c->head.pass[pass];
    struct pw_expr_slot *s = add_slot(c, pass, PW_X_HIDDEN, of_head(c, node->arg[0]));
    s->learns = true;
    s->arg[0] = c->slot_of[node->arg[0]];
    s->param = node->index;
    s->size = c->x->param[node->index].size;
    s->vector = span->vectors;
    s->wide = span->wide;
    span->vectors += s->size;
    span->wide += s->size * (s->head ? c->heads : 1);
    c->hidden_of[k] = last_slot(c, pass);
}

static void emit_output(struct compiler *c, enum pw_expr_pass pass, int k)
{
    const struct pw_expr_slot hidden = c->slots[c->head.pass[pass].first + c->hidden_of[k]];
    struct pw_expr_slot *s = add_slot(c, pass, PW_X_OUT, true);
    s->learns = true;
    s->arg[0] = c->hidden_of[k];
    s->param = hidden.param;
    s->size = hidden.size;
    s->vector = hidden.vector;
    s->wide = hidden.wide;
}

static int add_data(struct compiler *c, int n)
{
    int at = c->head.n_data;
    c->head.n_data += n;
    c->data = pw_grow(c->data, (size_t)c->head.n_data, sizeof *c->data);
    return at;
}

/* Smallest distances of the buckets 1, 2, ...: pw_t5_bucket needs whole numbers of any length. */
static void emit_bucket(struct compiler *c, struct pw_expr_slot *s, int buckets, int most)
{
    s->op = PW_X_BUCKET;
    s->size = buckets - 1;
    s->param = add_data(c, s->size);
    for (int b = 1, low = 0; b < buckets; b++) {
        int high = most; /* bucket(most) is the last one */
        while (low < high) {
            int mid = low + (high - low) / 2;
            if (pw_t5_bucket(mid, buckets, most) >= b)
                high = mid;
            else
                low = mid + 1;
        }
        c->data[s->param + b - 1] = low;
    }
}

static void emit_call(struct compiler *c, struct pw_expr_slot *s, const struct pw_node *node)
{
    double a[3] = {0};
    for (int i = 1; i < 3; i++)
        a[i] = node->arg[i] >= 0 ? c->x->node[node->arg[i]].value : 0;
    s->op = PW_X_CALL;
    s->from = node->index;
    if (node->index != PW_F_BUCKET && node->index != PW_F_SLOPE)
        return;
    s->arg[1] = s->arg[2] = -1;
    s->from = 0;
    if (node->index == PW_F_BUCKET) {
        emit_bucket(c, s, (int)a[1], (int)a[2]);
        return;
    }
    s->op = PW_X_SLOPE;
    s->size = (int)a[1];
    s->param = add_data(c, s->size);
    for (int h = 0; h < s->size; h++)
        c->data[s->param + h] = pw_alibi_slope(h, s->size);
}

static void emit_node(struct compiler *c, enum pw_expr_pass pass, int k)
{
    const struct pw_node *node = &c->x->node[k];
    if (node->op == PW_NODE_NETWORK) {
        if (of_head(c, node->arg[0]))
            emit_hidden(c, pass, k);
        emit_output(c, pass, k);
    } else {
        struct pw_expr_slot *s = add_slot(c, pass, PW_X_SELECT, of_head(c, k));
        s->learns = c->on[k] & ON_PARAM;
        s->param = node->index;
        for (int i = 0; i < 3; i++)
            s->arg[i] = node->arg[i] >= 0 ? c->slot_of[node->arg[i]] : -1;
        switch (node->op) {
        case PW_NODE_VAR:
            s->op = node->index == PW_VAR_HEAD    ? PW_X_HEAD
                    : node->index == PW_VAR_N     ? PW_X_COUNT
                    : node->index == PW_VAR_LAYER ? PW_X_LAYER
                                                  : PW_X_AT;
            break;
        case PW_NODE_PARAM: s->op = PW_X_PARAM; break;
        case PW_NODE_ENTRY:
        case PW_NODE_BETWEEN:
            s->op = node->op == PW_NODE_ENTRY ? PW_X_ENTRY : PW_X_BETWEEN;
            s->size = c->x->param[node->index].size;
            break;
        case PW_NODE_CALL: emit_call(c, s, node); break;
        default: break;
        }
    }
    c->slot_of[k] = last_slot(c, pass);
    c->slots[c->head.n_slots - 1].unit = c->unit[k];
}

/* ---- passes */

/* The nodes of other passes that a pass reads, among them the root. */
static void find_imports(const struct compiler *c, enum pw_expr_pass pass, bool *wanted)
{
    int root = c->x->root[PW_STAGE_BIAS];
    for (int k = 0; k <= root; k++)
        for (int i = 0; i < 3 && c->needed[k] && !is_number(c, k) && pass_of(c, k) == pass; i++) {
            int arg = c->x->node[k].arg[i];
            if (arg >= 0 && (is_number(c, arg) || pass_of(c, arg) != pass))
                wanted[arg] = true;
        }
    if (pass == pw_expr_last(&c->head) && (is_number(c, root) || pass_of(c, root) != pass))
        wanted[root] = true;
}

static void assign_units(struct compiler *c)
{
    for (int p = 0; p < PW_PASSES; p++) {
        bool wanted[PW_EXPR_NODES] = {0};
        find_imports(c, (enum pw_expr_pass)p, wanted);
        for (int k = 0; k <= c->x->root[PW_STAGE_BIAS]; k++)
            if (wanted[k] && !is_number(c, k) && c->unit[k] < 0) {
                struct pw_expr_span *span = &c->head.pass[pass_of(c, k)];
                c->unit[k] = span->units;
                span->units += of_head(c, k) ? c->heads : 1;
            }
    }
}

static void emit_pass(struct compiler *c, enum pw_expr_pass pass)
{
    struct pw_expr_span *span = &c->head.pass[pass];
    bool wanted[PW_EXPR_NODES] = {0}, networks = false;
    int root = c->x->root[PW_STAGE_BIAS];
    find_imports(c, pass, wanted);
    span->first = c->head.n_slots;
    span->lanes = c->head.nets;
    for (int head = 0; head < 2; head++) {
        for (int k = 0; k <= root; k++)
            if (wanted[k] && of_head(c, k) == (head == 1))
                emit_import(c, pass, k);
        for (int k = 0; k <= root; k++) {
            bool network = c->x->node[k].op == PW_NODE_NETWORK;
            if (!c->needed[k] || is_number(c, k) || pass_of(c, k) != pass)
                continue;
            networks = networks || network;
            if (of_head(c, k) == (head == 1))
                emit_node(c, pass, k);
            else if (head == 0 && network && !of_head(c, c->x->node[k].arg[0]))
                emit_hidden(c, pass, k);
        }
    }
    span->lane = networks ? 0 : c->head.nets;
    for (int k = 0; k < span->n; k++)
        span->learns = span->learns || c->slots[span->first + k].learns;
    if (pass == pw_expr_last(&c->head))
        c->head.root = c->slot_of[root];
}

static void place_params(struct compiler *c, const struct pw_config *cfg)
{
    for (int k = 0; k < c->x->n_params; k++) {
        const struct pw_expr_param *q = &c->x->param[k];
        struct pw_expr_place *p = &c->place[k];
        *p = (struct pw_expr_place){.offset = c->head.params, .size = q->size, .lane = -1};
        p->head = q->axis != PW_AXIS_NONE ? q->size : 0;
        p->floats = q->size * pw_axis_size(c->x, q->axis, cfg);
        p->layer = q->per_layer ? p->floats : 0;
        c->head.params += p->floats * (q->per_layer ? cfg->layers : 1);
    }
    for (int k = 0; k <= c->x->root[PW_STAGE_BIAS]; k++)
        for (int i = 0; c->needed[k] && c->x->node[k].op == PW_NODE_NETWORK && i < PW_NETWORK_PARAMS; i++) {
            struct pw_expr_place *p = &c->place[c->x->node[k].index + i];
            if (p->lane >= 0)
                continue;
            p->lane = c->head.nets;
            c->head.nets += p->floats;
        }
}

static struct pw_expr_code *whole_program(struct compiler *c)
{
    size_t slots = (size_t)c->head.n_slots * sizeof *c->slots,
           data = (size_t)c->head.n_data * sizeof *c->data;
    size_t places = (size_t)c->head.n_params * sizeof *c->place;
    size_t before = (sizeof c->head + slots + places + 7) / 8 * 8;
    char *all = pw_alloc(1, before + data);
    c->head.bytes = before + data;
    memcpy(all, &c->head, sizeof c->head);
    memcpy(all + sizeof c->head, c->slots, slots);
    memcpy(all + sizeof c->head + slots, c->place, places);
    if (data > 0)
        memcpy(all + before, c->data, data);
    return (struct pw_expr_code *)(void *)all;
}

enum pw_code pw_formula_code(const void *opts, const struct pw_config *cfg, enum pw_pe_table which,
                             struct pw_expr_code **out, struct pw_err *err)
{
    static const enum pw_axis columns[PW_PE_TABLES] = {PW_AXIS_HEAD,
                                                       PW_AXIS_HEAD,
                                                       PW_AXIS_PAIR,
                                                       PW_AXIS_PAIR,
                                                       PW_AXIS_CHANNEL,
                                                       PW_AXIS_MIX,
                                                       [PW_TABLE_SCORE] = PW_AXIS_HEAD};
    struct pw_expr *flat;
    enum pw_code code = pw_formula_flat(opts, cfg, which, &flat, err);
    *out = NULL;
    if (code != PW_OK)
        return code;
    struct compiler *c = pw_alloc(1, sizeof *c);
    int root = flat->root[PW_STAGE_BIAS];
    c->x = flat;
    c->heads = c->head.heads = pw_axis_size(flat, columns[which], cfg);
    c->head.n_params = flat->n_params;
    c->head.dense = which == PW_TABLE_BIAS && pw_formula_of(opts)->pe.uses & PW_PE_DENSE;
    pw_expr_mark(flat, root, c->needed);
    for (int k = 0; k < PW_EXPR_NODES; k++)
        c->unit[k] = c->slot_of[k] = c->hidden_of[k] = -1;
    for (int k = 0; k <= root; k++)
        c->on[k] = (unsigned char)depends_on(c, &flat->node[k]);
    place_params(c, cfg);
    assign_units(c);
    for (int p = 0; p < PW_PASSES; p++)
        emit_pass(c, (enum pw_expr_pass)p);
    *out = whole_program(c);
    free(c->slots);
    free(c->data);
    free(c);
    pw_expr_free(flat);
    return PW_OK;
}
