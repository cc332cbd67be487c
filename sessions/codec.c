/* codec.c - encode and decode fields by the tables of codec_fields.c.
 *
 * A field begins with a varint, 4 * number + wire type. Then follows a varint, 4 bytes, 8 bytes, or a length
 * and that many bytes. So a reader can skip fields that it doesn't know. Fields are in ascending order of
 * their numbers: no field occurs twice, and the members that give the length of an array precede it. */
#include "sessions/codec.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sessions/codec_int.h"

enum wire { WIRE_VARINT, WIRE_4, WIRE_8, WIRE_BYTES };

static enum wire wire_of(const struct pw_field *f)
{
    if (f->form != PW_FORM_ONE || f->type >= PW_F_HALF)
        return WIRE_BYTES;
    return f->type == PW_F_FLOAT                            ? WIRE_4
           : f->type == PW_F_DOUBLE || f->type == PW_F_BITS ? WIRE_8
                                                            : WIRE_VARINT;
}

size_t pw_field_count(const struct pw_field *f, const char *base)
{
    size_t n = 1;
    if (f->form == PW_FORM_LIST)
        return (size_t)f->most;
    if (f->count != NULL) {
        int k = f->count(base);
        return k >= 0 ? (size_t)k : SIZE_MAX;
    }
    for (int i = 0; i < 4 && (f->by[i].member > 0 || f->by[i].add > 0); i++) {
        int64_t k = f->by[i].add;
        if (f->by[i].member > 0)
            k += pw_load_number(PW_F_INT, base + f->by[i].member - 1);
        if (k < 0 || (k > 0 && n > PW_EVENT_BYTES / (size_t)k))
            return SIZE_MAX;
        n *= (size_t)k;
    }
    return n;
}

bool pw_field_counts(const struct pw_message *m, const struct pw_field *f)
{
    enum { FACTORS = sizeof f->by / sizeof *f->by };
    for (int i = 0; i < m->n; i++)
        for (int k = 0; k < FACTORS; k++)
            if (m->fields[i].by[k].member == f->at + 1)
                return true;
    return false;
}

const char *pw_field_name(const struct pw_field *f)
{
    const char *dot = strrchr(f->name, '.');
    return dot != NULL ? dot + 1 : f->name;
}

const char *pw_field_text(const struct pw_field *f, const char *p)
{
    const char *text = p;
    if (f->type == PW_F_STRING)
        memcpy(&text, p, sizeof text);
    return text != NULL ? text : "";
}

/* ---- writing */

static void put_key(struct pw_str *out, const struct pw_field *f)
{
    pw_put_varint(out, (uint64_t)f->number * 4 + wire_of(f));
}

static void put_bytes(struct pw_str *out, const char *s, size_t n)
{
    pw_put_varint(out, n);
    pw_str_put(out, s, n);
}

static void put_text(struct pw_str *out, const char *text)
{
    size_t room = strlen(text) + 1; /* cleaning never makes a text longer */
    char small[PW_LINE * 4], *clean = room <= sizeof small ? small : pw_alloc(room, 1);
    pw_text_copy(clean, room, text);
    put_bytes(out, clean, strlen(clean));
    if (clean != small)
        free(clean);
}

static void put_fields(struct pw_str *out, const struct pw_message *m, const char *base, size_t *room);

/* Append the entries of a list. */
static void put_entries(struct pw_str *out, const struct pw_field *f, const char *p, size_t n, size_t *room)
{
    struct pw_str one = {0};
    int bytes = pw_field_bytes(f->type);
    char block[2048];
    size_t used = 0;
    for (size_t i = 0; i < n; i++, p += f->size) {
        if (bytes > 0) {
            uint64_t v = pw_load_bits(f->type, p);
            for (int b = 0; b < bytes; b++)
                block[used++] = (char)(v >> 8 * b);
            if (used == sizeof block || i + 1 == n) {
                pw_str_put(out, block, used);
                used = 0;
            }
        } else if (f->type == PW_F_TEXT) {
            put_text(out, p);
        } else if (f->type == PW_F_STRUCT) {
            pw_str_clear(&one);
            put_fields(&one, f->of, p, room);
            put_bytes(out, pw_str_text(&one), one.len);
        } else {
            pw_put_varint(out, pw_folded(pw_load_number(f->type, p)));
        }
    }
    pw_str_fini(&one);
}

