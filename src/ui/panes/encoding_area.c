/* encoding_area.c - the screen areas of a page of the encoding pane, for clicks and the pointer.
 *
 * A page finds its areas while it draws. A click draws the page on a hidden canvas, so the areas
 * always match the present state and size, not the last frame. */
#include <assert.h>
#include <math.h>

#include "ui/panes/encoding.h"

void pw_enc_area(struct pw_enc_areas *areas, struct pw_enc_area area)
{
    assert(areas->n < PW_ENC_AREAS);
    areas->area[areas->n++] = area;
}

void pw_enc_area_plot(struct pw_enc_areas *areas, const struct pw_plot *p, int n)
{
    pw_enc_area(areas, (struct pw_enc_area){p->field, PW_ENC_DISTANCE, PW_ENC_ACROSS,
                                            .size = (double)p->field.w / n});
}

bool pw_enc_area_at(const struct pw_enc_area *a, int y, int x, int *value)
{
    int down = y - a->r.y, across = x - a->r.x;

    if (!pw_rect_has(a->r, y, x))
        return false;
    int cell = a->along == PW_ENC_DOWN ? down : across;
    /* The value at the middle of the cell; if two values meet there, the first one. */
    int nth = (int)ceil((cell + 0.5) / a->size) - 1;
    int at = nth * (a->pool > 0 ? a->pool : 1);
    *value = a->first + (a->along == PW_ENC_BETWEEN ? down - at : at);
    return *value >= 0;
}

int pw_enc_scroll(const struct pw_ui *ui, enum pw_enc_cursor cursor, int n, int rows)
{
    return pw_scroll_held(ui->encoding.held[cursor], pw_enc_at(ui, cursor), n, rows);
}

int pw_enc_list(const struct pw_ui *ui, enum pw_enc_cursor cursor, int n, struct pw_rect r,
                struct pw_enc_areas *areas)
{
    int first = pw_enc_scroll(ui, cursor, n, r.h);

    r.h = r.h < n - first ? r.h : n - first;
    pw_enc_area(areas, (struct pw_enc_area){r, cursor, PW_ENC_DOWN, first, .size = 1});
    return first;
}
