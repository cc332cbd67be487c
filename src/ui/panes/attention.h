/* attention.h - interface between the files of the attention pane: the selected map, its values, and the
 * functions that draw its parts. */
#ifndef PW_PANE_ATTENTION_H
#define PW_PANE_ATTENTION_H
#include "plot/attention.h"
#include "ui/plot.h"

/* How values are mapped to shades. */
enum pw_att_scale {
    PW_ATT_GLOBAL, /* probabilities from 0 to 1, other views up to the map's largest value */
    PW_ATT_ROW,    /* up to the largest value of the query */
    PW_ATT_LOG,    /* logarithmic: three decades for probabilities, two in each direction for signed values */
    PW_ATT_SCALES
};
extern const char *const pw_att_scale_names[PW_ATT_SCALES]; /* suffixes of titles, such as " by row" */

/* A copy of the map that was chosen as reference; owned by the workbench. */
struct pw_att_ref {
    uint64_t id;   /* another one for each reference */
    char name[64]; /* "3 t5 8/16 head 1.1 step 640" */
    bool file;     /* from a file, whose tokens possibly have other names */
    int view, T;
    char (*labels)[PW_LABEL]; /* [T] */
    float *v;                 /* [T,T]; -inf where hidden */
};

/* The shown map: a head, or the mean of a layer's heads, at one moment. */
struct pw_att {
    const struct pw_ev_attention *a;
    int arm, replica; /* 0: from a file */
    int64_t step;
    bool past;             /* a kept map of the past; otherwise the latest */
    int layer, head, view; /* within a's bounds */
    bool mean;
    const char *why[4]; /* if there is no map: lines that explain it, then NULL */

    int T;                        /* number of tokens; with a reference, only the common prefix */
    const struct pw_att_ref *ref; /* the map that is subtracted; NULL: none */
    bool renamed;                 /* the reference's tokens have other names */
    const uint16_t *m;            /* [T,T] of the view, borrowed; NULL: probabilities */
    bool cells;                   /* a small map of pooled cells: T counts cells */
    bool first_hidden;            /* the first key is left out */
    bool is_signed;
    float top;         /* largest absolute value, or 1 */
    float *row_top;    /* [T] of each query; 0: not known yet */
    const char *hatch; /* unseen unit: "distance", "bucket", "position", "length"; NULL: unknown */
    bool by_position;
    bool *unmet;                    /* [T]: not seen in training, by distance or position */
    const struct pw_att_long *kept; /* of this map, borrowed from the state; NULL: none */
};

/* Returns the measurements of the shown replica; NULL if the map is from a file or the arm was dropped. */
const struct pw_replica_view *pw_att_measured(const struct pw_ui *ui, const struct pw_att *w);
/* Returns true if the head is off in the shown replica. */
bool pw_att_off(const struct pw_ui *ui, const struct pw_att *w, int layer, int head);

/* ---- attention_file.c: attention from a file, as an alternative to the arm's */
/* Returns the attention that is shown, the arm's or a file's; NULL: there is none. */
const struct pw_ev_attention *pw_att_shown(const struct pw_ui *ui);
bool pw_att_of_file(const struct pw_ui *ui);
void pw_att_find_file(struct pw_att *w, const struct pw_ui *ui);
/* Switches between the arm's attention and the file's if both exist. */
void pw_att_change_source(struct pw_ui *ui);
/* Moves by `by` heads, layers or views of a file, cyclically. */
void pw_att_move_file(struct pw_ui *ui, const char *what, int by);

/* ---- attention_value.c */
/* Selects the map: sets all members of *w that precede T. Returns false and sets why if there is none. */
bool pw_att_find(struct pw_att *w, const struct pw_ui *ui);
/* Prepares the values that the pane shows (pw_att_value). Returns false and sets why if there are none. Call
 * pw_att_fini in both cases. */
bool pw_att_init(struct pw_att *w, const struct pw_ui *ui);
/* Returns the value that the pane shows of a query and key, before it is scaled; -inf where hidden. */
float pw_att_value(const struct pw_att *w, int q, int k);
/* Writes the values of all keys to row [T]; keys that the causal mask hides are left as they are. */
void pw_att_visible(const struct pw_att *w, int q, float *row);
/* Returns the largest absolute value of a row [T]; at least 1e-6, because it is a scale. */
float pw_att_largest(const float *row, int T);
/* Prepares the probabilities of another head of the same attention, pooled ones if the event has no others.
 */
void pw_att_init_head(struct pw_att *out, const struct pw_ui *ui, const struct pw_att *w, int layer,
                      int head);
void pw_att_fini(struct pw_att *w);
/* pw_att_reference makes the shown map the reference; pw_att_forget drops the reference. */
void pw_att_reference(struct pw_ui *ui);
void pw_att_forget(struct pw_ui *ui);
void pw_att_own_reference(struct pw_ui *copy); /* copies the reference, drops the kept map */
/* Returns the probability of a query and key for the head or mean, independent of the shown view. */
float pw_att_prob(const struct pw_att *w, int q, int k);
/* Maps a value to the scale: 0..1, or -1..1 for signed values. */
float pw_att_scaled(const struct pw_att *w, int scale, int q, float v);
bool pw_att_gold(const struct pw_att *w, int q, int k);

