/* encoding.h - the pages of the encoding pane, and what they share. For encoding*.c alone. */
#ifndef PW_PANES_ENCODING_H
#define PW_PANES_ENCODING_H
#include "plot/encoding.h"
#include "ui/plot.h"

/* A way to look at an encoding. t is the table of the current arm, its length and heads at least 1. */
struct pw_enc_page {
    const char *name;
    enum pw_enc_cursor x, y; /* what h l and j k move */
    bool (*has)(const struct pw_ui *ui, const struct pw_ev_table *t);
    void (*draw)(struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c, struct pw_rect r);
    /* What the cursor is on, in words. */
    void (*read)(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out);
    /* What it shows as tab-separated values, and what these are. */
    void (*copy)(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out);
    const char *title;
};

extern const struct pw_enc_page pw_enc_bias, pw_enc_slopes, pw_enc_buckets, pw_enc_matrix, pw_enc_frequencies,
    pw_enc_decay, pw_enc_rows, pw_enc_cosine, pw_enc_keys, pw_enc_queries, pw_enc_kernel, pw_enc_difference;

/* ---- encoding.c */
static inline int pw_enc_at(const struct pw_ui *ui, enum pw_enc_cursor cursor)
{
    return ui->encoding.cursor[cursor];
}

/* A line a distance: what training met of it, and of every head what the encoding does and the mean score. */
void pw_enc_copy_distances(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out);
#define PW_ENC_BY_DISTANCE "by distance, of each head the kernel and the mean score"

/* The reference's table where there is one to compare with; NULL. */
const struct pw_ev_table *pw_enc_reference(const struct pw_ui *ui);

/* ---- encoding_added.c: a map of rows with their numbers at the left, and a mark at what training met. */
struct pw_enc_axes {
    enum pw_enc_cursor down, across;
    int every;          /* values of down from row to row */
    int from;           /* the number of the first row */
    const int64_t *met; /* by row, where that isn't by distance; NULL */
};
void pw_enc_map(struct pw_ui *ui, const struct pw_ev_table *t, struct pw_heat *m, const struct pw_enc_axes *x,
                const char *title, struct pw_canvas *c, struct pw_rect r);

/* ---- encoding_area.c: what is drawn where, for the pointer */
void pw_enc_area(struct pw_ui *ui, struct pw_enc_area area);
/* The value at a cell; false: it stands for none. */
bool pw_enc_area_at(const struct pw_enc_area *a, int y, int x, int *value);
/* The columns of a plot of n distances. */
void pw_enc_area_plot(struct pw_ui *ui, const struct pw_plot *p, int n);
/* The first of n values to show in so many rows or columns; of rows that lie in r, a value each. */
int pw_enc_scroll(const struct pw_ui *ui, enum pw_enc_cursor cursor, int n, int rows);
int pw_enc_list(struct pw_ui *ui, enum pw_enc_cursor cursor, int n, struct pw_rect r);

/* ---- encoding_ruler.c: distances along x, from the left margin of the rows below */
struct pw_enc_ruler {
    int n;       /* distances */
    int x, w;    /* first column; columns of a distance */
    int pool;    /* distances a column, where w is 1 */
    int columns; /* in all */
};
struct pw_enc_ruler pw_enc_ruler(int n, int x, int room);
/* Ruler, distances, buckets where named, and values [rows,length] as a strip a row, which the cursor `down`
 * goes through; rows 0: a row a head. label (NULL: the head) writes a row's name, 6 columns, and note (NULL:
 * none) what stands between that and its strip, note_w columns. from_first: colours are of what a value has
 * more than the row's first. Returns the rows taken. */
struct pw_enc_strips {
    const float *values;
    const int *buckets;
    int rows;
    enum pw_enc_cursor down;
    bool from_first;
    void (*label)(const struct pw_ev_table *t, int row, char text[32]);
    bool (*unmet)(const struct pw_ev_table *t, int row); /* in training; NULL: no row is a position */
    void (*note)(const struct pw_ev_table *t, int row, char text[32]);
    const char *note_head;
    int note_w;
};
int pw_enc_strips(struct pw_ui *ui, const struct pw_ev_table *t, const struct pw_enc_strips *s,
                  struct pw_canvas *c, struct pw_rect r);
/* Of counts by distance or position (met, rows; NULL: none) that of one; -1: not known. */
int64_t pw_enc_met(const struct pw_ev_table *t, const int64_t *counts, int at);
/* "  met 12345 pairs in training", or that it never was; nothing where met is below 0. */
void pw_enc_read_met(const struct pw_ev_table *t, int64_t met, const char *what, struct pw_str *out);
void pw_enc_read_distance(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out);
/* " of that head +0.41" of the cursor's head, and then of all others: values [heads,length]. */
void pw_enc_read_head(const struct pw_ui *ui, const struct pw_ev_table *t, const float *values,
                      struct pw_str *out);
void pw_enc_read_others(const struct pw_ui *ui, const struct pw_ev_table *t, const float *values,
                        struct pw_str *out);

#endif
