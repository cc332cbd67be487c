/* watch.h - watches: probes repeated while arms train; see watch.c. Lab thread. */
#ifndef PW_WATCH_H
#define PW_WATCH_H
#include "command/command.h"
#include "sessions/event.h"

struct pw_replica;
struct pw_listener;
struct pw_lab;
struct pw_probe;

#define PW_MAX_WATCHES 8
#define PW_MOST_EVERY  1000000000

struct pw_watch {
    char line[PW_LINE]; /* the command as typed */
    int every;          /* steps */
    int arm, replica;   /* of a probe of a single replica; else 0 */
    const struct pw_probe *probe;
    unsigned arms; /* bit id: the watch is about this arm; 0: about all arms */
    bool due;      /* to be measured after the running measurement has ended */
};

/* Derive the remaining members from line, every and arm. args: the arguments of line; the caller frees them
 * on success. */
enum pw_code pw_watch_read(struct pw_watch *w, const struct pw_commands *commands, struct pw_args *args,
                           struct pw_err *err);

/* Called at the end of a training round that `opens` had opened. Measures the watches whose arms have reached
 * their step. */
void pw_watch_round(struct pw_lab *lab,
                    bool (*in_round)(const struct pw_lab *lab, const struct pw_replica *opens,
                                     const struct pw_replica *arm),
                    const struct pw_replica *opens);
/* Is a watch of this arm due at this step? */
bool pw_watch_sees(const struct pw_lab *lab, const struct pw_replica *arm, int64_t step);
/* After a probe the next due measurement starts; a cancelled probe takes those that are due with it. */
extern const struct pw_listener pw_watch_listener;

#endif
