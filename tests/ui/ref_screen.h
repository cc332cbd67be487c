/* ref_screen.h - a fabricated lab for tests of the screen: constructed events, folded by the real fold. */
#ifndef REF_SCREEN_H
#define REF_SCREEN_H
#include "ui/ui.h"

enum screen_table {
    SCREEN_AS_IS,
    SCREEN_NONE,
    SCREEN_T5,
    SCREEN_ALIBI,
    SCREEN_ROTARY,
    SCREEN_LEARNED,
    SCREEN_SHAW,
    SCREEN_FIRE,
    SCREEN_FORMULA,
    SCREEN_TABLES
};

/* A race of five encodings at sorting, after 640 of 1000 steps. One arm was swapped at 400, and all are
 * evaluated. "sort 3 1 4 1 5 9 2" is pinned to the T5 arm and decoded with one mistake. There are 16 tokens
 * of attention in 2 layers of 4 heads, and T5's table. Free it with pw_snapshot_free. */
struct pw_snapshot *screen_race(void);
/* The same race with this many replicas of each arm; 1 equals screen_race. */
struct pw_snapshot *screen_race_of(int replicas);
/* Makes the arm with such an encoding current, and adds its table; AS_IS: changes nothing. */
void screen_set_table(struct pw_snapshot *s, enum screen_table kind);
/* Changes the task to addition with pairs of lengths, trained on 5 by 5 digits, and evaluates it. */
void screen_set_pairs(struct pw_snapshot *s);
/* Makes the task running text, with evaluations over training. */
void screen_set_text(struct pw_snapshot *s);
/* Lists n examples of length 12 that the T5 arm got wrong. */
void screen_set_failing(struct pw_snapshot *s, int n);
/* Three findings: a plot (decay), a large map with one claim (rank 2), and the newest (scores 1 2 3). That
 * one has a table, a plot with bands, a named map and a claim of each verdict. */
void screen_set_findings(struct pw_snapshot *s);
void screen_set_view(struct pw_snapshot *s, int layer, int head, enum pw_view view);
/* Pins a prompt of T tokens with its maps. */
void screen_set_prompt(struct pw_snapshot *s, int T, const char *const *labels, int n_labels);
/* Imports attention of T tokens from a file theirs.npz: the same maps, and a score of 1 + head for every
 * key. */
void screen_import(struct pw_snapshot *s, int T, const char *const *labels, int n_labels);
void screen_command(struct pw_snapshot *s, const char *text);
void screen_note(struct pw_snapshot *s, enum pw_event_kind kind, const char *text);
void screen_arm(struct pw_snapshot *s, int id, const char *name, const char *pe);
void screen_step(struct pw_snapshot *s, int arm, int64_t step, float loss);
/* Appends a step to a replica's series, whose metrics all equal `value`. Equals the fold, but is faster. */
void screen_point(struct pw_replica_view *rep, float value);

/* The workbench before its first frame, as pw_ui_init leaves it, with these colours and glyphs. */
struct pw_ui screen_ui(const struct pw_snapshot *s, enum pw_colors colors, bool utf8);
/* Presses keys, with a frame after each. The last one must give this command line. */
void screen_line(struct pw_ui *ui, const char *keys, const char *want);

#endif
