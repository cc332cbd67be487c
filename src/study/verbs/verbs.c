#include "study/verbs/verbs.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "study/verbs/verbs_int.h"

extern const struct pw_study_verb pw_study_verb_new, pw_study_verb_run, pw_study_verb_status,
    pw_study_verb_stop, pw_study_verb_report, pw_study_verb_add, pw_study_verb_gather, pw_study_verb_list,
    pw_study_verb_cell, pw_study_verb_ready, pw_study_verb_size, pw_study_verb_weights;

static const struct pw_study_verb *const verbs[] = {
    &pw_study_verb_new,    &pw_study_verb_ready,   &pw_study_verb_size,   &pw_study_verb_run,
    &pw_study_verb_status, &pw_study_verb_stop,    &pw_study_verb_report, &pw_study_verb_add,
    &pw_study_verb_gather, &pw_study_verb_weights, &pw_study_verb_list,   &pw_study_verb_cell,
};
#define N_VERBS ((int)(sizeof verbs / sizeof *verbs))

const char *const pw_study_automatic[] = {"auto", NULL};

static const struct pw_study_verb *find(const char *name, struct pw_err *err)
{
    const char *names[N_VERBS + 1] = {NULL}, *near;
    struct pw_str all = {0};
    int n = 0;
    for (int i = 0; i < N_VERBS; i++) {
        if (strcmp(verbs[i]->name, name) == 0)
            return verbs[i];
        if (!verbs[i]->hidden)
            names[n++] = verbs[i]->name;
    }
    near = pw_text_nearest(name, names);
    for (int i = 0; i < n; i++)
        pw_str_add(&all, "%s%s", i == 0 ? "" : i == n - 1 ? " and " : ", ", names[i]);
    if (near != NULL)
        pw_fail(err, PW_EUSER, "study: no verb '%s'; did you mean '%s'?", name, near);
    else
        pw_fail(err, PW_EUSER, "study: allowed are %s", all.s);
    pw_str_fini(&all);
    return NULL;
}

const char *pw_study_verb_name(int i)
{
    for (int k = 0; k < N_VERBS; k++)
        if (!verbs[k]->hidden && i-- == 0)
            return verbs[k]->name;
    return NULL;
}

/* Sets an option of the verb. Returns PW_OK and *other for a word that is none. */
static enum pw_code set(const struct pw_study_verb *v, void *opts, const char *word, bool *other,
                        struct pw_err *err)
{
    const char *value = strchr(word, '=');
    char key[32], allowed[160] = "";
    snprintf(key, sizeof key, "%.*s", (int)(value != NULL ? value - word : 0), word);
    *other = value == NULL || v->opts == NULL || pw_opt_find(v->opts, key) == NULL;
    if (!*other) {
        char what[32];
        snprintf(what, sizeof what, "study %s", v->name);
        return pw_opt_set(v->opts, opts, what, key, value + 1, err);
    }
    if (v->words != NULL)
        return PW_OK;
    for (const struct pw_opt *o = v->opts; o != NULL && o->name != NULL; o++)
        snprintf(allowed + strlen(allowed), sizeof allowed - strlen(allowed),
                 "%s%s=", allowed[0] != '\0' ? " " : "", o->name);
    return pw_fail(err, PW_EUSER, "study %s: '%s': allowed are %s", v->name, word,
                   allowed[0] != '\0' ? allowed : "no options");
}

/* Reads the words, and runs the verb if `out` is not NULL. */
static enum pw_code read_words(int n, char **words, FILE *out, struct pw_err *err)
{
    const struct pw_study_verb *v = find(n > 0 ? words[0] : "", err);
    char folder[PW_STUDY_PATH];
    int skipped = v != NULL && v->nameless ? 1 : 2;
    enum pw_code code = PW_OK;
    if (v == NULL)
        return PW_EUSER;
    if (n < skipped)
        return pw_fail(err, PW_EUSER, "study %s: the name of the study is missing", v->name);
    if (!v->nameless && pw_study_folder(folder, words[1], err) != PW_OK)
        return PW_EUSER;
    void *opts = pw_alloc(1, v->opts_size + 1);
    char **rest = pw_alloc((size_t)n, sizeof *rest);
    struct pw_study_call call = {.words = rest, .opts = opts, .out = out};
    if (!v->nameless) {
        call.name = words[1];
        call.folder = folder;
    }
    if (v->opts != NULL)
        pw_opt_defaults(v->opts, opts);
    for (int i = skipped; i < n && code == PW_OK; i++) {
        bool other;
        code = set(v, opts, words[i], &other, err);
        if (code == PW_OK && other)
            rest[call.n++] = words[i];
    }
    if (code == PW_OK && v->check != NULL)
        code = v->check(&call, err);
    if (code == PW_OK && out != NULL)
        code = v->run(&call, err);
    free(rest);
    free(opts);
    return code;
}

enum pw_code pw_study_verb(int n, char **words, FILE *out, struct pw_err *err)
{
    return read_words(n, words, out, err);
}

enum pw_code pw_study_verb_check(int n, char **words, struct pw_err *err)
{
    return read_words(n, words, NULL, err);
}
