/* finding.h - what a measurement found, as plain values: tables, plots, maps, and what is claimed of them.
 *
 * A probe or a reproduced item of a document builds one; the lab tells it as an event, the fold keeps it, and
 * panes, figures and reports draw every finding alike. Everything lies in four pools, so it is stored, copied
 * and compared as a whole.
 *
 * Ownership: pools belong to the finding (malloc); pw_finding_fini frees them. Any thread. */
#ifndef PW_FINDING_H
#define PW_FINDING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PW_FINDING_NAME  24 /* bytes, with the NUL */
#define PW_FINDING_TOPIC 64
#define PW_FINDING_LABEL 24
#define PW_FINDING_TEXT  256

enum pw_block_kind { PW_BLOCK_TABLE, PW_BLOCK_PLOT, PW_BLOCK_MAP };

/* One table, plot or map. Values are row-major in the finding's pool from `value` on, labels from `label` on.
 *   table  rows x cols values; labels: cols heads, then rows heads. A head that ends in '?' is over yes (not
 *          0) and no. NaN: nothing to say.
 *   plot   rows points of cols curves: x, then each curve's y; with a band y, lowest and highest. Labels:
 *          cols names. x ascends; a NaN is a gap. The last n_reference curves are what theory says.
 *   map    rows x cols values between low and high; labels: none, or rows heads, then cols heads. */
struct pw_block {
    int kind; /* enum pw_block_kind */
    char title[PW_FINDING_TEXT];
    char x[PW_FINDING_TOPIC], y[PW_FINDING_TOPIC]; /* axes; of a table: what its rows are, its unit */
    int rows, cols;
    int decimals; /* of a table; -1: four significant digits */
    bool band;    /* of a plot */
    bool log_x, log_y;
    int n_reference;
    float low, high; /* of a map; both 0: the least and the greatest value. low < 0: zero is in the middle */
    int n_values, value;
    int n_labels, label;
};

/* What came of a claim. Thresholds stand beside the claim in the file that makes it, fixed before anything
 * was measured. */
enum pw_claim_verdict {
    PW_CLAIM_REPRODUCED,
    PW_CLAIM_TOY, /* the same order, or sign, at a toy's size */
    PW_CLAIM_INCONCLUSIVE,
    PW_CLAIM_CONTRADICTED,
    PW_CLAIM_VERDICTS
};
extern const char *const pw_claim_verdicts[]; /* "reproduced", "same order at toy scale", ... */

struct pw_claim {
    int verdict;                 /* enum pw_claim_verdict */
    char claim[PW_FINDING_TEXT]; /* what the document says, and where */
    char found[PW_FINDING_TEXT]; /* the numbers that decide, and the threshold */
};

struct pw_remark {
    char text[PW_FINDING_TEXT];
};

/* name and topic together tell findings apart: a later one with both the same takes its place. */
struct pw_finding {
    char name[PW_FINDING_NAME];   /* the probe or item */
    char topic[PW_FINDING_TOPIC]; /* of what: "sort", "2 3", "layer 0"; "" */
    char title[PW_FINDING_TEXT];  /* one line that says what was measured, on what, how often */
    int n_blocks, n_values, n_labels, n_claims, n_remarks;
    struct pw_block *blocks;
    double *values;
    char (*labels)[PW_FINDING_LABEL];
    struct pw_claim *claims;
    struct pw_remark *remarks;
};

/* An empty one; fmt is the title. */
void pw_finding_init(struct pw_finding *f, const char *name, const char *topic, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void pw_finding_fini(struct pw_finding *f);

/* Each adds a block whose values are NaN and whose labels are empty, and returns its index. */
int pw_finding_table(struct pw_finding *f, const char *title, int rows, int cols);
int pw_finding_plot(struct pw_finding *f, const char *title, const char *x, const char *y, int points,
                    int curves, bool band);
int pw_finding_map(struct pw_finding *f, const char *title, int rows, int cols, float low, float high,
                   bool heads);
/* Of block b, label i: of a table and a map with heads see pw_finding_row and pw_finding_col. */
void pw_finding_name(struct pw_finding *f, int b, int i, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void pw_finding_row(struct pw_finding *f, int b, int row, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void pw_finding_col(struct pw_finding *f, int b, int col, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void pw_finding_put(struct pw_finding *f, int b, int row, int col, double value); /* table or map */
void pw_finding_x(struct pw_finding *f, int b, int point, double x);
void pw_finding_y(struct pw_finding *f, int b, int point, int curve, double y);
void pw_finding_band(struct pw_finding *f, int b, int point, int curve, double y, double low, double high);

enum pw_claim_verdict pw_claim_holds(bool holds); /* reproduced, or contradicted */
void pw_finding_claim(struct pw_finding *f, enum pw_claim_verdict verdict, const char *claim, const char *fmt,
                      ...) __attribute__((format(printf, 4, 5)));
void pw_finding_remark(struct pw_finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Reading. */
const char *pw_finding_row_name(const struct pw_finding *f, const struct pw_block *b, int row); /* "" none */
const char *pw_finding_col_name(const struct pw_finding *f, const struct pw_block *b, int col); /* or curve */
double pw_finding_cell(const struct pw_finding *f, const struct pw_block *b, int row, int col);
/* Values of a plot: which 0: the curve; 1, 2: the ends of its band, the curve itself where there is none. */
double pw_finding_x_at(const struct pw_finding *f, const struct pw_block *b, int point);
double pw_finding_y_at(const struct pw_finding *f, const struct pw_block *b, int point, int curve, int which);
/* A cell of a table as text. */
void pw_finding_cell_text(const struct pw_finding *f, const struct pw_block *b, int row, int col, char *out,
                          size_t size);
/* A copy with pools of its own. */
void pw_finding_copy(struct pw_finding *dst, const struct pw_finding *src);
/* Do the pools hold what the blocks say? NULL, or what is wrong. */
const char *pw_finding_check(const struct pw_finding *f);
/* The worst of its claims; PW_CLAIM_VERDICTS: it makes none. */
enum pw_claim_verdict pw_finding_verdict(const struct pw_finding *f);

#endif
