/* findings.c - findings by name and topic; a later finding replaces an earlier one. */
#include "sessions/fold_int.h"
#include <stdio.h>
#include <string.h>

static struct pw_finding_view *find(struct pw_snapshot *s, const char *name, const char *topic)
{
    for (int i = 0; i < PW_MAX_FINDINGS; i++) {
        struct pw_finding_view *v = &s->findings[i];
        if (v->f_seq != 0 && strcmp(v->f.name, name) == 0 && strcmp(v->f.topic, topic) == 0)
            return v;
    }
    return NULL;
}

const struct pw_finding_view *pw_finding_of(const struct pw_snapshot *s, const char *name, const char *topic)
{
    return find((struct pw_snapshot *)s, name, topic);
}

int pw_findings(const struct pw_snapshot *s, const struct pw_finding_view *list[PW_MAX_FINDINGS])
{
    int n = 0;
    for (int i = 0; i < PW_MAX_FINDINGS; i++) {
        int at = n;
        if (s->findings[i].f_seq == 0)
            continue;
        for (; at > 0 && list[at - 1]->f_seq < s->findings[i].f_seq; at--)
            list[at] = list[at - 1];
        list[at] = &s->findings[i];
        n++;
    }
    return n;
}

void pw_findings_add(struct pw_snapshot *s, struct pw_event *e)
{
    struct pw_finding_view *v = find(s, e->u.finding.name, e->u.finding.topic);
    for (int i = 0; i < PW_MAX_FINDINGS && v == NULL; i++)
        if (s->findings[i].f_seq == 0)
            v = &s->findings[i];
    if (v == NULL) {
        v = s->findings;
        for (int i = 1; i < PW_MAX_FINDINGS; i++)
            if (s->findings[i].f_seq < v->f_seq)
                v = &s->findings[i];
    }
    struct pw_finding before = v->f;
    v->f = e->u.finding;
    e->u.finding = before; /* freed with the event */
    v->f_seq = e->seq;
    v->arm = e->arm;
    v->step = e->step;
}

void pw_findings_line(const struct pw_finding *f, char *out, size_t size)
{
    enum pw_claim_verdict verdict = pw_finding_verdict(f);
    snprintf(out, size, "%s%s%s: %s%s%s", f->name, f->topic[0] != '\0' ? " " : "", f->topic, f->title,
             verdict < PW_CLAIM_VERDICTS ? "; " : "",
             verdict < PW_CLAIM_VERDICTS ? pw_claim_verdicts[verdict] : "");
}
