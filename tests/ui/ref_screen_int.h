/* ref_screen_int.h - shared by the parts of ref_screen.h. */
#ifndef REF_SCREEN_INT_H
#define REF_SCREEN_INT_H
#include "ref_screen.h"
#include "sessions/fold_int.h"

#define LAYERS 2
#define HEADS  4

/* Folds e and frees it. It gets the next number and time. */
void screen_fold(struct pw_snapshot *s, struct pw_event *e);
void *screen_array(size_t n, size_t size);
/* A number in -1..1 that depends only on a and b. */
float screen_noise(uint32_t a, uint32_t b);

/* ---- ref_prompt.c */
void screen_pin_sort(struct pw_snapshot *s);

#endif
