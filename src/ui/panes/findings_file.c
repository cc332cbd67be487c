/* findings_file.c - the text of a finding's file. JSON contains everything. CSV contains the blocks as the
 * pane copies them, each after a line `# 2 plot: TITLE`, and the claims last. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "sessions/event_json.h"
#include "ui/panes/findings.h"

static void write_json(FILE *out, const struct pw_finding_view *v)
{
    cJSON *o = cJSON_CreateObject();

    if (v->arm > 0) {
        pw_json_num(o, "arm", v->arm);
        pw_json_num(o, "step", (double)v->step);
    }
    pw_finding_json(o, &v->f);
    pw_json_line(out, o);
}

/* Writes a cell, quoted if it contains commas or quotes. */
static void write_cell(FILE *out, const char *text, size_t n)
{
    bool quote = memchr(text, ',', n) != NULL || memchr(text, '"', n) != NULL;

    if (quote)
        fputc('"', out);
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"')
            fputc('"', out);
        fputc(text[i], out);
    }
    if (quote)
        fputc('"', out);
}

/* Writes tab-separated values as comma-separated ones. */
static void write_rows(FILE *out, const char *tsv)
{
    while (*tsv) {
        size_t n = strcspn(tsv, "\t\n");
        write_cell(out, tsv, n);
        if (tsv[n])
            fputc(tsv[n] == '\t' ? ',' : '\n', out);
        tsv += n + (tsv[n] != '\0');
    }
}

static void write_csv(FILE *out, const struct pw_finding *f)
{
    static const char *const kinds[] = {"table", "plot", "map"};

    fprintf(out, "# %s%s%s: %s\n", f->name, f->topic[0] ? " " : "", f->topic, f->title);
    for (int i = 0; i < f->n_blocks; i++) {
        const struct pw_block_of k = {f, &f->blocks[i]};
        struct pw_str text = {0};
        fprintf(out, "# %d %s: %s\n", i + 1, kinds[k.b->kind], k.b->title);
        pw_fnd_kinds[k.b->kind]->copy(&k, &text);
        write_rows(out, pw_str_text(&text));
        pw_str_fini(&text);
    }
    struct pw_str claims = {0};
    pw_fnd_copy_claims(f, &claims);
    fputs("# claims\n", out);
    write_rows(out, pw_str_text(&claims));
    pw_str_fini(&claims);
}

enum pw_code pw_finding_text(struct pw_str *out, const char *path, const struct pw_finding_view *v,
                             struct pw_err *err)
{
    const char *dot = strrchr(path, '.');
    bool json = dot != NULL && strcmp(dot, ".json") == 0, csv = dot != NULL && strcmp(dot, ".csv") == 0;
    char *text = NULL;
    size_t n = 0;

    if (!json && !csv)
        return pw_fail(err, PW_EUSER, "export finding: '%s': the file's name must end in .json or .csv",
                       path);
    FILE *f = open_memstream(&text, &n);
    if (f != NULL && json)
        write_json(f, v);
    else if (f != NULL)
        write_csv(f, &v->f);
    bool whole = f != NULL && ferror(f) == 0;
    whole = f != NULL && fclose(f) == 0 && whole;
    if (whole)
        pw_str_put(out, text, n);
    free(text);
    return whole ? PW_OK : pw_fail(err, PW_ENOMEM, "export finding: %s: no memory for the text", path);
}
