/* slurm_script.c - the two scripts of a submission. They are plain sh, and a user can submit them by hand:
 * `sbatch --array=1-9 3.sh`. */
#include "study/slurm.h"

/* Appends NAME='VALUE' for a shell. */
static void add_value(struct pw_str *out, const char *name, const char *value)
{
    pw_str_add(out, "%s='", name);
    for (const char *c = value; *c != '\0'; c++)
        if (*c == '\'')
            pw_str_add(out, "'\\''");
        else
            pw_str_put(out, c, 1);
    pw_str_add(out, "'\n");
}

/* A signal ends `wait`, so it is repeated until the cell has ended. */
void pw_slurm_cells_script(struct pw_str *out, const char *program, const char *folder, int number,
                           const struct pw_slurm_options *o)
{
    pw_str_add(
        out,
        "#!/bin/sh\n"
        "# Submission %d of a study: task K of the array computes the cells of line K of %d.cells, one "
        "after\n"
        "# the other. SIGTERM is passed to the cell, which then ends with a checkpoint.\n",
        number, number);
    add_value(out, "program", program);
    add_value(out, "folder", folder);
    pw_str_add(out,
               "child=\n"
               "stop=\n"
               "status=0\n"
               "trap 'stop=1; [ -z \"$child\" ] || kill -TERM \"$child\"' TERM\n"
               "for cell in $(sed -n \"${SLURM_ARRAY_TASK_ID}p\" \"$folder/slurm/%d.cells\"); do\n"
               "    [ -z \"$stop\" ] || break\n"
               "    \"$program\" study cell \"$folder\" \"${cell%%%%@*}\" threads=%d%s &\n"
               "    child=$!\n"
               "    [ -z \"$stop\" ] || kill -TERM \"$child\"\n"
               "    wait \"$child\" || status=1\n"
               "    while kill -0 \"$child\" 2>/dev/null; do wait \"$child\"; done\n"
               "    child=\n"
               "done\n"
               "exit \"$status\"\n",
               number, o->threads > 0 ? o->threads : 1, o->gpus > 0 ? " backend='cuda mode=ref'" : "");
}

static void add_word(struct pw_str *out, const char *name, const char *value)
{
    if (value == NULL)
        return;
    pw_str_add(out, "set -- \"$@\" ");
    add_value(out, name, value);
}

/* The scheduler may be out of reach for a while, or refuse more jobs for now. */
void pw_slurm_next_script(struct pw_str *out, const char *program, const char *folder,
                          const struct pw_slurm_options *o)
{
    pw_str_add(out, "#!/bin/sh\n"
                    "# Submits the cells of a study that are still wanted when the arrays before it have "
                    "ended.\n");
    add_value(out, "program", program);
    add_value(out, "folder", folder);
    pw_str_add(out, "set -- on=slurm follow=on\n");
    add_word(out, "partition", o->partition);
    add_word(out, "account", o->account);
    add_word(out, "time", o->time);
    if (o->gpus > 0)
        pw_str_add(out, "set -- \"$@\" gpus=%d\n", o->gpus);
    pw_str_add(out,
               "set -- \"$@\" threads=%d cells=%d\n"
               "for try in 1 2 3 4 5 6 7 8 9 10; do\n"
               "    \"$program\" study run \"$folder\" \"$@\" && exit\n"
               "    sleep 60\n"
               "done\n"
               "exit 1\n",
               o->threads > 0 ? o->threads : 1, o->cells > 0 ? o->cells : 1);
}
