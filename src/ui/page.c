/* page.c - the lines of a page and its first visible line. */
#include "ui/page.h"

#include <string.h>

#include "ui/plot.h"

#define PAGE 10

void pw_page_open(struct pw_ui *ui, const char *title, const char *text)
{
    pw_text_copy(ui->page.title, sizeof ui->page.title, title);
    pw_str_clear(&ui->page.text);
    pw_str_add(&ui->page.text, "%s", text);
    ui->page.top = 0;
}

void pw_page_key(struct pw_ui *ui, int key)
{
    switch (key) {
    case PW_KEY_ESCAPE:
    case 'q': pw_str_clear(&ui->page.text); break;
    case 'j':
    case PW_KEY_DOWN: ui->page.top++; break;
    case 'k':
    case PW_KEY_UP: ui->page.top--; break;
    case ' ':
    case PW_KEY_PAGE_DOWN: ui->page.top += PAGE; break;
    case PW_KEY_PAGE_UP: ui->page.top -= PAGE; break;
    case 'g':
    case PW_KEY_HOME: ui->page.top = 0; break;
    case 'G':
    case PW_KEY_END: ui->page.top = 1 << 20; break;
    default: break;
    }
}

/* Returns the indent of a line's continuation rows: the second column's text, if there is one. */
static int hang_of(const char *line, int width)
{
    int blanks = (int)strspn(line, " ");
    const char *gap = strstr(line + blanks, "  ");
    int second = gap != NULL ? (int)(gap - line) + (int)strspn(gap, " ") : width;
    return second <= width / 2 ? second : blanks <= width / 2 ? blanks : 0;
}

/* Draws a line, clipped to r; returns its rows. */
static int draw_line(struct pw_canvas *c, struct pw_rect r, int y, const char *line)
{
    struct pw_str first = {0};
    size_t n = pw_text_fitting(line, r.w);
    int hang = hang_of(line, r.w);
    pw_str_put(&first, line, n);
    pw_draw_text(c, r, y, r.x, pw_style_plain(), first.s);
    pw_str_fini(&first);
    struct pw_rect rest = {r.y, r.x + hang, r.h, r.w - hang};
    return 1 + pw_draw_wrapped(c, rest, y + 1, pw_style_plain(), line + n + strspn(line + n, " "), 1 << 20);
}

/* Draws the text from row y on; returns its rows. */
static int draw_lines(struct pw_canvas *c, struct pw_rect r, int y, const char *s)
{
    int rows = 0;
    for (const char *end; *s; s = end + (*end == '\n')) {
        struct pw_str line = {0};
        end = s + strcspn(s, "\n");
        pw_str_put(&line, s, (size_t)(end - s));
        rows += draw_line(c, r, y + rows, line.s);
        pw_str_fini(&line);
    }
    return rows;
}

static struct pw_rect text_area(struct pw_rect in)
{
    return (struct pw_rect){in.y, in.x + 1, in.h, in.w - 2};
}

void pw_page_settle(struct pw_ui *ui, struct pw_rect r)
{
    struct pw_rect in = text_area(pw_frame_inside(r));
    struct pw_canvas nowhere = {0}; /* nothing is drawn: only the rows are counted */

    if (ui->page.text.len == 0 || in.h < 1 || in.w < 1)
        return;
    int lines = draw_lines(&nowhere, in, 0, pw_str_text(&ui->page.text));
    int last = lines > in.h ? lines - in.h : 0;
    ui->page.top = ui->page.top > last ? last : ui->page.top < 0 ? 0 : ui->page.top;
}

void pw_page_draw(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    pw_draw_fill(c, r, pw_style_plain(), ' ');
    struct pw_rect in =
        text_area(pw_draw_frame(c, r, &ui->look, true, ui->page.title, "j k scroll  Esc back"));
    if (in.h < 1 || in.w < 1)
        return;
    draw_lines(c, in, in.y - ui->page.top, pw_str_text(&ui->page.text));
}
