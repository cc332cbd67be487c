/* page.c - lines and which of them is the first one shown. */
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

void pw_page_draw(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    int lines = 0, y = 0;
    const char *s = pw_str_text(&ui->page.text);

    pw_draw_fill(c, r, pw_style_plain(), ' ');
    struct pw_rect in = pw_draw_frame(c, r, &ui->look, true, ui->page.title, "j k scroll  Esc back");
    for (const char *p = s; (p = strchr(p, '\n')) != NULL; p++)
        lines++;
    int last = lines > in.h ? lines - in.h : 0;
    ui->page.top = ui->page.top > last ? last : ui->page.top < 0 ? 0 : ui->page.top;
    for (const char *end; *s && y - ui->page.top < in.h; s = end + (*end == '\n'), y++) {
        char line[PW_LINE * 2];
        end = s + strcspn(s, "\n");
        size_t n = (size_t)(end - s) < sizeof line - 1 ? (size_t)(end - s) : sizeof line - 1;
        memcpy(line, s, n);
        line[n] = '\0';
        if (y >= ui->page.top)
            pw_draw_cut(c, in, in.y + y - ui->page.top, in.x + 1, pw_style_plain(), line, in.w - 2);
    }
}
