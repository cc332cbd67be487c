/* codec_compare.c - find the first member in which two events of a kind differ, by the codec's field tables.
 *
 * The re-run event is first encoded and decoded, as the recorded one was. That cleans texts, makes every NaN
 * the same, and leaves out arrays that are too large to be recorded. So every field is compared, and a new
 * field needs no code here. Three kinds of fields are skipped: prose, whose wording may change between
 * versions; those that depended on the machine in edition 0, for sessions of that edition; and those that the
 * session's edition did not have. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/opt.h"
#include "sessions/codec_int.h"

enum { RENAMED_CHOICES = 5 }; /* the edition whose texts have the present names of choices (base/opt.h) */

struct walk {
    enum pw_event_kind kind;
    int edition; /* of the recorded event */
    struct pw_difference *d;
    char place[48]; /* the struct being compared: " at length 12", " of claim [0]" */
};

/* Words for members whose names are unclear in a message; other members appear by name. */
static const struct {
    enum pw_event_kind kind; /* PW_EV_KINDS: any kind */
    const char *name, *words;
} words[] = {
    {PW_EV_UPDATES, "ratio", "ratio of block"},
    {PW_EV_EVAL, "rows", "row"},
    {PW_EV_EVAL, "pairs", "pair"},
    {PW_EV_EVAL, "tokens_right", "tokens right"},
    {PW_EV_EVAL, "errors", "first errors"},
    {PW_EV_EVAL, "places", "places of first errors"},
    {PW_EV_EVAL, "taught", "teacher-forced"},
    {PW_EV_FAILING, "list", "example"},
    {PW_EV_FAILING, "index", "sample"},
    {PW_EV_FAILING, "model", "answer"},
    {PW_EV_PROMPT, "id", "prompt"},
    {PW_EV_PROMPT, "n_prompt", "tokens of the prompt"},
    {PW_EV_PROMPT, "n", "tokens"},
    {PW_EV_PROMPT, "tokens", "token"},
    {PW_EV_LOOK, "n", "candidates"},
    {PW_EV_LOOK, "token", "candidate"},
    {PW_EV_LOOK, "mean", "mean part"},
    {PW_EV_LOOK, "lens", "layer"},
    {PW_EV_LOOK, "lens_prob", "logit lens"},
    {PW_EV_LOOK, "lens_rank", "rank in the logit lens"},
    {PW_EV_ATTENTION, "probs", "attention"},
    {PW_EV_ATTENTION, "all_scores", "all scores"},
    {PW_EV_TABLE, "pe", "encoding"},
    {PW_EV_TABLE, "bucket_bias", "bucket's bias"},
    {PW_EV_TABLE, "met", "pairs seen"},
    {PW_EV_TABLE, "rows", "rows seen"},
    {PW_EV_TABLE, "key_met", "pairs seen by key"},
    {PW_EV_TABLE, "grad", "gradient"},
    {PW_EV_TABLE, "key_grad", "gradient of key"},
    {PW_EV_TABLE, "query_bias", "bias of a query"},
    {PW_EV_TABLE, "tensors", "tensor"},
    {PW_EV_TABLE, "params", "parameter"},
    {PW_EV_TABLE, "learned", "learned value"},
    {PW_EV_TABLE, "learned_grads", "gradient of learned value"},
    {PW_EV_TABLE, "entries", "entry of a table"},
    {PW_EV_TABLE, "entry_grads", "gradient of entry"},
    {PW_EV_HEADS, "mode", "mode of head"},
    {PW_EV_FINDING, "values", "value"},
    {PW_EV_FINDING, "labels", "name"},
    {PW_EV_FINDING, "blocks", "block"},
    {PW_EV_FINDING, "claims", "claim"},
    {PW_EV_FINDING, "remarks", "remark"},
    {PW_EV_FINDING, "actions", "commands of row"},
    {PW_EV_KINDS, "pos", "position"},
    {PW_EV_KINDS, "prob", "probability"},
    {PW_EV_KINDS, "n_top", "candidates"},
    {PW_EV_KINDS, "top_label", "candidate"},
    {PW_EV_KINDS, "top_prob", "candidate's probability"},
    {PW_EV_KINDS, "T", "positions"},
};

