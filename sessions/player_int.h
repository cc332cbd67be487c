/* player_int.h - internals of the player: how it stores the state at every event.
 *
 * The player folds all events once, with pw_fold, into `now`, and records what each event changed there. So
 * no rule of the fold is written twice:
 *   - plain values (player_slots.c): the members of a snapshot in ranges; for each range every value it had,
 *     with the event that set it;
 *   - arrays of slots (evaluations, maps, tables, ...): the snapshot gives the event that set them, and that
 *     event is read again from the record;
 *   - series (player_series.c): they only grow, so the state at an event is a prefix. If an arm is dropped or
 *     goes back to an earlier step, the removed series is saved as a life that is over. */
#ifndef PW_PLAYER_INT_H
#define PW_PLAYER_INT_H
#include "sessions/fold_int.h"
#include "sessions/player.h"

/* An event that a slot of the restored snapshot lacks (player_slots.c). */
struct pw_lack {
    int slot;
    uint64_t seq;
    struct pw_event *e; /* owned; NULL: not read yet, or it can't be read */
};

/* ---- player_ahead.c */
struct pw_ahead {
    char *path;
    struct pw_record *record; /* NULL: not opened yet */
    struct pw_event **event;  /* [n] owned: read, and not yet taken */
    int n, cap;
    struct pw_lack *lack; /* [n_lack] owned */
    int n_lack;
    bool told;                    /* the last read filled in the session */
    struct pw_ev_session session; /* as of the last read that did */
};
/* Drop the events that were read, and the list of lacking ones. */
void pw_ahead_drop(struct pw_ahead *a);
/* Fill the session slot, because SESSION events are not recorded: this is a session opened for reading. */
void pw_player_session(struct pw_ev_session *s, struct pw_record *r);

/* ---- shelf.c */
/* Return how many of n ascending numbers are at most `limit`. */
int pw_upto(const uint64_t *seq, int n, uint64_t limit);

/* A history of values of one size, each with the event that set it. */
struct pw_shelf {
    size_t size; /* bytes of a value; set before the first put */
    int n, cap;
    uint64_t *seq; /* [n] ascending */
    char *value;   /* [n,size] */
};
void pw_shelf_put(struct pw_shelf *s, uint64_t seq, const void *value);
int pw_shelf_upto(const struct pw_shelf *s, uint64_t seq); /* number of values set at `seq` or earlier */
void *pw_shelf_at(const struct pw_shelf *s, int i);
/* Return the value at event seq; NULL if none was set yet. */
void *pw_shelf_last(const struct pw_shelf *s, uint64_t seq);
void pw_shelf_fini(struct pw_shelf *s);

/* The history of a list that usually changes at one end. Each entry is identified by the event that created
 * it. */
struct pw_trail {
    uint64_t *seq; /* entries of all lists; each list is a contiguous range */
    size_t n, cap;
    struct pw_shelf lists; /* of struct pw_trail_list */
    struct pw_shelf entry; /* data of each entry, by its event */
};
/* One list: `n` entries of pw_trail's seq, from index `from` on. */
struct pw_trail_list {
    size_t from;
    int n;
};
/* Record the list as it is after event seq. */
void pw_trail_put(struct pw_trail *t, uint64_t seq, const uint64_t *list, int n);
/* Return the list at event seq, and its length. */
const uint64_t *pw_trail_at(const struct pw_trail *t, uint64_t seq, int *n);
void pw_trail_fini(struct pw_trail *t);

/* ---- player_series.c: curves, updates and tracks of every replica */
enum pw_life_kind { PW_LIFE_SERIES, PW_LIFE_UPDATES, PW_LIFE_TRACK, PW_LIFE_KINDS };

/* A series from the event that started it (again) to the event that ended it. */
struct pw_life {
    uint64_t from;
    uint64_t *seq; /* [n] the events that added its points */
    int n, cap;
    union pw_life_points {
        struct pw_series series;
        struct pw_updates updates;
        struct pw_track track;
    } u; /* of a life that is over; the present life's series are in `now` */
};

/* All lives of one series of one replica. */
struct pw_lives {
    struct pw_life *over; /* [n] lives that are over */
    int n, cap;
    struct pw_life present;
};

/* All lives of all series. */
struct pw_all_lives {
    struct pw_lives of[PW_MAX_ARMS][PW_MAX_REPLICAS][PW_LIFE_KINDS];
    int64_t copied; /* points copied because arms went back to earlier steps */
};

