/* log.c - the last lines of the log. Times of day are left out, so that the same commands give the same
 * figure. */
#include "figure/figure_int.h"
#include <string.h>

#define LINES  48 /* of text, at most */
#define LINE_H 9.5

static const struct pw_font font = {.size = 7.5, .color = PW_INK, .mono = true};

static int rows_of(const struct pw_figure *f, const struct pw_log_line *l)
{
    int rows = 0;

    for (const char *text = l->text; rows == 0 || *text; rows++) {
        text += pw_svg_fitting(&font, text, f->box.w - 12);
        text += strspn(text, " ");
    }
    return rows;
}

/* Returns the first of the last lines that fit, and in *rows the number of rows. */
static int64_t first_of(const struct pw_figure *f, int most, int *rows)
{
    const struct pw_snapshot *s = f->snap;
    int64_t i = s->n_log, oldest = s->n_log > PW_LOG_LINES ? s->n_log - PW_LOG_LINES : 0;

    for (*rows = 0; i > oldest; i--) {
        int more = rows_of(f, &s->log[(i - 1) % PW_LOG_LINES]);
        if (*rows + more > most && *rows > 0)
            break;
        *rows += more;
    }
    return i;
}

static enum pw_code prepare(struct pw_figure *f, struct pw_err *err)
{
    int rows;

    if (f->snap->n_log == 0)
        return pw_figure_nothing(err, "the log is empty");
    int64_t first = first_of(f, LINES, &rows);
    pw_str_add(&f->title, "Log");
    if (first > 0)
        pw_str_add(&f->caption, "The last %lld of %lld lines. ", (long long)(f->snap->n_log - first),
                   (long long)f->snap->n_log);
    pw_str_add(&f->caption, "After ':' commands, '!' errors, '*' files of weights.");
    f->box.h = rows * LINE_H + 4;
    f->least = 3 * LINE_H;
    return PW_OK;
}

static void draw_log(struct pw_figure *f)
{
    const struct pw_snapshot *s = f->snap;
    int rows, most = (int)((f->box.h - 4) / LINE_H);
    double y = f->box.y + LINE_H, end = f->box.y + f->box.h;

    for (int64_t i = first_of(f, most, &rows); i < s->n_log; i++) {
        const struct pw_log_line *l = &s->log[i % PW_LOG_LINES];
        struct pw_font line = font;
        line.bold = l->kind == PW_EV_COMMAND;
        line.color = l->kind == PW_EV_ERROR ? 0xcd3131 : PW_INK;
        pw_svg_text(&f->svg, f->box.x, y, &line,
                    l->kind == PW_EV_COMMAND      ? ":"
                    : l->kind == PW_EV_ERROR      ? "!"
                    : l->kind == PW_EV_CHECKPOINT ? "*"
                                                  : "·");
        for (const char *text = l->text; *text && y <= end; y += LINE_H) {
            char part[PW_LINE * 2];
            size_t n = pw_svg_fitting(&font, text, f->box.w - 12);
            pw_text_copy(part, n + 1 < sizeof part ? n + 1 : sizeof part, text);
            pw_svg_text(&f->svg, f->box.x + 12, y, &line, part);
            text += n;
            text += strspn(text, " ");
        }
    }
}

static const struct pw_figure_page pages[] = {{"lines", 0, prepare, draw_log, NULL},
                                              {NULL, 0, NULL, NULL, NULL}};

const struct pw_figure_pane pw_figure_log = {.name = "log", .pages = pages};
