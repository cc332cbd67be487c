/* report_columns.c - prints tab-separated values, as panes copy them, in columns.
 *
 * A cell without a value is a dash. A screen reader skips blanks, so the next value would seem to belong to
 * the previous column. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "ui/report.h"

struct grid {
    char *text;        /* with a NUL after each cell */
    int rows, cols;    /* cols: of the first line, the header */
    const char **cell; /* [rows,cols] */
};

static int count(const char *s, const char *end, char c)
{
    int n = 0;

    for (; s < end; s++)
        n += *s == c;
    return n;
}

static bool is_number(const char *s)
{
    char *end;

    strtod(s, &end);
    return *end == '\0';
}

/* Shortens a number for speech output: 0.0748484 becomes 0.07485. */
static void shorten(char *cell)
{
    char brief[32];

    if (strpbrk(cell, ".e") == NULL || !is_number(cell))
        return;
    snprintf(brief, sizeof brief, "%.4g", strtod(cell, NULL));
    if (strlen(brief) < strlen(cell))
        strcpy(cell, brief);
}

/* Splits lines into cells. Missing cells of a line are empty; extra cells are dropped. */
static void split(struct grid *g, const char *tsv)
{
    size_t len = strlen(tsv);
    const char *first_end = strchrnul(tsv, '\n');

    g->text = pw_alloc(len + 1, 1);
    memcpy(g->text, tsv, len + 1);
    g->rows = count(tsv, tsv + len, '\n') + (len > 0 && tsv[len - 1] != '\n');
    g->cols = count(tsv, first_end, '\t') + 1;
    g->cell = pw_alloc((size_t)g->rows * (size_t)g->cols, sizeof *g->cell);
    char *at = g->text;
    for (int row = 0; row < g->rows; row++) {
        char *end = strchrnul(at, '\n');
        bool last = *end == '\0';
        *end = '\0';
        for (int col = 0; at <= end; col++) {
            char *next = strchrnul(at, '\t');
            *next = '\0';
            shorten(at);
            if (col < g->cols)
                g->cell[row * g->cols + col] = *at == '\0' || strcmp(at, "nan") == 0 ? "-" : at;
            at = next + 1;
        }
        at = last ? end : end + 1;
    }
    for (int i = 0; i < g->rows * g->cols; i++)
        if (g->cell[i] == NULL)
            g->cell[i] = "-";
}

/* Returns the width of a column; negative if the column is left-aligned. */
static int width_of(const struct grid *g, int col)
{
    int width = 0;
    bool right = true;

    for (int row = 0; row < g->rows; row++) {
        const char *cell = g->cell[row * g->cols + col];
        int w = pw_text_cells(cell);
        width = w > width ? w : width;
        right = right && (row == 0 || strcmp(cell, "-") == 0 || is_number(cell));
    }
    return right ? width : -width;
}

void pw_report_columns(FILE *out, const char *tsv)
{
    struct grid g;

    split(&g, tsv);
    int *width = pw_alloc((size_t)g.cols, sizeof *width);
    for (int col = 0; col < g.cols; col++)
        width[col] = width_of(&g, col);
    for (int row = 0; row < g.rows; row++) {
        for (int col = 0; col < g.cols; col++) {
            const char *cell = g.cell[row * g.cols + col];
            int pad = abs(width[col]) - pw_text_cells(cell);
            bool left = width[col] < 0;
            fprintf(out, "  %*s%s", left ? 0 : pad, "", cell);
            if (left && col + 1 < g.cols)
                fprintf(out, "%*s", pad, "");
        }
        fputc('\n', out);
    }
    free(width);
    free(g.cell);
    free(g.text);
}
