/* metadata.h - a checkpoint's origin as the strings of its header. For src/model only. */
#ifndef PW_METADATA_H
#define PW_METADATA_H
#include "model/checkpoint.h"
#include "model/safetensors.h"

/* A new object of strings; the caller's (cJSON_Delete). schedule: steps since the schedule began, -1: leave
 * out. NULL without memory. */
struct cJSON *pw_metadata_make(const struct pw_checkpoint_info *info, const struct pw_config *cfg,
                               const struct pw_pe_use_opts *pe, int64_t schedule);

/* Reads what is there; what isn't keeps its default. On failure nothing stays allocated. */
enum pw_code pw_metadata_read(const struct pw_st *st, struct pw_checkpoint_info *info, int64_t *schedule,
                              const char *path, struct pw_err *err);
void pw_metadata_fini(struct pw_checkpoint_info *info);

#endif
