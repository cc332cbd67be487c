/* ref_screen.h - a laboratory that never was: fabricated events, folded by the real fold, for tests of the
 * screen. */
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
    SCREEN_TABLES
};

/* Five encodings race at sorting, 640 of 1000 steps done, one arm swapped at 400; evaluated; "sort 3 1 4 1 5
 * 9 2" is pinned to the T5 arm, decoded with one mistake, 16 tokens of attention in 2 layers of 4 heads; T5's
 * table. Free with pw_snapshot_free. */
struct pw_snapshot *screen_race(void);
/* The same race with so many replicates of each arm; 1 is screen_race. */
struct pw_snapshot *screen_race_of(int replicates);
/* The table of the arm with such an encoding, which becomes the current one; AS_IS: nothing changes. */
void screen_set_table(struct pw_snapshot *s, enum screen_table kind);
/* The task becomes addition with its lengths by pairs, trained on 5 by 5 digits, and is evaluated. */
void screen_set_pairs(struct pw_snapshot *s);
/* A list of n examples of length 12 that the T5 arm got wrong. */
void screen_set_failing(struct pw_snapshot *s, int n);
/* Three findings: a plot (decay), a large map with one claim (rank 2), and the newest with a table, a plot
 * with bands, a named map and a claim of each verdict (scores 1 2 3). */
void screen_set_findings(struct pw_snapshot *s);
void screen_set_view(struct pw_snapshot *s, int layer, int head, enum pw_view view);
/* Pins a prompt of T tokens with its maps. */
void screen_set_prompt(struct pw_snapshot *s, int T, const char *const *labels, int n_labels);
/* Attention of a file theirs.npz, of T tokens: the same maps, and a score of 1 + head for every key. */
void screen_import(struct pw_snapshot *s, int T, const char *const *labels, int n_labels);
void screen_command(struct pw_snapshot *s, const char *text);
void screen_note(struct pw_snapshot *s, enum pw_event_kind kind, const char *text);
void screen_arm(struct pw_snapshot *s, int id, const char *name, const char *pe);
void screen_step(struct pw_snapshot *s, int arm, int64_t step, float loss);
/* The next step of a replicate's series, whose metrics are all the same: as the fold does it, quickly. */
void screen_point(struct pw_replicate_view *rep, float value);

/* The workbench before its first frame, as pw_ui_init leaves it, with this look. */
struct pw_ui screen_ui(const struct pw_snapshot *s, enum pw_colors colors, bool utf8);

#endif
