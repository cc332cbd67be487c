/* watch.h - probes that are repeated while arms train: see watch.c. Lab thread. */
#ifndef PW_WATCH_H
#define PW_WATCH_H
#include "command/command.h"
#include "sessions/event.h"

struct pw_arm;
struct pw_lab;
struct pw_probe;

#define PW_MAX_WATCHES 8
#define PW_MOST_EVERY  1000000000

struct pw_watch {
    char line[PW_LINE]; /* the command, as it was typed */
    int every;          /* steps */
    int arm, replica;   /* of a probe that is about one; else 0 */
    const struct pw_probe *probe;
    unsigned arms; /* bit id: it is about that arm; 0: about all */
    bool due;      /* to be measured when the measurement that is under way has ended */
};

extern const struct pw_opt pw_watch_opts[]; /* arm=, every= */

/* `probe` with its arguments: measures, and with every=N again and again, with every=0 no more. */
enum pw_code pw_watch_probe(struct pw_lab *lab, const struct pw_probe *probe, const struct pw_args *args,
                            struct pw_err *err);
/* Ends those of a probe, or with NULL all; returns how many. */
int pw_watch_end(struct pw_lab *lab, const struct pw_probe *probe);
void pw_watch_list(struct pw_lab *lab); /* as notes */

/* Fills in what follows from line, every and arm; args, to be freed where it succeeds, is the line's. */
enum pw_code pw_watch_read(struct pw_watch *w, const struct pw_commands *commands, struct pw_args *args,
                           struct pw_err *err);

/* Of training: a round has ended, which `opens` had opened; whose arms have come to their step is measured.
 */
void pw_watch_round(struct pw_lab *lab,
                    bool (*in_round)(const struct pw_lab *lab, const struct pw_arm *opens,
                                     const struct pw_arm *arm),
                    const struct pw_arm *opens);
/* May an arm be looked at, at this step? */
bool pw_watch_sees(const struct pw_lab *lab, const struct pw_arm *arm, int64_t step);
/* Of probe.c: begins the next that is due, if nothing is being measured; all that are due are dropped. */
void pw_watch_next(struct pw_lab *lab);
void pw_watch_forget(struct pw_lab *lab);

#endif
