/* library_save.c - writes a formula as a file of the user's. The file is complete or not there at all. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/places.h"
#include "model/expr/expr_int.h"
#include "model/expr/formula.h"
#include "model/expr/library.h"

static enum pw_code check_name(const struct pw_pe_use_opts *use, const char *name, struct pw_err *err)
{
    if (use->pe->print == NULL)
        return pw_fail(err, PW_EUSER, "'%s' is a built-in encoding; only a formula can be saved",
                       use->pe->name);
    if (pw_formula_of(use->o.bytes)->x->n_numbers > 0)
        return pw_fail(
            err, PW_EUSER,
            "its numbers are of a file: keep that file for 'pe file='; 'export table F.npz' writes one");
    if (!pw_library_may_name(name))
        return pw_fail(err, PW_EUSER, "'%.40s': " PW_LIBRARY_NAMES, name);
    if (pw_library_is_taken(name))
        return pw_fail(err, PW_EUSER, "'%s' has a meaning already; choose another name", name);
    return PW_OK;
}

enum pw_code pw_library_save(const struct pw_pe_use_opts *use, const char *name, const char *title,
                             bool replace, struct pw_str *path, struct pw_err *err)
{
    struct pw_str text = {0}, folder = {0};
    struct pw_file *file = NULL;
    char clean[200];
    enum pw_code code = check_name(use, name, err);
    if (code == PW_OK && !pw_library_user_folder(&folder))
        code = pw_fail(err, PW_EUSER, "neither XDG_CONFIG_HOME nor HOME is set");
    if (code == PW_OK)
        code = pw_folder_make(folder.s, err);
    if (code == PW_OK) {
        for (const char *c = name; *c != '\0'; c++) /* one name in any case */
            pw_str_add(&text, "%c", *c >= 'A' && *c <= 'Z' ? *c + 'a' - 'A' : *c);
        pw_str_add(path, "%s/%s.pe", folder.s, text.s);
        pw_text_copy(clean, sizeof clean, title != NULL ? title : text.s);
        pw_str_clear(&text);
        pw_str_add(&text, "# title: %s\n\n", clean);
        pw_expr_print_lines(pw_formula_of(use->o.bytes)->x, &text);
        if (!replace && access(path->s, F_OK) == 0)
            code = pw_fail(err, PW_EUSER, "%s exists; replace=on replaces it", path->s);
    }
    if (code == PW_OK)
        code = pw_file_create(&file, path->s, err);
    if (code == PW_OK) {
        if (!replace)
            pw_file_fresh(file);
        fputs(text.s, pw_file_stream(file));
        code = pw_file_commit(file, err);
    }
    pw_str_fini(&folder);
    pw_str_fini(&text);
    return code;
}