static const char *words_of(const struct walk *w, const struct pw_field *f)
{
    const char *name = pw_field_name(f);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if ((words[i].kind == w->kind || words[i].kind == PW_EV_KINDS) && strcmp(words[i].name, name) == 0)
            return words[i].words;
    return name;
}

/* ---- values as text */

static void value_text(char dst[64], const struct pw_field *f, const char *p)
{
    uint64_t bits = f->type > PW_F_LONG && f->type < PW_F_TEXT ? pw_load_bits(f->type, p) : 0;
    switch (f->type) {
    case PW_F_FLOAT: snprintf(dst, 64, "%.9g (0x%08" PRIx64 ")", (double)pw_bits_float(bits), bits); break;
    case PW_F_DOUBLE: snprintf(dst, 64, "%.17g (0x%016" PRIx64 ")", pw_bits_double(bits), bits); break;
    case PW_F_HALF:
        snprintf(dst, 64, "%.5g (0x%04" PRIx64 ")", (double)pw_from_half((uint16_t)bits), bits);
        break;
    case PW_F_BITS: snprintf(dst, 64, "0x%016" PRIx64, bits); break;
    case PW_F_BYTE: snprintf(dst, 64, "%" PRIu64, bits); break;
    case PW_F_STRING:
    case PW_F_TEXT: snprintf(dst, 64, "'%.60s'", pw_field_text(f, p)); break;
    default: snprintf(dst, 64, "%" PRId64, pw_load_number(f->type, p)); break;
    }
}

/* Set d->what to entry i of a list field; -1: to the field itself. */
static void name_it(const struct walk *w, const struct pw_field *f, int64_t i)
{
    char at[24] = "";
    if (i >= 0)
        snprintf(at, sizeof at, " [%" PRId64 "]", i);
    snprintf(w->d->what, sizeof w->d->what, "%.24s%.24s%.14s", words_of(w, f), w->place, at);
}

static bool differ(const struct walk *w, const struct pw_field *f, int64_t i, const char *then,
                   const char *now)
{
    name_it(w, f, i);
    value_text(w->d->recorded, f, then);
    value_text(w->d->now, f, now);
    return false;
}

/* ---- values */

static bool same_fields(struct walk *w, const struct pw_message *m, const char *then, const char *now);

/* Describe a struct by the member that identifies it, as text in w->place. */
static bool place_by_member(struct walk *w, const struct pw_message *m, const char *then)
{
    for (int i = 0; m->place != NULL && i < m->n; i++)
        if (strcmp(m->fields[i].name, m->place) == 0) {
            snprintf(w->place, sizeof w->place, " at %s %" PRId64, words_of(w, &m->fields[i]),
                     pw_load_number(m->fields[i].type, then + m->fields[i].at));
            return true;
        }
    return false;
}

static bool same_struct(struct walk *w, const struct pw_field *f, int64_t i, const char *then,
                        const char *now)
{
    struct walk inner = *w;
    if (!place_by_member(&inner, f->of, then) && i >= 0)
        snprintf(inner.place, sizeof inner.place, " of %.12s [%" PRId64 "]", words_of(w, f), i);
    return same_fields(&inner, f->of, then, now);
}

/* Is the recorded text the new one, written with the old names of choices? */
static bool same_renamed(const char *then, const char *now)
{
    struct pw_str old = {0};
    pw_opt_old_names(&old, now);
    bool same = strcmp(then, pw_str_text(&old)) == 0;
    pw_str_fini(&old);
    return same;
}

