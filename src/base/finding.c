/* finding.c - build, read, format, copy and check findings. */
#include "base/finding.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

const char *const pw_claim_verdicts[] = {"reproduced", "same order at toy scale", "inconclusive",
                                         "contradicted"};

/* Format into a field, cut to its size. Use it in a variadic function whose last named parameter is fmt. */
#define FORMAT(field, fmt)                                                                                   \
    do {                                                                                                     \
        char text_[2 * PW_FINDING_TEXT];                                                                     \
        va_list ap_;                                                                                         \
        va_start(ap_, fmt);                                                                                  \
        vsnprintf(text_, sizeof text_, fmt, ap_);                                                            \
        va_end(ap_);                                                                                         \
        pw_text_copy(field, sizeof(field), text_);                                                           \
    } while (0)

void pw_finding_init(struct pw_finding *f, const char *name, const char *topic, const char *fmt, ...)
{
    memset(f, 0, sizeof *f);
    pw_text_copy(f->name, sizeof f->name, name);
    pw_text_copy(f->topic, sizeof f->topic, topic);
    FORMAT(f->title, fmt);
}

void pw_finding_fini(struct pw_finding *f)
{
    free(f->blocks);
    free(f->values);
    free(f->labels);
    free(f->claims);
    free(f->remarks);
    free(f->actions);
    memset(f, 0, sizeof *f);
}

/* ---- building */

static int add_block(struct pw_finding *f, enum pw_block_kind kind, const char *title, int rows, int cols,
                     int n_values, int n_labels)
{
    assert(rows >= 0 && cols >= 0);
    f->blocks = pw_grow(f->blocks, (size_t)f->n_blocks + 1, sizeof *f->blocks);
    struct pw_block *b = &f->blocks[f->n_blocks];
    memset(b, 0, sizeof *b);
    b->kind = kind;
    pw_text_copy(b->title, sizeof b->title, title);
    b->rows = rows;
    b->cols = cols;
    b->decimals = -1;
    b->n_values = n_values;
    b->value = f->n_values;
    b->n_labels = n_labels;
    b->label = f->n_labels;
    f->n_values += n_values;
    f->n_labels += n_labels;
    f->values = pw_grow(f->values, (size_t)f->n_values, sizeof *f->values);
    f->labels = pw_grow(f->labels, (size_t)f->n_labels, sizeof *f->labels);
    for (int i = b->value; i < f->n_values; i++)
        f->values[i] = NAN;
    memset(f->labels + b->label, 0, (size_t)n_labels * sizeof *f->labels);
    return f->n_blocks++;
}

int pw_finding_table(struct pw_finding *f, const char *title, int rows, int cols)
{
    return add_block(f, PW_BLOCK_TABLE, title, rows, cols, rows * cols, rows + cols);
}

int pw_finding_plot(struct pw_finding *f, const char *title, const char *x, const char *y, int points,
                    int curves, bool band)
{
    int at =
        add_block(f, PW_BLOCK_PLOT, title, points, curves, points * (1 + curves * (band ? 3 : 1)), curves);
    struct pw_block *b = &f->blocks[at];
    b->band = band;
    pw_text_copy(b->x, sizeof b->x, x);
    pw_text_copy(b->y, sizeof b->y, y);
    return at;
}

int pw_finding_map(struct pw_finding *f, const char *title, int rows, int cols, float low, float high,
                   bool heads)
{
    int at = add_block(f, PW_BLOCK_MAP, title, rows, cols, rows * cols, heads ? rows + cols : 0);
    f->blocks[at].low = low;
    f->blocks[at].high = high;
    return at;
}

/* Return label i of a block. */
static char *label_of(const struct pw_finding *f, const struct pw_block *b, int i)
{
    assert(i >= 0 && i < b->n_labels);
    return f->labels[b->label + i];
}

/* Return the index of the first row head, or column head, among a block's labels. */
static int rows_from(const struct pw_block *b)
{
    return b->kind == PW_BLOCK_TABLE ? b->cols : 0;
}

static int cols_from(const struct pw_block *b)
{
    return b->kind == PW_BLOCK_MAP ? b->rows : 0;
}

#define LABEL(f, b, i, fmt)                                                                                  \
    do {                                                                                                     \
        char label_[PW_FINDING_LABEL];                                                                       \
        FORMAT(label_, fmt);                                                                                 \
        memcpy(label_of(f, &(f)->blocks[b], i), label_, sizeof label_);                                      \
    } while (0)

void pw_finding_name(struct pw_finding *f, int b, int i, const char *fmt, ...)
{
    LABEL(f, b, i, fmt);
}

void pw_finding_row(struct pw_finding *f, int b, int row, const char *fmt, ...)
{
    LABEL(f, b, rows_from(&f->blocks[b]) + row, fmt);
}

void pw_finding_col(struct pw_finding *f, int b, int col, const char *fmt, ...)
{
    LABEL(f, b, cols_from(&f->blocks[b]) + col, fmt);
}

static double *value_of(const struct pw_finding *f, const struct pw_block *b, int i)
{
    assert(i >= 0 && i < b->n_values);
    return &f->values[b->value + i];
}

/* Number of values per point of a plot. */
static int stride_of(const struct pw_block *b)
{
    return 1 + b->cols * (b->band ? 3 : 1);
}

void pw_finding_put(struct pw_finding *f, int b, int row, int col, double value)
{
    *value_of(f, &f->blocks[b], row * f->blocks[b].cols + col) = value;
}

