/* new - make a study from a text. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "study/ready.h"
#include "study/scale.h"
#include "study/try.h"
#include "study/verbs/verbs_int.h"

struct options {
    char ready[32];
    int scale; /* index in pw_study_scales */
};

static const struct pw_opt table[] = {
    PW_STUDY_TEXT(ready, "a study that comes with pewter; 'study ready' lists them"),
    {.name = "scale",
     .type = PW_OPT_CHOICE,
     .offset = offsetof(struct options, scale),
     .def = "toy",
     .choices = pw_study_scales,
     .help = "which statements of two scales are kept"},
    {.name = NULL}};

/* The text of a study: a ready one, a file, if there is one of this name, else the words themselves. */
static enum pw_code text_of(struct pw_str *text, const char *ready, int n, char **words, struct pw_err *err)
{
    char *read = NULL;
    size_t size;
    struct stat st;
    if (ready[0] != '\0' && n > 0)
        return pw_fail(err, PW_EUSER, "study new: ready=%s has a text; remove '%s'", ready, words[0]);
    if (ready[0] != '\0') {
        const struct pw_study_ready *r;
        enum pw_code code = pw_study_ready_find(&r, ready, err);
        if (code == PW_OK)
            pw_str_add(text, "%s", r->text);
        return code;
    }
    if (n == 1 && stat(words[0], &st) == 0 && S_ISREG(st.st_mode)) {
        enum pw_code code = pw_file_read(words[0], 1 << 20, &read, &size, err);
        if (code == PW_OK)
            pw_str_add(text, "%s", read);
        free(read);
        return code;
    }
    for (int i = 0; i < n; i++)
        pw_str_add(text, "%s%s", i > 0 ? " " : "", words[i]);
    return n > 0 ? PW_OK
                 : pw_fail(err, PW_EUSER, "study new NAME needs the text of the study, or a file with it");
}

static void add_count(struct pw_str *out, int n, const char *noun)
{
    pw_str_add(out, "%d %s%s", n, noun, n == 1 ? "" : "s");
}

static void add_range(struct pw_str *out, int min, int max, const char *noun)
{
    if (min < max)
        pw_str_add(out, "%d to ", min);
    add_count(out, max, noun);
}

static void print_made(FILE *out, const char *folder, const struct pw_study *s)
{
    struct pw_str line = {0};
    int of_seed = s->n_arms * s->tasks.n;
    add_count(&line, s->n_arms, "arm");
    pw_str_add(&line, ", ");
    add_count(&line, s->tasks.n, "task");
    pw_str_add(&line, ", ");
    add_count(&line, s->n_ask, "comparison");
    pw_str_add(&line, "%s, ", s->tasks.n > 1 ? " of each task" : "");
    add_range(&line, s->seeds_min, s->seeds_max, "seed");
    pw_str_add(&line, ": ");
    add_range(&line, of_seed * s->seeds_min, of_seed * s->seeds_max, "run");
    fprintf(out, "%s: %s\n", folder, line.s);
    pw_str_fini(&line);
}

static enum pw_code run(const struct pw_study_call *call, struct pw_err *err)
{
    const struct options *o = call->opts;
    struct pw_str text = {0}, scaled = {0};
    struct pw_study s = {0};
    enum pw_code code = text_of(&text, o->ready, call->n, call->words, err);
    if (code == PW_OK)
        code = pw_study_scale(&scaled, pw_str_text(&text), pw_study_scales[o->scale], err);
    if (code == PW_OK)
        code = pw_study_read(&s, pw_str_text(&scaled), err);
    if (code == PW_OK)
        code = pw_study_try(&s, err);
    if (code == PW_OK)
        code = pw_study_create(call->folder, scaled.s, err);
    if (code == PW_OK)
        print_made(call->out, call->folder, &s);
    pw_study_fini(&s);
    pw_str_fini(&text);
    pw_str_fini(&scaled);
    return code;
}

const struct pw_study_verb pw_study_verb_new = {
    .name = "new", .words = "TEXT or FILE", .opts = table, .opts_size = sizeof(struct options), .run = run};
