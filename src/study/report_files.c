/* report_files.c - the report of a study as text and as files. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/sha256.h"
#include "figure/figure.h"
#include "plot/finding_text.h"
#include "study/place.h"
#include "study/report.h"

/* Calls each for every finding of the report. */
static void for_findings(const struct pw_results *r, const char *name,
                         void (*each)(void *arg, const struct pw_finding *f), void *arg)
{
    struct pw_finding f;
    for (int task = 0; task < r->s->tasks.n; task++) {
        pw_study_finding(&f, r, name, task);
        each(arg, &f);
        pw_finding_fini(&f);
    }
    if (pw_study_ranks(&f, r, name)) {
        each(arg, &f);
        pw_finding_fini(&f);
    }
}

static void print_one(void *arg, const struct pw_finding *f)
{
    FILE *out = arg;
    pw_finding_print(out, f);
    fputc('\n', out);
}

/* Hash of all results: two reports with the same are of the same bits. */
static void digest_of(char text[65], const struct pw_results *r)
{
    struct pw_sha256 h;
    uint8_t sha[32];
    pw_sha256_begin(&h);
    for (int i = 0; i < r->n; i++)
        if (r->state[i] == PW_CELL_THERE) {
            pw_sha256_add(&h, r->cells[i].id, strlen(r->cells[i].id));
            pw_sha256_add(&h, r->results[i].digest, strlen(r->results[i].digest));
        }
    pw_sha256_end(&h, sha);
    pw_sha256_text(text, sha);
}

void pw_study_print(FILE *out, const struct pw_results *r, const char *name, const char *text)
{
    char digest[65];
    fprintf(out, "study %s\n\n", name);
    for_findings(r, name, print_one, out);
    fprintf(out,
            "Method: each seed gives every arm the same initial values, batches and evaluation samples. The "
            "test bets on the signs of the\ndifferences (e-process), so it holds however often it is looked "
            "at; level %g for all comparisons of a task together (Holm).\nIn range: trained lengths. "
            "Beyond: all longer lengths, each with the same weight.\n\n",
            r->s->level);
    digest_of(digest, r);
    fprintf(out, "cells: %d there, %d failed, %d at most; training steps: %lld\n", r->there, r->broken, r->n,
            (long long)r->steps);
    fprintf(out, "weights: sha256 %s\n", digest);
    fprintf(out, "cost: %.0f s of computing\n\n", r->seconds);
    fprintf(out,
            "To make it again (pewter %s): pewter study new NAME FILE, then pewter study run NAME; FILE:\n\n",
            PEWTER_VERSION);
    fputs(text, out);
}

/* Appends text in the quotes of CSV. */
static void add_quoted(struct pw_str *out, const char *text)
{
    pw_str_put(out, "\"", 1);
    for (const char *c = text; *c != '\0'; c++)
        if (*c == '"')
            pw_str_put(out, "\"\"", 2);
        else
            pw_str_put(out, c, 1);
    pw_str_put(out, "\",", 2);
}

/* Appends one line for each cell and length, with a head. */
static void add_csv(struct pw_str *out, const struct pw_results *r)
{
    pw_str_add(out, "cell,arm,task,seed,length,trained,samples,exact,early,late,wrong,loss,steps,digest\n");
    for (int i = 0; i < r->n; i++) {
        const struct pw_study_cell *c = &r->cells[i];
        const struct pw_result *x = &r->results[i];
        for (int k = 0; r->state[i] == PW_CELL_THERE && k < x->n; k++) {
            const struct pw_result_row *row = &x->rows[k];
            pw_str_add(out, "%s,", c->id);
            add_quoted(out, r->s->arms[c->arm]);
            add_quoted(out, r->s->tasks.items[c->task]);
            pw_str_add(out, "%d,%d,%d,%lld,%lld,%lld,%lld,%lld,", r->s->first + c->seed, row->length,
                       row->trained, (long long)row->samples, (long long)row->exact, (long long)row->early,
                       (long long)row->late, (long long)row->wrong);
            if (row->loss == row->loss)
                pw_str_add(out, "%.9g", row->loss);
            pw_str_add(out, ",%lld,%s\n", (long long)x->steps, x->digest);
        }
    }
}

/* ---- files */

/* Draws a finding. The figure reads it from a snapshot. */
static enum pw_code draw_finding(struct pw_figure_drawn *d, const char *path, struct pw_finding *f,
                                 struct pw_err *err)
{
    struct pw_figure_options o;
    struct pw_snapshot *s = pw_snapshot_new();
    pw_opt_defaults(pw_figure_opts, &o);
    for (int i = 0; pw_figure_names[i] != NULL; i++)
        if (strcmp(pw_figure_names[i], "findings") == 0)
            o.pane = i;
    s->findings[0].f = *f;
    s->findings[0].f_seq = 1;
    enum pw_code code = pw_figure_draw(d, path, s, &o, err);
    s->findings[0].f = (struct pw_finding){0}; /* the caller's */
    pw_snapshot_free(s);
    return code;
}

static enum pw_code write_pictures(const char *to, const struct pw_results *r, const char *name,
                                   struct pw_err *err)
{
    static const char *const endings[] = {"svg", "pdf"};
    enum pw_code code = PW_OK;
    for (int task = 0; task < r->s->tasks.n && r->there > 0; task++) {
        struct pw_finding f;
        pw_study_finding(&f, r, name, task);
        for (size_t k = 0; f.n_blocks > 0 && k < 2 && code == PW_OK; k++) {
            char path[PW_STUDY_PATH + 32];
            struct pw_figure_drawn d = {0};
            snprintf(path, sizeof path, "%s/task%d.%s", to, task + 1, endings[k]);
            code = draw_finding(&d, path, &f, err);
            if (code == PW_OK)
                code = pw_figure_put(path, &d, err);
            pw_str_fini(&d.svg);
        }
        pw_finding_fini(&f);
    }
    return code;
}

