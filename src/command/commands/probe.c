/* probe - run or repeat a probe of the table in src/probe. */
#include "probe/probe.h"

#include <string.h>

#include "lab/actions.h"
#include "lab/offer.h"

extern const struct pw_command pw_cmd_probe;

static enum pw_code unknown(const char *name, struct pw_err *err)
{
    const char *names[64] = {0}, *near;
    struct pw_str all = {0};
    for (int i = 0; pw_probes[i] != NULL && i < 63; i++) {
        names[i] = pw_probes[i]->name;
        pw_str_add(&all, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    near = pw_text_nearest(name, names);
    enum pw_code code = near != NULL
                            ? pw_fail(err, PW_EUSER, "no probe '%s'; did you mean '%s'?", name, near)
                            : pw_fail(err, PW_EUSER, "no probe '%s'; there are %s", name, pw_str_text(&all));
    pw_str_fini(&all);
    return code;
}

static void list(struct pw_lab *lab)
{
    for (int i = 0; pw_probes[i] != NULL; i++)
        pw_lab_note(lab, "%-14s %s (%s)", pw_probes[i]->name, pw_probes[i]->summary, pw_probes[i]->source);
    pw_watch_list(lab);
}

static enum pw_code end_all(struct pw_lab *lab, const struct pw_args *args, struct pw_err *err)
{
    if (args->n > 1)
        return pw_fail(err, PW_EUSER, "probe off: too many arguments; 'probe NAME every=0' ends one watch");
    if (pw_watch_end(lab, NULL) == 0)
        return pw_fail(err, PW_EUSER, "probe off: no watch is active; 'probe NAME every=N' starts one");
    return PW_OK;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    const char *name = pw_args_word(args, 0);
    if (name == NULL && args->n > 0)
        return pw_fail(err, PW_EUSER, "usage: %s", pw_cmd_probe.usage);
    if (name == NULL) {
        list(ctx);
        return PW_OK;
    }
    if (strcmp(name, "off") == 0)
        return end_all(ctx, args, err);
    const struct pw_probe *probe = pw_probe_find(name);
    return probe != NULL ? pw_watch_probe(ctx, probe, args, err) : unknown(name, err);
}

static const struct pw_opt *opts_for(const struct pw_args *so_far)
{
    const char *name = pw_args_word(so_far, 0);
    const struct pw_probe *probe = name != NULL ? pw_probe_find(name) : NULL;
    return probe != NULL ? probe->opts : NULL;
}

static void complete(struct pw_completion *c)
{
    const char *name = c->at > 0 ? pw_args_word(c->so_far, 0) : NULL;
    const struct pw_probe *probe = name != NULL ? pw_probe_find(name) : NULL;
    for (int i = 0; c->at == 0 && pw_probes[i] != NULL; i++)
        pw_complete_offer(c, "%s", pw_probes[i]->name);
    if (c->at == 0)
        pw_complete_offer(c, "off");
    if (probe != NULL && (probe->takes & PW_PROBE_ARMS) != 0)
        pw_offer_arms(c);
}

static bool describe_choice(const char *word, struct pw_str *out)
{
    const struct pw_probe *p = pw_probe_find(word);
    if (p == NULL)
        return false;
    pw_str_add(out, "probe %s: %s\n%s\n%s%s%s", p->name, p->summary, p->source, p->detail != NULL ? "\n" : "",
               p->detail != NULL ? p->detail : "", p->detail != NULL ? "\n" : "");
    return true;
}

const struct pw_command pw_cmd_probe = {
    .name = "probe",
    .search = "measure metric analyse",
    .usage = "probe [NAME|off] [ARM...] [key=value] [arm=K] [every=N]",
    .example = "probe dispersion every=50",
    .summary = "measure models: tables, plots, and claims with their verdicts",
    .detail =
        "Without a name, list the probes. A probe of one arm measures the current arm or arm=K; a probe "
        "that\n"
        "compares measures the named arms, or all. Ctrl-C or `cancel probe` ends it.\n"
        "every=N starts a watch: measure now, and again at every multiple of N steps of its (first) arm.\n"
        "Training waits for it, and a resumed session continues it. `probe NAME every=0` and `probe off` "
        "end\n"
        "it. A watch keeps the arms' numbers, until one is dropped.\n"
        "The pane findings shows the finding; `export finding F.json` saves it, and\n"
        "`export figure F.svg pane=findings` draws it.",
    .where = PW_AT_LAB,
    .lasts = true,
    .also = pw_watch_opts,
    .opts_for = opts_for,
    .about = describe_choice,
    .complete = complete,
    .values = pw_offer_values,
    .run = run,
};
