/* life.h - runs one process of pewter on a pseudo-terminal: types keys and ends it. */
#ifndef PW_TESTS_LIFE_H
#define PW_TESTS_LIFE_H
#include <stdbool.h>
#include <stddef.h>

enum { LIFE_ACTS = 24 };

/* A key or a line. */
struct act {
    int wait_us;    /* delay before the key */
    char keys[256]; /* bytes for the terminal; a line is ":TEXT\r" */
};

/* A process: its keys, and the signal that ends it. */
struct life {
    int threads;
    int begin_us; /* delay from the start to the first key; the session may not be open yet */
    int n;
    struct act act[LIFE_ACTS];
    int end_us; /* delay from the last key to the signal */
    int signal; /* SIGKILL; any other signal ends the program in order */
};

/* Runs `program [ARG]` (arg NULL: without one) with `home` as its working and home folder, and ends it as l
 * says. Returns false if it ended by itself; `text` then says how. */
bool life_run(const struct life *l, const char *program, const char *home, const char *arg, char *text,
              size_t size);

/* Runs the program with args (NULL-terminated, the first is its name) and a time limit. Returns its exit
 * status, 128 + the signal that ended it, or -1 past the limit. Its last line of output is copied to text. */
int life_batch(const char *program, const char *const *args, const char *home, int limit_s, char *text,
               size_t size);

#endif
