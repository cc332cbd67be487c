/* news.c - shows the newest error or note as the message; an error is not covered by the others.
 *
 * A finding and a map of `patch` also count as news, with the name of the pane that shows them.
 *
 * An answer consists of the notes whose events follow the command's own event without a gap, apart from the
 * files that the command read. Later notes, from a job or from training, do not belong to it, even if the
 * command started that job. */
#include "ui/news.h"

#include <stdio.h>
#include <string.h>

#include "ui/page.h"

void pw_news_typed(struct pw_news *n, const char *line)
{
    pw_text_copy(n->typed, sizeof n->typed, line);
    n->seq = 0;
}

/* Tracks the answer to a typed command. Returns true if this line belongs to the answer. */
static bool answers(struct pw_news *n, int64_t i, const struct pw_log_line *line)
{
    bool goes_on = line->kind == PW_EV_NOTE && n->seq != 0 && line->after == n->seq;
    bool begins = line->kind == PW_EV_COMMAND && n->typed[0] != '\0' && strstr(n->typed, line->text) != NULL;
    if (begins) {
        n->first = i + 1;
        n->lines = 0;
        n->shown = false;
    }
    n->lines += goes_on;
    n->seq = goes_on || begins ? line->seq : 0;
    return goes_on;
}

/* Opens the answer as a page if the Log pane is too small for it and is not focused (a focused one can
 * scroll). Returns true if the page shows the answer. */
static bool show_answer(struct pw_news *n, struct pw_ui *ui, const struct pw_snapshot *s)
{
    struct pw_layout at;
    struct pw_str text = {0};
    int top = n->shown ? ui->page.top : 0;
    pw_ui_layout(ui, ui->rows, ui->cols, &at);
    bool room = n->lines <= at.panes[PW_PANE_LOG].h - 2 || ui->focus == PW_PANE_LOG;
    bool left = n->shown && ui->page.text.len == 0; /* the user closed it */
    if (n->lines < 2 || room || left || s->n_log - n->first >= PW_LOG_LINES)
        return false;
    for (int64_t i = n->first; i < n->first + n->lines; i++)
        pw_str_add(&text, "%s\n", s->log[i % PW_LOG_LINES].text);
    pw_page_open(ui, s->log[(n->first - 1) % PW_LOG_LINES].text, pw_str_text(&text));
    pw_str_fini(&text);
    ui->page.top = top;
    ui->message[0] = '\0';
    return n->shown = true;
}

static void announce_line(struct pw_ui *ui, const struct pw_snapshot *s, const struct pw_log_line *line)
{
    char where[40] = "";                                               /* the title of the pane's frame */
    bool map = line->kind == PW_EV_PATCH && line->seq == s->patch_seq; /* not a single number */
    int pane = map ? PW_PANE_STEP : PW_PANE_FINDINGS;
    if (map || line->kind == PW_EV_FINDING)
        snprintf(where, sizeof where, "%d %s: ", pane + 1, pw_panes[pane]->title);
    size_t n = strlen(where), size = sizeof ui->message;
    pw_text_copy(ui->message, size, where);
    pw_text_copy(ui->message + n, size - n, line->text);
    ui->message_is_error = line->kind == PW_EV_ERROR;
}

void pw_news_read(struct pw_news *n, struct pw_ui *ui)
{
    const struct pw_snapshot *s = pw_time_end(ui);
    const struct pw_finding_view *list[PW_MAX_FINDINGS];
    if (n->began != s->began_ns || n->before != s->log_before) { /* the session changed */
        n->began = s->began_ns;
        n->n_log = n->before = s->log_before;
        n->seq = 0;
    }
    int64_t first = s->n_log - n->n_log < PW_LOG_LINES ? n->n_log : s->n_log - PW_LOG_LINES;
    int findings = pw_findings(s, list);
    const struct pw_log_line *news = NULL;
    bool answer = false, of_it = false;
    for (int64_t i = first; i < s->n_log; i++) {
        const struct pw_log_line *line = &s->log[i % PW_LOG_LINES];
        bool error = line->kind == PW_EV_ERROR, note = line->kind == PW_EV_NOTE || line->kind == PW_EV_MARK;
        bool found = line->kind == PW_EV_PATCH || (line->kind == PW_EV_FINDING && findings > n->n_findings);
        bool here = answers(n, i, line);
        answer = answer || here;
        if (error || ((note || found) && !(news != NULL && news->kind == PW_EV_ERROR)))
            news = line, of_it = here;
    }
    n->n_log = s->n_log;
    n->n_findings = findings;
    bool shown = answer && show_answer(n, ui, s);
    bool kept = n->refused && ui->message[0] != '\0' && news != NULL && news->kind != PW_EV_ERROR;
    if (news != NULL && !kept && !(shown && of_it))
        announce_line(ui, s, news);
}