/* Returns true if this pair of query and key was not seen in training. */
bool pw_att_untrained(const struct pw_att *w, int q, int k);

/* ---- attention_long.c: data of all pairs of a long sequence, computed once for its frames */
/* Sets w->kept if the state has it for this map. */
void pw_att_take_long(struct pw_att *w, const struct pw_ui *ui);
/* Makes the state have it for this map and scale, with pixels of pool x pool pairs if pool > 1. */
void pw_att_keep_long(struct pw_ui *ui, const struct pw_att *w, int pool);
void pw_att_forget_long(struct pw_ui *ui);

/* ---- attention_map.c: one map with its labels and margins */
/* Finds the query and key drawn at a cell; false: there are none. */
bool pw_att_pair_at(const struct pw_ui *ui, const struct pw_att *w, struct pw_rect r, int y, int x,
                    int *query, int *key);
/* Scrolls to the cursor, and keeps what drawing a long map needs. */
void pw_att_settle_map(struct pw_ui *ui, const struct pw_att *w, struct pw_rect r);
void pw_att_draw_map(const struct pw_ui *ui, const struct pw_att *w, struct pw_canvas *c, struct pw_rect r);
/* The visible part of the map, and its place on the canvas. */
struct pw_att_window {
    const struct pw_ui *ui;
    const struct pw_att *w;
    int top, left, rows, cols; /* of the values */
    struct pw_heat m;
    int label_w, head_h;
    int y, x; /* the map's first cell */
};
/* Returns true if the state keeps the pixels of this window. */
bool pw_att_kept_pixels(const struct pw_att_window *p);
/* Appends the map as tab-separated values, one query per row; hidden values are empty. */
void pw_att_copy_map(const struct pw_att *w, struct pw_str *out);
/* Returns a value of the window as it is drawn; window is a struct pw_att_window. */
float pw_att_shade(const void *window, int row, int col);

/* ---- attention_over.c: signs on the map, its margins and its legend */
/* Both return true if they drew a sign. */
bool pw_att_draw_hatch(const struct pw_att_window *p, struct pw_canvas *c, struct pw_rect r);
bool pw_att_draw_gold(const struct pw_att_window *p, struct pw_canvas *c, struct pw_rect r);
#define PW_ATT_BITS 5 /* columns right of the map */
/* Returns the name of the row that pw_att_draw_margins draws below the map. */
const char *pw_att_below_word(const struct pw_att *w);
/* Draws the mean probability that each key receives below the map, and the entropy of each query at its
 * right. */
void pw_att_draw_margins(const struct pw_att_window *p, struct pw_canvas *c, struct pw_rect r);
void pw_att_draw_legend(const struct pw_att_window *p, struct pw_canvas *c, struct pw_rect r, int y,
                        bool hatched, bool gold);

/* ---- attention_heads.c: small maps of all heads */
void pw_att_draw_heads(const struct pw_ui *ui, const struct pw_att *w, struct pw_canvas *c, struct pw_rect r);
/* Finds the head drawn at a cell of the same rectangle; false: there is none. */
bool pw_att_head_at(const struct pw_ui *ui, const struct pw_att *w, struct pw_rect r, int y, int x,
                    int *layer, int *head);
/* Returns the index of the score behind the one that the heads show (pw_att_score_at). */
int pw_att_next_score(const struct pw_ui *ui, const struct pw_ev_attention *a);
/* Draws the maps at the bottom of r. Returns the number of rows, 0 if they do not fit. */
int pw_att_draw_small(const struct pw_ui *ui, const struct pw_att *w, struct pw_canvas *c, struct pw_rect r);

/* ---- attention_scores.c: numbers next to the map */
/* Both return the number of rows that they take. */
int pw_att_draw_scores(const struct pw_ui *ui, const struct pw_att *w, struct pw_canvas *c, struct pw_rect r);
int pw_att_draw_profile(const struct pw_ui *ui, const struct pw_att *w, struct pw_canvas *c,
                        struct pw_rect r);

/* Appends all scores, one head per line. */
void pw_att_copy_scores(const struct pw_att *w, struct pw_str *out);

/* ---- attention_readout.c: text about the pair under the cursor */
/* Draws it unless c is NULL. Returns the number of lines. */
int pw_att_draw_readout(const struct pw_ui *ui, const struct pw_att *w, struct pw_canvas *c,
                        struct pw_rect r);

/* ---- attention_words.c: for `show` */
void pw_att_words(FILE *out, const struct pw_ui *ui);

/* ---- shared */
/* Returns the style of a token's label: tokens of the answer differ from the prompt's, the cursor's is
 * reversed. */
struct pw_style pw_att_label_style(const struct pw_ev_attention *a, int t, int cursor);

#endif
