/* export_int.h - the parts of `export`: export.c has the table of kinds, export_sheet.c those that are rows.
 */
#ifndef PW_EXPORT_INT_H
#define PW_EXPORT_INT_H
#include "base/err.h"
#include "sessions/fold.h"

/* Rows of what was measured, of every replicate of every arm: CSV (RFC 4180), or one JSON object a line where
 * path ends in .jsonl. The file appears whole or not at all. */
enum pw_code pw_export_curves(const struct pw_snapshot *record, const char *path, struct pw_err *err);
enum pw_code pw_export_updates(const struct pw_snapshot *record, const char *path, struct pw_err *err);
enum pw_code pw_export_track(const struct pw_snapshot *record, const char *path, struct pw_err *err);
enum pw_code pw_export_lengths(const struct pw_snapshot *record, const char *path, struct pw_err *err);
enum pw_code pw_export_errors(const struct pw_snapshot *record, const char *path, struct pw_err *err);

/* The same for TensorBoard, into a folder. */
enum pw_code pw_export_tensorboard(const struct pw_snapshot *record, const char *folder, struct pw_err *err);

#endif
