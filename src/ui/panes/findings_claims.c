/* findings_claims.c - the claims of a finding with their verdicts; each verdict has a sign, a word and a
 * colour. */
#include <limits.h>
#include <stdio.h>

#include "ui/panes/findings.h"

static struct pw_style style_of(int verdict)
{
    static struct pw_style (*const styles[PW_ROLES])(void) = {
        [PW_ROLE_OK] = pw_style_ok, [PW_ROLE_WARN] = pw_style_warn, [PW_ROLE_BAD] = pw_style_bad};

    return styles[pw_verdict_views[verdict].role]();
}

/* Draws "✓ reproduced: " at x; returns the column after it. */
static int draw_verdict(struct pw_canvas *c, struct pw_rect r, int y, int x, int verdict)
{
    x = pw_draw_text(c, r, y, x, style_of(verdict), pw_verdict_views[verdict].sign);
    x = pw_draw_text(c, r, y, x + 1, style_of(verdict), pw_claim_verdicts[verdict]);
    return pw_draw_text(c, r, y, x, style_of(verdict), ": ");
}

/* Draws "? 1 inconclusive  ✓ 3 reproduced", the most important first, so that the end is cut. */
static void draw_counts(struct pw_canvas *c, struct pw_rect r, int y, const struct pw_finding *f)
{
    int x = r.x;

    for (int v = PW_CLAIM_VERDICTS - 1; v >= 0; v--) {
        int n = 0;
        for (int i = 0; i < f->n_claims; i++)
            n += f->claims[i].verdict == v;
        if (n == 0)
            continue;
        char text[64];
        snprintf(text, sizeof text, "%s %d %s", pw_verdict_views[v].sign, n, pw_claim_verdicts[v]);
        x = pw_draw_cut(c, r, y, x, style_of(v), text, r.x + r.w - x) + 2;
    }
}

int pw_fnd_claims(struct pw_canvas *c, struct pw_rect r, const struct pw_finding *f, int most)
{
    if (f->n_claims == 0 || most < 1)
        return 0;
    if (f->n_claims > most) {
        draw_counts(c, r, r.y, f);
        return 1;
    }
    for (int i = 0; i < f->n_claims; i++) {
        int x = draw_verdict(c, r, r.y + i, r.x, f->claims[i].verdict);
        pw_draw_cut(c, r, r.y + i, x, pw_style_plain(), f->claims[i].claim, r.x + r.w - x);
    }
    return f->n_claims;
}

/* Draws text below line `at`; lines before `top` are not visible. Returns the line after it. */
static int put(struct pw_canvas *c, struct pw_rect r, int at, int top, int indent, struct pw_style s,
               const char *text)
{
    struct pw_rect in = {r.y, r.x + indent, r.h, r.w - indent};

    return at + pw_draw_wrapped(c, in, r.y + at - top, s, text, INT_MAX);
}

int pw_fnd_claims_page(struct pw_canvas *c, struct pw_rect r, const struct pw_finding *f, int top)
{
    int at = 0;

    for (int i = 0; i < f->n_claims; i++) {
        draw_verdict(c, r, r.y + at - top, r.x, f->claims[i].verdict);
        at = put(c, r, at + 1, top, 2, pw_style_plain(), f->claims[i].claim);
        at = put(c, r, at, top, 2, pw_style_bold(), f->claims[i].found);
    }
    for (int i = 0; i < f->n_remarks; i++)
        at = put(c, r, at + (i == 0 && at > 0), top, 0, pw_style_dim(), f->remarks[i].text);
    return at;
}

void pw_fnd_copy_claims(const struct pw_finding *f, struct pw_str *out)
{
    pw_str_add(out, "verdict\tclaim\tfound\n");
    for (int i = 0; i < f->n_claims; i++)
        pw_str_add(out, "%s\t%s\t%s\n", pw_claim_verdicts[f->claims[i].verdict], f->claims[i].claim,
                   f->claims[i].found);
    for (int i = 0; i < f->n_remarks; i++)
        pw_str_add(out, "remark\t%s\t\n", f->remarks[i].text);
}
