/* metadata.h - the origin of a checkpoint as strings in its header. For src/model only, on the thread that
 * owns the model. */
#ifndef PW_METADATA_H
#define PW_METADATA_H
#include "model/checkpoint.h"
#include "model/safetensors.h"

#define PW_METADATA_ORIGIN "pewter.origin" /* pw_model_set_origin */

/* Counts in a resumable file, beside its tensors: steps since the schedule began, and steps that this model
 * has taken. taken differs from info->step if the weights came from a file without moments. */
struct pw_metadata_counts {
    int64_t schedule, taken;
};

/* Returns a new JSON object of strings, which the caller frees (cJSON_Delete); NULL without memory. settled:
 * write the encoding's options at their values in effect, for other readers of the file; otherwise as given,
 * so that a resumed lab continues unchanged. */
struct cJSON *pw_metadata_make(const struct pw_checkpoint_info *info, const struct pw_model *m,
                               bool resumable, bool settled);

/* Reads the metadata that the file has; the rest keeps its default. On failure nothing stays allocated.
 * pw_metadata_fini frees info's text. */
enum pw_code pw_metadata_read(const struct pw_st *st, struct pw_checkpoint_info *info,
                              struct pw_metadata_counts *counts, const char *path, struct pw_err *err);
/* Adds what an image has in addition; s NULL: its tensors are complete. Returns false without memory. */
bool pw_metadata_add_image(struct cJSON *meta, const struct pw_source_files *s);
void pw_metadata_fini(struct pw_checkpoint_info *info);

#endif
