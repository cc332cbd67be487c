/* attention.c */
#include "ui/plot.h"

static void status(const struct pw_ui *ui, struct pw_str *out)
{
    (void)ui, (void)out;
}

static void draw(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    (void)ui, (void)c, (void)r;
}

static bool key(struct pw_ui *ui, int k, struct pw_str *line)
{
    (void)ui, (void)k, (void)line;
    return false;
}

static const char *const keys[] = {NULL};

const struct pw_pane pw_pane_attention = {"attention", "Attention", "", status, draw, key, keys};
