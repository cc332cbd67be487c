/* attention.h - what the files of the attention pane share: which map is shown, as numbers, and who draws
 * which part of it. */
#ifndef PW_PANE_ATTENTION_H
#define PW_PANE_ATTENTION_H
#include "plot/attention.h"
#include "ui/plot.h"

/* How values become shades. */
enum pw_att_scale {
    PW_ATT_GLOBAL, /* probabilities 0..1, all else by the largest of the map */
    PW_ATT_ROW,    /* by the largest of its query */
    PW_ATT_LOG,    /* probabilities over three decades, all else over two to either side */
    PW_ATT_SCALES
};
extern const char *const pw_att_scale_names[PW_ATT_SCALES]; /* " by row", after what is scaled */

/* A map as it was when it was taken as reference; the workbench owns it. */
struct pw_att_ref {
    char name[64]; /* "3 t5 8/16 head 1.1 step 640" */
    bool file;     /* of a file, whose tokens may have other names */
    int view, T;
    char (*labels)[PW_LABEL]; /* [T] */
    float *v;                 /* [T,T] hidden -inf */
};

/* What is shown: a map, at a moment, of a head or the mean over a layer's. */
struct pw_att {
    const struct pw_ev_attention *a;
    int arm, replica; /* 0: it is a file's */
    int64_t step;
    bool past;             /* from what is kept; else the latest */
    int layer, head, view; /* within a's bounds */
    bool mean;
    const char *why[4]; /* there is nothing to show: lines that say why, then NULL */

    int T;                        /* tokens shown: all, or those that the reference begins with, too */
    const struct pw_att_ref *ref; /* what it is the difference to; NULL: nothing */
    bool renamed;                 /* its tokens have other names */
    float *v;                     /* [T,T] hidden -inf */
    bool is_signed;
    float top;         /* of the absolute values, or 1 */
    float *row_top;    /* [T] */
    const char *hatch; /* "distance", "bucket", "position": what training may not have met; NULL: not known */
    bool by_position;
    bool *unmet; /* [T] by distance or position */
};

/* What was measured of the replica that is shown; NULL: it is a file's, or its arm is gone. */
const struct pw_replicate_view *pw_att_measured(const struct pw_ui *ui, const struct pw_att *w);
/* Is the head off in it? */
bool pw_att_off(const struct pw_ui *ui, const struct pw_att *w, int layer, int head);

/* ---- attention_file.c: attention of a file, beside the arm's */
/* What is shown, the arm's or a file's; NULL: there is neither. */
const struct pw_ev_attention *pw_att_shown(const struct pw_ui *ui);
bool pw_att_of_file(const struct pw_ui *ui);
void pw_att_find_file(struct pw_att *w, const struct pw_ui *ui);
/* To the other of both, where there are two. */
void pw_att_change_source(struct pw_ui *ui);
/* So many heads, layers or views on, round the end. */
void pw_att_move_file(struct pw_ui *ui, const char *what, int by);

/* ---- attention_value.c */
/* Whose maps are meant: all of *w that stands before T. */
bool pw_att_find(struct pw_att *w, const struct pw_ui *ui);
/* What the pane shows now; false: there is nothing, and why says so. Ends with pw_att_fini in any case. */
bool pw_att_init(struct pw_att *w, const struct pw_ui *ui);
/* The probabilities of a head beside w's. */
void pw_att_init_head(struct pw_att *out, const struct pw_ui *ui, const struct pw_att *w, int layer,
                      int head);
void pw_att_fini(struct pw_att *w);
/* Takes what is shown as reference, or forgets it. */
void pw_att_reference(struct pw_ui *ui);
void pw_att_forget(struct pw_ui *ui);
/* What the attention of a query and key is, whatever is shown: of the head or mean. */
float pw_att_prob(const struct pw_att *w, int q, int k);
/* A value on the scale: 0..1, or -1..1. */
float pw_att_scaled(const struct pw_att *w, int scale, int q, float v);
bool pw_att_gold(const struct pw_att *w, int q, int k);

/* Did training never meet such a pair of query and key? */
bool pw_att_untrained(const struct pw_att *w, int q, int k);

/* ---- attention_map.c: one map with its labels, and what stands beside it */
/* The query and key drawn at a cell; false: there is none. */
bool pw_att_pair_at(struct pw_ui *ui, const struct pw_att *w, struct pw_rect r, int y, int x, int *query,
                    int *key);
void pw_att_draw_map(struct pw_ui *ui, const struct pw_att *w, struct pw_canvas *c, struct pw_rect r);
/* The part of the map that is drawn, and where. */
struct pw_att_window {
    const struct pw_ui *ui;
    const struct pw_att *w;
    int top, left, rows, cols; /* of the data */
    struct pw_heat m;
    int label_w, head_h;
    int y, x; /* of the map's first cell */
};
/* All of it as tab-separated values, a query a row; hidden ones are empty. */
void pw_att_copy_map(const struct pw_att *w, struct pw_str *out);
/* A value of the window as it is drawn. */
float pw_att_shade(const void *window, int row, int col);

/* ---- attention_over.c: signs over the map, its margins and its legend */
/* Both tell whether there was something to draw. */
bool pw_att_draw_hatch(const struct pw_att_window *p, struct pw_canvas *c, struct pw_rect r);
bool pw_att_draw_gold(const struct pw_att_window *p, struct pw_canvas *c, struct pw_rect r);
#define PW_ATT_BITS 5 /* columns right of the map */
/* What keys receive on the mean, below the map, and right of it the entropy of each query. */
void pw_att_draw_margins(const struct pw_att_window *p, struct pw_canvas *c, struct pw_rect r);
void pw_att_draw_legend(const struct pw_att_window *p, struct pw_canvas *c, struct pw_rect r, int y,
                        bool hatched, bool gold);

/* ---- attention_heads.c: all heads in small */
void pw_att_draw_heads(const struct pw_ui *ui, const struct pw_att *w, struct pw_canvas *c, struct pw_rect r);
/* The head drawn at a cell of the same rectangle; false: there is none. */
bool pw_att_head_at(const struct pw_ui *ui, const struct pw_att *w, struct pw_rect r, int y, int x,
                    int *layer, int *head);
/* At the bottom of r; the rows they take, 0 where there is no room. */
int pw_att_draw_small(const struct pw_ui *ui, const struct pw_att *w, struct pw_canvas *c, struct pw_rect r);

/* ---- attention_scores.c: numbers beside the map */
/* Both return the rows taken. */
int pw_att_draw_scores(const struct pw_ui *ui, const struct pw_att *w, struct pw_canvas *c, struct pw_rect r);
int pw_att_draw_profile(const struct pw_ui *ui, const struct pw_att *w, struct pw_canvas *c,
                        struct pw_rect r);

/* Every score of every head, a head a line. */
void pw_att_copy_scores(const struct pw_att *w, struct pw_str *out);

/* ---- attention_words.c: for `show` */
void pw_att_words(FILE *out, const struct pw_ui *ui);

/* ---- shared */
/* The answer's tokens stand out from the prompt's; the cursor's are reversed. */
struct pw_style pw_att_label_style(const struct pw_ev_attention *a, int t, int cursor);

#endif
