/* undo.c - a list of texts, and a line for what two of them differ in. */
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
            drop(u, u->n - 1); /* another future begins */
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
        if (strcspn(text, "\n") == n && !memcmp(text, line, n))
            return true;
    return false;
}

/* The first line of a that is not in b; false: there is none. */
static bool first_only_in(const char *a, const char *b, struct pw_str *line)
{
    for (size_t n; n = strcspn(a, "\n"), *a; a += n + (a[n] == '\n'))
        if (!has_line(b, a, n)) {
            pw_str_put(line, a, n);
            return true;
        }
    return false;
}

static void tell(struct pw_app *app, int direction, const char *from, const char *to)
{
    const char *did = direction < 0 ? "undone" : "done again",
               *other = direction < 0 ? "Ctrl-R: again" : "u: back";
    struct pw_str line = {0};
    if (first_only_in(to, from, &line))
        pw_app_say(app, "%s, now: %s   %s", did, line.s, other);
    else if (first_only_in(from, to, &line))
        pw_app_say(app, "%s, no longer: %s   %s", did, line.s, other);
    pw_str_fini(&line);
}

enum pw_code pw_undo_go(struct pw_app *app, int direction, struct pw_err *err)
{
    struct pw_undo *u = &app->undo;
    int to = u->at + direction;
    if (u->n == 0 || to < 0)
        return pw_fail(
            err, PW_EUSER,
            "undo: no setting, binding or border to undo; the laboratory is changed back by commands: "
            "pe NAME, import, reset");
    if (to >= u->n)
        return pw_fail(err, PW_EUSER, "redo: nothing was undone");
    const char *from = u->text[u->at], *text = u->text[to];
    u->at = to; /* first: submitting looks for changes */
    pw_config_reset(app);
    enum pw_code code = pw_app_submit(app, text, PW_SEND_NOW, err);
    if (code == PW_OK)
        tell(app, direction, from, text);
    return code;
}

void pw_undo_fini(struct pw_undo *u)
{
    while (u->n > 0)
        drop(u, u->n - 1);
    u->at = 0;
}
