/* state_int.h - the parts of a lab's state as JSON. For state*.c only. */
#ifndef PW_STATE_INT_H
#define PW_STATE_INT_H
#include "lab/recording/state.h"

struct cJSON;

#define PW_STATE_GOAL 1e16 /* limit of every number of steps in a state */

/* ---- state_fields.c: convert members of a struct, by an option table, to strings of a JSON object. If
 * object is NULL or memory runs out: returns false, or NULL. */
bool pw_state_put(struct cJSON *object, const struct pw_opt *table, const void *from);
bool pw_state_put_text(struct cJSON *object, const char *name, const char *text);
bool pw_state_put_ints(struct cJSON *object, const char *name, const int *v, int n);
/* Read every member back. more: number of other members that the object has. A member with a default was
 * added to the format later and may be missing. Errors: another member is missing, duplicated or out of
 * range, or the object has an unknown member. what: for messages. */
enum pw_code pw_state_get(const struct cJSON *object, const struct pw_opt *table, void *to, int more,
                          const char *what, struct pw_err *err);
/* Returns NULL on failure, with err filled. */
const char *pw_state_get_text(const struct cJSON *object, const char *name, const char *what,
                              struct pw_err *err);
/* Read exactly n numbers of 0..below-1. */
enum pw_code pw_state_get_ints(const struct cJSON *object, const char *name, int *v, int n, int below,
                               const char *what, struct pw_err *err);

/* ---- state_arms.c: the list "replicates" of root, and the images; task: its canonical text */
enum pw_code pw_state_save_arms(struct pw_lab *lab, struct cJSON *root, struct pw_lab_images *images,
                                char *task, struct pw_err *err);
/* The lab must have its task and its backend, and no arms. */
enum pw_code pw_state_restore_arms(struct pw_lab *lab, const struct cJSON *list,
                                   enum pw_code (*get)(void *, int, void **, size_t *, struct pw_err *),
                                   void *arg, struct pw_err *err);

/* ---- state_source.c */
struct pw_source_files; /* model/source.h */
struct pw_foreign;      /* foreign/foreign.h */
/* Open the files that a model refers to. PW_EMISSING: a file is missing or has other content; the line names
 * it. pw_foreign_close frees *out, which is NULL on failure. */
enum pw_code pw_state_open_source(struct pw_foreign **out, const struct pw_source_files *s,
                                  struct pw_err *err);
/* Check the files that the n models of a state refer to. Other faults of the models are not reported. */
enum pw_code pw_state_check_sources(int n,
                                    enum pw_code (*get)(void *, int, void **, size_t *, struct pw_err *),
                                    void *arg, struct pw_err *err);

/* ---- state_watches.c: "watches" of root; list NULL: there are none */
bool pw_state_save_watches(const struct pw_lab *lab, struct cJSON *root);
enum pw_code pw_state_restore_watches(struct pw_lab *lab, const struct pw_commands *commands,
                                      const struct cJSON *list, struct pw_err *err);

/* ---- state_pin.c */
struct cJSON *pw_state_save_pin(struct pw_lab *lab);
/* The lab must have its arms, and no pinned prompt. */
enum pw_code pw_state_restore_pin(struct pw_lab *lab, const struct cJSON *object, struct pw_err *err);

#endif
