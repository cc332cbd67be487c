/* record_rows.c - read events from rows, in order or by index.
 *
 * A row is accepted if its chain hash follows from the row before it; then its payload is decoded with its
 * own limits. A row that fails is skipped and counted. If SQLite can't read a page, the rows on it are lost,
 * and the cursor searches for the next number that can be read. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "sessions/record_int.h"

#define PATIENCE 5.0

/* Budget of a pass: 256 MiB, plus an amount for each byte of the database and for each row. Attention maps
 * compress to between a fifth and a fiftieth; a table that does not change is one blob, however often it is
 * emitted. */
#define UNPACKS     ((int64_t)256 << 20)
#define OF_EACH     64
#define OF_EACH_ROW ((int64_t)64 << 10)

static const char alone[] = "the row before it cannot be read, so its checksum cannot be tested";
static const char wild[] = "its numbers are out of range";

struct pw_record_cursor {
    struct pw_record *r;
    uint64_t from, next; /* the first event wanted; the next row has this number or a larger one */
    uint64_t given;      /* the last event returned: numbers ascend */
    uint8_t chain[PW_CHAIN];
    bool chained; /* chain is known */
    bool in_run;
    struct pw_str run; /* bytes of the run */
    struct pw_run_reader reader;
    struct pw_row row; /* row of the run, without text and data */
};

/* ---- one row */

bool pw_record_plausible(const struct pw_row *row)
{
    return row->seq >= 1 && row->last >= row->seq && row->last <= PW_MANY && row->kind >= 0 &&
           row->kind < 10000 && row->arm >= 0 && row->arm <= PW_MAX_ARMS && row->replica >= 0 &&
           row->replica <= PW_MAX_REPLICAS && row->step >= 0 && row->step <= PW_MANY &&
           (row->kind == PW_EV_STEP || row->last == row->seq) && (row->data != NULL) != (row->blob != NULL);
}

/* Inflate bytes from an untrusted file; the output is bounded by n. */
static bool inflate_all(struct pw_str *out, size_t n, const void *packed, size_t n_packed)
{
    if (out->cap < n + 1) {
        out->s = pw_grow(out->s, n + 1, 1);
        out->cap = n + 1;
    }
    uLongf size = n, used = n_packed;
    out->len = n;
    return uncompress2((Bytef *)out->s, &size, packed, &used) == Z_OK && size == n;
}

void pw_record_pass(struct pw_record *r)
{
    int64_t pages;
    pw_record_hurry(r, PATIENCE);
    pw_sql_int(r->db, "PRAGMA page_count", 0, &pages, NULL);
    r->unpacks = UNPACKS + pages * PW_PAGE * OF_EACH;
}

enum pw_code pw_record_payload(struct pw_record *r, const struct pw_row *row, const void **data, size_t *n,
                               bool *dropped, struct pw_err *err)
{
    uint8_t is[PW_SHA256];
    enum pw_code code = PW_OK;
    *dropped = false;
    *data = row->data;
    *n = row->n_data;
    r->unpacks += OF_EACH_ROW;
    if (row->blob == NULL)
        return PW_OK;
    sqlite3_bind_blob(r->blob, 1, row->blob, PW_SHA256, SQLITE_STATIC);
    int rc = sqlite3_step(r->blob);
    int64_t bytes = rc == SQLITE_ROW ? sqlite3_column_int64(r->blob, 0) : 0;
    const void *packed = rc == SQLITE_ROW ? sqlite3_column_blob(r->blob, 2) : NULL;
    *dropped = rc == SQLITE_ROW && sqlite3_column_int(r->blob, 1) == 1 && packed == NULL;
    if (rc != SQLITE_ROW)
        code = rc == SQLITE_DONE ? pw_fail(err, PW_EUSER, "its payload is missing")
                                 : pw_sql_fail(err, r->db, "its payload cannot be read");
    else if (!*dropped && bytes > r->unpacks)
        code = pw_fail(err, PW_EUSER, "its payload is too large for a session of this size");
    else if (!*dropped &&
             (packed == NULL || bytes < 0 || bytes > (int64_t)PW_PAYLOAD_MAX ||
              !inflate_all(&r->payload, (size_t)bytes, packed, (size_t)sqlite3_column_bytes(r->blob, 2))))
        code = pw_fail(err, PW_EUSER, "its payload is damaged");
    sqlite3_reset(r->blob);
    if (code != PW_OK || *dropped)
        return code;
    r->unpacks -= bytes;
    pw_sha256_of(is, r->payload.s, (size_t)bytes);
    if (memcmp(is, row->blob, sizeof is) != 0)
        return pw_fail(err, PW_EUSER, "its payload is damaged");
    *data = r->payload.s;
    *n = (size_t)bytes;
    return PW_OK;
}

