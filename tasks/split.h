/* split.h - the samples that a task of a set is trained, validated and tested on: the options dist, held and
 * data.
 *
 * Each init derives its data from the options and leaves nothing allocated on failure; each fini frees it.
 * Afterwards the data are read-only, for any thread. */
#ifndef PW_SPLIT_H
#define PW_SPLIT_H
#include "tasks/task.h"

/* Returns the length itself if samples of it exist, otherwise a length nearby. */
int pw_task_near(const struct pw_task_use *use, int length);

/* ---- dist.c: how often each trained length is drawn */
/* Reads dist=; a bad file or distribution is PW_EUSER. */
enum pw_code pw_dist_init(struct pw_task_use *use, struct pw_err *err);
void pw_dist_fini(struct pw_task_use *use);
/* Draws a trained length. */
int pw_dist_draw(const struct pw_task_use *use, struct pw_rng *rng);
/* Returns the weight of a trained length; only ratios matter. */
double pw_dist_weight(const struct pw_task_use *use, int length);

/* ---- held.c: inputs that are never trained on */
/* Returns true if the input with this content is held out; one in ten is. */
bool pw_held_bytes(const unsigned char *bytes, size_t n);
/* Decides, per trained length, whether inputs can be held out. */
enum pw_code pw_held_init(struct pw_task_use *use, struct pw_err *err);
void pw_held_fini(struct pw_task_use *use);
/* Draws an item of a length, or of the given pair of the length. held selects the side of the split, if
 * inputs of this length are held out. */
void pw_held_draw(const struct pw_task_use *use, struct pw_rng *rng, bool held, int length,
                  const struct pw_pair *pair, struct pw_item *item);
/* For tasks with numbered inputs: the number of inputs that evaluation has at a
 * length, and input k of them. */
int pw_held_count(const struct pw_task_use *use, int length);
void pw_held_nth(const struct pw_task_use *use, int length, int k, struct pw_item *item);

/* ---- pool.c: a fixed training set */
/* Lays out the pool; data=N that is too small is PW_EUSER. Without data=N it does nothing. */
enum pw_code pw_pool_init(struct pw_task_use *use, struct pw_err *err);
void pw_pool_fini(struct pw_task_use *use);
/* Draws sample number index of TRAIN or VALID; task is the index of the task in the set. */
void pw_data_pool_draw(const struct pw_task_use *use, uint64_t seed, enum pw_split split, uint64_t index,
                       int task, struct pw_item *item);
/* Draws validation sample k of a length; k rotates through its pairs. */
void pw_pool_draw_at(const struct pw_task_use *use, uint64_t seed, int length, uint64_t k, int task,
                     struct pw_item *item);
/* Returns the number of samples of TRAIN or VALID. */
int pw_data_pool_size(const struct pw_data_pool *pool, enum pw_split split);
double pw_pool_share(const struct pw_task_use *use, int length); /* share of the whole pool */
int pw_pool_size_at(const struct pw_task_use *use, int length);  /* number of validation samples */

#endif
