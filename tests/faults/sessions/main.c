/* main.c - `sessions_faults HARNESS [COUNT] [SEED]`: runs a fault harness. ctest uses small numbers, `./dev
 * faults` large ones. Exit status: 0 no violation, 1 violations, 2 usage, 77 can't run here. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "harness.h"

static const struct {
    const char *name;
    void (*run)(struct harness *h);
    int count;         /* default count */
    const char *needs; /* variable of the environment that is required */
} harnesses[] = {{"kill", kill_run, 40, NULL},
                 {"power", power_run, 100, "PEWTER_SHIM"},
                 {"errors", errors_run, 40, "PEWTER_SHIM"},
                 {"damage", damage_run, 100, "PEWTER"},
                 {"workbench", workbench_run, 50, "PEWTER"},
                 {"shrink", shrink_run, 10, "PEWTER"}};

static struct harness harness; /* global, for the signal handler */

/* Reports a crash as a violation, with the current case. */
static void died(int number)
{
    char text[600];
    int n = snprintf(text, sizeof text, "violation: crash: %s\n", harness.now);
    if (write(STDERR_FILENO, text, (size_t)n) != n)
        _exit(1);
    harness_remove(harness.dir);
    signal(number, SIG_DFL);
    raise(number);
}

int main(int argc, char **argv)
{
    struct harness *h = &harness;
    char self[4096], shim[700];
    size_t i = 0, n = sizeof harnesses / sizeof harnesses[0];
    ssize_t got = readlink("/proc/self/exe", self, sizeof self - 1);
    /* Use the file limit that most machines have: a test that passes with it passes everywhere. */
    struct rlimit files = {.rlim_cur = RLIM_INFINITY};
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max < 1024 ? files.rlim_max : 1024;
    setrlimit(RLIMIT_NOFILE, &files);
    if (argc == 4 && strcmp(argv[1], "write") == 0)
        return writer_main(argv[2], strtoull(argv[3], NULL, 10));
    while (argc > 1 && i < n && strcmp(argv[1], harnesses[i].name) != 0)
        i++;
    if (argc < 2 || argc > 4 || i == n || got < 0) {
        fprintf(stderr, "usage: %s kill|power|errors|damage|workbench|shrink [COUNT] [SEED]\n", argv[0]);
        return 2;
    }
    if (harnesses[i].needs != NULL && getenv(harnesses[i].needs) == NULL) {
        fprintf(stderr, "%s: %s is to name %s\n", argv[1], harnesses[i].needs,
                strcmp(harnesses[i].needs, "PEWTER") == 0 ? "the program" : "the shim");
        return 2;
    }
    self[got] = '\0';
    h->self = self;
    h->shim = getenv("PEWTER_SHIM");
    h->program = getenv("PEWTER") != NULL ? realpath(getenv("PEWTER"), NULL) : NULL;
    h->count = argc > 2 ? atoi(argv[2]) : harnesses[i].count;
    h->rng = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    /* Use memory where possible, so that the speed of a disk doesn't matter. */
    snprintf(h->dir, sizeof h->dir, "%s/pewter-faults-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (mkdtemp(h->dir) == NULL) {
        perror(h->dir);
        return 1;
    }
    if (h->shim != NULL) { /* LD_PRELOAD can't hold a path with a blank, which the shim's may have */
        snprintf(shim, sizeof shim, "%s/shim.so", h->dir);
        if (symlink(h->shim, shim) != 0) {
            perror(shim);
            return 1;
        }
        h->shim = shim;
    }
    signal(SIGSEGV, died);
    signal(SIGBUS, died);
    signal(SIGABRT, died);
    harnesses[i].run(h);
    harness_remove(h->dir);
    return h->violations > 0;
}
