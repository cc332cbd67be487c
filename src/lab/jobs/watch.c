/* watch.c - watches: probes repeated while arms train, `probe NAME every=N`.
 *
 * A watch is the typed line. It measures at the end of a round in which its first arm has reached a multiple
 * of N steps. It counts steps and does not use a clock, so a re-run measures at the same points, and a
 * checkpoint, which holds the watches, continues with them. Training waits for the measurement as for any
 * job. The first measurement starts at the end of the round itself; if several are due, each starts at the
 * end of the one before. So a line typed meanwhile comes after the start, both live and in a re-run.
 *
 * A watch refers to its arms by number: after `reset`, `pe`, `task` or `race` it measures the new models. It
 * ends, with a note, when one of its arms is dropped or a measurement is refused. */
#include "lab/jobs/watch.h"

#include <stdio.h>
#include <string.h>

#include "lab/core/lab_int.h"
#include "probe/probe.h"

const struct pw_opt pw_watch_opts[] = {
    {.name = "arm",
     .type = PW_OPT_INT,
     .offset = offsetof(struct pw_watch, arm),
     .min = 1,
     .max = PW_MAX_ARMS,
     .help = "arm to measure; default: the current one"},
    {.name = "every",
     .type = PW_OPT_INT,
     .offset = offsetof(struct pw_watch, every),
     .min = 0,
     .max = PW_MOST_EVERY,
     .help = "repeat at every multiple of N steps of its arm; 0: end the watch"},
    {.name = NULL}};

/* Split every= off a line; *every is -1 if not given. */
static enum pw_code take_every(const struct pw_args *args, struct pw_args *rest, int *every,
                               struct pw_err *err)
{
    struct pw_watch w = {.every = -1};
    enum pw_code code = PW_OK;
    *rest = *args;
    rest->n = 0;
    for (int i = 0; code == PW_OK && i < args->n; i++) {
        const struct pw_word *word = &args->words[i];
        if (word->key != NULL && strcmp(word->key, "every") == 0)
            code = pw_opt_set(pw_watch_opts, &w, args->name, word->key, word->value, err);
        else
            rest->words[rest->n++] = *word;
    }
    *every = w.every;
    return code;
}

/* The arms named in a probe's arguments, as bits; 0: all. */
static unsigned arms_of(const struct pw_args *args)
{
    unsigned arms = 0;
    long id;
    for (int i = 1; i < pw_args_words(args); i++)
        if (pw_text_int(pw_args_word(args, i), 1, PW_MAX_ARMS, &id))
            arms |= 1u << id;
    return arms;
}

enum pw_code pw_watch_read(struct pw_watch *w, const struct pw_commands *commands, struct pw_args *args,
                           struct pw_err *err)
{
    const struct pw_command *cmd;
    enum pw_code code = pw_command_parse(commands, w->line, args, &cmd, err);
    if (code != PW_OK)
        return code;
    const char *name = pw_args_word(args, 0);
    w->probe = strcmp(cmd->name, "probe") == 0 && name != NULL ? pw_probe_find(name) : NULL;
    if (w->probe == NULL) {
        code = pw_fail(err, PW_EUSER, "'%.100s' is not a probe that can be repeated", w->line);
        pw_args_fini(args);
        return code;
    }
    w->arms = w->arm > 0 ? 1u << w->arm : arms_of(args);
    return PW_OK;
}

/* ---- the list of watches */

static void drop(struct pw_lab *lab, int i)
{
    memmove(&lab->watches[i], &lab->watches[i + 1], (size_t)(--lab->n_watches - i) * sizeof *lab->watches);
}

int pw_watch_end(struct pw_lab *lab, const struct pw_probe *probe)
{
    int n = 0;
    for (int i = lab->n_watches - 1; i >= 0; i--)
        if (probe == NULL || lab->watches[i].probe == probe)
            drop(lab, i), n++;
    return n;
}

void pw_watch_list(struct pw_lab *lab)
{
    for (int i = 0; i < lab->n_watches; i++) {
        const struct pw_watch *w = &lab->watches[i];
        if (w->arm > 0 && w->replica > 1)
            pw_lab_note(lab, "repeated, of arm %d, replica %d: %s", w->arm, w->replica, w->line);
        else if (w->arm > 0)
            pw_lab_note(lab, "repeated, of arm %d: %s", w->arm, w->line);
        else
            pw_lab_note(lab, "repeated: %s", w->line);
    }
}

/* The place of the watch with the same probe and arms, else the next free place. */
static int place_of(const struct pw_lab *lab, const struct pw_watch *w)
{
    int i = 0;
    while (i < lab->n_watches && (lab->watches[i].probe != w->probe || lab->watches[i].arms != w->arms))
        i++;
    return i;
}

