/* encoding.h - the pages of the encoding pane and their shared functions. Private to encoding*.c. */
#ifndef PW_PANES_ENCODING_H
#define PW_PANES_ENCODING_H
#include "plot/encoding.h"
#include "ui/plot.h"

/* An area of cells that stand for values of a cursor. A click or the pointer moves the cursor to the value at
 * its cell. */
struct pw_enc_area {
    struct pw_rect r;
    enum pw_enc_cursor cursor;
    enum pw_enc_along { PW_ENC_ACROSS, PW_ENC_DOWN, PW_ENC_BETWEEN } along; /* BETWEEN: row minus column */
    int first;                                                              /* value of the first cell */
    double size; /* cells per value, possibly below one */
    int pool;    /* values that are drawn as one; 0 means 1 */
};
#define PW_ENC_AREAS 4 /* maximum per page */
struct pw_enc_areas {
    int n;
    struct pw_enc_area area[PW_ENC_AREAS];
};

/* A page of the pane. t is the table of the current arm; its length and number of heads are at least 1. */
struct pw_enc_page {
    const char *name;
    enum pw_encoding_view view;
    enum pw_enc_cursor x, y; /* the cursors that h l and j k move */
    /* Draws the page and adds its areas to an empty *areas. */
    void (*draw)(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c, struct pw_rect r,
                 struct pw_enc_areas *areas);
    /* Appends a description of the value under the cursor. */
    void (*read)(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out);
    /* Appends the page's values as tab-separated text; title names these values. */
    void (*copy)(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out);
    const char *title;
};

extern const struct pw_enc_page pw_enc_bias, pw_enc_slopes, pw_enc_buckets, pw_enc_matrix, pw_enc_frequencies,
    pw_enc_decay, pw_enc_rows, pw_enc_cosine, pw_enc_keys, pw_enc_queries, pw_enc_params, pw_enc_kernel,
    pw_enc_difference;

/* ---- encoding.c */
static inline int pw_enc_at(const struct pw_ui *ui, enum pw_enc_cursor cursor)
{
    return ui->encoding.cursor[cursor];
}

/* Appends a line per distance: how often it was seen in training, and for each head the kernel of the
 * encoding and the mean score. */
void pw_enc_copy_distances(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out);
#define PW_ENC_BY_DISTANCE "by distance, of each head the kernel and the mean score"

/* Returns the table of the reference arm, or NULL if there is nothing to compare with. */
const struct pw_ev_table *pw_enc_reference(const struct pw_ui *ui);

/* ---- encoding_added.c: a map of rows with their numbers at the left, and a mark at the end of training */
struct pw_enc_axes {
    enum pw_enc_cursor down, across;
    int every;          /* values of `down` per row of the map */
    int from;           /* the number of the first row */
    const int64_t *met; /* counts per row, if the rows are not distances; else NULL */
};
/* Draws a map into r below its title, with row numbers at the left, and adds its areas. */
void pw_enc_map(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_heat *m,
                const struct pw_enc_axes *x, const char *title, struct pw_canvas *c, struct pw_rect r,
                struct pw_enc_areas *areas);

/* ---- encoding_area.c: screen areas, for the pointer */
void pw_enc_area(struct pw_enc_areas *areas, struct pw_enc_area area); /* adds an area */
/* Finds the areas of the page that is shown in the pane's inside. */
void pw_enc_find_areas(const struct pw_ui *ui, struct pw_rect inside, struct pw_enc_areas *areas);
/* Sets *value to the value at a cell; returns false if the cell has none. */
bool pw_enc_area_at(const struct pw_enc_area *a, int y, int x, int *value);
/* Adds the columns of a plot of n distances. */
void pw_enc_area_plot(struct pw_enc_areas *areas, const struct pw_plot *p, int n);
/* pw_enc_scroll returns the first of n values to show in `rows` rows or columns. pw_enc_list does the same
 * for rows in r with one value each, and adds their area. */
int pw_enc_scroll(const struct pw_ui *ui, enum pw_enc_cursor cursor, int n, int rows);
int pw_enc_list(const struct pw_ui *ui, enum pw_enc_cursor cursor, int n, struct pw_rect r,
                struct pw_enc_areas *areas);

/* ---- encoding_ruler.c: distances along x, starting at the left margin of the rows below */
struct pw_enc_ruler {
    int n;       /* distances */
    int x, w;    /* the first column; columns per distance */
    int pool;    /* distances per column, if w is 1 */
    int columns; /* total columns */
};
/* Fits n distances into `room` columns from column x on; pools them if there are too many. */
struct pw_enc_ruler pw_enc_ruler(int n, int x, int room);
/* Draws the ruler, the distances, the buckets (if not NULL), and values [rows,length] as one strip per row.
 * The cursor `down` selects a row; rows 0 means a row per head. Returns the number of rows taken.
 *
 * label (NULL: the head) writes the row's name, 6 columns. note (NULL: none) writes the text between the name
 * and the strip, note_w columns. from_first: colours show the difference to the row's first value. */
struct pw_enc_strips {
    const float *values;
    const int *buckets;
    int rows;
    enum pw_enc_cursor down;
    bool from_first;
    void (*label)(const struct pw_ev_table *t, int row, char text[32]);
    /* The row was not seen in training; NULL: rows are not positions. */
    bool (*unmet)(const struct pw_ev_table *t, int row);
    void (*note)(const struct pw_ev_table *t, int row, char text[32]);
    const char *note_head;
    int note_w;
};
int pw_enc_strips(const struct pw_ui *ui, const struct pw_ev_table *t, const struct pw_enc_strips *s,
                  struct pw_canvas *c, struct pw_rect r, struct pw_enc_areas *areas);
/* Returns the count of one distance or position from counts (t->met, t->rows; NULL: none); -1 if unknown. */
int64_t pw_enc_seen(const struct pw_ev_table *t, const int64_t *counts, int at);
/* Appends "  12345 pairs seen in training" or "  never seen in training"; nothing if met is negative. */
void pw_enc_read_seen(const struct pw_ev_table *t, int64_t met, const char *what, struct pw_str *out);
/* Appends the distance under the cursor and its bucket, if there is one. */
void pw_enc_read_distance(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out);
/* Append the value at the cursor's distance: "  head 2 +0.410" for the cursor's head, and for all other
 * heads. values [heads,length]. */
void pw_enc_read_head(const struct pw_ui *ui, const struct pw_ev_table *t, const float *values,
                      struct pw_str *out);
void pw_enc_read_others(const struct pw_ui *ui, const struct pw_ev_table *t, const float *values,
                        struct pw_str *out);

/* ---- encoding_kernel.c */
struct pw_enc_curve {
    const float *values; /* [heads,length] of t; NULL: none */
    int arm;             /* whose colour it has */
    enum pw_stroke stroke;
};
/* Draws two curves by distance for the cursor's head, the first one on top. */
void pw_enc_curves(const struct pw_ui *ui, const struct pw_ev_table *t, const struct pw_enc_curve curves[2],
                   struct pw_canvas *c, struct pw_rect r, struct pw_enc_areas *areas);

/* ---- encoding_params.c */
/* After a cursor of the page has moved: the cursors of head and part follow each other. */
void pw_enc_params_follow(struct pw_ui *ui, const struct pw_ev_table *t, enum pw_enc_cursor moved);

/* ---- encoding_preview.c */
/* Draws the curve of the formula that is being typed, beside that of its arm. */
void pw_enc_preview(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r);

#endif