static enum pw_code write_file(const char *to, const char *name, const struct pw_str *text,
                               struct pw_err *err)
{
    char path[PW_STUDY_PATH + 32];
    struct pw_file *f;
    snprintf(path, sizeof path, "%s/%s", to, name);
    enum pw_code code = pw_file_create(&f, path, err);
    if (code != PW_OK)
        return code;
    fwrite(pw_str_text(text), 1, text->len, pw_file_stream(f));
    return pw_file_commit(f, err);
}

/* The text of pw_study_print as a string. */
static void print_to(struct pw_str *out, const struct pw_results *r, const char *name, const char *text)
{
    char *s = NULL;
    size_t n;
    FILE *f = open_memstream(&s, &n);
    pw_study_print(f, r, name, text);
    fclose(f);
    pw_str_put(out, s, n);
    free(s);
}

/* ---- the page that stands alone */

static void put_xml(struct pw_str *out, const char *text)
{
    size_t n = strlen(text);
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        i += pw_utf8_next(text + i, n - i, &cp);
        pw_str_xml(out, cp);
    }
}

static void put_table(struct pw_str *out, const struct pw_finding *f, const struct pw_block *b)
{
    pw_str_add(out, "<h3>");
    put_xml(out, b->title);
    pw_str_add(out, "</h3>\n<table><tr><th></th>");
    for (int k = 0; k < b->cols; k++) {
        pw_str_add(out, "<th>");
        put_xml(out, pw_finding_col_name(f, b, k));
        pw_str_add(out, "</th>");
    }
    for (int i = 0; i < b->rows; i++) {
        pw_str_add(out, "</tr>\n<tr><td>");
        put_xml(out, pw_finding_row_name(f, b, i));
        pw_str_add(out, "</td>");
        for (int k = 0; k < b->cols; k++) {
            char cell[64];
            pw_finding_cell_text(f, b, i, k, cell, sizeof cell);
            pw_str_add(out, "<td>%s</td>", cell);
        }
    }
    pw_str_add(out, "</tr></table>\n");
}

struct page {
    struct pw_str *out;
    struct pw_err *err;
    enum pw_code code;
};

static void put_finding(void *arg, const struct pw_finding *f)
{
    struct page *page = arg;
    struct pw_figure_drawn d = {0};
    pw_str_add(page->out, "<h2>");
    put_xml(page->out, f->title);
    pw_str_add(page->out, "</h2>\n");
    for (int i = 0; i < f->n_remarks; i++) {
        pw_str_add(page->out, "<p>");
        put_xml(page->out, f->remarks[i].text);
        pw_str_add(page->out, "</p>\n");
    }
    if (f->n_blocks > 0 && f->blocks[0].kind == PW_BLOCK_PLOT && page->code == PW_OK) {
        struct pw_finding plot = *f;
        plot.n_blocks = 1; /* tables are text here */
        plot.n_remarks = 0;
        page->code = draw_finding(&d, "x.svg", &plot, page->err);
        const char *svg = page->code == PW_OK ? strstr(pw_str_text(&d.svg), "<svg") : NULL;
        if (svg != NULL)
            pw_str_put(page->out, svg, strlen(svg));
        pw_str_fini(&d.svg);
    }
    for (int i = 0; i < f->n_blocks; i++)
        if (f->blocks[i].kind == PW_BLOCK_TABLE)
            put_table(page->out, f, &f->blocks[i]);
}

static enum pw_code add_html(struct pw_str *out, const struct pw_results *r, const char *name,
                             const char *text, struct pw_err *err)
{
    struct page page = {out, err, PW_OK};
    struct pw_str plain = {0};
    pw_str_add(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
    put_xml(out, name);
    pw_str_add(out,
               "</title>\n<style>body{font-family:sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
               "table{border-collapse:collapse}td,th{padding:.2em .7em;text-align:right;border-bottom:1px "
               "solid #ccc}td:first-child{text-align:left}pre{background:#f4f4f4;padding:1em;overflow:auto}"
               "</style></head><body>\n<h1>");
    put_xml(out, name);
    pw_str_add(out, "</h1>\n");
    for_findings(r, name, put_finding, &page);
    print_to(&plain, r, name, text);
    const char *method = strstr(pw_str_text(&plain), "Method: ");
    pw_str_add(out, "<pre>");
    put_xml(out, method != NULL ? method : "");
    pw_str_add(out, "</pre>\n</body></html>\n");
    pw_str_fini(&plain);
    return page.code;
}

/* ---- all files */

enum pw_code pw_study_files(const char *to, const struct pw_results *r, const char *name, const char *text,
                            struct pw_err *err)
{
    struct pw_str page = {0};
    enum pw_code code = pw_folder_make(to, err);
    if (code == PW_OK) {
        print_to(&page, r, name, text);
        code = write_file(to, "report.txt", &page, err);
        pw_str_clear(&page);
    }
    if (code == PW_OK) {
        add_csv(&page, r);
        code = write_file(to, "cells.csv", &page, err);
        pw_str_clear(&page);
    }
    if (code == PW_OK)
        code = add_html(&page, r, name, text, err);
    if (code == PW_OK)
        code = write_file(to, "report.html", &page, err);
    pw_str_fini(&page);
    return code == PW_OK ? write_pictures(to, r, name, err) : code;
}