static enum pw_code begin_watch(struct pw_lab *lab, const struct pw_probe *probe, const struct pw_args *args,
                                const struct pw_args *rest, int every, struct pw_err *err)
{
    struct pw_watch w = {.every = every, .probe = probe};
    const char *arm = pw_args_key(args, "arm");
    long id;
    if ((probe->takes & (PW_PROBE_ARM | PW_PROBE_ARMS)) == 0)
        return pw_fail(err, PW_EUSER,
                       "probe %s: every=%d: it measures no arm, so training would not change it", probe->name,
                       every);
    if (strlen(args->text) >= sizeof w.line)
        return pw_fail(err, PW_EUSER,
                       "probe %s: every=%d: the line has %zu bytes; a watch may have at most %zu",
                       probe->name, every, strlen(args->text), sizeof w.line - 1);
    pw_text_copy(w.line, sizeof w.line, args->text);
    if ((probe->takes & PW_PROBE_ARM) != 0)
        w.arm = arm != NULL && pw_text_int(arm, 1, PW_MAX_ARMS, &id) ? (int)id : lab->current;
    w.replica = pw_lab_arm(lab, w.arm) != NULL ? pw_lab_inspected_of(lab, w.arm)->replica : 0;
    w.arms = w.arm > 0 ? 1u << w.arm : arms_of(args);
    int i = place_of(lab, &w);
    if (i == PW_MAX_WATCHES)
        return pw_fail(err, PW_EUSER,
                       "probe %s: every=%d: there are %d watches, the limit; 'probe off' ends them",
                       probe->name, every, PW_MAX_WATCHES);
    enum pw_code code = pw_lab_probe(lab, probe, NULL, rest, &w, err);
    if (code != PW_OK)
        return code;
    lab->watches[i] = w;
    lab->n_watches += i == lab->n_watches;
    return PW_OK;
}

enum pw_code pw_watch_probe(struct pw_lab *lab, const struct pw_probe *probe, const struct pw_args *args,
                            struct pw_err *err)
{
    struct pw_args rest;
    int every;
    enum pw_code code = take_every(args, &rest, &every, err);
    if (code != PW_OK)
        return code;
    if (every < 0)
        return pw_lab_probe(lab, probe, NULL, &rest, NULL, err);
    if (every > 0)
        return begin_watch(lab, probe, args, &rest, every, err);
    if (pw_watch_end(lab, probe) == 0)
        return pw_fail(err, PW_EUSER, "probe %s: every=0: there is no such watch", probe->name);
    return PW_OK;
}

/* ---- when they are due */

/* The first of its arms, if all of them exist; NULL: one was dropped. */
static struct pw_replica *first_arm(struct pw_lab *lab, const struct pw_watch *w)
{
    struct pw_replica *first = NULL;
    for (int id = PW_MAX_ARMS; id >= 1; id--) {
        struct pw_replica *arm = pw_lab_arm(lab, id);
        if ((w->arms >> id & 1) != 0 && arm == NULL)
            return NULL;
        if (arm != NULL && (w->arms == 0 || (w->arms >> id & 1) != 0))
            first = arm;
    }
    return first;
}

bool pw_watch_sees(const struct pw_lab *lab, const struct pw_replica *arm, int64_t step)
{
    for (int i = 0; i < lab->n_watches; i++) {
        const struct pw_watch *w = &lab->watches[i];
        if (step % w->every == 0 && (w->arms == 0 || (w->arms >> arm->id & 1) != 0))
            return true;
    }
    return false;
}

/* End a watch that can't be measured any more. */
static void give_up(struct pw_lab *lab, int i, const char *why)
{
    pw_lab_note(lab, "probe %s every=%d ends: %s", lab->watches[i].probe->name, lab->watches[i].every, why);
    drop(lab, i);
}

static enum pw_code measure(struct pw_lab *lab, struct pw_watch *w, struct pw_err *err)
{
    struct pw_args args = {0}, rest;
    int every;
    enum pw_code code = pw_watch_read(w, lab->cfg.help, &args, err);
    if (code != PW_OK)
        return code;
    code = take_every(&args, &rest, &every, err);
    if (code == PW_OK)
        code = pw_lab_probe(lab, w->probe, NULL, &rest, w, err);
    pw_args_fini(&args);
    return code;
}

/* Start the next due watch, unless a measurement is running. */
static void start_next(struct pw_lab *lab)
{
    for (int i = 0; i < lab->n_watches && pw_job_state(lab, PW_JOB_PROBE) == NULL;) {
        struct pw_watch *w = &lab->watches[i];
        struct pw_err err;
        bool due = w->due;
        w->due = false;
        if (due && measure(lab, w, &err) != PW_OK)
            give_up(lab, i, err.msg);
        else
            i++;
    }
}

static void hear_end(struct pw_lab *lab, enum pw_job_place place, bool cancelled)
{
    if (place != PW_JOB_PROBE)
        return;
    for (int i = 0; cancelled && i < lab->n_watches; i++)
        lab->watches[i].due = false;
    start_next(lab);
}

const struct pw_listener pw_watch_listener = {.job_ended = hear_end};

void pw_watch_round(struct pw_lab *lab,
                    bool (*in_round)(const struct pw_lab *lab, const struct pw_replica *opens,
                                     const struct pw_replica *arm),
                    const struct pw_replica *opens)
{
    for (int i = lab->n_watches - 1; i >= 0; i--) {
        struct pw_watch *w = &lab->watches[i];
        const struct pw_replica *first = first_arm(lab, w);
        if (first == NULL)
            give_up(lab, i, "one of its arms was dropped");
        else if (first->step % w->every == 0 && in_round(lab, opens, first))
            w->due = true;
    }
    start_next(lab);
}
