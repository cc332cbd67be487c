#include "ref_lab.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "command/commands/commands.h"

static const struct pw_commands commands = {pw_lab_commands};

static void on_event(void *arg, const struct pw_event *e, const struct pw_snapshot *s)
{
    struct bench *b = arg;
    (void)s;
    if (e->kind == PW_EV_ERROR) {
        b->errors++;
        snprintf(b->error, sizeof b->error, "%s", e->u.text);
    } else if (e->kind == PW_EV_NOTE) {
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

void bench_open(struct bench *b, int threads, bool live)
{
    struct pw_err err;
    struct pw_lab_config cfg = {.commands = &commands,
                                .help = &commands,
                                .threads = threads,
                                .live = live,
                                .on_event = on_event,
                                .on_event_arg = b};
    *b = (struct bench){0};
    assert_int_equal(pw_lab_create(&b->lab, &cfg, &err), PW_OK);
}

void bench_close(struct bench *b)
{
    pw_lab_destroy(b->lab, NULL);
}

void bench_run(struct bench *b, const char *script)
{
    b->errors = b->exact = b->decoded = b->steps = b->evals = 0;
    b->error[0] = b->note[0] = b->digests[0] = '\0';
    memset(b->order, 0, sizeof b->order);
    pw_lab_send(b->lab, script, PW_SEND_SCRIPT);
    do {
        struct pollfd p = {.fd = pw_lab_fd(b->lab), .events = POLLIN};
        poll(&p, 1, 60000);
        b->s = pw_lab_snapshot(b->lab);
    } while (!pw_lab_idle(b->lab));
}

void bench_must(struct bench *b, const char *script)
{
    bench_run(b, script);
    if (b->errors > 0)
        print_error("%s: %s\n", script, b->error);
    assert_int_equal(b->errors, 0);
}
