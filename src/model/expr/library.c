/* library.c - formula files: where they are, their head, and their formula. library_save.c writes one. */
#include "model/expr/library.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/places.h"
#include "base/recall.h"
#include "model/expr/formula.h"

#define ENDING ".pe"

static const char *folders[2]; /* set by tests: the user's and the project's */

void pw_library_folders(const char *user, const char *own)
{
    folders[0] = user;
    folders[1] = own;
}

/* Appends the path of folder k: 0 the user's, 1 the project's. */
static bool folder_of(int k, struct pw_str *path)
{
    if (folders[k] != NULL)
        pw_str_add(path, "%s", folders[k]);
    return folders[k] != NULL ||
           (k == 0 ? pw_place_config(path, "encodings") : pw_place_own(path, "encodings"));
}

bool pw_library_user_folder(struct pw_str *path)
{
    return folder_of(0, path);
}

/* ---- names */

bool pw_library_may_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
                      rest[] = "0123456789_";
    size_t n = strlen(name);
    if (n == 0 || n >= PW_PE_NAME || strchr(letters, name[0]) == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        if (strchr(letters, name[i]) == NULL && strchr(rest, name[i]) == NULL)
            return false;
    return true;
}

bool pw_library_is_taken(const char *name)
{
    return pw_pe_find(name) != NULL || pw_text_same(name, "expr") || pw_text_same(name, "check") ||
           pw_text_same(name, "save") || pw_text_same(name, "name");
}

static void lower(char out[PW_PE_NAME], const char *name)
{
    size_t i = 0;
    for (; name[i] != '\0' && i < PW_PE_NAME - 1; i++)
        out[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] + 'a' - 'A' : name[i]);
    out[i] = '\0';
}

/* The name of a file in a folder, without its ending; false: it can't be called. */
static bool name_of(const char *file, char out[PW_PE_NAME])
{
    size_t n = strlen(file) - strlen(ENDING);
    char name[PW_PE_NAME];
    if (n >= sizeof name)
        return false;
    memcpy(name, file, n);
    name[n] = '\0';
    lower(out, name);
    return pw_library_may_name(name) && !pw_library_is_taken(name);
}

/* Appends the path of the file in a folder whose name is `name` in other letters, as Kerple.pe for kerple. */
static bool find_alike(const char *name, const char *folder, struct pw_str *path)
{
    struct pw_folder list = {0};
    char have[PW_PE_NAME];
    bool found = false;
    pw_recall_list(&list, folder, ENDING);
    for (int i = 0; i < list.n && !found; i++) {
        found = name_of(list.names[i], have) && pw_text_same(have, name);
        if (found)
            pw_str_add(path, "%s/%s", folder, list.names[i]);
    }
    pw_folder_free(&list);
    return found;
}

/* Appends the path of a file. Returns the number of its folder; -1: there is none. Lists a folder only if it
 * has no file of the very name. */
static int find_file(const char *name, struct pw_str *path)
{
    char small[PW_PE_NAME];
    bool found = false, callable = pw_library_may_name(name) && !pw_library_is_taken(name);
    lower(small, name);
    for (int k = 0; k < 2 && callable; k++) {
        struct pw_str folder = {0}, file = {0};
        if (folder_of(k, &folder)) {
            pw_str_add(&file, "%s" ENDING, small);
            found = pw_recall_has(folder.s, file.s);
            if (found)
                pw_str_add(path, "%s/%s", folder.s, file.s);
            else
                found = find_alike(name, folder.s, path);
        }
        pw_str_fini(&folder);
        pw_str_fini(&file);
        if (found)
            return k;
    }
    return -1;
}

bool pw_library_is_own(const char *name)
{
    struct pw_str path = {0};
    bool own = find_file(name, &path) == 1;
    pw_str_fini(&path);
    return own;
}

bool pw_library_has(const char *name)
{
    struct pw_str path = {0};
    if (!pw_library_may_name(name) || pw_library_is_taken(name))
        return false;
    bool found = pw_file_copies() || find_file(name, &path) >= 0;
    pw_str_fini(&path);
    return found;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

void pw_library_list(void (*each)(void *arg, const char *name), void *arg)
{
    char(*names)[PW_PE_NAME] = NULL;
    size_t n = 0;
    for (int k = 0; k < 2; k++) {
        struct pw_folder list = {0};
        struct pw_str folder = {0};
        if (folder_of(k, &folder))
            pw_recall_list(&list, folder.s, ENDING);
        for (int i = 0; i < list.n; i++) {
            names = pw_grow(names, n + 1, sizeof *names);
            n += name_of(list.names[i], names[n]);
        }
        pw_folder_free(&list);
        pw_str_fini(&folder);
    }
    if (n > 0)
        qsort(names, n, sizeof *names, compare_names);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || strcmp(names[i], names[i - 1]) != 0)
            each(arg, names[i]);
    free(names);
}

