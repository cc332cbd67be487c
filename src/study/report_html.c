/* report_html.c - the report of a study as a page that stands alone. */
#include <stdlib.h>
#include <string.h>

#include "study/report.h"

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

static enum pw_code put_picture(struct pw_str *out, const struct pw_study_report *x,
                                const struct pw_finding *f, struct pw_block *b, struct pw_err *err)
{
    struct pw_figure_drawn d = {0};
    struct pw_finding plot = *f;
    plot.blocks = b; /* tables and remarks are text here */
    plot.n_blocks = 1;
    plot.n_remarks = 0;
    enum pw_code code = pw_study_draw(&d, x, &plot, err);
    const char *svg = code == PW_OK ? strstr(pw_str_text(&d.svg), "<svg") : NULL;
    if (svg != NULL)
        pw_str_put(out, svg, strlen(svg));
    pw_str_fini(&d.svg);
    return code;
}

static enum pw_code put_finding(struct pw_str *out, const struct pw_study_report *x,
                                const struct pw_finding *f, struct pw_err *err)
{
    enum pw_code code = PW_OK;
    pw_str_add(out, "<h2>");
    put_xml(out, f->title);
    pw_str_add(out, "</h2>\n");
    for (int i = 0; i < f->n_remarks; i++) {
        pw_str_add(out, "<p>");
        put_xml(out, f->remarks[i].text);
        pw_str_add(out, "</p>\n");
    }
    for (int i = 0; i < f->n_blocks && code == PW_OK; i++)
        if (f->blocks[i].kind == PW_BLOCK_TABLE)
            put_table(out, f, &f->blocks[i]);
        else
            code = put_picture(out, x, f, &f->blocks[i], err);
    return code;
}

static void put_end(struct pw_str *out, const struct pw_study_report *x)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    pw_study_print_end(f, x);
    fclose(f);
    pw_str_add(out, "<pre>");
    put_xml(out, text);
    pw_str_add(out, "</pre>\n");
    free(text);
}

enum pw_code pw_study_html(struct pw_str *out, const struct pw_study_report *x, struct pw_err *err)
{
    enum pw_code code = PW_OK;
    pw_str_add(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
    put_xml(out, x->name);
    pw_str_add(out,
               "</title>\n<style>body{font-family:sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
               "table{border-collapse:collapse}td,th{padding:.2em .7em;text-align:right;border-bottom:1px "
               "solid #ccc}td:first-child{text-align:left}pre{background:#f4f4f4;padding:1em;overflow:auto}"
               "</style></head><body>\n<h1>");
    put_xml(out, x->name);
    pw_str_add(out, "</h1>\n");
    for (int i = 0; i < x->n && code == PW_OK; i++)
        code = put_finding(out, x, &x->findings[i], err);
    put_end(out, x);
    pw_str_add(out, "</body></html>\n");
    return code;
}
