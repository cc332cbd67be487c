/* finding.h - a finding: the result of a probe or a study as plain values, namely tables, plots, maps, claims
 * and remarks.
 *
 * The lab emits a finding as one event, the fold keeps it, and one pane, one figure and one report draw every
 * finding. All data lie in a few arrays (pools), so a finding can be stored, copied and compared as a whole.
 *
 * Ownership: the pools belong to the finding (allocated by alloc.h); pw_finding_fini frees them. The
 * functions that add never fail. A text that is too long for its field is cut at a code point. One finding
 * belongs to one thread at a time. */
#ifndef PW_FINDING_H
#define PW_FINDING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PW_FINDING_NAME  24 /* bytes, with the NUL; so are the next three */
#define PW_FINDING_TOPIC 64
#define PW_FINDING_LABEL 24
#define PW_FINDING_TEXT  256

/* The kinds of blocks. */
enum pw_block_kind { PW_BLOCK_TABLE, PW_BLOCK_PLOT, PW_BLOCK_MAP };

/* One table, plot or map. Its values are row-major in the finding's `values`, from index `value` on. Its
 * labels are in the finding's `labels`, from index `label` on.
 *   table  rows x cols values. Labels: cols column heads, then rows row heads. NaN is an empty cell. A
 *          column whose head ends in '?' holds yes (not 0) or no (0).
 *   plot   rows points of cols curves. A point is x, then each curve's y; with a band: y, low and high of
 *          each curve. Labels: cols names of curves. x ascends. A NaN is a gap. The last n_reference
 *          curves are predictions of theory.
 *   map    rows x cols values between low and high. Labels: none, or rows row heads, then cols
 *          column heads. */
struct pw_block {
    int kind; /* enum pw_block_kind */
    char title[PW_FINDING_TEXT];
    /* Names of the axes. For a table: x says what its rows are, y is the unit. */
    char x[PW_FINDING_TOPIC], y[PW_FINDING_TOPIC];
    int rows, cols;
    int decimals; /* table: digits after the point; -1: four significant digits */
    bool band;    /* plot: curves have a band */
    bool log_x, log_y;
    int n_reference;
    /* Map: the range of the colour scale; both 0: from the smallest to the largest value. If low < 0, the
     * scale is centred on zero. */
    float low, high;
    int n_values, value;
    int n_labels, label;
};

/* The verdict on a claim. The thresholds are constants in the file that makes the claim, fixed before
 * anything was measured. */
enum pw_claim_verdict {
    PW_CLAIM_REPRODUCED, /* computed exactly, or at the paper's own size: docs/verdicts.md */
    PW_CLAIM_TOY,        /* the same order or sign, in a model of toy size */
    PW_CLAIM_INCONCLUSIVE,
    PW_CLAIM_CONTRADICTED,
    PW_CLAIM_VERDICTS
};
/* Text of each verdict: "reproduced", "same order at toy scale", ... */
extern const char *const pw_claim_verdicts[];

/* A claim of a paper, and the verdict on it. */
struct pw_claim {
    int verdict;                 /* enum pw_claim_verdict */
    char claim[PW_FINDING_TEXT]; /* the statement of the paper, and where it is made */
    char found[PW_FINDING_TEXT]; /* the numbers that decide the verdict, and the threshold */
};

/* A remark: one line of text below the blocks. */
struct pw_remark {
    char text[PW_FINDING_TEXT];
};

/* Commands that apply a row of a table or map to the lab, for example "arm 1; fork; tune distance=20". Those
 * of a row that does not exist are never read. */
struct pw_action {
    int block, row;
    char commands[PW_FINDING_TEXT];
};

/* A finding is identified by name and topic together: a later finding with the same two replaces an earlier
 * one. */
struct pw_finding {
    char name[PW_FINDING_NAME];   /* name of the probe or study */
    char topic[PW_FINDING_TOPIC]; /* what was measured: "sort", "2 3", "layer 0"; may be "" */
    char title[PW_FINDING_TEXT];  /* one line: what was measured, on which input, how often */
    int n_blocks, n_values, n_labels, n_claims, n_remarks, n_actions;
    struct pw_block *blocks;
    double *values;
    char (*labels)[PW_FINDING_LABEL];
    struct pw_claim *claims;
    struct pw_remark *remarks;
    struct pw_action *actions;
};

/* Initialise an empty finding; fmt and its arguments give the title. */
void pw_finding_init(struct pw_finding *f, const char *name, const char *topic, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void pw_finding_fini(struct pw_finding *f);

/* Add a block whose values are NaN and whose labels are empty, and return its index. `heads`: the map has row
 * and column labels. */
int pw_finding_table(struct pw_finding *f, const char *title, int rows, int cols);
int pw_finding_plot(struct pw_finding *f, const char *title, const char *x, const char *y, int points,
                    int curves, bool band);
int pw_finding_map(struct pw_finding *f, const char *title, int rows, int cols, float low, float high,
                   bool heads);
/* Set label i of block b. For a table, or a map with heads, pw_finding_row and pw_finding_col compute i. */
void pw_finding_name(struct pw_finding *f, int b, int i, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void pw_finding_row(struct pw_finding *f, int b, int row, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void pw_finding_col(struct pw_finding *f, int b, int col, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void pw_finding_put(struct pw_finding *f, int b, int row, int col, double value); /* block b: table or map */
void pw_finding_x(struct pw_finding *f, int b, int point, double x);
void pw_finding_y(struct pw_finding *f, int b, int point, int curve, double y);
void pw_finding_band(struct pw_finding *f, int b, int point, int curve, double y, double low, double high);

enum pw_claim_verdict pw_claim_holds(bool holds); /* holds ? PW_CLAIM_REPRODUCED : PW_CLAIM_CONTRADICTED */
void pw_finding_claim(struct pw_finding *f, enum pw_claim_verdict verdict, const char *claim, const char *fmt,
                      ...) __attribute__((format(printf, 4, 5)));
void pw_finding_remark(struct pw_finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Give a row of a table or map its commands. A text that does not fit is left out. */
void pw_finding_action(struct pw_finding *f, int block, int row, const char *commands);

/* ---- reading: strings that are returned belong to the finding */
/* "" if the row has no name. */
const char *pw_finding_row_name(const struct pw_finding *f, const struct pw_block *b, int row);
/* Name of a column or a curve. */
const char *pw_finding_col_name(const struct pw_finding *f, const struct pw_block *b, int col);
double pw_finding_cell(const struct pw_finding *f, const struct pw_block *b, int row, int col);
/* Read a plot. `which`: 0 the curve's y, 1 the low end of its band, 2 the high end; without a band all three
 * are y. */
double pw_finding_x_at(const struct pw_finding *f, const struct pw_block *b, int point);
double pw_finding_y_at(const struct pw_finding *f, const struct pw_block *b, int point, int curve, int which);
/* Format a cell of a table as text. */
void pw_finding_cell_text(const struct pw_finding *f, const struct pw_block *b, int row, int col, char *out,
                          size_t size);
/* The commands of a row; NULL: it has none. */
const char *pw_finding_action_of(const struct pw_finding *f, int block, int row);
/* Check that the pools hold the values and labels that the blocks refer to. Returns NULL, or a message that
 * says what is wrong. Use it on a finding that was read from a file. */
const char *pw_finding_check(const struct pw_finding *f);
/* Return the worst verdict of the claims; PW_CLAIM_VERDICTS if there is no claim. */
enum pw_claim_verdict pw_finding_verdict(const struct pw_finding *f);

#endif
