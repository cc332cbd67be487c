/* ref_races.c - see ref_races.h. */
#include "ref_races.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reproduce/repro.h"

void races_add(struct pw_snapshot *s, const char *study, const char *topic, const char *made,
               const char *const *rows, const double *mean, double step, double in_range, int runs)
{
    int n = 0, at = 0;
    while (rows[n] != NULL)
        n++;
    while (s->findings[at].f_seq != 0)
        at++;
    struct pw_finding *f = &s->findings[at].f;
    s->findings[at].f_seq = (uint64_t)at + 1;
    pw_finding_init(f, study, topic, "from a test");
    if (made != NULL)
        pw_finding_remark(f, "made by: %s", made);
    int table = pw_finding_table(f, "per cent", n, 2 + runs);
    for (int i = 0; i < n; i++) {
        pw_finding_row(f, table, i, "%s", rows[i]);
        pw_finding_put(f, table, i, 0, in_range);
        pw_finding_put(f, table, i, 1, mean[i]);
        for (int r = 0; r < runs; r++) /* the order of the runs differs between rows and races */
            pw_finding_put(f, table, i, 2 + r, mean[i] + step * ((r + i + at) % runs - (runs - 1) / 2.0));
    }
}

static enum pw_code judge(struct pw_finding *f, const struct pw_snapshot *s, const char *study,
                          const char *const *options, struct pw_err *err)
{
    union {
        char bytes[PW_REPRO_OPTS_MAX];
        double align;
    } o;
    const struct pw_repro *of;
    memset(f, 0, sizeof *f);
    assert_int_equal(pw_repro_find(&of, study, err), PW_OK);
    pw_opt_defaults(of->opts, o.bytes);
    for (; *options != NULL; options += 2)
        if (pw_opt_set(of->opts, o.bytes, study, options[0], options[1], err) != PW_OK)
            fail_msg("%s", err->msg);
    return of->judge(o.bytes, s, f, err);
}

void races_judge(struct pw_finding *f, const struct pw_snapshot *s, const char *study,
                 const char *const *options)
{
    struct pw_err err;
    if (judge(f, s, study, options, &err) != PW_OK)
        fail_msg("%s", err.msg);
    assert_null(pw_finding_check(f));
}

void races_refuse(const struct pw_snapshot *s, const char *study, const char *const *options, const char *why)
{
    struct pw_finding f;
    struct pw_err err;
    assert_int_equal(judge(&f, s, study, options, &err), PW_EUSER);
    assert_string_equal(err.msg, why);
    pw_finding_fini(&f);
}

int races_verdict(const struct pw_finding *f, const char *text)
{
    for (int i = 0; i < f->n_claims; i++)
        if (strstr(f->claims[i].claim, text) != NULL)
            return f->claims[i].verdict;
    fail_msg("no claim with '%s'", text);
    return -1;
}
