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

void pw_study_print_end(FILE *out, const struct pw_study_report *x)
{
    const struct pw_results *r = x->results;
    char digest[65];
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
    fprintf(out, "cost: %.0f s of computing, %.3g operations in training\n\n", r->seconds, r->operations);
    fprintf(out,
            "To make it again (pewter %s): pewter study new NAME FILE, then pewter study run NAME; FILE:\n\n",
            PEWTER_VERSION);
    fputs(x->text, out);
}

void pw_study_print(FILE *out, const struct pw_study_report *x)
{
    fprintf(out, "study %s\n\n", x->name);
    for (int i = 0; i < x->n; i++) {
        pw_finding_print(out, &x->findings[i]);
        fputc('\n', out);
    }
    pw_study_print_end(out, x);
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

void pw_study_commands(struct pw_str *out, const struct pw_study_report *x)
{
    const char *between = "";
    pw_str_add(out, "study new %s '", x->name);
    for (const char *line = x->text; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t n = strcspn(line, "\n");
        if (n == 0 || line[0] == '#')
            continue;
        pw_str_add(out, "%s%.*s", between, (int)n, line);
        between = line[n - 1] == ';' || line[n - 1] == ',' ? " " : "; ";
    }
    pw_str_add(out, "'; study run %s; study report %s out=FOLDER", x->name, x->name);
}

/* The drawing is the same for every ending. */
enum pw_code pw_study_draw(struct pw_figure_drawn *d, const struct pw_study_report *x,
                           const struct pw_finding *f, struct pw_err *err)
{
    struct pw_figure_options o;
    struct pw_str by = {0};
    pw_opt_defaults(pw_figure_opts, &o);
    pw_study_commands(&by, x);
    enum pw_code code = pw_figure_draw_finding(d, ".svg", f, by.s, &o, err);
    pw_str_fini(&by);
    return code;
}

static enum pw_code write_pictures(const char *to, const struct pw_study_report *x, struct pw_err *err)
{
    static const char *const endings[] = {"svg", "pdf"};
    enum pw_code code = PW_OK;
    for (int task = 0; task < x->results->s->tasks.n && x->results->there > 0 && code == PW_OK; task++) {
        struct pw_figure_drawn d = {0};
        code = pw_study_draw(&d, x, &x->findings[task], err);
        for (size_t k = 0; k < 2 && code == PW_OK; k++) {
            char path[PW_STUDY_PATH + 32];
            snprintf(path, sizeof path, "%s/task%d.%s", to, task + 1, endings[k]);
            code = pw_figure_put(path, &d, err);
        }
        pw_str_fini(&d.svg);
    }
    return code;
}

/* Writes the text to a file of the folder, and empties it. */
static enum pw_code write_file(const char *to, const char *name, struct pw_str *text, struct pw_err *err)
{
    char path[PW_STUDY_PATH + 32];
    snprintf(path, sizeof path, "%s/%s", to, name);
    enum pw_code code = pw_file_replace(path, pw_str_text(text), text->len, err);
    pw_str_clear(text);
    return code;
}

static void print_to(struct pw_str *out, const struct pw_study_report *x)
{
    char *s = NULL;
    size_t n;
    FILE *f = open_memstream(&s, &n);
    pw_study_print(f, x);
    fclose(f);
    pw_str_put(out, s, n);
    free(s);
}

enum pw_code pw_study_files(const char *to, const struct pw_study_report *x, struct pw_err *err)
{
    struct pw_str text = {0};
    enum pw_code code = pw_folder_make(to, err);
    if (code == PW_OK) {
        print_to(&text, x);
        code = write_file(to, "report.txt", &text, err);
    }
    if (code == PW_OK) {
        add_csv(&text, x->results);
        code = write_file(to, "cells.csv", &text, err);
    }
    if (code == PW_OK)
        code = pw_study_html(&text, x, err);
    if (code == PW_OK)
        code = write_file(to, "report.html", &text, err);
    pw_str_fini(&text);
    return code == PW_OK ? write_pictures(to, x, err) : code;
}
