/* watch.h - watches: probes that are repeated while arms train, by `probe NAME every=N`. watch.c says when
 * they measure. Lab thread. */
#ifndef PW_WATCH_H
#define PW_WATCH_H
#include "command/command.h"
#include "sessions/event.h"

struct pw_replica;
struct pw_listener;
struct pw_lab;
struct pw_probe;

#define PW_MAX_WATCHES 8
#define PW_MOST_EVERY  1000000000 /* largest N, in steps */

/* One watch. The lab owns it; probe points to a constant. */
struct pw_watch {
    char line[PW_LINE]; /* the command as typed */
    int every;          /* steps */
    int arm, replica;   /* the measured replica, for a probe of a single replica; else 0 */
    const struct pw_probe *probe;
    unsigned arms; /* bit id: the watch measures this arm; 0: all arms */
    bool due;      /* it measures once the running measurement has ended */
};

/* Fill the members that are derived from line, every and arm. *args receives the parsed line, which the
 * caller frees on success. Fails with PW_EUSER if the line is no longer valid. */
enum pw_code pw_watch_read(struct pw_watch *w, const struct pw_commands *commands, struct pw_args *args,
                           struct pw_err *err);

/* Measure the watches that are due at the end of a training round: those whose first arm took part in the
 * round and has reached a multiple of `every` steps. opens: the replica whose step opened the round.
 * in_round: did this replica take part in that round? */
void pw_watch_round(struct pw_lab *lab,
                    bool (*in_round)(const struct pw_lab *lab, const struct pw_replica *opens,
                                     const struct pw_replica *arm),
                    const struct pw_replica *opens);
/* Will a watch of this arm measure at this step? Later steps must not start before the measurement. */
bool pw_watch_sees(const struct pw_lab *lab, const struct pw_replica *arm, int64_t step);
/* After a probe has ended, starts the next due measurement. After a cancelled probe, drops all due
 * measurements. */
extern const struct pw_listener pw_watch_listener;

#endif
