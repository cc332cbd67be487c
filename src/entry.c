/* entry.c - messages about a session's name (see entry.h). */
#include "entry.h"

#include <string.h>
#include <unistd.h>

#include "sessions/store.h"

enum pw_code pw_entry_check(const struct pw_commands *all, const char *name, struct pw_err *err)
{
    static const char *const verbs[] = {"replay", "session", "sessions", "devices", "doctor", NULL};
    const char *near = pw_text_nearest(name, verbs);
    enum pw_code code = pw_session_no_text(name, err);
    if (code != PW_OK)
        return pw_fail(err, code, "'%.200s' is a script, not a session; 'pewter run %.200s' runs it", name,
                       name);
    if (pw_command_find(all, name) != NULL)
        return pw_fail(err, PW_EUSER,
                       "'%s' is a command; run it with 'pewter -c %s', or ':%s' in the workbench", name, name,
                       name);
    if (near != NULL)
        return pw_fail(err, PW_EUSER,
                       "no session '%s'; did you mean 'pewter %s'? ('--session %s' makes a session)", name,
                       near, name);
    return PW_OK;
}

/* Appends a session's name as a word of the shell, as valid UTF-8 for any name. */
static void add_shell_word(struct pw_str *out, const char *name)
{
    if (name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+-")] == '\0') {
        pw_str_add(out, "%s", name);
        return;
    }
    pw_str_add(out, "'");
    for (const char *c = name; *c != '\0'; c++)
        pw_str_put(out, *c == '\'' ? "'\\''" : c, *c == '\'' ? 4 : 1);
    pw_str_add(out, "'");
}

void pw_entry_greet(struct pw_str *out, const char *session)
{
    pw_str_add(out, "new session %s; everything is recorded; 'pewter ", session);
    add_shell_word(out, session);
    pw_str_add(out, "' continues it");
}

void pw_entry_goodbye(FILE *words, const struct pw_ev_session *s)
{
    struct pw_str line = {0};
    if (s->how == PW_REC_NONE || s->folder[0] == '\0' || access(s->folder, F_OK) != 0)
        return;
    pw_str_add(&line, "session %s; to continue: pewter ", s->name);
    add_shell_word(&line, s->name);
    fprintf(words, "%s\n", line.s);
    pw_str_fini(&line);
}
