/* damage.c - damages the files of a session: a bit, a block, a tail, or a whole file.
 *
 * The sessions are recorded by the program: one was closed, one was killed. pw_record_check must find the
 * damage, or the damage is harmless. Reading a damaged session must yield only recorded events. The program
 * must continue from the session, or print one line that says why it can't. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../unit/ref_session.h"
#include "base/alloc.h"
#include "base/sha256.h"
#include "harness.h"
#include "sessions/saved.h"

#define LAB "task copy lengths=1..3 alphabet=4 test=4..5; model tiny width=16 heads=2; "
#define BEGIN                                                                                                \
    LAB "train 20; checkpoint one; eval samples=3; train 20; checkpoint two; prompt copy 1 2; train 9; "     \
        "digest"
#define GO_ON   "train 20000"
#define RESUMES 15 /* the program continues every RESUMES-th case */

enum { FILES = 32 };

struct original {
    char folder[100];
    uint64_t *bits; /* [last + 1] digests of its events; 0: no event has that number */
    uint64_t last;
    uint64_t told; /* the last event reported as on disk; the kill may precede later reports */
    int n;         /* number of events */
    char digest[300];
    char newest[90];       /* path of the newest checkpoint's file */
    char files[FILES][90]; /* [n_files] paths in the folder */
    int n_files;
};

struct figures {
    int cases, found, harmless, shorter, unreadable, resumed, refused;
    int64_t shown, all;
};

/* ---- the sessions */

/* Runs the program, and copies its output to dst. Returns its exit status, or 128 + the signal's number. */
static int program(const struct harness *h, char *dst, size_t size, const char *session, const char *commands)
{
    char line[1000];
    snprintf(line, sizeof line, "'%s' --threads 1 --session '%s' -c '%s' 2>&1", h->program, session,
             commands);
    FILE *f = popen(line, "r");
    size_t n = f != NULL ? fread(dst, 1, size - 1, f) : 0;
    char rest[4096];
    dst[n] = '\0';
    while (f != NULL && fread(rest, 1, sizeof rest, f) > 0)
        ;
    int status = f != NULL ? pclose(f) : -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void digest_of(char dst[300], const char *printed)
{
    const char *at = strstr(printed, "digest ");
    snprintf(dst, 300, "%.*s", at != NULL ? (int)strcspn(at, "\n") : 0, at != NULL ? at : "");
}

static off_t size_of(const char *folder, const char *name)
{
    char path[300];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) ? st.st_size : -1;
}

/* Continues the session until its write-ahead log has content, then kills the program. */
static void go_on_and_die(struct harness *h, const char *folder)
{
    int status, patience = 300000;
    pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL)
            _exit(127);
        execl(h->program, "pewter", "--threads", "1", "--session", folder, "-c", GO_ON, (char *)NULL);
        _exit(127);
    }
    while (size_of(folder, "session.db-wal") < 60000 && patience-- > 0)
        usleep(1000);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    if (size_of(folder, "session.db-wal") < 60000)
        harness_violation(h, "there is nothing in its log");
}

static void list(struct original *o, const char *inside)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", o->folder, inside);
    DIR *d = opendir(path);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL && o->n_files < FILES;) {
        snprintf(path, sizeof path, "%s%.70s", inside, e->d_name);
        if (size_of(o->folder, path) > 0 && strcmp(e->d_name, "ballast") != 0)
            snprintf(o->files[o->n_files++], sizeof o->files[0], "%.89s", path);
    }
    if (d != NULL)
        closedir(d);
}

static bool note_bits(void *arg, struct pw_event *e)
{
    struct original *o = arg;
    if (e->seq <= o->last)
        o->bits[e->seq] = session_bits(e);
    if (e->kind == PW_EV_CHECKPOINT && e->u.checkpoint.n_files == 1) {
        char name[65];
        pw_sha256_text(name, e->u.checkpoint.files[0]);
        snprintf(o->newest, sizeof o->newest, "files/%s", name);
    }
    o->n++;
    return true;
}

