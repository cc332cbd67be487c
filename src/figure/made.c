/* made.c - the commands that reproduce a figure, from the session's log.
 *
 * Commands that change the measured models are kept; commands that only inspect are dropped. If there are
 * many, the first and the last ones stay: they show the setup and the end. If sessions are drawn together,
 * each gets an equal share of the space. */
#include "figure/figure_int.h"
#include <string.h>

#define ROOM 600 /* bytes for all commands */

static const char *const changes[] = {"seed",    "task",   "model",   "optim",     "pe",   "arm",
                                      "race",    "demo",   "fork",    "train",     "step", "eval",
                                      "reset",   "import", "ablate",  "set",       "runs", "resume",
                                      "restore", "source", "present", "construct", NULL};
const char *const pw_figure_prompts[] = {"prompt", "sample", "next",    "back",
                                         "edit",   "patch",  "inspect", NULL};
const char *const pw_figure_tables[] = {"table", NULL};

static bool among(const char *const *words, const char *line)
{
    size_t n = strcspn(line, " ");

    for (; *words != NULL; words++)
        if (strlen(*words) == n && memcmp(*words, line, n) == 0)
            return true;
    return false;
}

/* Collects the relevant lines, oldest first, and returns their number. A repeated line is kept once with its
 * count. */
static int collect(const struct pw_figure *f, const struct pw_snapshot *s, const char *line[PW_LOG_LINES],
                   int times[PW_LOG_LINES])
{
    int n = 0;

    for (int64_t i = s->n_log > PW_LOG_LINES ? s->n_log - PW_LOG_LINES : 0; i < s->n_log; i++) {
        const struct pw_log_line *l = &s->log[i % PW_LOG_LINES];
        if (l->kind != PW_EV_COMMAND ||
            (!among(changes, l->text) && !(f->asks != NULL && among(f->asks, l->text))))
            continue;
        if (n > 0 && strcmp(line[n - 1], l->text) == 0)
            times[n - 1]++;
        else
            line[n] = l->text, times[n++] = 1;
    }
    return n;
}

static void add_commands(const struct pw_figure *f, const struct pw_snapshot *s, size_t room,
                         struct pw_str *out)
{
    const char *line[PW_LOG_LINES];
    int times[PW_LOG_LINES], n = collect(f, s, line, times), head = 0, tail = n;
    size_t used = 0;

    /* Add lines from both ends inwards while there is room. */
    while (head < tail) {
        bool first = head <= n - tail;
        size_t more = strlen(line[first ? head : tail - 1]) + 2;
        if (used + more > room && head > 0)
            break;
        used += more;
        head += first, tail -= !first;
    }
    if (s->n_log > PW_LOG_LINES)
        pw_str_add(out, "... ");
    for (int i = 0; i < n; i++) {
        if (i == head && head < tail)
            pw_str_add(out, "... ");
        if (i >= head && i < tail)
            continue;
        pw_str_add(out, "%s", line[i]);
        if (times[i] > 1)
            pw_str_add(out, " (%d times)", times[i]);
        pw_str_add(out, "%s", i + 1 < n ? "; " : "");
    }
}

void pw_figure_made(const struct pw_figure *f, struct pw_str *out)
{
    size_t sources = 0;

    pw_str_add(out, "pewter " PEWTER_VERSION ": ");
    for (int i = 0; i < f->n_lines; i++)
        sources += i == 0 || f->line[i].snap != f->line[i - 1].snap;
    if (!f->recorded)
        add_commands(f, f->snap, ROOM, out);
    for (int i = 0; i < f->n_lines && f->recorded; i++) {
        const struct pw_figure_line *l = &f->line[i];
        if (i > 0 && l->snap == l[-1].snap)
            continue;
        pw_str_add(out, "%s%s: ", i > 0 ? " | " : "", l->session != NULL ? l->session : "this lab");
        add_commands(f, l->snap, ROOM / sources, out);
    }
}
