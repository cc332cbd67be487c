/* power.c - simulates a loss of power. kill -9 can't: the kernel keeps data that was never synced.
 *
 * A writer runs with the shim, which logs its file operations and its output. The harness replays the log on
 * a model of a disk that tracks unsynced data (disk.h). At random moments the power fails, and one possible
 * state is written out as a folder. It must be a session with all events that the writer reported as on disk.
 * Mutants that omit syncs check that the harness can fail. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "disk.h"
#include "harness.h"

#define LIVES       3 /* number of writers; the first is ended by kill -9 */
#define EVENTS      "350"
#define MOST_ROUNDS 20 /* of states without a sync, until one is caught */
#define LOG_MAX     ((size_t)1 << 30)

struct log {
    char root[100]; /* the folder of the session */
    char *bytes;
    size_t n;
    struct entry {
        struct pw_log_op op;
        char *path, *to;
        const char *data;
    } * entries;
    int n_entries;
};

/* ---- the writer's log */

static void live(struct harness *h, const char *session, bool killed, const char *const env[])
{
    struct said said = {0};
    int out, status;
    pid_t child = writer_start(h, &out, session, killed ? "0" : EVENTS, env); /* 0: until it is killed */
    while (writer_listen(out, &said, -1))
        if (killed && said.saved > 150)
            kill(child, SIGKILL);
    close(out);
    waitpid(child, &status, 0);
    if (killed ? !WIFSIGNALED(status) : !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        harness_violation(h, "the writer ended with %d: %s", status, said.error);
}

/* FOLDER/NAME/.. is FOLDER. */
static char *path_of(const char *bytes, size_t n)
{
    char *path = pw_alloc(n + 1, 1);
    memcpy(path, bytes, n);
    path[n] = '\0';
    if (n > 3 && strcmp(path + n - 3, "/..") == 0) {
        path[n - 3] = '\0';
        *strrchr(path, '/') = '\0';
    }
    return path;
}

static void read_log(struct log *l, const char *file)
{
    struct pw_err err;
    if (pw_file_read(file, LOG_MAX, &l->bytes, &l->n, &err) != PW_OK) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    /* A killed process can only leave its last log entry unfinished; see live. */
    for (size_t at = 0; at + sizeof(struct pw_log_op) <= l->n;) {
        struct entry e;
        memcpy(&e.op, l->bytes + at, sizeof e.op);
        at += sizeof e.op;
        e.path = path_of(l->bytes + at, e.op.n_path);
        e.to = path_of(l->bytes + at + e.op.n_path, e.op.n_to);
        at += e.op.n_path + e.op.n_to;
        e.data = l->bytes + at;
        at += e.op.n;
        l->entries = pw_grow(l->entries, (size_t)l->n_entries + 1, sizeof *l->entries);
        l->entries[l->n_entries++] = e;
    }
    if (l->n_entries == 0) {
        fprintf(stderr, "%s: the shim has written down no call\n", file);
        exit(1);
    }
}

static void record(struct harness *h, struct log *l)
{
    char session[120], file[120], files[120], log[160];
    const char *const env[] = {files, log, NULL};
    snprintf(l->root, sizeof l->root, "%s/root", h->dir);
    snprintf(session, sizeof session, "%s/p.pewter", l->root);
    snprintf(file, sizeof file, "%s/log", h->dir);
    snprintf(files, sizeof files, "PEWTER_FILES=%s/", l->root);
    snprintf(log, sizeof log, "PEWTER_LOG=%s", file);
    mkdir(l->root, 0700);
    for (int i = 0; i < LIVES; i++)
        live(h, session, i == 0, env);
    snprintf(h->now, sizeof h->now, "before the power failed");
    harness_check(h, session, 1, 0);
    read_log(l, file);
    unlink(file);
}

static void free_log(struct log *l)
{
    for (int i = 0; i < l->n_entries; i++) {
        free(l->entries[i].path);
        free(l->entries[i].to);
    }
    free(l->entries);
    free(l->bytes);
}

/* ---- the power fails */

static void check_state(struct harness *h, struct disk *d, const struct log *l, const struct said *said)
{
    char state[100], session[120];
    snprintf(state, sizeof state, "%s/state", h->dir);
    snprintf(session, sizeof session, "%s/p.pewter", state);
    harness_remove(state);
    disk_lose_power(d, l->root, state);
    if (!said->opened) { /* there may be no session yet, or an unfinished one; reading it must be harmless */
        struct pw_record *r;
        struct pw_err err;
        if (pw_record_open(&r, session, &err) == PW_OK)
            pw_record_close(r);
        return;
    }
    uint64_t last = harness_check(h, session, said->saved, 0);
    if (last > 0)
        harness_goes_on(h, session, last);
}

/* Returns how many of `count` states violate the contract. */
static int fail_power(struct harness *h, const struct log *l, enum disk_model model, enum disk_mutant mutant,
                      int count)
{
    static const char *const models[] = {"ext4", "posix"};
    struct disk *d = disk_new(model, mutant, h->rng);
    struct said said = {0};
    int *at = pw_alloc((size_t)l->n_entries, sizeof *at), bad = 0;
    for (int i = 0; i < count; i++) /* without unsynced data no disk loses any: take many moments */
        at[harness_random(h, (uint64_t)l->n_entries)]++;
    for (int i = 0; i < l->n_entries; i++) {
        const struct entry *e = &l->entries[i];
        disk_do(d, &e->op, e->path, e->to, e->data);
        if (e->op.what == PW_LOG_SAID)
            writer_hear(&said, e->data, e->op.n);
        for (int j = 0; j < at[i]; j++) {
            int before = h->violations;
            snprintf(h->now, sizeof h->now, "power lost after call %d (%s)", i, models[model]);
            check_state(h, d, l, &said);
            bad += h->violations > before;
        }
    }
    free(at);
    disk_free(d);
    return bad;
}

void power_run(struct harness *h)
{
    static const struct {
        const char *name;
        enum disk_model model;
    } mutants[MUTANTS] = {[MUTANT_FILES] = {"files", DISK_EXT4},
                          [MUTANT_NAMES] = {"names", DISK_POSIX},
                          [MUTANT_NORMAL] = {"commits (synchronous=NORMAL)", DISK_EXT4},
                          [MUTANT_OFF] = {"the database (synchronous=OFF)", DISK_EXT4}};
    struct log l = {0};
    int some = h->count / 10 < 15 ? 15 : h->count / 10, bad[2];
    record(h, &l);
    for (int model = 0; model < 2; model++)
        bad[model] = fail_power(h, &l, (enum disk_model)model, MUTANT_NONE, h->count / 2);
    printf("loss of power: %d calls; %d states as on ext4: %d violations; %d as POSIX says: %d violations\n",
           l.n_entries, h->count / 2, bad[0], h->count / 2, bad[1]);
    for (int m = MUTANT_NONE + 1; m < MUTANTS; m++) {
        int before = h->violations;
        h->quiet = true;
        int caught = 0, tried = 0;
        for (; caught == 0 && tried < MOST_ROUNDS * some;
             tried += some) /* a busy writer has few moments at risk */
            caught = fail_power(h, &l, mutants[m].model, (enum disk_mutant)m, some);
        printf("  without the syncs of %s: %d of %d states are caught\n", mutants[m].name, caught, tried);
        h->quiet = false;
        h->violations = before;
        if (caught == 0)
            harness_violation(h, "%s are not synced, and nothing is noticed", mutants[m].name);
    }
    free_log(&l);
}
