/* attention_bench.h - the attention pane on a canvas, without a terminal: keys are pressed and its text is read. */
#ifndef ATTENTION_BENCH_H
#define ATTENTION_BENCH_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref_screen.h"
#include "ui/panes/attention.h"

struct bench {
    struct pw_snapshot *s;
    struct pw_ui ui;
    struct pw_canvas c;
    struct pw_str text, line;
};

static inline int setup(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    b->s = screen_race();
    b->ui = screen_ui(b->s, PW_COLORS_TRUE, true);
    pw_canvas_init(&b->c);
    *state = b;
    return 0;
}

static inline int teardown(void **state)
{
    struct bench *b = *state;
    pw_ui_fini(&b->ui);
    pw_snapshot_free(b->s);
    pw_canvas_fini(&b->c);
    pw_str_fini(&b->text);
    pw_str_fini(&b->line);
    free(b);
    return 0;
}

/* Presses keys one by one and draws the pane after each; returns the final screen. */
static inline const char *after(struct bench *b, int rows, int cols, const char *keys)
{
    pw_canvas_resize(&b->c, rows, cols);
    for (const char *k = keys;; k++) {
        struct pw_rect all = {0, 0, rows, cols};
        pw_canvas_clear(&b->c);
        pw_pane_attention.settle(&b->ui, all);
        pw_pane_attention.draw(&b->ui, &b->c, all);
        if (*k == '\0')
            break;
        pw_str_clear(&b->line);
        assert_true(pw_pane_attention.key(&b->ui, *k, &b->line));
    }
    pw_str_clear(&b->text);
    pw_canvas_text(&b->c, &b->text);
    return b->text.s;
}

static inline void assert_says(const char *screen, const char *text)
{
    if (strstr(screen, text) == NULL)
        fail_msg("'%s' isn't on the screen:\n%s", text, screen);
}

static inline void assert_silent(const char *screen, const char *text)
{
    if (strstr(screen, text) != NULL)
        fail_msg("'%s' is on the screen:\n%s", text, screen);
}

#endif