enum pw_code pw_record_decode(struct pw_record *r, struct pw_event **e, const struct pw_row *row,
                              const void *data, size_t n, struct pw_err *err)
{
    *e = NULL;
    if (row->kind >= PW_EV_KINDS) {
        r->unknown++;
        return PW_OK;
    }
    enum pw_code code = pw_event_decode(e, (int)row->kind, data, n, &r->unknown, err);
    if (code != PW_OK)
        return code;
    (*e)->seq = (uint64_t)row->seq;
    (*e)->t_ns = row->t_ns;
    (*e)->arm = (int)row->arm;
    (*e)->replica = (int)row->replica;
    (*e)->step = row->step;
    if (pw_event_placed(*e))
        return PW_OK;
    pw_event_free(*e);
    *e = NULL;
    return pw_fail(err, PW_EUSER, "%s", wild);
}

/* Position r->row at the first row at or after seq. Returns SQLITE_ROW, SQLITE_DONE or an error; the caller
 * resets r->row. Two cases would loop for ever and are caught here. A B-tree in wrong order can return a row
 * before seq. And there is no number after SQLite's largest. */
static int seek(struct pw_record *r, uint64_t seq)
{
    if (seq > (uint64_t)PW_MANY)
        return SQLITE_DONE;
    pw_record_hurry(r, PATIENCE);
    sqlite3_bind_int64(r->row, 1, (sqlite3_int64)seq);
    int rc = sqlite3_step(r->row);
    return rc == SQLITE_ROW && sqlite3_column_int64(r->row, 0) < (sqlite3_int64)seq ? SQLITE_CORRUPT : rc;
}

static bool readable(struct pw_record *r, uint64_t seq)
{
    int rc = seek(r, seq);
    sqlite3_reset(r->row);
    return rc == SQLITE_ROW || rc == SQLITE_DONE;
}

/* Get the chain before row seq, and the number and the last event of the row before. False: it can't be
 * read. */
static bool look_before(struct pw_record *r, uint64_t seq, uint8_t chain[PW_CHAIN], uint64_t *row,
                        uint64_t *last)
{
    pw_record_hurry(r, PATIENCE);
    sqlite3_bind_int64(r->before, 1, (sqlite3_int64)seq);
    int rc = sqlite3_step(r->before);
    bool good = rc == SQLITE_DONE || (rc == SQLITE_ROW && sqlite3_column_bytes(r->before, 2) == PW_CHAIN);
    *row = *last = 0;
    memset(chain, 0, PW_CHAIN);
    if (good && rc == SQLITE_ROW) {
        *row = (uint64_t)sqlite3_column_int64(r->before, 0);
        *last = (uint64_t)sqlite3_column_int64(r->before, 1);
        memcpy(chain, sqlite3_column_blob(r->before, 2), PW_CHAIN);
    }
    sqlite3_reset(r->before);
    return good;
}

/* ---- by index */

static uint64_t probe(struct pw_record *r, sqlite3_stmt *q, enum pw_event_kind kind, int arm, int replica,
                      uint64_t seq)
{
    pw_record_hurry(r, PATIENCE);
    sqlite3_bind_int(q, 1, kind);
    sqlite3_bind_int64(q, 2, seq > INT64_MAX ? INT64_MAX : (sqlite3_int64)seq);
    if (q == r->by_slot) {
        sqlite3_bind_int(q, 3, arm);
        sqlite3_bind_int(q, 4, replica);
    }
    uint64_t found = sqlite3_step(q) == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(q, 0) : 0;
    sqlite3_reset(q);
    return found <= seq ? found : 0; /* the index is in wrong order: see seek */
}