void pw_finding_x(struct pw_finding *f, int b, int point, double x)
{
    *value_of(f, &f->blocks[b], point * stride_of(&f->blocks[b])) = x;
}

void pw_finding_y(struct pw_finding *f, int b, int point, int curve, double y)
{
    pw_finding_band(f, b, point, curve, y, y, y);
}

void pw_finding_band(struct pw_finding *f, int b, int point, int curve, double y, double low, double high)
{
    const struct pw_block *k = &f->blocks[b];
    double *v = value_of(f, k, point * stride_of(k) + 1 + curve * (k->band ? 3 : 1));
    v[0] = y;
    if (k->band) {
        v[1] = low;
        v[2] = high;
    }
}

enum pw_claim_verdict pw_claim_holds(bool holds)
{
    return holds ? PW_CLAIM_REPRODUCED : PW_CLAIM_CONTRADICTED;
}

void pw_finding_claim(struct pw_finding *f, enum pw_claim_verdict verdict, const char *claim, const char *fmt,
                      ...)
{
    f->claims = pw_grow(f->claims, (size_t)f->n_claims + 1, sizeof *f->claims);
    struct pw_claim *c = &f->claims[f->n_claims++];
    memset(c, 0, sizeof *c);
    c->verdict = verdict;
    pw_text_copy(c->claim, sizeof c->claim, claim);
    FORMAT(c->found, fmt);
}

void pw_finding_remark(struct pw_finding *f, const char *fmt, ...)
{
    f->remarks = pw_grow(f->remarks, (size_t)f->n_remarks + 1, sizeof *f->remarks);
    struct pw_remark *r = &f->remarks[f->n_remarks++];
    memset(r, 0, sizeof *r);
    FORMAT(r->text, fmt);
}

void pw_finding_action(struct pw_finding *f, int block, int row, const char *commands)
{
    if (strlen(commands) >= sizeof f->actions->commands)
        return; /* a part of it would do something else */
    f->actions = pw_grow(f->actions, (size_t)f->n_actions + 1, sizeof *f->actions);
    struct pw_action *a = &f->actions[f->n_actions++];
    memset(a, 0, sizeof *a);
    a->block = block;
    a->row = row;
    pw_text_copy(a->commands, sizeof a->commands, commands);
}

/* ---- reading */

const char *pw_finding_action_of(const struct pw_finding *f, int block, int row)
{
    for (int i = 0; i < f->n_actions; i++)
        if (f->actions[i].block == block && f->actions[i].row == row)
            return f->actions[i].commands;
    return NULL;
}

const char *pw_finding_row_name(const struct pw_finding *f, const struct pw_block *b, int row)
{
    return b->n_labels == 0 || b->kind == PW_BLOCK_PLOT ? "" : label_of(f, b, rows_from(b) + row);
}

const char *pw_finding_col_name(const struct pw_finding *f, const struct pw_block *b, int col)
{
    return b->n_labels == 0 ? "" : label_of(f, b, cols_from(b) + col);
}

double pw_finding_cell(const struct pw_finding *f, const struct pw_block *b, int row, int col)
{
    return *value_of(f, b, row * b->cols + col);
}

double pw_finding_x_at(const struct pw_finding *f, const struct pw_block *b, int point)
{
    return *value_of(f, b, point * stride_of(b));
}

double pw_finding_y_at(const struct pw_finding *f, const struct pw_block *b, int point, int curve, int which)
{
    int at = point * stride_of(b) + 1;
    return *value_of(f, b, b->band ? at + 3 * curve + which : at + curve);
}

static bool is_question(const char *head)
{
    size_t n = strlen(head);
    return n > 0 && head[n - 1] == '?';
}

void pw_finding_cell_text(const struct pw_finding *f, const struct pw_block *b, int row, int col, char *out,
                          size_t size)
{
    double v = pw_finding_cell(f, b, row, col);
    if (isnan(v))
        snprintf(out, size, "-");
    else if (is_question(pw_finding_col_name(f, b, col)))
        snprintf(out, size, "%s", v != 0 ? "yes" : "no");
    else if (b->decimals >= 0)
        snprintf(out, size, "%.*f", b->decimals, v);
    else
        snprintf(out, size, "%.4g", v);
}

const char *pw_finding_check(const struct pw_finding *f)
{
    for (int i = 0; i < f->n_blocks; i++) {
        const struct pw_block *b = &f->blocks[i];
        int64_t rows = b->rows, cols = b->cols, values = rows * cols, labels = rows + cols;
        if (b->kind == PW_BLOCK_PLOT) {
            values = rows * (1 + cols * (b->band ? 3 : 1));
            labels = cols;
        } else if (b->kind == PW_BLOCK_MAP && b->n_labels == 0)
            labels = 0;
        if (b->n_values != values || b->n_labels != labels || b->n_reference > b->cols)
            return "a block's values or labels do not match its shape";
        if ((int64_t)b->value + b->n_values > f->n_values || (int64_t)b->label + b->n_labels > f->n_labels)
            return "a block refers to values or labels outside of the finding";
    }
    return NULL;
}

enum pw_claim_verdict pw_finding_verdict(const struct pw_finding *f)
{
    if (f->n_claims == 0)
        return PW_CLAIM_VERDICTS;
    int worst = 0;
    for (int i = 0; i < f->n_claims; i++)
        worst = f->claims[i].verdict > worst ? f->claims[i].verdict : worst;
    return (enum pw_claim_verdict)worst;
}
