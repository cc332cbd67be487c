/* life.h - one process of pewter on a pseudo-terminal: what is typed, and how it ends. */
#ifndef PW_TESTS_LIFE_H
#define PW_TESTS_LIFE_H
#include <stdbool.h>
#include <stddef.h>

enum { LIFE_ACTS = 24 };

struct act {
    int wait_us;    /* before it */
    char keys[256]; /* bytes for the terminal; a line is ":TEXT\r" */
};

struct life {
    int threads;
    int begin_us; /* before the first key, from the start on: the program may not have opened its session */
    int n;
    struct act act[LIFE_ACTS];
    int end_us; /* from the last key to the kill */
    int signal; /* SIGKILL; another one ends it in order */
};

/* Runs `program [ARG]` (arg NULL: without one) in folder `home`, which is its home, too, and ends it as l
 * says. False: it ended by itself, and how goes into text. */
bool life_run(const struct life *l, const char *program, const char *home, const char *arg, char *text,
              size_t size);

/* Runs program with args (NULL-terminated, the first its own name) and a limit of time; its exit status, 128
 * + the signal that ended it, or -1 past the limit. Its last line of output goes into text. */
int life_batch(const char *program, const char *const *args, const char *home, int limit_s, char *text,
               size_t size);

#endif
