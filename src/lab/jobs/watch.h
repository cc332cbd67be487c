/* watch.h - watches: probes that are repeated while arms train, by `probe NAME every=N`. watch.c says when
 * they measure. Lab thread. */
#ifndef PW_WATCH_H
#define PW_WATCH_H
#include "lab/core/lab_int.h"

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
