/* metadata.h - a checkpoint's origin as the strings of its header. For src/model only. */
#ifndef PW_METADATA_H
#define PW_METADATA_H
#include "model/checkpoint.h"
#include "model/safetensors.h"

/* What a resumable file says beside its tensors: steps since the schedule began, and steps that the model
 * itself has taken (which are not info's where its weights came from a file without moments). */
struct pw_metadata_counts {
    int64_t schedule, taken;
};

/* A new object of strings; the caller's (cJSON_Delete). NULL without memory. settled: the encoding's options
 * as they run, for whoever reads the file; else as they were given, for a laboratory that goes on as it was.
 */
struct cJSON *pw_metadata_make(const struct pw_checkpoint_info *info, const struct pw_model *m,
                               bool resumable, bool settled);

/* Reads what is there; what isn't keeps its default. On failure nothing stays allocated. */
enum pw_code pw_metadata_read(const struct pw_st *st, struct pw_checkpoint_info *info,
                              struct pw_metadata_counts *counts, const char *path, struct pw_err *err);
void pw_metadata_fini(struct pw_checkpoint_info *info);

#endif