/* Call these before and after e is folded into now. The first returns false if too many points were copied:
 * arms go back so often that the session must be malicious. */
bool pw_lives_before(struct pw_all_lives *l, struct pw_snapshot *now, const struct pw_event *e);
void pw_lives_after(struct pw_all_lives *l, struct pw_snapshot *now, const struct pw_event *e);
/* Set the series of all arms in view as they were at seq; they point into now and l. Also sets an arm's step
 * if a STEP event is newer than event told[arm - 1]. */
void pw_lives_cut(const struct pw_all_lives *l, struct pw_snapshot *view, const struct pw_snapshot *now,
                  uint64_t seq, const uint64_t told[PW_MAX_ARMS]);
/* Return the first event at which the arm went beyond `step` in the life that it had at seq; 0: none.
 * *reached: the last event at or before that step. *end: the event that ended that life; 0: none. */
uint64_t pw_lives_beyond(const struct pw_all_lives *l, const struct pw_snapshot *now, int arm, uint64_t seq,
                         int64_t step, uint64_t *reached, uint64_t *end);
void pw_lives_fini(struct pw_all_lives *l);

/* ---- player_kept.c: kept attention maps (steps and scores) */
struct pw_past_kept {
    struct pw_trail list;      /* of an arm; entries are struct pw_kept_map, which own their scores */
    struct pw_kept_map *shown; /* [PW_MAX_KEPT] entries of the restored snapshot */
};
/* Call this after e was folded into now. */
void pw_past_kept_after(struct pw_past_kept k[PW_MAX_ARMS], const struct pw_snapshot *now,
                        const struct pw_event *e);
/* Restore the kept maps at seq into view; the arrays belong to k. */
void pw_past_kept_restore(struct pw_past_kept k[PW_MAX_ARMS], struct pw_snapshot *view, uint64_t seq);
void pw_past_kept_fini(struct pw_past_kept k[PW_MAX_ARMS]);

/* ---- player_course.c: learned parameters over training */
struct pw_past_course {
    struct pw_trail list;          /* of an arm; entries are struct pw_course_point, which own their values */
    struct pw_shelf shape;         /* of struct pw_course without its points */
    struct pw_course_point *shown; /* [PW_MAX_COURSE] points of the restored snapshot */
};
/* As the functions of player_kept.c. */
void pw_past_course_after(struct pw_past_course c[PW_MAX_ARMS], const struct pw_snapshot *now,
                          const struct pw_event *e);
void pw_past_course_restore(struct pw_past_course c[PW_MAX_ARMS], struct pw_snapshot *view, uint64_t seq);
void pw_past_course_fini(struct pw_past_course c[PW_MAX_ARMS]);

/* ---- player_slots.c: all members except series */
struct pw_slots;
struct pw_slots *pw_slots_new(void);
void pw_slots_free(struct pw_slots *s);
/* Call this after e, which is neither STEP nor UPDATES, was folded into now. */
void pw_slots_after(struct pw_slots *s, const struct pw_snapshot *now, const struct pw_event *e);
/* Return the last event at or before seq, other than STEP, that set an arm's step. */
uint64_t pw_slots_emitted_step(const struct pw_slots *s, int arm, uint64_t seq);
/* Restore everything except series, as of seq, into view. Arrays belong to s and are read from r. r NULL:
 * nothing is read. Then an array that was not read yet is the last one of its slot that was shown, at first
 * the one of `end`, the snapshot of all events. */
void pw_slots_restore(struct pw_slots *s, struct pw_snapshot *view, const struct pw_snapshot *end,
                      struct pw_record *r, uint64_t seq);
/* Return the number of events that the last restored snapshot lacks. list: NULL, or set to them if there are
 * any; the caller frees it. */
int pw_slots_lack(const struct pw_slots *s, struct pw_lack **list);
/* Add an event that was read, or that can't be read; takes it from l. The next restore uses it. */
void pw_slots_take(struct pw_slots *s, struct pw_lack *l);
/* Read one event; NULL: it can't be read. The caller frees it. */
struct pw_event *pw_slots_event(struct pw_record *r, uint64_t seq);
/* Return the text of the log line of event seq; NULL if it has none. */
const char *pw_slots_line(const struct pw_slots *s, uint64_t seq);

#endif
