/* bindings.c - the table of key names, and the list of bindings. */
#include "ui/bindings.h"
#include "ui/ui.h"
#include <stdio.h>
#include <string.h>

static const struct {
    int key;
    const char *name;
} names[] = {
    {' ', "Space"},
    {'\n', "Enter"},
    {'\t', "Tab"},
    {PW_KEY_BACKTAB, "S-Tab"},
    {PW_KEY_ESCAPE, "Esc"},
    {127, "Backspace"},
    {PW_KEY_DELETE, "Del"},
    {PW_KEY_UP, "Up"},
    {PW_KEY_DOWN, "Down"},
    {PW_KEY_LEFT, "Left"},
    {PW_KEY_RIGHT, "Right"},
    {PW_KEY_SHIFT_LEFT, "S-Left"},
    {PW_KEY_SHIFT_RIGHT, "S-Right"},
    {PW_KEY_HOME, "Home"},
    {PW_KEY_END, "End"},
    {PW_KEY_PAGE_UP, "PgUp"},
    {PW_KEY_PAGE_DOWN, "PgDn"},
};

int pw_key_named(const char *name)
{
    uint32_t cp;
    long f;
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].name, name) == 0)
            return names[i].key;
    if (len > 1 && *name == 'F' && pw_text_int(name + 1, 1, 12, &f))
        return PW_KEY_F1 + (int)f - 1;
    if (len == 6 && strncmp(name, "Ctrl-", 5) == 0 && name[5] >= 'A' && name[5] <= 'Z')
        return PW_CTRL(name[5]);
    if (len > 0 && pw_utf8_valid(name, len) && pw_utf8_next(name, len, &cp) == len && cp > ' ' && cp != 127)
        return (int)cp;
    return 0;
}

enum pw_code pw_key_unknown(const char *what, const char *name, struct pw_err *err)
{
    return pw_fail(
        err, PW_EUSER,
        "%s: no key is called '%s': a character, Space, Enter, Tab, S-Tab, Backspace, Del, Up, Down, "
        "Left, Right, S-Left, S-Right, Home, End, PgUp, PgDn, F1 to F12, Ctrl-A to Ctrl-Z",
        what, name);
}

void pw_key_offer(struct pw_completion *c)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        pw_complete_offer(c, "%s", names[i].name);
    for (int f = 1; f <= 12; f++)
        pw_complete_offer(c, "F%d", f);
}

void pw_key_name(int key, char name[PW_KEY_NAME])
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].key == key) {
            snprintf(name, PW_KEY_NAME, "%s", names[i].name);
            return;
        }
    if (key >= PW_KEY_F1 && key <= PW_KEY_F12)
        snprintf(name, PW_KEY_NAME, "F%d", key - PW_KEY_F1 + 1);
    else if (key > 0 && key < ' ')
        snprintf(name, PW_KEY_NAME, "Ctrl-%c", key + '@');
    else
        name[key > 0 && key < PW_KEY_UP ? pw_utf8_put(name, (uint32_t)key) : 0] = '\0';
}

static int find(const struct pw_bindings *b, int key)
{
    int i = 0;
    while (i < b->n && b->list[i].key != key)
        i++;
    return i;
}

const char *pw_bindings_find(const struct pw_bindings *b, int key)
{
    int i = find(b, key);
    return i < b->n ? b->list[i].line : NULL;
}

enum pw_code pw_bindings_set(struct pw_bindings *b, int key, const char *line, struct pw_err *err)
{
    static const int kept[] = {':', PW_KEY_ESCAPE, PW_CTRL('C'), PW_CTRL('Z')};
    char name[PW_KEY_NAME];
    int i = find(b, key);

    pw_key_name(key, name);
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
        if (kept[k] == key)
            return pw_fail(err, PW_EUSER, "bind: %s keeps its meaning, like : Esc Ctrl-C Ctrl-Z", name);
    if (strlen(line) >= PW_LINE || strchr(line, '\n') != NULL)
        return pw_fail(err, PW_EUSER, "bind: %s: one line of at most %d bytes", name, PW_LINE - 1);
    if (i == PW_MAX_BINDINGS)
        return pw_fail(err, PW_EUSER, "bind: %d keys are bound, and that is the limit; unbind one",
                       PW_MAX_BINDINGS);
    b->list[i].key = key;
    snprintf(b->list[i].line, sizeof b->list[i].line, "%s", line);
    b->n += i == b->n;
    return PW_OK;
}

bool pw_bindings_remove(struct pw_bindings *b, int key)
{
    int i = find(b, key);
    if (i == b->n)
        return false;
    memmove(b->list + i, b->list + i + 1, sizeof *b->list * (size_t)(--b->n - i));
    return true;
}

void pw_bindings_print(const struct pw_bindings *b, struct pw_str *out)
{
    for (int i = 0; i < b->n; i++) {
        char name[PW_KEY_NAME];
        pw_key_name(b->list[i].key, name);
        pw_str_add(out, "bind ");
        pw_str_quote(out, name);
        pw_str_add(out, " ");
        pw_str_quote(out, b->list[i].line);
        pw_str_add(out, "\n");
    }
}
