/* harness.c - see harness.h. */
#include "harness.h"

#include <ftw.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../unit/ref_codec.h"
#include "../../unit/ref_session.h"
#include "base/sha256.h"

void harness_violation(struct harness *h, const char *fmt, ...)
{
    va_list args;
    h->violations++;
    if (h->quiet)
        return;
    va_start(args, fmt);
    fprintf(stderr, "violation: %s: ", h->now);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
}

uint64_t harness_random(struct harness *h, uint64_t below)
{
    return codec_next(&h->rng) % below;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

void harness_remove(const char *folder)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- the writer */

pid_t writer_start(struct harness *h, int *out, const char *folder, const char *n, const char *const env[])
{
    int fd[2];
    if (pipe(fd) != 0) {
        perror("pipe");
        exit(1);
    }
    pid_t child = fork();
    if (child == 0) {
        dup2(fd[1], 1);
        close(fd[0]);
        close(fd[1]);
        for (int i = 0; env != NULL && env[i] != NULL; i++)
            putenv((char *)env[i]);
        if (env != NULL)
            setenv("LD_PRELOAD", h->shim, 1);
        execl(h->self, h->self, "write", folder, n, (char *)NULL);
        _exit(127);
    }
    close(fd[1]);
    *out = fd[0];
    return child;
}

static void take_line(struct said *s)
{
    const char *text = s->n > 2 ? s->line + 2 : "";
    switch (s->line[0]) {
    case 'S':
        s->opened = true;
        s->opened_at = s->saved = strtoull(text, NULL, 10);
        break;
    case 'A': s->saved = strtoull(text, NULL, 10); break;
    case 'P':
        s->pauses++;
        snprintf(s->paused, sizeof s->paused, "%s", text);
        break;
    case 'G': s->resumed++; break;
    case 'D': s->done = true; break;
    case 'E': snprintf(s->error, sizeof s->error, "%s", text); break;
    default: break;
    }
}

void writer_hear(struct said *s, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool whole = text[i] == '\n';
        if (s->n + 1 < sizeof s->line)
            s->line[s->n++] = whole ? '\0' : text[i];
        if (!whole)
            continue;
        s->line[sizeof s->line - 1] = '\0';
        take_line(s);
        s->n = 0;
    }
}

bool writer_listen(int out, struct said *s, int wait_ms)
{
    char buf[4096];
    struct pollfd p = {.fd = out, .events = POLLIN};
    if (poll(&p, 1, wait_ms) <= 0)
        return true;
    ssize_t n = read(out, buf, sizeof buf);
    if (n > 0)
        writer_hear(s, buf, (size_t)n);
    return n > 0;
}

/* ---- checks of the recorded session */

struct look {
    struct harness *h;
    struct pw_record *record;
    uint64_t known, next;
    bool whole;
};

static void wrong(struct look *l, const char *what)
{
    if (l->whole)
        harness_violation(l->h, "event %llu %s", (unsigned long long)l->next, what);
    l->whole = false;
}

/* Checks that the event names the file of its step, and that the file is stored. */
static void check_checkpoint(struct look *l, const struct pw_event *e)
{
    uint8_t sha[PW_SHA256];
    size_t n, got;
    void *bytes = writer_file((uint64_t)e->step, &n), *read;
    struct pw_err err;
    pw_sha256_of(sha, bytes, n);
    free(bytes);
    if (e->u.checkpoint.n_files != 1 || memcmp(e->u.checkpoint.files[0], sha, sizeof sha) != 0)
        wrong(l, "names another file");
    else if (pw_record_file(l->record, sha, &read, &got, &err) != PW_OK)
        wrong(l, err.msg);
    else
        free(read);
}

static bool check_event(void *arg, struct pw_event *e)
{
    struct look *l = arg;
    if (e->seq != l->next) {
        wrong(l, "is missing");
    } else if (e->kind == PW_EV_CHECKPOINT) {
        check_checkpoint(l, e);
    } else if (e->seq > l->known) {
        struct pw_event *made = writer_event(e->seq);
        if (session_bits(e) != session_bits(made))
            wrong(l, "has other bits");
        pw_event_free(made);
    }
    l->next = e->seq + 1;
    return l->whole;
}

static uint64_t check_record(struct harness *h, struct pw_record *r, uint64_t saved, uint64_t known)
{
    struct look look = {.h = h, .record = r, .known = known, .next = 1, .whole = true};
    struct pw_record_info info;
    struct pw_err err;
    uint64_t intact;
    int before = h->violations;
    pw_record_info(r, &info);
    if (info.last < saved)
        harness_violation(h, "event %llu was on disk, and the last one is %llu", (unsigned long long)saved,
                          (unsigned long long)info.last);
    if (pw_record_check(r, &intact, &err) != PW_OK)
        harness_violation(h, "%s", err.msg);
    else if (intact != info.last)
        harness_violation(h, "%llu of %llu events", (unsigned long long)intact,
                          (unsigned long long)info.last);
    else if (pw_record_events(r, 1, info.last, check_event, &look, &err) != PW_OK)
        harness_violation(h, "%s", err.msg);
    return h->violations == before ? info.last : 0;
}

uint64_t harness_check(struct harness *h, const char *folder, uint64_t saved, uint64_t known)
{
    struct pw_record *r;
    struct pw_err err;
    if (pw_record_open(&r, folder, &err) != PW_OK) {
        harness_violation(h, "%s", err.msg);
        return 0;
    }
    uint64_t last = check_record(h, r, saved, known);
    pw_record_close(r);
    return last;
}

void harness_goes_on(struct harness *h, const char *folder, uint64_t last)
{
    struct pw_ev_session status = {.how = PW_REC_ON};
    struct pw_err err;
    struct pw_store *s = writer_open(folder, &err);
    if (s == NULL) {
        harness_violation(h, "%s", err.msg);
        return;
    }
    if (pw_store_last(s) != last)
        harness_violation(h, "opened after event %llu instead of %llu", (unsigned long long)pw_store_last(s),
                          (unsigned long long)last);
    for (uint64_t seq = last + 1; seq <= last + 3; seq++) {
        struct pw_event *e = writer_event(seq);
        pw_store_put(s, e);
        pw_event_free(e);
    }
    pw_store_hurry(s);
    for (int i = 0; i < 5000 && status.saved < last + 3 && status.how == PW_REC_ON; i++) {
        usleep(200);
        pw_store_status(s, &status);
    }
    if (status.saved < last + 3)
        harness_violation(h, "it cannot be continued: %s", status.why);
    pw_store_close(s, "quit");
    harness_check(h, folder, last + 3, last);
}