static uint64_t find_last(struct pw_record *r, enum pw_event_kind kind, int arm, int replica, uint64_t seq)
{
    uint64_t best = 0;
    if (arm < 0 && replica < 0)
        return probe(r, r->by_kind, kind, 0, 0, seq);
    for (int a = arm < 0 ? 0 : arm; a <= (arm < 0 ? PW_MAX_ARMS : arm); a++)
        for (int k = replica < 0 ? 0 : replica; k <= (replica < 0 ? PW_MAX_REPLICAS : replica); k++) {
            uint64_t found = probe(r, r->by_slot, kind, a, k, seq);
            best = found > best ? found : best;
        }
    return best;
}

/* Decode the event in row seq, if the row is intact. */
static struct pw_event *event_at(struct pw_record *r, uint64_t seq)
{
    uint8_t chain[PW_CHAIN], stored[PW_CHAIN], expect[PW_CHAIN];
    uint64_t before, last;
    struct pw_row row;
    struct pw_err err;
    struct pw_event *e = NULL;
    const void *data;
    size_t n;
    bool dropped = false, chained = look_before(r, seq, chain, &before, &last);
    const char *why = NULL;
    if (seek(r, seq) != SQLITE_ROW || !pw_row_read(&row, stored, r->row) || row.seq != (int64_t)seq) {
        why = "it can't be read";
    } else {
        pw_row_chain(expect, chain, &row);
        if (!pw_record_plausible(&row))
            why = wild;
        else if (!chained)
            why = alone;
        else if (memcmp(expect, stored, PW_CHAIN) != 0)
            why = "it is damaged";
        else if (pw_record_payload(r, &row, &data, &n, &dropped, &err) != PW_OK ||
                 (!dropped && pw_record_decode(r, &e, &row, data, n, &err) != PW_OK))
            why = err.msg;
    }
    sqlite3_reset(r->row);
    if (why != NULL)
        pw_record_damage(r, seq, why);
    return e;
}

struct pw_event *pw_record_last(struct pw_record *r, enum pw_event_kind kind, int arm, int replica,
                                uint64_t seq)
{
    while ((seq = find_last(r, kind, arm, replica, seq)) > 0) {
        struct pw_event *e = event_at(r, seq);
        if (e != NULL)
            return e;
        seq--; /* removed by the budget, or damaged: use the one before it */
    }
    return NULL;
}

struct pw_event *pw_record_arm(struct pw_record *r, int arm, uint64_t seq)
{
    struct pw_event *e = pw_record_last(r, PW_EV_ARM, arm, -1, seq);
    struct pw_event *drop = pw_record_last(r, PW_EV_DROP, arm, -1, seq);
    if (e != NULL && drop != NULL && drop->seq > e->seq) {
        pw_event_free(e);
        e = NULL;
    }
    pw_event_free(drop);
    return e;
}

/* ---- in order */

enum pw_code pw_record_begin(struct pw_record *r, uint64_t from, struct pw_record_cursor **out,
                             struct pw_err *err)
{
    struct pw_record_cursor *c = pw_alloc(1, sizeof *c);
    uint64_t row, last;
    (void)err;
    pw_record_pass(r);
    c->r = r;
    c->from = from > 0 ? from : 1;
    c->next = c->from;
    c->chained = look_before(r, c->from, c->chain, &row, &last);
    if (c->chained && last >= c->from) { /* inside a run */
        c->next = row;
        c->chained = look_before(r, row, c->chain, &row, &last);
    }
    *out = c;
    return PW_OK;
}

void pw_record_end(struct pw_record_cursor *c)
{
    if (c == NULL)
        return;
    pw_str_fini(&c->run);
    free(c);
}

/* Skip rows that SQLite can't read; false: none after them can be read. */
static bool skip(struct pw_record_cursor *c)
{
    struct pw_record *r = c->r;
    uint64_t far = 1, bad = c->next;
    if (bad >= r->last)
        return false;
    while (bad + far <= r->last && !readable(r, bad + far))
        far *= 2;
    if (bad + far > r->last && !readable(r, r->last))
        return false;
    uint64_t good = bad + far > r->last ? r->last : bad + far;
    bad = far > 1 ? bad + far / 2 : bad;
    while (good - bad > 1) {
        uint64_t middle = bad + (good - bad) / 2;
        if (readable(r, middle))
            good = middle;
        else
            bad = middle;
    }
    c->next = good;
    c->chained = false;
    return true;
}

