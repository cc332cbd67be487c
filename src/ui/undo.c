/* undo.c - the list of texts, and a line that describes the difference of two. */
#include "ui/undo.h"
#include "base/alloc.h"
#include "ui/config.h"
#include <stdlib.h>
#include <string.h>

static void drop(struct pw_undo *u, int i)
{
    free(u->text[i]);
    memmove(u->text + i, u->text + i + 1, sizeof *u->text * (size_t)(--u->n - i));
}

void pw_undo_note(struct pw_app *app)
{
    struct pw_undo *u = &app->undo;
    struct pw_str now = {0};
    pw_config_print(app, &now);
    if (u->n == 0 || strcmp(u->text[u->at], pw_str_text(&now)) != 0) {
        while (u->n > u->at + 1)
            drop(u, u->n - 1); /* drop the undone states: a new change replaces them */
        if (u->n == PW_UNDO_MAX)
            drop(u, 0);
        u->text[u->n] = pw_text_dup(pw_str_text(&now));
        u->at = u->n++;
    }
    pw_str_fini(&now);
}

static bool has_line(const char *text, const char *line, size_t n)
{
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
        if (strcspn(text, "\n") == n && memcmp(text, line, n) == 0)
            return true;
    return false;
}

/* Returns true if text has a line that begins with these n bytes, such as "set fps=". */
static bool sets(const char *text, const char *key, size_t n)
{
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
        if (strncmp(text, key, n) == 0)
            return true;
    return false;
}

/* Appends the lines of a that are not in b, joined as one. Without also_set, leaves out lines whose setting b
 * sets to another value. */
static void only_in(const char *a, const char *b, bool also_set, struct pw_str *out)
{
    for (size_t n; n = strcspn(a, "\n"), *a; a += n + (a[n] == '\n')) {
        const char *equals = memchr(a, '=', n);
        bool set = equals != NULL && sets(b, a, (size_t)(equals - a) + 1);
        if (!has_line(b, a, n) && (also_set || !set))
            pw_str_add(out, "%s%.*s", out->len > 0 ? "; " : "", (int)n, a);
    }
}

static void report_undo(struct pw_app *app, int direction, const char *from, const char *to)
{
    struct pw_str now = {0}, gone = {0};
    only_in(to, from, true, &now);
    only_in(from, to, false, &gone);
    pw_app_answer(app, "%s%s%s%s%s   %s", direction < 0 ? "undone" : "redone", now.len ? ", now: " : "",
                  pw_str_text(&now), gone.len ? ", no longer: " : "", pw_str_text(&gone),
                  direction < 0 ? "Ctrl-R: redo" : "u: back");
    pw_str_fini(&now);
    pw_str_fini(&gone);
}

/* Fails: training cannot be undone. The message says how to go back to an earlier step. */
static enum pw_code nothing_to_undo(const struct pw_app *app, struct pw_err *err)
{
    const struct pw_ev_session *s = &app->ui.snap->session;
    if (app->lab == NULL && s->how == PW_REC_READ)
        return pw_fail(err, PW_EUSER,
                       "undo: no setting to undo; 'pewter replay %s --from STEP' continues from a step",
                       s->name);
    if (s->how == PW_REC_NONE || s->name[0] == '\0')
        return pw_fail(err, PW_EUSER,
                       "undo: no setting to undo; nothing is recorded; to change the lab back use pe NAME, "
                       "import, reset");
    struct pw_str name = {0};
    pw_str_word(&name, s->name);
    pw_fail(err, PW_EUSER, "undo: no setting to undo; 'open %s from=STEP' goes back in training", name.s);
    pw_str_fini(&name);
    return PW_EUSER;
}

enum pw_code pw_undo_go(struct pw_app *app, int direction, struct pw_err *err)
{
    struct pw_undo *u = &app->undo;
    int to = u->at + direction;
    if (u->n == 0 || to < 0)
        return nothing_to_undo(app, err);
    if (to >= u->n)
        return pw_fail(err, PW_EUSER, "redo: nothing was undone");
    const char *from = u->text[u->at], *text = u->text[to];
    u->at = to; /* set first, because submitting records changes */
    pw_config_reset(app);
    enum pw_code code = pw_app_submit(app, text, PW_SEND_NOW, err);
    if (code == PW_OK)
        report_undo(app, direction, from, text);
    return code;
}

void pw_undo_fini(struct pw_undo *u)
{
    while (u->n > 0)
        drop(u, u->n - 1);
    u->at = 0;
}
