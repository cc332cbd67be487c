/* encoding_files.c - formulas for the command pe: their language, their files, and saving one. */
#include <string.h>

#include "lab/encodings.h"
#include "model/expr/library.h"
#include "model/expr/words.h"

enum { COLUMN = 28 }; /* of meanings in the help on formulas */

void pw_encoding_expr_about(struct pw_str *out)
{
    pw_str_add(out, "pe expr FORMULA: an encoding of your own\n");
    for (const struct pw_formula_words *s = pw_formula_words; s->title != NULL; s++) {
        pw_str_add(out, "\n%s\n", s->title);
        for (const struct pw_formula_word *w = s->words; w->meaning != NULL; w++)
            if (w->term == NULL)
                pw_str_add(out, "  %s\n", w->meaning);
            else if (strlen(w->term) < COLUMN)
                pw_str_add(out, "  %-*s%s\n", COLUMN, w->term, w->meaning);
            else
                pw_str_add(out, "  %s\n  %*s%s\n", w->term, COLUMN, "", w->meaning);
    }
}

static void list_file(void *arg, const char *name)
{
    struct pw_library_file f;
    struct pw_err err;
    if (pw_library_read(&f, name, &err) != PW_OK)
        pw_str_add(arg, "  %-22s %s\n", name, err.msg);
    else
        pw_str_add(arg, "  %-22s %s\n", name, f.title != NULL ? f.title : "");
    pw_library_free(&f);
}

void pw_encoding_files_about(struct pw_str *out)
{
    struct pw_str list = {0};
    pw_library_list(list_file, &list);
    if (list.len > 0)
        pw_str_add(out, "\nencodings from formula files ('help pe NAME' shows the formula):\n%s", list.s);
    pw_str_fini(&list);
}

/* A line of the file, indented; the head is left out. */
static void describe_formula(const char *formula, struct pw_str *out)
{
    for (const char *line = formula + strspn(formula, "\r\n"); *line != '\0';) {
        size_t n = strcspn(line, "\n");
        pw_str_add(out, "  %.*s\n", (int)n, line);
        line += n + (line[n] != '\0');
    }
}

bool pw_encoding_file_about(const char *word, struct pw_str *out)
{
    struct pw_library_file f;
    struct pw_pe_use_opts use;
    struct pw_err err;
    if (!pw_library_has(word))
        return false;
    if (pw_library_read(&f, word, &err) != PW_OK) {
        pw_str_add(out, "pe %s: %s\n", word, err.msg);
        return true;
    }
    pw_str_add(out, "pe %s: %s\n%s%s", f.name, f.title != NULL ? f.title : "a formula",
               f.paper != NULL ? f.paper : "", f.paper != NULL ? "\n" : "");
    if (f.look != NULL)
        pw_str_add(out, "%s\n", f.look);
    pw_str_add(out, "\n");
    describe_formula(f.formula, out);
    if (pw_library_use_file(&use, &f, &err) != PW_OK)
        pw_str_add(out, "\n%s\n", err.msg);
    pw_library_free(&f);
    return true;
}

bool pw_encoding_is_project(const char *name)
{
    return pw_library_is_own(name);
}

enum pw_code pw_encoding_save(const struct pw_pe_use_opts *use, const char *name, const char *title,
                              bool replace, struct pw_str *path, struct pw_err *err)
{
    return pw_library_save(use, name, title[0] != '\0' ? title : NULL, replace, path, err);
}
