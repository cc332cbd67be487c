/* watch_state.h - a watch as a member of the lab's state; jobs/watch.h has its functions. */
#ifndef PW_WATCH_STATE_H
#define PW_WATCH_STATE_H
#include "base/text.h"
#include "sessions/event.h"

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

#endif
