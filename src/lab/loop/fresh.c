/* fresh.c - requests: data that a picture shows is computed before the picture is drawn.
 *
 * A reader's request is queued among the typed lines. So it reflects the lines before it, and none of the
 * lines after it. If the last emitted answer and tables are out of date, the lab decodes the pinned prompt
 * and computes the tables with the present weights. Then it puts a mark into the event queue, at which the
 * reader's snapshot stops. So the picture shows this moment even while training continues.
 *
 * A picture of several arms names them in the request. Each of them decodes the pinned prompt between two
 * steps, the chosen arm last, and the fold keeps the last maps of each arm.
 *
 * Like inspection during training, a request is no command. Its events are recorded, and a re-run starts the
 * same work when they are due (follow.c). */
#include <stdio.h>
#include <stdlib.h>

#include "lab/core/lab_int.h"
#include "lab/looks/looks.h"
#include "lab/loop/loop.h"
#include "lab/train/train.h"

/* Read the request at the front of the typed lines. Returns false if there is none. */
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

/* Start the next answer that the request needs; the current arm's comes last. Another arm's prompt is always
 * decoded again, because the weights of its earlier answer are unknown. */
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

/* The existing arms among those of a request; bit 0: the current one. */
static unsigned arms_of(struct pw_lab *lab, const struct pw_needs *needs)
{
    unsigned arms = needs->answer || needs->answer_of != 0 ? 1 : 0;
    for (int id = 1; id <= PW_MAX_ARMS; id++)
        if ((needs->answer_of >> id & 1) != 0 && id != lab->current && pw_lab_arm(lab, id) != NULL)
            arms |= 1u << id;
    return arms;
}

static void end_request(struct pw_lab *lab)
{
    pthread_mutex_lock(&lab->lock);
    pw_lines_drop_first(&lab->now);
    pw_queue_mark(&lab->queue);
    pthread_mutex_unlock(&lab->lock);
    pw_lab_wake_reader(lab);
}

bool pw_lab_serve_request(struct pw_lab *lab)
{
    struct pw_needs needs;
    if (lab->session.line != NULL || pw_lab_answering(lab) || !next_request(lab, &needs))
        return false;
    if (lab->requested && lab->to_answer == 0) {
        lab->requested = false;
        end_request(lab);
        return true;
    }
    if (!lab->requested) {
        lab->requested = true;
        pw_lab_drain(lab);
        pw_lab_refresh_tables(lab, needs.tables, needs.table_of);
        lab->to_answer = arms_of(lab, &needs);
    }
    if (lab->to_answer != 0)
        begin_answer(lab);
    return true;
}