static void know(struct harness *h, struct original *o)
{
    struct pw_record_info info;
    struct pw_record *r;
    struct pw_err err;
    uint64_t intact;
    if (pw_record_open(&r, o->folder, &err) != PW_OK) {
        harness_violation(h, "%s", err.msg);
        return;
    }
    pw_record_info(r, &info);
    o->last = info.last;
    o->bits = pw_alloc(o->last + 1, sizeof *o->bits);
    if (pw_record_check(r, &intact, &err) != PW_OK ||
        pw_record_events(r, 1, o->last, note_bits, o, &err) != PW_OK)
        harness_violation(h, "%s", err.msg);
    pw_record_close(r);
    int fd = open(o->folder, O_RDONLY | O_DIRECTORY);
    o->told = pw_saved_read(fd);
    close(fd);
    list(o, "");
    list(o, "files/");
}

/* ---- damage */

static const char *choose_file(struct harness *h, const struct original *o)
{
    static const char *const most[] = {"session.db", "session.db", "session.db-wal"};
    const char *name = most[harness_random(h, 3)];
    if (harness_random(h, 10) < 6 && size_of(o->folder, name) > 0)
        return name;
    return o->files[harness_random(h, (uint64_t)o->n_files)];
}

static void damage(struct harness *h, const char *folder, const char *name)
{
    static const char zeros[4096];
    char path[300];
    unsigned char c = 0;
    off_t size = size_of(folder, name), at = (off_t)harness_random(h, (uint64_t)size);
    int how = (int)harness_random(h, 20), bit = (int)harness_random(h, 8);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    bool done = fd >= 0;
    const char *what = "removed";
    if (how < 14) {
        what = "a bit";
        done = done && pread(fd, &c, 1, at) == 1;
        c ^= (unsigned char)(1 << bit);
        done = done && pwrite(fd, &c, 1, at) == 1;
    } else if (how < 17) {
        what = "cut";
        done = done && ftruncate(fd, at) == 0;
    } else if (how < 19) {
        what = "zeros";
        at &= ~(off_t)4095;
        done = done && pwrite(fd, zeros, size - at < 4096 ? (size_t)(size - at) : 4096, at) > 0;
    } else {
        done = done && unlink(path) == 0;
    }
    if (fd >= 0)
        close(fd);
    snprintf(h->now, sizeof h->now, "%s, %s at %lld of %lld", name, what, (long long)at, (long long)size);
    if (!done)
        harness_violation(h, "could not be damaged: %s", strerror(errno));
}

/* ---- checks after the damage */

struct shown {
    struct harness *h;
    const struct original *o;
    uint64_t seq;
    int n;
};

static bool compare(void *arg, struct pw_event *e)
{
    struct shown *s = arg;
    if (e->seq <= s->seq || e->seq > s->o->last || session_bits(e) != s->o->bits[e->seq]) {
        harness_violation(s->h, "event %llu is shown with other bits", (unsigned long long)e->seq);
        return false;
    }
    s->seq = e->seq;
    s->n++;
    return true;
}

/* Whether the session reads as complete, as far as a reader can detect. */
static bool look(struct harness *h, const struct original *o, const char *folder, const char *name,
                 struct figures *sum)
{
    struct shown shown = {h, o, 0, 0};
    struct pw_record *r;
    struct pw_err err = {0}, ignored;
    uint64_t intact;
    bool untold = strcmp(name, "session.db-wal") == 0 && o->told < o->last;
    sum->all += o->n;
    if (pw_record_open(&r, folder, &err) != PW_OK) {
        if (err.msg[0] == '\0' || strchr(err.msg, '\n') != NULL)
            harness_violation(h, "refused without a line that says why");
        sum->found++;
        sum->unreadable++;
        return false;
    }
    pw_record_events(r, 1, UINT64_MAX >> 1, compare, &shown, &ignored);
    sum->shown += shown.n;
    bool passes = pw_record_check(r, &intact, &err) == PW_OK, whole = shown.n == o->n;
    pw_record_close(r);
    sum->found += !passes;
    sum->harmless += passes && whole;
    sum->shorter += passes && !whole;
    if (passes && !whole && !untold)
        harness_violation(h, "%d of %d events are there, and no error is reported", shown.n, o->n);
    if (!passes && err.msg[0] == '\0')
        harness_violation(h, "it is damaged, and nothing says how");
    return passes;
}