static bool same_value(struct walk *w, const struct pw_field *f, int64_t i, const char *then, const char *now)
{
    bool same;
    if (f->type == PW_F_STRUCT)
        return same_struct(w, f, i, then, now);
    if (f->type == PW_F_TEXT || f->type == PW_F_STRING)
        same = strcmp(pw_field_text(f, then), pw_field_text(f, now)) == 0 ||
               (w->edition < RENAMED_CHOICES && same_renamed(pw_field_text(f, then), pw_field_text(f, now)));
    else if (f->type <= PW_F_LONG)
        same = pw_load_number(f->type, then) == pw_load_number(f->type, now);
    else
        same = pw_load_bits(f->type, then) == pw_load_bits(f->type, now);
    return same || differ(w, f, i, then, now);
}

static bool same_list(struct walk *w, const struct pw_field *f, const char *then, const char *now)
{
    const char *x = then + f->at, *y = now + f->at;
    size_t n = pw_field_count(f, then), is = pw_field_count(f, now);
    if (f->form == PW_FORM_ARRAY) {
        memcpy(&x, x, sizeof(void *));
        memcpy(&y, y, sizeof(void *));
        n = x != NULL ? n : 0;
        is = y != NULL ? is : 0;
    }
    for (size_t i = 0; i < n && i < is; i++)
        if (!same_value(w, f, (int64_t)i, x + i * f->size, y + i * f->size))
            return false;
    if (n == is)
        return true;
    name_it(w, f, -1);
    snprintf(w->d->recorded, sizeof w->d->recorded, n > 0 ? "there" : "not there");
    snprintf(w->d->now, sizeof w->d->now, is > 0 ? "there" : "not there");
    return false;
}

/* Does the field have the value of a missing field? */
static bool is_nothing(const struct pw_field *f, const char *base)
{
    const char *p = base + f->at;
    size_t n = f->form == PW_FORM_ARRAY ? sizeof(void *)
               : f->form == PW_FORM_ONE ? f->size
                                        : f->size * (size_t)f->most;
    while (n > 0 && p[n - 1] == 0)
        n--;
    return n == 0;
}

static bool is_known(const struct walk *w, const struct pw_message *m, const struct pw_field *f)
{
    return w->edition >= PW_EDITION || m->upto[w->edition] == 0 || f->number <= m->upto[w->edition];
}

static bool same_fields(struct walk *w, const struct pw_message *m, const char *then, const char *now)
{
    bool same = true;
    for (int i = 0; same && i < m->n; i++) {
        const struct pw_field *f = &m->fields[i];
        if (f->prose || (f->host != NULL && w->edition == 0) || (!is_known(w, m, f) && is_nothing(f, then)))
            continue;
        same = f->form == PW_FORM_ONE ? same_value(w, f, -1, then + f->at, now + f->at)
                                      : same_list(w, f, then, now);
    }
    return same;
}

bool pw_event_same(const struct pw_event *then, const struct pw_event *now, struct pw_difference *d)
{
    const struct pw_message *m = &pw_messages[then->kind];
    struct walk w = {.kind = then->kind, .edition = PW_EDITION - then->older, .d = d};
    struct pw_str bytes = {0};
    struct pw_event *back;
    struct pw_err err;
    int unknown = 0;
    pw_event_encode(&bytes, now);
    enum pw_code code =
        pw_event_decode(&back, (int)now->kind, pw_str_text(&bytes), bytes.len, &unknown, &err);
    pw_str_fini(&bytes);
    *d = (struct pw_difference){0};
    if (code != PW_OK) { /* the new event could not be read back from a session */
        snprintf(d->what, sizeof d->what, "it");
        snprintf(d->recorded, sizeof d->recorded, "readable");
        snprintf(d->now, sizeof d->now, "not: %.58s", err.msg);
        return false;
    }
    const char *a = (const char *)then + m->at, *b = (const char *)back + m->at;
    place_by_member(&w, m, a);
    bool same = same_fields(&w, m, a, b);
    pw_event_free(back);
    return same;
}
