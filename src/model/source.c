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
    *copy = (struct pw_source_files){.path = pw_text_dup(s->path), .n = s->n, .pe = s->pe};
    copy->files = pw_alloc((size_t)s->n + 1, sizeof *copy->files);
    memcpy(copy->files, s->files, (size_t)s->n * sizeof *copy->files);
    return copy;
}

void pw_source_free(struct pw_source_files *s)
{
    if (s == NULL)
        return;
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
