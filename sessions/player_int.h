/* player_int.h - the player from inside: what it remembers of every moment.
 *
 * It folds all events once, as everybody does, into `now`, and looks what each of them changed there. So no
 * rule of the fold is written a second time:
 *   - plain values (player_slots.c): the members of a snapshot in ranges, each with all values that it ever
 * had and the events since which it had them;
 *   - arrays of slots (evaluations, maps, tables, ...): the snapshot says which event told them, and that
 * event is read again from the record;
 *   - series (player_series.c): they only grow, so a moment is a prefix. What an arm's end or a step back
 * takes away is kept aside as a life that is over. */
#ifndef PW_PLAYER_INT_H
#define PW_PLAYER_INT_H
#include "sessions/fold_int.h"
#include "sessions/player.h"

/* ---- shelf.c */
/* How many of n ascending numbers are at most `limit`. */
int pw_upto(const uint64_t *seq, int n, uint64_t limit);

/* Values of one size, by the event since which each holds. */
struct pw_shelf {
    size_t size; /* of a value; set before the first put */
    int n, cap;
    uint64_t *seq; /* [n] */
    char *value;   /* [n,size] */
};
void pw_shelf_put(struct pw_shelf *s, uint64_t seq, const void *value);
int pw_shelf_upto(const struct pw_shelf *s, uint64_t seq); /* so many values hold since `seq` or earlier */
void *pw_shelf_at(const struct pw_shelf *s, int i);
/* The value that held at seq; NULL: none did. */
void *pw_shelf_last(const struct pw_shelf *s, uint64_t seq);
void pw_shelf_fini(struct pw_shelf *s);

/* Lists that change at one end most of the time, as lists of the events that told their entries. */
struct pw_trail {
    uint64_t *seq; /* entries of all lists, each a run of them */
    size_t n, cap;
    struct pw_shelf lists; /* of struct pw_trail_list */
    struct pw_shelf entry; /* what each event told */
};
struct pw_trail_list {
    size_t from;
    int n;
};
/* The list since event seq. */
void pw_trail_put(struct pw_trail *t, uint64_t seq, const uint64_t *list, int n);
/* The list that held at seq. */
const uint64_t *pw_trail_at(const struct pw_trail *t, uint64_t seq, int *n);
void pw_trail_fini(struct pw_trail *t);

/* ---- player_series.c: curves, updates and tracks of every replicate */
enum pw_life_kind { PW_LIFE_SERIES, PW_LIFE_UPDATES, PW_LIFE_TRACK, PW_LIFE_KINDS };

/* A series from the event with which it began (again) to the one that ended it. */
struct pw_life {
    uint64_t from;
    uint64_t *seq; /* [n] the events that told its points */
    int n, cap;
    union pw_life_points {
        struct pw_series series;
        struct pw_updates updates;
        struct pw_track track;
    } u; /* of one that is over; the present one's are in `now` */
};

struct pw_lives {
    struct pw_life *over; /* [n] */
    int n, cap;
    struct pw_life present;
};

struct pw_all_lives {
    struct pw_lives of[PW_MAX_ARMS][PW_MAX_REPLICATES][PW_LIFE_KINDS];
    int64_t copied; /* points, because arms went back */
};

/* Before e is folded into now, and after. False: arms go back so often that nobody can have meant it. */
bool pw_lives_before(struct pw_all_lives *l, struct pw_snapshot *now, const struct pw_event *e);
void pw_lives_after(struct pw_all_lives *l, struct pw_snapshot *now, const struct pw_event *e);
/* The series of all arms at seq into view: they point into now and l. Steps, too, where one was told later
 * than by event told[arm - 1]. */
void pw_lives_cut(const struct pw_all_lives *l, struct pw_snapshot *view, const struct pw_snapshot *now,
                  uint64_t seq, const uint64_t told[PW_MAX_ARMS]);
/* The first event that took an arm beyond `step` in the life that it had at seq; 0: none did. *reached: the
 * one with which it had come as far as it has before. *end: the one that ended that life; 0: none has. */
uint64_t pw_lives_beyond(const struct pw_all_lives *l, const struct pw_snapshot *now, int arm, uint64_t seq,
                         int64_t step, uint64_t *reached, uint64_t *end);
void pw_lives_fini(struct pw_all_lives *l);

/* ---- player_kept.c */
struct pw_past_kept {
    struct pw_trail list;      /* of an arm; entries are struct pw_kept_map, which own their scores */
    struct pw_kept_map *shown; /* [PW_MAX_KEPT] those of the restored snapshot */
};
/* After e was folded into now. */
void pw_past_kept_after(struct pw_past_kept k[PW_MAX_ARMS], const struct pw_snapshot *now,
                        const struct pw_event *e);
/* As it was at seq. The arrays are k's. */
void pw_past_kept_restore(struct pw_past_kept k[PW_MAX_ARMS], struct pw_snapshot *view, uint64_t seq);
void pw_past_kept_fini(struct pw_past_kept k[PW_MAX_ARMS]);

/* ---- player_slots.c */
struct pw_slots;
struct pw_slots *pw_slots_new(void);
void pw_slots_free(struct pw_slots *s);
/* After e, which was no STEP and no UPDATES, was folded into now. */
void pw_slots_after(struct pw_slots *s, const struct pw_snapshot *now, const struct pw_event *e);
/* When the step of an arm was last told at seq by something else than a STEP. */
uint64_t pw_slots_told_step(const struct pw_slots *s, int arm, uint64_t seq);
/* All but the series, as they were at seq. The arrays are s's, read from r. */
void pw_slots_restore(struct pw_slots *s, struct pw_snapshot *view, struct pw_record *r, uint64_t seq);
/* The text of the log line that event seq made; NULL: it made none. */
const char *pw_slots_line(const struct pw_slots *s, uint64_t seq);

#endif
