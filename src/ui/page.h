/* page.h - a page: an answer of many lines that covers the panes until Esc. */
#ifndef PW_PAGE_H
#define PW_PAGE_H
#include "ui/ui.h"

/* pw_page_open opens a page with a copy of the text. pw_page_key scrolls or closes it. The page is open while
 * ui->page.text is not empty. */
void pw_page_open(struct pw_ui *ui, const char *title, const char *text);
void pw_page_key(struct pw_ui *ui, int key);
/* pw_page_settle clamps the first visible line; r: the area with its frame. */
void pw_page_settle(struct pw_ui *ui, struct pw_rect r);
void pw_page_draw(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r);

#endif
