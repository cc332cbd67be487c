/* fresh.c - what a picture shows is computed before it is drawn.
 *
 * A reader's request stands among the typed lines, so it sees what those before it did and nothing of those
 * behind it. The lab decodes the pinned prompt and computes the tables with the weights as they are, where
 * the last ones emitted are others, and then puts an end into the event queue, at which the reader's snapshot
 * stops: what the picture shows is of that moment, also while training goes on. Like the looks beside
 * training it is no command; a recording has its events, and following begins them when they come (follow.c).
 */
#include <stdio.h>
#include <stdlib.h>

#include "lab/lab_int.h"

void pw_lab_request(struct pw_lab *lab, const struct pw_needs *needs)
{
    char line[64];
    snprintf(line, sizeof line, "%c%d %d %u %u", PW_REQUEST, needs->answer, needs->tables, needs->table_of,
             needs->answer_of);
    pw_lab_send(lab, line, PW_SEND_NOW);
}

uint64_t pw_lab_requests_done(const struct pw_lab *lab)
{
    return lab->seen_requests;
}

/* The request that is next among the typed lines; false: there is none. */
static bool next_request(struct pw_lab *lab, struct pw_needs *needs)
{
    int answer = 0, tables = 0;
    pthread_mutex_lock(&lab->lock);
    const char *line = lab->now.n > 0 ? lab->now.line[0] : "";
    bool found = line[0] == PW_REQUEST &&
                 sscanf(line + 1, "%d %d %u %u", &answer, &tables, &needs->table_of, &needs->answer_of) == 4;
    pthread_mutex_unlock(&lab->lock);
    needs->answer = answer != 0;
    needs->tables = tables != 0;
    return found;
}

static void refresh_answer(struct pw_lab *lab)
{
    struct pw_err err;
    if (!pw_lab_answered(lab) && pw_lab_answer_again(lab, &err) != PW_OK)
        pw_lab_trouble(lab, &err);
}

/* Begins the next answer of those that the request waits for, the current arm's last. Another arm's is
 * decoded whether it was before or not: which weights its last one was of nobody knows any more. */
static void begin_answer(struct pw_lab *lab)
{
    struct pw_err err;
    int id = 1;
    while (id <= PW_MAX_ARMS && (lab->to_answer >> id & 1) == 0)
        id++;
    lab->to_answer &= id <= PW_MAX_ARMS ? ~(1u << id) : 0;
    if (id > PW_MAX_ARMS)
        refresh_answer(lab);
    else if (pw_lab_answer_by(lab, pw_lab_inspected_of(lab, id), &err) != PW_OK)
        pw_lab_trouble(lab, &err);
}

/* The arms of a request that there are; bit 0: the current one. */
static unsigned arms_of(struct pw_lab *lab, const struct pw_needs *needs)
{
    unsigned arms = needs->answer || needs->answer_of != 0 ? 1 : 0;
    for (int id = 1; id <= PW_MAX_ARMS; id++)
        if ((needs->answer_of >> id & 1) != 0 && id != lab->current && pw_lab_arm(lab, id) != NULL)
            arms |= 1u << id;
    return arms;
}

bool pw_lab_serve_request(struct pw_lab *lab)
{
    struct pw_needs needs;
    if (lab->session.line != NULL || pw_lab_answering(lab) || !next_request(lab, &needs))
        return false;
    if (lab->requested && lab->to_answer == 0) {
        lab->requested = false;
        pw_lab_end_request(lab);
        return true;
    }
    if (!lab->requested) {
        lab->requested = true;
        pw_lab_land(lab);
        pw_lab_refresh_tables(lab, needs.tables, needs.table_of);
        lab->to_answer = arms_of(lab, &needs);
    }
    if (lab->to_answer != 0)
        begin_answer(lab);
    return true;
}
