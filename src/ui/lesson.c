/* lesson.c - the lessons' folder, the titles and steps in their files, and a step on the screen. */
#include "ui/lesson.h"
#include "base/places.h"
#include "base/recall.h"
#include "ui/plot.h"
#include <string.h>

/* ---- files */

void pw_lesson_names(struct pw_folder *names)
{
    struct pw_str folder = {0};
    *names = (struct pw_folder){0};
    if (pw_place_own(&folder, "lessons"))
        pw_recall_list(names, folder.s, PW_LESSON_ENDING);
    for (int i = 0; i < names->n; i++)
        names->names[i][strlen(names->names[i]) - strlen(PW_LESSON_ENDING)] = '\0';
    pw_str_fini(&folder);
}

enum pw_code pw_lesson_path(const char *name, struct pw_str *path, struct pw_err *err)
{
    struct pw_folder all;
    struct pw_str list = {0};
    bool found = false;
    if (strchr(name, '/') != NULL || strchr(name, '.') != NULL) {
        pw_str_add(path, "%s", name);
        return PW_OK;
    }
    pw_lesson_names(&all);
    for (int i = 0; i < all.n; i++) {
        found = found || strcmp(all.names[i], name) == 0;
        pw_str_add(&list, "%s%s", i > 0 ? ", " : "", all.names[i]);
    }
    enum pw_code code = PW_OK;
    if (found) {
        pw_place_own(path, "lessons");
        pw_str_add(path, "/%s" PW_LESSON_ENDING, name);
    } else {
        code =
            pw_fail(err, PW_EUSER, "present: no lesson '%s'; there are %s, or a file (lessons/my.pewter)%s",
                    name, all.n > 0 ? list.s : "none beside the program", pw_place_own_hint());
    }
    pw_folder_free(&all);
    pw_str_fini(&list);
    return code;
}

void pw_lesson_title(const char *text, char *title, size_t size)
{
    char line[256];
    size_t n = strcspn(text, "\n");
    const char *from = text[0] == '#' ? text + 1 + strspn(text + 1, " ") : "a lesson";
    if (text[0] == '#')
        n -= (size_t)(from - text);
    else
        n = strlen(from);
    pw_text_copy(line, n + 1 < sizeof line ? n + 1 : sizeof line, from);
    pw_text_copy(title, size, line[0] ? line : "a lesson");
}

int pw_lesson_steps(const char *text)
{
    int n = 0;
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        n += strncmp(line, "wait key", strlen("wait key")) == 0;
    return n;
}

/* ---- the screen */

#define MARGIN 1 /* columns on both sides */

/* Returns the bytes of text in the next row of width columns, broken at a blank if possible. */
static size_t row_bytes(const char *text, int width)
{
    size_t n = 0, at_blank = 0, left = strlen(text);
    int x = 0;
    while (n < left && text[n] != '\n') {
        uint32_t cp;
        size_t bytes = pw_utf8_next(text + n, left - n, &cp);
        x += pw_utf8_cells(cp);
        if (x > width && n > 0)
            return at_blank > 0 ? at_blank : n;
        if (cp == ' ')
            at_blank = n;
        n += bytes;
    }
    return n;
}

/* Breaks the text into rows of r's width and draws them if c is not NULL. Returns the number of rows. */
static int flow(const char *text, struct pw_canvas *c, struct pw_rect r)
{
    int y = 0;
    while (*text && r.w > 0) {
        char row[PW_LINE * 6];
        size_t n = row_bytes(text, r.w);
        if (c != NULL) {
            pw_text_copy(row, n + 1, text);
            pw_draw_text(c, r, r.y + y, r.x, pw_style_plain(), row);
        }
        text += n;
        text += *text == '\n' ? 1 : strspn(text, " ");
        y++;
    }
    return y;
}

int pw_lesson_rows(const struct pw_ui *ui, int rows, int cols)
{
    int most = (rows - 2) / 2;
    if (!ui->lesson.title[0] || most < 2)
        return 0;
    int n = 1 + flow(ui->lesson.text, NULL, (struct pw_rect){0, 0, 0, cols - 2 * MARGIN});
    return n < most ? n : most;
}

void pw_lesson_draw(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    struct pw_style line = pw_style_dim();
    struct pw_str right = {0};
    pw_draw_fill(c, r, pw_style_plain(), ' ');
    pw_draw_fill(c, (struct pw_rect){r.y, r.x, 1, r.w}, line, 0x2500);
    int x = pw_draw_text(c, r, r.y, r.x + 2, line, " ");
    x = pw_draw_text(c, r, r.y, x, pw_style_bold(), ui->lesson.title);
    pw_draw_text(c, r, r.y, x, line, " ");
    const char *enter = ui->lesson.step < ui->lesson.steps ? "Enter continues" : "Enter ends it";
    pw_str_add(&right, " %d/%d  %s%s  q leaves ", ui->lesson.step, ui->lesson.steps,
               ui->lesson.waiting ? enter : "please wait",
               ui->lesson.waiting && ui->lesson.step > 1 ? "  Backspace back" : "");
    int from = r.x + r.w - 2 - pw_text_cells(right.s);
    if (from > x)
        pw_draw_text(c, r, r.y, from, ui->lesson.waiting ? pw_style_bold() : line, right.s);
    pw_str_fini(&right);
    flow(ui->lesson.text, c, (struct pw_rect){r.y + 1, r.x + MARGIN, r.h - 1, r.w - 2 * MARGIN});
}
