/* draw.c - small drawing and naming functions that several panes share: cut text, bars, notes, arms. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ui/plot.h"

int pw_draw_cut(struct pw_canvas *c, struct pw_rect r, int y, int x, struct pw_style s, const char *text,
                int width)
{
    struct pw_rect part = {r.y, x, r.h, width};
    int end = r.x + r.w;

    if (width <= 0)
        return x;
    if (part.x < r.x)
        part.w -= r.x - part.x, part.x = r.x;
    if (part.x + part.w > end)
        part.w = end - part.x;
    int cells = pw_text_cells(text);
    pw_draw_text(c, part, y, x, s, text);
    if (cells <= width)
        return x + cells;
    pw_draw_cell(c, part, y, x + width - 1, s, 0x2026);
    return x + width;
}

size_t pw_text_fitting(const char *text, int width)
{
    size_t n = 0, at_blank = 0, len = strlen(text);
    int x = 0;

    while (n < len) {
        uint32_t cp;
        size_t bytes = pw_utf8_next(text + n, len - n, &cp);
        int w = pw_utf8_cells(cp);
        if (x + w > width && n > 0)
            return at_blank > 0 ? at_blank : n;
        n += bytes, x += w;
        if (cp == ' ' && x > width * 2 / 3)
            at_blank = n;
    }
    return len;
}

int pw_text_rows(const char *text, int width)
{
    int rows = 0;

    for (; *text; rows++) {
        text += pw_text_fitting(text, width);
        text += strspn(text, " ");
    }
    return rows;
}

int pw_draw_wrapped(struct pw_canvas *c, struct pw_rect r, int y, struct pw_style s, const char *text,
                    int most)
{
    int rows = 0;

    for (; *text && r.w > 0 && rows < most; rows++) {
        size_t n = pw_text_fitting(text, r.w);
        struct pw_str line = {0};
        if (rows + 1 == most) {
            pw_draw_cut(c, r, y + rows, r.x, s, text, r.w);
            return most;
        }
        pw_str_put(&line, text, n);
        pw_draw_text(c, r, y + rows, r.x, s, line.s);
        pw_str_fini(&line);
        text += n;
        text += strspn(text, " ");
    }
    return rows;
}

void pw_draw_parts(struct pw_canvas *c, struct pw_rect r, int rows, struct pw_style s, struct pw_str *text)
{
    int y = r.y + r.h - rows, end = r.y + r.h, x = 0;

    for (char *part = text->s, *next; part != NULL && y < end; part = next) {
        if ((next = strstr(part, "  ")) != NULL)
            *next = '\0', next += 1 + strspn(next + 1, " ");
        int w = pw_text_cells(part), from = x > 0 ? x + 2 : 0;
        if (from + w > r.w && x > 0 && y + 1 < end)
            y++, from = 0;
        if (from + w <= r.w) {
            pw_draw_text(c, r, y, r.x + from, s, part);
            x = from + w;
        } else if (from == 0 &&
                   (part == text->s || pw_text_rows(part, r.w) <= end - y)) { /* longer than a row */
            y += pw_draw_wrapped(c, r, y, s, part, end - y);
            x = 0;
        }
    }
}

int pw_draw_readout(struct pw_canvas *c, struct pw_rect r, struct pw_str *text)
{
    int rows = r.h >= 9 ? 2 : 1;

    pw_draw_parts(c, r, rows, pw_style_bold(), text);
    return rows;
}

void pw_draw_missing(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r, const char *const *lines)
{
    const char *recorded[] = {lines[0], "not in the recording up to here", NULL};
    pw_draw_invitation(c, r, ui->transport.alone ? recorded : lines);
}

void pw_draw_invitation(struct pw_canvas *c, struct pw_rect r, const char *const *lines)
{
    int n = 0, widest = 0;

    while (lines[n] != NULL) {
        int w = pw_text_cells(lines[n++]);
        widest = w > widest ? w : widest;
    }
    int y = r.y + (r.h > n ? (r.h - n) / 2 : 0);
    int x = r.x + (r.w > widest ? (r.w - widest) / 2 : 0);
    for (int i = 0; i < n; i++)
        pw_draw_cut(c, r, y + i, x,
                    i == 0   ? pw_style_plain()
                    : i == 1 ? pw_style_bold()
                             : pw_style_dim(),
                    lines[i], r.x + r.w - x);
}

void pw_draw_bar(struct pw_canvas *c, struct pw_rect r, int y, int x, struct pw_style s, int width,
                 double fraction)
{
    if (!(fraction > 0))
        return;
    int eighths = (int)lrint((fraction < 1 ? fraction : 1) * width * 8);
    if (eighths == 0)
        eighths = 1; /* a small fraction is not zero */
    for (int i = 0; i < width && eighths > 0; i++, eighths -= 8)
        pw_draw_cell(c, r, y, x + i, s, eighths >= 8 ? 0x2588 : 0x2590 - (uint32_t)eighths);
}

int pw_within(int i, int n)
{
    i = i < n ? i : n - 1;
    return i > 0 ? i : 0;
}

int pw_scroll(int cursor, int n, int rows)
{
    int top = cursor - rows / 2;

    if (top > n - rows)
        top = n - rows;
    return top > 0 ? top : 0;
}

int pw_scroll_held(int held, int cursor, int n, int rows)
{
    int top = held - 1;

    return top >= 0 && top <= cursor && cursor < top + rows && top + rows <= n ? top
                                                                               : pw_scroll(cursor, n, rows);
}

void pw_arm_title(const struct pw_ui *ui, const struct pw_arm_view *a, struct pw_str *out)
{
    pw_str_add(out, "%s ", pw_arm_mark(ui, a->info.id));
    pw_arm_name(a, out);
}

void pw_arm_short(const struct pw_ui *ui, const struct pw_arm_view *a, struct pw_str *out)
{
    pw_str_add(out, "%s%d ", pw_arm_mark(ui, a->info.id), a->info.id);
    pw_encoding_name(out, a->info.pe);
    pw_str_add(out, "%s", a->info.swaps > 0 ? PW_SWAPPED : "");
}

const char *pw_prompt_example(const struct pw_ev_lab *lab, char *text, size_t size)
{
    const char *prompt = lab->n_tasks > 0 ? lab->tasks[0].prompt : "";

    if (prompt[0])
        snprintf(text, size, ":prompt %s", prompt);
    else /* an old session, or a line of a file that cannot be typed */
        snprintf(text, size, ":sample");
    return text;
}
