/* made.c - record in a finding the options that made it; study.h has the contract. */
#include <stdio.h>
#include <string.h>

#include "reproduce/repro.h"

#define MADE "made by: "

/* Write the options as text. It is cut at PW_FINDING_TEXT like the remark that stores it, so both compare
 * equal. */
static void write_options(char out[PW_FINDING_TEXT], const char *study, const void *opts)
{
    struct pw_str text = {0};
    pw_str_add(&text, MADE "reproduce %s", study);
    pw_opt_print(pw_repro_opts(study), opts, true, &text);
    snprintf(out, PW_FINDING_TEXT, "%s", pw_str_text(&text));
    pw_str_fini(&text);
}

void pw_finding_made(struct pw_finding *f, const char *study, const void *opts)
{
    char text[PW_FINDING_TEXT];
    write_options(text, study, opts);
    pw_finding_remark(f, "%s", text);
}

enum pw_code pw_finding_made_so(const struct pw_finding *f, const char *study, const void *opts,
                                struct pw_err *err)
{
    char text[PW_FINDING_TEXT];
    write_options(text, study, opts);
    for (int i = 0; i < f->n_remarks; i++)
        if (strncmp(f->remarks[i].text, MADE, sizeof MADE - 1) == 0)
            return strcmp(f->remarks[i].text, text) == 0
                       ? PW_OK
                       : pw_fail(err, PW_EUSER, "judge: '%s %s' was made by '%.200s', not by '%.200s'",
                                 f->name, f->topic, f->remarks[i].text + sizeof MADE - 1,
                                 text + sizeof MADE - 1);
    return pw_fail(err, PW_EUSER, "judge: '%s %s' doesn't record the options that made it: measure it again",
                   f->name, f->topic);
}
