/* split.h - from which samples a task of a set is trained, validated and tested: what its options dist, held
 * and data ask for. Each init returns with nothing allocated on failure; each fini takes what init made. */
#ifndef PW_SPLIT_H
#define PW_SPLIT_H
#include "tasks/task.h"

/* A length that there is: this one, or one nearby. */
int pw_task_near(const struct pw_task_use *use, int length);

/* ---- dist.c: how often each trained length */
enum pw_code pw_dist_init(struct pw_task_use *use, struct pw_err *err);
void pw_dist_fini(struct pw_task_use *use);
int pw_dist_draw(const struct pw_task_use *use, struct pw_rng *rng);
/* In relation to the other trained lengths. */
double pw_dist_weight(const struct pw_task_use *use, int length);

/* ---- held.c: inputs that are never trained on */
/* Is the input with this content held out? One in ten is. */
bool pw_held_bytes(const unsigned char *bytes, size_t n);
enum pw_code pw_held_init(struct pw_task_use *use, struct pw_err *err);
void pw_held_fini(struct pw_task_use *use);
/* Draws an item of a length, or of one of its pairs, on the side of the held-out inputs that is asked for, if
 * this length has two. */
void pw_held_draw(const struct pw_task_use *use, struct pw_rng *rng, bool held, int length,
                  const struct pw_pair *pair, struct pw_item *item);
/* Of numbered inputs: how many evaluation has at a length, and number k of them. */
int pw_held_count(const struct pw_task_use *use, int length);
void pw_held_nth(const struct pw_task_use *use, int length, int k, struct pw_item *item);

/* ---- pool.c: a fixed set */
enum pw_code pw_pool_init(struct pw_task_use *use, struct pw_err *err);
void pw_pool_fini(struct pw_task_use *use);
/* Sample number index of TRAIN or VALID of task number `task` of the set. */
void pw_pool_draw(const struct pw_task_use *use, uint64_t seed, enum pw_split split, uint64_t index, int task,
                  struct pw_item *item);
/* Validation sample k of a length, its pairs in turn. */
void pw_pool_draw_at(const struct pw_task_use *use, uint64_t seed, int length, uint64_t k, int task,
                     struct pw_item *item);
int pw_pool_size(const struct pw_pool *pool, enum pw_split split);
double pw_pool_share(const struct pw_task_use *use, int length); /* of all samples */
int pw_pool_size_at(const struct pw_task_use *use, int length);  /* validation samples */

#endif
