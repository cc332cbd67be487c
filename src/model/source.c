/* source.c - see source.h. */
#include "model/source.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/model_int.h"

struct pw_source_files *pw_source_copy(const struct pw_source_files *s)
{
    if (s == NULL)
        return NULL;
    struct pw_source_files *copy = pw_alloc(1, sizeof *copy);
    *copy = (struct pw_source_files){.path = pw_text_dup(s->path), .n = s->n, .pe = s->pe, .n_own = s->n_own};
    copy->own = pw_alloc((size_t)s->n_own + 1, sizeof *copy->own);
    for (int i = 0; i < s->n_own; i++)
        copy->own[i] = pw_text_dup(s->own[i]);
    copy->files = pw_alloc((size_t)s->n + 1, sizeof *copy->files);
    memcpy(copy->files, s->files, (size_t)s->n * sizeof *copy->files);
    return copy;
}

void pw_source_free(struct pw_source_files *s)
{
    if (s == NULL)
        return;
    for (int i = 0; i < s->n_own; i++)
        free(s->own[i]);
    free(s->own);
    free(s->path);
    free(s->files);
    free(s);
}

bool pw_source_same(const struct pw_source_files *a, const struct pw_source_files *b)
{
    bool same = a->n == b->n;
    for (int i = 0; i < a->n && same; i++)
        same = strcmp(a->files[i].name, b->files[i].name) == 0 &&
               strcmp(a->files[i].sha, b->files[i].sha) == 0 && a->files[i].bytes == b->files[i].bytes;
    return same;
}

static bool names(const struct pw_source_files *s, const char *name)
{
    for (int i = 0; i < s->n_own; i++)
        if (strcmp(s->own[i], name) == 0)
            return true;
    return false;
}

bool pw_source_owns(const struct pw_source_files *s, const struct pw_param *p)
{
    return p->adapter || (p->pe ? !s->pe : names(s, p->name));
}

void pw_source_step(struct pw_model *m, enum pw_trains trains)
{
    struct pw_source_files *s = m->source;

    if (s == NULL || trains == PW_TRAINS_ALL) {
        pw_model_set_source(m, NULL);
        return;
    }
    for (int i = 0; i < m->lay.n; i++) {
        const struct pw_param *p = &m->lay.params[i];
        if (!pw_param_trains(p, trains) || pw_source_owns(s, p))
            continue;
        s->pe = s->pe && !p->pe;
        if (p->pe)
            continue;
        s->own = pw_grow(s->own, (size_t)s->n_own + 1, sizeof *s->own);
        s->own[s->n_own++] = pw_text_dup(p->name);
    }
}

const struct pw_source_files *pw_model_source(const struct pw_model *m)
{
    return m->source;
}

void pw_model_set_source(struct pw_model *m, const struct pw_source_files *s)
{
    struct pw_source_files *copy = pw_source_copy(s);
    pw_source_free(m->source);
    m->source = copy;
}
