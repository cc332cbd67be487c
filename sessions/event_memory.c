/* event_memory.c - allocate, free, copy and measure events, by the field tables of codec_fields.c.
 *
 * An event is allocated with the payload of its kind alone: a step takes 88 bytes, while the union takes 5.5
 * kB. So an event on the heap is never assigned as a struct (`*a = *b` reads the whole union): use
 * pw_event_copy or pw_event_move. A table says which members are pointers, so a new array needs no line here.
 * Entries of arrays hold no pointers themselves; a unit test checks the tables for that. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sessions/codec_int.h"

static size_t event_size(enum pw_event_kind kind)
{
    return offsetof(struct pw_event, u) + pw_messages[kind].size;
}

struct pw_event *pw_event_new(enum pw_event_kind kind)
{
    struct pw_event *e = pw_alloc(1, event_size(kind));
    e->kind = kind;
    return e;
}

bool pw_field_owns(const struct pw_field *f)
{
    return f->form == PW_FORM_ARRAY || f->type == PW_F_STRING;
}

/* Where field f of event e lies. */
static char *place_of(const struct pw_event *e, const struct pw_field *f)
{
    return (char *)e + pw_messages[e->kind].at + f->at;
}

static void *load_pointer(const char *place)
{
    void *p;
    memcpy(&p, place, sizeof p);
    return p;
}

static void free_arrays(struct pw_event *e)
{
    const struct pw_message *m = &pw_messages[e->kind];
    for (int i = 0; i < m->n; i++)
        if (pw_field_owns(&m->fields[i]))
            free(load_pointer(place_of(e, &m->fields[i])));
}

void pw_event_clear(struct pw_event *e)
{
    free_arrays(e);
    memset(&e->u, 0, pw_messages[e->kind].size);
}

void pw_event_free(struct pw_event *e)
{
    if (e == NULL)
        return;
    free_arrays(e);
    free(e);
}

struct pw_event *pw_event_move(struct pw_event *from)
{
    struct pw_event *e = pw_event_new(from->kind);
    memcpy(e, from, event_size(from->kind));
    memset(&from->u, 0, pw_messages[from->kind].size);
    return e;
}

/* Bytes that the pointer of field f points to; 0: it is NULL. */
static size_t bytes_owned(const struct pw_event *e, const struct pw_field *f)
{
    const char *p = load_pointer(place_of(e, f));
    if (p == NULL)
        return 0;
    if (f->type == PW_F_STRING)
        return strlen(p) + 1;
    size_t n = pw_field_count(f, (const char *)e + pw_messages[e->kind].at);
    return n <= PW_EVENT_BYTES ? n * f->size : 0;
}

struct pw_event *pw_event_copy(const struct pw_event *e)
{
    const struct pw_message *m = &pw_messages[e->kind];
    struct pw_event *copy = pw_event_new(e->kind);
    memcpy(copy, e, event_size(e->kind));
    for (int i = 0; i < m->n; i++) {
        const struct pw_field *f = &m->fields[i];
        if (!pw_field_owns(f))
            continue;
        size_t bytes = bytes_owned(e, f);
        void *array = bytes > 0 ? pw_copy(load_pointer(place_of(e, f)), bytes, 1) : NULL;
        memcpy(place_of(copy, f), &array, sizeof array);
    }
    return copy;
}

size_t pw_event_bytes(const struct pw_event *e)
{
    const struct pw_message *m = &pw_messages[e->kind];
    size_t bytes = event_size(e->kind);
    for (int i = 0; i < m->n; i++)
        if (pw_field_owns(&m->fields[i]))
            bytes += bytes_owned(e, &m->fields[i]);
    return bytes;
}