static bool all_zero(const char *p, size_t n)
{
    while (n > 0 && p[n - 1] == 0)
        n--;
    return n == 0;
}

static void put_list(struct pw_str *out, const struct pw_field *f, const char *base, size_t *room)
{
    const char *p = base + f->at;
    size_t n = pw_field_count(f, base);
    if (f->form == PW_FORM_ARRAY) {
        memcpy(&p, base + f->at, sizeof p);
        if (p == NULL || n > *room / f->size) /* too large to be recorded: leave it out */
            return;
        *room -= n * f->size;
    } else if (n > (size_t)f->most) {
        return;
    }
    while (f->form == PW_FORM_LIST && n > 0 && all_zero(p + (n - 1) * f->size, f->size))
        n--;
    if (n == 0)
        return;
    struct pw_str body = {0};
    put_entries(&body, f, p, n, room);
    put_key(out, f);
    put_bytes(out, pw_str_text(&body), body.len);
    pw_str_fini(&body);
}

static void put_one(struct pw_str *out, const struct pw_field *f, const char *p, size_t *room)
{
    if (f->type == PW_F_STRING) {
        const char *text;
        memcpy(&text, p, sizeof text);
        if (text == NULL || strlen(text) >= *room)
            return;
        *room -= strlen(text) + 1;
        put_key(out, f);
        put_text(out, text);
    } else if (f->type == PW_F_TEXT) {
        if (p[0] == '\0')
            return;
        put_key(out, f);
        put_text(out, p);
    } else if (f->type == PW_F_STRUCT) {
        struct pw_str body = {0};
        put_fields(&body, f->of, p, room);
        put_key(out, f);
        put_bytes(out, pw_str_text(&body), body.len);
        pw_str_fini(&body);
    } else if (wire_of(f) == WIRE_VARINT) {
        int64_t v = pw_load_number(f->type, p);
        if (v == 0)
            return;
        put_key(out, f);
        pw_put_varint(out, pw_folded(v));
    } else {
        uint64_t v = pw_load_bits(f->type, p);
        if (v == 0)
            return;
        put_key(out, f);
        pw_put_fixed(out, v, pw_field_bytes(f->type));
    }
}

static void put_fields(struct pw_str *out, const struct pw_message *m, const char *base, size_t *room)
{
    for (int i = 0; i < m->n; i++)
        if (m->fields[i].form == PW_FORM_ONE)
            put_one(out, &m->fields[i], base + m->fields[i].at, room);
        else
            put_list(out, &m->fields[i], base, room);
}

void pw_event_encode(struct pw_str *out, const struct pw_event *e)
{
    const struct pw_message *m = &pw_messages[e->kind];
    size_t room = PW_EVENT_BYTES;
    put_fields(out, m, (const char *)e + m->at, &room);
    if (e->older < PW_EDITION) {
        pw_put_varint(out, PW_EDITION_FIELD * 4 + WIRE_VARINT);
        pw_put_varint(out, (uint64_t)(PW_EDITION - e->older));
    }
}

/* ---- reading */

struct input {
    const unsigned char *at, *end;
};

struct decoding { /* shared by all levels */
    size_t room;
    int *unknown;
    uint64_t edition;
    const char *kind;
    struct pw_err *err;
};

static enum pw_code bad(const struct decoding *d, const struct pw_field *f, const char *why)
{
    return pw_fail(d->err, PW_EUSER, "a recorded %s can't be read: %s%s%s", d->kind,
                   f != NULL ? pw_field_name(f) : "", f != NULL ? ": " : "", why);
}

