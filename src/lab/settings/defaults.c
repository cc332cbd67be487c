/* defaults.c - notes about options of an encoding that a user left out, if the model of another program was
 * made with other values. A name alone means the encoding's own defaults, for every model. */
#include <string.h>

#include "foreign/foreign.h"
#include "lab/actions.h"
#include "lab/core/lab_int.h"

/* Appends the value of an option of a rotation or a factor on scores; nothing if the encoding has none. */
static void put_value(const struct pw_pe_use_opts *use, const char *name, struct pw_str *out)
{
    bool turns = use->pe->uses & (PW_PE_ROTATION | PW_PE_GAIN) && use->pe->opts != NULL;
    const struct pw_opt *opt = turns ? pw_opt_find(use->pe->opts, name) : NULL;
    if (opt != NULL)
        pw_opt_value(opt, use->o.bytes, out);
}

static void note_base(struct pw_lab *lab, const struct pw_replica *arm, const struct pw_pe_use_opts *before)
{
    struct pw_str old = {0}, now = {0};
    put_value(before, "base", &old);
    put_value(&arm->pe, "base", &now);
    if (old.len > 0 && now.len > 0 && strcmp(old.s, now.s) != 0)
        pw_lab_note(lab, "arm %d: base=%s, and was %s before: base=%s keeps it", arm->id, now.s, old.s,
                    old.s);
    pw_str_fini(&old);
    pw_str_fini(&now);
}

static void note_trained(struct pw_lab *lab, const struct pw_replica *arm)
{
    struct pw_str now = {0}, states = {0};
    struct pw_foreign *f = NULL;
    put_value(&arm->pe, "trained", &now);
    if (now.len > 0 && pw_foreign_recall(&f, arm->source, pw_model_origin(arm->model), NULL) == PW_OK) {
        pw_str_add(&states, "%d", pw_foreign_info(f)->cfg.context);
        if (strcmp(now.s, states.s) != 0)
            pw_lab_note(lab, "arm %d: trained=%s, and the model's file states %s positions: write trained=%s",
                        arm->id, now.s, states.s, states.s);
    }
    pw_foreign_close(f);
    pw_str_fini(&now);
    pw_str_fini(&states);
}

void pw_lab_note_defaults(struct pw_lab *lab, const struct pw_replica *arm,
                          const struct pw_pe_use_opts *before, const struct pw_args *args)
{
    if (arm->source[0] == '\0')
        return;
    if (pw_args_key(args, "base") == NULL)
        note_base(lab, arm, before);
    if (pw_args_key(args, "trained") == NULL)
        note_trained(lab, arm);
}
