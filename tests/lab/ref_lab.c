/* ref_lab.c - see ref_lab.h. */
#include "ref_lab.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "command/commands/commands.h"

const char *const bench_asked[] = {
    "prompt sort 3 1 2",
    "say hello",
    "inspect layer=1 head=1",
    "arm 2",
    "pause; say x; resume",
    "eval lengths=2..3 samples=5",
    "table length=20",
    "digest",
    "prompt sort 9 8 7 6 5 4 3 2 1 1 2 3 4 5 6 7 8 9 1 2 3",
    "runs",
    "arm 1",
    "help train",
    NULL,
};

struct pw_lab *lab_open(struct pw_lab_config cfg)
{
    static const struct pw_commands commands = {pw_lab_commands};
    struct pw_lab *lab;
    struct pw_err err;
    cfg.commands = cfg.help = &commands;
    if (pw_lab_create(&lab, &cfg, &err) != PW_OK)
        fail_msg("%s", err.msg);
    return lab;
}

const struct pw_snapshot *lab_look(struct pw_lab *lab, int ms)
{
    struct pollfd p = {.fd = pw_lab_fd(lab), .events = POLLIN};
    poll(&p, 1, ms);
    return pw_lab_snapshot(lab);
}

static void on_event(void *arg, const struct pw_event *e, const struct pw_snapshot *s)
{
    struct bench *b = arg;
    (void)s;
    if (e->kind == PW_EV_ERROR) {
        b->errors++;
        snprintf(b->error, sizeof b->error, "%s", e->u.text);
    } else if (e->kind == PW_EV_NOTE) {
        b->notes++;
        snprintf(b->note, sizeof b->note, "%s", e->u.text);
        if (strstr(e->u.text, "digest ") != NULL) {
            size_t n = strlen(b->digests);
            snprintf(b->digests + n, sizeof b->digests - n, "%s\n", e->u.text);
        }
    } else if (e->kind == PW_EV_MARK) {
        snprintf(b->note, sizeof b->note, "mark: %.500s", e->u.text);
    } else if (e->kind == PW_EV_STEP) {
        if (b->steps < (int)sizeof b->order - 1)
            b->order[b->steps] = (char)('0' + e->arm);
        b->steps++;
    } else if (e->kind == PW_EV_EVAL) {
        b->evals += !e->u.eval.live;
    } else if (e->kind == PW_EV_TOKEN && e->u.token.last) {
        b->decoded++;
        b->exact += e->u.token.exact;
    }
}

void bench_open_as(struct bench *b, struct pw_lab_config cfg)
{
    *b = (struct bench){0};
    cfg.on_event = on_event;
    cfg.on_event_arg = b;
    b->lab = lab_open(cfg);
}

void bench_open(struct bench *b, int threads, bool live)
{
    bench_open_as(b, (struct pw_lab_config){.threads = threads, .live = live});
}

void bench_close(struct bench *b)
{
    pw_lab_destroy(b->lab, NULL);
}

void bench_run(struct bench *b, const char *script)
{
    b->errors = b->notes = b->exact = b->decoded = b->steps = b->evals = 0;
    b->error[0] = b->note[0] = b->digests[0] = '\0';
    memset(b->order, 0, sizeof b->order);
    pw_lab_send(b->lab, script, PW_SEND_SCRIPT);
    bench_until_idle(b);
}

void bench_must(struct bench *b, const char *script)
{
    bench_run(b, script);
    if (b->errors > 0)
        print_error("%s: %s\n", script, b->error);
    assert_int_equal(b->errors, 0);
}

void bench_send(struct bench *b, const char *line)
{
    pw_lab_send(b->lab, line, PW_SEND_NOW);
}

void bench_look(struct bench *b, int ms)
{
    b->s = lab_look(b->lab, ms);
}

void bench_until_idle(struct bench *b)
{
    do
        bench_look(b, 1000); /* the event that made it idle may have been read already */
    while (!pw_lab_idle(b->lab));
}

void bench_begin_job(struct bench *b, const char *line)
{
    bench_send(b, line);
    do {
        bench_look(b, 10000);
        assert_false(pw_lab_idle(b->lab)); /* the job ended before it was seen */
    } while (b->s->job.state != PW_JOB_RUNNING);
}

void bench_doze(double ms)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)(1e6 * ms)}, NULL);
}

const char *digest_line(const char *digests, int i)
{
    while (i-- > 0)
        digests = strchr(digests, '\n') + 1;
    return digests;
}

bool same_line(const char *a, const char *b)
{
    return strcspn(a, "\n") == strcspn(b, "\n") && strncmp(a, b, strcspn(a, "\n")) == 0;
}

struct pw_event *finding_copied(const struct pw_finding *f)
{
    struct pw_event e = {.kind = PW_EV_FINDING, .u.finding = *f};
    return pw_event_copy(&e);
}