/* Read a length and that many bytes from `in`. */
static bool get_bytes(struct input *in, struct input *part)
{
    uint64_t n;
    if (!pw_get_varint(&in->at, in->end, &n) || n > (uint64_t)(in->end - in->at))
        return false;
    *part = (struct input){in->at, in->at + n};
    in->at += n;
    return true;
}

/* Copy n bytes as a cleaned text of at most size - 1 bytes. */
static void copy_text(char *dst, size_t size, const struct input *in)
{
    size_t n = (size_t)(in->end - in->at), most = size + 4; /* further bytes can't matter */
    char small[PW_LINE * 4 + 8], *raw = small;
    n = n < most ? n : most;
    if (n >= sizeof small)
        raw = pw_alloc(n + 1, 1);
    for (size_t i = 0; i < n; i++)
        raw[i] = in->at[i] != '\0' ? (char)in->at[i] : '\1';
    raw[n] = '\0';
    pw_text_copy(dst, size, raw);
    if (raw != small)
        free(raw);
}

static enum pw_code get_fields(struct decoding *d, struct input in, const struct pw_message *m, char *base);

static enum pw_code get_number(struct decoding *d, struct input *in, const struct pw_field *f, char *p)
{
    uint64_t u;
    if (!pw_get_varint(&in->at, in->end, &u))
        return bad(d, f, "it ends too early");
    int64_t v = pw_unfolded(u), lo = f->lo, hi = f->hi;
    if (f->type == PW_F_BOOL)
        lo = 0, hi = 1;
    if (f->type == PW_F_INT)
        lo = lo < INT32_MIN ? INT32_MIN : lo, hi = hi > INT32_MAX ? INT32_MAX : hi;
    if (v < lo || v > hi)
        return bad(d, f, "out of range");
    pw_store_number(f->type, p, v);
    return PW_OK;
}

/* Read one entry of any type. */
static enum pw_code get_value(struct decoding *d, struct input *in, const struct pw_field *f, char *p)
{
    int bytes = pw_field_bytes(f->type);
    struct input part;
    uint64_t v;
    if (bytes > 0) {
        if (!pw_get_fixed(&in->at, in->end, &v, bytes))
            return bad(d, f, "it ends too early");
        if (f->type == PW_F_BYTE && ((int64_t)v < f->lo || (int64_t)v > f->hi))
            return bad(d, f, "out of range");
        pw_store_bits(f->type, p, v);
        return PW_OK;
    }
    if (f->type < PW_F_TEXT)
        return get_number(d, in, f, p);
    if (!get_bytes(in, &part))
        return bad(d, f, "it ends too early");
    if (f->type == PW_F_STRUCT)
        return get_fields(d, part, f->of, p);
    if (f->type == PW_F_TEXT) {
        copy_text(p, f->size, &part);
        return PW_OK;
    }
    size_t size = (size_t)(part.end - part.at) + 1; /* PW_F_STRING */
    if (size > d->room)
        return bad(d, f, "too large");
    d->room -= size;
    char *text = pw_alloc(size, 1);
    copy_text(text, size, &part);
    memcpy(p, &text, sizeof text);
    return PW_OK;
}

static enum pw_code get_list(struct decoding *d, struct input *in, const struct pw_field *f, char *base)
{
    struct input part;
    if (!get_bytes(in, &part))
        return bad(d, f, "it ends too early");
    size_t have = (size_t)(part.end - part.at), bytes = (size_t)pw_field_bytes(f->type);
    size_t n = pw_field_count(f, base);
    char *p = base + f->at;
    if (f->form == PW_FORM_ARRAY) {
        /* Every entry needs at least one byte of input, so the input bounds the allocation. */
        if (n == 0 || n > d->room / f->size || (bytes > 0 ? have / bytes != n || have % bytes : have < n))
            return bad(d, f, "not as many as it says");
        d->room -= n * f->size;
        p = calloc(n, f->size);
        if (p == NULL)
            return pw_fail(d->err, PW_ENOMEM, "out of memory for a recorded %s", d->kind);
        memcpy(base + f->at, &p, sizeof p);
    } else if (n > (size_t)f->most) {
        return bad(d, f, "more than there can be");
    }
    size_t i = 0;
    for (; i < n && part.at < part.end; i++) {
        enum pw_code code = get_value(d, &part, f, p + i * f->size);
        if (code != PW_OK)
            return code;
    }
    if (part.at < part.end || (i < n && f->form != PW_FORM_LIST))
        return bad(d, f, "not as many as it says");
    return PW_OK;
}