/* ---- a file's content */

/* Reads "# key: value"; false: the line is something else. A value is cleaned for display. */
static bool read_head_line(struct pw_library_file *f, const char *line, size_t n)
{
    static const char *const keys[] = {"title", "paper", "look"};
    char **members[] = {&f->title, &f->paper, &f->look};
    struct pw_str text = {0};
    bool known = false;
    pw_str_put(&text, line, n);
    char *s = text.s + 1 + strspn(text.s + 1, " \t");
    for (int k = 0; k < 3; k++) {
        size_t length = strlen(keys[k]);
        if (strncmp(s, keys[k], length) != 0 || s[length] != ':')
            continue;
        known = true;
        s += length + 1;
        s += strspn(s, " \t");
        for (size_t end = strlen(s); end > 0 && strchr(" \t\r", s[end - 1]) != NULL;)
            s[--end] = '\0';
        if (*members[k] == NULL && *s != '\0') {
            *members[k] = pw_alloc(strlen(s) + 1, 1);
            pw_text_copy(*members[k], strlen(s) + 1, s);
        }
        break;
    }
    pw_str_fini(&text);
    return known;
}

enum pw_code pw_library_scan(struct pw_library_file *f, const char *text, size_t size, struct pw_err *err)
{
    struct pw_str formula = {0};
    bool head = true;
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* byte order mark that some editors write */
        text += 3;
        size -= 3;
    }
    if (memchr(text, '\0', size) != NULL)
        return pw_fail(err, PW_EUSER, "has NUL bytes; it must be text");
    if (!pw_utf8_valid(text, size))
        return pw_fail(err, PW_EUSER, "not valid UTF-8 text");
    for (const char *line = text; line < text + size;) {
        size_t left = (size_t)(text + size - line);
        const char *newline = memchr(line, '\n', left);
        size_t n = newline != NULL ? (size_t)(newline - line) : left;
        head = head && (n == 0 || *line == '#' || *line == '\r');
        if (head && n > 0 && *line == '#')
            read_head_line(f, line, n);
        if (!head)
            pw_str_put(&formula, line, n);
        pw_str_put(&formula, "\n", 1); /* the lines of the head stay as empty ones */
        line += n + 1;
    }
    f->formula = formula.s != NULL ? formula.s : pw_text_dup("");
    return PW_OK;
}

enum pw_code pw_library_read(struct pw_library_file *f, const char *name, struct pw_err *err)
{
    struct pw_str path = {0}, known = {0};
    char *data = NULL;
    size_t size;
    *f = (struct pw_library_file){0};
    lower(f->name, name);
    pw_str_add(&known, "encodings/%s" ENDING, f->name);
    bool found = !pw_file_copies() && find_file(name, &path) >= 0;
    enum pw_code code = pw_recall_text(known.s, found ? path.s : NULL, PW_LIBRARY_BYTES, &data, &size, err);
    if (code == PW_OK) {
        code = pw_library_scan(f, data, size, err);
        if (code != PW_OK)
            pw_err_at(err, found ? path.s : known.s);
    }
    free(data);
    pw_str_fini(&path);
    pw_str_fini(&known);
    if (code != PW_OK)
        pw_library_free(f);
    return code;
}

void pw_library_free(struct pw_library_file *f)
{
    free(f->title);
    free(f->paper);
    free(f->look);
    free(f->formula);
    *f = (struct pw_library_file){0};
}

enum pw_code pw_library_use_file(struct pw_pe_use_opts *use, const struct pw_library_file *f,
                                 struct pw_err *err)
{
    struct pw_err why = {0};
    int at;
    enum pw_code code = pw_formula_read(use, f->formula, f->name, &at, &why);
    if (code == PW_OK)
        return PW_OK;
    int line = 1, start = 0;
    for (int i = 0; i < at && f->formula[i] != '\0'; i++)
        if (f->formula[i] == '\n') {
            line++;
            start = i + 1;
        }
    char clean[sizeof why.msg];
    pw_text_copy(clean, sizeof clean, why.msg); /* it may cite control characters */
    const char *what = strncmp(clean, "column ", 7) == 0 ? strchr(clean, ':') : NULL;
    if (what == NULL)
        return pw_fail(err, code, "%s" ENDING ": %s", f->name, clean);
    return pw_fail(err, code, "%s" ENDING ": line %d, column %d%s", f->name, line, at - start + 1, what);
}

enum pw_code pw_library_use(struct pw_pe_use_opts *use, const char *name, struct pw_err *err)
{
    struct pw_library_file f;
    enum pw_code code = pw_library_read(&f, name, err);
    if (code == PW_OK)
        code = pw_library_use_file(use, &f, err);
    pw_library_free(&f);
    return code;
}
