/* kill.c - sends kill -9 to a writer at any moment: during opening, while it records, while a file is
 * stored. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

#define LIVES  25    /* writers of one session */
#define WAIT   60000 /* maximal life after the opening, in microseconds */
#define SOONER 15000 /* maximal life after the start, possibly before the opening */

static bool is_there(const char *folder)
{
    return access(folder, F_OK) == 0;
}

/* Runs one writer and kills it. Its output is parsed into *said. */
static void live(struct harness *h, const char *folder, struct said *said)
{
    int out, status;
    bool opened = harness_random(h, 5) != 0;
    pid_t child = writer_start(h, &out, folder, "0", NULL);
    while (opened && !said->opened && writer_listen(out, said, -1))
        ;
    usleep((useconds_t)harness_random(h, opened ? WAIT : SOONER));
    kill(child, SIGKILL);
    while (writer_listen(out, said, -1))
        ;
    close(out);
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status))
        harness_violation(h, "it ended by itself: %s", said->error);
}

void kill_run(struct harness *h)
{
    char folder[100];
    uint64_t last = 0, events = 0;
    int kills = 0, unfinished = 0, sessions = 0;
    bool acknowledged = false;
    snprintf(folder, sizeof folder, "%s/k.pewter", h->dir);
    for (; kills < h->count; kills++) {
        if (kills % LIVES == 0) {
            harness_remove(folder);
            events += last;
            last = 0;
            acknowledged = false;
            sessions++;
        }
        struct said said = {.saved = last};
        snprintf(h->now, sizeof h->now, "kill %d", kills);
        live(h, folder, &said);
        if (said.opened && said.opened_at != last)
            harness_violation(h, "it was opened at event %llu, and the last one had been %llu",
                              (unsigned long long)said.opened_at, (unsigned long long)last);
        acknowledged |= said.opened;
        if (acknowledged) {
            last = harness_check(h, folder, said.saved, last);
        } else if (is_there(folder)) { /* killed before the session was created */
            unfinished++;
            harness_remove(folder);
        }
        if (h->violations > 10)
            break;
    }
    printf("kill -9 of a recorder: %d kills of %d sessions, %llu events, %d before the session was made: %d "
           "violations\n",
           kills, sessions, (unsigned long long)(events + last), unfinished, h->violations);
}
