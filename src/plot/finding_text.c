/* finding_text.c - prints a finding: tables and plots as columns, maps by their size, claims with verdicts.
 */
#include <string.h>

#include "plot/finding_text.h"

#include "base/text.h"

#define WIDTH 96 /* of a table; further columns go into another table below */

static int width_of(const struct pw_finding *f, const struct pw_block *b, int col)
{
    int w = pw_text_cells(pw_finding_col_name(f, b, col));
    for (int i = 0; i < b->rows; i++) {
        char text[64];
        pw_finding_cell_text(f, b, i, col, text, sizeof text);
        int n = pw_text_cells(text);
        w = n > w ? n : w;
    }
    return w;
}

static void pad(FILE *out, int n)
{
    for (int i = 0; i < n; i++)
        fputc(' ', out);
}

static void print_table(FILE *out, const struct pw_finding *f, const struct pw_block *b)
{
    int head = 0;
    for (int i = 0; i < b->rows; i++) {
        int n = pw_text_cells(pw_finding_row_name(f, b, i));
        head = n > head ? n : head;
    }
    for (int from = 0, to; from < b->cols; from = to) {
        int w = 2 + head;
        for (to = from; to < b->cols && (to == from || w + 2 + width_of(f, b, to) <= WIDTH); to++)
            w += 2 + width_of(f, b, to);
        for (int i = -1; i < b->rows; i++) {
            const char *name = i < 0 ? "" : pw_finding_row_name(f, b, i);
            fprintf(out, "  %s", name);
            pad(out, head - pw_text_cells(name));
            for (int k = from; k < to; k++) {
                char text[64];
                if (i < 0)
                    pw_text_copy(text, sizeof text, pw_finding_col_name(f, b, k));
                else
                    pw_finding_cell_text(f, b, i, k, text, sizeof text);
                pad(out, 2 + width_of(f, b, k) - pw_text_cells(text));
                fputs(text, out);
            }
            fputc('\n', out);
        }
    }
}

/* Prints x, then each curve; a curve with a band has its ends after the value. */
static void print_plot(FILE *out, const struct pw_finding *f, const struct pw_block *b)
{
    fprintf(out, "  %s against %s\n  %12s", b->y, b->x, "");
    for (int k = 0; k < b->cols; k++)
        fprintf(out, "  %*s", b->band ? 28 : 12, pw_finding_col_name(f, b, k));
    fputc('\n', out);
    for (int i = 0; i < b->rows; i++) {
        fprintf(out, "  %12.5g", pw_finding_x_at(f, b, i));
        for (int k = 0; k < b->cols; k++) {
            fprintf(out, "  %12.5g", pw_finding_y_at(f, b, i, k, 0));
            if (b->band)
                fprintf(out, " (%.3g..%.3g)", pw_finding_y_at(f, b, i, k, 1), pw_finding_y_at(f, b, i, k, 2));
        }
        fputc('\n', out);
    }
}

void pw_finding_print(FILE *out, const struct pw_finding *f)
{
    fprintf(out, "%s: %s\n", f->name, f->title);
    for (int i = 0; i < f->n_blocks; i++) {
        const struct pw_block *b = &f->blocks[i];
        fprintf(out, " %s%s\n", b->title,
                b->kind == PW_BLOCK_MAP ? " (a map: findings pane, figure, JSON)" : "");
        if (b->kind == PW_BLOCK_TABLE)
            print_table(out, f, b);
        else if (b->kind == PW_BLOCK_PLOT)
            print_plot(out, f, b);
    }
    for (int i = 0; i < f->n_remarks; i++)
        fprintf(out, " %s\n", f->remarks[i].text);
    for (int i = 0; i < f->n_claims; i++)
        fprintf(out, " %s: %s\n   %s\n", pw_claim_verdicts[f->claims[i].verdict], f->claims[i].claim,
                f->claims[i].found);
}
