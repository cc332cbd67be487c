#include "study/gather.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"

static const char schema[] =
    "CREATE TABLE study (pewter TEXT, text TEXT, level REAL, seeds_min INTEGER, seeds_max INTEGER);"
    "CREATE TABLE cells (id TEXT PRIMARY KEY, arm TEXT, task TEXT, seed INTEGER, state TEXT, steps INTEGER,"
    " operations REAL, seconds REAL, digest TEXT, in_range REAL, beyond REAL);"
    "CREATE TABLE lengths (cell TEXT REFERENCES cells, length INTEGER, trained INTEGER, samples INTEGER,"
    " exact INTEGER, early INTEGER, late INTEGER, wrong INTEGER, loss REAL, PRIMARY KEY (cell, length));"
    "CREATE TABLE comparisons (task TEXT, a TEXT, b TEXT, seeds INTEGER, judged TEXT, p REAL, corrected REAL,"
    " difference REAL, low REAL, high REAL, effect REAL, PRIMARY KEY (task, a, b));"
    "BEGIN;";

/* A database that is built. Functions do nothing after a failure. */
struct gathering {
    sqlite3 *db;
    sqlite3_stmt *row;
    int at; /* the last bound column */
    int failed;
};

/* ---- rows */

static void begin_rows(struct gathering *g, const char *insert)
{
    if (g->failed == SQLITE_OK)
        g->failed = sqlite3_prepare_v2(g->db, insert, -1, &g->row, NULL);
}

static void put_text(struct gathering *g, const char *text)
{
    if (g->failed == SQLITE_OK)
        g->failed = sqlite3_bind_text(g->row, ++g->at, text, -1, SQLITE_STATIC);
}

static void put_int(struct gathering *g, int64_t value)
{
    if (g->failed == SQLITE_OK)
        g->failed = sqlite3_bind_int64(g->row, ++g->at, value);
}

static void put_real(struct gathering *g, double value) /* NaN becomes NULL */
{
    if (g->failed == SQLITE_OK)
        g->failed = sqlite3_bind_double(g->row, ++g->at, value);
}

static void end_row(struct gathering *g)
{
    if (g->failed == SQLITE_OK && sqlite3_step(g->row) != SQLITE_DONE)
        g->failed = sqlite3_errcode(g->db);
    sqlite3_reset(g->row);
    sqlite3_clear_bindings(g->row); /* a cell without a result leaves its last columns NULL */
    g->at = 0;
}

static void end_rows(struct gathering *g)
{
    sqlite3_finalize(g->row);
    g->row = NULL;
}

/* ---- tables */

static void add_study(struct gathering *g, const struct pw_results *r, const char *text)
{
    begin_rows(g, "INSERT INTO study VALUES (?,?,?,?,?)");
    put_text(g, PEWTER_VERSION);
    put_text(g, text);
    put_real(g, r->s->level);
    put_int(g, r->s->seeds_min);
    put_int(g, r->s->seeds_max);
    end_row(g);
    end_rows(g);
}

static void add_cells(struct gathering *g, const struct pw_results *r)
{
    static const char *const states[] = {"missing", "running", "failed", "done"};
    begin_rows(g, "INSERT INTO cells VALUES (?,?,?,?,?,?,?,?,?,?,?)");
    for (int i = 0; i < r->n; i++) {
        const struct pw_study_cell *c = &r->cells[i];
        const struct pw_result *x = &r->results[i];
        put_text(g, c->id);
        put_text(g, r->s->arms[c->arm]);
        put_text(g, r->s->tasks.items[c->task]);
        put_int(g, r->s->first + c->seed);
        put_text(g, states[r->state[i]]);
        if (r->state[i] == PW_CELL_THERE) {
            put_int(g, x->steps);
            put_real(g, x->operations);
            put_real(g, x->seconds);
            put_text(g, x->digest);
            put_real(g, fabs(pw_result_mean(x, true)));
            put_real(g, fabs(pw_result_mean(x, false)));
        }
        end_row(g);
    }
    end_rows(g);
}

static void add_lengths(struct gathering *g, const struct pw_results *r)
{
    begin_rows(g, "INSERT INTO lengths VALUES (?,?,?,?,?,?,?,?,?)");
    for (int i = 0; i < r->n; i++)
        for (int k = 0; r->state[i] == PW_CELL_THERE && k < r->results[i].n; k++) {
            const struct pw_result_row *row = &r->results[i].rows[k];
            put_text(g, r->cells[i].id);
            put_int(g, row->length);
            put_int(g, row->trained);
            put_int(g, row->samples);
            put_int(g, row->exact);
            put_int(g, row->early);
            put_int(g, row->late);
            put_int(g, row->wrong);
            put_real(g, row->loss);
            end_row(g);
        }
    end_rows(g);
}

static void add_comparisons(struct gathering *g, const struct pw_results *r)
{
    static const char *const judged[] = {"no results", "not comparable", "no difference at this budget",
                                         "a is better", "b is better"};
    struct pw_judgement *j = pw_alloc((size_t)r->s->n_ask + 1, sizeof *j);
    begin_rows(g, "INSERT INTO comparisons VALUES (?,?,?,?,?,?,?,?,?,?,?)");
    for (int task = 0; task < r->s->tasks.n; task++) {
        pw_results_judge(r, task, r->s->seeds_max, j);
        for (int i = 0; i < r->s->n_ask; i++) {
            put_text(g, r->s->tasks.items[task]);
            put_text(g, r->s->arms[j[i].a]);
            put_text(g, r->s->arms[j[i].b]);
            put_int(g, j[i].n);
            put_text(g, judged[j[i].judged]);
            put_real(g, j[i].decision.p);
            put_real(g, j[i].decision.corrected);
            put_real(g, j[i].difference.mean);
            put_real(g, j[i].difference.lo);
            put_real(g, j[i].difference.hi);
            put_real(g, j[i].effect);
            end_row(g);
        }
    }
    end_rows(g);
    free(j);
}

enum pw_code pw_study_gather(const char *path, const struct pw_results *r, const char *text,
                             struct pw_err *err)
{
    struct gathering g = {0};
    unsigned char *bytes = NULL;
    sqlite3_int64 size = 0;
    g.failed = sqlite3_open_v2(":memory:", &g.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (g.failed == SQLITE_OK)
        g.failed = sqlite3_exec(g.db, schema, NULL, NULL, NULL);
    add_study(&g, r, text);
    add_cells(&g, r);
    add_lengths(&g, r);
    add_comparisons(&g, r);
    if (g.failed == SQLITE_OK)
        g.failed = sqlite3_exec(g.db, "COMMIT", NULL, NULL, NULL);
    if (g.failed == SQLITE_OK && (bytes = sqlite3_serialize(g.db, "main", &size, 0)) == NULL)
        g.failed = SQLITE_NOMEM;
    enum pw_code code = g.failed == SQLITE_OK
                            ? pw_file_replace(path, (const char *)bytes, (size_t)size, err)
                            : pw_fail(err, PW_EIO, "%s: %s", path, sqlite3_errstr(g.failed));
    sqlite3_free(bytes);
    sqlite3_close(g.db);
    return code;
}