/* Recording must continue in the session, or the store must refuse to open it. */
static void record(struct harness *h, const char *folder, bool passes)
{
    struct pw_err err = {0};
    struct pw_record *r;
    uint64_t intact;
    struct pw_store *s = writer_open(folder, &err);
    if (s == NULL) {
        if (passes || err.msg[0] == '\0')
            harness_violation(h, "it cannot be continued: %s", err.msg);
        return;
    }
    struct pw_event *e = writer_event(pw_store_last(s) + 1);
    pw_store_put(s, e);
    pw_event_free(e);
    pw_store_close(s, "quit");
    if (!passes)
        return;
    if (pw_record_open(&r, folder, &err) != PW_OK) {
        harness_violation(h, "after recording: %s", err.msg);
        return;
    }
    if (pw_record_check(r, &intact, &err) != PW_OK)
        harness_violation(h, "after recording: %s", err.msg);
    pw_record_close(r);
}

/* The program must continue the session, if need be from an older checkpoint, and report that. Otherwise it
 * must say why it can't. */
static void resume(struct harness *h, const struct original *o, const char *folder, const char *name,
                   bool passes, struct figures *sum)
{
    char printed[8192], digest[300];
    bool file = strncmp(name, "files/", 6) == 0;
    int status = program(h, printed, sizeof printed, folder, "digest");
    digest_of(digest, printed);
    sum->resumed += status == 0;
    sum->refused += status != 0;
    if (status > 2)
        harness_violation(h, "the program ended with %d: %s", status, printed);
    else if (status != 0 && (passes || file))
        harness_violation(h, "the program can't go on: %s", printed);
    else if (status == 0 && (passes || file) && strcmp(digest, o->digest) != 0)
        harness_violation(h, "the program continues with other bits: %s", printed);
    else if (strcmp(name, o->newest) == 0 && strstr(printed, "can't be used") == NULL)
        harness_violation(h, "the newest checkpoint is damaged, and no error is reported: %s", printed);
    else if (status != 0 && strncmp(printed, "pewter: ", 8) != 0)
        harness_violation(h, "not one line: %s", printed);
}

static void one(struct harness *h, const struct original *o, bool ended, int i, struct figures *sum)
{
    char folder[100];
    snprintf(folder, sizeof folder, "%s/d.pewter", h->dir);
    harness_remove(folder);
    session_copy(o->folder, folder);
    const char *name = choose_file(h, o);
    damage(h, folder, name);
    sum->cases++;
    bool passes = look(h, o, folder, name, sum);
    if (ended && i % RESUMES == 0)
        resume(h, o, folder, name, passes, sum);
    else
        record(h, folder, passes);
}

void damage_run(struct harness *h)
{
    static struct original o[2]; /* the closed session, the killed one */
    struct figures sum = {0};
    char printed[8192];
    snprintf(h->now, sizeof h->now, "the session");
    for (int i = 0; i < 2; i++)
        snprintf(o[i].folder, sizeof o[i].folder, "%s/%d.pewter", h->dir, i);
    if (program(h, printed, sizeof printed, o[0].folder, BEGIN) != 0)
        harness_violation(h, "%s", printed);
    digest_of(o[0].digest, printed);
    session_copy(o[0].folder, o[1].folder);
    go_on_and_die(h, o[1].folder);
    for (int i = 0; i < 2; i++)
        know(h, &o[i]);
    for (int i = 0; i < h->count && h->violations < 20; i++)
        one(h, &o[i % 2], i % 2 == 0, i / 2, &sum);
    printf("damaged files: %d cases, %d found, %d harmless, %d shortened a log; %d can't be opened; of all "
           "events %.1f %% "
           "are shown; the program went on with %d and refused %d: %d violations\n",
           sum.cases, sum.found, sum.harmless, sum.shorter, sum.unreadable,
           100.0 * (double)sum.shown / (double)(sum.all > 0 ? sum.all : 1), sum.resumed, sum.refused,
           h->violations);
    for (int i = 0; i < 2; i++)
        free(o[i].bits);
}