/* A missing field is zero, if zero is allowed. */
static enum pw_code get_nothing(struct decoding *d, const struct pw_field *f, const char *base)
{
    if (f->form == PW_FORM_ONE)
        return f->type <= PW_F_LONG && (f->lo > 0 || f->hi < 0) ? bad(d, f, "out of range") : PW_OK;
    if (f->form == PW_FORM_LIST)
        return PW_OK;
    size_t n = pw_field_count(f, base);
    if (f->form == PW_FORM_COUNTED ? n > 0 : n > 0 && f->needed)
        return bad(d, f, "not as many as it says");
    return PW_OK;
}

static bool skip(struct input *in, enum wire wire)
{
    struct input part;
    uint64_t v;
    switch (wire) {
    case WIRE_VARINT: return pw_get_varint(&in->at, in->end, &v);
    case WIRE_4: return pw_get_fixed(&in->at, in->end, &v, 4);
    case WIRE_8: return pw_get_fixed(&in->at, in->end, &v, 8);
    default: return get_bytes(in, &part);
    }
}

static enum pw_code get_fields(struct decoding *d, struct input in, const struct pw_message *m, char *base)
{
    enum pw_code code = PW_OK;
    uint64_t key, last = 0;
    int i = 0;
    while (in.at < in.end && code == PW_OK) {
        if (!pw_get_varint(&in.at, in.end, &key) || key / 4 <= last)
            return bad(d, NULL, "its fields are in no order");
        last = key / 4;
        for (; i < m->n && (uint64_t)m->fields[i].number < last && code == PW_OK; i++)
            code = get_nothing(d, &m->fields[i], base);
        if (code != PW_OK)
            break;
        if (key == PW_EDITION_FIELD * 4 + WIRE_VARINT) {
            if (!pw_get_varint(&in.at, in.end, &d->edition))
                return bad(d, NULL, "a field ends too early");
            continue;
        }
        if (i == m->n || (uint64_t)m->fields[i].number != last) {
            ++*d->unknown;
            if (!skip(&in, (enum wire)(key % 4)))
                return bad(d, NULL, "a field ends too early");
            continue;
        }
        const struct pw_field *f = &m->fields[i++];
        if (key % 4 != wire_of(f))
            return bad(d, f, "of another type");
        code = f->form == PW_FORM_ONE ? get_value(d, &in, f, base + f->at) : get_list(d, &in, f, base);
    }
    for (; i < m->n && code == PW_OK; i++)
        code = get_nothing(d, &m->fields[i], base);
    const char *why = code == PW_OK && m->check != NULL ? m->check(base) : NULL;
    return why != NULL ? bad(d, NULL, why) : code;
}

enum pw_code pw_event_decode(struct pw_event **e, int kind, const void *data, size_t n, int *unknown,
                             struct pw_err *err)
{
    if (kind < 0 || kind >= PW_EV_KINDS)
        return pw_fail(err, PW_EUSER, "recorded events of kind %d are not known", kind);
    const struct pw_message *m = &pw_messages[kind];
    struct decoding d = {.room = PW_EVENT_BYTES, .unknown = unknown, .kind = m->name, .err = err};
    const unsigned char *at = data;
    *e = pw_event_new((enum pw_event_kind)kind);
    struct input in = {at, n > 0 ? at + n : at};
    enum pw_code code = get_fields(&d, in, m, (char *)*e + m->at);
    (*e)->older = d.edition < PW_EDITION ? PW_EDITION - (int)d.edition : 0;
    if (code != PW_OK) {
        pw_event_free(*e);
        *e = NULL;
    }
    return code;
}
