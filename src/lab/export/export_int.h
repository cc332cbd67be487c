/* export_int.h - internal interface of the command `export`: export.c has the table of kinds, export_sheet.c
 * the kinds that write rows. */
#ifndef PW_EXPORT_INT_H
#define PW_EXPORT_INT_H
#include "base/err.h"
#include "base/opt.h"
#include "sessions/fold.h"
#include <stdbool.h>

/* Write rows of measurements of every replica of every arm. The format is CSV (RFC 4180), or JSON Lines if
 * path ends in .jsonl. The file appears complete or not at all. */
enum pw_code pw_export_curves(const struct pw_snapshot *record, const char *path, struct pw_err *err);
enum pw_code pw_export_updates(const struct pw_snapshot *record, const char *path, struct pw_err *err);
enum pw_code pw_export_track(const struct pw_snapshot *record, const char *path, struct pw_err *err);
enum pw_code pw_export_lengths(const struct pw_snapshot *record, const char *path, struct pw_err *err);
enum pw_code pw_export_errors(const struct pw_snapshot *record, const char *path, struct pw_err *err);

/* Write the measurements for TensorBoard into a folder. */
enum pw_code pw_export_tensorboard(const struct pw_snapshot *record, const char *folder, struct pw_err *err);

struct pw_lab;
struct pw_args;

/* ---- export_family.c */
struct pw_replica;
/* Does a path name a folder: one that is there, or by a / at its end? */
bool pw_export_is_folder(const char *path);
/* Write an arm of `model from=` as a folder for transformers (pw_foreign_write), with a GGUF file's
 * tokenizer. Notes if its source is gone, or if there is no tokenizer. */
enum pw_code pw_lab_export_family(struct pw_lab *lab, const struct pw_replica *arm, const char *folder,
                                  struct pw_err *err);

/* ---- export_step.c */
enum pw_code pw_lab_export_step(struct pw_lab *lab, const char *path, const struct pw_args *args,
                                struct pw_err *err);

/* ---- export_formula.c */
enum pw_code pw_lab_export_formula(struct pw_lab *lab, const char *path, const struct pw_args *args,
                                   struct pw_err *err);
extern const struct pw_opt pw_formula_opts[];

/* ---- export_numbers.c: the tables of an encoding as .npz. length 0: as many positions as the model has */
enum pw_code pw_lab_export_numbers(const struct pw_replica *arm, const char *path, int length,
                                   struct pw_err *err);

/* ---- activations.c: the job `export activations` of the current arm */
enum pw_code pw_lab_dump(struct pw_lab *lab, const char *path, const struct pw_args *args,
                         struct pw_err *err);
extern const struct pw_opt pw_dump_opts[];

/* ---- export_data.c: the job `export data` */
enum pw_code pw_lab_write_data(struct pw_lab *lab, const char *path, const struct pw_args *args,
                               struct pw_err *err);
extern const struct pw_opt pw_data_opts[];

#endif
