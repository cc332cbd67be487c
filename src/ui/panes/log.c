/* log.c - the log: commands, notes and errors with their time, the newest at the bottom. */
#include <string.h>
#include <time.h>

#include "ui/plot.h"
#include "ui/search.h"

enum { NO_TIME = 2 }; /* columns before the text if there is no time: the line's sign */

/* Returns the sign before a line, and its style. */
static const char *sign_of(enum pw_event_kind kind, struct pw_style *s)
{
    switch (kind) {
    case PW_EV_COMMAND: *s = pw_style_bold(); return ":";
    case PW_EV_ERROR: *s = pw_style_bad(); return "!";
    case PW_EV_CHECKPOINT: *s = pw_style_ok(); return "◆";
    case PW_EV_GAP: *s = pw_style_warn(); return "…";
    default: *s = pw_style_plain(); return "·";
    }
}

static int rows_of(const struct pw_log_line *l, int width)
{
    return l->text[0] ? pw_text_rows(l->text, width) : 1;
}

/* Writes "12:01:04 ". */
static void time_text(char text[16], const struct pw_log_line *l)
{
    time_t t = (time_t)(l->t_ns / 1000000000);
    struct tm tm;

    if (localtime_r(&t, &tm) == NULL || strftime(text, 16, "%H:%M:%S ", &tm) == 0)
        text[0] = '\0';
}

static void draw_line(struct pw_canvas *c, struct pw_rect r, int y, const struct pw_log_line *l, int indent)
{
    struct pw_style s;
    const char *sign = sign_of(l->kind, &s);
    struct pw_rect rest = {r.y, r.x + indent, r.h, r.w - indent};
    char at[16];

    time_text(at, l);
    if (indent > NO_TIME)
        pw_draw_text(c, r, y, r.x, pw_style_dim(), at);
    pw_draw_text(c, r, y, r.x + indent - 2, s, sign);
    pw_draw_wrapped(c, rest, y, s, l->text, rows_of(l, rest.w));
}

/* Collects the lines that pass the filter, oldest first; returns how many. */
static int collect(const struct pw_ui *ui, const struct pw_log_line *lines[PW_LOG_LINES])
{
    const struct pw_snapshot *s = ui->snap;
    int n = 0;
    for (int64_t i = s->n_log > PW_LOG_LINES ? s->n_log - PW_LOG_LINES : 0; i < s->n_log; i++) {
        const struct pw_log_line *l = &s->log[i % PW_LOG_LINES];
        if (!ui->log.filter[0] || pw_search_in(l->text, ui->log.filter) != NULL)
            lines[n++] = l;
    }
    return n;
}

static void settle(struct pw_ui *ui, struct pw_rect r)
{
    const struct pw_log_line *lines[PW_LOG_LINES];

    (void)r;
    ui->log.up = pw_within(ui->log.up, collect(ui, lines));
}

static void draw_log(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_log_line *lines[PW_LOG_LINES];
    int indent = r.w >= 30 && !ui->no_machine ? 11 : NO_TIME;
    int n = collect(ui, lines);

    if (n == 0) {
        static const char *const first[] = {"nothing happened yet", ":help", "lists the commands", NULL};
        static const char *const filtered[] = {"no line has the filter's text", ":filter", "shows all lines",
                                               NULL};
        pw_draw_invitation(c, r, ui->log.filter[0] ? filtered : first);
        return;
    }
    int last = n - 1 - ui->log.up, first = last;
    int rows = rows_of(lines[last], r.w - indent);
    while (first > 0 && rows < r.h)
        rows += rows_of(lines[--first], r.w - indent);
    /* The last line is complete; the first one is possibly cut at its top. */
    int y = rows > r.h ? r.y + r.h - rows : r.y;
    for (int i = first; i <= last; i++) {
        draw_line(c, r, y, lines[i], indent);
        y += rows_of(lines[i], r.w - indent);
    }
}

static void status(const struct pw_ui *ui, struct pw_str *out)
{
    if (ui->log.filter[0])
        pw_str_add(out, "only '%s'  ", ui->log.filter);
    if (ui->log.up > 0)
        pw_str_add(out, "%d newer below", ui->log.up);
    else if (ui->snap->dropped > 0)
        pw_str_add(out, "%lld steps not shown", (long long)ui->snap->dropped);
}

/* Searches from the newest line upwards, because users mostly search for recent lines. */
static int find(struct pw_ui *ui, const char *text, int direction)
{
    const struct pw_log_line *lines[PW_LOG_LINES];
    int n = collect(ui, lines), found = 0, from = direction == 0 ? -1 : ui->log.up;
    int next = -1, previous = -1, first = -1, last = -1; /* lines counted from the end */

    for (int up = 0; up < n; up++)
        if (pw_search_in(lines[n - 1 - up]->text, text) != NULL) {
            found++;
            last = up;
            first = first < 0 ? up : first;
            next = next < 0 && up > from ? up : next;
            previous = up < from ? up : previous;
        }
    if (found > 0)
        ui->log.up = direction < 0 ? (previous < 0 ? last : previous) : (next < 0 ? first : next);
    return found;
}

/* Appends seconds since 1970, sign and text of the shown lines, the oldest first. */
static void copy(const struct pw_ui *ui, struct pw_str *out)
{
    const struct pw_log_line *lines[PW_LOG_LINES];
    int n = collect(ui, lines);
    pw_str_add(out, "time\tkind\ttext\n");
    for (int i = 0; i < n; i++) {
        struct pw_style s;
        pw_str_add(out, "%lld.%03d\t%s\t%s\n", (long long)(lines[i]->t_ns / 1000000000),
                   (int)(lines[i]->t_ns / 1000000 % 1000), sign_of(lines[i]->kind, &s), lines[i]->text);
    }
}

static void words(FILE *out, const struct pw_ui *ui)
{
    const struct pw_log_line *lines[PW_LOG_LINES];
    int n = collect(ui, lines);
    char at[16];

    for (int i = 0; i < n; i++) {
        time_text(at, lines[i]);
        fprintf(out, "%s%s%s\n", at,
                lines[i]->kind == PW_EV_COMMAND ? "command: "
                : lines[i]->kind == PW_EV_ERROR ? "failed: "
                                                : "",
                lines[i]->text);
    }
}

static bool key(struct pw_ui *ui, int k, struct pw_str *line)
{
    (void)line;
    switch (k) {
    case 'k':
    case PW_KEY_UP: ui->log.up++; return true;
    case 'j':
    case PW_KEY_DOWN: ui->log.up -= ui->log.up > 0; return true;
    case PW_KEY_PAGE_UP: ui->log.up += 10; return true;
    case PW_KEY_PAGE_DOWN: ui->log.up = ui->log.up > 10 ? ui->log.up - 10 : 0; return true;
    case 'g':
    case PW_KEY_HOME: ui->log.up = PW_LOG_LINES; return true;
    case 'G':
    case PW_KEY_END: ui->log.up = 0; return true;
    default: return false;
    }
}

static const char *const keys[] = {"j k", "newer and older lines", "PgUp PgDn", "ten lines",
                                   "g G", "oldest and newest",     NULL};

const struct pw_pane pw_pane_log = {
    .name = "log",
    .title = "Log",
    .hints = "jk scroll  g oldest  G newest",
    .status = status,
    .draw = draw_log,
    .settle = settle,
    .key = key,
    .keys = keys,
    .copy = copy,
    .find = find,
    .words = words,
};
