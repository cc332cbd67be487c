/* commands.c - the table of the lab's commands: a new command is a file in this folder and a line here. */
#include "command/commands/commands.h"

extern const struct pw_command pw_cmd_task;
extern const struct pw_command pw_cmd_model;
extern const struct pw_command pw_cmd_construct;
extern const struct pw_command pw_cmd_optim;
extern const struct pw_command pw_cmd_seed;
extern const struct pw_command pw_cmd_pe;
extern const struct pw_command pw_cmd_race;
extern const struct pw_command pw_cmd_arm;
extern const struct pw_command pw_cmd_fork;
extern const struct pw_command pw_cmd_runs;
extern const struct pw_command pw_cmd_train;
extern const struct pw_command pw_cmd_pause;
extern const struct pw_command pw_cmd_resume;
extern const struct pw_command pw_cmd_step;
extern const struct pw_command pw_cmd_stop;
extern const struct pw_command pw_cmd_cancel;
extern const struct pw_command pw_cmd_reset;
extern const struct pw_command pw_cmd_eval;
extern const struct pw_command pw_cmd_failing;
extern const struct pw_command pw_cmd_paired;
extern const struct pw_command pw_cmd_prompt;
extern const struct pw_command pw_cmd_sample;
extern const struct pw_command pw_cmd_next;
extern const struct pw_command pw_cmd_back;
extern const struct pw_command pw_cmd_edit;
extern const struct pw_command pw_cmd_inspect;
extern const struct pw_command pw_cmd_ablate;
extern const struct pw_command pw_cmd_restore;
extern const struct pw_command pw_cmd_patch;
extern const struct pw_command pw_cmd_tune;
extern const struct pw_command pw_cmd_transplant;
extern const struct pw_command pw_cmd_probe;
extern const struct pw_command pw_cmd_compare;
extern const struct pw_command pw_cmd_why;
extern const struct pw_command pw_cmd_judge;
extern const struct pw_command pw_cmd_check;
extern const struct pw_command pw_cmd_table;
extern const struct pw_command pw_cmd_export;
extern const struct pw_command pw_cmd_import;
extern const struct pw_command pw_cmd_save;
extern const struct pw_command pw_cmd_open;
extern const struct pw_command pw_cmd_checkpoint;
extern const struct pw_command pw_cmd_sessions;
extern const struct pw_command pw_cmd_delete;
extern const struct pw_command pw_cmd_digest;
extern const struct pw_command pw_cmd_backend;
extern const struct pw_command pw_cmd_devices;
extern const struct pw_command pw_cmd_set;
extern const struct pw_command pw_cmd_mark;
extern const struct pw_command pw_cmd_say;
extern const struct pw_command pw_cmd_demo;
extern const struct pw_command pw_cmd_help;

/* clang-format off */
const struct pw_command *const pw_lab_commands[] = {
    &pw_cmd_task,
    &pw_cmd_model,
    &pw_cmd_construct,
    &pw_cmd_optim,
    &pw_cmd_seed,
    &pw_cmd_pe,
    &pw_cmd_race,
    &pw_cmd_arm,
    &pw_cmd_fork,
    &pw_cmd_runs,
    &pw_cmd_train,
    &pw_cmd_pause,
    &pw_cmd_resume,
    &pw_cmd_step,
    &pw_cmd_stop,
    &pw_cmd_cancel,
    &pw_cmd_reset,
    &pw_cmd_eval,
    &pw_cmd_failing,
    &pw_cmd_paired,
    &pw_cmd_prompt,
    &pw_cmd_sample,
    &pw_cmd_next,
    &pw_cmd_back,
    &pw_cmd_edit,
    &pw_cmd_inspect,
    &pw_cmd_ablate,
    &pw_cmd_restore,
    &pw_cmd_patch,
    &pw_cmd_tune,
    &pw_cmd_transplant,
    &pw_cmd_probe,
    &pw_cmd_compare,
    &pw_cmd_why,
    &pw_cmd_check,
    &pw_cmd_judge,
    &pw_cmd_table,
    &pw_cmd_export,
    &pw_cmd_import,
    &pw_cmd_save,
    &pw_cmd_open,
    &pw_cmd_checkpoint,
    &pw_cmd_sessions,
    &pw_cmd_delete,
    &pw_cmd_digest,
    &pw_cmd_backend,
    &pw_cmd_devices,
    &pw_cmd_set,
    &pw_cmd_mark,
    &pw_cmd_say,
    &pw_cmd_demo,
    &pw_cmd_help,
    NULL,
};
/* clang-format on */