/* Decode the row at r->row: returns an event, or starts a run and returns NULL. NULL also if the row is
 * damaged. */
static struct pw_event *open_row(struct pw_record_cursor *c)
{
    struct pw_record *r = c->r;
    uint8_t stored[PW_CHAIN], expect[PW_CHAIN];
    struct pw_row row = {0};
    struct pw_err err;
    struct pw_event *e = NULL;
    const void *data;
    size_t n;
    bool dropped = false, typed = pw_row_read(&row, stored, r->row);
    const char *why = NULL;
    row.seq = sqlite3_column_int64(r->row, 0);
    if (typed)
        pw_row_chain(expect, c->chain, &row);
    if (!typed)
        why = "it is damaged";
    else if (!pw_record_plausible(&row))
        why = wild;
    else if (!c->chained)
        why = alone;
    else if (memcmp(expect, stored, PW_CHAIN) != 0)
        why = "it is damaged";
    else if (pw_record_payload(r, &row, &data, &n, &dropped, &err) != PW_OK)
        why = err.msg;
    else if (!dropped && row.kind == PW_EV_STEP) {
        pw_str_clear(&c->run);
        pw_str_put(&c->run, data, n);
        pw_run_open(&c->reader, c->run.s, n);
        c->in_run = true;
    } else if (!dropped && pw_record_decode(r, &e, &row, data, n, &err) != PW_OK)
        why = err.msg;
    if (why != NULL)
        pw_record_damage(r, (uint64_t)row.seq, why);
    c->row = row;
    c->next = (uint64_t)row.seq + 1;
    c->chained = typed;
    if (typed)
        memcpy(c->chain, stored, PW_CHAIN);
    return e;
}

/* Return the next event of the run; NULL at its end. */
static struct pw_event *next_of_run(struct pw_record_cursor *c)
{
    struct pw_err err;
    bool got;
    struct pw_event *e = pw_run_event();
    enum pw_code code = pw_run_next(&c->reader, e, &got, &err);
    bool within = got ? e->seq >= (uint64_t)c->row.seq && e->seq <= (uint64_t)c->row.last
                      : c->given == (uint64_t)c->row.last;
    if (code == PW_OK && !within)
        code = pw_fail(&err, PW_EUSER, "its run has other numbers");
    if (code != PW_OK)
        pw_record_damage(c->r, (uint64_t)c->row.seq, err.msg);
    if (code == PW_OK && got)
        return e;
    c->in_run = false;
    pw_event_free(e);
    return NULL;
}

struct pw_event *pw_record_next(struct pw_record_cursor *c)
{
    struct pw_record *r = c->r;
    for (;;) {
        struct pw_event *e = NULL;
        if (c->in_run) {
            e = next_of_run(c);
        } else {
            int rc = seek(r, c->next);
            if (rc == SQLITE_ROW)
                e = open_row(c);
            sqlite3_reset(r->row);
            if (rc == SQLITE_DONE)
                return NULL;
            if (rc != SQLITE_ROW) {
                pw_record_damage(r, c->next, sqlite3_errstr(rc));
                if (!skip(c))
                    return NULL;
            }
        }
        bool ascends = e == NULL || e->seq > c->given;
        if (!ascends)
            pw_record_damage(r, e->seq, "its number is a duplicate");
        else if (e != NULL)
            c->given = e->seq;
        if (e != NULL && ascends && e->seq >= c->from)
            return e;
        pw_event_free(e);
    }
}

enum pw_code pw_record_events(struct pw_record *r, uint64_t from, uint64_t to,
                              bool (*each)(void *arg, struct pw_event *e), void *arg, struct pw_err *err)
{
    struct pw_record_cursor *c;
    struct pw_event *e;
    bool more = true;
    enum pw_code code = pw_record_begin(r, from, &c, err);
    if (code != PW_OK)
        return code;
    while (more && (e = pw_record_next(c)) != NULL) {
        more = e->seq <= to && each(arg, e);
        pw_event_free(e);
    }
    pw_record_end(c);
    if (more && to >= r->saved && r->saved > r->last)
        pw_record_damage(r, r->last + 1, "it was on disk and is lost, with all later events");
    return PW_OK;
}
